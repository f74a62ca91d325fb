//! Floating-point numbers as decimal ones.
//!
//! A decimal number becomes the nearest one of the format, ties to even. A number is written with as few digits as read back the same.

use std::cmp::Ordering;

use garblet_circuit::{Bits, Float};
use serde_json::{Value, json};

/// Returns whether the text is a decimal number, `NaN`, `inf` or `-inf`.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    matches!(text, "NaN" | "inf" | "-inf")
        || digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok()
}

/// The bits of the number of a format next to a decimal one, to `NaN`, `inf` or `-inf`; `None` if the text is none of these, or beyond all
/// finite numbers.
pub fn bits_of_float(format: Float, text: &str) -> Option<u64> {
    if !is_number(text) {
        return None;
    }
    let sign = u64::from(text.starts_with('-')) << (format.width() - 1);
    if text == "NaN" {
        return Some(format.infinity() | 1 << (format.fraction() - 1));
    }
    if text.ends_with("inf") {
        return Some(sign | format.infinity());
    }
    let magnitude = match format {
        Float::F16 | Float::Bf16 => short_bits(format, text.trim_start_matches('-')),
        Float::F32 => text.parse::<f32>().ok()?.abs().to_bits().into(),
        Float::F64 => text.parse::<f64>().ok()?.abs().to_bits(),
    };
    (magnitude < format.infinity()).then_some(sign | magnitude)
}

/// The bits of the number of a short format next to a decimal one without a sign, infinity if that is beyond all.
///
/// A double next to the decimal number is on the same side of every middle between two short numbers, or is that middle. Only then
/// the digits decide.
fn short_bits(format: Float, text: &str) -> u64 {
    let near: f64 = text.parse().unwrap_or(0.0);
    if !near.is_normal() {
        return if near.is_infinite() { format.infinity() } else { 0 };
    }
    let exponent = (near.to_bits() >> 52) as i32 - 1023;
    let significand = near.to_bits() & ((1 << 52) - 1) | 1 << 52;
    // The exponent field, at least that of subnormal numbers.
    let field = (exponent + format.bias() as i32).max(1);
    let dropped = 52 - format.fraction() as i32 + (field - exponent - format.bias() as i32);
    if dropped > 53 {
        return 0;
    }
    let (kept, rest, middle) = (significand >> dropped, significand & ((1 << dropped) - 1), 1 << (dropped - 1));
    let side = rest.cmp(&middle).then_with(|| compare(text, near));
    let up = side == Ordering::Greater || side == Ordering::Equal && kept & 1 == 1;
    // The bit above the fraction counts as one more of the field, which a subnormal number lacks.
    (((field as u64 - 1) << format.fraction()) + kept + u64::from(up)).min(format.infinity())
}

/// The order of a decimal number from 0 on and of a normal double.
fn compare(text: &str, number: f64) -> Ordering {
    // A double has at most 767 significant digits.
    digits(text).cmp(&digits(&format!("{number:.767e}")))
}

/// The place of the highest digit above 0 and the digits from there on, without zeros at the end: in the order of the numbers.
fn digits(text: &str) -> (i64, String) {
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, behind) = number.split_once('.').unwrap_or((number, ""));
    let all = [whole, behind].concat();
    let significant = all.trim_start_matches('0');
    let zeros = all.len() - significant.len();
    let place = whole.len() as i64 - zeros as i64 + exponent.parse::<i64>().unwrap_or(0);
    (place, significant.trim_end_matches('0').into())
}

/// The number that bits of a format are. Every one of a shorter format is one of `f64`.
pub fn float_of_bits(format: Float, bits: u64) -> f64 {
    let fraction = bits & ((1 << format.fraction()) - 1);
    let field = (bits >> format.fraction()) as i32 & (2 * format.bias() as i32 + 1);
    let sign = if bits >> (format.width() - 1) & 1 == 1 { -1.0 } else { 1.0 };
    let scale = |field: i32| 2f64.powi(field - (format.bias() + format.fraction()) as i32);
    match format {
        Float::F32 => f32::from_bits(bits as u32).into(),
        Float::F64 => f64::from_bits(bits),
        _ if field == 0 => sign * fraction as f64 * scale(1),
        _ if field <= 2 * format.bias() as i32 => sign * (fraction | 1 << format.fraction()) as f64 * scale(field),
        _ if fraction == 0 => sign * f64::INFINITY,
        _ => f64::NAN,
    }
}

