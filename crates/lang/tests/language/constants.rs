//! Constants, of parties too: their sums, patterns, ranges and sizes; and arms that nothing reaches.

use garblet_circuit::{Bits, evaluate};

use crate::reference::compile;

/// The value of a result of eight bits.
fn eight(text: &str, constants: &[(&str, &str)], inputs: [u8; 2]) -> u128 {
    let program = compile(text, constants, true).unwrap_or_else(|e| panic!("{}\n{text}", e.render()));
    let inputs = inputs.map(|x| Bits::from_u128(x.into(), 8));
    evaluate(&program, &inputs)[0].to_u128().expect("a number")
}

/// The first fault of a source.
fn fault(text: &str, constants: &[(&str, &str)]) -> String {
    let error = compile(text, constants, true).err().unwrap_or_else(|| panic!("accepted: {text}"));
    error.iter().next().map(|d| d.message.clone()).unwrap_or_default()
}

#[test]
fn sums_of_constants_do_not_wrap() {
    let sum = "const LIMIT: u16 = PARTY_0::LIMIT + 1u16;\npub fn main(a: u16, b: u16) -> bool { a < LIMIT }";
    assert_eq!(
        fault(sum, &[("LIMIT", "65535")]),
        "the constant `LIMIT`: `PARTY_0::LIMIT + 1u16` is out of range for u16: expected 0 to 65535, got 65536"
    );
    assert!(compile(sum, &[("LIMIT", "65534")], true).is_ok());
    let less = "const N: u32 = PARTY_0::N - 1u32;\npub fn main(a: u32, b: u32) -> bool { a < N }";
    let expected = "the constant `N`: `PARTY_0::N - 1u32` is out of range for u32: expected 0 to 4294967295, got -1";
    assert_eq!(fault(less, &[("N", "0")]), expected);
    // As in Rust, every step counts.
    let steps = "const N: u8 = PARTY_0::N - 1 + 1;\npub fn main(a: u8, b: u8) -> u8 { N }";
    assert!(fault(steps, &[("N", "0")]).contains("`PARTY_0::N - 1` is out of range for u8"));
    let size = "const N: usize = PARTY_0::N;\npub fn main(a: [u8; const { N - 1 }], b: u8) -> u8 { b }";
    assert_eq!(fault(size, &[("N", "0")]), "`N - 1` is out of range for usize: expected 0 to 4294967295, got -1");
    let range = "const N: usize = PARTY_0::N;\npub fn main(a: u8, b: u8) -> u8 { for k in 0..N - 1 { } b }";
    assert_eq!(fault(range, &[("N", "0")]), "`N - 1` is out of range for usize: expected 0 to 4294967295, got -1");
    let point = "const R: fixed<8, 8> = 127.5 + 1.0;\npub fn main(a: fixed<8, 8>, b: u8) -> fixed<8, 8> { a }";
    assert!(fault(point, &[]).starts_with("the constant `R`: `127.5 + 1.0` is out of range for fixed<8, 8>"));
}

#[test]
fn signs_of_constants_are_looked_at() {
    let signed = "const K: i32 = -PARTY_0::K;\nconst M: i32 = max(!-K, -(K + 1)) - (K - 1);\n\
        pub fn main(a: u8, b: u8) -> u8 { (K as u8) ^ (M as u8) }";
    let expected = |k: i32| u128::from(k as u8 ^ (!-k).max(-(k + 1)).wrapping_sub(k - 1) as u8);
    for k in [0, 7, -7, 1_000_000] {
        assert_eq!(eight(signed, &[("K", &(-k).to_string())], [0, 0]), expected(k), "{k}");
    }
    assert_eq!(
        fault(signed, &[("K", "-2147483648")]),
        "the constant `K`: `-PARTY_0::K` is out of range for i32: expected -2147483648 to 2147483647, got 2147483648"
    );
    assert_eq!(
        fault(signed, &[("K", "-2147483647")]),
        "the constant `M`: `K + 1` is out of range for i32: expected -2147483648 to 2147483647, got 2147483648"
    );
    assert_eq!(
        fault(signed, &[("K", "2147483647")]),
        "the constant `M`: `max(!-K, -(K + 1)) - (K - 1)` is out of range for i32: expected -2147483648 to 2147483647, \
         got 4294967294"
    );
    let all = |definition: &str, given: &str| {
        fault(&format!("const N: {definition};\npub fn main(a: u8, b: u8) -> u8 {{ b }}"), &[("N", given)])
    };
    assert_eq!(
        all("u8 = !PARTY_0::N", "256"),
        "the constant `PARTY_0::N` is out of range for u8: expected 0 to 255, got 256"
    );
    assert_eq!(all("bool = !PARTY_0::N", "2"), "the constant `PARTY_0::N`: expected bool, got 2");
    assert_eq!(all("fixed<8, 8> = !PARTY_0::N", "2"), "expected a bool or an integer, got fixed<8, 8>");
    let point = "const R: fixed<8, 8> = -(PARTY_0::R - 1.5);\npub fn main(a: u8, b: u8) -> u8 { R as u8 }";
    assert_eq!(eight(point, &[("R", "-2.5")], [0, 0]), 4);
    assert!(fault(point, &[("R", "-127")]).contains("`PARTY_0::R - 1.5` is out of range for fixed<8, 8>"));
    let open = "pub fn main(a: u8, b: u8) -> u8 { let mut s = a; for k in 0..!250 { s += k; } s }";
    assert_eq!(fault(open, &[]), "the type of `!250` is not known here");
    assert_eq!(eight(&open.replace("250", "250u8"), &[], [1, 0]), 11);
}

