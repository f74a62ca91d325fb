//! Looks for mutants that no test sees: another operator, a function that returns at once, a condition of an arm that always or never holds.
//!
//! The files are those that decide whether a peer is believed. `mutants.toml` lists mutants that no test can see, with a reason each.

use crate::{
    lost_checks::words,
    steps::Step,
    switches::{Accepted, Judged, MUTATED, Options, Place, Verdict, accepted, judged},
};

/// The least share of viable mutants that tests see, in percent.
const LEAST: usize = 90;

/// The mutants of the files with these texts in their paths, or all, within a time.
pub(crate) fn step(options: Options) -> Step {
    Step::check("mutants", move || {
        let root = crate::root();
        let is_wanted = |place: &Place| place.is_mutant && options.names(place);
        let is_listed = |path: &String| MUTATED.iter().any(|begin| path.starts_with(begin) || begin.contains(path));
        if let Some(path) = options.paths.iter().find(|path| !is_listed(path)) {
            return vec![format!("{path}: not among the files with mutants, {MUTATED:?}")];
        }
        let listed = accepted(&root.join("xtask/mutants.toml"));
        let judged = listed.and_then(|listed| Ok((listed, judged(&root, is_wanted, options.time())?)));
        match judged {
            Ok((listed, judged)) => findings(&listed, &judged, options.paths.is_empty()),
            Err(error) => vec![error],
        }
    })
}

/// The findings about judged mutants, one line each, and a line of counts.
fn findings(listed: &[Accepted], judged: &Judged, are_all: bool) -> Vec<String> {
    let (mut findings, mut caught, mut too_long, mut missed, mut untried) = (Vec::new(), 0, 0, 0, 0);
    for (place, verdict) in &judged.places {
        let known = listed.iter().find(|listed| listed.is_of(place));
        match (verdict, known) {
            (Verdict::Caught { test, .. }, Some(_)) => {
                findings.push(format!("{place}: it is listed, and `{test}` sees it"));
            }
            (Verdict::Caught { in_time: true, .. }, None) => caught += 1,
            (Verdict::Caught { in_time: false, .. }, None) => too_long += 1,
            (Verdict::Untried, _) => untried += 1,
            (_, Some(known)) => {
                missed += 1;
                println!("{place}: accepted, {}", known.reason);
            }
            (verdict, None) => {
                missed += 1;
                findings.push(format!("{place}: {}", words(verdict)));
            }
        }
    }
    if are_all {
        findings.extend(judged.gone(listed));
    }
    let (seen, viable) = (caught + too_long, caught + too_long + missed);
    println!(
        "{viable} viable mutants: {caught} caught, {too_long} timed out, {missed} missed: {:.1} % seen; {} unviable, {untried} not tried",
        100.0 * seen as f64 / viable.max(1) as f64,
        judged.unviable,
    );
    if 100 * seen < LEAST * viable {
        findings.push(format!("tests see {seen} of {viable} viable mutants, less than {LEAST} %"));
    }
    if untried > 0 {
        findings.push(format!("{untried} mutants were not tried in the time"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_of_ten_mutants_have_to_be_seen() {
        let caught = |in_time| Verdict::Caught { test: "t".into(), in_time };
        let found = |verdicts: &[Verdict]| {
            let places = verdicts.iter().map(|verdict| (Place::sample("a.rs", true), verdict.clone())).collect();
            findings(&[], &Judged { places, unviable: 3 }, true)
        };
        assert!(found(&[caught(true), caught(false)]).is_empty());
        let missed = Verdict::Survived { run: 2, left: 0 };
        let one = "a.rs:2 f: == becomes !=, `a == b`: all 2 tests pass without it";
        let nine = vec![caught(true); 9];
        assert_eq!(found(&[&nine[..], std::slice::from_ref(&missed)].concat()), [one]);
        let share = "tests see 8 of 9 viable mutants, less than 90 %";
        assert_eq!(found(&[&nine[1..], &[missed]].concat()), [one, share]);
        assert_eq!(found(&[&nine[..], &[Verdict::Untried]].concat()), ["1 mutants were not tried in the time"]);
    }
}
