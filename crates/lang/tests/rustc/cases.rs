//! Programs that once meant something else than to rustc, each with the answer of rustc 1.95 (edition 2021, overflow checks on).

use crate::{
    compare::{Outcome, compare, run},
    oracle::{Run, Source, Verdict, verdicts},
    tree::{INTS, Input},
};

/// A name, a source, constants of parties, and for each run the arguments and the answer: a value, a panic as `line: reason`, or
/// `refused`.
type Case =
    (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    (
        "a limit beyond 32 bits",
        "pub fn main(a: u64, b: u64) -> bool { let limit = 5000000000; a + b > limit }",
        &[],
        &[("1000000000u64, 1u64", "false"), ("5000000000u64, 1u64", "true")],
    ),
    (
        "a variable that becomes a u64",
        "pub fn main(a: u64, b: u64) -> u64 { let k = 5000000000; let y: u64 = k; (a & b) ^ y }",
        &[],
        &[("1u64, 2u64", "5000000000")],
    ),
    (
        "an argument",
        "fn f(x: u64) -> u64 { x ^ 1u64 }\npub fn main(a: u64, b: u64) -> u64 { let k = 5000000000; f(k) ^ a ^ b }",
        &[],
        &[("1u64, 2u64", "5000000002")],
    ),
    (
        "an element",
        "pub fn main(a: u64, b: u64) -> u64 { let t = [5000000000, 6000000000]; t[0] ^ a ^ b }",
        &[],
        &[("1u64, 2u64", "5000000003")],
    ),
    (
        "all ones",
        "pub fn main(a: u64, b: u64) -> u64 { let mask = !0; (a & mask) ^ b }",
        &[],
        &[("9223372036854775813u64, 1099511627776u64", "9223373136366403589")],
    ),
    (
        "shifts",
        "pub fn main(a: u64, b: u64) -> u64 { let k = 1 << 31; let m = k << 1; (a & m) ^ b }",
        &[],
        &[("8589934591u64, 0u64", "4294967296")],
    ),
    (
        "a sum that overflows",
        "pub fn main(a: u16, b: u16) -> u16 { let k = 60000; let m = k + 10000; (a & m) ^ b }",
        &[],
        &[("65535u16, 3u16", "1: arithmetic overflow")],
    ),
    (
        "a choice that overflows",
        "pub fn main(a: u8, b: u8) -> u8 { let k = if a > b { 200 } else { 100 }; let m = k + 100; m ^ b }",
        &[],
        &[("9u8, 3u8", "1: arithmetic overflow"), ("3u8, 9u8", "193")],
    ),
    (
        "a number that is no u8",
        "pub fn main(a: u8, b: u8) -> (bool, u8, u16) { let k = 300; let y: u8 = k; (y > 255u8, y ^ a, (y as u16) ^ (b as u16)) }",
        &[],
        &[("1u8, 2u8", "refused")],
    ),
    (
        "a comparison of two numbers",
        "pub fn main(a: u8, b: u8) -> bool { 5000000000 > 3000000000 }",
        &[],
        &[("1u8, 2u8", "refused")],
    ),
    (
        "an operand of a conversion",
        "pub fn main(a: u8, b: u8) -> u64 { (5000000000 | 1) as u64 }",
        &[],
        &[("1u8, 2u8", "refused")],
    ),
    (
        "a constant in a pattern",
        "const LIMIT: u8 = 5u8;\npub fn main(a: u8, b: u8) -> u8 { match a { LIMIT => 1u8, _ => b } }",
        &[],
        &[("0u8, 99u8", "99"), ("5u8, 99u8", "1")],
    ),
    (
        "a variable of a constant's name",
        "const N: usize = 3usize;\npub fn main(a: u8, b: u8) -> u8 { let N = 5usize; let mut s = b; for i in 0usize..N { s = s + a; } s }",
        &[],
        &[("2u8, 1u8", "refused")],
    ),
    (
        "a constant that overflows",
        "const N: u8 = 200u8 + 100u8;\npub fn main(a: u32, b: u32) -> u8 { N }",
        &[],
        &[("1u32, 2u32", "refused")],
    ),
    (
        "a constant of a party that overflows",
        "const LIMIT: u16 = PARTY_0::LIMIT + 1u16;\npub fn main(a: u16, b: u16) -> bool { a < LIMIT && b < LIMIT }",
        &[("PARTY_0::LIMIT", "65535")],
        &[("3u16, 4u16", "refused")],
    ),
    (
        "an index that the value changes",
        "pub fn main(x: u8, y: u8) -> [u8; 3] { let mut a = [0u8; 3]; let mut i = 0usize; a[i] = { i = 2usize; x }; a[1] = y; a }",
        &[],
        &[("7u8, 1u8", "[0, 1, 7]")],
    ),
    (
        "a sum whose operand changes the variable",
        "pub fn main(x: u8, y: u8) -> u8 { let mut v = x; v += { v = 100u8; y }; v }",
        &[],
        &[("1u8, 2u8", "102")],
    ),
    (
        "fields in another order",
        "struct S { b: u8, a: u8 }\npub fn main(x: u8, y: u8) -> (u8, u8) { let mut c = x; let s = S { b: { c += 1u8; c }, a: { c *= 2u8; c } }; (s.a, s.b + (y & 0u8)) }",
        &[],
        &[("3u8, 0u8", "(8, 4)")],
    ),
    ("chained comparisons", "pub fn main(a: u8, b: bool) -> bool { a < 5u8 == b }", &[], &[("3u8, true", "refused")]),
    ("a value thrown away", "pub fn main(a: u8, b: u8) -> u8 { a + b; }", &[], &[("3u8, 4u8", "refused")]),
    (
        "branches without a value",
        "pub fn main(a: u8, b: u8) -> u8 { if a > b { a; } else { b; } }",
        &[],
        &[("3u8, 4u8", "refused")],
    ),
    (
        "an empty range",
        "const N: usize = 0;\npub fn main(a: u8, b: u8) -> u8 { let mut s = a; for i in 0..N { s += b; } s }",
        &[],
        &[("3u8, 4u8", "3")],
    ),
    (
        "fields of a variant in another order",
        "enum E { A { x: u8, y: u16 }, B }\npub fn main(a: u8, b: u16) -> (u8, u16) { let e = E::A { y: b | 256, x: a }; match e { E::A { y, x } => (x, y), E::B => (0, 300) } }",
        &[],
        &[("3u8, 5u16", "(3, 261)")],
    ),
    (
        "a party's constant with a sign",
        "const K0: i32 = -PARTY_0::K0;\npub fn main(a: i32, b: u8) -> i32 { a + K0 }",
        &[("PARTY_0::K0", "2147483646")],
        &[("0i32, 1u8", "-2147483646"), ("-3i32, 1u8", "2: arithmetic overflow")],
    ),
    (
        "a constant's complement",
        "const K1: i128 = !1;\nconst K2: u16 = !PARTY_0::K2;\npub fn main(a: u8, b: u8) -> (i128, u16) { (K1, K2) }",
        &[("PARTY_0::K2", "7")],
        &[("0u8, 1u8", "(-2, 65528)")],
    ),
    (
        "a party's usize beyond 32 bits",
        "const K0: usize = PARTY_0::K0;\npub fn main(a: u8, b: u8) -> u8 { a ^ b }",
        &[("PARTY_0::K0", "9223372036854775807")],
        &[("3u8, 1u8", "2")],
    ),
    (
        "the least number, negated twice",
        "pub fn main(a: i32, b: u8) -> i32 { if b > 9 { --2147483648 } else { a } }",
        &[],
        &[("3i32, 1u8", "refused")],
    ),
    (
        "the least constant, negated twice",
        "const K0: i32 = --2147483648;\npub fn main(a: i32, b: u8) -> i32 { a & K0 }",
        &[],
        &[("3i32, 1u8", "refused")],
    ),
    ("a Boolean of a number", "pub fn main(a: u8, b: u8) -> bool { (a & b) as bool }", &[], &[("3u8, 1u8", "refused")]),
];

