//! Looks, under valgrind, for branches and addresses that depend on secrets, and in the same optimised program for [intrinsics that stayed calls](crate::kernels).

use std::{fs, path::Path, process::Command};

use crate::kernels;
use crate::programs::{run, target, with_debian};
use crate::steps::{Step, cargo};

const PACKAGE: &str = "garblet-constant-time";

/// The profile: the optimised code is examined.
const PROFILE: &str = "full";

/// Suppressions for uses of secrets in others' code, each with a reason.
const SUPPRESSIONS: &str = "crates/constant-time/valgrind.supp";

/// All suites.
pub(crate) fn step() -> Step {
    Step::check("constant time", || check(&crate::root(), "all", &[]))
}

/// Kernels, transfers, garbling, `yao` and `two-garblers`.
pub(crate) fn short_step() -> Step {
    Step::check("constant time, short", || check(&crate::root(), "short", &["--no-default-features"]))
}

/// Findings, one line each. Without valgrind nothing is examined, which is reported and is not a finding.
fn check(root: &Path, form: &str, features: &[&str]) -> Vec<String> {
    let here = match cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        true => with_debian(&["valgrind"], &["valgrind"]),
        false => Err("secrets are followed only on x86-64 under Linux".into()),
    };
    if let Err(reason) = here {
        eprintln!("{reason}\nBRANCHES ON SECRETS WERE NOT CHECKED");
        return Vec::new();
    }
    let program = target(root).join(PROFILE).join(PACKAGE);
    match build(root, features).and_then(|()| kernels::check(&program)).and_then(|()| look(root, form)) {
        Ok(()) => Vec::new(),
        Err(finding) => vec![finding],
    }
}

fn build(root: &Path, features: &[&str]) -> Result<(), String> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--profile", PROFILE, "--package", PACKAGE, "--features", "secrets"]);
    build.args(features);
    // Reports need only the names of functions, and lines cost time.
    run(build.current_dir(root)).map(drop)
}

fn look(root: &Path, form: &str) -> Result<(), String> {
    let target = target(root);
    let log = target.join("constant-time.log");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--error-limit=no", "--num-callers=20"]);
    valgrind.arg(format!("--suppressions={}", root.join(SUPPRESSIONS).display()));
    valgrind.arg(format!("--log-file={}", log.display()));
    valgrind.arg(target.join(PROFILE).join(PACKAGE)).arg(form);
    let said = run(valgrind.current_dir(root));
    let places = || places(&fs::read_to_string(&log).unwrap_or_default()).join("\n");
    match said {
        Ok(said) => {
            said.lines().filter(|line| line.starts_with("ok")).for_each(|line| eprintln!("{line}"));
            Ok(())
        }
        Err(said) => Err(format!("{said}\n{}\nall of it is in {}", places(), log.display())),
    }
}

/// The places in our own code of each report, once each.
fn places(log: &str) -> Vec<String> {
    let ours = |line: &&str| line.contains("garblet") && (line.contains(" at 0x") || line.contains(" by 0x"));
    let mut places: Vec<String> = Vec::new();
    for report in log.split("uninitialised value").skip(1) {
        let Some(place) = report.lines().find(ours) else { continue };
        let name = place.split_once(": ").map_or(place, |(_, name)| name).to_string();
        if !places.contains(&name) {
            places.push(name);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_told_by_the_first_place_of_ours_once_each() {
        let report = |first: &str| {
            format!(
                "==1== Conditional jump or move depends on uninitialised value(s)\n==1==    at 0x10: {first}\n\
                 ==1==    by 0x11: garblet_ot::base::send (in /target/garblet)\n"
            )
        };
        let log =
            [report("core::cmp (in /x)"), report("core::cmp (in /x)"), report("garblet_yao::run (in /x)")].concat();
        assert_eq!(places(&log), ["garblet_ot::base::send (in /target/garblet)", "garblet_yao::run (in /x)"]);
    }
}
