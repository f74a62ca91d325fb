//! Same results as `garble_lang`'s own evaluator, panics included.

use std::path::PathBuf;

use crate::reference::{Both, Outcome, compile};
use garblet_circuit::diagnostic::Diagnostic;
use proptest::test_runner::{RngAlgorithm, TestRng};

fn rng() -> TestRng {
    TestRng::deterministic_rng(RngAlgorithm::ChaCha)
}

/// Compares on random inputs.
fn assert_same(name: &str, text: &str) {
    let both = Both::new(text, &[]);
    for (inputs, ours, theirs) in both.run_with_inputs(64, &mut rng()) {
        match overflows_at_least(name, &inputs) {
            true => assert!(matches!(ours, Outcome::Panic(_, _, "arithmetic overflow")), "{name}: {ours:?}"),
            false => assert_eq!(ours, theirs, "{name}"),
        }
    }
}

/// Tells whether a least number is negated, or divided by -1: here that is an overflow, as in Rust. In `garble_lang` the least number is what
/// both give.
fn overflows_at_least(name: &str, inputs: &[Vec<bool>]) -> bool {
    let is_least = |bits: &Vec<bool>| bits.iter().rev().enumerate().all(|(at, bit)| *bit == (at == 0));
    match name {
        "negation" => inputs.iter().any(is_least),
        "signed quotients" => is_least(&inputs[0]) && inputs[1].iter().all(|bit| *bit),
        _ => false,
    }
}

/// Compares on random numbers below 100. `garble_lang` restores the state of an earlier check when it meets a check on the
/// same wire again, which the constant of all checks that cannot fail is, and so forgets panics between the two; there are
/// none with such numbers.
fn assert_same_on_small(name: &str, text: &str) {
    let mut both = Both::new(text, &[]);
    both.numbers_end = 100;
    for (ours, theirs) in both.run(64, &mut rng()) {
        assert_eq!(ours, theirs, "{name}");
    }
}

/// The folder of the sources that come with the pinned `garble_lang`.
fn their_folder() -> PathBuf {
    let metadata = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo metadata");
    assert!(metadata.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&metadata.stderr));
    let text = String::from_utf8(metadata.stdout).expect("UTF-8");
    let at = text.find("/garble_lang-0.7.0-alpha.1/Cargo.toml").expect("the pinned version");
    let start = text[..at].rfind('"').expect("a path") + 1;
    PathBuf::from(&text[start..at]).join("garble_lang-0.7.0-alpha.1")
}

#[test]
fn their_example_programs() {
    let folder = their_folder().join("garble_examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the examples").flatten() {
        if entry.path().extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(entry.path()).expect("an example");
            // An example whose public function has another name is compiled as if it were `main`.
            let text = match text.contains("fn main(") {
                true => text,
                false => text.replacen("pub fn compute_score(", "pub fn main(", 1),
            };
            // As in Rust, a value has no semicolon behind it.
            let text = text.replace(
                "compute_final_score(total_points, score_limits);\n}",
                "compute_final_score(total_points, score_limits)\n}",
            );
            let name = entry.path().display().to_string();
            assert_same_on_small(&name, &text);
            if !name.contains("credit_scoring") {
                assert_same(&name, &text);
            }
            count += 1;
        }
    }
    assert!(count >= 3, "{count} examples");
}

#[test]
fn their_erroneous_examples_are_refused_with_a_place() {
    let folder = their_folder().join("garble_examples/error_examples");
    let mut warned = 0;
    for entry in std::fs::read_dir(folder).expect("the examples").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("an example");
        let found: Vec<Diagnostic> = match compile(&text, &[], true) {
            Err(error) => error.iter().cloned().collect(),
            // Functions that are never called are no error here.
            Ok(program) => {
                warned += 1;
                program.notes().warnings.clone()
            }
        };
        assert!(!found.is_empty() && found.iter().all(|d| d.place.is_some()), "{text}: {found:?}");
    }
    assert_eq!(warned, 1);
}

