//! Numbers of IEEE 754: binary16, bfloat16, binary32 and binary64, rounded to nearest, ties to even.
//!
//! A number is an unsigned integer with the bits of the format: fraction, exponent, sign. Every NaN that comes out is the quiet one
//! with sign and payload zero. Subnormal numbers, signed zeros and infinities are those of the standard.
//!
//! An operation takes its operands [apart](Parts), computes the exact result as far as rounding can tell, and hands it to
//! [`finish`](CircuitBuilder::finish_float), which rounds. A significand is kept with its highest bit first in place, followed by a guard
//! bit and a *sticky* bit, which is set if anything below is. Functions such as the exponential are [computed in fixed point](elementary), and nearly exact.
//!
//! *Source*: IEEE 754-2019, sections 4.3.1, 5.4 and 6; Muller et al., Handbook of Floating-Point Arithmetic, 2018, chapter 8.

mod convert;
mod elementary;
mod fused;
mod operations;

use super::{
    Bit, BitString, CircuitBuilder,
    word::{Integer, Signed, Unsigned},
};

/// A binary format of IEEE 754: one bit of sign, then exponent and fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// The bits of the exponent.
    exponent: usize,
    /// The bits of the fraction.
    fraction: usize,
}

impl FloatFormat {
    /// binary16.
    pub const F16: FloatFormat = FloatFormat { exponent: 5, fraction: 10 };
    /// bfloat16: the upper half of binary32.
    pub const BF16: FloatFormat = FloatFormat { exponent: 8, fraction: 7 };
    /// binary32.
    pub const F32: FloatFormat = FloatFormat { exponent: 8, fraction: 23 };
    /// binary64.
    pub const F64: FloatFormat = FloatFormat { exponent: 11, fraction: 52 };

    /// The bits of a number.
    pub const fn width(self) -> usize {
        1 + self.exponent + self.fraction
    }

    /// The exponent of 1.
    const fn bias(self) -> i128 {
        (1 << (self.exponent - 1)) - 1
    }
}

/// A number taken apart.
#[derive(Clone)]
struct Parts {
    sign: Bit,
    /// The exponent, 1 for subnormal numbers and zero.
    exponent: Vec<Bit>,
    /// The fraction, and above it a bit that only subnormal numbers and zero lack.
    significand: Vec<Bit>,
    /// Set if the exponent is that of infinity and NaN.
    extreme: Bit,
}

impl Parts {
    /// Returns whether the number is subnormal or zero.
    fn subnormal(&self) -> Bit {
        !*self.significand.last().expect("a bit above the fraction")
    }

    fn fraction(&self) -> &[Bit] {
        &self.significand[..self.significand.len() - 1]
    }
}

/// A result before it is rounded.
struct Unrounded {
    sign: Bit,
    /// One less than the exponent; of no account if the highest bit of the significand is not set.
    exponent: Signed,
    /// Guard bit, fraction, and the bit above it.
    significand: Vec<Bit>,
    sticky: Bit,
    /// Set if the result is infinite or NaN, whatever the rest says.
    extreme: Bit,
    /// Set if it is NaN; `extreme` is set then.
    nan: Bit,
}

impl CircuitBuilder {
    fn parts(&mut self, format: FloatFormat, number: &Unsigned) -> Parts {
        assert_eq!(number.width(), format.width(), "bits of a number of the format");
        let (fraction, rest) = number.bits().split_at(format.fraction);
        let (exponent, sign) = rest.split_at(format.exponent);
        let normal = self.any(exponent);
        let mut exponent = exponent.to_vec();
        let extreme = self.all(&exponent);
        exponent[0] = self.or(exponent[0], !normal);
        Parts { sign: sign[0], exponent, significand: [fraction, &[normal]].concat(), extreme }
    }

    /// The exponent of a number as a signed one of this many bits.
    fn exponent_of(parts: &Parts, width: usize) -> Signed {
        Unsigned::new(parts.exponent.clone()).resize(width).as_signed()
    }

    /// Moves the highest set bit of a significand to its highest place; returns the exponent less the places that it moved.
    fn normalise(&mut self, parts: &Parts, width: usize) -> (Signed, Vec<Bit>) {
        let (_, zeros) = self.leading_zeros(&parts.significand);
        let significand = self.shift_left_by(&Unsigned::new(parts.significand.clone()), &zeros);
        let exponent = self.sub(&Self::exponent_of(parts, width), &zeros.resize(width).as_signed());
        (exponent, significand.bits().to_vec())
    }