#[test]
fn a_partys_usize_beyond_32_bits_is_told_as_a_literal_is() {
    let text = "const N: usize = PARTY_0::N;\npub fn main(a: u8, b: u8) -> u8 { b }";
    let limit = "out of range for usize: expected 0 to 4294967295, got 4294967296";
    assert_eq!(fault(text, &[("N", "4294967296")]), format!("the constant `PARTY_0::N` is {limit}"));
    assert_eq!(fault(&text.replace("PARTY_0::N", "4294967296"), &[]), format!("literal {limit}"));
    assert!(compile(text, &[("N", "4294967295")], true).is_ok());
}

#[test]
fn one_constant_of_a_party_may_have_two_types() {
    let text = "const A: u16 = PARTY_0::X;\nconst B: u8 = PARTY_0::X;\nconst C: fixed<8, 8> = PARTY_0::X;\n\
        pub fn main(a: u8, b: u8) -> u8 { (A as u8) + B + (C as u8) }";
    assert_eq!(eight(text, &[("X", "7")], [0, 0]), 21);
    assert_eq!(
        fault(text, &[("X", "300")]),
        "the constant `PARTY_0::X` is out of range for u8: expected 0 to 255, got 300"
    );
}

/// A source may have a type of its own under a name that is a format's elsewhere.
#[test]
fn a_party_may_have_the_name_of_a_format_that_the_source_takes_for_itself() {
    for (name, own) in [("bf16", "struct bf16 { a: u8 }"), ("f16", "enum f16 { N }"), ("f64", "struct f64 { a: u8 }")] {
        let text = format!("{own}\nconst N: u8 = {name}::N;\npub fn main(a: u8, b: u8) -> u8 {{ a + b + N }}");
        assert_eq!(eight(&text, &[(&format!("{name}::N"), "3")], [1, 2]), 6, "{text}");
    }
}

#[test]
fn constants_of_parties_in_patterns_compare() {
    let text = "const N: u8 = PARTY_0::N;\nconst T: bool = PARTY_1::T;\n\
        pub fn main(a: u8, b: u8) -> u8 { match (a, b > 3) { (N, T) => 1, (0..=N, _) => 2, _ => b } }";
    let constants = [("PARTY_0::N", "5"), ("PARTY_1::T", "true")];
    for (inputs, expected) in [([5, 9], 1), ([5, 3], 2), ([4, 9], 2), ([6, 9], 9)] {
        assert_eq!(eight(text, &constants, inputs), expected, "{inputs:?}");
    }
    assert!(fault(text, &[("PARTY_0::N", "256"), ("PARTY_1::T", "true")]).contains("expected 0 to 255, got 256"));
}

#[test]
fn empty_ranges_run_no_round() {
    let text = "const N: usize = PARTY_0::N;\n\
        pub fn main(a: u8, b: u8) -> u8 { let mut s = b; for k in 0..N { s = s ^ a ^ (k as u8); } s }";
    assert_eq!(eight(text, &[("N", "0")], [1, 9]), 9);
    assert_eq!(eight(text, &[("N", "1")], [1, 9]), 8);
    let through =
        "pub fn main(a: u8, b: u8) -> u8 { let r = 3..3; let mut s = b; for k in r { s = a; } s + (r.len() as u8) }";
    assert_eq!(eight(through, &[], [1, 9]), 9);
}

