//! Labels: a key and a separate external bit.

use std::ops::BitXor;

use garblet_primitives::{Block, Prg};
use zeroize::{DefaultIsZeroes, Zeroizing};

use super::Method;

/// The label of a wire for one value. *Secret*.
#[derive(Clone, Copy, Default)]
pub struct Label {
    /// The key.
    pub key: Block,
    /// The external value: the value, hidden by the wire's permutation.
    pub external: bool,
}

impl DefaultIsZeroes for Label {}

impl Label {
    /// The label of an input whose external bit is the lowest bit of its key.
    pub fn of_block(block: Block) -> Self {
        Label { key: block, external: block.lsb() }
    }

    /// The label as a block, with its external bit in place of the lowest bit of its key.
    pub(super) fn to_block(self) -> Block {
        self.key.with_lsb(self.external)
    }
}

impl BitXor for Label {
    type Output = Label;

    fn bitxor(self, other: Label) -> Label {
        Label { key: self.key ^ other.key, external: self.external ^ other.external }
    }
}

/// Both labels of a wire. *Secret*.
#[derive(Clone, Copy, Default)]
pub struct WireLabels {
    pub(super) zero: Block,
    pub(super) one: Block,
    /// The external value of zero.
    pub(super) permutation: bool,
}

impl DefaultIsZeroes for WireLabels {}

impl WireLabels {
    /// The label for a value, chosen in constant time.
    pub fn of(&self, value: bool) -> Label {
        Label { key: Block::select(value, self.one, self.zero), external: value ^ self.permutation }
    }

    /// The key of the label with this external value.
    pub(super) fn of_external(&self, external: bool) -> Block {
        self.of(external ^ self.permutation).key
    }

    /// The wire labels for zero and one, where the one for `value` is `label`.
    pub(super) fn with(value: bool, label: Label, other: Block) -> Self {
        WireLabels {
            zero: Block::select(value, other, label.key),
            one: Block::select(value, label.key, other),
            permutation: label.external ^ value,
        }
    }
}

/// The labels of a circuit's inputs, and the secrets from which all its labels are derived. *Secret*.
pub struct InputLabels {
    /// The free-XOR difference between the two labels of every wire.
    pub(super) difference: Zeroizing<Block>,
    /// The seed of all other labels.
    pub(super) seed: Zeroizing<Block>,
    wires: Zeroizing<Vec<WireLabels>>,
}

impl InputLabels {
    /// The labels derived from a seed. *Unique*: the seed.
    pub fn of_seed(method: Method, seed: Block, count: usize) -> Self {
        let mut rng = Prg::new(seed);
        let difference = Zeroizing::new(rng.next_block());
        let gates = Zeroizing::new(rng.next_block());
        let mut wires = Zeroizing::new(Vec::with_capacity(count));
        for _ in 0..count {
            let [zero, other, bits] = [rng.next_block(), rng.next_block(), rng.next_block()];
            let one = if method.has_free_xor() { zero ^ *difference } else { other };
            wires.push(WireLabels { zero, one, permutation: bits.lsb() });
        }
        InputLabels { difference, seed: gates, wires }
    }

    /// Inputs whose labels are blocks with the external bits lowest, so the labels for zero and one differ there.
    ///
    /// *Shape*: with free XOR, both of every pair differ by `difference`. *Secret*: everything. *Unique*: the seed.
    pub fn of_pairs(pairs: impl Iterator<Item = [Block; 2]>, difference: Block, seed: Block) -> Self {
        let wires = pairs.map(|[zero, one]| WireLabels { zero, one, permutation: zero.lsb() });
        let (difference, seed) = (Zeroizing::new(difference), Zeroizing::new(seed));
        InputLabels { difference, seed, wires: Zeroizing::new(wires.collect()) }
    }

    /// The inputs' labels in order.
    pub fn wires(&self) -> &[WireLabels] {
        &self.wires
    }
}
