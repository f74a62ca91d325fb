//! Lists: at most so many values, and a secret count.

use garblet_circuit::{Bits, Program, Type, evaluate, notes::Panics};
use garblet_formats::value::{read_value, to_json};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

use crate::reference::compile;

fn program(text: &str, panics: bool) -> Program {
    compile(text, &[], panics).unwrap_or_else(|e| panic!("{}\n{text}", e.render()))
}

/// The outputs in JSON, or why the run panicked.
fn run(program: &Program, inputs: &[Bits]) -> String {
    let outputs = evaluate(program, inputs);
    let mut end = outputs.len();
    if let Some(panics @ Panics::On { output: Some(at), .. }) = &program.notes().panics {
        let code = outputs[*at].to_u128().expect("a code");
        if code != 0 {
            return panics.reason(code).expect("a place").rsplit(": ").next().unwrap_or_default().into();
        }
        end = *at;
    }
    let shown = program.outputs().iter().zip(&outputs).take(end);
    shown.map(|(output, bits)| to_json(&output.port.ty, bits).to_string()).collect::<Vec<_>>().join(" ")
}

fn list(values: &[u8], most: u32) -> Bits {
    read_value("v.json", &format!("{values:?}"), &Type::List(Box::new(Type::Unsigned(8)), most)).expect("a list")
}

/// The bits of a list that says another count, with values behind it.
fn forged(count: u128, values: &[u8], most: u32) -> Bits {
    let mut bits = Bits::from_u128(count, Type::count_width(most) as usize);
    values.iter().for_each(|&x| bits.append(&Bits::from_u128(x.into(), 8)));
    assert_eq!(values.len(), most as usize);
    bits
}

fn number(value: u8) -> Bits {
    Bits::from_u128(value.into(), 8)
}

/// Work on a list of at most N and a number.
const ALL: &str = "struct Row { kept: [u8; ..N], sum: u16, len: usize, first: (bool, u8), same: bool, last: u16 }
    fn above(list: [u8; ..N], least: u8) -> [u8; ..N] {
        let mut found: [u8; ..N] = [];
        for x in list { if x > least { found.push(x); } }
        found
    }
    pub fn main(list: [u8; ..N], k: u8) -> Row {
        let mut sum = 0u16;
        for x in list { sum += x as u16; }
        let kept = above(list, k);
        let mut first = (false, 0u8);
        for x in kept { if !first.0 { first = (true, x); } }
        let mut changed = list;
        if list.len() > 1usize { changed[1] = k; }
        let mut last = 0u16;
        for x in changed { last = last * 3u16 ^ (x as u16); }
        Row { kept, sum, len: list.len(), first, same: kept == list, last }
    }";

fn expected(values: &[u8], k: u8) -> Option<String> {
    let kept: Vec<u8> = values.iter().copied().filter(|&x| x > k).collect();
    let sum: u16 = values.iter().map(|&x| u16::from(x)).sum();
    let first = kept.first().map_or(String::from("[false,0]"), |x| format!("[true,{x}]"));
    let mut changed = values.to_vec();
    if let Some(second) = changed.get_mut(1) {
        *second = k;
    }
    let last = changed.iter().try_fold(0u16, |last, &x| Some(last.checked_mul(3)? ^ u16::from(x)))?;
    let shown = kept.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    // Fields are in the order of their names.
    Some(format!("{first} [{shown}] {last} {} {} {sum}", values.len(), kept == values))
}

#[test]
fn every_count_is_as_plain_vectors() {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    for most in [1u32, 2, 3, 5, 7] {
        let text = ALL.replace('N', &most.to_string());
        // It is one program for all counts: what is run does not depend on the inputs.
        let program = program(&text, true);
        for count in 0..=most as usize {
            for round in 0..12 {
                let values: Vec<u8> = (0..count).map(|_| (rng.next_u32() >> (round % 3 * 4)) as u8).collect();
                let k = rng.next_u32() as u8;
                let got = run(&program, &[list(&values, most), number(k)]);
                let expected = expected(&values, k).unwrap_or_else(|| "arithmetic overflow".into());
                assert_eq!(got, expected, "{values:?} and {k}, at most {most}");
            }
        }
    }
}

#[test]
fn what_is_behind_the_count_has_no_influence() {
    let most = 5;
    let text = ALL.replace('N', &most.to_string());
    for panics in [true, false] {
        let program = program(&text, panics);
        for count in 0..8u128 {
            let honest: Vec<u8> = (1..=5u8).map(|x| 11 * x).take(count.min(5) as usize).collect();
            let mut junk = honest.clone();
            junk.extend((honest.len()..5).map(|k| 200 + k as u8));
            // Who says more than there is room for has said as many as there is.
            assert_eq!(
                run(&program, &[forged(count, &junk, most), number(30)]),
                run(&program, &[list(&honest, most), number(30)]),
                "{count}"
            );
        }
    }
}

