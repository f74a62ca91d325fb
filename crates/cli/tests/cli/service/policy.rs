//! Rules: who may run which job, and how often.

use std::{io::Write, net::TcpStream, path::Path};

use super::{Company, PLANTED, is_sum, rule};
use crate::{
    identities::keygen,
    invocation::{finish, garblet, start},
};

const ASK: &str = "its operator limits the runs: ask for more, or wait if more are allowed later";

#[test]
fn callers_compute_side_by_side_among_strangers_and_no_value_is_logged() {
    let company = Company::new("service-callers");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure("", &[rule("bob", ""), rule("carol", "")].concat());
    let service = company.start();
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(&service.address).expect("listens")).collect();
    let mut garbage = TcpStream::connect(&service.address).expect("listens");
    garbage.write_all(&[0x55; 4_000]).expect("sent");
    keygen(&company.folder, "mallory.pem");
    let stranger = company.call("mallory", 1, &service, &[]);
    let numbers = 1_000_001..1_000_004;
    let calls: Vec<_> =
        numbers.flat_map(|n| ["bob", "carol"].map(|name| (n, company.call(name, n, &service, &[])))).collect();
    for (number, call) in calls {
        is_sum(&finish(call), number);
    }
    let stranger = finish(stranger);
    assert_eq!(stranger.status, Some(1), "{}", stranger.stderr);
    let log = service.wait_for_all(" done session=", 6);
    assert!(log.contains("the peer is unknown"), "{log}");
    let then = format!("--trust {}, and then send the service SIGHUP", company.folder.path("trust.toml"));
    assert!(log.contains(&then), "the file that it reads: {log}");
    for value in [PLANTED, PLANTED + 1_000_001, 1_000_001] {
        assert!(!log.contains(&value.to_string()), "{log}");
    }
    let begin = std::time::Instant::now();
    let results = loop {
        let files = std::fs::read_dir(company.folder.path("results")).expect("a folder");
        let names = files.map(|entry| entry.expect("a file").path()).filter(|path| path.extension().is_some());
        let results: Vec<String> = names.map(|path| std::fs::read_to_string(path).expect("text")).collect();
        if results.len() == 6 {
            break results;
        }
        // The results are delivered after that.
        assert!(begin.elapsed().as_secs() < 60, "{results:?}");
    };
    let expected = format!("\"value\": {}", PLANTED + 1_000_001);
    assert_eq!(results.iter().filter(|text| text.contains(&expected)).count(), 2, "{results:?}");
    drop(silent);
}

#[test]
fn unknown_jobs_and_jobs_without_a_rule_are_refused() {
    let company = Company::new("service-refused");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure("", &rule("bob", ""));
    let service = company.start();
    let ask = "give --job FILE, the same job as the peer's (compare `garblet job show`); the peer's operator decides who may run it";
    let unknown = "it has no such job for us, or we named no job";
    // Both get the same answer, so that nobody discovers other peers' jobs.
    company.is_refused("carol", &service, unknown, ask);
    let identity = company.folder.path("bob.pem");
    let other = company.folder.file("other.garble.rs", "pub fn main(a: u32, b: u32) -> u32 {\n    a ^ b\n}\n");
    let input = format!("1={}", company.folder.file("b.json", "{\"b\": 1}"));
    let run =
        ["run", &other, "--party", "1", "--input", &input, "--connect", &service.address, "--identity", &identity];
    let ran = finish(start(&[&run[..], &["--peer", &company.fingerprint]].concat()));
    ran.fails(1, &format!("error: the peer refuses: {unknown}\nhint: {ask}\n"));
    let log = service.log();
    assert!(log.contains("reason=\"not-allowed\"") && log.contains("reason=\"unknown-job\""), "{log}");
    let digest = garblet(&["job", "check", &company.job("carol"), "--json"]).stdout;
    let digest = serde_json::from_str::<serde_json::Value>(&digest).expect("JSON")["job"].clone();
    let carol = format!("asked=\"job {} under yao, here sum-carol\"", digest.as_str().expect("a digest"));
    assert!(log.contains(&carol), "{carol}: {log}");
    let unknown = log.lines().find(|line| line.contains("unknown-job")).expect("a line");
    assert!(unknown.contains("asked=\"program ") && unknown.contains(" under yao, without a job\""), "{unknown}");
}

