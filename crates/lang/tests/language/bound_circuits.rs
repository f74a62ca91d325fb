//! Circuits that stand for functions of a source.

use garblet_circuit::{Bits, Program, diagnostic::Diagnostics, evaluate};
use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};

const SOURCE: &str = "fn twice(a: u16, b: u16) -> u16 { (a + b) * 2u16 }\n\
    fn product(a: u8, b: u8) -> u16 { a as u16 * b as u16 }\n\
    pub fn main(x: [u8; 4], y: [u8; 4]) -> (u16, u16) {\n\
        let mut sum = 0u16;\n\
        let mut i = 0usize;\n\
        for a in x { sum = sum ^ product(a, y[i]); i = i + 1usize; }\n\
        (sum, product(x[0], 3u8))\n}\n\
    pub fn unused(a: u16) -> u16 { twice(a, a) }";

fn load(externs: &str) -> Result<Program, Diagnostics> {
    load_source(SOURCE, externs)
}

fn load_source(source: &str, externs: &str) -> Result<Program, Diagnostics> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.garble.rs"), source).expect("written");
    let file = folder.path().join("p.json");
    std::fs::write(&file, format!("{{\"source\": \"s.garble.rs\", \"externs\": {externs}}}")).expect("written");
    let front_ends = FrontEnds::standard().with(Language { options: Options { panics: false, ..Options::default() } });
    front_ends.load(&file.display().to_string())
}

fn fails(externs: &str) -> String {
    let error = load(externs).expect_err("an error");
    error.iter().map(|d| format!("{} hint: {}\n", d.message, d.hint.as_deref().unwrap_or_default())).collect()
}

#[test]
fn a_bound_circuit_gives_what_the_body_gives() {
    let body = load("{}").expect("a program");
    let bound = load("{\"product\": \"lib:mul-full(8)\"}").expect("a program");
    let instances = |name: &str| {
        let of = |k: usize| bound.component_of(garblet_circuit::InstanceId(k as u32)).name() == name;
        (0..bound.instance_count()).filter(|&k| of(k)).count()
    };
    assert_eq!(instances("mul-full(8)"), 5);
    for seed in 0..64u128 {
        let input = |k: u128| Bits::from_u128((seed + k).wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0xffff_ffff, 32);
        let inputs = [input(1), input(7)];
        assert_eq!(evaluate(&bound, &inputs), evaluate(&body, &inputs));
    }
    assert_eq!(crate::reference::compile(SOURCE, &[], false).expect("a program").digest(), body.digest());
}

#[test]
fn a_circuit_may_stand_for_a_function_of_floating_point_numbers() {
    let source = "fn sum(a: f64, b: f64) -> f64 { a + b }\n\
        pub fn main(a: f64, b: f64) -> f64 { sum(a, sum(b, 0.25)) * 2.0 }";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.garble.rs"), source).expect("written");
    let load = |externs: &str| {
        let file = folder.path().join("p.json");
        std::fs::write(&file, format!("{{\"source\": \"s.garble.rs\", \"externs\": {externs}}}")).expect("written");
        let front_ends = FrontEnds::standard().with(Language { options: Options::default() });
        front_ends.load(&file.display().to_string()).unwrap_or_else(|e| panic!("{}", e.render()))
    };
    let (body, bound) = (load("{}"), load("{\"sum\": \"lib:f64-add\"}"));
    assert!(bound.instance_count() > 1 && bound.digest() != body.digest());
    for (a, b) in [(1.5f64, -2.75), (1e300, 1e300), (f64::INFINITY, f64::NEG_INFINITY), (-0.0, 5e-324)] {
        let inputs = [a, b].map(|number| Bits::from_u128(number.to_bits().into(), 64));
        let outputs = evaluate(&bound, &inputs);
        assert_eq!(outputs, evaluate(&body, &inputs), "{a:?} and {b:?}");
        let expected = (a + (b + 0.25)) * 2.0;
        let got = f64::from_bits(outputs[0].to_u128().expect("64 bits") as u64);
        assert!(got == expected || got.is_nan() && expected.is_nan(), "{a:?} and {b:?}: {got:?}");
    }
}

#[test]
fn circuits_that_do_not_fit_are_refused() {
    let message = fails("{\"product\": \"lib:add(8)\"}");
    assert!(
        message.contains("the circuit `add(8)` cannot replace `product`: expected a result u16, got (sum: u8)"),
        "{message}"
    );
    let message = fails("{\"product\": \"lib:mul-full(16)\"}");
    assert!(message.contains("expected inputs (a: u8, b: u8), got (a: u16, b: u16)"), "{message}");
}

#[test]
fn functions_and_circuits_that_there_are_not_are_named() {
    let message = fails("{\"prodact\": \"lib:mul-full(8)\"}");
    assert!(
        message.contains("there is no function `prodact` that `main` calls hint: did you mean `product`?"),
        "{message}"
    );
    let message = fails("{\"main\": \"lib:mul-full(8)\"}");
    assert!(message.contains("there is no function `main` that `main` calls"), "{message}");
    let message = fails("{\"product\": \"lib:mull\"}");
    assert!(message.contains("externs: `product`: lib:mull: no library circuit `mull`"), "{message}");
    let message = fails("{\"product\": 3}");
    assert!(message.contains("externs: `product`: expected a string, got 3"), "{message}");
}

#[test]
fn a_constant_may_call_what_a_circuit_stands_for_and_is_no_function() {
    let source = "fn product(a: u8, b: u8) -> u16 { a as u16 * b as u16 }\n\
        const TABLE: [u16; 4] = [product(3, 5), 7, product(250, 250), 9];\n\
        pub fn main(x: u8, y: u8) -> u16 { product(x, y) ^ TABLE[(x & 3) as usize] ^ TABLE[2] }";
    let load = |externs| load_source(source, externs);
    let (body, bound) =
        (load("{}").expect("a program"), load("{\"product\": \"lib:mul-full(8)\"}").expect("a program"));
    for x in (0..256u128).step_by(5) {
        let inputs = [x, 255 - x].map(|value| Bits::from_u128(value, 8));
        assert_eq!(evaluate(&bound, &inputs), evaluate(&body, &inputs), "{x}");
    }
    // The constant's own call is no instance of the circuit.
    assert_eq!(bound.counts().and, body.counts().and);
    let divided = "fn sum(a: u8, b: u8) -> u8 { a + b }\nconst TABLE: [u8; 1] = [100 / sum(0, 0)];\n\
        pub fn main(a: u8, b: u8) -> u8 { sum(a, b) }";
    let error = load_source(divided, "{\"sum\": \"lib:add(8)\"}").expect_err("a constant that panics");
    assert!(error.to_string().contains("division by zero"), "{error}");
    let error = load("{\"TABLE\": \"lib:mul-full(8)\"}").expect_err("a constant");
    let told = error.iter().next().expect("a fault");
    assert_eq!(told.message, "externs: there is no function `TABLE` that `main` calls");
    assert_eq!(told.hint.as_deref(), Some("available: product"));
}
