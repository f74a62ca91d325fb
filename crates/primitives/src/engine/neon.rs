//! The engines for Arm (64 bits): four blocks in four 128-bit registers. They differ in the instructions for AES and for products: those of the
//! processor, or look-ups of bytes where it has none, as in the Raspberry Pi 4.
//!
//! Every target for which this is compiled has NEON.

mod by_instructions;
mod by_look_ups;
mod transpose;

use std::arch::aarch64::*;

use self::{by_instructions::ByInstructions, by_look_ups::ByLookUps};
use super::{Engine, QUAD_LANES, each};
use crate::block::{BLOCK_BITS, Block};

/// An engine; a value proves that the processor has the instructions of `C`.
#[derive(Clone, Copy)]
pub(crate) struct Arm<C>(C);

/// The engine with instructions for AES.
pub(crate) type Neon = Arm<ByInstructions>;
/// The engine without.
pub(crate) type Nibbles = Arm<ByLookUps>;

/// Four blocks.
type Four = [uint8x16_t; QUAD_LANES];

/// An expanded key.
type RoundKeys = [uint8x16_t; 11];

/// The difference between the engines; see [`Engine`] for what each method does.
pub(crate) trait Cipher: Copy {
    fn products(self, a: Four, b: Four) -> [Four; 3];
    fn round_keys(self, keys: Four) -> [Four; 11];
    fn key(self, key: uint8x16_t) -> RoundKeys;
    fn encrypt(self, key: &RoundKeys, blocks: &mut [uint8x16_t]);
    fn encrypt_each<const N: usize, const P: usize>(self, keys: [Four; N], x: &mut [[Four; P]; N]);
}

/// Evaluates intrinsics of NEON.
macro_rules! neon {
    ($($body:tt)*) => {{
        // SAFETY: every target for which this module is compiled has NEON, and these need nothing else.
        unsafe { $($body)* }
    }};
}
use neon;

#[inline(always)]
fn from_block(block: Block) -> uint8x16_t {
    bytemuck::cast(block)
}

/// The block with these halves, the low one first.
#[inline(always)]
fn halves(low: u64, high: u64) -> uint8x16_t {
    from_block(Block::from_halves(low, high))
}

/// As vectors of two halves.
#[inline(always)]
fn words(a: uint8x16_t) -> uint64x2_t {
    bytemuck::cast(a)
}

#[inline(always)]
fn bytes(a: uint64x2_t) -> uint8x16_t {
    bytemuck::cast(a)
}

#[inline(always)]
fn xor(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    neon! { veorq_u8(a, b) }
}

/// The halves in the opposite order.
#[inline(always)]
fn swap(a: uint8x16_t) -> uint8x16_t {
    neon! { vextq_u8::<8>(a, a) }
}

#[inline(always)]
fn zip(a: Four, b: Four, f: impl Fn(uint8x16_t, uint8x16_t) -> uint8x16_t) -> Four {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}

