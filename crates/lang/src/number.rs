//! Integers wide enough for every computation on values of the language.

/// An integer of 256 bits: products of two values of any type, and quotients of shifted ones, fit.
pub(crate) use ethnum::I256 as Number;

/// The number.
pub(crate) const fn number(value: i128) -> Number {
    Number::new(value)
}

pub(crate) const ZERO: Number = Number::ZERO;
pub(crate) const ONE: Number = Number::ONE;

/// A decimal number: an integer divided by a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) digits: Number,
    pub(crate) places: u8,
}

impl Decimal {
    /// The most digits.
    const MAX_DIGITS: usize = 38;

    /// Parses a number such as `-12` or `3.25`.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, behind) = text.split_once('.').map_or((text, None), |(whole, behind)| (whole, Some(behind)));
        let digits = [whole, behind.unwrap_or_default()].concat();
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        // Integers of 128 bits may have one digit more.
        let most = Decimal::MAX_DIGITS + usize::from(behind.is_none());
        if !is_number(whole) || !behind.is_none_or(is_number) || digits.len() > most {
            return None;
        }
        let digits: Number = digits.parse().ok()?;
        let places = behind.map_or(0, str::len) as u8;
        Some(Decimal { digits: if negative { -digits } else { digits }, places })
    }

    /// The number times 2^fraction, rounded to the nearest integer, ties to even.
    pub(crate) fn scaled(self, fraction: u16) -> Number {
        let divisor = number(10).pow(self.places.into());
        let scaled = self.digits << u32::from(fraction);
        let (down, rest) = (scaled.div_euclid(divisor), scaled.rem_euclid(divisor));
        let is_up = match (rest + rest).cmp(&divisor) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => down & ONE == ONE,
            std::cmp::Ordering::Greater => true,
        };
        if is_up { down + ONE } else { down }
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let places = usize::from(self.places);
        let digits = format!("{:0>width$}", self.digits.unsigned_abs().to_string(), width = places + 1);
        let (whole, behind) = digits.split_at(digits.len() - places);
        let sign = if self.digits.is_negative() { "-" } else { "" };
        if places == 0 { write!(f, "{sign}{whole}") } else { write!(f, "{sign}{whole}.{behind}") }
    }
}

/// The square root, rounded down; 0 for a negative number.
pub(crate) fn root(value: Number) -> Number {
    let mut root = ZERO;
    for bit in (0..128u16).rev() {
        let larger = root + power(bit);
        // Twice 127 bits and more would not fit.
        if bit < 127 && larger * larger <= value {
            root = larger;
        }
    }
    root
}

/// 2 to that power.
pub(crate) fn power(exponent: u16) -> Number {
    ONE << u32::from(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_are_rounded_to_the_nearest_and_even() {
        for (text, fraction, expected) in [
            ("1.5", 8, 384),
            ("-1.5", 8, -384),
            ("0.1", 16, 6554),
            ("2.5", 0, 2),
            ("3.5", 0, 4),
            ("-2.5", 0, -2),
            ("-3.5", 0, -4),
            ("2.500000000000000000000000000000000001", 0, 3),
            ("7", 3, 56),
        ] {
            let decimal = Decimal::of(text).unwrap();
            assert_eq!(decimal.scaled(fraction), number(expected), "{text}");
            assert_eq!(decimal.to_string(), text);
        }
        for text in ["", "-", ".5", "1.", "1.5.2", "0x1", "1e3", "123456789012345678901234567890123456789.5"] {
            assert_eq!(Decimal::of(text), None, "{text}");
        }
    }

    #[test]
    fn roots_are_rounded_down() {
        for value in [0, 1, 2, 3, 4, 8, 9, 15, 16, 1 << 62, (1 << 62) - 1, i128::MAX] {
            assert_eq!(root(number(value)), number(value.isqrt()), "{value}");
        }
        assert_eq!(root(power(252) + power(126)), power(126));
        assert_eq!(root(number(-4)), ZERO);
    }
}
