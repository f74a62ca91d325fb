//! Limits of what compiling may cost: sources of a few lines that would take hours or all memory are refused, and those that people write
//! are not.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};

/// A refusal: the rest of its message, and its hint.
struct Refused(String);

fn compile(text: &str, effort: u64, constants: &[(&str, &str)]) -> Result<usize, Refused> {
    let mut options = Options { effort, ..Options::default() };
    constants.iter().for_each(|(name, value)| options.constants.set(name, value).expect("a constant"));
    let read = FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut text.as_bytes());
    read.map(|program| program.instance_count()).map_err(|error| Refused(error.render()))
}

/// Looks whether the source is refused for what it costs.
fn refused(name: &str, text: &str, effort: u64) -> String {
    assert!(text.len() <= 2048, "{name}: {} bytes", text.len());
    let Err(Refused(rendered)) = compile(text, effort, &[]) else { panic!("{name} is accepted") };
    assert!(rendered.contains("compiling takes more than "), "{name}: {rendered}");
    assert!(rendered.contains(" of them for line "), "{name}: {rendered}");
    assert!(rendered.contains(&format!("`--effort {}`", 4 * effort)), "{name}: {rendered}");
    rendered
}

/// Functions of which each calls the one before twice.
fn doubled_calls(innermost: &str) -> String {
    let calls: String = (1..40).map(|k| format!("fn f{k}(a: u8) -> u8 {{ f{}(f{0}(a)) }}\n", k - 1)).collect();
    format!("fn f0(a: u8) -> u8 {{ {innermost} }}\n{calls}pub fn main(a: u8, b: u8) -> u8 {{ f39(a) ^ b }}")
}

/// A type of 2^levels parts, by structs of two.
fn doubled_structs(innermost: &str, levels: usize) -> String {
    let structs: String = (1..levels).map(|k| format!("struct S{k} {{ a: S{}, b: S{0} }}\n", k - 1)).collect();
    format!("struct S0 {{ {innermost} }}\n{structs}")
}

const GATHER: &str = "pub fn main(a: usize, b: u8) -> u8 {
    let t = [0u8; 1000000];
    let mut s = b;
    for k in 0usize..1000000usize {
        s = s ^ t[a & 1048575usize];
    }
    s
}";
const COPY: &str = "pub fn main(a: u8, b: u8) -> u8 {
    let t = [a; 1000000];
    let mut s = b;
    for k in 0usize..1000000usize {
        let u = t;
        s = s ^ u[3];
    }
    s
}";
const MEMORY: &str = "pub fn main(a: u8, b: u8) -> u8 {
    let t = [a; 16000000];
    t[3] ^ b
}";

#[test]
fn the_line_that_takes_most_is_named() {
    let gather = refused("gather", GATHER, Options::EFFORT);
    assert!(gather.starts_with("compiling takes more than 200,000,000 units of work, 2"), "{gather}");
    assert!(gather.contains(" of them for line 5 in `main`\n --> main.garble.rs:5:"), "{gather}");
    let copy = refused("copy", COPY, Options::EFFORT);
    assert!(copy.contains(" of them for line 5 in `main`\n --> main.garble.rs:5:"), "{copy}");
    let calls = refused("calls", &doubled_calls("a ^ 1u8"), Options::EFFORT);
    assert!(calls.contains(" of them for line 1 in `f0`\n --> main.garble.rs:1:"), "{calls}");
    let memory = refused("memory", MEMORY, Options::EFFORT);
    assert!(memory.starts_with("compiling takes more than 633 MB of memory, "), "{memory}");
    assert!(memory.contains(" of them for line 2 in `main`\n --> main.garble.rs:2:"), "{memory}");
}

/// Sources that take too much of one thing each.
fn sources() -> Vec<(&'static str, String)> {
    [
        of_loops_and_rows(),
        of_copies_and_calls(),
        of_secret_indices_and_wide_numbers(),
        of_constants_and_wiring(),
        of_branches_and_outputs(),
        of_ways_and_pieces(),
    ]
    .concat()
}

