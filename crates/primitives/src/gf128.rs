//! The field GF(2^128) = GF(2)\[x\] / (x^128 + x^7 + x^2 + x + 1).
//!
//! Bit `i` of a block as an integer is the coefficient of `x^i`: the natural order, not the reflected one of GCM.
//! Addition is XOR. All operations are in constant time.

use bytemuck::{Pod, Zeroable};

use crate::block::Block;

/// The element one.
pub const ONE: Block = Block::from_u128(1);

/// A product of two elements before reduction: a polynomial of degree below 255. A sum of products (`^`)
/// needs only one reduction.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Product {
    low: u128,
    high: u128,
}

impl std::ops::BitXor for Product {
    type Output = Product;

    #[inline]
    fn bitxor(self, other: Product) -> Product {
        Product { low: self.low ^ other.low, high: self.high ^ other.high }
    }
}

impl Product {
    /// Reduces the product to an element.
    #[inline]
    pub fn reduce(self) -> Block {
        // x^128 = x^7 + x^2 + x + 1; bits that overflow at the top are folded once more in the same way.
        let fold = |v: u128| v ^ v << 1 ^ v << 2 ^ v << 7;
        let out = self.high >> 127 ^ self.high >> 126 ^ self.high >> 121;
        Block::from_u128(self.low ^ fold(self.high) ^ fold(out))
    }
}

/// Multiplies two elements.
#[inline]
pub fn mul(a: Block, b: Block) -> Block {
    product(a, b).reduce()
}

/// Multiplies an element by `x`.
#[inline(always)]
pub const fn double(a: Block) -> Block {
    let a = a.to_u128();
    Block::from_u128(a << 1 ^ (a >> 127).wrapping_neg() & 0x87)
}

/// Multiplies an element by a public one of degree below 8, with one shift per bit of the latter.
///
/// *Source*: Ben-Efraim, Lindell and Omri 2016, section 3.4: evaluation points of small degree.
#[inline]
pub const fn mul_small(a: Block, b: u8) -> Block {
    let a = a.to_u128();
    let (mut low, mut out, mut bit) = (0u128, 0u128, 0);
    while b >> bit != 0 {
        if b >> bit & 1 == 1 {
            low ^= a << bit;
            out ^= a >> 1 >> (127 - bit);
        }
        bit += 1;
        if bit == 8 {
            break;
        }
    }
    // At most 7 bits overflow, so folding them causes no further overflow.
    Block::from_u128(low ^ out ^ out << 1 ^ out << 2 ^ out << 7)
}

/// The inverse of an element; of zero, zero.
pub fn invert(a: Block) -> Block {
    // a^(2^128 - 2) = a^(2 + 4 + ... + 2^127).
    let mut power = a;
    (1..128).fold(ONE, |product, _| {
        power = mul(power, power);
        mul(product, power)
    })
}

/// Multiplies two elements without reduction, for sums of products.
#[inline]
pub fn product(a: Block, b: Block) -> Product {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the feature was found.
        return unsafe { product_pclmul(a, b) };
    }
    product_portable(a, b)
}

/// The inner product of two vectors.
///
/// # Panics
/// If the lengths differ.
pub fn inner_product(a: &[Block], b: &[Block]) -> Block {
    assert_eq!(a.len(), b.len(), "vectors of the same length");
    let sum = |product: fn(Block, Block) -> Product| {
        a.iter().zip(b).fold(Product::default(), |sum, (&a, &b)| sum ^ product(a, b)).reduce()
    };
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("avx512f") {
        // SAFETY: the features were found; processors with the first have `pclmulqdq`.
        return unsafe { inner_product_vpclmul(a, b) };
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the feature was found.
        return unsafe { inner_product_pclmul(a, b) };
    }
    sum(product_portable)
}

