//! The engine for WebAssembly with vectors: four blocks in four vectors of 128 bits. WebAssembly has no AES instructions, so AES is by
//! [`look_ups`].

use std::arch::wasm32::*;

use super::{Engine, QUAD_LANES, each, look_ups, numbered};
use crate::block::Block;

/// The engine for WebAssembly with vectors; it exists only in modules compiled for them.
#[derive(Clone, Copy)]
pub(crate) struct Simd128;

#[inline(always)]
fn from_block(block: Block) -> v128 {
    bytemuck::cast(block)
}

#[inline(always)]
fn zip(a: [v128; QUAD_LANES], b: [v128; QUAD_LANES], f: impl Fn(v128, v128) -> v128) -> [v128; QUAD_LANES] {
    numbered(
        #[inline(always)]
        |i| f(a[i], b[i]),
    )
}

impl look_ups::Bytes for v128 {
    #[inline(always)]
    fn new(bytes: [u8; 16]) -> Self {
        bytemuck::cast(bytes)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        v128_xor(self, other)
    }

    #[inline(always)]
    fn look_up(self, table: [u8; 16]) -> Self {
        u8x16_swizzle(bytemuck::cast(table), self)
    }

    #[inline(always)]
    fn halves(self) -> [Self; 2] {
        let low_bits = u8x16_splat(0x0f);
        [v128_and(self, low_bits), u16x8_shr(v128_andnot(self, low_bits), 4)]
    }

    #[inline(always)]
    fn shift_rows(self) -> Self {
        u8x16_shuffle::<0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11>(self, self)
    }

    #[inline(always)]
    fn up(self) -> Self {
        u8x16_shuffle::<1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12>(self, self)
    }

    #[inline(always)]
    fn down(self) -> Self {
        u8x16_shuffle::<3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14>(self, self)
    }

    #[inline(always)]
    fn last_up(self) -> Self {
        u8x16_shuffle::<13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12>(self, self)
    }

    #[inline(always)]
    fn right(self) -> Self {
        u32x4_shuffle::<0, 4, 5, 6>(u64x2_splat(0), self)
    }

    #[inline(always)]
    fn right_by_two(self) -> Self {
        u32x4_shuffle::<0, 1, 4, 5>(u64x2_splat(0), self)
    }
}

impl Engine for Simd128 {
    type Quad = [v128; QUAD_LANES];
    type Mask = [v128; QUAD_LANES];
    type Key = [v128; 11];

    #[inline(always)]
    fn load(self, blocks: &[Block; QUAD_LANES]) -> Self::Quad {
        bytemuck::cast(*blocks)
    }

    #[inline(always)]
    fn store(self, quad: Self::Quad) -> [Block; QUAD_LANES] {
        bytemuck::cast(quad)
    }

    #[inline(always)]
    fn splat(self, block: Block) -> Self::Quad {
        [from_block(block); QUAD_LANES]
    }

    #[inline(always)]
    fn count(self, first: u64, stride: u64) -> Self::Quad {
        [0, 1, 2, 3].map(|i: u64| u64x2(first.wrapping_add(stride.wrapping_mul(i)), 0))
    }

    #[inline(always)]
    fn xor(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(
            a,
            b,
            #[inline(always)]
            |a, b| v128_xor(a, b),
        )
    }

    #[inline(always)]
    fn xor3(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad {
        self.xor(self.xor(a, b), c)
    }

    #[inline(always)]
    fn and(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(
            a,
            b,
            #[inline(always)]
            |a, b| v128_and(a, b),
        )
    }

    #[inline(always)]
    fn sigma(self, a: Self::Quad) -> Self::Quad {
        each(
            a,
            #[inline(always)]
            |a| v128_xor(u64x2_shuffle::<1, 0>(a, a), v128_and(a, u64x2(0, u64::MAX))),
        )
    }

    #[inline(always)]
    fn lows(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| u64x2_shuffle::<0, 2>(low, high))
    }

    #[inline(always)]
    fn highs(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| u64x2_shuffle::<1, 3>(low, high))
    }

    #[inline(always)]
    fn join_halves(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| u64x2_shuffle::<0, 3>(low, high))
    }

    #[inline(always)]
    fn double(self, a: Self::Quad) -> Self::Quad {
        each(
            a,
            #[inline(always)]
            |a| {
                // The bits that the shift pushes out, each in the half that receives it.
                let out = u64x2_shr(u64x2_shuffle::<1, 0>(a, a), 63);
                v128_xor(u64x2_shl(a, 1), v128_and(i64x2_neg(out), u64x2(0x87, 1)))
            },
        )
    }

    #[inline(always)]
    fn lsb(self, a: Self::Quad) -> Self::Mask {
        each(
            a,
            #[inline(always)]
            |a| i64x2_neg(v128_and(u64x2_shuffle::<0, 0>(a, a), u64x2_splat(1))),
        )
    }

    #[inline(always)]
    fn half_bits(self, a: Self::Quad) -> u8 {
        let [a, b, c, d] = each(
            a,
            #[inline(always)]
            |a| i64x2_bitmask(i64x2_shl(a, 63)),
        );
        a | b << 2 | c << 4 | d << 6
    }

    #[inline(always)]
    fn bit<const BIT: u32>(self, words: &[u64; QUAD_LANES]) -> Self::Mask {
        each(
            *words,
            #[inline(always)]
            |word| u64x2_splat((word >> BIT & 1).wrapping_neg()),
        )
    }

    #[inline(always)]
    fn mask(self, bit: bool) -> Self::Mask {
        self.splat(Block::from_halves(u64::from(bit).wrapping_neg(), u64::from(bit).wrapping_neg()))
    }

    #[inline(always)]
    fn mask_and(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        self.and(a, b)
    }

    #[inline(always)]
    fn mask_xor(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        self.xor(a, b)
    }

    #[inline(always)]
    fn xor_if(self, mask: Self::Mask, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        self.xor(a, self.and(mask, b))
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

    #[inline(always)]
    fn round_keys(self, keys: Self::Quad) -> [Self::Quad; 11] {
        look_ups::round_keys(keys)
    }

    #[inline(always)]
    fn key_from(self, round_keys: &[Block; 11]) -> Self::Key {
        bytemuck::cast(*round_keys)
    }

    #[inline(always)]
    fn key(self, key: Block) -> Self::Key {
        look_ups::key(from_block(key))
    }

    #[inline(always)]
    fn encrypt<const N: usize, const P: usize>(
        self,
        key: &Self::Key,
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        look_ups::encrypt(key, x.as_flattened_mut());
        x
    }

    #[inline(always)]
    fn encrypt_each<const N: usize, const P: usize>(
        self,
        keys: [Self::Quad; N],
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        look_ups::encrypt_each(keys, &mut x);
        x
    }
}
