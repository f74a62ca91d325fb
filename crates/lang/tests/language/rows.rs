//! `sort` and `keep`, against plain vectors.

use garblet_circuit::{Bits, Program, Type, evaluate};
use garblet_formats::value::{read_value, to_json};
use garblet_synthesis::builder::sort_comparators;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;
use serde_json::{Value, json};

use crate::reference::compile;

fn program(text: &str) -> Program {
    compile(text, &[], true).unwrap_or_else(|e| panic!("{}\n{text}", e.render()))
}

/// The outputs in JSON, of inputs in JSON.
fn run(program: &Program, inputs: &[Value]) -> Value {
    let read = |(input, value): (&garblet_circuit::Input, &Value)| {
        read_value("v.json", &value.to_string(), &input.port.ty).unwrap_or_else(|e| panic!("{value}: {e}"))
    };
    let inputs: Vec<Bits> = program.inputs().iter().zip(inputs).map(read).collect();
    let outputs = evaluate(program, &inputs);
    let shown = program.outputs().iter().zip(&outputs).filter(|(output, _)| output.port.name.starts_with("out"));
    Value::Array(shown.map(|(output, bits)| to_json(&output.port.ty, bits)).collect())
}

fn rng() -> TestRng {
    TestRng::deterministic_rng(RngAlgorithm::ChaCha)
}

/// Numbers with many equal ones and both ends of their type.
fn numbers(rng: &mut TestRng, count: usize, least: i64, most: i64) -> Vec<i64> {
    let one = |x: u32| match x % 5 {
        0 => least,
        1 => most,
        2 => i64::from(x >> 8).rem_euclid(3),
        _ => least + i64::from(x >> 8).rem_euclid(most - least + 1),
    };
    (0..count).map(|_| one(rng.next_u32())).collect()
}

#[test]
fn arrays_are_sorted() {
    let mut rng = rng();
    for (ty, least, most) in [("u8", 0, 255), ("i8", -128, 127), ("bool", 0, 1), ("i16", -32768, 32767)] {
        for n in [1usize, 2, 3, 7, 8, 17] {
            let program = program(&format!("pub fn main(a: [{ty}; {n}], b: u8) -> [{ty}; {n}] {{ sort(a) }}"));
            for _ in 0..12 {
                let mut values = numbers(&mut rng, n, least, most);
                let shown = |values: &[i64]| -> Value {
                    values.iter().map(|&v| if ty == "bool" { json!(v == 1) } else { json!(v) }).collect()
                };
                if ty == "bool" {
                    values.iter_mut().for_each(|v| *v &= 1);
                }
                let got = run(&program, &[shown(&values), json!(0)]);
                values.sort_unstable();
                assert_eq!(got, json!([shown(&values)]), "{ty}");
            }
        }
    }
}

#[test]
fn lists_are_sorted_by_their_first_fields() {
    let mut rng = rng();
    for most in [1usize, 2, 5, 8] {
        let rows = format!("[(i8, u8); ..{most}]");
        let program = program(&format!("pub fn main(a: {rows}, b: u8) -> {rows} {{ let mut x = a; x = sort(x); x }}"));
        for count in 0..=most {
            for _ in 0..8 {
                // What goes with a key is told by it, so that equal keys may be in any order.
                let with = |key: i64| json!([key, (key * key + 7) & 255]);
                let mut keys = numbers(&mut rng, count, -128, 127);
                let rows: Vec<Value> = keys.iter().copied().map(with).collect();
                let got = run(&program, &[json!(rows), json!(0)]);
                keys.sort_unstable();
                assert_eq!(got, json!([keys.into_iter().map(with).collect::<Vec<_>>()]));
            }
        }
    }
}

#[test]
fn keys_of_several_parts_and_with_a_point_are_in_order() {
    let text = "pub fn main(a: [((fixed<4, 4>, bool), u8); 5], b: u8) -> [((fixed<4, 4>, bool), u8); 5] { sort(a) }";
    let row = |x: &str, y: bool, z: u8| json!([[x, y], z]);
    let rows =
        [row("1.5", true, 1), row("-2", true, 2), row("1.5", false, 3), row("-2.0625", true, 4), row("7", false, 5)];
    let sorted = [&rows[3], &rows[1], &rows[2], &rows[0], &rows[4]];
    assert_eq!(run(&program(text), &[json!(rows), json!(0)]), json!([sorted]));
}

#[test]
fn what_is_marked_is_kept() {
    let mut rng = rng();
    for n in [1usize, 2, 3, 6, 9, 16] {
        let array = program(&format!(
            "pub fn main(a: [(bool, u8); {n}], b: u8) -> ([u8; ..{n}], usize) {{ let k = keep(a); (k, k.len()) }}"
        ));
        let list =
            program(&format!("pub fn main(a: [(bool, u8, i8); ..{n}], b: u8) -> [(u8, i8); ..{n}] {{ keep(a) }}"));
        for round in 0..24 {
            let count = if round % 4 == 0 { n } else { rng.next_u32() as usize % (n + 1) };
            let marked = |x: u32| match round % 3 {
                0 => x.is_multiple_of(2),
                1 => x.is_multiple_of(7),
                _ => !x.is_multiple_of(7),
            };
            let rows: Vec<(bool, u8, i8)> =
                (0..n).map(|_| (marked(rng.next_u32()), rng.next_u32() as u8, rng.next_u32() as i8)).collect();
            let pairs: Vec<Value> = rows.iter().map(|row| json!([row.0, row.1])).collect();
            let kept: Vec<u8> = rows.iter().filter(|row| row.0).map(|row| row.1).collect();
            assert_eq!(run(&array, &[json!(pairs), json!(0)]), json!([kept, kept.len()]));
            let own = &rows[..count];
            let kept: Vec<Value> = own.iter().filter(|row| row.0).map(|row| json!([row.1, row.2])).collect();
            assert_eq!(run(&list, &[json!(own), json!(0)]), json!([kept]));
        }
    }
}

