//! Types, with their sizes.

use super::{
    Context,
    ast::{Fields, Size, Type},
};
use crate::{
    source_error::SourceError,
    tree::{EnumTy, Scalar, Span, Ty},
};

/// The depth to which types may be nested.
const MAX_DEPTH: usize = 64;
/// The most words that a value may have.
const MAX_WORDS: usize = 1 << 24;

impl Context<'_> {
    /// The type with its sizes; errors point at `span`.
    ///
    /// *Errors*: a type that is nested too deep, or too large.
    pub(super) fn ty(&mut self, ty: &Type, span: Span) -> Result<Ty, SourceError> {
        let Type::Named(name) = ty else { return self.bounded(ty, span) };
        if let Some(known) = self.types.get(&name.text) {
            return Ok(known.clone());
        }
        let whole = self.bounded(ty, span)?;
        self.types.insert(name.text.clone(), whole.clone());
        Ok(whole)
    }

    fn bounded(&self, ty: &Type, span: Span) -> Result<Ty, SourceError> {
        let ty = self.nested(ty, span, 0)?;
        match ty.words() > MAX_WORDS || ty.width() > u64::from(u32::MAX) {
            true => {
                let (words, bits) = (ty.words(), ty.width());
                let most = format!("expected at most {MAX_WORDS} numbers and {} bits", u32::MAX);
                let message = format!("this type is too large: {most}, got {words} numbers and {bits} bits");
                Err(SourceError::new(span, message).hint("use shorter arrays"))
            }
            false => Ok(ty),
        }
    }

    fn nested(&self, ty: &Type, span: Span, depth: usize) -> Result<Ty, SourceError> {
        if depth > MAX_DEPTH {
            let message = format!("this type is nested too deep: expected at most {MAX_DEPTH} levels, got more");
            return Err(SourceError::new(span, message).hint("nest fewer arrays, tuples or structs"));
        }
        let inner = |ty: &Type| self.nested(ty, span, depth + 1);
        Ok(match ty {
            Type::Array(element, size) => Ty::Array(inner(element)?.into(), self.size(size, span)?),
            Type::List(element, size) => match self.size(size, span)? {
                0 => {
                    let fault =
                        SourceError::new(span, "expected a list with room for at least one element, got room for 0");
                    return Err(fault.hint("remove it: a list without room is always empty"));
                }
                most => Ty::List(inner(element)?.into(), most),
            },
            Type::Unknown => {
                let fault = SourceError::new(span, "the type of the elements of this empty array is not known");
                return Err(fault.hint("state it: `let x: [u8; 0] = [];`, or `let mut list: [u8; ..8] = [];`"));
            }
            Type::Tuple(fields) => {
                let field = |(k, ty): (usize, &Type)| Ok((k.to_string(), inner(ty)?));
                Ty::Record(fields.iter().enumerate().map(field).collect::<Result<_, SourceError>>()?)
            }
            Type::Named(name) => match self.program.structs.get(&name.text) {
                Some(definition) => self.record(&definition.fields, span, depth)?,
                None => Ty::Enum(self.enumeration(&name.text, span, depth)?.into()),
            },
            other => match scalar(other) {
                Some(scalar) => Ty::Scalar(scalar),
                None => return Err(SourceError::bug(span, &format!("the type `{ty}`"))),
            },
        })
    }

    fn record(&self, fields: &[(String, Type)], span: Span, depth: usize) -> Result<Ty, SourceError> {
        let field = |(name, ty): &(String, Type)| Ok((name.clone(), self.nested(ty, span, depth + 1)?));
        Ok(Ty::Record(fields.iter().map(field).collect::<Result<_, SourceError>>()?))
    }

    fn enumeration(&self, name: &str, span: Span, depth: usize) -> Result<EnumTy, SourceError> {
        let mut variants = Vec::new();
        for (name, fields) in self.program.enums.get(name).map(|def| &def.variants).into_iter().flatten() {
            let fields = match fields {
                Fields::Unit => Vec::new(),
                Fields::Tuple(fields) => {
                    let fields = fields.iter().map(|ty| self.nested(ty, span, depth + 1));
                    fields.collect::<Result<_, SourceError>>()?
                }
                // Named fields are one record.
                Fields::Named(fields) => vec![self.record(fields, span, depth)?],
            };
            variants.push((name.clone(), fields));
        }
        Ok(EnumTy::new(name, variants))
    }

    /// The number of elements.
    pub(super) fn size(&self, size: &Size, span: Span) -> Result<u32, SourceError> {
        let count = self.constants.size(size, span)?;
        match u32::try_from(count) {
            Ok(size) if count <= MAX_WORDS => Ok(size),
            _ => {
                let message = format!("this array is too large: expected at most {MAX_WORDS} elements, got {count}");
                Err(SourceError::new(span, message).hint("use a shorter array"))
            }
        }
    }
}

/// The type as a scalar.
pub(super) fn scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Bool => Some(Scalar::BOOL),
        Type::Int(int) => Some(int.scalar()),
        Type::Fixed(integer, fraction) => Some(Scalar::fixed(*integer, *fraction)),
        Type::Float(format) => Some(Scalar::float(*format)),
        _ => None,
    }
}
