//! One value from JSON, by type.

use garblet_circuit::{
    Bits, Float, Type,
    diagnostic::{Diagnostic, clip},
};
use jsonc_parser::ast::{ObjectProp, Value};

use super::{decimal, fixed, float, variant};
use crate::json::{JsonText, kind};

/// The hint about a number with a fraction where a whole one is expected.
pub(super) const FRACTION_HINT: &str =
    "write a whole number, without a point or a comma; numbers with a fraction need a type such as fixed<16, 16>";

/// Reads a JSON text that is one value of a type, in any of the [forms](crate::value).
///
/// *Errors*: any other text, with its place and the path to it.
pub fn read_value(file: &str, text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
    let json = JsonText { file, text };
    Reader { json }.value("value", &json.parse()?, ty)
}

/// Reads values of one JSON text.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) json: JsonText<'a>,
}

impl Reader<'_> {
    /// The bits of `value`; `path` names it in messages.
    pub(crate) fn value(self, path: &str, value: &Value, ty: &Type) -> Result<Bits, Diagnostic> {
        let mut bits = Bits::default();
        self.read(path, value, ty, &mut bits)?;
        Ok(bits)
    }

    pub(super) fn read(self, path: &str, value: &Value, ty: &Type, bits: &mut Bits) -> Result<(), Diagnostic> {
        if let Value::Object(object) = value
            && let [property] = &object.properties[..]
            && !has_member(ty, property.name.as_str())
            && let Some(raw) = self.raw(path, property, ty)?
        {
            bits.append(&raw);
            return Ok(());
        }
        match (ty, value) {
            (Type::Bool, Value::BooleanLit(b)) => bits.push(b.value),
            (Type::Array(element, count), Value::Array(array)) => {
                self.count(path, value, ty, array.elements.len(), *count)?;
                for (k, item) in array.elements.iter().enumerate() {
                    self.read(&format!("{path}[{k}]"), item, element, bits)?;
                }
            }
            (Type::Bytes(count), Value::Array(array)) => {
                self.count(path, value, ty, array.elements.len(), *count)?;
                for (k, item) in array.elements.iter().enumerate() {
                    self.read(&format!("{path}[{k}]"), item, &Type::Unsigned(8), bits)?;
                }
            }
            (Type::List(element, most), _) => self.list(path, value, (ty, element, *most), bits)?,
            (Type::Record(fields), Value::Object(_)) => self.record(path, value, fields, bits)?,
            (Type::Record(fields), Value::Array(array)) if ty.is_tuple() => {
                self.count(path, value, ty, array.elements.len(), fields.len() as u32)?;
                for ((name, ty), item) in fields.iter().zip(&array.elements) {
                    self.read(&format!("{path}.{name}"), item, ty, bits)?;
                }
            }
            (Type::Array(element, _), Value::StringLit(text)) if **element == Type::Unsigned(8) => {
                bits.append(&self.text(path, value, &text.value, ty)?);
            }
            (Type::Enum(variants), _) => self.variant(path, value, (ty, variants), bits)?,
            (Type::Array(..) | Type::Record(_), _) => return Err(self.mismatch(path, value, ty)),
            (Type::Fixed(_, fraction), Value::NumberLit(_) | Value::StringLit(_)) => {
                bits.append(&self.fixed(path, value, ty, *fraction)?);
            }
            (Type::Bits(64), Value::NumberLit(number)) if number.value.contains(['.', 'e', 'E']) => {
                let double = number.value.parse().ok().filter(|double: &f64| double.is_finite());
                let error = || self.out_of_range(path, value, ty).hint("a double is less than 1.8e308");
                let double = double.ok_or_else(error)?;
                bits.append(&Bits::from_u128(double.to_bits().into(), 64));
            }
            (Type::Float(format), Value::NumberLit(_) | Value::StringLit(_)) => {
                bits.append(&self.float(path, value, ty, *format)?);
            }
            // Which byte would be the first?
            (Type::Bytes(count), Value::NumberLit(_)) if *count != 1 => return Err(self.mismatch(path, value, ty)),
            (_, Value::NumberLit(number)) => bits.append(&self.integer(path, value, number.value, ty)?),
            (_, Value::StringLit(string)) => bits.append(&self.integer(path, value, &string.value, ty)?),
            _ => return Err(self.mismatch(path, value, ty)),
        }
        Ok(())
    }

    pub(super) fn mismatch(self, path: &str, value: &Value, ty: &Type) -> Diagnostic {
        let error = self.json.error_at(value, format!("{path}: expected {ty}, got {}", kind(value)));
        match ty {
            Type::Bytes(_) => error.hint("write byte strings as {\"hex\": \"00ff..\"} or {\"text\": \"..\"}"),
            Type::Enum(variants) => error.hint(variant::forms(variants)),
            Type::Record(fields) if ty.is_tuple() => {
                let types: Vec<String> = fields.iter().map(|(_, ty)| ty.to_string()).collect();
                error.hint(format!("write an array [{}]", types.join(", ")))
            }
            Type::Record(fields) => {
                let names: Vec<String> = fields.iter().map(|(name, ty)| format!("\"{name}\": {ty}")).collect();
                error.hint(format!("write an object {{{}}}", names.join(", ")))
            }
            Type::Array(element, count) => error.hint(format!("write an array of {count} times {element}")),
            Type::List(element, most) => error.hint(format!("write an array of at most {most} times {element}")),
            Type::Fixed(..) => error.hint("write a decimal number, such as 1.25"),
            Type::Float(_) => error.hint("write a number, such as 1.25 or 1e-9, or \"NaN\", \"inf\" or \"-inf\""),
            Type::Bool => error.hint("write true or false"),
            Type::Bits(_) | Type::Unsigned(_) | Type::Signed(_) if matches!(value, Value::NumberLit(_)) => {
                error.hint(FRACTION_HINT)
            }
            Type::Bits(_) | Type::Unsigned(_) | Type::Signed(_) => {
                error.hint(format!("write a number, or {{\"bits\": \"..\"}} with {} wires in order", ty.width()))
            }
        }
    }

    fn out_of_range(self, path: &str, value: &Value, ty: &Type) -> Diagnostic {
        self.json.error_at(value, format!("{path}: expected {ty}, got a number out of range"))
    }

    pub(super) fn count(
        self,
        path: &str,
        value: &Value,
        ty: &Type,
        got: usize,
        expected: u32,
    ) -> Result<(), Diagnostic> {
        match got == expected as usize {
            true => Ok(()),
            false => {
                let got = match is_text(ty) {
                    true => fewer_or_more(got as u64, expected.into()).into(),
                    false => got.to_string(),
                };
                Err(self.json.error_at(value, format!("{path}: expected {ty}, got {got} elements")))
            }
        }
    }

    fn record(self, path: &str, value: &Value, fields: &[(String, Type)], bits: &mut Bits) -> Result<(), Diagnostic> {
        let members = self.json.members(value, path)?;
        let known = || fields.iter().map(|f| f.0.as_str());
        if let Some((key, property)) = members.iter().find(|(key, _)| !known().any(|f| f == *key)) {
            let error = self.json.error_at(&property.name, format!("{path}: there is no field `{}`", clip(key)));
            return Err(error.suggest(key, known()));
        }
        for (name, ty) in fields {
            let Some((_, property)) = members.iter().find(|(key, _)| key == name) else {
                return Err(self.json.error_at(value, format!("{path}: field `{name}` ({ty}) is missing")));
            };
            self.read(&format!("{path}.{name}"), &property.value, ty, bits)?;
        }
        Ok(())
    }

    /// `{"bits": ..}`, `{"hex": ..}` or `{"text": ..}`; `None` for other keys.
    fn raw(self, path: &str, property: &ObjectProp, ty: &Type) -> Result<Option<Bits>, Diagnostic> {
        let key = property.name.as_str();
        if !matches!(key, "bits" | "hex" | "text") {
            return Ok(None);
        }
        let error = |message: String| self.json.error_at(&property.value, format!("{path}: {message}"));
        let Value::StringLit(text) = &property.value else {
            return Err(error(format!("expected a string in {{\"{key}\": ..}}, got {}", kind(&property.value))));
        };
        let text = text.value.as_ref();
        if key == "text" {
            return match is_text(ty) {
                true => self.text(path, &property.value, text, ty).map(Some),
                false => Err(error(format!("expected {ty}, got text"))),
            };
        }
        let width = ty.width();
        let (expected, got, unit) = match key {
            "bits" => (width, text.chars().count() as u64, "bits"),
            "hex" if !width.is_multiple_of(8) => {
                return Err(error(format!("{{\"hex\": ..}} is whole bytes, but {ty} has {width} bits"))
                    .hint("write {\"bits\": \"..\"} in wire order, or a number"));
            }
            _ => (width / 4, text.chars().count() as u64, "hex digits"),
        };
        if expected != got {
            let got = match ty {
                ty if is_text(ty) || matches!(ty, Type::List(..)) => fewer_or_more(got, expected).into(),
                _ => got.to_string(),
            };
            let error = error(format!("expected {ty}, that is {expected} {unit}, got {got}"));
            return Err(match text.starts_with("0x") {
                true => error.hint("write a hexadecimal number as \"0x..\", without {\"hex\": ..}"),
                false => error,
            });
        }
        match key {
            "bits" => text.parse().map(Some).map_err(|wrong: garblet_circuit::NotBits| {
                error(format!("character {} of the bit string is neither `0` nor `1`", wrong.at))
            }),
            _ => match hex_bytes(text) {
                Some(bytes) => Ok(Some(Bits::from_bytes(&bytes))),
                None => Err(error(format!("expected {expected} hex digits, got other characters"))),
            },
        }
    }

    /// A string's bytes, exactly as many as the type has.
    fn text(self, path: &str, value: &Value, text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
        if let Type::List(_, most) = ty {
            return self.text_list(path, value, text, (ty, *most));
        }
        let (expected, got) = (ty.width() / 8, text.len() as u64);
        match expected == got {
            true => Ok(Bits::from_bytes(text.as_bytes())),
            false => {
                let got = fewer_or_more(got, expected);
                let message = format!("{path}: expected {ty}, that is {expected} bytes of UTF-8, got {got}");
                Err(self.json.error_at(value, message))
            }
        }
    }

    /// A fixed-point number: a decimal one, or `0x..` with all its wires.
    fn fixed(self, path: &str, value: &Value, ty: &Type, fraction: u32) -> Result<Bits, Diagnostic> {
        let text = match value {
            Value::NumberLit(number) => number.value,
            Value::StringLit(string) => &string.value,
            _ => return Err(self.mismatch(path, value, ty)),
        };
        if text.starts_with("0x") {
            return self.all_wires(path, value, text, ty);
        }
        let width = ty.width() as usize;
        let Some(decimal) = fixed::Decimal::of(text) else { return Err(self.mismatch(path, value, ty)) };
        match decimal.bits(width, fraction) {
            Some(bits) => Ok(bits),
            None => Err(self.out_of_range(path, value, ty).hint(fixed::range(ty, width, fraction))),
        }
    }

    /// A floating-point number: a decimal one, `NaN`, `inf`, `-inf`, or `0x..` with all its wires.
    fn float(self, path: &str, value: &Value, ty: &Type, format: Float) -> Result<Bits, Diagnostic> {
        let text = match value {
            Value::NumberLit(number) => number.value,
            Value::StringLit(string) => &string.value,
            _ => return Err(self.mismatch(path, value, ty)),
        };
        if text.starts_with("0x") {
            return self.all_wires(path, value, text, ty);
        }
        if !float::is_number(text) {
            return Err(self.mismatch(path, value, ty));
        }
        let Some(number) = float::bits_of_float(format, text) else {
            return Err(self.out_of_range(path, value, ty).hint(float::range(format)));
        };
        let bits = Bits::from_u128(number.into(), format.width() as usize);
        match text.bytes().all(|b| b.is_ascii_digit() || b == b'-') && !float::is_exact_float(format, number, text) {
            true => {
                let message = format!("{path}: expected {ty}, got an integer that is not exactly one");
                Err(self
                    .json
                    .error_at(value, message)
                    .hint("write a point, as in 1.0, to have it rounded to the nearest"))
            }
            false => Ok(bits),
        }
    }

    /// The wires of a number that is no integer, as `0x..`, of which no digit may be left out: nobody can tell on which side it would be.
    fn all_wires(self, path: &str, value: &Value, text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
        let (digits, expected) = (text.len() - 2, ty.width().div_ceil(4) as usize);
        if digits != expected {
            let message = format!("{path}: expected {expected} hexadecimal digits, all wires of {ty}, got {digits}");
            let hint = match digits < expected {
                true => "write zeros in front, or a decimal number",
                false => "leave out digits in front, or write a decimal number",
            };
            return Err(self.json.error_at(value, message).hint(hint));
        }
        self.integer(path, value, text, ty)
    }

    /// A decimal number or `0x..`, as a number or a string.
    fn integer(self, path: &str, value: &Value, text: &str, ty: &Type) -> Result<Bits, Diagnostic> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let hex = text.strip_prefix("0x").filter(|h| !h.is_empty() && h.bytes().all(|b| b.is_ascii_hexdigit()));
        let decimal = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if hex.is_none() && (!decimal || matches!(ty, Type::Bytes(_)) && matches!(value, Value::StringLit(_))) {
            return Err(self.mismatch(path, value, ty));
        }
        let width = ty.width() as usize;
        let magnitude = match hex {
            Some(hex) => from_hex(hex),
            None => decimal::from_decimal(digits).ok_or_else(|| {
                let most = super::MAX_DECIMAL_BITS;
                self.json
                    .error_at(value, format!("{path}: expected {ty}, got more decimal digits than are read"))
                    .hint(format!("write numbers of more than {most} bits as \"0x..\""))
            })?,
        };
        let needed = magnitude.len();
        let power_of_two = magnitude.iter().filter(|&bit| bit).count() == 1;
        let fits = match ty {
            Type::Signed(_) if hex.is_none() => {
                needed < width || needed == 0 || negative && power_of_two && needed == width
            }
            _ => (!negative || needed == 0) && needed <= width,
        };
        if !fits {
            return Err(self.out_of_range(path, value, ty).hint(range_hint(ty, hex.is_some())));
        }
        let padded: Bits = magnitude.iter().chain(std::iter::repeat_n(false, width - needed)).collect();
        Ok(if negative { decimal::negate(&padded) } else { padded })
    }
}

