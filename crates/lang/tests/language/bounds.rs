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
    let expected = "this value is too large: expected at most 4096 parts, got 8191\n  --> main.garble.rs:14:";
    assert!(refused.contains(expected), "{refused}");
    let structs: String = (0..60).map(|k| format!("struct S{} {{ x: S{k}, y: S{k} }}\n", k + 1)).collect();
    let source = format!("struct S0 {{ x: u8 }}\n{structs}{}", main_of("a"));
    assert!(told(&source).contains("is too large: expected at most 4096 parts, got "), "{}", told(&source));
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
    let expected =
        "this `match` has too many cases: expected at most 4194304 steps to check the whole source, got more";
    assert!(refused.contains(expected), "{refused}");
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
    let constants: String = (0..200).map(|k| format!("const C{}: u64 = max(C{k}, C{k});\n", k + 1)).collect();
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
    let too_deep = "calls are nested too deep here: expected at most 10000 levels, got 1";
    assert!(calls(20_000, "").contains(too_deep));
    assert!(calls(8, &"^ a".repeat(4000)).contains(too_deep));
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

/// A name list of so many.
fn names(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect()
}

#[test]
fn structs_of_thousands_of_fields() {
    let fields = names(4000, |k| format!("f{k}: u8, "));
    let [values, patterns] = ["b", "_"].map(|part| names(4000, |k| format!("f{k}: {part}, ")));
    let body =
        format!("let s = S {{ {values} }};\nlet S {{ {patterns} }} = s;\nmatch s {{ S {{ {patterns} }} => s.f3999 }}");
    assert_eq!(told(&format!("struct S {{ {fields} }}\n{}", main_of(&body))), "");
    // Wrong fields are told, with some of those that there are.
    let wrong = names(4000, |k| format!("g{k}: b, "));
    let refused = told(&format!("struct S {{ {fields} }}\n{}", main_of(&format!("let s = S {{ {wrong} }};\na"))));
    assert!(refused.contains("the struct `S` has no field `g0`"), "{}", &refused[..2000]);
    assert!(refused.contains(" and 3984 more\n") && refused.contains("7900 more errors"), "{}", &refused[..2000]);
    assert!(refused.len() < 100_000, "{}", refused.len());
}

#[test]
fn enums_of_thousands_of_variants() {
    let variants = names(20_000, |k| format!("V{k}, "));
    let arms = names(20_000, |k| format!("E::V{k} => a, "));
    let source = |body: &str| format!("enum E {{ {variants} }}\n{}", main_of(body));
    assert_eq!(told(&source(&format!("match E::V19999 {{ {arms} }}"))), "");
    let wrong = names(20_000, |k| format!("E::W{k} => a, "));
    let refused = told(&source(&format!("match E::V19999 {{ {wrong} }}")));
    assert!(refused.contains(" and 19984 more\n") && refused.contains("19900 more errors"), "{}", &refused[..2000]);
    assert!(refused.len() < 100_000, "{}", refused.len());
}

#[test]
fn names_that_there_are_not() {
    let variables = names(4_000, |k| format!("let value{k} = a;\n"));
    let unknown = names(4_000, |k| format!("volue{k};\n"));
    let refused = told(&main_of(&format!("{variables}{unknown}a")));
    assert!(refused.contains("did you mean `value0`?") && refused.contains("3900 more errors"), "{}", &refused[..2000]);
}

#[test]
fn empty_arrays_of_empty_arrays() {
    // The type of each variable has twice the parts of that of the variable before.
    let variables: String = (0..60).map(|k| format!("let e{k} = [];\n")).collect();
    let pairs: String =
        (1..60).map(|k| format!("let p{k} = if a > b {{ e{k} }} else {{ [(e{0}, e{0}); 0] }};\n", k - 1)).collect();
    let refused = told(&main_of(&format!("{variables}{pairs}let l: [u8; 0] = e0;\na")));
    assert!(
        refused.contains("a type in this function is too large: expected at most 16384 parts, got more"),
        "{refused}"
    );
}

#[test]
fn limits_say_what_is_expected() {
    let within =
        |open: &str, count: usize, close: &str| main_of(&format!("{}a{}", open.repeat(count), close.repeat(count)));
    let deep_type = format!("{}u8{}", "[".repeat(80), "; 1]".repeat(80));
    let long = format!("// {}\n{}", "x".repeat(1 << 20), main_of("a"));
    for (source, expected) in [
        (within("(", 200, ")"), "this is nested too deep: expected at most 128 levels, got more"),
        (
            main_of(&format!("a{}", " ^ b".repeat(5000))),
            "this is nested too deep: expected at most 4096 nested operators, got more",
        ),
        (
            format!("pub fn main(a: {deep_type}, b: u8) -> u8 {{ b }}"),
            "this type is nested too deep: expected at most 64 levels, got more",
        ),
        (
            "pub fn main(a: [u8; 20000000], b: u8) -> u8 { b }".into(),
            "this array is too large: expected at most 16777216 elements, got 20000000",
        ),
        (
            "pub fn main(a: u8) -> [[(); 8192]; 8193] { [[(); 8192]; 8193] }".into(),
            "the result is too large: expected at most 67108864 values, got 67117056",
        ),
        (
            "pub fn main(a: [u8; 70000]) -> u8 { a[0] }".into(),
            "`main` has too many inputs: expected at most 65536, one per party, got more",
        ),
        (long, "this source is too long: expected at most 1048576 bytes, got more"),
    ] {
        let refused = told(&source);
        assert!(refused.contains(expected) && refused.contains("hint: "), "{expected}: {refused}");
    }
}
