//! Programs that tasks run, their packages, and their output folders.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of everything that is built.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Returns whether a program is installed.
pub(crate) fn is_there(name: &str) -> bool {
    Command::new(name).arg("--version").output().is_ok_and(|said| said.status.success())
}

/// Checks that programs are installed, or installs their packages on Debian if we have the rights.
pub(crate) fn with_debian(programs: &[&str], packages: &[&str]) -> Result<(), String> {
    if programs.iter().all(|program| is_there(program)) {
        return Ok(());
    }
    eprintln!("installing {}", packages.join(" and "));
    let apt =
        |arguments: &[&str]| run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update", "--quiet"])?;
    apt(&[&["install", "--yes", "--quiet", "--no-install-recommends"], packages].concat()).map(drop)
}

/// Runs a program and returns its output, which is part of the error if it fails.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) => {
            let [out, err] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned());
            match output.status.success() {
                true => Ok(out + &err),
                false => Err(format!("{name}: {}\n{out}{err}", output.status)),
            }
        }
        Err(error) => Err(format!("{name}: {error}")),
    }
}
