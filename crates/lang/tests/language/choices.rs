//! Expressions that are computed otherwise than they are written: every value of eight bits, and numbers of 32 and 64 bits at
//! random, with checks and without.

use garblet_circuit::{Bits, Program, evaluate, notes::Panics};
use proptest::prelude::*;

use crate::reference::compile;

/// A source of one expression, and the value that it has, `None` if it panics; wrapped without checks.
struct Case {
    parameters: &'static str,
    result: &'static str,
    expression: &'static str,
    meaning: fn(i128, i128) -> i128,
}

impl Case {
    fn program(&self, panics: bool) -> Program {
        let text = format!("pub fn main({}) -> {} {{\n{}\n}}", self.parameters, self.result, self.expression);
        compile(&text, &[], panics).unwrap_or_else(|e| panic!("{}", e.render()))
    }
}

/// The bits and the sign of a type.
fn integer(ty: &str) -> (u32, bool) {
    if ty == "bool" { (1, false) } else { (ty[1..].parse().expect("bits"), ty.starts_with('i')) }
}

fn wrapped(value: i128, ty: &str) -> i128 {
    let (bits, signed) = integer(ty);
    let low = value << (128 - bits);
    if signed { low >> (128 - bits) } else { (low.cast_unsigned() >> (128 - bits)).cast_signed() }
}

/// The types of the two parameters.
fn types(parameters: &str) -> [&str; 2] {
    let mut types = parameters.split(", ").map(|parameter| parameter.split_once(": ").expect("a type").1);
    [types.next().expect("two"), types.next().expect("two")]
}

/// The value of the result, and the place of the panic.
fn run(program: &Program, case: &Case, inputs: [i128; 2]) -> (i128, Option<String>) {
    let bits = |(value, ty): (i128, &str)| (0..integer(ty).0).map(|at| value >> at & 1 == 1).collect::<Bits>();
    let [a, b] = types(case.parameters);
    let outputs = evaluate(program, &[(inputs[0], a), (inputs[1], b)].map(bits));
    let value = outputs[0].to_u128().expect("128 bits at most").cast_signed();
    let place = match &program.notes().panics {
        Some(Panics::On { output: Some(at), places }) => {
            let code = outputs[*at].to_u128().expect("a code") as usize;
            code.checked_sub(1).map(|at| places[at].clone())
        }
        _ => None,
    };
    (wrapped(value, case.result), place)
}

fn check(case: &Case, programs: &[Program; 2], inputs: [i128; 2]) {
    let what = format!("{} of {inputs:?}, {}", case.expression, case.parameters);
    let exact = (case.meaning)(inputs[0], inputs[1]);
    let value = wrapped(exact, case.result);
    assert_eq!(run(&programs[1], case, inputs), (value, None), "{what}, without checks");
    let (got, place) = run(&programs[0], case, inputs);
    match exact == value {
        true => assert_eq!((got, place), (value, None), "{what}"),
        // The line of the one operation that can panic.
        false => assert!(place.is_some_and(|place| place.contains("overflow")), "{what}: no panic"),
    }
}

const fn case(
    parameters: &'static str,
    result: &'static str,
    expression: &'static str,
    meaning: fn(i128, i128) -> i128,
) -> Case {
    Case { parameters, result, expression, meaning }
}

fn ones(a: i128, bits: u32) -> i128 {
    (0..bits).map(|k| a >> k & 1).sum()
}

