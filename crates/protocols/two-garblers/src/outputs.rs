//! Steps 8 and 9: the evaluator hands over public values of outputs, with a digest of their labels, which it can only have by evaluating.

use garblet_circuit::{Bits, Party};
use garblet_primitives::{Block, secrets};
use garblet_protocol::{ProtocolError, bulk::check_padding_of, domain::SessionId};
use subtle::ConstantTimeEq;

use super::{
    checks::EVALUATED_LABELS,
    meeting::WORD_BYTES,
    plan::{Place, Plan},
    secrets::{OutputLabels, Secrets},
};

/// Bytes of the evaluator's message to a garbler; none if that garbler learns nothing.
pub(super) fn message_bytes(plan: &Plan, to: Party) -> usize {
    match plan.output_bits(to) {
        0 => 0,
        bits => bits.div_ceil(8) + WORD_BYTES,
    }
}

/// The evaluator's message to a garbler, from the active labels.
pub(super) fn message(plan: &Plan, run: &SessionId, to: Party, active: &OutputLabels) -> Vec<u8> {
    if plan.output_bits(to) == 0 {
        return Vec::new();
    }
    let mut message = active.select_bits(plan, to).to_bytes();
    message.extend_from_slice(&digest(run, to, active.of(plan, to)));
    message
}

/// The bits that a garbler learns from the message, given the zero labels.
///
/// *Errors*: [`EVALUATED_LABELS`], of the evaluator; malformed bytes.
pub(super) fn accept(
    plan: &Plan,
    run: &SessionId,
    own: Party,
    (secrets, zero): (&Secrets, &OutputLabels),
    message: &[u8],
) -> Result<Bits, ProtocolError> {
    let count = plan.output_bits(own);
    if count == 0 {
        return Ok(Bits::default());
    }
    let (public, theirs) = message.split_at(count.div_ceil(8));
    check_padding_of(plan.evaluator(), public, count)?;
    let public = Bits::from_bytes(public).slice(0, count);
    let values: Bits = public.iter().zip(zero.select_bits(plan, own).iter()).map(|(bit, zero)| bit ^ zero).collect();
    let expected = digest(run, own, secrets.active(zero.of(plan, own), &values));
    match secrets::verdict(expected.ct_eq(theirs), "two-garblers: whether the evaluator has the labels of outputs") {
        true => Ok(values),
        false => Err(ProtocolError::cheats(plan.evaluator(), EVALUATED_LABELS, "the labels of outputs")),
    }
}

/// The digest of the labels of the outputs that a party learns.
fn digest(run: &SessionId, to: Party, labels: impl Iterator<Item = Block>) -> [u8; WORD_BYTES] {
    let mut hasher = run.domain(to, Place::Outputs as u8).hasher();
    labels.for_each(|label| hasher.add(&label.to_bytes()));
    hasher.finish()
}
