//! A party's shares of authenticated bits.
//!
//! A bit `x` is the sum of a bit of each party. For the difference `D_k` of every party `k` the parties also share `x D_k`: their shares of it add up
//! to that. All differences have bit 0 set, and bit 0 of every block is the party's share of the bit itself. So a share is a block for each party, and
//! every sum of bits is the sum of their blocks.
//!
//! *Symbols* of the design of Katz, Ranellucci, Rosulek and Wang for many parties: the block for another party `k` is the MAC `M_k[x^i]`; the party's own is
//! `x^i D_i` with the sum of its keys of all others' bits. Only the sum is kept, so an opening is checked as a whole, and a failure names nobody.

use std::ops::Range;

use garblet_circuit::Party;
use garblet_primitives::Block;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::shares::of_public;

/// A party's shares of bits.
///
/// *Shape*: a column for each party, all of the same length. *Secret*; wiped on drop.
#[derive(Default, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Shares(Vec<Vec<Block>>);

impl Shares {
    /// The shares in these columns.
    pub(super) fn of(columns: Vec<Vec<Block>>) -> Self {
        Shares(columns)
    }

    /// Empty, with room for `count` shares of this number of parties.
    pub(super) fn with_room(parties: u16, count: usize) -> Self {
        Shares((0..parties).map(|_| Vec::with_capacity(count)).collect())
    }

    /// The memory of all columns.
    pub(super) fn into_rooms(mut self) -> impl Iterator<Item = Zeroizing<Vec<Block>>> {
        std::mem::take(&mut self.0).into_iter().map(Zeroizing::new)
    }

    /// The number of bits.
    pub(super) fn len(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// The shares of the bits times a party's difference.
    pub(super) fn of_party(&self, party: Party) -> &[Block] {
        &self.0[usize::from(party.0)]
    }

    /// The columns, in the order of the parties.
    pub(super) fn columns(&self) -> &[Vec<Block>] {
        &self.0
    }

    /// The columns, for changes.
    pub(super) fn columns_mut(&mut self) -> &mut [Vec<Block>] {
        &mut self.0
    }

    /// The party's share of a bit itself.
    #[cfg(test)]
    pub(super) fn bit(&self, at: usize) -> bool {
        self.0[0][at].lsb()
    }

    /// Takes the first `count` shares.
    pub(super) fn take_first(&mut self, count: usize) -> Shares {
        let rest = Shares(self.0.iter_mut().map(|column| column.split_off(count)).collect());
        std::mem::replace(self, rest)
    }

    /// Makes room for `more` shares. If they move, the old place is wiped.
    pub(super) fn reserve(&mut self, more: usize) {
        for column in &mut self.0 {
            if column.capacity() - column.len() < more {
                let mut larger = Vec::with_capacity(column.len() + more);
                larger.extend_from_slice(column);
                std::mem::replace(column, larger).zeroize();
            }
        }
    }

    /// Appends a range of others.
    pub(super) fn extend(&mut self, from: &Shares, range: Range<usize>) {
        for (column, from) in self.0.iter_mut().zip(&from.0) {
            column.extend_from_slice(&from[range.clone()]);
        }
    }
}

/// Adds public bits to a party's shares: every party adds its difference to its own block, and party 0 flips its bit.
///
/// *Shape*: `bit` by the number of the share. `delta` has bit 0 set.
pub(super) fn add_public(
    columns: &mut [Vec<Block>],
    party: Party,
    delta: Block,
    bits: Range<usize>,
    bit: impl Fn(usize) -> bool,
) {
    for (number, column) in columns.iter_mut().enumerate() {
        let change = of_public((number == usize::from(party.0)).then_some(delta), party.0 == 0);
        let column = column[bits.clone()].iter_mut().enumerate();
        column.for_each(|(at, block)| *block ^= Block::mask(bit(at)) & change);
    }
}

/// Triples: shares of uniform bits `a`, `b` and of their products.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Triples {
    pub(super) a: Shares,
    pub(super) b: Shares,
    pub(super) c: Shares,
}

impl Triples {
    /// Empty, with room.
    pub(super) fn with_room(parties: u16, count: usize) -> Self {
        let [a, b, c] = [(); 3].map(|()| Shares::with_room(parties, count));
        Triples { a, b, c }
    }

    /// `a`, `b` and `c`, for changes.
    pub(super) fn factors_mut(&mut self) -> [&mut Shares; 3] {
        let Triples { a, b, c } = self;
        [a, b, c]
    }
}

/// A block of a message of 16 bytes.
pub(super) fn block_of(bytes: &[u8]) -> Block {
    Block::from_bytes(*bytes.first_chunk().unwrap_or(&[0; 16]))
}
