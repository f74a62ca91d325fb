//! The package for npm, with which a page is a party: `target/web-party`, which has the module, what calls it, and types.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::portable::{TARGET, without_target};
use crate::steps::{Step, cargo};
use crate::web;

const PACKAGE: &str = "garblet-party";

/// The files that are written by hand, and the licences.
const WRITTEN: &[&str] = &[
    "web/party/garblet.js",
    "web/party/garblet.d.ts",
    "web/party/worker.js",
    "web/party/package.json",
    "web/party/README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

/// The compiler for what TLS has in C, and the package of Debian that has it.
const CLANG: &str = "clang";

/// All browsers have had these instructions since 2023. Sources are gone through by recursion.
const FLAGS: (&str, &str) =
    ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Ctarget-feature=+simd128 -Clink-arg=-zstack-size=16777216");

pub(crate) fn step() -> Step {
    Step::check("party for pages", || make(&crate::root()))
}

/// The folder of the package.
pub(crate) fn package(root: &Path) -> PathBuf {
    web::target(root).join("web-party")
}

/// Findings, one line each. What cannot be had here is said loudly and is no finding.
fn make(root: &Path) -> Vec<String> {
    let reason = without_target(root, TARGET).or_else(|| web::with_debian(&[CLANG], &[CLANG]).err());
    if let Some(reason) = reason {
        eprintln!("{reason}\nTHE PARTY FOR PAGES WAS NOT MADE");
        return Vec::new();
    }
    match web::tool(root).and_then(|tool| bundle(root, &tool)) {
        Ok(()) => Vec::new(),
        Err(finding) => vec![finding],
    }
}

/// Builds the module and puts everything into one folder.
fn bundle(root: &Path, tool: &Path) -> Result<(), String> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--release", "--target", TARGET, "--package", PACKAGE]);
    web::run(build.env(FLAGS.0, FLAGS.1).env("CC_wasm32_unknown_unknown", CLANG).current_dir(root))?;
    let (module, folder) = (web::target(root).join(TARGET).join("release/garblet_party.wasm"), package(root));
    web::run(Command::new(tool).args([module.as_path(), Path::new("party"), &folder]))?;
    for path in WRITTEN.iter().map(Path::new) {
        let copied = fs::copy(root.join(path), folder.join(path.file_name().unwrap_or_default()));
        copied.map_err(|error| format!("{}: cannot be copied: {error}", path.display()))?;
    }
    eprintln!("{}", folder.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_has_the_version_of_the_workspace() {
        let read = |path: &str| fs::read_to_string(crate::root().join(path)).expect("it is there");
        let workspace: toml::Table = read("Cargo.toml").parse().expect("TOML");
        let package: serde_json::Value = serde_json::from_str(&read("web/party/package.json")).expect("JSON");
        assert_eq!(package["version"].as_str(), workspace["workspace"]["package"]["version"].as_str());
    }
}
