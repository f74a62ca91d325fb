//! The client's crates by themselves: they run in browsers and in programs of other languages, so they must not need what these lack.

use std::{
    path::Path,
    process::Command,
    sync::{Mutex, PoisonError},
};

use crate::programs;
use crate::steps::{Step, cargo};

/// The target of browsers. Nothing else in the workspace is built for it, so it is not in `rust-toolchain.toml`, and only those
/// who run the whole of `ci` need it.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

const CLIENT: [&str; 4] = ["--package", "garblet-client", "--features", "pure"];
/// The same for JavaScript.
const WEB: [&str; 4] = ["--package", "garblet-web", "--features", "pure"];

/// The build script of `blake3` is linked with `cc`, which the feature `pure` keeps it from calling: with this it fails.
pub(crate) const WITHOUT_C: (&str, &str) = ("CC", "no-c-compiler");

/// Programs in WebAssembly: a processor with vectors, but without AES instructions.
const WASI: &str = "wasm32-wasip1";
const WASI_FLAGS: (&str, &str) = ("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", "-Ctarget-feature=+simd128");

/// Packages that wait, draw randomness by themselves, or need a C compiler.
const REFUSED: &[&str] = &["tokio", "ring", "rustls", "cc", "getrandom"];

/// Checks the trees, and the client without a C compiler; the step for pages builds it for browsers.
pub(crate) fn steps() -> Vec<Step> {
    vec![
        Step::check("client's dependencies", || check(&crate::root())),
        Step::cargo("client without C", &[&["check", "--quiet"], &CLIENT[..]].concat()).env(WITHOUT_C.0, WITHOUT_C.1),
        Step::check("software AES", || by_software(&crate::root())),
    ]
}

/// Tests blocks, hashes and gate lists in WebAssembly, where both the `aes` crate and our engine work without AES instructions.
///
/// The target is fetched; without it or Node the tests are skipped, which is reported and is not a finding.
fn by_software(root: &Path) -> Vec<String> {
    let without_node = || (!programs::is_there("node")).then(|| "node is not installed".to_string());
    if let Some(reason) = without_target(root, WASI).or_else(without_node) {
        eprintln!("{reason}\nSOFTWARE AES WAS NOT TESTED");
        return Vec::new();
    }
    let runner = root.join("web/test/wasi.mjs");
    let mut test = cargo();
    test.arg("--config").arg(format!("target.{WASI}.runner=['node', '--no-warnings', '{}']", runner.display()));
    test.args(["test", "--quiet", "--lib", "--target", WASI, "--package", "garblet-primitives"]);
    test.args(["--features", "blake3/pure"]).envs([WASI_FLAGS, WITHOUT_C]).current_dir(root);
    programs::run(&mut test).err().into_iter().collect()
}

/// The reason why a target's standard library is missing and cannot be fetched.
pub(crate) fn without_target(root: &Path, target: &str) -> Option<String> {
    static ADDING: Mutex<()> = Mutex::new(());
    let _alone = ADDING.lock().unwrap_or_else(PoisonError::into_inner);
    let reason = match Command::new("rustup").args(["target", "add", target]).current_dir(root).output() {
        Ok(added) if added.status.success() => return None,
        Ok(added) => String::from_utf8_lossy(&added.stderr).trim().to_string(),
        Err(error) => error.to_string(),
    };
    Some(format!("rustup target add {target}: {reason}"))
}

/// Packages that the client should not need, one line per finding.
fn check(root: &Path) -> Vec<String> {
    [CLIENT, WEB].iter().flat_map(|package| check_tree(root, package)).collect()
}

fn check_tree(root: &Path, package: &[&str]) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let form = ["--edges", "normal", "--prefix", "none", "--locked", "--target", "all"];
    match Command::new(cargo).arg("tree").args(package).args(form).current_dir(root).output() {
        Ok(output) if output.status.success() => refused(&String::from_utf8_lossy(&output.stdout)),
        Ok(output) => vec![format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim())],
        Err(error) => vec![format!("cargo tree: {error}")],
    }
}

fn refused(tree: &str) -> Vec<String> {
    let packages = tree.lines().filter_map(|line| line.split_whitespace().next());
    let found = packages.filter(|package| REFUSED.contains(package));
    found.map(|package| format!("the client depends on {package}")).collect()
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
