//! The engine for x86-64 with VAES and without AVX-512: four blocks in two 256-bit registers.

use std::arch::x86_64::*;

use super::{Engine, QUAD_LANES, each};
use crate::{
    block::{BLOCK_BITS, Block},
    kernel::Kernel,
};

/// A proof that the processor has VAES, VPCLMULQDQ and the features of the AES-NI engine.
#[derive(Clone, Copy)]
pub(crate) struct Vaes256(());

/// Evaluates intrinsics that need the engine's features.
macro_rules! have {
    ($($body:tt)*) => {{
        // SAFETY: `Vaes256` exists only after `detect` has found the features, and the engine uses no others.
        unsafe { $($body)* }
    }};
}

impl Vaes256 {
    pub(crate) fn detect() -> Option<Self> {
        let found = super::AesNi::detect().is_some()
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq");
        found.then_some(Vaes256(()))
    }

    /// Runs a kernel compiled for these instructions.
    ///
    /// # Safety
    /// The processor has the features that [`Vaes256::detect`] checks.
    #[target_feature(enable = "aes,pclmulqdq,avx2,bmi1,bmi2,vaes,vpclmulqdq")]
    pub(crate) unsafe fn run<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Vaes256(()))
    }
}

type Pair = [__m256i; 2];

#[inline(always)]
fn zip(a: Pair, b: Pair, f: impl Fn(__m256i, __m256i) -> __m256i) -> Pair {
    [f(a[0], b[0]), f(a[1], b[1])]
}

/// The same block in both lanes.
#[inline(always)]
fn twice(block: Block) -> __m256i {
    have! { _mm256_broadcastsi128_si256(bytemuck::cast(block)) }
}

/// The same 32-bit words in both lanes, the highest first.
#[inline(always)]
fn words(d: i32, c: i32, b: i32, a: i32) -> __m256i {
    have! { _mm256_setr_epi32(a, b, c, d, a, b, c, d) }
}

/// In each 128-bit lane, the round key after the one in `key`; see the AES-NI engine.
#[inline(always)]
fn next_round_key(key: __m256i, round_constant: i32) -> __m256i {
    have! {
        let rotated = _mm256_shuffle_epi8(key, _mm256_set1_epi32(0x0c0f_0e0d));
        let last = _mm256_aesenclast_epi128(rotated, _mm256_set1_epi32(round_constant));
        let key = _mm256_xor_si256(key, _mm256_bslli_epi128::<4>(key));
        let key = _mm256_xor_si256(key, _mm256_bslli_epi128::<8>(key));
        _mm256_xor_si256(key, last)
    }
}

impl Engine for Vaes256 {
    type Quad = Pair;
    type Mask = Pair;
    type Key = [__m256i; 11];

    #[inline(always)]
    fn load(self, blocks: &[Block; QUAD_LANES]) -> Self::Quad {
        bytemuck::cast(*blocks)
    }

    #[inline(always)]
    fn store(self, quad: Self::Quad) -> [Block; QUAD_LANES] {
        bytemuck::cast(quad)
    }

