//! A party's shares of authenticated bits.
//!
//! A bit `x` is the sum of a bit of each party. With a difference `D_0` of the garbler's and `D_1` of the evaluator's, the parties also share
//! `x D_0` and `x D_1`: the sum of the garbler's [`own`](Shares::own) and the evaluator's [`peer`](Shares::peer) is `x D_0`, the sum of the two others `x D_1`.
//!
//! *Symbols* of Katz, Ranellucci, Rosulek and Wang 2018: `peer` is the MAC `M_i[x^i]`, `own` is `K_i[x^(1-i)] + x^i D_i`. Both differences have bit 0 set,
//! and bit 0 of both blocks is the party's share `x^i`: the place says nothing of the evaluator's difference, whose bit 0 is known, and the
//! garbler leaves it out of its keys. So a share is two blocks, and every sum of bits is the sum of their blocks.

use garblet_primitives::{Block, gf128};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A party's shares of bits.
///
/// *Shape*: the same number of both. *Secret*; wiped on drop.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Shares {
    /// Of each bit times this party's own difference.
    pub(crate) own: Vec<Block>,
    /// Of each bit times the peer's difference.
    pub(crate) peer: Vec<Block>,
}

impl Shares {
    /// Empty, with room for `count` shares.
    pub(crate) fn with_room(count: usize) -> Self {
        Shares { own: Vec::with_capacity(count), peer: Vec::with_capacity(count) }
    }

    /// `count` shares of zero.
    pub(crate) fn zeros(count: usize) -> Self {
        let mut zeros = Shares::with_room(count);
        zeros.own.resize(count, Block::ZERO);
        zeros.peer.resize(count, Block::ZERO);
        zeros
    }

    /// The number of bits.
    pub(crate) fn len(&self) -> usize {
        self.own.len()
    }

    /// Tells whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// The shares of a range.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Shares {
        let count = range.len();
        self.part_with_room(range, count)
    }

    /// The same, with room for `room` shares in all.
    pub(crate) fn part_with_room(&self, range: std::ops::Range<usize>, room: usize) -> Shares {
        let mut part = Shares::with_room(room.max(range.len()));
        part.extend(self, range);
        part
    }

    /// Takes the first `count` shares.
    pub(crate) fn take_first(&mut self, count: usize) -> Shares {
        if self.len() == count {
            return std::mem::take(self);
        }
        let first = self.part(0..count);
        *self = self.part(count..self.len());
        first
    }

    /// Keeps only the first `count` shares.
    pub(crate) fn truncate(&mut self, count: usize) {
        for blocks in [&mut self.own, &mut self.peer] {
            blocks.iter_mut().skip(count).for_each(Zeroize::zeroize);
            blocks.truncate(count);
        }
    }

    /// Makes room for `more` shares. If they move, the old place is wiped.
    pub(crate) fn reserve(&mut self, more: usize) {
        let count = self.len() + more;
        if self.own.capacity().min(self.peer.capacity()) < count {
            *self = self.part_with_room(0..self.len(), count);
        }
    }

    /// Appends a range of others.
    pub(crate) fn extend(&mut self, from: &Shares, range: std::ops::Range<usize>) {
        self.own.extend_from_slice(&from.own[range.clone()]);
        self.peer.extend_from_slice(&from.peer[range]);
    }
}

/// A party's share of a public one: of the multiple of its own difference, if that is given, or of another's. The first party's bit is one, all others' are zero.
pub(crate) fn of_public(delta: Option<Block>, is_first: bool) -> Block {
    delta.unwrap_or(Block::ZERO).with_lsb(is_first)
}

/// Triples: shares of uniform bits `a`, `b` and of their products.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Triples {
    pub(crate) a: Shares,
    pub(crate) b: Shares,
    pub(crate) c: Shares,
}

impl Triples {
    /// The number of triples.
    pub(crate) fn len(&self) -> usize {
        self.a.len()
    }
}

/// The result of a batch, in place of its inputs.
#[derive(Default)]
pub(crate) struct Made {
    /// The factors of leaky triples, beginning with those of triples, and masks.
    pub(crate) shares: Shares,
    pub(crate) triples: usize,
    /// Leaky triples.
    pub(crate) leaky: usize,
}

impl Made {
    /// The places of all `a`, `b` and `c`.
    pub(crate) fn factors(&self) -> [std::ops::Range<usize>; 3] {
        [0, 1, 2].map(|factor| factor * self.leaky..factor * self.leaky + self.triples)
    }

    /// The places of masks.
    pub(crate) fn masks(&self) -> std::ops::Range<usize> {
        3 * self.leaky..self.shares.len()
    }
}

/// The number of blocks that are multiplied by powers of a point at once.
pub(crate) const LOT: usize = 1024;

/// The sum of blocks times rising powers of a point, piece by piece.
pub(crate) struct PowerSum {
    powers: Vec<Block>,
    /// The exponent of the next block, minus one.
    scale: Block,
    sum: Block,
}

impl PowerSum {
    /// The empty sum at a point.
    pub(crate) fn new(point: Block) -> Self {
        let powers = std::iter::successors(Some(point), |&power| Some(gf128::mul(power, point))).take(LOT).collect();
        PowerSum { powers, scale: gf128::ONE, sum: Block::ZERO }
    }

    /// Adds the next blocks, at most [`LOT`].
    pub(crate) fn add(&mut self, blocks: &[Block]) {
        let powers = &self.powers[..blocks.len()];
        if let Some(&last) = powers.last() {
            self.sum ^= gf128::mul(self.scale, gf128::inner_product(blocks, powers));
            self.scale = gf128::mul(self.scale, last);
        }
    }

    /// Adds any number of blocks.
    pub(crate) fn add_all(&mut self, blocks: &[Block]) {
        blocks.chunks(LOT).for_each(|blocks| self.add(blocks));
    }

    /// The sum.
    pub(crate) fn finish(&self) -> Block {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    #[test]
    fn sums_of_pieces_are_the_polynomial() {
        let mut rng = Prg::new(Block::ONES);
        let point = rng.next_block();
        let mut blocks = vec![Block::ZERO; 3 * LOT + 5];
        rng.fill_blocks(&mut blocks);
        let expected = blocks.iter().rev().fold(Block::ZERO, |sum, &block| gf128::mul(sum ^ block, point));
        for pieces in [1, 7, LOT] {
            let mut sum = PowerSum::new(point);
            blocks.chunks(pieces).for_each(|piece| sum.add(piece));
            assert!(sum.finish() == expected, "by {pieces}");
        }
        let mut sum = PowerSum::new(point);
        sum.add_all(&blocks);
        sum.add(&[]);
        assert!(sum.finish() == expected);
    }
}
