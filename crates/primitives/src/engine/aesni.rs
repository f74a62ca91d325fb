//! The engine for x86-64 with AES-NI and AVX2: four blocks in four 128-bit registers.

use std::arch::x86_64::*;

use super::{Engine, QUAD_LANES, each, numbered};
use crate::{
    block::{BLOCK_BITS, Block},
    kernel::Kernel,
};

/// A proof that the processor has AES-NI, PCLMULQDQ, AVX2 and BMI.
#[derive(Clone, Copy)]
pub(crate) struct AesNi(());

/// Evaluates intrinsics that need the engine's features.
macro_rules! have {
    ($($body:tt)*) => {{
        // SAFETY: `AesNi` exists only after `detect` has found the features, and the engine uses no others.
        unsafe { $($body)* }
    }};
}

impl AesNi {
    pub(crate) fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        found.then_some(AesNi(()))
    }

    /// Runs a kernel compiled for these instructions.
    ///
    /// # Safety
    /// The processor has the features that [`AesNi::detect`] checks.
    #[target_feature(enable = "aes,pclmulqdq,avx2,bmi1,bmi2")]
    pub(crate) unsafe fn run<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(AesNi(()))
    }
}

#[inline(always)]
fn from_block(block: Block) -> __m128i {
    bytemuck::cast(block)
}

#[inline(always)]
fn zip(
    a: [__m128i; QUAD_LANES],
    b: [__m128i; QUAD_LANES],
    f: impl Fn(__m128i, __m128i) -> __m128i,
) -> [__m128i; QUAD_LANES] {
    numbered(
        #[inline(always)]
        |i| f(a[i], b[i]),
    )
}

/// The round key after `key`. AESENCLAST on four equal columns is SubBytes alone, since ShiftRows then has no effect.
/// Unlike AESKEYGENASSIST, it is pipelined.
#[inline(always)]
fn next_round_key(key: __m128i, round_constant: i32) -> __m128i {
    have! {
        let rotated = _mm_shuffle_epi8(key, _mm_set1_epi32(0x0c0f_0e0d));
        let last = _mm_aesenclast_si128(rotated, _mm_set1_epi32(round_constant));
        let key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
        let key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
        _mm_xor_si128(key, last)
    }
}

