//! The methods of numbers and the constants of floating-point numbers, which are those of Rust.

use garblet_circuit::Float;
use garblet_formats::value::text_of_float;

use crate::{
    front::ast::{Int, Type},
    number::Decimal,
    tree::Method,
};

/// The types that have a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Floats,
    Integers,
    SignedIntegers,
    /// Integers and floating-point numbers.
    Numbers,
    /// Signed integers and floating-point numbers.
    Signed,
}

/// The methods by name, with the types that have them and the number of values that each takes, its own number included.
const METHODS: [(&str, Method, Of, usize); 32] = [
    ("abs", Method::Abs, Of::Signed, 1),
    ("abs_diff", Method::AbsDiff, Of::Integers, 2),
    ("copysign", Method::CopySign, Of::Floats, 2),
    ("cos", Method::Cos, Of::Floats, 1),
    ("count_ones", Method::CountOnes, Of::Integers, 1),
    ("count_zeros", Method::CountZeros, Of::Integers, 1),
    ("exp", Method::Exp, Of::Floats, 1),
    ("is_finite", Method::IsFinite, Of::Floats, 1),
    ("is_infinite", Method::IsInfinite, Of::Floats, 1),
    ("is_nan", Method::IsNan, Of::Floats, 1),
    ("is_sign_negative", Method::IsSignNegative, Of::Floats, 1),
    ("is_sign_positive", Method::IsSignPositive, Of::Floats, 1),
    ("isqrt", Method::IntegerRoot, Of::Integers, 1),
    ("leading_zeros", Method::LeadingZeros, Of::Integers, 1),
    ("ln", Method::Ln, Of::Floats, 1),
    ("max", Method::Max, Of::Numbers, 2),
    ("min", Method::Min, Of::Numbers, 2),
    ("mul_add", Method::MulAdd, Of::Floats, 3),
    ("pow", Method::Pow, Of::Integers, 2),
    ("rotate_left", Method::RotateLeft, Of::Integers, 2),
    ("rotate_right", Method::RotateRight, Of::Integers, 2),
    ("saturating_add", Method::SaturatingAdd, Of::Integers, 2),
    ("saturating_sub", Method::SaturatingSub, Of::Integers, 2),
    ("sin", Method::Sin, Of::Floats, 1),
    ("sqrt", Method::Root, Of::Floats, 1),
    ("to_bits", Method::ToBits, Of::Floats, 1),
    ("trailing_zeros", Method::TrailingZeros, Of::Integers, 1),
    ("unsigned_abs", Method::UnsignedAbs, Of::SignedIntegers, 1),
    ("wrapping_add", Method::WrappingAdd, Of::Integers, 2),
    ("wrapping_mul", Method::WrappingMul, Of::Integers, 2),
    ("wrapping_neg", Method::WrappingNeg, Of::Integers, 1),
    ("wrapping_sub", Method::WrappingSub, Of::Integers, 2),
];

/// The names of the methods of all types.
pub(super) fn all_names() -> Vec<&'static str> {
    METHODS.iter().map(|(name, ..)| *name).collect()
}

/// The method of that name.
pub(super) fn named(name: &str) -> Option<Method> {
    METHODS.iter().find(|(own, ..)| *own == name).map(|(_, method, ..)| *method)
}

/// The name of a method, and the number of values that it takes, its own number included.
pub(super) fn described(method: Method) -> (&'static str, usize) {
    METHODS.iter().find(|(_, own, ..)| *own == method).map_or(("", 1), |(name, _, _, arity)| (name, *arity))
}

/// The names of the methods of a type.
pub(super) fn names(ty: &Type) -> Vec<&'static str> {
    let has = |of: Of| match ty {
        Type::Float(_) => matches!(of, Of::Floats | Of::Numbers | Of::Signed),
        Type::Int(int) if int.is_signed() => of != Of::Floats,
        Type::Int(_) => matches!(of, Of::Integers | Of::Numbers),
        _ => false,
    };
    METHODS.iter().filter(|(_, _, of, _)| has(*of)).map(|(name, ..)| *name).collect()
}

/// The type of a method's second value, and that of its result.
pub(super) fn types(method: Method, ty: &Type) -> (Type, Type) {
    let unsigned = match ty {
        Type::Int(Int::Signed(bits)) => Type::Int(Int::Unsigned(*bits)),
        Type::Float(format) => Type::Int(Int::Unsigned(format.width() as u16)),
        _ => ty.clone(),
    };
    let count = Type::Int(Int::Unsigned(32));
    match method {
        Method::IsNan | Method::IsInfinite | Method::IsFinite | Method::IsSignNegative | Method::IsSignPositive => {
            (ty.clone(), Type::Bool)
        }
        Method::CountOnes | Method::CountZeros | Method::LeadingZeros | Method::TrailingZeros => (ty.clone(), count),
        Method::Pow | Method::RotateLeft | Method::RotateRight => (count, ty.clone()),
        Method::ToBits | Method::AbsDiff | Method::UnsignedAbs => (ty.clone(), unsigned),
        _ => (ty.clone(), ty.clone()),
    }
}

/// A hint at the names of all constants.
pub(super) const CONSTANTS: &str = "its constants are MAX, MIN, MIN_POSITIVE, EPSILON, INFINITY, NEG_INFINITY and NAN";

/// A constant of a type, such as `f64::MAX`.
pub(super) fn constant(format: Float, name: &str) -> Option<Decimal> {
    let (sign, infinity, one) = (1 << (format.width() - 1), format.infinity(), 1 << format.fraction());
    let bits = match name {
        "MAX" => infinity - 1,
        "MIN" => sign | (infinity - 1),
        "MIN_POSITIVE" => one,
        // 2 to the power of the fraction's bits, below 1.
        "EPSILON" => u64::from(format.bias() - format.fraction()) * one,
        "INFINITY" => infinity,
        "NEG_INFINITY" => sign | infinity,
        "NAN" => infinity | one >> 1,
        _ => return None,
    };
    let mut number = Decimal::of(&text_of_float(format, bits))?;
    number.suffix = Some(format);
    Some(number)
}