/// Of eight bits, all of whose values are tried.
const SMALL: &[Case] = &[
    case("a: i8, b: bool", "i8", "if a < 0i8 { -a } else { a }", |a, _| a.abs()),
    case("a: i8, b: bool", "i8", "if a >= 0i8 { a } else { -a }", |a, _| a.abs()),
    case("a: i8, b: bool", "i8", "if b { -a } else { a }", |a, b| if b == 1 { -a } else { a }),
    case("a: i8, b: bool", "i8", "if b { a } else { -a }", |a, b| if b == 0 { -a } else { a }),
    case("a: i8, b: i8", "i16", "if b < 3i8 { -(a as i16) } else { a as i16 }", |a, b| if b < 3 { -a } else { a }),
    case("a: u8, b: u8", "u8", "if a > b { a - b } else { b - a }", |a, b| (a - b).abs()),
    case("a: u8, b: u8", "u8", "if a < b { b - a } else { a - b }", |a, b| (a - b).abs()),
    case("a: u8, b: u8", "u8", "if a >= b { a - b } else { b - a }", |a, b| (a - b).abs()),
    case("a: u8, b: u8", "u8", "if a > b { b - a } else { a - b }", |a, b| -(a - b).abs()),
    case("a: i8, b: i8", "i8", "if a > b { a - b } else { b - a }", |a, b| (a - b).abs()),
    case("a: i8, b: i8", "i16", "if a <= b { b as i16 - a as i16 } else { a as i16 - b as i16 }", |a, b| (a - b).abs()),
    case("a: u8, b: bool", "u8", "if b { a + 1u8 } else { a }", |a, b| a + b),
    case("a: u8, b: bool", "u8", "if b { a } else { 1u8 + a }", |a, b| a + 1 - b),
    case("a: u8, b: bool", "u8", "if b { a - 1u8 } else { a }", |a, b| a - b),
    case("a: u8, b: bool", "u8", "if b { a + 201u8 } else { a }", |a, b| a + 201 * b),
    case("a: i8, b: bool", "i8", "if b { a - 100i8 } else { a }", |a, b| a - 100 * b),
    case("a: i8, b: bool", "i8", "if b { a + -77i8 } else { a }", |a, b| a - 77 * b),
    case("a: u8, b: u8", "u16", "if a < b { (a as u16) + 300u16 } else { a as u16 }", |a, b| {
        a + if a < b { 300 } else { 0 }
    }),
    case(
        "a: u8, b: u8",
        "u16",
        "let c = (b & 7u8) as u16;\nlet mut s = a as u16 + c;\nif a > b { s = s - 2u16; }\ns",
        |a, b| a + (b & 7) - if a > b { 2 } else { 0 },
    ),
    case(
        "a: u8, b: u8",
        "u8",
        "match b {\n0u8 => a,\n1u8 => a + 1u8,\n2u8..=9u8 => a - 3u8,\n_ => a\n}",
        |a, b| match b {
            1 => a + 1,
            2..=9 => a - 3,
            _ => a,
        },
    ),
    case(
        "a: u8, b: u8",
        "u16",
        "let mut s = a as u16;\nlet mut t = 0u16;\nif b > 9u8 { s = s + 5u16; t = s * 3u16; }\ns ^ t",
        |a, b| {
            if b > 9 { (a + 5) ^ ((a + 5) * 3) } else { a }
        },
    ),
    case("a: u8, b: u8", "u8", "if a > 9u8 { if b > 7u8 { a - 1u8 } else { a } } else { a }", |a, b| {
        if a > 9 && b > 7 { a - 1 } else { a }
    }),
    case("a: i8, b: bool", "i8", "a / 8i8", |a, _| a / 8),
    case("a: i8, b: bool", "i8", "a / -8i8", |a, _| a / -8),
    case("a: i8, b: bool", "i8", "a / 64i8", |a, _| a / 64),
    case("a: i8, b: bool", "i8", "a / -128i8", |a, _| a / -128),
    case("a: i8, b: bool", "i8", "a / -1i8", |a, _| -a),
    case("a: i8, b: bool", "i8", "a % 8i8", |a, _| a % 8),
    case("a: i8, b: bool", "i8", "a % -16i8", |a, _| a % -16),
    case("a: i8, b: bool", "i8", "a % 2i8", |a, _| a % 2),
    case("a: i8, b: bool", "i16", "(a as i16) / 4i16", |a, _| a / 4),
    case("a: u8, b: bool", "u8", "a * 3u8", |a, _| a * 3),
    case("a: u8, b: bool", "u8", "a * 7u8", |a, _| a * 7),
    case("a: u8, b: bool", "u8", "85u8 * a", |a, _| a * 85),
    case("a: u8, b: bool", "u8", "a * 128u8", |a, _| a * 128),
    case("a: i8, b: bool", "i8", "a * 7i8", |a, _| a * 7),
    case("a: i8, b: bool", "i8", "a * -3i8", |a, _| a * -3),
    case("a: i8, b: bool", "i8", "a * -128i8", |a, _| a * -128),
    case("a: i8, b: bool", "i8", "a * -1i8", |a, _| -a),
    case("a: i8, b: bool", "i8", "a * 127i8", |a, _| a * 127),
    case("a: u8, b: bool", "u32", "(a as u32) * 255u32", |a, _| a * 255),
    case("a: i8, b: bool", "i32", "(a as i32) * -21845i32", |a, _| a * -21845),
    case("a: u8, b: bool", "u8", "((a as u32) * 85u32) as u8", |a, _| (a * 85) & 255),
    case(
        "a: u8, b: u8",
        "u8",
        "let mut s = 0u8;\nfor k in 0usize..8usize { s = s + ((a >> (k as u8)) & 1u8); }\ns",
        |a, _| ones(a, 8),
    ),
    case(
        "a: u8, b: u8",
        "u16",
        "let mut s = b as u16;\nfor k in 0usize..8usize { s = s + (((a >> (k as u8)) & 1u8) as u16); }\ns",
        |a, b| b + ones(a, 8),
    ),
    case("a: u8, b: u8", "u16", "a as u16 + b as u16 + (a & 3u8) as u16 + 9u16 + (b >> 1u8) as u16", |a, b| {
        a + b + (a & 3) + 9 + (b >> 1)
    }),
    case("a: u8, b: u8", "u8", "a + b + 7u8 + a", |a, b| a + b + 7 + a),
];

