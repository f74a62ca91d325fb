//! Looks for checks whose loss no test sees.
//!
//! A copy of the workspace has a number at each place that refuses something: a verdict about a peer's message, a condition whose branch returns an error, a part
//! of a verdict (`fits &= ..`). A program of that copy that runs with the variable [`LOST`] passes over the place with that number. For each place the tests that
//! reach it run without it, and one of them must fail.

mod places;

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    programs::target,
    steps::Step,
    test_programs::{Program, built},
};
use places::{Place, numbered};

/// The variable with the number of the place that is lost.
const LOST: &str = "GARBLET_LOST_CHECK";
/// The variable with the file to which a program adds the numbers of the places that it reaches.
const REACHED: &str = "GARBLET_REACHED_CHECKS";

/// The crates with checks of what a peer sends, by their folders.
const CHECKED: &[&str] = &[
    "crates/homcommit",
    "crates/ot",
    "crates/protocol",
    "crates/protocols/authenticated",
    "crates/protocols/bmr",
    "crates/protocols/covert",
    "crates/protocols/cut-and-choose",
    "crates/protocols/gmw",
    "crates/protocols/lego",
    "crates/protocols/runs",
    "crates/protocols/two-garblers",
];

/// The folders of the packages whose tests may fail, those that fail soonest first.
const TESTED: &[&str] = &["ot", "homcommit", "protocol", "two-garblers", "lego", "cheat", "authenticated"];

/// Code that the copy's `garblet_primitives::secrets` has in addition.
const SWITCH: &str = r#"
/// Returns whether the place with this number does what it should.
pub fn kept(number: usize) -> bool {
    use std::{io::Write, sync::{LazyLock, Mutex}};
    static LOST: LazyLock<Option<usize>> = LazyLock::new(|| std::env::var("GARBLET_LOST_CHECK").ok()?.parse().ok());
    static REACHED: LazyLock<Option<Mutex<(std::fs::File, Vec<bool>)>>> = LazyLock::new(|| {
        let path = std::env::var_os("GARBLET_REACHED_CHECKS")?;
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path).ok()?;
        Some(Mutex::new((file, vec![false; 100_000])))
    });
    if let Some(reached) = &*REACHED {
        let (file, known) = &mut *reached.lock().unwrap_or_else(|error| error.into_inner());
        if !std::mem::replace(&mut known[number], true) {
            let _ = writeln!(file, "{number}");
        }
    }
    *LOST != Some(number)
}
"#;

/// The most time that a program takes without a check: what hangs has noticed.
const LIMIT: Duration = Duration::from_secs(900);

/// All places, or those in the files whose path contains a text.
pub(crate) fn step(only: Option<&str>) -> Step {
    let only = only.map(String::from);
    Step::check("lost checks", move || match check(&crate::root(), only.as_deref()) {
        Ok(findings) => findings,
        Err(reason) => vec![reason],
    })
}

/// The places whose loss no test sees, one line each.
fn check(root: &Path, only: Option<&str>) -> Result<Vec<String>, String> {
    let tree = target(root).join("lost-checks");
    let places = copy(root, &tree)?;
    eprintln!("{} places", places.len());
    let programs: Vec<Program> = built(&tree, "dev", TESTED)?;
    let reached = reached(&tree, &programs)?;
    let mut findings = Vec::new();
    let wanted = |place: &&Place| only.is_none_or(|only| place.file.to_string_lossy().contains(only));
    for place in places.iter().filter(wanted) {
        let begin = Instant::now();
        let mut reach = programs.iter().zip(&reached).filter(|(_, reached)| reached.contains(&place.number)).peekable();
        if reach.peek().is_none() {
            findings.push(format!("{place}: no test reaches it"));
            continue;
        }
        match reach.find(|(program, _)| !passes(program, &[(LOST, place.number.to_string().into())])) {
            Some((program, _)) => {
                eprintln!("{place}: {} fails, {:.0} s", program.name, begin.elapsed().as_secs_f64());
            }
            None => findings.push(format!("{place}: all tests pass without it")),
        }
    }
    Ok(findings)
}

/// Copies all files that git knows, with numbered places. Files that are there already keep their times, so that little is built again.
fn copy(root: &Path, tree: &Path) -> Result<Vec<Place>, String> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let listed = listed.map_err(|error| format!("git: {error}"))?;
    let mut places = Vec::new();
    for path in String::from_utf8_lossy(&listed.stdout).split_terminator('\0').map(PathBuf::from) {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let Ok(mut bytes) = fs::read(root.join(&path)) else { continue };
        if path == Path::new("crates/primitives/src/secrets.rs") {
            bytes.extend_from_slice(SWITCH.as_bytes());
        }
        if is_checked(&path) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            bytes = numbered(&path, &text, &mut places)?.into_bytes();
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

/// Returns whether a file is code of a crate with checks, and no test.
fn is_checked(path: &Path) -> bool {
    let is_test =
        |part: &std::ffi::OsStr| ["tests", "tests.rs", "testing", "testing.rs"].iter().any(|name| part == *name);
    path.extension().is_some_and(|extension| extension == "rs")
        && CHECKED.iter().any(|folder| path.starts_with(Path::new(folder).join("src")))
        && !path.iter().any(is_test)
}

/// The places that each program reaches. All must pass as they are.
fn reached(tree: &Path, programs: &[Program]) -> Result<Vec<BTreeSet<usize>>, String> {
    let mut all = Vec::new();
    for program in programs {
        let log = tree.join(format!("{}.reached", program.name.replace(", ", "-")));
        // An old list would name what is no longer reached.
        let _ = fs::remove_file(&log);
        if !passes(program, &[(REACHED, log.clone().into())]) {
            return Err(format!("{}: fails with all checks", program.name));
        }
        let text = fs::read_to_string(&log).unwrap_or_default();
        all.push(text.lines().filter_map(|line| line.parse().ok()).collect());
    }
    Ok(all)
}

/// Runs a test program until a test fails. One that takes too long has failed.
fn passes(program: &Program, variables: &[(&str, std::ffi::OsString)]) -> bool {
    let mut command = Command::new(&program.path);
    command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
    command.envs(variables.iter().cloned()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let Some(said) = child.stdout.take() else { return false };
    let (lines, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(said).lines().map_while(Result::ok) {
            if lines.send(line.ends_with("FAILED")).is_err() {
                return;
            }
        }
    });
    let end = Instant::now() + LIMIT;
    loop {
        match heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(false) => {}
            // Everything is said: the program has ended, or is about to.
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                return child.wait().is_ok_and(|status| status.success());
            }
            Ok(true) | Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}
