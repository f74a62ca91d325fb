//! The client for pages: `target/web`, with the module, its caller, and types.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::browser;
use crate::party;
use crate::portable::{TARGET, WITHOUT_C, without_target};
use crate::programs::{run, target};
use crate::steps::{Step, cargo};

const PACKAGE: &[&str] = &["--package", "garblet-web", "--features", "pure"];

/// The library from which the module is made, and the tool's library, which makes JavaScript from the module. Both must have one version.
const LIBRARY: &str = "wasm-bindgen";
const TOOL_LIBRARY: &str = "wasm-bindgen-cli-support";

/// The tool that makes JavaScript: a package outside the workspace.
pub(crate) const TOOL: &str = "xtask/bindgen";

/// The hand-written files.
const WRITTEN: &[&str] = &["garblet-client.js", "garblet-talk.js", "garblet-client.d.ts"];

/// The tests of the client, and of what pages do around their modules.
const TESTS: [&str; 4] =
    ["web/test/client.test.mjs", "web/test/friends.test.mjs", "web/test/page.test.mjs", "web/test/party.test.mjs"];

/// Makes the packages with a profile, tries the client in Node, and tries pages with both in a browser.
pub(crate) fn steps(profile: &'static str) -> Vec<Step> {
    vec![
        Step::check("client for pages", || make(&crate::root(), profile)),
        party::step(profile),
        Step::check("pages in a browser", || browser::check(&crate::root())),
    ]
}

/// Findings, one line each. Missing tools are reported loudly and are not findings.
fn make(root: &Path, profile: &str) -> Vec<String> {
    if let Some(reason) = without_target(root, TARGET) {
        eprintln!("{reason}\nTHE CLIENT FOR PAGES WAS NOT MADE");
        return Vec::new();
    }
    match tool(root).and_then(|tool| bundle(root, &tool, profile)).and_then(|()| try_in_node(root)) {
        Ok(()) => Vec::new(),
        Err(finding) => vec![finding],
    }
}

/// The folder of the package.
pub(crate) fn package(root: &Path) -> PathBuf {
    target(root).join("web")
}

/// The version of a library, from the lock file of a folder.
fn version(folder: &Path, library: &str) -> Result<String, String> {
    let path = folder.join("Cargo.lock");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    locked(&text, library).ok_or_else(|| format!("{}: there is no {library}", path.display()))
}

fn locked(lock: &str, name: &str) -> Option<String> {
    let table: toml::Table = lock.parse().ok()?;
    let mut packages = table.get("package")?.as_array()?.iter();
    let package = packages.find(|package| package.get("name").and_then(|n| n.as_str()) == Some(name))?;
    package.get("version")?.as_str().map(String::from)
}

/// Returns the fault if the library and the tool have different versions.
fn two_versions(root: &Path) -> Result<Option<String>, String> {
    let (library, tool) = (version(root, LIBRARY)?, version(&root.join(TOOL), TOOL_LIBRARY)?);
    let wrong = || format!("{TOOL}: expected {TOOL_LIBRARY} {library}, which {LIBRARY} is, got {tool}");
    Ok((library != tool).then(wrong))
}

/// Builds the tool.
pub(crate) fn tool(root: &Path) -> Result<PathBuf, String> {
    if let Some(wrong) = two_versions(root)? {
        return Err(wrong);
    }
    let (folder, built) = (root.join(TOOL), target(root).join("web-tools"));
    run(cargo().args(["build", "--quiet", "--locked", "--target-dir"]).arg(&built).current_dir(folder))?;
    Ok(built.join("debug/garblet-bindgen"))
}

/// Makes the package.
fn bundle(root: &Path, tool: &Path, profile: &str) -> Result<(), String> {
    let folder = package(root);
    assemble(root, tool, (cargo().args(["build", "--quiet"]), profile), &folder)?;
    eprintln!("{}", folder.display());
    Ok(())
}

/// Builds the module with a profile, and puts everything into one folder.
pub(crate) fn assemble(
    root: &Path,
    tool: &Path,
    (build, profile): (&mut Command, &str),
    folder: &Path,
) -> Result<(), String> {
    build.args(["--profile", profile, "--target", TARGET]).args(PACKAGE);
    run(build.env(WITHOUT_C.0, WITHOUT_C.1).current_dir(root))?;
    let module = built(root, profile).join("garblet_web.wasm");
    run(Command::new(tool).args([module.as_path(), Path::new("garblet"), folder]))?;
    for name in WRITTEN {
        let copied = fs::copy(root.join("web").join(name), folder.join(name));
        copied.map_err(|error| format!("web/{name}: cannot be copied: {error}"))?;
    }
    // Makes Node treat the files as modules.
    let package = folder.join("package.json");
    fs::write(&package, "{ \"type\": \"module\" }\n").map_err(|error| format!("{}: {error}", package.display()))
}

/// The folder of what was built for browsers with a profile.
pub(crate) fn built(root: &Path, profile: &str) -> PathBuf {
    target(root).join(TARGET).join(if profile == "dev" { "debug" } else { profile })
}

fn try_in_node(root: &Path) -> Result<(), String> {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("node is not installed\nTHE CLIENT FOR PAGES WAS NOT TRIED");
        return Ok(());
    }
    let mut node = Command::new("node");
    node.arg("--test").args(TESTS).current_dir(root);
    run(node.env("PACKAGE", package(root)).env("VECTORS", root.join("vectors/outsourced_client.json"))).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_files() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(locked(lock, "b").as_deref(), Some("2.0.0"));
        assert_eq!(locked(lock, "c"), None);
        assert_eq!(two_versions(&crate::root()), Ok(None));
    }
}
