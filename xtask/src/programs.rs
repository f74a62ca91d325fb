//! Programs that tasks run, their packages, and their output folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// The folder of everything that is built.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// Empties a folder.
pub(crate) fn renew(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(folder),
    }
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
    // Of two that install at once one would fail, and its step would be left out.
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!("installing {}", packages.join(" and "));
    let apt =
        |arguments: &[&str]| run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"));
    apt(&["update", "--quiet"])?;
    apt(&[&["install", "--yes", "--quiet", "--no-install-recommends"], packages].concat()).map(drop)
}

/// Runs a program and returns everything that it prints, which is part of the error if it fails.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    finished(command).map(|output| text(&output.stdout) + &text(&output.stderr))
}

/// Runs a program whose words are used, and returns its standard output alone: a warning is no part of a version, a commit or a sum.
///
/// *Errors*: the program fails, with everything that it prints; words that are not UTF-8.
pub(crate) fn ask(command: &mut Command) -> Result<String, String> {
    let output = finished(command)?;
    String::from_utf8(output.stdout).map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))
}

/// The output of a program that succeeds.
fn finished(command: &mut Command) -> Result<Output, String> {
    let output = command.output();
    let name = command.get_program().to_string_lossy();
    match output {
        Ok(output) if output.status.success() => Ok(output),
        Ok(output) => Err(format!("{name}: {}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_no_part_of_an_answer() {
        let shell = |script: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]);
            shell
        };
        let warns = "echo answer; echo warning >&2";
        assert_eq!(ask(&mut shell(warns)), Ok("answer\n".into()));
        assert_eq!(run(&mut shell(warns)), Ok("answer\nwarning\n".into()));
        for error in [ask(&mut shell(&format!("{warns}; exit 3"))), run(&mut shell(&format!("{warns}; exit 3")))] {
            let error = error.expect_err("it fails");
            assert!(error.starts_with("sh: ") && error.ends_with("3\nanswer\nwarning\n"), "{error}");
        }
        assert!(ask(&mut shell("printf '\\377'")).expect_err("no text").starts_with("sh: "));
        assert!(ask(&mut Command::new("/nowhere")).expect_err("no program").starts_with("/nowhere: "));
    }
}
