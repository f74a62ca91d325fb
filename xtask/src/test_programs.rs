//! Test programs of the workspace, two at a time: many wait more than they compute.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
    time::Instant,
};

use serde_json::Value;

use crate::steps::{Step, cargo};

/// Test programs that run side by side.
const SIDE_BY_SIDE: usize = 2;

/// The package whose tests compare times: they run when nothing else does.
const ALONE: &str = "net";

/// A test program, with the folder in which cargo runs it.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) bytes: u64,
}

/// Builds all tests with a profile, runs them, and then the examples of the documentation. All run, whatever fails.
pub(crate) fn step(
    name: &'static str,
    profile: &'static str,
    variables: &'static [(&'static str, &'static str)],
) -> Step {
    Step::check(name, move || {
        let root = crate::root();
        let mut findings = match built(&root, profile) {
            Ok(programs) => run_all(programs, variables),
            Err(finding) => return vec![finding],
        };
        let mut documentation = cargo();
        documentation.args(["test", "--workspace", "--doc", "--quiet", "--profile", profile]).current_dir(&root);
        match documentation.envs(variables.iter().copied()).stdin(Stdio::null()).status() {
            Ok(status) if status.success() => {}
            status => findings.push(format!("examples of the documentation: {status:?}")),
        }
        findings
    })
}

/// All test programs, the largest first: these take longest.
fn built(root: &Path, profile: &str) -> Result<Vec<Program>, String> {
    let mut build = cargo();
    build.args(["test", "--no-run", "--quiet", "--message-format=json-render-diagnostics", "--workspace"]);
    build.args(["--profile", profile]).current_dir(root).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = build.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo test --no-run: {}", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut programs: Vec<Program> = messages.lines().filter_map(program).collect();
    programs.sort_by_key(|program| std::cmp::Reverse(program.bytes));
    Ok(programs)
}

/// The test program that a line of cargo's says was built.
pub(crate) fn program(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let path = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let name = format!("{package}, {}", message["target"]["name"].as_str()?);
    let bytes = path.metadata().map_or(0, |data| data.len());
    Some(Program { name, path, folder, bytes })
}

/// Runs test programs, and prints what each says when it has ended. Returns those that failed.
fn run_all(programs: Vec<Program>, variables: &[(&str, &str)]) -> Vec<String> {
    let (alone, programs): (Vec<Program>, Vec<Program>) =
        programs.into_iter().partition(|program| program.folder.ends_with(ALONE));
    let (left, failed) = (Mutex::new(programs.into_iter()), Mutex::new(Vec::new()));
    let next = || left.lock().expect("no thread panics").next();
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(program) = next() {
                    if let Err(finding) = run(&program, variables) {
                        failed.lock().expect("no thread panics").push(finding);
                    }
                }
            });
        }
    });
    let alone = alone.iter().filter_map(|program| run(program, variables).err());
    failed.into_inner().expect("no thread panics").into_iter().chain(alone).collect()
}

fn run(program: &Program, variables: &[(&str, &str)]) -> Result<(), String> {
    let begin = Instant::now();
    let mut command = Command::new(&program.path);
    command.arg("--quiet").current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
    let output = command.envs(variables.iter().copied()).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", program.path.display()))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    let seconds = begin.elapsed().as_secs_f64();
    eprintln!("-- {}, {seconds:.1} s\n{}\n{}", program.name, said(&output.stdout), said(&output.stderr));
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{}: {}", program.name, output.status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_those_that_cargo_names() {
        let line = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/x/crates/ot/Cargo.toml","target":{{"name":"garblet_ot"}},
                "profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = program(&line(true, "\"/x/target/debug/deps/garblet_ot-1\"")).expect("a test program");
        assert_eq!((&found.name[..], found.folder.as_path()), ("ot, garblet_ot", Path::new("/x/crates/ot")));
        assert!(program(&line(false, "\"/x/target/debug/garblet\"")).is_none());
        assert!(program(&line(true, "null")).is_none());
        assert!(program("running 3 tests").is_none());
    }

    #[test]
    fn a_program_that_fails_is_a_finding_and_the_others_run() {
        let program = |path: &str| Program { name: path.into(), path: path.into(), folder: crate::root(), bytes: 0 };
        let programs = ["false", "true", "a-program-that-is-not-there"].map(program);
        let found = run_all(programs.into(), &[]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|finding| finding.starts_with("false: exit status: 1")), "{found:?}");
    }
}
