//! Numbers of IEEE 754.

use garblet_circuit::{CircuitError, Component, Party, Type};

use super::member::{Build, Member};
use crate::builder::{CircuitBuilder, FloatFormat, Integer, Signed, Unsigned};

/// The members of each format: its name, AND gates, and the other formats with the AND gates of the conversions to them.
macro_rules! members {
    ($($name:literal $format:ident: add $add:literal sub $sub:literal mul $mul:literal div $div:literal sqrt $sqrt:literal
        fma $fma:literal compare $compare:literal from_i64 $from_i:literal from_u64 $from_u:literal
        to_i64 $to_i:literal to_u64 $to_u:literal $(, $other:literal $to:ident $ands:literal)*;)*) => {
        /// Every operation rounds to nearest, ties to even, and gives the quiet NaN with sign and payload zero.
        ///
        /// *Source*: the operations of [`CircuitBuilder`], whose docs cite theirs.
        pub(super) const MEMBERS: &[Member] = &[$(
            Member {
                name: concat!($name, "-add"),
                summary: concat!("a + b, numbers of ", $name),
                ..member!($add, TWO, |c, _| two(c, FloatFormat::$format, "sum", CircuitBuilder::float_add))
            },
            Member {
                name: concat!($name, "-sub"),
                summary: concat!("a - b, numbers of ", $name),
                ..member!($sub, TWO, |c, _| two(c, FloatFormat::$format, "difference", CircuitBuilder::float_sub))
            },
            Member {
                name: concat!($name, "-mul"),
                summary: concat!("a * b, numbers of ", $name),
                ..member!($mul, TWO, |c, _| two(c, FloatFormat::$format, "product", CircuitBuilder::float_mul))
            },
            Member {
                name: concat!($name, "-div"),
                summary: concat!("a / b, numbers of ", $name),
                ..member!($div, TWO, |c, _| two(c, FloatFormat::$format, "quotient", CircuitBuilder::float_div))
            },
            Member {
                name: concat!($name, "-sqrt"),
                summary: concat!("the square root of a number of ", $name),
                ..member!($sqrt, ONE, |c, _| one(c, FloatFormat::$format, "root", |c, format, a| c.float_sqrt(format, a)))
            },
            Member {
                name: concat!($name, "-fma"),
                summary: concat!("a * b + c rounded once, numbers of ", $name),
                ..member!($fma, THREE, |c, _| fused(c, FloatFormat::$format))
            },
            Member {
                name: concat!($name, "-compare"),
                summary: concat!("whether a < b, a = b, or one is NaN, numbers of ", $name),
                ..member!($compare, TWO, |c, _| compare(c, FloatFormat::$format))
            },
            Member {
                name: concat!($name, "-from-i64"),
                summary: concat!("the number of ", $name, " next to an integer"),
                ..member!($from_i, ONE, |c, _| from_integer::<Signed>(c, FloatFormat::$format, Type::Signed(64)))
            },
            Member {
                name: concat!($name, "-from-u64"),
                summary: concat!("the number of ", $name, " next to an integer from 0 on"),
                ..member!($from_u, ONE, |c, _| from_integer::<Unsigned>(c, FloatFormat::$format, Type::Unsigned(64)))
            },
            Member {
                name: concat!($name, "-to-i64"),
                summary: concat!("a number of ", $name, " without its fraction, the nearest integer if it is beyond all, 0 for NaN"),
                ..member!($to_i, ONE, |c, _| to_signed(c, FloatFormat::$format))
            },
            Member {
                name: concat!($name, "-to-u64"),
                summary: concat!("a number of ", $name, " without its fraction, the nearest integer from 0 on if it is beyond all, 0 for NaN"),
                ..member!($to_u, ONE, |c, _| to_unsigned(c, FloatFormat::$format))
            },
            $(Member {
                name: concat!($name, "-to-", $other),
                summary: concat!("the number of ", $other, " next to one of ", $name),
                ..member!($ands, ONE, |c, _| one(c, FloatFormat::$format, "number", |c, format, a| {
                    c.float_convert(format, FloatFormat::$to, a)
                }))
            },)*
        )*];
    };
}

/// A member without parameters, name and summary.
macro_rules! member {
    ($ands:literal, $owners:ident, $build:expr) => {
        Member {
            name: "",
            summary: "",
            parameters: &[],
            ands: stringify!($ands),
            and_count: |_| $ands,
            build: Build::Component { owners: $owners, build: $build },
        }
    };
}