/// Says no more about the length of a text or a list, which is a part of its value.
fn fewer_or_more(got: u64, expected: u64) -> &'static str {
    if got < expected { "fewer" } else { "more" }
}

/// Returns whether an object with that one key is by itself a value of the type.
fn has_member(ty: &Type, key: &str) -> bool {
    match ty {
        Type::Record(fields) => fields.iter().any(|(name, _)| name == key),
        Type::Enum(variants) => variants.iter().any(|(name, _)| name == key),
        _ => false,
    }
}

/// Returns whether a text can be a value of the type.
pub(super) fn is_text(ty: &Type) -> bool {
    match ty {
        Type::Bytes(_) => true,
        Type::Array(element, _) | Type::List(element, _) => **element == Type::Unsigned(8),
        _ => false,
    }
}

fn range_hint(ty: &Type, hex: bool) -> String {
    match ty {
        Type::Signed(w @ 1..=64) if !hex => {
            let half = 1i128 << (w - 1);
            format!("{ty} is {} to {}", -half, half - 1)
        }
        Type::Unsigned(w @ 0..=64) | Type::Bits(w @ 0..=64) if !hex => format!("{ty} is 0 to {}", (1u128 << w) - 1),
        _ => format!("{ty} has {} bits", ty.width()),
    }
}

