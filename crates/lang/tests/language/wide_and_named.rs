//! Integers of 128 bits, and variants whose fields have names.

use garblet_circuit::{Bits, Program, evaluate};
use garblet_formats::value::{read_inputs, to_json};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

use crate::reference::compile;

fn program(text: &str, panics: bool) -> Program {
    compile(text, &[], panics).unwrap_or_else(|e| panic!("{}\n{text}", e.render()))
}

/// The outputs of a program as JSON, on inputs of parties in JSON.
fn run(text: &str, inputs: &[&str]) -> Vec<String> {
    let program = program(text, true);
    let mut values = Vec::new();
    for (party, input) in inputs.iter().enumerate() {
        let read = read_inputs(&program, garblet_circuit::Party(party as u16), "i.json", input);
        values.extend(read.unwrap_or_else(|e| panic!("{e}")).into_iter().map(|(_, bits)| bits));
    }
    let outputs = evaluate(&program, &values);
    program.outputs().iter().zip(&outputs).map(|(output, bits)| to_json(&output.port.ty, bits).to_string()).collect()
}

fn number(rng: &mut TestRng) -> u128 {
    let any = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
    match rng.next_u32() % 6 {
        0 => any >> 120,
        1 => u128::MAX - (any >> 126),
        2 => (1 << 127) + (any >> 126),
        3 => ((1u128 << 127) - 1) - (any >> 126),
        4 => any >> 64,
        _ => any,
    }
}

/// The result of a run that does not panic.
fn result(program: &Program, inputs: &[u128]) -> Option<u128> {
    let inputs: Vec<Bits> =
        inputs.iter().zip(program.inputs()).map(|(&x, i)| Bits::from_u128(x, i.port.width() as usize)).collect();
    let outputs = evaluate(program, &inputs);
    let panicked = outputs.get(1).is_some_and(|code| code.to_u128() != Some(0));
    if panicked { None } else { outputs[0].to_u128() }
}

#[test]
fn arithmetic_of_128_bits_is_that_of_rust() {
    type Unsigned = fn(u128, u128) -> Option<u128>;
    type Signed = fn(i128, i128) -> Option<i128>;
    let unsigned: [(&str, Unsigned); 8] = [
        ("a + b", u128::checked_add),
        ("a - b", u128::checked_sub),
        ("a * b", u128::checked_mul),
        ("a / b", u128::checked_div),
        ("a % b", u128::checked_rem),
        ("a ^ b & !a | b", |a, b| Some(a ^ (b & !a) | b)),
        ("a << (b as u8)", |a, b| a.checked_shl(u32::from(b as u8))),
        ("if a < b { a } else { b + 0u128 }", |a, b| Some(a.min(b))),
    ];
    let signed: [(&str, Signed); 7] = [
        ("a + b", i128::checked_add),
        ("a - b", i128::checked_sub),
        ("a * (b >> 70u8)", |a, b| a.checked_mul(b >> 70)),
        ("a / b", i128::checked_div),
        ("a % b", i128::checked_rem),
        ("a >> (b as u8)", |a, b| a.checked_shr(u32::from(b as u8))),
        ("if a < b { -a } else { b }", |a, b| if a < b { a.checked_neg() } else { Some(b) }),
    ];
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    for (expression, expected) in unsigned {
        let program = program(&format!("pub fn main(a: u128, b: u128) -> u128 {{ {expression} }}"), true);
        for _ in 0..100 {
            let (a, b) = (number(&mut rng), number(&mut rng));
            assert_eq!(result(&program, &[a, b]), expected(a, b), "{expression} of {a} and {b}");
        }
    }
    for (expression, expected) in signed {
        let program = program(&format!("pub fn main(a: i128, b: i128) -> i128 {{ {expression} }}"), true);
        for _ in 0..100 {
            let (a, b) = (number(&mut rng), number(&mut rng));
            let expected = expected(a as i128, b as i128).map(|x| x as u128);
            assert_eq!(result(&program, &[a, b]), expected, "{expression} of {} and {}", a as i128, b as i128);
        }
    }
}

#[test]
fn derives_change_nothing() {
    let plain = "struct P { x: u8, y: u8 }\nenum E { A, B(u8) }\npub fn main(a: u8, b: u8) -> u8 {
        let (p, e) = (P { x: a, y: b }, E::B(a)); p.x ^ p.y ^ match e { E::A => 1, E::B(c) => c } }";
    let derived = plain.replace("struct", "#[derive(Clone, Copy, PartialEq,)]\n#[derive(Debug)]\nstruct");
    let derived = derived.replace("enum", "#[derive()] pub enum");
    let digest = |text: &str| compile(text, &[], true).expect("a program").digest();
    assert_eq!(digest(&derived), digest(plain));
    for wrong in
        ["#[derive(Clone)]\npub fn", "#[derive]\nstruct Q { x: u8 }\npub fn", "#[derive(Clone)]\n#[hex]\npub fn"]
    {
        let error = compile(&plain.replace("pub fn", wrong), &[], true).expect_err("it is for types");
        assert!(error.to_string().contains("expected"), "{error}");
    }
}

