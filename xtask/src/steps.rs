//! Steps of a task: run in order, or in rows side by side, timed, with a summary. A failure ends its row, and the task after the other rows.

use std::{
    fs::read_to_string,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
    time::Instant,
};

/// A check of our own: returns its findings, one line each.
type Check = Box<dyn Fn() -> Vec<String> + Send + Sync>;

enum Work {
    Cargo { arguments: Vec<&'static str>, variables: Vec<(&'static str, &'static str)> },
    Check(Check),
    Beside(Vec<Vec<Step>>),
}

/// One step, or rows of them side by side.
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
    pub(crate) fn check(name: &'static str, check: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        Step { name, work: Work::Check(Box::new(check)) }
    }

    /// Runs rows of steps side by side: for those that wait more than they compute. A step that fails ends its row.
    pub(crate) fn beside(rows: Vec<Vec<Step>>) -> Self {
        Step { name: "side by side", work: Work::Beside(rows) }
    }

    /// Sets an environment variable for cargo.
    pub(crate) fn env(mut self, name: &'static str, value: &'static str) -> Self {
        if let Work::Cargo { variables, .. } = &mut self.work {
            variables.push((name, value));
        }
        self
    }

    /// Runs the step, and returns how its parts have ended, and it.
    fn run(&self) -> Vec<Ended> {
        eprintln!("== {}", self.name);
        let (begin, before) = (Instant::now(), processor_seconds());
        let (mut ended, passed) = match &self.work {
            Work::Cargo { arguments, variables } => (Vec::new(), run_cargo(arguments, variables)),
            Work::Check(check) => {
                let findings = check();
                for finding in &findings {
                    eprintln!("{}: {finding}", self.name);
                }
                (Vec::new(), findings.is_empty())
            }
            Work::Beside(rows) => {
                let parts = beside(rows);
                let passed = parts.iter().all(|part| part.passed);
                (parts, passed)
            }
        };
        let (seconds, processors) = (begin.elapsed().as_secs_f64(), processor_seconds() - before);
        ended.push(Ended { name: self.name, seconds, processors: Some(processors), passed });
        ended
    }

    /// The names of the step's parts, and its own.
    fn names(&self) -> Vec<&'static str> {
        match &self.work {
            Work::Beside(rows) => rows.iter().flatten().flat_map(Step::names).chain([self.name]).collect(),
            _ => vec![self.name],
        }
    }
}

/// A step that has ended.
struct Ended {
    name: &'static str,
    seconds: f64,
    /// `None` if others ran beside it.
    processors: Option<f64>,
    passed: bool,
}

/// Runs rows of steps side by side.
fn beside(rows: &[Vec<Step>]) -> Vec<Ended> {
    let run = |row: &Vec<Step>| {
        let mut ended: Vec<Ended> = Vec::new();
        for step in row {
            let failed = |_| vec![Ended { name: step.name, seconds: 0.0, processors: None, passed: false }];
            let parts = catch_unwind(AssertUnwindSafe(|| step.run())).unwrap_or_else(failed);
            ended.extend(parts.into_iter().map(|part| Ended { processors: None, ..part }));
            if ended.iter().any(|part| !part.passed) {
                break;
            }
        }
        ended
    };
    std::thread::scope(|scope| {
        let rows: Vec<_> = rows.iter().map(|row| scope.spawn(move || run(row))).collect();
        rows.into_iter().flat_map(|row| row.join().unwrap_or_default()).collect()
    })
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
    let mut summary: Vec<Ended> = Vec::new();
    for step in steps {
        summary.extend(step.run());
        if ends_early && summary.iter().any(|ended| !ended.passed) {
            break;
        }
    }
    eprintln!();
    for Ended { name, seconds, processors, passed } in &summary {
        let word = if *passed { "ok    " } else { "FAILED" };
        let processors = processors.map(|seconds| format!(", {seconds:>7.1} s of processors")).unwrap_or_default();
        eprintln!("{word} {name:<24} {seconds:>7.1} s{processors}");
    }
    for name in steps.iter().flat_map(Step::names).filter(|name| summary.iter().all(|ended| ended.name != *name)) {
        eprintln!("not run {name}");
    }
    summary.iter().all(|ended| ended.passed)
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
    fn a_step_that_fails_ends_its_row_and_the_task() {
        let row = |names: [&'static str; 2], found: &'static str| {
            let [first, second] = names;
            let found = move || (!found.is_empty()).then(|| found.to_string()).into_iter().collect();
            vec![Step::check(first, found), Step::check(second, Vec::new)]
        };
        let rows = || Step::beside(vec![row(["a", "b"], "wrong"), row(["c", "d"], "")]);
        let told = |ended: &[Ended]| ended.iter().map(|part| (part.name, part.passed)).collect::<Vec<_>>();
        assert_eq!(told(&rows().run()), [("a", false), ("c", true), ("d", true), ("side by side", false)]);
        assert!(!run_all(&[rows(), Step::check("e", || -> Vec<String> { panic!("a task that has failed goes on") })]));
        assert!(!run_each(&[rows(), Step::check("e", Vec::new)]));
    }

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
