//! `two-garblers`: three processes, and the statement about its parties in results and plans.

use serde_json::json;

use crate::{
    invocation::{Folder, finish, garblet, start},
    many_parties::peers_file,
};

/// An auction of two houses; the third party garbles, and all learn the result.
const CALL: [&str; 3] = ["examples/auction/auction.json", "--protocol", "two-garblers"];

const INPUTS: [&[&str]; 3] =
    [&["--input", "0=examples/auction/house0.json"], &["--input", "1=examples/auction/house1.json"], &[]];

const WARNING: &str = "no two of the three parties may collude: any two together see everything\n";

#[test]
fn results_and_plans_say_that_no_two_parties_may_collude() {
    let local = |more: &[&str]| garblet(&[&["local"], &CALL[..], INPUTS[0], INPUTS[1], more].concat());
    let report = local(&["--json"]).json();
    assert_eq!((&report["adversary"], &report["parties"]), (&json!("malicious"), &json!(3)));
    assert_eq!(report["outputs"]["price"]["value"], 455);
    assert_eq!(report["security"]["collusion"], "any-two");
    let roles = report["per_party"].as_array().expect("a list").iter().map(|part| &part["role"]);
    assert!(roles.eq(["evaluator", "garbler", "garbler"]), "{report}");
    let text = local(&["--param", "build=ahead"]).stderr;
    assert!(text.contains(WARNING), "{text}");
    assert!(text.contains("a peer that cheats is not caught with probability at most 2^-127.0\n"), "{text}");
    let plan = garblet(&["plan", CALL[0], "--protocol", "two-garblers"]).stdout;
    assert!(plan.contains(&format!("\ntwo-garblers: {WARNING}")), "{plan}");
}

#[test]
fn three_processes_compute_together() {
    let folder = Folder::new("two-garblers");
    let peers = peers_file(&folder, None);
    let party = |party: usize| {
        let number = party.to_string();
        let more = ["--party", &number, "--peers", &peers, "--insecure-plain-tcp"];
        start(&[&["run"], &CALL[..], &more, INPUTS[party]].concat())
    };
    for ran in [2, 1, 0].map(party).map(finish) {
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.contains("price = 455\n"), "{}", ran.stdout);
        assert!(ran.stderr.contains(WARNING), "{}", ran.stderr);
    }
}

#[test]
fn other_numbers_of_parties_are_refused() {
    for parties in ["2", "4"] {
        let ran = garblet(&[&["local"], &CALL[..], &["--parties", parties]].concat());
        assert_eq!(ran.status, Some(2));
        assert!(ran.stderr.contains("the number for two-garblers"), "{}", ran.stderr);
    }
}
