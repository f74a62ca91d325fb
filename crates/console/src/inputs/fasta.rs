//! Sequences in FASTA.

use garblet::{
    Bits,
    circuit::{Input, InputId, Type},
};

use super::options::PartyInputs;
use crate::failure::Failure;

/// The single sequence of a FASTA file, as an array of two-bit nucleotides: A, C, G, T are 0 to 3.
pub(super) fn read(name: &str, own: &[(usize, &Input)], text: &str) -> Result<PartyInputs, Failure> {
    let wrong = |what: String| Failure::call(format!("{name}: {what}"));
    let [(at, input)] = own else {
        return Err(
            wrong(format!("FASTA is for one input, the party has {}", own.len())).hint("give the inputs as JSON")
        );
    };
    let length = match &input.port.ty {
        Type::Array(element, length) if element.width() == 2 => *length as usize,
        other => return Err(wrong(format!("FASTA is for arrays of two bits, input `{}` is {other}", input.port.name))),
    };
    let bits = nucleotides(text).map_err(wrong)?;
    if bits.len() != 2 * length {
        let got = bits.len() / 2;
        return Err(wrong(format!("the sequence has {got} nucleotides, input `{}` takes {length}", input.port.name)));
    }
    Ok(vec![(InputId(*at as u32), bits)])
}

/// The nucleotides of a FASTA text with one sequence.
pub fn nucleotides(text: &str) -> Result<Bits, String> {
    let mut bits = Bits::default();
    for (at, line) in text.lines().enumerate() {
        let header = line.starts_with(['>', ';']);
        if header && !bits.is_empty() {
            return Err(format!("line {}: a second sequence, expected one", at + 1));
        }
        for (column, letter) in line.trim_end().chars().enumerate().filter(|_| !header) {
            let code = match letter.to_ascii_uppercase() {
                'A' => 0,
                'C' => 1,
                'G' => 2,
                'T' | 'U' => 3,
                other => {
                    return Err(format!("line {}, column {}: {other:?} is not one of A, C, G, T", at + 1, column + 1));
                }
            };
            bits.append(&Bits::from_u128(code, 2));
        }
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fasta_is_read() {
        let bits = nucleotides(">name of it\nAC\ngt\n").expect("a sequence");
        assert_eq!(bits.to_string(), "00100111");
    }

    #[test]
    fn mistakes_in_fasta_are_reported_with_their_place() {
        assert_eq!(nucleotides("ACNT").unwrap_err(), "line 1, column 3: 'N' is not one of A, C, G, T");
        assert_eq!(nucleotides(">a\nAC\n>b\nGT").unwrap_err(), "line 3: a second sequence, expected one");
    }
}