/// The bits of a hexadecimal number without leading zeros.
fn from_hex(digits: &str) -> Bits {
    let mut bits = Bits::default();
    let digits = digits.trim_start_matches('0');
    for digit in digits.chars().rev().filter_map(|c| c.to_digit(16)) {
        bits.extend((0..4).map(|i| digit >> i & 1 == 1));
    }
    let top_zeros = bits.iter().rev().take_while(|&bit| !bit).count();
    bits.slice(0, bits.len() - top_zeros)
}

/// The bytes of an even number of hexadecimal digits.
fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    Some(digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(ty: Type, text: &str) -> String {
        read_value("v.json", text, &ty).map(|b| b.to_string()).unwrap_or_else(|e| e.message)
    }

    fn record() -> Type {
        Type::Record(vec![("age".into(), Type::Unsigned(3)), ("member".into(), Type::Bool)])
    }

    #[test]
    fn every_form_gives_its_bits() {
        for (ty, text, expected) in [
            (Type::Unsigned(4), "6", "0110"),
            (Type::Unsigned(4), "\"6\"", "0110"),
            (Type::Bits(4), "\"0x6\"", "0110"),
            (Type::Bits(4), "\"0x0006\"", "0110"),
            // -3 as a double is 0xc008000000000000.
            (Type::Bits(64), "-3.0", &format!("{}1{}11", "0".repeat(51), "0".repeat(10))),
            (Type::Signed(4), "-2", "0111"),
            (Type::Signed(4), "-8", "0001"),
            (Type::Signed(4), "7", "1110"),
            (Type::Signed(4), "\"0xf\"", "1111"),
            (Type::Unsigned(4), "-0", "0000"),
            (Type::Bool, "true", "1"),
            (Type::Bool, "0", "0"),
            (Type::Unsigned(4), r#"{"bits": "0110"}"#, "0110"),
            (Type::Bytes(2), r#"{"hex": "01F0"}"#, "1000000000001111"),
            (Type::Bytes(2), r#"[1, 240]"#, "1000000000001111"),
            (Type::Bytes(1), r#"{"text": "A"}"#, "10000010"),
            (Type::Bits(16), r#"{"hex": "01f0"}"#, "1000000000001111"),
            (Type::Bytes(2), "\"0xf001\"", "1000000000001111"),
            (Type::Array(Box::new(Type::Unsigned(2)), 3), r#"[1, "0x2", {"bits": "11"}]"#, "100111"),
            (record(), r#"{"member": true, "age": 6}"#, "0111"),
            (record(), r#"{"bits": "0111"}"#, "0111"),
            (Type::Record(vec![("bits".into(), Type::Unsigned(2))]), r#"{"bits": 2}"#, "01"),
        ] {
            assert_eq!(read(ty.clone(), text), expected, "{ty} from {text}");
        }
    }

    #[test]
    fn numbers_of_any_width_are_exact() {
        let most = "340282366920938463463374607431768211455";
        assert_eq!(read(Type::Unsigned(128), most), "1".repeat(128));
        assert_eq!(read(Type::Unsigned(128), &format!("\"{most}\"")), "1".repeat(128));
        assert!(read(Type::Unsigned(127), most).ends_with("out of range"));
        let lowest = "-170141183460469231731687303715884105728";
        assert_eq!(read(Type::Signed(128), lowest), format!("{}1", "0".repeat(127)));
    }

    #[test]
    fn values_out_of_range_say_the_range() {
        for (ty, text) in [
            (Type::Unsigned(4), "16"),
            (Type::Unsigned(4), "-1"),
            (Type::Signed(4), "8"),
            (Type::Signed(4), "-9"),
            (Type::Bits(4), "\"0x10\""),
            (Type::Signed(4), "\"0x10\""),
            (Type::Bits(64), "-3"),
            (Type::Bits(64), "1e999"),
            (Type::Bool, "2"),
        ] {
            let error = read_value("v.json", text, &ty).unwrap_err();
            assert!(error.message.ends_with("got a number out of range"), "{ty} from {text}: {error}");
            assert!(error.hint.is_some());
        }
        let error = read_value("v.json", "-9", &Type::Signed(4)).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("i4 is -8 to 7"));
    }

    #[test]
    fn values_of_another_type_say_both() {
        for (ty, text, expected) in [
            (Type::Unsigned(4), "1.5", "value: expected u4, got a number with a point or an exponent"),
            (Type::Unsigned(4), "1e3", "value: expected u4, got a number with a point or an exponent"),
            (Type::Unsigned(4), "\"six\"", "value: expected u4, got a string"),
            (Type::Unsigned(4), "\"0x\"", "value: expected u4, got a string"),
            (Type::Unsigned(4), "null", "value: expected u4, got null"),
            (Type::Unsigned(4), "[1]", "value: expected u4, got an array"),
            (Type::Unsigned(4), "true", "value: expected u4, got a truth value"),
            (Type::Bytes(2), "\"12\"", "value: expected bytes2, got a string"),
            (Type::Bytes(2), "[1]", "value: expected bytes2, got fewer elements"),
            (Type::Bytes(2), r#"{"hex": "01f"}"#, "value: expected bytes2, that is 4 hex digits, got fewer"),
            (Type::Bytes(2), r#"{"hex": "01fg"}"#, "value: expected 4 hex digits, got other characters"),
            (Type::Bytes(2), r#"{"text": "abc"}"#, "value: expected bytes2, that is 2 bytes of UTF-8, got more"),
            (Type::Unsigned(8), r#"{"text": "a"}"#, "value: expected u8, got text"),
            (Type::Unsigned(4), r#"{"hex": "6"}"#, "value: {\"hex\": ..} is whole bytes, but u4 has 4 bits"),
            (Type::Unsigned(4), r#"{"bits": "011"}"#, "value: expected u4, that is 4 bits, got 3"),
            (Type::Unsigned(2), r#"{"bits": "0x"}"#, "value: character 2 of the bit string is neither `0` nor `1`"),
            (Type::Unsigned(2), r#"{"bits": 10}"#, "value: expected a string in {\"bits\": ..}, got a number"),
            (Type::Unsigned(2), r#"{"value": 1}"#, "value: expected u2, got an object"),
            (Type::Array(Box::new(Type::Bool), 2), "[true]", "value: expected [bool; 2], got 1 elements"),
            (Type::Array(Box::new(Type::Bool), 2), "[true, 5]", "value[1]: expected bool, got a number out of range"),
            (record(), r#"{"age": 1}"#, "value: field `member` (bool) is missing"),
            (record(), r#"{"age": 1, "membr": true}"#, "value: there is no field `membr`"),
            (record(), r#"{"age": 9, "member": true}"#, "value.age: expected u3, got a number out of range"),
            (record(), "5", "value: expected {age: u3, member: bool}, got a number"),
        ] {
            assert_eq!(read(ty, text), expected, "{text}");
        }
        let error = read_value("v.json", r#"{"age": 1, "membr": true}"#, &record()).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean `member`?"));
    }

    #[test]
    fn absurdly_long_numbers_are_refused_at_once() {
        let digits = "9".repeat(1_000_000);
        let message = read(Type::Unsigned(64), &digits);
        assert_eq!(message, "value: expected u64, got more decimal digits than are read");
    }
}
