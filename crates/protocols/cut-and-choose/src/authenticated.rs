//! The garbler's output, masked and authenticated inside the circuit.
//!
//! The evaluator learns the outputs of the garbled circuits first and hands over the garbler's. So the garbler gives as additional
//! inputs a one-time pad `e` and a key `(a, b)` of a one-time authenticator over GF(2^degree), and the circuit outputs to the
//! evaluator `c = f1 + e` and the tag `b + sum a^i c_i`, where `c_1, .. c_L` are the parts of `c`.
//!
//! *Source*: Lindell and Pinkas (EUROCRYPT 2007), section 2.2; the authenticator is the polynomial hash of den Boer (1993). A
//! false pair passes with probability `L 2^-degree` at most.

use crate::checks;
use std::sync::Arc;

use garblet_circuit::{Bits, CircuitError, Link, Port, Program, Recipients, Type};
use garblet_primitives::Prg;
use garblet_synthesis::builder::{Bit, BitString, CircuitBuilder};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::field::Field;
use garblet_protocol::{
    checks::Cheating,
    party_io::{EVALUATOR, GARBLER, output_bits},
};

/// The sizes for authenticating the garbler's output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Authenticator {
    field: Field,
    /// The number of bits of the garbler's output.
    bits: usize,
}

/// The garbler's pad and key. *Secret*. *Unique*: for one run.
#[derive(Zeroize, zeroize::ZeroizeOnDrop)]
pub(crate) struct Key {
    pad: Bits,
    a: u128,
    b: u128,
}

/// The garbler's output, proved to come from the circuit; only [`Authenticator::verify`] makes it.
pub(crate) struct OutputVerified(Bits);

impl OutputVerified {
    /// The output, in program order.
    pub(crate) fn into_bits(self) -> Bits {
        self.0
    }
}

impl Authenticator {
    /// The authenticator of the garbler's outputs of a program; `None` if it has no such outputs.
    pub(crate) fn new(program: &Program, field: Field) -> Option<Self> {
        let bits = output_bits(program, GARBLER);
        (bits > 0).then_some(Authenticator { field, bits })
    }

    /// The number of field elements that the output takes.
    pub(crate) fn blocks(&self) -> usize {
        self.bits.div_ceil(self.field.degree())
    }

    /// The number of bits that the evaluator hands to the garbler: the masked output and the tag.
    pub(crate) fn message_bits(&self) -> usize {
        self.bits + self.field.degree()
    }

    /// The program with the garbler's additional inputs after its own, and the masked output and tag after all outputs.
    ///
    /// *Errors*: a program that has no room for these.
    pub(crate) fn extend(&self, program: &Program) -> Result<Program, CircuitError> {
        let mut extended = program.clone();
        let mut names = Names::of(program);
        let degree = self.field.degree() as u32;
        let pad = extended.add_input(Port::new(names.input("pad"), Type::Bits(self.bits as u32)), GARBLER)?;
        let key = extended.add_input(Port::new(names.input("key"), Type::Bits(2 * degree)), GARBLER)?;
        let outputs = program.outputs().iter().filter(|output| output.recipients.contains(GARBLER));
        let mut links: Vec<Link> = outputs.flat_map(|output| output.links.iter().copied()).collect();
        links.extend([extended.input_link(pad), extended.input_link(key)]);
        let component = extended.add_component(Arc::new(self.component()?));
        let instance = extended.add_instance(component, &links)?;
        let link = extended.instance_link(instance);
        let port = Port::new(names.output("authenticated"), Type::Bits(self.message_bits() as u32));
        extended.add_output(port, Recipients::Only(vec![EVALUATOR]), vec![link])?;
        Ok(extended)
    }

    fn component(&self) -> Result<garblet_circuit::Component, CircuitError> {
        let degree = self.field.degree();
        let mut c = CircuitBuilder::new("authenticate");
        let BitString(output) = c.input("output", Type::Bits(self.bits as u32));
        let BitString(pad) = c.input("pad", Type::Bits(self.bits as u32));
        let BitString(key) = c.input("key", Type::Bits(2 * degree as u32));
        let (a, b) = key.split_at(degree);
        let masked: Vec<Bit> = output.iter().zip(&pad).map(|(&output, &pad)| c.xor(output, pad)).collect();
        let mut sum = vec![Bit::FALSE; degree];
        for part in masked.chunks(degree).rev() {
            let added: Vec<Bit> = (0..degree).map(|i| part.get(i).map_or(sum[i], |&bit| c.xor(sum[i], bit))).collect();
            sum = self.field.multiply_bits(&mut c, &added, a);
        }
        let tag: Vec<Bit> = sum.iter().zip(b).map(|(&sum, &b)| c.xor(sum, b)).collect();
        c.output("message", &BitString([masked, tag].concat()));
        c.finish()
    }

