//! The copy of the workspace with switches, and its test programs.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{
    places::{Place, Wanted, numbered},
    switch::{CHOICE, MODULE},
};
use crate::{
    steps::cargo,
    test_programs::{Program, program},
};

/// The crates, and the files of crates, with checks of what others send or kept.
const CHECKED: &[&str] = &[
    "crates/client/src",
    "crates/console/src/agreement.rs",
    "crates/console/src/identity.rs",
    "crates/console/src/job",
    "crates/console/src/met.rs",
    "crates/console/src/receipts",
    "crates/console/src/record.rs",
    "crates/console/src/trusting.rs",
    "crates/console/src/unfinished.rs",
    "crates/homcommit/src",
    "crates/net/src",
    "crates/ot/src",
    "crates/protocol/src",
    "crates/protocols/authenticated/src",
    "crates/protocols/bmr/src",
    "crates/protocols/covert/src",
    "crates/protocols/cut-and-choose/src",
    "crates/protocols/gmw/src",
    "crates/protocols/lego/src",
    "crates/protocols/outsourced/src",
    "crates/protocols/runs/src",
    "crates/protocols/seeded/src",
    "crates/protocols/two-garblers/src",
    "crates/service/src",
    "crates/store/src",
];

/// The files whose operators are changed, as beginnings of paths.
pub(crate) const MUTATED: &[&str] = &[
    "crates/homcommit/src/",
    "crates/net/src/tls",
    "crates/ot/src/base/",
    "crates/ot/src/softspoken/consistency",
    "crates/ot/src/softspoken/malicious",
    "crates/ot/src/softspoken/tags",
    "crates/protocol/src/checks",
    "crates/protocols/authenticated/src/opening",
    "crates/protocols/authenticated/src/prepare/equality",
    "crates/protocols/authenticated/src/tags",
    "crates/store/src/record",
    "crates/store/src/reconcile",
];

/// The packages whose tests judge.
const TESTED: &[&str] = &[
    "garblet-ot",
    "garblet-homcommit",
    "garblet-protocol",
    "garblet-net",
    "garblet-store",
    "garblet-client",
    "garblet-service",
    "garblet-console",
    "garblet-runs",
    "garblet-seeded",
    "garblet-two-garblers",
    "garblet-covert",
    "garblet-cut-and-choose",
    "garblet-gmw",
    "garblet-bmr",
    "garblet-lego",
    "garblet-authenticated",
    "garblet-outsourced",
    "garblet-cheat",
    "garblet",
];

/// The copy, with what is in it.
pub(crate) struct Copy {
    pub(crate) tree: PathBuf,
    pub(crate) places: Vec<Place>,
    pub(crate) programs: Vec<Program>,
    /// Places whose text the compiler refuses.
    pub(crate) unviable: Vec<Place>,
}

/// Copies the workspace and builds its tests, without the places that the compiler refuses.
pub(crate) fn built(root: &Path, tree: &Path) -> Result<Copy, String> {
    let known = tree.join("unviable.json");
    let read = fs::read(&known).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut dropped: BTreeSet<u64> = read.unwrap_or_default();
    loop {
        let places = copy(root, tree, &dropped)?;
        dropped.retain(|id| places.iter().any(|place| place.id == *id));
        eprintln!("{} places, {} that the compiler refuses", places.len() - dropped.len(), dropped.len());
        let messages = match build(tree)? {
            Built::Programs(programs) => {
                let (unviable, places) = places.into_iter().partition(|place| dropped.contains(&place.id));
                return Ok(Copy { tree: tree.into(), places, programs, unviable });
            }
            Built::Errors(messages) => messages,
        };
        let before = dropped.len();
        dropped.extend(messages.iter().filter_map(|(file, at, _)| at_fault(&places, file, *at)));
        if dropped.len() == before {
            let errors: BTreeSet<&String> = messages.iter().map(|(_, _, error)| error).collect();
            return Err(format!("the copy cannot be built: {errors:?}"));
        }
        let json = serde_json::to_vec(&dropped).map_err(|error| error.to_string())?;
        fs::write(&known, json).map_err(|error| format!("{}: {error}", known.display()))?;
    }
}

/// The innermost place around an error.
fn at_fault(places: &[Place], file: &Path, at: usize) -> Option<u64> {
    let around = places.iter().filter(|place| place.file == file && place.range.contains(&at));
    around.min_by_key(|place| place.range.len()).map(|place| place.id)
}

