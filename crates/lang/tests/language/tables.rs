//! Reads of constant arrays at secret indices: tables of their own where these take fewer bytes than gates, with the values of the
//! arrays.

use std::{collections::BTreeMap, time::Instant};

use garblet_circuit::{InstanceId, Program, TruthTable};

use crate::reference::{Outcome, compile, outcomes};

/// Numbers that are spread at random (SplitMix64).
fn numbers(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..count).map(next).collect()
}

fn bytes(seed: u64, count: usize) -> Vec<u8> {
    numbers(seed, count).into_iter().map(|number| number as u8).collect()
}

/// An array of a source.
fn array(values: impl IntoIterator<Item = impl std::fmt::Display>, suffix: &str) -> String {
    let values: Vec<String> = values.into_iter().map(|value| format!("{value}{suffix}")).collect();
    format!("[{}]", values.join(", "))
}

fn bits(value: i64, width: u32) -> Vec<bool> {
    (0..width).map(|k| value >> k & 1 == 1).collect()
}

fn all_bytes() -> Vec<Vec<u8>> {
    (0..=255).map(|x| vec![x]).collect()
}

fn pairs() -> Vec<Vec<u8>> {
    let more = bytes(1, 2_000);
    more.chunks(2).map(<[u8]>::to_vec).chain((0..=255).map(|x| vec![x, 255 - x])).collect()
}

/// The components of a program that take fewer bytes as garbled tables: inputs, outputs and instances of each.
fn tables(program: &Program) -> Vec<(u32, u32, usize)> {
    let mut tables = BTreeMap::new();
    for id in (0..program.instance_count()).map(|k| InstanceId(k as u32)) {
        let component = program.component_of(id);
        let (inputs, outputs) = (component.input_width(), component.output_width());
        if TruthTable::replaces(component.circuit(), component.stats().and) {
            tables.entry(program.component_id(id).0).or_insert((inputs, outputs, 0)).2 += 1;
        }
    }
    tables.into_values().collect()
}

/// Runs a source, whose inputs are bytes, with few gates and with few layers, and gives the program with few gates.
fn check(text: &str, inputs: &[Vec<u8>], expected: impl Fn(&[u8]) -> Option<Vec<bool>>) -> Program {
    let inputs_bits: Vec<Vec<Vec<bool>>> =
        inputs.iter().map(|own| own.iter().map(|&byte| bits(byte.into(), 8)).collect()).collect();
    let compiled = |text: &str| compile(text, &[], true).unwrap_or_else(|e| panic!("{}", e.render()));
    let programs = [compiled(text), compiled(&text.replace("pub fn main", "#[depth]\npub fn main"))];
    for program in &programs {
        let outcomes = outcomes(program, inputs_bits.iter().map(Vec::as_slice));
        for (input, outcome) in inputs.iter().zip(outcomes) {
            match expected(input) {
                Some(value) => assert_eq!(outcome, Outcome::Value(value), "{input:?}"),
                None => assert!(matches!(outcome, Outcome::Panic(.., "index out of bounds")), "{input:?}: {outcome:?}"),
            }
        }
    }
    programs.into_iter().next().expect("two")
}

#[test]
fn a_table_is_one_component_with_an_instance_for_each_read() {
    let table = bytes(2, 256);
    let text = format!(
        "fn at(x: u8) -> u8 {{ let t = {}; t[x as usize] }}\n\
         pub fn main(x: u8) -> (u8, u8, u8) {{ (at(x), at(x ^ 85u8), at(x) ^ at(!x)) }}",
        array(&table, "u8")
    );
    let at = |x: u8| i64::from(table[usize::from(x)]);
    let program = check(&text, &all_bytes(), |input| {
        let x = input[0];
        Some([at(x), at(x ^ 85), at(x) ^ at(!x)].into_iter().flat_map(|value| bits(value, 8)).collect())
    });
    assert_eq!(tables(&program), [(8, 8, 4)]);
    let each = program.components().iter().map(|component| component.stats().and).max();
    assert_eq!(Some(program.stats().and), each.map(|ands| 4 * ands));
    // Within a region, a second read by the same index is the first.
    let text = format!(
        "pub fn main(x: u8) -> (u8, u8) {{ let t = {}; (t[x as usize], t[(!x) as usize] ^ t[x as usize]) }}",
        array(&table, "u8")
    );
    let program = check(&text, &all_bytes(), |input| {
        let x = input[0];
        Some([at(x), at(x) ^ at(!x)].into_iter().flat_map(|value| bits(value, 8)).collect())
    });
    assert_eq!(tables(&program), [(8, 8, 2)]);
}

