//! Patterns.

use super::{Checked, Checker};
use crate::{
    front::ast::{Fields, Int, Pattern, PatternKind, Type},
    source_error::SourceError,
    tree::Span,
};

impl Checker<'_> {
    /// Checks a pattern for values of a type, and declares its variables; `None` if the value is wrong.
    pub(super) fn pattern(&mut self, pattern: &Pattern, ty: Option<&Type>) -> Checked {
        let span = pattern.span;
        match (&pattern.kind, ty) {
            (PatternKind::Bind(name), ty) => {
                self.declare(name, ty.cloned(), false);
                Ok(())
            }
            (PatternKind::Bool(_) | PatternKind::Range(..), None) => Ok(()),
            (PatternKind::Bool(_), Some(ty)) if *ty == Type::Bool => Ok(()),
            (PatternKind::Bool(_), Some(ty)) => self.mismatch(&Type::Bool, ty, span),
            (PatternKind::Range(_, _, Type::Integer | Type::Int(Int::Signed(_))), Some(ty)) => {
                self.expect_integer(ty, span)?;
                self.expect_signed(ty, span)
            }
            (PatternKind::Range(..), Some(ty)) => self.expect_integer(ty, span),
            (PatternKind::Tuple(parts), Some(Type::Tuple(types))) if parts.len() == types.len() => {
                self.patterns(parts.iter().zip(types.iter().map(Some)))
            }
            (PatternKind::Tuple(parts), ty) => {
                let _: Checked = self.patterns(parts.iter().map(|part| (part, None)));
                let Some(ty) = ty else { return Ok(()) };
                let types = self.expect_tuple(ty, span)?;
                self.refuse(SourceError::new(span, format!("expected {} fields, got {}", types.len(), parts.len())))
            }
            (PatternKind::Struct(name, parts), ty) => self.struct_pattern((name, parts), ty, span),
            (PatternKind::Variant(name, variant, parts), ty) => self.variant_pattern((name, variant, parts), ty, span),
        }
    }

    fn patterns<'a>(&mut self, parts: impl Iterator<Item = (&'a Pattern, Option<&'a Type>)>) -> Checked {
        let mut all = Ok(());
        for (part, ty) in parts {
            all = self.pattern(part, ty).and(all);
        }
        all
    }

    fn struct_pattern(
        &mut self,
        (name, parts): (&String, &[(String, Pattern)]),
        ty: Option<&Type>,
        span: Span,
    ) -> Checked {
        let program = self.program;
        let definition = program.structs.get(name);
        let field = |field: &str| {
            definition.and_then(|own| own.fields.iter().find_map(|(name, ty)| (name == field).then_some(ty)))
        };
        let all = self.patterns(parts.iter().map(|(name, part)| (part, field(name))));
        if let Some(ty) = ty
            && self.expect_struct(ty, span)? != *name
        {
            return self.mismatch(ty, &Type::named(name), span);
        }
        let Some(definition) = definition else { return self.no_struct(name, span) };
        self.fields_match(name, &definition.fields, parts, span)?;
        all
    }

    /// Looks whether the parts of a pattern or a value are the fields of a struct.
    pub(super) fn fields_match<T>(
        &mut self,
        name: &str,
        fields: &[(String, Type)],
        parts: &[(String, T)],
        span: Span,
    ) -> Checked {
        let mut all = Ok(());
        for (part, _) in parts.iter().filter(|(part, _)| !fields.iter().any(|(field, _)| field == part)) {
            all = self.no_field((name, fields), part, span);
        }
        for (field, _) in fields.iter().filter(|(field, _)| !parts.iter().any(|(part, _)| part == field)) {
            all = self.missing_field(name, field, span);
        }
        all
    }

    fn variant_pattern(
        &mut self,
        (name, variant, parts): (&String, &String, &Fields<Pattern>),
        ty: Option<&Type>,
        span: Span,
    ) -> Checked {
        let program = self.program;
        let types = program.enums.get(name).and_then(|definition| definition.variant(variant));
        let all = match (parts, types) {
            (Fields::Tuple(parts), Some(Fields::Tuple(types))) => {
                let types = types.iter().map(Some).chain(std::iter::repeat(None));
                self.patterns(parts.iter().zip(types))
            }
            (Fields::Named(parts), Some(Fields::Named(types))) => {
                let ty = |name| types.iter().find_map(|(own, ty)| (own == name).then_some(ty));
                self.patterns(parts.iter().map(|(name, part)| (part, ty(name))))
            }
            (parts, _) => self.patterns(parts.all().into_iter().map(|part| (part, None))),
        };
        if let Some(ty) = ty
            && *ty != Type::named(name)
        {
            return self.mismatch(&Type::named(name), ty, span);
        }
        self.variant(name, variant, parts, span)?;
        all
    }
}
