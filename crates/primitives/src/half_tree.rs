//! Levels of a half-tree, the seed tree of silent OT.
//!
//! *Source*: Guo, Yang, Wang, Zhang, Xie, Liu and Zhao, "Half-Tree: Halving the Cost of Tree Expansion in COT and DPF" (EUROCRYPT 2023),
//! section 4 (correlated GGM tree), with the circular correlation robust hash of Guo, Katz, Wang and Yu 2020, section 7.3.

use crate::{
    backend::Backend,
    bit::Bit,
    block::Block,
    engine::{Engine, QUAD_LANES, each, numbered, padded},
    kernel::Kernel,
};

/// Vectors to hash side by side.
const PIPELINE: usize = 4;

/// The hash of a half-tree's levels: `H(x) = pi(sigma(x)) ^ sigma(x)`, where `pi` is AES-128 under a public key.
///
/// *Unique*: a key that the party without the root could not choose, for at most 4,096 calls.
#[derive(Clone)]
pub struct HalfTreeHash {
    backend: Backend,
    round_keys: [Block; 11],
}

impl HalfTreeHash {
    /// The hash under a public key.
    pub fn new(key: Block) -> Self {
        Self::with_backend(Backend::detect(), key)
    }

    /// The hash under a public key, on a given backend.
    pub fn with_backend(backend: Backend, key: Block) -> Self {
        HalfTreeHash { backend, round_keys: backend.run(RoundKeys(key)) }
    }

    /// Replaces a level by the next one: node `x` of `m` gets the children `x`, which is `H(node)`, and `m + x`, which is `node ^ H(node)`.
    /// Returns the sum of the first `m` of the new level.
    ///
    /// *Shape*: the first half of `nodes` is the level; the second half is overwritten.
    ///
    /// # Panics
    /// If the number of nodes is odd.
    pub fn grow(&self, nodes: &mut [Block]) -> Block {
        assert!(nodes.len().is_multiple_of(2), "two children per node");
        let (left, right) = nodes.split_at_mut(nodes.len() / 2);
        self.backend.run(Grow { round_keys: &self.round_keys, left, right })
    }
}

/// Adds a value to the block at a secret place: no address and no branch depends on the place. Does nothing if there is no such place.
pub fn add_at(blocks: &mut [Block], at: u64, value: Block) {
    add_at_with_backend(Backend::detect(), blocks, at, value);
}

/// [`add_at`] with a given backend.
pub(crate) fn add_at_with_backend(backend: Backend, blocks: &mut [Block], at: u64, value: Block) {
    backend.run(AddAt { blocks, at, value });
}

struct RoundKeys(Block);

impl Kernel for RoundKeys {
    type Output = [Block; 11];

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> [Block; 11] {
        each(
            e.round_keys(e.splat(self.0)),
            #[inline(always)]
            |quad| e.store(quad)[0],
        )
    }
}

struct Grow<'a> {
    round_keys: &'a [Block; 11],
    left: &'a mut [Block],
    right: &'a mut [Block],
}

impl Kernel for Grow<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> Block {
        let key = e.key_from(self.round_keys);
        let mut sum = e.splat(Block::ZERO);
        let (wide, rest) = self.left.as_chunks_mut::<{ PIPELINE * QUAD_LANES }>();
        let (wide_right, rest_right) = self.right.as_chunks_mut::<{ PIPELINE * QUAD_LANES }>();
        for (left, right) in wide.iter_mut().zip(wide_right) {
            let (left, right) = (left.as_chunks_mut::<QUAD_LANES>().0, right.as_chunks_mut::<QUAD_LANES>().0);
            let nodes: [E::Quad; PIPELINE] = numbered(
                #[inline(always)]
                |i| e.load(&left[i]),
            );
            let hashed = hash(e, &key, nodes);
            for i in 0..PIPELINE {
                left[i] = e.store(hashed[i]);
                right[i] = e.store(e.xor(nodes[i], hashed[i]));
                sum = e.xor(sum, hashed[i]);
            }
        }
        let mut sum = e.store(sum).into_iter().fold(
            Block::ZERO,
            #[inline(always)]
            |sum, block| sum ^ block,
        );
        for (left, right) in rest.chunks_mut(QUAD_LANES).zip(rest_right.chunks_mut(QUAD_LANES)) {
            let node = e.load(&padded(left));
            let [hashed] = hash(e, &key, [node]);
            right.copy_from_slice(&e.store(e.xor(node, hashed))[..left.len()]);
            left.copy_from_slice(&e.store(hashed)[..left.len()]);
            for &mut block in left {
                sum ^= block;
            }
        }
        sum
    }
}

