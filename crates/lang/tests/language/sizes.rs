//! Functions over sizes, functions other than `main`, types in parentheses, and byte strings at ports.

use std::collections::HashSet;

use garblet_circuit::{Bits, Program, Type, evaluate};
use garblet_formats::{front_end::FrontEnds, value::to_json};
use garblet_lang::{Language, Options};

use crate::reference::compile;

const SUM: &str =
    "fn sum<const N: usize>(data: [u16; N]) -> u32 { let mut s = 0u32; for x in data { s += x as u32; } s }
pub fn main(a: [u16; 4], b: [u16; 8]) -> u32 { sum(a) + sum(b) }";

fn program(text: &str) -> Program {
    compile(text, &[], true).unwrap_or_else(|error| panic!("{}", error.render()))
}

fn refusal(text: &str) -> String {
    compile(text, &[], true).err().unwrap_or_else(|| panic!("accepted: {text}")).render()
}

/// Compiles a function of a source.
fn function(text: &str, function: &str) -> Result<Program, String> {
    let options = Options { function: function.into(), ..Options::default() };
    let front_ends = FrontEnds::standard().with(Language { options });
    front_ends.read("main.garble.rs", &mut text.as_bytes()).map_err(|error| error.render())
}

#[test]
fn a_function_over_sizes_costs_what_its_instances_cost_written_out() {
    let out = |n: usize| {
        format!("fn sum{n}(data: [u16; {n}]) -> u32 {{ let mut s = 0u32; for x in data {{ s += x as u32; }} s }}\n")
    };
    let written = out(4) + &out(8) + "pub fn main(a: [u16; 4], b: [u16; 8]) -> u32 { sum4(a) + sum8(b) }";
    assert_eq!(program(SUM).stats().and, program(&written).stats().and);
}

#[test]
fn a_list_gives_its_room_and_an_array_its_length() {
    let text = "fn most<const N: usize>(data: [u8; ..N]) -> usize { data.len() * 100 + N }
pub fn main(a: [u8; ..3], b: u8) -> (usize, usize) { (most(a), most([b, b])) }";
    let own = program(text);
    // Two values of three.
    let list = Bits::from_u128(2 | 7 << 2 | 8 << 10, 26);
    let outputs = evaluate(&own, &[list, Bits::from_u128(9, 8)]);
    let shown: Vec<String> =
        outputs.iter().take(2).map(|bits| to_json(&Type::Unsigned(32), bits).to_string()).collect();
    assert_eq!(shown, ["203", "202"]);
}

#[test]
fn sizes_of_results_may_be_computed() {
    let text = "fn ends<const N: usize>(a: [u8; N]) -> [u8; 2 * N] { let mut r = [0; N + N]; for i in 0..N { r[2 * i] = a[i]; } r }
pub fn main(a: [u8; 2], b: u8) -> [u8; 4] { ends(a) }";
    let outputs = evaluate(&program(text), &[Bits::from_u128(0x0201, 16), Bits::from_u128(0, 8)]);
    assert_eq!(outputs[0].to_u128(), Some(0x0002_0001));
}

#[test]
fn what_nothing_calls_is_warned_about_even_if_it_is_public() {
    let text = "pub fn f<const N: usize>(a: [u8; N]) -> u8 { wrong }\npub fn main(a: u8, b: u8) -> u8 { a ^ b }";
    let warnings: Vec<String> = program(text).notes().warnings.iter().map(|warning| warning.render()).collect();
    assert!(warnings[0].contains("the function `f` is never called"), "{warnings:?}");
    assert!(
        warnings[0].contains("hint: call `f`, or remove it: without a call its sizes are not known"),
        "{warnings:?}"
    );
}

#[test]
fn instances_with_the_same_warning_have_it_once() {
    let text = "fn f<const N: usize>(a: u8) -> u8 { match a { 0..=255 => 1, 3 => 2 } }
pub fn main(a: u8, b: u8) -> u8 { f::<1>(a) ^ f::<2>(b) }";
    assert_eq!(program(text).notes().warnings.len(), 1);
}

#[test]
fn recursion_over_sizes_is_refused() {
    let text = "fn f<const N: usize>(a: [u8; N]) -> u8 { f::<{ N - 1 }>([0; N - 1]) }\npub fn main(a: [u8; 3], b: u8) -> u8 { f(a) }";
    assert!(refusal(text).contains("the function `f` is recursive"), "{}", refusal(text));
}

