//! Patterns.

use std::collections::HashSet;

use super::{Parsed, Parser, only_once};
use crate::{
    front::{
        ast::{Fields, Int, Pattern, PatternKind, Type},
        scanner::Kind,
    },
    number::{Number, ONE},
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// A pattern.
    pub(super) fn pattern(&mut self) -> Parsed<Pattern> {
        let pattern = self.nested(|parser| {
            let token = parser.ahead(0);
            match token.kind {
                Kind::Number(_) | Kind::Symbol("-") => parser.number_pattern(),
                Kind::Symbol("(") => parser.tuple_pattern(),
                Kind::Word("true" | "false") => {
                    let value = parser.next().kind == Kind::Word("true");
                    Ok(Pattern::new(PatternKind::Bool(value), token.span))
                }
                Kind::Decimal(_) => {
                    let fault = parser.unexpected("a pattern");
                    Err(fault.hint("numbers with a point are compared: take an `if`"))
                }
                Kind::Word("mut") => {
                    let fault = parser.unexpected("a pattern");
                    Err(fault.hint("only a variable alone can be changed: `let mut x = ..;`"))
                }
                Kind::Word(_) => parser.named_pattern(),
                _ => Err(parser
                    .unexpected("a pattern")
                    .hint("`x`, `_`, `7u8`, `1..=5`, `(a, b)`, `S { x, .. }`, `E::V(x)`")),
            }
        })?;
        match self.peek() {
            Kind::Symbol("|") => Err(self.unexpected("the end of the pattern").hint("write an arm for each pattern")),
            Kind::Word("if") => Err(self.unexpected("`=>`").hint("arms have no conditions: take an `if` in the arm")),
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
            false => Ok(self.binding(&name, begin)),
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
                None => parser.binding(&field, at),
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

    /// A variable that is bound.
    fn binding(&mut self, name: &str, at: Span) -> Pattern {
        let name = if name == "_" { name.into() } else { self.names.new_name(name) };
        Pattern::new(PatternKind::Bind(name), at)
    }

    /// A number, or a range of them.
    fn number_pattern(&mut self) -> Parsed<Pattern> {
        let (lo, ty, begin) = self.pattern_number(None)?;
        let inclusive = self.is("..=");
        if !inclusive && !self.is("..") {
            return Ok(Pattern::new(PatternKind::Range(lo, lo, ty), begin));
        }
        self.next();
        if !matches!(self.peek(), Kind::Number(_) | Kind::Symbol("-")) {
            return Err(self.unexpected("the number that the range ends with").hint("for all others take `_`"));
        }
        let own = if let Type::Int(own) = ty { Some(own) } else { None };
        let (hi, hi_ty, end) = self.pattern_number(own)?;
        let at = begin.to(end);
        let hi = if inclusive { hi } else { hi - ONE };
        let ty = common(ty, hi_ty).map_err(|message| SourceError::new(at, message))?;
        match lo <= hi {
            true => Ok(Pattern::new(PatternKind::Range(lo, hi, ty), at)),
            false => Err(SourceError::new(at, "there is no number in this range")),
        }
    }

    /// A number with its type, which is `or` if it states none, and its place.
    fn pattern_number(&mut self, or: Option<Int>) -> Parsed<(Number, Type, Span)> {
        let begin = self.ahead(0).span;
        let minus = self.eat("-").is_some();
        let Kind::Number(mut number) = self.peek() else { return Err(self.unexpected("a number")) };
        let at = begin.to(self.next().span);
        number.suffix = number.suffix.or(or);
        let (value, ty) = Self::literal(number, minus, at)?;
        Ok((value, ty, at))
    }
}

/// The type of both ends of a range; an end without a type has that of the other.
fn common(lo: Type, hi: Type) -> Result<Type, &'static str> {
    match (lo, hi) {
        (a, b) if a == b => Ok(a),
        (Type::Natural, Type::Integer) | (Type::Integer, Type::Natural) => Ok(Type::Integer),
        (Type::Natural, ty @ Type::Int(_)) => Ok(ty),
        (Type::Integer, Type::Int(ty)) if ty.is_signed() => Ok(Type::Int(ty)),
        _ => Err("the ends of this range are of different types"),
    }
}