#[test]
fn a_rule_limits_runs_and_a_killed_service_has_counted_them() {
    let company = Company::new("service-often");
    company.trust("bob");
    // The results go to a program that never ends, so that the service is killed between the count and the end.
    let hangs = "often = { peer_total = 2 }\ninputs = { file = \"own.json\" }\nresults = { exec = [\"sleep\", \"60\"], time = \"60s\" }\n";
    company.configure("", &rule("bob", hangs));
    let service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    service.kill();
    let mut service = company.start();
    is_sum(&finish(company.call("bob", 6, &service, &[])), 6);
    company.is_refused("bob", &service, "the job has used up all its runs", ASK);
    service.wait_for("reason=\"used-up\"");
    // Neither a new day nor a second service with the same counters adds runs.
    let second = company.does_not_begin();
    assert!(second.status == Some(1) && second.stderr.contains("is in use by process"), "{}", second.stderr);
}

#[test]
fn a_day_has_its_own_limit_and_the_caller_is_told_when_it_ends() {
    let company = Company::new("service-day");
    company.trust("bob");
    company.configure("", &rule("bob", "often = { per_day = 1 }\ninputs = { file = \"own.json\" }\n"));
    let service = company.start();
    is_sum(&finish(company.call("bob", 7, &service, &[])), 7);
    let ran = finish(company.call("bob", 7, &service, &[]));
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("the job has used up its runs; more are allowed in "), "{}", ran.stderr);
}

#[test]
fn damaged_counters_stop_a_service_from_starting() {
    let company = Company::new("service-damaged");
    company.trust("bob");
    company.configure("", &rule("bob", ""));
    company.start().kill();
    std::fs::write(company.folder.path("state/counters/index.sqlite"), [7; 4_000]).expect("written");
    let _ = std::fs::remove_file(company.folder.path("state/counters/index.sqlite-wal"));
    let ran = company.does_not_begin();
    assert!(ran.status != Some(0) && ran.stderr.contains("error: "), "{}", ran.stderr);
}

#[test]
fn both_sides_write_matching_receipts_even_for_a_refusal() {
    let company = Company::new("service-receipts");
    company.trust("bob");
    company.configure("", &rule("bob", "often = { total = 1 }\ninputs = { file = \"own.json\" }\n"));
    let service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    company.is_refused("bob", &service, "the job has used up all its runs", ASK);
    let [ours, theirs] = ["state/receipts.jsonl", "bob.receipts"].map(|log| company.folder.path(log));
    // Refusals are recorded in the background.
    let begin = std::time::Instant::now();
    while std::fs::read_to_string(&ours).expect("a log").lines().count() < 2 {
        assert!(begin.elapsed().as_secs() < 60, "{}", service.log());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let compared = garblet(&["receipts", "compare", &ours, &theirs]);
    assert_eq!(compared.status, Some(0), "{}{}", compared.stdout, compared.stderr);
    let text = std::fs::read_to_string(&ours).expect("a log");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("the caller was refused: used-up"), "{text}");
    assert!(!text.contains(&PLANTED.to_string()) && !text.contains(&(PLANTED + 5).to_string()), "{text}");
}

#[test]
fn a_service_that_cannot_write_receipts_begins_no_run_until_it_can() {
    let company = Company::new("service-receipts-broken");
    company.trust("bob");
    company.configure("receipts = \"kept/receipts.jsonl\"\n", &rule("bob", ""));
    let mut service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    service.wait_for("done session=");
    let log = company.folder.path("kept/receipts.jsonl");
    let good = std::fs::read(&log).expect("a log");
    std::fs::write(&log, "no receipt\n").expect("written");
    let hint = "tell its operator, whose log says what is wrong";
    company.is_refused("bob", &service, "it refuses everybody until its operator fixes a problem", hint);
    let told = service.wait_for("THE LOG OF RECEIPTS CANNOT BE CONTINUED");
    assert!(told.contains("kept/receipts.jsonl: the last line: not a receipt"), "{told}");
    assert!(told.contains("hint=\"`garblet receipts verify` checks every line"), "{told}");
    std::fs::write(&log, good).expect("written");
    is_sum(&finish(company.call("bob", 6, &service, &[])), 6);
}

