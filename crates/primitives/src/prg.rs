//! The pseudo-random generator that stretches seeds.

use std::convert::Infallible;

use rand_core::{CryptoRng, SeedableRng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{aes::Aes128, backend::Backend, block::Block};

/// Blocks buffered for small draws.
const BUFFER: usize = 32;

/// AES-128 in counter mode under a 16-byte seed: a seekable stream of bytes.
///
/// Block `i` of the stream is the encryption of the integer `i`. The sizes of draws do not affect the stream.
///
/// *Secret*: the seed; it is wiped on drop. *Cost*: at most 2^64 blocks; do not use more than 2^48.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Prg {
    cipher: Aes128,
    /// The block of the stream after the buffer.
    next: u64,
    buffer: [Block; BUFFER],
    /// The number of buffer bytes already used.
    used: usize,
}

impl Prg {
    /// The stream of a seed, from its beginning.
    pub fn new(seed: Block) -> Self {
        Self::with_backend(Backend::detect(), seed)
    }

    /// The stream of a seed, on a given backend.
    pub fn with_backend(backend: Backend, seed: Block) -> Self {
        Self::from_cipher(Aes128::with_backend(backend, seed))
    }

    /// The streams of many seeds.
    pub fn many(seeds: &[Block]) -> Vec<Self> {
        Aes128::many(seeds).into_iter().map(Self::from_cipher).collect()
    }

    /// The stream of a seed drawn from a generator.
    pub fn random(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Self::new(Block::random(rng))
    }

    fn from_cipher(cipher: Aes128) -> Self {
        Prg { cipher, next: 0, buffer: [Block::ZERO; BUFFER], used: 16 * BUFFER }
    }

    /// Seeks to block number `block` of the stream.
    pub fn seek(&mut self, block: u64) {
        self.next = block;
        self.used = 16 * BUFFER;
    }

    /// The next blocks of the stream.
    pub fn fill_blocks(&mut self, blocks: &mut [Block]) {
        if self.used == 16 * BUFFER {
            // The buffer is empty: write straight to the destination.
            self.cipher.keystream(self.next, blocks);
            self.next = self.next.wrapping_add(blocks.len() as u64);
        } else {
            self.fill_bytes(bytemuck::cast_slice_mut(blocks));
        }
    }

    /// The next bytes of the stream.
    pub fn fill_bytes(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            if self.used == 16 * BUFFER {
                if bytes.len() >= 16 * BUFFER && bytes.as_ptr().align_offset(align_of::<Block>()) == 0 {
                    let (blocks, rest) = bytes.split_at_mut(bytes.len() / 16 * 16);
                    self.fill_blocks(bytemuck::cast_slice_mut(blocks));
                    bytes = rest;
                    continue;
                }
                self.cipher.keystream(self.next, &mut self.buffer);
                self.next = self.next.wrapping_add(BUFFER as u64);
                self.used = 0;
            }
            let ready = &bytemuck::cast_slice(&self.buffer)[self.used..];
            let (now, later) = bytes.split_at_mut(ready.len().min(bytes.len()));
            now.copy_from_slice(&ready[..now.len()]);
            self.used += now.len();
            bytes = later;
        }
    }

    /// The next 16 bytes of the stream as a block.
    pub fn next_block(&mut self) -> Block {
        Block::from_bytes(self.draw())
    }

    /// A few bytes, mostly from the buffer.
    #[inline]
    fn draw<const N: usize>(&mut self) -> [u8; N] {
        if let Some(&bytes) = bytemuck::cast_slice(&self.buffer)[self.used..].first_chunk() {
            self.used += N;
            return bytes;
        }
        let mut bytes = [0; N];
        self.fill_bytes(&mut bytes);
        bytes
    }
}

impl TryRng for Prg {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(self.draw()))
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(self.draw()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Prg {}

impl SeedableRng for Prg {
    type Seed = [u8; 16];

    fn from_seed(seed: [u8; 16]) -> Self {
        Prg::new(Block::from_bytes(seed))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::Rng;

    use super::*;

    const SEED: Block = Block::from_u128(0x0123_4567_89ab_cdef);

    fn reference(blocks: u64) -> Vec<u8> {
        let cipher = Aes128::with_backend(Backend::PORTABLE, SEED);
        (0..blocks).flat_map(|i| cipher.encrypt(Block::from_u128(i.into())).to_bytes()).collect()
    }

    proptest! {
        #[test]
        fn draws_of_any_size_are_one_stream(cuts in proptest::collection::vec(0usize..1200, 1..12)) {
            let expected = reference(1200 * 12 / 16);
            for backend in Backend::available() {
                let mut prg = Prg::with_backend(backend, SEED);
                let mut at = 0;
                for &len in &cuts {
                    let mut drawn = vec![0; len];
                    prg.fill_bytes(&mut drawn);
                    prop_assert_eq!(&drawn[..], &expected[at..at + len]);
                    at += len;
                }
            }
        }
    }

    #[test]
    fn blocks_bytes_and_words_are_the_same_stream() {
        let expected = reference(100);
        let mut prg = Prg::new(SEED);
        let mut blocks = vec![Block::ZERO; 50];
        prg.fill_blocks(&mut blocks);
        assert!(bytemuck::cast_slice::<Block, u8>(&blocks) == &expected[..800]);
        assert_eq!(prg.next_u64().to_le_bytes(), expected[800..808]);
        assert_eq!(prg.next_u32().to_le_bytes(), expected[808..812]);
        assert_eq!(prg.next_block().to_bytes(), expected[812..828]);
        prg.fill_blocks(&mut blocks[..3]);
        assert!(bytemuck::cast_slice::<Block, u8>(&blocks[..3]) == &expected[828..876]);
        prg.seek(2);
        assert_eq!(prg.next_block().to_bytes(), expected[32..48]);
        let mut many = Prg::many(&[Block::ONES, SEED]);
        assert_eq!(many[1].next_block().to_bytes(), expected[..16]);
    }

    #[test]
    fn other_seeds_give_other_streams() {
        assert!(Prg::new(SEED).next_block() != Prg::new(SEED ^ Block::from_u128(1)).next_block());
    }
}
