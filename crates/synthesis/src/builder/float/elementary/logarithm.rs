//! Natural logarithm.

use super::super::{FloatFormat, Parts};
use super::constants::Precise;
use crate::builder::{Bit, CircuitBuilder, Integer, Signed, Unsigned, columns::Columns};

/// The bits below the point of the logarithm: as many as tell a number from 1, as many again for what follows them, and some for errors.
const fn places_of_ln(format: FloatFormat) -> usize {
    2 * format.digits() + 8
}

/// The bits below the point of u in m c = 1 + u.
const fn places_of_distance(format: FloatFormat) -> usize {
    format.digits() + format.index_bits() + 1
}

impl CircuitBuilder {
    /// ln(x). *Error*: below 0.55 units in the last place. *Cost*: 1,821 for `f16`, 1,344 for `bf16`, 5,404 for `f32`, 21,822 for `f64`.
    ///
    /// 0 for 1, minus infinity for zeros, NaN for numbers below zero.
    ///
    /// *Source*: x is m 2^e with m from 1 to below 2, and m c is 1 + u for a short c near 1/m, which a table has. Then ln(x) is
    /// e ln(2) - ln(c) + ln(1 + u). Near 1, c is exactly 1 or 1/2, so nothing is left of the first two terms.
    pub fn float_ln(&mut self, format: FloatFormat, x: &Unsigned) -> Unsigned {
        let x = self.parts(format, x);
        let [wrong, zero] = self.wrong_and_zero(&x);
        let logarithm = self.logarithm(format, &x);
        let mut result = self.of_fixed(format, &logarithm, places_of_ln(format));
        let negative = self.and(x.sign, !zero);
        result.nan = self.or(wrong, negative);
        result.extreme = self.any(&[x.extreme, zero, result.nan]);
        result.sign = self.or(result.sign, zero);
        self.bound_float(format, result)
    }

    /// The logarithm of a positive number in fixed point.
    fn logarithm(&mut self, format: FloatFormat, x: &Parts) -> Signed {
        let places = places_of_ln(format);
        let precise = Precise::new(2 * places);
        let (exponent, significand) = self.normalise(x, format.exponent + 2);
        let (reciprocal, logarithm) = self.reciprocal(format, precise, &significand);
        let (below, distance) = self.distance_from_one(format, &significand, &reciprocal);
        let series = self.series_of_ln(format, precise, !below, &distance);

        // With its sign flipped, an exponent in two's complement is larger by a power of two. One bit less has room for all.
        let width = format.exponent + 1;
        let mut exponent = exponent.bits()[..width].to_vec();
        exponent[width - 1] = !exponent[width - 1];
        let ln2 = precise.entry(&precise.ln2(), places);
        let mut columns = Columns::new(places + width);
        for (i, &bit) in exponent.iter().enumerate() {
            let multiple = (0..places).map(|k| if ln2 >> k & 1 == 1 { bit } else { Bit::FALSE });
            columns.add(&multiple.collect::<Vec<Bit>>(), i);
        }
        let excess = ((1 << (width - 1)) + format.bias() as u128) * ln2;
        columns.subtract(Unsigned::constant(excess, places + width).bits(), 0);
        columns.add(logarithm.bits(), 0);
        // The series, or its negative: the complement and one, less the place above it.
        let flipped: Vec<Bit> = series.bits().iter().map(|&bit| self.xor(bit, below)).collect();
        columns.add(&flipped, 0);
        columns.push(0, below);
        columns.subtract(&[below], flipped.len());
        Signed::new(columns.sum(self))
    }

    /// A number c near 1 / m, with two bits more than the index, and -ln(c).
    fn reciprocal(&mut self, format: FloatFormat, precise: Precise, significand: &[Bit]) -> (Unsigned, Unsigned) {
        let (index_bits, places) = (format.index_bits(), places_of_ln(format));
        let entries = 1i64 << index_bits;
        let one = 4 * entries;
        let near = |i: i64| match i {
            0 => one,
            _ if i + 1 == entries => one / 2,
            // The middle of the numbers with this index is (2 entries + 2 i + 1) / (2 entries).
            _ => (4 * entries * one + (2 * entries + 2 * i + 1)) / (2 * (2 * entries + 2 * i + 1)),
        };
        let entry = |i: i64| {
            let c = near(i);
            precise.entry(&precise.ln(one, c), places) << (index_bits + 3) | c as u128
        };
        let table: Vec<u128> = (0..entries).map(entry).collect();
        let index = &significand[format.fraction - index_bits..format.fraction];
        let entry = self.lookup(&table, places + index_bits + 3, &Unsigned::new(index.to_vec()));
        let (c, logarithm) = entry.bits().split_at(index_bits + 3);
        (Unsigned::new(c.to_vec()), Unsigned::new(logarithm.to_vec()))
    }

    /// Returns whether m c is below 1, and its distance from 1.
    fn distance_from_one(
        &mut self,
        format: FloatFormat,
        significand: &[Bit],
        reciprocal: &Unsigned,
    ) -> (Bit, Unsigned) {
        // Less than 2^-index_bits, so that all bits above are equal, and 1 is beyond the width.
        let width = places_of_distance(format) - format.index_bits() + 1;
        let product = self.upper_product(significand, reciprocal.bits(), 0, width);
        let (&below, distance) = product.bits().split_last().expect("a bit");
        (below, self.neg_if(below, &Unsigned::new(distance.to_vec())))
    }

    /// |ln(1 + u)| for the distance |u|: that times 1/1 - u/2 + u^2/3 and so on.
    fn series_of_ln(
        &mut self,
        format: FloatFormat,
        precise: Precise,
        alternates: Bit,
        distance: &Unsigned,
    ) -> Unsigned {
        let (places, index_bits, own) = (format.places(), format.index_bits(), places_of_distance(format));
        let places_of = |j: usize| places + 2 - index_bits * j;
        let term = |j: usize| {
            Unsigned::constant(precise.entry(&precise.ratio(1, j as i64 + 1), places_of(j)), places_of(j) + 1)
        };
        let degree = places / index_bits;
        let mut inner = term(degree);
        for j in (0..degree).rev() {
            let (kept, below) = (places_of(j), places_of(j + 1));
            let known = own.min(kept);
            let product =
                self.upper_product(&distance.bits()[own - known..], inner.bits(), known + below - kept, kept + 1);
            let term = term(j);
            let flipped: Vec<Bit> = product.bits().iter().map(|&bit| self.xor(bit, alternates)).collect();
            inner = Unsigned::new(self.sum_bits(kept + 1, |i| (term.bit(i), flipped[i]), alternates));
        }
        let dropped = own + places_of(0) - places_of_ln(format);
        let width = distance.width() + inner.width() - dropped;
        self.upper_product(distance.bits(), inner.bits(), dropped, width)
    }
}
