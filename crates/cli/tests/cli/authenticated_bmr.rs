//! `authenticated-bmr`: three hospitals, by one process each; its parameters and stores.

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
        &["--protocol", "authenticated-bmr", "--param", "build=stream", "--param", "evaluator=2"],
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

/// Three parties fill their stores, keep what two of them compute, and read it with another program.
#[test]
fn three_stores_serve_programs_that_are_named_then() {
    let folder = Folder::new("authenticated-bmr-stores");
    let peers = peers_file(&folder, None);
    let all = |call: &dyn Fn(&str) -> Vec<String>| -> Vec<crate::invocation::Ran> {
        let party = |party: usize| {
            let number = party.to_string();
            let (store, key) = (folder.path(&format!("store{party}")), folder.path(&format!("key{party}")));
            let own =
                ["--protocol", "authenticated-bmr", "--party", &number, "--peers", &peers, "--insecure-plain-tcp"];
            let stored = ["--store", &store, "--store-key", &key];
            let call = call(&number);
            let call: Vec<&str> = call.iter().map(String::as_str).collect();
            start(&[&call[..], &own, &stored].concat())
        };
        [2, 1, 0].map(party).map(finish).into_iter().rev().collect()
    };
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect::<Vec<_>>();
    let check = |ran: Vec<crate::invocation::Ran>, out: &str| {
        for ran in ran {
            assert_eq!((ran.status, ran.stdout.contains(out)), (Some(0), true), "{} {}", ran.stdout, ran.stderr);
        }
    };
    check(all(&|_| words(&["prepare", "--stock", "triples=64"])), " has 9 pieces");
    let file = |name: &str, value: &str| folder.file(name, value);
    let (a, b, two) = (file("a.json", "{\"a\": 20}"), file("b.json", "{\"b\": 22}"), file("two.json", "{\"b\": 2}"));
    let input = |party: &str| match party {
        "0" => words(&["--input", &format!("0={a}")]),
        "1" => words(&["--input", &format!("1={b}")]),
        _ => Vec::new(),
    };
    check(all(&|party| [words(&["run", "lib:add(8)", "--keep", "sum"]), input(party)].concat()), "42");
    let read = |party: &str| if party == "1" { words(&["--input", &format!("1={two}")]) } else { Vec::new() };
    check(all(&|party| [words(&["run", "lib:sub(8)", "--read", "a=sum"]), read(party)].concat()), "40");
    let listed = garblet(&["store", "list", &folder.path("store0"), "--store-key", &folder.path("key0")]);
    assert!(listed.stdout.contains("sum"), "{}", listed.stdout);
    // Not enough is left.
    for ran in all(&|party| [words(&["run", "lib:mul(16)"]), input(party)].concat()) {
        assert!(ran.status != Some(0) && ran.stderr.contains("the stores lack"), "{}", ran.stderr);
    }
}

#[test]
fn orders_that_do_not_fit_are_refused() {
    let folder = Folder::new("authenticated-bmr-orders");
    let (peers, store) = (peers_file(&folder, None), folder.path("store"));
    let own = ["--party", "0", "--peers", &peers, "--insecure-plain-tcp", "--store", &store];
    let prepare = |more: &[&str]| garblet(&[&["prepare", "--protocol", "authenticated-bmr"], more, &own].concat());
    prepare(&[HISTOGRAM, "--stock", "triples=64"]).fails(
        2,
        "error: LIBRARY|PROGRAM: authenticated-bmr prepares for any function\nhint: give the amounts of triples, masks with --stock\n",
    );
    prepare(&[]).fails(
        2,
        "error: --stock is missing: the amounts of triples, masks to prepare\nhint: garblet inspect PROGRAM shows the amounts that a program needs\n",
    );
    prepare(&["--stock", "triples=64", "--batch", "3"])
        .fails(2, "error: --batch: authenticated-bmr prepares for any function\nhint: give this option to the run\n");
    let ran = prepare(&["--stock", "triples=64", "--param", "evaluator=3"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("expected party 0 to 2, got party 3"), "{}", ran.stderr);
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
    assert!(ran.stderr.contains("expected party 0 to 2, got party 3"), "{}", ran.stderr);
    // The message names what has the number: here no `--parties` was given.
    let folder = Folder::new("authenticated-bmr-two");
    let entries = "[[party]]\naddress = \"127.0.0.1:1\"\n[[party]]\naddress = \"127.0.0.1:2\"\n";
    let (peers, store) = (folder.file("two.toml", entries), folder.path("store"));
    let own = ["--protocol", "authenticated-bmr", "--party", "0", "--peers", &peers, "--insecure-plain-tcp"];
    let said = "error: --peers: the peers file has 2 parties: expected 3 to 16, the number for authenticated-bmr\n";
    garblet(&[&["run", "lib:add(8)"], &own[..]].concat()).fails(2, said);
    garblet(&[&["prepare", "--stock", "triples=64", "--store", &store], &own[..]].concat()).fails(2, said);
    let job = folder.path("two.job.toml");
    let new = ["job", "new", "lib:add(8)", "--party", "anna", "--party", "bob", "--out", &job];
    assert_eq!(garblet(&[&new[..], &["--protocol", "gmw"]].concat()).status, Some(0));
    let text = std::fs::read_to_string(&job).expect("a job").replace("\"gmw\"", "\"authenticated-bmr\"");
    let (head, rest) = text.split_once("[parameters]").expect("parameters of gmw");
    let (_, parties) = rest.split_once("[[party]]").expect("parties");
    let job = folder.file("other.job.toml", &format!("{head}[[party]]{parties}"));
    let said = "error: the job has 2 parties: expected 3 to 16, the number for authenticated-bmr\n";
    garblet(&["local", "--job", &job]).fails(2, said);
}
