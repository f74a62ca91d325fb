//! Numbers from 0 on of any size, known when a circuit is built.

use std::cmp::Ordering;

/// A number; bits least significant first, the last of them one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Natural(Vec<bool>);

impl Natural {
    pub(super) fn new(mut bits: Vec<bool>) -> Self {
        bits.truncate(bits.iter().rposition(|&bit| bit).map_or(0, |top| top + 1));
        Natural(bits)
    }

    pub(super) fn power_of_two(exponent: usize) -> Self {
        Natural((0..=exponent).map(|i| i == exponent).collect())
    }

    /// The number of bits, without zeros above the highest one.
    pub(super) fn bits(&self) -> usize {
        self.0.len()
    }

    pub(super) fn bit(&self, i: usize) -> bool {
        self.0.get(i).copied().unwrap_or(false)
    }

    pub(super) fn plus(&self, other: &Natural) -> Natural {
        let mut carry = false;
        let sum = |i| {
            let ones = u8::from(self.bit(i)) + u8::from(other.bit(i)) + u8::from(carry);
            carry = ones > 1;
            ones % 2 == 1
        };
        Natural::new((0..=self.bits().max(other.bits())).map(sum).collect())
    }

    /// The difference to a lesser or equal number.
    pub(super) fn minus(&self, other: &Natural) -> Natural {
        let mut borrow = false;
        let difference = |i| {
            let taken = u8::from(other.bit(i)) + u8::from(borrow);
            let own = u8::from(self.bit(i));
            borrow = taken > own;
            (own + taken) % 2 == 1
        };
        Natural::new((0..self.bits()).map(difference).collect())
    }

    pub(super) fn times(&self, factor: usize) -> Natural {
        let mut product = Natural::new(Vec::new());
        for i in (0..usize::BITS).rev() {
            product = product.plus(&product);
            if factor >> i & 1 == 1 {
                product = product.plus(self);
            }
        }
        product
    }

    /// The whole quotient by a number that is not zero.
    pub(super) fn divided_by(&self, divisor: &Natural) -> usize {
        let (mut rest, mut quotient) = (Natural::new(Vec::new()), 0);
        for i in (0..self.bits()).rev() {
            rest = rest.plus(&rest);
            if self.bit(i) {
                rest = rest.plus(&Natural::power_of_two(0));
            }
            quotient *= 2;
            if rest >= *divisor {
                rest = rest.minus(divisor);
                quotient += 1;
            }
        }
        quotient
    }

    /// The places of the digits 1 and -1 of the form with no two neighbours that both differ from zero, and whether each is -1.
    ///
    /// *Source*: Reitwiesner 1960.
    pub(super) fn digits(&self) -> Vec<(usize, bool)> {
        let (mut digits, mut carry) = (Vec::new(), false);
        for i in 0..=self.bits() {
            let is_odd = self.bit(i) != carry;
            let minus = is_odd && self.bit(i + 1);
            carry = if is_odd { minus } else { carry && self.bit(i) };
            if is_odd {
                digits.push((i, minus));
            }
        }
        digits
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Natural) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Natural) -> Ordering {
        self.bits().cmp(&other.bits()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}