#[test]
fn restored_or_missing_counters_stop_a_service_from_starting() {
    let company = Company::new("service-put-back");
    company.trust("bob");
    company.configure("", &rule("bob", "often = { total = 1 }\ninputs = { file = \"own.json\" }\n"));
    company.start().kill();
    let check = || finish(company.begin(&["serve", "--config", &company.folder.path("serve.toml"), "--check"]));
    let [state, old, lost] = ["state", "old", "lost"].map(|name| company.folder.path(name));
    let copied = std::process::Command::new("cp").args(["-a", &state, &old]).status().expect("cp starts");
    assert!(copied.success());
    let service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    service.kill();
    std::fs::rename(&state, &lost).expect("moved");
    for ran in [company.does_not_begin(), check()] {
        assert!(ran.status == Some(1) && ran.stderr.contains("this service's counters are gone"), "{}", ran.stderr);
    }
    std::fs::rename(&old, &state).expect("moved");
    let ran = company.does_not_begin();
    assert!(ran.status != Some(0) && ran.stderr.contains("is older than its record"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: restore their latest state; "), "{}", ran.stderr);
    std::fs::remove_dir_all(&state).expect("there");
    std::fs::rename(&lost, &state).expect("moved");
    let [key, elsewhere] = ["state.key", "other.key"].map(|name| company.folder.path(name));
    std::fs::rename(&key, &elsewhere).expect("moved");
    for ran in [company.does_not_begin(), check()] {
        assert!(ran.status == Some(1) && ran.stderr.contains("state.key: no such key, but "), "{}", ran.stderr);
    }
    assert!(!Path::new(&key).exists(), "no other key takes its place");
    std::fs::rename(&elsewhere, &key).expect("moved");
    assert_eq!(check().status, Some(0), "the counters are as they were");
    let service = company.start();
    company.is_refused("bob", &service, "the job has used up all its runs", ASK);
}

#[test]
fn a_caller_out_of_runs_costs_nothing() {
    let company = Company::new("service-flood");
    company.trust("bob");
    let inputs = "inputs = { exec = [\"sh\", \"-c\", \"echo x >> asked; cat own.json\"] }\n";
    let inputs =
        inputs.replace("asked", &company.folder.path("asked")).replace("own.json", &company.folder.path("own.json"));
    company.configure("", &rule("bob", &format!("often = {{ total = 1 }}\n{inputs}")));
    let service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    for _ in 0..8 {
        company.is_refused("bob", &service, "the job has used up all its runs", ASK);
    }
    let read = |name: &str| std::fs::read_to_string(company.folder.path(name)).expect("written");
    assert_eq!(read("asked").lines().count(), 1, "the operator's program runs only for callers that may run the job");
    assert_eq!(service.log().matches("reason=\"used-up\"").count(), 1, "the same is written down once a minute");
    assert_eq!(service.log().matches("begins session=").count(), 1);
    // Wait for records in progress.
    service.signal(rustix::process::Signal::TERM);
    service.ended();
    assert_eq!(read("state/receipts.jsonl").lines().count(), 2);
}

#[test]
fn peers_of_a_rule_are_parties_of_its_job() {
    let company = Company::new("service-other-peers");
    ["bob", "eve"].iter().for_each(|name| company.trust(name));
    company.configure("", &rule("bob", "").replace("[\"bob\"]", "[\"bob\", \"eve\"]"));
    let ran = company.does_not_begin();
    assert!(ran.status == Some(2) && ran.stderr.contains("peers: eve, "), "{}", ran.stderr);
    assert!(ran.stderr.contains("is not one of the other parties of sum-bob"), "{}", ran.stderr);
}

#[test]
fn a_store_is_for_one_peer() {
    let company = Company::new("service-one-store");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    let identities = ["bob", "carol"].map(|name| garblet(&["id", &company.folder.path(&format!("{name}.pem"))]).stdout);
    for (name, identity) in ["bob", "carol"].iter().zip(&identities) {
        let parties = [format!("service={}", company.fingerprint), format!("{name}={}", identity.trim())];
        let out = company.folder.path(&format!("jobs/stored-{name}.toml"));
        let new = ["job", "new", &company.program, "--protocol", "authenticated", "--out", &out];
        assert_eq!(garblet(&[&new[..], &["--party", &parties[0], "--party", &parties[1]]].concat()).status, Some(0));
    }
    std::fs::create_dir(company.folder.path("store")).expect("a folder");
    let rule = |name: &str, store: &str| {
        let stock = format!("store = \"{store}\"\nstock = {{ triples = 600 }}\n");
        let fields = format!("often = {{ total = 9 }}\ninputs = {{ file = \"own.json\" }}\n{stock}");
        rule(name, &fields).replace("sum-", "stored-")
    };
    for (store, expected) in [("store", Some(2)), ("./jobs/../store", Some(2)), ("store-carol", Some(0))] {
        let file = company.configure("", &[rule("bob", "store"), rule("carol", store)].concat());
        let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
        assert_eq!(ran.status, expected, "{store}: {}", ran.stderr);
        let is_told = ran.stderr.contains(&format!("another rule uses it for the peer {}", identities[0].trim()));
        assert_eq!(is_told, expected == Some(2), "{store}: {}", ran.stderr);
    }
    // Rules for one peer may share it, but only under one path.
    for (store, expected) in [("store", Some(0)), ("./jobs/../store", Some(2))] {
        let file = company.configure("", &[rule("bob", "store"), rule("bob", store)].concat());
        let ran = finish(company.begin(&["serve", "--config", &file, "--check"]));
        assert_eq!(ran.status, expected, "{store}: {}", ran.stderr);
        assert_eq!(ran.stderr.contains("another rule calls it "), expected == Some(2), "{store}: {}", ran.stderr);
    }
}

#[test]
fn a_caller_without_data_leaves_little_behind() {
    let company = Company::new("service-no-data");
    company.trust("bob");
    company.configure("", &rule("bob", "often = { total = 1 }\ninputs = { folder = \"none\" }\n"));
    let service = company.start();
    for _ in 0..6 {
        company.is_refused(
            "bob",
            &service,
            "it lacks inputs or prepared material for this run",
            "its operator's log says what is missing",
        );
    }
    let receipts = std::fs::read_to_string(company.folder.path("state/receipts.jsonl")).expect("a log");
    assert_eq!(
        (receipts.lines().count(), service.log().matches(" refused session=").count()),
        (1, 1),
        "{}",
        service.log()
    );
}

#[test]
fn a_store_with_other_contents_is_not_taken_for_counters() {
    let company = Company::new("service-others");
    company.trust("bob");
    company.configure("", &rule("bob", ""));
    company.start().kill();
    let [state, first] = ["state", "first"].map(|name| company.folder.path(name));
    std::fs::rename(&state, &first).expect("moved");
    let text = std::fs::read_to_string(company.folder.path("serve.toml")).expect("a configuration");
    company.folder.file("serve.toml", &text.replace("state = \"state\"", "state = \"other\""));
    company.start().kill();
    std::fs::rename(company.folder.path("other"), &state).expect("moved");
    company.folder.file("serve.toml", &text);
    let ran = company.does_not_begin();
    assert!(ran.status == Some(1) && ran.stderr.contains("are not this service's counters"), "{}", ran.stderr);
}

#[test]
fn callers_can_connect_through_a_websocket() {
    let company = Company::new("service-websocket");
    company.trust("bob");
    let file = company.configure("", &rule("bob", ""));
    let text = std::fs::read_to_string(&file).expect("written");
    company.folder.file("serve.toml", &text.replace("127.0.0.1:0", "ws://127.0.0.1:0"));
    let mut service = company.start();
    service.address = format!("ws://{}", service.address);
    is_sum(&finish(company.call("bob", 7, &service, &[])), 7);
    let plain = text
        .replace("127.0.0.1:0", "ws://127.0.0.1:0")
        .replace("identity = \"service.pem\"\ntrust = \"trust.toml\"\n", "");
    let plain = company.folder.file("plain.toml", &format!("insecure_plain_tcp = true\n{plain}"));
    let ran = garblet(&["serve", "--config", &plain]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("ws://127.0.0.1:0 is open to every web page in a browser on this machine"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("hint: leave insecure_plain_tcp out, and give identity and trust"), "{}", ran.stderr);
}
