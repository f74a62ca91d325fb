//! The packages as users install them, from their files alone: the archive in a new folder, the wheel in a new environment of Python, the Debian package in
//! a new root. The package for npm has a test of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dist;
use crate::programs::{ask, renew, run, target, with_debian};

/// The Debian that has the package tried: the oldest one that is maintained.
const DEBIAN: &str = "bookworm";

/// A use of the package for Python, which prints its version.
const USE: &str = "import garblet
richer = garblet.compile('pub fn main(a: u32, b: u32) -> bool { a > b }')
assert garblet.run_local(richer, [{'a': 5}, {'b': 3}])[0].outputs['out0'] is True
print(garblet.__version__)";

/// The ends of names of packages that users install. The package for npm is among them: it was tried when it was made.
const PACKAGES: [&str; 4] = [".tar.xz", ".deb", ".whl", ".tgz"];

/// Tries the packages of a version for this machine, which are in a folder. Returns the names of those that were not tried: packages for
/// another processor, the one for Ray clusters, and the Debian package if no root of Debian can be made.
///
/// *Errors*: the first package that cannot be installed, or is of another version.
pub(crate) fn try_all(root: &Path, folder: &Path, version: &str) -> Result<Vec<String>, String> {
    let scratch = target(root).join("packages-installed");
    renew(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let mut tried = vec![archive(folder, version, &scratch)?, wheel(folder, version, &scratch)?];
    tried.extend(debian(folder, version, &scratch, new_root)?);
    tried.push(file(folder, &format!("garblet-party-{version}"), ".tgz")?);
    fs::remove_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    let untried = untried(&dist::names(folder)?, &tried);
    eprintln!("not tried: {}", untried.join(", "));
    Ok(untried)
}

/// The names of packages among names, without those that were tried.
fn untried(names: &[String], tried: &[PathBuf]) -> Vec<String> {
    let was_tried = |name: &str| tried.iter().any(|path| path.file_name().is_some_and(|tried| tried == name));
    let left = names.iter().filter(|name| PACKAGES.iter().any(|end| name.ends_with(end)) && !was_tried(name));
    left.cloned().collect()
}

/// The only file in a folder that has this beginning and end.
fn file(folder: &Path, begin: &str, end: &str) -> Result<PathBuf, String> {
    let names = dist::names(folder)?;
    let mut fitting = names.iter().filter(|name| name.starts_with(begin) && name.ends_with(end));
    match (fitting.next(), fitting.next()) {
        (Some(name), None) => Ok(folder.join(name)),
        _ => Err(format!("{}: expected one file {begin}...{end}, got {}", folder.display(), names.join(", "))),
    }
}

/// Checks a version that an installed program has printed.
fn check_version(what: &str, said: &str, version: &str) -> Result<(), String> {
    // The command says its wire version, too.
    match said.split([' ', ',', '\n']).any(|word| word == version) {
        true => Ok(()),
        false => Err(format!("{what}: expected version {version}, got `{}`", said.trim())),
    }
}

/// Unpacks the archive, as the page on installing says, and runs its command. Returns the archive.
fn archive(folder: &Path, version: &str, scratch: &Path) -> Result<PathBuf, String> {
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let archive = file(folder, &format!("garblet-{version}-{triple}"), ".tar.xz")?;
    run(Command::new("tar").arg("-xf").arg(&archive).current_dir(scratch))?;
    let inside = scratch.join(format!("garblet-{version}-{triple}"));
    let said = ask(Command::new(inside.join("garblet")).arg("--version"))?;
    check_version("the archive", &said, version)?;
    for part in ["man", "completions"] {
        if dist::names(&inside.join(part))?.is_empty() {
            return Err(format!("{}: expected files in {part}, got none", archive.display()));
        }
    }
    Ok(archive)
}

/// Installs the wheel with pip, which may fetch nothing, and computes with it. Returns the wheel.
fn wheel(folder: &Path, version: &str, scratch: &Path) -> Result<PathBuf, String> {
    let wheel = file(folder, &format!("garblet-{version}-"), &format!("{}.whl", std::env::consts::ARCH))?;
    let environment = scratch.join("python");
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    run(Command::new(environment.join("bin/pip")).args(["install", "--quiet", "--no-index"]).arg(&wheel))?;
    let said = ask(Command::new(environment.join("bin/python")).args(["-c", USE]).current_dir(scratch))?;
    check_version("the wheel", &said, version)?;
    Ok(wheel)
}

/// Makes a new root of Debian in a folder. This takes `debootstrap`, a mirror and the rights.
fn new_root(root: &Path) -> Result<(), String> {
    with_debian(&["debootstrap"], &["debootstrap"])?;
    // Whatever it mounts ends with its own namespace.
    let mut make = Command::new("unshare");
    run(make.args(["--mount", "debootstrap", "--variant=minbase", DEBIAN]).arg(root)).map(drop)
}

/// Installs the Debian package with apt in a new root, and removes it there. Returns the package, or nothing if there is no root, which is told.
fn debian(
    folder: &Path,
    version: &str,
    scratch: &Path,
    new_root: impl Fn(&Path) -> Result<(), String>,
) -> Result<Option<PathBuf>, String> {
    let package = file(folder, &format!("garblet_{version}_"), &format!("{}.deb", debian_arch()))?;
    let root = scratch.join("debian");
    if let Err(reason) = new_root(&root) {
        let last = reason.lines().last().unwrap_or_default();
        eprintln!("no root of Debian could be made: {last}\nTHE DEBIAN PACKAGE WAS NOT TRIED");
        return Ok(None);
    }
    dist::copy(&package, &root.join("tmp/garblet.deb"))?;
    let inside =
        |arguments: &[&str]| ask(Command::new("unshare").args(["--mount", "chroot"]).arg(&root).args(arguments));
    inside(&["apt-get", "install", "--yes", "--quiet", "/tmp/garblet.deb"])?;
    check_version("the Debian package", &inside(&["garblet", "--version"])?, version)?;
    for file in ["man/man1/garblet.1.gz", "bash-completion/completions/garblet", "doc/garblet/copyright"] {
        let file = format!("/usr/share/{file}");
        inside(&["test", "-s", &file])
            .map_err(|_| format!("{}: expected {file} in it, got none", package.display()))?;
    }
    inside(&["apt-get", "remove", "--yes", "--quiet", "garblet"])?;
    match inside(&["test", "-e", "/usr/bin/garblet"]) {
        Ok(_) => Err(format!("{}: its command stays when it is removed", package.display())),
        Err(_) => Ok(Some(package)),
    }
}

/// This processor, as Debian calls it.
fn debian_arch() -> &'static str {
    if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with an archive whose command is a script.
    fn packed(script: &str, parts: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let name = format!("garblet-1.2.3-{}-unknown-linux-gnu", std::env::consts::ARCH);
        let inside = folder.path().join(&name);
        dist::write(&inside.join("garblet"), script).expect("written");
        fs::set_permissions(inside.join("garblet"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
        for part in ["man", "completions"] {
            fs::create_dir_all(inside.join(part)).expect("made");
        }
        for part in parts {
            dist::write(&inside.join(part), "text").expect("written");
        }
        run(Command::new("tar").args(["-cJf", &format!("{name}.tar.xz"), &name]).current_dir(folder.path()))
            .expect("packed");
        fs::remove_dir_all(inside).expect("removed");
        folder
    }

    #[test]
    fn an_archive_has_the_command_of_its_version_with_pages_and_completions() {
        let parts = ["man/garblet.1", "completions/_garblet"];
        let tried = |script: &str, parts: &[&str]| {
            let scratch = tempfile::tempdir().expect("a folder");
            archive(packed(script, parts).path(), "1.2.3", scratch.path()).map(drop)
        };
        assert_eq!(tried("#!/bin/sh\necho garblet 1.2.3\n", &parts), Ok(()));
        let old = tried("#!/bin/sh\necho garblet 1.2.2\n", &parts).expect_err("another version");
        assert_eq!(old, "the archive: expected version 1.2.3, got `garblet 1.2.2`");
        assert!(tried("#!/bin/sh\nexit 3\n", &parts).is_err());
        let bare = tried("#!/bin/sh\necho garblet 1.2.3\n", &parts[..1]).expect_err("no completions");
        assert!(bare.ends_with("expected files in completions, got none"), "{bare}");
        let scratch = tempfile::tempdir().expect("a folder");
        assert!(archive(scratch.path(), "1.2.3", scratch.path()).expect_err("none").contains("expected one file"));
    }

    /// An environment of Python takes long to make.
    #[test]
    fn a_wheel_is_installed_without_a_network_and_computes() {
        if std::env::var_os("GARBLET_TEST_FULL").is_none() {
            return;
        }
        let module = "class Report:\n    outputs = {'out0': True}\ndef compile(source):\n    return source\ndef run_local(program, inputs):\n    return [Report]\n";
        let folder = tempfile::tempdir().expect("a folder");
        let about = "garblet-1.2.3.dist-info";
        for (name, text) in [
            ("garblet/__init__.py", format!("{module}__version__ = '1.2.3'\n")),
            ("garblet-1.2.3.dist-info/METADATA", "Metadata-Version: 2.1\nName: garblet\nVersion: 1.2.3\n".into()),
            (
                "garblet-1.2.3.dist-info/WHEEL",
                "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n".into(),
            ),
            ("garblet-1.2.3.dist-info/RECORD", "garblet/__init__.py,,\n".into()),
        ] {
            dist::write(&folder.path().join(name), &text).expect("written");
        }
        let mut pack = Command::new("python3");
        let name = format!("garblet-1.2.3-py3-none-linux_{}.whl", std::env::consts::ARCH);
        pack.args(["-m", "zipfile", "-c", &name, "garblet", about]);
        run(pack.current_dir(folder.path())).expect("packed");
        let tried = |version: &str| {
            let scratch = tempfile::tempdir().expect("a folder");
            wheel(folder.path(), version, scratch.path()).map(drop)
        };
        assert_eq!(tried("1.2.3"), Ok(()));
        assert!(tried("1.2.4").is_err(), "there is none");
    }

    /// A minute, and a mirror.
    #[test]
    fn a_debian_package_comes_into_a_new_root_and_goes() {
        if std::env::var_os("GARBLET_TEST_FULL").is_none() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("inside");
        let control =
            "Package: garblet\nVersion: 1.2.3\nArchitecture: all\nMaintainer: a <a@localhost>\nDescription: a\n";
        dist::write(&inside.join("DEBIAN/control"), control).expect("written");
        for (name, text) in [
            ("bin/garblet", "#!/bin/sh\necho garblet 1.2.3\n"),
            ("share/man/man1/garblet.1.gz", "page"),
            ("share/bash-completion/completions/garblet", "text"),
            ("share/doc/garblet/copyright", "text"),
        ] {
            dist::write(&inside.join("usr").join(name), text).expect("written");
        }
        run(Command::new("chmod").args(["-R", "u=rwX,go=rX,a+x"]).arg(&inside)).expect("set");
        let deb = folder.path().join(format!("garblet_1.2.3_{}.deb", debian_arch()));
        run(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&inside).arg(&deb)).expect("packed");
        let scratch = tempfile::tempdir().expect("a folder");
        assert_eq!(debian(folder.path(), "1.2.3", scratch.path(), new_root), Ok(Some(deb)));
    }

    #[test]
    fn a_debian_package_without_a_root_counts_as_untried() {
        let folder = tempfile::tempdir().expect("a folder");
        let deb = folder.path().join(format!("garblet_1.2.3_{}.deb", debian_arch()));
        dist::write(&deb, "text").expect("written");
        let without = |_: &Path| Err("debootstrap: no mirror".into());
        assert_eq!(debian(folder.path(), "1.2.3", folder.path(), without), Ok(None));
        let broken = debian(folder.path(), "1.2.3", folder.path(), |_| Ok(())).expect_err("an empty root");
        assert!(broken.starts_with("unshare: "), "{broken}");
    }

    #[test]
    fn packages_that_were_not_tried_are_named() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let built =
            names(&["Containerfile", "SHA256SUMS", "a.deb", "a.tar.xz", "a.whl", "a.cdx.json", "a.tgz", "b.deb"]);
        let tried = ["a.tar.xz", "a.tgz", "a.deb"].map(|name| Path::new("/folder").join(name));
        assert_eq!(untried(&built, &tried), names(&["a.whl", "b.deb"]));
        assert_eq!(untried(&built, &[]).len(), 5);
    }
}
