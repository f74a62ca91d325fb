//! The methods and constants of floating-point numbers, which are those of Rust.

use garblet_circuit::Float;

use crate::{number::Decimal, tree::Method};

/// The methods by name, with the number of values that each takes, its own number included.
const METHODS: [(&str, Method, usize); 12] = [
    ("abs", Method::Abs, 1),
    ("sqrt", Method::Root, 1),
    ("min", Method::Min, 2),
    ("max", Method::Max, 2),
    ("copysign", Method::CopySign, 2),
    ("mul_add", Method::MulAdd, 3),
    ("is_nan", Method::IsNan, 1),
    ("is_infinite", Method::IsInfinite, 1),
    ("is_finite", Method::IsFinite, 1),
    ("is_sign_negative", Method::IsSignNegative, 1),
    ("is_sign_positive", Method::IsSignPositive, 1),
    ("to_bits", Method::ToBits, 1),
];

/// The method of that name.
pub(super) fn named(name: &str) -> Option<Method> {
    METHODS.iter().find(|(own, ..)| *own == name).map(|(_, method, _)| *method)
}

/// The number of values that a method takes, its own number included.
pub(super) fn arity(method: Method) -> usize {
    METHODS.iter().find(|(_, own, _)| *own == method).map_or(1, |(.., arity)| *arity)
}

/// A hint at the names of all constants.
pub(super) const CONSTANTS: &str = "its constants are MAX, MIN, MIN_POSITIVE, EPSILON, INFINITY, NEG_INFINITY and NAN";

/// A constant of a type, such as `f64::MAX`.
pub(super) fn constant(format: Float, name: &str) -> Option<Decimal> {
    macro_rules! of {
        ($float:ident) => {
            match name {
                "MAX" => $float::MAX,
                "MIN" => $float::MIN,
                "MIN_POSITIVE" => $float::MIN_POSITIVE,
                "EPSILON" => $float::EPSILON,
                "INFINITY" => $float::INFINITY,
                "NEG_INFINITY" => $float::NEG_INFINITY,
                "NAN" => $float::NAN,
                _ => return None,
            }
        };
    }
    let text = match format {
        Float::F32 => format!("{:?}", of!(f32)),
        Float::F64 => format!("{:?}", of!(f64)),
    };
    let mut number = Decimal::of(&text)?;
    number.suffix = Some(format);
    Some(number)
}
