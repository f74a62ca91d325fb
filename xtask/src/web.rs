//! The client for pages: `target/web`, which has the module, what calls it, and types.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::portable::{TARGET, WITHOUT_C, without_target};
use crate::steps::Step;

const PACKAGE: &[&str] = &["--package", "garblet-web", "--features", "pure"];

/// The tool that makes JavaScript of a module. It has to be of the version of the library of this name.
const TOOL: &str = "wasm-bindgen";

/// The files that are written by hand.
const WRITTEN: &[&str] = &["garblet-client.js", "garblet-client.d.ts"];

/// The way on if the tool is not there: it is fetched and built, which takes minutes, or nothing is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Install,
    LeaveOut,
}

/// Makes the package and tries it in Node.
pub(crate) fn steps(missing: Missing) -> Vec<Step> {
    vec![Step::check("client for pages", move || make(&crate::root(), missing))]
}

/// Findings, one line each. What cannot be had here is said loudly and is no finding.
fn make(root: &Path, missing: Missing) -> Vec<String> {
    let left_out = |reason: String| {
        eprintln!("{reason}\nTHE CLIENT FOR PAGES WAS NOT MADE");
        Vec::new()
    };
    if let Some(reason) = without_target(root) {
        return left_out(reason);
    }
    let version = match version(root) {
        Ok(version) => version,
        Err(finding) => return vec![finding],
    };
    let tool = match tool(root, &version, missing) {
        Ok(tool) => tool,
        Err(reason) => return left_out(reason),
    };
    match bundle(root, &tool).and_then(|folder| try_in_node(root, &folder)) {
        Ok(()) => Vec::new(),
        Err(finding) => vec![finding],
    }
}

/// The folder of all that is built.
fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// The version of the library, from the lock file.
fn version(root: &Path) -> Result<String, String> {
    let text = fs::read_to_string(root.join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    locked(&text, TOOL).ok_or_else(|| format!("Cargo.lock: there is no {TOOL}"))
}

fn locked(lock: &str, name: &str) -> Option<String> {
    let table: toml::Table = lock.parse().ok()?;
    let mut packages = table.get("package")?.as_array()?.iter();
    let package = packages.find(|package| package.get("name").and_then(|n| n.as_str()) == Some(name))?;
    package.get("version")?.as_str().map(String::from)
}

/// The tool: one that was installed here, that of the system, or one that is installed now.
fn tool(root: &Path, version: &str, missing: Missing) -> Result<PathBuf, String> {
    let tools = target(root).join("web-tools");
    let own = tools.join("bin").join(TOOL);
    let fits = |tool: &Path| {
        let said = Command::new(tool).arg("--version").output().ok()?;
        (String::from_utf8_lossy(&said.stdout).trim() == format!("{TOOL} {version}")).then(|| tool.to_path_buf())
    };
    if let Some(tool) = fits(&own).or_else(|| fits(Path::new(TOOL))) {
        return Ok(tool);
    }
    if missing == Missing::LeaveOut {
        return Err(format!("{TOOL} {version} is not there: `cargo xtask web` installs it and makes the client"));
    }
    let install = ["install", "wasm-bindgen-cli", "--version", version, "--root"].map(OsStr::new);
    let arguments = install.into_iter().chain([tools.as_os_str()]).collect::<Vec<_>>();
    run(cargo().args(arguments).current_dir(root))?;
    fits(&own).ok_or_else(|| format!("{} is not {TOOL} {version}", own.display()))
}

/// Builds the module and puts everything into one folder.
fn bundle(root: &Path, tool: &Path) -> Result<PathBuf, String> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--release", "--target", TARGET]).args(PACKAGE);
    run(build.env(WITHOUT_C.0, WITHOUT_C.1).current_dir(root))?;
    let (module, folder) = (target(root).join(TARGET).join("release/garblet_web.wasm"), target(root).join("web"));
    let form = ["--target", "web", "--out-name", "garblet", "--out-dir"].map(OsStr::new);
    run(Command::new(tool).args(form).args([folder.as_os_str(), module.as_os_str()]))?;
    for name in WRITTEN {
        let copied = fs::copy(root.join("web").join(name), folder.join(name));
        copied.map_err(|error| format!("web/{name}: cannot be copied: {error}"))?;
    }
    // So that Node takes the files for modules, too.
    let package = folder.join("package.json");
    fs::write(&package, "{ \"type\": \"module\" }\n").map_err(|error| format!("{}: {error}", package.display()))?;
    eprintln!("{}", folder.display());
    Ok(folder)
}

fn try_in_node(root: &Path, folder: &Path) -> Result<(), String> {
    if Command::new("node").arg("--version").output().is_err() {
        eprintln!("node is not installed\nTHE CLIENT FOR PAGES WAS NOT TRIED");
        return Ok(());
    }
    let mut node = Command::new("node");
    node.args(["--test", "web/test/client.test.mjs"]).current_dir(root);
    run(node.env("PACKAGE", folder).env("VECTORS", root.join("vectors/outsourced_client.json")))
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a program, whose words are part of the error if it fails.
fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let [out, err] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned());
            Err(format!("{name}: {}\n{out}{err}", output.status))
        }
        Err(error) => Err(format!("{name}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_lock_file() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(locked(lock, "b").as_deref(), Some("2.0.0"));
        assert_eq!(locked(lock, "c"), None);
        assert!(version(&crate::root()).is_ok());
    }
}
