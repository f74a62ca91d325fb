//! The npm package that makes a page a party: `target/web-party`, with the module, its caller, and types.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::portable::{TARGET, without_target};
use crate::steps::{Step, cargo};
use crate::{programs, web};

const PACKAGE: &str = "garblet-party";

/// The hand-written files, and the licences.
const WRITTEN: &[&str] = &[
    "web/party/garblet.js",
    "web/party/garblet.d.ts",
    "web/party/worker.js",
    "web/garblet-talk.js",
    "web/party/package.json",
    "web/party/README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

/// The page of the examples, and its folder in the package.
const PAGE: [&str; 2] = ["examples/page", "page"];

/// The compiler for the C code of TLS, and the Debian package that has it.
const CLANG: &str = "clang";

/// All browsers have had these instructions since 2023. Compiling sources recurses.
const FLAGS: (&str, &str) =
    ("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", "-Ctarget-feature=+simd128 -Clink-arg=-zstack-size=16777216");

pub(crate) fn step(profile: &'static str) -> Step {
    Step::check("party for pages", || make(&crate::root(), profile))
}

/// The folder of the package.
pub(crate) fn package(root: &Path) -> PathBuf {
    programs::target(root).join("web-party")
}

/// Findings, one line each. Missing tools are reported loudly and are not findings.
fn make(root: &Path, profile: &str) -> Vec<String> {
    if let Some(reason) = missing(root) {
        eprintln!("{reason}\nTHE PARTY FOR PAGES WAS NOT MADE");
        return Vec::new();
    }
    match web::tool(root).and_then(|tool| bundle(root, &tool, profile)) {
        Ok(()) => Vec::new(),
        Err(finding) => vec![finding],
    }
}

/// The reason why the module cannot be built here, if a tool is missing and cannot be fetched.
pub(crate) fn missing(root: &Path) -> Option<String> {
    without_target(root, TARGET).or_else(|| programs::with_debian(&[CLANG], &[CLANG]).err())
}

/// Makes the package, and tries it as npm's users get it.
fn bundle(root: &Path, tool: &Path, profile: &str) -> Result<(), String> {
    let (mut build, folder) = (cargo(), package(root));
    assemble(root, tool, (build.args(["build", "--quiet"]), profile), &folder)?;
    eprintln!("{}", folder.display());
    if !["node", "npm"].into_iter().all(programs::is_there) {
        eprintln!("node and npm are not installed\nTHE PACKAGE FOR NPM WAS NOT TRIED");
        return Ok(());
    }
    let archive = programs::target(root).join("garblet-party.tgz");
    pack(&folder, &archive, "0")?;
    try_by_npm(root, &archive)
}

/// Builds the module with a profile, and puts everything into one folder.
pub(crate) fn assemble(
    root: &Path,
    tool: &Path,
    (build, profile): (&mut Command, &str),
    folder: &Path,
) -> Result<(), String> {
    build.args(["--profile", profile, "--target", TARGET, "--package", PACKAGE]).current_dir(root);
    programs::run(build.env(FLAGS.0, FLAGS.1).env("CC_wasm32_unknown_unknown", CLANG))?;
    let module = web::built(root, profile).join("garblet_party.wasm");
    programs::run(Command::new(tool).args([module.as_path(), Path::new("party"), folder]))?;
    for path in WRITTEN.iter().map(Path::new) {
        let copied = fs::copy(root.join(path), folder.join(path.file_name().unwrap_or_default()));
        copied.map_err(|error| format!("{}: cannot be copied: {error}", path.display()))?;
    }
    place_page(root, folder).map_err(|error| format!("{}: cannot be copied: {error}", PAGE[0]))
}

/// Copies the page into a folder of the package, in which nothing else stays.
fn place_page(root: &Path, folder: &Path) -> std::io::Result<()> {
    let (from, to) = (root.join(PAGE[0]), folder.join(PAGE[1]));
    programs::renew(&to)?;
    for file in fs::read_dir(from)? {
        let path = file?.path();
        fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Writes the package in npm's form: an archive with one folder, `package`, with the files that `package.json` lists. All have the
/// same time, in seconds since 1970.
///
/// `npm pack` does the same with its Node's zlib, which differs between versions.
pub(crate) fn pack(folder: &Path, archive: &Path, time: &str) -> Result<(), String> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--format=ustar"]);
    tar.arg(format!("--mtime=@{time}")).args(["--transform=s,^,package/,", "--use-compress-program=gzip -9n", "-cf"]);
    programs::run(tar.arg(archive).arg("--directory").arg(folder).args(files(folder)?)).map(drop)
}

/// The names of all files of the package in a folder.
fn files(folder: &Path) -> Result<Vec<String>, String> {
    let path = folder.join("package.json");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let package: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let listed = package["files"].as_array().into_iter().flatten().filter_map(Value::as_str).map(String::from);
    let mut files: Vec<String> = listed.chain(["package.json".into()]).collect();
    files.sort_unstable();
    Ok(files)
}

/// Installs an archive with npm into an empty folder, and compiles a user of its types.
pub(crate) fn try_by_npm(root: &Path, archive: &Path) -> Result<(), String> {
    let mut node = Command::new("node");
    node.args(["--test", "web/test/package.test.mjs"]).current_dir(root);
    let said = programs::run(node.env("ARCHIVE", archive).env("TOOLS", programs::target(root).join("web-tools")))?;
    said.lines().filter(|line| line.contains("NOT TRIED")).for_each(|line| eprintln!("{line}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The files of the package that are made from the module.
    const MADE: [&str; 2] = ["party.js", "party_bg.wasm"];

    #[test]
    fn the_package_has_the_version_of_the_workspace() {
        let read = |path: &str| fs::read_to_string(crate::root().join(path)).expect("it is there");
        let workspace: toml::Table = read("Cargo.toml").parse().expect("TOML");
        let package: serde_json::Value = serde_json::from_str(&read("web/party/package.json")).expect("JSON");
        let workspace = &workspace["workspace"]["package"];
        for field in ["version", "license"] {
            assert_eq!(package[field].as_str(), workspace[field].as_str(), "{field}");
        }
    }

    #[test]
    fn the_package_lists_what_is_made_and_what_is_written_and_no_more() {
        let written = WRITTEN.iter().map(|path| path.rsplit('/').next().unwrap_or_default());
        let mut all: Vec<&str> = written.chain(MADE).chain([PAGE[1]]).collect();
        all.sort_unstable();
        assert_eq!(files(&crate::root().join("web/party")).expect("a list"), all);
    }

    #[test]
    fn what_the_package_names_is_in_it() {
        let (folder, mut named) = (crate::root().join("web/party"), 0);
        let files = files(&folder).expect("a list");
        for file in ["garblet.js", "worker.js", "package.json"] {
            let text = fs::read_to_string(folder.join(file)).expect("it is there");
            for name in text.split("\"./").skip(1).filter_map(|rest| rest.split('"').next()) {
                assert!(files.iter().any(|file| file == name), "{file} names {name}");
                named += 1;
            }
        }
        assert!(named > 4, "{named}");
        let page = fs::read_to_string(crate::root().join(PAGE[0]).join("page.js")).expect("it is there");
        assert!(page.contains("import(\"../garblet.js\")"), "the page is in a folder beside the package's files");
    }

    #[test]
    fn a_file_that_the_page_has_no_more_is_not_in_the_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, package) = (folder.path(), folder.path().join("package"));
        let placed = || {
            place_page(root, &package).expect("copied");
            ["page.js", "old.js"].map(|name| package.join(PAGE[1]).join(name).exists())
        };
        let page = root.join(PAGE[0]);
        fs::create_dir_all(&page).expect("made");
        for name in ["page.js", "old.js"] {
            fs::write(page.join(name), name).expect("written");
        }
        assert_eq!(placed(), [true, true]);
        fs::remove_file(page.join("old.js")).expect("removed");
        assert_eq!(placed(), [true, false]);
    }

    #[test]
    fn an_archive_has_what_is_listed_whenever_and_wherever_it_is_made() {
        let made = |time: &str| {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("package.json"), "{ \"files\": [\"b.js\", \"a.js\", \"page\"] }")
                .expect("written");
            fs::create_dir(folder.path().join("page")).expect("made");
            fs::write(folder.path().join("page/d.js"), "d").expect("written");
            for name in ["a.js", "b.js", "c.js"] {
                fs::write(folder.path().join(name), name).expect("written");
            }
            let archive = folder.path().join("of.tgz");
            pack(folder.path(), &archive, time).expect("packed");
            let listed = programs::run(Command::new("tar").arg("-tzf").arg(&archive)).expect("an archive");
            let all = ["a.js", "b.js", "package.json", "page/", "page/d.js"].map(|name| format!("package/{name}"));
            assert_eq!(listed.lines().collect::<Vec<_>>(), all);
            let inside = folder.path().join("inside");
            fs::create_dir(&inside).expect("made");
            programs::run(Command::new("tar").arg("-xzf").arg(&archive).arg("--directory").arg(&inside))
                .expect("unpacked");
            let mode = fs::metadata(inside.join("package/page")).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o700, 0o700, "whoever unpacks it can open its folders");
            fs::read(archive).expect("it is there")
        };
        assert_eq!(made("1"), made("1"));
        assert_ne!(made("1"), made("2"));
    }
}
