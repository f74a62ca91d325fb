//! Types and sizes.

use super::{Parsed, Parser};
use crate::{
    front::{
        ast::{ConstExpr, ConstKind, Int, Name, Size, Type},
        scanner::{Kind, Unsigned, greatest},
    },
    number::{Decimal, Number},
    source_error::SourceError,
    tree::{Scalar, Span},
};

impl Parser<'_> {
    /// A type and its place.
    pub(super) fn ty(&mut self) -> Parsed<(Type, Span)> {
        self.nested(|parser| {
            if let Some(begin) = parser.eat("(") {
                let mut lone = false;
                let (mut fields, end) = parser.list(")", |parser| {
                    let (field, _) = parser.ty()?;
                    lone = !parser.is(",");
                    Ok(field)
                })?;
                // As in Rust, `(T)` is T and `(T,)` a tuple.
                let ty = if lone && fields.len() == 1 { fields.remove(0) } else { Type::Tuple(fields) };
                Ok((ty, begin.to(end)))
            } else if let Some(begin) = parser.eat("[") {
                let (element, _) = parser.ty()?;
                if !parser.is(";") {
                    return Err(parser.unexpected("`;` and the size").hint("an array has a known size: `[u8; 4]`"));
                }
                parser.expect(";")?;
                let is_list = parser.eat("..").is_some();
                let ty = match parser.sized(element)? {
                    Type::Array(element, size) if is_list => Type::List(element, size),
                    array => array,
                };
                let end = parser.expect("]")?;
                Ok((ty, begin.to(end)))
            } else {
                parser.named_type()
            }
        })
    }

    fn named_type(&mut self) -> Parsed<(Type, Span)> {
        if self.is("&") {
            return Err(self.unexpected("a type").hint("values are copied, there are no references"));
        }
        let (name, at) = self.name("a type")?;
        if name == "fixed" {
            return self.fixed(at);
        }
        if self.is("<") {
            return Err(self.unexpected("the end of the type").hint("there are no generics; an array is `[u8; 4]`"));
        }
        let ty = match (name.as_str(), Int::named(&name)) {
            ("bool", _) => Type::Bool,
            (_, Some(int)) => Type::Int(int),
            (_, None) => Type::Named(Name { text: name, span: at }),
        };
        Ok((ty, at))
    }

    /// `fixed<I, F>`, after its name.
    fn fixed(&mut self, begin: Span) -> Parsed<(Type, Span)> {
        const FORM: &str = "`fixed<16, 16>` has 16 bits before the point, of which one is the sign, and 16 behind it";
        let missing = |fault: SourceError| fault.hint(FORM);
        self.eat("<").ok_or_else(|| missing(self.unexpected("`<`")))?;
        let integer = self.bits().map_err(missing)?;
        self.eat(",").ok_or_else(|| missing(self.unexpected("`,`")))?;
        let fraction = self.bits().map_err(missing)?;
        let at = begin.to(self.eat(">").ok_or_else(|| missing(self.unexpected("`>`")))?);
        let fault = |message: String| Err(missing(SourceError::new(at, message)));
        match (u16::from(integer), u16::from(fraction)) {
            (0, _) => fault("there is no bit before the point for the sign".into()),
            (integer, fraction) if integer + fraction > MAX_FIXED_BITS => {
                fault(format!("this type has {} bits, the most is {MAX_FIXED_BITS}", integer + fraction))
            }
            (integer, fraction) => Ok((Type::Fixed(integer, fraction), at)),
        }
    }

    /// A number of bits.
    fn bits(&mut self) -> Parsed<u8> {
        match self.peek() {
            Kind::Number(Unsigned { value, suffix: None }) if value <= u128::from(MAX_FIXED_BITS) => {
                self.next();
                Ok(value as u8)
            }
            _ => Err(self.unexpected(&format!("a number of bits, at most {MAX_FIXED_BITS}"))),
        }
    }

    /// The array type of an element and the size that is next.
    fn sized(&mut self, element: Type) -> Parsed<Type> {
        let element = Box::new(element);
        if self.eat_word("const").is_some() {
            self.expect("{")?;
            let size = self.constant_expression(Some(&Type::Int(Int::Usize)))?;
            self.expect("}")?;
            return Ok(Type::Array(element, Size::Computed(Box::new(size))));
        }
        Ok(Type::Array(element, self.size()?))
    }

    /// A size: a number or the name of a constant.
    pub(super) fn size(&mut self) -> Parsed<Size> {
        let token = self.ahead(0);
        let size = match token.kind {
            Kind::Number(Unsigned { value, suffix: None | Some(Int::Usize) }) => {
                let large = || SourceError::new(token.span, "this size is too large");
                Size::Number(usize::try_from(value).map_err(|_| large())?)
            }
            Kind::Word(name) if self.looking_ahead || self.constants.contains_key(name) => Size::Constant(name.into()),
            Kind::Word(name) => {
                let fault = SourceError::new(token.span, format!("a size is known before, `{name}` is no constant"));
                return Err(fault.hint(format!("declare it: `const {name}: usize = ...;`")));
            }
            _ => {
                return Err(self
                    .unexpected("a size")
                    .hint("a size is a number, or the name of a `const` of type usize"));
            }
        };
        self.next();
        match self.is("]") {
            true => Ok(size),
            false => {
                Err(self.unexpected("`]`").hint("a size that is computed is written `const { N + 1 }`, in a type"))
            }
        }
    }

    /// An expression of constants: numbers, names, `PARTY::NAME`, `min(..)`, `max(..)`, sums and differences; numbers
    /// without a suffix have the type `wanted`.
    ///
    /// *Errors*: anything else.
    pub(super) fn constant_expression(&mut self, wanted: Option<&Type>) -> Parsed<ConstExpr> {
        let mut sum = self.constant_term(wanted)?;
        let mut terms = 0;
        while self.is("+") || self.is("-") {
            let minus = self.next().kind == Kind::Symbol("-");
            let term = self.constant_term(wanted)?;
            let at = sum.span.to(term.span);
            let (a, b) = (Box::new(sum), Box::new(term));
            let kind = if minus { ConstKind::Sub(a, b) } else { ConstKind::Add(a, b) };
            sum = ConstExpr { kind, span: at };
            terms += 1;
            if terms > super::MAX_NESTING {
                return Err(SourceError::new(self.ahead(0).span, "this sum of constants is too long"));
            }
        }
        Ok(sum)
    }

    fn constant_term(&mut self, wanted: Option<&Type>) -> Parsed<ConstExpr> {
        self.nested(|parser| {
            let token = parser.ahead(0);
            match token.kind {
                Kind::Symbol("(") => {
                    parser.next();
                    let inner = parser.constant_expression(wanted)?;
                    parser.expect(")")?;
                    Ok(inner)
                }
                Kind::Number(_) | Kind::Decimal(_) | Kind::Symbol("-") => {
                    let (kind, span) = parser.signed_number(wanted)?;
                    Ok(ConstExpr { kind, span })
                }
                Kind::Word("true" | "false") => {
                    let value = parser.next().kind == Kind::Word("true");
                    Ok(ConstExpr { kind: ConstKind::Bool(value), span: token.span })
                }
                Kind::Word(_) => parser.named_constant(wanted),
                _ => Err(parser.unexpected("a constant").hint(CONSTANTS)),
            }
        })
    }

    fn named_constant(&mut self, wanted: Option<&Type>) -> Parsed<ConstExpr> {
        let (name, at) = self.name("a constant")?;
        if self.eat("::").is_some() {
            let (identifier, end) = self.name("the name of a party's constant")?;
            return Ok(ConstExpr { kind: ConstKind::External(name, identifier), span: at.to(end) });
        }
        if !self.is("(") {
            return Ok(ConstExpr { kind: ConstKind::Constant(name), span: at });
        }
        if !["min", "max"].contains(&name.as_str()) {
            return Err(SourceError::new(at, format!("`{name}` cannot be called for a constant")).hint(CONSTANTS));
        }
        self.expect("(")?;
        let (list, end) = self.list(")", |parser| parser.constant_expression(wanted))?;
        if list.is_empty() {
            return Err(SourceError::new(at, format!("`{name}` of nothing")));
        }
        let kind = if name == "min" { ConstKind::Min(list) } else { ConstKind::Max(list) };
        Ok(ConstExpr { kind, span: at.to(end) })
    }

    fn signed_number(&mut self, wanted: Option<&Type>) -> Parsed<(ConstKind, Span)> {
        let begin = self.ahead(0).span;
        let minus = self.eat("-").is_some();
        if let Kind::Decimal(text) = self.peek() {
            let at = begin.to(self.next().span);
            let decimal = decimal(text, minus, at)?;
            let Some(ty @ &Type::Fixed(integer, fraction)) = wanted else {
                return Err(SourceError::new(at, "this number with a point is no integer"));
            };
            let value = crate::front::constants::of_scalar(decimal, Scalar::fixed(integer, fraction));
            let value = value.ok_or_else(|| SourceError::new(at, format!("{decimal} is no value of {ty}")))?;
            return Ok((ConstKind::Number(value, ty.clone()), at));
        }
        let Kind::Number(mut number) = self.peek() else { return Err(self.unexpected("a number")) };
        let end = self.next().span;
        number.suffix = match (number.suffix, wanted) {
            (None, Some(Type::Int(ty))) if !minus || ty.is_signed() => Some(*ty),
            (suffix, _) => suffix,
        };
        let (value, ty) = Self::literal(number, minus, begin)?;
        Ok((ConstKind::Number(value, ty), begin.to(end)))
    }

    /// The number with its sign and type.
    ///
    /// *Errors*: a number that its type does not have.
    pub(super) fn literal(number: Unsigned, minus: bool, at: Span) -> Parsed<(Number, Type)> {
        let Unsigned { value, suffix } = number;
        let most = greatest(suffix);
        let value = Number::from(value);
        if value > most {
            return Err(SourceError::new(at, format!("this number is too large, the most is {most}")));
        }
        let signed = if minus { -value } else { value };
        let Some(ty) = suffix else {
            return match signed < Int::Signed(128).min() {
                true => Err(SourceError::new(at, format!("{signed} is less than any number"))),
                false => Ok((signed, if minus { Type::Integer } else { Type::Natural })),
            };
        };
        if minus && !ty.is_signed() {
            let fault = SourceError::new(at, format!("a number of type {ty} is not negative"));
            return Err(fault.hint("take a signed type, as i32"));
        }
        match (ty.min()..=ty.max()).contains(&signed) {
            true => Ok((signed, Type::Int(ty))),
            false => Err(SourceError::new(at, format!("{signed} is not between {} and {}", ty.min(), ty.max()))),
        }
    }
}

/// The most bits of a fixed-point number.
const MAX_FIXED_BITS: u16 = 128;

/// The number with a point that a text is.
pub(super) fn decimal(text: &str, minus: bool, at: Span) -> Parsed<Decimal> {
    let sign = if minus { "-" } else { "" };
    Decimal::of(&[sign, &text.replace('_', "")].concat())
        .ok_or_else(|| SourceError::new(at, "a number with a point has 38 digits at most"))
}

/// The parts that a constant is made of.
pub(super) const CONSTANTS: &str = "a constant is made of numbers, names, PARTY_0::NAME, min(..), max(..), + and -";
