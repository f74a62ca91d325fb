//! The check of a batch: steps 5 to 7.
//!
//! *Source*: Ferret, section 4 (consistency check), for all trees of all rounds at once, with powers of one point as weights, and a hash that the *receiver* compares.
//!
//! # Symbols
//!
//! Leaf `j` of tree `i`, counted over all rounds, has the weight `chi^(2^d i + j)`. For honest parties the receiver's weighted sum of all leaves is the sender's plus
//! `x delta`, where `x` is the sum of the weights of the noisy leaves. 128 OTs with choices `r` mask `x`: the receiver sends `x + r`, and both add these OTs, as digits of
//! an element, to their sums.

use garblet_primitives::{Block, gf128, secrets};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::coins::Coin;
use super::parameters::LpnSet;
use super::round::{Masks, Round};
use super::tree::{ReceivedTrees, SentTrees, Trees};
use crate::error::OtError;

/// Payload bytes of the receiver's message: the point and the masked sum of weights.
pub(super) const QUERY_BYTES: usize = 32;
/// Payload bytes of the sender's answer.
pub(super) const ANSWER_BYTES: usize = 32;

/// The weights at a point.
pub(super) struct Weights {
    set: LpnSet,
    /// The powers for the leaves of a tree.
    powers: Vec<Block>,
    /// The power from one tree to the next.
    step: Block,
}

impl Weights {
    pub(super) fn new(set: LpnSet, point: Block) -> Self {
        let powers = gf128::powers(point, set.leaves());
        let step = powers.last().map_or(gf128::ONE, |&last| gf128::mul(last, point));
        Weights { set, powers, step }
    }

    /// The weighted sum of the leaves of all trees.
    fn sum<T: Trees>(&self, rounds: &[Round<T>]) -> Block {
        let mut leaves = Zeroizing::new(vec![Block::ZERO; self.set.leaves()]);
        // By Horner's rule, so from the last tree on.
        trees(rounds).fold(Block::ZERO, |sum, (round, tree)| {
            round.trees.fill(tree, &mut leaves);
            gf128::mul(sum, self.step) ^ gf128::inner_product(&leaves, &self.powers)
        })
    }

    /// The sum of the weights of the noisy leaves. No address depends on where they are.
    fn noise(&self, rounds: &[Round<ReceivedTrees>]) -> Block {
        trees(rounds).fold(Block::ZERO, |sum, (round, tree)| {
            let place = round.trees.noise(tree);
            let weight = (0..self.set.depth).fold(gf128::ONE, |weight, level| {
                let is_one = garblet_primitives::Bit::lowest_of(place >> level);
                gf128::mul(weight, Block::select(is_one, self.powers[1 << level], gf128::ONE))
            });
            gf128::mul(sum, self.step) ^ weight
        })
    }
}

/// All trees of all rounds, the last first.
fn trees<T>(rounds: &[Round<T>]) -> impl Iterator<Item = (&Round<T>, usize)> {
    rounds.iter().rev().flat_map(|round| (0..round.count).rev().map(move |tree| (round, tree)))
}

/// The masks as digits of an element.
fn joined(masks: &Masks) -> Block {
    gf128::inner_product(&masks[..], &gf128::powers(Block::from_u128(2), masks.len()))
}

/// The receiver's query and the sum that the answer must fit. *Secret*: the sum.
pub(super) struct Query {
    pub(super) point: Block,
    pub(super) masked: Block,
    sum: Zeroizing<Block>,
}

impl Query {
    /// Step 5, at a random point that is drawn after all corrections have arrived.
    pub(super) fn new(set: LpnSet, point: Block, rounds: &[Round<ReceivedTrees>], masks: &Masks) -> Self {
        let weights = Weights::new(set, point);
        let choice = |(at, mask): (usize, &Block)| (mask.to_u128() & 1) << at;
        let choices = Block::from_u128(masks.iter().enumerate().map(choice).sum());
        let (noise, sum) = (weights.noise(rounds), weights.sum(rounds));
        Query { point, masked: noise ^ choices, sum: Zeroizing::new(sum ^ joined(masks)) }
    }

    /// Step 7.
    ///
    /// *Errors*: [`OtError::InconsistentLeaves`].
    pub(super) fn check(self, coin: &Coin, answer: &[u8; ANSWER_BYTES]) -> Result<(), OtError> {
        let fits = hash(coin, [self.point, self.masked], *self.sum).ct_eq(answer);
        match secrets::verdict(fits, "silent OT: whether the sender's answer fits all leaves") {
            true => Ok(()),
            false => Err(OtError::InconsistentLeaves),
        }
    }
}

/// Step 6: the sender's sum, whose hash is the answer.
pub(super) fn sum(weights: &Weights, masked: Block, delta: Block, rounds: &[Round<SentTrees>], masks: &Masks) -> Block {
    weights.sum(rounds) ^ joined(masks) ^ gf128::mul(masked, delta)
}

/// The hash of a sum, which tells nothing about it. It depends on the batch and the query: a receiver that asks falsely may test each guess of delta on one batch only.
pub(super) fn hash(coin: &Coin, query: [Block; 2], sum: Block) -> [u8; ANSWER_BYTES] {
    let mut hash = blake3::Hasher::new_derive_key("garblet silent OT: answer of a check, v1");
    hash.update(coin.bytes()).update(bytemuck::cast_slice(&query)).update(&sum.to_bytes());
    *hash.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    #[test]
    fn every_byte_of_an_answer_is_compared() {
        let coin = Coin::fixed([7; 32]);
        let mut rng = Prg::new(Block::ZERO);
        let [point, masked, sum] = [(); 3].map(|()| rng.next_block());
        let query = || Query { point, masked, sum: Zeroizing::new(sum) };
        let mut answer = hash(&coin, [point, masked], sum);
        assert!(query().check(&coin, &answer).is_ok());
        for at in 0..ANSWER_BYTES {
            answer[at] ^= 1;
            let error = query().check(&coin, &answer).err();
            assert!(matches!(error, Some(OtError::InconsistentLeaves)), "byte {at}");
            answer[at] ^= 1;
        }
    }
}
