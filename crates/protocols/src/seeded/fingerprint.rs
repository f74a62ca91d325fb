//! Fingerprints of circuits: the evaluator compares what came with what a seed gives without keeping either.
//!
//! *Source*: Carter and Wegman 1979: the blocks `x_1 .. x_n` of a circuit are the coefficients of a polynomial over GF(2^128),
//! and its value at a secret point is the fingerprint. The garbler does not know the point, so a circuit that differs has the
//! same fingerprint with probability `n 2^-128`.

use garblet_primitives::{Block, gf128};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// Blocks that are multiplied by powers and then added, between two multiplications of the sum.
const STRIDE: usize = 256;

/// The secret point. *Unique*: fresh for each run, drawn by the evaluator.
pub(crate) struct FingerprintKey {
    /// Its powers from `STRIDE` down to 1.
    powers: Zeroizing<Vec<Block>>,
}

/// The fingerprint of what was added so far.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(Block);

impl FingerprintKey {
    /// A uniform point.
    pub(crate) fn random(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        let mut powers = Zeroizing::new(gf128::powers(Block::random(rng), STRIDE + 1));
        powers.reverse();
        FingerprintKey { powers }
    }
}

impl Fingerprint {
    /// That of nothing.
    pub(crate) fn new() -> Self {
        Fingerprint(Block::ZERO)
    }

    /// Adds blocks at the end.
    pub(crate) fn add(&mut self, key: &FingerprintKey, blocks: &[Block]) {
        for part in blocks.chunks(STRIDE) {
            let powers = &key.powers[STRIDE - part.len()..];
            let sum = gf128::product(self.0, powers[0]);
            // The last power is the point itself, so that trailing zeros count too.
            self.0 = (sum ^ gf128::product(gf128::inner_product(part, &powers[..part.len()]), gf128::ONE)).reduce();
        }
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    #[test]
    fn it_is_the_polynomial_however_the_blocks_are_cut() {
        let mut rng = Prg::new(Block::ONES);
        let key = FingerprintKey::random(&mut rng);
        let point = key.powers[STRIDE - 1];
        let mut blocks = vec![Block::ZERO; 3 * STRIDE + 7];
        rng.fill_blocks(&mut blocks);
        let expected = blocks.iter().fold(Block::ZERO, |sum, &block| gf128::mul(sum ^ block, point));
        for cut in [0, 1, STRIDE - 1, STRIDE, STRIDE + 1, blocks.len()] {
            let mut fingerprint = Fingerprint::new();
            fingerprint.add(&key, &blocks[..cut]);
            fingerprint.add(&key, &blocks[cut..]);
            assert!(fingerprint == Fingerprint(expected), "cut at {cut}");
        }
    }

    #[test]
    fn every_block_counts() {
        let mut rng = Prg::new(Block::ZERO);
        let key = FingerprintKey::random(&mut rng);
        let mut blocks = vec![Block::ZERO; STRIDE + 2];
        let of = |blocks: &[Block]| {
            let mut fingerprint = Fingerprint::new();
            fingerprint.add(&key, blocks);
            fingerprint
        };
        let before = of(&blocks);
        for at in [0, 1, STRIDE - 1, STRIDE, STRIDE + 1] {
            blocks[at] = Block::from_u128(1);
            assert!(of(&blocks) != before, "block {at}");
            blocks[at] = Block::ZERO;
        }
    }
}
