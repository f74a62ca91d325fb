//! The field GF(2^8) = GF(2)\[x\] / (x^8 + x^4 + x^3 + x + 1), eight elements to a word.
//!
//! Bit `i` of a byte is the coefficient of `x^i`. Addition is XOR. All operations are in constant time: shifts and
//! masks, which compilers vectorise, without look-ups of secrets in tables.

use crate::{bit::Bit, block::Block};

const LOW_BITS: u64 = 0x0101_0101_0101_0101;

/// Multiplies every byte of a word by `x`.
#[inline(always)]
const fn double(a: u64) -> u64 {
    let top = a >> 7 & LOW_BITS;
    ((a & !(LOW_BITS << 7)) << 1) ^ (top * 0x1b)
}

/// Multiplies two words, byte by byte.
#[inline(always)]
pub(crate) const fn mul_words(mut a: u64, b: u64) -> u64 {
    let (mut sum, mut bit) = (0, 0);
    while bit < 8 {
        sum ^= a & ((b >> bit & LOW_BITS) * 0xff);
        a = double(a);
        bit += 1;
    }
    sum
}

/// Multiplies two elements.
#[inline(always)]
pub const fn mul(a: u8, b: u8) -> u8 {
    mul_words(a as u64, b as u64) as u8
}

/// The inverse of an element; of zero, zero.
pub const fn invert(a: u8) -> u8 {
    // a^(2^8 - 2) = a^(2 + 4 + ... + 128).
    let (mut product, mut power, mut i) = (1, a, 0);
    while i < 7 {
        power = mul(power, power);
        product = mul(product, power);
        i += 1;
    }
    product
}

/// `a[i] = a[i] * factor + b[i]` for a public factor: one step of Horner's rule.
///
/// # Panics
/// If the lengths differ.
pub fn scale_add(a: &mut [u8], factor: u8, b: &[u8]) {
    assert_eq!(a.len(), b.len(), "vectors of the same length");
    let (words, rest) = a.as_chunks_mut::<8>();
    let (add, add_rest) = b.as_chunks::<8>();
    for (a, b) in words.iter_mut().zip(add) {
        *a = (scale_word(u64::from_le_bytes(*a), factor) ^ u64::from_le_bytes(*b)).to_le_bytes();
    }
    for (a, b) in rest.iter_mut().zip(add_rest) {
        *a = mul(*a, factor) ^ b;
    }
}

/// `sum[i] += a[i] * b[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn add_products(sum: &mut [u8], a: &[u8], b: &[u8]) {
    assert!(sum.len() == a.len() && a.len() == b.len(), "vectors of the same length");
    let ((sums, sum_rest), (a, a_rest), (b, b_rest)) =
        (sum.as_chunks_mut::<8>(), a.as_chunks::<8>(), b.as_chunks::<8>());
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        let product = mul_words(u64::from_le_bytes(*a), u64::from_le_bytes(*b));
        *sum = (u64::from_le_bytes(*sum) ^ product).to_le_bytes();
    }
    for ((sum, a), b) in sum_rest.iter_mut().zip(a_rest).zip(b_rest) {
        *sum ^= mul(*a, *b);
    }
}

/// A word's bytes times a public factor; the cost depends on the factor's bits.
#[inline(always)]
const fn scale_word(mut a: u64, factor: u8) -> u64 {
    let (mut sum, mut left) = (0, factor);
    while left != 0 {
        if left & 1 == 1 {
            sum ^= a;
        }
        a = double(a);
        left >>= 1;
    }
    sum
}

/// Sixteen elements, prepared for multiplication by many.
///
/// *Secret*: usually; wiped on drop.
#[derive(Clone, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
pub struct Multiples([Block; 8]);

impl Multiples {
    /// The multiples of the bytes of a block.
    pub fn new(block: Block) -> Self {
        let mut powers = [block; 8];
        for i in 1..8 {
            powers[i] = Block::from_halves(double(powers[i - 1].halves()[0]), double(powers[i - 1].halves()[1]));
        }
        Multiples(powers)
    }

    /// The sixteen products with an element.
    #[inline(always)]
    pub fn times(&self, factor: u8) -> Block {
        let mut sum = Block::ZERO;
        for (bit, power) in self.0.iter().enumerate() {
            sum ^= *power & Block::mask(Bit::lowest_of(u64::from(factor >> bit)));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Schoolbook multiplication, then division by the polynomial.
    fn reference(a: u8, b: u8) -> u8 {
        let product = (0..8).filter(|i| b >> i & 1 == 1).fold(0u16, |sum, i| sum ^ u16::from(a) << i);
        (8..15).rev().fold(product, |rest, i| if rest >> i & 1 == 1 { rest ^ 0x11b << (i - 8) } else { rest }) as u8
    }

    #[test]
    fn all_products_and_inverses() {
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(mul(a, b), reference(a, b), "{a} * {b}");
            }
            assert_eq!(mul(a, invert(a)), u8::from(a != 0));
        }
        // FIPS 197, section 4.2.
        assert_eq!(mul(0x57, 0x83), 0xc1);
    }

    proptest! {
        #[test]
        fn vectors_are_their_elements(
            triples in proptest::collection::vec(any::<[u8; 3]>(), 0..40),
            factor: u8,
            block: u128,
        ) {
            let [x, y, z]: [Vec<u8>; 3] = std::array::from_fn(|k| triples.iter().map(|t| t[k]).collect());
            let mut scaled = x.clone();
            scale_add(&mut scaled, factor, &y);
            let mut sums = x.clone();
            add_products(&mut sums, &y, &z);
            for i in 0..x.len() {
                prop_assert_eq!(scaled[i], reference(x[i], factor) ^ y[i]);
                prop_assert_eq!(sums[i], x[i] ^ reference(y[i], z[i]));
            }
            let bytes = block.to_le_bytes();
            let product = Multiples::new(Block::from_u128(block)).times(factor).to_bytes();
            prop_assert_eq!(product, bytes.map(|byte| reference(byte, factor)));
        }
    }

    #[test]
    #[should_panic(expected = "vectors of the same length")]
    fn vectors_of_other_lengths_are_refused() {
        scale_add(&mut [1], 2, &[]);
    }
}
