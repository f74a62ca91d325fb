//! Integers wide enough for every computation on values of the language.

use garblet_circuit::Float;
use garblet_formats::value::bits_of_float;

/// An integer of 256 bits: products of two values of any type, and quotients of shifted ones, fit.
pub(crate) use ethnum::I256 as Number;

/// The number.
pub(crate) const fn number(value: i128) -> Number {
    Number::new(value)
}

pub(crate) const ZERO: Number = Number::ZERO;
pub(crate) const ONE: Number = Number::ONE;

/// A decimal number as it is written: sign, digits with or without a point, and an exponent; or `NaN`, `inf`, `-inf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    text: String,
    /// The type suffix.
    pub(crate) suffix: Option<Float>,
}

impl Decimal {
    /// The most digits of an exact number.
    pub(crate) const MAX_DIGITS: usize = 38;

    /// Parses a number such as `-12`, `3.25` or `1e-9`.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (sign, digits) = if text.starts_with('-') { text.split_at(1) } else { ("", text) };
        let (number, exponent) = digits.split_once(['e', 'E']).map_or((digits, None), |(n, e)| (n, Some(e)));
        let (whole, behind) = number.split_once('.').map_or((number, None), |(whole, behind)| (whole, Some(behind)));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let unsigned = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
        let is_decimal = is_number(whole) && behind.is_none_or(is_number) && unsigned.is_none_or(is_number);
        if !is_decimal && !matches!(text, "NaN" | "inf" | "-inf") {
            return None;
        }
        let zeros = if is_decimal { whole.len() - whole.trim_start_matches('0').len().max(1) } else { 0 };
        Some(Decimal { text: [sign, &digits[zeros..]].concat(), suffix: None })
    }

    /// The number that a Boolean is.
    pub(crate) fn of_bool(value: bool) -> Self {
        Decimal { text: u8::from(value).to_string(), suffix: None }
    }

    /// Returns whether it is an integer.
    pub(crate) fn is_integer(&self) -> bool {
        !self.text.contains(['.', 'e', 'E', 'N', 'f'])
    }

    /// An integer, and the number of digits behind the point; `None` with too many digits, or an exponent.
    fn exact(&self) -> Option<(Number, u8)> {
        let (negative, text) = self.text.strip_prefix('-').map_or((false, &self.text[..]), |rest| (true, rest));
        let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
        let digits = [whole, behind].concat();
        // Integers of 128 bits may have one digit more.
        if digits.len() > Decimal::MAX_DIGITS + usize::from(behind.is_empty()) {
            return None;
        }
        let digits: Number = digits.parse().ok()?;
        Some((if negative { -digits } else { digits }, behind.len() as u8))
    }

    /// The integer that it is, if it is one of at most 39 digits.
    pub(crate) fn integer(&self) -> Option<Number> {
        self.exact().filter(|_| self.is_integer()).map(|(digits, _)| digits)
    }

    /// The number times 2^fraction, rounded to the nearest integer, ties to even; `None` with too many digits, or an exponent.
    pub(crate) fn scaled(&self, fraction: u16) -> Option<Number> {
        let (digits, places) = self.exact()?;
        let divisor = number(10).pow(places.into());
        let scaled = digits << u32::from(fraction);
        let (down, rest) = (scaled.div_euclid(divisor), scaled.rem_euclid(divisor));
        let is_up = match (rest + rest).cmp(&divisor) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => down & ONE == ONE,
            std::cmp::Ordering::Greater => true,
        };
        Some(if is_up { down + ONE } else { down })
    }

    /// The bits of the nearest number of a format, unless it is out of range.
    pub(crate) fn bits(&self, format: Float) -> Option<Number> {
        bits_of_float(format, &self.text).map(Number::from)
    }

    /// Returns whether a number of the format is exactly this one, if it is an integer; others are meant to be rounded.
    pub(crate) fn is_kept_by(&self, format: Float) -> bool {
        let nearest = match format {
            Float::F32 => self.text.parse::<f32>().map(f64::from),
            Float::F64 => self.text.parse(),
        };
        let digits = |text: &str| text.trim_start_matches(['-', '0']).to_string();
        !self.is_integer() || nearest.is_ok_and(|nearest| digits(&format!("{nearest:.0}")) == digits(&self.text))
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        self.suffix.map_or(Ok(()), |format| format.fmt(f))
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
            assert_eq!(decimal.scaled(fraction), Some(number(expected)), "{text}");
            assert_eq!(decimal.to_string(), text);
        }
        for text in ["", "-", ".5", "1.", "1.5.2", "0x1", "1e", "1e+", "e3", "nan", "+1"] {
            assert_eq!(Decimal::of(text), None, "{text}");
        }
        for text in ["1e3", "NaN", "-inf", "123456789012345678901234567890123456789.5"] {
            assert_eq!(Decimal::of(text).unwrap().scaled(8), None, "{text}");
        }
        assert_eq!(Decimal::of("-007.50").unwrap().to_string(), "-7.50");
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
