//! Judges each place by the tests that reach it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::Mutex,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::{
    SIDE_BY_SIDE,
    copy::{Copy, sources},
    places::Place,
    reach::{Test, tests},
    tests_run::{Ended, run, scratch, short},
};
use crate::test_programs::Program;

/// The variable with the place that is lost.
const LOST: &str = "GARBLET_LOST";
/// The most time of the tests of one place, as measured without a loss: the shortest come first.
const EACH: f64 = 60.0;

/// The opinion of the tests about a place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum Verdict {
    /// This test fails without it, or does not end.
    Caught { test: String, in_time: bool },
    /// All tests that were run pass without it; so many others would take too long.
    Survived { run: usize, left: usize },
    /// Its loss changes no value in any test.
    Untripped,
    /// No test reaches it.
    Unreached,
    /// A comparison of something else than bytes, which has no half.
    NoHalf,
    /// The time was over before.
    Untried,
}

/// A verdict, and the state in which it was found.
#[derive(Serialize, Deserialize)]
struct Record {
    id: u64,
    /// The digest of the test that caught it, or of all programs.
    state: String,
    verdict: Verdict,
}

/// The tests that judge.
struct Judges<'a> {
    /// Tests with their program, the shortest first.
    tests: Vec<(&'a Program, Test)>,
    /// The digest of all programs.
    state: String,
    scratch: PathBuf,
    not_bytes: BTreeSet<u64>,
    /// The code of each package by its folder.
    sources: BTreeMap<PathBuf, String>,
}

/// A verdict about each place, in order, within a time.
pub(crate) fn verdicts(copy: &Copy, places: &[&Place], time: Duration) -> Result<Vec<Verdict>, String> {
    let end = Instant::now() + time;
    let judges = Judges::new(copy)?;
    let results = copy.tree.join("results.jsonl");
    let known = judges.known(&results);
    let log = OpenOptions::new().create(true).append(true).open(&results);
    let log = Mutex::new(log.map_err(|error| format!("{}: {error}", results.display()))?);
    let found = Mutex::new(vec![Verdict::Untried; places.len()]);
    let left = Mutex::new(places.iter().enumerate());
    let next = || left.lock().expect("no thread panics").next();
    let judge = || {
        while let Some((number, place)) = next() {
            let verdict = match known.get(&place.id) {
                Some(verdict) => verdict.clone(),
                None if Instant::now() > end => continue,
                None => judges.judge(place),
            };
            if !known.contains_key(&place.id) {
                eprintln!("{} of {}: {place}: {verdict:?}", number + 1, places.len());
                let record = Record { id: place.id, state: judges.state_of(&verdict), verdict: verdict.clone() };
                let line = serde_json::to_string(&record).expect("numbers and text");
                let _ = writeln!(log.lock().expect("no thread panics"), "{line}");
            }
            found.lock().expect("no thread panics")[number] = verdict;
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(judge);
        }
    });
    Ok(found.into_inner().expect("no thread panics"))
}

impl<'a> Judges<'a> {
    fn new(copy: &'a Copy) -> Result<Self, String> {
        let scratch = scratch(&copy.tree)?;
        let (mut all, mut digests) = (Vec::new(), String::new());
        for program in &copy.programs {
            let (digest, tests) = tests(&copy.tree, program, &scratch)?;
            digests += &digest;
            all.extend(tests.into_iter().map(|test| (program, test)));
        }
        all.sort_by(|(_, one), (_, other)| one.seconds.total_cmp(&other.seconds));
        let not_bytes = all.iter().flat_map(|(_, test)| test.not_bytes.iter().copied()).collect();
        let sources = copy.programs.iter().map(|program| (program.folder.clone(), sources(&program.folder))).collect();
        Ok(Judges { tests: all, state: short(digests.as_bytes()), scratch, not_bytes, sources })
    }

    /// The verdicts that still stand.
    fn known(&self, results: &Path) -> BTreeMap<u64, Verdict> {
        let text = fs::read_to_string(results).unwrap_or_default();
        let records = text.lines().filter_map(|line| serde_json::from_str::<Record>(line).ok());
        let standing = records.filter(|record| record.state == self.state_of(&record.verdict));
        standing.map(|record| (record.id, record.verdict)).collect()
    }

    /// The state in which a verdict stands: the text of the test that caught the place, or all programs.
    fn state_of(&self, verdict: &Verdict) -> String {
        match verdict {
            Verdict::Caught { test, .. } => self.text_of(test),
            _ => self.state.clone(),
        }
    }

    /// The digest of a test's text: of all functions of its name in its package.
    fn text_of(&self, label: &str) -> String {
        let Some((program, test)) = self.tests.iter().find(|(program, test)| name(program, test) == label) else {
            return "gone".into();
        };
        let function = test.name.rsplit("::").next().unwrap_or_default();
        let sources = self.sources.get(&program.folder).map_or("", String::as_str);
        short(functions(sources, function).as_bytes())
    }

