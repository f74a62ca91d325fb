//! Dependencies that a build should not have: `garblet` with `yao` alone has no database, and the command's default build has neither
//! Parquet nor anything that only the laboratory needs.

use std::{path::Path, process::Command};

const FORM: &[&str] = &["--edges", "normal", "--prefix", "none", "--locked"];

/// A build, the arguments that select it, and the packages that it must not have.
struct Lean {
    name: &'static str,
    selected: &'static [&'static str],
    without: &'static [&'static str],
}

const BUILDS: [Lean; 2] = [
    Lean {
        name: "garblet with `yao` alone",
        selected: &["--package", "garblet", "--no-default-features", "--features", "yao"],
        without: &["rusqlite"],
    },
    // The packages that cargo builds by default.
    Lean {
        name: "a build of the default members",
        selected: &[],
        without: &["parquet", "garblet-lab", "maud", "plotters"],
    },
];

/// Packages that these builds should not need, one line per finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = |build: &Lean| match Command::new(&cargo)
        .arg("tree")
        .args(build.selected)
        .args(FORM)
        .current_dir(root)
        .output()
    {
        Ok(output) if output.status.success() => build.needless(&String::from_utf8_lossy(&output.stdout)),
        Ok(output) => vec![format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim())],
        Err(error) => vec![format!("cargo tree: {error}")],
    };
    BUILDS.iter().flat_map(tree).collect()
}

impl Lean {
    fn needless(&self, tree: &str) -> Vec<String> {
        let packages = || tree.lines().filter_map(|line| line.split_whitespace().next());
        let needless = self.without.iter().filter(|without| packages().any(|package| package == **without));
        needless.map(|without| format!("{} depends on {without}", self.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lean_builds_are_lean() {
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn a_package_too_many_is_found() {
        for build in BUILDS {
            assert_eq!(build.needless("garblet v0.1.0\nserde v1.0.0\n"), [""; 0]);
            for package in build.without {
                let finding = format!("{} depends on {package}", build.name);
                assert_eq!(build.needless(&format!("serde v1.0.0\n{package} v0.41.1\n")), [finding]);
            }
        }
    }
}
