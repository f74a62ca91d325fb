//! Sums, products, quotients, roots, comparison.

use super::{FloatFormat, Parts, Unrounded};
use crate::builder::{Bit, CircuitBuilder, Integer, Signed, Unsigned};

impl CircuitBuilder {
    /// `a + b`. *Cost*: 292 for `f16`, 286 for `bf16`, 613 for `f32`, 1,324 for `f64`.
    pub fn float_add(&mut self, format: FloatFormat, a: &Unsigned, b: &Unsigned) -> Unsigned {
        let width = format.width() - 1;
        let [magnitude_a, magnitude_b] = [a, b].map(|number| number.resize(width));
        let swap = self.less(&magnitude_a, &magnitude_b);
        let (great, small) = self.swap_if(swap, a, b);
        let [great, small] = [great, small].map(|number| self.parts(format, &number));
        let differ = self.xor(great.sign, small.sign);
        let [exponent, other] = [&great, &small].map(|parts| Unsigned::new(parts.exponent.clone()));
        let distance = self.sub(&exponent, &other);

        // Two bits below the fraction, and a sticky one, are enough: a distance of two or more leaves at most one zero on top.
        let below = [Bit::FALSE; 2];
        let moved = [&below[..], &small.significand].concat();
        let distance = self.saturate(&distance, moved.len());
        let (moved, sticky) = self.shift_right_sticky(&moved, &distance);
        let added = [&[sticky], &moved[..], &[Bit::FALSE]].concat();
        let kept = [&[Bit::FALSE], &below[..], &great.significand, &[Bit::FALSE]].concat();
        let flipped: Vec<Bit> = added.iter().map(|&bit| self.xor(bit, differ)).collect();
        let sum = self.sum_bits(kept.len(), |i| (kept[i], flipped[i]), differ);

        // The sum has one bit above the significand, so its exponent is one more; it moves up until it would be subnormal.
        let (any, zeros) = self.leading_zeros(&sum);
        let limited = self.less(&exponent, &zeros);
        let places = self.select(limited, &exponent.resize(zeros.width()), &zeros);
        let exponent = self.sub(&exponent, &places).as_signed();
        let sum = self.shift_left_by(&Unsigned::new(sum), &places);
        let (low, significand) = sum.bits().split_at(3);
        let sticky = self.any(low);

        let payload = self.any(great.fraction());
        let opposite = self.and(differ, small.extreme);
        let wrong = self.or(payload, opposite);
        let nan = self.and(great.extreme, wrong);
        let cancels = self.and(differ, !any);
        let sign = self.and(great.sign, !cancels);
        let significand = significand.to_vec();
        self.round_float(format, &Unrounded { sign, exponent, significand, sticky, extreme: great.extreme, nan })
    }

    /// `a - b`. *Cost*: as [`CircuitBuilder::float_add`].
    pub fn float_sub(&mut self, format: FloatFormat, a: &Unsigned, b: &Unsigned) -> Unsigned {
        let mut bits = b.bits().to_vec();
        let sign = bits.pop().expect("a sign");
        bits.push(!sign);
        self.float_add(format, a, &Unsigned::new(bits))
    }

    /// `a * b`. *Cost*: 524 for `f16`, 400 for `bf16`, 1,606 for `f32`, 5,246 for `f64`.
    ///
    /// Only one of two subnormal numbers is made normal, since the product of two is too small to be told from zero.
    pub fn float_mul(&mut self, format: FloatFormat, a: &Unsigned, b: &Unsigned) -> Unsigned {
        let [a, b] = [a, b].map(|number| self.parts(format, number));
        let sign = self.xor(a.sign, b.sign);
        let ([extreme, nan], _) = self.product_extremes(&a, &b);
        let (exponent, product) = self.product_of(format, &a, &b);
        // The product has one or two bits above its fraction.
        let f = format.fraction;
        let top = product[2 * f + 1];
        let significand =
            self.select(top, &Unsigned::new(product[f..].to_vec()), &Unsigned::new(product[f - 1..=2 * f].to_vec()));
        let below = self.and(top, product[f - 1]);
        let sticky = self.any(&[&product[..f - 1], &[below]].concat());
        let width = exponent.width();
        let exponent = self.add_with_carry(&exponent, &Signed::constant(-format.bias() - 1, width), top).0;
        let significand = significand.bits().to_vec();
        self.finish_float(format, Unrounded { sign, exponent, significand, sticky, extreme, nan })
    }