#[test]
fn indices_past_the_end_panic() {
    for (count, index_bits) in [(100, 7), (200, 8), (129, 8)] {
        let table = bytes(3, count);
        let text = format!("pub fn main(x: u8) -> u8 {{ let t = {}; t[x as usize] }}", array(&table, "u8"));
        let program =
            check(&text, &all_bytes(), |input| table.get(usize::from(input[0])).map(|&value| bits(value.into(), 8)));
        assert_eq!(tables(&program), [(index_bits, 8, 1)], "{count}");
    }
}

#[test]
fn records_are_one_table() {
    let numbers = numbers(4, 200);
    let rows: Vec<(u8, i8)> = numbers.iter().map(|&number| (number as u8, (number >> 8) as i8 >> 4)).collect();
    let fields = rows.iter().map(|(a, b)| format!("({a}u8, {b}i8)"));
    let tuples = format!("let t = {};", array(fields, ""));
    let text = format!("pub fn main(x: u8) -> (u8, i8) {{ {tuples} t[x as usize] }}");
    let program = check(&text, &all_bytes(), |input| {
        let row = rows.get(usize::from(input[0]))?;
        Some([bits(row.0.into(), 8), bits(row.1.into(), 8)].concat())
    });
    assert_eq!(tables(&program), [(8, 12, 1)]);
    let fields = rows.iter().map(|(a, b)| format!("P {{ x: {a}u8, y: {b}i8 }}"));
    let text = format!(
        "struct P {{ x: u8, y: i8 }}\npub fn main(a: u8, b: u8) -> i16 {{ let t = {}; \
         let p = t[(a & 127u8) as usize]; p.y as i16 - t[(b & 127u8) as usize].y as i16 }}",
        array(fields, "")
    );
    let program = check(&text, &pairs(), |input| {
        let at = |x: u8| i64::from(rows[usize::from(x & 127)].1);
        Some(bits(at(input[0]) - at(input[1]), 16))
    });
    assert_eq!(tables(&program), [(7, 4, 2)]);
}

#[test]
fn signed_elements_and_arithmetic_around_them() {
    let table: Vec<i16> = numbers(5, 256).into_iter().map(|number| (number as i16) >> 4).collect();
    let text = format!(
        "pub fn main(a: u8, b: u8) -> i32 {{\n let t = {};\n \
         let i = ((a ^ b) & 127u8) + 3u8;\n (t[i as usize] as i32) * 3i32 - (b as i32)\n}}",
        array(&table, "i16")
    );
    let program = check(&text, &pairs(), |input| {
        let i = usize::from((input[0] ^ input[1]) & 127) + 3;
        Some(bits(i64::from(table[i]) * 3 - i64::from(input[1]), 32))
    });
    assert_eq!(tables(&program), [(8, 12, 1)]);
}

#[test]
fn loops_have_one_table() {
    let table = bytes(6, 256);
    let text = format!(
        "pub fn main(a: [u8; 5]) -> u8 {{ let t = {}; let mut s = 1u8; for x in a {{ s = (s & 127u8) + (t[x as usize] >> 1u8); }} s }}",
        array(&table, "u8")
    );
    let inputs: Vec<Vec<u8>> = bytes(7, 1_000).chunks(5).map(<[u8]>::to_vec).collect();
    let program = check(&text, &inputs, |input| {
        let sum = input.iter().fold(1, |s: u8, &x| (s & 127) + (table[usize::from(x)] >> 1));
        Some(bits(sum.into(), 8))
    });
    assert_eq!(tables(&program), [(8, 7, 5)]);
    let steps = |n: usize| {
        let of = array(&table, "u8");
        format!(
            "pub fn main(a: u8, b: u8) -> u8 {{ let t = {of}; let mut s = a; for _i in 0usize..{n}usize {{ s = t[s as usize] ^ b; }} s }}"
        )
    };
    let begin = Instant::now();
    let program = check(&steps(300), &pairs(), |input| {
        Some(bits((0..300).fold(input[0], |s, _| table[usize::from(s)] ^ input[1]).into(), 8))
    });
    println!("300 steps: {:.3} s, {} components", begin.elapsed().as_secs_f64(), program.components().len());
    assert_eq!(tables(&program), [(8, 8, 300)]);
    let begin = Instant::now();
    let program = compile(&steps(10_000), &[], true).unwrap_or_else(|e| panic!("{}", e.render()));
    println!("10000 steps: {:.3} s, {} components", begin.elapsed().as_secs_f64(), program.components().len());
    assert_eq!(tables(&program), [(8, 8, 10_000)]);
    assert!(program.components().len() < 10, "{}", program.components().len());
}

