//! Systems for which there are no packages: the code is checked for macOS, and the library for Windows. Nothing is linked or run.
//!
//! Parts in C (`ring`, `blake3`, SQLite) are not compiled, since that takes the headers of these systems: in place of a compiler there is a script that makes
//! empty files. So a check finds what Rust's compiler finds, and no more.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::portable::without_target;
use crate::programs::{run, target};
use crate::steps::{Step, cargo};

/// A system, as Rust calls it, and the package that is checked for it, with its features.
type System = (&'static str, &'static [&'static str]);

/// The command needs Unix: modes of files, signals, a lock on a log.
const SYSTEMS: [System; 3] = [
    ("x86_64-apple-darwin", &["garblet-cli", "--features", "parquet"]),
    ("aarch64-apple-darwin", &["garblet-cli", "--features", "parquet"]),
    ("x86_64-pc-windows-gnu", &["garblet"]),
];

/// In place of a C compiler: an empty file for each output.
const COMPILER: &str = "#!/bin/sh
while [ $# -gt 0 ]; do
  case \"$1\" in
    -o) : > \"$2\"; shift ;;
    -E) exit 0 ;;
  esac
  shift
done
";

/// In place of an archiver: an empty archive.
const ARCHIVER: &str = "#!/bin/sh
for argument; do
  case \"$argument\" in
    *.a) printf '!<arch>\\n' > \"$argument\" ;;
  esac
done
";

/// Checks the code for all systems.
pub(crate) fn step() -> Step {
    of(&SYSTEMS)
}

/// Checks it for one system of each kind.
pub(crate) fn short_step() -> Step {
    of(&SYSTEMS[1..])
}

fn of(systems: &'static [System]) -> Step {
    Step::check("other systems", move || {
        let root = crate::root();
        let scripts = match scripts(&target(&root).join("platforms")) {
            Ok(scripts) => scripts,
            Err(error) => return vec![error],
        };
        systems.iter().filter_map(|system| check(&root, *system, &scripts).err()).collect()
    })
}

/// Writes the scripts into a folder, and returns their paths: of the compiler and the archiver.
fn scripts(folder: &Path) -> Result<[PathBuf; 2], String> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        let written = written.and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
        written.map(|()| path.clone()).map_err(|error| format!("{}: {error}", path.display()))
    };
    Ok([write("cc", COMPILER)?, write("ar", ARCHIVER)?])
}

/// Checks a package for a system. Without the standard library for it this is left out, which is told.
fn check(root: &Path, (system, package): System, [compiler, archiver]: &[PathBuf; 2]) -> Result<(), String> {
    if let Some(reason) = without_target(root, system) {
        eprintln!("{reason}\nTHE CODE WAS NOT CHECKED FOR {system}");
        return Ok(());
    }
    let name = system.replace('-', "_");
    let mut check = cargo();
    check.args(["check", "--quiet", "--locked", "--target", system, "--package"]).args(package).current_dir(root);
    check.env(format!("CC_{name}"), compiler).env(format!("AR_{name}"), archiver);
    run(&mut check).map(drop).map_err(|error| format!("{system}: {error}"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_scripts_make_what_cargo_looks_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let [compiler, archiver] = scripts(folder.path()).expect("written");
        let called = |program: &Path, arguments: &[&str]| {
            run(Command::new(program).args(arguments).current_dir(folder.path())).expect("it ends well")
        };
        assert_eq!(called(&compiler, &["-c", "-O2", "-o", "a b.o", "a.c"]), "");
        assert_eq!(called(&compiler, &["-E", "a.c"]), "");
        assert_eq!(called(&archiver, &["crs", "liba.a", "a b.o"]), "");
        let length = |name: &str| fs::metadata(folder.path().join(name)).map(|file| file.len()).ok();
        assert_eq!(["a b.o", "liba.a", "a.c"].map(length), [Some(0), Some(8), None]);
    }
}