    /// The sum of the exponents, and the product of the significands. Its highest bit or the next one is set, except if it is zero, or
    /// both numbers are subnormal and their product far below all others.
    pub(super) fn product_of(&mut self, format: FloatFormat, a: &Parts, b: &Parts) -> (Signed, Vec<Bit>) {
        let joined = |parts: &Parts| Unsigned::new([&parts.significand[..], &parts.exponent].concat());
        let (first, second) = self.swap_if(b.subnormal(), &joined(a), &joined(b));
        let apart = |number: &Unsigned| Parts {
            sign: Bit::FALSE,
            exponent: number.bits()[format.fraction + 1..].to_vec(),
            significand: number.bits()[..=format.fraction].to_vec(),
            extreme: Bit::FALSE,
        };
        let [first, second] = [first, second].map(|number| apart(&number));
        let width = format.exponent + 2;
        let (exponent, significand) = self.normalise(&first, width);
        let product = self.mul_full(&Unsigned::new(significand), &Unsigned::new(second.significand.clone()));
        let exponent = self.add(&exponent, &Self::exponent_of(&second, width));
        (exponent, product.bits().to_vec())
    }

    /// Returns whether a product is infinite or NaN, and whether it is NaN; and whether one of the numbers is zero.
    pub(super) fn product_extremes(&mut self, a: &Parts, b: &Parts) -> ([Bit; 2], Bit) {
        let [[wrong_a, zero_a], [wrong_b, zero_b]] = [a, b].map(|parts| self.wrong_and_zero(parts));
        let extreme = self.or(a.extreme, b.extreme);
        let [a_by_zero, b_by_zero] = [(a, zero_b), (b, zero_a)].map(|(parts, zero)| self.and(parts.extreme, zero));
        ([extreme, self.any(&[wrong_a, wrong_b, a_by_zero, b_by_zero])], self.or(zero_a, zero_b))
    }

    /// Returns whether a number is NaN, and whether it is zero.
    pub(super) fn wrong_and_zero(&mut self, parts: &Parts) -> [Bit; 2] {
        let fraction = self.any(parts.fraction());
        [self.and(parts.extreme, fraction), self.and(parts.subnormal(), !fraction)]
    }

    /// `a / b`. *Cost*: 521 for `f16`, 407 for `bf16`, 1,427 for `f32`, 4,805 for `f64`.
    ///
    /// *Source*: non-restoring division, as in [`CircuitBuilder::div_rem`].
    pub fn float_div(&mut self, format: FloatFormat, a: &Unsigned, b: &Unsigned) -> Unsigned {
        let [a, b] = [a, b].map(|number| self.parts(format, number));
        let sign = self.xor(a.sign, b.sign);
        let [[wrong_a, zero_a], [wrong_b, zero_b]] = [&a, &b].map(|parts| self.wrong_and_zero(parts));
        let [infinities, zeros] = [self.and(a.extreme, b.extreme), self.and(zero_a, zero_b)];
        let nan = self.any(&[wrong_a, wrong_b, infinities, zeros]);
        let extreme = self.any(&[a.extreme, zero_b, nan]);

        let width = format.exponent + 2;
        let [(exponent, dividend), (other, divisor)] = [&a, &b].map(|parts| self.normalise(parts, width));
        let (quotient, sticky) = self.quotient(&dividend, &divisor, format.fraction + 3);
        // The quotient of two such significands is above 1/2 and below 2.
        let (&lowest, upper) = quotient.split_first().expect("a bit");
        let (&top, lower) = quotient.split_last().expect("a bit");
        let significand = self.select(top, &Unsigned::new(upper.to_vec()), &Unsigned::new(lower.to_vec()));
        let below = self.and(top, lowest);
        let sticky = self.or(sticky, below);
        let difference = self.sub(&exponent, &other);
        let exponent = self.add_with_carry(&difference, &Signed::constant(format.bias() - 2, width), top).0;
        // A quotient by infinity is too small to be told from zero.
        let significand = self.mask(!b.extreme, &significand).bits().to_vec();
        let sticky = self.and(sticky, !b.extreme);
        self.finish_float(format, Unrounded { sign, exponent, significand, sticky, extreme, nan })
    }