#[test]
fn known_products_of_256_bits_wrap() {
    let product =
        |panics| compile("pub fn main(a: u128, b: u8) -> u128 { let m = u128::MAX; m * (m - 1u128) ^ a }", &[], panics);
    assert_eq!(result(&product(false).expect("a program"), &[0, 0]), Some(u128::MAX.wrapping_mul(u128::MAX - 1)));
    assert!(product(true).expect_err("an error").to_string().contains("arithmetic overflow"));
}

#[test]
fn literals_casts_patterns_and_json_of_128_bits() {
    let text = "const M: u128 = 0xffff_ffff_ffff_ffff_ffff;
        const N: i128 = PARTY_0::N;
        pub fn main(a: u128, b: i128) -> (u128, i128, bool, u8, i64, u128) {
            let kind = match a {
                340282366920938463463374607431768211455 => 1u8,
                18446744073709551616..=36893488147419103231u128 => 2u8,
                _ => 3u8,
            };
            let sum = b + N;
            (a ^ M, sum, a > 5_000_000_000_000_000_000_000, kind, b as i64, (b as u128) >> 1u8)
        }";
    let compiled = compile(text, &[("PARTY_0::N", "-170141183460469231731687303715884105727")], true);
    let program = compiled.unwrap_or_else(|e| panic!("{}", e.render()));
    let shown = |a: &str, b: &str| {
        let read = |party: u16, text: &str| {
            read_inputs(&program, garblet_circuit::Party(party), "i.json", text).expect("inputs").remove(0).1
        };
        let outputs = evaluate(&program, &[read(0, a), read(1, b)]);
        let values = program.outputs().iter().zip(&outputs);
        values.map(|(output, bits)| to_json(&output.port.ty, bits).to_string()).collect::<Vec<_>>().join(" ")
    };
    let most = u128::MAX;
    // As a number and as a string.
    assert_eq!(
        shown(&format!("{{\"a\": {most}}}"), r#"{"b": "-1"}"#),
        format!(
            "\"{}\" \"-170141183460469231731687303715884105728\" true 1 \"-1\" \"{}\" 0",
            most ^ 0xffff_ffff_ffff_ffff_ffff,
            most >> 1
        )
    );
    assert_eq!(
        shown(r#"{"a": "18446744073709551617"}"#, r#"{"b": 170141183460469231731687303715884105727}"#),
        format!(
            "\"{}\" \"0\" false 2 \"-1\" \"85070591730234615865843651857942052863\" 0",
            0xffff_ffff_ffff_ffff_ffffu128 ^ 18_446_744_073_709_551_617
        )
    );
    // The sum panics: it is the one output more.
    assert!(shown(r#"{"a": 0}"#, r#"{"b": -2}"#).ends_with(" 1"));
}

const SHAPE: &str = "enum Shape { Dot, Square(u8), Box { width: u8, height: u8 }, Named { name: (u8, bool) } }\n";

#[test]
fn variants_have_named_fields() {
    let area = format!(
        "{SHAPE}pub fn main(s: Shape, k: u16) -> (u16, Shape) {{
            let area = match s {{
                Shape::Dot => 0u16,
                Shape::Square(a) => (a as u16) * (a as u16),
                Shape::Box {{ height, width: 1..=9 }} => height as u16,
                Shape::Box {{ height: h, width }} => (h as u16) * (width as u16) + k,
                Shape::Named {{ name: (x, true), .. }} => x as u16,
                Shape::Named {{ .. }} => 7u16,
            }};
            let height = area as u8;
            (area, if area > 100u16 {{ Shape::Box {{ width: 3u8, height }} }} else {{ s }})
        }}"
    );
    for (shape, area_of, result) in [
        (r#""Dot""#, "0", r#""Dot""#),
        (r#"{"Square": 11}"#, "121", r#"{"Box":{"height":121,"width":3}}"#),
        (r#"{"Box": {"width": 9, "height": 12}}"#, "12", r#"{"Box":{"height":12,"width":9}}"#),
        (r#"{"Box": {"width": 10, "height": 12}}"#, "125", r#"{"Box":{"height":125,"width":3}}"#),
        (r#"{"Named": {"name": [9, true]}}"#, "9", r#"{"Named":{"name":[9,true]}}"#),
        (r#"{"Named": {"name": [9, false]}}"#, "7", r#"{"Named":{"name":[9,false]}}"#),
    ] {
        let shown = run(&area, &[&format!("{{\"s\": {shape}}}"), r#"{"k": 5}"#]);
        assert_eq!(shown[..2], [area_of, result], "{shape}");
    }
}

#[test]
fn named_fields_cost_what_others_cost() {
    let text = |fields: &str, pattern: &str| {
        format!(
            "enum E {{ A{fields}, B }} pub fn main(e: E, k: u8) -> u16 {{ match e {{ E::A{pattern} => (x as u16) * (y as u16), E::B => k as u16 }} }}"
        )
    };
    let named = program(&text(" { x: u8, y: u8 }", " { x, y }"), true);
    let tuple = program(&text("(u8, u8)", "(x, y)"), true);
    assert_eq!(named.stats().and, tuple.stats().and);
    // Conditions end before a brace.
    let loose =
        format!("{SHAPE}pub fn main(s: Shape, t: Shape) -> bool {{ if s == Shape::Dot {{ true }} else {{ s == t }} }}");
    assert!(program(&loose, true).stats().and > 0);
}
