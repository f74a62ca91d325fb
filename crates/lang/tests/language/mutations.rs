//! Sources with random changes are compiled or refused, in bounded time.

use std::time::{Duration, Instant};

use garblet_formats::front_end::FrontEnds;
use garblet_lang::{Language, Options};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

use crate::{random::Program, same_results::CONSTRUCTS};

/// Constructs that are ours alone.
const OURS: &[&str] = &[
    "pub fn main(a: u128, b: i128) -> u128 { let x = 340282366920938463463374607431768211455; if b < 0 { a * 3u128 / (a + 1u128) } else { (a << 64u8) ^ x % 7 } }",
    "pub fn main(a: fixed<16, 16>, b: fixed<8, 24>) -> fixed<16, 16> { let x = a * 1.5 - -2.25; sqrt(max(x, 0.0)) / (b as fixed<16, 16>) + (7u8 as fixed<16, 16>) % a }",
    "const R: fixed<64, 64> = 0.1; pub fn main(a: fixed<64, 64>, b: u128) -> (i64, fixed<1, 127>) { ((a * R) as i64, (b as fixed<1, 127>) * 0.5) }",
    "enum E { A { x: u8, y: u16 }, B(u8), C } pub fn main(a: E, b: u8) -> E { match a { E::A { x: 3, .. } => E::B(b), E::A { y, x } => E::A { x: b, y: y + (x as u16) }, E::B(x) => E::C, E::C => a } }",
    "pub fn main(a: [u8; ..5], b: u8) -> [u8; ..5] { let mut v: [u8; ..5] = [b]; for x in a { if x > b { v.push(x); v[0] = x; } } if v == a { a } else { v } }",
    "pub fn main(a: [[u16; ..2]; ..3], b: usize) -> (usize, bool, u16) { let mut c = a; c[b].push(7u16); (c.len() + a[0].len(), c == a, c[b & 1][0]) }",
];

const OPERATORS: &[&str] = &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">", "==", "!=", "&&", "||"];
const NAMES: &[&str] = &["a", "b", "x", "v0", "v1", "v2", "v3", "true", "false"];
const TYPES: &[&str] = &["bool", "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "usize"];
const NUMBERS: &[&str] =
    &["0", "1", "2", "7", "64", "255", "256", "65536", "4294967295", "170141183460469231731687303715884105728"];

/// The word with another of its kind in its place; the syntax stays right.
fn changed(word: &str, next: Option<&str>, rng: &mut TestRng) -> String {
    let mut one_of = |list: &[&str]| list[rng.next_u32() as usize % list.len()].to_string();
    let digits = word.chars().take_while(char::is_ascii_digit).count();
    match word {
        _ if next.is_some_and(|next| next.starts_with('.')) => word.into(),
        _ if OPERATORS.contains(&word) && !["&", "|"].contains(&word) => one_of(OPERATORS),
        _ if NAMES.contains(&word) => one_of(NAMES),
        _ if TYPES.contains(&word) => one_of(TYPES),
        _ if digits > 0 => one_of(NUMBERS) + &word[digits..],
        _ => word.into(),
    }
}

/// Words of letters and digits, operators between spaces, and single characters.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars() {
        let kind = if c.is_alphanumeric() || c == '_' {
            0
        } else if "+-*/%&|^<>=!.".contains(c) {
            1
        } else {
            2
        };
        match words.last_mut() {
            Some(word) if last == Some(kind) && kind < 2 => word.push(c),
            _ => words.push(c.into()),
        }
        last = Some(kind);
    }
    words
}

fn mutated(text: &str, rng: &mut TestRng) -> String {
    let mut words = words(text);
    for _ in 0..1 + rng.next_u32() % 3 {
        let at = rng.next_u32() as usize % words.len();
        let in_range = at > 0 && words[at - 1].starts_with('.');
        if !in_range {
            words[at] = changed(&words[at], words.get(at + 1).map(String::as_str), rng);
        }
    }
    words.concat()
}

#[test]
fn changed_sources_are_compiled_or_refused() {
    let rounds = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 100_000 } else { 400 };
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let (mut compiled, mut slowest) = (0, Duration::ZERO);
    for round in 0..rounds {
        let text = match round % 3 {
            0 => OURS[rng.next_u32() as usize % OURS.len()].to_string(),
            1 => CONSTRUCTS[rng.next_u32() as usize % CONSTRUCTS.len()].1.to_string(),
            _ => Program::random(&mut rng).text(),
        };
        let text = mutated(&text, &mut rng);
        let options = Options { effort: 1 << 18, panics: round % 3 > 0, ..Options::default() };
        let begin = Instant::now();
        match FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut text.as_bytes()) {
            Ok(_) => compiled += 1,
            Err(error) => assert!(!error.to_string().contains("because of a bug"), "{text}"),
        }
        slowest = slowest.max(begin.elapsed());
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}\n{text}", begin.elapsed());
    }
    println!("{compiled} of {rounds} compiled, the slowest took {slowest:?}");
    assert!(compiled > rounds / 20, "{compiled}");
}

/// Sources without a part of them, or with one twice or moved.
#[test]
fn broken_sources_are_refused_with_a_place() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let rounds = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 200_000 } else { 4_000 };
    let mut refused = 0;
    for _ in 0..rounds {
        let text = CONSTRUCTS[rng.next_u32() as usize % CONSTRUCTS.len()].1;
        let mut words = words(text);
        for _ in 0..1 + rng.next_u32() % 3 {
            let at = rng.next_u32() as usize % words.len();
            let other = rng.next_u32() as usize % words.len();
            match rng.next_u32() % 4 {
                0 => words.truncate(at + 1),
                1 => words[at].clear(),
                2 => words.swap(at, other),
                _ => words[at] = words[other].clone(),
            }
        }
        let text = words.concat();
        let options = Options { effort: 1 << 16, ..Options::default() };
        let Err(error) = FrontEnds::standard().with(Language { options }).read("main.garble.rs", &mut text.as_bytes())
        else {
            continue;
        };
        let without_place = ["there is no function `main`", "values need more than"];
        for told in error.iter().filter(|told| told.place.is_none()) {
            assert!(without_place.iter().any(|known| told.message.starts_with(known)), "{told}\n{text}");
        }
        refused += 1;
    }
    assert!(refused > rounds / 2, "{refused}");
}
