//! The faults of a source are said with file, line, caret and hint.

use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};

use crate::reference::compile;

/// The rendered diagnostics of a source.
fn render(text: &str) -> String {
    compile(text, &[], true).err().unwrap_or_else(|| panic!("accepted: {text}")).render()
}

#[test]
fn an_error_of_types_has_place_caret_and_hint() {
    let text = "pub fn main(a: u8, b: u16) -> u16 {\n    a + b\n}\n";
    let expected = "incompatible types: u8 and u16\n --> main.garble.rs:2:5\n  |\n2 |     a + b\n  |     ^^^^^\n\
                    hint: convert one of them with `as`\n";
    let rendered = render(text);
    assert!(rendered.ends_with(&expected[expected.find('\n').unwrap()..]), "{rendered}");
    assert!(rendered.contains("u8") && rendered.contains("u16"), "{rendered}");
}

#[test]
fn recursion_is_refused() {
    let rendered = render("fn f(a: u8) -> u8 { g(a) }\nfn g(a: u8) -> u8 { f(a) }\npub fn main(a: u8) -> u8 { f(a) }");
    assert!(rendered.contains("recursive") && rendered.contains("hint: use a loop over a known range"), "{rendered}");
}

#[test]
fn constants_that_are_missing_or_wrong_are_named() {
    let text = "const N: usize = PARTY_0::N;\nconst M: u8 = max(PARTY_1::M, 2u8);\npub fn main(a: [u8; N], b: u8) -> u8 { a[0] + b + M }";
    let fails = |constants: &[(&str, &str)]| compile(text, constants, true).expect_err("an error").render();
    let both = fails(&[]);
    assert!(both.contains("the constant `PARTY_0::N` (usize) is not given\n --> main.garble.rs:1:"), "{both}");
    assert!(both.contains("hint: give --const PARTY_1::M=VALUE"), "{both}");
    assert!(
        fails(&[("N", "3"), ("M", "256")])
            .contains("the constant `PARTY_1::M` is out of range for u8: expected 0 to 255, got 256")
    );
    assert!(fails(&[("N", "3"), ("M", "1"), ("PARTY_1::N", "4")]).contains("there is no constant `PARTY_1::N`"));
    assert!(
        fails(&[("N", "99999999"), ("M", "1")])
            .contains("this array is too large: expected at most 16777216 elements, got 99999999")
    );
    assert!(compile(text, &[("N", "3"), ("M", "1")], true).is_ok());
}

#[test]
fn what_panics_for_certain_is_refused() {
    let rendered = render("pub fn main(a: [u8; 4], b: u8) -> u8 {\n    let k = 4usize;\n    a[k]\n}");
    assert!(rendered.contains("this always panics: index out of bounds\n --> main.garble.rs:3:5"), "{rendered}");
    let rendered = render("pub fn main(a: u8, b: u8) -> u8 {\n    let k = 255u8;\n    a / (k - 255u8)\n}");
    assert!(rendered.contains("division by zero"), "{rendered}");
    let overflow = "pub fn main(a: u8, b: u8) -> u8 { let k = 255u8; k + 1u8 + a }";
    assert!(render(overflow).contains("arithmetic overflow"));
    assert!(compile(overflow, &[], false).is_ok());
    // Only where it is certain that the place is reached.
    assert!(compile("pub fn main(a: u8, b: u8) -> u8 { if a > b { 255u8 + 1u8 } else { 0u8 } }", &[], true).is_ok());
}

#[test]
fn a_source_without_main_is_refused() {
    assert!(render("pub fn other(a: u8) -> u8 { a }").contains("there is no function `main`"));
    assert!(render("pub fn main() -> u8 { 1u8 }").contains("hint: each parameter of `main` is a party's input"));
    assert!(render("").contains("there is no function `main`"));
}

#[test]
fn a_field_named_as_the_panic_output_is_refused() {
    let rendered = render("struct R { panic: u8 }\npub fn main(a: u8, b: u8) -> R { R { panic: a + b } }");
    assert!(rendered.contains("hint: rename the field"), "{rendered}");
}

#[test]
fn what_goes_too_deep_or_too_far_is_refused() {
    let deep = format!("pub fn main(a: u8, b: u8) -> u8 {{ {}a{} }}", "(".repeat(200), ")".repeat(200));
    assert!(render(&deep).contains("nested too deep"));
    let signs = format!("pub fn main(a: bool, b: u8) -> bool {{ {}a }}", "!".repeat(10_000));
    assert!(render(&signs).contains("nested too deep"));
    let own = "struct S { s: [S; 2] }\npub fn main(a: u8, b: u8) -> u8 { a }";
    assert!(compile(own, &[], true).is_ok() || render(own).contains("contains itself"));
    let endless =
        "pub fn main(a: u8, b: u8) -> u8 { let mut x = a; for _i in 0usize..4000000000usize { x = x ^ b; } x }";
    let options = Options { effort: 1 << 16, ..Options::default() };
    let error = FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut endless.as_bytes());
    assert!(error.expect_err("an error").to_string().contains("compiling takes more than 65,536 units of work"));
    let large = "pub fn main(a: [[u8; 100000]; 100000], b: u8) -> u8 { b }";
    assert!(
        render(large).contains("this type is too large: expected at most 16777216 numbers and 4294967295 bits, got ")
    );
}

#[test]
fn shifts_by_all_wires_leave_nothing() {
    let text = "pub fn main(a: u64, b: i64) -> (u64, i64) { ((a << 64u8) ^ a, (b >> 200u8) ^ b) }";
    let program = compile(text, &[], false).expect("a program");
    let a = garblet_circuit::Bits::from_u128(u128::from(u64::MAX), 64);
    let b = garblet_circuit::Bits::from_u128(1 << 63, 64);
    let outputs = garblet_circuit::evaluate(&program, &[a.clone(), b]);
    assert_eq!((outputs[0].to_u128(), outputs[1].to_u128()), (a.to_u128(), Some((1 << 63) - 1)));
}

#[test]
fn products_that_never_fit_have_a_range() {
    let text = "pub fn main(a: i64, b: bool) -> i64 {
        let x = (a & 7i64) - 9000000000000000000i64;
        if b { (!(x * 9000000000000000000i64)) ^ a } else { a }
    }";
    assert!(compile(text, &[], true).is_ok() && compile(text, &[], false).is_ok());
}

#[test]
fn long_sums_are_compiled() {
    let sum = format!("pub fn main(a: u32, b: u32) -> u32 {{ a{} }}", " ^ b ^ a".repeat(2_000));
    assert_eq!(compile(&sum, &[], true).expect("a program").stats().and, 0);
    let nested = format!("pub fn main(a: u8, b: u8) -> u8 {{ {}a{} }}", "(b ^ ".repeat(120), ")".repeat(120));
    assert!(compile(&nested, &[], true).is_ok());
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let error =
        FrontEnds::standard().with(Language::default()).read("x.garble.rs", &mut &b"fn\xff"[..]).expect_err("no text");
    assert_eq!(error.to_string(), "x.garble.rs: is not UTF-8 from byte 2 on");
}