    /// A fresh pad and key.
    pub(crate) fn key(&self, rng: &mut Prg) -> Key {
        let pad = Bits::filled(self.bits, |bytes| rng.fill_bytes(bytes));
        let element = |rng: &mut Prg| rng.next_block().to_u128() >> (128 - self.field.degree());
        let (a, b) = (element(rng), element(rng));
        Key { pad, a, b }
    }

    /// Checks the message that the evaluator hands over and unmasks the output.
    ///
    /// *Shape*: `message` has [`Authenticator::message_bits`]. *Errors*: [`checks::OUTPUT_TAG`].
    pub(crate) fn verify(&self, key: &Key, message: &Bits) -> Result<OutputVerified, Cheating> {
        let degree = self.field.degree();
        let masked = message.slice(0, self.bits);
        let tag = message.slice(self.bits, degree).to_u128().unwrap_or_default();
        let starts = (0..self.bits).step_by(degree).rev();
        let sum = starts.fold(0, |sum, start| {
            let part = masked.slice(start, degree.min(self.bits - start)).to_u128().unwrap_or_default();
            self.field.multiply(sum ^ part, key.a)
        });
        match bool::from((sum ^ key.b).ct_eq(&tag)) {
            true => Ok(OutputVerified(masked.iter().zip(key.pad.iter()).map(|(c, e)| c ^ e).collect())),
            false => {
                Err(Cheating::new(checks::OUTPUT_TAG, format!("our output of {} bits has a wrong tag", self.bits)))
            }
        }
    }
}

impl Key {
    /// The garbler's additional inputs: pad, then `a`, then `b`.
    pub(crate) fn inputs(&self, of: &Authenticator) -> Bits {
        let mut bits = self.pad.clone();
        bits.append(&Bits::from_u128(self.a, of.field.degree()));
        bits.append(&Bits::from_u128(self.b, of.field.degree()));
        bits
    }
}

/// Finds port names that a program does not use.
struct Names<'p>(&'p Program);

impl<'p> Names<'p> {
    fn of(program: &'p Program) -> Self {
        Names(program)
    }

    fn input(&mut self, name: &str) -> String {
        free(name, |name| self.0.inputs().iter().any(|input| input.port.name == name))
    }

    fn output(&mut self, name: &str) -> String {
        free(name, |name| self.0.outputs().iter().any(|output| output.port.name == name))
    }
}

fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = format!("garbler's {name}");
    while taken(&name) {
        name.push('\'');
    }
    name
}

#[cfg(test)]
mod tests {
    use garblet_circuit::evaluate;
    use garblet_primitives::Block;
    use garblet_synthesis::library;

    use super::*;

    fn authenticated(name: &str, degree: usize) -> (Authenticator, Program, Program) {
        let program = library::find(name).unwrap();
        let authenticator = Authenticator::new(&program, Field::of_at_least(degree)).unwrap();
        let extended = authenticator.extend(&program).unwrap();
        (authenticator, program, extended)
    }

    #[test]
    fn the_garbler_verifies_the_circuits_output() {
        for (name, degree) in [("lib:millionaires(16)", 48), ("lib:add(61)", 8), ("lib:add(100)", 48)] {
            let (authenticator, program, extended) = authenticated(name, degree);
            let mut rng = Prg::new(Block::from_u128(degree as u128));
            let key = authenticator.key(&mut rng);
            let width = |k: usize| program.inputs()[k].port.width() as usize;
            let mut inputs = vec![Bits::from_u128(12_345, width(0)), Bits::from_u128(54_321, width(1))];
            let expected = evaluate(&program, &inputs);
            let further = key.inputs(&authenticator);
            let pad_bits = expected[0].len();
            inputs.extend([further.slice(0, pad_bits), further.slice(pad_bits, further.len() - pad_bits)]);
            let message = evaluate(&extended, &inputs).pop().unwrap();
            assert_eq!(message.len(), authenticator.message_bits());
            let verified = authenticator.verify(&key, &message).unwrap();
            assert!(verified.into_bits() == expected[0], "{name}");
            for bit in 0..message.len() {
                let mut wrong = message.clone();
                wrong.set(bit, !wrong.get(bit));
                let error = authenticator.verify(&key, &wrong).err();
                assert_eq!(error.map(|error| error.check), Some(checks::OUTPUT_TAG), "{name}, bit {bit}");
            }
        }
    }

    #[test]
    fn names_that_are_taken_are_avoided() {
        let (authenticator, _, extended) = authenticated("lib:millionaires(4)", 8);
        let twice = authenticator.extend(&extended).unwrap();
        assert_eq!(twice.inputs().last().unwrap().port.name, "garbler's key'");
    }

    #[test]
    fn a_program_without_output_for_the_garbler_is_unchanged() {
        let mut program = library::find("lib:millionaires(4)").unwrap();
        program.set_recipients(0, Recipients::Only(vec![EVALUATOR]));
        assert!(Authenticator::new(&program, Field::of_at_least(8)).is_none());
    }
}
