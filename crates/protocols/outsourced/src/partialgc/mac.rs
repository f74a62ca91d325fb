//! Outputs that the cloud hands over: masked, with a tag, both made inside the circuit.
//!
//! *Source*: Mood et al. 2014, phase 6: the output with a one-time pad, and AES under a key of the receiver. Here it is AES-128 in CBC mode
//! over the output, whose length both know, padded with zeros; the tag has a one-time pad, too.

use std::sync::Arc;

use garblet_circuit::{Bits, CircuitError, Link, Party, Port, Program, Recipients, Source, Type};
use garblet_primitives::{Aes128, Block, Prg};
use garblet_protocol::party_io::{EVALUATOR, output_bits};
use garblet_synthesis::{
    builder::{Bit, BitString, CircuitBuilder},
    library,
};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// The number of bits of a block, a key and a tag.
const BLOCK_BITS: usize = 128;

/// The sizes of what a receiver gives and gets.
#[derive(Clone, Copy)]
pub(crate) struct Authenticator {
    /// The number of bits of its outputs.
    bits: usize,
}

/// A receiver's key and pad. *Secret*. *Unique*: for one run.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Key {
    key: Block,
    pad: Bits,
}

impl Authenticator {
    /// The authenticator of a party's outputs; `None` if it learns nothing.
    pub(crate) fn of(program: &Program, party: Party) -> Option<Self> {
        let bits = output_bits(program, party);
        (bits > 0).then_some(Authenticator { bits })
    }

    /// The number of bits that the cloud hands over: the masked output, then the masked tag.
    pub(crate) fn message_bits(self) -> usize {
        self.bits + BLOCK_BITS
    }

    /// Adds the receiver's additional inputs, owned by `owner`, and the message to it, as an output of the cloud, to a program whose first
    /// outputs are those of `original`.
    ///
    /// *Errors*: a program that has no room for these.
    pub(crate) fn extend(
        self,
        extended: &mut Program,
        original: &Program,
        receiver: Party,
        owner: Party,
    ) -> Result<(), CircuitError> {
        let key = input(extended, &format!("key of party {receiver}"), BLOCK_BITS, owner)?;
        let pad = input(extended, &format!("pad of party {receiver}"), self.message_bits(), owner)?;
        let learned = original.outputs().iter().filter(|output| output.recipients.contains(receiver));
        let output: Vec<Link> = learned.flat_map(|output| output.links.iter().copied()).collect();
        let tag = self.tag(extended, key, &output)?;
        let add = extended.add_component(sum(self.message_bits())?);
        let all: Vec<Link> = output.into_iter().chain([tag, pad]).collect();
        let masked = extended.add_instance(add, &all)?;
        let port = Port::new(free_output(extended, receiver), Type::Bits(self.message_bits() as u32));
        let link = extended.instance_link(masked);
        extended.add_output(port, Recipients::Only(vec![EVALUATOR]), vec![link])
    }

    /// The tag of an output.
    fn tag(self, program: &mut Program, key: Link, output: &[Link]) -> Result<Link, CircuitError> {
        let component = |name| library::component(name).map(Arc::new).map_err(|_| unreachable_name());
        let schedule = program.add_component(component("aes-key-schedule")?);
        let encrypt = program.add_component(component("aes128-expanded")?);
        let add = program.add_component(sum(BLOCK_BITS)?);
        let keys = program.add_instance(schedule, &[key])?;
        let keys = program.instance_link(keys);
        let mut state: Option<Link> = None;
        for start in (0..self.bits).step_by(BLOCK_BITS) {
            let part = filled(output, start);
            let block = match state {
                None => part,
                Some(state) => {
                    let sum = program.add_instance(add, &part.into_iter().chain([state]).collect::<Vec<Link>>())?;
                    vec![program.instance_link(sum)]
                }
            };
            let block: Vec<Link> = [keys].into_iter().chain(block).collect();
            let ciphertext = program.add_instance(encrypt, &block)?;
            state = Some(program.instance_link(ciphertext));
        }
        state.ok_or_else(unreachable_name)
    }

    /// A fresh key with a pad.
    pub(crate) fn key(self, rng: &mut Prg) -> Key {
        let mut pad = Zeroizing::new(vec![0; self.message_bits().div_ceil(8)]);
        rng.fill_bytes(&mut pad);
        Key { key: rng.next_block(), pad: Bits::from_bytes(&pad).slice(0, self.message_bits()) }
    }

    /// Checks the cloud's message, and unmasks the output; `None` if the tag is wrong.
    ///
    /// *Shape*: `message` has [`Authenticator::message_bits`].
    pub(crate) fn verify(self, key: &Key, message: &Bits) -> Option<Bits> {
        let clear: Bits = message.iter().zip(key.pad.iter()).map(|(bit, pad)| bit ^ pad).collect();
        let (output, tag) = (clear.slice(0, self.bits), clear.slice(self.bits, BLOCK_BITS).to_bytes());
        let expected = tag_of(key.key, &output).to_bytes();
        bool::from(expected[..].ct_eq(&tag)).then_some(output)
    }
}

