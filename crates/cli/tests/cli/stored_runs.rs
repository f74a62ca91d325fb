//! Runs that several parties prepare together and use once there are inputs.

use std::process::Child;

use crate::{
    invocation::{Folder, Ran, finish, garblet, start},
    many_parties::{CIPHERTEXT, INPUTS, peers_file},
};

/// Runs a command as all three parties, each with its own store.
fn all(folder: &Folder, peers: &str, command: &[&str], more: [&[&str]; 3]) -> Vec<Ran> {
    let child = |party: usize| -> Child {
        let (number, store, key) = (party.to_string(), folder.path(&format!("store{party}")), folder.path("key"));
        let own = ["--party", &number, "--peers", peers, "--store", &store, "--store-key", &key];
        start(&[command, &own, &["--insecure-plain-tcp"], more[party]].concat())
    };
    let children: Vec<Child> = [0, 1, 2].map(child).into();
    children.into_iter().map(finish).collect()
}

fn check_all(ran: &[Ran], expected: &str) {
    for ran in ran {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), expected), "{}", ran.stderr);
    }
}

#[test]
fn runs_are_prepared_and_used_once_and_missing_ones_are_reported() {
    let folder = Folder::new("stored-runs");
    let peers = peers_file(&folder, None);
    garblet(&["store", "init", &folder.path("unused"), "--store-key", &folder.path("key")]);
    let prepare = ["prepare", "lib:aes128", "--protocol", "bmr", "--stock", "runs=2", "--json"];
    let run = ["run", "lib:aes128", "--protocol", "bmr"];
    for (party, ran) in all(&folder, &peers, &prepare, [&[]; 3]).iter().enumerate() {
        let report = ran.json();
        assert_eq!((&report["pieces"], &report["lost"]), (&2.into(), &0.into()), "{report}");
        let sent = report["phases"]["build"]["bytes_sent"].as_u64().expect("a number");
        // Party 0 evaluates, the others garble.
        assert_eq!(sent > 1 << 20, party > 0, "{report}");
    }
    let listed = garblet(&["store", "list", &folder.path("store1"), "--store-key", &folder.path("key")]);
    assert!(listed.stdout.contains("role party 1 of 3\nprotocol bmr, form half-gates"), "{}", listed.stdout);
    assert!(listed.stdout.contains("run of aes128 ("), "{}", listed.stdout);
    // Online, only the inputs' labels remain.
    check_all(&all(&folder, &peers, &run, INPUTS), CIPHERTEXT);
    let [zero, one, two] = [0, 1, 2].map(|party| [INPUTS[party], &["--json"]].concat());
    for ran in all(&folder, &peers, &run, [&zero, &one, &two]) {
        let report = ran.json();
        assert_eq!(report["outputs"]["ciphertext"]["hex"], "69c4e0d86a7b0430d8cdb78070b4c55a");
        let phases = &report["per_party"][0]["phases"];
        assert_eq!((&phases["prepare"]["bytes_sent"], &phases["build"]["bytes_sent"]), (&0.into(), &0.into()));
    }
    for (party, ran) in all(&folder, &peers, &run, INPUTS).iter().enumerate() {
        let store = folder.path(&format!("store{party}"));
        let own = format!("--party {party} --peers {peers} --store {store} --store-key {}", folder.path("key"));
        let again = format!("garblet prepare lib:aes128 --protocol bmr {own}");
        let said =
            format!("error: the stores have no run of `aes128` left\nhint: prepare more, with all parties: {again}\n");
        assert!(ran.status == Some(1) && ran.stderr.ends_with(&said), "{}", ran.stderr);
    }
    // Preparing ahead is optional.
    let topping_up = [&run[..], &["--top-up"]].concat();
    check_all(&all(&folder, &peers, &topping_up, INPUTS), CIPHERTEXT);
}

#[test]
fn a_different_program_parameter_or_number_of_parties_is_refused_by_name() {
    let folder = Folder::new("stored-runs-other");
    let (store, key) = (folder.path("stores"), folder.path("key"));
    let local = |more: &[&str]| {
        let first = ["local", "--protocol", "gmw", "--store", &store, "--store-key", &key];
        garblet(&[&first[..], more].concat())
    };
    let prepared = local(&["lib:aes128", "--parties", "3", "--prepare", "2"]);
    assert!(prepared.stdout.starts_with("the stores have 2 runs of aes128, after "), "{}", prepared.stderr);
    let aes = [INPUTS[0], INPUTS[1]].concat();
    check_all(&[local(&[&["lib:aes128", "--parties", "3"], &aes[..]].concat())], CIPHERTEXT);
    let refused = |status: i32, said: &str, more: &[&str]| {
        let ran = local(more);
        assert!(ran.status == Some(status) && ran.stderr.contains(said), "{}", ran.stderr);
    };
    let (zero, one) = (folder.file("zero.json", r#"{"a": 1}"#), folder.file("one.json", r#"{"b": 2}"#));
    let sum = [&format!("0={zero}")[..], &format!("1={one}")];
    let sum = ["lib:add(8)", "--parties", "3", "--input", sum[0], "--input", sum[1]];
    refused(1, "the stores have no run of `add(8)`, but 1 of `aes128`\nhint: prepare more, with all parties: ", &sum);
    refused(
        1,
        &format!(
            "garblet local 'lib:add(8)' --protocol gmw --parties 3 --store {store} --store-key {key} --prepare 1\n"
        ),
        &sum,
    );
    let other = [&["lib:aes128", "--parties", "3", "--param", "form=2012"], &aes[..]].concat();
    refused(2, "was filled for another protocol: expected gmw, form 2012", &other);
    let fewer = [&["lib:aes128", "--parties", "2"], &aes[..]].concat();
    refused(2, "was filled for another peer: expected a peer without identity, got 2 peers", &fewer);
    let ran = garblet(&[&["local", "lib:aes128", "--store", &store], &aes[..]].concat());
    ran.fails(2, "error: --store: yao uses no store\nhint: components, authenticated, lego, gmw, bmr, bmr-bgw4, bmr-bgw3, bmr-bgw2, authenticated-bmr, outsourced do\n");
}
