//! Types, with their sizes.

use garble_lang::{
    ast::{ConstExpr, Type, Variant},
    token::{SignedNumType, UnsignedNumType},
};

use super::{Context, constants};
use crate::{
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
            Type::Bool => Ty::Scalar(Scalar::BOOL),
            Type::Unsigned(number) => Ty::Scalar(unsigned(*number)),
            Type::Signed(number) => Ty::Scalar(signed(*number)),
            Type::Array(element, count) => Ty::Array(inner(element)?.into(), length(*count as i128, span)?),
            Type::ArrayConst(element, name) => Ty::Array(inner(element)?.into(), self.size(name, span)?),
            Type::ArrayConstExpr(element, expr) => Ty::Array(inner(element)?.into(), self.computed_size(expr, span)?),
            Type::Tuple(fields) => {
                let field = |(k, ty): (usize, &Type)| Ok((k.to_string(), inner(ty)?));
                Ty::Record(fields.iter().enumerate().map(field).collect::<Result<_, SourceError>>()?)
            }
            Type::Struct(name) => {
                let fields = self.program.struct_defs.get(name).map(|def| &def.fields);
                let field = |(name, ty): &(String, Type)| Ok((name.clone(), inner(ty)?));
                Ty::Record(fields.into_iter().flatten().map(field).collect::<Result<_, SourceError>>()?)
            }
            Type::Enum(name) => Ty::Enum(self.enumeration(name, span, depth)?.into()),
            Type::Fn(..) | Type::UntypedTopLevelDefinition(..) => {
                return Err(SourceError::new(span, format!("`{ty}` is no type of values")));
            }
        })
    }

    fn enumeration(&self, name: &str, span: Span, depth: usize) -> Result<EnumTy, SourceError> {
        let mut variants = Vec::new();
        for variant in self.program.enum_defs.get(name).map(|def| &def.variants).into_iter().flatten() {
            variants.push(match variant {
                Variant::Unit(name) => (name.clone(), Vec::new()),
                Variant::Tuple(name, fields) => {
                    let fields = fields.iter().map(|ty| self.nested(ty, span, depth + 1));
                    (name.clone(), fields.collect::<Result<_, SourceError>>()?)
                }
            });
        }
        Ok(EnumTy { name: name.into(), variants })
    }

    /// The value of a constant that is a size.
    pub(super) fn size(&self, name: &str, span: Span) -> Result<u32, SourceError> {
        match self.constants.get(name) {
            Some(&value) => length(value, span),
            None => Err(SourceError::new(span, format!("the size `{name}` is not known"))
                .hint(format!("declare it: `const {name}: usize = ...;`"))),
        }
    }

    fn computed_size(&self, expr: &ConstExpr, span: Span) -> Result<u32, SourceError> {
        length(
            constants::evaluate(expr, &|name| self.constants.get(name).copied())
                .map_err(|what| SourceError::new(span, what))?,
            span,
        )
    }
}

fn length(count: i128, span: Span) -> Result<u32, SourceError> {
    match u32::try_from(count) {
        Ok(count) if count as usize <= MAX_WORDS => Ok(count),
        _ => Err(SourceError::new(span, format!("an array of {count} elements is too large, the most is {MAX_WORDS}"))),
    }
}

/// An unsigned integer; one without a suffix has 32 bits.
pub(super) fn unsigned(number: UnsignedNumType) -> Scalar {
    match number {
        UnsignedNumType::U8 => Scalar::unsigned(8),
        UnsignedNumType::U16 => Scalar::unsigned(16),
        UnsignedNumType::U32 | UnsignedNumType::Unspecified => Scalar::unsigned(32),
        UnsignedNumType::Usize => Scalar::USIZE,
        UnsignedNumType::U64 => Scalar::unsigned(64),
    }
}

/// A signed integer; one without a suffix has 32 bits.
pub(super) fn signed(number: SignedNumType) -> Scalar {
    match number {
        SignedNumType::I8 => Scalar::signed(8),
        SignedNumType::I16 => Scalar::signed(16),
        SignedNumType::I32 | SignedNumType::Unspecified => Scalar::signed(32),
        SignedNumType::I64 => Scalar::signed(64),
    }
}

/// The type that is written behind a number, if there is one.
pub(super) fn stated_unsigned(number: UnsignedNumType) -> Option<Scalar> {
    (number != UnsignedNumType::Unspecified).then(|| unsigned(number))
}

/// As [`stated_unsigned`].
pub(super) fn stated_signed(number: SignedNumType) -> Option<Scalar> {
    (number != SignedNumType::Unspecified).then(|| signed(number))
}