    /// The first `count` bits of the quotient of two significands of equal width, one of them before the point, lowest first, and
    /// whether there is a remainder.
    pub(super) fn quotient(&mut self, dividend: &[Bit], divisor: &[Bit], count: usize) -> (Vec<Bit>, Bit) {
        let n = divisor.len();
        let bit = |bits: &[Bit], i: usize| bits.get(i).copied().unwrap_or(Bit::FALSE);
        let mut rest = dividend.to_vec();
        let mut subtract = Bit::TRUE;
        let mut quotient = Vec::with_capacity(count);
        for step in 0..count {
            if step > 0 {
                rest.insert(0, Bit::FALSE);
            }
            let taken: Vec<Bit> = (0..=n).map(|i| self.xor(bit(divisor, i), subtract)).collect();
            rest = self.sum_bits(n + 1, |i| (bit(&rest, i), taken[i]), subtract);
            subtract = !rest[n];
            quotient.insert(0, subtract);
        }
        let back = self.mask(!subtract, &Unsigned::new(divisor.to_vec()));
        let rest = self.add(&Unsigned::new(rest[..n].to_vec()), &back);
        (quotient, !self.is_zero(&rest))
    }

    /// The square root of `a`: NaN for a negative number, and -0 for -0. *Cost*: 204 for `f16`, 158 for `bf16`, 591 for
    /// `f32`, 2,120 for `f64`.
    pub fn float_sqrt(&mut self, format: FloatFormat, a: &Unsigned) -> Unsigned {
        let a = self.parts(format, a);
        let [wrong, zero] = self.wrong_and_zero(&a);
        let negative = self.and(a.sign, !zero);
        let nan = self.or(wrong, negative);
        let extreme = self.or(a.extreme, nan);
        let (exponent, significand) = self.normalise(&a, format.exponent + 2);
        // Half the exponent, and twice the significand if it is odd.
        let twice = self.add(&exponent, &Signed::constant(format.bias() - 2, format.exponent + 2));
        let (&odd, exponent) = twice.bits().split_first().expect("a bit");
        let significand = Unsigned::new(significand).resize(format.fraction + 2);
        let doubled = self.shift_left(&significand, 1);
        let significand = self.select(odd, &doubled, &significand);
        let radicand = [&vec![Bit::FALSE; format.fraction + 2], significand.bits()].concat();
        let root = self.sqrt(&Unsigned::new(radicand));
        // A root is never halfway between two numbers: its square would have twice as many bits.
        let (significand, sticky) = (root.bits().to_vec(), Bit::TRUE);
        let exponent = Signed::new(exponent.to_vec());
        self.round_float(format, &Unrounded { sign: a.sign, exponent, significand, sticky, extreme, nan })
    }

    /// `a < b`, `a == b`, and whether one of them is NaN, so that they have no order. *Cost*: 75 for `f16`, 81 for `bf16`,
    /// 145 for `f32`, 279 for `f64`.
    pub fn float_compare(&mut self, format: FloatFormat, a: &Unsigned, b: &Unsigned) -> [Bit; 3] {
        let ([x, y], [a, b]) = ([a, b], [a, b].map(|number| self.parts(format, number)));
        let [[wrong_a, zero_a], [wrong_b, zero_b]] = [&a, &b].map(|parts| self.wrong_and_zero(parts));
        let unordered = self.or(wrong_a, wrong_b);
        let zeros = self.and(zero_a, zero_b);
        let ordered = self.and(!unordered, !zeros);
        // As integers, numbers are in order if those below zero are complements.
        let [first, second] = [x, y].map(|number| {
            let (&sign, magnitude) = number.bits().split_last().expect("a sign");
            let bits = magnitude.iter().map(|&bit| self.xor(bit, sign)).chain([!sign]).collect();
            Unsigned::new(bits)
        });
        let less = self.less(&first, &second);
        let same = self.equal(x, y);
        let same = self.or(same, zeros);
        [self.and(less, ordered), self.and(same, !unordered), unordered]
    }
}
