//! The garbler's output: the evaluator proves that it has the labels of the output it hands over.
//!
//! *Source*: authenticity of garbled circuits (Bellare, Hoang, Rogaway 2012): the evaluator knows one label of each output and cannot
//! guess the other. So a hash of the labels proves that they belong to the select bits that come with it.

use crate::checks;
use garblet_circuit::{Bits, Party, Program};
use garblet_primitives::Block;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{EVALUATOR, GARBLER, Step, plan::Plan};
use garblet_protocol::{bulk::check_padding, checks::Cheating, domain::SessionId, error::ProtocolError, party_io};
use garblet_seeded::OutputLabels;

/// Bytes of the hash.
pub(super) const DIGEST_BYTES: usize = 32;

/// The number of bytes that the evaluator hands over; 0 if the garbler learns nothing.
pub(super) fn message_bytes(plan: &Plan) -> usize {
    match plan.garbler_outputs() {
        0 => 0,
        bits => bits.div_ceil(8) + DIGEST_BYTES,
    }
}

/// The message to the garbler, from the labels of all outputs.
pub(super) fn message(plan: &Plan, run: &SessionId, labels: &[Box<[Block]>]) -> Vec<u8> {
    if plan.garbler_outputs() == 0 {
        return Vec::new();
    }
    let garbling = plan.config().garbling;
    let mut bytes = party_io::select_bits(plan.program(), garbling, GARBLER, labels).to_bytes();
    bytes.extend(digest(run, &of_party(plan.program(), GARBLER, labels)));
    bytes
}

/// The garbler's output, proved to come from its circuit; only [`verify`] makes it.
pub(super) struct OutputVerified(Bits);

impl OutputVerified {
    /// The output, in program order.
    pub(super) fn into_bits(self) -> Bits {
        self.0
    }
}

/// Checks the message that the evaluator hands over.
///
/// *Shape*: `labels` are those of all outputs; `message` has [`message_bytes`]. *Errors*: [`checks::OUTPUT_LABELS`]; as [`check_padding`].
pub(super) fn verify(
    plan: &Plan,
    run: &SessionId,
    labels: &OutputLabels,
    message: &[u8],
) -> Result<OutputVerified, ProtocolError> {
    let bits = plan.garbler_outputs();
    if bits == 0 {
        return Ok(OutputVerified(Bits::default()));
    }
    let (active, said) = message.split_at(message.len().saturating_sub(DIGEST_BYTES));
    check_padding(active, bits)?;
    let active = Bits::filled(bits, |own| own.copy_from_slice(active));
    let zero_bits = party_io::select_bits(plan.program(), plan.config().garbling, GARBLER, &labels.zero);
    let output: Bits = zero_bits.iter().zip(active.iter()).map(|(zero, active)| zero ^ active).collect();
    let [zero, one] = [&labels.zero, &labels.one].map(|labels| of_party(plan.program(), GARBLER, labels));
    let both = zero.iter().zip(one.iter()).zip(output.iter());
    let due = Zeroizing::new(both.map(|((&zero, &one), bit)| Block::select(bit, one, zero)).collect::<Vec<Block>>());
    match bool::from(digest(run, &due).ct_eq(said)) {
        true => Ok(OutputVerified(output)),
        false => Err(Cheating::new(checks::OUTPUT_LABELS, format!("our output of {bits} bits")).into()),
    }
}

fn digest(run: &SessionId, labels: &[Block]) -> [u8; DIGEST_BYTES] {
    run.domain(EVALUATOR, Step::Result as u8).digest(bytemuck::cast_slice(labels))
}

/// The labels of the outputs that a party learns.
fn of_party(program: &Program, party: Party, labels: &[Box<[Block]>]) -> Zeroizing<Vec<Block>> {
    let learned = program.outputs().iter().zip(labels).filter(|(output, _)| output.recipients.contains(party));
    Zeroizing::new(learned.flat_map(|(_, labels)| labels.iter().copied()).collect())
}
