//! The list of all parts of the command, in CycloneDX's form, with versions and licences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use crate::programs::ask;
use crate::steps::cargo;

/// The package that users install.
const ROOT: &str = "garblet-cli";

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// `None` for an ordinary dependency.
    kind: Option<String>,
}

/// The list as JSON, the same for the same lock file.
///
/// *Errors*: cargo's own.
pub(crate) fn list(root: &Path) -> Result<String, String> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version", "1", "--locked", "--quiet"]).current_dir(root);
    let metadata = ask(&mut metadata)?;
    let metadata: Metadata = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    of(&metadata)
}

fn of(metadata: &Metadata) -> Result<String, String> {
    let root = metadata.packages.iter().find(|package| package.name == ROOT).ok_or("cargo metadata: no garblet-cli")?;
    let nodes: BTreeMap<&str, &Node> = metadata.resolve.nodes.iter().map(|node| (&node.id[..], node)).collect();
    let (mut seen, mut open) = (BTreeSet::new(), vec![&root.id[..]]);
    while let Some(id) = open.pop() {
        if seen.insert(id)
            && let Some(node) = nodes.get(id)
        {
            let needed = |dependency: &&Dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
            open.extend(node.deps.iter().filter(needed).map(|dependency| &dependency.pkg[..]));
        }
    }
    let mut parts: Vec<_> = metadata.packages.iter().filter(|package| seen.contains(&package.id[..])).collect();
    parts.sort_unstable_by_key(|package| (&package.name, &package.version));
    let part = |package: &&Package| {
        let Package { name, version, license, .. } = package;
        let licences: Vec<_> = license.iter().map(|license| json!({ "expression": license })).collect();
        json!({
            "type": "library", "name": name, "version": version, "licenses": licences,
            "purl": format!("pkg:cargo/{name}@{version}"),
        })
    };
    let command = json!({ "type": "application", "name": "garblet", "version": root.version });
    let list = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": { "component": command },
        "components": parts.iter().map(part).collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&list).map(|text| text + "\n").map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_dependencies_of_the_command_are_listed() {
        let list: serde_json::Value = serde_json::from_str(&list(&crate::root()).expect("a list")).expect("JSON");
        let names: Vec<&str> =
            list["components"].as_array().expect("parts").iter().filter_map(|part| part["name"].as_str()).collect();
        for name in ["garblet-cli", "garblet-primitives", "clap", "rustls", "tokio"] {
            assert!(names.contains(&name), "{name}");
        }
        for name in ["xtask", "garble_lang", "proptest"] {
            assert!(!names.contains(&name), "{name} is for tests alone");
        }
    }
}
