//! Patterns.

use std::collections::HashSet;

use super::{Parsed, Parser, literals::bound, only_once};
use crate::{
    front::{
        ast::{ConstExpr, ConstKind, Fields, Pattern, PatternKind},
        scanner::Kind,
    },
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// A pattern.
    pub(super) fn pattern(&mut self) -> Parsed<Pattern> {
        let pattern = self.nested("bind a part to a variable, and match that", |parser| {
            let token = parser.ahead(0);
            match token.kind {
                Kind::Number(_) | Kind::Symbol("-") => parser.number_pattern(),
                Kind::Symbol("(") => parser.tuple_pattern(),
                Kind::Word("true" | "false") => {
                    let value = parser.next().kind == Kind::Word("true");
                    Ok(Pattern::new(PatternKind::Bool(value), token.span))
                }
                Kind::Decimal(..) => {
                    let fault = parser.unexpected("a pattern");
                    Err(fault.hint("compare decimal numbers with `if`"))
                }
                Kind::Word("mut") => {
                    let fault = parser.unexpected("a pattern");
                    Err(fault.hint("only a single variable can be `mut`: `let mut x = ..;`"))
                }
                Kind::Word(_) => parser.named_pattern(),
                _ => Err(parser
                    .unexpected("a pattern")
                    .hint("`x`, `_`, `7u8`, `1..=5`, `N`, `(a, b)`, `S { x, .. }`, `E::V(x)`")),
            }
        })?;
        match self.peek() {
            Kind::Symbol("|") => Err(self.unexpected("the end of the pattern").hint("write an arm for each pattern")),
            Kind::Word("if") => {
                Err(self.unexpected("`=>`").hint("arms have no conditions: use an `if` inside the arm"))
            }
            _ => Ok(pattern),
        }
    }

    fn tuple_pattern(&mut self) -> Parsed<Pattern> {
        let begin = self.expect("(")?;
        let mut lone = false;
        let (mut parts, end) = self.list(")", |parser| {
            let part = parser.pattern()?;
            lone = !parser.is(",");
            Ok(part)
        })?;
        match lone && parts.len() == 1 {
            true => Ok(parts.remove(0)),
            false => Ok(Pattern::new(PatternKind::Tuple(parts), begin.to(end))),
        }
    }

    fn named_pattern(&mut self) -> Parsed<Pattern> {
        let (name, begin) = self.name("a pattern")?;
        if self.eat("::").is_some() {
            let (variant, end) = self.name("the name of a variant")?;
            if let Some(bound) = bound(&name, &variant) {
                return self.numbers_from(ConstExpr { kind: ConstKind::Number(bound), span: begin.to(end) });
            }
            return Ok(match self.eat("(") {
                Some(_) => {
                    let (fields, end) = self.list(")", Self::pattern)?;
                    Pattern::new(PatternKind::Variant(name, variant, Fields::Tuple(fields)), begin.to(end))
                }
                None if self.is("{") => {
                    let (fields, end) = self.field_patterns(&format!("{name}::{variant}"))?;
                    Pattern::new(PatternKind::Variant(name, variant, Fields::Named(fields)), begin.to(end))
                }
                None => Pattern::new(PatternKind::Variant(name, variant, Fields::Unit), begin.to(end)),
            });
        }
        match self.is("{") {
            true => {
                let (fields, end) = self.field_patterns(&name)?;
                Ok(Pattern::new(PatternKind::Struct(name, fields), begin.to(end)))
            }
            false if self.is("..") || self.is("..=") => {
                self.numbers_from(ConstExpr { kind: ConstKind::Constant(name), span: begin })
            }
            false => self.binding(&name, begin),
        }
    }

    /// `{ FIELD, FIELD: PATTERN, .. }` of a struct or a variant: patterns in the order of the names, and the end; `..` stands for
    /// `_` at all other fields, so that the type checker sees them all.
    fn field_patterns(&mut self, whole: &str) -> Parsed<(Vec<(String, Pattern)>, Span)> {
        self.expect("{")?;
        let mut names = HashSet::new();
        let mut rest = None;
        let (fields, end) = self.list("}", |parser| {
            if let Some(at) = parser.eat("..") {
                rest = Some(at);
                return match parser.is("}") {
                    true => Ok(None),
                    false => Err(parser.unexpected("`}`").hint("`..` stands for all other fields, as the last one")),
                };
            }
            let (field, at) = parser.name("the name of a field")?;
            only_once(&mut names, &field, at)?;
            let pattern = match parser.eat(":") {
                Some(_) => parser.pattern()?,
                None => parser.binding(&field, at)?,
            };
            Ok(Some((field, pattern)))
        })?;
        let mut fields: Vec<_> = fields.into_iter().flatten().collect();
        if let (Some(at), Some(all)) = (rest, self.fields.get(whole)) {
            let any = |name: &String| (name.clone(), Pattern::new(PatternKind::Bind("_".into()), at));
            fields.extend(all.iter().filter(|field| !names.contains(*field)).map(any));
        }
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Ok((fields, end))
    }

    /// A variable that is bound, or a constant that is compared with.
    ///
    /// *Errors*: a constant that is neither a number nor a bool.
    fn binding(&mut self, name: &str, at: Span) -> Parsed<Pattern> {
        if self.is_whole_constant(name) {
            let fault = SourceError::new(at, format!("expected a pattern, got the constant `{name}`"));
            return Err(fault.hint("compare with it by `==`, or give the variable another name"));
        }
        let kind = match name {
            "_" => PatternKind::Bind(name.into()),
            _ if self.constants.contains_key(name) => PatternKind::Constant(name.into()),
            _ => PatternKind::Bind(self.names.new_name(name)),
        };
        Ok(Pattern::new(kind, at))
    }

    /// A number, or a range of them.
    fn number_pattern(&mut self) -> Parsed<Pattern> {
        let from = self.constant_number()?;
        self.numbers_from(from)
    }

    /// A number alone, or a range that begins with it.
    fn numbers_from(&mut self, from: ConstExpr) -> Parsed<Pattern> {
        let at = from.span;
        let inclusive = self.is("..=");
        if !inclusive && !self.is("..") {
            let same = Box::new(from.clone());
            return Ok(Pattern::new(PatternKind::Range(from.into(), same, true), at));
        }
        self.next();
        let end = match self.peek() {
            Kind::Number(_) | Kind::Symbol("-") => self.constant_number()?,
            Kind::Word(_) => self.named_end()?,
            _ => return Err(self.unexpected("the number that the range ends with").hint("use `_` for all others")),
        };
        let span = at.to(end.span);
        Ok(Pattern::new(PatternKind::Range(from.into(), end.into(), inclusive), span))
    }

    /// The end of a range: a constant, or the greatest or least number of a type.
    fn named_end(&mut self) -> Parsed<ConstExpr> {
        let (name, begin) = self.name("the number that the range ends with")?;
        if self.eat("::").is_none() {
            return Ok(ConstExpr { kind: ConstKind::Constant(name), span: begin });
        }
        let (which, end) = self.name("`MAX` or `MIN`")?;
        let span = begin.to(end);
        match bound(&name, &which) {
            Some(bound) => Ok(ConstExpr { kind: ConstKind::Number(bound), span }),
            None => Err(SourceError::new(span, format!("expected a number, got `{name}::{which}`"))
                .hint("end a range with a number, a constant, or a bound such as `u8::MAX`")),
        }
    }
}
