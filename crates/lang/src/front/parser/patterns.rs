//! Patterns.

use std::collections::HashSet;

use garble_lang::{
    UntypedPattern,
    ast::{Pattern, PatternEnum},
    token::{SignedNumType, UnsignedNumType},
};

use super::{Parsed, Parser, meta, only_once, types::Literal};
use crate::{
    front::scanner::{Kind, Suffix},
    source_error::SourceError,
    tree::Span,
};

impl Parser<'_> {
    /// A pattern.
    pub(super) fn pattern(&mut self) -> Parsed<UntypedPattern> {
        let pattern = self.nested(|parser| {
            let token = parser.ahead(0);
            match token.kind {
                Kind::Number(_) | Kind::Symbol("-") => parser.number_pattern(),
                Kind::Symbol("(") => parser.tuple_pattern(),
                Kind::Word("true" | "false") => {
                    let value = parser.next().kind == Kind::Word("true");
                    let kind = if value { PatternEnum::True } else { PatternEnum::False };
                    Ok(Pattern::untyped(kind, meta(token.span, token.span)))
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

    fn tuple_pattern(&mut self) -> Parsed<UntypedPattern> {
        let begin = self.expect("(")?;
        let mut lone = false;
        let (mut parts, end) = self.list(")", |parser| {
            let part = parser.pattern()?;
            lone = !parser.is(",");
            Ok(part)
        })?;
        match lone && parts.len() == 1 {
            true => Ok(parts.remove(0)),
            false => Ok(Pattern::untyped(PatternEnum::Tuple(parts), meta(begin, end))),
        }
    }

    fn named_pattern(&mut self) -> Parsed<UntypedPattern> {
        let (name, begin) = self.name("a pattern")?;
        if self.eat("::").is_some() {
            let (variant, end) = self.name("the name of a variant")?;
            return Ok(match self.eat("(") {
                Some(_) => {
                    let (fields, end) = self.list(")", Self::pattern)?;
                    Pattern::untyped(PatternEnum::EnumTuple(name, variant, fields), meta(begin, end))
                }
                None => Pattern::untyped(PatternEnum::EnumUnit(name, variant), meta(begin, end)),
            });
        }
        match self.is("{") {
            true => self.struct_pattern(name, begin),
            false => Ok(self.binding(&name, begin)),
        }
    }

    /// `{ FIELD, FIELD: PATTERN, .. }`; `..` stands for `_` at all other fields, so that the type checker sees them all.
    fn struct_pattern(&mut self, name: String, begin: Span) -> Parsed<UntypedPattern> {
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
        if let (Some(at), Some(all)) = (rest, self.fields.get(&name)) {
            let any =
                |name: &String| (name.clone(), Pattern::untyped(PatternEnum::Identifier("_".into()), meta(at, at)));
            fields.extend(all.iter().filter(|field| !names.contains(*field)).map(any));
        }
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Pattern::untyped(PatternEnum::Struct(name, fields), meta(begin, end)))
    }

    /// A variable that is bound.
    fn binding(&mut self, name: &str, at: Span) -> UntypedPattern {
        let name = if name == "_" { name.into() } else { self.names.new_name(name) };
        Pattern::untyped(PatternEnum::Identifier(name), meta(at, at))
    }

    /// A number, or a range of them.
    fn number_pattern(&mut self) -> Parsed<UntypedPattern> {
        let (lo, begin, suffix) = self.pattern_number(Suffix::None)?;
        let inclusive = self.is("..=");
        if !inclusive && !self.is("..") {
            let kind = match lo {
                Literal::Unsigned(value, ty) => PatternEnum::NumUnsigned(value, ty),
                Literal::Signed(value, ty) => PatternEnum::NumSigned(value, ty),
            };
            return Ok(Pattern::untyped(kind, meta(begin, begin)));
        }
        self.next();
        if !matches!(self.peek(), Kind::Number(_) | Kind::Symbol("-")) {
            return Err(self.unexpected("the number that the range ends with").hint("for all others take `_`"));
        }
        let (hi, end, _) = self.pattern_number(suffix)?;
        let span = Span { end_line: end.end_line, end_column: end.end_column, ..begin };
        let kind = range(lo, hi, inclusive).map_err(|message| SourceError::new(span, message))?;
        Ok(Pattern::untyped(kind, meta(begin, end)))
    }

    /// A number with its place and suffix, which is `or` if it has none.
    fn pattern_number(&mut self, or: Suffix) -> Parsed<(Literal, Span, Suffix)> {
        let begin = self.ahead(0).span;
        let minus = self.eat("-").is_some();
        let Kind::Number(mut number) = self.peek() else { return Err(self.unexpected("a number")) };
        let end = self.next().span;
        if number.suffix == Suffix::None {
            number.suffix = or;
        }
        let span = Span { end_line: end.end_line, end_column: end.end_column, ..begin };
        Ok((Self::literal(number, minus, span)?, span, number.suffix))
    }
}

/// The pattern of a range; an end without a type has that of the other.
fn range(lo: Literal, hi: Literal, inclusive: bool) -> Result<PatternEnum<()>, &'static str> {
    const EMPTY: &str = "there is no number in this range";
    const TYPES: &str = "the ends of this range are of different types";
    match (lo, hi) {
        (Literal::Unsigned(lo, a), Literal::Unsigned(hi, b)) => {
            let ty = if a == UnsignedNumType::Unspecified { b } else { a };
            let hi = if inclusive { Some(hi) } else { hi.checked_sub(1) };
            match hi.filter(|&hi| lo <= hi) {
                _ if b != ty && b != UnsignedNumType::Unspecified => Err(TYPES),
                Some(hi) => Ok(PatternEnum::UnsignedInclusiveRange(lo, hi, ty)),
                None => Err(EMPTY),
            }
        }
        (lo, hi) => {
            let (Some((lo, a)), Some((hi, b))) = (signed(lo), signed(hi)) else { return Err(TYPES) };
            let ty = if a == SignedNumType::Unspecified { b } else { a };
            let hi = if inclusive { Some(hi) } else { hi.checked_sub(1) };
            match hi.filter(|&hi| lo <= hi) {
                _ if b != ty && b != SignedNumType::Unspecified => Err(TYPES),
                Some(hi) => Ok(PatternEnum::SignedInclusiveRange(lo, hi, ty)),
                None => Err(EMPTY),
            }
        }
    }
}

/// The number as a signed one, if it has no other type.
fn signed(number: Literal) -> Option<(i64, SignedNumType)> {
    match number {
        Literal::Signed(value, ty) => Some((value, ty)),
        Literal::Unsigned(value, UnsignedNumType::Unspecified) => {
            Some((i64::try_from(value).ok()?, SignedNumType::Unspecified))
        }
        Literal::Unsigned(..) => None,
    }
}
