//! The features of `garblet`: with `yao` alone nothing is built that only stores on disk need.

use std::{path::Path, process::Command};

const TREE: &[&str] = &["tree", "--package", "garblet", "--no-default-features", "--features", "yao"];
const FORM: &[&str] = &["--edges", "normal", "--prefix", "none", "--locked"];

/// The package of the database.
const DATABASE: &str = "rusqlite";

/// Packages that `garblet` with `yao` alone should not need, one line per finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    match Command::new(cargo).args(TREE).args(FORM).current_dir(root).output() {
        Ok(output) if output.status.success() => needless(&String::from_utf8_lossy(&output.stdout)),
        Ok(output) => vec![format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim())],
        Err(error) => vec![format!("cargo tree: {error}")],
    }
}

fn needless(tree: &str) -> Vec<String> {
    let packages = tree.lines().filter_map(|line| line.split_whitespace().next());
    let found = packages.filter(|package| *package == DATABASE);
    found.map(|package| format!("garblet with `yao` alone depends on {package}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_protocol_needs_no_database() {
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn a_database_is_found() {
        assert_eq!(needless("garblet v0.1.0\nserde v1.0.0\nrusqlite v0.41.1\n").len(), 1);
    }
}
