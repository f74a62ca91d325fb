//! Generator polynomials of binary BCH codes.
//!
//! *Source*: Bose and Ray-Chaudhuri 1960, Hocquenghem 1959. For an element `a` of order `2^m - 1` of GF(2^m), the code of all
//! polynomials modulo `x^(2^m - 1) + 1` that vanish at `a, a^2, ..., a^(d - 1)` has distance `d` or more (the BCH bound).

use super::parity::Parity;

/// A field GF(2^m), given by the minimal polynomial of its generator; bit `i` is the coefficient of `x^i`.
#[derive(Clone, Copy)]
pub(super) struct Field {
    degree: u32,
    modulus: u32,
}

/// GF(2^8) with `x^8 + x^4 + x^3 + x^2 + 1`.
pub(super) const GF_256: Field = Field { degree: 8, modulus: 0x11d };

/// GF(2^9) with `x^9 + x^4 + 1`.
pub(super) const GF_512: Field = Field { degree: 9, modulus: 0x211 };

impl Field {
    /// The order of the generator.
    fn order(self) -> u32 {
        (1 << self.degree) - 1
    }

    fn double(self, a: u32) -> u32 {
        let doubled = a << 1;
        if doubled >> self.degree == 1 { doubled ^ self.modulus } else { doubled }
    }

    fn multiply(self, a: u32, b: u32) -> u32 {
        (0..self.degree).rev().fold(0, |sum, bit| self.double(sum) ^ if b >> bit & 1 == 1 { a } else { 0 })
    }

    /// `a^exponent` for the generator `a`.
    fn power(self, exponent: u32) -> u32 {
        (0..exponent % self.order()).fold(1, |power, _| self.double(power))
    }

    /// The exponents `e, 2 e, 4 e, ...`, for which the powers of the generator have the same minimal polynomial.
    fn conjugates(self, exponent: u32) -> Vec<u32> {
        let mut all = vec![exponent % self.order()];
        loop {
            match all[all.len() - 1] * 2 % self.order() {
                next if next == all[0] => return all,
                next => all.push(next),
            }
        }
    }

    /// The minimal polynomial over GF(2) of a power of the generator; bit `i` is the coefficient of `x^i`.
    pub(super) fn minimal_polynomial(self, exponent: u32) -> Parity {
        let mut product = vec![1];
        for conjugate in self.conjugates(exponent) {
            let root = self.power(conjugate);
            let shifted = std::iter::once(0).chain(product.iter().copied());
            let scaled = product.iter().map(|&c| self.multiply(c, root)).chain([0]);
            product = shifted.zip(scaled).map(|(a, b)| a ^ b).collect();
        }
        product.iter().enumerate().fold(Parity::ZERO, |sum, (i, &c)| sum ^ Parity::bit_if(c == 1, i))
    }

    /// The product of the minimal polynomials of the powers `1 ..= last` of the generator: the code of distance `last + 1`.
    pub(super) fn generator_polynomial(self, last: u32) -> Parity {
        let mut seen: Vec<u32> = Vec::new();
        let mut product = Parity::bit_if(true, 0);
        for exponent in 1..=last {
            if !seen.contains(&exponent) {
                seen.extend(self.conjugates(exponent));
                product = product.times(self.minimal_polynomial(exponent));
            }
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Field {
        /// One more than the longest run of successive powers that are roots of the polynomial.
        fn bch_bound(self, polynomial: Parity) -> u32 {
            let vanishes = |exponent: u32| {
                let root = self.power(exponent);
                let horner = |sum, i| self.multiply(sum, root) ^ u32::from(polynomial.get(i));
                (0..=polynomial.degree()).rev().fold(0, horner) == 0
            };
            let run = |start: u32| (start..start + self.order()).take_while(|&e| vanishes(e)).count() as u32;
            (0..self.order()).map(run).max().unwrap_or(0) + 1
        }
    }

    #[test]
    fn generator_polynomials_are_the_known_ones() {
        let hex = |high: u128, low: u128| Parity::from_halves(low, high);
        assert!(GF_256.generator_polynomial(36) == hex(0, 0x11bc_b6cc_e690_6958_aa17_f223_1050_eb39));
        assert!(GF_256.generator_polynomial(38) == hex(0x14, 0x3182_a510_d807_cf44_35a9_c614_b2ea_8cb7));
        let bch_512 = hex(0x878_7b17_194f, 0x3269_0d90_9ca5_89df_bce9_2f42_4116_9fff);
        assert!(GF_512.generator_polynomial(40) == bch_512);
    }

    #[test]
    fn the_bch_bound_of_each_is_the_designed_one() {
        for (field, last) in [(GF_256, 36), (GF_256, 38), (GF_512, 40)] {
            assert_eq!(field.bch_bound(field.generator_polynomial(last)), last + 1);
        }
    }

    #[test]
    fn generators_have_full_order() {
        for field in [GF_256, GF_512] {
            assert_eq!((1..field.order()).find(|&e| field.power(e) == 1), None);
            assert_eq!(field.double(field.power(field.order() - 1)), 1);
        }
    }
}
