//! Fixed-point numbers as decimal ones.
//!
//! Every fixed-point number has finitely many decimal digits, and all are written. Any other decimal number is rounded to
//! the nearest, ties to even, as in IEEE 754 by default.

use garblet_circuit::{Bits, Type};

use super::decimal::{self, CHUNK, CHUNK_DIGITS, MAX_DIGITS};

/// The largest exponent of ten.
const MAX_EXPONENT: u32 = 1 << 12;

/// A decimal number: digits, and how many of them follow the point.
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    places: usize,
}

impl Decimal {
    /// Parses `12`, `-0.5`, `.5`, `2.5e-1`; `None` if the text is not a number, or has more than [`MAX_DIGITS`].
    pub(super) fn of(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, behind) = number.split_once('.').unwrap_or((number, ""));
        let mut digits = [whole, behind].concat();
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || exponent.unsigned_abs() > MAX_EXPONENT {
            return None;
        }
        let places = behind.len() as i64 - i64::from(exponent);
        let zeros = usize::try_from(-places).unwrap_or(0);
        digits.extend(std::iter::repeat_n('0', zeros));
        let digits = digits.trim_start_matches('0').to_string();
        let places = usize::try_from(places).unwrap_or(0);
        (digits.len() <= MAX_DIGITS).then_some(Decimal { negative, digits, places })
    }

    /// The nearest number of that width with that many fractional bits; `None` if it is out of range.
    pub(super) fn bits(&self, width: usize, fraction: u32) -> Option<Bits> {
        let mut limbs = decimal::limbs(&self.digits)?;
        // One more bit, which tells on which side of the middle the number is.
        let shift = fraction + 1;
        limbs.splice(0..0, std::iter::repeat_n(0, (shift / 32) as usize));
        decimal::multiply(&mut limbs, 1 << (shift % 32), 0);
        let mut exact = true;
        for _ in 0..self.places / CHUNK_DIGITS {
            exact &= decimal::divide(&mut limbs, CHUNK) == 0;
        }
        exact &= decimal::divide(&mut limbs, 10u32.pow((self.places % CHUNK_DIGITS) as u32)) == 0;
        let half = limbs.first().is_some_and(|low| low & 1 == 1);
        let odd = limbs.first().is_some_and(|low| low >> 1 & 1 == 1);
        decimal::divide(&mut limbs, 2);
        if half && (!exact || odd) {
            decimal::multiply(&mut limbs, 1, 1);
        }
        let magnitude = decimal::bits_of(&limbs);
        let needed = magnitude.len();
        let least = self.negative && needed == width && magnitude.iter().filter(|&bit| bit).count() == 1;
        if needed >= width && !least {
            return None;
        }
        let padded: Bits = magnitude.iter().chain(std::iter::repeat_n(false, width - needed)).collect();
        Some(if self.negative { decimal::negate(&padded) } else { padded })
    }
}

/// The number with all its digits.
pub(super) fn to_text(bits: &Bits, fraction: u32) -> String {
    let negative = !bits.is_empty() && bits.get(bits.len() - 1);
    let magnitude = if negative { decimal::negate(bits) } else { bits.clone() };
    let behind = (fraction as usize).min(magnitude.len());
    let whole = decimal::to_decimal(&magnitude.slice(behind, magnitude.len() - behind));
    // n / 2^f is n 5^f / 10^f.
    let mut limbs = decimal::limbs_of(&magnitude.slice(0, behind));
    (0..fraction).for_each(|_| decimal::multiply(&mut limbs, 5, 0));
    let digits = decimal::to_decimal(&decimal::bits_of(&limbs));
    let digits = format!("{digits:0>width$}", width = fraction as usize);
    let digits = digits.trim_end_matches('0');
    let sign = if negative { "-" } else { "" };
    if digits.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{digits}") }
}

