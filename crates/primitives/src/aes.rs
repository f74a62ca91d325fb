//! AES-128 (FIPS 197) on batches of blocks.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    backend::Backend,
    block::Block,
    engine::{Engine, QUAD_LANES, each, numbered, padded},
    kernel::Kernel,
};

/// Vectors to encrypt side by side, which fills the processor's AES pipeline.
const PIPELINE: usize = 4;

/// AES-128 under one key.
///
/// *Secret*: the key; it is wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Aes128 {
    #[zeroize(skip)]
    backend: Backend,
    round_keys: [Block; 11],
}

impl Aes128 {
    /// Expands a key for the fastest backend.
    pub fn new(key: Block) -> Self {
        Self::with_backend(Backend::detect(), key)
    }

    /// Expands a key for a given backend.
    pub fn with_backend(backend: Backend, key: Block) -> Self {
        let mut expanded = [[Block::ZERO; 11]];
        backend.run(ExpandAll { keys: &[key], into: &mut expanded });
        let cipher = Aes128 { backend, round_keys: expanded[0] };
        expanded.zeroize();
        cipher
    }

    /// Expands many keys for the fastest backend, four side by side.
    pub fn many(keys: &[Block]) -> Vec<Self> {
        Self::many_with_backend(Backend::detect(), keys)
    }

    /// Expands many keys for a given backend, four side by side.
    pub(crate) fn many_with_backend(backend: Backend, keys: &[Block]) -> Vec<Self> {
        let mut expanded = vec![[Block::ZERO; 11]; keys.len()];
        backend.run(ExpandAll { keys, into: &mut expanded });
        let ciphers = expanded.iter().map(|&round_keys| Aes128 { backend, round_keys }).collect();
        expanded.zeroize();
        ciphers
    }

    /// Encrypts one block.
    pub fn encrypt(&self, block: Block) -> Block {
        let mut blocks = [block];
        self.encrypt_batch(&mut blocks);
        blocks[0]
    }

    /// Encrypts every block in place.
    pub fn encrypt_batch(&self, blocks: &mut [Block]) {
        self.backend.run(EncryptAll { round_keys: &self.round_keys, blocks });
    }

    /// Adds masks to runs of blocks: mask `n` of base `b` is `E(x) + x` with `x = b + n`.
    ///
    /// # Panics
    /// If the base or the blocks of a run do not exist.
    pub fn add_masks(&self, bases: &[Block], runs: &[MaskedRun], blocks: &mut [Block]) {
        self.backend.run(AddMasks { round_keys: &self.round_keys, bases, runs, blocks });
    }

    /// Writes the encryptions of the integers from `first` on (CTR mode; the counter wraps after 2^64 blocks).
    pub fn keystream(&self, first: u64, blocks: &mut [Block]) {
        self.backend.run(Keystream { round_keys: &self.round_keys, first, blocks });
    }
}

/// Blocks that get consecutive masks of one base, see [`Aes128::add_masks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedRun {
    /// The base's number.
    pub base: u32,
    /// The number of the first block.
    pub at: u32,
    /// The number of blocks.
    pub len: u32,
}

/// Adds the encryptions of 0, 1, ... to consecutive runs of blocks, under a separate key for each run, with the
/// fastest backend.
///
/// *Shape*: the first `lengths[0]` blocks belong to `keys[0]`, and so on.
///
/// # Panics
/// If the numbers of lengths and keys differ, or the lengths do not add up to the number of blocks.
pub fn add_keystreams(keys: &[Block], lengths: &[usize], blocks: &mut [Block]) {
    add_keystreams_with_backend(Backend::detect(), keys, lengths, blocks);
}

/// [`add_keystreams`] with a given backend.
///
/// # Panics
/// As [`add_keystreams`].
pub(crate) fn add_keystreams_with_backend(backend: Backend, keys: &[Block], lengths: &[usize], blocks: &mut [Block]) {
    assert_eq!(keys.len(), lengths.len(), "one key per run");
    assert_eq!(lengths.iter().sum::<usize>(), blocks.len(), "blocks of all runs");
    backend.run(AddKeystreams { keys, lengths, blocks });
}