impl Engine for AesNi {
    type Quad = [__m128i; QUAD_LANES];
    type Mask = [__m128i; QUAD_LANES];
    type Key = [__m128i; 11];

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
        have! {
            let first = _mm_cvtsi64_si128(first as i64);
            [0, 1, 2, 3].map(|i: u64| _mm_add_epi64(first, _mm_set_epi64x(0, stride.wrapping_mul(i) as i64)))
        }
    }

    #[inline(always)]
    fn xor(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(a, b, |a, b| have! { _mm_xor_si128(a, b) })
    }

    #[inline(always)]
    fn xor3(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad {
        self.xor(self.xor(a, b), c)
    }

    #[inline(always)]
    fn and(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(a, b, |a, b| have! { _mm_and_si128(a, b) })
    }

    #[inline(always)]
    fn sigma(self, a: Self::Quad) -> Self::Quad {
        each(
            a,
            #[inline(always)]
            |a| {
                have! {
                    let high = _mm_and_si128(a, _mm_set_epi64x(-1, 0));
                    _mm_xor_si128(_mm_shuffle_epi32::<0x4e>(a), high)
                }
            },
        )
    }

    #[inline(always)]
    fn lows(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| have! { _mm_unpacklo_epi64(low, high) })
    }

    #[inline(always)]
    fn highs(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| have! { _mm_unpackhi_epi64(low, high) })
    }

    #[inline(always)]
    fn join_halves(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| have! { _mm_blend_epi16::<0xf0>(low, high) })
    }

    #[inline(always)]
    fn double(self, a: Self::Quad) -> Self::Quad {
        each(
            a,
            #[inline(always)]
            |a| {
                have! {
                    // Dword 0 gets the sign of dword 3, and dword 2 the sign of dword 1: the bits that the shift pushes out.
                    let out = _mm_shuffle_epi32::<0x13>(_mm_srai_epi32::<31>(a));
                    let carry = _mm_and_si128(out, _mm_set_epi32(0, 1, 0, 0x87));
                    _mm_xor_si128(_mm_slli_epi64::<1>(a), carry)
                }
            },
        )
    }

    #[inline(always)]
    fn products(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 3] {
        [
            zip(a, b, |a, b| have! { _mm_clmulepi64_si128::<0x00>(a, b) }),
            zip(
                a,
                b,
                #[inline(always)]
                |a, b| have! { _mm_xor_si128(_mm_clmulepi64_si128::<0x01>(a, b), _mm_clmulepi64_si128::<0x10>(a, b)) },
            ),
            zip(a, b, |a, b| have! { _mm_clmulepi64_si128::<0x11>(a, b) }),
        ]
    }

    #[inline(always)]
    fn lsb(self, a: Self::Quad) -> Self::Mask {
        each(
            a,
            #[inline(always)]
            |a| have! { _mm_srai_epi32::<31>(_mm_slli_epi32::<31>(_mm_shuffle_epi32::<0>(a))) },
        )
    }

    #[inline(always)]
    fn half_bits(self, a: Self::Quad) -> u8 {
        let [a, b, c, d] = each(
            a,
            #[inline(always)]
            |a| have! { _mm_movemask_pd(_mm_castsi128_pd(_mm_slli_epi64::<63>(a))) },
        );
        (a | b << 2 | c << 4 | d << 6) as u8
    }

    #[inline(always)]
    fn bit<const BIT: u32>(self, words: &[u64; QUAD_LANES]) -> Self::Mask {
        each(
            *words,
            #[inline(always)]
            |word| have! { _mm_set1_epi64x(-((word >> BIT & 1) as i64)) },
        )
    }

    #[inline(always)]
    fn mask(self, bit: bool) -> Self::Mask {
        [have! { _mm_set1_epi64x(-i64::from(bit)) }; QUAD_LANES]
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
        for (round, constant) in super::ROUND_CONSTANTS.into_iter().enumerate() {
            round_keys[round + 1] = each(
                round_keys[round],
                #[inline(always)]
                |key| next_round_key(key, constant),
            );
        }
        round_keys
    }

    #[inline(always)]
    fn key_from(self, round_keys: &[Block; 11]) -> Self::Key {
        // A loop, because `map` on a long array is not inlined.
        let mut key = [from_block(round_keys[0]); 11];
        for (register, round_key) in key.iter_mut().zip(round_keys) {
            *register = from_block(*round_key);
        }
        key
    }

    #[inline(always)]
    fn key(self, key: Block) -> Self::Key {
        let mut round_keys = [from_block(key); 11];
        for (round, constant) in super::ROUND_CONSTANTS.into_iter().enumerate() {
            round_keys[round + 1] = next_round_key(round_keys[round], constant);
        }
        round_keys
    }

    #[inline(always)]
    fn encrypt<const N: usize, const P: usize>(
        self,
        key: &Self::Key,
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        let blocks = x.as_flattened_mut().as_flattened_mut();
        have! {
            for b in blocks.iter_mut() {
                *b = _mm_xor_si128(*b, key[0]);
            }
            for round_key in &key[1..10] {
                for b in blocks.iter_mut() {
                    *b = _mm_aesenc_si128(*b, *round_key);
                }
            }
            for b in blocks.iter_mut() {
                *b = _mm_aesenclast_si128(*b, key[10]);
            }
        }
        x
    }

    #[inline(always)]
    fn encrypt_each<const N: usize, const P: usize>(
        self,
        mut keys: [Self::Quad; N],
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        for (key, x) in keys.iter().zip(&mut x) {
            x.iter_mut().for_each(
                #[inline(always)]
                |quad| *quad = self.xor(*quad, *key),
            );
        }
        for (round, constant) in super::ROUND_CONSTANTS.into_iter().enumerate() {
            for (key, x) in keys.iter_mut().zip(&mut x) {
                for lane in 0..QUAD_LANES {
                    key[lane] = next_round_key(key[lane], constant);
                    for quad in x.iter_mut() {
                        quad[lane] = match round {
                            9 => have! { _mm_aesenclast_si128(quad[lane], key[lane]) },
                            _ => have! { _mm_aesenc_si128(quad[lane], key[lane]) },
                        };
                    }
                }
            }
        }
        x
    }

    #[inline(always)]
    fn transpose(self, square: &mut [Block; BLOCK_BITS]) {
        have! { super::avx2::transpose(square) }
    }
}
