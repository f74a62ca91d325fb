//! Patterns.

use std::collections::HashSet;

use super::{Checked, Checker};
use crate::{
    front::{
        ast::{ConstExpr, ConstKind, Fields, Pattern, PatternKind, Type, field_of},
        parser::names::of_constant,
    },
    number::ONE,
    source_error::SourceError,
    tree::Span,
};

impl Checker<'_> {
    /// Checks a pattern for values of a type, and declares its variables; `None` if the value is wrong.
    pub(super) fn pattern(&mut self, pattern: &mut Pattern, ty: Option<&Type>) -> Checked {
        let span = pattern.span;
        let shallow = ty.map(|ty| self.shallow(ty));
        let ty = shallow.as_ref();
        match (&mut pattern.kind, ty) {
            (PatternKind::Bind(name), ty) => {
                self.declare(name, ty.cloned(), false);
                Ok(())
            }
            (PatternKind::Bool(_), Some(ty)) if !self.unify(ty, &Type::Bool) => self.mismatch(&Type::Bool, ty, span),
            (PatternKind::Bool(_) | PatternKind::Numbers(..), _) => Ok(()),
            (PatternKind::Constant(name), ty) => {
                let name = name.clone();
                pattern.kind = self.constant_pattern(&name, ty, span)?;
                Ok(())
            }
            (PatternKind::Range(from, to, inclusive), ty) => {
                pattern.kind = self.range_pattern([from, to], *inclusive, ty, span)?;
                Ok(())
            }
            (PatternKind::Tuple(parts), Some(Type::Tuple(types))) if parts.len() == types.len() => {
                self.patterns(parts.iter_mut().zip(types.iter().map(Some)))
            }
            (PatternKind::Tuple(parts), ty) => {
                let _: Checked = self.patterns(parts.iter_mut().map(|part| (part, None)));
                let Some(ty) = ty else { return Ok(()) };
                let types = self.expect_tuple(ty, span)?;
                self.refuse(SourceError::new(span, format!("expected {} fields, got {}", types.len(), parts.len())))
            }
            (PatternKind::Struct(name, parts), ty) => self.struct_pattern((name, parts), ty, span),
            (PatternKind::Variant(name, variant, parts), ty) => self.variant_pattern((name, variant, parts), ty, span),
        }
    }

    /// A pattern that compares with a constant.
    fn constant_pattern(&mut self, name: &str, ty: Option<&Type>, span: Span) -> Checked<PatternKind> {
        self.expect_no_size(name, span)?;
        let values = self.values.clone();
        let Some((own, value)) = values.get(name) else { return self.unknown(name, span) };
        if own.is_decimal() {
            let fault = SourceError::new(span, format!("expected a pattern, got `{name}`, a decimal number"));
            return self.refuse(fault.hint("compare decimal numbers with `if`"));
        }
        match ty {
            Some(ty) if !self.unify(own, ty) => self.mismatch(ty, own, span),
            _ if *own == Type::Bool => Ok(PatternKind::Bool(value == ONE)),
            _ => Ok(PatternKind::Numbers(value, value)),
        }
    }

    /// A pattern of numbers.
    fn range_pattern(
        &mut self,
        ends: [&ConstExpr; 2],
        inclusive: bool,
        ty: Option<&Type>,
        span: Span,
    ) -> Checked<PatternKind> {
        for end in ends {
            if let ConstKind::Constant(name) = &end.kind {
                self.expect_no_size(name, end.span)?;
            }
        }
        let integer = self.some_integer();
        let [from, to] = self.range_of(ends, &integer)?;
        if let Some(ty) = ty {
            let shallow = self.shallow(ty);
            self.expect_integer(&shallow, span)?;
            if !self.unify(&integer, ty) {
                return self.mismatch(ty, &integer, span);
            }
        }
        let last = if inclusive { to } else { to - ONE };
        match from <= last {
            true => Ok(PatternKind::Numbers(from, last)),
            false => {
                let range = format!("{from}{}{to}", if inclusive { "..=" } else { ".." });
                let fault = SourceError::new(span, format!("this range is empty: {range}"));
                self.refuse(fault.hint("put the lower end first"))
            }
        }
    }

    /// Refuses a pattern of variables that contains a constant.
    pub(super) fn expect_no_constant(&mut self, pattern: &Pattern) -> Checked {
        match &pattern.kind {
            PatternKind::Constant(name) => self.refuse(of_constant(name, self.values.line(name), pattern.span)),
            PatternKind::Tuple(parts) => parts.iter().try_for_each(|part| self.expect_no_constant(part)),
            PatternKind::Struct(_, fields) => fields.iter().try_for_each(|(_, part)| self.expect_no_constant(part)),
            PatternKind::Variant(_, _, fields) => {
                fields.all().into_iter().try_for_each(|part| self.expect_no_constant(part))
            }
            PatternKind::Bind(_) | PatternKind::Bool(_) | PatternKind::Range(..) | PatternKind::Numbers(..) => Ok(()),
        }
    }

    fn patterns<'a>(&mut self, parts: impl Iterator<Item = (&'a mut Pattern, Option<&'a Type>)>) -> Checked {
        let mut all = Ok(());
        for (part, ty) in parts {
            all = self.pattern(part, ty).and(all);
        }
        all
    }

    fn struct_pattern(
        &mut self,
        (name, parts): (&String, &mut [(String, Pattern)]),
        ty: Option<&Type>,
        span: Span,
    ) -> Checked {
        let program = self.program;
        let definition = program.structs.get(name);
        let field = |field: &str| definition.and_then(|own| field_of(&own.fields, field));
        let all = self.patterns(parts.iter_mut().map(|(name, part)| (part, field(name))));
        if let Some(ty) = ty
            && !self.unify(ty, &Type::named(name))
        {
            self.expect_struct(ty, span)?;
            return self.mismatch(ty, &Type::named(name), span);
        }
        let Some(definition) = definition else { return self.no_struct(name, span) };
        self.fields_match(name, &definition.fields, parts, span)?;
        all
    }

    /// Checks that the parts of a pattern or a value are the fields of a struct.
    pub(super) fn fields_match<T>(
        &mut self,
        name: &str,
        fields: &[(String, Type)],
        parts: &[(String, T)],
        span: Span,
    ) -> Checked {
        let mut all = Ok(());
        for (part, _) in parts.iter().filter(|(part, _)| field_of(fields, part).is_none()) {
            all = self.no_field((name, fields), part, span);
        }
        let known: HashSet<&str> = parts.iter().map(|(part, _)| part.as_str()).collect();
        for (field, _) in fields.iter().filter(|(field, _)| !known.contains(field.as_str())) {
            all = self.missing_field(name, field, span);
        }
        all
    }

    fn variant_pattern(
        &mut self,
        (name, variant, parts): (&String, &String, &mut Fields<Pattern>),
        ty: Option<&Type>,
        span: Span,
    ) -> Checked {
        let program = self.program;
        let types = program.enums.get(name).and_then(|definition| definition.variant(variant));
        let all = match (&mut *parts, types) {
            (Fields::Tuple(parts), Some(Fields::Tuple(types))) => {
                let types = types.iter().map(Some).chain(std::iter::repeat(None));
                self.patterns(parts.iter_mut().zip(types))
            }
            (Fields::Named(parts), Some(Fields::Named(types))) => {
                self.patterns(parts.iter_mut().map(|(name, part)| (part, field_of(types, name))))
            }
            (parts, _) => self.patterns(parts.all_mut().into_iter().map(|part| (part, None))),
        };
        if let Some(ty) = ty
            && !self.unify(ty, &Type::named(name))
        {
            return self.mismatch(&Type::named(name), ty, span);
        }
        self.variant(name, variant, parts, span)?;
        all
    }
}