/// Copies all files that git knows. Files that are there already keep their times, so that little is built again.
fn copy(root: &Path, tree: &Path, dropped: &BTreeSet<u64>) -> Result<Vec<Place>, String> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let listed = listed.map_err(|error| format!("git: {error}"))?;
    let mut places = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).split_terminator('\0').map(PathBuf::from) {
        // Cargo reads those of the folders above, too, and would join the flags of both.
        if tree.starts_with(root) && path.starts_with(".cargo") {
            continue;
        }
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let Ok(mut bytes) = fs::read(root.join(&path)) else { continue };
        let wanted = wanted(&path);
        if wanted.checks || wanted.mutants {
            let (text, found) = numbered(&path, &String::from_utf8_lossy(&bytes), wanted, dropped)?;
            places.extend(found);
            bytes = text.into_bytes();
        }
        if path.ends_with("src/lib.rs") && CHECKED.iter().any(|folder| folder.starts_with(&*parent(&path))) {
            let manifest = root.join(parent(&path)).join("../Cargo.toml");
            let manifest = fs::read_to_string(manifest).map_err(failed)?;
            let choice = if manifest.contains("\nsubtle") { CHOICE } else { "" };
            bytes.extend_from_slice(MODULE.replace("CHOICE", choice).as_bytes());
        }
        let to = tree.join(&path);
        if fs::read(&to).is_ok_and(|known| known == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(tree)).map_err(failed)?;
        fs::write(&to, bytes).map_err(failed)?;
    }
    Ok(places)
}

fn parent(path: &Path) -> String {
    path.parent().map_or(String::new(), |parent| parent.display().to_string())
}

/// The places that are wanted of a file: none of tests.
fn wanted(path: &Path) -> Wanted {
    let is_test =
        |part: &std::ffi::OsStr| ["tests", "tests.rs", "testing", "testing.rs"].iter().any(|name| part == *name);
    let is_code = path.extension().is_some_and(|extension| extension == "rs") && !path.iter().any(is_test);
    Wanted {
        checks: is_code && CHECKED.iter().any(|folder| path.starts_with(folder)),
        mutants: is_code && MUTATED.iter().any(|begin| path.to_string_lossy().starts_with(begin)),
    }
}

enum Built {
    Programs(Vec<Program>),
    /// Errors, each with its file and byte.
    Errors(Vec<(PathBuf, usize, String)>),
}

/// Builds the tests of the packages that judge.
fn build(tree: &Path) -> Result<Built, String> {
    let mut build = cargo();
    build.args(["build", "--tests", "--quiet", "--message-format=json", "-j", "2"]);
    build.args(TESTED.iter().flat_map(|package| ["--package", package]));
    build.env_remove("CARGO_TARGET_DIR").current_dir(tree).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = build.output().map_err(|error| format!("cargo: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return Ok(Built::Programs(messages.lines().filter_map(program).collect()));
    }
    let errors: Vec<_> = messages.lines().flat_map(errors).collect();
    match errors.is_empty() {
        true => Err(format!("cargo test --no-run: {}", output.status)),
        false => Ok(Built::Errors(errors)),
    }
}

/// The errors in a line of cargo's, at each byte that they name.
fn errors(line: &str) -> Vec<(PathBuf, usize, String)> {
    let message: Value = serde_json::from_str(line).unwrap_or_default();
    let said = &message["message"];
    if message["reason"] != "compiler-message" || said["level"] != "error" {
        return Vec::new();
    }
    let text = said["rendered"].as_str().unwrap_or_default().to_string();
    let spans = said["spans"].as_array().map_or(&[][..], Vec::as_slice);
    let place = |span: &Value| {
        let at = usize::try_from(span["byte_start"].as_u64()?).ok()?;
        Some((PathBuf::from(span["file_name"].as_str()?), at, text.clone()))
    };
    spans.iter().filter(|span| span["is_primary"] == true).filter_map(place).collect()
}

/// All code in a folder.
pub(super) fn sources(folder: &Path) -> String {
    let mut all = String::new();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            all += &sources(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all += &fs::read_to_string(&path).unwrap_or_default();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_the_fault_of_the_innermost_place() {
        let line = r#"{"reason":"compiler-message","message":{"level":"error","rendered":"E","spans":[
            {"file_name":"a.rs","byte_start":15,"is_primary":true},{"file_name":"a.rs","byte_start":1,"is_primary":false}]}}"#;
        let found = errors(line);
        assert_eq!(found, [("a.rs".into(), 15, "E".into())]);
        assert!(errors(&line.replace("\"error\"", "\"warning\"")).is_empty());
        let outer = Place { id: 7, range: 0..30, ..Place::sample("a.rs", true) };
        let places = [outer, Place::sample("a.rs", true), Place { id: 3, ..Place::sample("b.rs", true) }];
        assert_eq!(at_fault(&places, Path::new("a.rs"), 15), Some(1));
        assert_eq!(at_fault(&places, Path::new("a.rs"), 25), Some(7));
        assert_eq!(at_fault(&places, Path::new("a.rs"), 30), None);
    }

    #[test]
    fn tests_have_no_places() {
        let both = |checks, mutants| Wanted { checks, mutants };
        assert_eq!(wanted(Path::new("crates/ot/src/base/sender.rs")), both(true, true));
        assert_eq!(wanted(Path::new("crates/ot/src/silent/check.rs")), both(true, false));
        for none in
            ["crates/ot/src/testing.rs", "crates/ot/tests/a.rs", "crates/lang/src/lib.rs", "crates/ot/src/a.txt"]
        {
            assert_eq!(wanted(Path::new(none)), both(false, false), "{none}");
        }
    }
}
