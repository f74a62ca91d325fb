//! The order of the crates: each may use only those below it.

use std::path::{Path, PathBuf};

/// The crates, by folders of `crates`, from the bottom up: each may use those of the lines above its own, and none of its own line.
/// Dev-dependencies do not count: a test may compare with anything.
const LAYERS: &[&[&str]] = &[
    &["text"],
    &["circuit", "primitives", "net", "store"],
    &["synthesis", "ot", "client"],
    &["formats", "garble", "homcommit"],
    &["lang", "protocol"],
    &["protocols/seeded", "protocols/runs"],
    &[
        "protocols/yao",
        "protocols/components",
        "protocols/covert",
        "protocols/authenticated",
        "protocols/cut-and-choose",
        "protocols/lego",
        "protocols/gmw",
        "protocols/bmr",
        "protocols/two-garblers",
        "protocols/ideal",
    ],
    &["protocols/outsourced"],
    &["cheat", "garblet"],
    &["console", "constant-time", "sim", "web"],
    &["party", "python", "service"],
    &["cli"],
    &["lab"],
];

/// Crates below that a crate must not use, so that others can be built alone.
const APART: &[(&str, &[&str])] = &[
    ("client", &["net", "store"]),
    ("formats", &["primitives", "net", "store"]),
    ("garble", &["net", "store", "ot"]),
    ("homcommit", &["circuit", "store"]),
    ("lang", &["primitives", "net", "store", "garble"]),
    ("ot", &["circuit", "store"]),
    ("protocol", &["formats"]),
    ("synthesis", &["primitives", "net", "store"]),
    ("web", &["net", "store", "protocol", "garblet"]),
];

/// The front ends, which may use only `garblet`, `client` and one another and one another: each with the other crates that it still uses, and is to stop using.
const FRONT_ENDS: &[(&str, &[&str])] = &[
    ("cli", &["garble", "ot", "primitives"]),
    ("console", &[]),
    ("party", &[]),
    ("python", &[]),
    ("service", &[]),
    ("web", &["circuit"]),
];

/// The crates that every front end may use.
const FACE: [&str; 2] = ["garblet", "client"];

/// The folder of a package.
fn folder(package: &str) -> String {
    let name = package.strip_prefix("garblet-").unwrap_or(package);
    let in_protocols = format!("protocols/{name}");
    if LAYERS.iter().any(|layer| layer.contains(&&in_protocols[..])) { in_protocols } else { name.into() }
}

/// The folders of the crates' sources.
pub(crate) fn sources(root: &Path) -> Vec<PathBuf> {
    let crates = LAYERS.iter().flat_map(|layer| layer.iter());
    crates.map(|name| root.join("crates").join(name).join("src")).chain([root.join("xtask/src")]).collect()
}

/// Arrows that do not point downward, one line per finding.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for (height, layer) in LAYERS.iter().enumerate() {
        for name in *layer {
            let manifest = root.join("crates").join(name).join("Cargo.toml");
            match std::fs::read_to_string(&manifest) {
                Ok(text) => {
                    findings.extend(upward(name, &text, &LAYERS[..height]));
                    let front_end = FRONT_ENDS.iter().find(|(front_end, _)| front_end == name);
                    findings.extend(front_end.into_iter().flat_map(|(name, more)| beside_the_face(name, &text, more)));
                }
                Err(error) => findings.push(format!("{}: cannot be read: {error}", manifest.display())),
            }
        }
    }
    for parent in ["", "protocols/"] {
        let folders = std::fs::read_dir(root.join("crates").join(parent)).into_iter().flatten().flatten();
        let names = folders.map(|folder| format!("{parent}{}", folder.file_name().to_string_lossy()));
        for name in names.filter(|name| name != "protocols" && !LAYERS.iter().any(|layer| layer.contains(&&name[..]))) {
            findings.push(format!("crates/{name}: has no place in the order of xtask/src/layers.rs"));
        }
    }
    findings
}

/// The folders of our crates that a crate depends on.
///
/// *Errors*: an invalid manifest.
fn used(name: &str, manifest: &str) -> Result<Vec<String>, String> {
    let table: toml::Table = manifest.parse().map_err(|error| format!("crates/{name}/Cargo.toml: {error}"))?;
    let dependencies = table.get("dependencies").and_then(|d| d.as_table()).into_iter().flat_map(|d| d.keys());
    Ok(dependencies.filter(|d| d.starts_with("garblet")).map(|package| folder(package)).collect())
}

/// The crates that a front end uses besides `garblet`, `client` and other front ends, except the known ones, and the known ones that it no longer uses.
fn beside_the_face(name: &str, manifest: &str, known: &[&str]) -> Vec<String> {
    let used = match used(name, manifest) {
        Ok(used) => used,
        Err(error) => return vec![error],
    };
    let front_ends: Vec<&str> = FRONT_ENDS.iter().map(|(front_end, _)| *front_end).collect();
    let more = used.iter().filter(|used| ![&FACE[..], &front_ends, known].concat().contains(&&used[..]));
    let more =
        more.map(|used| format!("crates/{name}: a front end may use only garblet and client, not crates/{used}"));
    let stale = known.iter().filter(|known| !used.iter().any(|used| used == *known));
    let stale = stale.map(|known| format!("crates/{name}: no longer uses crates/{known}: strike it out of FRONT_ENDS"));
    more.chain(stale).collect()
}

fn upward(name: &str, manifest: &str, below: &[&[&str]]) -> Vec<String> {
    let ours = match used(name, manifest) {
        Ok(ours) => ours,
        Err(error) => return vec![error],
    };
    let apart = APART.iter().find(|(apart, _)| *apart == name).map_or(&[][..], |(_, without)| without);
    let allowed = |used: &String| below.iter().any(|layer| layer.contains(&&used[..])) && !apart.contains(&&used[..]);
    ours.into_iter()
        .filter(|used| !allowed(used))
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
    fn a_front_end_uses_the_library_alone_and_exceptions_are_needed() {
        let manifest =
            "[dependencies]\ngarblet.workspace = true\ngarblet-net.workspace = true\nserde.workspace = true\n";
        assert_eq!(beside_the_face("web", manifest, &["net"]), Vec::<String>::new());
        assert_eq!(
            beside_the_face("web", manifest, &[]),
            ["crates/web: a front end may use only garblet and client, not crates/net"]
        );
        assert_eq!(
            beside_the_face("web", manifest, &["net", "store"]),
            ["crates/web: no longer uses crates/store: strike it out of FRONT_ENDS"]
        );
    }

    #[test]
    fn an_upward_arrow_is_found() {
        let manifest = "[dependencies]\ngarblet-circuit.workspace = true\ngarblet-ot.workspace = true\n";
        assert_eq!(
            upward("garble", manifest, &[&["circuit", "ot"]]),
            ["crates/garble: may not use crates/ot, which is not below it"]
        );
    }
}
