//! Patterns.

use garble_lang::{TypedPattern, ast::PatternEnum};

use super::{
    Context,
    expressions::{variant_number, words_before},
    span, types,
};
use crate::{
    source_error::SourceError,
    tree::{Pattern, PatternKind, Scalar, Span, Ty},
};

impl Context<'_> {
    /// A pattern that matches every value.
    pub(super) fn certain(&mut self, pattern: &TypedPattern, ty: &Ty) -> Result<Pattern, SourceError> {
        let own = self.pattern(pattern, ty)?;
        match self.is_certain(pattern) {
            true => Ok(own),
            false => {
                Err(SourceError::new(span(pattern.1), "this pattern does not match every value").hint("take a `match`"))
            }
        }
    }

    /// A pattern for values of a type.
    ///
    /// *Errors*: numbers that are not of their type.
    pub(super) fn pattern(&mut self, pattern: &TypedPattern, ty: &Ty) -> Result<Pattern, SourceError> {
        let at = span(pattern.1);
        if let Some((lo, hi)) = numbers(pattern, ty)? {
            let kind = if lo == hi { PatternKind::Constant(lo) } else { PatternKind::Range(lo, hi) };
            return Ok(Pattern { kind });
        }
        let kind = match &pattern.0 {
            PatternEnum::Identifier(name) => PatternKind::Bind(self.declare(name)),
            PatternEnum::True => PatternKind::Constant(1),
            PatternEnum::False => PatternKind::Constant(0),
            PatternEnum::Tuple(parts) => {
                let named = parts.iter().enumerate().map(|(k, part)| (k.to_string(), part));
                PatternKind::Parts(self.parts(named, ty, at)?)
            }
            PatternEnum::Struct(_, fields) | PatternEnum::StructIgnoreRemaining(_, fields) => {
                let named = fields.iter().map(|(name, part)| (name.clone(), part));
                PatternKind::Parts(self.parts(named, ty, at)?)
            }
            PatternEnum::EnumUnit(_, variant) => PatternKind::Variant(variant_number(ty, variant, at)?, Vec::new()),
            PatternEnum::EnumTuple(_, variant, fields) => {
                let number = variant_number(ty, variant, at)?;
                let Ty::Enum(e) = ty else { return Err(SourceError::new(at, "this is no enum")) };
                let mut skip = e.offset(number as usize);
                let mut parts = Vec::new();
                for (field, ty) in fields.iter().zip(&e.variants[number as usize].1) {
                    parts.push((skip, self.pattern(field, ty)?));
                    skip += ty.words();
                }
                PatternKind::Variant(number, parts)
            }
            _ => return Err(SourceError::new(at, "this is no pattern")),
        };
        Ok(Pattern { kind })
    }

    fn parts<'p>(
        &mut self,
        named: impl Iterator<Item = (String, &'p TypedPattern)>,
        ty: &Ty,
        at: Span,
    ) -> Result<Vec<(usize, Pattern)>, SourceError> {
        let mut parts = Vec::new();
        for (name, pattern) in named {
            let Ty::Record(fields) = ty else { return Err(SourceError::new(at, "this is no tuple or struct")) };
            let skip = words_before(ty, &name, at)?;
            let field = fields.iter().find(|(own, _)| *own == name).map(|(_, ty)| ty.clone());
            parts.push((skip, self.pattern(pattern, &field.unwrap_or(Ty::Scalar(Scalar::BOOL)))?));
        }
        Ok(parts)
    }
    fn is_certain(&self, pattern: &TypedPattern) -> bool {
        let all = |parts: &[TypedPattern]| parts.iter().all(|part| self.is_certain(part));
        let is_only = |name: &str| self.program.enum_defs.get(name).is_some_and(|e| e.variants.len() == 1);
        match &pattern.0 {
            PatternEnum::Identifier(_) => true,
            PatternEnum::Tuple(parts) => all(parts),
            PatternEnum::Struct(_, fields) | PatternEnum::StructIgnoreRemaining(_, fields) => {
                fields.iter().all(|(_, part)| self.is_certain(part))
            }
            PatternEnum::EnumUnit(name, _) => is_only(name),
            PatternEnum::EnumTuple(name, _, parts) => is_only(name) && all(parts),
            _ => false,
        }
    }
}

/// The number or the range of a pattern, which are of the type of the value.
fn numbers(pattern: &TypedPattern, ty: &Ty) -> Result<Option<(i128, i128)>, SourceError> {
    let (lo, hi, stated): (i128, i128, Option<Scalar>) = match &pattern.0 {
        PatternEnum::NumUnsigned(value, ty) => ((*value).into(), (*value).into(), types::stated_unsigned(*ty)),
        PatternEnum::NumSigned(value, ty) => ((*value).into(), (*value).into(), types::stated_signed(*ty)),
        PatternEnum::UnsignedInclusiveRange(lo, hi, ty) => ((*lo).into(), (*hi).into(), types::stated_unsigned(*ty)),
        PatternEnum::SignedInclusiveRange(lo, hi, ty) => ((*lo).into(), (*hi).into(), types::stated_signed(*ty)),
        _ => return Ok(None),
    };
    let at = span(pattern.1);
    let Some(own) = ty.scalar() else { return Err(SourceError::new(at, "this is no number")) };
    if let Some(stated) = stated.filter(|stated| *stated != own) {
        return Err(SourceError::new(at, format!("expected a number of {}, got one of {}", own.name(), stated.name())));
    }
    match [lo, hi].into_iter().find(|value| !(own.min()..=own.max()).contains(value)) {
        Some(value) => Err(SourceError::new(
            at,
            format!("{value} is not between {} and {}, as {} is", own.min(), own.max(), own.name()),
        )),
        None => Ok(Some((lo, hi))),
    }
}
