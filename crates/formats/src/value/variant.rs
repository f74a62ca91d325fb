//! Enums in JSON: `"Variant"`, `{"Variant": [..]}` with fields, or `{"Variant": {..}}` with named ones.

use garblet_circuit::{Bits, Type, diagnostic::Diagnostic};
use jsonc_parser::ast::Value;
use serde_json::json;

use super::parse::Reader;

type Variant = (String, Vec<Type>);

/// An enum's value; as bits if its number is not a variant's or bits beyond the variant's fields are set.
pub(super) fn to_json(variants: &[Variant], bits: &Bits) -> serde_json::Value {
    let tag = Type::tag_width(variants.len()) as usize;
    let number = bits.slice(0, tag).to_u128().unwrap_or(u128::MAX);
    let Some((name, types)) = usize::try_from(number).ok().and_then(|number| variants.get(number)) else {
        return json!({ "bits": bits.to_string() });
    };
    let mut at = tag;
    let mut fields = Vec::with_capacity(types.len());
    for ty in types {
        let width = ty.width() as usize;
        fields.push(super::to_json(ty, &bits.slice(at, width)));
        at += width;
    }
    if bits.slice(at, bits.len() - at).iter().any(|bit| bit) {
        return json!({ "bits": bits.to_string() });
    }
    match (fields.is_empty(), Type::named_fields(types)) {
        (true, _) => json!(name),
        (false, Some(_)) => json!({ name: fields.remove(0) }),
        (false, None) => json!({ name: fields }),
    }
}

/// A hint about what to write for an enum.
pub(super) fn forms(variants: &[Variant]) -> String {
    let form = |(name, types): &Variant| {
        let list: Vec<String> = types.iter().map(Type::to_string).collect();
        match (list.is_empty(), Type::named_fields(types)) {
            (true, _) => format!("\"{name}\""),
            (false, Some(fields)) => {
                let fields: Vec<String> = fields.iter().map(|(field, ty)| format!("\"{field}\": {ty}")).collect();
                format!("{{\"{name}\": {{{}}}}}", fields.join(", "))
            }
            (false, None) => format!("{{\"{name}\": [{}]}}", list.join(", ")),
        }
    };
    format!("write {}", variants.iter().map(form).collect::<Vec<_>>().join(" or "))
}

