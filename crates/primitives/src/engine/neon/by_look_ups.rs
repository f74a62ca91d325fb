//! AES by look-ups of bytes, and products without instructions for them: all that NEON has.

use std::arch::aarch64::*;

use super::{Arm, Cipher, Four, RoundKeys, halves, neon, xor};
use crate::{
    block::Block,
    engine::{QUAD_LANES, look_ups},
    product::product_portable,
};

/// The cipher of every processor with NEON.
#[derive(Clone, Copy)]
pub(crate) struct ByLookUps;

impl Arm<ByLookUps> {
    /// For every processor.
    pub(crate) const EVERYWHERE: Self = Arm(ByLookUps);
}

/// A permutation of bytes.
#[inline(always)]
fn permuted(a: uint8x16_t, places: [u8; 16]) -> uint8x16_t {
    neon! { vqtbl1q_u8(a, bytemuck::cast(places)) }
}

impl look_ups::Bytes for uint8x16_t {
    #[inline(always)]
    fn new(bytes: [u8; 16]) -> Self {
        bytemuck::cast(bytes)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        xor(self, other)
    }

    #[inline(always)]
    fn look_up(self, table: [u8; 16]) -> Self {
        neon! { vqtbl1q_u8(bytemuck::cast(table), self) }
    }

    #[inline(always)]
    fn halves(self) -> [Self; 2] {
        neon! { [vandq_u8(self, vdupq_n_u8(0x0f)), vshrq_n_u8::<4>(self)] }
    }

    #[inline(always)]
    fn shift_rows(self) -> Self {
        permuted(self, [0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11])
    }

    #[inline(always)]
    fn up(self) -> Self {
        permuted(self, [1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12])
    }

    #[inline(always)]
    fn down(self) -> Self {
        permuted(self, [3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14])
    }

    #[inline(always)]
    fn last_up(self) -> Self {
        permuted(self, [13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12])
    }

    #[inline(always)]
    fn right(self) -> Self {
        neon! { vextq_u8::<12>(vdupq_n_u8(0), self) }
    }

    #[inline(always)]
    fn right_by_two(self) -> Self {
        neon! { vextq_u8::<8>(vdupq_n_u8(0), self) }
    }
}

impl Cipher for ByLookUps {
    #[inline(always)]
    fn products(self, a: Four, b: Four) -> [Four; 3] {
        let [a, b]: [[Block; QUAD_LANES]; 2] = [bytemuck::cast(a), bytemuck::cast(b)];
        let products = [0, 1, 2, 3].map(|lane: usize| product_portable(a[lane], b[lane]).halves());
        let [low, high] = [0, 1].map(|half: usize| bytemuck::cast(products.map(|product| product[half])));
        [low, [halves(0, 0); QUAD_LANES], high]
    }

    #[inline(always)]
    fn round_keys(self, keys: Four) -> [Four; 11] {
        look_ups::round_keys(keys)
    }

    #[inline(always)]
    fn key(self, key: uint8x16_t) -> RoundKeys {
        look_ups::key(key)
    }

    #[inline(always)]
    fn encrypt(self, key: &RoundKeys, blocks: &mut [uint8x16_t]) {
        look_ups::encrypt(key, blocks.as_chunks_mut::<QUAD_LANES>().0);
    }

    #[inline(always)]
    fn encrypt_each<const N: usize, const P: usize>(self, keys: [Four; N], x: &mut [[Four; P]; N]) {
        look_ups::encrypt_each(keys, x);
    }
}
