//! Products in GF(2^128), and before their reduction.

use bytemuck::{Pod, Zeroable};

use crate::block::Block;

/// A product of two elements before reduction: a polynomial of degree below 255. A sum of products (`^`)
/// needs only one reduction.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Product {
    pub(crate) low: u128,
    pub(crate) high: u128,
}

impl std::ops::BitXor for Product {
    type Output = Product;

    #[inline]
    fn bitxor(self, other: Product) -> Product {
        Product { low: self.low ^ other.low, high: self.high ^ other.high }
    }
}

impl Product {
    /// The coefficients below `x^128`, and the others.
    #[inline(always)]
    pub(crate) fn halves(self) -> [Block; 2] {
        [self.low, self.high].map(Block::from_u128)
    }

    /// Reduces the product to an element.
    #[inline]
    pub fn reduce(self) -> Block {
        // x^128 = x^7 + x^2 + x + 1; bits that overflow at the top are folded once more in the same way.
        let fold = |v: u128| v ^ v << 1 ^ v << 2 ^ v << 7;
        let out = self.high >> 127 ^ self.high >> 126 ^ self.high >> 121;
        Block::from_u128(self.low ^ fold(self.high) ^ fold(out))
    }
}

/// Multiplies an element by `x`.
#[inline(always)]
pub const fn double(a: Block) -> Block {
    let a = a.to_u128();
    Block::from_u128(a << 1 ^ (a >> 127).wrapping_neg() & 0x87)
}

/// Multiplies two elements without reduction, for sums of products.
#[inline]
pub fn product(a: Block, b: Block) -> Product {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the feature was found.
        return unsafe { product_pclmul(a, b) };
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    if std::arch::is_aarch64_feature_detected!("aes") {
        // SAFETY: the feature was found.
        return unsafe { product_pmull(a, b) };
    }
    product_portable(a, b)
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
#[target_feature(enable = "neon,aes")]
#[inline]
fn product_pmull(a: Block, b: Block) -> Product {
    use std::arch::aarch64::vmull_p64;
    let ([a0, a1], [b0, b1]) = (a.halves(), b.halves());
    let (low, high) = (vmull_p64(a0, b0), vmull_p64(a1, b1));
    let middle = vmull_p64(a0, b1) ^ vmull_p64(a1, b0);
    Product { low: low ^ middle << 64, high: high ^ middle >> 64 }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq")]
#[inline]
fn product_pclmul(a: Block, b: Block) -> Product {
    use std::arch::x86_64::*;
    let (a, b): (__m128i, __m128i) = (bytemuck::cast(a), bytemuck::cast(b));
    let low = _mm_clmulepi64_si128::<0x00>(a, b);
    let high = _mm_clmulepi64_si128::<0x11>(a, b);
    let middle = _mm_xor_si128(_mm_clmulepi64_si128::<0x01>(a, b), _mm_clmulepi64_si128::<0x10>(a, b));
    let low = _mm_xor_si128(low, _mm_slli_si128::<8>(middle));
    let high = _mm_xor_si128(high, _mm_srli_si128::<8>(middle));
    let integer = |v: __m128i| bytemuck::cast::<_, Block>(v).to_u128();
    Product { low: integer(low), high: integer(high) }
}

pub(crate) fn product_portable(a: Block, b: Block) -> Product {
    let ([a0, a1], [b0, b1]) = (a.halves(), b.halves());
    let (low, high) = (carryless(a0, b0), carryless(a1, b1));
    let middle = carryless(a0 ^ a1, b0 ^ b1) ^ low ^ high;
    Product { low: low ^ middle << 64, high: high ^ middle >> 64 }
}

/// The carry-less product of two words, computed by integer products of every fourth bit: the carries of at most 16 terms fall
/// into the three bits between, and a mask removes them.
///
/// *Source*: Pornin, BearSSL, "constant-time GHASH" (there with 32-bit words).
fn carryless(a: u64, b: u64) -> u128 {
    const EVERY_FOURTH: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;
    let part = |v: u64, i: usize| u128::from(v) & EVERY_FOURTH << i;
    (0..4).fold(0, |sum, i| {
        let same = (0..4).fold(0, |sum, j| sum ^ multiply_sparse(part(a, j), part(b, (4 + i - j) % 4)));
        sum | same & EVERY_FOURTH << i
    })
}

/// A product whose lowest term of sixteen cannot carry into bit 4 of the next: the top term is split off, since sixteen
/// ones at one place would carry.
fn multiply_sparse(a: u128, b: u128) -> u128 {
    let top = a & 0xf << 60;
    (a ^ top).wrapping_mul(b) ^ top.wrapping_mul(b)
}
