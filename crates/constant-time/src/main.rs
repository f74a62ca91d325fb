//! Runs kernels and protocols on secrets that valgrind tracks, and reports each branch or address that depends on one.
//!
//! `cargo xtask constant-time` builds it, optimised and with the feature `secrets`, and runs it under valgrind. All inputs and all output of random
//! generators are secret. Bytes become public when a channel sends them, or when the code declares them public with a reason. The check also runs code
//! with planted faults, which it must find.

mod garbling;
mod kernels;
mod marks;
mod planted;
mod protocols;
mod transfers;

use std::process::ExitCode;

use garblet_primitives::secrets;

/// A part of the check: its name, whether the short form includes it, whether the check must find that it depends on secrets, and its function.
struct Suite {
    name: &'static str,
    short: bool,
    planted: bool,
    run: fn(),
}

const fn suite(name: &'static str, run: fn()) -> Suite {
    Suite { name, short: false, planted: false, run }
}

const fn short(name: &'static str, run: fn()) -> Suite {
    Suite { short: true, ..suite(name, run) }
}

const fn planted(name: &'static str, run: fn()) -> Suite {
    Suite { planted: true, ..short(name, run) }
}

const SUITES: &[Suite] = &[
    planted("a planted branch", planted::branch),
    planted("a planted address", planted::address),
    planted("a planted branch of a party", planted::party),
    short("kernels", kernels::run),
    short("kernels, portable", || marks::portably(kernels::run)),
    short("base OT", transfers::base),
    short("OT extension", transfers::semi_honest),
    short("OT extension against malicious parties", transfers::malicious),
    short("silent OT", transfers::silent),
    short("corrected OT", transfers::corrected),
    short("garbling and evaluation", garbling::run),
    suite("garbling and evaluation, portable", || marks::portably(garbling::run)),
    short("yao", protocols::yao),
    short("two-garblers", protocols::two_garblers),
    #[cfg(feature = "all")]
    suite("gmw", protocols::gmw),
    #[cfg(feature = "all")]
    suite("lego", protocols::lego),
    #[cfg(feature = "all")]
    suite("authenticated", protocols::authenticated),
    #[cfg(feature = "all")]
    suite("authenticated-bmr", protocols::authenticated_bmr),
];

const USAGE: &str = "usage: valgrind garblet-constant-time short | all | SUITE...";

fn main() -> ExitCode {
    if secrets::reports().is_none() {
        eprintln!("valgrind is not looking, or this is built without the feature `secrets`\n{USAGE}");
        return ExitCode::from(2);
    }
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |suite: &&Suite| match &wanted[..] {
        [form] if form == "all" => true,
        [form] if form == "short" => suite.short,
        names => names.iter().any(|name| name == suite.name),
    };
    let suites: Vec<&Suite> = SUITES.iter().filter(is_wanted).collect();
    if suites.is_empty() {
        let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
        eprintln!("{USAGE}\nsuites: {}", names.join(", "));
        return ExitCode::from(2);
    }
    // All suites run, whatever earlier ones find.
    let passed: Vec<bool> = suites.into_iter().map(passes).collect();
    if passed.into_iter().all(|passed| passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a suite, and tells whether the findings are as expected.
fn passes(suite: &Suite) -> bool {
    let before = secrets::reports();
    eprintln!("== {}", suite.name);
    (suite.run)();
    let found = secrets::reports().zip(before).map_or(0, |(after, before)| after - before);
    let passed = suite.planted == (found > 0);
    let word = if passed { "ok    " } else { "FAILED" };
    println!(
        "{word} {}: {found} uses of secrets{}",
        suite.name,
        if suite.planted { ", which are planted" } else { "" }
    );
    passed
}

#[cfg(test)]
mod reasons;
