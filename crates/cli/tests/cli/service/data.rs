//! Inputs and results of a service.

use super::{Company, PLANTED, is_sum, rule};
use crate::invocation::{finish, garblet};

const ASK: &str = "its operator's log says what is missing";

#[cfg(unix)]
fn script(company: &Company, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = company.folder.file(name, &format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).expect("ours");
}

#[test]
fn commands_of_the_operator_give_inputs_and_take_results() {
    let company = Company::new("service-exec");
    company.trust("bob");
    script(&company, "take", "cat > \"$1\"");
    let [request, result] = ["request", "result"].map(|name| company.folder.path(name));
    let fields = format!(
        "often = {{ total = 9 }}\ninputs = {{ exec = [\"./give\", \"{request}\"] }}\nresults = {{ exec = [\"./take\", \"{result}\"] }}\n"
    );
    company.configure("", &rule("bob", &fields));
    script(&company, "give", &format!("cat > \"$1\"; echo '{{\"a\": {PLANTED}}}'"));
    let mut service = company.start();
    is_sum(&finish(company.call("bob", 9, &service, &[])), 9);
    service.wait_for(" done session=");
    let read = |path: &str| std::fs::read_to_string(path).expect("written");
    let request: serde_json::Value = serde_json::from_str(&read(&request)).expect("JSON");
    assert_eq!(
        (&request["job"], &request["peers"][0], &request["party"]),
        (&"sum-bob".into(), &"bob".into(), &0.into())
    );
    let result: serde_json::Value = serde_json::from_str(&read(&result)).expect("JSON");
    assert_eq!((&result["outputs"]["out0"]["value"], &result["id"]), (&(PLANTED + 9).into(), &request["id"]));
}

#[test]
fn files_are_there_before_a_caller_and_what_has_to_be_waited_for_is_held_until_a_beat() {
    let company = Company::new("service-beat");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    let file = rule("bob", "often = { total = 9 }\ninputs = { file = \"own.json\", beat = \"60s\" }\n");
    let own = company.folder.path("own.json");
    let command = format!("often = {{ total = 9 }}\ninputs = {{ exec = [\"cat\", \"{own}\"], beat = \"2s\" }}\n");
    let command = rule("carol", &command);
    company.configure("", &[file, command].concat());
    let service = company.start();
    // Callers give up after 20 seconds: what was read before is not held. A file settles in a second.
    let settled = || std::thread::sleep(std::time::Duration::from_millis(2_500));
    settled();
    is_sum(&finish(company.call("bob", 9, &service, &[])), 9);
    company.folder.file("own.json", &format!("{{\"a\": {}}}", PLANTED + 1));
    settled();
    is_sum(&finish(company.call("bob", 9, &service, &[])), 10);
    let begin = std::time::Instant::now();
    is_sum(&finish(company.call("carol", 9, &service, &[])), 10);
    assert!(begin.elapsed() >= std::time::Duration::from_secs(2));
}

#[test]
fn a_command_that_hangs_fails_or_prints_garbage_gives_no_inputs_and_none_of_it_is_logged() {
    for (text, reason) in [
        ("sleep 60", "took longer than 0.3 s, and was ended"),
        ("echo secretive; exit 4", "exit status: 4"),
        ("echo '{\"a\": \"secretive\"}'", "are not the inputs of party 0"),
        ("printf '\\377secretive'", "no text in UTF-8"),
    ] {
        let company = Company::new("service-exec-wrong");
        company.trust("bob");
        script(&company, "give", text);
        let fields = "often = { total = 1 }\ninputs = { exec = [\"./give\"], time = \"300ms\" }\n";
        company.configure("", &rule("bob", fields));
        let mut service = company.start();
        // Nothing is counted for it.
        for _ in 0..2 {
            company.is_refused("bob", &service, "it has no inputs for this run", ASK);
        }
        let line = service.wait_for("no inputs");
        assert!(line.contains(reason), "{line}");
        assert!(!service.log().contains("secretive"), "{}", service.log());
    }
}

#[test]
fn folders_have_a_file_for_each_peer_or_job() {
    for (by, file) in [("peer", "bob.json"), ("job", "sum-bob.json")] {
        let company = Company::new("service-folder");
        company.trust("bob");
        std::fs::create_dir_all(company.folder.path("inputs")).expect("a folder");
        let fields = format!("often = {{ total = 9 }}\ninputs = {{ folder = \"inputs\", named_by = \"{by}\" }}\n");
        company.configure("", &rule("bob", &fields));
        let mut service = company.start();
        company.is_refused("bob", &service, "it has no inputs for this run", ASK);
        assert!(service.wait_for("no inputs").contains(&format!("there is no {file} or")), "{}", service.log());
        company.folder.file(&format!("inputs/{file}"), &format!("{{\"a\": {PLANTED}}}"));
        is_sum(&finish(company.call("bob", 3, &service, &[])), 3);
    }
}

