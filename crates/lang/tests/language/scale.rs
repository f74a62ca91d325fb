//! The costs of sources: gates, instances, components, and how they grow.

use std::time::Instant;

use garblet_circuit::{
    Program,
    notes::{Panics, Shape},
};

use crate::reference::compile;

/// The edit distance of two strings of bytes, by the recurrence of Wagner and Fischer 1974.
fn edit_distance(n: usize) -> String {
    format!(
        "const N: usize = {n}usize;
pub fn main(a: [u8; N], b: [u8; N]) -> u16 {{
    let mut row = [0u16; N];
    let mut j = 0usize;
    for y in b {{
        row[j] = (j as u16) + 1u16;
        j = j + 1usize;
    }}
    let mut i = 0u16;
    for x in a {{
        let mut diagonal = i;
        i = i + 1u16;
        let mut left = i;
        let mut k = 0usize;
        for y in b {{
            let up = row[k];
            let least = if left < up {{ left }} else {{ up }};
            let best = if least < diagonal {{ least + 1u16 }} else {{ if x == y {{ diagonal }} else {{ diagonal + 1u16 }} }};
            diagonal = up;
            left = best;
            row[k] = best;
            k = k + 1usize;
        }}
    }}
    row[N - 1usize]
}}"
    )
}

fn program(text: &str) -> Program {
    compile(text, &[], true).unwrap_or_else(|e| panic!("{}", e.render()))
}

#[test]
fn cells_of_the_edit_distance_are_narrow() {
    let ands = program(&edit_distance(32)).stats().and;
    assert!(ands <= 45 * 32 * 32, "{} a cell", ands as f64 / 1024.0);
    let inputs = |text: &str| text.bytes().flat_map(|b| (0..8).map(move |k| b >> k & 1 == 1)).collect();
    let small = program(&edit_distance(7));
    let out = garblet_circuit::evaluate(&small, &[inputs("kitten "), inputs("sitting")]);
    assert_eq!(out[0].to_u128(), Some(3));
}

#[test]
fn nothing_can_overflow_that_ranges_exclude() {
    let notes = program(&edit_distance(32)).notes().clone();
    assert_eq!(notes.panics, Some(Panics::On { output: None, places: Vec::new() }));
}

#[test]
fn nests_of_loops_are_known() {
    let program = program(&edit_distance(64));
    let regions = &program.notes().regions;
    assert_eq!(regions.len(), 1, "{regions:?}");
    assert_eq!((regions[0].line, regions[0].shape), (10, Shape::Grid(64, 64)));
    assert!(regions[0].count > 64 && u64::from(regions[0].count) <= program.instance_count() as u64);
    let lines: u64 = program.notes().lines.iter().flatten().map(|(_, ands)| ands).sum();
    assert!(lines > 0);
}

#[test]
fn wiring_costs_no_component() {
    let text = "pub fn main(a: [u32; 8], b: [u32; 8]) -> [u16; 16] {
        let mut out = [0u16; 16];
        for k in 0usize..8usize {
            out[k] = (a[7usize - k] >> 8u8) as u16;
            out[k + 8usize] = (b[k] & 255u32) as u16;
        }
        out
    }";
    let program = program(text);
    assert_eq!((program.instance_count(), program.components().len()), (0, 0));
}

#[test]
fn a_loop_is_one_component() {
    let text = |n: usize| {
        format!(
            "pub fn main(a: u64, b: u64) -> u64 {{ let mut x = a; for _i in 0usize..{n}usize {{ x = x ^ (x * b); }} x }}"
        )
    };
    let compiled = |n| compile(&text(n), &[], false).expect("a program");
    let (few, many) = (compiled(10), compiled(1000));
    assert_eq!(few.stats().and * 100, many.stats().and);
    assert_eq!(many.instance_count(), 1000);
    assert!(many.components().len() <= 3, "{}", many.components().len());
}

#[test]
fn time_is_in_proportion_to_instances() {
    let text = |n: usize| {
        format!(
            "pub fn main(a: u64, b: u64) -> u64 {{ let mut x = a; for _i in 0usize..{n}usize {{ x = x ^ (x * b); }} x }}"
        )
    };
    let seconds = |n: usize| {
        let begin = Instant::now();
        assert_eq!(compile(&text(n), &[], false).expect("a program").instance_count(), n);
        begin.elapsed().as_secs_f64()
    };
    // What it takes to make the one component is apart.
    let first = (0..3).map(|_| seconds(1)).fold(f64::INFINITY, f64::min);
    let sizes = [10_000, 100_000, 1_000_000];
    let each: Vec<f64> = sizes.into_iter().map(|n| (seconds(n) - first).max(0.0) / n as f64).collect();
    println!("seconds an instance, for 1e4, 1e5 and 1e6 instances: {each:?}; before the first: {first}");
    assert!(each[2] < 10.0 * each[0].max(1e-6), "{each:?}");
}

#[test]
fn the_edit_distance_is_compiled_in_a_blink() {
    let full = std::env::var_os("GARBLET_TEST_FULL").is_some();
    for (n, most) in [(64, 2.0), (512, 40.0)].into_iter().take(if full { 2 } else { 1 }) {
        let text = edit_distance(n);
        let begin = Instant::now();
        let program = program(&text);
        let seconds = begin.elapsed().as_secs_f64();
        let (instances, components) = (program.instance_count(), program.components().len());
        println!("edit distance {n}x{n}: {seconds:.3} s, {instances} instances of {components} components");
        // Far more than it takes, for tests that are not optimised on machines that are busy.
        assert!(seconds < most, "{seconds} s");
        assert!(components < instances && instances < n * n);
    }
}
