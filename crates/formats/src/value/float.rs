//! Floating-point numbers as decimal ones.
//!
//! A decimal number becomes the nearest one of the format, ties to even. A number is written with as few digits as read back the same.

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
    let is_finite_text = !text.ends_with(['N', 'f']);
    if !is_number(text) {
        return None;
    }
    Some(match format {
        _ if text == "NaN" && format == Float::F32 => 0x7fc0_0000,
        _ if text == "NaN" => 0x7ff8_0000_0000_0000,
        Float::F32 => text.parse().ok().filter(|x: &f32| x.is_finite() == is_finite_text)?.to_bits().into(),
        Float::F64 => text.parse().ok().filter(|x: &f64| x.is_finite() == is_finite_text)?.to_bits(),
    })
}

/// The number that bits of a format are. Every one of `f32` is one of `f64`.
pub fn float_of_bits(format: Float, bits: u64) -> f64 {
    match format {
        Float::F32 => f32::from_bits(bits as u32).into(),
        Float::F64 => f64::from_bits(bits),
    }
}

/// Returns whether bits are exactly the integer.
pub(super) fn is_exact(format: Float, bits: &Bits, integer: &str) -> bool {
    let number = float_of_bits(format, bits.to_u128().unwrap_or_default() as u64);
    let digits = |text: &str| text.trim_start_matches(['-', '0']).to_string();
    digits(&format!("{number:.0}")) == digits(integer)
}

/// A number in JSON.
pub(super) fn to_json(format: Float, bits: &Bits) -> Value {
    let number = float_of_bits(format, bits.to_u128().unwrap_or_default() as u64);
    let shortest = match format {
        // The digits that tell it from others of its format, as a double.
        Float::F32 => format!("{:?}", number as f32).parse().unwrap_or(number),
        Float::F64 => number,
    };
    match number {
        _ if number.is_nan() => json!("NaN"),
        _ if number.is_infinite() => json!(if number > 0.0 { "inf" } else { "-inf" }),
        _ => json!(shortest),
    }
}

/// A hint about the range of a format.
pub(super) fn range(format: Float) -> String {
    match format {
        Float::F32 => format!("f32 is {:?} to {:?}", f32::MIN, f32::MAX),
        Float::F64 => format!("f64 is {:?} to {:?}", f64::MIN, f64::MAX),
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
        assert_eq!(read(Float::F32, "16777217").unwrap_err(), exact.replace("f64", "f32"));
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
        assert_eq!(shown(Float::F64, f64::NEG_INFINITY.to_bits()), "-inf");
    }
}
