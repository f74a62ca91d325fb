//! The order of the crates: each may use only those below it.

use std::path::Path;

/// Each crate and the crates of ours that it may use, from the bottom up. Dev-dependencies count too, except where a
/// test compares with a crate at the same height.
const LAYERS: &[(&str, &[&str])] = &[
    ("circuit", &[]),
    ("synthesis", &["circuit"]),
    ("formats", &["circuit", "synthesis"]),
    ("lang", &["circuit", "synthesis", "formats"]),
    ("primitives", &[]),
    ("net", &[]),
    ("ot", &["primitives", "net"]),
    ("store", &[]),
    ("homcommit", &["primitives", "net", "ot"]),
    ("garble", &["circuit", "synthesis", "primitives"]),
    ("protocols", &["circuit", "synthesis", "primitives", "net", "store", "ot", "homcommit", "garble"]),
    ("cheat", &["circuit", "synthesis", "primitives", "net", "store", "ot", "garble", "homcommit", "protocols"]),
    (
        "garblet",
        &[
            "circuit",
            "synthesis",
            "formats",
            "lang",
            "primitives",
            "net",
            "store",
            "ot",
            "homcommit",
            "garble",
            "protocols",
        ],
    ),
    (
        "cli",
        &[
            "circuit",
            "synthesis",
            "formats",
            "primitives",
            "net",
            "store",
            "ot",
            "homcommit",
            "garble",
            "protocols",
            "garblet",
            "lang",
        ],
    ),
];

/// Arrows that point upward, one line per finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, allowed) in LAYERS {
        let manifest = root.join("crates").join(name).join("Cargo.toml");
        match std::fs::read_to_string(&manifest) {
            Ok(text) => findings.extend(upward(name, &text, allowed)),
            Err(error) => findings.push(format!("{}: cannot be read: {error}", manifest.display())),
        }
    }
    let known = |folder: &str| LAYERS.iter().any(|(name, _)| *name == folder);
    let folders = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    for folder in folders.map(|f| f.file_name().to_string_lossy().into_owned()).filter(|f| !known(f)) {
        findings.push(format!("crates/{folder}: has no place in the order of xtask/src/layers.rs"));
    }
    findings
}

fn upward(name: &str, manifest: &str, allowed: &[&str]) -> Vec<String> {
    let table: toml::Table = match manifest.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("crates/{name}/Cargo.toml: {error}")],
    };
    let Some(dependencies) = table.get("dependencies").and_then(|d| d.as_table()) else { return Vec::new() };
    let ours = dependencies.keys().filter(|d| d.starts_with("garblet"));
    let folder = |package: &str| package.strip_prefix("garblet-").unwrap_or(package).to_string();
    ours.map(|package| folder(package))
        .filter(|used| !allowed.contains(&used.as_str()))
        .map(|used| format!("crates/{name}: may not use crates/{used}, which is not below it"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crates_are_in_order() {
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }

    #[test]
    fn an_upward_arrow_is_found() {
        let manifest = "[dependencies]\ngarblet-circuit.workspace = true\ngarblet-ot.workspace = true\n";
        assert_eq!(
            upward("garble", manifest, &["circuit"]),
            ["crates/garble: may not use crates/ot, which is not below it"]
        );
    }
}