fn input(text: &str) -> Input {
    match text {
        "true" | "false" => Input::Bool(text == "true"),
        _ => {
            let int = INTS.into_iter().find(|int| text.ends_with(int.name)).expect("a type");
            let number: i128 = text.trim_end_matches(int.name).parse().expect("a number");
            Input::Int(int, number as u128 & u128::MAX >> (128 - int.bits))
        }
    }
}

#[test]
fn known_programs_mean_what_they_mean_to_rustc() {
    let sources: Vec<Source> = CASES
        .iter()
        .map(|(_, text, given, runs)| Source {
            text: (*text).into(),
            given: given.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            inputs: runs.iter().map(|(arguments, _)| vec![arguments.to_string()]).collect(),
        })
        .collect();
    let mut wrong = Vec::new();
    for (((name, text, _, runs), source), verdict) in CASES.iter().zip(&sources).zip(verdicts(&sources)) {
        let theirs: Vec<String> = match &verdict {
            Verdict::Refused(..) => vec!["refused".into()],
            Verdict::Endless => vec!["endless".into()],
            Verdict::Runs(runs, _) => runs
                .iter()
                .map(|run| match run {
                    Run::Value(value) => value.clone(),
                    Run::Panic(line, reason) => format!("{line}: {reason}"),
                })
                .collect(),
        };
        let expected: Vec<&str> = runs.iter().map(|(_, expected)| *expected).collect();
        assert_eq!(theirs, expected, "rustc of {name}");
        let inputs: Vec<Vec<Input>> =
            runs.iter().map(|(arguments, _)| arguments.split(", ").map(input).collect()).collect();
        if let Outcome::Wrong(kind, both) = compare(&run(text, &source.given, &inputs), &verdict) {
            wrong.push(format!("{name}: {kind}\n{text}\n{both}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
