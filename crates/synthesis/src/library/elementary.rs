//! Functions of numbers of IEEE 754 that are rounded from fixed point.

use garblet_circuit::{CircuitError, Component, Party, Type};

use super::member::{Build, Member};
use crate::builder::{CircuitBuilder, FloatFormat, Unsigned};

/// The members of each format: its name, and their AND gates.
macro_rules! members {
    ($($name:literal $format:ident: exp $exp:literal ln $ln:literal sin $sin:literal cos $cos:literal sigmoid $sigmoid:literal;)*) => {
        /// Every result is within 0.55 units in the last place of the exact one, for every number. The greatest that was found is 0.5113.
        ///
        /// *Source*: the functions of [`CircuitBuilder`], whose docs cite theirs.
        pub(super) const MEMBERS: &[Member] = &[$(
            Member {
                name: concat!($name, "-exp"),
                summary: concat!("e to the power of a number of ", $name),
                ..member!($exp, |c, _| one(c, FloatFormat::$format, CircuitBuilder::float_exp))
            },
            Member {
                name: concat!($name, "-ln"),
                summary: concat!("the natural logarithm of a number of ", $name),
                ..member!($ln, |c, _| one(c, FloatFormat::$format, CircuitBuilder::float_ln))
            },
            Member {
                name: concat!($name, "-sin"),
                summary: concat!("the sine of a number of ", $name, " in radians"),
                ..member!($sin, |c, _| one(c, FloatFormat::$format, CircuitBuilder::float_sin))
            },
            Member {
                name: concat!($name, "-cos"),
                summary: concat!("the cosine of a number of ", $name, " in radians"),
                ..member!($cos, |c, _| one(c, FloatFormat::$format, CircuitBuilder::float_cos))
            },
            Member {
                name: concat!($name, "-sigmoid"),
                summary: concat!("1 / (1 + e^-a) of a number a of ", $name),
                ..member!($sigmoid, |c, _| one(c, FloatFormat::$format, CircuitBuilder::float_sigmoid))
            },
        )*];
    };
}

/// A member without parameters, name and summary.
macro_rules! member {
    ($ands:literal, $build:expr) => {
        Member {
            name: "",
            summary: "",
            parameters: &[],
            ands: stringify!($ands),
            and_count: |_| $ands,
            build: Build::Component { owners: &[Party(0)], build: $build },
        }
    };
}

members! {
    "f16" F16: exp 1167 ln 1821 sin 3770 cos 3750 sigmoid 1642;
    "bf16" BF16: exp 899 ln 1344 sin 2680 cos 2657 sigmoid 1258;
    "f32" F32: exp 3053 ln 5404 sin 11033 cos 10994 sigmoid 4309;
    "f64" F64: exp 13181 ln 21822 sin 43950 cos 43877 sigmoid 17346;
}

fn one(
    mut c: CircuitBuilder,
    format: FloatFormat,
    function: fn(&mut CircuitBuilder, FloatFormat, &Unsigned) -> Unsigned,
) -> Result<Component, CircuitError> {
    let a: Unsigned = c.input("a", Type::Unsigned(format.width() as u32));
    let result = function(&mut c, format, &a);
    c.output("result", &result);
    c.finish()
}
