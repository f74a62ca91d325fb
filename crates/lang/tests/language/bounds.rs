//! Sources that would take the type checker forever, or its stack: each is compiled or refused at once.

use std::time::{Duration, Instant};

use crate::reference::compile;

/// The text that is said of the source, within seconds; nothing if it is compiled.
fn told(text: &str) -> String {
    let begin = Instant::now();
    let told = compile(text, &[], true).err().map(|error| error.render()).unwrap_or_default();
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}\n{text}", begin.elapsed());
    told
}

fn main_of(body: &str) -> String {
    format!("pub fn main(a: u8, b: u8) -> u8 {{\n{body}\n}}")
}

#[test]
fn types_that_double() {
    let doubling: String = (0..60).map(|k| format!("let v{} = (v{k}, v{k});\n", k + 1)).collect();
    let refused = told(&main_of(&format!("let v0 = a;\n{doubling}a")));
    assert!(refused.contains("has 8191 parts, the most is 4096\n  --> main.garble.rs:14:"), "{refused}");
    let structs: String = (0..60).map(|k| format!("struct S{} {{ x: S{k}, y: S{k} }}\n", k + 1)).collect();
    let source = format!("struct S0 {{ x: u8 }}\n{structs}{}", main_of("a"));
    assert!(told(&source).contains("parts, the most is 4096"), "{}", told(&source));
    // Taken apart and put together again they stay as they are.
    let turned: String = (0..200).map(|k| format!("let v{} = (v{k}.1, v{k}.0);\n", k + 1)).collect();
    assert_eq!(told(&main_of(&format!("let v0 = (a, b);\n{turned}v200.0"))), "");
}

#[test]
fn types_that_contain_themselves() {
    for (types, name) in [
        ("struct S { s: S }", "S"),
        ("struct S { s: [S; 2] }", "S"),
        ("struct S { e: (u8, E) } enum E { A, B(S) }", "S"),
        ("enum E { A(u8), B(E) }", "E"),
    ] {
        let expected = format!("the type `{name}` contains itself");
        let source = format!("{types}\npub fn main(a: {name}, b: u8) -> u8 {{ match a {{ x => b }} }}");
        assert!(told(&source).contains(&expected), "{types}");
    }
}

#[test]
fn matches_of_many_cases() {
    // An assignment that no arm has sets at most one of each pair: there are 3^20.
    let bools = ["bool"; 40].join(", ");
    let arm = |k: usize| {
        let parts: Vec<&str> = (0..40).map(|at| if at % 20 == k { "true" } else { "_" }).collect();
        format!("({}) => b, ", parts.join(", "))
    };
    let pairs: String = (0..20).map(arm).collect();
    let refused = told(&format!("pub fn main(a: ({bools}), b: u8) -> u8 {{ match a {{ {pairs} }} }}"));
    assert!(refused.contains("this `match` has too many cases to look at them all"), "{refused}");
    // As many values, of which no arm tells any apart.
    assert_eq!(told(&format!("pub fn main(a: ({bools}), b: u8) -> u8 {{ match a {{ x => b }} }}")), "");
    let fields: String = (0..40).map(|k| format!("x{k}: bool, ")).collect();
    let named = format!(
        "struct S {{ {fields} }} pub fn main(a: S, b: u8) -> u8 {{ match (b, a) {{ (1u8, _) => b, _ => 2u8 }} }}"
    );
    assert_eq!(told(&named), "");
    let numbers = ["u8"; 3].join(", ");
    let arms: String = (0..10).map(|k| format!("({k}u8, {k}u8..=100u8, _) => {k}u8, ")).collect();
    assert_eq!(told(&format!("pub fn main(a: ({numbers}), b: u8) -> u8 {{ match a {{ {arms} _ => b }} }}")), "");
}

#[test]
fn constants_and_calls_that_double() {
    let constants: String = (0..200).map(|k| format!("const C{}: u64 = C{k} + C{k};\n", k + 1)).collect();
    assert_eq!(told(&format!("const C0: u64 = 1;\n{constants}{}", main_of("(a as u64 ^ C200) as u8"))), "");
    let functions: String = (0..60).map(|k| format!("fn f{}(a: u8) -> u8 {{ f{k}(a) ^ f{k}(a) }}\n", k + 1)).collect();
    let source = format!("fn f0(a: u8) -> u8 {{ a }}\n{functions}{}", main_of("f10(a)\n"));
    assert_eq!(told(&source), "");
}

#[test]
fn calls_that_are_nested() {
    let calls = |count: usize, body: &str| {
        let functions: String =
            (0..count).map(|k| format!("fn f{}(a: u32) -> u32 {{ f{k}(a) {body} }}\n", k + 1)).collect();
        told(&format!(
            "fn f0(a: u32) -> u32 {{ a }}\n{functions}pub fn main(a: u32, b: u32) -> u32 {{ f{count}(a) ^ b }}"
        ))
    };
    assert_eq!(calls(50, "^ 1u32"), "");
    assert_eq!(calls(2000, "^ 1u32"), "");
    assert_eq!(calls(4, &"^ a".repeat(2000)), "");
    assert!(calls(20_000, "").contains("calls are nested too deep"));
    assert!(calls(8, &"^ a".repeat(4000)).contains("calls are nested too deep"));
}

#[test]
fn recursion_is_told_once_and_where_it_closes() {
    let told = told("fn f(a: u8) -> u8 { g(a) }\nfn g(a: u8) -> u8 { f(a) }\npub fn main(a: u8) -> u8 { f(a) }");
    assert_eq!(told.matches("recursive").count(), 1, "{told}");
    assert!(told.contains("--> main.garble.rs:2:21"), "{told}");
}

#[test]
fn errors_do_not_let_inner_variables_out() {
    let blocks = "{ let x = (x, x); let y: bool = 1u8; }\n".repeat(60);
    let told = told(&main_of(&format!("let x = a;\n{blocks}a")));
    assert_eq!(told.matches("expected bool, got u8").count(), 60, "{told}");
}
