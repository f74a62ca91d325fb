//! Types as text: `u8`, `i16`, `fixed<8, 8>`, `bool`, `bits4`, `bytes16`, `[u8; 4]`, `[u8; ..4]`, `{age: u7, member: bool}`,
//! `enum {No, Yes(u8)}`.

use std::{collections::HashSet, str::FromStr};

use crate::types::{Float, Type};

/// The depth to which arrays and records may be nested.
const MAX_DEPTH: u32 = 32;

/// The most wires of a type in a text.
const MAX_WIDTH: u64 = Type::MAX_PARTS;

/// A text that does not denote a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// An unexpected token.
    #[error("expected {expected}, got `{got}`")]
    Expected {
        /// The part that was expected.
        expected: &'static str,
        /// The rest of the text.
        got: String,
    },
    /// The type has too many wires or elements.
    #[error("the type is too wide, the limit is {MAX_WIDTH} wires, where a value without wires counts as one")]
    TooWide,
    /// Arrays and records are nested too deeply.
    #[error("the type is nested deeper than {MAX_DEPTH}")]
    TooDeep,
    /// A record has two fields of one name.
    #[error("field `{0}` appears twice")]
    DuplicateField(String),
    /// An enum has two variants of one name.
    #[error("variant `{0}` appears twice")]
    DuplicateVariant(String),
}

impl FromStr for Type {
    type Err = TypeError;