    /// Runs the tests that may see a loss until one of them fails twice.
    fn judge(&self, place: &Place) -> Verdict {
        if self.not_bytes.contains(&place.id) {
            return Verdict::NoHalf;
        }
        let reach = |test: &Test| test.reached.contains(&place.id);
        let sees = |test: &Test| if place.is_mutant { reach(test) } else { test.fired.contains(&place.id) };
        let seeing: Vec<_> = self.tests.iter().filter(|(_, test)| sees(test)).collect();
        let judging: Vec<_> = seeing.iter().filter(|(_, test)| test.judges).collect();
        if seeing.is_empty() {
            let is_reached = self.tests.iter().any(|(_, test)| reach(test));
            return if is_reached { Verdict::Untripped } else { Verdict::Unreached };
        }
        let (mut done, mut seconds) = (0, 0.0);
        for (program, test) in &judging {
            seconds += test.seconds;
            if done > 0 && seconds > EACH {
                break;
            }
            done += 1;
            match self.without(place.id, program, test) {
                Ended::Passed => {}
                Ended::TimedOut => return Verdict::Caught { test: name(program, test), in_time: false },
                // One that fails by itself now and then has seen nothing.
                Ended::Failed if self.without(place.id, program, test) == Ended::Passed => {}
                Ended::Failed => return Verdict::Caught { test: name(program, test), in_time: true },
            }
        }
        Verdict::Survived { run: done, left: seeing.len() - done }
    }

    /// Runs a test without a place.
    fn without(&self, id: u64, program: &Program, test: &Test) -> Ended {
        let limit = Duration::from_secs_f64(test.seconds * 10.0 + 20.0);
        run(program, &test.name, (LOST, &format!("{id:016x}")), limit, &self.scratch).0
    }
}

/// All functions of a name in a text.
fn functions(text: &str, name: &str) -> String {
    let (begin, mut found) = (format!("fn {name}("), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !line.contains(&begin) {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        found.push_str(line);
        lines.by_ref().take_while(|line| *line != end).for_each(|line| found.push_str(line));
    }
    found
}

/// The name of a test among all programs.
fn name(program: &Program, test: &Test) -> String {
    format!("{}, {}", program.name, test.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_test_ends_with_its_last_brace() {
        let text = "mod a {\n    fn x() {\n        if b {\n        }\n    }\n    fn xy() {\n    }\n}\nfn x(c) {\n}\nfn z() {\n}\n";
        assert_eq!(functions(text, "x"), "    fn x() {        if b {        }fn x(c) {");
        assert_eq!(functions(text, "nothing"), "");
    }

    #[test]
    fn a_verdict_stands_while_what_it_was_found_by_is_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = Program { name: "p, q".into(), path: "q".into(), folder: folder.path().into(), bytes: 0 };
        let test = || Test {
            name: "m::t".into(),
            seconds: 0.1,
            judges: true,
            reached: BTreeSet::from([1]),
            fired: BTreeSet::new(),
            not_bytes: BTreeSet::new(),
        };
        let judges = |text: &str, state: &str| Judges {
            tests: vec![(&program, test())],
            state: state.into(),
            scratch: folder.path().into(),
            not_bytes: BTreeSet::new(),
            sources: BTreeMap::from([(folder.path().into(), text.into())]),
        };
        let caught = Verdict::Caught { test: "p, q, m::t".into(), in_time: true };
        let before = judges("fn t() {\n    a();\n}\n", "1");
        let results = folder.path().join("results");
        let line = |id, verdict: &Verdict| {
            let record = Record { id, state: before.state_of(verdict), verdict: verdict.clone() };
            serde_json::to_string(&record).expect("text") + "\n"
        };
        fs::write(&results, line(7, &caught) + &line(8, &Verdict::Untripped)).expect("written");
        assert_eq!(before.known(&results), BTreeMap::from([(7, caught.clone()), (8, Verdict::Untripped)]));
        let other_programs = judges("fn t() {\n    a();\n}\nfn u() {\n}\n", "2");
        assert_eq!(other_programs.known(&results), BTreeMap::from([(7, caught)]));
        assert_eq!(judges("fn t() {\n    b();\n}\n", "1").known(&results), BTreeMap::from([(8, Verdict::Untripped)]));
        // Nothing decides there, and the mutant's program cannot be run.
        assert_eq!(before.judge(&Place::sample("a.rs", false)), Verdict::Untripped);
        assert!(matches!(before.judge(&Place::sample("a.rs", true)), Verdict::Caught { .. }));
        assert_eq!(before.judge(&Place { id: 2, ..Place::sample("a.rs", true) }), Verdict::Unreached);
    }
}
