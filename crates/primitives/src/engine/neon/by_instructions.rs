//! AES and carry-less products by instructions of their own.
//!
//! AESE adds the round key first, then substitutes bytes and shifts rows; AESMC mixes columns. So the first round key needs no XOR, and the last does.
//! Processors run the two as one if they follow one another.

use std::arch::aarch64::*;

use super::{Arm, Cipher, Four, RoundKeys, each, swap, words, xor, zip};
use crate::{
    engine::{QUAD_LANES, ROUND_CONSTANTS},
    kernel::Kernel,
};

/// A proof that the processor has the instructions.
#[derive(Clone, Copy)]
pub(crate) struct ByInstructions(());

/// Evaluates intrinsics that need the instructions.
macro_rules! have {
    ($($body:tt)*) => {{
        // SAFETY: `ByInstructions` exists only after `detect` has found them, and the methods of that value alone reach this.
        unsafe { $($body)* }
    }};
}

impl Arm<ByInstructions> {
    pub(crate) fn detect() -> Option<Self> {
        // The products are part of this feature.
        std::arch::is_aarch64_feature_detected!("aes").then_some(Arm(ByInstructions(())))
    }

    /// Runs a kernel compiled for these instructions.
    ///
    /// # Safety
    /// The processor has the feature that [`Arm::detect`] checks.
    #[target_feature(enable = "neon,aes")]
    pub(crate) unsafe fn run<K: Kernel>(kernel: K) -> K::Output {
        kernel.run(Arm(ByInstructions(())))
    }
}

/// A round, except the last one, up to the next key.
#[inline]
#[target_feature(enable = "neon,aes")]
fn round(state: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    vaesmcq_u8(vaeseq_u8(state, key))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn last_round(state: uint8x16_t, [key, last]: [uint8x16_t; 2]) -> uint8x16_t {
    veorq_u8(vaeseq_u8(state, key), last)
}

/// The round key after `key`. AESE on four equal columns is SubBytes alone, since ShiftRows then has no effect.
#[inline]
#[target_feature(enable = "neon,aes")]
fn next_round_key(key: uint8x16_t, round_constant: i32) -> uint8x16_t {
    let zero = vdupq_n_u8(0);
    // The last column, rotated, in place of all.
    let rotated = vqtbl1q_u8(key, vreinterpretq_u8_u32(vdupq_n_u32(0x0c0f_0e0d)));
    let last = veorq_u8(vaeseq_u8(rotated, zero), vreinterpretq_u8_s32(vdupq_n_s32(round_constant)));
    // Moved by one column, then by two.
    let key = veorq_u8(key, vextq_u8::<12>(zero, key));
    let key = veorq_u8(key, vextq_u8::<8>(zero, key));
    veorq_u8(key, last)
}

/// The carry-less product of the low halves.
#[inline]
#[target_feature(enable = "neon,aes")]
fn low_product(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_p64(vgetq_lane_u64::<0>(words(a)), vgetq_lane_u64::<0>(words(b))))
}

/// The carry-less product of the high halves.
#[inline]
#[target_feature(enable = "neon,aes")]
fn high_product(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vreinterpretq_u8_p128(vmull_high_p64(vreinterpretq_p64_u8(a), vreinterpretq_p64_u8(b)))
}

impl Cipher for ByInstructions {
    #[inline(always)]
    fn products(self, a: Four, b: Four) -> [Four; 3] {
        let low = |a, b| have! { low_product(a, b) };
        let high = |a, b| have! { high_product(a, b) };
        let crossed = each(b, swap);
        let middle = zip(zip(a, crossed, low), zip(a, crossed, high), xor);
        [zip(a, b, low), middle, zip(a, b, high)]
    }

    #[inline(always)]
    fn round_keys(self, keys: Four) -> [Four; 11] {
        let mut round_keys = [keys; 11];
        for (round, constant) in ROUND_CONSTANTS.into_iter().enumerate() {
            round_keys[round + 1] = each(
                round_keys[round],
                #[inline(always)]
                |key| have! { next_round_key(key, constant) },
            );
        }
        round_keys
    }

    #[inline(always)]
    fn key(self, key: uint8x16_t) -> RoundKeys {
        let mut round_keys = [key; 11];
        for (round, constant) in ROUND_CONSTANTS.into_iter().enumerate() {
            round_keys[round + 1] = have! { next_round_key(round_keys[round], constant) };
        }
        round_keys
    }

    #[inline(always)]
    fn encrypt(self, key: &RoundKeys, blocks: &mut [uint8x16_t]) {
        for round_key in &key[..9] {
            for b in blocks.iter_mut() {
                *b = have! { round(*b, *round_key) };
            }
        }
        for b in blocks.iter_mut() {
            *b = have! { last_round(*b, [key[9], key[10]]) };
        }
    }

    #[inline(always)]
    fn encrypt_each<const N: usize, const P: usize>(self, mut keys: [Four; N], x: &mut [[Four; P]; N]) {
        for (number, constant) in ROUND_CONSTANTS.into_iter().enumerate() {
            for (key, x) in keys.iter_mut().zip(x.iter_mut()) {
                for lane in 0..QUAD_LANES {
                    let next = have! { next_round_key(key[lane], constant) };
                    for quad in x.iter_mut() {
                        quad[lane] = match number {
                            9 => have! { last_round(quad[lane], [key[lane], next]) },
                            _ => have! { round(quad[lane], key[lane]) },
                        };
                    }
                    key[lane] = next;
                }
            }
        }
    }
}
