//! Types, with their sizes.

use super::{
    Context,
    ast::{Fields, Size, Type},
    constants,
};
use crate::{
    number::{Number, number},
    source_error::SourceError,
    tree::{EnumTy, Scalar, Span, Ty},
};

/// The depth to which types may be nested.
const MAX_DEPTH: usize = 64;
/// The most words that a value may have.
const MAX_WORDS: usize = 1 << 24;

impl Context<'_> {
    /// A type; `span` is to blame.
    ///
    /// *Errors*: a type that contains itself, or is too large.
    pub(super) fn ty(&self, ty: &Type, span: Span) -> Result<Ty, SourceError> {
        let ty = self.nested(ty, span, 0)?;
        match ty.words() > MAX_WORDS || ty.width() > u64::from(u32::MAX) {
            true => Err(SourceError::new(span, format!("a type has more than {MAX_WORDS} words"))),
            false => Ok(ty),
        }
    }

    fn nested(&self, ty: &Type, span: Span, depth: usize) -> Result<Ty, SourceError> {
        if depth > MAX_DEPTH {
            return Err(SourceError::new(span, "a type contains itself, or is nested too deep"));
        }
        let inner = |ty: &Type| self.nested(ty, span, depth + 1);
        Ok(match ty {
            Type::Array(element, size) => Ty::Array(inner(element)?.into(), self.size(size, span)?),
            Type::List(element, size) => match self.size(size, span)? {
                0 => {
                    let fault = SourceError::new(span, "a list has room for one element at least");
                    return Err(fault.hint("what is always empty is not needed"));
                }
                most => Ty::List(inner(element)?.into(), most),
            },
            Type::Unknown => {
                let fault = SourceError::new(span, "nothing says which type the elements of this empty list have");
                return Err(fault.hint("write it down: `let mut list: [u8; ..8] = [];`"));
            }
            Type::Tuple(fields) => {
                let field = |(k, ty): (usize, &Type)| Ok((k.to_string(), inner(ty)?));
                Ty::Record(fields.iter().enumerate().map(field).collect::<Result<_, SourceError>>()?)
            }
            Type::Named(name) => match self.program.structs.get(&name.text) {
                Some(definition) => self.record(&definition.fields, span, depth)?,
                None => Ty::Enum(self.enumeration(&name.text, span, depth)?.into()),
            },
            Type::Decimal => {
                let fault = SourceError::new(span, "the type of this number with a point is not known");
                return Err(fault.hint("write it down: `let x: fixed<16, 16> = 1.5;` or `1.5 as fixed<16, 16>`"));
            }
            other => match scalar(other) {
                Some(scalar) => Ty::Scalar(scalar),
                None => return Err(SourceError::new(span, format!("`{ty}` is no type of values"))),
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
        Ok(EnumTy { name: name.into(), variants })
    }

    /// The number of elements.
    pub(super) fn size(&self, size: &Size, span: Span) -> Result<u32, SourceError> {
        match size {
            Size::Number(count) => length(number(*count as i128), span),
            Size::Constant(name) => match self.constants.get(name) {
                Some(&value) => length(value, span),
                None => Err(SourceError::new(span, format!("the size `{name}` is not known"))
                    .hint(format!("declare it: `const {name}: usize = ...;`"))),
            },
            Size::Computed(value) => {
                let value = constants::evaluate(value, &|name| self.constants.get(name).copied());
                length(value.map_err(|what| SourceError::new(span, what))?, span)
            }
        }
    }
}

fn length(count: Number, span: Span) -> Result<u32, SourceError> {
    match u32::try_from(count) {
        Ok(count) if count as usize <= MAX_WORDS => Ok(count),
        _ => Err(SourceError::new(span, format!("an array of {count} elements is too large, the most is {MAX_WORDS}"))),
    }
}

/// The scalar that a number of the type is; one without a type has 32 bits.
pub(super) fn scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Bool => Some(Scalar::BOOL),
        Type::Int(int) => Some(int.scalar()),
        Type::Natural => Some(Scalar::unsigned(32)),
        Type::Integer => Some(Scalar::signed(32)),
        Type::Fixed(integer, fraction) => Some(Scalar::fixed(*integer, *fraction)),
        _ => None,
    }
}