impl Reader<'_> {
    /// The bits of an enum's value.
    pub(super) fn variant(
        self,
        path: &str,
        value: &Value,
        (ty, variants): (&Type, &[Variant]),
        bits: &mut Bits,
    ) -> Result<(), Diagnostic> {
        let (name, fields) = match value {
            Value::StringLit(name) => (name.value.as_ref(), None),
            Value::Object(object) if object.properties.len() == 1 => {
                (object.properties[0].name.as_str(), Some(&object.properties[0].value))
            }
            _ => return Err(self.mismatch(path, value, ty)),
        };
        let Some(number) = variants.iter().position(|(known, _)| known == name) else {
            let error = self.json.error_at(value, format!("{path}: expected a variant, got another name"));
            return Err(error.hint(forms(variants)));
        };
        let types = &variants[number].1;
        let end = bits.len() + ty.width() as usize;
        bits.append(&Bits::from_u128(number as u128, Type::tag_width(variants.len()) as usize));
        // The variant is a secret, as its fields are: a fault within it would reveal which it is.
        if !self.fields(path, fields, types, bits) {
            let message = format!("{path}: expected {ty}, got other fields");
            return Err(self.json.error_at(value, message).hint(forms(variants)));
        }
        bits.extend(std::iter::repeat_n(false, end - bits.len()));
        Ok(())
    }

    /// Reads the fields of a variant. Returns whether they are of its types.
    fn fields(self, path: &str, fields: Option<&Value>, types: &[Type], bits: &mut Bits) -> bool {
        match (fields, types) {
            (None, []) => true,
            (Some(Value::Array(array)), _) if array.elements.len() == types.len() => {
                array.elements.iter().zip(types).all(|(item, ty)| self.read(path, item, ty, bits).is_ok())
            }
            // A single field needs no brackets.
            (Some(field), [ty]) => self.read(path, field, ty, bits).is_ok(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::read_value;

    fn bid() -> Type {
        Type::Enum(vec![
            ("None".into(), vec![]),
            ("Offer".into(), vec![Type::Unsigned(4)]),
            ("Range".into(), vec![Type::Unsigned(2), Type::Array(Box::new(Type::Bool), 3)]),
        ])
    }

    fn read(text: &str) -> String {
        read_value("v.json", text, &bid()).map(|b| b.to_string()).unwrap_or_else(|e| e.message)
    }

    #[test]
    fn every_form_gives_its_bits() {
        for (text, expected) in [
            (r#""None""#, "0000000"),
            (r#"{"None": []}"#, "0000000"),
            (r#"{"Offer": [6]}"#, "1001100"),
            (r#"{"Offer": 6}"#, "1001100"),
            (r#"{"Range": [2, [true, false, true]]}"#, "0101101"),
            (r#"{"bits": "0101101"}"#, "0101101"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_variant_is_refused() {
        for (text, expected) in [
            (r#""Ofer""#, "value: expected a variant, got another name"),
            (r#""Offer""#, "value: expected enum {None, Offer(u4), Range(u2, [bool; 3])}, got other fields"),
            (r#"{"None": [1]}"#, "value: expected enum {None, Offer(u4), Range(u2, [bool; 3])}, got other fields"),
            (r#"{"Range": [1]}"#, "value: expected enum {None, Offer(u4), Range(u2, [bool; 3])}, got other fields"),
            (r#"{"Range": 1}"#, "value: expected enum {None, Offer(u4), Range(u2, [bool; 3])}, got other fields"),
            (r#"{"Offer": [16]}"#, "value: expected enum {None, Offer(u4), Range(u2, [bool; 3])}, got other fields"),
            ("3", "value: expected enum {None, Offer(u4), Range(u2, [bool; 3])}, got a number"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let error = read_value("v.json", "3", &bid()).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some(r#"write "None" or {"Offer": [u4]} or {"Range": [u2, [bool; 3]]}"#));
    }

    #[test]
    fn named_fields_are_an_object() {
        let fields = ["h", "w"].map(|name| (name.to_string(), Type::Unsigned(4)));
        let shape = Type::Enum(vec![("Dot".into(), vec![]), ("Box".into(), vec![Type::Record(fields.to_vec())])]);
        let read = |text: &str| read_value("v.json", text, &shape);
        for text in [r#"{"Box": {"w": 5, "h": 3}}"#, r#"{"Box": [{"h": 3, "w": 5}]}"#] {
            let bits = read(text).unwrap();
            assert_eq!(bits.to_string(), "111001010");
            assert_eq!(super::super::to_json(&shape, &bits).to_string(), r#"{"Box":{"h":3,"w":5}}"#);
        }
        let refused = |text: &str| read(text).unwrap_err();
        assert_eq!(
            refused(r#"{"Box": {"w": 5}}"#).message,
            "value: expected enum {Dot, Box {h: u4, w: u4}}, got other fields"
        );
        assert_eq!(
            refused(r#"{"Box": {"w": 16, "h": 1}}"#).message,
            "value: expected enum {Dot, Box {h: u4, w: u4}}, got other fields"
        );
        let error = refused("3");
        assert_eq!(error.message, "value: expected enum {Dot, Box {h: u4, w: u4}}, got a number");
        assert_eq!(error.hint.as_deref(), Some(r#"write "Dot" or {"Box": {"h": u4, "w": u4}}"#));
    }

    #[test]
    fn bits_that_no_variant_has_are_shown_as_bits() {
        let shown = |text: &str| super::super::to_json(&bid(), &text.parse().unwrap()).to_string();
        assert_eq!(shown("0000000"), r#""None""#);
        assert_eq!(shown("1001100"), r#"{"Offer":[6]}"#);
        assert_eq!(shown("1100000"), r#"{"bits":"1100000"}"#);
        assert_eq!(shown("0000001"), r#"{"bits":"0000001"}"#);
    }
}
