//! Four gates at a time of what there is of every gate.

use garblet_primitives::{Block, Engine, GateHash, KeyPeriod, QUAD_LANES, Rekeyed};

use crate::run::KeyPeriods;

/// Bytes of a gate's table.
pub(super) const TABLE_BYTES: usize = 32;

/// A party's shares of the masks at each gate.
///
/// *Shape*: as many of each as there are gates.
#[derive(Clone, Copy)]
pub struct GateMasks<'a> {
    /// Of the left operand's mask.
    pub left: &'a [Block],
    /// Of the right operand's mask.
    pub right: &'a [Block],
    /// Of the product of both operands' masks and the result's mask, added.
    pub result: &'a [Block],
}

impl GateMasks<'_> {
    /// The number of gates.
    ///
    /// # Panics
    /// If there are not as many of each.
    pub(super) fn count(&self) -> usize {
        assert_eq!([self.right.len(), self.result.len()], [self.left.len(); 2], "shares of masks");
        self.left.len()
    }

    /// The shares at four gates.
    #[inline(always)]
    pub(super) fn load<E: Engine>(&self, e: E, at: usize, count: usize) -> [E::Quad; 3] {
        [load(e, self.left, at, count), load(e, self.right, at, count), load(e, self.result, at, count)]
    }
}

/// Gates with tags or without.
pub(super) struct MaskedGates<const TAGS: bool>;

impl<const TAGS: bool> KeyPeriods for MaskedGates<TAGS> {
    /// The garbler hashes both labels of two operands, with tags twice.
    #[inline(always)]
    fn key_period() -> KeyPeriod {
        Rekeyed::key_period(if TAGS { 8 } else { 4 })
    }
}

/// `count` blocks from `at` on, one to four, the last again until there are four.
///
/// # Panics
/// If there are fewer.
#[inline(always)]
pub(super) fn load<E: Engine>(e: E, blocks: &[Block], at: usize, count: usize) -> E::Quad {
    let blocks = &blocks[at..at + count];
    match blocks.first_chunk() {
        Some(quad) => e.load(quad),
        None => e.load(&std::array::from_fn(
            #[inline(always)]
            |lane| blocks[lane.min(count - 1)],
        )),
    }
}

/// Writes the first `count` lanes to the blocks from `at` on.
///
/// # Panics
/// If there are fewer.
#[inline(always)]
pub(super) fn put<E: Engine>(e: E, quad: E::Quad, blocks: &mut [Block], at: usize, count: usize) {
    blocks[at..at + count].copy_from_slice(&e.store(quad)[..count]);
}

/// Adds the first `count` lanes to the blocks from `at` on.
///
/// # Panics
/// If there are fewer.
#[inline(always)]
pub(super) fn add<E: Engine>(e: E, quad: E::Quad, blocks: &mut [Block], at: usize, count: usize) {
    let sum = e.xor(load(e, blocks, at, count), quad);
    put(e, sum, blocks, at, count);
}

/// `count` select bits from `at` on, one to four, and zeros until there are four.
///
/// # Panics
/// If there are fewer.
#[inline(always)]
pub(super) fn load_bits<E: Engine>(e: E, bits: &[u8], at: usize, count: usize) -> E::Mask {
    let mut words = [0; QUAD_LANES];
    for (word, bit) in words.iter_mut().zip(&bits[at..at + count]) {
        *word = u64::from(*bit);
    }
    e.bit::<0>(&words)
}
