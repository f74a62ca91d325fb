//! The independent peer in Python, which was written from the specification of the wire: it meets the command that the tests built.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{run, target};
use crate::python;
use crate::steps::Step;

/// The peer's folder, a package of Python.
const PACKAGE: &str = "conform";
/// Pinned versions of what it imports and of the tools that check it.
const REQUIREMENTS: &str = "conform/requirements.txt";

/// With this variable the tests leave out programs and parameters, and no protocol or role.
const SHORT: &str = "CONFORM_SHORT";

/// Builds the command as for all tests together, and lets the peer meet it, everything.
pub(crate) fn steps() -> Vec<Step> {
    vec![build(), step("debug")]
}

/// Builds the command as for all tests together.
pub(crate) fn build() -> Step {
    Step::cargo("the command", &["test", "--workspace", "--test", "soak", "--no-run", "--quiet"])
}

/// Everything, with the command of this profile, a folder of `target`.
pub(crate) fn step(profile: &'static str) -> Step {
    Step::check("peer in Python", move || check(&crate::root(), profile, false))
}

/// The part of about a minute.
pub(crate) fn short_step(profile: &'static str) -> Step {
    Step::check("peer in Python", move || check(&crate::root(), profile, true))
}

/// Findings, one line each. A missing Python is reported loudly and is not a finding.
fn check(root: &Path, profile: &str, short: bool) -> Vec<String> {
    match python::environment(root, REQUIREMENTS) {
        Ok(environment) => test(root, &environment, profile, short).err().into_iter().collect(),
        Err(reason) => {
            eprintln!("{reason}\nTHE PEER IN PYTHON DID NOT MEET THE COMMAND");
            Vec::new()
        }
    }
}

/// Types and format, then vectors, meetings in every role, and a peer that is wrong on purpose.
fn test(root: &Path, environment: &Path, profile: &str, short: bool) -> Result<(), String> {
    let configured = format!("{PACKAGE}/pyproject.toml");
    let cache = format!("--cache-dir={}", target(root).join("mypy").display());
    let python = ["-m", "unittest", "--quiet"];
    let calls: [(&str, &[&str]); 5] = [
        ("mypy", &["--config-file", &configured, &cache, PACKAGE]),
        ("ruff", &["format", "--check", "--no-cache", "--config", &configured, PACKAGE]),
        ("python", &[&python[..], &["conform.vectors"]].concat()),
        ("python", &[&python[..], &["conform.test"]].concat()),
        ("python", &["-m", PACKAGE, "run"]),
    ];
    for (tool, arguments) in calls {
        let mut tool = Command::new(environment.join("bin").join(tool));
        tool.args(arguments).current_dir(root).env("GARBLET", command(root, profile));
        // Tools leave no files among the sources.
        tool.env("VECTORS", "vectors/spec").env("PYTHONPYCACHEPREFIX", target(root).join("python/compiled"));
        if short {
            tool.env(SHORT, "1");
        }
        let said = run(&mut tool)?;
        eprintln!("{}", said.trim_end().lines().next_back().unwrap_or_default());
    }
    Ok(())
}

/// The command under test.
pub(crate) fn command(root: &Path, profile: &str) -> PathBuf {
    target(root).join(profile).join("garblet")
}
