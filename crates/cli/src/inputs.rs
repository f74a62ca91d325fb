//! Inputs as users give them: one file per party.

use std::{ffi::OsStr, path::Path};

use garblet_circuit::{Bits, Input, InputId, Party, Program, Type};
use garblet_formats::value;

use crate::{
    args::{InputArgs, InputFile},
    failure::Failure,
};

/// The largest input file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 30;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// One party's inputs, in the program's order.
pub(crate) type PartyInputs = Vec<(InputId, Bits)>;

/// The inputs of every party below `parties`.
///
/// *Errors*: a party without the file that it needs, a file for a party that has no inputs or does not exist, and
/// whatever is wrong in a file.
pub(crate) fn of_all(program: &Program, args: &InputArgs, parties: u16) -> Result<Vec<PartyInputs>, Failure> {
    check_parties(args, parties)?;
    (0..parties).map(|p| of_party(program, args, Party(p))).collect()
}

/// The values of all inputs, dealt out to the parties that own these.
pub(crate) fn by_owner(program: &Program, values: &[Bits], parties: u16) -> Vec<PartyInputs> {
    let of = |party: u16| {
        let all = program.inputs().iter().zip(values).enumerate();
        let own = all.filter(|(_, (input, _))| input.owner == Party(party));
        own.map(|(number, (_, value))| (InputId(number as u32), value.clone())).collect()
    };
    (0..parties).map(of).collect()
}

/// The inputs of one party.
///
/// *Errors*: as [`of_all`].
pub(crate) fn of_party(program: &Program, args: &InputArgs, party: Party) -> Result<PartyInputs, Failure> {
    let own: Vec<(usize, &Input)> = program.inputs().iter().enumerate().filter(|(_, i)| i.owner == party).collect();
    let Some(file) = args.inputs.iter().find(|i| i.party == party) else {
        let names: Vec<String> = own.iter().map(|(_, i)| format!("`{}` ({})", i.port.name, i.port.ty)).collect();
        return match names.is_empty() {
            true => Ok(Vec::new()),
            false => Err(Failure::call(format!("party {party} has no inputs, it needs {}", names.join(", ")))
                .hint(format!("give --input {party}=FILE.json"))),
        };
    };
    let text = read(&file.path)?;
    if is_fasta(&file.path) {
        return fasta(file, &own, &text);
    }
    if extension(&file.path) == Some("csv") {
        return csv(file, &own, &text);
    }
    value::read_inputs(program, party, &file.path.display().to_string(), &text).map_err(Failure::diagnosed)
}

/// The inputs of the party that this process is.
///
/// *Errors*: also a file for another party.
pub(crate) fn of_this_party(program: &Program, args: &InputArgs, party: Party) -> Result<PartyInputs, Failure> {
    match args.inputs.iter().find(|i| i.party != party) {
        None => of_party(program, args, party),
        Some(other) => {
            let message = format!("--input {}={}: this is party {party}", other.party, other.path.display());
            Err(Failure::call(message).hint("give only this party's inputs; the others give their own"))
        }
    }
}

fn check_parties(args: &InputArgs, parties: u16) -> Result<(), Failure> {
    for (at, file) in args.inputs.iter().enumerate() {
        if file.party.0 >= parties {
            return Err(Failure::call(format!(
                "--input {}={}: there are {parties} parties, 0 to {}",
                file.party,
                file.path.display(),
                parties - 1
            )));
        }
        if args.inputs[..at].iter().any(|f| f.party == file.party) {
            return Err(Failure::call(format!("--input: party {} has two files, expected one", file.party)));
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    let unreadable = |e: std::io::Error| Failure::unreadable(path, &e);
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > FILE_BYTES_MAX {
        return Err(Failure::call(format!("{}: {length} bytes, expected at most {FILE_BYTES_MAX}", path.display())));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    // Some editors and spreadsheets begin a text so.
    Ok(text.strip_prefix(BYTE_ORDER_MARK).map(String::from).unwrap_or(text))
}

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(OsStr::to_str)
}

fn is_fasta(path: &Path) -> bool {
    extension(path).is_some_and(|e| ["fasta", "fa", "fna"].contains(&e))
}

/// The rows of a CSV file as the elements of the party's one input.
fn csv(file: &InputFile, own: &[(usize, &Input)], text: &str) -> Result<PartyInputs, Failure> {
    let name = file.path.display().to_string();
    let [(at, input)] = own else {
        let message = format!("{name}: CSV is for one input, party {} has {}", file.party, own.len());
        return Err(Failure::call(message).hint("give the inputs as JSON"));
    };
    let bits = value::read_csv(&input.port, &name, text).map_err(Failure::diagnosed)?;
    Ok(vec![(InputId(*at as u32), bits)])
}

/// The one sequence of a FASTA file as an array of nucleotides of two bits: A, C, G, T are 0 to 3.
fn fasta(file: &InputFile, own: &[(usize, &Input)], text: &str) -> Result<PartyInputs, Failure> {
    let name = file.path.display();
    let wrong = |what: String| Failure::call(format!("{name}: {what}"));
    let [(at, input)] = own else {
        return Err(wrong(format!("FASTA is for one input, party {} has {}", file.party, own.len()))
            .hint("give the inputs as JSON"));
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
pub(crate) fn nucleotides(text: &str) -> Result<Bits, String> {
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
    fn what_is_no_fasta_is_refused_with_its_place() {
        assert_eq!(nucleotides("ACNT").unwrap_err(), "line 1, column 3: 'N' is not one of A, C, G, T");
        assert_eq!(nucleotides(">a\nAC\n>b\nGT").unwrap_err(), "line 3: a second sequence, expected one");
    }
}
