//! Types, integer literals, and sizes.

use garblet_circuit::{Float, diagnostic::clip};

use super::ConstExpr;
use crate::{
    number::Number,
    source_error::SourceError,
    tree::{Scalar, Span},
};

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::front) enum Int {
    Unsigned(u16),
    Signed(u16),
    Usize,
}

impl Int {
    /// The names of those that Rust has.
    pub(in crate::front) const NAMES: [&str; 11] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128"];
    /// The most bits.
    pub(in crate::front) const MAX_BITS: u16 = 4096;
    /// A hint at the names of all.
    pub(in crate::front) const FORM: &str =
        "integer types are usize, u1 to u4096 and i1 to i4096, as in `u8` or `i256`";

    /// The type of that name.
    pub(in crate::front) fn named(name: &str) -> Option<Self> {
        if name == "usize" {
            return Some(Int::Usize);
        }
        let digits = name.strip_prefix(['u', 'i']).filter(|digits| digits.starts_with(|c| ('1'..='9').contains(&c)))?;
        let bits = digits.parse().ok().filter(|bits| *bits <= Int::MAX_BITS)?;
        Some(if name.starts_with('u') { Int::Unsigned(bits) } else { Int::Signed(bits) })
    }

    /// Returns whether a name that is none of these looks like one.
    pub(in crate::front) fn is_like(name: &str) -> bool {
        let digits = name.strip_prefix(['u', 'i']).unwrap_or_default();
        name == "isize" || !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    }

    pub(in crate::front) fn scalar(self) -> Scalar {
        match self {
            Int::Unsigned(bits) => Scalar::unsigned(bits),
            Int::Signed(bits) => Scalar::signed(bits),
            Int::Usize => Scalar::USIZE,
        }
    }

    pub(in crate::front) fn is_signed(self) -> bool {
        matches!(self, Int::Signed(_))
    }

    pub(in crate::front) fn min(self) -> Number {
        self.scalar().min()
    }

    pub(in crate::front) fn max(self) -> Number {
        self.scalar().max()
    }
}

impl std::fmt::Display for Int {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Int::Unsigned(bits) => write!(f, "u{bits}"),
            Int::Signed(bits) => write!(f, "i{bits}"),
            Int::Usize => f.write_str("usize"),
        }
    }
}

/// The kind of a variable of type inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::front) enum Open {
    /// Any type: of the elements of `[]`.
    Any,
    /// A type of integers.
    Integer,
    /// A type of fixed-point or floating-point numbers.
    Decimal,
}

/// An integer literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::front) struct Literal {
    pub(in crate::front) value: Number,
    /// Set if it has a minus.
    pub(in crate::front) minus: bool,
    /// The type suffix.
    pub(in crate::front) suffix: Option<Int>,
}

impl Literal {
    /// Checks that the number at `span` is in the range of an integer type.
    ///
    /// *Errors*: a number out of range, and a sign where the type is unsigned.
    pub(in crate::front) fn fits(self, int: Int, span: Span) -> Result<(), SourceError> {
        let got = clip(&self.value.to_string());
        if self.minus && !int.is_signed() {
            let fault = SourceError::new(span, format!("a number of type {int} cannot be negative, got {got}"));
            return Err(fault.hint("use a signed type, such as i32"));
        }
        if (int.min()..=int.max()).contains(&self.value) {
            return Ok(());
        }
        let range = int.scalar().range();
        let fault = SourceError::new(span, format!("literal out of range for {int}: expected {range}, got {got}"));
        Err(match (self.suffix, int) {
            (None, Int::Signed(32)) => {
                fault.hint("an integer is i32 by default: give it a type suffix, as in `3000000000u64`")
            }
            _ => fault,
        })
    }
}

impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)?;
        self.suffix.map_or(Ok(()), |int| int.fmt(f))
    }
}

/// A type, written or inferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::front) enum Type {
    /// Not known: not inferred yet, or never.
    Unknown,
    Bool,
    Int(Int),
    /// Bits before the point, including the sign, and after it.
    Fixed(u16, u16),
    Float(Float),
    /// A variable of type inference, by its number: the type of a literal that states none, or of the elements of `[]`.
    Open(Open, u32),
    Array(Box<Type>, Size),
    /// A list with its room.
    List(Box<Type>, Size),
    Tuple(Vec<Type>),
    /// A struct or an enum.
    Named(Name),
}

/// The name of a struct or an enum, and where it is written; equal names are equal wherever they are.
#[derive(Clone, Debug)]
pub(in crate::front) struct Name {
    pub(in crate::front) text: String,
    pub(in crate::front) span: Span,
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Name {}

impl Type {
    pub(in crate::front) const UNIT: Type = Type::Tuple(Vec::new());

    pub(in crate::front) fn named(text: &str) -> Self {
        Type::Named(Name { text: text.into(), span: Span::default() })
    }

    pub(in crate::front) fn is_integer(&self) -> bool {
        matches!(self, Type::Int(_) | Type::Open(Open::Integer, _))
    }

    /// Returns whether its numbers have a point.
    pub(in crate::front) fn is_decimal(&self) -> bool {
        matches!(self, Type::Fixed(..) | Type::Float(_) | Type::Open(Open::Decimal, _))
    }

    /// The type of the elements of an array or a list.
    pub(in crate::front) fn element(&self) -> Option<&Type> {
        match self {
            Type::Array(element, _) | Type::List(element, _) => Some(element),
            _ => None,
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Unknown | Type::Open(Open::Any, _) => f.write_str("something"),
            Type::Bool => f.write_str("bool"),
            Type::Int(int) => int.fmt(f),
            Type::Fixed(integer, fraction) => write!(f, "fixed<{integer}, {fraction}>"),
            Type::Float(float) => float.fmt(f),
            Type::Open(Open::Integer, _) => f.write_str("an integer"),
            Type::Open(Open::Decimal, _) => f.write_str("a decimal number"),
            Type::Array(element, size) => write!(f, "[{}; {size}]", Part(element)),
            Type::List(element, size) => write!(f, "[{}; ..{size}]", Part(element)),
            Type::Tuple(fields) => {
                let names: Vec<String> = fields.iter().map(|field| Part(field).to_string()).collect();
                // As in Rust, a tuple of one has a comma.
                let comma = if let [_] = fields[..] { "," } else { "" };
                write!(f, "({}{comma})", names.join(", "))
            }
            Type::Named(name) => f.write_str(&name.text),
        }
    }
}

/// A type within another.
struct Part<'a>(&'a Type);

impl std::fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Type::Open(Open::Integer, _) => f.write_str("integer"),
            Type::Open(Open::Decimal, _) => f.write_str("decimal number"),
            other => other.fmt(f),
        }
    }
}

/// The size of an array; a number once constants are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::front) enum Size {
    Number(usize),
    Constant(String),
    Computed(Box<ConstExpr>),
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Size::Number(number) => number.fmt(f),
            Size::Constant(name) => f.write_str(name),
            Size::Computed(value) => value.fmt(f),
        }
    }
}
