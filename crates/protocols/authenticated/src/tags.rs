//! Tags: a second set of half gates, for the evaluator's difference. With them the evaluator checks all gates by itself.
//!
//! A tag of a gate is what the garbler's share of the mask is of the evaluator's difference, under hashes of the labels of the other operand. With labels and
//! tags the evaluator has the share of the garbler of `t D_1`, where `t` is one if the gate gave the wrong masked value. The sum over all gates, with powers
//! of a point that is a hash of everything that was sent, must be the garbler's.

use garblet_primitives::Block;
use garblet_protocol::domain::Hasher;

use crate::{plan::Plan, shares::PowerSum};

/// Tags of a number of bytes: the top bytes of a block, since bit 0 of the evaluator's difference is known.
#[derive(Clone, Copy)]
pub(crate) struct Tag {
    pub(crate) bytes: usize,
}

impl Tag {
    /// The tags of a plan, if it has any.
    pub(crate) fn of(plan: &Plan) -> Option<Tag> {
        let bytes = plan.tag_bytes();
        (bytes > 0).then_some(Tag { bytes })
    }

    /// The bytes of a block that belong to a tag, in place.
    #[inline(always)]
    pub(crate) fn truncated(self, block: Block) -> Block {
        block & Block::from_u128(u128::MAX << (8 * (16 - self.bytes)))
    }

    /// Writes a tag.
    #[inline(always)]
    pub(crate) fn write(self, block: Block, into: &mut [u8]) {
        into.copy_from_slice(&block.to_bytes()[16 - self.bytes..]);
    }

    /// Reads a tag.
    #[inline(always)]
    pub(crate) fn read(self, bytes: &[u8]) -> Block {
        let mut block = [0; 16];
        block[16 - self.bytes..].copy_from_slice(bytes);
        Block::from_bytes(block)
    }
}

/// The sum of values of gates with powers of the hash of a transcript.
pub(crate) fn weighed(transcript: &Hasher, values: &[Block]) -> Block {
    let mut sum = PowerSum::new(Block::from_digest(&transcript.clone().finish()));
    sum.add_all(values);
    sum.finish()
}
