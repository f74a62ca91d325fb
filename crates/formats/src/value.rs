//! Typed values: the bits of a port from JSON and to JSON.
//!
//! Wherever a value of a [`Type`] is expected, JSON may give it as
//!
//! - an integer, `42` or `"42"` as a string, which is for tools that hold numbers of more than 53 bits as floating point and
//!   so lose digits: for `bits`, unsigned and signed integers, within the type's range;
//! - `"0x2a"`: the wires as a hexadecimal number, wire 0 the least significant bit, for all but arrays and records;
//!   for signed integers it is the two's complement;
//! - a decimal number, `1.25`, `-3` or `2.5e-1`, or a string of one, for fixed-point numbers: other numbers are rounded to
//!   the nearest, ties to even;
//! - a decimal number, or a string of one, `"NaN"`, `"inf"` or `"-inf"`, for floating-point numbers: other numbers are rounded to the
//!   nearest, ties to even; an integer must be one exactly;
//! - `true`, `false`, `0` or `1` for `bool`;
//! - `{"bits": "0110"}`: the wires in order, exactly as many as the type has;
//! - `{"hex": "001122"}`: bytes, first byte first, bit 0 of a byte on the lower wire, for every type of whole bytes;
//! - `{"text": "gattaca"}`: the UTF-8 bytes of a string, for byte strings of exactly that length;
//! - `"gattaca"`: the UTF-8 bytes of a string, for arrays of `u8` of exactly that length, and for lists with room for them; `{"text": ..}`
//!   too;
//! - an array for arrays, byte strings, tuples and, up to their room, lists; an object with all fields for records;
//! - `"Variant"` for a variant without fields, `{"Variant": {..}}` for one whose fields have names, `{"Variant": [..]}` with the fields
//!   in order for others.

mod decimal;
mod fixed;
mod float;
mod input_file;
mod keys;
mod list;
mod order;
mod parse;
mod results;
mod table;
mod text;
mod variant;

use garblet_circuit::{Bits, Type};
use serde_json::{Value, json};

pub(crate) use decimal::MAX_DECIMAL_BITS;
pub use float::{bits_of_float, float_of_bits, is_exact_float, text_of_float};
pub use input_file::{line_of_row, read_inputs};
pub use keys::{KeyForm, KeyHash, NoKeys, Price};
pub use order::{Arrange, Arranged, Misfit, Unfit, arrange, has_use};
pub(crate) use parse::Reader;
pub use parse::read_value;
pub use results::ResultTable;
pub use table::{FromTable, Renamed, Table, TableFormat};
pub use text::{to_json_text, to_text};

/// The widest integers that are numbers in JSON: many tools hold them in 53 bits.
pub(crate) const MAX_NUMBER_BITS: u32 = 53;

