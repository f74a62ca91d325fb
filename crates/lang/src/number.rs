//! Integers that are wide enough for whatever is computed with values of types.

/// An integer of 256 bits: products of two values of any type, and quotients of shifted ones, are within.
pub(crate) use ethnum::I256 as Number;

/// The number.
pub(crate) const fn number(value: i128) -> Number {
    Number::new(value)
}

pub(crate) const ZERO: Number = Number::ZERO;
pub(crate) const ONE: Number = Number::ONE;

/// 2 to that power.
pub(crate) fn power(exponent: u16) -> Number {
    ONE << u32::from(exponent)
}