/// The number that bits of a format are, with as few digits as read back the same: `0.1`, `3.0`, `1e-9`, `NaN`, `inf`, `-inf`.
pub fn text_of_float(format: Float, bits: u64) -> String {
    match format {
        Float::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        Float::F64 => format!("{:?}", f64::from_bits(bits)),
        Float::F16 | Float::Bf16 => format!("{:?}", shortest(format, bits)),
    }
}

/// The decimal number of the fewest digits that a short format rounds to these bits, as a double.
fn shortest(format: Float, bits: u64) -> f64 {
    let number = float_of_bits(format, bits);
    if !number.is_finite() || number == 0.0 {
        return number;
    }
    // Near a power of two, the number with the fewest digits need not be the next one with so many.
    let near = (0..5).flat_map(|places| {
        let text = format!("{number:.places$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: i64 = digits.replace('.', "").parse().unwrap_or(0);
        let exponent = exponent.parse::<i32>().unwrap_or(0) - places as i32;
        [0, 1, -1].map(|step| format!("{}e{exponent}", digits + step))
    });
    let mut same = near.filter(|text| bits_of_float(format, text) == Some(bits));
    same.next().and_then(|text| text.parse().ok()).unwrap_or(number)
}

/// Returns whether bits are exactly the integer.
pub fn is_exact_float(format: Float, bits: u64, integer: &str) -> bool {
    let digits = |text: &str| text.trim_start_matches(['-', '0']).to_string();
    digits(&format!("{:.0}", float_of_bits(format, bits))) == digits(integer)
}

/// A number in JSON.
pub(super) fn to_json(format: Float, bits: &Bits) -> Value {
    let text = text_of_float(format, bits.to_u128().unwrap_or_default() as u64);
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => json!(number),
        _ => json!(text),
    }
}