/// Loops, enums, sorts and joins.
fn of_loops_and_rows() -> Vec<(&'static str, String)> {
    let main = |text: &str| format!("pub fn main{text}");
    let variants: String = (0..50).map(|k| format!("V{k}(u8), ")).collect();
    let arms: String = (0..50).map(|k| format!("E::V{k}(x) => x ^ {k}u8, ")).collect();
    let enumeration = format!("enum E {{ {variants}}}\n");
    vec![
        (
            "empty loops",
            main("(a: u8, b: u8) -> u8 { for i in 0usize..100000usize { for j in 0usize..100000usize { } } a ^ b }"),
        ),
        (
            "match",
            format!(
                "{enumeration}pub fn main(a: E, b: u8) -> u8 {{ let mut s = b; for i in 0usize..10000000usize {{ s = s ^ match a {{ {arms}}}; }} s }}"
            ),
        ),
        (
            "equal enums",
            format!(
                "{enumeration}pub fn main(a: [E; 50], b: [E; 50]) -> bool {{ let mut s = true; for i in 0usize..1000000usize {{ s = s ^ (a == b); }} s }}"
            ),
        ),
        ("a large sort", main("(a: [u32; 1000000], b: u8) -> u32 { sort(a)[7] }")),
        (
            "many sorts",
            main(
                "(a: [u32; 4000], b: u8) -> u32 { let mut s = a; for i in 0usize..1000usize { s = sort(s); s[0] = s[0] ^ 77u32; } s[7] }",
            ),
        ),
        (
            "keep",
            main(
                "(a: [(bool, u32); 100000], b: u8) -> u32 { let mut s = 0u32; for i in 0usize..100usize { for x in keep(a) { s = s ^ x; } } s }",
            ),
        ),
        (
            "join",
            main(
                "(a: [(u32, u32); 500000], b: [(u32, u32); 500000]) -> u32 { let mut s = 0u32; for p in join_iter(a, b) { s = s ^ p.0.1; } s }",
            ),
        ),
    ]
}

/// Copies, calls and comparisons of much.
fn of_copies_and_calls() -> Vec<(&'static str, String)> {
    let main = |text: &str| format!("pub fn main{text}");
    let locals: String = (0..50).map(|k| format!("let x{k} = a; ")).collect();
    let path = "a.".repeat(10);
    vec![
        (
            "struct copies",
            format!(
                "{}pub fn main(a: S10, b: u8) -> u8 {{ let mut s = b; for i in 0usize..100000000usize {{ let x = a; s = s ^ x.{path}a; }} s }}",
                doubled_structs("a: u8, b: u8", 11)
            ),
        ),
        (
            "copies of nothing",
            format!(
                "{}pub fn main(a: S10, b: u8) -> u8 {{ for i in 0usize..1000000000usize {{ let x = a; }} b }}",
                doubled_structs("", 11)
            ),
        ),
        (
            "arrays of nothing",
            main(
                "(a: [[(); 16000000]; 16000000], b: u8) -> u8 { let t = [(); 16000000]; let u = [t; 16000000]; for x in u { for y in x { } } b }",
            ),
        ),
        ("calls without gates", doubled_calls("a")),
        (
            "variables",
            format!(
                "fn g(a: u8) -> u8 {{ {locals} x5 }}\npub fn main(a: u8, b: u8) -> u8 {{ let mut s = b; for i in 0usize..1000000000usize {{ s = g(s); }} s }}"
            ),
        ),
        ("equal arrays", main("(a: [u8; 4000000], b: [u8; 4000000]) -> bool { a == b }")),
    ]
}

/// Secret indices, and numbers of 128 bits.
fn of_secret_indices_and_wide_numbers() -> Vec<(&'static str, String)> {
    let main = |text: &str| format!("pub fn main{text}");
    vec![
        (
            "a secret index in nested loops",
            main(
                "(a: u32, b: [u32; 64]) -> u32 { let mut s = a; for i in 0usize..100000usize { for j in 0usize..1000usize { s = s ^ b[(s & 63u32) as usize]; } } s }",
            ),
        ),
        (
            "two secret indices",
            main(
                "(a: u16, b: [[u8; 1000]; 1000]) -> u8 { let mut s = 0u8; for i in 0usize..1000usize { s = s ^ b[(a & 511u16) as usize][((a >> 3u8) & 511u16) as usize]; } s }",
            ),
        ),
        (
            "writes at a secret index",
            main(
                "(a: u32, b: u8) -> [u8; 200000] { let mut t = [b; 200000]; for i in 0usize..1000usize { t[(a & 131071u32) as usize] = i as u8; } t }",
            ),
        ),
        (
            "arrays of arrays",
            main(
                "(a: u8, b: u8) -> u8 { let r = [a; 1000]; let t = [r; 1000]; let mut s = b; for i in 0usize..1000usize { let v = t; s = s ^ v[i][i]; } s }",
            ),
        ),
        (
            "wide products",
            main(
                "(a: u128, b: u128) -> u128 { let mut x = a; for i in 0usize..1000000usize { x = (x ^ (i as u128)) * b; } x }",
            ),
        ),
        (
            "wide roots",
            main(
                "(a: u128, b: u128) -> u128 { let mut s = a; for i in 0usize..1000000usize { s = s ^ sqrt(a ^ (i as u128)); } s }",
            ),
        ),
    ]
}