    #[inline(always)]
    unsafe fn gather(self, from: [*const Block; QUAD_LANES]) -> Self::Quad {
        // SAFETY: the caller promises that the blocks are valid for reads; for the features see `have`.
        unsafe {
            let [a, b, c, d] = each(
                from,
                #[inline(always)]
                |block| _mm_load_si128(block.cast()),
            );
            [
                _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b),
                _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d),
            ]
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, [low, high]: Self::Quad, [a, b, c, d]: [*mut Block; QUAD_LANES]) {
        // SAFETY: the caller promises that the blocks are valid for writes; for the features see `have`.
        unsafe {
            _mm_store_si128(a.cast(), _mm256_castsi256_si128(low));
            _mm_store_si128(b.cast(), _mm256_extracti128_si256::<1>(low));
            _mm_store_si128(c.cast(), _mm256_castsi256_si128(high));
            _mm_store_si128(d.cast(), _mm256_extracti128_si256::<1>(high));
        }
    }

    #[inline(always)]
    fn splat(self, block: Block) -> Self::Quad {
        [twice(block); 2]
    }

    #[inline(always)]
    fn count(self, first: u64, stride: u64) -> Self::Quad {
        let [s1, s2, s3] = [1, 2, 3].map(|lane| stride.wrapping_mul(lane) as i64);
        have! {
            let first = _mm256_set_epi64x(0, first as i64, 0, first as i64);
            [
                _mm256_add_epi64(first, _mm256_set_epi64x(0, s1, 0, 0)),
                _mm256_add_epi64(first, _mm256_set_epi64x(0, s3, 0, s2)),
            ]
        }
    }

    #[inline(always)]
    fn xor(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(a, b, |a, b| have! { _mm256_xor_si256(a, b) })
    }

    #[inline(always)]
    fn xor3(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad {
        self.xor(self.xor(a, b), c)
    }

    #[inline(always)]
    fn and(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(a, b, |a, b| have! { _mm256_and_si256(a, b) })
    }

    #[inline(always)]
    fn sigma(self, a: Self::Quad) -> Self::Quad {
        each(
            a,
            #[inline(always)]
            |a| {
                have! {
                    let high = _mm256_and_si256(a, words(-1, -1, 0, 0));
                    _mm256_xor_si256(_mm256_shuffle_epi32::<0x4e>(a), high)
                }
            },
        )
    }

    #[inline(always)]
    fn lows(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| have! { _mm256_unpacklo_epi64(low, high) })
    }

    #[inline(always)]
    fn highs(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| have! { _mm256_unpackhi_epi64(low, high) })
    }

    #[inline(always)]
    fn join_halves(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| have! { _mm256_blend_epi32::<0xcc>(low, high) })
    }

    #[inline(always)]
    fn double(self, a: Self::Quad) -> Self::Quad {
        each(
            a,
            #[inline(always)]
            |a| {
                have! {
                    // Dword 0 gets the sign of dword 3, and dword 2 the sign of dword 1: the bits that the shift pushes out.
                    let out = _mm256_shuffle_epi32::<0x13>(_mm256_srai_epi32::<31>(a));
                    let carry = _mm256_and_si256(out, words(0, 1, 0, 0x87));
                    _mm256_xor_si256(_mm256_slli_epi64::<1>(a), carry)
                }
            },
        )
    }

    #[inline(always)]
    fn products(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 3] {
        [
            zip(a, b, |a, b| have! { _mm256_clmulepi64_epi128::<0x00>(a, b) }),
            zip(
                a,
                b,
                #[inline(always)]
                |a, b| {
                    have! {
                        let crossed = [_mm256_clmulepi64_epi128::<0x01>(a, b), _mm256_clmulepi64_epi128::<0x10>(a, b)];
                        _mm256_xor_si256(crossed[0], crossed[1])
                    }
                },
            ),
            zip(a, b, |a, b| have! { _mm256_clmulepi64_epi128::<0x11>(a, b) }),
        ]
    }

    #[inline(always)]
    fn lsb(self, a: Self::Quad) -> Self::Mask {
        each(
            a,
            #[inline(always)]
            |a| have! { _mm256_srai_epi32::<31>(_mm256_slli_epi32::<31>(_mm256_shuffle_epi32::<0>(a))) },
        )
    }

    #[inline(always)]
    fn half_bits(self, [low, high]: Self::Quad) -> u8 {
        have! {
            let low = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64::<63>(low)));
            let high = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64::<63>(high)));
            (low | high << 4) as u8
        }
    }

    #[inline(always)]
    fn bit<const BIT: u32>(self, words: &[u64; QUAD_LANES]) -> Self::Mask {
        have! {
            let words = _mm256_loadu_si256(words.as_ptr().cast());
            let signs = _mm256_sll_epi64(words, _mm_cvtsi32_si128(63 - BIT as i32));
            let set = _mm256_cmpgt_epi64(_mm256_setzero_si256(), signs);
            [_mm256_permute4x64_epi64::<0b01_01_00_00>(set), _mm256_permute4x64_epi64::<0b11_11_10_10>(set)]
        }
    }

    #[inline(always)]
    fn mask(self, bit: bool) -> Self::Mask {
        [have! { _mm256_set1_epi64x(-i64::from(bit)) }; 2]
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
    fn reverse(self, [low, high]: Self::Quad) -> Self::Quad {
        have! { [_mm256_permute2x128_si256::<0x01>(high, high), _mm256_permute2x128_si256::<0x01>(low, low)] }
    }

    #[inline(always)]
    fn interleave(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 2] {
        each(
            [0, 1],
            #[inline(always)]
            |i: usize| lanes_of(a[i], b[i]),
        )
    }

    #[inline(always)]
    fn deinterleave(self, [p, q]: [Self::Quad; 2]) -> [Self::Quad; 2] {
        let ([a0, b0], [a1, b1]) = (lanes_of(p[0], p[1]), lanes_of(q[0], q[1]));
        [[a0, a1], [b0, b1]]
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
        let mut key = [twice(round_keys[0]); 11];
        for (register, round_key) in key.iter_mut().zip(round_keys) {
            *register = twice(*round_key);
        }
        key
    }

    #[inline(always)]
    fn key(self, key: Block) -> Self::Key {
        let mut round_keys = [twice(key); 11];
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
        let registers = x.as_flattened_mut().as_flattened_mut();
        have! {
            for register in registers.iter_mut() {
                *register = _mm256_xor_si256(*register, key[0]);
            }
            for round_key in &key[1..10] {
                for register in registers.iter_mut() {
                    *register = _mm256_aesenc_epi128(*register, *round_key);
                }
            }
            for register in registers.iter_mut() {
                *register = _mm256_aesenclast_epi128(*register, key[10]);
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
                for half in 0..2 {
                    key[half] = next_round_key(key[half], constant);
                    for quad in x.iter_mut() {
                        quad[half] = match round {
                            9 => have! { _mm256_aesenclast_epi128(quad[half], key[half]) },
                            _ => have! { _mm256_aesenc_epi128(quad[half], key[half]) },
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

/// The lower lanes of two registers, and their upper lanes.
#[inline(always)]
fn lanes_of(a: __m256i, b: __m256i) -> [__m256i; 2] {
    have! { [_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)] }
}