    /// Returns whether a bit is set, and the number of zeros above the highest one; of no account if none is set.
    ///
    /// *Cost*: about 2n.
    fn leading_zeros(&mut self, bits: &[Bit]) -> (Bit, Unsigned) {
        if let &[only] = bits {
            return (only, Unsigned::new(Vec::new()));
        }
        let (low, high) = bits.split_at(bits.len() - bits.len().next_power_of_two() / 2);
        let (any_low, low) = self.leading_zeros(low);
        let (any_high, high) = self.leading_zeros(high);
        let mut zeros = self.select(any_high, &high, &low.resize(high.width())).bits().to_vec();
        zeros.push(!any_high);
        (self.or(any_high, any_low), Unsigned::new(zeros))
    }

    /// The bits without the lowest `amount` ones, in as many bits, and whether one of those was set.
    ///
    /// *Cost*: n for each bit of the amount, and n.
    fn shift_right_sticky(&mut self, bits: &[Bit], amount: &Unsigned) -> (Vec<Bit>, Bit) {
        let mut value = Unsigned::new(bits.to_vec());
        let mut lost = Vec::with_capacity(amount.width());
        for (j, &bit) in amount.bits().iter().enumerate() {
            let dropped = self.any(&value.bits()[..value.width().min(1 << j)]);
            lost.push(self.and(bit, dropped));
            let moved = self.shift_right(&value, 1 << j);
            value = self.select(bit, &moved, &value);
        }
        (value.bits().to_vec(), self.any(&lost))
    }

    /// An amount by which to shift n bits right, in few bits: an amount beyond n may become any other beyond n.
    fn saturate(&mut self, amount: &Unsigned, n: usize) -> Unsigned {
        let bits = (usize::BITS - n.leading_zeros()) as usize;
        let (low, beyond) = amount.bits().split_at(bits.min(amount.width()));
        let beyond = self.any(beyond);
        Unsigned::new(low.iter().map(|&bit| self.or(bit, beyond)).collect())
    }

    /// Makes a result subnormal if its exponent is too small or infinite if it is too large, and rounds it.
    fn finish_float(&mut self, format: FloatFormat, mut result: Unrounded) -> Unsigned {
        let negative = *result.exponent.bits().last().expect("a sign");
        let distance = self.neg(&result.exponent);
        let distance = self.mask(negative, &distance.as_unsigned());
        let distance = self.saturate(&distance, result.significand.len());
        let (significand, lost) = self.shift_right_sticky(&result.significand, &distance);
        result.significand = significand;
        result.sticky = self.or(result.sticky, lost);
        self.bound_float(format, result)
    }

    /// Makes a result infinite if its exponent is too large, and rounds it.
    fn bound_float(&mut self, format: FloatFormat, mut result: Unrounded) -> Unsigned {
        // An exponent whose successor is that of infinity, or beyond.
        let (low, high) = result.exponent.bits().split_at(format.exponent);
        let (&negative, high) = high.split_last().expect("a sign");
        let full = self.all(&low[1..]);
        let above = self.any(&[high, &[full]].concat());
        let above = self.and(above, !negative);
        result.extreme = self.or(result.extreme, above);
        self.round_float(format, &result)
    }

    /// Rounds a result whose exponent is in range.
    fn round_float(&mut self, format: FloatFormat, result: &Unrounded) -> Unsigned {
        let (guard, rest) = result.significand.split_first().expect("a guard bit");
        let (&top, fraction) = rest.split_last().expect("a bit above the fraction");
        let odd = self.or(fraction[0], result.sticky);
        let up = self.and(*guard, odd);
        // A carry out of the fraction makes it zero, and the exponent one more.
        let mut bits = fraction.to_vec();
        bits.extend((0..format.exponent).map(|i| self.and(top, result.exponent.bit(i))));
        let add = |i: usize| (bits[i], if i == format.fraction { top } else { Bit::FALSE });
        let rounded = self.sum_bits(bits.len(), add, up);
        let (fraction, exponent) = rounded.split_at(format.fraction);
        let exponent: Vec<Bit> = exponent.iter().map(|&bit| self.or(bit, result.extreme)).collect();
        let extreme = self.all(&exponent);
        let BitString(mut fraction) = self.mask(!extreme, &BitString(fraction.to_vec()));
        let quiet = format.fraction - 1;
        fraction[quiet] = self.xor(fraction[quiet], result.nan);
        let sign = self.and(result.sign, !result.nan);
        Unsigned::new([&fraction[..], &exponent, &[sign]].concat())
    }
}