/// Values that are computed while compiling, and what is wiring.
fn of_constants_and_wiring() -> Vec<(&'static str, String)> {
    let main = |text: &str| format!("pub fn main{text}");
    let constants: String = (1..30).map(|k| format!("const C{k}: usize = C{} + C{0};\n", k - 1)).collect();
    let wide = format!("0x{}", "f7".repeat(250));
    vec![
        (
            "quotients of wide numbers",
            main(&format!(
                "(a: u8, b: u8) -> bool {{ let x = -{wide}i4096; let y = 0x{}i4096; let mut t = x; for k in 0usize..8000000usize {{ t = x / y; }} t < y }}",
                "e3".repeat(125)
            )),
        ),
        (
            "wide numbers",
            main(
                "(a: u8, b: u8) -> bool { let mut s = u4096::MAX; for k in 0usize..8000000usize { s = (s / 3) ^ (s >> 1) ^ (k as u4096); } s == 0 }",
            ),
        ),
        (
            "bits of wide numbers",
            main(
                "(a: u8, b: u8) -> u32 { let mut x: u4096 = 5; let mut t = 0u32; for k in 0usize..1000000usize { t = t.wrapping_add(x.leading_zeros()); x = x.wrapping_add(3); } t }",
            ),
        ),
        (
            "exclusive or",
            main(
                "(a: u128, b: [u128; 64]) -> u128 { let mut x = a; for i in 0usize..10000000usize { x = x ^ b[i & 63usize] ^ (i as u128 * 1267650600228229401496703205377u128); x = (x >> 1u8) ^ (x << 1u8); } x }",
            ),
        ),
        (
            "wiring",
            main(
                "(a: u128, b: u128) -> [u128; 3000] { let mut t = [a; 3000]; for j in 0usize..1000usize { for i in 0usize..3000usize { t[i] = (t[i] << 1u8) & 113427455640312821154458202477256070485u128; } } t }",
            ),
        ),
        (
            "computed constants",
            main(
                "(a: u8, b: u8) -> u64 { let mut x = 1u64; for i in 0usize..1000000000usize { x = (x * 3u64 + 1u64) & 65535u64; } x ^ (a as u64) }",
            ),
        ),
        (
            "computed roots",
            main(
                "(a: u8, b: u8) -> u64 { let mut x = 0u64; for i in 0..100000000 { x = x ^ sqrt(i as u64); } x ^ (a as u64) }",
            ),
        ),
        (
            "constants of constants",
            format!(
                "const C0: usize = 1usize;\n{constants}pub fn main(a: [u8; C10], b: u8) -> u8 {{ let mut s = b; for i in 0usize..C29 {{ s = s ^ a[0]; }} s }}"
            ),
        ),
    ]
}

