//! The hash that turns correlated OTs into random ones.

use std::mem::MaybeUninit;

use crate::{
    backend::Backend,
    block::Block,
    engine::{Engine, QUAD_LANES, each, numbered, padded},
    kernel::Kernel,
    mmo::tmmo,
};

/// The number of vectors to hash side by side.
const PIPELINE: usize = 4;

/// The same where more stay in registers.
const ROOMY_PIPELINE: usize = 8;

/// The numbers of vectors whose pairs to hash side by side.
const PAIRS: usize = PIPELINE / 2;
const ROOMY_PAIRS: usize = ROOMY_PIPELINE / 2;

/// A tweakable hash that stays secure when a secret correlates its inputs, even if an adversary chose part of
/// them: `H(x, i) = pi(pi(x) ^ i) ^ pi(x)`, where `pi` is AES-128 under a key of the session.
///
/// *Source*: Guo, Katz, Wang and Yu 2020, section 7.4 (TMMO, tweakable circular correlation robust in the ideal-cipher
/// model). *Unique*: the key per session, the tweak per hashed value; the two pads of one OT share a tweak.
/// *Cost*: two AES calls.
#[derive(Clone)]
pub struct OtHash {
    backend: Backend,
    round_keys: [Block; 11],
}

impl OtHash {
    /// The hash of a session; the key is public.
    pub fn new(session_key: Block) -> Self {
        Self::with_backend(Backend::detect(), session_key)
    }

    /// The hash of a session on a given backend.
    pub fn with_backend(backend: Backend, session_key: Block) -> Self {
        OtHash { backend, round_keys: backend.run(RoundKeys(session_key)) }
    }

    /// Hashes one block.
    pub fn hash(&self, tweak: u64, block: Block) -> Block {
        let mut blocks = [block];
        self.hash_batch(tweak, &mut blocks);
        blocks[0]
    }

    /// Hashes every block in place; block `j` has the tweak `first_tweak + j`.
    pub fn hash_batch(&self, first_tweak: u64, blocks: &mut [Block]) {
        self.backend.run(HashAll { round_keys: &self.round_keys, tweak: first_tweak, blocks });
    }

    /// Appends, for every block `q`, the hashes of `q` and of `q ^ delta`; both of pair `j` have the tweak `first_tweak + j`.
    pub fn pairs_onto(&self, first_tweak: u64, delta: Block, blocks: &[Block], pairs: &mut Vec<[Block; 2]>) {
        pairs.reserve(blocks.len());
        let room = &mut pairs.spare_capacity_mut()[..blocks.len()];
        self.backend.run(HashPairs { round_keys: &self.round_keys, tweak: first_tweak, delta, blocks, pairs: room });
        // SAFETY: the kernel writes every pair of the room that it gets, which is the capacity's next `blocks.len()` places.
        unsafe { pairs.set_len(pairs.len() + blocks.len()) };
    }

    /// Hashes every block in place; block `j` has the tweak `tweaks[j]`.
    ///
    /// # Panics
    /// If their numbers differ.
    pub fn hash_each(&self, tweaks: &[u64], blocks: &mut [Block]) {
        assert_eq!(tweaks.len(), blocks.len(), "one tweak per block");
        self.backend.run(HashEach { round_keys: &self.round_keys, tweaks, blocks });
    }
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

struct HashAll<'a> {
    round_keys: &'a [Block; 11],
    tweak: u64,
    blocks: &'a mut [Block],
}

impl Kernel for HashAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        if E::IS_ROOMY { self.side_by_side::<E, ROOMY_PIPELINE>(e) } else { self.side_by_side::<E, PIPELINE>(e) }
    }
}

