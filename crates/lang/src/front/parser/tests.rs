//! The parser makes what `garble_lang`'s parser makes.

use garble_lang::{UntypedProgram, scan::scan};

use super::*;
use crate::front::scanner;

mod theirs;

fn ours(text: &str) -> UntypedProgram {
    let program = parse(scanner::scan(text).unwrap(), Lone::Itself);
    theirs::program(&program.unwrap_or_else(|faults| panic!("{faults:?}\n{text}")))
}

fn theirs(text: &str) -> UntypedProgram {
    scan(text).unwrap().parse().unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// All of a program but the places, of which theirs differ.
fn shown(program: &UntypedProgram) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(program.const_defs.iter().map(|part| without_places(&format!("{part:?}"))));
    parts.extend(program.struct_defs.iter().map(|part| without_places(&format!("{part:?}"))));
    parts.extend(program.enum_defs.iter().map(|part| without_places(&format!("{part:?}"))));
    parts.extend(program.fn_defs.iter().map(|part| without_places(&format!("{part:?}"))));
    parts.sort();
    parts
}

/// The text without `1:2-3:4`.
fn without_places(text: &str) -> String {
    let is_place = |word: &str| word.contains(':') && word.contains('-');
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_digit() || c == ':' || c == '-' {
            word.push(c);
        } else {
            out += if is_place(&word) || out.ends_with('#') { "" } else { &word };
            word.clear();
            out.push(c);
        }
    }
    // Variables that have a number have only that more.
    out.replace('#', "")
}

/// The text with ranges that end with a number where they end with a constant, which theirs cannot read.
fn without_constant_ends(text: &str) -> String {
    let mut parts = text.split("..");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |begin, part| match part.find(|c: char| !c.is_ascii_uppercase()) {
        Some(length @ 1..) => begin + "..9usize" + &part[length..],
        _ => begin + ".." + part,
    })
}

fn assert_same(text: &str) {
    // They write `a <= b` as `a < b | a == b`, we as `!(a > b)`.
    let text = text.replace("<=", "<").replace(">=", ">").replace("<<", "<<=").replace("<<==", "<<=");
    let text = text.replace("<<= ", "<< ").replace("..<", "..=");
    let text = without_constant_ends(&text);
    assert_eq!(shown(&ours(&text)), shown(&theirs(&text)), "{text}");
}

/// The constructs that the grammar has, as it has them in both.
const CONSTRUCTS: &str = "
const N: usize = PARTY_0::N;
const M: usize = max(N, 2usize, PARTY_1::M) + 1usize - min(N);
const B: bool = true;
const K: i8 = -5i8;
struct Point { y: i32, x: u8, }
struct Empty { }
enum Shape { None, Square(u8), Box(u8, (u16, bool)), }
pub fn f(mut a: [u8; N], b: [(u8, i64); 3], c: [[bool; const { N + M - 1usize }]; 2usize]) -> (u8, Shape) {
    let x = -5;
    let mut y: u16 = 3u16;
    let (p, _, (q, true, -3i8..=4i8)) = t;
    let Point { x, y: 3 } = p;
    let z = !-!a & b | c ^ d << 1u8 >> 2u8 + 3 - 4 * 5 / 6 % 7;
    let w = (a == b) != (d > e) && f || g && h;
    let v = x as u8 as i32 + 1i32;
    a[0] = 3;
    a[i] = if b { c } else if d { e } else { f };
    s.x[2].1 = 4u8;
    s.x[i].1 += 4u8;
    y -= 1u16; y *= 1u16; y /= 1u16; y %= 1u16; y ^= 1u16; y &= 1u16; y |= 1u16; y >>= 1u8;
    for i in 0..10 { y += 1u16; }
    for (i, j) in 0usize..10usize { }
    for row in [a[0], b.0.1, c.d] { if row { x = 1; } }
    for (l, r) in join_iter(a, b) { }
    let m = match x { 1 => 2, 3u8..=5u8 => { 6 } 7..9 => y = 3u16, Shape::Box(a, (1, _)) => g(a, [1, 2, 3],), _ => 8, };
    match (a, b) { (x, y,) => x, }
    if a { b }
    { let c = [0u8; 4]; d; }
    let e = [Point { x: 1, y }; N];
    let u = Shape::Square(3u8).x + Shape::None;
    (join(a, b), (x), { })
}
fn g(a: u64) -> u64 { a }
";