/// A value as JSON that [`read_value`] reads back: integers of up to 53 bits as numbers, wider ones as decimal
/// strings (hexadecimal beyond 4,096 bits, and for `bits`), fixed-point numbers as strings of all their digits, floating-point
/// numbers with as few digits as read back the same, but NaN and infinities as strings, byte strings as `{"hex": ..}`.
///
/// # Panics
/// If there are not as many bits as the type has wires.
pub fn to_json(ty: &Type, bits: &Bits) -> Value {
    assert_eq!(bits.len() as u64, ty.width(), "width of a value of type {ty}");
    match ty {
        Type::Bool => json!(bits.get(0)),
        Type::Bytes(_) => json!({ "hex": byte_hex(bits) }),
        Type::Bits(..=MAX_NUMBER_BITS) | Type::Unsigned(..=MAX_NUMBER_BITS) => {
            json!(bits.to_u128().unwrap_or_default() as u64)
        }
        Type::Signed(width @ ..=MAX_NUMBER_BITS) => json!(signed(bits, *width)),
        Type::Unsigned(..=MAX_DECIMAL_BITS) => json!(decimal::to_decimal(bits)),
        Type::Signed(..=MAX_DECIMAL_BITS) => match bits.get(bits.len() - 1) {
            true => json!(format!("-{}", decimal::to_decimal(&decimal::negate(bits)))),
            false => json!(decimal::to_decimal(bits)),
        },
        Type::Bits(_) | Type::Unsigned(_) | Type::Signed(_) => json!(integer_hex(bits)),
        Type::Fixed(..) if ty.width() > MAX_DECIMAL_BITS.into() => json!(integer_hex(bits)),
        Type::Fixed(_, fraction) => json!(fixed::to_text(bits, *fraction)),
        Type::Float(format) => float::to_json(*format, bits),
        Type::Array(element, count) => {
            let width = element.width() as usize;
            (0..*count as usize).map(|k| to_json(element, &bits.slice(k * width, width))).collect()
        }
        Type::List(element, most) => list::to_json(element, *most, bits),
        Type::Record(fields) => {
            let mut start = 0;
            let field = |(name, ty): &(String, Type)| {
                let width = ty.width() as usize;
                start += width;
                (name.clone(), to_json(ty, &bits.slice(start - width, width)))
            };
            let fields: Vec<(String, Value)> = fields.iter().map(field).collect();
            match ty.is_tuple() && !fields.is_empty() {
                true => fields.into_iter().map(|(_, value)| value).collect(),
                false => Value::Object(fields.into_iter().collect()),
            }
        }
        Type::Enum(variants) => variant::to_json(variants, bits),
    }
}

/// An output as the command line prints it: `value` by type, `hex` (byte strings and arrays of `u8`: bytes in order; all else: `0x` and the
/// wires as a number, wire 0 the least significant bit) and `bits` in wire order.
///
/// # Panics
/// If there are not as many bits as the type has wires.
pub fn output_json(ty: &Type, bits: &Bits) -> Value {
    let hex = match ty {
        Type::Bytes(_) => byte_hex(bits),
        Type::Array(element, _) if **element == Type::Unsigned(8) => byte_hex(bits),
        _ => integer_hex(bits),
    };
    json!({ "value": to_json(ty, bits), "hex": hex, "bits": bits.to_string() })
}

/// The number of a two's complement of at most 64 bits.
fn signed(bits: &Bits, width: u32) -> i64 {
    let unused = 64 - width;
    let pattern = bits.to_u128().unwrap_or_default() as u64;
    // Shifting by 64 would be no shift at all.
    if unused == 64 { 0 } else { (pattern << unused).cast_signed() >> unused }
}

fn byte_hex(bits: &Bits) -> String {
    bits.to_bytes().iter().map(|b| format!("{b:02x}")).collect()
}