#[test]
fn every_value_of_eight_bits() {
    for case in SMALL {
        let programs = [true, false].map(|panics| case.program(panics));
        let range = |ty: &str| {
            let (bits, signed) = integer(ty);
            let least = if signed { -(1i128 << (bits - 1)) } else { 0 };
            least..least + (1 << bits)
        };
        let [a, b] = types(case.parameters).map(range);
        a.flat_map(|a| b.clone().map(move |b| [a, b])).for_each(|inputs| check(case, &programs, inputs));
    }
}

/// Of more bits.
const LARGE: &[Case] = &[
    case("a: i32, b: bool", "i32", "if a < 0i32 { -a } else { a }", |a, _| a.abs()),
    case("a: u32, b: u32", "u32", "if a > b { a - b } else { b - a }", |a, b| (a - b).abs()),
    case("a: i64, b: i64", "i64", "if a > b { a - b } else { b - a }", |a, b| (a - b).abs()),
    case("a: i64, b: bool", "i64", "if b { a - 1000000007i64 } else { a }", |a, b| a - 1_000_000_007 * b),
    case("a: u64, b: bool", "u64", "if b { a + 1u64 } else { a }", |a, b| a + b),
    case("a: i32, b: bool", "i32", "a / 8i32", |a, _| a / 8),
    case("a: i64, b: bool", "i64", "a % -4294967296i64", |a, _| a % -4_294_967_296),
    case("a: u32, b: bool", "u64", "(a as u64) * 255u64", |a, _| a * 255),
    case("a: u32, b: bool", "u64", "(a as u64) * 1431655765u64", |a, _| a * 0x5555_5555),
    case("a: u32, b: bool", "u32", "a * 1000003u32", |a, _| a * 1_000_003),
    case("a: i64, b: bool", "i64", "a * -6700417i64", |a, _| a * -6_700_417),
    case("a: u64, b: bool", "u64", "a * 9223372036854775783u64", |a, _| a * 9_223_372_036_854_775_783),
    case(
        "a: u64, b: u64",
        "u8",
        "let mut s = 0u8;\nfor k in 0usize..64usize { s = s + (((a >> (k as u8)) & 1u64) as u8); }\ns",
        |a, _| ones(a, 64),
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn wider_numbers(a: u64, b: u64, shifts in (0u32..64, 0u32..64), negate: bool, close: bool) {
        let (a, b) = (a >> shifts.0, b >> shifts.1);
        let a = i128::from(if negate { a.wrapping_neg() } else { a });
        let b = if close { a ^ i128::from(b & 3) } else { i128::from(b) };
        for case in LARGE {
            let programs = [true, false].map(|panics| case.program(panics));
            let [first, second] = types(case.parameters);
            check(case, &programs, [wrapped(a, first), wrapped(b, second)]);
        }
    }
}

#[test]
fn the_line_of_the_panic_is_that_of_the_source() {
    let text = "pub fn main(a: i8, b: bool) -> i8 {\n  let mut s = a;\n  if b {\n    s = s + 100i8;\n  }\n  if s < 0i8 {\n    s = -s;\n  }\n  s\n}";
    let program = compile(text, &[], true).unwrap_or_else(|e| panic!("{}", e.render()));
    let case = case("a: i8, b: bool", "i8", "", |a, _| a);
    for (inputs, line) in
        [([100, 1], Some(4)), ([-128, 0], Some(7)), ([-128, 1], None), ([100, 0], None), ([27, 1], None)]
    {
        let (_, place) = run(&program, &case, inputs);
        let expected = line.map(|line| format!("main.garble.rs:{line}:"));
        let is_right = match (&place, &expected) {
            (Some(place), Some(expected)) => place.starts_with(expected),
            (place, expected) => place.is_none() && expected.is_none(),
        };
        assert!(is_right, "{inputs:?}: {place:?}, expected {expected:?}");
    }
}

#[test]
fn the_gates_are_those_of_the_shorter_way() {
    let mut more = Vec::new();
    for (parameters, result, expression, most) in [
        ("a: u32, b: u32", "u64", "(a as u64) * 255u64", [39, 39]),
        ("a: u32, b: u32", "u64", "(a as u64) * 0x55555555u64", [150, 150]),
        ("a: u32, b: u32", "u32", "((a as u64) * 7u64) as u32", [59, 30]),
        ("a: i32, b: i32", "i32", "if a < 0i32 { -a } else { a }", [32, 32]),
        ("a: u32, b: u32", "u32", "if a > b { a - b } else { b - a }", [63, 63]),
        ("a: i32, b: i32", "i32", "a / 8i32", [32, 32]),
        ("a: u32, b: bool", "u32", "if b { a + 1u32 } else { a }", [32, 32]),
        (
            "a: u32, b: u32",
            "u8",
            "{ let mut s = 0u8; for k in 0usize..32usize { s = s + (((a >> (k as u8)) & 1u32) as u8); } s }",
            [31, 31],
        ),
        (
            "a: u64, b: u32",
            "u8",
            "{ let mut s = 0u8; for k in 0usize..64usize { s = s + (((a >> (k as u8)) & 1u64) as u8); } s }",
            [63, 63],
        ),
        (
            "a: (u32, u32), b: u32",
            "(u32, u32)",
            "((a.0 & a.1) ^ (!a.0 & b), (a.0 & a.1) ^ (a.0 & b) ^ (a.1 & b))",
            [64, 64],
        ),
    ] {
        let text = format!("pub fn main({parameters}) -> {result} {{ {expression} }}");
        let ands = [true, false]
            .map(|panics| compile(&text, &[], panics).unwrap_or_else(|e| panic!("{}", e.render())).stats().and);
        println!("{ands:?} of {most:?}: {expression}");
        if ands[0] > most[0] || ands[1] > most[1] {
            more.push(expression);
        }
    }
    assert!(more.is_empty(), "more than there must be: {more:?}");
}
