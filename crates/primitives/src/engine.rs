//! Engines: vectors of four blocks, and AES on them, with one interface for every processor.
//!
//! An engine value proves that the processor has the engine's instructions, so its methods are safe to call.
//! Everything is `#[inline(always)]`: code that is generic over the engine is compiled once per engine, inside a
//! function that has the engine's target features (see [`crate::Kernel`]).

#[cfg(target_arch = "x86_64")]
mod aesni;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(any(
    test,
    all(target_arch = "aarch64", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod look_ups;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
#[cfg(any(
    test,
    all(target_arch = "aarch64", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod nibbles;
mod portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod vaes;
#[cfg(target_arch = "x86_64")]
mod vaes256;

#[cfg(target_arch = "x86_64")]
pub(crate) use aesni::AesNi;
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
pub(crate) use neon::{Neon, Nibbles};
pub(crate) use portable::Portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::Simd128;
#[cfg(target_arch = "x86_64")]
pub(crate) use vaes::Vaes;
#[cfg(target_arch = "x86_64")]
pub(crate) use vaes256::Vaes256;

use crate::{
    block::{BLOCK_BITS, Block},
    product::product_portable,
    squares::exchange_squares,
};

/// A function's values for all items, in order. Unlike `map` of arrays it is always inlined: where that stays a call, its intrinsics are calls, too.
#[inline(always)]
pub fn each<T: Copy, U: Copy, const N: usize>(items: [T; N], mut f: impl FnMut(T) -> U) -> [U; N] {
    numbered(
        #[inline(always)]
        |at| f(items[at]),
    )
}

/// A function's values for `0..N`, in order; to `std::array::from_fn` as [`each`] to `map`. `N` is at least 1.
#[inline(always)]
pub fn numbered<U: Copy, const N: usize>(mut f: impl FnMut(usize) -> U) -> [U; N] {
    let mut values = [f(0); N];
    let mut at = 1;
    while at < N {
        values[at] = f(at);
        at += 1;
    }
    values
}

/// The number of blocks in an [`Engine::Quad`].
pub const QUAD_LANES: usize = 4;

/// The round constants of the AES-128 key schedule (FIPS 197, section 5.2).
#[cfg(any(
    test,
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
const ROUND_CONSTANTS: [i32; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// Vectors of four blocks, and their operations for hashes and gates.
pub trait Engine: Copy {
    /// Four blocks, one per lane.
    type Quad: Copy;
    /// One bit per lane.
    type Mask: Copy;
    /// An expanded AES-128 key.
    type Key: Clone;
    /// Tells whether a key and sixteen vectors stay in registers together.
    const IS_ROOMY: bool = false;

    /// The four blocks as a vector.
    fn load(self, blocks: &[Block; QUAD_LANES]) -> Self::Quad;
    /// The vector as four blocks.
    fn store(self, quad: Self::Quad) -> [Block; QUAD_LANES];
    /// Loads a vector from four addresses.
    ///
    /// # Safety
    /// Every pointer is valid for reads and aligned.
    #[inline(always)]
    unsafe fn gather(self, from: [*const Block; QUAD_LANES]) -> Self::Quad {
        // SAFETY: the caller promises it.
        self.load(&each(
            from,
            #[inline(always)]
            |block| unsafe { *block },
        ))
    }
    /// Loads a vector from four places.
    #[inline(always)]
    fn load_each(self, from: [&Block; QUAD_LANES]) -> Self::Quad {
        // SAFETY: references are valid for reads and aligned.
        unsafe { self.gather(from.map(std::ptr::from_ref)) }
    }
    /// Stores each block of the vector at its address.
    ///
    /// # Safety
    /// Every pointer is valid for writes and aligned.
    #[inline(always)]
    unsafe fn scatter(self, quad: Self::Quad, to: [*mut Block; QUAD_LANES]) {
        for (block, to) in self.store(quad).into_iter().zip(to) {
            // SAFETY: the caller promises it.
            unsafe { *to = block }
        }
    }
    /// The same block in every lane.
    fn splat(self, block: Block) -> Self::Quad;
    /// `first + lane * stride` in the low half of each lane, zero in the high half; sums wrap.
    fn count(self, first: u64, stride: u64) -> Self::Quad;
    /// Lane by lane `a ^ b`.
    fn xor(self, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    /// Lane by lane `a ^ b ^ c`.
    fn xor3(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad;
    /// Lane by lane `a & b`.
    fn and(self, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    /// Lane by lane the linear orthomorphism `(high, low) -> (high ^ low, high)`.
    fn sigma(self, a: Self::Quad) -> Self::Quad;
    /// Lane by lane the low half of `low` as the low half, and the low half of `high` as the high half.
    fn lows(self, low: Self::Quad, high: Self::Quad) -> Self::Quad;
    /// Lane by lane the high half of `low` as the low half, and the high half of `high` as the high half.
    fn highs(self, low: Self::Quad, high: Self::Quad) -> Self::Quad;
    /// Lane by lane the low half of `low` and the high half of `high`.
    fn join_halves(self, low: Self::Quad, high: Self::Quad) -> Self::Quad;
    /// Of each lane the halves of `first`, low and high, and the high half of `last`.
    #[inline(always)]
    fn store_three_halves(self, first: Self::Quad, last: Self::Quad) -> [[u64; 3]; QUAD_LANES] {
        let (first, last) = (self.store(first), self.store(last));
        numbered(
            #[inline(always)]
            |lane| {
                let ([low, high], [_, third]) = (first[lane].halves(), last[lane].halves());
                [low, high, third]
            },
        )
    }
    /// Undoes [`Engine::store_three_halves`] with the halves of the first vector exchanged; in the last, both halves are the third.
    #[inline(always)]
    fn load_three_halves(self, halves: &[[u64; 3]; QUAD_LANES]) -> [Self::Quad; 2] {
        [
            self.load(&each(
                *halves,
                #[inline(always)]
                |[low, high, _]| Block::from_halves(high, low),
            )),
            self.load(&each(
                *halves,
                #[inline(always)]
                |[_, _, third]| Block::from_halves(third, third),
            )),
        ]
    }
    /// Lane by lane multiplication by `x` in GF(2^128), see [`crate::gf128`].
    fn double(self, a: Self::Quad) -> Self::Quad;
    /// Lane by lane the carry-less product of `a` and `b`, as the sum of three parts: one from bit 0 on, one from bit 64 on, and one from
    /// bit 128 on. Sums of products are sums of their parts.
    #[inline(always)]
    fn products(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 3] {
        let (a, b) = (self.store(a), self.store(b));
        let products = [0, 1, 2, 3].map(|lane: usize| product_portable(a[lane], b[lane]).halves());
        let [low, high] = [0, 1].map(|half: usize| self.load(&products.map(|product| product[half])));
        [low, self.splat(Block::ZERO), high]
    }
    /// Bit 0 of each lane.
    fn lsb(self, a: Self::Quad) -> Self::Mask;
    /// Bit 0 of the halves of each lane: bit `2 i` is that of the low half of lane `i`, and bit `2 i + 1` that of the high half.
    fn half_bits(self, a: Self::Quad) -> u8;
    /// Lane `i` of the mask is bit `BIT` of `words[i]`.
    fn bit<const BIT: u32>(self, words: &[u64; QUAD_LANES]) -> Self::Mask;
    /// The same bit in every lane.
    fn mask(self, bit: bool) -> Self::Mask;
    /// Lane by lane `a & b` of bits.
    fn mask_and(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Lane by lane `a ^ b` of bits.
    fn mask_xor(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Lane by lane `a ^ b` where the mask is set, else `a`.
    fn xor_if(self, mask: Self::Mask, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    /// `(a0, b0, a1, b1)` and `(a2, b2, a3, b3)`, for `a = (a0, a1, a2, a3)` and `b = (b0, b1, b2, b3)`.
    fn interleave(self, a: Self::Quad, b: Self::Quad) -> [Self::Quad; 2];
    /// The lanes in the opposite order.
    fn reverse(self, a: Self::Quad) -> Self::Quad;
    /// Undoes [`Engine::interleave`].
    fn deinterleave(self, pair: [Self::Quad; 2]) -> [Self::Quad; 2];
    /// Expands four keys side by side: returns the round keys in order, the first of which are the keys themselves. An engine
    /// that cannot use round keys leaves the others zero.
    fn round_keys(self, keys: Self::Quad) -> [Self::Quad; 11];
    /// The key from round keys that this engine made.
    fn key_from(self, round_keys: &[Block; 11]) -> Self::Key;
    /// Expands a key.
    #[inline(always)]
    fn key(self, key: Block) -> Self::Key {
        let quads = self.round_keys(self.splat(key));
        self.key_from(&numbered(
            #[inline(always)]
            |round| self.store(quads[round])[0],
        ))
    }
    /// Encrypts all lanes of `N` times `P` vectors under one key, side by side.
    fn encrypt<const N: usize, const P: usize>(self, key: &Self::Key, x: [[Self::Quad; P]; N]) -> [[Self::Quad; P]; N];
    /// Encrypts `P` vectors under each of `N` vectors of keys, each lane under its own key.
    fn encrypt_each<const N: usize, const P: usize>(
        self,
        keys: [Self::Quad; N],
        x: [[Self::Quad; P]; N],
    ) -> [[Self::Quad; P]; N];
    /// Transposes 128 x 128 bits: bit `j` of block `i` becomes bit `i` of block `j`.
    #[inline(always)]
    fn transpose(self, square: &mut [Block; BLOCK_BITS]) {
        exchange_squares(square);
    }
}

/// The low and the high halves of the products with these parts, see [`Engine::products`].
#[inline(always)]
pub(crate) fn joined<E: Engine>(e: E, [low, middle, high]: [E::Quad; 3]) -> [E::Quad; 2] {
    let zero = e.splat(Block::ZERO);
    [e.xor(low, e.lows(zero, middle)), e.xor(high, e.highs(middle, zero))]
}

/// Up to four blocks, padded with zeros.
#[inline(always)]
pub(crate) fn padded(blocks: &[Block]) -> [Block; QUAD_LANES] {
    let mut padded = [Block::ZERO; QUAD_LANES];
    padded[..blocks.len()].copy_from_slice(blocks);
    padded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{backend::Backend, kernel::Kernel};

    /// Every operation of an engine on the same blocks, with results stored one after another.
    struct Everything {
        a: [Block; QUAD_LANES],
        b: [Block; QUAD_LANES],
        c: [Block; QUAD_LANES],
        first: u64,
        stride: u64,
        words: [u64; QUAD_LANES],
    }

    impl Kernel for Everything {
        type Output = Vec<[Block; QUAD_LANES]>;

        #[inline(always)]
        fn run<E: Engine>(self, e: E) -> Self::Output {
            let [a, b, c] = [self.a, self.b, self.c].map(|quad| e.load(&quad));
            let key = e.key(self.c[0]);
            let both = e.mask_and(e.lsb(a), e.bit::<3>(&self.words));
            let mut quads = vec![
                a,
                e.load_each([&self.c[1], &self.a[0], &self.b[3], &self.b[3]]),
                e.splat(self.a[2]),
                e.count(self.first, self.stride),
                e.xor(a, b),
                e.xor3(a, b, c),
                e.and(a, b),
                e.sigma(a),
                e.lows(a, b),
                e.highs(a, b),
                e.join_halves(a, b),
                e.double(a),
                e.xor_if(e.lsb(a), b, c),
                e.xor_if(e.bit::<3>(&self.words), b, c),
                e.xor_if(both, b, c),
                e.xor_if(e.mask_xor(both, e.lsb(b)), b, c),
                e.xor_if(e.mask(self.words[0] & 1 == 1), b, c),
            ];
            quads.push(e.reverse(a));
            quads.push(e.splat(Block::from_u128(e.half_bits(a).into())));
            quads.extend(e.interleave(a, b));
            quads.extend(e.deinterleave([a, b]));
            let three_halves = e.store_three_halves(a, b);
            quads.extend(e.load_three_halves(&three_halves));
            quads.push(e.load(&three_halves.map(|[low, _, third]| Block::from_halves(low, third))));
            quads.extend(joined(e, e.products(a, b)));
            quads.extend(e.encrypt(&key, [[a], [b], [c]]).as_flattened());
            quads.extend(e.encrypt_each([a, b], [[b, c], [c, a]]).as_flattened());
            quads.into_iter().map(|quad| e.store(quad)).collect()
        }
    }

    proptest! {
        #[test]
        fn every_backend_gives_the_same(quads: [[u128; QUAD_LANES]; 3], first: u64, stride: u64, words: [u64; QUAD_LANES]) {
            let [a, b, c] = quads.map(|quad| quad.map(Block::from_u128));
            let run = |backend: Backend| backend.run(Everything { a, b, c, first, stride, words });
            let expected = run(Backend::PORTABLE);
            for backend in Backend::available() {
                for (i, (got, expected)) in run(backend).iter().zip(&expected).enumerate() {
                    prop_assert!(got == expected, "result {} of {}", i, backend);
                }
            }
        }
    }

    #[test]
    fn encryption_is_aes_128() {
        // FIPS 197, appendix C.1.
        let key = Block::from_bytes(std::array::from_fn(|i| i as u8));
        let plain = Block::from_bytes(std::array::from_fn(|i| 0x11 * i as u8));
        let cipher = Block::from_u128(0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.swap_bytes());
        let quads = |backend: Backend| {
            backend.run(Everything { a: [key; 4], b: [plain; 4], c: [key; 4], first: 0, stride: 0, words: [0; 4] })
        };
        for backend in Backend::available() {
            let quads = quads(backend);
            // The last are encryptions of (key, plain, key) under the key, then of two pairs with a separate key in each lane.
            let encrypted = &quads[quads.len() - 7..];
            assert!(encrypted[1] == [cipher; 4], "{backend}");
            assert!(encrypted[3] == [cipher; 4], "{backend}");
        }
    }
}
