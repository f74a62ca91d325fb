//! Parts of tuples, structs and enums.

use garblet_circuit::Float;

use super::{Checked, Checker, definitions::listed};
use crate::{
    front::{
        ast::{Expr, Fields, Type, field_of},
        methods,
    },
    source_error::SourceError,
    tree::Span,
};

impl Checker<'_> {
    /// The type of a field of a tuple.
    pub(super) fn position(&mut self, ty: &Type, index: usize, span: Span) -> Checked<Type> {
        let fields = self.expect_tuple(ty, span)?;
        match fields.get(index) {
            Some(field) => Ok(field.clone()),
            None => {
                let fault =
                    SourceError::new(span, format!("there is no field {index}: the tuple has {} fields", fields.len()));
                self.refuse(fault.hint("the first one is `.0`"))
            }
        }
    }

    /// The type of a field of a struct.
    pub(super) fn field(&mut self, ty: &Type, field: &str, span: Span) -> Checked<Type> {
        let name = self.expect_struct(ty, span)?;
        let program = self.program;
        let fields = program.structs.get(&name).map_or(&[][..], |definition| &definition.fields);
        match field_of(fields, field) {
            Some(ty) => Ok(ty.clone()),
            None => self.no_field((&name, fields), field, span),
        }
    }

    /// The type of `NAME { FIELD: VALUE, .. }`.
    pub(super) fn struct_literal(&mut self, name: &str, values: &mut [(String, Expr)], span: Span) -> Checked<Type> {
        let program = self.program;
        let Some(definition) = program.structs.get(name) else { return self.no_struct(name, span) };
        let mut all = self.fields_match(name, &definition.fields, values, span);
        for (field, value) in values {
            let ty = field_of(&definition.fields, field);
            let checked = self.expr(value).and_then(|()| ty.map_or(Ok(()), |ty| self.check(value, ty)));
            all = checked.and(all);
        }
        all.map(|()| Type::named(name))
    }

    /// The type of `ENUM::VARIANT(..)`.
    pub(super) fn variant_literal(
        &mut self,
        (name, variant): (&str, &str),
        values: &mut Fields<Expr>,
        span: Span,
    ) -> Checked<Type> {
        self.variant(name, variant, values, span)?;
        let program = self.program;
        let types = program.enums.get(name).and_then(|definition| definition.variant(variant));
        let values: Vec<(&mut Expr, &Type)> = match (values, types) {
            // They stay in the order in which they are written.
            (Fields::Named(values), Some(Fields::Named(types))) => {
                values.iter_mut().filter_map(|(field, value)| Some((value, field_of(types, field)?))).collect()
            }
            (values, types) => values.all_mut().into_iter().zip(types.into_iter().flat_map(Fields::all)).collect(),
        };
        let mut all = Ok(());
        for (value, ty) in values {
            all = self.expr(value).and_then(|()| self.check(value, ty)).and(all);
        }
        all.map(|()| Type::named(name))
    }

    /// Checks that such a variant with such fields exists.
    pub(super) fn variant<T>(&mut self, name: &str, variant: &str, fields: &Fields<T>, span: Span) -> Checked {
        let program = self.program;
        let Some(definition) = program.enums.get(name) else {
            let hint = match Float::named(name) {
                Some(_) => Some(methods::CONSTANTS.into()),
                None => self.type_meant(name),
            };
            return self.refuse_with(span, format!("there is no enum `{name}`"), hint);
        };
        let wrong = |message: String| SourceError::new(span, message);
        let Some(types) = definition.variant(variant) else {
            let known = definition.variants.iter().map(|(name, fields)| form(name, fields));
            let fault = wrong(format!("the enum `{name}` has no variant `{variant}`"));
            return self.refuse(fault.hint(format!("it has: {}", listed(known))));
        };
        match (types, fields) {
            (Fields::Unit, Fields::Unit) => Ok(()),
            (Fields::Tuple(types), Fields::Tuple(fields)) if types.len() == fields.len() => Ok(()),
            (Fields::Tuple(types), Fields::Tuple(fields)) => {
                self.refuse(wrong(format!("expected {} fields, got {}", types.len(), fields.len())))
            }
            (Fields::Unit, _) => {
                self.refuse(wrong("this variant has no fields".into()).hint("leave out the brackets after it"))
            }
            (Fields::Named(types), Fields::Named(fields)) => {
                self.fields_match(&format!("{name}::{variant}"), types, fields, span)
            }
            (Fields::Tuple(_), Fields::Unit) => {
                self.refuse(wrong("this variant has fields".into()).hint("write them in brackets after it"))
            }
            (Fields::Tuple(_), Fields::Named(_)) => {
                let hint = format!("write {name}::{}", form(variant, types));
                self.refuse(wrong("the fields of this variant have no names".into()).hint(hint))
            }
            (Fields::Named(_), _) => {
                let hint = format!("write {name}::{}", form(variant, types));
                self.refuse(wrong("the fields of this variant have names".into()).hint(hint))
            }
        }
    }
}

/// A variant as it is written.
fn form(name: &str, fields: &Fields<Type>) -> String {
    match fields {
        Fields::Unit => name.into(),
        Fields::Tuple(_) => format!("{name}(..)"),
        Fields::Named(fields) => {
            format!("{name} {{ {} }}", listed(fields.iter().map(|(name, _)| name)))
        }
    }
}
