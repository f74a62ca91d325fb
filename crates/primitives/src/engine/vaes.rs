//! The engine for x86-64 with VAES and AVX-512: four blocks in one 512-bit register.

use std::arch::x86_64::*;

use super::{Engine, QUAD_LANES, each};
use crate::{
    block::{BLOCK_BITS, Block},
    kernel::Kernel,
};

/// A proof that the processor has VAES, VPCLMULQDQ, AVX-512 (F, BW, DQ, VL, VBMI), GFNI and the features of the AES-NI engine.
#[derive(Clone, Copy)]
pub(crate) struct Vaes(());

/// Evaluates intrinsics that need the engine's features.
macro_rules! have {
    ($($body:tt)*) => {{
        // SAFETY: `Vaes` exists only after `detect` has found the features, and the engine uses no others.
        unsafe { $($body)* }
    }};
}

impl Vaes {
    pub(crate) fn detect() -> Option<Self> {
        let found = super::Vaes256::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("gfni");
        found.then_some(Vaes(()))
    }

    /// Runs a kernel compiled for these instructions.
    ///
    /// # Safety
    /// The processor has the features that [`Vaes::detect`] checks.
    #[target_feature(
        enable = "aes,pclmulqdq,avx2,bmi1,bmi2,vaes,vpclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni"
    )]
    pub(crate) unsafe fn run<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Vaes(()))
    }
}

/// The same vector, with its origin hidden from the compiler, which would otherwise merge the shuffles that made it with
/// later ones, into more and slower ones.
#[inline]
#[target_feature(enable = "avx512f")]
fn opaque(mut quad: __m512i) -> __m512i {
    // SAFETY: no instructions.
    unsafe { std::arch::asm!("/* {0} */", inout(zmm_reg) quad, options(pure, nomem, nostack, preserves_flags)) };
    quad
}

/// In each 128-bit lane, the round key after the one in `key`; see the AES-NI engine.
#[inline(always)]
fn next_round_key(key: __m512i, round_constant: i32) -> __m512i {
    have! {
        let rotated = _mm512_shuffle_epi8(key, _mm512_set1_epi32(0x0c0f_0e0d));
        let last = _mm512_aesenclast_epi128(rotated, _mm512_set1_epi32(round_constant));
        let key = _mm512_xor_si512(key, _mm512_bslli_epi128::<4>(key));
        let key = _mm512_xor_si512(key, _mm512_bslli_epi128::<8>(key));
        _mm512_xor_si512(key, last)
    }
}

impl Engine for Vaes {
    type Quad = __m512i;
    type Mask = __mmask8;
    type Key = [__m512i; 11];
    const IS_ROOMY: bool = true;