/// Constructs of the language, by name.
pub(crate) const CONSTRUCTS: &[(&str, &str)] = &[
    ("addition", "pub fn main(a: u64, b: u64) -> u64 { a + b }"),
    ("subtraction", "pub fn main(a: i16, b: i16) -> i16 { a - b }"),
    ("product", "pub fn main(a: u32, b: u32) -> u32 { a * b }"),
    ("quotients", "pub fn main(a: u16, b: u16) -> (u16, u16) { (a / b, a % b) }"),
    ("signed quotients", "pub fn main(a: i16, b: i16) -> (i16, i16) { (a / b, a % b) }"),
    ("shifts", "pub fn main(a: i32, b: u8) -> (i32, i32, u32) { (a << b, a >> b, (a as u32) >> (b & 15u8)) }"),
    ("comparisons", "pub fn main(a: i8, b: i8) -> (bool, bool, bool, bool) { (a < b, a <= b, a == b, a != b) }"),
    ("bits", "pub fn main(a: u16, b: u16) -> (u16, u16, u16, u16) { (a & b, a | b, a ^ b, !a) }"),
    ("masks", "pub fn main(a: i16, b: u16) -> (i16, u16, u16) { (a & 255i16, b & 15u16, (b >> 3u8) & 1u16) }"),
    ("negation", "pub fn main(a: i8, b: i16) -> (i8, i16) { (-a, -b) }"),
    (
        "casts",
        "pub fn main(a: u64, b: i16) -> (u8, u16, i32, i8, u32) { (a as u8, b as u16, b as i32, b as i8, b as u32) }",
    ),
    ("logic", "pub fn main(a: u8, b: u8) -> bool { (b != 0u8 && a / b > 2u8) || !(a < b) }"),
    ("arrays", "pub fn main(a: [u8; 5], i: usize) -> u8 { a[i] }"),
    ("writes", "pub fn main(a: [u8; 5], i: usize) -> [u8; 5] { let mut b = a; b[i] = a[0] ^ 1u8; b }"),
    (
        "nested",
        "pub fn main(a: [[u8; 3]; 2], i: usize, j: usize) -> [[u8; 3]; 2] { let mut b = a; b[i][j] = a[1][0]; b }",
    ),
    (
        "tables",
        "pub fn main(a: u8, b: u8) -> u16 { let t = [3u16, 1u16, 4u16, 1u16, 5u16, 9u16]; t[(a & 7u8) as usize] + t[(b & 3u8) as usize] }",
    ),
    (
        "loops",
        "pub fn main(a: [u8; 6], b: u8) -> u16 { let mut s = 0u16; for x in a { if x > b { s += x as u16; } } s }",
    ),
    (
        "branches",
        "pub fn main(a: u8, b: u8) -> u8 { let mut x = 1u8; let y = if a > b { x = 7u8; a - b } else { x += b; 2u8 }; x + y }",
    ),
    (
        "panicking branch",
        "pub fn main(a: u8, b: u8) -> u8 { if b == 0u8 { 0u8 } else { if a > 100u8 { a / b } else { a + 200u8 } } }",
    ),
    (
        "ranges in patterns",
        "pub fn main(a: i8, b: u8) -> u8 { match (a, b) { (-5i8..=5i8, 3u8) => 1u8, (_, 0u8..=9u8) => 2u8, (x, y) => y } }",
    ),
    (
        "enum",
        "enum Shape { Square(u8), Box(u8, u8), None } pub fn main(s: Shape, k: u8) -> u16 { match s { Shape::Square(a) => a as u16 * a as u16, Shape::Box(a, b) => a as u16 * b as u16 + k as u16, Shape::None => 0 } }",
    ),
    (
        "enum result",
        "enum Found { At(u8), Two(u8, bool), No } pub fn main(a: [u8; 4], x: u8) -> Found { if a[0] == x { Found::At(0) } else { if a[1] == x { Found::Two(a[2], a[3] == x) } else { Found::No } } }",
    ),
    ("enum equality", "enum E { A(u8), B } pub fn main(a: E, b: E) -> (bool, bool) { (a == b, a != E::B) }"),
    (
        "struct",
        "struct P { x: i16, y: i16 } pub fn main(p: P, q: P) -> P { let P { x, y } = p; P { x: x - q.x, y: y + q.y } }",
    ),
    (
        "functions",
        "fn f(mut a: [u8; 2], k: u8) -> [u8; 2] { a[0] = k; a } pub fn main(a: [u8; 2], k: u8) -> ([u8; 2], [u8; 2]) { (f(a, k), a) }",
    ),
    (
        "swapped arguments",
        "fn f(a: u8, b: u8) -> u8 { a - b } pub fn main(a: u8, b: u8) -> u8 { let mut x = a; f(x, { x = b; x }) }",
    ),
    ("each party one element", "pub fn main(a: [u16; 3]) -> u16 { let mut s = 0u16; for x in a { s = s + x; } s }"),
    ("repeat", "pub fn main(a: u8, b: u8) -> [(u8, bool); 3] { [(a ^ b, a < b); 3] }"),
    ("products with literals", "pub fn main(a: u8, b: i16) -> (u8, i16) { (a * 3u8, b * 5i16) }"),
    (
        "bubble sort",
        "pub fn main(a: [u16; 6], k: u8) -> [u16; 6] { let mut b = a; for i in 0..5 { for j in 0usize..5usize { if b[j] > b[j + 1usize] { let t = b[j]; b[j] = b[j + 1usize]; b[j + 1usize] = t; } } } b }",
    ),
];

