//! The package for Python: built, and tested by Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::Step;
use crate::web::{run, target};

/// The least version: the first whose stable interface has buffers.
const LEAST: (u32, u32) = (3, 11);
const COMMANDS: [&str; 5] = ["python3", "python3.13", "python3.12", "python3.11", "python"];

/// The folder of the package.
const PACKAGE: &str = "python";
/// The builder, the tests and the data frames of which these take columns, each of one version.
const REQUIREMENTS: &str = "python/requirements.txt";

/// Builds the package and runs its tests.
pub(crate) fn step() -> Step {
    Step::check("package for Python", || check(&crate::root()))
}

/// Findings, one line each. A Python that cannot be had is said loudly and is no finding.
fn check(root: &Path) -> Vec<String> {
    let environment = match COMMANDS.into_iter().find(|name| is_new_enough(name)) {
        Some(python) => environment(root, python),
        None => Err(format!("there is no Python {}.{} or later", LEAST.0, LEAST.1)),
    };
    match environment {
        Ok(environment) => test(root, &environment).err().into_iter().collect(),
        Err(reason) => {
            eprintln!("{reason}\nTHE PACKAGE FOR PYTHON WAS NOT TESTED");
            Vec::new()
        }
    }
}

fn is_new_enough(python: &str) -> bool {
    Command::new(python).arg("--version").output().is_ok_and(|said| version(&said.stdout) >= Some(LEAST))
}

/// The version in the words of `--version`.
fn version(said: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(said).ok()?.strip_prefix("Python ")?;
    let mut numbers = text.trim().split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// An environment of its own with all that is required, fetched once.
///
/// *Errors*: the reason why there is none.
fn environment(root: &Path, python: &str) -> Result<PathBuf, String> {
    let folder = target(root).join("python");
    if !folder.join("bin/pip").exists() {
        run(Command::new(python).args(["-m", "venv"]).arg(&folder))?;
    }
    let mut pip = Command::new(folder.join("bin/pip"));
    run(pip.args(["install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(root.join(REQUIREMENTS)))?;
    Ok(folder)
}

/// Builds the package into the environment; then types, tests, examples of the package and of the book.
fn test(root: &Path, environment: &Path) -> Result<(), String> {
    let tool = |name: &str, arguments: &[&str]| {
        let mut tool = Command::new(environment.join("bin").join(name));
        tool.args(arguments).current_dir(root.join(PACKAGE)).env("VIRTUAL_ENV", environment);
        // No files of tools among the sources.
        run(tool.env("PYTHONDONTWRITEBYTECODE", "1"))
    };
    tool("maturin", &["develop", "--quiet"])?;
    tool("mypy", &[])?;
    tool("stubtest", &["garblet._garblet", "--mypy-config-file", "pyproject.toml"])?;
    tool("pytest", &["--quiet"]).map(|said| eprint!("{}", last_line(&said)))
}

fn last_line(said: &str) -> String {
    said.trim_end().lines().next_back().map_or_else(String::new, |line| format!("{line}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version(b"Python 3.11.7\n"), Some((3, 11)));
        assert!(version(b"Python 3.9.2\n") < Some(LEAST));
        assert!(version(b"Python 3.100.0\n") >= Some(LEAST));
        assert!(version(b"pypy 7\n") < Some(LEAST));
    }
}
