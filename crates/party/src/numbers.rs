//! Numbers of JavaScript for which JSON has no number: `NaN`, infinite ones, `-0`, and integers of more than 53 bits. The page passes them as texts with a mark,
//! since an array of bytes, for instance, takes any text of its length.

use std::borrow::Cow;

use garblet::{Program, circuit::Type};
use serde_json::{Map, Value};

/// The mark before a number. Before a text that begins with it there is one more.
const MARK: char = '\u{1}';

/// The mark as JSON has it.
const WRITTEN: &str = "\\u0001";

/// The inputs with the number's text in place of a marked number.
///
/// *Errors*: the name and the type of an input with a number in place of a text.
pub(crate) fn unmarked<'a>(program: &Program, inputs: &'a str) -> Result<Cow<'a, str>, (String, Type)> {
    if !inputs.contains(WRITTEN) {
        return Ok(inputs.into());
    }
    // Whoever reads the inputs says what is wrong with others.
    let Ok(mut all) = serde_json::from_str::<Map<String, Value>>(inputs) else { return Ok(inputs.into()) };
    for (name, value) in &mut all {
        let port = program.inputs().iter().map(|input| &input.port).find(|port| port.name == *name);
        let ty = port.map(|port| &port.ty);
        if !unmark(value, ty) {
            return Err((name.clone(), ty.cloned().unwrap_or(Type::Bool)));
        }
    }
    Ok(Value::Object(all).to_string().into())
}

/// Takes the marks out of a value of this type, if it is known. Returns whether no number is there in place of a text.
fn unmark(value: &mut Value, ty: Option<&Type>) -> bool {
    match value {
        Value::String(text) => {
            let Some(rest) = text.strip_prefix(MARK) else { return true };
            let is_number = !rest.starts_with(MARK);
            *text = rest.into();
            !(is_number && ty.is_some_and(takes_text))
        }
        Value::Array(items) => match ty {
            Some(Type::Array(element, _) | Type::List(element, _)) => {
                items.iter_mut().all(|item| unmark(item, Some(element)))
            }
            Some(Type::Record(fields)) if fields.len() == items.len() => {
                items.iter_mut().zip(fields).all(|(item, (_, ty))| unmark(item, Some(ty)))
            }
            _ => items.iter_mut().all(|item| unmark(item, None)),
        },
        Value::Object(members) => match ty {
            Some(Type::Record(fields)) => members.iter_mut().all(|(name, member)| {
                let field = fields.iter().find(|(field, _)| field == name);
                unmark(member, field.map(|(_, ty)| ty).or_else(|| in_words(name)))
            }),
            Some(Type::Enum(variants)) => {
                members.iter_mut().all(|(name, member)| match variants.iter().find(|(variant, _)| variant == name) {
                    Some((_, types)) => unmark_fields(member, types),
                    None => unmark(member, in_words(name)),
                })
            }
            // As `{"text": ".."}` and `{"hex": ".."}`.
            _ => members.values_mut().all(|member| unmark(member, Some(&TEXT))),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The same for the fields of a variant, of which a single one needs no brackets.
fn unmark_fields(value: &mut Value, types: &[Type]) -> bool {
    match (value, types) {
        (Value::Array(items), _) if items.len() == types.len() => {
            items.iter_mut().zip(types).all(|(item, ty)| unmark(item, Some(ty)))
        }
        (value, [ty]) => unmark(value, Some(ty)),
        (value, _) => unmark(value, None),
    }
}

/// The type behind the word of a value in words, as `{"hex": ".."}`, which any type may have.
fn in_words(name: &str) -> Option<&'static Type> {
    matches!(name, "hex" | "bits" | "text").then_some(&TEXT)
}

/// A type whose values are names.
static TEXT: Type = Type::Enum(Vec::new());

/// Returns whether a text of this type is something else than a number.
fn takes_text(ty: &Type) -> bool {
    match ty {
        Type::Array(element, _) | Type::List(element, _) => **element == Type::Unsigned(8),
        Type::Enum(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use garblet::{
        Party,
        circuit::{Circuit, Component, Port},
    };

    use super::*;

    /// The value of an input of this type, once it has no marks; nothing if it has a number in place of a text.
    fn read(ty: &str, value: &str) -> Option<Value> {
        let ty: Type = ty.parse().expect("a type");
        let circuit = Circuit::new(ty.width() as u32, Vec::new(), Vec::new()).expect("a circuit");
        let component = Component::new("none", vec![Port::new("x", ty.clone())], Vec::new(), circuit).expect("it fits");
        let program = Program::from_component(component, &[Party(1)]).expect("a program");
        let inputs = format!("{{\"x\": {value}}}");
        match unmarked(&program, &inputs) {
            Ok(read) => Some(serde_json::from_str::<Value>(&read).expect("JSON")["x"].take()),
            Err((name, wrong)) => {
                assert_eq!((name.as_str(), wrong), ("x", ty));
                None
            }
        }
    }

    #[test]
    fn a_number_is_no_text() {
        for (ty, value) in [
            ("[u8; 3]", r#""\u0001NaN""#),
            ("[u8; ..9]", r#""\u0001inf""#),
            ("[[u8; 2]; 2]", r#"["ab", "\u0001-0"]"#),
            ("{at: f64, name: [u8; 3]}", r#"{"at": "\u0001NaN", "name": "\u0001NaN"}"#),
            ("[u8; 3]", r#"{"text": "\u0001NaN"}"#),
            ("{a: u8, b: u8}", r#"{"hex": "\u00011e16"}"#),
            ("{hex: [u8; 2], b: u8}", r#"{"hex": "\u00011e16", "b": 1}"#),
            ("[u32; 2]", r#"{"hex": "\u00019999999999999999"}"#),
        ] {
            assert_eq!(read(ty, value), None, "{ty}, {value}");
        }
    }

    #[test]
    fn numbers_and_texts_are_what_they_were() {
        for (ty, value, expected) in [
            ("f64", r#""\u0001NaN""#, r#""NaN""#),
            ("[u64; 2]", r#"[1, "\u00019223372036854775808"]"#, r#"[1, "9223372036854775808"]"#),
            ("{at: f64, name: [u8; 3]}", r#"{"at": "\u0001-0", "name": "NaN"}"#, r#"{"at": "-0", "name": "NaN"}"#),
            ("[u8; 4]", r#""\u0001\u0001NaN""#, r#""\u0001NaN""#),
            ("u8", r#"["\u0001NaN"]"#, r#"["NaN"]"#),
            ("f64", "0.1", "0.1"),
        ] {
            assert_eq!(read(ty, value), Some(serde_json::from_str(expected).expect("JSON")), "{ty}, {value}");
        }
    }
}