    fn from_str(text: &str) -> Result<Self, TypeError> {
        let mut parser = Parser { rest: text };
        let ty = parser.ty(0)?;
        parser.skip_space();
        match parser.rest {
            "" => Ok(ty),
            _ => Err(parser.expected("the end of the type")),
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn expected(&self, expected: &'static str) -> TypeError {
        TypeError::Expected { expected, got: crate::diagnostic::clip(self.rest) }
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Takes a token if it comes next.
    fn take(&mut self, token: char) -> bool {
        self.skip_space();
        self.rest.strip_prefix(token).map(|rest| self.rest = rest).is_some()
    }

    fn need(&mut self, token: char, expected: &'static str) -> Result<(), TypeError> {
        if self.take(token) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !accept(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn number(&mut self) -> Result<u32, TypeError> {
        self.skip_space();
        let before = self.rest;
        let digits = self.take_while(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(n) if u64::from(n) <= MAX_WIDTH => Ok(n),
            _ if !digits.is_empty() => Err(TypeError::TooWide),
            _ => Err(Parser { rest: before }.expected("a number")),
        }
    }

    fn ty(&mut self, depth: u32) -> Result<Type, TypeError> {
        if depth > MAX_DEPTH {
            return Err(TypeError::TooDeep);
        }
        let ty = if self.take('[') {
            let element = self.ty(depth + 1)?;
            self.need(';', "`;` and the number of elements")?;
            let is_list = self.take('.');
            if is_list {
                self.need('.', "`..`")?;
            }
            let count = self.number()?;
            self.need(']', "`]`")?;
            if is_list { Type::List(Box::new(element), count) } else { Type::Array(Box::new(element), count) }
        } else if self.take('{') {
            Type::Record(self.fields(depth)?)
        } else {
            self.word(depth)?
        };
        if ty.width().max(ty.parts()) > MAX_WIDTH { Err(TypeError::TooWide) } else { Ok(ty) }
    }

    fn fields(&mut self, depth: u32) -> Result<Vec<(String, Type)>, TypeError> {
        let (mut fields, mut names) = (Vec::<(String, Type)>::new(), HashSet::new());
        while !self.take('}') {
            if !fields.is_empty() {
                self.need(',', "`,` or `}`")?;
            }
            self.skip_space();
            let name = self.take_while(|c| c.is_alphanumeric() || c == '_' || c == '-');
            if name.is_empty() {
                return Err(self.expected("the name of a field"));
            }
            if !names.insert(name) {
                return Err(TypeError::DuplicateField(name.into()));
            }
            self.need(':', "`:` and the field's type")?;
            fields.push((name.into(), self.ty(depth + 1)?));
        }
        Ok(fields)
    }

    fn variants(&mut self, depth: u32) -> Result<Vec<(String, Vec<Type>)>, TypeError> {
        let (mut variants, mut names) = (Vec::<(String, Vec<Type>)>::new(), HashSet::new());
        self.need('{', "`{` and the variants")?;
        while !self.take('}') {
            if !variants.is_empty() {
                self.need(',', "`,` or `}`")?;
            }
            self.skip_space();
            let name = self.take_while(|c| c.is_alphanumeric() || c == '_');
            if name.is_empty() {
                return Err(self.expected("the name of a variant"));
            }
            if !names.insert(name) {
                return Err(TypeError::DuplicateVariant(name.into()));
            }
            let mut types = Vec::new();
            if self.take('{') {
                types.push(Type::Record(self.fields(depth + 1)?));
            } else if self.take('(') {
                types.push(self.ty(depth + 1)?);
                while !self.take(')') {
                    self.need(',', "`,` or `)`")?;
                    types.push(self.ty(depth + 1)?);
                }
            }
            variants.push((name.into(), types));
        }
        Ok(variants)
    }

    /// `<I, F>`
    fn fixed(&mut self) -> Result<Type, TypeError> {
        self.need('<', "`<` and the bits before the point")?;
        let integer = self.number()?;
        self.need(',', "`,` and the bits after the point")?;
        let fraction = self.number()?;
        self.need('>', "`>`")?;
        match integer {
            0 => Err(TypeError::Expected { expected: "a bit before the point, for the sign", got: "0".into() }),
            _ => Ok(Type::Fixed(integer, fraction)),
        }
    }

    fn word(&mut self, depth: u32) -> Result<Type, TypeError> {
        const EXPECTED: &str = "a type such as u8, i16, bool, bits4, bytes16, [u8; 4] or {a: u8}";
        self.skip_space();
        let before = self.rest;
        let make: fn(u32) -> Type = match self.take_while(|c| c.is_ascii_alphabetic()) {
            "bool" => return Ok(Type::Bool),
            "enum" => return Ok(Type::Enum(self.variants(depth)?)),
            "fixed" => return self.fixed(),
            "u" => Type::Unsigned,
            "i" => Type::Signed,
            "bits" => Type::Bits,
            letters @ ("f" | "bf") => {
                let digits = self.take_while(|c| c.is_ascii_digit());
                let float = Float::named(&format!("{letters}{digits}"));
                return float.map(Type::Float).ok_or_else(|| Parser { rest: before }.expected(EXPECTED));
            }
            "bytes" => Type::Bytes,
            _ => return Err(Parser { rest: before }.expected(EXPECTED)),
        };
        if !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Parser { rest: before }.expected(EXPECTED));
        }
        Ok(make(self.number()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn every_type_is_read() {
        let record = Type::Record(vec![("age".into(), Type::Unsigned(7)), ("m-2".into(), Type::Bool)]);
        for (text, ty) in [
            ("u8", Type::Unsigned(8)),
            (" i16 ", Type::Signed(16)),
            ("bool", Type::Bool),
            ("bits0", Type::Bits(0)),
            ("bytes16", Type::Bytes(16)),
            ("fixed<16,  8 >", Type::Fixed(16, 8)),
            (" f32", Type::Float(Float::F32)),
            ("f64", Type::Float(Float::F64)),
            ("f16", Type::Float(Float::F16)),
            ("[bf16; 2]", Type::Array(Box::new(Type::Float(Float::Bf16)), 2)),
            ("[bool ;.. 3]", Type::List(Box::new(Type::Bool), 3)),
            ("[[u8;4] ; 2]", Type::Array(Box::new(Type::Array(Box::new(Type::Unsigned(8)), 4)), 2)),
            ("{ age:u7 , m-2 : bool }", record),
            ("enum{}", Type::Enum(vec![])),
            (
                "enum {Box{w:u8}, No}",
                Type::Enum(vec![
                    ("Box".into(), vec![Type::Record(vec![("w".into(), Type::Unsigned(8))])]),
                    ("No".into(), vec![]),
                ]),
            ),
            (
                "enum { No,Yes( u8,bool ) }",
                Type::Enum(vec![("No".into(), vec![]), ("Yes".into(), vec![Type::Unsigned(8), Type::Bool])]),
            ),
        ] {
            assert_eq!(text.parse(), Ok(ty), "{text}");
        }
    }

    #[test]
    fn what_is_no_type_is_refused() {
        let fails = |text: &str| text.parse::<Type>().unwrap_err().to_string();
        let words = "expected a type such as u8, i16, bool, bits4, bytes16, [u8; 4] or {a: u8}, got";
        for text in ["", "u", "int", "u 8", "float32", "f8", "bf32", "8"] {
            assert_eq!(fails(text), format!("{words} `{text}`"));
        }
        assert_eq!(fails("u8 u8"), "expected the end of the type, got `u8`");
        assert_eq!(fails("fixed16"), "expected `<` and the bits before the point, got `16`");
        assert_eq!(fails("fixed<0, 8>"), "expected a bit before the point, for the sign, got `0`");
        assert_eq!(fails("[u8; .4]"), "expected `..`, got `4]`");
        assert_eq!(fails("[u8]"), "expected `;` and the number of elements, got `]`");
        assert_eq!(fails("[u8; x]"), "expected a number, got `x]`");
        assert_eq!(fails("[u8; 3"), "expected `]`, got ``");
        assert_eq!(fails("{a u8}"), "expected `:` and the field's type, got `u8}`");
        assert_eq!(fails("{a: u8 b: u8}"), "expected `,` or `}`, got `b: u8}`");
        assert_eq!(fails("{a: u8, a: u8}"), "field `a` appears twice");
        assert_eq!(fails("enum {A, A}"), "variant `A` appears twice");
        assert_eq!(fails("enum {A(u8 u8)}"), "expected `,` or `)`, got `u8)}`");
        assert_eq!(fails("enum A"), "expected `{` and the variants, got `A`");
        assert_eq!(fails("enum {()}"), "expected the name of a variant, got `()}`");
        for wide in ["u99999999999999", "u67108865", "[[u8; 65536]; 65536]", "[u0; 4294967295]"] {
            assert!(fails(wide).contains("too wide"), "{wide}");
        }
        // Values without wires.
        for many in [
            "[[{}; 8192]; 8193]",
            "[[u0; ..8192]; 8193]",
            "[{a: [enum {A}; 8192], b: {}}; 8192]",
            "[[[bool; 0]; 8192]; 8193]",
        ] {
            assert!(fails(many).contains("too wide"), "{many}");
        }
        assert!("[[{}; 8192]; 8192]".parse::<Type>().is_ok());
        assert!(fails(&"[".repeat(100_000)).contains("nested deeper than 32"));
    }

    proptest! {
        #[test]
        fn types_are_read_back_from_their_text(seed: u64) {
            let ty = crate::random::small_type(&mut StdRng::seed_from_u64(seed), 3);
            let ty = match seed % 3 {
                0 => Type::List(Box::new(ty), (seed % 7) as u32),
                1 => Type::Record(vec![("x".into(), Type::Fixed(1 + (seed % 8) as u32, (seed % 5) as u32)), ("y".into(), ty)]),
                _ => ty,
            };
            prop_assert_eq!(ty.to_string().parse(), Ok(ty));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}:;,a-z0-9 é]{0,30}") {
            let _ = text.parse::<Type>();
        }
    }
}
