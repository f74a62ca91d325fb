//! Development tasks, run as `cargo xtask NAME`; the whole of the project's continuous integration is `cargo xtask ci`.

mod architecture;
mod arm;
mod browser;
mod clusters;
mod conform;
mod constant_time;
mod dist;
mod features;
mod figures;
mod image;
mod installed;
mod kernels;
mod layers;
mod licences;
mod lost_checks;
mod modules;
mod mutants;
mod parts;
mod party;
mod platforms;
mod portable;
mod predict;
mod programs;
mod python;
mod release;
mod spec;
mod steps;
mod switches;
mod test_programs;
mod tidy;
mod web;

use std::{path::PathBuf, process::ExitCode};

use crate::steps::{Step, run_all, run_each};

const USAGE: &str = "usage: cargo xtask test [--full] | ci | bench | soak | figures [DIR] | dist [--twice | --untried] | release build TAG URL | release sign KEY | tidy | spec | licences | web | python | clusters | conform | constant-time [--short] | arm | platforms | predict | lost-checks [PATH...] [--minutes N] | mutants [PATH...] [--minutes N]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["test"] => run_all(&test()),
        ["test", "--full"] => run_each(&full_test()),
        ["ci"] => run_all(&ci()),
        ["bench"] => run_all(&bench()),
        ["soak"] => run_all(&[soak_step()]),
        ["figures"] => run_all(&figures::measured()),
        ["figures", folder] => run_all(&figures::of(folder)),
        ["dist"] => run_all(&dist::steps()),
        ["dist", "--untried"] => run_all(&[dist::untried_step()]),
        ["dist", "--twice"] => run_all(&dist::twice()),
        ["release", "build", tag, url] => run_all(&[release::build_step(tag, url)]),
        ["release", "sign", key] => run_all(&[release::sign_step(key)]),
        ["tidy"] => run_all(&[tidy_step()]),
        ["spec"] => run_all(&[spec_step()]),
        ["web"] => run_all(&web::steps("release")),
        ["python"] => run_all(&python::steps()),
        ["clusters"] => run_all(&clusters::steps()),
        ["conform"] => run_all(&conform::steps()),
        ["constant-time"] => run_all(&[constant_time::step()]),
        ["constant-time", "--short"] => run_all(&[constant_time::short_step()]),
        ["predict"] => run_all(&[predict::step()]),
        ["arm"] => run_all(&arm::steps()),
        ["platforms"] => run_all(&[platforms::step()]),
        ["lost-checks", ref words @ ..] => judge(words, lost_checks::step),
        ["mutants", ref words @ ..] => judge(words, mutants::step),
        ["licences"] => run_all(&[licence_step()]),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Judges places of the code by the tests, if the words say which.
fn judge(words: &[&str], step: fn(switches::Options) -> Step) -> bool {
    match switches::Options::read(words) {
        Some(options) => run_all(&[step(options)]),
        None => {
            eprintln!("{USAGE}");
            false
        }
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or(here.clone(), PathBuf::from)
}

/// All tests, with those on clusters.
fn test() -> Vec<Step> {
    let mut steps = quick_tests();
    // Before the toy protocol.
    steps.insert(steps.len() - 1, clusters::step("debug"));
    steps
}

/// All tests but those on clusters.
fn quick_tests() -> Vec<Step> {
    let rows = vec![
        web::steps("dev"),
        vec![arm::engines_step("32")],
        vec![python::step("debug"), conform::short_step("debug")],
    ];
    // The toy protocol comes last: the command that it needs takes the place of the one that the others need.
    vec![yosys_step(), test_programs::step("tests", "dev", &[]), Step::beside(rows), toy_step()]
}

/// The protocol of the book's chapter on adding one, which is registered only with this feature. For the whole workspace, so that the
/// crates below are as the other tests built them.
fn toy_step() -> Step {
    let toy = ["test", "--workspace", "--features", "garblet/toy,garblet-cli/toy"];
    let tests = ["--test", "contract", "--test", "toy", "--quiet"];
    Step::cargo("toy protocol", &[&toy[..], &tests].concat()).env("GARBLET_TEST_PROTOCOL", "ideal")
}

/// More cases of every property, optimised, the examples with every garbling scheme and hash, and parties on Arm. It takes hours, so what fails, a
/// program or a step, does not end the others.
fn full_test() -> Vec<Step> {
    let mut steps = vec![
        yosys_step(),
        test_programs::step("all tests", "full", &[("PROPTEST_CASES", "1024"), ("GARBLET_TEST_FULL", "1")]),
    ];
    steps.extend(web::steps("release"));
    steps.extend([arm::engines_step("256"), arm::parties_step("full")]);
    steps.extend([toy_step(), python::step("full"), conform::step("full"), clusters::step("full")]);
    steps.push(constant_time::step());
    steps
}

fn ci() -> Vec<Step> {
    let mut steps = vec![
        Step::cargo("format", &["fmt", "--all", "--check"]),
        tidy_step(),
        spec_step(),
        licence_step(),
        Step::cargo("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"]),
        Step::cargo("documentation", &["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"])
            .env("RUSTDOCFLAGS", "--deny warnings"),
        one_protocol_step(),
    ];
    steps.extend(portable::steps());
    // Up to 100 s of a core for each system.
    steps.push(platforms::short_step());
    steps.push(constant_time::short_step());
    steps.extend(quick_tests());
    steps
}

fn bench() -> Vec<Step> {
    let garblet = |name: &'static str, what: &'static str| {
        Step::cargo(name, &["run", "--release", "--quiet", "--package", "garblet-cli", "--", "bench", what])
    };
    vec![
        Step::cargo("criterion benches", &["bench", "--workspace", "--benches"]),
        garblet("garblet bench garbling", "garbling"),
        garblet("garblet bench ot", "ot"),
        garblet("garblet bench yao", "yao"),
    ]
}

/// A service under load for ten minutes; the tests include twenty seconds of it.
fn soak_step() -> Step {
    let test = ["test", "--package", "garblet-cli", "--profile", "full", "--test", "soak", "--", "--nocapture"];
    Step::cargo("soak", &test).env("GARBLET_TEST_FULL", "1")
}

/// Yosys, for the commands of the book's chapter on netlists, which are a test. Without it they are left out, which is reported and is not a
/// finding.
fn yosys_step() -> Step {
    Step::check("Yosys", || {
        if let Err(reason) = programs::with_debian(&["yosys"], &["yosys"]) {
            eprintln!("{reason}\nCOMMANDS OF YOSYS WERE NOT RUN");
        }
        Vec::new()
    })
}

/// The library with one protocol alone.
fn one_protocol_step() -> Step {
    Step::cargo(
        "one protocol",
        &["check", "--package", "garblet", "--no-default-features", "--features", "yao", "--quiet"],
    )
}

fn tidy_step() -> Step {
    Step::check("tidy", || {
        let mut findings = tidy::check(&root());
        findings.extend(layers::check(&root()));
        findings.extend(modules::check(&root()));
        findings.extend(architecture::check(&root()));
        findings.extend(features::check(&root()));
        findings.extend(python::check_versions(&root()));
        findings
    })
}

fn spec_step() -> Step {
    Step::check("specification", || spec::check(&root()))
}

fn licence_step() -> Step {
    Step::check("licences", || licences::check(&root()))
}
