//! The engine for every processor: the `aes` crate, and arrays of blocks.

use aes::{
    Aes128,
    cipher::{BlockCipherEncrypt, KeyInit},
};

use super::{Engine, QUAD_LANES};
use crate::{bit::Bit, block::Block, product::double};

/// The engine for every processor.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Portable {
    // The memory of blocks equals their bytes only on little-endian processors; `lib.rs` rejects others.
    fn encrypt_blocks(cipher: &Aes128, blocks: &mut [Block]) {
        cipher.encrypt_blocks(aes::Block::cast_slice_from_core_mut(bytemuck::cast_slice_mut(blocks)));
    }
}

fn zip(a: [Block; QUAD_LANES], b: [Block; QUAD_LANES], f: impl Fn(Block, Block) -> Block) -> [Block; QUAD_LANES] {
    std::array::from_fn(|i| f(a[i], b[i]))
}

impl Engine for Portable {
    type Quad = [Block; QUAD_LANES];
    type Mask = [Block; QUAD_LANES];
    type Key = Aes128;

    #[inline(always)]
    fn load(self, blocks: &[Block; QUAD_LANES]) -> Self::Quad {
        *blocks
    }

    #[inline(always)]
    fn store(self, quad: Self::Quad) -> [Block; QUAD_LANES] {
        quad
    }

    #[inline(always)]
    fn splat(self, block: Block) -> Self::Quad {
        [block; QUAD_LANES]
    }

    #[inline(always)]
    fn count(self, first: u64, stride: u64) -> Self::Quad {
        std::array::from_fn(|i| Block::from_halves(first.wrapping_add(stride.wrapping_mul(i as u64)), 0))
    }

    #[inline(always)]
    fn xor(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(a, b, |a, b| a ^ b)
    }

    #[inline(always)]
    fn xor3(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad {
        self.xor(self.xor(a, b), c)
    }

    #[inline(always)]
    fn and(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(a, b, |a, b| a & b)
    }

    #[inline(always)]
    fn sigma(self, a: Self::Quad) -> Self::Quad {
        a.map(|a| {
            let [low, high] = a.halves();
            Block::from_halves(high, high ^ low)
        })
    }

    #[inline(always)]
    fn lows(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| Block::from_halves(low.halves()[0], high.halves()[0]))
    }

    #[inline(always)]
    fn highs(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| Block::from_halves(low.halves()[1], high.halves()[1]))
    }

    #[inline(always)]
    fn join_halves(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| Block::from_halves(low.halves()[0], high.halves()[1]))
    }

    #[inline(always)]
    fn double(self, a: Self::Quad) -> Self::Quad {
        a.map(double)
    }

    #[inline(always)]
    fn lsb(self, a: Self::Quad) -> Self::Mask {
        a.map(|a| Block::mask(Bit::lowest_of(a.halves()[0])))
    }

    #[inline(always)]
    fn half_bits(self, a: Self::Quad) -> u8 {
        a.iter().rev().fold(0, |bits, a| {
            let [low, high] = a.halves();
            bits << 2 | (high as u8 & 1) << 1 | (low as u8 & 1)
        })
    }

    #[inline(always)]
    fn bit<const BIT: u32>(self, words: &[u64; QUAD_LANES]) -> Self::Mask {
        words.map(|word| Block::mask(Bit::lowest_of(word >> BIT)))
    }

    #[inline(always)]
    fn mask(self, bit: bool) -> Self::Mask {
        // Public.
        [if bit { Block::ONES } else { Block::ZERO }; QUAD_LANES]
    }

    #[inline(always)]
    fn mask_and(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        std::array::from_fn(|i| a[i] & b[i])
    }

    #[inline(always)]
    fn mask_xor(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        self.xor(a, b)
    }

    #[inline(always)]
    fn xor_if(self, mask: Self::Mask, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        std::array::from_fn(|i| a[i] ^ mask[i] & b[i])
    }

    #[inline(always)]
    fn reverse(self, [a, b, c, d]: Self::Quad) -> Self::Quad {
        [d, c, b, a]
    }

    #[inline(always)]
    fn interleave(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 2] {
        [[a[0], b[0], a[1], b[1]], [a[2], b[2], a[3], b[3]]]
    }

    #[inline(always)]
    fn deinterleave(self, [p, q]: [Self::Quad; 2]) -> [Self::Quad; 2] {
        [[p[0], p[2], q[0], q[2]], [p[1], p[3], q[1], q[3]]]
    }

    fn round_keys(self, keys: Self::Quad) -> [Self::Quad; 11] {
        let mut round_keys = [[Block::ZERO; QUAD_LANES]; 11];
        round_keys[0] = keys;
        round_keys
    }

    fn key_from(self, round_keys: &[Block; 11]) -> Self::Key {
        Aes128::new(&round_keys[0].to_bytes().into())
    }

    fn encrypt<const N: usize, const P: usize>(
        self,
        key: &Self::Key,
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        Self::encrypt_blocks(key, x.as_flattened_mut().as_flattened_mut());
        x
    }

    fn encrypt_each<const N: usize, const P: usize>(
        self,
        keys: [Self::Quad; N],
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        for (keys, x) in keys.iter().zip(&mut x) {
            for (lane, &key) in keys.iter().enumerate() {
                let mut blocks: [Block; P] = std::array::from_fn(|p| x[p][lane]);
                Self::encrypt_blocks(&self.key(key), &mut blocks);
                for (quad, block) in x.iter_mut().zip(blocks) {
                    quad[lane] = block;
                }
            }
        }
        x
    }
}
