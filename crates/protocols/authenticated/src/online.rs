//! Steps O1 to O5: from inputs to results.

pub(crate) mod evaluator;
pub(crate) mod garbler;

use garblet_circuit::{Bits, Party};
use garblet_garble::masked::MaskWalk;
use garblet_primitives::Block;
use garblet_protocol::{RunId, conduct::Conduct, domain::Hasher, error::ProtocolError};

use crate::{GARBLER, Step, ground::Ground, opening::Packed, place::Place, plan::Plan};

/// Bytes of the number of the run, at the beginning of both parties' first messages.
pub(crate) const RUN_BYTES: usize = 8;
/// Bytes of the point at which shares are summed.
pub(crate) const CHALLENGE_BYTES: usize = 16;
/// Bytes of a digest of labels.
pub(crate) const DIGEST_BYTES: usize = 32;

impl<C: Conduct<Step>> Ground<C> {
    /// The digest of labels of outputs that the evaluator hands over.
    pub(crate) fn output_digest(&self, run: u64, labels: &[Block]) -> [u8; DIGEST_BYTES] {
        self.domain(GARBLER, Place::OutputLabels, run).digest(bytemuck::cast_slice(labels))
    }

    /// The hash of labels of gates whose masked values are revealed.
    pub(crate) fn revealed(&self, run: u64) -> Hasher {
        self.domain(GARBLER, Place::RevealedLabels, run).hasher()
    }
}

/// Checks that the peer is at the same run. Each run is used once, in any order, but by both parties together.
///
/// *Errors*: [`ProtocolError::OtherRun`].
fn check_run(run: u64, number: &[u8]) -> Result<(), ProtocolError> {
    let number = u64::from_le_bytes(*number.first_chunk().unwrap_or(&[0; RUN_BYTES]));
    if number == run {
        return Ok(());
    }
    Err(ProtocolError::OtherRun { expected: RunId::Prepared(run), got: RunId::Prepared(number) })
}

/// A party's inputs with their masks.
fn masked_own(own: &Bits, masks: &[bool]) -> Packed {
    let mut masked = Packed::zeros(masks.len());
    own.iter().zip(masks).enumerate().for_each(|(at, (bit, mask))| masked.add(at, bit ^ mask));
    masked
}

/// The masked values of all inputs that a party provides, in program order, from those of the garbler, the evaluator and others.
fn by_owner(plan: &Plan, of: [&Packed; 3]) -> Vec<bool> {
    let mut next = [0; 3];
    let value = |owner: Party| {
        let giver = usize::from(owner.0).min(2);
        next[giver] += 1;
        of[giver].get(next[giver] - 1)
    };
    plan.owners().flatten().map(value).collect()
}

/// Walks the masked values, each in bit 0 of a block. A negation flips it.
fn masked_values<'p>(plan: &'p Plan, inputs: Vec<Box<[Block]>>) -> MaskWalk<'p> {
    MaskWalk::new(plan.program(), plan.schedules(), inputs, Block::from_u128(1))
}
