//! The client's crate by itself: it runs in browsers and in programs of other languages, so it must do without what these lack.

use std::{path::Path, process::Command};

use crate::steps::Step;

/// The target of browsers. Nothing else in the workspace is built for it, so it is not in `rust-toolchain.toml`, and whoever does
/// not run the whole of `ci` need not have it.
const TARGET: &str = "wasm32-unknown-unknown";

const CLIENT: [&str; 4] = ["--package", "garblet-client", "--features", "pure"];

/// The build script of `blake3` is linked with `cc`, which the feature `pure` keeps it from calling: with this it would fail.
const WITHOUT_C: (&str, &str) = ("CC", "no-c-compiler");

/// Packages that wait, draw randomness by themselves or need a C compiler.
const REFUSED: &[&str] = &["tokio", "ring", "rustls", "cc", "getrandom"];

/// Checks the tree, and builds the crate for browsers and for this machine where no C compiler is found.
pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::check("client's dependencies", || check(&crate::root())),
        Step::check("client for browsers", || for_browsers(&crate::root())),
        Step::cargo("client without C", &[&["build", "--quiet"], &CLIENT[..]].concat()).env(WITHOUT_C.0, WITHOUT_C.1),
    ]
}

/// Builds for browsers, with the standard library of the target, which is not part of a toolchain.
///
/// It is fetched; without a network the build is left out, which is said and is no finding.
fn for_browsers(root: &Path) -> Vec<String> {
    let added = Command::new("rustup").args(["target", "add", TARGET]).current_dir(root).output();
    let missing = match added {
        Ok(added) if added.status.success() => None,
        Ok(added) => Some(String::from_utf8_lossy(&added.stderr).trim().to_string()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(reason) = missing {
        eprintln!("rustup target add {TARGET}: {reason}\nTHE CLIENT WAS NOT BUILT FOR BROWSERS");
        return Vec::new();
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--target", TARGET]).args(CLIENT).env(WITHOUT_C.0, WITHOUT_C.1).current_dir(root);
    match build.output() {
        Ok(built) if built.status.success() => Vec::new(),
        Ok(built) => vec![String::from_utf8_lossy(&built.stderr).into_owned()],
        Err(error) => vec![format!("cargo build: {error}")],
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
