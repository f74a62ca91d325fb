//! Floating-point numbers, whose oracle is Rust.

use garblet_circuit::{Bits, Program, evaluate};
use garblet_formats::value::read_value;

use crate::reference::compile;

/// Numbers at which formats and roundings change: zeros, subnormal, middles, infinities, NaN.
const EDGES: [u64; 24] = [
    0,
    1 << 63,
    1,
    1 << 63 | 1,
    (1 << 52) - 1,
    1 << 52,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3fe0_0000_0000_0001,
    0x4330_0000_0000_0001,
    0x41df_ffff_ffc0_0000,
    0xc1e0_0000_0000_0000,
    0x406f_f000_0000_0000,
    0x43e0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x47ef_ffff_f000_0000,
    0x36a0_0000_0000_0000,
    0x3ff0_0000_1000_0000,
];

fn program(text: &str) -> Program {
    compile(text, &[], true).unwrap_or_else(|e| panic!("{text}: {}", e.render()))
}

fn refused(text: &str) -> String {
    let error = compile(text, &[], true).err().unwrap_or_else(|| panic!("{text} is accepted"));
    error.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}

fn of(program: &Program, inputs: [u64; 2]) -> u128 {
    let bits: Vec<Bits> = (program.inputs().iter().zip(inputs))
        .map(|(input, value)| Bits::from_u128(value.into(), input.port.ty.width() as usize))
        .collect();
    evaluate(program, &bits)[0].to_u128().unwrap()
}

/// All NaNs are one.
fn bits(number: f64) -> u128 {
    if number.is_nan() { 0x7ff8 << 48 } else { number.to_bits().into() }
}

type Operation = (&'static str, &'static str, fn(f64, f64) -> u128);

#[test]
fn operations_are_those_of_rust() {
    let operations: [Operation; 16] = [
        ("f64", "a + b", |a, b| bits(a + b)),
        ("f64", "a - b", |a, b| bits(a - b)),
        ("f64", "a * b", |a, b| bits(a * b)),
        ("f64", "a / b", |a, b| bits(a / b)),
        ("f64", "sqrt(a) + 0.0 * b", |a, b| bits(a.sqrt() + 0.0 * b)),
        ("f64", "-(a + b)", |a, b| if (a + b).is_nan() { 0xfff8 << 48 } else { bits(-(a + b)) }),
        ("bool", "a < b", |a, b| (a < b).into()),
        ("bool", "a > b", |a, b| (a > b).into()),
        ("bool", "a <= b", |a, b| (a <= b).into()),
        ("bool", "a >= b", |a, b| (a >= b).into()),
        ("bool", "a == b", |a, b| (a == b).into()),
        ("bool", "[a, 1.0] != [b, 1.0]", |a, b| ([a, 1.0] != [b, 1.0]).into()),
        ("i32", "(a + b * 0.0) as i32", |a, b| ((a + b * 0.0) as i32 as u32).into()),
        ("u8", "(b + a * 0.0) as u8", |a, b| ((b + a * 0.0) as u8).into()),
        ("f64", "(a as f32) as f64 + b", |a, b| bits(f64::from(a as f32) + b)),
        ("f64", "1.5 * a + 1e-3 * b", |a, b| bits(1.5 * a + 1e-3 * b)),
    ];
    for (result, text, expected) in operations {
        let program = program(&format!("pub fn main(a: f64, b: f64) -> {result} {{ {text} }}"));
        for (k, a) in EDGES.into_iter().enumerate() {
            for b in EDGES.into_iter().skip(k % 3).step_by(3) {
                let [x, y] = [a, b].map(f64::from_bits);
                assert_eq!(of(&program, [a, b]), expected(x, y), "{text} of {x:?} and {y:?}");
            }
        }
    }
}