#[test]
fn lists_come_out_as_they_are_and_no_more() {
    let text = "enum E { Some([u8; ..3]), None }
        pub fn main(list: [[u8; ..3]; 2], k: usize) -> ([[u8; ..3]; 2], E) {
            let mut lists = list;
            lists[k & 1usize].push(9u8);
            (lists, E::Some(lists[k & 1usize]))
        }";
    let program = program(text, true);
    let pair = |a: Bits, b: Bits| {
        let mut bits = a;
        bits.append(&b);
        bits
    };
    let index = |k: u128| Bits::from_u128(k, 32);
    let inputs = [pair(forged(1, &[1, 77, 78], 3), forged(0, &[79, 80, 81], 3)), index(1)];
    assert_eq!(run(&program, &inputs), r#"[[1],[9]] {"Some":[[9]]}"#);
    let inputs = [pair(forged(1, &[1, 77, 78], 3), list(&[4, 5, 6], 3)), index(0)];
    assert_eq!(run(&program, &inputs), r#"[[1,9],[4,5,6]] {"Some":[[1,9]]}"#);
    let inputs = [pair(list(&[], 3), list(&[4, 5, 6], 3)), index(1)];
    assert_eq!(run(&program, &inputs), "no room in a list");
}

#[test]
fn indices_reach_what_is_there() {
    let text = "pub fn main(list: [u8; ..4], k: usize) -> (u8, [u8; ..4]) {
        let mut other = list;
        other[k] = 7u8;
        (list[k], other)
    }";
    let index = |k: u128| Bits::from_u128(k, 32);
    let checked = program(text, true);
    assert_eq!(run(&checked, &[list(&[1, 2], 4), index(1)]), "2 [1,7]");
    for k in [2, 3, 4, 1 << 20] {
        assert_eq!(run(&checked, &[forged(2, &[1, 2, 99, 98], 4), index(k)]), "index out of bounds", "{k}");
    }
    // Without checks nothing is there.
    let unchecked = program(text, false);
    for k in [2, 3] {
        assert_eq!(run(&unchecked, &[forged(2, &[1, 2, 99, 98], 4), index(k)]), "0 [1,2]", "{k}");
    }
    let known = program("pub fn main(list: [u8; ..4], k: u8) -> u8 { list[2] }", true);
    assert_eq!(run(&known, &[list(&[1, 2, 3], 4), number(0)]), "3");
    assert_eq!(run(&known, &[forged(2, &[1, 2, 99, 98], 4), number(0)]), "index out of bounds");
}

#[test]
fn a_body_that_panics_does_so_for_what_is_there() {
    let text = "pub fn main(list: [u8; ..4], k: u8) -> u8 { let mut s = 0u8; for x in list { s += k / x; } s }";
    let program = program(text, true);
    assert_eq!(run(&program, &[forged(2, &[1, 2, 0, 0], 4), number(10)]), "15");
    assert_eq!(run(&program, &[forged(3, &[1, 2, 0, 0], 4), number(10)]), "division by zero");
}

#[test]
fn known_counts_cost_nothing() {
    let ands = |text: &str| program(text, true).stats().and;
    let list = "pub fn main(a: u8, b: u8) -> [u8; ..4] { let mut l: [u8; ..4] = [a]; l.push(b); for x in l { } l }";
    assert_eq!(ands(list), 0);
    let array = "pub fn main(a: [u8; 4], b: u8) -> u16 { let mut s = 0u16; for x in a { s += x as u16; } s }";
    let whole = "pub fn main(a: [u8; 4], b: u8) -> u16 { let l: [u8; ..6] = a; let mut s = 0u16; for x in l { s += x as u16; } s }";
    assert_eq!(ands(whole), ands(array));
    // The flags of 15 values are found once, for all loops.
    let loops = |count: usize| {
        let again = "for x in list { if x == k { any = true; } }".repeat(count);
        ands(&format!("pub fn main(list: [u8; ..15], k: u8) -> bool {{ let mut any = false; {again} any }}"))
    };
    println!("a search in 15 values: {}", loops(1));
    assert!(loops(1) <= 15 * 9 + 20, "{}", loops(1));
    assert!(loops(2) - loops(1) <= 15 * 9, "{} {}", loops(1), loops(2));
}
