//! The ideal functionality of joint garbling: a dealer who knows everybody's secrets, for testing the layers above and
//! the protocols that replace it.
//!
//! *Source*: Figure 1, equation (2), transcribed gate by gate without optimisation.

use garblet_circuit::{Operand, OutputWire, Party};
use garblet_primitives::Block;

use crate::{
    plan::Plan,
    rows::{self, Numbered},
    secrets::Secrets,
};

/// The joint garbled circuit for the secrets of all parties, in order.
pub(super) fn garble(plan: &Plan, secrets: &[Secrets], numbered: Numbered) -> Vec<Block> {
    let parties = secrets.len();
    let mut circuit = vec![Block::ZERO; plan.row_blocks()];
    // Each party adds its masks and labels by itself, with the protocol's code ...
    secrets.iter().for_each(|secrets| rows::mask(plan, secrets, numbered, &mut circuit));
    // ... and the joint part is added here in the clear.
    permutation_bits(plan, secrets, |gate, [u, v], w| {
        for row in 0..4 {
            let (alpha, beta) = (row >> 1 == 1, row & 1 == 1);
            let bit = (u ^ alpha) & (v ^ beta) ^ w;
            for (j, secrets) in secrets.iter().enumerate() {
                circuit[(4 * gate + row) * parties + j] ^= secrets.delta.block() & Block::mask(bit);
            }
        }
    });
    circuit
}

/// The permutation bits of the output bits that party `party` learns, with their inversion.
pub(super) fn output_permutation(plan: &Plan, secrets: &[Secrets], party: Party) -> Vec<bool> {
    let slots = permutation_bits(plan, secrets, |_, _, _| ());
    let bit = |wire| match wire {
        OutputWire::Constant(value) => value,
        OutputWire::Slot(operand) => slots[operand.slot()] ^ operand.inverted(),
    };
    plan.outputs_of(party).map(bit).collect()
}

/// The permutation bit in every slot after the last gate. `and` gets, for every AND gate, its number, the bits of its operands
/// with their inversion, and the bit of its output.
fn permutation_bits(plan: &Plan, secrets: &[Secrets], mut and: impl FnMut(usize, [bool; 2], bool)) -> Vec<bool> {
    let base =
        |at: usize| secrets.iter().fold(false, |sum, secrets| sum ^ secrets.permutation.get(at).public("a test"));
    let schedule = plan.schedule();
    let mut slots: Vec<bool> = (0..plan.input_count()).map(base).collect();
    slots.resize(schedule.slot_count().max(plan.input_count()), false);
    let (mut xors, mut ands) = (schedule.xors().iter(), schedule.ands().iter().enumerate());
    for step in schedule.steps() {
        for op in xors.by_ref().take(step.xors as usize) {
            slots[op.out as usize] = slots[op.a as usize] ^ slots[op.b as usize];
        }
        for (gate, op) in ands.by_ref().take(step.ands as usize) {
            let bit = |operand: Operand| slots[operand.slot()] ^ operand.inverted();
            let out = base(plan.input_count() + gate);
            and(gate, [bit(op.a), bit(op.b)], out);
            slots[op.out as usize] = out;
        }
    }
    slots
}
