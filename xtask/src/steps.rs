//! Steps of a task: run in order, timed, with a summary; the first failure ends the task.

use std::{fs::read_to_string, process::Command, time::Instant};

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

/// Runs steps until one fails, and prints how long each took, by the clock and on processors. Returns whether all passed.
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
        let (begin, before) = (Instant::now(), processor_seconds());
        let passed = step.run();
        summary.push((step.name, begin.elapsed().as_secs_f64(), processor_seconds() - before, passed));
        if !passed && ends_early {
            break;
        }
    }
    eprintln!();
    for (name, seconds, processors, passed) in &summary {
        let word = if *passed { "ok    " } else { "FAILED" };
        eprintln!("{word} {name:<24} {seconds:>7.1} s, {processors:>7.1} s of processors");
    }
    for step in &steps[summary.len()..] {
        eprintln!("not run {}", step.name);
    }
    summary.iter().all(|(.., passed)| *passed)
}

/// The processor time of this process and of all that it has waited for; 0 where the system does not tell it in `/proc`.
fn processor_seconds() -> f64 {
    /// Linux counts here in hundredths of a second on all its platforms.
    const TICKS_PER_SECOND: f64 = 100.0;
    let status = read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in brackets, may have spaces; user and system time are fields 14 to 17.
    let after_name = status.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().skip(11).take(4).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_grows_with_work() {
        if !cfg!(target_os = "linux") {
            return;
        }
        let (begin, before) = (Instant::now(), processor_seconds());
        while processor_seconds() == before {
            assert!(begin.elapsed().as_secs() < 60, "a minute of work takes processor time");
        }
        assert!(processor_seconds() - before < 60.0);
    }
}
