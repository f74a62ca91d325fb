//! The inputs and outputs of a program, party by party. In garbled-circuit protocols of two, party 0
//! garbles and party 1 evaluates.

use std::ops::RangeInclusive;

use garblet_circuit::{Bits, Input, Output, Party, Program, Recipients};
use garblet_garble::GarblingConfig;
use garblet_primitives::Block;

use crate::error::ProtocolError;

/// The garbler's number.
pub const GARBLER: Party = Party(0);
/// The evaluator's number.
pub const EVALUATOR: Party = Party(1);

/// Refuses a program that names other parties than these two, or whose garbler's inputs the scheme would reveal.
pub fn check_parties(protocol: &'static str, program: &Program, garbling: GarblingConfig) -> Result<(), ProtocolError> {
    let refuse = |reason| ProtocolError::Unsupported { protocol, program: program.name().into(), reason };
    let two = |party: &Party| *party == GARBLER || *party == EVALUATOR;
    if let Some(input) = program.inputs().iter().find(|i| !two(&i.owner)) {
        let reason = format!("input `{}` belongs to party {}, expected 0 or 1", input.port.name, input.owner);
        return Err(refuse(reason));
    }
    for output in program.outputs() {
        let Recipients::Only(parties) = &output.recipients else { continue };
        if let Some(party) = parties.iter().find(|p| !two(p)) {
            let reason = format!("output `{}` is for party {party}, expected 0 or 1", output.port.name);
            return Err(refuse(reason));
        }
    }
    let shown = program.inputs().iter().find(|i| i.owner == GARBLER && garbling.scheme.is_privacy_free());
    match shown {
        Some(input) => {
            Err(refuse(format!("the privacy-free scheme would show the garbler's input `{}`", input.port.name)))
        }
        None => Ok(()),
    }
}

/// Input bits of a party.
pub fn input_bits(program: &Program, party: Party) -> usize {
    inputs_of(program, party).map(|input| input.port.width() as usize).sum()
}

/// Output bits that a party learns.
pub fn output_bits(program: &Program, party: Party) -> usize {
    let learned = program.outputs().iter().filter(|o| o.recipients.contains(party));
    learned.map(|o| o.port.width() as usize).sum()
}

/// Checks a party's input values and joins them, in program order, to one bit string.
pub fn own_input(program: &Program, party: Party, values: &[Bits]) -> Result<Bits, ProtocolError> {
    let expected = inputs_of(program, party).count();
    if values.len() != expected {
        let what = format!("values of party {party}");
        return Err(ProtocolError::Input { what, expected: expected.to_string(), got: values.len().to_string() });
    }
    for (input, value) in inputs_of(program, party).zip(values) {
        let (width, got) = (input.port.width() as usize, value.len());
        if got != width {
            let what = format!("`{}`", input.port.name);
            let [expected, got] = [width, got].map(|n| format!("{n} bits"));
            return Err(ProtocolError::Input { what, expected, got });
        }
    }
    let mut joined = Bits::default();
    values.iter().for_each(|value| joined.append(value));
    Ok(joined)
}

/// Distributes labels of the two parties' input bits over the program's inputs.
pub fn labels_by_input(program: &Program, garbler: &[Block], evaluator: &[Block]) -> Vec<Box<[Block]>> {
    let (mut garbler, mut evaluator) = (garbler, evaluator);
    let deal = |input: &Input| {
        let from = if input.owner == GARBLER { &mut garbler } else { &mut evaluator };
        let (own, rest) = from.split_at(input.port.width() as usize);
        *from = rest;
        own.into()
    };
    program.inputs().iter().map(deal).collect()
}

/// Select bits of the output labels that `party` learns, in program order.
pub fn select_bits(program: &Program, garbling: GarblingConfig, party: Party, labels: &[Box<[Block]>]) -> Bits {
    let learned = program.outputs().iter().zip(labels).filter(|(o, _)| o.recipients.contains(party));
    learned.flat_map(|(_, labels)| labels.iter().map(|l| garbling.select_bit(*l))).collect()
}

/// Decodes the outputs that `party` learns: an output's bit is the select bits of its zero and active label added.
///
/// *Shape*: both as [`select_bits`] gives them. Returns one entry per program output, `None` where `party` is not a recipient.
pub fn decode(program: &Program, party: Party, zero: &Bits, active: &Bits) -> Vec<Option<Bits>> {
    deal_outputs(program, party, &mut zero.iter().zip(active.iter()).map(|(z, a)| z ^ a))
}

/// Distributes the bits that `party` learns, in program order, over the program's outputs; `None` where it is not a recipient.
pub fn deal_outputs(program: &Program, party: Party, bits: &mut impl Iterator<Item = bool>) -> Vec<Option<Bits>> {
    let deal = |output: &Output| {
        let width = output.port.width() as usize;
        output.recipients.contains(party).then(|| bits.by_ref().take(width).collect())
    };
    program.outputs().iter().map(deal).collect()
}

/// Refuses a number of parties that the protocol cannot have, and a program that names other parties.
pub fn check_party_count(
    protocol: &'static str,
    program: &Program,
    parties: u16,
    allowed: RangeInclusive<u16>,
) -> Result<(), ProtocolError> {
    let refuse = |reason| Err(ProtocolError::Unsupported { protocol, program: program.name().into(), reason });
    if !allowed.contains(&parties) {
        return refuse(format!("{parties} parties, expected {} to {}", allowed.start(), allowed.end()));
    }
    let last = parties - 1;
    if let Some(input) = program.inputs().iter().find(|i| i.owner.0 > last) {
        return refuse(format!("input `{}` belongs to party {}, expected 0 to {last}", input.port.name, input.owner));
    }
    for output in program.outputs() {
        let Recipients::Only(recipients) = &output.recipients else { continue };
        if let Some(party) = recipients.iter().find(|p| p.0 > last) {
            return refuse(format!("output `{}` is for party {party}, expected 0 to {last}", output.port.name));
        }
    }
    Ok(())
}

fn inputs_of(program: &Program, party: Party) -> impl Iterator<Item = &Input> {
    program.inputs().iter().filter(move |i| i.owner == party)
}