/// Adds `factor * values[i]` to every `sums[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn add_products(sums: &mut [Product], factor: Block, values: &[Block]) {
    assert_eq!(sums.len(), values.len(), "vectors of the same length");
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("avx512bw") {
        // SAFETY: the features were found; processors with the first have `pclmulqdq`.
        return unsafe { add_products_vpclmul(sums, factor, values) };
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("pclmulqdq") {
        // SAFETY: the feature was found.
        return unsafe { add_products_pclmul(sums, factor, values) };
    }
    sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum = *sum ^ product_portable(factor, value));
}

/// `a^0, a^1, ..., a^(count - 1)`.
pub fn powers(a: Block, count: usize) -> Vec<Block> {
    std::iter::successors(Some(ONE), |&power| Some(mul(power, a))).take(count).collect()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq")]
fn inner_product_pclmul(a: &[Block], b: &[Block]) -> Block {
    sum_of_products_pclmul(a, b).reduce()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq")]
#[inline]
fn sum_of_products_pclmul(a: &[Block], b: &[Block]) -> Product {
    let mut sum = Product::default();
    for (&a, &b) in a.iter().zip(b) {
        sum = sum ^ product_pclmul(a, b);
    }
    sum
}

/// Four products at a time; their parts are combined once, at the end.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq,vpclmulqdq,avx512f")]
fn inner_product_vpclmul(a: &[Block], b: &[Block]) -> Block {
    use std::arch::x86_64::*;
    let ((quads_a, rest_a), (quads_b, rest_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let [mut low, mut middle, mut high] = [_mm512_setzero_si512(); 3];
    for (&a, &b) in quads_a.iter().zip(quads_b) {
        let [a, b]: [__m512i; 2] = [bytemuck::cast(a), bytemuck::cast(b)];
        low = _mm512_xor_si512(low, _mm512_clmulepi64_epi128::<0x00>(a, b));
        high = _mm512_xor_si512(high, _mm512_clmulepi64_epi128::<0x11>(a, b));
        let crossed = [_mm512_clmulepi64_epi128::<0x01>(a, b), _mm512_clmulepi64_epi128::<0x10>(a, b)];
        // The XOR of all three.
        middle = _mm512_ternarylogic_epi64::<0x96>(middle, crossed[0], crossed[1]);
    }
    let sum = |v: __m512i| bytemuck::cast::<_, [u128; 4]>(v).into_iter().fold(0, |sum, v| sum ^ v);
    let [low, middle, high] = [sum(low), sum(middle), sum(high)];
    let quads = Product { low: low ^ middle << 64, high: high ^ middle >> 64 };
    (quads ^ sum_of_products_pclmul(rest_a, rest_b)).reduce()
}

/// Four products at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq,vpclmulqdq,avx512f,avx512bw")]
fn add_products_vpclmul(sums: &mut [Product], factor: Block, values: &[Block]) {
    use std::arch::x86_64::*;
    let ((quads, rest), (quads_of_values, rest_of_values)) = (sums.as_chunks_mut::<4>(), values.as_chunks::<4>());
    let factors = _mm512_broadcast_i32x4(bytemuck::cast(factor));
    let first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    let second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    for (sums, &values) in quads.iter_mut().zip(quads_of_values) {
        let values: __m512i = bytemuck::cast(values);
        let low = _mm512_clmulepi64_epi128::<0x00>(factors, values);
        let high = _mm512_clmulepi64_epi128::<0x11>(factors, values);
        let [middle, other] =
            [_mm512_clmulepi64_epi128::<0x01>(factors, values), _mm512_clmulepi64_epi128::<0x10>(factors, values)];
        let middle = _mm512_xor_si512(middle, other);
        let low = _mm512_xor_si512(low, _mm512_bslli_epi128::<8>(middle));
        let high = _mm512_xor_si512(high, _mm512_bsrli_epi128::<8>(middle));
        let [a, b]: [__m512i; 2] = bytemuck::cast(*sums);
        *sums = bytemuck::cast([
            _mm512_xor_si512(a, _mm512_permutex2var_epi64(low, first, high)),
            _mm512_xor_si512(b, _mm512_permutex2var_epi64(low, second, high)),
        ]);
    }
    add_products_pclmul(rest, factor, rest_of_values);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq")]
fn add_products_pclmul(sums: &mut [Product], factor: Block, values: &[Block]) {
    for (sum, &value) in sums.iter_mut().zip(values) {
        *sum = *sum ^ product_pclmul(factor, value);
    }
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

fn product_portable(a: Block, b: Block) -> Product {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Schoolbook multiplication with reduction at every step.
    fn reference(a: Block, b: Block) -> Block {
        let mut shifted = a;
        (0..128).fold(Block::ZERO, |sum, i| {
            let term = Block::mask(b.to_u128() >> i & 1 == 1) & shifted;
            shifted = double(shifted);
            sum ^ term
        })
    }

    fn element() -> impl Strategy<Value = u128> {
        prop_oneof![any::<u128>(), Just(u128::MAX), Just(0), Just(1), Just(1 << 127)]
    }

    proptest! {
        #[test]
        fn products_equal_the_schoolbook(a in element(), b in element()) {
            let [a, b] = [a, b].map(Block::from_u128);
            let expected = reference(a, b);
            prop_assert!(mul(a, b) == expected);
            prop_assert!(product_portable(a, b).reduce() == expected);
        }

        #[test]
        fn products_with_small_elements_equal_the_schoolbook(a in element(), b: u8) {
            let a = Block::from_u128(a);
            prop_assert!(mul_small(a, b) == reference(a, Block::from_u128(b.into())));
        }

        #[test]
        fn it_is_a_field(a in element(), b in element(), c in element()) {
            let [a, b, c] = [a, b, c].map(Block::from_u128);
            prop_assert!(mul(a, b) == mul(b, a));
            prop_assert!(mul(a, mul(b, c)) == mul(mul(a, b), c));
            prop_assert!(mul(a, b ^ c) == mul(a, b) ^ mul(a, c));
            prop_assert!(mul(a, ONE) == a);
            prop_assert!(a == Block::ZERO || mul(a, invert(a)) == ONE);
            // Fermat: a^(2^128) = a.
            prop_assert!((0..128).fold(a, |power, _| mul(power, power)) == a);
        }

        #[test]
        fn inner_products_are_sums_of_products(
            pairs in proptest::collection::vec((element(), element()), 0..20),
            factor in element(),
        ) {
            let block = |(a, b)| (Block::from_u128(a), Block::from_u128(b));
            let (a, b): (Vec<Block>, Vec<Block>) = pairs.into_iter().map(block).unzip();
            let expected = a.iter().zip(&b).fold(Block::ZERO, |sum, (&a, &b)| sum ^ reference(a, b));
            prop_assert!(inner_product(&a, &b) == expected);
            let factor = Block::from_u128(factor);
            let mut sums: Vec<Product> = a.iter().map(|&a| product(a, ONE)).collect();
            add_products(&mut sums, factor, &b);
            for ((sum, &a), &b) in sums.into_iter().zip(&a).zip(&b) {
                prop_assert!(sum.reduce() == a ^ reference(factor, b));
            }
        }
    }

    #[test]
    fn known_answers() {
        // x^127 * x = x^128 = x^7 + x^2 + x + 1.
        assert!(mul(Block::from_u128(1 << 127), Block::from_u128(2)) == Block::from_u128(0x87));
        assert!(double(Block::from_u128(1 << 127)) == Block::from_u128(0x87));
        let powers = powers(Block::from_u128(2), 130);
        assert!(powers[0] == ONE && powers[127] == Block::from_u128(1 << 127));
        assert!(powers[128] == Block::from_u128(0x87) && powers[129] == Block::from_u128(0x10e));
    }

    #[test]
    #[should_panic(expected = "vectors of the same length")]
    fn inner_product_refuses_other_lengths() {
        inner_product(&[ONE], &[]);
    }
}