#[test]
fn sizes_are_compared_by_value() {
    let rows = "const N: usize = PARTY_0::N;
        fn same(a: [u8; const { 3 + 1 }]) -> [u8; N] { a }
        fn list(a: [u8; ..4]) -> [u8; ..const { N + 0 }] { a }
        pub fn main(a: [(u8, u16); N], b: [(u8, u16); N]) -> [((u8, u16), (u8, u16)); ..7] {
            let x: [u8; 4] = same([1, 2, 3, 4]);
            let l = list([1, 2]);
            keep(join(a, b))
        }";
    let program = compile(rows, &[("N", "4")], true).unwrap_or_else(|e| panic!("{}", e.render()));
    assert!(program.stats().and > 0);
    assert!(fault(rows, &[("N", "5")]).contains("expected [u8; 5], got [u8; 4]"));
}

#[test]
fn arms_that_nothing_reaches_are_told() {
    let told = |arms: &str| {
        let text = format!(
            "const N: u8 = 5;\nenum E {{ A(u8, bool), B {{ x: u8 }} }}\n\
             pub fn main(a: u8, b: u8) -> u8 {{\nlet e = if a > b {{ E::A(a, true) }} else {{ E::B {{ x: b }} }};\n\
             match {arms}\n}}"
        );
        let program = compile(&text, &[], true).unwrap_or_else(|e| panic!("{}", e.render()));
        let warnings = program.notes().warnings.clone();
        assert!(warnings.iter().all(|w| w.message.starts_with("this arm is never reached")), "{warnings:?}");
        warnings.iter().map(|w| w.place.as_ref().map_or(0, |place| place.column)).collect::<Vec<_>>()
    };
    assert_eq!(told("a { x => x, 1 => 2 }"), [19]);
    assert_eq!(told("a { N => 1, 5 => 2, _ => b }"), [19]);
    assert_eq!(told("a { 0..=9 => 1, 3..=5 => 2, 9..=20 => 3, _ => b }"), [23]);
    assert_eq!(told("a { 0..=9 => 1, 10..=20 => 3, 5..=15 => 2, _ => b }"), [37]);
    assert_eq!(told("(a, b) { (1, _) => 1, (_, 2) => 2, (1, 2) => 3, (x, y) => 4 }"), [42]);
    assert_eq!(
        told("e { E::A(x, true) => x, E::A(x, _) => 1, E::A(1, false) => 2, E::B { x: 3 } => 3, E::B { .. } => 4 }"),
        [48]
    );
    assert_eq!(told("e { E::A(x, true) => x, E::A(x, _) => 1, E::B { x } => 3, _ => 4 }"), [65]);
    assert_eq!(told("(a > b) { true => 1, false => 2 }"), Vec::<usize>::new());
}

/// The constants that sources of the repository take.
pub(crate) const GIVEN: &[(&str, &str)] = &[
    ("N", "8"),
    ("CELLS", "4"),
    ("BITS", "5"),
    ("WIDTH", "4"),
    ("HEIGHT", "4"),
    ("FRIENDS", "3"),
    ("ME", "1"),
    ("RADIUS", "1"),
];

#[test]
fn sources_of_the_repository_are_accepted_without_warnings() {
    let root = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders =
        ["examples", "crates/lab/src", "crates/lang/tests/sources"].map(|folder| root.join(folder)).to_vec();
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if !path.to_string_lossy().ends_with(".garble.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            let given: Vec<(&str, &str)> =
                GIVEN.iter().copied().filter(|(name, _)| text.contains(&format!("PARTY_0::{name};"))).collect();
            // Sums of SHA-256 wrap around.
            let program =
                compile(&text, &given, false).unwrap_or_else(|e| panic!("{}: {}", path.display(), e.render()));
            assert!(program.notes().warnings.is_empty(), "{}: {:?}", path.display(), program.notes().warnings);
            count += 1;
        }
    }
    assert!(count >= 20, "{count}");
}

