//! Lists of bounded length: their count, the values, and zeros.

use garblet_circuit::{Bits, Type, diagnostic::Diagnostic};
use jsonc_parser::ast::Value;
use serde_json::json;

use super::parse::Reader;

/// The values of a list; its bits if its count exceeds its room, or bits after the values are set.
pub(super) fn to_json(element: &Type, most: u32, bits: &Bits) -> serde_json::Value {
    let count_width = Type::count_width(most) as usize;
    let width = element.width() as usize;
    let count = bits.slice(0, count_width).to_u128().unwrap_or(u128::MAX);
    let value = |k: usize| bits.slice(count_width + k * width, width);
    let is_zero = |k: usize| !value(k).iter().any(|bit| bit);
    if count > u128::from(most) || !(count as usize..most as usize).all(is_zero) {
        return json!({ "bits": bits.to_string() });
    }
    (0..count as usize).map(|k| super::to_json(element, &value(k))).collect()
}

/// The bits of a list with this count and these bits of values.
pub(super) fn pad(count: usize, values: &Bits, ty: &Type, most: u32) -> Bits {
    let mut bits = Bits::from_u128(count as u128, Type::count_width(most) as usize);
    bits.append(values);
    bits.extend(std::iter::repeat_n(false, ty.width() as usize - bits.len()));
    bits
}

impl Reader<'_> {
    /// Appends the bits of a list.
    pub(super) fn list(
        self,
        path: &str,
        value: &Value,
        (ty, element, most): (&Type, &Type, u32),
        bits: &mut Bits,
    ) -> Result<(), Diagnostic> {
        if let Value::StringLit(text) = value
            && *element == Type::Unsigned(8)
        {
            bits.append(&self.text_list(path, value, &text.value, (ty, most))?);
            return Ok(());
        }
        let Value::Array(array) = value else { return Err(self.mismatch(path, value, ty)) };
        let count = array.elements.len();
        if count > most as usize {
            return Err(self.json.error_at(value, format!("{path}: expected at most {most} elements, got more")));
        }
        let mut values = Bits::default();
        for (k, item) in array.elements.iter().enumerate() {
            self.read(&format!("{path}[{k}]"), item, element, &mut values)?;
        }
        bits.append(&pad(count, &values, ty, most));
        Ok(())
    }

    /// The bits of a list of bytes from a text.
    pub(super) fn text_list(
        self,
        path: &str,
        value: &Value,
        text: &str,
        (ty, most): (&Type, u32),
    ) -> Result<Bits, Diagnostic> {
        if text.len() > most as usize {
            let message = format!("{path}: expected {ty}, that is at most {most} bytes of UTF-8, got more");
            return Err(self.json.error_at(value, message));
        }
        Ok(pad(text.len(), &Bits::from_bytes(text.as_bytes()), ty, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{read_value, to_json as value_to_json};

    fn pairs() -> Type {
        let pair = Type::Record(vec![("a".into(), Type::Unsigned(2)), ("b".into(), Type::Bool)]);
        Type::List(Box::new(pair), 2)
    }

    fn read(ty: &Type, text: &str) -> String {
        read_value("v.json", text, ty).map(|b| b.to_string()).unwrap_or_else(|e| e.message)
    }

    #[test]
    fn shorter_lists_are_padded() {
        for (text, bits) in [
            ("[]", "00000000"),
            (r#"[{"a": 3, "b": false}]"#, "10110000"),
            (r#"[{"a": 3, "b": false}, {"a": 0, "b": true}]"#, "01110001"),
        ] {
            assert_eq!(read(&pairs(), text), bits, "{text}");
            let back = value_to_json(&pairs(), &bits.parse().unwrap()).to_string();
            assert_eq!(read(&pairs(), &back), bits, "{text}");
        }
        let bytes = Type::List(Box::new(Type::Unsigned(8)), 3);
        assert_eq!(read(&bytes, "\"A\""), format!("10{}{}", "10000010", "0".repeat(16)));
        assert_eq!(read(&bytes, r#"{"text": "A"}"#), read(&bytes, "[65]"));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (text, expected) in [
            ("[1, 2, 3]", "value: expected at most 2 elements, got more"),
            (r#"[{"a": 4, "b": false}]"#, "value[0].a: expected u2, got a number out of range"),
            ("3", "value: expected [{a: u2, b: bool}; ..2], got a number"),
        ] {
            assert_eq!(read(&pairs(), text), expected, "{text}");
        }
        let hint = read_value("v.json", "3", &pairs()).unwrap_err().hint;
        assert_eq!(hint.as_deref(), Some("write an array of at most 2 times {a: u2, b: bool}"));
        let bytes = Type::List(Box::new(Type::Unsigned(8)), 3);
        assert_eq!(read(&bytes, "\"ABCD\""), "value: expected [u8; ..3], that is at most 3 bytes of UTF-8, got more");
        for (bits, expected) in [("01", "bits, got fewer"), (&*"0".repeat(99), "bits, got more")] {
            let told = read(&bytes, &format!("{{\"bits\": \"{bits}\"}}"));
            assert!(told.ends_with(expected), "{told}");
        }
    }

    #[test]
    fn bits_that_no_list_has_are_shown_as_bits() {
        // Three of two; one, and a value after it.
        for bits in ["11000000", "10110001"] {
            assert_eq!(value_to_json(&pairs(), &bits.parse().unwrap()), json!({ "bits": bits }));
        }
    }
}
