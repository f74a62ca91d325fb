//! Types and sizes.

use garble_lang::{
    ast::{ConstExpr, ConstExprEnum, Type},
    token::{MetaInfo, SignedNumType, UnsignedNumType},
};

use super::{Parsed, Parser, join, meta};
use crate::{
    front::scanner::{Kind, Number, Suffix},
    source_error::SourceError,
};

impl Parser<'_> {
    /// A type and its place.
    pub(super) fn ty(&mut self) -> Parsed<(Type, MetaInfo)> {
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
                Ok((ty, meta(begin, end)))
            } else if let Some(begin) = parser.eat("[") {
                let (element, _) = parser.ty()?;
                if !parser.is(";") {
                    return Err(parser.unexpected("`;` and the size").hint("an array has a known size: `[u8; 4]`"));
                }
                parser.expect(";")?;
                let ty = parser.sized(element)?;
                let end = parser.expect("]")?;
                Ok((ty, meta(begin, end)))
            } else {
                parser.named_type()
            }
        })
    }

    fn named_type(&mut self) -> Parsed<(Type, MetaInfo)> {
        if self.is("&") {
            return Err(self.unexpected("a type").hint("values are copied, there are no references"));
        }
        let (name, at) = self.name("a type")?;
        if self.is("<") {
            return Err(self.unexpected("the end of the type").hint("there are no generics; an array is `[u8; 4]`"));
        }
        let at = meta(at, at);
        let ty = match name.as_str() {
            "bool" => Type::Bool,
            "usize" => Type::Unsigned(UnsignedNumType::Usize),
            "u8" => Type::Unsigned(UnsignedNumType::U8),
            "u16" => Type::Unsigned(UnsignedNumType::U16),
            "u32" => Type::Unsigned(UnsignedNumType::U32),
            "u64" => Type::Unsigned(UnsignedNumType::U64),
            "i8" => Type::Signed(SignedNumType::I8),
            "i16" => Type::Signed(SignedNumType::I16),
            "i32" => Type::Signed(SignedNumType::I32),
            "i64" => Type::Signed(SignedNumType::I64),
            _ => Type::UntypedTopLevelDefinition(name, at),
        };
        Ok((ty, at))
    }

    /// The array type of an element and the size that is next.
    fn sized(&mut self, element: Type) -> Parsed<Type> {
        let element = Box::new(element);
        if self.eat_word("const").is_some() {
            self.expect("{")?;
            let size = self.constant_expression(Some(&Type::Unsigned(UnsignedNumType::Usize)))?;
            self.expect("}")?;
            return Ok(Type::ArrayConstExpr(element, size));
        }
        Ok(match self.size()? {
            Size::Number(count) => Type::Array(element, count),
            Size::Named(name) => Type::ArrayConst(element, name),
        })
    }

    /// A size: a number or the name of a constant.
    pub(super) fn size(&mut self) -> Parsed<Size> {
        let token = self.ahead(0);
        let size = match token.kind {
            Kind::Number(Number { value, suffix: Suffix::None | Suffix::Unsigned(UnsignedNumType::Usize) }) => {
                let large = || SourceError::new(token.span, "this size is too large");
                Size::Number(usize::try_from(value).map_err(|_| large())?)
            }
            Kind::Word(name) if self.looking_ahead || self.constants.contains_key(name) => Size::Named(name.into()),
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
            let at = join(sum.1, term.1);
            let (a, b) = (Box::new(sum), Box::new(term));
            sum = ConstExpr(if minus { ConstExprEnum::Sub(a, b) } else { ConstExprEnum::Add(a, b) }, at);
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
            let here = meta(token.span, token.span);
            match token.kind {
                Kind::Symbol("(") => {
                    parser.next();
                    let inner = parser.constant_expression(wanted)?;
                    parser.expect(")")?;
                    Ok(inner)
                }
                Kind::Number(_) | Kind::Symbol("-") => {
                    let (value, at) = parser.signed_number(wanted)?;
                    Ok(ConstExpr(value, at))
                }
                Kind::Word("true" | "false") => {
                    let value = parser.next().kind == Kind::Word("true");
                    Ok(ConstExpr(if value { ConstExprEnum::True } else { ConstExprEnum::False }, here))
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
            return Ok(ConstExpr(ConstExprEnum::ExternalValue { party: name, identifier }, meta(at, end)));
        }
        if !self.is("(") {
            return Ok(ConstExpr(ConstExprEnum::ConstExprIdent(name), meta(at, at)));
        }
        if !["min", "max"].contains(&name.as_str()) {
            return Err(SourceError::new(at, format!("`{name}` cannot be called for a constant")).hint(CONSTANTS));
        }
        self.expect("(")?;
        let (list, end) = self.list(")", |parser| parser.constant_expression(wanted))?;
        if list.is_empty() {
            return Err(SourceError::new(at, format!("`{name}` of nothing")));
        }
        let value = if name == "min" { ConstExprEnum::Min(list) } else { ConstExprEnum::Max(list) };
        Ok(ConstExpr(value, meta(at, end)))
    }

    fn signed_number(&mut self, wanted: Option<&Type>) -> Parsed<(ConstExprEnum, MetaInfo)> {
        let begin = self.ahead(0).span;
        let minus = self.eat("-").is_some();
        let Kind::Number(mut number) = self.peek() else { return Err(self.unexpected("a number")) };
        let end = self.next().span;
        number.suffix = match (number.suffix, wanted) {
            (Suffix::None, Some(Type::Unsigned(ty))) if !minus => Suffix::Unsigned(*ty),
            (Suffix::None, Some(Type::Signed(ty))) => Suffix::Signed(*ty),
            (suffix, _) => suffix,
        };
        let value = match Self::literal(number, minus, begin)? {
            Literal::Unsigned(value, ty) => ConstExprEnum::NumUnsigned(value, ty),
            Literal::Signed(value, ty) => ConstExprEnum::NumSigned(value, ty),
        };
        Ok((value, meta(begin, end)))
    }

    /// The number with its sign and type.
    ///
    /// *Errors*: a number that its type does not have.
    pub(super) fn literal(number: Number, minus: bool, at: crate::tree::Span) -> Parsed<Literal> {
        let Number { value, suffix } = number;
        if value > suffix.max() {
            return Err(SourceError::new(at, format!("this number is too large, the most is {}", suffix.max())));
        }
        match suffix {
            Suffix::Unsigned(ty) if minus => {
                Err(SourceError::new(at, format!("a number of type {ty} is not negative"))
                    .hint("take a signed type, as i32"))
            }
            Suffix::Unsigned(ty) => Ok(Literal::Unsigned(value, ty)),
            Suffix::None if !minus => Ok(Literal::Unsigned(value, UnsignedNumType::Unspecified)),
            Suffix::None | Suffix::Signed(_) => {
                let ty = if let Suffix::Signed(ty) = suffix { ty } else { SignedNumType::Unspecified };
                let signed = if minus { -i128::from(value) } else { value.into() };
                let least = SignedNumType::min(&ty).unwrap_or(i64::MIN);
                let most = SignedNumType::max(&ty).unwrap_or(i64::MAX);
                match i64::try_from(signed).ok().filter(|value| (least..=most).contains(value)) {
                    Some(value) => Ok(Literal::Signed(value, ty)),
                    None => Err(SourceError::new(at, format!("{signed} is not between {least} and {most}"))),
                }
            }
        }
    }
}

/// The parts that a constant is made of.
pub(super) const CONSTANTS: &str = "a constant is made of numbers, names, PARTY_0::NAME, min(..), max(..), + and -";

/// The size of an array.
pub(super) enum Size {
    Number(usize),
    Named(String),
}

/// A number as `garble_lang` has it.
pub(super) enum Literal {
    Unsigned(u64, UnsignedNumType),
    Signed(i64, SignedNumType),
}
