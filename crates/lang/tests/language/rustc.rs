//! Snippets of the language that are Rust as well: `rustc` says what they mean.
//!
//! Each has the value, the panic or the refusal of rustc 1.95 (edition 2021, overflow checks on). One test holds us to the table, and
//! another one holds the table to the `rustc` that is there.

mod refused;
mod values;

use std::{fmt::Write as _, path::Path, process::Command};

use garblet_circuit::{Bits, Program, evaluate, notes::Panics};
use garblet_formats::value::{read_value, to_json};

use crate::reference::compile;
use refused::REFUSED;
use values::VALUES;

/// The parts of a list, whose brackets may have commas.
fn parts(list: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in list.chars() {
        depth += i32::from(c == '[') - i32::from(c == ']');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().expect("a part").push(c),
        }
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

/// The scalars of a value, which is shown in JSON or by Rust.
fn scalars(shown: &str) -> String {
    let plain = shown.replace(['(', ')', '[', ']', ',', '"'], " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The outcome of a run of ours: the scalars of the result, or line and reason of the panic.
fn run(program: &Program, inputs: &str) -> String {
    let values: Vec<Bits> = parts(inputs)
        .iter()
        .zip(program.inputs())
        .map(|(text, input)| {
            // Large numbers are strings in JSON.
            let text = if text.len() > 15 && !text.starts_with('[') { format!("\"{text}\"") } else { text.clone() };
            read_value("v.json", &text, &input.port.ty).unwrap_or_else(|e| panic!("{e}"))
        })
        .collect();
    let mut outputs = evaluate(program, &values);
    if let Some(panics @ Panics::On { output: Some(at), .. }) = &program.notes().panics {
        let code = outputs.remove(*at).to_u128().expect("a code");
        if code != 0 {
            return panicked(panics.reason(code).expect("a place"));
        }
    }
    let shown = program.outputs().iter().zip(&outputs);
    let shown: Vec<String> = shown.map(|(output, bits)| to_json(&output.port.ty, bits).to_string()).collect();
    scalars(&shown.join(" "))
}

/// `LINE: REASON` of `FILE:LINE:COLUMN: REASON`.
fn panicked(text: &str) -> String {
    let parts: Vec<&str> = text.splitn(4, ':').collect();
    format!("{}: {}", parts[1], parts[3].trim())
}

#[test]
fn values_and_panics_are_as_the_table_says() {
    let mut wrong = String::new();
    for ((source, runs), is_deep) in VALUES.iter().flat_map(|row| [(row, false), (row, true)]) {
        let deep = source.replacen("pub fn main", "#[depth] pub fn main", 1);
        let program = compile(if is_deep { &deep } else { source }, &[], true);
        for (inputs, expected) in *runs {
            let got = match &program {
                Ok(program) => run(program, inputs),
                // What always panics is refused, with the reason.
                Err(error) => {
                    let first = error.iter().next().expect("a fault");
                    let reason = first.message.strip_prefix("this always panics: ");
                    let line = first.place.as_ref().map_or(0, |place| place.line);
                    reason.map_or_else(|| error.render(), |reason| format!("{line}: {reason}"))
                }
            };
            if got != *expected {
                writeln!(wrong, "{source}\n  of {inputs}, in few layers: {is_deep}: expected {expected}, got {got}")
                    .expect("text");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_rustc_refuses_is_refused() {
    let mut wrong = String::new();
    for (source, message, _) in REFUSED {
        let told = match compile(source, &[], true) {
            Ok(_) => "nothing".into(),
            Err(error) => error.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; "),
        };
        if !told.contains(message) {
            writeln!(wrong, "{source}\n  expected {message}, got {told}").expect("text");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn rustc(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let common = ["--edition", "2021", "-C", "overflow-checks=on", "-C", "debuginfo=0", "--out-dir"];
    Command::new(rustc).args(common).arg(folder).args(arguments).current_dir(folder).output().expect("rustc")
}

/// The panic of Rust, in our words.
const REASONS: &[(&str, &str)] = &[
    ("overflow", "arithmetic overflow"),
    ("divide by zero", "division by zero"),
    ("divisor of zero", "division by zero"),
    ("index out of bounds", "index out of bounds"),
];

/// A program that runs all that have values or panic.
fn all_runs() -> String {
    // What always overflows is a panic here, and an error unless that lint is off.
    let mut text =
        String::from("#![allow(warnings, arithmetic_overflow, unconditional_panic)]\nuse std::fmt::Debug;\n");
    let mut calls = String::new();
    for (k, (source, runs)) in VALUES.iter().enumerate() {
        writeln!(text, "mod c{k} {{").expect("text");
        let line = text.lines().count();
        writeln!(text, "{source}\n}}").expect("text");
        for (inputs, _) in *runs {
            writeln!(calls, "run({line}, || c{k}::main({inputs}));").expect("text");
        }
    }
    text += "thread_local! { static PANIC: std::cell::RefCell<String> = Default::default(); }
fn run<T: Debug>(line: u32, main: impl FnOnce() -> T + std::panic::UnwindSafe) {
    match std::panic::catch_unwind(main) {
        Ok(value) => println!(\"{value:?}\"),
        Err(_) => {
            let (at, why) = PANIC.with(|p| p.borrow().split_once('|').map(|(a, b)| (a.parse::<u32>().unwrap(), b.to_string())).unwrap());
            println!(\"!{}: {why}\", at - line);
        }
    }
}
fn main() {
    std::panic::set_hook(Box::new(|info| {
        let why = info.to_string().lines().last().unwrap().to_string();
        PANIC.with(|p| *p.borrow_mut() = format!(\"{}|{why}\", info.location().unwrap().line()));
    }));
";
    text + &calls + "}\n"
}

#[test]
fn the_table_has_the_values_of_rustc() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("all.rs"), all_runs()).expect("a file");
    let compiled = rustc(folder.path(), &["all.rs"]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(folder.path().join("all")).output().expect("a run");
    let output = String::from_utf8(output.stdout).expect("text");
    let mut lines = output.lines();
    let mut wrong = String::new();
    let mut count = 0;
    for (source, runs) in VALUES {
        for (inputs, expected) in *runs {
            count += 1;
            let got = lines.next().expect("a line for each run");
            let got = match got.strip_prefix('!') {
                None => scalars(got),
                Some(panic) => {
                    let (line, why) = panic.split_once(": ").expect("a line");
                    let reason = REASONS.iter().find(|(theirs, _)| why.contains(theirs)).expect("a reason").1;
                    format!("{line}: {reason}")
                }
            };
            if got != *expected {
                writeln!(wrong, "{source}\n  of {inputs}: expected {expected}, got {got}").expect("text");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 150 && lines.next().is_none(), "{count}");
}

#[test]
fn the_table_has_the_refusals_of_rustc() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = |(k, (source, _, message)): (usize, &(&str, &str, &str))| {
        let name = format!("c{k}.rs");
        std::fs::write(folder.path().join(&name), source).expect("a file");
        let output = rustc(folder.path(), &["--crate-type", "lib", "--emit", "metadata", &name]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_right = !output.status.success() && errors.contains(message);
        (!is_right).then(|| format!("{source}\n  expected {message}, got {errors}\n"))
    };
    let cases: Vec<_> = REFUSED.iter().enumerate().collect();
    let (first, second) = cases.split_at(cases.len() / 2);
    let wrong = std::thread::scope(|scope| {
        let other = scope.spawn(|| second.iter().copied().filter_map(told).collect::<String>());
        let own: String = first.iter().copied().filter_map(told).collect();
        own + &other.join().expect("a thread")
    });
    assert!(wrong.is_empty(), "{wrong}");
}