#[test]
fn methods_and_constants_are_those_of_rust() {
    let operations: [Operation; 20] = [
        ("f64", "a.abs() + 0.0 * b", |a, b| bits(a.abs() + 0.0 * b)),
        ("f64", "a.sqrt()", |a, _| bits(a.sqrt())),
        ("f64", "a.mul_add(b, -1.5)", |a, b| bits(a.mul_add(b, -1.5))),
        ("f64", "b.mul_add(1e-3, a)", |a, b| bits(b.mul_add(1e-3, a))),
        ("f64", "a.copysign(b) * 1.0", |a, b| bits(a.copysign(b) * 1.0)),
        ("f64", "a.max(1.25)", |a, _| bits(a.max(1.25))),
        ("f64", "(a + b).min(-2.5)", |a, b| bits((a + b).min(-2.5))),
        ("bool", "(a - b).is_nan()", |a, b| (a - b).is_nan().into()),
        ("bool", "(a + b).is_infinite()", |a, b| (a + b).is_infinite().into()),
        ("bool", "a.is_finite() && b.is_finite()", |a, b| (a.is_finite() && b.is_finite()).into()),
        ("bool", "a.is_sign_negative() ^ b.is_sign_positive()", |a, b| {
            (a.is_sign_negative() ^ b.is_sign_positive()).into()
        }),
        ("u64", "a.to_bits() ^ b.to_bits()", |a, b| (a.to_bits() ^ b.to_bits()).into()),
        ("f64", "f64::from_bits(a.to_bits() & !1) * 1.0", |a, _| bits(f64::from_bits(a.to_bits() & !1) * 1.0)),
        ("u32", "f32::from_bits((a as f32).to_bits() & 0x7fff_ffff).to_bits() & 0x7f80_0000", |a, _| {
            ((a as f32).to_bits() & 0x7f80_0000).into()
        }),
        ("f64", "-1.5f64.abs() + (-2.25f64).abs() + 0.0 * a", |a, _| bits(-1.5f64.abs() + (-2.25f64).abs() + 0.0 * a)),
        ("f64", "a * f64::EPSILON + f64::MIN_POSITIVE", |a, _| bits(a * f64::EPSILON + f64::MIN_POSITIVE)),
        ("bool", "a < f64::MAX && b > f64::MIN", |a, b| (a < f64::MAX && b > f64::MIN).into()),
        ("bool", "a == f64::INFINITY || b == f64::NEG_INFINITY || a == f64::NAN", |a, b| {
            (a == f64::INFINITY || b == f64::NEG_INFINITY).into()
        }),
        ("f64", "K + (f32::MAX as f64) + 0.0 * a", |a, _| bits(f64::EPSILON / 2.0 + f64::from(f32::MAX) + 0.0 * a)),
        ("f64", "[a, b][(a.to_bits() as usize) & 1].abs()", |a, b| bits([a, b][(a.to_bits() & 1) as usize].abs())),
    ];
    for (result, text, expected) in operations {
        let source = "const K: f64 = f64::EPSILON / 2.0;\n";
        let program = program(&format!("{source}pub fn main(a: f64, b: f64) -> {result} {{ {text} }}"));
        for (k, a) in EDGES.into_iter().enumerate() {
            for b in EDGES.into_iter().skip(k % 3).step_by(3) {
                let [x, y] = [a, b].map(f64::from_bits);
                // The payload of a NaN is not said.
                if !(text.contains("to_bits() ^") && (x.is_nan() || y.is_nan())) {
                    assert_eq!(of(&program, [a, b]), expected(x, y), "{text} of {x:?} and {y:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_wiring_costs_nothing() {
    for (result, text) in
        [("f64", "a.abs()"), ("f64", "a.copysign(b)"), ("u64", "a.to_bits()"), ("bool", "a.is_sign_negative()")]
    {
        let program = program(&format!("pub fn main(a: f64, b: f64) -> {result} {{ {text} }}"));
        assert_eq!(program.stats().and, 0, "{text}");
    }
}

#[test]
fn integers_become_the_next_number() {
    for (ty, expected) in [
        ("i64", (|a: u64| (a as i64) as f64) as fn(u64) -> f64),
        ("u64", |a| a as f64),
        ("i8", |a| f64::from(a as u8 as i8)),
    ] {
        let program = program(&format!("pub fn main(a: {ty}, b: bool) -> f64 {{ a as f64 }}"));
        for a in EDGES {
            assert_eq!(of(&program, [a, 0]), bits(expected(a)), "{a} as {ty}");
        }
    }
}

#[test]
fn min_and_max_prefer_numbers() {
    for (name, expected) in [("min", f64::min as fn(f64, f64) -> f64), ("max", f64::max)] {
        let program = program(&format!("pub fn main(a: f64, b: f64) -> f64 {{ {name}(a, b) }}"));
        for a in EDGES {
            for b in EDGES.into_iter().filter(|b| f64::from_bits(*b) != f64::from_bits(a)) {
                let [x, y] = [a, b].map(f64::from_bits);
                assert_eq!(of(&program, [a, b]), bits(expected(x, y)), "{name} of {x:?} and {y:?}");
            }
        }
    }
}

#[test]
fn literals_and_constants_are_those_of_rust() {
    for (text, expected) in [
        ("0.1", 0.1),
        ("-0.0", -0.0),
        ("1e-3", 1e-3),
        ("2.5E+3", 2.5e3),
        ("1_0.2_5", 10.25),
        ("1f64", 1.0),
        ("1.5_f64", 1.5),
        ("5e-324", 5e-324),
        ("1e-999999999", 0.0),
        ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("(1.0 / 3.0) as f32 as f64", f64::from((1.0f64 / 3.0) as f32)),
        ("16777217.0 as f32 as f64", 16777216.0),
        ("K", 0.1 * 3.0 - 1.0 / -7.0),
    ] {
        let source = format!(
            "const K: f64 = 0.1 * 3.0 - 1.0 / -7.0;\npub fn main(a: bool, b: f64) -> f64 {{ let x = {text}; if a {{ x }} else {{ b }} }}"
        );
        assert_eq!(of(&program(&source), [1, 0]), bits(expected), "{text}");
    }
    // Nothing else decides.
    let source = "pub fn main(a: u8, b: u8) -> u8 { if 0.1 + 0.2 == 0.3 { a } else { b } }";
    assert_eq!(of(&program(source), [1, 2]), 2);
}

#[test]
fn structs_arrays_and_sizes_hold_them() {
    let source = "struct P { x: f64, y: [f32; 2] }
fn sum<const N: usize>(v: [f64; N]) -> f64 { let mut s = 0.0; for x in v { s += x; } s }
pub fn main(a: f64, b: f64) -> f64 {
    let p = P { x: a, y: [b as f32, 2.0] };
    let q = P { x: a, y: [b as f32, 2.0] };
    if p == q { sum([p.x, p.y[0] as f64, 0.25]) } else { -1.0 }
}";
    let program = program(source);
    assert_eq!(of(&program, [1.5f64.to_bits(), 2.0f64.to_bits()]), bits(3.75));
    // NaN is not equal to itself, wherever it is.
    assert_eq!(of(&program, [f64::NAN.to_bits(), 0]), bits(-1.0));
    let ty = &program.inputs()[0].port.ty;
    assert_eq!(ty.to_string(), "f64");
    assert_eq!(read_value("v.json", "1.5", ty).unwrap().to_u128(), Some(bits(1.5)));
}

#[test]
fn a_literal_that_is_converted_has_the_new_type_and_what_it_is_compared_with_does_not_decide_it() {
    for (body, expected) in
        [("let x = 0.1; let p = x < 0.2; x as f32 as f64", f64::from(0.1f32)), ("-0.1 as f64", -0.1)]
    {
        let source = format!("pub fn main(a: f64, b: f64) -> f64 {{ {body} }}");
        assert_eq!(of(&program(&source), [0, 0]), bits(expected), "{body}");
    }
    let source = "pub fn main(a: u8, b: u8) -> fixed<8, 8> { -0.5 as fixed<8, 8> }";
    assert_eq!(of(&program(source), [0, 0]), 0xff80);
}

#[test]
fn what_rust_refuses_is_refused() {
    let main = |body: &str| format!("pub fn main(a: f64, b: f64) -> f64 {{ {body} }}");
    for (body, message) in [
        ("a + 1", "incompatible types: f64 and an integer"),
        ("a % b", "f64 has no `%`"),
        ("let x = 5.5 % 2.0; a + x", "f64 has no `%`"),
        ("a + 1e999999999", "literal out of range for f64"),
        ("let x: f32 = 1e39; a", "literal out of range for f32"),
        ("a & b", "expected a bool or an integer, got f64"),
        ("if a { b } else { a }", "expected bool, got f64"),
        ("(a as bool) as u8 as f64", "f64 cannot be converted to bool"),
        ("(a < b) as f64", "bool cannot be converted to f64"),
        ("a + (b as f32)", "incompatible types: f64 and f32"),
        ("match a { _ => b }", "a value of type f64 cannot be matched"),
        ("sort([a, b])[0]", "expected a sort key that has an order"),
        ("a << 1", "expected an integer, got f64"),
        ("!a", "expected a bool or an integer, got f64"),
        ("a + 1.5f128", "expected f16, bf16, f32 or f64 as the suffix"),
        ("a.abs(b)", "expected 0 arguments, got 1"),
        ("a.mul_add(b)", "expected 2 arguments, got 1"),
        ("a.max(b as f32)", "expected f64, got f32"),
        ("a + 1.5.abs()", "the type of this number is not known here"),
        ("let x = 1.5; x.abs() + a", "the type of this number is not known here"),
        ("a + (5.max(3) as f64)", "the type of this number is not known here"),
        ("let x = 5u8; a + (x.mul_add(3, 4) as f64)", "u8 has no method `mul_add`"),
        ("let x = 5u8; a + (x.abs() as f64)", "u8 has no method `abs`"),
        ("a.wrapping_add(b)", "f64 has no method `wrapping_add`"),
        ("a + ((a < b).max(true) as u8 as f64)", "bool has no method `max`"),
        ("a.floor()", "there is no method `floor`"),
        ("f64::from_bits(a)", "expected u64, got f64"),
        ("f64::from_bits()", "expected 1 argument, got 0"),
        ("a + f64::PI", "there is no enum `f64`"),
    ] {
        let got = refused(&main(body));
        assert!(got.contains(message), "{body}: {got}");
    }
    let main = |body: &str| format!("pub fn main(a: fixed<16, 16>, b: bool) -> fixed<16, 16> {{ {body} }}");
    for (body, message) in [
        // The type of `x` is decided behind the conversion.
        ("let x = 0.5; let y = x as f64; a * x", "fixed<16, 16> cannot be converted to f64"),
        ("let x = 0.5; let z = a * x; let y = x as f64; z", "fixed<16, 16> cannot be converted to f64"),
        (
            "let mut s = 0.0; let mut t = 0.0; for x in [a] { t += s as f64; s += x; } a",
            "fixed<16, 16> cannot be converted to f64",
        ),
        // A conversion decides the type of a literal and of nothing else.
        ("let x = 0.1; x as fixed<16, 16>", "f64 cannot be converted to fixed<16, 16>"),
        ("(0.1 + 0.2) as fixed<16, 16>", "f64 cannot be converted to fixed<16, 16>"),
    ] {
        let got = refused(&main(body));
        assert!(got.contains(message), "{body}: {got}");
    }
    let main = |body: &str| format!("pub fn main(a: (u8, u8), b: u8) -> u8 {{ {body} }}");
    for field in ["1f32", "01", "0_1", "0x1"] {
        let got = refused(&main(&format!("a.{field}")));
        assert!(!got.is_empty(), "{field}");
    }
    let deep = format!("{}a{}", "-(".repeat(20_000), ")".repeat(20_000));
    assert!(!refused(&main(&deep)).is_empty());
}

#[test]
fn the_names_of_the_types_stay_free() {
    let source = "struct f64 { x: u8 }\nfn f32(a: u8) -> f64 { f64 { x: a } }\npub fn main(a: u8, b: u8) -> u8 { let f64 = f32(a); f64.x ^ b }";
    assert_eq!(of(&program(source), [5, 3]), 6);
}
