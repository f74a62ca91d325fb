//! Commitments to the labels of the wires that garblers hold.
//!
//! The message of a run has, in this order:
//!
//! | part | bytes |
//! |---|---|
//! | the seed of hash keys | 16 |
//! | for every wire of the first garbler, then of the second: the hashes of its labels for the public values 0 and 1 | 64 |
//! | the select bits of the zero labels of all shares, packed | 1/8 |
//!
//! A hash of 32 bytes binds: nobody finds two labels with the same. It hides the label that is not opened, which has 127 bits that the
//! evaluator does not know. The order by public value says nothing about the value, as select bits of zero labels are random. Those of the garblers' own
//! inputs stay secret. Those of the shares do not: with them, the evaluator sees that a garbler opens the share that it was dealt.

use garblet_circuit::Bits;
use garblet_primitives::{Block, secrets};
use garblet_protocol::{ProtocolError, domain::SessionId};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::{
    checks::COMMITTED_LABELS,
    meeting::WORD_BYTES,
    plan::{Place, Plan},
    secrets::Secrets,
};

/// Bytes of the seed of hash keys.
const SEED_BYTES: usize = size_of::<Block>();
/// Bytes of the commitments to the labels of a wire.
const WIRE_BYTES: usize = 2 * WORD_BYTES;

/// Bytes of the message.
pub(super) fn message_bytes(plan: &Plan) -> usize {
    let wires = plan.held_bits(0) + plan.held_bits(1);
    SEED_BYTES + WIRE_BYTES * wires + (2 * plan.share_bits()).div_ceil(8)
}

/// Step 3: the message, which both garblers can make.
pub(super) fn message(plan: &Plan, run: &SessionId, secrets: &Secrets) -> Vec<u8> {
    let mut message = Vec::with_capacity(message_bytes(plan));
    message.extend_from_slice(&secrets.hash_seed.to_bytes());
    for seat in [0, 1] {
        for (wire, zero) in secrets.held[seat].iter().enumerate() {
            for (public, label) in secrets.by_public_value(*zero).into_iter().enumerate() {
                message.extend_from_slice(&hash(plan, run, (seat, wire), public as u8, label));
            }
        }
    }
    let permutation: Bits = [0, 1].iter().flat_map(|seat| secrets.permutation(plan, *seat)).collect();
    message.extend_from_slice(&permutation.to_bytes());
    message
}

/// The digest of the message.
pub(super) fn digest(plan: &Plan, run: &SessionId, message: &[u8]) -> [u8; WORD_BYTES] {
    run.domain(plan.garblers()[1], Place::Commitments as u8).digest(message)
}

fn hash(plan: &Plan, run: &SessionId, (seat, wire): (usize, usize), public: u8, label: Block) -> [u8; WORD_BYTES] {
    let domain = run.domain(plan.garblers()[seat], Place::Label as u8);
    domain.at(wire as u64).branch(public).digest(&label.to_bytes())
}

/// Hashes as blocks, which are compared faster.
fn blocks<const COUNT: usize>(hashes: &[u8]) -> [Block; COUNT] {
    std::array::from_fn(|at| Block::from_bytes(hashes.as_chunks().0[at]))
}

/// The message as the evaluator has it, once both garblers agree on it.
pub(super) struct Commitments {
    message: Vec<u8>,
}

impl Commitments {
    /// The content of a message of [`message_bytes`].
    pub(super) fn new(message: Vec<u8>) -> Self {
        Commitments { message }
    }

    /// The seed of hash keys.
    pub(super) fn hash_seed(&self) -> Block {
        self.message.first_chunk().map_or(Block::ZERO, |bytes| Block::from_bytes(*bytes))
    }

    /// Step 6: checks that a garbler opens one label of each wire that it holds, and those of the share that it was dealt. The work is the same for all
    /// labels.
    ///
    /// *Errors*: [`COMMITTED_LABELS`], of the garbler.
    pub(super) fn check(
        &self,
        plan: &Plan,
        run: &SessionId,
        seat: usize,
        share: &Bits,
        labels: &[Block],
    ) -> Result<(), ProtocolError> {
        let own = plan.own_bits(seat);
        let before = if seat == 0 { 0 } else { plan.held_bits(0) };
        let wires = &self.message[SEED_BYTES + WIRE_BYTES * before..][..WIRE_BYTES * plan.held_bits(seat)];
        let permutation = self.permutation(plan).slice(seat * plan.share_bits(), plan.share_bits());
        let dealt = share.iter().zip(permutation.iter()).map(|(bit, permuted)| bit ^ permuted);
        let public = labels[..own].iter().map(|label| label.lsb()).chain(dealt);
        let mut fit = Choice::from(1);
        for (wire, ((committed, label), public)) in wires.chunks_exact(WIRE_BYTES).zip(labels).zip(public).enumerate() {
            let public = u8::from(public);
            let committed: [Block; 4] = blocks(committed);
            let opened: [Block; 2] = blocks(&hash(plan, run, (seat, wire), public, *label));
            for (half, opened) in opened.iter().enumerate() {
                let expected = Block::conditional_select(&committed[half], &committed[2 + half], public.into());
                fit &= expected.ct_eq(opened);
            }
        }
        match secrets::verdict(fit, "two-garblers: whether a garbler opens labels that the garblers committed to") {
            true => Ok(()),
            false => Err(ProtocolError::cheats(plan.garblers()[seat], COMMITTED_LABELS, "the labels of its wires")),
        }
    }

    /// The select bits of the zero labels of all shares.
    pub(super) fn permutation(&self, plan: &Plan) -> Bits {
        let bits = 2 * plan.share_bits();
        Bits::from_bytes(&self.message[self.message.len() - bits.div_ceil(8)..])
    }
}
