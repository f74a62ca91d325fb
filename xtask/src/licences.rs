//! Licences of all dependencies, against the list in `deny.toml`; with `cargo-deny` installed, its checks too.

use std::{collections::BTreeSet, path::Path, process::Command};

use serde::Deserialize;
use spdx::{Expression, ParseMode};

use crate::web;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Clone, Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

/// Dependencies whose licence is not allowed, one line each.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let folders = [root.to_path_buf(), root.join(web::TOOL)];
    let packages = || folders.iter().map(|folder| packages(folder)).collect::<Result<Vec<_>, _>>();
    match allowed(root).and_then(|allowed| Ok(refused(&packages()?.concat(), &allowed))) {
        Ok(mut findings) => {
            findings.extend(cargo_deny(root));
            findings
        }
        Err(message) => vec![message],
    }
}

fn refused(packages: &[Package], allowed: &BTreeSet<String>) -> Vec<String> {
    let mut findings = Vec::new();
    for package in packages.iter().filter(|p| p.source.is_some()) {
        let name = format!("{} {}", package.name, package.version);
        match package.license.as_deref().map(|licence| (licence, is_met(licence, allowed))) {
            None => findings.push(format!("{name}: states no licence")),
            Some((_, Err(message))) => findings.push(format!("{name}: {message}")),
            Some((licence, Ok(false))) => findings.push(format!("{name}: `{licence}` is not allowed by deny.toml")),
            Some((_, Ok(true))) => {}
        }
    }
    findings
}

/// Tells whether an expression can be met with allowed licences only.
///
/// *Errors*: text that is no licence expression.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    // Manifests from before SPDX separate alternatives with a slash.
    let lax = ParseMode { allow_slash_as_or_operator: true, ..ParseMode::STRICT };
    let parsed = Expression::parse_mode(expression, lax);
    let parsed = parsed.map_err(|error| format!("`{expression}` is no licence expression: {}", error.reason))?;
    Ok(parsed.evaluate(|asked| allowed.contains(&asked.to_string())))
}

/// The licences that `deny.toml` allows.
fn allowed(root: &Path) -> Result<BTreeSet<String>, String> {
    let text = std::fs::read_to_string(root.join("deny.toml")).map_err(|e| format!("deny.toml: {e}"))?;
    let table: toml::Table = text.parse().map_err(|e| format!("deny.toml: {e}"))?;
    let list = table.get("licenses").and_then(|l| l.get("allow")).and_then(|a| a.as_array());
    let list = list.ok_or("deny.toml: no list `allow` in [licenses]")?;
    Ok(list.iter().filter_map(|l| l.as_str()).map(String::from).collect())
}

fn packages(root: &Path) -> Result<Vec<Package>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(["metadata", "--format-version", "1", "--locked"]).current_dir(root).output();
    let output = output.map_err(|e| format!("cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    Ok(metadata.packages)
}

/// Advisories, bans and sources, if `cargo-deny` is installed; the list of licences needs no other program.
///
/// The advisory database is fetched; without a network advisories are skipped, which is reported and is not a finding.
fn cargo_deny(root: &Path) -> Vec<String> {
    let deny = |arguments: &[&str]| Command::new("cargo-deny").args(arguments).current_dir(root).output();
    if deny(&["--version"]).is_err() {
        eprintln!("cargo-deny is not installed: advisories, bans and sources were not checked");
        return Vec::new();
    }
    let mut findings = Vec::new();
    for what in ["bans", "licenses", "sources", "advisories"] {
        match deny(&["check", what]) {
            Err(error) => findings.push(format!("cargo-deny: {error}")),
            Ok(ran) if ran.status.success() => {}
            Ok(ran) => match String::from_utf8_lossy(&ran.stderr) {
                said if said.contains("failed to fetch advisory database") => {
                    eprintln!("the advisory database cannot be fetched: advisories were not checked");
                }
                said => findings.push(format!("cargo-deny check {what}: {said}")),
            },
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(license: Option<&str>) -> Package {
        Package {
            name: "a".into(),
            version: "1.0.0".into(),
            license: license.map(String::from),
            source: Some("registry".into()),
        }
    }

    #[test]
    fn expressions_are_met_or_not() {
        let met = |expression| is_met(expression, &BTreeSet::from(["MIT".to_string()]));
        for expression in ["MIT OR GPL-3.0-only", "Apache-2.0/MIT", "MIT AND (GPL-3.0-only OR MIT)"] {
            assert_eq!(met(expression), Ok(true), "{expression}");
        }
        for expression in ["(MIT OR Apache-2.0) AND GPL-3.0-only", "MIT AND (Apache-2.0 WITH LLVM-exception)"] {
            assert_eq!(met(expression), Ok(false), "{expression}");
        }
        for expression in ["", "MIT OR", "(MIT", "MIT MIT", "OR MIT"] {
            assert!(met(expression).is_err(), "{expression}");
        }
    }

    #[test]
    fn a_dependency_without_an_allowed_licence_is_found() {
        let allowed = BTreeSet::from(["MIT".to_string()]);
        let packages = [package(Some("MIT")), package(Some("GPL-3.0-only")), package(None)];
        assert_eq!(
            refused(&packages, &allowed),
            ["a 1.0.0: `GPL-3.0-only` is not allowed by deny.toml", "a 1.0.0: states no licence"]
        );
    }
}
