//! JSON with places, for files that people write.
//!
//! Strict JSON except that comments are allowed; a key that appears twice is an error.

use std::ops::Range;

use garblet_circuit::diagnostic::{Diagnostic, Place, clip};
use jsonc_parser::{
    CollectOptions, ParseOptions, ParseStringErrorKind,
    ast::{self, Value},
    common::Ranged,
    errors::ParseErrorKind,
};

/// A JSON text and its name.
#[derive(Clone, Copy)]
pub(crate) struct JsonText<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> JsonText<'a> {
    /// Parses the text.
    pub(crate) fn parse(self) -> Result<Value<'a>, Diagnostic> {
        let strict = ParseOptions {
            allow_comments: true,
            allow_loose_object_property_names: false,
            allow_trailing_commas: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        match jsonc_parser::parse_to_ast(self.text, &CollectOptions::default(), &strict) {
            Ok(parsed) => match parsed.value {
                Some(value) => Ok(value),
                None => Err(self.error(0..0, "the file is empty, expected JSON")),
            },
            Err(error) => {
                let range = error.range();
                let what = match error.kind() {
                    // The characters are not shown: the text may be a secret.
                    ParseErrorKind::String(ParseStringErrorKind::InvalidUnicodeEscapeSequence(_)) => {
                        "an escape that is not a character".into()
                    }
                    kind => lower_case(&kind.to_string()),
                };
                Err(self.error(range.start..range.end, format!("not JSON: {what}")))
            }
        }
    }

    /// A diagnostic about bytes `at`.
    pub(crate) fn error(self, at: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file, message).at(Place::in_text(self.text, at))
    }

    /// A diagnostic about a value.
    pub(crate) fn error_at(self, value: &impl Ranged, message: impl Into<String>) -> Diagnostic {
        let range = value.range();
        self.error(range.start..range.end, message)
    }

    /// The members of a value that must be an object, each key once.
    pub(crate) fn members<'v>(
        self,
        value: &'v Value<'a>,
        what: &str,
    ) -> Result<Vec<(&'v str, &'v ast::ObjectProp<'a>)>, Diagnostic> {
        let Value::Object(object) = value else {
            return Err(self.error_at(value, format!("{what}: expected an object, got {}", kind(value))));
        };
        let mut members: Vec<(&str, &ast::ObjectProp)> = Vec::with_capacity(object.properties.len());
        let mut seen = std::collections::HashSet::new();
        for property in &object.properties {
            let key = property.name.as_str();
            if !seen.insert(key) {
                return Err(self.error_at(&property.name, format!("{what}: `{}` appears twice", clip(key))));
            }
            members.push((key, property));
        }
        Ok(members)
    }
}

/// Describes a value in a few words, with short values spelled out.
pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::StringLit(s) => format!("the string {:?}", clip(&s.value)),
        Value::NumberLit(n) => clip(n.value),
        Value::BooleanLit(b) => b.value.to_string(),
        other => kind(other),
    }
}

/// Names only the kind of a value: the value may be a secret, and messages go to logs.
pub(crate) fn kind(value: &Value) -> String {
    match value {
        Value::StringLit(_) => "a string".into(),
        Value::NumberLit(number) if number.value.contains(['.', 'e', 'E']) => {
            "a number with a point or an exponent".into()
        }
        Value::NumberLit(_) => "a number".into(),
        Value::BooleanLit(_) => "a truth value".into(),
        Value::NullKeyword(_) => "null".into(),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn lower_case(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(text: &str) -> String {
        let json = JsonText { file: "f.json", text };
        json.parse().and_then(|v| json.members(&v, "file").map(|_| ())).unwrap_err().to_string()
    }

    #[test]
    fn comments_are_allowed() {
        let json = JsonText { file: "f.json", text: "// why\n{\"a\": 1 /* here */}" };
        assert_eq!(json.members(&json.parse().unwrap(), "file").unwrap().len(), 1);
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        assert_eq!(fails(""), "f.json:1:1: the file is empty, expected JSON");
        assert!(fails("{\"a\": 1,}").starts_with("f.json:1:"), "{}", fails("{\"a\": 1,}"));
        assert!(fails("{\"a\": 1").starts_with("f.json:1:1: not JSON: unterminated object"));
        assert!(fails("{a: 1}").contains("not JSON"));
        assert!(fails(r#"{"a": "\ud83d"}"#).ends_with("not JSON: an escape that is not a character"));
        assert!(fails("{\"a\": 0x10}").contains("not JSON: hexadecimal numbers"));
        assert!(fails("{} {}").contains("more than one JSON value"));
        assert!(fails(&"[".repeat(100_000)).contains("nesting depth"));
    }

    #[test]
    fn a_key_that_appears_twice_is_refused() {
        assert_eq!(fails("{\"a\": 1, \n \"a\": 2}"), "f.json:2:2: file: `a` appears twice");
        assert_eq!(fails("[]"), "f.json:1:1: file: expected an object, got an array");
    }
}
