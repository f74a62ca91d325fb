//! Parameter sets, and sizes and payload bytes as formulas.

use super::check;
use super::coins;
use crate::softspoken::SQUARE;

/// A set of parameters for learning parity with noise.
///
/// The bits are the smallest of Gauss, SD-ISD, BJMM, regular ISD (permutation and enumeration), hybrid and AGB 2 attacks, by the estimator of Wang and others
/// (`1234wangtr/Code_estimators`, commit 41e013c); `vectors/lpn.py` computes the first five again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LpnSet {
    /// `k`: the OTs of the stock among which each row of the code selects ten.
    pub(super) columns: u32,
    /// `t`: the trees of a round, each with one noise position.
    pub(super) trees: usize,
    /// `d`: the depth of a tree.
    pub(super) depth: usize,
}

impl LpnSet {
    /// 1,693,696 OTs a round, with a table of 2.1 MiB: 139.0 bits.
    pub const DEFAULT: LpnSet = LpnSet { columns: 139_264, trees: 900, depth: 11 };
    /// 9,936,896 OTs a round, with a table of 8 MiB: 138.5 bits.
    pub const LARGE: LpnSet = LpnSet { columns: 524_288, trees: 1280, depth: 13 };

    /// Small, for tests; of no security.
    #[cfg(any(test, feature = "testing"))]
    pub const TOY: LpnSet = LpnSet { columns: 100, trees: 40, depth: 4 };
    /// Trees of four leaves, for tests; of no security.
    #[cfg(test)]
    pub(super) const SHALLOW: LpnSet = LpnSet { columns: 20, trees: 200, depth: 2 };

    /// The leaves of a tree.
    pub const fn leaves(self) -> usize {
        1 << self.depth
    }

    /// `M`: the OTs that a round consumes, and the number that silent OT begins with.
    pub const fn stock(self) -> usize {
        self.columns as usize + self.trees * self.depth + SQUARE
    }

    /// The trees of a round that make the next stock.
    pub(super) const fn stock_trees(self) -> usize {
        self.stock().div_ceil(self.leaves())
    }

    /// The most OTs that a round makes beyond the next stock.
    pub const fn round_ots(self) -> usize {
        (self.trees - self.stock_trees()) * self.leaves()
    }

    /// The trees of each round of a batch of `n` OTs. A round with fewer trees than `t` is part of a whole one, and gives an attacker less.
    pub(super) fn rounds(self, n: usize) -> impl Iterator<Item = usize> {
        (0..n).step_by(self.round_ots()).map(move |done| {
            let ots = (n - done).min(self.round_ots());
            self.stock_trees() + ots.div_ceil(self.leaves())
        })
    }

    /// Payload bytes of a batch of `n` OTs: the sender's, and the receiver's.
    pub fn batch_bytes(self, n: u64, checked: bool) -> [u64; 2] {
        let [commitment, share, corrections, query, answer] = self.batch_messages(n);
        let [query, answer] = if checked { [query, answer] } else { [0, 0] };
        [commitment + corrections + answer, share + query]
    }

    /// Payload bytes of each message of a checked batch of `n` OTs, in order: the sender's and the receiver's in turn.
    pub fn batch_messages(self, n: u64) -> [u64; 5] {
        if n == 0 {
            return [0; 5];
        }
        let (round, leaves) = (self.round_ots() as u64, self.leaves() as u64);
        let trees =
            n.div_ceil(round) * self.stock_trees() as u64 + n / round * (round / leaves) + (n % round).div_ceil(leaves);
        let corrections = 16 * self.depth as u64 * trees;
        let [query, answer] = [check::QUERY_BYTES, check::ANSWER_BYTES].map(|bytes| bytes as u64);
        [
            coins::COMMITMENT_BYTES as u64,
            coins::SHARE_BYTES as u64,
            coins::OPENING_BYTES as u64 + corrections,
            query,
            answer,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_have_the_sizes_of_the_design() {
        let sizes = |set: LpnSet| (set.stock(), set.stock_trees(), set.round_ots());
        assert_eq!(sizes(LpnSet::DEFAULT), (149_292, 73, 1_693_696));
        assert_eq!(sizes(LpnSet::LARGE), (541_056, 67, 9_936_896));
    }

    #[test]
    fn an_ot_of_a_whole_round_takes_less_than_a_tenth_of_a_byte() {
        for (set, least, most) in [(LpnSet::DEFAULT, 0.0935, 0.0937), (LpnSet::LARGE, 0.0267, 0.0269)] {
            for checked in [false, true] {
                for rounds in [1, 7] {
                    let n = rounds * set.round_ots() as u64;
                    let bytes: u64 = set.batch_bytes(n, checked).iter().sum();
                    assert!((least..most).contains(&(bytes as f64 / n as f64)), "{set:?}: {bytes} bytes");
                }
            }
        }
    }

    #[test]
    fn the_trees_of_the_formula_are_those_of_the_rounds() {
        for set in [LpnSet::DEFAULT, LpnSet::LARGE] {
            let round = set.round_ots();
            for n in [0, 1, 2047, 2048, 2049, 200_000, round - 1, round, round + 1, 3 * round, 3 * round + 5000] {
                let trees: usize = set.rounds(n).sum();
                let fixed = if n == 0 { 0 } else { (coins::COMMITMENT_BYTES + coins::OPENING_BYTES) as u64 };
                assert_eq!(set.batch_bytes(n as u64, false)[0], fixed + (16 * set.depth * trees) as u64, "{n} OTs");
                assert!(set.rounds(n).all(|trees| trees <= set.trees));
            }
        }
    }
}