#[test]
fn tables_in_tables_and_in_branches() {
    let (outer, inner) = (bytes(8, 256), bytes(9, 100));
    let arrays = format!("let t = {}; let s = {};", array(&outer, "u8"), array(&inner, "u8"));
    let text = format!(
        "pub fn main(a: u8, b: u8) -> u8 {{ {arrays} t[(s[a as usize] ^ b) as usize] ^ s[(b & 63u8) as usize] }}"
    );
    let program = check(&text, &pairs(), |input| {
        let s = inner.get(usize::from(input[0]))?;
        Some(bits((outer[usize::from(s ^ input[1])] ^ inner[usize::from(input[1] & 63)]).into(), 8))
    });
    // The third read needs 64 rows, which are gates.
    assert_eq!(tables(&program).len(), 2, "{:?}", tables(&program));
    let text = format!(
        "pub fn main(a: u8, b: u8) -> u8 {{ {arrays} if a > b {{ s[a as usize] }} else {{ t[(a ^ b) as usize] ^ s[t[b as usize] as usize & 63usize] }} }}"
    );
    let program = check(&text, &pairs(), |input| {
        let (a, b) = (input[0], input[1]);
        let other = || outer[usize::from(a ^ b)] ^ inner[usize::from(outer[usize::from(b)] & 63)];
        let value = if a > b { *inner.get(usize::from(a))? } else { other() };
        Some(bits(value.into(), 8))
    });
    assert!(tables(&program).iter().any(|&(inputs, ..)| inputs == 7), "{:?}", tables(&program));
}

#[test]
fn tables_that_cost_less_as_gates_stay() {
    let byte = |text: String, values: &[u8], mask: u8| {
        check(&text, &all_bytes(), |input| Some(bits(values[usize::from(input[0] & mask)].into(), 8)))
    };
    let four = bytes(10, 4);
    let text = format!("pub fn main(x: u8) -> u8 {{ let t = {}; t[(x & 3u8) as usize] }}", array(&four, "u8"));
    let program = byte(text, &four, 3);
    assert_eq!((tables(&program), program.components().len()), (Vec::new(), 1));
    let sixteen: Vec<bool> = numbers(11, 16).into_iter().map(|number| number & 1 == 1).collect();
    let text = format!("pub fn main(x: u8) -> bool {{ let t = {}; t[(x & 15u8) as usize] }}", array(&sixteen, ""));
    let program = check(&text, &all_bytes(), |input| Some(vec![sixteen[usize::from(input[0] & 15)]]));
    assert_eq!((tables(&program), program.components().len()), (Vec::new(), 1));
    let wide: Vec<u32> = numbers(12, 256).into_iter().map(|number| number as u32).collect();
    let text = format!("pub fn main(x: u8) -> u32 {{ let t = {}; t[x as usize] }}", array(&wide, "u32"));
    let program = check(&text, &all_bytes(), |input| Some(bits(wide[usize::from(input[0])].into(), 32)));
    assert_eq!((tables(&program), program.components().len()), (Vec::new(), 1));
    // One part of what a region reads becomes a table, and another not.
    let mixed = bytes(13, 256);
    let text = format!(
        "pub fn main(a: u8, b: u8) -> u32 {{ let t = {}; let s = {}; t[a as usize] ^ s[b as usize] as u32 }}",
        array(&wide, "u32"),
        array(&mixed, "u8")
    );
    let program = check(&text, &pairs(), |input| {
        Some(bits((wide[usize::from(input[0])] ^ u32::from(mixed[usize::from(input[1])])).into(), 32))
    });
    assert_eq!(tables(&program), [(8, 8, 1)]);
}