#[test]
fn a_caller_fills_the_store_of_its_rule_and_draws_on_it() {
    let company = with_stored_job("service-store");
    let [out, store, key, identity] =
        ["jobs/stored.toml", "store-bob", "bob.key", "bob.pem"].map(|name| company.folder.path(name));
    let fields = "job = \"stored\"\npeers = [\"bob\"]\noften = { total = 9 }\ninputs = { file = \"own.json\" }\n";
    let stock = "store = \"store-service\"\nstock = { triples = 600, masks = 300 }\n";
    company.configure("", &format!("[[rule]]\n{fields}{stock}{}", rule("bob", "")));
    let mut service = company.start();
    let way = ["--connect", &service.address, "--identity", &identity, "--peer", &company.fingerprint];
    let own = ["--store", &store, "--store-key", &key, "--party", "1"];
    let fill = ["prepare", "--job", &out, "--stock", "triples=600", "--stock", "masks=300"];
    let filled = finish(company.begin(&[&fill[..], &own, &way].concat()));
    assert_eq!(filled.status, Some(0), "{} {}", filled.stderr, service.log());
    let stored = ["--store", &store, "--store-key", &key];
    is_sum(&finish(company.call_under(&out, ("bob", 8), &service, &stored)), 8);
    service.wait_for("job=\"stored\"");
}

#[test]
fn a_service_refills_its_store_with_another_when_it_runs_low() {
    let company = with_stored_job("service-refill");
    let folder = &company.folder;
    let [out, jobs, trust] = ["jobs/stored.toml", "jobs-bob", "trust-bob.toml"].map(|name| folder.path(name));
    std::fs::create_dir(&jobs).expect("a folder");
    std::fs::copy(&out, format!("{jobs}/stored.toml")).expect("copied");
    assert_eq!(garblet(&["trust", "add", "service", &company.fingerprint, "--trust", &trust]).status, Some(0));
    let stock = "stock = { triples = 600, masks = 300 }\n";
    folder.file("b.json", "{\"b\": 1}");
    let rule = "[[rule]]\njob = \"stored\"\noften = { total = 9 }\n";
    folder.file(
        "bob.toml",
        &format!(
            "listen = \"127.0.0.1:0\"\nidentity = \"bob.pem\"\ntrust = \"trust-bob.toml\"\njobs = \"jobs-bob\"\nstate = \"state-bob\"\n\
             key = \"bob.key\"\n{rule}peers = [\"service\"]\ninputs = {{ file = \"b.json\" }}\nstore = \"store-bob\"\n{stock}"
        ),
    );
    let bob = company.start_as("bob.toml", "log-bob");
    let refill = format!("refill = {{ at = \"{}\", below = 100, every = \"500ms\" }}\n", bob.address);
    let own = "inputs = { file = \"own.json\" }\nstore = \"store-service\"\n";
    company.configure("", &format!("{rule}peers = [\"bob\"]\n{own}{stock}{refill}"));
    let service = company.start();
    service.wait_for_all(" done session=", 2);
    let drawn = ["--store", &folder.path("store-bob"), "--store-key", &folder.path("bob.key")];
    is_sum(&finish(company.call_under(&out, ("bob", 8), &service, &drawn)), 8);
    service.wait_for_all(" done session=", 5);
    is_sum(&finish(company.call_under(&out, ("bob", 9), &service, &drawn)), 9);
    let log = service.log() + &bob.log();
    assert!(!log.contains("failed session=") && !log.contains("not all is well"), "{log}");
}

/// A service and bob, with a job for which stores are filled.
fn with_stored_job(name: &str) -> Company {
    let company = Company::new(name);
    company.trust("bob");
    let [out, identity] = ["jobs/stored.toml", "bob.pem"].map(|name| company.folder.path(name));
    let bob = garblet(&["id", &identity]).stdout;
    let parties = [format!("service={}", company.fingerprint), format!("bob={}", bob.trim())];
    let job = ["job", "new", &company.program, "--protocol", "authenticated", "--out", &out];
    let ran = garblet(&[&job[..], &["--party", &parties[0], "--party", &parties[1]]].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    company
}
