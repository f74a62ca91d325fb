//! Steps of a task: run in order, timed, with a summary; the first failure ends the task.

use std::{process::Command, time::Instant};

/// A check of our own: returns its findings, one line each.
type Check = Box<dyn Fn() -> Vec<String>>;

enum Work {
    Cargo { arguments: Vec<&'static str>, variables: Vec<(&'static str, &'static str)> },
    Check(Check),
}

/// One step.
pub(crate) struct Step {
    name: &'static str,
    work: Work,
}

impl Step {
    /// Runs cargo.
    pub(crate) fn cargo(name: &'static str, arguments: &[&'static str]) -> Self {
        Step { name, work: Work::Cargo { arguments: arguments.to_vec(), variables: Vec::new() } }
    }

    /// Runs a check in this process.
    pub(crate) fn check(name: &'static str, check: impl Fn() -> Vec<String> + 'static) -> Self {
        Step { name, work: Work::Check(Box::new(check)) }
    }

    /// Sets an environment variable for cargo.
    pub(crate) fn env(mut self, name: &'static str, value: &'static str) -> Self {
        if let Work::Cargo { variables, .. } = &mut self.work {
            variables.push((name, value));
        }
        self
    }

    fn run(&self) -> bool {
        match &self.work {
            Work::Cargo { arguments, variables } => run_cargo(arguments, variables),
            Work::Check(check) => {
                let findings = check();
                for finding in &findings {
                    eprintln!("{finding}");
                }
                findings.is_empty()
            }
        }
    }
}

/// Runs steps until one fails, and prints how long each took. Returns whether all passed.
pub(crate) fn run_all(steps: &[Step]) -> bool {
    run(steps, true)
}

/// The same for steps of hours: one that fails does not end the others.
pub(crate) fn run_each(steps: &[Step]) -> bool {
    run(steps, false)
}

fn run(steps: &[Step], ends_early: bool) -> bool {
    let mut summary = Vec::new();
    for step in steps {
        eprintln!("== {}", step.name);
        let begin = Instant::now();
        let passed = step.run();
        summary.push((step.name, begin.elapsed().as_secs_f64(), passed));
        if !passed && ends_early {
            break;
        }
    }
    eprintln!();
    for (name, seconds, passed) in &summary {
        eprintln!("{} {name:<24} {seconds:>7.1} s", if *passed { "ok    " } else { "FAILED" });
    }
    for step in &steps[summary.len()..] {
        eprintln!("not run {}", step.name);
    }
    summary.iter().all(|(_, _, passed)| *passed)
}

/// Cargo, as the caller of this program would run it.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Variables that cargo set for this package. Build scripts read them, so what a bare `cargo test` has built would be built again.
    let told = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(told)) {
        cargo.env_remove(name);
    }
    cargo
}

fn run_cargo(arguments: &[&str], variables: &[(&str, &str)]) -> bool {
    let status = cargo()
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(crate::root())
        .stdin(std::process::Stdio::null())
        .status();
    match status {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cargo cannot be started: {error}");
            false
        }
    }
}
