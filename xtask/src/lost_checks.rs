//! Looks for checks whose loss no test sees.
//!
//! A check is a place that refuses something: a condition whose branch returns an error, a verdict about secrets, a comparison, a part of either, a call of a function that checks. It is lost if its
//! outcome is always the good one. A comparison of bytes can also lose its second half. `lost-checks.toml` lists losses that no test can see, with a reason each.

use crate::{
    steps::Step,
    switches::{Accepted, Judged, Options, Place, Verdict, accepted, judged},
};

/// The checks in the files with these texts in their paths, or in all, within a time.
pub(crate) fn step(options: Options) -> Step {
    Step::check("lost checks", move || {
        let root = crate::root();
        let is_wanted = |place: &Place| !place.is_mutant && options.names(place);
        let listed = accepted(&root.join("xtask/lost-checks.toml"));
        let judged = listed.and_then(|listed| Ok((listed, judged(&root, is_wanted, options.time())?)));
        match judged {
            Ok((listed, judged)) => findings(&listed, &judged, options.paths.is_empty()),
            Err(error) => vec![error],
        }
    })
}

/// The findings about judged places, one line each, and a line of counts.
fn findings(listed: &[Accepted], judged: &Judged, are_all: bool) -> Vec<String> {
    let (mut findings, mut caught, mut accepted, mut halves) = (Vec::new(), 0, 0, 0);
    for (place, verdict) in &judged.places {
        let known = listed.iter().find(|listed| listed.is_of(place));
        match (verdict, known) {
            (Verdict::NoHalf, _) => halves += 1,
            (Verdict::Caught { test, .. }, Some(_)) => {
                findings.push(format!("{place}: it is listed, and `{test}` sees its loss"));
            }
            (Verdict::Caught { .. }, None) => caught += 1,
            (_, Some(known)) => {
                accepted += 1;
                println!("{place}: accepted, {}", known.reason);
            }
            (verdict, None) => findings.push(format!("{place}: {}", words(verdict))),
        }
    }
    if are_all {
        findings.extend(judged.gone(listed));
    }
    let checks = judged.places.len() - halves;
    println!("{checks} checks: {caught} caught, {accepted} accepted; {} the compiler refuses", judged.unviable);
    findings
}

/// A verdict that is a finding.
pub(crate) fn words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Survived { run, left: 0 } => format!("all {run} tests pass without it"),
        Verdict::Survived { run, left } => format!("{run} tests pass without it, {left} more were not run"),
        Verdict::Untripped => "no test depends on it".into(),
        Verdict::Unreached => "no test reaches it".into(),
        Verdict::Untried => "not tried in the time".into(),
        Verdict::Caught { test, .. } => format!("`{test}` sees its loss"),
        Verdict::NoHalf => "no comparison of bytes".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(file: &str) -> Vec<Accepted> {
        let list = format!(
            "[[place]]\nfile = \"{file}\"\nfunction = \"f\"\nwhat = \"a condition\"\ntext = \"a == b\"\nreason = \"it is checked twice\"\n"
        );
        let path = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(path.path(), list).expect("written");
        accepted(path.path()).expect("a list")
    }

    #[test]
    fn losses_that_no_test_sees_are_findings_unless_they_are_listed() {
        let caught = Verdict::Caught { test: "t".into(), in_time: true };
        let found = |verdict: Verdict, listed: &[Accepted], are_all| {
            let judged = Judged { places: vec![(Place::sample("a.rs", false), verdict)], unviable: 0 };
            findings(listed, &judged, are_all)
        };
        assert!(found(caught.clone(), &[], true).is_empty());
        assert!(found(Verdict::NoHalf, &[], true).is_empty());
        let place = "a.rs:2 f: a condition, `a == b`";
        for (verdict, words) in [
            (Verdict::Survived { run: 3, left: 0 }, "all 3 tests pass without it"),
            (Verdict::Survived { run: 3, left: 4 }, "3 tests pass without it, 4 more were not run"),
            (Verdict::Untripped, "no test depends on it"),
            (Verdict::Unreached, "no test reaches it"),
            (Verdict::Untried, "not tried in the time"),
        ] {
            assert_eq!(found(verdict.clone(), &[], true), [format!("{place}: {words}")]);
            assert!(found(verdict, &listed("a.rs"), true).is_empty());
        }
        assert_eq!(
            found(caught.clone(), &listed("a.rs"), true),
            [format!("{place}: it is listed, and `t` sees its loss")]
        );
        assert_eq!(
            found(caught.clone(), &listed("b.rs"), true),
            ["b.rs f: a condition, `a == b`: it is listed, and is gone"]
        );
        assert!(found(caught, &listed("b.rs"), false).is_empty());
    }
}