#[test]
fn instances_are_bounded() {
    // Each function calls the next one with two sizes, so that the last would have 2^24 instances.
    let mut text = String::new();
    for k in 0..24 {
        let (next, more) = (k + 1, 1 << k);
        text +=
            &format!("fn f{k}<const N: usize>(a: u8) -> u8 {{ f{next}::<N>(a) ^ f{next}::<{{ N + {more} }}>(a) }}\n");
    }
    text += "fn f24<const N: usize>(a: u8) -> u8 { a }\npub fn main(a: u8, b: u8) -> u8 { f0::<1>(a) ^ b }";
    let error = refusal(&text);
    assert!(error.contains("functions over sizes have too many instances"), "{error}");
    assert!(error.contains("hint: call them with fewer different sizes"), "{error}");
}

#[test]
fn any_public_function_can_be_compiled() {
    let text = "pub fn score(a: u8, b: u8) -> u8 { double(a) ^ b }\npub fn double(a: u8) -> u8 { once(a) + of::<3>(a) }\nfn own(a: u8) -> u8 { a }
fn once(a: u8) -> u8 { a }\nfn of<const N: usize>(a: u8) -> u8 { a }";
    let own = function(text, "score").expect("a program");
    assert_eq!(own.inputs().len(), 2);
    assert_eq!(evaluate(&own, &[5, 3].map(|x| Bits::from_u128(x, 8)))[0].to_u128(), Some(9));
    assert_eq!(function(text, "double").expect("a program").inputs().len(), 1);
    for (name, message, hint) in [
        ("main", "there is no function `main`", "compile another one: `--function double`"),
        ("scor", "there is no function `scor`", "compile another one: `--function score`"),
        ("own", "`own` is not public", "write `pub fn own(..)`"),
        // Even if a public function calls it.
        ("once", "`once` is not public", "write `pub fn once(..)`"),
        ("of", "the size `N` of `of` is not known", "make it a constant of a party: `const N: usize = PARTY_0::N;`"),
        ("of::<3>", "there is no function `of::<3>`", "compile another one: `--function double`"),
    ] {
        let error = function(text, name).expect_err("no such function");
        assert!(error.contains(message) && error.contains(hint), "{error}");
    }
}

#[test]
fn a_type_in_parentheses_is_a_tuple_where_only_that_is_right() {
    for text in [
        "pub fn main(a: u8, b: u8) -> u8 {\n    let x: (u8) = (a,);\n    b ^ x.0\n}",
        "fn f(x: (u8)) -> (u8) { (x.0,) }\npub fn main(a: u8, b: u8) -> u8 { f((a,)).0 ^ b }",
        "struct S { x: (u8) }\npub fn main(a: u8, b: u8) -> u8 { let s = S { x: (a,) }; s.x.0 ^ b }",
    ] {
        let own = program(text);
        assert_eq!(evaluate(&own, &[5, 3].map(|x| Bits::from_u128(x, 8)))[0].to_u128(), Some(6), "{text}");
        let warnings: Vec<String> = own.notes().warnings.iter().map(|warning| warning.render()).collect();
        assert_eq!(warnings.len(), text.matches("(u8)").count(), "{warnings:?}");
        assert!(warnings[0].contains("this type is read as a tuple of one, as `garble_lang` does"), "{warnings:?}");
        assert!(warnings[0].contains("hint: write `(T,)`: in Rust, `(T)` is T"), "{warnings:?}");
    }
    // By Rust's rules it is right, or by neither.
    let right = "pub fn main(a: (u8), b: u8) -> u8 { let x: (u8) = a; x ^ b }";
    assert!(program(right).notes().warnings.is_empty());
    let error = refusal("pub fn main(a: u8, b: u16) -> u8 {\n    let x: (u8) = (b,);\n    a\n}");
    assert!(error.contains("expected u8, got (u16,)"), "{error}");
}