/// A hint about the range of a type.
pub(super) fn range(ty: &Type, width: usize, fraction: u32) -> String {
    let ends = [true, false].map(|least| {
        let end: Bits = (0..width).map(|k| (k + 1 == width) == least).collect();
        to_text(&end, fraction)
    });
    format!("{ty} is {} to {}", ends[0], ends[1])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::{read_value, to_json};

    fn raw(text: &str, fraction: u32) -> Option<i128> {
        let bits = Decimal::of(text)?.bits(64, fraction)?;
        Some(i128::from(bits.to_u128().unwrap() as u64 as i64))
    }

    #[test]
    fn the_nearest_number_is_taken_and_the_even_one_of_two() {
        for (text, fraction, expected) in [
            ("1.5", 8, 384),
            ("-1.5", 8, -384),
            ("2.5e-1", 8, 64),
            ("25E1", 8, 64_000),
            (".5", 1, 1),
            ("0.1", 16, 6554),
            ("0.1", 0, 0),
            ("0.5", 0, 0),
            ("1.5", 0, 2),
            ("2.5", 0, 2),
            ("2.500000000000000000000000000000000001", 0, 3),
            ("-2.5", 0, -2),
            ("-3.5", 0, -4),
            ("-0", 8, 0),
            ("9007199254740993.00000000000000001", 0, 9_007_199_254_740_993),
            ("1e-300", 8, 0),
        ] {
            assert_eq!(raw(text, fraction), Some(expected), "{text}");
        }
        for text in
            ["", "-", ".", "1.5.2", "1,5", "1e", "e1", "1e9999", "1e-2147483648", "0x1.8", "--1", "1 ", "\u{661}"]
        {
            assert_eq!(raw(text, 8), None, "{text}");
        }
    }

    #[test]
    fn all_digits_are_written() {
        let text = |raw: i64, width: usize, fraction: u32| {
            to_text(&Bits::from_u128(u128::from(raw as u64) & ((1 << width) - 1), width), fraction)
        };
        assert_eq!(text(384, 16, 8), "1.5");
        assert_eq!(text(-1, 16, 8), "-0.00390625");
        assert_eq!(text(-32_768, 16, 8), "-128");
        assert_eq!(text(0, 16, 8), "0");
        assert_eq!(text(1, 32, 31), "0.0000000004656612873077392578125");
        assert_eq!(text(-8, 4, 3), "-1");
        assert_eq!(text(3, 4, 0), "3");
    }

    #[test]
    fn what_is_out_of_range_says_the_range() {
        let ty = Type::Fixed(4, 4);
        for (text, fits) in
            [("7.9375", true), ("7.968", true), ("7.96875", false), ("-8.03125", true), ("-8.04", false)]
        {
            assert_eq!(read_value("v.json", text, &ty).is_ok(), fits, "{text}");
        }
        let error = read_value("v.json", "8.5", &ty).unwrap_err();
        assert_eq!(error.message, "value: expected fixed<4, 4>, got a number out of range");
        assert_eq!(error.hint.as_deref(), Some("fixed<4, 4> is -8 to 7.9375"));
        let error = read_value("v.json", "\"1,5\"", &ty).unwrap_err();
        assert_eq!(error.message, "value: expected fixed<4, 4>, got a string");
        assert_eq!(error.hint.as_deref(), Some("write a decimal number, such as 1.25"));
        assert!(read_value("v.json", &"9".repeat(1_000_000), &ty).is_err());
    }

    proptest! {
        #[test]
        fn numbers_are_read_back(raw: i64, fraction in 0u32..63) {
            let ty = Type::Fixed(64 - fraction, fraction);
            let bits = Bits::from_u128(u128::from(raw as u64), 64);
            let text = to_json(&ty, &bits);
            prop_assert_eq!(read_value("v.json", &text.to_string(), &ty).unwrap(), bits.clone());
            let plain = text.as_str().unwrap();
            prop_assert_eq!(read_value("v.json", plain, &ty).unwrap(), bits);
        }

        #[test]
        fn rounding_is_to_the_nearest(number in -20_000i64..20_000, fraction in 0u32..9) {
            // In thousandths; the middle is exact in units of 2^-(f + 1).
            let got = raw(&format!("{}{}.{:03}", if number < 0 { "-" } else { "" }, number.abs() / 1000, number.abs() % 1000), fraction);
            let scaled = i128::from(number) << fraction;
            let (down, rest) = (scaled.div_euclid(1000), scaled.rem_euclid(1000));
            let up = rest > 500 || rest == 500 && down & 1 == 1;
            prop_assert_eq!(got, Some(down + i128::from(up)));
        }
    }
}
