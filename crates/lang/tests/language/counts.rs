//! AND gates of sources, beside those of `garble_lang`'s own back end.

use garblet_circuit::{Bits, Program, evaluate};
use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};

use crate::reference::{Both, compile};

const SHA256: &str = include_str!("../sources/sha256.garble.rs");
const AES: &str = include_str!("../sources/aes128.garble.rs");
const SORT: &str = include_str!("../sources/sort.garble.rs");

fn ands(text: &str, panics: bool) -> u64 {
    compile(text, &[], panics).unwrap_or_else(|e| panic!("{}", e.render())).stats().and
}

/// A source some of whose functions are bound to circuits.
fn bound(text: &str, externs: &str) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("s.garble.rs"), text).expect("written");
    let file = folder.path().join("p.json");
    std::fs::write(&file, format!("{{\"source\": \"s.garble.rs\", \"externs\": {externs}}}")).expect("written");
    let front_ends = FrontEnds::standard().with(Language { options: Options::default() });
    front_ends.load(&file.display().to_string()).unwrap_or_else(|e| panic!("{}", e.render()))
}

/// Source, the most AND gates without and with panics, the fewest of theirs.
const LINES: &[(&str, u64, u64, usize)] = &[
    ("pub fn main(a: u32, b: u32) -> bool { a > b }", 32, 32, 185),
    ("pub fn main(a: u64, b: u64) -> u64 { a + b }", 63, 64, 190),
    ("pub fn main(a: u64, b: u64) -> u64 { a * b }", 4_033, 4_033, 16_000),
    ("pub fn main(a: u32, b: u32) -> bool { a == b }", 31, 31, 31),
    ("pub fn main(a: bool, b: [u32; 2]) -> u32 { if a { b[0] } else { b[1] } }", 32, 32, 32),
    ("pub fn main(a: u32, b: u8) -> u32 { a << (b & 31u8) }", 160, 160, 160),
];

#[test]
fn single_operations_cost_what_they_must() {
    for &(text, off, on, theirs) in LINES {
        let got = (ands(text, false), ands(text, true));
        let both = Both::new(text, &[]);
        println!("{} / {} (theirs {}): {text}", got.0, got.1, both.their_ands());
        assert!(got.0 <= off && got.1 <= on, "{got:?}: {text}");
        assert!(both.their_ands() >= theirs, "{}: {text}", both.their_ands());
    }
}

#[test]
fn sha256_block() {
    let program = compile(SHA256, &[], false).unwrap_or_else(|e| panic!("{}", e.render()));
    println!("SHA-256: {} without panics", program.stats().and);
    assert!(program.stats().and <= 24_000, "{}", program.stats().and);
    // The padded message `abc`.
    let start =
        [0x6a09_e667u32, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    let mut block = [0u32; 16];
    (block[0], block[15]) = (0x6162_6380, 24);
    let bits = |words: &[u32]| words.iter().flat_map(|w| (0..32).map(move |k| w >> k & 1 == 1)).collect::<Bits>();
    let digest =
        [0xba78_16bfu32, 0x8f01_cfea, 0x4141_40de, 0x5dae_2223, 0xb003_61a3, 0x9617_7a9c, 0xb410_ff61, 0xf200_15ad];
    assert_eq!(evaluate(&program, &[bits(&start), bits(&block)])[0], bits(&digest));
}

#[test]
fn narrow_products_are_narrow() {
    let ands = |product: &str, panics: bool| {
        let text = format!("pub fn main(a: i16, b: i16) -> u32 {{ {product} }}");
        compile(&text, &[], panics).unwrap_or_else(|e| panic!("{}", e.render())).stats().and
    };
    let difference = "let d = (a as i32) - (b as i32); (d * d) as u32";
    let product = "((a as i32) * (b as i32)) as u32";
    let counts = [(difference, true), (difference, false), (product, true), (product, false)];
    let counts = counts.map(|(body, panics)| ands(body, panics));
    println!("square of a difference with and without checks, product of i16 in i32 with and without: {counts:?}");
    assert!(counts[1] <= counts[0] && counts[1] <= 400 && counts[2] == counts[3] && counts[3] <= 496, "{counts:?}");
    // A square is not negative.
    assert_eq!(ands("let s = (a as i32) * (a as i32); if s < 0i32 { 7u32 } else { 8u32 }", true), 0);
}

#[test]
fn aes_with_a_table_and_with_a_circuit() {
    let table = compile(AES, &[], true).unwrap_or_else(|e| panic!("{}", e.render()));
    let circuit = bound(AES, "{\"aes128\": \"lib:aes128\"}");
    println!("AES-128: table {}, bound {}", table.stats().and, circuit.stats().and);
    assert!(table.stats().and <= 40_000, "{}", table.stats().and);
    assert_eq!(circuit.stats().and, 6_400);
    let sequence = |step: u8| Bits::from_bytes(&(0..16).map(|k| step * k).collect::<Vec<u8>>());
    let inputs = [sequence(1), sequence(17)];
    let expected = [0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a];
    for program in [&table, &circuit] {
        assert_eq!(evaluate(program, &inputs)[0], Bits::from_bytes(&expected));
    }
}

#[test]
fn sorting_with_the_library() {
    let network = bound(SORT, "{\"sort\": \"lib:sort(32,32)\"}");
    let bubbles = compile(SORT, &[], true).unwrap_or_else(|e| panic!("{}", e.render()));
    println!("sort: network {}, bubbles {}", network.stats().and, bubbles.stats().and);
    assert!(network.stats().and <= 12_300, "{}", network.stats().and);
    let number = |k: u32| k.wrapping_mul(0x9e37_79b9) ^ 77;
    let bits =
        |from: u32| (from..from + 16).flat_map(|k| (0..32).map(move |b| number(k) >> b & 1 == 1)).collect::<Bits>();
    let inputs = [bits(0), bits(16)];
    let mut sorted: Vec<u32> = (0..32).map(number).collect();
    sorted.sort_unstable();
    let expected: Bits = sorted.iter().flat_map(|w| (0..32).map(move |k| w >> k & 1 == 1)).collect();
    for program in [&network, &bubbles] {
        assert_eq!(evaluate(program, &inputs)[0], expected);
    }
}