/// Encrypts block `i` under key `i`, with the fastest backend.
///
/// *Cost*: expands each key and keeps nothing, so use it for keys that serve only once or twice, as in seed trees.
///
/// # Panics
/// If the lengths differ.
pub fn encrypt_each(keys: &[Block], blocks: &mut [Block]) {
    encrypt_each_with_backend(Backend::detect(), keys, blocks);
}

/// Encrypts block `i` under key `i` with a given backend.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn encrypt_each_with_backend(backend: Backend, keys: &[Block], blocks: &mut [Block]) {
    assert_eq!(keys.len(), blocks.len(), "one key per block");
    backend.run(EncryptEach { keys, blocks });
}

struct ExpandAll<'a> {
    keys: &'a [Block],
    into: &'a mut [[Block; 11]],
}

impl Kernel for ExpandAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        for (keys, into) in self.keys.chunks(QUAD_LANES).zip(self.into.chunks_mut(QUAD_LANES)) {
            let quads = e.round_keys(e.load(&padded(keys)));
            for (round, quad) in quads.into_iter().enumerate() {
                for (into, key) in into.iter_mut().zip(e.store(quad)) {
                    into[round] = key;
                }
            }
        }
    }
}

struct EncryptAll<'a> {
    round_keys: &'a [Block; 11],
    blocks: &'a mut [Block],
}

impl Kernel for EncryptAll<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let key = e.key_from(self.round_keys);
        let (wide, rest) = self.blocks.as_chunks_mut::<{ PIPELINE * QUAD_LANES }>();
        for blocks in wide {
            let quads = blocks.as_chunks::<QUAD_LANES>().0;
            let x: [E::Quad; PIPELINE] = numbered(
                #[inline(always)]
                |i| e.load(&quads[i]),
            );
            for (quad, x) in blocks.as_chunks_mut::<QUAD_LANES>().0.iter_mut().zip(e.encrypt(&key, [x])[0]) {
                *quad = e.store(x);
            }
        }
        for blocks in rest.chunks_mut(QUAD_LANES) {
            let [[x]] = e.encrypt(&key, [[e.load(&padded(blocks))]]);
            blocks.copy_from_slice(&e.store(x)[..blocks.len()]);
        }
    }
}

struct Keystream<'a> {
    round_keys: &'a [Block; 11],
    first: u64,
    blocks: &'a mut [Block],
}

impl Kernel for Keystream<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        stream(
            e,
            &e.key_from(self.round_keys),
            self.first,
            self.blocks,
            #[inline(always)]
            |_, mask| mask,
        );
    }
}

/// Replaces every block with the result of `put` on it and the encryption of a counter.
#[inline(always)]
fn stream<E: Engine>(e: E, key: &E::Key, first: u64, blocks: &mut [Block], put: impl Fn(E::Quad, E::Quad) -> E::Quad) {
    let mut counter = first;
    let (wide, rest) = blocks.as_chunks_mut::<{ PIPELINE * QUAD_LANES }>();
    for blocks in wide {
        let x: [E::Quad; PIPELINE] = numbered(
            #[inline(always)]
            |i| e.count(counter.wrapping_add((i * QUAD_LANES) as u64), 1),
        );
        for (quad, x) in blocks.as_chunks_mut::<QUAD_LANES>().0.iter_mut().zip(e.encrypt(key, [x])[0]) {
            *quad = e.store(put(e.load(quad), x));
        }
        counter = counter.wrapping_add((PIPELINE * QUAD_LANES) as u64);
    }
    let (quads, rest) = rest.as_chunks_mut::<QUAD_LANES>();
    for quad in quads {
        let [[x]] = e.encrypt(key, [[e.count(counter, 1)]]);
        *quad = e.store(put(e.load(quad), x));
        counter = counter.wrapping_add(QUAD_LANES as u64);
    }
    if !rest.is_empty() {
        let [[x]] = e.encrypt(key, [[e.count(counter, 1)]]);
        rest.copy_from_slice(&e.store(put(e.load(&padded(rest)), x))[..rest.len()]);
    }
}

struct AddMasks<'a> {
    round_keys: &'a [Block; 11],
    bases: &'a [Block],
    runs: &'a [MaskedRun],
    blocks: &'a mut [Block],
}

