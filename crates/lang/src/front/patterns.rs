//! Patterns.

use super::{
    Context,
    ast::{self, Fields},
    expressions::{variant_number, words_before},
    types,
};
use crate::{
    number::{ONE, ZERO},
    source_error::SourceError,
    tree::{Pattern, PatternKind, Scalar, Span, Ty},
};

impl Context<'_> {
    /// A pattern that matches every value.
    pub(super) fn certain(&mut self, pattern: &ast::Pattern, ty: &Ty) -> Result<Pattern, SourceError> {
        let own = self.pattern(pattern, ty)?;
        match self.is_certain(pattern) {
            true => Ok(own),
            false => {
                let fault = SourceError::new(pattern.span, "this pattern does not match every value");
                Err(fault.hint("take a `match`"))
            }
        }
    }

    /// A pattern for values of a type.
    ///
    /// *Errors*: numbers that are not of their type.
    pub(super) fn pattern(&mut self, pattern: &ast::Pattern, ty: &Ty) -> Result<Pattern, SourceError> {
        let at = pattern.span;
        let kind = match &pattern.kind {
            ast::PatternKind::Bind(name) => PatternKind::Bind(self.declare(name)),
            ast::PatternKind::Bool(value) => PatternKind::Constant(if *value { ONE } else { ZERO }),
            ast::PatternKind::Range(..) => numbers(pattern, ty)?,
            ast::PatternKind::Tuple(parts) => {
                let named = parts.iter().enumerate().map(|(k, part)| (k.to_string(), part));
                PatternKind::Parts(self.parts(named, ty, at)?)
            }
            ast::PatternKind::Struct(_, fields) => {
                let named = fields.iter().map(|(name, part)| (name.clone(), part));
                PatternKind::Parts(self.parts(named, ty, at)?)
            }
            ast::PatternKind::Variant(_, variant, fields) => self.variant(variant, fields, ty, at)?,
        };
        Ok(Pattern { kind })
    }

    fn variant(
        &mut self,
        variant: &str,
        fields: &Fields<ast::Pattern>,
        ty: &Ty,
        at: Span,
    ) -> Result<PatternKind, SourceError> {
        let number = variant_number(ty, variant, at)?;
        let Ty::Enum(e) = ty else { return Err(SourceError::new(at, "this is no enum")) };
        let mut skip = e.offset(number as usize);
        let types = &e.variants[number as usize].1;
        let parts = match (fields, &types[..]) {
            (Fields::Named(fields), [record]) => {
                let named = fields.iter().map(|(name, part)| (name.clone(), part));
                let parts = self.parts(named, record, at)?;
                parts.into_iter().map(|(own, part)| (skip + own, part)).collect()
            }
            _ => {
                let mut parts = Vec::new();
                for (field, ty) in fields.all().into_iter().zip(types) {
                    parts.push((skip, self.pattern(field, ty)?));
                    skip += ty.words();
                }
                parts
            }
        };
        Ok(PatternKind::Variant(number, parts))
    }

    fn parts<'p>(
        &mut self,
        named: impl Iterator<Item = (String, &'p ast::Pattern)>,
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

    fn is_certain(&self, pattern: &ast::Pattern) -> bool {
        let is_only = |name: &str| self.program.enums.get(name).is_some_and(|e| e.variants.len() == 1);
        match &pattern.kind {
            ast::PatternKind::Bind(_) => true,
            ast::PatternKind::Bool(_) | ast::PatternKind::Range(..) => false,
            ast::PatternKind::Tuple(parts) => parts.iter().all(|part| self.is_certain(part)),
            ast::PatternKind::Struct(_, fields) => fields.iter().all(|(_, part)| self.is_certain(part)),
            ast::PatternKind::Variant(name, _, parts) => {
                is_only(name) && parts.all().into_iter().all(|part| self.is_certain(part))
            }
        }
    }
}

/// The number or the range of a pattern, which are of the type of the value.
fn numbers(pattern: &ast::Pattern, ty: &Ty) -> Result<PatternKind, SourceError> {
    let at = pattern.span;
    let (ast::PatternKind::Range(lo, hi, stated), Some(own)) = (&pattern.kind, ty.scalar()) else {
        return Err(SourceError::new(at, "this is no number"));
    };
    if !stated.is_open()
        && let Some(stated) = types::scalar(stated).filter(|stated| *stated != own)
    {
        return Err(SourceError::new(at, format!("expected a number of {}, got one of {}", own.name(), stated.name())));
    }
    match [*lo, *hi].into_iter().find(|value| !(own.min()..=own.max()).contains(value)) {
        Some(value) => Err(SourceError::new(
            at,
            format!("{value} is not between {} and {}, as {} is", own.min(), own.max(), own.name()),
        )),
        None if lo == hi => Ok(PatternKind::Constant(*lo)),
        None => Ok(PatternKind::Range(*lo, *hi)),
    }
}