impl Key {
    /// The receiver's additional inputs.
    pub(crate) fn inputs(&self) -> Bits {
        let mut bits = Bits::from_bytes(&self.key.to_bytes());
        bits.append(&self.pad);
        bits
    }
}

/// CBC-MAC of an output, padded with zeros.
fn tag_of(key: Block, output: &Bits) -> Block {
    let cipher = Aes128::new(key);
    let bytes = Zeroizing::new(output.to_bytes());
    bytes.chunks(BLOCK_BITS / 8).fold(Block::ZERO, |state, part| {
        let mut block = [0; 16];
        block[..part.len()].copy_from_slice(part);
        cipher.encrypt(state ^ Block::from_bytes(block))
    })
}

/// The block of an output starting at a bit, padded with zeros.
fn filled(output: &[Link], start: usize) -> Vec<Link> {
    let (mut skip, mut wanted) = (start as u32, BLOCK_BITS as u32);
    let mut part = Vec::new();
    for link in output {
        let skipped = skip.min(link.len);
        skip -= skipped;
        let len = (link.len - skipped).min(wanted);
        wanted -= len;
        if len > 0 {
            part.push(Link { source: link.source, start: link.start + skipped, len });
        }
    }
    if wanted > 0 {
        part.push(Link { source: Source::Constant(false), start: 0, len: wanted });
    }
    part
}

/// A circuit for the sum of two strings of `bits` bits.
fn sum(bits: usize) -> Result<garblet_circuit::Component, CircuitError> {
    let mut c = CircuitBuilder::new("sum");
    let BitString(a) = c.input("a", Type::Bits(bits as u32));
    let BitString(b) = c.input("b", Type::Bits(bits as u32));
    let sum: Vec<Bit> = a.into_iter().zip(b).map(|(a, b)| c.xor(a, b)).collect();
    c.output("sum", &BitString(sum));
    c.finish()
}

fn input(program: &mut Program, name: &str, bits: usize, owner: Party) -> Result<Link, CircuitError> {
    let mut name = name.to_string();
    while program.inputs().iter().any(|input| input.port.name == name) {
        name.push('\'');
    }
    let input = program.add_input(Port::new(name, Type::Bits(bits as u32)), owner)?;
    Ok(program.input_link(input))
}

fn free_output(program: &Program, receiver: Party) -> String {
    let mut name = format!("message to party {receiver}");
    while program.outputs().iter().any(|output| output.port.name == name) {
        name.push('\'');
    }
    name
}

/// The library has AES, and there is an output, so this does not occur.
fn unreachable_name() -> CircuitError {
    CircuitError::NoSuchSource { target: "the tag of an output".into(), what: "component", index: 0, count: 0 }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::evaluate;
    use garblet_protocol::party_io::GARBLER;

    use super::*;

    #[test]
    fn the_receiver_verifies_the_circuits_message() {
        for (name, ands) in
            [("lib:add(1)", 6400), ("lib:add(127)", 6400), ("lib:add(128)", 6400), ("lib:add(300)", 16_640)]
        {
            let program = library::find(name).unwrap();
            let authenticator = Authenticator::of(&program, GARBLER).unwrap();
            let mut extended = program.clone();
            authenticator.extend(&mut extended, &program, GARBLER, GARBLER).unwrap();
            let added = extended.counts().and - program.counts().and;
            assert_eq!(added, ands, "{name}");
            let mut rng = Prg::new(Block::ONES);
            let key = authenticator.key(&mut rng);
            let value = |width: u32| {
                let bytes: Vec<u8> = (0..width.div_ceil(8)).map(|byte| (byte * 37 + 11) as u8).collect();
                Bits::from_bytes(&bytes).slice(0, width as usize)
            };
            let mut inputs: Vec<Bits> = program.inputs().iter().map(|input| value(input.port.width())).collect();
            let expected = evaluate(&program, &inputs);
            let further = key.inputs();
            assert_eq!(further.len(), 128 + authenticator.message_bits());
            inputs.extend([further.slice(0, 128), further.slice(128, further.len() - 128)]);
            let message = evaluate(&extended, &inputs).pop().unwrap();
            assert_eq!(message.len(), authenticator.message_bits());
            assert!(authenticator.verify(&key, &message).unwrap() == expected[0], "{name}");
            for bit in 0..message.len() {
                let mut wrong = message.clone();
                wrong.set(bit, !wrong.get(bit));
                assert!(authenticator.verify(&key, &wrong).is_none(), "{name}, bit {bit}");
            }
        }
    }
}
