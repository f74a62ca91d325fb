//! Names, numbers, literals, calls, and access to parts.

use std::collections::HashSet;

use super::{Parsed, Parser, only_once, types::decimal};
use crate::{
    front::{
        ast::{ConstExpr, ConstKind, Expr, ExprKind, Fields, Int, Type},
        constants,
        scanner::{Kind, Unsigned},
    },
    number::{Number, ONE, ZERO},
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// A name, a literal, a call or an expression in brackets, and the parts that are taken of it.
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
            Kind::Number(_) | Kind::Decimal(_) | Kind::Symbol("-") => self.number()?,
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

    /// `.FIELD`, `.0` and `[INDEX]`, as many as there are.
    fn parts_of(&mut self, mut value: Expr) -> Parsed<Expr> {
        loop {
            if self.eat("[").is_some() {
                self.operator()?;
                let outer = std::mem::replace(&mut self.structs_allowed, true);
                let mut index = self.expression()?;
                self.structs_allowed = outer;
                if let ExprKind::Number(_, ty @ Type::Natural) = &mut index.kind {
                    *ty = Type::Int(Int::Usize);
                }
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
        if let ExprKind::Number(..) | ExprKind::Decimal(_) = whole.kind {
            return Err(SourceError::new(at, "numbers have no fields")
                .hint("what is behind a point begins with a digit, as `1.0`"));
        }
        if let Kind::Decimal(text) = token.kind {
            // `.0.1` are two fields.
            self.next();
            let large = || SourceError::new(token.span, "there is no such field");
            let indices = text.split('.').map(|index| index.parse::<usize>().ok());
            let indices = indices.collect::<Option<Vec<_>>>().ok_or_else(large)?;
            return Ok(indices
                .into_iter()
                .fold(whole, |whole, index| Expr::new(ExprKind::Position(Box::new(whole), index), at)));
        }
        if let Kind::Number(Unsigned { value, suffix: None }) = token.kind {
            self.next();
            let large = |_| SourceError::new(token.span, "there is no such field");
            let index = usize::try_from(value).map_err(large)?;
            return Ok(Expr::new(ExprKind::Position(Box::new(whole), index), at));
        }
        let (field, _) = self.name("the name of a field, or its number")?;
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
        match self.is("(") {
            true => {
                let fault = self.unexpected("the end of the field");
                Err(fault.hint("there are no methods but `.len()` and `.push(x)`: call functions, `f(x)`"))
            }
            false => Ok(Expr::new(ExprKind::Field(Box::new(whole), field), at)),
        }
    }

    /// An expression that begins with a name: a variable, a call, a struct, a variant, or a range that begins with a constant.
    fn named(&mut self) -> Parsed<Expr> {
        let (name, at) = self.name("an expression")?;
        match self.peek() {
            Kind::Symbol("::") => self.variant(name, at),
            Kind::Symbol("(") => {
                self.next();
                let (arguments, end) = self.list(")", Self::expression)?;
                Ok(Expr::new(ExprKind::Call(name, arguments), at.to(end)))
            }
            Kind::Symbol("{") if self.structs_allowed => self.struct_literal(name, at),
            Kind::Symbol(".." | "..=") => {
                let from = ConstExpr { kind: ConstKind::Constant(name), span: at };
                self.range(from, at)
            }
            _ => Ok(self.variable(name, at)),
        }
    }

    fn variable(&self, name: String, at: Span) -> Expr {
        Expr::new(ExprKind::Variable(self.names.resolve(name)), at)
    }

    /// `ENUM::VARIANT`, `ENUM::VARIANT(..)`, `ENUM::VARIANT { .. }`, or the greatest and least number of a type.
    fn variant(&mut self, name: String, begin: Span) -> Parsed<Expr> {
        self.expect("::")?;
        let (variant, end) = self.name("the name of a variant")?;
        if let Some(bound) = bound(&name, &variant) {
            return Ok(Expr::new(bound, begin.to(end)));
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

    /// `{ FIELD: VALUE, FIELD, .. }`: values in the order of the names, and the end.
    fn field_values(&mut self) -> Parsed<(Vec<(String, Expr)>, Span)> {
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
        Ok((fields, end))
    }

    /// A number with its sign, or a range that begins with it.
    fn number(&mut self) -> Parsed<Expr> {
        let begin = self.ahead(0).span;
        let minus = self.eat("-").is_some();
        if let Kind::Decimal(text) = self.peek() {
            let at = begin.to(self.next().span);
            return Ok(Expr::new(ExprKind::Decimal(decimal(text, minus, at)?), at));
        }
        let Kind::Number(number) = self.peek() else { return Err(self.unexpected("a number")) };
        let end = self.next().span;
        let at = begin.to(end);
        let (value, ty) = Self::literal(number, minus, begin)?;
        if !self.is("..") && !self.is("..=") {
            return Ok(Expr::new(ExprKind::Number(value, ty), at));
        }
        if ty == Type::Integer || matches!(ty, Type::Int(Int::Signed(_))) {
            let fault = SourceError::new(begin, "a range is of numbers without a sign");
            return Err(fault.hint("convert within the loop: `(k as i32) - 5i32`"));
        }
        self.range(ConstExpr { kind: ConstKind::Number(value, ty), span: at }, begin)
    }

    /// `FROM..END` or `FROM..=END`, after its beginning; the end may be a sum of constants.
    fn range(&mut self, from: ConstExpr, begin: Span) -> Parsed<Expr> {
        let inclusive = self.next().kind == Kind::Symbol("..=");
        if !matches!(self.peek(), Kind::Number(_) | Kind::Word(_) | Kind::Symbol("(")) {
            return Err(self.unexpected("the number that the range ends with"));
        }
        let end = self.constant_expression(None)?;
        let at = from.span.to(end.span);
        let mut ty = Type::Natural;
        let from = self.range_end(&from, begin, &mut ty)?;
        let end = self.range_end(&end, begin, &mut ty)?;
        // Constants that are not known are a fault that is found later.
        let from = from.unwrap_or(ZERO);
        let end = end.map_or(from + ONE, |end| if inclusive { end + ONE } else { end });
        if from >= end {
            return Err(SourceError::new(begin, format!("the range from {from} to {end} is empty")));
        }
        match (u64::try_from(from), u64::try_from(end)) {
            (Ok(from), Ok(end)) if end - from <= u64::from(u32::MAX) => {
                Ok(Expr::new(ExprKind::Range(from, end, ty), at))
            }
            _ => Err(SourceError::new(begin, format!("the range from {from} to {end} is too long"))),
        }
    }

    /// The value of an end of a range, and its type into `ty`.
    fn range_end(&self, end: &ConstExpr, begin: Span, ty: &mut Type) -> Parsed<Option<Number>> {
        let own = self.range_type(end)?;
        *ty = match (&*ty, own) {
            (Type::Natural, own) => own,
            (ty, Type::Natural) => ty.clone(),
            (a, b) if *a == b => b,
            (a, b) => return Err(SourceError::new(begin, format!("a range of one type: these ends are {a} and {b}"))),
        };
        let value = constants::evaluate(end, &|name| self.constants.get(name).and_then(|constant| constant.1));
        match value.ok() {
            Some(value) if value < ZERO => Err(SourceError::new(begin, "a range is of numbers without a sign")),
            value => Ok(value),
        }
    }

    /// The type of a constant that is the end of a range.
    fn range_type(&self, end: &ConstExpr) -> Parsed<Type> {
        let fault = |message: String| Err(SourceError::new(end.span, message));
        let is_unsigned = |ty: &Type| *ty == Type::Natural || matches!(ty, Type::Int(int) if !int.is_signed());
        match &end.kind {
            ConstKind::Number(_, ty) if is_unsigned(ty) => Ok(ty.clone()),
            ConstKind::Constant(name) => match self.constants.get(name).map(|(definition, _)| &definition.ty) {
                Some(ty) if is_unsigned(ty) => Ok(ty.clone()),
                Some(ty) => fault(format!("a range is of numbers without a sign, `{name}` is {ty}")),
                None => Err(SourceError::new(end.span, format!("`{name}` is no constant")).hint(
                    "how often a loop runs is known before: go to the most that it can be, and take an `if` in the loop",
                )),
            },
            ConstKind::Add(a, b) | ConstKind::Sub(a, b) => match (self.range_type(a)?, self.range_type(b)?) {
                (Type::Natural, ty) | (ty, _) => Ok(ty),
            },
            ConstKind::Max(list) | ConstKind::Min(list) => {
                let types = list.iter().map(|end| self.range_type(end)).collect::<Parsed<Vec<_>>>()?;
                Ok(types.into_iter().find(|ty| *ty != Type::Natural).unwrap_or(Type::Natural))
            }
            ConstKind::External(party, name) => {
                let hint = format!("`const {name}: usize = {party}::{name};`");
                Err(SourceError::new(end.span, "a party's constant is declared first").hint(hint))
            }
            _ => fault("a range is of numbers without a sign".into()),
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
            true => Ok(parts.remove(0)),
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

/// `TYPE::MAX` or `TYPE::MIN`.
fn bound(ty: &str, which: &str) -> Option<ExprKind> {
    let ty = Int::named(ty)?;
    match which {
        "MAX" => Some(ExprKind::Number(ty.max(), Type::Int(ty))),
        "MIN" => Some(ExprKind::Number(ty.min(), Type::Int(ty))),
        _ => None,
    }
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
