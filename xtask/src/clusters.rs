//! Jobs of two parties on clusters of Ray: `python-ray/clusters`, in a network of their own if possible.

use std::path::Path;
use std::process::Command;

use crate::programs::{run, target};
use crate::python;
use crate::steps::Step;

/// Ray.
const REQUIREMENTS: &str = "python-ray/clusters/requirements.txt";

/// The proxy that forwards sessions by name; its Debian package has the same name.
const PROXY: &str = "haproxy";

/// Runs a command with only the loopback, and ends everything that it started.
const APART: [&str; 6] = ["--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
const WITH_LOOPBACK: [&str; 4] = ["sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];

/// Builds the module as for all tests together, and tests jobs on clusters.
pub(crate) fn steps() -> Vec<Step> {
    vec![
        python::module(),
        Step::cargo("command", &["test", "--workspace", "--test", "cli", "--no-run", "--quiet"]),
        step("debug"),
    ]
}

/// Tests jobs on clusters with the module and the command that the tests of this profile, a folder of `target`, built.
pub(crate) fn step(profile: &'static str) -> Step {
    Step::check("jobs on clusters", move || check(&crate::root(), profile))
}

/// Findings, one line each. Missing tools are reported loudly and are not findings.
fn check(root: &Path, profile: &str) -> Vec<String> {
    let environment = needed().and_then(|()| python::environment(root, REQUIREMENTS));
    match environment {
        Ok(environment) => {
            python::place(root, profile).and_then(|()| test(root, &environment, profile)).err().into_iter().collect()
        }
        Err(reason) => {
            eprintln!("{reason}\nJOBS ON CLUSTERS WERE NOT TESTED");
            Vec::new()
        }
    }
}

/// Checks that the proxy is installed, or installs it on Debian if we have the rights.
fn needed() -> Result<(), String> {
    if Command::new(PROXY).arg("-v").output().is_ok_and(|said| said.status.success()) {
        return Ok(());
    }
    eprintln!("installing {PROXY}");
    let apt =
        |arguments: &[&str]| run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update", "--quiet"])?;
    apt(&["install", "--yes", "--quiet", "--no-install-recommends", PROXY]).map(drop)
}

fn test(root: &Path, environment: &Path, profile: &str) -> Result<(), String> {
    let apart = || {
        let mut apart = Command::new("unshare");
        apart.args(APART).args(WITH_LOOPBACK);
        apart
    };
    let can_be_apart = apart().arg("true").output().is_ok_and(|said| said.status.success());
    let mut pytest = match can_be_apart {
        true => apart(),
        false => {
            eprintln!("there is no network namespace: the clusters are on the loopback of this machine");
            Command::new("env")
        }
    };
    pytest.arg(environment.join("bin/pytest")).args(["--quiet", "clusters"]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = std::iter::once(target(root).join(profile)).chain(std::env::split_paths(&path));
    let programs = std::env::join_paths(programs).map_err(|error| format!("PATH: {error}"))?;
    python::run_tool(root, python::RAY, pytest.env("PATH", programs))
}
