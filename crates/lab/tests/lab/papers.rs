//! The experiments of the papers: what is kept, what a page says that is not whole, and what goes wrong.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use crate::invocation::{Folder, finish, garblet as lab, start};

/// Two experiments that take a moment each.
const TWO: &str = "partialgc-table-1,compgc-offline-10";
const FIRST: &str = "results/quick-compgc-offline-10.json";
const SECOND: &str = "results/quick-partialgc-table-1.json";

fn papers(folder: &str) -> [&str; 5] {
    ["papers", "--experiment", TWO, "--report", folder]
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_run_that_was_killed_goes_on_and_runs_nothing_twice() {
    let folder = Folder::new("papers-killed");
    let path = folder.path("");
    let mut killed = start(&papers(&path));
    let begin = Instant::now();
    while !Path::new(&folder.path(FIRST)).exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "nothing is kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let kept = read(&folder, FIRST);
    let page = read(&folder, "index.html");
    assert!(
        page.contains("This page is not whole.") && page.ends_with("</html>"),
        "a page is whole or says that it is not"
    );

    let ran = lab(&papers(&path));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("compgc-offline-10: was there, 1 runs"), "{}", ran.stderr);
    assert_eq!(read(&folder, FIRST), kept);
    let page = read(&folder, "index.html");
    for done in ["compgc-offline-10: has not run", "partialgc-table-1: has not run"] {
        assert!(!page.contains(done), "{done}");
    }
    // Those that were not asked for are told, too.
    assert!(page.contains("lego-aes: has not run yet"));
    assert!(page.contains("508,864") && page.contains("10 rounds of AES prepared"));
    let report: serde_json::Value = serde_json::from_str(&read(&folder, "report.json")).expect("JSON");
    assert_eq!((&report["mode"], report["experiments"].as_array().map(Vec::len)), (&"quick".into(), Some(2)));

    let again = lab(&[&papers(&path)[..], &["--again"]].concat());
    assert!(!again.stderr.contains("was there"), "{}", again.stderr);
    assert!(read(&folder, SECOND).contains("partialgc --table 1"));

    let elsewhere = folder.path("elsewhere");
    let made = lab(&["papers", "--from", &folder.path("report.json"), "--report", &elsewhere]);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    assert!(read(&folder, "elsewhere/index.html").contains("508,864"));
}

#[test]
fn a_call_that_cannot_be_is_refused_before_anything_is_measured() {
    let unknown = lab(&["papers", "--only", "fairplay"]);
    assert_eq!(unknown.status, Some(2));
    assert!(unknown.stderr.contains("compgc, partialgc, pssw, lego, bmr"), "{}", unknown.stderr);
    let unknown = lab(&["papers", "--only", "bmr", "--experiment", "lego-aes"]);
    assert_eq!(unknown.status, Some(2));
    assert!(
        unknown
            .stderr
            .starts_with("error: --experiment lego-aes: there is none of that name\nhint: there are bmr-table-1-n3, ")
    );
    let folder = Folder::new("papers-unwritable");
    let file = folder.file("file", "");
    let refused = lab(&papers(&file));
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("cannot be written: not a directory"), "{}", refused.stderr);
    let no_report = lab(&["papers", "--from", &file, "--report", &folder.path("out")]);
    assert_eq!(no_report.status, Some(2));
    assert!(no_report.stderr.contains("no report of `garblet-lab papers`"), "{}", no_report.stderr);
}

/// A limit on the length of files stands for a disk that is full.
#[cfg(unix)]
#[test]
fn where_there_is_no_place_left_there_is_no_page_and_the_error_says_so() {
    let folder = Folder::new("papers-full");
    let mut shell = std::process::Command::new("sh");
    let script = "ulimit -f 16; trap '' XFSZ; exec \"$0\" \"$@\"";
    shell.args(["-c", script, crate::PROGRAM]).args(papers(&folder.path("out")));
    shell.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let ran = finish(shell.spawn().expect("a shell"));
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot be written: file too large"), "{}", ran.stderr);
    assert!(!Path::new(&folder.path("out/index.html")).exists());
    let left = fs::read_dir(folder.path("out")).expect("the folder").count();
    assert_eq!(left, 1, "nothing is left but the folder of results");
}
