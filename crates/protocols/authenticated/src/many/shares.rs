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
use garblet_store::IdSet;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

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

    /// Keeps the first `count` shares.
    pub(super) fn truncate(&mut self, count: usize) {
        self.0.iter_mut().for_each(|column| column.truncate(count));
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
    let flips = Block::from_u128(u128::from(party.0 == 0));
    for (number, column) in columns.iter_mut().enumerate() {
        let change = match number == usize::from(party.0) {
            true => delta.with_lsb(party.0 == 0),
            false => flips,
        };
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

/// Triples and masks.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Supply {
    pub(super) triples: Triples,
    pub(super) masks: Shares,
    /// The pieces of a store that these are, by kind; empty if they were made for the run.
    #[zeroize(skip)]
    pub(super) pieces: Vec<(&'static str, IdSet)>,
}

impl Supply {
    /// Empty, with room.
    pub(super) fn with_room(parties: u16, triples: usize, masks: usize) -> Self {
        let [a, b, c] = [(); 3].map(|()| Shares::with_room(parties, triples));
        Supply { triples: Triples { a, b, c }, masks: Shares::with_room(parties, masks), pieces: Vec::new() }
    }

    /// The names of the pieces, of which all parties must have taken the same.
    pub(super) fn names(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (_, ids) in &self.pieces {
            bytes.extend_from_slice(&(ids.ranges().len() as u64).to_le_bytes());
            let ends = ids.ranges().iter().flat_map(|range| [range.start, range.end]);
            ends.for_each(|end| bytes.extend_from_slice(&end.to_le_bytes()));
        }
        bytes
    }

    /// Appends the first `triples` triples and all masks of a batch: `a`, `b` and `c` of all its leaky triples, then the masks.
    pub(super) fn add(&mut self, batch: &Shares, leaky: usize, triples: usize, masks: usize) {
        let Triples { a, b, c } = &mut self.triples;
        for (factor, to) in [a, b, c].into_iter().enumerate() {
            to.extend(batch, factor * leaky..factor * leaky + triples);
        }
        self.masks.extend(batch, 3 * leaky..3 * leaky + masks);
    }
}

/// A block of a message of 16 bytes.
pub(super) fn block_of(bytes: &[u8]) -> Block {
    Block::from_bytes(*bytes.first_chunk().unwrap_or(&[0; 16]))
}
