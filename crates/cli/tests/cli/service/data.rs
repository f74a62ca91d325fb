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
fn the_operators_commands_give_inputs_and_accept_results() {
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
    // The result is delivered after that.
    let begin = std::time::Instant::now();
    while !std::fs::read_to_string(&result).is_ok_and(|text| text.ends_with("}\n")) {
        assert!(begin.elapsed().as_secs() < 60, "{}", service.log());
    }
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
fn files_are_read_ahead_and_answers_that_must_wait_leave_on_a_beat() {
    let company = Company::new("service-beat");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    let file = rule("bob", "often = { total = 9 }\ninputs = { file = \"own.json\", beat = \"60s\" }\n");
    let own = company.folder.path("own.json");
    let command = format!("often = {{ total = 9 }}\ninputs = {{ exec = [\"cat\", \"{own}\"], beat = \"2s\" }}\n");
    let command = rule("carol", &command);
    company.configure("", &[file, command].concat());
    let service = company.start();
    // Callers give up after 20 seconds, so files read earlier are not held back. A file settles in a second.
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
fn a_hanging_failing_or_wrong_command_gives_no_inputs_and_its_output_is_not_logged() {
    for (text, reason) in [
        ("sleep 60", "took longer than 0.3 s and was killed"),
        ("echo secretive; exit 4", "exit status: 4"),
        ("echo '{\"a\": \"secretive\"}'", ": not the inputs of party 0"),
        ("printf '\\377secretive'", "not UTF-8 text"),
    ] {
        let company = Company::new("service-exec-wrong");
        company.trust("bob");
        script(&company, "give", text);
        let fields = "often = { total = 1 }\ninputs = { exec = [\"./give\"], time = \"300ms\" }\n";
        company.configure("", &rule("bob", fields));
        let mut service = company.start();
        // The call is not counted.
        for _ in 0..2 {
            company.is_refused("bob", &service, "it lacks inputs or prepared material for this run", ASK);
        }
        let line = service.wait_for("no inputs");
        assert!(line.contains(reason), "{line}");
        assert!(!service.log().contains("secretive"), "{}", service.log());
    }
}

#[test]
fn a_failing_command_is_not_started_for_every_caller() {
    let company = Company::new("service-exec-rest");
    company.trust("bob");
    let starts = company.folder.path("starts");
    script(&company, "give", &format!("echo x >> {starts}; exit 1"));
    company.configure("", &rule("bob", "often = { total = 9 }\ninputs = { exec = [\"./give\"], beat = \"100ms\" }\n"));
    let service = company.start();
    for _ in 0..8 {
        company.is_refused("bob", &service, "it lacks inputs or prepared material for this run", ASK);
    }
    let started = std::fs::read_to_string(&starts).expect("it was started").lines().count();
    assert!(started <= 4, "{started} starts for 8 callers");
    script(&company, "give", &format!("echo '{{\"a\": {PLANTED}}}'"));
    let begin = std::time::Instant::now();
    while finish(company.call("bob", 9, &service, &[])).status != Some(0) {
        assert!(begin.elapsed().as_secs() < 90, "{}", service.log());
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
}

#[test]
fn a_command_is_not_started_for_every_caller_that_leaves_before_its_run() {
    let company = with_stored_job("service-exec-leaves");
    let [job, store, key, starts] =
        ["jobs/stored.toml", "store-bob", "bob.key", "starts"].map(|name| company.folder.path(name));
    script(&company, "give", &format!("echo x >> {starts}; echo '{{\"a\": {PLANTED}}}'"));
    let fields = "often = { total = 9 }\ninputs = { exec = [\"./give\"], beat = \"100ms\" }\n";
    company.configure("", &format!("[[rule]]\njob = \"stored\"\npeers = [\"bob\"]\n{fields}"));
    let service = company.start();
    let made = garblet(&["store", "init", &store, "--store-key", &key]);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    // A caller with a store disagrees with a service that has none: each says hello, and the caller leaves.
    let stored = ["--store", &store, "--store-key", &key, "--top-up"];
    for _ in 0..8 {
        assert_eq!(finish(company.call_under(&job, ("bob", 8), &service, &stored)).status, Some(1));
    }
    let started = || std::fs::read_to_string(&starts).expect("it was started").lines().count();
    assert!((1..=5).contains(&started()), "{} starts for 8 callers", started());
    assert!(service.log().contains("it failed, or its caller left before the run"), "{}", service.log());
    let begin = std::time::Instant::now();
    while finish(company.call_under(&job, ("bob", 9), &service, &[])).status != Some(0) {
        assert!(begin.elapsed().as_secs() < 90, "{}", service.log());
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    // A counted run ends the pauses.
    is_sum(&finish(company.call_under(&job, ("bob", 9), &service, &[])), 9);
}

#[test]
fn a_caller_with_the_right_job_that_disagrees_uses_up_no_run() {
    let company = with_stored_job("service-differs");
    let [job, store, key] = ["jobs/stored.toml", "store-bob", "bob.key"].map(|name| company.folder.path(name));
    let rule =
        "[[rule]]\njob = \"stored\"\npeers = [\"bob\"]\noften = { total = 1 }\ninputs = { file = \"own.json\" }\n";
    company.configure("", rule);
    let mut service = company.start();
    let made = garblet(&["store", "init", &store, "--store-key", &key]);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    // The caller has a store and the service has none.
    for _ in 0..3 {
        let ran = finish(company.call_under(
            &job,
            ("bob", 8),
            &service,
            &["--store", &store, "--store-key", &key, "--top-up"],
        ));
        assert!(ran.status == Some(1) && ran.stderr.contains("the peer does not agree with us"), "{}", ran.stderr);
    }
    assert!(service.wait_for("failed session=").contains("does not agree with us"), "{}", service.log());
    assert_eq!(service.log().matches("failed session=").count(), 1, "it is free, and written down once a minute");
    assert_eq!(service.log().matches("begins session=").count(), 0, "{}", service.log());
    is_sum(&finish(company.call_under(&job, ("bob", 9), &service, &[])), 9);
    let again = finish(company.call_under(&job, ("bob", 9), &service, &[]));
    assert!(again.stderr.contains("the job has used up all its runs"), "{}", again.stderr);
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
        company.is_refused("bob", &service, "it lacks inputs or prepared material for this run", ASK);
        assert!(service.wait_for("no inputs").contains(&format!("no {file} or")), "{}", service.log());
        company.folder.file(&format!("inputs/{file}"), &format!("{{\"a\": {PLANTED}}}"));
        is_sum(&finish(company.call("bob", 3, &service, &[])), 3);
        // Two files for one caller are ambiguous.
        company.folder.file(&format!("inputs/{}", file.replace(".json", ".csv")), "a\n1\n");
        company.is_refused("bob", &service, "it lacks inputs or prepared material for this run", ASK);
    }
}

#[test]
fn a_caller_fills_the_store_of_its_rule_and_uses_it() {
    let company = with_stored_job("service-store");
    let [out, store, key, identity] =
        ["jobs/stored.toml", "store-bob", "bob.key", "bob.pem"].map(|name| company.folder.path(name));
    let fields = "job = \"stored\"\npeers = [\"bob\"]\noften = { total = 9 }\ninputs = { file = \"own.json\" }\n";
    let stock = "store = \"store-service\"\nstock = { triples = 600, masks = 300 }\n";
    company.configure("", &format!("[[rule]]\n{fields}{stock}{}", rule("bob", "")));
    let mut service = company.start();
    let way = ["--connect", &service.address, "--identity", &identity, "--peer", &company.fingerprint];
    let stored = ["--store", &store, "--store-key", &key];
    // The job says which party has this identity.
    let fill = ["prepare", "--job", &out, "--stock", "triples=600", "--stock", "masks=300"];
    let filled = finish(company.begin(&[&fill[..], &stored, &way].concat()));
    assert_eq!(filled.status, Some(0), "{} {}", filled.stderr, service.log());
    is_sum(&finish(company.call_under(&out, ("bob", 8), &service, &stored)), 8);
    service.wait_for("job=\"stored\"");
}

#[test]
fn an_unusable_or_short_store_costs_no_run_and_is_logged() {
    let company = with_stored_job("service-short-store");
    let [out, store, key, identity, own] =
        ["jobs/stored.toml", "store-bob", "bob.key", "bob.pem", "store-service"].map(|name| company.folder.path(name));
    let fields = "job = \"stored\"\npeers = [\"bob\"]\noften = { total = 1 }\ninputs = { file = \"own.json\" }\n";
    let stock = "store = \"store-service\"\nstock = { triples = 600, masks = 300 }\n";
    company.configure("", &format!("[[rule]]\n{fields}{stock}"));
    let service = company.start();
    let made = garblet(&["store", "init", &store, "--store-key", &key]);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let stored = ["--store", &store, "--store-key", &key];
    let refused = || {
        let ran = finish(company.call_under(&out, ("bob", 8), &service, &stored));
        ran.fails(
            1,
            &format!("error: the peer refuses: it lacks inputs or prepared material for this run\nhint: {ASK}\n"),
        );
    };
    refused();
    // Something that is not a store is in its place.
    let index = format!("{own}/index.sqlite");
    std::fs::create_dir(&own).and_then(|()| std::fs::write(&index, [7; 4_000])).expect("written");
    (0..2).for_each(|_| refused());
    std::fs::remove_dir_all(&own).expect("there");
    let made = garblet(&["store", "init", &own, "--store-key", &company.folder.path("state.key")]);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    (0..3).for_each(|_| refused());
    // Some pieces, but too few.
    let way = ["--connect", &service.address, "--identity", &identity, "--peer", &company.fingerprint];
    let fill = |triples: &str, masks: &str| {
        let fill = ["prepare", "--job", &out, "--stock", triples, "--stock", masks, "--party", "1"];
        let filled = finish(company.begin(&[&fill[..], &stored, &way].concat()));
        assert_eq!(filled.status, Some(0), "{} {}", filled.stderr, service.log());
    };
    company.configure("", &format!("[[rule]]\n{fields}{}", stock.replace("600", "16").replace("300", "16")));
    service.signal(rustix::process::Signal::HUP);
    service.wait_for_all("the new configuration is in force", 1);
    fill("triples=16", "masks=16");
    (0..2).for_each(|_| refused());
    for (what, reason) in [
        (" no store session=", "no store in "),
        (" the store cannot be used session=", "store-service"),
        (" the store holds too little session=", "triples"),
    ] {
        let log = service.wait_for_all(what, 1);
        assert!(log.lines().any(|line| line.contains(what) && line.contains(reason)), "{log}");
    }
    assert!(!service.log().contains(" no inputs session="), "{}", service.log());
    assert!(!service.log().contains(" begins session="), "none of them was counted: {}", service.log());
    company.configure("", &format!("[[rule]]\n{fields}{stock}"));
    service.signal(rustix::process::Signal::HUP);
    service.wait_for_all("the new configuration is in force", 2);
    fill("triples=600", "masks=300");
    is_sum(&finish(company.call_under(&out, ("bob", 8), &service, &stored)), 8);
}

#[test]
fn a_session_that_waits_for_a_store_takes_no_place() {
    let company = with_stored_job("service-store-waits");
    company.trust("carol");
    let [out, store, key, identity] =
        ["jobs/stored.toml", "store-bob", "bob.key", "bob.pem"].map(|name| company.folder.path(name));
    script(&company, "give", &format!("sleep 4; echo '{{\"a\": {PLANTED}}}'"));
    let fields = "job = \"stored\"\npeers = [\"bob\"]\noften = { total = 9 }\ninputs = { exec = [\"./give\"] }\n";
    let stock = "store = \"store-service\"\nstock = { triples = 600, masks = 300 }\n";
    let limits = "log.level = \"debug\"\n[limits]\nsessions = 2\n";
    company.configure(limits, &format!("[[rule]]\n{fields}{stock}{}", rule("carol", "")));
    let service = company.start();
    let way = ["--connect", &service.address, "--identity", &identity, "--peer", &company.fingerprint];
    let own = ["--store", &store, "--store-key", &key, "--party", "1"];
    let fill = ["prepare", "--job", &out, "--stock", "triples=600", "--stock", "masks=300"];
    let filled = finish(company.begin(&[&fill[..], &own, &way].concat()));
    assert_eq!(filled.status, Some(0), "{} {}", filled.stderr, service.log());
    let mut first = company.call_under(&out, ("bob", 8), &service, &["--store", &store, "--store-key", &key]);
    service.wait_for_all("has a place session=", 2);
    // The store is in use, so this session waits without a place.
    let mut second = company.call_under(&out, ("bob", 9), &service, &[]);
    std::thread::sleep(std::time::Duration::from_millis(700));
    is_sum(&finish(company.call("carol", 5, &service, &[])), 5);
    assert_eq!(service.log().matches("has a place session=").count(), 3, "{}", service.log());
    assert_eq!(first.try_wait().expect("a child"), None, "the first has not ended: {}", service.log());
    is_sum(&finish(first), 8);
    second.kill().expect("a child");
    second.wait().expect("ends");
}

#[test]
fn a_service_refills_a_low_store_with_another_service() {
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
    assert!(!log.contains("failed session=") && !log.contains("done, but with a problem"), "{log}");
}

/// A service and bob, with a job that uses stores.
pub(super) fn with_stored_job(name: &str) -> Company {
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

/// A job on lists with bob, and its rule, without `often` and `inputs`; the service's list is in `seen.csv`, out of order.
fn with_lists(name: &str) -> (Company, impl Fn(u32, &str) -> String) {
    let company = Company::new(name);
    company.trust("bob");
    let out = company.folder.path("jobs/lists.toml");
    let bob = garblet(&["id", &company.folder.path("bob.pem")]).stdout.trim().to_string();
    let parties = [format!("service={}", company.fingerprint), format!("bob={bob}")];
    let new = ["job", "new", "lib:intersection-sum(4,4,32,32)", "--party", &parties[0], "--party", &parties[1]];
    assert_eq!(garblet(&[&new[..], &["--out", &out]].concat()).status, Some(0));
    company.folder.file("seen.csv", &format!("a\n{PLANTED}\n5\n"));
    let rule = |total: u32, inputs: &str| {
        let rule = format!("[[rule]]\njob = \"lists\"\npeers = [\"bob\"]\noften = {{ total = {total} }}\n");
        format!("{rule}inputs = {{ file = \"seen.csv\"{inputs} }}\n")
    };
    (company, rule)
}

/// Bob calls for the job on lists.
fn call_with_lists(company: &Company, service: &super::Running) -> crate::invocation::Ran {
    let rows = format!("1={}", company.folder.file("rows.csv", "key,value\n5,10\n6,11\n"));
    let [job, identity] = ["jobs/lists.toml", "bob.pem"].map(|name| company.folder.path(name));
    let run = ["run", "--job", &job, "--input", &rows, "--connect", &service.address, "--identity", &identity];
    finish(company.begin(&[&run[..], &["--timeout", "20s"]].concat()))
}

const LISTS: &str = "size = 1\nsum = 10\nin_order = true\n";

#[test]
fn while_its_own_list_is_unordered_a_service_refuses_callers_uncounted() {
    let (company, rule) = with_lists("service-order");
    company.configure("", &rule(1, ""));
    let mut service = company.start();
    let line = service.wait_for("these inputs cannot be used");
    assert!(
        line.contains("seen.csv:3: input `a`, row 2: expected ascending order, each key once, got a lesser key"),
        "{line}"
    );
    assert!(line.contains("sort = true"), "{line}");
    for _ in 0..2 {
        let ran = call_with_lists(&company, &service);
        ran.fails(
            1,
            &format!("error: the peer refuses: it lacks inputs or prepared material for this run\nhint: {ASK}\n"),
        );
    }
    assert!(!service.log().contains(&PLANTED.to_string()), "{}", service.log());
    drop(service);
    company.configure("", &rule(1, ", sort = true"));
    let service = company.start();
    let ran = call_with_lists(&company, &service);
    assert_eq!(ran.stdout, LISTS, "{} {}", ran.stderr, service.log());
    drop(service);
    company
        .configure("", &super::rule("bob", "often = { total = 1 }\ninputs = { file = \"own.json\", sort = true }\n"));
    let wrong = company.does_not_begin();
    assert!(
        wrong.stderr.contains("inputs: sort: the program does not rely on the order of this party's lists"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_new_configuration_changes_the_arrangement_of_lists() {
    let (company, rule) = with_lists("service-rearrange");
    let seen = company.folder.file("seen.csv", "a\n5\n5\n");
    // A file that was written long ago is read once.
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let file = std::fs::File::options().append(true).open(seen).expect("there");
    file.set_modified(long_ago).expect("ours");
    company.configure("", &rule(9, ", sort = true"));
    let mut service = company.start();
    let line = service.wait_for("these inputs cannot be used");
    assert!(line.contains("expected each key once, got the key of row 1 again"), "{line}");
    for (at, (inputs, is_served)) in
        [(", sum_by_key = true", true), (", sort = true", false), ("", false), (", sum_by_key = true", true)]
            .into_iter()
            .enumerate()
    {
        company.configure("", &rule(9, inputs));
        service.signal(rustix::process::Signal::HUP);
        service.wait_for_all("the new configuration is in force", at + 1);
        let ran = call_with_lists(&company, &service);
        match is_served {
            true => assert_eq!(ran.stdout, LISTS, "{} {}", ran.stderr, service.log()),
            false => ran.fails(
                1,
                &format!("error: the peer refuses: it lacks inputs or prepared material for this run\nhint: {ASK}\n"),
            ),
        }
    }
    let log = service.log();
    assert!(log.contains("input `a`: of rows with the same key, all but one were left out"), "{log}");
}