const ONE: &[Party] = &[Party(0)];
const TWO: &[Party] = &[Party(0), Party(1)];
const THREE: &[Party] = &[Party(0), Party(1), Party(1)];

members! {
    "f16" F16: add 292 sub 292 mul 524 div 521 sqrt 204 fma 1054 compare 75
        from_i64 661 from_u64 684 to_i64 405 to_u64 456,
        "bf16" BF16 138, "f32" F32 130, "f64" F64 145;
    "bf16" BF16: add 286 sub 286 mul 400 div 407 sqrt 158 fma 756 compare 81
        from_i64 657 from_u64 693 to_i64 420 to_u64 483,
        "f16" F16 162, "f32" F32 64, "f64" F64 118;
    "f32" F32: add 613 sub 613 mul 1606 div 1427 sqrt 591 fma 2757 compare 145
        from_i64 673 from_u64 709 to_i64 542 to_u64 605,
        "f16" F16 190, "bf16" BF16 93, "f64" F64 263;
    "f64" F64: add 1324 sub 1324 mul 5246 div 4805 sqrt 2120 fma 7836 compare 279
        from_i64 708 from_u64 731 to_i64 713 to_u64 778,
        "f16" F16 241, "bf16" BF16 235, "f32" F32 373;
}

fn number(c: &mut CircuitBuilder, name: &str, format: FloatFormat) -> Unsigned {
    c.input(name, Type::Unsigned(format.width() as u32))
}

fn one(
    mut c: CircuitBuilder,
    format: FloatFormat,
    output: &str,
    operation: fn(&mut CircuitBuilder, FloatFormat, &Unsigned) -> Unsigned,
) -> Result<Component, CircuitError> {
    let a = number(&mut c, "a", format);
    let result = operation(&mut c, format, &a);
    c.output(output, &result);
    c.finish()
}

fn two(
    mut c: CircuitBuilder,
    format: FloatFormat,
    output: &str,
    operation: fn(&mut CircuitBuilder, FloatFormat, &Unsigned, &Unsigned) -> Unsigned,
) -> Result<Component, CircuitError> {
    let (a, b) = (number(&mut c, "a", format), number(&mut c, "b", format));
    let result = operation(&mut c, format, &a, &b);
    c.output(output, &result);
    c.finish()
}

fn fused(mut c: CircuitBuilder, format: FloatFormat) -> Result<Component, CircuitError> {
    let [x, y, z] = ["a", "b", "c"].map(|name| number(&mut c, name, format));
    let result = c.float_mul_add(format, &x, &y, &z);
    c.output("result", &result);
    c.finish()
}

fn compare(mut c: CircuitBuilder, format: FloatFormat) -> Result<Component, CircuitError> {
    let (a, b) = (number(&mut c, "a", format), number(&mut c, "b", format));
    let bits = c.float_compare(format, &a, &b);
    for (name, bit) in ["less", "equal", "unordered"].into_iter().zip(bits) {
        c.output(name, &bit);
    }
    c.finish()
}

fn from_integer<I: Integer>(mut c: CircuitBuilder, format: FloatFormat, ty: Type) -> Result<Component, CircuitError> {
    let integer: I = c.input("a", ty);
    let wide = integer.width() + usize::from(!I::SIGNED);
    let integer = Signed::new(integer.resize(wide).bits().to_vec());
    let result = c.float_from_int(format, &integer);
    c.output("number", &result);
    c.finish()
}

fn to_signed(mut c: CircuitBuilder, format: FloatFormat) -> Result<Component, CircuitError> {
    let a = number(&mut c, "a", format);
    let integer = c.float_to_int(format, &a, 64);
    c.output("integer", &integer);
    c.finish()
}

/// 0 for what is less.
fn to_unsigned(mut c: CircuitBuilder, format: FloatFormat) -> Result<Component, CircuitError> {
    let a = number(&mut c, "a", format);
    let integer = c.float_to_int(format, &a, 65);
    let (&sign, magnitude) = integer.bits().split_last().expect("a sign");
    let integer = c.mask(!sign, &Unsigned::new(magnitude.to_vec()));
    c.output("integer", &integer);
    c.finish()
}