impl HashAll<'_> {
    /// Hashes `N` vectors side by side.
    #[inline(always)]
    fn side_by_side<E: Engine, const N: usize>(mut self, e: E) {
        let key = e.key_from(self.round_keys);
        let whole = self.blocks.len() / (N * QUAD_LANES) * (N * QUAD_LANES);
        let (wide, rest) = self.blocks.split_at_mut(whole);
        for quads in wide.as_chunks_mut::<QUAD_LANES>().0.as_chunks_mut::<N>().0 {
            let x: [E::Quad; N] = numbered(
                #[inline(always)]
                |i| e.load(&quads[i]),
            );
            for (quad, x) in quads.iter_mut().zip(hash(e, &key, consecutive(e, self.tweak), x)) {
                *quad = e.store(x);
            }
            self.tweak = self.tweak.wrapping_add((N * QUAD_LANES) as u64);
        }
        for blocks in rest.chunks_mut(QUAD_LANES) {
            let [x] = hash(e, &key, consecutive(e, self.tweak), [e.load(&padded(blocks))]);
            blocks.copy_from_slice(&e.store(x)[..blocks.len()]);
            self.tweak = self.tweak.wrapping_add(QUAD_LANES as u64);
        }
    }
}

/// Writes every element of `pairs`, of which there are as many as `blocks`.
struct HashPairs<'a> {
    round_keys: &'a [Block; 11],
    tweak: u64,
    delta: Block,
    blocks: &'a [Block],
    pairs: &'a mut [MaybeUninit<[Block; 2]>],
}

impl Kernel for HashPairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        if E::IS_ROOMY { self.side_by_side::<E, ROOMY_PAIRS>(e) } else { self.side_by_side::<E, PAIRS>(e) }
    }
}

impl HashPairs<'_> {
    /// Hashes the pairs of `N` vectors side by side.
    #[inline(always)]
    fn side_by_side<E: Engine, const N: usize>(mut self, e: E) {
        let (key, delta) = (e.key_from(self.round_keys), e.splat(self.delta));
        let whole = self.blocks.len() / (N * QUAD_LANES) * (N * QUAD_LANES);
        let ((wide, rest), (wide_pairs, rest_pairs)) = (self.blocks.split_at(whole), self.pairs.split_at_mut(whole));
        let (quads, pairs) = (wide.as_chunks::<QUAD_LANES>().0, wide_pairs.as_chunks_mut::<QUAD_LANES>().0);
        for (quads, pairs) in quads.as_chunks::<N>().0.iter().zip(pairs.as_chunks_mut::<N>().0) {
            let q: [E::Quad; N] = numbered(
                #[inline(always)]
                |i| e.load(&quads[i]),
            );
            for (pairs, hashed) in pairs.iter_mut().zip(hash_pairs(e, &key, delta, self.tweak, q)) {
                *pairs = hashed.map(MaybeUninit::new);
            }
            self.tweak = self.tweak.wrapping_add((N * QUAD_LANES) as u64);
        }
        for (blocks, pairs) in rest.chunks(QUAD_LANES).zip(rest_pairs.chunks_mut(QUAD_LANES)) {
            let [hashed] = hash_pairs(e, &key, delta, self.tweak, [e.load(&padded(blocks))]);
            for (pair, hashed) in pairs.iter_mut().zip(hashed) {
                pair.write(hashed);
            }
            self.tweak = self.tweak.wrapping_add(QUAD_LANES as u64);
        }
    }
}

struct HashEach<'a> {
    round_keys: &'a [Block; 11],
    tweaks: &'a [u64],
    blocks: &'a mut [Block],
}

impl Kernel for HashEach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let key = e.key_from(self.round_keys);
        for (blocks, tweaks) in
            self.blocks.chunks_mut(PIPELINE * QUAD_LANES).zip(self.tweaks.chunks(PIPELINE * QUAD_LANES))
        {
            let (mut padded, mut places) =
                ([[Block::ZERO; QUAD_LANES]; PIPELINE], [[Block::ZERO; QUAD_LANES]; PIPELINE]);
            padded.as_flattened_mut()[..blocks.len()].copy_from_slice(blocks);
            for (place, &tweak) in places.as_flattened_mut().iter_mut().zip(tweaks) {
                *place = Block::from_halves(tweak, 0);
            }
            let [x, tweaks] = each(
                [padded, places],
                #[inline(always)]
                |quads| {
                    each(
                        quads,
                        #[inline(always)]
                        |quad| e.load(&quad),
                    )
                },
            );
            let hashed = each(
                hash(e, &key, tweaks, x),
                #[inline(always)]
                |quad| e.store(quad),
            );
            blocks.copy_from_slice(&hashed.as_flattened()[..blocks.len()]);
        }
    }
}