/// Hashes vectors.
#[inline(always)]
fn hash<E: Engine, const N: usize>(e: E, key: &E::Key, nodes: [E::Quad; N]) -> [E::Quad; N] {
    let inputs = each(
        nodes,
        #[inline(always)]
        |node| e.sigma(node),
    );
    let [mut hashed] = e.encrypt(key, [inputs]);
    for (hashed, input) in hashed.iter_mut().zip(inputs) {
        *hashed = e.xor(*hashed, input);
    }
    hashed
}

struct AddAt<'a> {
    blocks: &'a mut [Block],
    at: u64,
    value: Block,
}

impl Kernel for AddAt<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let (place, lane) = (self.at / QUAD_LANES as u64, self.at % QUAD_LANES as u64);
        let mut values = [Block::ZERO; QUAD_LANES];
        for (number, value) in values.iter_mut().enumerate() {
            *value = Block::mask(are_equal(number as u64, lane)) & self.value;
        }
        let values_quad = e.load(&values);
        let (quads, rest) = self.blocks.as_chunks_mut::<QUAD_LANES>();
        for (number, quad) in quads.iter_mut().enumerate() {
            let here = e.splat(Block::mask(are_equal(number as u64, place)));
            *quad = e.store(e.xor(e.load(quad), e.and(here, values_quad)));
        }
        let here = Block::mask(are_equal(quads.len() as u64, place));
        for (block, &value) in rest.iter_mut().zip(&values) {
            *block ^= here & value;
        }
    }
}

/// Compares two numbers in constant time.
#[inline(always)]
fn are_equal(a: u64, b: u64) -> Bit {
    let difference = a ^ b;
    Bit::lowest_of(!(difference | difference.wrapping_neg()) >> 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aes::Aes128, prg::Prg};

    fn random(count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        Prg::new(Block::from_u128(count as u128)).fill_blocks(&mut blocks);
        blocks
    }

    fn sigma(x: Block) -> Block {
        let [low, high] = x.halves();
        Block::from_halves(high, high ^ low)
    }

    #[test]
    fn levels_of_every_size_equal_the_formula_on_every_backend() {
        let key = Block::from_u128(77);
        let pi = Aes128::with_backend(Backend::PORTABLE, key);
        for m in (0..40).chain([64, 1024]) {
            let level = random(m);
            let left: Vec<Block> = level.iter().map(|&x| pi.encrypt(sigma(x)) ^ sigma(x)).collect();
            let right: Vec<Block> = level.iter().zip(&left).map(|(&x, &h)| x ^ h).collect();
            let sum = left.iter().fold(Block::ZERO, |sum, &block| sum ^ block);
            for backend in Backend::available() {
                let mut nodes = [level.clone(), vec![Block::ONES; m]].concat();
                assert!(HalfTreeHash::with_backend(backend, key).grow(&mut nodes) == sum, "{m} on {backend}");
                assert!(nodes[..m] == left && nodes[m..] == right, "{m} on {backend}");
            }
        }
    }

    #[test]
    fn a_value_is_added_at_its_place_alone_on_every_backend() {
        let value = Block::from_u128(3 << 90 | 5);
        for len in [0, 1, 2, 3, 4, 5, 16, 33] {
            let blocks = random(len);
            for at in (0..len as u64 + 5).chain([u64::MAX]) {
                let mut expected = blocks.clone();
                expected.iter_mut().enumerate().filter(|(i, _)| *i as u64 == at).for_each(|(_, block)| *block ^= value);
                for backend in Backend::available() {
                    let mut sums = blocks.clone();
                    add_at_with_backend(backend, &mut sums, at, value);
                    assert!(sums == expected, "{at} of {len} on {backend}");
                }
            }
        }
    }
}