impl Kernel for AddMasks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let key = e.key_from(self.round_keys);
        for MaskedRun { base, at, len } in self.runs {
            let base = e.splat(self.bases[*base as usize]);
            let (quads, rest) = self.blocks[*at as usize..][..*len as usize].as_chunks_mut::<QUAD_LANES>();
            let mut number = 0;
            for quad in quads {
                *quad = e.store(masked(e, &key, base, number, e.load(quad)));
                number += QUAD_LANES as u64;
            }
            if !rest.is_empty() {
                let quad = masked(e, &key, base, number, e.load(&padded(rest)));
                rest.copy_from_slice(&e.store(quad)[..rest.len()]);
            }
        }
    }
}

/// Four blocks with their masks: from number `first` on, of one base.
#[inline(always)]
fn masked<E: Engine>(e: E, key: &E::Key, base: E::Quad, first: u64, blocks: E::Quad) -> E::Quad {
    let x = e.xor(base, e.count(first, 1));
    let [[mask]] = e.encrypt(key, [[x]]);
    e.xor3(blocks, mask, x)
}

struct AddKeystreams<'a> {
    keys: &'a [Block],
    lengths: &'a [usize],
    blocks: &'a mut [Block],
}

impl Kernel for AddKeystreams<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let mut rest = self.blocks;
        let mut round_keys = [[Block::ZERO; QUAD_LANES]; 11];
        for (keys, lengths) in self.keys.chunks(QUAD_LANES).zip(self.lengths.chunks(QUAD_LANES)) {
            let quads = e.round_keys(e.load(&padded(keys)));
            for (stored, quad) in round_keys.iter_mut().zip(quads) {
                *stored = e.store(quad);
            }
            for (lane, length) in lengths.iter().enumerate() {
                let (now, later) = std::mem::take(&mut rest).split_at_mut(*length);
                rest = later;
                let key = e.key_from(&each(
                    round_keys,
                    #[inline(always)]
                    |keys| keys[lane],
                ));
                stream(
                    e,
                    &key,
                    0,
                    now,
                    #[inline(always)]
                    |block, mask| e.xor(block, mask),
                );
            }
        }
        round_keys.zeroize();
    }
}

struct EncryptEach<'a> {
    keys: &'a [Block],
    blocks: &'a mut [Block],
}