/// Junk behind a list's count has no part in either.
#[test]
fn what_is_behind_the_count_is_neither_sorted_nor_kept() {
    let text = "pub fn main(a: [(bool, u8); ..4], b: u8) -> ([(bool, u8); ..4], [u8; ..4]) { (sort(a), keep(a)) }";
    let program = program(text);
    let ty = &program.inputs()[0].port.ty;
    let Type::List(row, 4) = ty else { panic!("{ty}") };
    let mut forged = Bits::from_u128(2, Type::count_width(4) as usize);
    for (mark, value) in [(1u128, 9u128), (0, 3), (0, 1), (1, 77)] {
        forged.append(&Bits::from_u128(mark | value << 1, row.width() as usize));
    }
    let outputs = evaluate(&program, &[forged, Bits::zeros(8)]);
    let shown: Vec<Value> =
        program.outputs().iter().zip(&outputs).take(2).map(|(o, bits)| to_json(&o.port.ty, bits)).collect();
    assert_eq!(json!(shown), json!([[[false, 3], [true, 9]], [9]]));
}

/// A comparator takes two AND gates for each bit of a key, and one for each other one.
#[test]
fn networks_cost_as_stated() {
    let ands = |text: &str| program(text).stats().and;
    for n in [2usize, 3, 8, 30, 100] {
        let array = ands(&format!("pub fn main(a: [u16; {n}], b: u8) -> [u16; {n}] {{ sort(a) }}"));
        assert_eq!(array, 32 * sort_comparators(n), "{n}");
        let rows = ands(&format!("pub fn main(a: [(u16, u8); {n}], b: u8) -> [(u16, u8); {n}] {{ sort(a) }}"));
        assert_eq!(rows, 40 * sort_comparators(n), "{n}");
    }
    // About log2(n) for each bit of a row, and three halves of its square for distances.
    for n in [64u64, 256] {
        let log = u64::from(n.ilog2());
        let kept = ands(&format!("pub fn main(a: [(bool, u32); {n}], b: u8) -> [u32; ..{n}] {{ keep(a) }}"));
        println!("keep of {n}: {kept}");
        assert!(kept <= n * (32 * log + 3 * log * log / 2 + 3 * log + 64), "{n}: {kept}");
    }
}

/// As many components however many rows there are, or nearly.
#[test]
fn long_arrays_have_few_components() {
    let size = |text: &str| {
        let program = program(text);
        (program.components().len(), program.instance_count())
    };
    let sorted = size("pub fn main(a: [(u32, u32); 1000], b: u8) -> [(u32, u32); 1000] { sort(a) }");
    let kept = size("pub fn main(a: [(bool, u32); 1000], b: u8) -> [u32; ..1000] { keep(a) }");
    println!("components and instances: sort {sorted:?}, keep {kept:?}");
    assert!(sorted.0 < 200 && kept.0 < 400, "{sorted:?} {kept:?}");
}

/// Keys with a sign are merged in their order.
#[test]
fn what_is_joined_is_kept_in_order() {
    let mut rng = rng();
    for (n, m) in [(1usize, 1usize), (1, 5), (4, 4), (6, 3)] {
        let size = format!("const {{ {n}usize + {m}usize - 1usize }}");
        let program = program(&format!(
            "pub fn main(a: [(i8, u8); {n}], b: [(i8, u16); {m}]) -> [((i8, u8), (i8, u16)); ..{size}] {{ keep(join(a, b)) }}"
        ));
        for _ in 0..40 {
            let mut keys = |count: usize| {
                let mut keys = std::collections::BTreeSet::new();
                while keys.len() < count {
                    keys.insert((rng.next_u32() % 16) as i8 - 8);
                }
                keys.into_iter().collect::<Vec<i8>>()
            };
            let (a, b) = (keys(n), keys(m));
            let first = |key: i8| json!([key, key as u8 ^ 5]);
            let second = |key: i8| json!([key, key as u8 as u16 * 3]);
            let rows = |keys: &[i8], row: &dyn Fn(i8) -> Value| json!(keys.iter().map(|&k| row(k)).collect::<Vec<_>>());
            let both = a.iter().filter(|key| b.contains(key)).map(|&key| json!([first(key), second(key)]));
            let expected: Vec<Value> = both.collect();
            assert_eq!(run(&program, &[rows(&a, &first), rows(&b, &second)]), json!([expected]), "{a:?} {b:?}");
        }
    }
}
