//! Blocks, bits and tables of four gates at a time.

use garblet_primitives::{Block, Engine, GateHash, KeyPeriod, QUAD_LANES, Rekeyed, each, numbered};

use crate::run::KeyPeriods;

/// The table of a gate.
pub(super) type GateTable = [u8; 32];

/// A party's shares of the masks at each gate.
///
/// *Shape*: one of each per gate.
#[derive(Clone, Copy)]
pub struct GateMasks<'a> {
    /// The shares of the left operand's mask.
    pub left: &'a [Block],
    /// The shares of the right operand's mask.
    pub right: &'a [Block],
    /// The shares of the product of both operands' masks plus the result's mask.
    pub result: &'a [Block],
}

impl GateMasks<'_> {
    /// The number of gates.
    ///
    /// # Panics
    /// If the numbers of shares differ.
    pub(super) fn count(&self) -> usize {
        assert_eq!([self.right.len(), self.result.len()], [self.left.len(); 2], "shares of masks");
        self.left.len()
    }

    /// The shares at this many gates.
    #[inline(always)]
    pub(super) fn window(&self, at: usize, count: usize) -> Self {
        let [left, right, result] = each(
            [self.left, self.right, self.result],
            #[inline(always)]
            |shares| window(shares, at, count),
        );
        GateMasks { left, right, result }
    }

    /// The shares at one to four gates.
    #[inline(always)]
    pub(super) fn load<E: Engine>(&self, e: E) -> [E::Quad; 3] {
        [load(e, self.left), load(e, self.right), load(e, self.result)]
    }
}

/// Gates with tags or without.
pub(super) struct MaskedGates<const TAGS: bool>;

impl<const TAGS: bool> KeyPeriods for MaskedGates<TAGS> {
    /// The number of hashes of the garbler: both labels of two operands, and twice as many with tags.
    #[inline(always)]
    fn key_period() -> KeyPeriod {
        Rekeyed::key_period(if TAGS { 8 } else { 4 })
    }
}

/// The items of `count` gates from gate `at` on.
///
/// # Panics
/// If there are fewer.
#[inline(always)]
pub(super) fn window<T>(items: &[T], at: usize, count: usize) -> &[T] {
    &items[at..at + count]
}

/// The same, to be written.
///
/// # Panics
/// If there are fewer.
#[inline(always)]
pub(super) fn window_mut<T>(items: &mut [T], at: usize, count: usize) -> &mut [T] {
    &mut items[at..at + count]
}

/// One to four blocks, padded to four with the last one.
#[inline(always)]
pub(super) fn load<E: Engine>(e: E, blocks: &[Block]) -> E::Quad {
    match blocks.as_array() {
        Some(quad) => e.load(quad),
        None => e.load(&numbered(
            #[inline(always)]
            |lane| blocks[lane.min(blocks.len() - 1)],
        )),
    }
}

/// Writes the first lanes to one to four blocks.
#[inline(always)]
pub(super) fn put<E: Engine>(e: E, quad: E::Quad, blocks: &mut [Block]) {
    blocks.copy_from_slice(&e.store(quad)[..blocks.len()]);
}

/// Adds the first lanes to one to four blocks.
#[inline(always)]
pub(super) fn add<E: Engine>(e: E, quad: E::Quad, blocks: &mut [Block]) {
    put(e, e.xor(load(e, blocks), quad), blocks);
}

/// Bit 0 of one to four bytes, padded to four with zeros.
#[inline(always)]
pub(super) fn load_bits<E: Engine>(e: E, bits: &[u8]) -> E::Mask {
    let mut words = [0; QUAD_LANES];
    for (word, bit) in words.iter_mut().zip(bits) {
        *word = u64::from(*bit);
    }
    e.bit::<0>(&words)
}

/// Writes bit 0 of the first lanes to one to four bytes.
#[inline(always)]
pub(super) fn put_bits<E: Engine>(e: E, quad: E::Quad, bits: &mut [u8]) {
    for (bit, block) in bits.iter_mut().zip(&e.store(quad)) {
        *bit = u8::from(block.lsb());
    }
}
