//! Constants, structs and enums.

use super::{Checked, Checker};
use crate::{
    front::ast::{ConstDef, ConstExpr, ConstKind, Type},
    source_error::SourceError,
};

impl Checker<'_> {
    /// Checks all definitions but functions.
    pub(super) fn definitions(&mut self) {
        let program = self.program;
        let mut constants: Vec<_> = program.constants.iter().collect();
        constants.sort_by_key(|(_, definition)| definition.span);
        for (at, (_, definition)) in constants.iter().enumerate() {
            // A constant is made of those before.
            let before = |name: &str| constants[..at].iter().find(|(own, _)| *own == name).map(|(_, own)| &own.ty);
            let _: Checked = self.constant(&definition.value, definition, &before);
        }
        let fields = program.structs.values().flat_map(|definition| definition.fields.iter().map(|(_, ty)| ty));
        let variants = program.enums.values().flat_map(|definition| &definition.variants);
        for ty in fields.chain(variants.flat_map(|(_, fields)| fields.all())) {
            let _: Checked = self.known(ty);
        }
    }

    fn constant<'d>(
        &mut self,
        value: &ConstExpr,
        definition: &ConstDef,
        before: &impl Fn(&str) -> Option<&'d Type>,
    ) -> Checked {
        let ty = match &value.kind {
            ConstKind::Bool(_) => Type::Bool,
            ConstKind::Number(_, ty) => ty.clone(),
            ConstKind::External(..) => return Ok(()),
            ConstKind::Constant(name) => match before(name) {
                Some(ty) => ty.clone(),
                None => return self.unknown(name, value.span),
            },
            ConstKind::Max(args) | ConstKind::Min(args) => {
                return args.iter().try_for_each(|arg| self.constant(arg, definition, before));
            }
            ConstKind::Add(a, b) | ConstKind::Sub(a, b) => {
                self.constant(a, definition, before)?;
                return self.constant(b, definition, before);
            }
        };
        match ty == definition.ty {
            true => Ok(()),
            false => self.mismatch(&definition.ty, &ty, value.span),
        }
    }

    /// Looks whether all structs and enums of a type are defined.
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

    /// There is no struct of that name.
    pub(super) fn no_struct<T>(&mut self, name: &str, span: crate::tree::Span) -> Checked<T> {
        let hint = self.type_meant(name);
        self.refuse_with(span, format!("there is no struct `{name}`"), hint)
    }

    /// A struct, or a variant, has other fields.
    pub(super) fn no_field<T>(
        &mut self,
        (name, fields): (&str, &[(String, Type)]),
        field: &str,
        span: crate::tree::Span,
    ) -> Checked<T> {
        let names: Vec<&str> = fields.iter().map(|(field, _)| field.as_str()).collect();
        let what = if self.program.structs.contains_key(name) { "the struct " } else { "" };
        let fault = SourceError::new(span, format!("{what}`{name}` has no field `{field}`"));
        self.refuse(fault.hint(format!("it has: {}", names.join(", "))))
    }

    /// A field is not there.
    pub(super) fn missing_field<T>(&mut self, name: &str, field: &str, span: crate::tree::Span) -> Checked<T> {
        let fault = SourceError::new(span, format!("the field `{field}` of `{name}` is missing"));
        self.refuse(fault.hint("in a pattern, `..` stands for all others"))
    }
}
