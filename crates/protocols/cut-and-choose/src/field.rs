//! Fields of two to the power of some degree, on numbers and on wires of a circuit.

use garblet_synthesis::builder::{Bit, CircuitBuilder};

/// GF(2^degree) in the natural order: bit `i` is the coefficient of `x^i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    degree: usize,
    /// The powers of `x` in the irreducible polynomial, except the highest and the constant one.
    powers: [u32; 3],
}

/// Irreducible polynomials with five terms.
const FIELDS: [Field; 4] = [
    Field { degree: 8, powers: [4, 3, 1] },
    Field { degree: 48, powers: [5, 3, 2] },
    Field { degree: 96, powers: [10, 9, 6] },
    Field { degree: 128, powers: [7, 2, 1] },
];

impl Field {
    /// The smallest field here with 2^bits elements or more; the largest, 2^128, if there is none.
    pub(crate) fn of_at_least(bits: usize) -> Field {
        FIELDS.into_iter().find(|field| field.degree >= bits).unwrap_or(FIELDS[3])
    }

    /// The number of bits of an element.
    pub(crate) fn degree(&self) -> usize {
        self.degree
    }

    /// The product of two elements, in constant time.
    pub(crate) fn multiply(&self, a: u128, b: u128) -> u128 {
        let mut sum = 0;
        for i in (0..self.degree).rev() {
            sum = self.times_x(sum) ^ (b >> i & 1).wrapping_neg() & a;
        }
        sum
    }

    fn times_x(&self, a: u128) -> u128 {
        let carry = (a >> (self.degree - 1) & 1).wrapping_neg();
        let reduction = self.powers.iter().fold(1, |sum, &power| sum | 1 << power);
        let mask = u128::MAX >> (128 - self.degree);
        (a << 1 & mask) ^ carry & reduction
    }

    /// The product of two elements on wires. *Cost*: for a degree of `3 2^k`, `6 3^k` AND gates.
    ///
    /// *Shape*: both have as many bits as the degree.
    pub(crate) fn multiply_bits(&self, c: &mut CircuitBuilder, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let mut product = polynomial_product(c, a, b);
        for i in (self.degree..product.len()).rev() {
            for power in self.powers.map(|power| power as usize).into_iter().chain([0]) {
                product[i - self.degree + power] = c.xor(product[i - self.degree + power], product[i]);
            }
        }
        product.truncate(self.degree);
        product
    }
}

/// The product of two polynomials of one length (Karatsuba 1962).
fn polynomial_product(c: &mut CircuitBuilder, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let n = a.len();
    if n <= 1 {
        return a.iter().zip(b).map(|(&a, &b)| c.and(a, b)).collect();
    }
    let half = n.div_ceil(2);
    let ((a0, a1), (b0, b1)) = (a.split_at(half), b.split_at(half));
    let low = polynomial_product(c, a0, b0);
    let high = polynomial_product(c, a1, b1);
    let mut add = |x: &[Bit], y: &[Bit]| -> Vec<Bit> {
        (0..x.len()).map(|i| y.get(i).map_or(x[i], |&y| c.xor(x[i], y))).collect()
    };
    let (a_sum, b_sum) = (add(a0, a1), add(b0, b1));
    let middle = polynomial_product(c, &a_sum, &b_sum);
    let mut product = vec![Bit::FALSE; 2 * n - 1];
    let mut put = |at: usize, part: &[Bit]| {
        for (i, &bit) in part.iter().enumerate().filter(|(i, _)| at + i < 2 * n - 1) {
            product[at + i] = c.xor(product[at + i], bit);
        }
    };
    put(0, &low);
    put(2 * half, &high);
    [&middle, &low, &high].into_iter().for_each(|part| put(half, part));
    product
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Bits, Party, Program, Type, evaluate};
    use garblet_primitives::{Block, Prg, gf128};
    use garblet_synthesis::builder::{BitString, CircuitBuilder};

    use super::*;

    /// Fermat: `a^(2^degree) = a` for every element, and no smaller power, with the degree divided by a prime, fixes `x`.
    #[test]
    fn the_polynomials_are_irreducible() {
        for field in FIELDS {
            let frobenius = |times: usize, a| (0..times).fold(a, |power, _| field.multiply(power, power));
            let random = Prg::new(Block::ZERO).next_block().to_u128() >> (128 - field.degree);
            for a in [2, random] {
                assert_eq!(frobenius(field.degree, a), a, "{field:?}");
                assert_ne!(frobenius(field.degree / 2, a), a, "{field:?}");
            }
            // The degrees have only the prime factors 2 and 3.
            if field.degree % 3 == 0 {
                assert_ne!(frobenius(field.degree / 3, 2), 2, "{field:?}");
            }
        }
    }

    #[test]
    fn the_largest_field_is_the_field_of_blocks() {
        let mut rng = Prg::new(Block::ONES);
        let field = Field::of_at_least(100);
        for _ in 0..50 {
            let (a, b) = (rng.next_block(), rng.next_block());
            assert_eq!(field.multiply(a.to_u128(), b.to_u128()), gf128::mul(a, b).to_u128());
        }
    }

    #[test]
    fn wires_multiply_like_numbers() {
        for field in FIELDS {
            let mut c = CircuitBuilder::new("product");
            let n = field.degree as u32;
            let a: BitString = c.input("a", Type::Bits(n));
            let b: BitString = c.input("b", Type::Bits(n));
            let product = field.multiply_bits(&mut c, &a.0, &b.0);
            c.output("product", &BitString(product));
            let component = c.finish().unwrap();
            assert!(
                component.stats().and
                    <= [(8, 27), (48, 567), (96, 1701), (128, 2187)]
                        .iter()
                        .find(|(degree, _)| *degree == field.degree)
                        .map_or(0, |(_, ands)| *ands),
                "{} AND gates for {field:?}",
                component.stats().and
            );
            let program = Program::from_component(component, &[Party(0), Party(1)]).unwrap();
            let mut rng = Prg::new(Block::ZERO);
            for _ in 0..20 {
                let [a, b] = [(); 2].map(|()| rng.next_block().to_u128() >> (128 - field.degree));
                let inputs = [a, b].map(|value| Bits::from_u128(value, field.degree));
                let expected = Bits::from_u128(field.multiply(a, b), field.degree);
                assert!(evaluate(&program, &inputs) == [expected], "{field:?}");
            }
        }
    }

    #[test]
    fn fields_are_large_enough() {
        assert_eq!(
            [1, 8, 9, 48, 49, 88, 97, 128, 500].map(|n| Field::of_at_least(n).degree),
            [8, 8, 48, 48, 96, 96, 128, 128, 128]
        );
    }
}