/// A hint about the range of a format.
pub(super) fn range(format: Float) -> String {
    let most = float_of_bits(format, format.infinity() - 1);
    match format {
        Float::F32 => format!("f32 is {:?} to {:?}", f32::MIN, f32::MAX),
        _ => format!("{format} is {:?} to {most:?}", -most),
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::Type;

    use super::*;
    use crate::value::{read_value, to_text};

    fn read(format: Float, text: &str) -> Result<u128, String> {
        let bits = read_value("v.json", text, &Type::Float(format));
        bits.map(|bits| bits.to_u128().unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest_as_rust_does() {
        for text in [
            "1.5",
            "-3.0",
            "-0.0",
            "1e-9",
            "0.1",
            "1e308",
            "5e-324",
            "2.4703282292062328e-324",
            "3",
            "-0",
            "1e-999999999",
            "9007199254740993.0",
            "0.1000000000000000055511151231257827021181583404541015625",
        ] {
            let number: f64 = text.parse().unwrap();
            assert_eq!(read(Float::F64, text), Ok(number.to_bits().into()), "{text}");
            assert_eq!(read(Float::F64, &format!("\"{text}\"")), Ok(number.to_bits().into()), "{text}");
        }
        for text in ["16777217.0", "3.4028235e38", "1e-45", "0.1", "7e-46"] {
            assert_eq!(read(Float::F32, text), Ok(text.parse::<f32>().unwrap().to_bits().into()), "{text}");
        }
        for (format, text, bits) in [
            (Float::F16, "0.1", 0x2e66),
            (Float::F16, "-2.0", 0xc000),
            (Float::F16, "65519.99", 0x7bff),
            // Between two numbers, and a little more than that, which a double does not show.
            (Float::F16, "1.00048828125", 0x3c00),
            (Float::F16, "1.00048828125000000000000000000001", 0x3c01),
            (Float::F16, "0.00000000000000000000000000100048828125000000000000000000001e27", 0x3c01),
            (Float::F16, "2.98023223876953125e-8", 0),
            (Float::F16, "2.98023223876953125000000000000001E-8", 1),
            (Float::F16, "1e-400", 0),
            (Float::Bf16, "0.1", 0x3dcd),
            (Float::Bf16, "3.3895313892515355e38", 0x7f7f),
            (Float::Bf16, "1e-40", 1),
            (Float::Bf16, "\"-inf\"", 0xff80),
            (Float::Bf16, "\"NaN\"", 0x7fc0),
            (Float::F16, "\"NaN\"", 0x7e00),
            (Float::F16, "\"0x3c00\"", 0x3c00),
        ] {
            assert_eq!(read(format, text), Ok(bits), "{text} of {format}");
        }
        assert_eq!(read(Float::F64, "\"NaN\""), Ok(0x7ff8 << 48));
        assert_eq!(read(Float::F64, "\"-inf\""), Ok(0xfff0 << 48));
        assert_eq!(read(Float::F32, "\"inf\""), Ok(0x7f80 << 16));
        assert_eq!(read(Float::F32, "\"0x3f800000\""), Ok(0x3f80_0000));
        let short = read(Float::F64, "\"0x3f800000\"").unwrap_err();
        assert!(short.contains("expected 16 hexadecimal digits, all wires of f64, got 8"), "{short}");
    }

    #[test]
    fn others_are_refused() {
        let range = "value: expected f64, got a number out of range";
        for text in ["1e999999999", "-1e309", "\"1e400\""] {
            assert_eq!(read(Float::F64, text).unwrap_err(), range, "{text}");
        }
        assert_eq!(read(Float::F32, "1e39").unwrap_err(), "value: expected f32, got a number out of range");
        let exact = "value: expected f64, got an integer that is not exactly one";
        assert_eq!(read(Float::F64, "9007199254740993").unwrap_err(), exact);
        assert_eq!(read(Float::F64, "9007199254740992"), Ok((9_007_199_254_740_992f64).to_bits().into()));
        for (format, text) in [(Float::F32, "16777217"), (Float::F16, "2049"), (Float::Bf16, "257")] {
            assert_eq!(read(format, text).unwrap_err(), exact.replace("f64", format.name()));
        }
        for (format, text) in
            [(Float::F16, "65520.0"), (Float::F16, "-7e4"), (Float::Bf16, "3.4e38"), (Float::Bf16, "1e400")]
        {
            assert_eq!(read(format, text).unwrap_err(), range.replace("f64", format.name()));
        }
        assert_eq!(super::range(Float::F16), "f16 is -65504.0 to 65504.0");
        for text in ["\"nan\"", "\"infinity\"", "\"\"", "\"+1\"", "\"1,5\"", "\"- 1\"", "true", "null", "[1]"] {
            assert!(read(Float::F64, text).unwrap_err().starts_with("value: expected f64, got "), "{text}");
        }
    }

    #[test]
    fn results_have_as_few_digits_as_read_back_the_same() {
        let shown = |format: Float, bits: u64| {
            to_text(&Type::Float(format), &Bits::from_u128(bits.into(), format.width() as usize))
        };
        for number in [1.5, -0.0, 3.0, 0.1, 1e300, 5e-324, f64::MAX, 1.0 / 3.0] {
            let text = shown(Float::F64, number.to_bits());
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits());
            assert!(text.len() <= format!("{number:?}").len() + 3, "{text}");
        }
        assert_eq!(shown(Float::F64, (-0.0f64).to_bits()), "-0.0");
        assert_eq!(shown(Float::F32, 0.1f32.to_bits().into()), "0.1");
        assert_eq!(shown(Float::F32, f32::NAN.to_bits().into()), "NaN");
        // A power of two, below which numbers are twice as dense: 0.01563 reads back the same, the nearer 0.01562 does not.
        assert_eq!(shown(Float::F16, 0x2400), "0.01563");
        assert_eq!(shown(Float::F16, 0xfc00), "-inf");
        assert_eq!(shown(Float::Bf16, 0x8000), "-0.0");
        assert_eq!(shown(Float::F64, f64::NEG_INFINITY.to_bits()), "-inf");
    }
}
