//! Names, numbers, literals, calls, and access to parts.

use std::collections::HashSet;

use garble_lang::{
    UntypedExpr,
    ast::{BuiltInFnCall, ConstExpr, ConstExprEnum, Expr, ExprEnum, Type, VariantExprEnum},
    token::{SignedNumType, UnsignedNumType},
};

use super::{
    Parsed, Parser, join, meta, only_once,
    types::{Literal, Size},
};
use crate::{
    front::{
        constants,
        scanner::{Kind, Number, Suffix},
    },
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// A name, a literal, a call or an expression in brackets, and the parts that are taken of it.
    pub(super) fn primary(&mut self) -> Parsed<UntypedExpr> {
        let token = self.ahead(0);
        let here = meta(token.span, token.span);
        let value = match token.kind {
            Kind::Word("true" | "false") => {
                let value = self.next().kind == Kind::Word("true");
                Expr::untyped(if value { ExprEnum::True } else { ExprEnum::False }, here)
            }
            Kind::Word(word) => match refused(word) {
                Some(hint) => return Err(self.unexpected("an expression").hint(hint)),
                None => self.named()?,
            },
            Kind::Number(_) | Kind::Symbol("-") => self.number()?,
            Kind::Symbol("(") => self.in_parentheses()?,
            Kind::Symbol("[") => self.array()?,
            Kind::Symbol("{") => {
                let (body, end) = self.block()?;
                return Ok(Expr::untyped(ExprEnum::Block(body), meta(token.span, end)));
            }
            Kind::Symbol("|" | "||") => return Err(self.unexpected("an expression").hint("there are no closures")),
            _ => return Err(self.unexpected("an expression")),
        };
        self.parts_of(value)
    }

    /// `.FIELD`, `.0` and `[INDEX]`, as many as there are.
    fn parts_of(&mut self, mut value: UntypedExpr) -> Parsed<UntypedExpr> {
        loop {
            if self.eat("[").is_some() {
                self.operator()?;
                let outer = std::mem::replace(&mut self.structs_allowed, true);
                let mut index = self.expression()?;
                self.structs_allowed = outer;
                if let ExprEnum::NumUnsigned(_, ty @ UnsignedNumType::Unspecified) = &mut index.inner {
                    *ty = UnsignedNumType::Usize;
                }
                let end = self.expect("]")?;
                let at = join(value.meta, meta(end, end));
                value = Expr::untyped(ExprEnum::ArrayAccess(Box::new(value), Box::new(index)), at);
            } else if self.eat(".").is_some() {
                self.operator()?;
                value = self.field(value)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn field(&mut self, whole: UntypedExpr) -> Parsed<UntypedExpr> {
        let token = self.ahead(0);
        let at = join(whole.meta, meta(token.span, token.span));
        if let ExprEnum::NumUnsigned(..) | ExprEnum::NumSigned(..) = whole.inner {
            let fault = SourceError::new(crate::front::span(at), "numbers have no fractions, and no fields");
            return Err(fault.hint("take integers in fixed point: with 8 bits behind the point, 1.5 is 384"));
        }
        if let Kind::Number(Number { value, suffix: Suffix::None }) = token.kind {
            self.next();
            let large = |_| SourceError::new(token.span, "there is no such field");
            let index = usize::try_from(value).map_err(large)?;
            return Ok(Expr::untyped(ExprEnum::TupleAccess(Box::new(whole), index), at));
        }
        let (field, _) = self.name("the name of a field, or its number")?;
        match self.is("(") {
            true => Err(self.unexpected("the end of the field").hint(match field.as_str() {
                "len" => "a size is known: take the constant or the number",
                _ => "there are no methods: call functions, `f(x)`",
            })),
            false => Ok(Expr::untyped(ExprEnum::StructAccess(Box::new(whole), field), at)),
        }
    }

    /// An expression that begins with a name: a variable, a call, a struct, a variant, or a range that begins with a constant.
    fn named(&mut self) -> Parsed<UntypedExpr> {
        let (name, at) = self.name("an expression")?;
        match self.peek() {
            Kind::Symbol("::") => self.variant(name, at),
            Kind::Symbol("(") => {
                self.next();
                let (arguments, end) = self.list(")", Self::expression)?;
                let call = match BuiltInFnCall::try_from_ident_args(&name, arguments) {
                    Ok(call) => ExprEnum::BuiltInFnCall(call),
                    Err(arguments) => ExprEnum::FnCall(name, arguments),
                };
                Ok(Expr::untyped(call, meta(at, end)))
            }
            Kind::Symbol("{") if self.structs_allowed => self.struct_literal(name, at),
            Kind::Symbol(".." | "..=") => {
                let from = ConstExpr(ConstExprEnum::ConstExprIdent(name), meta(at, at));
                self.range(from, at)
            }
            _ => Ok(self.variable(name, at)),
        }
    }

    fn variable(&self, name: String, at: Span) -> UntypedExpr {
        Expr::untyped(ExprEnum::Identifier(self.names.resolve(name)), meta(at, at))
    }

    /// `ENUM::VARIANT`, `ENUM::VARIANT(..)`, or the greatest and least number of a type.
    fn variant(&mut self, name: String, begin: Span) -> Parsed<UntypedExpr> {
        self.expect("::")?;
        let (variant, end) = self.name("the name of a variant")?;
        if let Some(bound) = bound(&name, &variant) {
            return Ok(Expr::untyped(bound, meta(begin, end)));
        }
        let (fields, end) = match self.eat("(") {
            Some(_) => {
                let (fields, end) = self.list(")", Self::expression)?;
                (VariantExprEnum::Tuple(fields), end)
            }
            None => (VariantExprEnum::Unit, end),
        };
        Ok(Expr::untyped(ExprEnum::EnumLiteral(name, variant, fields), meta(begin, end)))
    }

    /// `NAME { FIELD: VALUE, FIELD, .. }`, after its name.
    fn struct_literal(&mut self, name: String, begin: Span) -> Parsed<UntypedExpr> {
        self.expect("{")?;
        let mut names = HashSet::new();
        let (mut fields, end) = self.list("}", |parser| {
            if parser.is("..") {
                return Err(parser.unexpected("the name of a field").hint("all fields are written out"));
            }
            let (field, at) = parser.name("the name of a field")?;
            only_once(&mut names, &field, at)?;
            let value = match parser.eat(":") {
                Some(_) => parser.expression()?,
                None => parser.variable(field.clone(), at),
            };
            Ok((field, value))
        })?;
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Expr::untyped(ExprEnum::StructLiteral(name, fields), meta(begin, end)))
    }

    /// A number with its sign, or a range that begins with it.
    fn number(&mut self) -> Parsed<UntypedExpr> {
        let begin = self.ahead(0).span;
        let minus = self.eat("-").is_some();
        let Kind::Number(number) = self.peek() else { return Err(self.unexpected("a number")) };
        let end = self.next().span;
        let at = meta(begin, end);
        Ok(match Self::literal(number, minus, begin)? {
            Literal::Unsigned(value, ty) if self.is("..") || self.is("..=") => {
                return self.range(ConstExpr(ConstExprEnum::NumUnsigned(value, ty), at), begin);
            }
            Literal::Signed(..) if self.is("..") || self.is("..=") => {
                let fault = SourceError::new(begin, "a range is of numbers without a sign");
                return Err(fault.hint("convert within the loop: `(k as i32) - 5i32`"));
            }
            Literal::Unsigned(value, ty) => Expr::untyped(ExprEnum::NumUnsigned(value, ty), at),
            Literal::Signed(value, ty) => Expr::untyped(ExprEnum::NumSigned(value, ty), at),
        })
    }

    /// `FROM..END` or `FROM..=END`, after its beginning; the end may be a sum of constants.
    fn range(&mut self, from: ConstExpr, begin: Span) -> Parsed<UntypedExpr> {
        let inclusive = self.next().kind == Kind::Symbol("..=");
        if !matches!(self.peek(), Kind::Number(_) | Kind::Word(_) | Kind::Symbol("(")) {
            return Err(self.unexpected("the number that the range ends with"));
        }
        let end = self.constant_expression(None)?;
        let at = join(from.1, end.1);
        let mut ty = UnsignedNumType::Unspecified;
        let from = self.range_end(&from, begin, &mut ty)?;
        let end = self.range_end(&end, begin, &mut ty)?;
        // Constants that are not known are a fault that is found later.
        let from = from.unwrap_or(0);
        let end = end.map_or(from + 1, |end| end.saturating_add(u64::from(inclusive)));
        match from < end {
            true => Ok(Expr::untyped(ExprEnum::Range(from, end, ty), at)),
            false => Err(SourceError::new(begin, format!("the range from {from} to {end} is empty"))),
        }
    }

    /// The value of an end of a range, and its type into `ty`.
    fn range_end(&self, end: &ConstExpr, begin: Span, ty: &mut UnsignedNumType) -> Parsed<Option<u64>> {
        let own = self.range_type(end)?;
        *ty = match (*ty, own) {
            (UnsignedNumType::Unspecified, own) => own,
            (ty, UnsignedNumType::Unspecified) => ty,
            (a, b) if a == b => a,
            (a, b) => return Err(SourceError::new(begin, format!("a range of one type: these ends are {a} and {b}"))),
        };
        let value = constants::evaluate(end, &|name| self.constants.get(name).and_then(|constant| constant.1));
        match value.ok().map(u64::try_from) {
            Some(Err(_)) => Err(SourceError::new(begin, "a range is of numbers without a sign")),
            Some(Ok(value)) => Ok(Some(value)),
            None => Ok(None),
        }
    }

    /// The type of a constant that is the end of a range.
    fn range_type(&self, ConstExpr(value, at): &ConstExpr) -> Parsed<UnsignedNumType> {
        let fault = |message: String| Err(SourceError::new(crate::front::span(*at), message));
        match value {
            ConstExprEnum::NumUnsigned(_, ty) => Ok(*ty),
            ConstExprEnum::ConstExprIdent(name) => match self.constants.get(name).map(|(definition, _)| &definition.ty) {
                Some(Type::Unsigned(ty)) => Ok(*ty),
                Some(ty) => fault(format!("a range is of numbers without a sign, `{name}` is {ty}")),
                None => Err(SourceError::new(crate::front::span(*at), format!("`{name}` is no constant")).hint(
                    "how often a loop runs is known before: go to the most that it can be, and take an `if` in the loop",
                )),
            },
            ConstExprEnum::Add(a, b) | ConstExprEnum::Sub(a, b) => match (self.range_type(a)?, self.range_type(b)?) {
                (UnsignedNumType::Unspecified, ty) | (ty, _) => Ok(ty),
            },
            ConstExprEnum::Max(list) | ConstExprEnum::Min(list) => {
                let types = list.iter().map(|end| self.range_type(end)).collect::<Parsed<Vec<_>>>()?;
                let specified = types.into_iter().find(|ty| *ty != UnsignedNumType::Unspecified);
                Ok(specified.unwrap_or(UnsignedNumType::Unspecified))
            }
            ConstExprEnum::ExternalValue { party, identifier } => {
                let hint = format!("`const {identifier}: usize = {party}::{identifier};`");
                Err(SourceError::new(crate::front::span(*at), "a party's constant is declared first").hint(hint))
            }
            _ => fault("a range is of numbers without a sign".into()),
        }
    }

    /// `()`, `(VALUE)`, or a tuple.
    fn in_parentheses(&mut self) -> Parsed<UntypedExpr> {
        let begin = self.expect("(")?;
        let mut lone = false;
        let (mut parts, end) = self.list(")", |parser| {
            let part = parser.expression()?;
            lone = !parser.is(",");
            Ok(part)
        })?;
        match lone && parts.len() == 1 {
            true => Ok(parts.remove(0)),
            false => Ok(Expr::untyped(ExprEnum::TupleLiteral(parts), meta(begin, end))),
        }
    }

    /// `[VALUE, ..]` or `[VALUE; SIZE]`
    fn array(&mut self) -> Parsed<UntypedExpr> {
        let begin = self.expect("[")?;
        let outer = std::mem::replace(&mut self.structs_allowed, true);
        if self.is("]") {
            return Err(self.unexpected("an element").hint("an array has at least one element"));
        }
        let first = self.expression()?;
        self.structs_allowed = outer;
        if self.eat(";").is_some() {
            let size = self.size()?;
            let end = self.expect("]")?;
            let kind = match size {
                Size::Number(count) => ExprEnum::ArrayRepeatLiteral(Box::new(first), count),
                Size::Named(name) => ExprEnum::ArrayRepeatLiteralConst(Box::new(first), name),
            };
            return Ok(Expr::untyped(kind, meta(begin, end)));
        }
        let mut elements = vec![first];
        if !self.is("]") && self.eat(",").is_none() {
            return Err(self.unexpected("`,`, `;` or `]`"));
        }
        let (rest, end) = self.list("]", Self::expression)?;
        elements.extend(rest);
        Ok(Expr::untyped(ExprEnum::ArrayLiteral(elements), meta(begin, end)))
    }
}

/// `TYPE::MAX` or `TYPE::MIN`.
fn bound(ty: &str, which: &str) -> Option<ExprEnum<()>> {
    let ty = Suffix::of(ty).filter(|_| matches!(which, "MAX" | "MIN"))?;
    let greatest = which == "MAX";
    Some(match ty {
        Suffix::None => return None,
        Suffix::Unsigned(ty) => ExprEnum::NumUnsigned(if greatest { UnsignedNumType::max(&ty)? } else { 0 }, ty),
        Suffix::Signed(ty) => {
            ExprEnum::NumSigned(if greatest { SignedNumType::max(&ty)? } else { SignedNumType::min(&ty)? }, ty)
        }
    })
}

/// The reason why a word of Rust, or of this language, begins no expression.
fn refused(word: &str) -> Option<&'static str> {
    Some(match word {
        "while" | "loop" | "break" | "continue" => "there are `for` loops only, which run as often as is known before",
        "return" => "the last expression of a function is its result",
        "fn" | "struct" | "enum" | "pub" | "const" => {
            "is there a `}` missing before? Definitions are not inside of functions"
        }
        "else" => "is there a `;` or a `}` before the `else`?",
        "let" => "`let` begins a statement",
        "for" => "a loop has no value: begin with a variable that it changes",
        "mut" | "as" | "in" => "this word belongs to something else",
        "move" | "ref" | "async" | "await" | "dyn" | "use" | "mod" | "impl" | "trait" => {
            "this is a word of Rust that the language does not have"
        }
        _ => return None,
    })
}
