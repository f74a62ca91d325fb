//! Single tests, each in a process of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use ring::digest::{SHA256, digest};

use crate::test_programs::Program;

/// The end of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    Passed,
    Failed,
    TimedOut,
}

/// The names of a program's tests, without those that are left out.
pub(super) fn names(program: &Program) -> Vec<String> {
    let listed = |more: &[&str]| {
        let mut command = command(&program.path, program);
        let output = command.args(["--list", "--format", "terse"]).args(more).stderr(Stdio::null()).output();
        let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        said.lines().filter_map(|line| line.strip_suffix(": test")).map(String::from).collect::<Vec<_>>()
    };
    let left_out = listed(&["--ignored"]);
    listed(&[]).into_iter().filter(|name| !left_out.contains(name)).collect()
}

/// Runs a test with a variable. One that takes longer is killed, with its children.
pub(super) fn run(
    program: &Program,
    test: &str,
    (variable, value): (&str, &str),
    limit: Duration,
    scratch: &Path,
) -> (Ended, Duration) {
    let begin = Instant::now();
    let mut command = command(Path::new("timeout"), program);
    command.args(["--signal=KILL", &limit.as_secs().max(1).to_string()]).arg(&program.path);
    command.args(["--exact", test, "--test-threads=1"]).env(variable, value).env("TMPDIR", scratch);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let took = begin.elapsed();
    let ended = match status {
        Ok(status) if status.success() => Ended::Passed,
        _ if took >= limit => Ended::TimedOut,
        _ => Ended::Failed,
    };
    (ended, took)
}

fn command(path: &Path, program: &Program) -> Command {
    let mut command = Command::new(path);
    command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder).stdin(Stdio::null());
    command
}

/// The digest of a program, 16 hexadecimal digits.
pub(super) fn digest_of(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(short(&bytes))
}

/// The beginning of a digest, 16 hexadecimal digits.
pub(super) fn short(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A new folder for what tests write.
pub(super) fn scratch(tree: &Path) -> Result<PathBuf, String> {
    let folder = tree.join("scratch");
    crate::programs::renew(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_test_passes_fails_or_is_killed() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = "#!/bin/sh\ncase $* in *--ignored*) echo 'slow: test';; *--list*) echo 'a::b: test'; echo 'slow: test'; echo '2 tests, 0 benchmarks';; esac\n\
            case $LOST in fails) exit 101;; hangs) sleep 60;; esac\n";
        let path = folder.path().join("program");
        fs::write(&path, script).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, mode).expect("a program");
        let program = Program { name: "a, a".into(), path, folder: folder.path().into(), bytes: 0 };
        assert_eq!(names(&program), ["a::b"]);
        let ended = |value| run(&program, "a::b", ("LOST", value), Duration::from_secs(3), folder.path()).0;
        assert_eq!([ended("nothing"), ended("fails"), ended("hangs")], [Ended::Passed, Ended::Failed, Ended::TimedOut]);
    }
}