    #[inline(always)]
    fn load(self, blocks: &[Block; QUAD_LANES]) -> Self::Quad {
        have! { _mm512_loadu_si512(blocks.as_ptr().cast()) }
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
            let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
            let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
            opaque(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, quad: Self::Quad, [a, b, c, d]: [*mut Block; QUAD_LANES]) {
        // SAFETY: the caller promises that the blocks are valid for writes; for the features see `have`.
        unsafe {
            _mm_store_si128(a.cast(), _mm512_castsi512_si128(quad));
            _mm_store_si128(b.cast(), _mm512_extracti32x4_epi32::<1>(quad));
            _mm_store_si128(c.cast(), _mm512_extracti32x4_epi32::<2>(quad));
            _mm_store_si128(d.cast(), _mm512_extracti32x4_epi32::<3>(quad));
        }
    }

    #[inline(always)]
    fn splat(self, block: Block) -> Self::Quad {
        have! { _mm512_broadcast_i32x4(bytemuck::cast(block)) }
    }

    #[inline(always)]
    fn count(self, first: u64, stride: u64) -> Self::Quad {
        let [s1, s2, s3] = [1, 2, 3].map(|lane| stride.wrapping_mul(lane) as i64);
        have! {
            let steps = _mm512_set_epi64(0, s3, 0, s2, 0, s1, 0, 0);
            _mm512_add_epi64(_mm512_maskz_set1_epi64(0x55, first as i64), steps)
        }
    }

    #[inline(always)]
    fn xor(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        have! { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    fn xor3(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad {
        have! { _mm512_ternarylogic_epi64::<0x96>(a, b, c) }
    }

    #[inline(always)]
    fn and(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        have! { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    fn sigma(self, a: Self::Quad) -> Self::Quad {
        have! {
            // swapped ^ (a & high)
            let high = _mm512_set4_epi32(-1, -1, 0, 0);
            _mm512_ternarylogic_epi64::<0x78>(_mm512_shuffle_epi32::<0x4e>(a), a, high)
        }
    }

    #[inline(always)]
    fn lows(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        have! { _mm512_unpacklo_epi64(low, high) }
    }

    #[inline(always)]
    fn highs(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        have! { _mm512_unpackhi_epi64(low, high) }
    }

    #[inline(always)]
    fn join_halves(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        have! { _mm512_mask_blend_epi64(0xaa, low, high) }
    }

    #[inline(always)]
    fn store_three_halves(self, first: Self::Quad, last: Self::Quad) -> [[u64; 3]; QUAD_LANES] {
        let mut halves = [[0; 3]; QUAD_LANES];
        let (begin, end) = halves.as_flattened_mut().split_at_mut(8);
        // Bit 3 of a place is set for those of `last`.
        have! {
            let places = [_mm512_set_epi64(5, 4, 11, 3, 2, 9, 1, 0), _mm512_set_epi64(15, 7, 6, 13, 15, 7, 6, 13)];
            let [to_begin, to_end] = each(places,
                #[inline(always)]
                |places| _mm512_permutex2var_epi64(first, places, last),
            );
            _mm512_storeu_si512(begin.as_mut_ptr().cast(), to_begin);
            _mm256_storeu_si256(end.as_mut_ptr().cast(), _mm512_castsi512_si256(to_end));
        }
        halves
    }

    #[inline(always)]
    fn load_three_halves(self, halves: &[[u64; 3]; QUAD_LANES]) -> [Self::Quad; 2] {
        let (begin, end) = halves.as_flattened().split_at(8);
        have! {
            let begin = _mm512_loadu_si512(begin.as_ptr().cast());
            let end = _mm512_castsi256_si512(_mm256_loadu_si256(end.as_ptr().cast()));
            let places = [_mm512_set_epi64(9, 10, 6, 7, 3, 4, 0, 1), _mm512_set_epi64(11, 11, 8, 8, 5, 5, 2, 2)];
            each(places,
                #[inline(always)]
                |places| _mm512_permutex2var_epi64(begin, places, end),
            )
        }
    }

    #[inline(always)]
    fn double(self, a: Self::Quad) -> Self::Quad {
        have! {
            // Dword 0 gets the sign of dword 3, and dword 2 the sign of dword 1: the bits that the shift pushes out.
            let out = _mm512_shuffle_epi32::<0x13>(_mm512_srai_epi32::<31>(a));
            let carry = _mm512_and_si512(out, _mm512_set4_epi32(0, 1, 0, 0x87));
            _mm512_xor_si512(_mm512_slli_epi64::<1>(a), carry)
        }
    }

    #[inline(always)]
    fn products(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 3] {
        have! {
            let crossed = [_mm512_clmulepi64_epi128::<0x01>(a, b), _mm512_clmulepi64_epi128::<0x10>(a, b)];
            [
                _mm512_clmulepi64_epi128::<0x00>(a, b),
                _mm512_xor_si512(crossed[0], crossed[1]),
                _mm512_clmulepi64_epi128::<0x11>(a, b),
            ]
        }
    }

    #[inline(always)]
    fn lsb(self, a: Self::Quad) -> Self::Mask {
        have! { _mm512_test_epi64_mask(_mm512_unpacklo_epi64(a, a), _mm512_set1_epi64(1)) }
    }

    #[inline(always)]
    fn half_bits(self, a: Self::Quad) -> u8 {
        have! { _mm512_test_epi64_mask(a, _mm512_set1_epi64(1)) }
    }

    #[inline(always)]
    fn bit<const BIT: u32>(self, words: &[u64; QUAD_LANES]) -> Self::Mask {
        have! {
            let words = _mm512_castsi256_si512(_mm256_loadu_si256(words.as_ptr().cast()));
            let twice = _mm512_permutexvar_epi64(_mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0), words);
            _mm512_test_epi64_mask(twice, _mm512_set1_epi64(1 << BIT))
        }
    }

    #[inline(always)]
    fn mask(self, bit: bool) -> Self::Mask {
        0u8.wrapping_sub(u8::from(bit))
    }

    #[inline(always)]
    fn mask_and(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        a & b
    }

    #[inline(always)]
    fn mask_xor(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
        a ^ b
    }

    #[inline(always)]
    fn xor_if(self, mask: Self::Mask, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        have! { _mm512_mask_xor_epi64(a, mask, a, b) }
    }

    #[inline(always)]
    fn reverse(self, a: Self::Quad) -> Self::Quad {
        have! { _mm512_shuffle_i64x2::<0b00_01_10_11>(a, a) }
    }

    #[inline(always)]
    fn interleave(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 2] {
        have! {
            let first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
            let second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
            [_mm512_permutex2var_epi64(a, first, b), _mm512_permutex2var_epi64(a, second, b)]
        }
    }

    #[inline(always)]
    fn deinterleave(self, [p, q]: [Self::Quad; 2]) -> [Self::Quad; 2] {
        have! {
            let even = _mm512_set_epi64(13, 12, 9, 8, 5, 4, 1, 0);
            let odd = _mm512_set_epi64(15, 14, 11, 10, 7, 6, 3, 2);
            [_mm512_permutex2var_epi64(p, even, q), _mm512_permutex2var_epi64(p, odd, q)]
        }
    }

    #[inline(always)]
    fn round_keys(self, keys: Self::Quad) -> [Self::Quad; 11] {
        let mut round_keys = [keys; 11];
        for (round, constant) in super::ROUND_CONSTANTS.into_iter().enumerate() {
            round_keys[round + 1] = next_round_key(round_keys[round], constant);
        }
        round_keys
    }

    #[inline(always)]
    fn key_from(self, round_keys: &[Block; 11]) -> Self::Key {
        // A loop, because `map` on a long array is not inlined.
        let mut key = [self.splat(round_keys[0]); 11];
        for (quad, round_key) in key.iter_mut().zip(round_keys) {
            *quad = self.splat(*round_key);
        }
        key
    }

    #[inline(always)]
    fn key(self, key: Block) -> Self::Key {
        // Every lane has the round keys already.
        self.round_keys(self.splat(key))
    }

    #[inline(always)]
    fn encrypt<const N: usize, const P: usize>(
        self,
        key: &Self::Key,
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        have! {
            for quad in x.as_flattened_mut().iter_mut() {
                *quad = _mm512_xor_si512(*quad, key[0]);
            }
            for round_key in &key[1..10] {
                for quad in x.as_flattened_mut().iter_mut() {
                    *quad = _mm512_aesenc_epi128(*quad, *round_key);
                }
            }
            for quad in x.as_flattened_mut().iter_mut() {
                *quad = _mm512_aesenclast_epi128(*quad, key[10]);
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
        have! {
            for (key, x) in keys.iter().zip(&mut x) {
                for quad in x.iter_mut() {
                    *quad = _mm512_xor_si512(*quad, *key);
                }
            }
        }
        // Written out: the compiler would not unroll a loop, and would keep its constants in memory.
        let [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10] = super::ROUND_CONSTANTS;
        round_of_each::<N, P, false>(c1, &mut keys, &mut x);
        round_of_each::<N, P, false>(c2, &mut keys, &mut x);
        round_of_each::<N, P, false>(c3, &mut keys, &mut x);
        round_of_each::<N, P, false>(c4, &mut keys, &mut x);
        round_of_each::<N, P, false>(c5, &mut keys, &mut x);
        round_of_each::<N, P, false>(c6, &mut keys, &mut x);
        round_of_each::<N, P, false>(c7, &mut keys, &mut x);
        round_of_each::<N, P, false>(c8, &mut keys, &mut x);
        round_of_each::<N, P, false>(c9, &mut keys, &mut x);
        round_of_each::<N, P, true>(c10, &mut keys, &mut x);
        x
    }

    /// One instruction transposes eight squares of 8 x 8 bits; the rest moves bytes.
    #[inline(always)]
    fn transpose(self, square: &mut [Block; BLOCK_BITS]) {
        let vectors = square.as_chunks_mut::<QUAD_LANES>().0;
        // For columns from `64 half` on, eight squares for every eight rows.
        let mut squares = [[self.splat(Block::ZERO); BLOCK_BITS / 8]; 2];
        for (eight, rows) in vectors.as_chunks::<2>().0.iter().enumerate() {
            for half in 0..2 {
                let rows = move_bytes(self.load(&rows[0]), self.load(&rows[1]), &INTO_SQUARES[half]);
                // The bytes of a square form a matrix, last row first. Multiply each one-bit byte by it.
                squares[half][eight] =
                    have! { _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(ONE_BIT_EACH), rows) };
            }
        }
        for (squares, vectors) in squares.iter().zip(vectors.chunks_exact_mut(BLOCK_BITS / QUAD_LANES / 2)) {
            let [mut left, mut right] = [[self.splat(Block::ZERO); 8]; 2];
            left.copy_from_slice(&squares[..8]);
            right.copy_from_slice(&squares[8..]);
            exchange_words(&mut left);
            exchange_words(&mut right);
            for (column, rows) in vectors.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                for half in 0..2 {
                    rows[half] = self.store(move_bytes(left[column], right[column], &INTO_ROWS[half]));
                }
            }
        }
    }
}

/// Bytes of one bit each, the lowest first.
const ONE_BIT_EACH: i64 = i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]);
/// From the bytes of eight rows, selects the bytes of a half's squares, each last row first.
const INTO_SQUARES: [[u8; 64]; 2] = [places(112, 1, 8, -16), places(120, 1, 8, -16)];
/// From the bytes of sixteen squares, selects the bytes of one half of their eight rows.
const INTO_ROWS: [[u8; 64]; 2] = [places(0, 1, 16, 8), places(4, 1, 16, 8)];

/// Groups of `count` places, `step` apart; each group begins `next` after the previous one.
const fn places(first: i32, next: i32, count: i32, step: i32) -> [u8; 64] {
    let mut places = [0; 64];
    let mut at = 0;
    while at < 64 {
        places[at as usize] = (first + at / count * next + at % count * step) as u8;
        at += 1;
    }
    places
}

/// The bytes at these places of two vectors.
#[inline(always)]
fn move_bytes(a: __m512i, b: __m512i, places: &[u8; 64]) -> __m512i {
    have! { _mm512_permutex2var_epi8(a, _mm512_loadu_si512(places.as_ptr().cast()), b) }
}

/// Transposes 8 x 8 words, as [`exchange_squares`](crate::squares::exchange_squares) does with bits.
#[inline(always)]
fn exchange_words(x: &mut [__m512i; 8]) {
    have! {
        let [upper, lower] = [_mm512_set_epi64(11, 10, 9, 8, 3, 2, 1, 0), _mm512_set_epi64(15, 14, 13, 12, 7, 6, 5, 4)];
        for i in 0..4 {
            let (u, l) = (x[i], x[i + 4]);
            x[i] = _mm512_permutex2var_epi64(u, upper, l);
            x[i + 4] = _mm512_permutex2var_epi64(u, lower, l);
        }
        let [upper, lower] = [_mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0), _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2)];
        for i in [0, 1, 4, 5] {
            let (u, l) = (x[i], x[i + 2]);
            x[i] = _mm512_permutex2var_epi64(u, upper, l);
            x[i + 2] = _mm512_permutex2var_epi64(u, lower, l);
        }
        for i in [0, 2, 4, 6] {
            let (u, l) = (x[i], x[i + 1]);
            x[i] = _mm512_unpacklo_epi64(u, l);
            x[i + 1] = _mm512_unpackhi_epi64(u, l);
        }
    }
}

/// One round of AES for vectors under individual keys, preceded by the next round keys.
#[inline(always)]
fn round_of_each<const N: usize, const P: usize, const LAST: bool>(
    constant: i32,
    keys: &mut [__m512i; N],
    x: &mut [[__m512i; P]; N],
) {
    for (key, x) in keys.iter_mut().zip(x) {
        *key = next_round_key(*key, constant);
        for quad in x.iter_mut() {
            *quad = have! {
                match LAST {
                    true => _mm512_aesenclast_epi128(*quad, *key),
                    false => _mm512_aesenc_epi128(*quad, *key),
                }
            };
        }
    }
}
