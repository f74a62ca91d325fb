//! The field GF(2^128) = GF(2)\[x\] / (x^128 + x^7 + x^2 + x + 1).
//!
//! Bit `i` of a block as an integer is the coefficient of `x^i`: the natural order, not the reflected one of GCM.
//! Addition is XOR. All operations are in constant time.

use crate::{
    backend::Backend,
    block::Block,
    engine::{Engine, QUAD_LANES, each, joined, padded},
    kernel::Kernel,
};

pub use crate::product::{Product, double, product};

/// The element one.
pub const ONE: Block = Block::from_u128(1);

/// Multiplies two elements.
#[inline]
pub fn mul(a: Block, b: Block) -> Block {
    product(a, b).reduce()
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

/// The inner product of two vectors.
///
/// # Panics
/// If the lengths differ.
pub fn inner_product(a: &[Block], b: &[Block]) -> Block {
    inner_product_with_backend(Backend::detect(), a, b)
}

/// [`inner_product`] with a given backend.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn inner_product_with_backend(backend: Backend, a: &[Block], b: &[Block]) -> Block {
    assert_eq!(a.len(), b.len(), "vectors of the same length");
    backend.run(InnerProduct { a, b }).reduce()
}

/// Adds `factor * values[i]` to every `sums[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn add_products(sums: &mut [Product], factor: Block, values: &[Block]) {
    add_products_with_backend(Backend::detect(), sums, factor, values);
}

/// [`add_products`] with a given backend.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn add_products_with_backend(backend: Backend, sums: &mut [Product], factor: Block, values: &[Block]) {
    assert_eq!(sums.len(), values.len(), "vectors of the same length");
    backend.run(AddProducts { sums, factor, values });
}

/// `a^0, a^1, ..., a^(count - 1)`.
pub fn powers(a: Block, count: usize) -> Vec<Block> {
    std::iter::successors(Some(ONE), |&power| Some(mul(power, a))).take(count).collect()
}

struct InnerProduct<'a> {
    a: &'a [Block],
    b: &'a [Block],
}

impl Kernel for InnerProduct<'_> {
    type Output = Product;

    /// The parts of the products are joined once, at the end.
    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> Product {
        let ((quads_a, rest_a), (quads_b, rest_b)) =
            (self.a.as_chunks::<QUAD_LANES>(), self.b.as_chunks::<QUAD_LANES>());
        let mut sums = [e.splat(Block::ZERO); 3];
        let padded = (!rest_a.is_empty()).then(|| (padded(rest_a), padded(rest_b)));
        for (a, b) in quads_a.iter().zip(quads_b).chain(padded.as_ref().map(|(a, b)| (a, b))) {
            for (sum, part) in sums.iter_mut().zip(e.products(e.load(a), e.load(b))) {
                *sum = e.xor(*sum, part);
            }
        }
        let [low, high] = each(
            joined(e, sums),
            #[inline(always)]
            |quad| e.store(quad).into_iter().fold(0, |sum, block| sum ^ block.to_u128()),
        );
        Product { low, high }
    }
}

struct AddProducts<'a> {
    sums: &'a mut [Product],
    factor: Block,
    values: &'a [Block],
}

impl Kernel for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let factor = e.splat(self.factor);
        let (quads, rest) = self.values.as_chunks::<QUAD_LANES>();
        let (sums, rest_sums) = self.sums.as_chunks_mut::<QUAD_LANES>();
        for (sums, values) in sums.iter_mut().zip(quads) {
            let halves: &mut [[Block; QUAD_LANES]; 2] = bytemuck::cast_mut(sums);
            for (sum, product) in halves.iter_mut().zip(products(e, factor, values)) {
                *sum = e.store(e.xor(e.load(sum), product));
            }
        }
        if rest.is_empty() {
            return;
        }
        let [first, last] = products(e, factor, &padded(rest));
        let of_rest: [Product; QUAD_LANES] = bytemuck::cast([e.store(first), e.store(last)]);
        rest_sums.iter_mut().zip(of_rest).for_each(|(sum, product)| *sum = *sum ^ product);
    }
}

/// Four products as they are in memory.
#[inline(always)]
fn products<E: Engine>(e: E, factor: E::Quad, values: &[Block; QUAD_LANES]) -> [E::Quad; 2] {
    let [low, high] = joined(e, e.products(factor, e.load(values)));
    e.interleave(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::product::product_portable;

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
            let factor = Block::from_u128(factor);
            for backend in Backend::available() {
                prop_assert!(inner_product_with_backend(backend, &a, &b) == expected, "{}", backend);
                let mut sums: Vec<Product> = a.iter().map(|&a| product(a, ONE)).collect();
                add_products_with_backend(backend, &mut sums, factor, &b);
                for ((sum, &a), &b) in sums.into_iter().zip(&a).zip(&b) {
                    prop_assert!(sum.reduce() == a ^ reference(factor, b), "{}", backend);
                }
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
