//! Types and sizes.

use garblet_circuit::{Float, diagnostic::clip};

use super::{Lone, Parsed, Parser, literals::bound};
use crate::{
    front::{
        ast::{ConstExpr, ConstKind, Int, Literal, Name, Size, Type},
        elsewhere, methods,
        scanner::{Kind, Unsigned},
    },
    number::Decimal,
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// A type and its place.
    pub(super) fn ty(&mut self) -> Parsed<(Type, Span)> {
        self.nested("declare a struct for a part of it", |parser| {
            if let Some(begin) = parser.eat("(") {
                let mut lone = false;
                let (mut fields, end) = parser.list(")", |parser| {
                    let (field, _) = parser.ty()?;
                    lone = !parser.is(",");
                    Ok(field)
                })?;
                let is_lone = lone && fields.len() == 1;
                if is_lone {
                    parser.lone_types.push(begin.to(end));
                }
                // As in Rust, `(T,)` is a tuple.
                let is_itself = is_lone && parser.lone == Lone::Itself;
                let ty = if is_itself { fields.remove(0) } else { Type::Tuple(fields) };
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
            let missing = elsewhere::name(&name).filter(|_| !self.types.contains(&name));
            let hint = missing.unwrap_or("there are no generics; an array is `[u8; 4]`");
            return Err(self.unexpected("the end of the type").hint(hint));
        }
        let ty = match (name.as_str(), Int::named(&name)) {
            ("bool", _) => Type::Bool,
            _ if let Some(format) = self.float(&name) => Type::Float(format),
            (_, Some(int)) => Type::Int(int),
            (_, None) => Type::Named(Name { text: name, span: at }),
        };
        Ok((ty, at))
    }

    /// The format of floating-point numbers of that name, unless the source gives it to a type.
    pub(super) fn float(&self, name: &str) -> Option<Float> {
        Float::named(name).filter(|_| !self.types.contains(name))
    }

    /// `fixed<I, F>`, after its name.
    fn fixed(&mut self, begin: Span) -> Parsed<(Type, Span)> {
        const FORM: &str = "`fixed<16, 16>` has 16 bits before the point, including the sign, and 16 after it";
        let missing = |fault: SourceError| fault.hint(FORM);
        self.eat("<").ok_or_else(|| missing(self.unexpected("`<`")))?;
        let integer = self.bits().map_err(missing)?;
        self.eat(",").ok_or_else(|| missing(self.unexpected("`,`")))?;
        let fraction = self.bits().map_err(missing)?;
        let at = begin.to(self.eat(">").ok_or_else(|| missing(self.unexpected("`>`")))?);
        let fault = |message: String| Err(missing(SourceError::new(at, message)));
        match (u16::from(integer), u16::from(fraction)) {
            (0, _) => fault("expected at least 1 bit before the point, for the sign, got 0".into()),
            (integer, fraction) if integer + fraction > MAX_FIXED_BITS => fault(format!(
                "this type is too wide: expected at most {MAX_FIXED_BITS} bits, got {}",
                integer + fraction
            )),
            (integer, fraction) => Ok((Type::Fixed(integer, fraction), at)),
        }
    }

    /// A number of bits.
    fn bits(&mut self) -> Parsed<u8> {
        match self.peek() {
            Kind::Number(Unsigned { value, suffix: None }) if value <= MAX_FIXED_BITS.into() => {
                self.next();
                Ok(value.as_u16() as u8)
            }
            _ => Err(self.unexpected(&format!("a number of bits, at most {MAX_FIXED_BITS}"))),
        }
    }

    /// The array type of an element and the size that is next.
    fn sized(&mut self, element: Type) -> Parsed<Type> {
        Ok(Type::Array(element.into(), self.size()?))
    }

    /// A size: a number, the name of a constant, or an expression of constants, perhaps in `const { .. }`.
    pub(super) fn size(&mut self) -> Parsed<Size> {
        if self.eat_word("const").is_some() {
            self.expect("{")?;
            let size = self.constant_expression()?;
            self.expect("}")?;
            return Ok(Size::Computed(size.into()));
        }
        let token = self.ahead(0);
        match token.kind {
            Kind::Number(Unsigned { suffix: None | Some(Int::Usize), .. }) | Kind::Symbol("(") | Kind::Word(_) => {}
            _ => {
                return Err(self
                    .unexpected("a size")
                    .hint("a size is a number, a `const` of type usize, or computed from them, as in `N + 1`"));
            }
        }
        let size = self.constant_expression()?;
        self.constant_names(&size)?;
        Ok(match size.kind {
            ConstKind::Number(literal) => {
                let message = format!(
                    "this size is too large: expected at most {}, got {}",
                    usize::MAX,
                    clip(&literal.value.to_string())
                );
                Size::Number(usize::try_from(literal.value).map_err(|_| SourceError::new(token.span, message))?)
            }
            ConstKind::Constant(name) => Size::Constant(name),
            _ => Size::Computed(size.into()),
        })
    }

    /// Checks that all names in a size are those of constants.
    fn constant_names(&self, size: &ConstExpr) -> Parsed<()> {
        match &size.kind {
            ConstKind::Constant(name) if !self.looking_ahead && !self.constants.contains_key(name) => {
                let fault = SourceError::new(size.span, format!("a size must be constant, and `{name}` is not"));
                Err(fault.hint(format!("declare it: `const {name}: usize = ...;`")))
            }
            _ => size.parts().into_iter().try_for_each(|part| self.constant_names(part)),
        }
    }

    /// An expression of constants: numbers, names, `PARTY::NAME`, `min(..)`, `max(..)`, `+`, `-`, `*`, `/`, `%`, `!` and
    /// parentheses.
    ///
    /// *Errors*: anything else.
    pub(super) fn constant_expression(&mut self) -> Parsed<ConstExpr> {
        self.constant_chain(&["+", "-"], |parser| parser.constant_chain(&["*", "/", "%"], Self::constant_term))
    }

    /// Operands with such operators between them, from left to right.
    fn constant_chain(
        &mut self,
        operators: &[&'static str],
        mut operand: impl FnMut(&mut Self) -> Parsed<ConstExpr>,
    ) -> Parsed<ConstExpr> {
        let mut whole = operand(self)?;
        let mut operands = 1;
        while let Kind::Symbol(operator) = self.peek()
            && operators.contains(&operator)
        {
            self.next();
            let right = operand(self)?;
            let span = whole.span.to(right.span);
            let (a, b) = (Box::new(whole), Box::new(right));
            let kind = match operator {
                "+" => ConstKind::Add(a, b),
                "-" => ConstKind::Sub(a, b),
                "*" => ConstKind::Mul(a, b),
                "/" => ConstKind::Div(a, b),
                _ => ConstKind::Rem(a, b),
            };
            whole = ConstExpr { kind, span };
            operands += 1;
            if operands > super::MAX_NESTING + 1 {
                let what = if operators.contains(&"+") { "sum" } else { "product" };
                let message =
                    format!("this {what} of constants is too long: expected at most {} terms", super::MAX_NESTING + 1);
                return Err(SourceError::new(self.ahead(0).span, message).hint("declare constants for parts of it"));
            }
        }
        Ok(whole)
    }

    pub(super) fn constant_term(&mut self) -> Parsed<ConstExpr> {
        self.nested("declare a constant for a part of it", |parser| {
            let token = parser.ahead(0);
            match token.kind {
                Kind::Symbol("(") => {
                    parser.next();
                    let inner = parser.constant_expression()?;
                    if !parser.is(")") {
                        return Err(parser.unexpected("`)`").hint(CONSTANTS));
                    }
                    parser.next();
                    Ok(inner)
                }
                Kind::Symbol("-") if !matches!(parser.ahead(1).kind, Kind::Number(_) | Kind::Decimal(..)) => {
                    parser.next();
                    Ok(signed(true, parser.constant_term()?, token.span))
                }
                Kind::Symbol("!") => {
                    parser.next();
                    Ok(signed(false, parser.constant_term()?, token.span))
                }
                Kind::Number(_) | Kind::Decimal(..) | Kind::Symbol("-") => parser.constant_number(),
                Kind::Word("true" | "false") => {
                    let value = parser.next().kind == Kind::Word("true");
                    Ok(ConstExpr { kind: ConstKind::Bool(value), span: token.span })
                }
                Kind::Word(_) => parser.named_constant(),
                _ => Err(parser.unexpected("a constant").hint(CONSTANTS)),
            }
        })
    }

    fn named_constant(&mut self) -> Parsed<ConstExpr> {
        let (name, at) = self.name("a constant")?;
        if self.eat("::").is_some() {
            let (identifier, end) = self.name("the name of a party's constant")?;
            if let Some(bound) = bound(&name, &identifier) {
                return Ok(ConstExpr { kind: ConstKind::Number(bound), span: at.to(end) });
            }
            if let Some(number) = self.float(&name).and_then(|format| methods::constant(format, &identifier)) {
                return Ok(ConstExpr { kind: ConstKind::Decimal(number), span: at.to(end) });
            }
            if name == "bool" || Int::named(&name).is_some() || self.float(&name).is_some() {
                let fault = SourceError::new(at.to(end), format!("the type `{name}` has no constant `{identifier}`"));
                return Err(fault.hint("integers have `MIN` and `MAX`, floating-point numbers also `NAN` and `INFINITY`; a party's constant is `PARTY_0::NAME`"));
            }
            return Ok(ConstExpr { kind: ConstKind::External(name, identifier), span: at.to(end) });
        }
        if !self.is("(") {
            return Ok(ConstExpr { kind: ConstKind::Constant(name), span: at });
        }
        if !self.looking_ahead && self.functions.contains(&name) {
            let fault = SourceError::new(at, format!("expected a constant, got a call of the function `{name}`"));
            return Err(
                fault.hint("constants can use only the built-in `min` and `max`, and your function replaces that one")
            );
        }
        if !["min", "max"].contains(&name.as_str()) {
            return Err(SourceError::new(at, format!("expected `min` or `max`, got `{name}`")).hint(CONSTANTS));
        }
        self.expect("(")?;
        let (list, end) = self.list(")", |parser| parser.constant_expression())?;
        if list.is_empty() {
            return Err(SourceError::new(at, "expected at least 1 argument, got 0"));
        }
        let kind = if name == "min" { ConstKind::Min(list) } else { ConstKind::Max(list) };
        Ok(ConstExpr { kind, span: at.to(end) })
    }

    /// A number with its sign.
    pub(super) fn constant_number(&mut self) -> Parsed<ConstExpr> {
        let begin = self.ahead(0).span;
        let minus = self.eat("-").is_some();
        if let Kind::Decimal(text, suffix) = self.peek() {
            let span = begin.to(self.next().span);
            let mut decimal = decimal(text, minus, span)?;
            decimal.suffix = suffix;
            return Ok(ConstExpr { kind: ConstKind::Decimal(decimal), span });
        }
        let Kind::Number(number) = self.peek() else { return Err(self.unexpected("a number")) };
        let span = begin.to(self.next().span);
        Ok(ConstExpr { kind: ConstKind::Number(literal(number, minus)), span })
    }
}

/// `-` or `!` at `begin`, of an expression.
pub(super) fn signed(minus: bool, inner: ConstExpr, begin: Span) -> ConstExpr {
    let span = begin.to(inner.span);
    let kind = match inner.kind {
        // `-(128i8)` is a literal, as `-128i8` is.
        ConstKind::Number(literal) if minus && !literal.minus => {
            ConstKind::Number(Literal { value: -literal.value, minus: true, ..literal })
        }
        _ if minus => ConstKind::Neg(inner.into()),
        _ => ConstKind::Not(inner.into()),
    };
    ConstExpr { kind, span }
}

/// The number with its sign.
pub(super) fn literal(number: Unsigned, minus: bool) -> Literal {
    Literal { value: if minus { -number.value } else { number.value }, minus, suffix: number.suffix }
}

/// The most bits of a fixed-point number.
const MAX_FIXED_BITS: u16 = 128;

/// Parses a decimal number.
pub(super) fn decimal(text: &str, minus: bool, at: Span) -> Parsed<Decimal> {
    let sign = if minus { "-" } else { "" };
    Decimal::of(&[sign, &text.replace('_', "")].concat())
        .ok_or_else(|| SourceError::new(at, format!("expected a decimal number, got {}", clip(text))))
}

/// Returns whether it is the name of a built-in type.
pub(super) fn is_built_in(name: &str) -> bool {
    matches!(name, "bool" | "fixed") || Int::named(name).is_some()
}

/// The parts that a constant is made of.
pub(super) const CONSTANTS: &str =
    "a constant is made of numbers, names, PARTY_0::NAME, min(..), max(..), +, -, *, /, % and !";