/// Branches, types and outputs of many words.
fn of_branches_and_outputs() -> Vec<(&'static str, String)> {
    let main = |text: &str| format!("pub fn main{text}");
    let chain: String = (0..30).map(|k| format!("if s == {k}u32 {{ a ^ {k}u32 }} else ")).collect();
    let filled: String = (0..20).map(|k| format!("{k}u8 => {{ t = [{k}u8; 500000]; 1u8 }}, ")).collect();
    vec![
        ("sizes of types", main("(a: [[[[u8; 200]; 200]; 200]; 2], b: u8) -> u8 { a[0][0][0][0] ^ b }")),
        (
            "else if",
            main(&format!(
                "(a: u32, b: u32) -> u32 {{ let mut s = b; for i in 0usize..1000000usize {{ s = {chain}{{ a }}; }} s }}"
            )),
        ),
        (
            "branches",
            main(
                "(a: bool, b: u8) -> u8 { let mut t = [b; 1000]; for i in 0usize..100000000usize { if a { for j in 0usize..1000usize { t[j] = b ^ t[999]; } } else { t[i & 511usize] = b; } } t[5] }",
            ),
        ),
        (
            "changes in a branch",
            main(
                "(a: bool, b: u8) -> u8 { let mut t = b; let mut u = 1u8; if a { for i in 0usize..100000000usize { let v = t; t = u; u = v; } } else { } t }",
            ),
        ),
        (
            "changes in arms",
            main(&format!("(a: u8, b: u8) -> u8 {{ let mut t = [b; 500000]; match a {{ {filled}_ => 0u8 }}; t[7] }}")),
        ),
        (
            "checks",
            main(
                "(a: u32, b: u32) -> u32 { let mut s = a; for i in 0usize..100000000usize { s = s + (b & 1u32); } s }",
            ),
        ),
        (
            "a large output",
            main("(a: u8, b: u8) -> [u128; 2000000] { [113427455640312821154458202477256070485u128; 2000000] }"),
        ),
        ("a large list", main("(a: u128, b: u8) -> [u128; ..500000] { let t: [u128; ..500000] = [a; 400000]; t }")),
    ]
}

/// Products with ever other constants, each of which has a shortest way to write it, and a word in pieces that every round reads.
fn of_ways_and_pieces() -> Vec<(&'static str, String)> {
    let main = |text: &str| format!("pub fn main{text}");
    vec![
        (
            "products with constants",
            main(
                "(a: u64, b: u8) -> u128 { let mut s = 0u128; let mut k = 3u128; for i in 0..100000 { k = (k * 6364136223846793005 + 1442695040888963407) & 18446744073709551615; s = s ^ ((a as u128) * (k | 1)); } s }",
            ),
        ),
        (
            "checked products with constants",
            main(
                "(a: u128, b: u8) -> u128 { let mut s = 0u128; let mut k = 3u128; for i in 0..100000 { k = (k * 6364136223846793005 + 1442695040888963407) & 18446744073709551615; s = s ^ (a * (k | 1)); } s }",
            ),
        ),
        (
            "a word in pieces",
            main(
                "(a: u128, b: u128) -> u128 { let mut p = 0u128; for i in 0..128 { p = p ^ (((a >> i) & 1) << (127 - i)); } let mut x = b; for i in 0..1000000 { x = x ^ ((x & 18446744073709551615) * (p & 18446744073709551615)); } x }",
            ),
        ),
        (
            "outputs in pieces",
            main(
                "(a: u128, b: u8) -> [u128; 400000] { let mut p = 0u128; for i in 0..128 { p = p ^ (((a >> i) & 1) << (127 - i)); } [p; 400000] }",
            ),
        ),
    ]
}

/// The most kilobytes that a source may take which has a hundredth of the budget, and one that has all of it.
const SHORT: u64 = 200_000;
const LONG: u64 = 1_000_000;

/// The most seconds of a processor that a source may take with this budget: three times what a chain of products takes for it, in the same
/// build on the same machine. Sources that are refused took at most half as long as the chain.
fn patience(effort: u64) -> u64 {
    const PRODUCTS: u64 = 20_000;
    let begin = Instant::now();
    compile(&chain(PRODUCTS), Options::EFFORT, &[]).unwrap_or_else(|Refused(error)| panic!("{error}"));
    // A million take half of the default.
    let share = PRODUCTS as f64 / 1e6 * Options::EFFORT as f64 / 2.0 / effort as f64;
    let seconds = 3.0 * begin.elapsed().as_secs_f64() / share;
    println!("a source may take {seconds:.1} seconds of a processor");
    seconds.ceil() as u64
}

/// A chain of so many products.
fn chain(rounds: u64) -> String {
    include_str!("../../../lab/src/compile/chain.garble.rs").replace("PARTY_0::N", &rounds.to_string())
}

/// The seconds that a busy machine may take for one of a processor.
const BUSY: u64 = 30;

