//! The engine for WebAssembly with vectors: four blocks in four vectors of 128 bits. WebAssembly has no AES instructions, so
//! vector look-ups compute the S-box (see [`nibbles`]), in the same time for all bytes.
//!
//! A cipher's state is in nibbles from the first round key on, as are all round keys except the last.

use std::arch::wasm32::*;

use super::{
    Engine, QUAD_LANES,
    nibbles::{
        A_OVER, CONSTANT, DOUBLED_SPLIT, INVERSE, JOIN, ROUND_CONSTANTS, SPLIT, SUBSTITUTED, SUBSTITUTED_SPLIT, split,
    },
};
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
    std::array::from_fn(
        #[inline(always)]
        |i| f(a[i], b[i]),
    )
}

/// Looks every byte of a vector up in a table; an index that is too large gives zero.
#[inline(always)]
fn look_up(table: [u8; 16], places: v128) -> v128 {
    u8x16_swizzle(bytemuck::cast(table), places)
}

/// The sum of two look-ups.
#[inline(always)]
fn look_up_both([first, second]: [[u8; 16]; 2], [p, q]: [v128; 2]) -> v128 {
    v128_xor(look_up(first, p), look_up(second, q))
}

/// The lower and the upper four bits of every byte.
#[inline(always)]
fn halves(bytes: v128) -> [v128; 2] {
    let low_bits = u8x16_splat(0x0f);
    [v128_and(bytes, low_bits), u16x8_shr(v128_andnot(bytes, low_bits), 4)]
}

/// The table indices of the S-box.
#[inline(always)]
fn s_box_places(nibbles: v128) -> [v128; 2] {
    let [k, i] = halves(nibbles);
    let j = v128_xor(i, k);
    let a_over_k = look_up(A_OVER, k);
    let p = look_up(INVERSE, v128_xor(look_up(INVERSE, i), a_over_k));
    let q = look_up(INVERSE, v128_xor(look_up(INVERSE, j), a_over_k));
    [v128_xor(p, j), v128_xor(q, i)]
}

#[inline(always)]
fn shift_rows(state: v128) -> v128 {
    u8x16_shuffle::<0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11>(state, state)
}

/// Rotates every column by one byte up or down.
#[inline(always)]
fn up(state: v128) -> v128 {
    u8x16_shuffle::<1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12>(state, state)
}

#[inline(always)]
fn down(state: v128) -> v128 {
    u8x16_shuffle::<3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14>(state, state)
}

/// A round, except the last one.
#[inline(always)]
fn round(state: v128, key: v128) -> v128 {
    let places = s_box_places(shift_rows(state));
    let once = look_up_both(SUBSTITUTED_SPLIT, places);
    // MixColumns: for a column with byte b after a, then c and d, compute 2 a + b, and from it 2 a + 3 b + c + d.
    let sum = v128_xor(look_up_both(DOUBLED_SPLIT, places), up(once));
    v128_xor(v128_xor(sum, up(sum)), v128_xor(down(once), key))
}

#[inline(always)]
fn last_round(state: v128, key: v128) -> v128 {
    v128_xor(look_up_both(SUBSTITUTED, s_box_places(shift_rows(state))), key)
}

#[inline(always)]
fn to_nibbles(bytes: v128) -> v128 {
    look_up_both(SPLIT, halves(bytes))
}

/// The constant that SubBytes leaves to the round keys, in nibbles.
#[inline(always)]
fn constant() -> v128 {
    u8x16_splat(const { split(CONSTANT) })
}

/// The round key after `key`, all in nibbles.
#[inline(always)]
fn next_round_key(key: v128, round_constant: u8) -> v128 {
    let rotated = u8x16_shuffle::<13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12>(key, key);
    let last = v128_xor(look_up_both(SUBSTITUTED_SPLIT, s_box_places(rotated)), constant());
    let zero = u64x2_splat(0);
    let key = v128_xor(key, u32x4_shuffle::<0, 4, 5, 6>(zero, key));
    let key = v128_xor(key, u32x4_shuffle::<0, 1, 4, 5>(zero, key));
    v128_xor(v128_xor(key, last), u32x4_splat(round_constant.into()))
}

/// Passes on the round keys after `key` in order, each in the form that its round adds.
#[inline(always)]
fn schedule(key: v128, mut round_key: impl FnMut(usize, v128)) {
    let mut key = to_nibbles(key);
    for (round, round_constant) in ROUND_CONSTANTS.into_iter().enumerate() {
        key = next_round_key(key, round_constant);
        let as_added = match round + 1 {
            10 => v128_xor(look_up_both(JOIN, halves(key)), u8x16_splat(CONSTANT)),
            _ => v128_xor(key, constant()),
        };
        round_key(round + 1, as_added);
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
        a.map(
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
        a.map(
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
        a.map(
            #[inline(always)]
            |a| i64x2_neg(v128_and(u64x2_shuffle::<0, 0>(a, a), u64x2_splat(1))),
        )
    }

    #[inline(always)]
    fn half_bits(self, a: Self::Quad) -> u8 {
        let [a, b, c, d] = a.map(
            #[inline(always)]
            |a| i64x2_bitmask(i64x2_shl(a, 63)),
        );
        a | b << 2 | c << 4 | d << 6
    }

    #[inline(always)]
    fn bit<const BIT: u32>(self, words: &[u64; QUAD_LANES]) -> Self::Mask {
        words.map(
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
        let mut round_keys = [keys; 11];
        for (lane, key) in keys.into_iter().enumerate() {
            schedule(
                key,
                #[inline(always)]
                |round, key| round_keys[round][lane] = key,
            );
        }
        round_keys
    }

    #[inline(always)]
    fn key_from(self, round_keys: &[Block; 11]) -> Self::Key {
        bytemuck::cast(*round_keys)
    }

    #[inline(always)]
    fn key(self, key: Block) -> Self::Key {
        let mut round_keys = [from_block(key); 11];
        schedule(
            from_block(key),
            #[inline(always)]
            |round, key| round_keys[round] = key,
        );
        round_keys
    }

    #[inline(always)]
    fn encrypt<const N: usize, const P: usize>(
        self,
        key: &Self::Key,
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        for quad in x.as_flattened_mut() {
            *quad = quad.map(
                #[inline(always)]
                |block| to_nibbles(v128_xor(block, key[0])),
            );
            for round_key in &key[1..10] {
                *quad = quad.map(
                    #[inline(always)]
                    |block| round(block, *round_key),
                );
            }
            *quad = quad.map(
                #[inline(always)]
                |block| last_round(block, key[10]),
            );
        }
        x
    }

    #[inline(always)]
    fn encrypt_each<const N: usize, const P: usize>(
        self,
        keys: [Self::Quad; N],
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        for (keys, x) in keys.iter().zip(&mut x) {
            for (lane, &key) in keys.iter().enumerate() {
                for quad in x.iter_mut() {
                    quad[lane] = to_nibbles(v128_xor(quad[lane], key));
                }
                schedule(
                    key,
                    #[inline(always)]
                    |number, key| {
                        for quad in x.iter_mut() {
                            quad[lane] = match number {
                                10 => last_round(quad[lane], key),
                                _ => round(quad[lane], key),
                            };
                        }
                    },
                );
            }
        }
        x
    }
}
