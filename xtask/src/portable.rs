//! The client's crate by itself: it runs in browsers and in programs of other languages, so it must do without what these lack.

use std::{path::Path, process::Command};

use crate::steps::Step;

/// The target of browsers. Nothing else in the workspace is built for it, so it is not in `rust-toolchain.toml`, and whoever does
/// not run the whole of `ci` need not have it.
const TARGET: &str = "wasm32-unknown-unknown";

const CLIENT: [&str; 4] = ["--package", "garblet-client", "--features", "pure"];

/// Packages that wait, draw randomness by themselves or need a C compiler.
const REFUSED: &[&str] = &["tokio", "ring", "rustls", "cc", "getrandom"];

/// Checks the tree, and builds the crate for browsers and for this machine where no C compiler is found.
pub(crate) fn steps() -> Vec<Step> {
    // The build script of `blake3` is linked with `cc`, which the feature `pure` keeps it from calling: here it would fail.
    let without_c = |step: Step| step.env("CC", "no-c-compiler");
    let build = |arguments: &[&'static str]| [&["build", "--quiet"], &CLIENT[..], arguments].concat();
    vec![
        Step::check("client's dependencies", || {
            let mut findings = check(&crate::root());
            findings.extend(add_target());
            findings
        }),
        without_c(Step::cargo("client for browsers", &build(&["--target", TARGET]))),
        without_c(Step::cargo("client without C", &build(&[]))),
    ]
}

/// Gets the standard library of the target, which is not part of a toolchain, unless it is there.
fn add_target() -> Option<String> {
    let added = Command::new("rustup").args(["target", "add", TARGET]).current_dir(crate::root()).output();
    match added {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("rustup target add {TARGET}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Some(format!("rustup target add {TARGET}: {error}")),
    }
}

/// Packages that the client should not need, one line per finding.
fn check(root: &Path) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let form = ["--edges", "normal", "--prefix", "none", "--locked", "--target", "all"];
    match Command::new(cargo).arg("tree").args(CLIENT).args(form).current_dir(root).output() {
        Ok(output) if output.status.success() => refused(&String::from_utf8_lossy(&output.stdout)),
        Ok(output) => vec![format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim())],
        Err(error) => vec![format!("cargo tree: {error}")],
    }
}

fn refused(tree: &str) -> Vec<String> {
    let packages = tree.lines().filter_map(|line| line.split_whitespace().next());
    let found = packages.filter(|package| REFUSED.contains(package));
    found.map(|package| format!("garblet-client depends on {package}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_waits_for_nothing_and_needs_no_c() {
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn refused_packages_are_found() {
        assert_eq!(refused("garblet-client v0.1.0\nring v0.17.14\nbring v1.0.0\ncc v1.2.0\n").len(), 2);
    }
}