#[test]
fn arrays_of_bytes_are_byte_strings_where_the_source_says_hex() {
    let text = "struct Out { digest: [u8; 4], parts: [[u8; 2]; 2], count: u8, wide: [u16; 2] }
#[hex]
pub fn main(a: [u8; 4], b: u8) -> Out { Out { digest: a, parts: [[b, a[1]], [0x10, 0xff]], count: b, wide: [1, 2] } }";
    let own = program(text);
    let plain = program(&text.replace("#[hex]", ""));
    assert_eq!(own.inputs()[0].port.ty, Type::Bytes(4));
    let inputs = [Bits::from_u128(0x4433_2211, 32), Bits::from_u128(0xab, 8)];
    let outputs = evaluate(&own, &inputs);
    // The wires are the same.
    assert_eq!(outputs, evaluate(&plain, &inputs));
    let shown = own.outputs().iter().zip(&outputs);
    let shown: Vec<String> = shown.map(|(output, bits)| to_json(&output.port.ty, bits).to_string()).collect();
    assert_eq!(shown, ["171", r#"{"hex":"11223344"}"#, r#"[{"hex":"ab22"},{"hex":"10ff"}]"#, "[1,2]"]);
}

struct Random(u64);

impl Random {
    fn bit(&mut self) -> bool {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 63 == 1
    }

    /// Inputs with bits at these places, all others zero.
    fn inputs(&mut self, program: &Program, place: impl Fn(u64) -> bool) -> Vec<Bits> {
        let widths = program.inputs().iter().map(|input| input.port.ty.width());
        widths.map(|width| (0..width).map(|at| place(at) && self.bit()).collect()).collect()
    }
}

/// Checks of sums are the same, the first that fails among them, whether sums of a loop are checked together or not.
#[test]
fn sums_of_loops_fail_where_each_sum_would() {
    let sources = [
        "pub fn main(a: [u32; 6], b: [u32; 6]) -> u32 { let mut s = 0u32; for x in a { s += x; } for x in b { s = x + s; } s }",
        "pub fn main(a: [u32; 6], b: [u32; 6]) -> (u32, u32) { let mut s = 0u32; let mut t = 0u32; for i in 0..6 { s += a[i]; t += b[i]; s += 3; } (s, t) }",
        "pub fn main(a: [u32; 6], b: [u32; 6]) -> u32 { let mut s = 9u32; for i in 0..6 { if a[i] > b[i] { s += a[i]; } s += b[i]; } s }",
        "pub fn main(a: [u32; 6], b: [u32; 6]) -> u32 { let mut s = 0u32; for i in 0..6 { if a[0] > 9 { s += a[i]; if b[0] > 9 { s += b[i]; } else { s += 1; } } else { s += b[i]; } } s }",
        "pub fn main(a: [u32; 6], b: [u32; 6]) -> u32 { let mut s = 0u32; let mut least = 4294967295u32; for i in 0..6 { s += a[i]; least = least.min(s); } least + b[0] }",
        "pub fn main(a: [u32; 6], b: [u32; 6]) -> [u32; 6] { let mut s = a; for i in 1..6 { s[i] += s[i - 1]; } for i in 0..6 { s[i] -= b[i]; } s }",
        "pub fn main(a: [u32; 6], b: [u32; 6]) -> u32 { let mut s = 0u32; let mut t = 0u32; for i in 0..6 { s += a[i]; t = t ^ (a[i] - b[i]); } s ^ t }",
        "fn f(s: u32, x: u32) -> u32 { s + x } pub fn main(a: [u32; 6], b: u32) -> u32 { let mut s = f(a[0], a[1]); if (b & 1) == 1 { s = f(s, a[2]); } s.wrapping_mul(a[5]) }",
        "fn f(s: u32, x: u32) -> u32 { s + x } pub fn main(a: [u32; 6], b: u32) -> u32 { let mut s = a[0]; if (b & 1) == 1 { s = f(a[0], a[1]); if (a[3] & 1) == 1 { s = f(s, a[2]); } s = f(s, a[4]); } s.wrapping_mul(a[5]) }",
        "pub fn main(a: [u32; 6], b: [u32; 6]) -> u32 { let mut s = 0u32; for i in 0..6 { s += a[i] / b[i]; s += a[i] - b[i]; } s }",
    ];
    let mut random = Random(2);
    for text in sources {
        let programs = [text, &text.replace("pub fn main", "#[depth]\npub fn main")].map(program);
        let panics =
            programs[0].outputs().iter().position(|output| output.port.name == "panic").expect("there are checks");
        assert!(programs[1].stats().and_depth < programs[0].stats().and_depth, "{text}");
        let mut seen = HashSet::new();
        for run in 0..200 {
            let few = [2, 29, 31, 32][run % 4];
            let inputs = random.inputs(&programs[0], |at| at % 32 < few);
            let [few_gates, few_layers] = programs.each_ref().map(|program| evaluate(program, &inputs));
            assert!(few_gates[panics] == few_layers[panics], "{text}");
            seen.insert(few_gates[panics].to_u128());
            assert!(few_gates[panics].to_u128() != Some(0) || few_gates == few_layers, "{text}");
        }
        assert!(seen.contains(&Some(0)) && seen.len() > 1, "{text}: {seen:?}");
    }
}

/// Sums of many numbers share their carries, however many there are. Where no layer is saved, no gate is spent.
#[test]
fn more_layers_are_never_the_price_of_depth() {
    let sum = |count: usize| {
        let body = "let mut s = b; for x in a { s = s.wrapping_add(x); } s";
        format!("pub fn main(a: [u64; {count}], b: u64) -> u64 {{ {body} }}")
    };
    let products = |count: usize| {
        let body = "s = s.wrapping_add(a[i].wrapping_mul(b[i]));";
        format!(
            "pub fn main(a: [u32; {count}], b: [u32; {count}]) -> u32 {{ let mut s = 0u32; for i in 0..{count} {{ {body} }} s }}"
        )
    };
    let checked = "pub fn main(a: [u32; 100], b: u32) -> u32 { let mut s = b; for x in a { s += x; } s }";
    let fibonacci = "pub fn main(a: u64, b: u64) -> u64 { let mut x = a; let mut y = b; for _i in 0..100 { let z = x.wrapping_add(y); x = y; y = z; } y }";
    let matches =
        "pub fn main(a: [u32; 1000], b: u32) -> u32 { let mut s = 0u32; for x in a { if x == b { s += 1; } } s }";
    let quotient = "pub fn main(a: u256, b: u8) -> u256 { a / 3 }";
    let sources: [(String, [[u64; 2]; 2]); 9] = [
        (sum(8), [[504, 63], [758, 9]]),
        (sum(100), [[6_300, 63], [6_436, 13]]),
        (sum(1_000), [[63_000, 63], [62_217, 16]]),
        (products(16), [[15_841, 32], [17_583, 19]]),
        (products(100), [[99_169, 32], [109_862, 27]]),
        (checked.into(), [[3_299, 131], [3_313, 18]]),
        (fibonacci.into(), [[6_274, 63], [6_274, 63]]),
        (matches.into(), [[39_662, 139], [38_987, 14]]),
        (quotient.into(), [[255, 255], [255, 255]]),
    ];
    let mut random = Random(1);
    for (text, expected) in sources {
        let programs = ["", "#[depth]\n"].map(|attribute| program(&format!("{attribute}{text}")));
        let stats = programs.each_ref().map(Program::stats);
        assert_eq!(stats.map(|stats| [stats.and, stats.and_depth]), expected, "{text}");
        for _ in 0..4 {
            let inputs = random.inputs(&programs[0], |_| true);
            let [few_gates, few_layers] = programs.each_ref().map(|program| evaluate(program, &inputs));
            assert!(few_gates == few_layers, "{text}");
        }
    }
}

#[test]
fn programs_have_few_layers_where_the_source_says_depth() {
    let sources = [
        ("pub fn main(a: u64, b: u64) -> u64 { a + b }", [63, 6]),
        ("pub fn main(a: u64, b: u64) -> bool { a < b }", [64, 7]),
        ("pub fn main(a: u32, b: u32) -> u32 { a * b }", [31, 12]),
        ("pub fn main(a: [u32; 8], b: u32) -> u32 { let mut s = b; for x in a { s += x; } s }", [31, 8]),
        ("pub fn main(a: f64, b: f64) -> f64 { a * b }", [220, 69]),
    ];
    for (text, layers) in sources {
        let unchecked = |text: &str| compile(text, &[], false).expect("it compiles");
        let [few_gates, few_layers] = [text, &format!("#[depth]\n{text}")].map(unchecked);
        let stats = [&few_gates, &few_layers].map(Program::stats);
        assert_eq!(stats.each_ref().map(|stats| stats.and_depth), layers, "{text}");
        assert!(stats[0].and < stats[1].and, "{text}");
    }
    // It is the function that the program begins with that says so.
    let helper = "#[depth]\nfn f(a: u64, b: u64) -> u64 { a + b }\npub fn main(a: u64, b: u64) -> u64 { f(a, b) }";
    assert_eq!(compile(helper, &[], false).expect("it compiles").stats().and_depth, 63);
}

/// The iterations of a loop differ where regions of few layers begin and end, so each has a component of its own.
#[test]
fn few_layers_that_would_take_more_than_the_default_effort_are_left_out() {
    let text = "pub fn main(a: [u32; 60]) -> u32 { let mut s = 0u32; for i in 0..60 { for j in 0..60 { if a[i] == a[j] { s = s.wrapping_add(a[i].wrapping_mul(a[j])); } } } s }";
    let [few_gates, few_layers] = ["", "#[depth]\n"].map(|attribute| program(&format!("{attribute}{text}")));
    assert_eq!(few_layers.digest(), few_gates.digest());
}
