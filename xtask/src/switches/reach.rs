//! The places that each test reaches.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{
    SIDE_BY_SIDE,
    tests_run::{Ended, digest_of, names, run},
};
use crate::test_programs::Program;

/// The variable with the file to which a program adds the places that it reaches.
const REACHED: &str = "GARBLET_REACHED";
/// The most time of a test that judges.
const LIMIT: Duration = Duration::from_secs(60);

/// A test, with what it reaches.
#[derive(Serialize, Deserialize)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) seconds: f64,
    /// It passed, and in time.
    pub(super) judges: bool,
    pub(super) reached: BTreeSet<u64>,
    /// The places whose loss changes a value in it.
    pub(super) fired: BTreeSet<u64>,
    /// Comparisons of something else than bytes.
    pub(super) not_bytes: BTreeSet<u64>,
}

/// The tests of a program, from a file if the program is the one that this file is about.
pub(super) fn tests(tree: &Path, program: &Program, scratch: &Path) -> Result<(String, Vec<Test>), String> {
    let digest = digest_of(&program.path)?;
    let folder = tree.join("reached");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let file = folder.join(format!("{}-{digest}.json", program.name.replace(", ", "-")));
    if let Some(tests) = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
        return Ok((digest, tests));
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    let tests = measure(&folder, program, scratch);
    let seconds = tests.iter().fold(0.0, |sum, test| sum + test.seconds);
    eprintln!("{}: {} tests, {seconds:.0} s", program.name, tests.len());
    for test in tests.iter().filter(|test| !test.judges) {
        eprintln!("  {} does not judge: {:.0} s", test.name, test.seconds);
    }
    fs::write(&file, serde_json::to_vec(&tests).map_err(|error| error.to_string())?).map_err(failed)?;
    Ok((digest, tests))
}

fn measure(folder: &Path, program: &Program, scratch: &Path) -> Vec<Test> {
    let (left, found) = (Mutex::new(names(program).into_iter().enumerate()), Mutex::new(Vec::new()));
    let next = || left.lock().expect("no thread panics").next();
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some((number, name)) = next() {
                    let test = one(&folder.join(format!("{number}.log")), program, name, scratch);
                    found.lock().expect("no thread panics").push(test);
                }
            });
        }
    });
    found.into_inner().expect("no thread panics")
}

fn one(log: &PathBuf, program: &Program, name: String, scratch: &Path) -> Test {
    // What an earlier test wrote.
    let _ = fs::remove_file(log);
    let (ended, took) = run(program, &name, (REACHED, &log.to_string_lossy()), LIMIT, scratch);
    let text = fs::read_to_string(log).unwrap_or_default();
    let _ = fs::remove_file(log);
    let marked = |mark: &str| text.lines().filter_map(|line| number(line.strip_prefix(mark)?)).collect();
    Test {
        name,
        seconds: took.as_secs_f64(),
        judges: ended == Ended::Passed,
        reached: marked(""),
        fired: marked("!"),
        not_bytes: marked("~"),
    }
}

fn number(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}
