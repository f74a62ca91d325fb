//! Step P6: leaky triples are joined in buckets, by rotations of whole rows. A triple is as secure as the best of its bucket.

use std::ops::Range;

use garblet_circuit::Party;
use garblet_primitives::{Block, Prg};
use garblet_protocol::{conduct::Conduct, error::ProtocolError, session::Session};
use rand_core::Rng;
use zeroize::Zeroizing;

use super::leaky::Leaky;
use crate::{
    EVALUATOR, GARBLER, Step, checks,
    coins::{COMMITMENT_BYTES, Coin, OPENING_BYTES},
    ground::Ground,
    opening::{Packed, Sums, open, opened, opened_bytes},
    parameters::Batch,
    place::Place,
    shares::{Made, of_public},
};

impl<C: Conduct<Step>> Ground<C> {
    /// Tosses the shifts and joins each row to the first.
    ///
    /// *Errors*: [`checks::COIN_TOSS_OPENING`], [`checks::BUCKET_BITS`]; the connection's.
    pub(super) async fn join_buckets(
        &mut self,
        session: &mut Session,
        leaky: Leaky,
        batch: Batch,
        number: u64,
    ) -> Result<Made, ProtocolError> {
        let Leaky { mut shares, product_bits, shift_coin, shift_commitment } = leaky;
        let rows = Rows::of(batch);
        let shifts = rows.shifts(&mut self.toss_shifts(session, shift_coin, shift_commitment, number).await?);
        let differences = {
            let [own, peers] = [&shares.own, &shares.peer].map(|blocks| rows.sums(&blocks[rows.all..], &shifts));
            self.open_sums(session, (own, peers), number).await?
        };
        let (garbles, delta) = (self.party == GARBLER, self.in_ots.block());
        for (row, &shift) in (1..).zip(&shifts) {
            for (blocks, own) in [(&mut shares.own, true), (&mut shares.peer, false)] {
                let products = Products { bits: &product_bits, change: of_public(own.then_some(delta), garbles) };
                join(blocks, rows, (row, shift), &differences, products);
            }
        }
        Ok(Made { shares, triples: rows.length, leaky: rows.all })
    }

    /// The coins of the shifts. The garbler opens its own first.
    async fn toss_shifts(
        &mut self,
        session: &mut Session,
        coin: Coin,
        theirs: [u8; COMMITMENT_BYTES],
        number: u64,
    ) -> Result<Prg, ProtocolError> {
        let [first, second] = [0, 1].map(|party| self.domain(Party(party), Place::ShiftCoins, number));
        let domain_of = move |party: Party| if party.0 == 0 { first } else { second };
        let (mut message, mut opening) = (coin.message(), [0; OPENING_BYTES]);
        if self.party == GARBLER {
            self.send(session, Step::Coins, &mut message).await?;
        }
        session.channel().receive_bytes(&mut opening).await?;
        let coins = coin.toss(domain_of, [self.party, self.peer()], theirs, &opening)?;
        if self.party == EVALUATOR {
            self.send(session, Step::Coins, &mut message).await?;
            // Both prepare their bits at the same time.
            session.channel().flush().await?;
        }
        Ok(coins)
    }

    /// Opens sums of second factors. The evaluator opens its bits first.
    async fn open_sums(
        &mut self,
        session: &mut Session,
        (own, peers): (Sums<'_>, Sums<'_>),
        number: u64,
    ) -> Result<Packed, ProtocolError> {
        let [of_own, of_peer] = [self.party, self.peer()].map(|party| self.domain(party, Place::BucketBits, number));
        let (bits, delta) = (peers.bits(), self.delta.block());
        let mut message = Zeroizing::new(open(&of_own, &bits, &peers));
        let mut told = vec![0; opened_bytes(own.len())];
        if self.party == EVALUATOR {
            self.send(session, Step::BucketBits, &mut message).await?;
        }
        session.channel().receive_bytes(&mut told).await?;
        let differences = opened(&of_peer, &told, checks::BUCKET_BITS, (&bits, &own), delta)?;
        if self.party == GARBLER {
            self.send(session, Step::BucketBits, &mut message).await?;
            session.channel().flush().await?;
        }
        Ok(differences)
    }
}