#[test]
fn only_a_party_gives_a_constant_and_an_integer_for_a_float_must_be_one_of_its_numbers() {
    for name in ["f64::EPS", "u8::EPSILON", "bool::MAX"] {
        let source = format!("const X: usize = {name};\npub fn main(a: u8, b: u8) -> u8 {{ a }}");
        let (ty, constant) = name.split_once("::").expect("two words");
        let expected = format!("the type `{ty}` has no constant `{constant}`");
        assert_eq!(fault(&source, &[(constant, "5")]), expected);
    }
    let source = "const X: f32 = PARTY_0::X;\npub fn main(a: f32, b: u8) -> f32 { a + X }";
    assert_eq!(fault(source, &[("X", "16777217")]), "the constant `PARTY_0::X`: expected f32, got 16777217");
    for whole in ["16777216", "-16777216", "16777217.0", "0", "-0"] {
        assert!(compile(source, &[("X", whole)], true).is_ok(), "{whole}");
    }
}

#[test]
fn a_constant_of_any_type_costs_what_a_variable_does() {
    let table: Vec<String> = (0..256u32).map(|k| (k * k * 7 % 251).to_string()).collect();
    let table = format!("[{}]", table.join(", "));
    let body = "let mut s = 0u8; for k in 0usize..200usize { s = s ^ T[((a ^ b) as usize + k) & 255] ^ T[k]; } s }";
    let constant = format!("const T: [u8; 256] = {table};\npub fn main(a: u8, b: u8) -> u8 {{ {body}");
    let variable = format!("pub fn main(a: u8, b: u8) -> u8 {{ let T: [u8; 256] = {table}; {body}");
    let [constant, variable] = [constant, variable].map(|text| compile(&text, &[], true).expect("a program"));
    assert_eq!(constant.counts(), variable.counts());
    assert_eq!(constant.instance_count(), variable.instance_count());
    for (a, b) in [(0, 0), (7, 200), (255, 1)] {
        let of = |program| evaluate(program, &[a, b].map(|x: u8| Bits::from_u128(x.into(), 8)));
        let t = |k: u32| (k * k * 7 % 251) as u8;
        let expected = (0..200u32).fold(0, |s, k| s ^ t((u32::from(a ^ b) + k) & 255) ^ t(k));
        assert_eq!(of(&constant), of(&variable), "{a}, {b}");
        assert_eq!(of(&constant)[0].to_u128(), Some(expected.into()), "{a}, {b}");
    }
}

#[test]
fn a_constant_of_any_type_is_the_value_of_an_expression() {
    let made = "fn squares() -> [u16; 8] { let mut s = [0; 8]; for k in 0usize..8usize { s[k] = (k * k) as u16; } s }\n\
        const SQUARES: [u16; 8] = squares();\nconst LAST: (u16, [u16; 8]) = (SQUARES[7], SQUARES);\n\
        pub fn main(a: u8, b: u8) -> u8 { ((LAST.0 + LAST.1[(a & 7) as usize]) as u8) ^ b }";
    assert_eq!(eight(made, &[], [3, 0]), 49 + 9);
    let sized = "const N: usize = PARTY_0::N;\nconst ONES: [u8; N] = [1; N];\n\
        pub fn main(a: u8, b: u8) -> u8 { let mut s = a; for one in ONES { s += one; } s ^ b }";
    assert_eq!(eight(sized, &[("N", "5")], [3, 0]), 8);
    let list = "const L: [u8; ..4] = [4, 5];\npub fn main(a: u8, b: u8) -> u8 { (L.len() as u8) + L[1] + a + b }";
    assert_eq!(eight(list, &[], [1, 2]), 10);
    // Rust changes a copy, with a warning.
    let changed = "const T: [u8; 2] = [1, 2];\npub fn main(a: u8, b: u8) -> u8 { T[0] = a; T[0] ^ b }";
    assert_eq!(fault(changed, &[]), "cannot assign to the expression before this sign");
    for (value, told) in
        [("[1, Z + 1]", "overflow"), ("[1, 5 / (Z - Z)]", "division by zero"), ("[1, [1, 2, 3][Z as usize]]", "index")]
    {
        let text = format!(
            "const Z: u8 = 255;\nconst T: [u8; 2] = {value};\npub fn main(a: u8, b: u8) -> u8 {{ a ^ b ^ T[1] }}"
        );
        for panics in [true, false] {
            let error = compile(&text, &[], panics).expect_err(value);
            assert!(error.to_string().contains(told), "{error}");
        }
    }
    let called = "const T: [u8; 2] = [1, 2];\nfn f() -> u8 { T[0] }\npub fn main(a: u8, b: u8) -> u8 { a ^ b }";
    assert!(compile(called, &[], true).is_ok(), "a constant that only an unused function needs");
}