/// Consecutive tweaks.
#[inline(always)]
fn consecutive<E: Engine, const N: usize>(e: E, first: u64) -> [E::Quad; N] {
    numbered(
        #[inline(always)]
        |i| e.count(first.wrapping_add((i * QUAD_LANES) as u64), 1),
    )
}

/// The hashes of `q` and of `q ^ delta` for each block `q`.
#[inline(always)]
fn hash_pairs<E: Engine, const N: usize>(
    e: E,
    key: &E::Key,
    delta: E::Quad,
    tweak: u64,
    q: [E::Quad; N],
) -> [[[Block; 2]; QUAD_LANES]; N] {
    let tweaks: [E::Quad; N] = consecutive(e, tweak);
    let both = each(
        q,
        #[inline(always)]
        |q| [q, e.xor(q, delta)],
    );
    let hashed = tmmo(
        e,
        key,
        both,
        #[inline(always)]
        |once| {
            for (pair, tweak) in once.iter_mut().zip(tweaks) {
                *pair = each(
                    *pair,
                    #[inline(always)]
                    |x| e.xor(x, tweak),
                );
            }
        },
    );
    each(
        hashed,
        #[inline(always)]
        |[zero, one]| {
            bytemuck::cast(each(
                e.interleave(zero, one),
                #[inline(always)]
                |quad| e.store(quad),
            ))
        },
    )
}

/// Hashes vectors.
#[inline(always)]
fn hash<E: Engine, const N: usize>(e: E, key: &E::Key, tweaks: [E::Quad; N], x: [E::Quad; N]) -> [E::Quad; N] {
    let [hashed] = tmmo(
        e,
        key,
        [x],
        #[inline(always)]
        |[once]| {
            for (x, tweak) in once.iter_mut().zip(tweaks) {
                *x = e.xor(*x, tweak);
            }
        },
    );
    hashed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{aes::Aes128, prg::Prg};

    #[test]
    fn batches_of_every_length_equal_the_formula_on_every_backend() {
        let key = Block::from_u128(77);
        let pi = Aes128::with_backend(Backend::PORTABLE, key);
        let mut input = vec![Block::ZERO; 70];
        Prg::new(Block::ONES).fill_blocks(&mut input);
        for first in [0, 5, u64::MAX - 2] {
            let formula = |j: usize| {
                let (x, tweak) = (pi.encrypt(input[j]), first.wrapping_add(j as u64));
                pi.encrypt(x ^ Block::from_halves(tweak, 0)) ^ x
            };
            for backend in Backend::available() {
                let hash = OtHash::with_backend(backend, key);
                for len in 0..input.len() {
                    let mut batch = input[..len].to_vec();
                    hash.hash_batch(first, &mut batch);
                    assert!((0..len).all(|j| batch[j] == formula(j)), "{len} from {first} on {backend}");
                    let tweaks: Vec<u64> = (0..len as u64).rev().map(|j| first.wrapping_add(j)).collect();
                    let mut batch: Vec<Block> = input[..len].iter().rev().copied().collect();
                    hash.hash_each(&tweaks, &mut batch);
                    assert!((0..len).all(|j| batch[len - 1 - j] == formula(j)), "each of {len} on {backend}");
                    let delta = input[69];
                    let mut pairs = vec![[Block::ONES; 2]];
                    hash.pairs_onto(first, delta, &input[..len], &mut pairs);
                    let mut ones: Vec<Block> = input[..len].iter().map(|&q| q ^ delta).collect();
                    hash.hash_batch(first, &mut ones);
                    assert!(pairs.len() == 1 + len && pairs[0] == [Block::ONES; 2], "{len} pairs on {backend}");
                    let fits = |j: usize| pairs[1 + j] == [formula(j), ones[j]];
                    assert!((0..len).all(fits), "pairs of {len} from {first} on {backend}");
                }
                assert!(hash.hash(first, input[0]) == formula(0));
            }
        }
    }
}