/// Leaky triples in rows, with one per bucket in each.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) length: usize,
    pub(crate) count: usize,
    /// Leaky triples.
    pub(crate) all: usize,
}

impl Rows {
    /// The rows of a batch.
    ///
    /// # Panics
    /// If there is one row alone, to which nothing would be joined.
    pub(crate) fn of(batch: Batch) -> Self {
        assert!(batch.bucket >= 2, "buckets of {}", batch.bucket);
        Rows { length: batch.triples as usize, count: batch.bucket as usize, all: batch.leaky() as usize }
    }

    /// A uniform shift for every row but the first.
    pub(crate) fn shifts(self, coins: &mut impl Rng) -> Vec<usize> {
        // The bias is at most the length in 2^64.
        (1..self.count).map(|_| (coins.next_u64() % self.length as u64) as usize).collect()
    }

    /// The sums of the first row of blocks and all others.
    pub(crate) fn sums<'a>(self, blocks: &'a [Block], shifts: &[usize]) -> Sums<'a> {
        let pairs = shifts.iter().enumerate().flat_map(|(row, &shift)| self.pairs(row + 1, shift));
        pairs.fold(Sums::default(), |sums, (at, other)| sums.and(&blocks[at], &blocks[other]))
    }

    /// The places in the first row and those in another row that they meet, as ranges.
    fn pairs(self, row: usize, shift: usize) -> [(Range<usize>, Range<usize>); 2] {
        let (start, turn) = (row * self.length, self.length - shift);
        [(0..turn, start + shift..start + self.length), (turn..self.length, start..start + shift)]
    }
}

/// The public part of products: `c = r + d`.
#[derive(Clone, Copy)]
pub(crate) struct Products<'a> {
    /// The `d`.
    pub(crate) bits: &'a Packed,
    /// The change of a share of `r` where `d` is set, see [`of_public`].
    pub(crate) change: Block,
}

/// Joins a row to the first: `a` and `a'` are added, `c` and `c' + d a'` are.
pub(crate) fn join(
    blocks: &mut [Block],
    rows: Rows,
    (row, shift): (usize, usize),
    differences: &Packed,
    Products { bits, change }: Products<'_>,
) {
    let (factors, rest) = blocks.split_at_mut(rows.all);
    let products = &mut rest[rows.all..2 * rows.all];
    let (first, others) = factors.split_at_mut(rows.length);
    let (first_products, other_products) = products.split_at_mut(rows.length);
    for (at, other) in rows.pairs(row, shift) {
        let (place, number) = ((row - 1) * rows.length, other.start);
        let other = other.start - rows.length..other.end - rows.length;
        let pairs = first[at.clone()].iter_mut().zip(&others[other.clone()]);
        let of_products = first_products[at.clone()].iter_mut().zip(&other_products[other]);
        for (index, (at, ((a, &other_a), (c, &other_c)))) in at.zip(pairs.zip(of_products)).enumerate() {
            *a ^= other_a;
            // The first product has its `d` from the first row that joins it.
            let is_changed = bits.get(number + index) ^ (row == 1 && bits.get(at));
            let difference = Block::mask(differences.get(place + at)) & other_a;
            *c ^= other_c ^ difference ^ (Block::mask(is_changed) & change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_meets_one_of_every_other_row() {
        for (length, shift) in [(5, 0), (5, 2), (5, 4), (1, 0)] {
            let rows = Rows { length, count: 3, all: 3 * length };
            for row in 1..3 {
                let met: Vec<(usize, usize)> =
                    rows.pairs(row, shift).into_iter().flat_map(|(at, other)| at.zip(other)).collect();
                assert_eq!(met, (0..length).map(|at| (at, row * length + (at + shift) % length)).collect::<Vec<_>>());
            }
        }
    }
}