#[test]
fn constructs_of_the_language() {
    for (name, text) in CONSTRUCTS {
        assert_same(name, text);
    }
}

#[test]
fn joins() {
    let rows = "const N: usize = 5usize; fn up(a: [(u8, u16); N]) -> [(u8, u16); N] { let mut b = a; let mut k = 0usize; let mut at = 0u8; \
         for row in a { at = at + (row.0 & 7u8) + 1u8; b[k] = (at, row.1); k = k + 1usize; } b }";
    for main in [
        "pub fn main(a: [(u8, u16); N], b: [(u8, u16); N]) -> u32 { let mut s = 0u32; \
         for ((_, x), (_, y)) in join_iter(up(a), up(b)) { s += x as u32 ^ y as u32; } s }",
        "pub fn main(a: [(u8, u16); N], b: [(u8, u16); N]) -> [(bool, (u8, u16), (u8, u16)); const { N + N - 1usize }] \
         { join(up(a), up(b)) }",
    ] {
        assert_same("join", &format!("{rows} {main}"));
    }
    let plain = "pub fn main(a: [u8; 4], b: [u8; 3]) -> [(bool, u8); const { 4usize + 3usize - 1usize }] { \
         join([a[0] & 3u8, 4u8 + (a[1] & 3u8), 8u8 + (a[2] & 3u8), 12u8], [b[0] & 3u8, 4u8 + (b[1] & 7u8), 12u8 + (b[2] & 1u8)]) }";
    assert_same("plain join", plain);
}

#[test]
fn panics_are_reported_once_and_first() {
    let text = "pub fn main(a: u8, b: u8) -> u8 {\n    let x = a + b;\n    let y = a / b;\n    y - x\n}";
    let both = Both::new(text, &[]);
    let outcomes: Vec<Outcome> = both
        .run(256, &mut rng())
        .into_iter()
        .map(|(ours, theirs)| {
            assert_eq!(ours, theirs);
            ours
        })
        .collect();
    for expected in [
        Outcome::Panic(2, 13, "arithmetic overflow"),
        Outcome::Panic(3, 13, "division by zero"),
        Outcome::Panic(4, 5, "arithmetic overflow"),
    ] {
        assert!(outcomes.contains(&expected), "{expected:?}");
    }
}