#[test]
fn all_constructs_are_the_same() {
    assert_same(CONSTRUCTS);
}

#[test]
fn sources_of_tests_and_examples_are_the_same() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let mut count = 0;
    let mut folders =
        vec![std::path::PathBuf::from(root).join("examples"), std::path::PathBuf::from(root).join("crates/lang/tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(".garble.rs") {
                let text = std::fs::read_to_string(path).expect("a source");
                // They have no lists.
                if !text.contains("; ..") {
                    assert_same(&text);
                    count += 1;
                }
            }
        }
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn what_rust_allows_is_allowed() {
    for (text, same) in [
        ("fn f(a: u8) -> (u8) { a -1 }", "fn f(a: u8) -> u8 { a - 1 }"),
        ("fn f(a: u8) -> u8 { let x = 0xffu8; 1_0 }", "fn f(a: u8) -> u8 { let x = 255u8; 10 }"),
        ("fn f(a: u8) -> u8 { for i in 0..=4 { } }", "fn f(a: u8) -> u8 { for i in 0..5 { } }"),
        (
            "const N: usize = 4usize; fn f(a: u8) -> u8 { for i in 1..N - 1 { } }",
            "const N: usize = 4usize; fn f(a: u8) -> u8 { for i in 1..3usize { } }",
        ),
        ("fn f(a: u8) -> u8 { -(5) }", "fn f(a: u8) -> u8 { -5 }"),
        ("fn f(a: u8) -> u8 { u8::MAX + i8::MIN }", "fn f(a: u8) -> u8 { 255u8 + -128i8 }"),
        (
            "struct S { x: u8, y: u8 } fn f(a: S) -> u8 { let S { y, .. } = a; ; y }",
            "struct S { x: u8, y: u8 } fn f(a: S) -> u8 { let S { y, x: _ } = a; y }",
        ),
    ] {
        assert_eq!(shown(&ours(text)), shown(&theirs(same)), "{text}");
    }
}

#[test]
fn a_comparison_does_not_copy_its_operands() {
    let chain = "(".repeat(100) + "a" + &" <= b) as u8".repeat(100);
    let text = format!("fn f(a: u8, b: u8) -> u8 {{ {chain} }}");
    assert!(shown(&ours(&text)).concat().len() < 100_000);
}

#[test]
fn nesting_is_bounded() {
    let refused = |inner: &str| {
        let text = format!("fn f(a: u8) -> u8 {{ {inner} }}");
        let faults = parse(scanner::scan(&text).unwrap(), Lone::Itself).unwrap_err();
        assert!(faults[0].message.starts_with("this is nested too deep: expected at most "), "{}", faults[0].message);
    };
    for (open, middle, close) in [
        ("(", "a", ")"),
        ("[", "a", "]"),
        ("{", "a", "}"),
        ("!", "a", ""),
        ("if a {", "a", "} else { a }"),
        ("match a { b =>", "a", "}"),
        ("S { x: ", "a", "}"),
        ("a[", "a", "]"),
        ("f(", "a", ")"),
        ("- ", "a", ""),
    ] {
        refused(&format!("{}{middle}{}", open.repeat(200), close.repeat(200)));
    }
    refused(&format!("let {}a", "(".repeat(200)));
    refused(&format!("let a: {}u8", "[".repeat(200)));
    refused(&format!("a{}", " + a".repeat(5000)));
    refused(&format!("a{}", "[0]".repeat(5000)));
    refused(&format!("a{}", " as u8".repeat(5000)));
}