impl<C: Cipher> Engine for Arm<C> {
    type Quad = Four;
    type Mask = Four;
    type Key = RoundKeys;

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
        let first = words(halves(first, 0));
        each(
            [0, 1, 2, 3],
            #[inline(always)]
            |i: u64| bytes(neon! { vaddq_u64(first, words(halves(stride.wrapping_mul(i), 0))) }),
        )
    }

    #[inline(always)]
    fn xor(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(a, b, xor)
    }

    #[inline(always)]
    fn xor3(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad {
        self.xor(self.xor(a, b), c)
    }

    #[inline(always)]
    fn and(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        zip(a, b, |a, b| neon! { vandq_u8(a, b) })
    }

    #[inline(always)]
    fn sigma(self, a: Self::Quad) -> Self::Quad {
        each(
            a,
            #[inline(always)]
            |a| xor(swap(a), neon! { vandq_u8(a, halves(0, u64::MAX)) }),
        )
    }

    #[inline(always)]
    fn lows(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| bytes(neon! { vzip1q_u64(words(low), words(high)) }))
    }

    #[inline(always)]
    fn highs(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| bytes(neon! { vzip2q_u64(words(low), words(high)) }))
    }

    #[inline(always)]
    fn join_halves(self, low: Self::Quad, high: Self::Quad) -> Self::Quad {
        zip(low, high, |low, high| bytes(neon! { vcopyq_laneq_u64::<1, 1>(words(low), words(high)) }))
    }

    #[inline(always)]
    fn double(self, a: Self::Quad) -> Self::Quad {
        each(
            a,
            #[inline(always)]
            |a| {
                // The bits that the shift pushes out, each in the half that receives it.
                let out = swap(neon! { vreinterpretq_u8_s64(vshrq_n_s64::<63>(vreinterpretq_s64_u8(a))) });
                let carry = neon! { vandq_u8(out, halves(0x87, 1)) };
                xor(bytes(neon! { vshlq_n_u64::<1>(words(a)) }), carry)
            },
        )
    }

    #[inline(always)]
    fn products(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 3] {
        self.0.products(a, b)
    }

    #[inline(always)]
    fn lsb(self, a: Self::Quad) -> Self::Mask {
        each(
            a,
            #[inline(always)]
            |a| {
                // Shifts, because the compiler makes more of a test of bits.
                let top = neon! { vshlq_n_u64::<63>(vdupq_laneq_u64::<0>(words(a))) };
                neon! { vreinterpretq_u8_s64(vshrq_n_s64::<63>(vreinterpretq_s64_u64(top))) }
            },
        )
    }

    #[inline(always)]
    fn half_bits(self, [a, b, c, d]: Self::Quad) -> u8 {
        neon! {
            // The lowest 32 bits of all halves, then the lowest 16.
            let [a, b, c, d] = each([a, b, c, d],
                #[inline(always)]
                |a| vreinterpretq_u32_u8(a),
            );
            let [low, high] = each([vuzp1q_u32(a, b), vuzp1q_u32(c, d)],
                #[inline(always)]
                |a| vreinterpretq_u16_u32(a),
            );
            let set = vtstq_u16(vuzp1q_u16(low, high), vdupq_n_u16(1));
            let places: uint16x8_t = bytemuck::cast([1_u16, 2, 4, 8, 16, 32, 64, 128]);
            vaddvq_u16(vandq_u16(set, places)) as u8
        }
    }

    #[inline(always)]
    fn bit<const BIT: u32>(self, words: &[u64; QUAD_LANES]) -> Self::Mask {
        each(
            *words,
            #[inline(always)]
            |word| bytes(neon! { vtstq_u64(vdupq_n_u64(word), vdupq_n_u64(1 << BIT)) }),
        )
    }

    #[inline(always)]
    fn mask(self, bit: bool) -> Self::Mask {
        [bytes(neon! { vdupq_n_u64(u64::from(bit).wrapping_neg()) }); QUAD_LANES]
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
        self.0.round_keys(keys)
    }

    #[inline(always)]
    fn key_from(self, round_keys: &[Block; 11]) -> Self::Key {
        bytemuck::cast(*round_keys)
    }

    #[inline(always)]
    fn key(self, key: Block) -> Self::Key {
        self.0.key(from_block(key))
    }

    #[inline(always)]
    fn encrypt<const N: usize, const P: usize>(
        self,
        key: &Self::Key,
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        self.0.encrypt(key, x.as_flattened_mut().as_flattened_mut());
        x
    }

    #[inline(always)]
    fn encrypt_each<const N: usize, const P: usize>(
        self,
        keys: [Self::Quad; N],
        mut x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N] {
        self.0.encrypt_each(keys, &mut x);
        x
    }

    #[inline(always)]
    fn transpose(self, square: &mut [Block; BLOCK_BITS]) {
        transpose::transpose(bytemuck::cast_mut(square));
    }
}
