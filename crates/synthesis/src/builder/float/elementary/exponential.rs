//! Exponential and logistic function.

use super::super::{FloatFormat, Parts, Unrounded};
use super::constants::Precise;
use crate::builder::{Bit, CircuitBuilder, Integer, Signed, Unsigned};

/// e to a power: `significand`, from 1 to below 2, times 2^`exponent`.
struct Power {
    exponent: Signed,
    significand: Unsigned,
    /// Set if the power is not computed: beyond all numbers of the format, or so small that nothing is left of it.
    beyond: Bit,
}

/// The bits before the point of the powers at which results neither overflow nor vanish.
const fn power_bits(format: FloatFormat) -> usize {
    match format.exponent {
        0..6 => 5,
        6..9 => 7,
        _ => 10,
    }
}

impl CircuitBuilder {
    /// e^x. *Error*: below 0.55 units in the last place. *Cost*: 1,167 for `f16`, 899 for `bf16`, 3,053 for `f32`, 13,181 for `f64`.
    ///
    /// Exact for 0. Infinite beyond the greatest number, 0 below half the least one.
    pub fn float_exp(&mut self, format: FloatFormat, x: &Unsigned) -> Unsigned {
        let x = self.parts(format, x);
        let [nan, _] = self.wrong_and_zero(&x);
        let power = self.power_of_e(format, &x, x.sign);
        let vanishes = self.and(power.beyond, x.sign);
        let overflows = self.and(power.beyond, !x.sign);
        let extreme = self.or(overflows, nan);
        let exponent = self.with_bias(format, &power.exponent, !power.beyond, 1);
        let word = self.mask(!vanishes, &power.significand);
        let result =
            Unrounded { sign: Bit::FALSE, exponent, significand: Vec::new(), sticky: Bit::FALSE, extreme, nan };
        self.round_fixed(format, word.bits(), result)
    }

    /// 1 / (1 + e^-x). *Error*: below 0.55 units in the last place. *Cost*: 1,642 for `f16`, 1,258 for `bf16`, 4,309 for `f32`, 17,346 for `f64`.
    ///
    /// *Source*: e^-|x| is at most 1, and below zero the result is that divided by 1 and it.
    pub fn float_sigmoid(&mut self, format: FloatFormat, x: &Unsigned) -> Unsigned {
        let x = self.parts(format, x);
        let [nan, _] = self.wrong_and_zero(&x);
        let power = self.power_of_e(format, &x, Bit::TRUE);
        let places = format.places();
        let significand = self.mask(!power.beyond, &power.significand);
        // One more than the power.
        let distance = self.neg(&power.exponent).as_unsigned();
        let distance = self.saturate(&distance, places + 1);
        let moved = self.shift_right_by(&significand, &distance).resize(places + 2);
        let divisor = self.add(&moved, &Unsigned::constant(1 << places, places + 2));
        let dividend = self.select(x.sign, &significand, &Unsigned::constant(1 << places, places + 1));
        let (quotient, sticky) = self.quotient(dividend.resize(places + 2).bits(), divisor.bits(), format.fraction + 3);
        // Between 1/2 and 2, or 0.
        let (&lowest, upper) = quotient.split_first().expect("a bit");
        let (&top, lower) = quotient.split_last().expect("a bit");
        let word = self.select(top, &Unsigned::new(upper.to_vec()), &Unsigned::new(lower.to_vec()));
        let below = self.and(top, lowest);
        let sticky = self.or(sticky, below);
        let scaled = self.and(x.sign, !power.beyond);
        let exponent = self.with_bias(format, &power.exponent, scaled, 2);
        let exponent = self.add_with_carry(&exponent, &Signed::constant(0, exponent.width()), top).0;
        let (sign, extreme) = (Bit::FALSE, nan);
        self.finish_float(format, Unrounded { sign, exponent, significand: word.bits().to_vec(), sticky, extreme, nan })
    }

    /// An exponent, or 0 if it does not count, with the bias less a number.
    fn with_bias(&mut self, format: FloatFormat, exponent: &Signed, counts: Bit, less: i128) -> Signed {
        let width = format.exponent + 2;
        let exponent = self.mask(counts, &exponent.resize(width));
        self.add(&exponent, &Signed::constant(format.bias() - less, width))
    }

    /// e^|x|, or e^-|x| if set. *Error*: a few units of the last of [`FloatFormat::places`] below the point, downwards.
    fn power_of_e(&mut self, format: FloatFormat, x: &Parts, negative: Bit) -> Power {
        let (places, before) = (format.places(), power_bits(format));
        // |x| in fixed point.
        let word = [&vec![Bit::FALSE; places + before - format.digits()], &x.significand[..]].concat();
        let width = format.exponent + 2;
        let greatest = Signed::constant(format.bias() + before as i128 - 1, width);
        let distance = self.sub(&greatest, &Self::exponent_of(x, width));
        let beyond = *distance.bits().last().expect("a sign");
        let distance = self.saturate(&distance.as_unsigned(), word.len());
        let fixed = self.shift_right_by(&Unsigned::new(word), &distance);

        // x / ln(2) is a power of two and a fraction.
        let precise = Precise::new(4 * places);
        let factor_places = places + before + 1;
        let factor = Unsigned::constant(precise.entry(&precise.log2_e(), factor_places), factor_places + 1);
        let scaled = self.upper_product(fixed.bits(), factor.bits(), factor_places, before + 1 + places);
        let scaled = self.neg_if(negative, &Signed::new([scaled.bits(), &[Bit::FALSE]].concat()));
        let (fraction, exponent) = scaled.bits().split_at(places);
        let significand = self.power_of_two(format, fraction);
        Power { exponent: Signed::new(exponent.to_vec()), significand, beyond }
    }

    /// 2 to the power of a fraction: the entry of a table, and a polynomial in the rest.
    fn power_of_two(&mut self, format: FloatFormat, fraction: &[Bit]) -> Unsigned {
        let (places, index_bits) = (format.places(), format.index_bits());
        let precise = Precise::new(4 * places);
        let (rest, index) = fraction.split_at(places - index_bits);
        let entry = |i: i64| precise.entry(&precise.exp2(&precise.ratio(i, 1 << index_bits)), places);
        let table: Vec<u128> = (0..1 << index_bits).map(entry).collect();
        let table = self.lookup(&table, places + 1, &Unsigned::new(index.to_vec()));

        // Horner's rule for the terms c_j rest^j from j = 1 on, each with as many places as count.
        let terms = precise.terms(&precise.ln2(), places);
        let places_of = |j: usize| places + 2 - index_bits * j;
        let is_small = |j: &usize| index_bits * j > places || precise.entry(&terms[*j], places_of(*j) - 1) == 0;
        let degree = (1..).find(is_small).expect("terms fall") - 1;
        let term = |j: usize| Unsigned::constant(precise.entry(&terms[j], places_of(j)), places_of(j));
        let mut inner = term(degree);
        for j in (1..degree).rev() {
            let product = self.upper_product(&rest[places - places_of(j)..], inner.bits(), inner.width(), places_of(j));
            inner = self.add(&product, &term(j));
        }
        // The polynomial is below 2^-index_bits, since ln(2) is below 1.
        let polynomial = self.upper_product(rest, inner.bits(), places - index_bits, places_of(1));
        let product = self.upper_product(table.bits(), polynomial.bits(), places + 2, places + 1);
        self.add(&table, &product)
    }
}
