//! The transposition of bits by NEON.

use std::arch::aarch64::*;

use super::neon;
use crate::block::BLOCK_BITS;
use crate::engine::numbered;

/// Transposes 128 x 128 bits: 16 x 16 bytes for each of the eight rows of a byte's bits, then 8 x 8 bits in each byte of eight rows.
pub(super) fn transpose(rows: &mut [uint8x16_t; BLOCK_BITS]) {
    for first in 0..8 {
        let mut x: [uint8x16_t; 16] = numbered(
            #[inline(always)]
            |i| rows[first + 8 * i],
        );
        transpose_bytes(&mut x);
        for (i, x) in x.into_iter().enumerate() {
            rows[first + 8 * i] = x;
        }
    }
    for group in rows.as_chunks_mut::<8>().0 {
        transpose_bits(group);
    }
}

/// Transposes 16 x 16 bytes (Eklundh): rounds exchange squares of 8, 4, 2 and 1 bytes.
#[inline(always)]
fn transpose_bytes(x: &mut [uint8x16_t; 16]) {
    exchange::<8>(x, |a, b| {
        neon! {
            let [a, b] = [vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)];
            [vreinterpretq_u8_u64(vtrn1q_u64(a, b)), vreinterpretq_u8_u64(vtrn2q_u64(a, b))]
        }
    });
    exchange::<4>(x, |a, b| {
        neon! {
            let [a, b] = [vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)];
            [vreinterpretq_u8_u32(vtrn1q_u32(a, b)), vreinterpretq_u8_u32(vtrn2q_u32(a, b))]
        }
    });
    exchange::<2>(x, |a, b| {
        neon! {
            let [a, b] = [vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)];
            [vreinterpretq_u8_u16(vtrn1q_u16(a, b)), vreinterpretq_u8_u16(vtrn2q_u16(a, b))]
        }
    });
    exchange::<1>(x, |a, b| neon! { [vtrn1q_u8(a, b), vtrn2q_u8(a, b)] });
}

/// Transposes 8 x 8 bits in each byte: rounds exchange squares of 4, 2 and 1 bits.
#[inline(always)]
fn transpose_bits(x: &mut [uint8x16_t; 8]) {
    // A shift that inserts keeps the other bits of its first operand.
    exchange::<4>(x, |a, b| neon! { [vsliq_n_u8::<4>(a, b), vsriq_n_u8::<4>(b, a)] });
    exchange::<2>(x, |a, b| {
        neon! {
            let low = vdupq_n_u8(0b0011_0011);
            [vbslq_u8(low, a, vshlq_n_u8::<2>(b)), vbslq_u8(low, vshrq_n_u8::<2>(a), b)]
        }
    });
    exchange::<1>(x, |a, b| {
        neon! {
            let low = vdupq_n_u8(0b0101_0101);
            [vbslq_u8(low, a, vshlq_n_u8::<1>(b)), vbslq_u8(low, vshrq_n_u8::<1>(a), b)]
        }
    });
}

/// A round: `exchanged` on every two rows that are `SIZE` apart.
#[inline(always)]
fn exchange<const SIZE: usize>(rows: &mut [uint8x16_t], exchanged: impl Fn(uint8x16_t, uint8x16_t) -> [uint8x16_t; 2]) {
    for group in rows.chunks_exact_mut(2 * SIZE) {
        let (upper, lower) = group.split_at_mut(SIZE);
        for (a, b) in upper.iter_mut().zip(lower) {
            [*a, *b] = exchanged(*a, *b);
        }
    }
}
