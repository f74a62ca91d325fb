//! The packages for Python, with the module that the tests built: their own tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::conform;
use crate::programs::{run, target};
use crate::steps::Step;

/// The oldest version: the first whose stable interface has buffers.
const LEAST: (u32, u32) = (3, 11);
const COMMANDS: [&str; 5] = ["python3", "python3.13", "python3.12", "python3.11", "python"];

/// The folders of the packages: `garblet`, and `garblet-ray`, which needs it.
pub(crate) const GARBLET: &str = "python";
pub(crate) const RAY: &str = "python-ray";
/// The tests' tools and the data frames whose columns they use, with pinned versions.
const REQUIREMENTS: &str = "python/requirements.txt";

/// The module's name in cargo, and in Python.
const BUILT: &str = "deps/lib_garblet.so";
const IMPORTED: &str = "python/garblet/_garblet.abi3.so";

/// Builds the module and the command as for all tests together, and tests the packages.
pub(crate) fn steps() -> Vec<Step> {
    vec![module(), conform::build(), step("debug")]
}

/// Builds the module as for all tests together.
pub(crate) fn module() -> Step {
    Step::cargo("module for Python", &["test", "--workspace", "--test", "module", "--quiet"])
}

/// Tests the packages with the module that the tests of this profile, a folder of `target`, built.
pub(crate) fn step(profile: &'static str) -> Step {
    Step::check("packages for Python", move || check(&crate::root(), profile))
}

/// Findings, one line each. A missing Python is reported loudly and is not a finding.
fn check(root: &Path, profile: &str) -> Vec<String> {
    match environment(root, REQUIREMENTS) {
        Ok(environment) => {
            place(root, profile).and_then(|()| test(root, &environment, profile)).err().into_iter().collect()
        }
        Err(reason) => {
            eprintln!("{reason}\nTHE PACKAGES FOR PYTHON WERE NOT TESTED");
            Vec::new()
        }
    }
}

fn is_new_enough(python: &str) -> bool {
    Command::new(python).arg("--version").output().is_ok_and(|said| version(&said.stdout) >= Some(LEAST))
}

/// The version in the output of `--version`.
fn version(said: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(said).ok()?.strip_prefix("Python ")?;
    let mut numbers = text.trim().split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// A separate environment with all requirements, fetched once.
///
/// *Errors*: the reason why there is none.
pub(crate) fn environment(root: &Path, requirements: &str) -> Result<PathBuf, String> {
    let python = COMMANDS.into_iter().find(|name| is_new_enough(name));
    let python = python.ok_or_else(|| format!("there is no Python {}.{} or later", LEAST.0, LEAST.1))?;
    let folder = target(root).join("python");
    if !folder.join("bin/pip").exists() {
        run(Command::new(python).args(["-m", "venv"]).arg(&folder))?;
    }
    let mut pip = Command::new(folder.join("bin/pip"));
    // Modules in use are compiled anyway, which is the smaller part.
    pip.args(["install", "--quiet", "--no-compile", "--disable-pip-version-check", "--requirement"]);
    run(pip.arg(root.join(requirements)))?;
    Ok(folder)
}

/// Copies the module to the hand-written files of the package.
pub(crate) fn place(root: &Path, profile: &str) -> Result<(), String> {
    let (built, imported) = (target(root).join(profile).join(BUILT), root.join(IMPORTED));
    // A process that has it open keeps the old one.
    let _ = fs::remove_file(&imported);
    let copied = fs::copy(&built, &imported);
    copied.map(drop).map_err(|error| format!("{}: cannot be copied: {error}", built.display()))
}

/// Findings for versions in the package for Ray that differ from the workspace's.
pub(crate) fn check_versions(root: &Path) -> Vec<String> {
    let name = format!("{RAY}/pyproject.toml");
    match fs::read_to_string(root.join(&name)) {
        // This program has the workspace's version.
        Ok(text) => differing_versions(&name, &text, env!("CARGO_PKG_VERSION")),
        Err(error) => vec![format!("{name}: {error}")],
    }
}

/// Findings if a package, or the `garblet` that it needs, is not of this version.
fn differing_versions(name: &str, text: &str, version: &str) -> Vec<String> {
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let field = |key: &str| table.get("project").and_then(|project| project.get(key));
    let got = |value: Option<&toml::Value>| value.map_or_else(|| "none".to_string(), |value| value.to_string());
    let (own, needed) = (field("version"), field("dependencies"));
    let mut findings = Vec::new();
    if own.and_then(|own| own.as_str()) != Some(version) {
        findings.push(format!("{name}: expected the version \"{version}\" of Cargo.toml, got {}", got(own)));
    }
    let garblet = format!("garblet=={version}");
    let mut dependencies = needed.and_then(|list| list.as_array()).into_iter().flatten();
    if !dependencies.any(|dependency| dependency.as_str() == Some(garblet.as_str())) {
        findings.push(format!("{name}: expected the dependency \"{garblet}\", got {}", got(needed)));
    }
    findings
}

/// Types, then tests and the examples of the packages and of the book.
fn test(root: &Path, environment: &Path, profile: &str) -> Result<(), String> {
    let tool = |package: &str, name: &str, arguments: &[&str]| {
        let mut tool = Command::new(environment.join("bin").join(name));
        // Tests meet the command.
        run_tool(root, package, tool.args(arguments).env("GARBLET", conform::command(root, profile)))
    };
    tool(GARBLET, "mypy", &[])?;
    tool(GARBLET, "stubtest", &["garblet._garblet", "--mypy-config-file", "pyproject.toml"])?;
    tool(GARBLET, "pytest", &["--quiet"])?;
    tool(RAY, "mypy", &[])?;
    tool(RAY, "pytest", &["--quiet"])
}

/// Runs a tool of Python on the package in this folder, and says its last line.
pub(crate) fn run_tool(root: &Path, package: &str, tool: &mut Command) -> Result<(), String> {
    let path = std::env::join_paths([GARBLET, RAY].map(|package| root.join(package)));
    let path = path.map_err(|error| format!("PYTHONPATH: {error}"))?;
    // Tools leave no files among the sources.
    let compiled = target(root).join("python/compiled");
    let tool = tool.current_dir(root.join(package)).env("PYTHONPATH", path).env("PYTHONPYCACHEPREFIX", compiled);
    run(tool).map(|said| eprint!("{}", last_line(&said)))
}

fn last_line(said: &str) -> String {
    said.trim_end().lines().next_back().map_or_else(String::new, |line| format!("{line}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_for_ray_has_the_version_of_the_workspace() {
        assert_eq!(check_versions(&crate::root()), [""; 0]);
    }

    #[test]
    fn a_version_that_differs_is_found() {
        let of = |own: &str, needed: &str| {
            let text = format!("[project]\nversion = \"{own}\"\ndependencies = [\"garblet=={needed}\", \"ray>=2\"]\n");
            differing_versions("a.toml", &text, "1.2.3").len()
        };
        assert_eq!((of("1.2.3", "1.2.3"), of("1.2.4", "1.2.3"), of("1.2.3", "1.2.2"), of("1", "1")), (0, 1, 1, 2));
        assert_eq!(differing_versions("a.toml", "", "1.2.3").len(), 2);
        assert_eq!(differing_versions("a.toml", "[", "1.2.3").len(), 1);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version(b"Python 3.11.7\n"), Some((3, 11)));
        assert!(version(b"Python 3.9.2\n") < Some(LEAST));
        assert!(version(b"Python 3.100.0\n") >= Some(LEAST));
        assert!(version(b"pypy 7\n") < Some(LEAST));
    }
}
