//! Constants, structs and enums.

use super::{Checked, Checker};
use crate::{front::ast::Type, source_error::SourceError};

/// The most names that a hint lists.
const MAX_NAMES: usize = 16;

/// Names as a hint lists them: all, or the first if there are many.
pub(super) fn listed<S: Into<String>>(names: impl ExactSizeIterator<Item = S>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let shown: Vec<String> = names.take(MAX_NAMES).map(S::into).collect();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

impl Checker<'_> {
    /// Checks the types in all definitions except functions.
    pub(super) fn definitions(&mut self) {
        let program = self.program;
        let fields = program.structs.values().flat_map(|definition| definition.fields.iter().map(|(_, ty)| ty));
        let variants = program.enums.values().flat_map(|definition| &definition.variants);
        for ty in fields.chain(variants.flat_map(|(_, fields)| fields.all())) {
            let _: Checked = self.known(ty);
        }
    }

    /// Checks that all structs and enums in a type are defined.
    pub(super) fn known(&mut self, ty: &Type) -> Checked {
        match ty {
            Type::Array(element, _) | Type::List(element, _) => self.known(element),
            Type::Tuple(fields) => fields.iter().try_for_each(|field| self.known(field)),
            Type::Named(name) => {
                let is_defined =
                    |name| self.program.structs.contains_key(name) || self.program.enums.contains_key(name);
                if is_defined(&name.text) {
                    return Ok(());
                }
                let hint = self.type_meant(&name.text);
                self.refuse_with(name.span, format!("there is no type `{}`", name.text), hint)
            }
            _ => Ok(()),
        }
    }

    /// Like [`Checker::known`], for a type in a function's body, whose sizes become numbers.
    pub(super) fn written(&mut self, ty: &mut Type, span: crate::tree::Span) -> Checked {
        self.known(ty)?;
        match self.values.fix(ty, span) {
            Ok(()) => Ok(()),
            Err(fault) => self.refuse(fault),
        }
    }

    /// Reports that no struct has that name.
    pub(super) fn no_struct<T>(&mut self, name: &str, span: crate::tree::Span) -> Checked<T> {
        let hint = self.type_meant(name);
        self.refuse_with(span, format!("there is no struct `{name}`"), hint)
    }

    /// Reports that a struct or a variant has no such field.
    pub(super) fn no_field<T>(
        &mut self,
        (name, fields): (&str, &[(String, Type)]),
        field: &str,
        span: crate::tree::Span,
    ) -> Checked<T> {
        let hint = format!("it has: {}", listed(fields.iter().map(|(field, _)| field)));
        let what = if self.program.structs.contains_key(name) { "the struct " } else { "" };
        let fault = SourceError::new(span, format!("{what}`{name}` has no field `{field}`"));
        self.refuse(fault.hint(hint))
    }

    /// Reports a missing field.
    pub(super) fn missing_field<T>(&mut self, name: &str, field: &str, span: crate::tree::Span) -> Checked<T> {
        let fault = SourceError::new(span, format!("the field `{field}` of `{name}` is missing"));
        self.refuse(fault.hint("in a pattern, `..` stands for all others"))
    }
}
