//! Names, numbers, literals, calls, and access to parts.

use std::collections::HashSet;

use garblet_circuit::diagnostic::clip;

use super::{Parsed, Parser, names::in_source, only_once};
use crate::{
    front::{
        ast::{Callee, ConstExpr, ConstKind, Expr, ExprKind, Fields, Int, Literal, Op},
        elsewhere, methods,
        scanner::{Kind, Unsigned},
    },
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// A name, a literal, a call or an expression in brackets, and the accesses to its parts.
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let token = self.ahead(0);
        let value = match token.kind {
            Kind::Word("true" | "false") => {
                let value = self.next().kind == Kind::Word("true");
                Expr::new(ExprKind::Bool(value), token.span)
            }
            Kind::Word(word) => match refused(word) {
                Some(hint) => return Err(self.unexpected("an expression").hint(hint)),
                None => self.named()?,
            },
            Kind::Number(_) | Kind::Decimal(..) | Kind::Symbol("-") => self.number()?,
            Kind::Symbol("(") => self.in_parentheses()?,
            Kind::Symbol("[") => self.array()?,
            Kind::Symbol("{") => {
                let (body, end) = self.block()?;
                return Ok(Expr::new(ExprKind::Block(body), token.span.to(end)));
            }
            Kind::Symbol("|" | "||") => return Err(self.unexpected("an expression").hint("there are no closures")),
            _ => return Err(self.unexpected("an expression")),
        };
        self.parts_of(value)
    }

    /// Any number of `.FIELD`, `.0` and `[INDEX]`.
    fn parts_of(&mut self, mut value: Expr) -> Parsed<Expr> {
        loop {
            if self.eat("[").is_some() {
                self.operator()?;
                let outer = std::mem::replace(&mut self.structs_allowed, true);
                let index = self.expression()?;
                self.structs_allowed = outer;
                let end = self.expect("]")?;
                let at = value.span.to(end);
                value = Expr::new(ExprKind::Index(Box::new(value), Box::new(index)), at);
            } else if self.eat(".").is_some() {
                self.operator()?;
                value = self.field(value)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn field(&mut self, whole: Expr) -> Parsed<Expr> {
        let token = self.ahead(0);
        let at = whole.span.to(token.span);
        let is_method = matches!(token.kind, Kind::Word(word) if methods::named(word).is_some());
        if let ExprKind::Number(..) | ExprKind::Decimal(_) = whole.kind
            && !is_method
        {
            return Err(
                SourceError::new(at, "numbers have no fields").hint("write a digit after the point, as in `1.0`")
            );
        }
        if let Kind::Decimal(text, None) = token.kind {
            // `.0.1` are two fields.
            self.next();
            let large = || no_position(text, token.span);
            let indices =
                text.split('.').map(|text| text.parse().ok().filter(|index: &usize| index.to_string() == text));
            let indices = indices.collect::<Option<Vec<_>>>().ok_or_else(large)?;
            return Ok(indices
                .into_iter()
                .fold(whole, |whole, index| Expr::new(ExprKind::Position(Box::new(whole), index), at)));
        }
        if let Kind::Number(Unsigned { value, suffix: None }) = token.kind {
            self.next();
            let (number, length) = (value.to_string(), token.span.end_column - token.span.column);
            // As in Rust, `.01` and `.0x1` name no field.
            let index = usize::try_from(value).ok().filter(|_| number.len() == length as usize);
            let index = index.ok_or_else(|| no_position(&clip(&number), token.span))?;
            return Ok(Expr::new(ExprKind::Position(Box::new(whole), index), at));
        }
        let (field, place) = self.name("the name of a field, or its number")?;
        if self.is("(") && field == "len" {
            self.next();
            let end = self.expect(")")?;
            return Ok(Expr::new(ExprKind::Len(Box::new(whole)), at.to(end)));
        }
        if self.is("(") && field == "push" {
            self.next();
            let outer = std::mem::replace(&mut self.structs_allowed, true);
            let value = self.expression()?;
            self.structs_allowed = outer;
            let end = self.expect(")")?;
            return Ok(Expr::new(ExprKind::Push(Box::new(whole), Box::new(value)), at.to(end)));
        }
        if let Some(method) = methods::named(&field).filter(|_| self.is("(")) {
            self.next();
            let outer = std::mem::replace(&mut self.structs_allowed, true);
            let (arguments, end) = self.list(")", Self::expression)?;
            self.structs_allowed = outer;
            let parts = [whole].into_iter().chain(arguments).collect();
            return Ok(Expr::new(ExprKind::Method(method, parts), at.to(end)));
        }
        match self.is("(") {
            true => {
                let fault = SourceError::new(place, format!("there is no method `{field}`"));
                if let Some(hint) = elsewhere::method(&field) {
                    return Err(fault.hint(hint));
                }
                let numbers = methods::all_names().join(", ");
                Err(fault.hint(format!(
                    "arrays and lists have len, lists push, and numbers {numbers}; else call a function, `f(x)`"
                )))
            }
            false => Ok(Expr::new(ExprKind::Field(Box::new(whole), field), at)),
        }
    }

    /// An expression that begins with a name: a variable, a call, a struct or a variant.
    fn named(&mut self) -> Parsed<Expr> {
        let (name, at) = self.name("an expression")?;
        match self.peek() {
            Kind::Symbol("::") => self.variant(name, at),
            Kind::Symbol("(") => self.call(name, at, Vec::new()),
            Kind::Symbol("{") if self.structs_allowed => self.struct_literal(name, at),
            _ => Ok(self.variable(name, at)),
        }
    }

    /// `(ARGUMENT, ..)` of a call, after the name and the sizes that it states.
    fn call(&mut self, name: String, begin: Span, sizes: Vec<Option<ConstExpr>>) -> Parsed<Expr> {
        if self.is_whole_constant(&name) {
            let fault = SourceError::new(begin, format!("expected a function, got the constant `{name}`"));
            return Err(fault.hint("leave out the brackets"));
        }
        self.expect("(")?;
        let (arguments, end) = self.list(")", Self::expression)?;
        // As in Rust, a variable hides the function of its name.
        let callee = Callee { name: self.names.resolve(name), sizes };
        Ok(Expr::new(ExprKind::Call(callee, arguments), begin.to(end)))
    }

    /// A size that a call states: a number, a constant, `{ .. }`, or `_` for one that is inferred.
    fn stated_size(&mut self) -> Parsed<Option<ConstExpr>> {
        if self.eat_word("_").is_some() {
            return Ok(None);
        }
        let size = match self.peek() {
            Kind::Symbol("{") => {
                self.next();
                let size = self.constant_expression()?;
                self.expect("}")?;
                size
            }
            Kind::Number(_) | Kind::Word(_) => self.constant_term()?,
            _ => return Err(self.unexpected("a size").hint("state it as in `f::<4>(x)` or `f::<{ N + 1 }>(x)`")),
        };
        Ok(Some(size))
    }

    /// A variable or a constant.
    fn variable(&self, name: String, at: Span) -> Expr {
        let kind = match self.is_whole_constant(&name) {
            true => ExprKind::Call(Callee { name, sizes: Vec::new() }, Vec::new()),
            false => ExprKind::Variable(self.names.resolve(name)),
        };
        Expr::new(kind, at)
    }

    /// Returns whether the name is that of a constant that is neither a number nor a bool. No variable has its name.
    pub(super) fn is_whole_constant(&self, name: &str) -> bool {
        self.constants.get(name).is_some_and(|declared| !declared.is_scalar)
    }

    /// `ENUM::VARIANT`, `ENUM::VARIANT(..)`, `ENUM::VARIANT { .. }`, the greatest and least number of a type, or a call that
    /// states sizes, `NAME::<SIZE, ..>(..)`.
    fn variant(&mut self, name: String, begin: Span) -> Parsed<Expr> {
        self.expect("::")?;
        if self.eat("<").is_some() {
            let (sizes, _) = self.list(">", Self::stated_size)?;
            return self.call(name, begin, sizes);
        }
        let (variant, end) = self.name("the name of a variant")?;
        if let Some(bound) = bound(&name, &variant) {
            return Ok(Expr::new(ExprKind::Number(bound), begin.to(end)));
        }
        if let Some(format) = self.float(&name) {
            if let Some(number) = methods::constant(format, &variant) {
                return Ok(Expr::new(ExprKind::Decimal(number), begin.to(end)));
            }
            if variant == "from_bits" && self.eat("(").is_some() {
                let (parts, end) = self.list(")", Self::expression)?;
                return Ok(Expr::new(ExprKind::FromBits(format, parts), begin.to(end)));
            }
        }
        let (fields, end) = match self.eat("(") {
            Some(_) => {
                let (fields, end) = self.list(")", Self::expression)?;
                (Fields::Tuple(fields), end)
            }
            None if self.is("{") && self.structs_allowed => {
                let (fields, end) = self.field_values()?;
                (Fields::Named(fields), end)
            }
            None => (Fields::Unit, end),
        };
        Ok(Expr::new(ExprKind::Variant(name, variant, fields), begin.to(end)))
    }

    /// `NAME { FIELD: VALUE, FIELD, .. }`, after its name.
    fn struct_literal(&mut self, name: String, begin: Span) -> Parsed<Expr> {
        let (fields, end) = self.field_values()?;
        Ok(Expr::new(ExprKind::Struct(name, fields), begin.to(end)))
    }

    /// `{ FIELD: VALUE, FIELD, .. }`: values as they are written, and the end.
    fn field_values(&mut self) -> Parsed<(Vec<(String, Expr)>, Span)> {
        self.expect("{")?;
        let mut names = HashSet::new();
        self.list("}", |parser| {
            if parser.is("..") {
                return Err(parser.unexpected("the name of a field").hint("write out all fields"));
            }
            let (field, at) = parser.name("the name of a field")?;
            only_once(&mut names, &field, at)?;
            let value = match parser.eat(":") {
                Some(_) => parser.expression()?,
                None => parser.variable(field.clone(), at),
            };
            Ok((field, value))
        })
    }

    /// A number with its sign.
    fn number(&mut self) -> Parsed<Expr> {
        let number = self.constant_number()?;
        let kind = match number.kind {
            ConstKind::Decimal(decimal) => ExprKind::Decimal(decimal),
            ConstKind::Number(literal) => ExprKind::Number(literal),
            _ => return Err(self.unexpected("a number")),
        };
        Ok(Expr::new(kind, number.span))
    }

    /// The expression of constants that begins a range, unless it is something else.
    pub(super) fn constant_of(&self, value: &Expr) -> Option<ConstExpr> {
        let of = |part: &Expr| self.constant_of(part);
        let kind = match &value.kind {
            ExprKind::Number(literal) => ConstKind::Number(*literal),
            ExprKind::Variable(name) => ConstKind::Constant(in_source(name).into()),
            ExprKind::Neg(inner) => ConstKind::Neg(of(inner)?.into()),
            ExprKind::Not(inner) => ConstKind::Not(of(inner)?.into()),
            ExprKind::Op(op, a, b) => {
                let (a, b) = (of(a)?.into(), of(b)?.into());
                match op {
                    Op::Add => ConstKind::Add(a, b),
                    Op::Sub => ConstKind::Sub(a, b),
                    Op::Mul => ConstKind::Mul(a, b),
                    Op::Div => ConstKind::Div(a, b),
                    Op::Rem => ConstKind::Rem(a, b),
                    _ => return None,
                }
            }
            ExprKind::Call(callee, parts) if !self.functions.contains(&callee.name) && !parts.is_empty() => {
                let parts = parts.iter().map(of).collect::<Option<Vec<_>>>()?;
                match callee.name.as_str() {
                    "min" => ConstKind::Min(parts),
                    "max" => ConstKind::Max(parts),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(ConstExpr { kind, span: value.span })
    }

    /// `FROM..END` or `FROM..=END`, after its beginning; the ends may be computed from constants.
    pub(super) fn range(&mut self, from: ConstExpr) -> Parsed<Expr> {
        let inclusive = self.next().kind == Kind::Symbol("..=");
        if !matches!(self.peek(), Kind::Number(_) | Kind::Word(_) | Kind::Symbol("(" | "-" | "!")) {
            return Err(self.unexpected("the number that the range ends with"));
        }
        let end = self.constant_expression()?;
        [&from, &end].into_iter().try_for_each(|end| self.range_end(end))?;
        let at = from.span.to(end.span);
        Ok(Expr::new(ExprKind::Range(from.into(), end.into(), inclusive), at))
    }

    /// Checks that an end of a range is made of constants.
    fn range_end(&self, end: &ConstExpr) -> Parsed<()> {
        match &end.kind {
            ConstKind::Constant(name) if !self.constants.contains_key(name) => {
                let fault = SourceError::new(end.span, format!("`{name}` is not a constant"));
                Err(fault.hint(
                    "the length of a loop must be known: loop up to the largest possible value, with an `if` inside",
                ))
            }
            _ => end.parts().into_iter().try_for_each(|part| self.range_end(part)),
        }
    }

    /// `()`, `(VALUE)`, or a tuple.
    fn in_parentheses(&mut self) -> Parsed<Expr> {
        let begin = self.expect("(")?;
        let mut lone = false;
        let (mut parts, end) = self.list(")", |parser| {
            let part = parser.expression()?;
            lone = !parser.is(",");
            Ok(part)
        })?;
        match lone && parts.len() == 1 {
            // As in Rust, a panic inside parentheses is reported at the parentheses.
            true => Ok(Expr { span: begin.to(end), ..parts.remove(0) }),
            false => Ok(Expr::new(ExprKind::Tuple(parts), begin.to(end))),
        }
    }

    /// `[VALUE, ..]` or `[VALUE; SIZE]`
    fn array(&mut self) -> Parsed<Expr> {
        let begin = self.expect("[")?;
        let outer = std::mem::replace(&mut self.structs_allowed, true);
        if let Some(end) = self.eat("]") {
            self.structs_allowed = outer;
            return Ok(Expr::new(ExprKind::Array(Vec::new()), begin.to(end)));
        }
        let first = self.expression()?;
        self.structs_allowed = outer;
        if self.eat(";").is_some() {
            let size = self.size()?;
            let end = self.expect("]")?;
            return Ok(Expr::new(ExprKind::Repeat(Box::new(first), size), begin.to(end)));
        }
        let mut elements = vec![first];
        if !self.is("]") && self.eat(",").is_none() {
            return Err(self.unexpected("`,`, `;` or `]`"));
        }
        let (rest, end) = self.list("]", Self::expression)?;
        elements.extend(rest);
        Ok(Expr::new(ExprKind::Array(elements), begin.to(end)))
    }
}

/// The fault for a field number that no tuple has.
fn no_position(number: &str, at: Span) -> SourceError {
    SourceError::new(at, format!("there is no field `{number}`")).hint("the first field of a tuple is `.0`")
}

/// `TYPE::MAX`, `TYPE::MIN` or `TYPE::BITS`.
pub(super) fn bound(ty: &str, which: &str) -> Option<Literal> {
    let ty = Int::named(ty)?;
    match which {
        "MAX" => Some(Literal { value: ty.max(), minus: false, suffix: Some(ty) }),
        "MIN" => Some(Literal { value: ty.min(), minus: ty.is_signed(), suffix: Some(ty) }),
        "BITS" => Some(Literal { value: ty.scalar().bits.into(), minus: false, suffix: Some(Int::Unsigned(32)) }),
        _ => None,
    }
}

/// The reason why a word of Rust, or of this language, cannot begin an expression.
fn refused(word: &str) -> Option<&'static str> {
    Some(match word {
        "while" | "loop" | "break" | "continue" => "there are only `for` loops, with a known number of iterations",
        "return" => "the last expression of a function is its result",
        "fn" | "struct" | "enum" | "pub" | "const" => {
            "is a `}` missing before it? Functions cannot contain definitions"
        }
        "else" => "is there a `;` or a `}` before the `else`?",
        "let" => "`let` begins a statement",
        "for" => "a loop has no value: declare a variable before it, and assign to that",
        "mut" | "as" | "in" => "this word cannot stand here",
        "move" | "ref" | "async" | "await" | "dyn" | "use" | "mod" | "impl" | "trait" => {
            "the language does not have this Rust keyword"
        }
        _ => return None,
    })
}
