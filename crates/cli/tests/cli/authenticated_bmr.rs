//! `authenticated-bmr`: three hospitals, by one process each; its parameters, and what it does not have.

use serde_json::json;

use crate::{
    invocation::{Folder, finish, garblet, start},
    many_parties::peers_file,
};

/// Counts of three hospitals, of which those below five are hidden.
const HISTOGRAM: &str = "examples/hospitals/histogram.garble.rs";

const SHOWN: &str = "out0 = [95,38,24,0,0,0,5,0]\n";

const INPUTS: [&[&str]; 3] = [
    &["--input", "0=examples/hospitals/north.json"],
    &["--input", "1=examples/hospitals/east.json"],
    &["--input", "2=examples/hospitals/west.json"],
];

/// A call for all three.
fn of_all(command: &str, more: &[&str]) -> crate::invocation::Ran {
    garblet(&[&[command, HISTOGRAM], INPUTS[0], INPUTS[1], INPUTS[2], more].concat())
}

#[test]
fn three_hospitals_learn_counts_without_the_small_ones() {
    assert_eq!(of_all("eval", &[]).stdout, SHOWN);
    for more in [
        &["--adversary", "malicious"][..],
        &["--adversary", "covert", "--parties", "5"],
        &["--protocol", "authenticated-bmr", "--param", "evaluator=0", "--param", "statistical=64"],
        &["--protocol", "gmw"],
    ] {
        let ran = of_all("local", more);
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), SHOWN), "{more:?}: {}", ran.stderr);
    }
    let report = of_all("local", &["--adversary", "malicious", "--json"]).json();
    assert_eq!((&report["protocol"], &report["adversary"]), (&json!("authenticated-bmr"), &json!("malicious")));
    let security = &report["security"];
    assert_eq!((security.get("collusion"), &security["statistical_bits"]), (None, &json!(40.0)));
    assert!(security["cheating_log2"].as_f64().is_some_and(|log2| log2 <= -40.0), "{security}");
}

#[test]
fn three_processes_compute_together() {
    let folder = Folder::new("authenticated-bmr");
    let peers = peers_file(&folder, None);
    let party = |party: usize| {
        let number = party.to_string();
        let more = ["--adversary", "malicious", "--party", &number, "--peers", &peers, "--insecure-plain-tcp"];
        start(&[&["run", HISTOGRAM][..], &more, INPUTS[party]].concat())
    };
    for ran in [2, 1, 0].map(party).map(finish) {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), SHOWN), "{}", ran.stderr);
    }
}

#[test]
fn stores_are_refused_with_the_protocols_that_have_them() {
    let folder = Folder::new("authenticated-bmr-store");
    let (peers, store) = (peers_file(&folder, None), folder.path("store"));
    let own = ["--protocol", "authenticated-bmr", "--store", &store];
    let have = "hint: components, authenticated, lego, gmw, bmr, bmr-bgw4, bmr-bgw3, bmr-bgw2, outsourced do\n";
    let prepare = ["prepare", HISTOGRAM, "--party", "0", "--peers", &peers, "--insecure-plain-tcp"];
    let said = "error: --protocol authenticated-bmr: this protocol has no preparation in stores\n";
    garblet(&[&prepare[..], &own].concat()).fails(2, &format!("{said}{have}"));
    let said = "error: --store: authenticated-bmr uses no store\n";
    garblet(&[&["local", HISTOGRAM, "--prepare", "1"], &own[..]].concat()).fails(2, &format!("{said}{have}"));
    of_all("local", &own).fails(2, &format!("{said}{have}"));
}

#[test]
fn other_numbers_of_parties_and_evaluators_are_refused() {
    let own = ["--protocol", "authenticated-bmr"];
    for parties in ["2", "17"] {
        let said = format!("error: --parties {parties}: expected 3 to 16, the number for authenticated-bmr\n");
        of_all("local", &[&own[..], &["--parties", parties]].concat()).fails(2, &said);
    }
    let ran = of_all("local", &[&own[..], &["--param", "evaluator=3"]].concat());
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("the evaluator is party 3, expected 0 to 2"), "{}", ran.stderr);
}
