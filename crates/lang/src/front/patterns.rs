//! Patterns.

use super::{
    Context,
    ast::{self, Fields},
    expressions::Places,
};
use crate::{
    number::{ONE, ZERO},
    source_error::SourceError,
    tree::{Pattern, PatternKind, Span, Ty},
};

impl Context<'_> {
    /// A pattern that matches every value.
    pub(super) fn certain(&mut self, pattern: &ast::Pattern, ty: &Ty) -> Result<Pattern, SourceError> {
        let own = self.pattern(pattern, ty)?;
        match self.is_certain(pattern) {
            true => Ok(own),
            false => {
                let fault = SourceError::new(pattern.span, "this pattern does not match every value");
                Err(fault.hint("use a `match`"))
            }
        }
    }

    /// A pattern for values of a type.
    pub(super) fn pattern(&mut self, pattern: &ast::Pattern, ty: &Ty) -> Result<Pattern, SourceError> {
        let at = pattern.span;
        let kind = match &pattern.kind {
            ast::PatternKind::Bind(name) => PatternKind::Bind(self.declare(name)),
            ast::PatternKind::Bool(value) => PatternKind::Constant(if *value { ONE } else { ZERO }),
            ast::PatternKind::Numbers(lo, hi) if lo == hi => PatternKind::Constant(*lo),
            ast::PatternKind::Numbers(lo, hi) => PatternKind::Range(*lo, *hi),
            ast::PatternKind::Constant(_) | ast::PatternKind::Range(..) => {
                return Err(SourceError::bug(at, "a pattern without a value"));
            }
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
        let number = self.variant_number(ty, variant, at)?;
        let Ty::Enum(e) = ty else { return Err(SourceError::bug(at, "a pattern of another type")) };
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
        let places = Places::of(ty, at)?;
        let mut parts = Vec::new();
        for (name, pattern) in named {
            let (skip, ty) = places.field(&name, at)?;
            parts.push((skip, self.pattern(pattern, ty)?));
        }
        Ok(parts)
    }

    fn is_certain(&self, pattern: &ast::Pattern) -> bool {
        let is_only = |name: &str| self.program.enums.get(name).is_some_and(|e| e.variants.len() == 1);
        match &pattern.kind {
            ast::PatternKind::Bind(_) => true,
            ast::PatternKind::Bool(_)
            | ast::PatternKind::Constant(_)
            | ast::PatternKind::Range(..)
            | ast::PatternKind::Numbers(..) => false,
            ast::PatternKind::Tuple(parts) => parts.iter().all(|part| self.is_certain(part)),
            ast::PatternKind::Struct(_, fields) => fields.iter().all(|(_, part)| self.is_certain(part)),
            ast::PatternKind::Variant(name, _, parts) => {
                is_only(name) && parts.all().into_iter().all(|part| self.is_certain(part))
            }
        }
    }
}
