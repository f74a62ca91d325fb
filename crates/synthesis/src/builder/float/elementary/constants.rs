//! Constants of any precision, as integers: a number times 2 to the power of its places, rounded down.

use num_bigint::BigInt;

/// Numbers times 2^places, with errors far below the places that are used of them.
#[derive(Clone, Copy)]
pub(super) struct Precise {
    places: usize,
}

impl Precise {
    pub(super) fn new(places: usize) -> Self {
        Precise { places }
    }

    fn one(self) -> BigInt {
        BigInt::from(1) << self.places
    }

    pub(super) fn ratio(self, numerator: i64, denominator: i64) -> BigInt {
        self.one() * numerator / denominator
    }

    pub(super) fn product(self, a: &BigInt, b: &BigInt) -> BigInt {
        (a * b) >> self.places
    }

    /// The sum of z^(2j+1) / (2j+1), with alternating signs for the arc tangent and without for the hyperbolic one.
    fn arc(self, z: &BigInt, alternating: bool) -> BigInt {
        let square = self.product(z, z);
        let (mut power, mut sum) = (z.clone(), z.clone());
        for j in 1.. {
            power = self.product(&power, &square);
            if power == BigInt::ZERO || power == BigInt::from(-1) {
                break;
            }
            let term = &power / (2 * j + 1);
            sum = if alternating && j % 2 == 1 { sum - term } else { sum + term };
        }
        sum
    }

    /// ln(numerator / denominator).
    pub(super) fn ln(self, numerator: i64, denominator: i64) -> BigInt {
        2 * self.arc(&self.ratio(numerator - denominator, numerator + denominator), false)
    }

    pub(super) fn ln2(self) -> BigInt {
        self.ln(2, 1)
    }

    /// 1 / ln(2)
    pub(super) fn log2_e(self) -> BigInt {
        (self.one() << self.places) / self.ln2()
    }

    /// *Source*: Machin 1706.
    pub(super) fn pi(self) -> BigInt {
        16 * self.arc(&self.ratio(1, 5), true) - 4 * self.arc(&self.ratio(1, 239), true)
    }

    /// 2 / pi
    pub(super) fn two_over_pi(self) -> BigInt {
        (self.one() << (self.places + 1)) / self.pi()
    }

    /// z^j / j! for j from 0 on.
    pub(super) fn terms(self, z: &BigInt, count: usize) -> Vec<BigInt> {
        let mut terms = vec![self.one()];
        for j in 1..count {
            let next = self.product(&terms[j - 1], z) / j;
            terms.push(next);
        }
        terms
    }

    /// 2 to the power of a number below 1.
    pub(super) fn exp2(self, number: &BigInt) -> BigInt {
        // Terms fall by a factor of more than 2 from the second one on.
        self.terms(&self.product(number, &self.ln2()), self.places).iter().sum()
    }

    /// A number from 0 on times 2 to a power, rounded down.
    pub(super) fn scaled(self, number: &BigInt, power: i128) -> BigInt {
        number >> (self.places as i128 - power)
    }

    /// A number from 0 on with this many bits below the point, rounded down.
    pub(super) fn entry(self, number: &BigInt, places: usize) -> u128 {
        u128::try_from(number >> (self.places - places)).expect("a number from 0 on that fits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_the_machine() {
        let precise = Precise::new(200);
        let close = |number: &BigInt, expected: f64| {
            let got = precise.entry(number, 60) as f64 / 2f64.powi(60);
            assert!((got - expected).abs() < 1e-15, "{got} and {expected}");
        };
        close(&precise.ln2(), std::f64::consts::LN_2);
        close(&precise.log2_e(), std::f64::consts::LOG2_E);
        close(&precise.pi(), std::f64::consts::PI);
        close(&precise.two_over_pi(), std::f64::consts::FRAC_2_PI);
        close(&-precise.ln(3, 4), -0.75f64.ln());
        close(&precise.exp2(&precise.ratio(3, 8)), 0.375f64.exp2());
        // 50 digits of pi.
        let digits: BigInt = (precise.pi() * BigInt::from(10).pow(49)) >> 200;
        assert_eq!(digits.to_string(), "31415926535897932384626433832795028841971693993751");
    }
}