fn integer_hex(bits: &Bits) -> String {
    let digits = bits.len().div_ceil(4).max(1);
    let text: String = bits.to_bytes().iter().rev().map(|b| format!("{b:02x}")).collect();
    format!("0x{}{}", if text.is_empty() { "0" } else { "" }, &text[text.len().saturating_sub(digits)..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use garblet_circuit::{Float, random::small_type};

    use super::*;

    fn bits(text: &str) -> Bits {
        text.parse().unwrap()
    }

    #[test]
    fn outputs_show_value_hex_and_bits() {
        let cases = [
            (Type::Unsigned(5), "01101", json!({"value": 22, "hex": "0x16", "bits": "01101"})),
            (Type::Signed(5), "01101", json!({"value": -10, "hex": "0x16", "bits": "01101"})),
            (Type::Bool, "1", json!({"value": true, "hex": "0x1", "bits": "1"})),
            (
                Type::Bytes(2),
                "1000000001000000",
                json!({"value": {"hex": "0102"}, "hex": "0102", "bits": "1000000001000000"}),
            ),
            (
                Type::Array(Box::new(Type::Unsigned(8)), 2),
                "1000000001000000",
                json!({"value": [1, 2], "hex": "0102", "bits": "1000000001000000"}),
            ),
            (Type::Array(Box::new(Type::Bool), 2), "10", json!({"value": [true, false], "hex": "0x1", "bits": "10"})),
            (
                Type::Record(vec![("a".into(), Type::Bool)]),
                "1",
                json!({"value": {"a": true}, "hex": "0x1", "bits": "1"}),
            ),
            (Type::Unsigned(0), "", json!({"value": 0, "hex": "0x0", "bits": ""})),
        ];
        for (ty, text, expected) in cases {
            assert_eq!(output_json(&ty, &bits(text)), expected, "{ty}");
        }
    }

    #[test]
    fn integers_over_53_bits_are_decimal_strings_and_bits_hexadecimal() {
        let large = Bits::from_u128(1 << 64, 65);
        assert_eq!(to_json(&Type::Unsigned(65), &large), json!("18446744073709551616"));
        assert_eq!(to_json(&Type::Signed(65), &large), json!("-18446744073709551616"));
        assert_eq!(to_json(&Type::Bits(65), &large), json!("0x10000000000000000"));
        assert_eq!(to_json(&Type::Signed(64), &Bits::from_u128(1 << 63, 64)), json!("-9223372036854775808"));
        let most = |width: u32| (0..width).map(|_| true).collect::<Bits>();
        assert_eq!(to_json(&Type::Unsigned(53), &most(53)), json!(9_007_199_254_740_991u64));
        assert_eq!(to_json(&Type::Unsigned(54), &most(54)), json!("18014398509481983"));
        assert_eq!(to_json(&Type::Unsigned(54), &Bits::from_u128(7, 54)), json!("7"));
        assert_eq!(to_json(&Type::Bits(54), &most(54)), json!("0x3fffffffffffff"));
        assert_eq!(to_json(&Type::Signed(53), &most(53)), json!(-1));
        assert_eq!(to_json(&Type::Signed(54), &most(54)), json!("-1"));
    }

    #[test]
    fn inputs_take_wide_integers_as_numbers_and_as_strings() {
        for (ty, number) in [(Type::Unsigned(64), "18446744073709551615"), (Type::Signed(64), "-9223372036854775808")] {
            let [plain, quoted] = [number.to_string(), format!("\"{number}\"")].map(|text| read_value("v", &text, &ty));
            assert_eq!(plain.expect("a number").to_string(), quoted.expect("a string").to_string());
        }
    }

    #[test]
    #[should_panic(expected = "width of a value of type u8")]
    fn bits_of_another_width_are_refused() {
        to_json(&Type::Unsigned(8), &Bits::zeros(7));
    }

    proptest! {
        #[test]
        fn values_survive_json(seed: u64) {
            let rng = &mut StdRng::seed_from_u64(seed);
            let ty = match rng.random_range(0..9) {
                0 => Type::Unsigned(rng.random_range(1..400)),
                1 => Type::Signed(rng.random_range(1..400)),
                2 => Type::Bits(rng.random_range(1..400)),
                3 => Type::Fixed(rng.random_range(1..200), rng.random_range(0..200)),
                5..=7 => Type::Float(Float::ALL[rng.random_range(0..Float::ALL.len())]),
                4 => Type::List(Box::new(small_type(rng, 1)), rng.random_range(0..6)),
                _ => small_type(rng, 2),
            };
            let bits: Bits = (0..ty.width()).map(|_| rng.random()).collect();
            // All NaNs are written alike.
            prop_assume!(to_json(&ty, &bits) != json!("NaN"));
            for form in [to_json(&ty, &bits), json!({"bits": bits.to_string()})] {
                let back = read_value("v.json", &form.to_string(), &ty).map_err(|e| e.to_string());
                prop_assert_eq!(back.map(|b| b.to_string()), Ok(bits.to_string()), "{} {}", ty, form);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}\":,0-9a-fx -]{0,40}", seed: u64) {
            let ty = small_type(&mut StdRng::seed_from_u64(seed), 2);
            if let Ok(bits) = read_value("v.json", &text, &ty) {
                prop_assert_eq!(bits.len() as u64, ty.width());
            }
        }
    }
}
