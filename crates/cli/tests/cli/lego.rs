//! Gates prepared in one pair of processes, for functions chosen in others.

use serde_json::Value;

use crate::{
    components::Parties,
    invocation::{finish, garblet},
};

const PREPARE: [&str; 9] =
    ["prepare", "--protocol", "lego", "--stock", "gates=600", "--stock", "inputs=128", "--stock", "outputs=65"];

fn run(parties: &Parties, program: &str, inputs: [&str; 2]) -> [(Option<i32>, String, String); 2] {
    let command = ["run", program, "--protocol", "lego"];
    let inputs = inputs.map(|input| ["--input", input]);
    parties.both(&command, inputs.each_ref().map(|more| &more[..])).map(|ran| (ran.status, ran.stdout, ran.stderr))
}

#[test]
fn a_store_of_gates_serves_functions_chosen_later() {
    let parties = Parties::new("lego");
    for ran in parties.both(&PREPARE, [&["--json"]; 2]) {
        let report = ran.json();
        assert_eq!((report["pieces"].as_u64(), &report["lost"]), (Some(600 + 128 + 97 + 65), &0.into()), "{report}");
    }
    let inputs = [parties.file("zero.json", r#"{"alice": 300}"#), parties.file("one.json", r#"{"bob": 200}"#)];
    let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
    let inputs = inputs.each_ref().map(String::as_str);
    for program in ["lib:millionaires(32)", "lib:millionaires(16)"] {
        let expected = garblet(&["eval", program, "--input", inputs[0], "--input", inputs[1]]);
        for (status, stdout, stderr) in run(&parties, program, inputs) {
            assert_eq!((status, &stdout), (Some(0), &expected.stdout), "{program}: {stderr}");
            assert!(stderr.contains("lego (malicious)"), "{stderr}");
        }
    }
    for (status, _, stderr) in run(&parties, "lib:millionaires(32)", inputs) {
        assert_eq!(status, Some(1), "{stderr}");
        assert!(stderr.contains("error: the stores lack 32 of the 64 input bits that the program takes"), "{stderr}");
    }
}

#[test]
fn missing_material_is_prepared_if_both_request_it() {
    let parties = Parties::new("lego-top-up");
    let prepared = parties.both(&["prepare", "--protocol", "lego", "--stock", "gates=8"], [&[]; 2]);
    assert!(prepared.iter().all(|ran| ran.status == Some(0)), "{}", prepared[1].stderr);
    let inputs = [parties.file("zero.json", r#"{"a": 30}"#), parties.file("one.json", r#"{"b": 12}"#)];
    let inputs = [format!("0={}", inputs[0]), format!("1={}", inputs[1])];
    let add = |more: [&[&str]; 2]| {
        let own = [0, 1].map(|party| [&["--input", &inputs[party][..]], more[party]].concat());
        parties.both(&["run", "lib:add(8)", "--protocol", "lego"], own.each_ref().map(|more| &more[..]))
    };
    for ran in add([&["--top-up"], &[]]) {
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains("top-up"), "{}", ran.stderr);
    }
    for ran in add([&["--top-up"]; 2]) {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "sum = 42\n"), "{}", ran.stderr);
    }
}

#[test]
fn serving_refills_gates_that_have_run_low_and_uses_them() {
    let parties = Parties::new("lego-serve");
    let amounts = ["--protocol", "lego", "--stock", "gates=600", "--stock", "inputs=64", "--stock", "outputs=9"];
    let serve = |low_water: &str| {
        let command = [&["serve"], &amounts[..], &["--rounds", "1", "--low-water", low_water]].concat();
        parties.both(&command, [&[]; 2]).map(|ran| {
            assert_eq!(ran.status, Some(0), "{}", ran.stderr);
            ran.stderr
                .lines()
                .find_map(|line| line.strip_suffix(" pieces are ready"))
                .map(|count| count.replace(',', ""))
        })
    };
    // Half as many pairs as inputs and outputs.
    let all = (600 + 64 + 37 + 9).to_string();
    assert_eq!(serve("50"), [Some(all.clone()), Some(all.clone())]);
    let zero = format!("0={}", parties.file("zero.json", r#"{"a": 30}"#));
    let one = format!("1={}", parties.file("one.json", r#"{"b": 12}"#));
    let answer = ["--answer", "lib:add(8)", "--input", &zero, "--rounds", "1"];
    let (server, address) = parties.listen(&[&["serve"], &amounts[..], &answer].concat());
    let ran = parties.connect(&address, &["run", "lib:add(8)", "--protocol", "lego", "--input", &one]);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "sum = 42\n"), "{}", ran.stderr);
    assert_eq!(finish(server).stdout, "sum = 42\n");
    // Seven gates, sixteen inputs, four pairs and eight of nine outputs were used: only outputs are below half.
    // Gates and inputs are prepared at least 512 and 32 at a time.
    let refilled = (593 + 512 + 48 + 32 + 33 + 9).to_string();
    assert_eq!(serve("50"), [Some(refilled.clone()), Some(refilled.clone())]);
    assert_eq!(serve("80"), [Some(refilled.clone()), Some(refilled)]);
}

/// The sum of the parties' numbers stays on wires; the next function compares it with a number of party 1.
#[test]
fn saved_outputs_are_inputs_of_later_functions() {
    let parties = Parties::new("lego-kept");
    let prepared = parties.both(&PREPARE, [&[]; 2]);
    assert!(prepared.iter().all(|ran| ran.status == Some(0)), "{}", prepared[1].stderr);
    let file = |name: &str, text: &str| parties.file(name, text);
    let both = |program: &str, more: &[&str], inputs: [&[&str]; 2]| {
        parties.both(&[&["run", program, "--protocol", "lego"], more].concat(), inputs)
    };
    let first = format!("0={}", file("first.json", r#"{"a": 30}"#));
    let second = format!("1={}", file("second.json", r#"{"b": 12}"#));
    let log = file("receipts.jsonl", "");
    let own = ["--input", &first, "--receipts", &log];
    let added = both("lib:add(8)", &["--keep", "sum"], [&own, &["--input", &second]]);
    assert!(added.iter().all(|ran| ran.stdout == "sum = 42\n"), "{}", added[0].stderr);
    for listed in [0, 1].map(|party| parties.list(party)) {
        assert!(listed.stdout.contains("\nkept as sum: sum\n"), "{} {}", listed.stdout, listed.stderr);
    }
    for (bob, richer) in [(41, true), (42, false)] {
        let bob = format!("1={}", file("bob.json", &format!(r#"{{"bob": {bob}}}"#)));
        let compared =
            both("lib:millionaires(8)", &["--read", "alice=sum"], [&["--receipts", &log], &["--input", &bob]]);
        for ran in compared {
            assert_eq!((ran.status, ran.stdout), (Some(0), format!("alice_richer = {richer}\n")), "{}", ran.stderr);
        }
    }
    let receipts = garblet(&["receipts", "show", &log, "--json"]).json();
    let kept = [0, 1].map(|at: usize| [&receipts["receipts"][at]["keep"], &receipts["receipts"][at]["read"][0]]);
    assert_eq!(kept, [[&"sum".into(), &Value::Null], [&Value::Null, &"alice=sum".into()]]);
    let bob = format!("1={}", file("bob.json", r#"{"bob": 1}"#));
    for ran in both("lib:millionaires(8)", &["--read", "alice=total"], [&[], &["--input", &bob]]) {
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("`total`, which was to be read: expected outputs that were kept"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn the_purpose_of_a_store_must_be_given() {
    let fails = |more: &[&str], expected: &str| {
        let base = ["prepare", "--store", "none", "--party", "0", "--connect", "127.0.0.1:9", "--insecure-plain-tcp"];
        let ran = garblet(&[&base, more].concat());
        ran.fails(2, expected);
    };
    fails(
        &["--protocol", "lego"],
        "error: --stock is missing: the amounts of gates, inputs, outputs to prepare\n\
         hint: garblet inspect PROGRAM shows the amounts that a program needs\n",
    );
    fails(
        &["--protocol", "lego", "--stock", "gates=1", "x.toml"],
        "error: LIBRARY|PROGRAM: lego prepares for any function\nhint: give the amounts of gates, inputs, outputs with --stock\n",
    );
    fails(
        &["--protocol", "lego", "--stock", "gates=1", "--stock", "runs=1"],
        "error: an order for a store: expected gates, inputs, outputs, got `runs`\n",
    );
    fails(
        &["--protocol", "yao"],
        "error: --protocol yao: this protocol has no preparation in stores\n\
         hint: components, authenticated, lego, gmw, bmr, bmr-bgw4, bmr-bgw3, bmr-bgw2, authenticated-bmr, outsourced do\n",
    );
}