impl Kernel for EncryptEach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let (wide_keys, rest_keys) = self.keys.as_chunks::<{ 2 * QUAD_LANES }>();
        let (wide, rest) = self.blocks.as_chunks_mut::<{ 2 * QUAD_LANES }>();
        for (keys, blocks) in wide_keys.iter().zip(wide) {
            let ([k0, k1], _) = keys.as_chunks::<QUAD_LANES>() else { unreachable!("two vectors") };
            let ([b0, b1], _) = blocks.as_chunks_mut::<QUAD_LANES>() else { unreachable!("two vectors") };
            let [[x0], [x1]] = e.encrypt_each([e.load(k0), e.load(k1)], [[e.load(b0)], [e.load(b1)]]);
            (*b0, *b1) = (e.store(x0), e.store(x1));
        }
        for (keys, blocks) in rest_keys.chunks(QUAD_LANES).zip(rest.chunks_mut(QUAD_LANES)) {
            let [[x]] = e.encrypt_each([e.load(&padded(keys))], [[e.load(&padded(blocks))]]);
            blocks.copy_from_slice(&e.store(x)[..blocks.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Block {
        Block::from_u128(u128::from_str_radix(hex, 16).unwrap().swap_bytes())
    }

    #[test]
    fn known_answers() {
        // FIPS 197, appendices B and C.1; NIST SP 800-38A, F.1.1.
        let known = [
            (
                "2b7e151628aed2a6abf7158809cf4f3c",
                "3243f6a8885a308d313198a2e0370734",
                "3925841d02dc09fbdc118597196a0b32",
            ),
            (
                "000102030405060708090a0b0c0d0e0f",
                "00112233445566778899aabbccddeeff",
                "69c4e0d86a7b0430d8cdb78070b4c55a",
            ),
            (
                "2b7e151628aed2a6abf7158809cf4f3c",
                "6bc1bee22e409f96e93d7e117393172a",
                "3ad77bb40d7a3660a89ecaf32466ef97",
            ),
        ];
        for backend in Backend::available() {
            for (key, plain, cipher) in known {
                assert!(Aes128::with_backend(backend, bytes(key)).encrypt(bytes(plain)) == bytes(cipher), "{backend}");
            }
        }
    }

    #[test]
    fn batches_of_every_length_agree_on_every_backend() {
        let key = Block::from_u128(0x5851_f42d_4c95_7f2d);
        let input: Vec<Block> = (0..70).map(|i| Block::from_u128(i * 0x1_0000_0001)).collect();
        let keys: Vec<Block> = input.iter().map(|&b| b ^ key).collect();
        let reference = Aes128::with_backend(Backend::PORTABLE, key);
        for backend in Backend::available() {
            let cipher = Aes128::with_backend(backend, key);
            let many = Aes128::many_with_backend(backend, &keys);
            for len in 0..input.len() {
                let mut batch = input[..len].to_vec();
                cipher.encrypt_batch(&mut batch);
                assert!(batch.iter().zip(&input).all(|(c, &p)| *c == reference.encrypt(p)), "{len} on {backend}");
                let mut batch = vec![Block::ZERO; len];
                cipher.keystream(7, &mut batch);
                let counted = |i| reference.encrypt(Block::from_u128(7 + i as u128));
                assert!(batch.iter().enumerate().all(|(i, c)| *c == counted(i)), "{len} on {backend}");
                let mut batch = input[..len].to_vec();
                encrypt_each_with_backend(backend, &keys[..len], &mut batch);
                assert!((0..len).all(|i| batch[i] == many[i].encrypt(input[i])), "{len} on {backend}");
            }
            let one = Aes128::with_backend(Backend::PORTABLE, keys[69]).encrypt(input[3]);
            assert!(many[69].encrypt(input[3]) == one, "{backend}");
        }
    }

    #[test]
    fn streams_are_added_under_a_key_each_on_every_backend() {
        let lengths = [3, 0, 20, 16, 1, 37, 4];
        let keys: Vec<Block> = (0..lengths.len() as u128).map(|k| Block::from_u128(k << 70 | 9)).collect();
        let plain: Vec<Block> = (0..lengths.iter().sum::<usize>() as u128).map(Block::from_u128).collect();
        let mut expected = plain.clone();
        let mut rest = &mut expected[..];
        for (key, length) in keys.iter().zip(lengths) {
            let (now, later) = rest.split_at_mut(length);
            let mut mask = vec![Block::ZERO; length];
            Aes128::with_backend(Backend::PORTABLE, *key).keystream(0, &mut mask);
            now.iter_mut().zip(mask).for_each(|(block, mask)| *block ^= mask);
            rest = later;
        }
        for backend in Backend::available() {
            let mut blocks = plain.clone();
            add_keystreams_with_backend(backend, &keys, &lengths, &mut blocks);
            assert!(blocks == expected, "{backend}");
        }
    }

    #[test]
    fn masks_are_added_to_runs_wherever_they_are_on_every_backend() {
        let key = Block::from_u128(0x1b87_3593_cc9e_2d51);
        let bases = [5, 1 << 100 | 3].map(Block::from_u128);
        let runs = [(1, 30, 4), (0, 2, 3), (1, 7, 0), (0, 10, 9)].map(|(base, at, len)| MaskedRun { base, at, len });
        let plain: Vec<Block> = (0..40).map(|i| Block::from_u128(i << 64)).collect();
        let cipher = Aes128::with_backend(Backend::PORTABLE, key);
        let mut expected = plain.clone();
        for run in runs {
            for n in 0..run.len {
                let x = bases[run.base as usize] ^ Block::from_u128(n.into());
                expected[(run.at + n) as usize] ^= cipher.encrypt(x) ^ x;
            }
        }
        for backend in Backend::available() {
            let mut blocks = plain.clone();
            Aes128::with_backend(backend, key).add_masks(&bases, &runs, &mut blocks);
            assert!(blocks == expected, "{backend}");
        }
    }

    #[test]
    #[should_panic(expected = "blocks of all runs")]
    fn streams_are_added_to_as_many_blocks_as_they_have() {
        add_keystreams(&[Block::ZERO; 2], &[1, 2], &mut [Block::ZERO; 4]);
    }

    #[test]
    #[should_panic(expected = "one key per block")]
    fn each_needs_as_many_keys_as_blocks() {
        encrypt_each(&[Block::ZERO], &mut [Block::ZERO; 2]);
    }
}