#[test]
fn known_bits_of_indices_and_bits_that_nothing_reads_are_left_out() {
    let table = bytes(14, 256);
    let array = array(&table, "u8");
    let source = |body: &str| format!("pub fn main(x: u8) -> u8 {{ let t = {array}; {body} }}");
    let odd = |x: u8| usize::from(x << 1 | 1);
    let program = check(&source("t[((x << 1u8) | 1u8) as usize]"), &all_bytes(), |input| {
        Some(bits(table[odd(input[0])].into(), 8))
    });
    assert_eq!(tables(&program), [(7, 8, 1)]);
    let program = check(&source("t[x as usize] & 3u8"), &all_bytes(), |input| {
        Some(bits((table[usize::from(input[0])] & 3).into(), 8))
    });
    assert_eq!(tables(&program), [(8, 2, 1)]);
    let program =
        check(&source("t[(x ^ x) as usize] ^ x"), &all_bytes(), |input| Some(bits((table[0] ^ input[0]).into(), 8)));
    assert_eq!((tables(&program), program.stats().and), (Vec::new(), 0));
    let program = check(&source("x ^ (t[x as usize] & (x ^ x))"), &all_bytes(), |input| Some(bits(input[0].into(), 8)));
    assert_eq!((tables(&program), program.stats().and), (Vec::new(), 0));
}

#[test]
fn gates_of_tables_are_those_of_the_lines_that_read() {
    let table = bytes(15, 256);
    let text = format!(
        "pub fn main(a: u8, b: u8) -> (u8, u8, u8) {{\n let t = {};\n \
         let x = t[a as usize] ^ t[b as usize];\n let y = t[(a ^ b) as usize];\n (x, y, a & b)\n}}",
        array(&table, "u8")
    );
    let at = |x: u8| table[usize::from(x)];
    let program = check(&text, &pairs(), |input| {
        let (a, b) = (input[0], input[1]);
        Some([at(a) ^ at(b), at(a ^ b), a & b].into_iter().flat_map(|value| bits(value.into(), 8)).collect())
    });
    assert_eq!(tables(&program), [(8, 8, 3)]);
    let mut instances = vec![0; program.components().len()];
    (0..program.instance_count()).for_each(|k| instances[program.component_id(InstanceId(k as u32)).0 as usize] += 1);
    let mut lines = BTreeMap::new();
    for (own, count) in program.notes().lines.iter().zip(&instances) {
        own.iter().for_each(|(line, ands)| *lines.entry(*line).or_insert(0) += ands * count);
    }
    let ands = (program.stats().and - 8) / 3;
    assert_eq!(lines.keys().copied().collect::<Vec<u32>>(), [3, 4, 5]);
    assert_eq!((lines.values().sum::<u64>(), lines[&5]), (3 * ands + 8, 8));
    assert!(lines[&4].abs_diff(ands) <= 3, "{lines:?}, {ands} in the table");
}

#[test]
fn random_reads_in_one_region_have_the_values_of_their_arrays() {
    for seed in 0..24 {
        let dice = bytes(100 + seed, 8);
        let counts = [65 + usize::from(dice[0]) % 192, 65 + usize::from(dice[1]) % 192, 16];
        let arrays = [bytes(seed, counts[0]), bytes(seed + 50, counts[1]), bytes(seed + 75, counts[2])];
        let names = ["t", "s", "r"];
        let text: String = names.iter().zip(&arrays).map(|(n, a)| format!("let {n} = {};\n", array(a, "u8"))).collect();
        // Each step reads an array by the sum of the step before and an input, or by that input alone.
        let steps: Vec<(usize, u8, bool)> = dice.iter().map(|&d| (usize::from(d) % 3, d >> 2, d & 128 != 0)).collect();
        let step = |(array, mask, both): &(usize, u8, bool)| {
            let (name, count) = (names[*array], counts[*array]);
            let index = if *both { "v ^ a" } else { "b" };
            format!("v = {name}[(({index}) ^ {mask}u8) as usize % {count}usize] ^ (v & 15u8);\n")
        };
        let steps_text: String = steps.iter().map(step).collect();
        let text = format!("pub fn main(a: u8, b: u8) -> u8 {{\n{text}let mut v = a;\n{steps_text}v\n}}");
        let program = check(&text, &pairs()[..300], |input| {
            let (a, b) = (input[0], input[1]);
            let value = steps.iter().fold(a, |v, (array, mask, both)| {
                let index = usize::from(if *both { v ^ a } else { b } ^ mask) % counts[*array];
                arrays[*array][index] ^ (v & 15)
            });
            Some(bits(value.into(), 8))
        });
        let shapes = tables(&program);
        assert!(steps.iter().all(|(array, ..)| *array == 2) || !shapes.is_empty(), "{text}");
    }
}