/// Compiles a source in a process of its own, which ends with success if the source is refused as it is to be.
fn refused_in_a_process(name: &str, effort: u64, seconds: u64, kilobytes: u64) {
    let program = std::env::current_exe().expect("this test");
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v 3000000 2> /dev/null; ulimit -t {seconds}; exec \"$0\" \"$@\"")])
        .arg(program)
        .args(["--exact", "budget::one_source", "--nocapture"])
        .envs([("GARBLET_TEST_SOURCE", name), ("GARBLET_TEST_EFFORT", &effort.to_string())])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let begin = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begin.elapsed() > Duration::from_secs(BUSY * seconds) {
            child.kill().expect("a child");
            panic!("{name} takes more than {} seconds", BUSY * seconds);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("a child");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{name}, with {seconds} seconds of a processor: {}: {text}", output.status);
    let most =
        text.lines().find_map(|line| line.split_once("VmHWM:")).map(|(_, most)| most.trim().trim_end_matches(" kB"));
    let most: u64 = most.map_or(0, |most| most.parse().expect("a number"));
    println!("{name}: {} ms, {most} kB", begin.elapsed().as_millis());
    assert!(most < kilobytes, "{name}: {most} kB");
}

/// One source, in a process of its own.
#[test]
fn one_source() {
    let [Ok(name), Ok(effort)] = ["GARBLET_TEST_SOURCE", "GARBLET_TEST_EFFORT"].map(std::env::var) else { return };
    let effort = effort.parse().expect("a number");
    match sources().into_iter().find(|(own, _)| *own == name) {
        Some((_, text)) => drop(refused(&name, &text, effort)),
        None => {
            let Err(Refused(rendered)) = compile(&open_cases(), effort, &[]) else { panic!("accepted") };
            assert!(rendered.contains("this `match` has too many cases: expected at most "), "{rendered}");
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default());
}

/// A `match` whose patterns leave out some ten thousands of cases of a value of many parts.
fn open_cases() -> String {
    let parts: String = (0..170).map(|k| format!("a{k}:(),")).collect();
    let fields: String = (0..15).map(|k| format!("p{k}:bool,q{k}:bool,")).collect();
    let arms: String = (0..15).map(|k| format!("S{{p{k}:true,q{k}:true,..}}=>b,")).collect();
    let text = format!("struct S{{{parts}{fields}}} pub fn main(a:S,b:u8)->u8{{match a{{{arms}}}}}");
    assert!(text.len() <= 2048, "{}", text.len());
    text
}

#[test]
fn small_sources_of_much_work_are_refused() {
    // A hundredth of the default, and no more than a hundredth of the time; what takes memory is refused by either.
    let (effort, seconds) = (Options::EFFORT / 100, patience(Options::EFFORT / 100).max(5));
    for (name, _) in sources() {
        refused_in_a_process(name, effort, seconds, SHORT);
    }
    refused_in_a_process("open cases", effort, seconds, SHORT);
}

#[test]
fn patterns_and_nesting_are_bounded_without_a_budget() {
    let bools = vec!["bool"; 20].join(", ");
    let arm = |k: usize| {
        let cells = (0..20).map(|j| {
            if k == j {
                "true"
            } else if (k * 7 + j * 3).is_multiple_of(5) {
                "false"
            } else {
                "_"
            }
        });
        format!("({}) => {k}u8", cells.collect::<Vec<_>>().join(", "))
    };
    let arms: Vec<String> = (0..20).map(arm).collect();
    let text = format!("pub fn main(a: ({bools}), b: u8) -> u8 {{ match a {{ {}, _ => b }} }}", arms.join(", "));
    let Err(Refused(rendered)) = compile(&text, Options::EFFORT, &[]) else { panic!("accepted") };
    assert!(rendered.contains("too many cases: expected at most "), "{rendered}");
    for (open, close) in [("(", ")"), ("[", "]"), ("{ ", " }"), ("-", ""), ("(a, ", ")")] {
        let text = format!("pub fn main(a: u8, b: u8) -> u8 {{ {}a{} }}", open.repeat(600), close.repeat(600));
        let Err(Refused(rendered)) = compile(&text, Options::EFFORT, &[]) else { panic!("{open} is accepted") };
        assert!(rendered.contains("nested too deep"), "{rendered}");
    }
}

/// The least effort with which a source is accepted.
fn needed(text: &str) -> u64 {
    let (mut refused, mut accepted) = (0, Options::EFFORT);
    while accepted - refused > 1 {
        let middle = refused.midpoint(accepted);
        match compile(text, middle, &[]) {
            Ok(_) => accepted = middle,
            Err(_) => refused = middle,
        }
    }
    accepted
}

#[test]
fn work_is_counted_by_words_rounds_and_gates() {
    let copies = |words: usize, rounds: usize| {
        needed(&format!(
            "pub fn main(a: [u8; {words}], b: u8) -> u8 {{ let mut s = b; for k in 0usize..{rounds}usize {{ let t = a; s = t[0]; }} s }}"
        ))
    };
    let (few, words, rounds) = (copies(1_000, 10), copies(10_000, 10), copies(1_000, 100));
    assert!(words > 8 * few && words < 12 * few, "{few} {words}");
    assert!(rounds > 7 * few && rounds < 12 * few, "{few} {rounds}");
    let product = |bits: usize| needed(&format!("pub fn main(a: u{bits}, b: u{bits}) -> u{bits} {{ a * b }}"));
    let (narrow, wide) = (product(32), product(128));
    assert!(wide > 12 * narrow && wide < 18 * narrow, "{narrow} {wide}");
    // Each round is an instance of one component.
    let chain = |rounds: usize| {
        needed(&format!(
            "pub fn main(a: u64, b: u64) -> u64 {{ let mut x = a; for i in 0usize..{rounds}usize {{ x = x ^ (x * b); }} x }}"
        ))
    };
    let (first, last) = (chain(1), chain(1_000));
    assert!(last - first < 200 * 1_000, "{first} {last}");
}

#[test]
fn what_people_write_takes_a_twentieth_at_most() {
    let sources = [
        (include_str!("../sources/aes128.garble.rs"), &[][..]),
        (include_str!("../sources/sort.garble.rs"), &[]),
        (include_str!("../../../../examples/decision-tree/decision-tree.garble.rs"), &[]),
        (include_str!("../../../../examples/orders/orders.garble.rs"), &[]),
        (include_str!("../../../lab/src/compile/chain.garble.rs"), &[("N", "10000")]),
        (include_str!("../../../lab/src/compile/edit_distance.garble.rs"), &[("N", "64")]),
    ];
    for (text, constants) in sources {
        if let Err(Refused(rendered)) = compile(text, Options::EFFORT / 20, constants) {
            panic!("{rendered}");
        }
    }
}

#[test]
fn the_book_says_what_sources_take() {
    let million = (needed(&chain(400)) - needed(&chain(200))) * 5000;
    println!("a million products: {million}");
    assert!(million > Options::EFFORT * 4 / 10 && million < Options::EFFORT * 6 / 10, "{million}");
    let book = include_str!("../../../../docs/src/language.md");
    assert!(book.contains("the chain of a million products takes about half of the budget"));
    assert!(book.contains("The examples take less than a million"));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut count = 0;
    for path in std::fs::read_dir(folder).expect("a folder").flatten() {
        let files = std::fs::read_dir(path.path()).into_iter().flatten().flatten().map(|entry| entry.path());
        for file in files.filter(|file| file.to_string_lossy().ends_with(".garble.rs")) {
            let text = std::fs::read_to_string(&file).expect("a source");
            let given = crate::constants::GIVEN.iter().copied();
            let given: Vec<_> = given.filter(|(name, _)| text.contains(&format!("PARTY_0::{name};"))).collect();
            if let Err(Refused(rendered)) = compile(&text, 1_000_000, &given) {
                panic!("{}: {rendered}", file.display());
            }
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn the_whole_budget_is_seconds_and_less_than_a_gigabyte() {
    let names = [
        "else if",
        "exclusive or",
        "copies of nothing",
        "changes in a branch",
        "changes in arms",
        "writes at a secret index",
        "a large output",
        "join",
        "products with constants",
        "checked products with constants",
        "a word in pieces",
        "outputs in pieces",
    ];
    let seconds = patience(Options::EFFORT);
    names.into_iter().for_each(|name| refused_in_a_process(name, Options::EFFORT, seconds, LONG));
}
