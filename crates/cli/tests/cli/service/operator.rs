//! Limits, signals and pages for the operator of a service.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Company, get, get_as, is_sum, rule, word};
use crate::invocation::finish;

const LATER: &str = "nothing was computed, and no run was counted: try again later";

/// A rule whose inputs take this long.
fn slow(name: &str, seconds: &str) -> String {
    let exec = format!("[\"sh\", \"-c\", \"sleep {seconds}; echo '{{\\\"a\\\": {}}}'\"]", super::PLANTED);
    rule(name, &format!("often = {{ total = 9 }}\ninputs = {{ exec = {exec}, time = \"60s\" }}\n"))
}

#[test]
fn callers_beyond_a_limit_are_refused_and_waiting_ones_are_served() {
    let company = Company::new("service-limits");
    ["bob", "carol", "dave"].iter().for_each(|name| company.trust(name));
    let limits = "log.level = \"debug\"\n[limits]\nsessions = 1\nwaiting = 1\nper_peer = 1\n";
    company.configure(limits, &["bob", "carol", "dave"].map(|name| slow(name, "2")).concat());
    let mut service = company.start();
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    company.is_refused("bob", &service, "we have reached its limit of sessions for one caller", LATER);
    let second = company.call("carol", 3, &service, &[]);
    std::thread::sleep(Duration::from_millis(500));
    company.is_refused("dave", &service, "it has reached its limit of sessions", LATER);
    is_sum(&finish(first), 2);
    is_sum(&finish(second), 3);
}

#[test]
fn memory_waiting_time_and_session_time_are_limits_too() {
    let company = Company::new("service-memory");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company
        .configure("log.level = \"debug\"\n[limits]\nmemory_mb = 1\n", &[slow("bob", "2"), rule("carol", "")].concat());
    let mut service = company.start();
    // If no session runs, waiting frees no memory.
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    company.is_refused("carol", &service, "it has reached its limit of sessions", LATER);
    is_sum(&finish(first), 2);
    drop(service);
    let limits = "log.level = \"debug\"\n[limits]\nsessions = 1\nwait = \"300ms\"\nsession = \"3s\"\n";
    company.configure(limits, &[slow("bob", "60"), rule("carol", "")].concat());
    let mut service = company.start();
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    company.is_refused("carol", &service, "it has reached its limit of sessions", LATER);
    assert!(service.wait_for("aborted").contains("it took too long"));
    assert_eq!(finish(first).status, Some(1));
    is_sum(&finish(company.call("carol", 3, &service, &[])), 3);
}

#[test]
fn a_stopping_service_lets_sessions_end_and_refuses_all_others() {
    let company = Company::new("service-stop");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure("log.level = \"debug\"\n", &[slow("bob", "2"), rule("carol", "")].concat());
    let mut service = company.start();
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    service.signal(Signal::TERM);
    service.wait_for("stopping");
    let again = "nothing was computed: try again when it is back";
    company.is_refused("carol", &service, "it is stopping", again);
    is_sum(&finish(first), 2);
    let (status, log) = service.ended();
    assert_eq!(status, Some(0), "{log}");
    assert!(log.contains(" done session=") && log.trim_end().ends_with("stopped"), "{log}");
}

#[test]
fn a_stopping_service_aborts_sessions_at_its_deadline() {
    let company = Company::new("service-deadline");
    company.trust("bob");
    company.configure("log.level = \"debug\"\n[limits]\nstop = \"300ms\"\n", &slow("bob", "60"));
    let mut service = company.start();
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    let begin = Instant::now();
    service.signal(Signal::INT);
    let (status, log) = service.ended();
    assert_eq!(status, Some(0), "{log}");
    assert!(begin.elapsed() < Duration::from_secs(20) && log.contains("aborting sessions"), "{log}");
    assert_eq!(finish(first).status, Some(1));
    let receipts = std::fs::read_to_string(company.folder.path("state/receipts.jsonl")).expect("a log");
    assert!(receipts.lines().count() == 1 && receipts.contains("the service was stopped"), "{receipts}");
}

#[test]
fn a_new_configuration_takes_effect_and_a_broken_one_does_not() {
    let company = Company::new("service-reload");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure("", &rule("bob", ""));
    let mut service = company.start();
    company.configure("", "[[rule]]\njob = \"sum-carol\"\npeers = [\"nobody\"]\n");
    service.signal(Signal::HUP);
    let line = service.wait_for("THE NEW CONFIGURATION IS WRONG");
    assert!(line.contains("peers: `nobody` is not trusted; trusted peers: bob, carol"), "{line}");
    is_sum(&finish(company.call("bob", 4, &service, &[])), 4);
    company.configure("", &rule("carol", ""));
    service.signal(Signal::HUP);
    service.wait_for("the new configuration is in force");
    is_sum(&finish(company.call("carol", 5, &service, &[])), 5);
    let ask = "give --job FILE, the same job as the peer's (compare `garblet job show`); the peer's operator decides who may run it";
    company.is_refused("bob", &service, "it has no such job for us, or we named no job", ask);
    assert!(service.log().contains("reason=\"not-allowed\""), "{}", service.log());
}

#[test]
fn a_change_during_a_reload_is_not_lost_and_no_port_loses_its_tls() {
    let company = Company::new("service-reload-again");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure("", &rule("bob", ""));
    let mut service = company.start();
    // Many signals, each of which finds the current file or a later one.
    for _ in 0..20 {
        service.signal(Signal::HUP);
    }
    company.configure("", &rule("carol", ""));
    service.signal(Signal::HUP);
    let begin = Instant::now();
    let served = || finish(company.call("carol", 5, &service, &[])).status == Some(0);
    while !served() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{}", service.log());
    }
    let log = service.log();
    assert!(!log.contains("insecure_plain_tcp"), "{log}");
    let address =
        format!("listen = \"{}\"\ninsecure_plain_tcp = true\njobs = \"jobs\"\nstate = \"state\"\n", service.address);
    company.folder.file("serve.toml", &address);
    service.signal(Signal::HUP);
    let line = service.wait_for("insecure_plain_tcp: restart the service to change this");
    assert!(line.contains("THE NEW CONFIGURATION IS WRONG"), "{line}");
    is_sum(&finish(company.call("carol", 6, &service, &[])), 6);
}

#[test]
fn pages_show_past_events_and_the_log_may_be_json() {
    let company = Company::new("service-pages");
    company.trust("bob");
    let fields = "metrics = \"127.0.0.1:0\"\n";
    company.configure(fields, &rule("bob", "often = { peer_total = 1 }\ninputs = { file = \"own.json\" }\n"));
    let mut service = company.start();
    let page = word(&service.wait_for("metrics are at"), "address=");
    assert!(get(&page, "/healthz").starts_with("HTTP/1.1 200") && get(&page, "/readyz").starts_with("HTTP/1.1 200"));
    assert!(get(&page, "/other").starts_with("HTTP/1.1 404"));
    // A foreign web page whose domain points here.
    for host in ["evil.example", "evil.example:9745", "127.0.0.1.evil.example", ""] {
        assert!(get_as(&page, host, "/metrics").starts_with("HTTP/1.1 4"), "{host}");
    }
    for host in ["localhost", "localhost:1", "127.0.0.1", "[::1]", "[::1]:1"] {
        assert!(get_as(&page, host, "/metrics").starts_with("HTTP/1.1 200"), "{host}");
    }
    is_sum(&finish(company.call("bob", 4, &service, &[])), 4);
    let ask = "its operator limits the runs: ask for more, or wait if more are allowed later";
    company.is_refused("bob", &service, "the job has used up all its runs", ask);
    service.wait_for("reason=\"used-up\"");
    let mut metrics = get(&page, "/metrics");
    // The metrics are updated four times a second.
    while !metrics.contains("garblet_sessions_running 0") {
        metrics = get(&page, "/metrics");
    }
    for line in [
        "garblet_sessions_total{job=\"sum-bob\",outcome=\"done\",work=\"run\"} 1",
        "garblet_refusals_total{reason=\"used-up\"} 1",
        "garblet_phase_seconds_total{phase=\"online\",work=\"run\"} ",
        "garblet_payload_bytes_total{direction=\"sent\",work=\"run\"} ",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let number = |name: &str| word(&metrics, &format!("\n{name}")).parse::<u64>().expect("a number");
    assert!(number("garblet_and_gates_total ") >= 31 && number("garblet_resident_memory_bytes ") > 1 << 20);
    drop(service);
    company.configure("log = { format = \"json\" }\n", &rule("bob", ""));
    let log = company.folder.path("log");
    let child = company.serve("serve.toml").stderr(std::fs::File::create(&log).expect("a log")).spawn();
    let mut child = child.expect("the command starts");
    let begin = Instant::now();
    let line = loop {
        let text = std::fs::read_to_string(&log).expect("a log");
        if let Some(line) = text.lines().find(|line| line.contains("listening")) {
            break line.to_string();
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{text}");
    };
    child.kill().expect("it runs");
    child.wait().expect("ends");
    let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!((&line["level"], &line["message"], &line["jobs"]), (&"INFO".into(), &"listening".into(), &1.into()));
}

#[test]
fn a_waiting_caller_that_is_revoked_is_not_served() {
    let company = Company::new("service-revoked");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    let limits = "log.level = \"debug\"\n[limits]\nsessions = 1\n";
    company.configure(limits, &[slow("bob", "4"), rule("carol", "")].concat());
    let mut service = company.start();
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    let second = company.call("carol", 3, &service, &[]);
    std::thread::sleep(Duration::from_millis(700));
    company.configure(limits, &slow("bob", "4"));
    service.signal(Signal::HUP);
    let ask = "give --job FILE, the same job as the peer's (compare `garblet job show`); the peer's operator decides who may run it";
    let refused = "error: the peer refuses: it has no such job for us, or we named no job\n";
    finish(second).fails(1, &format!("{refused}hint: {ask}\n"));
    is_sum(&finish(first), 2);
}

#[test]
fn a_rejected_result_is_offered_again_and_the_service_is_not_ready() {
    let company = Company::new("service-unhanded");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure(
        "metrics = \"127.0.0.1:0\"\n",
        &[rule("bob", ""), rule("carol", "often = { total = 9 }\ninputs = { file = \"own.json\" }\n")].concat(),
    );
    company.folder.file("results", "no folder");
    let mut service = company.start();
    let page = word(&service.wait_for("metrics are at"), "address=");
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    service.wait_for("A RESULT COULD NOT BE DELIVERED");
    assert!(service.log().contains(" done session="), "{}", service.log());
    assert!(
        get(&page, "/readyz").starts_with("HTTP/1.1 503")
            && get(&page, "/metrics").contains("garblet_results_waiting 1")
    );
    let hint = "tell its operator, whose log says what is wrong";
    company.is_refused("bob", &service, "it refuses everybody until its operator fixes a problem", hint);
    is_sum(&finish(company.call("carol", 6, &service, &[])), 6);
    std::fs::remove_file(company.folder.path("results")).expect("there");
    service.wait_for("the result was delivered");
    assert!(get(&page, "/readyz").starts_with("HTTP/1.1 200"));
    let results = std::fs::read_dir(company.folder.path("results")).expect("a folder").count();
    assert_eq!(results, 1);
    is_sum(&finish(company.call("bob", 7, &service, &[])), 7);
    let receipts = std::fs::read_to_string(company.folder.path("state/receipts.jsonl")).expect("a log");
    assert!(receipts.matches("\"ended\":{\"ok\"").count() >= 2, "{receipts}");
}

#[test]
fn a_waiting_result_goes_where_the_new_configuration_says() {
    let company = Company::new("service-new-sink");
    company.trust("bob");
    company.configure("", &rule("bob", ""));
    company.folder.file("results", "no folder");
    let mut service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    service.wait_for("A RESULT COULD NOT BE DELIVERED");
    // A second destination that also refuses is reported too.
    company.folder.file("second-place", "no folder");
    for (folder, said) in [("second-place", "second-place"), ("others", "the result was delivered")] {
        let to = format!("results = {{ folder = \"{folder}\" }}");
        company.configure("", &rule("bob", "").replace("results = { folder = \"results\" }", &to));
        service.signal(Signal::HUP);
        let line = service.wait_for(said);
        assert!(folder == "others" || line.contains("A RESULT COULD NOT BE DELIVERED"), "{line}");
    }
    assert_eq!(std::fs::read_dir(company.folder.path("others")).expect("a folder").count(), 1);
    is_sum(&finish(company.call("bob", 7, &service, &[])), 7);
}

#[test]
fn a_locked_receipt_log_does_not_delay_a_stop_for_long() {
    // The service waits for the log, and then refuses the caller, or it aborts the session first.
    for stop in ["30s", "1s"] {
        let company = Company::new("service-locked");
        company.trust("bob");
        let fields = "often = { total = 1 }\ninputs = { file = \"own.json\" }\n";
        company.configure(&format!("[limits]\nstop = \"{stop}\"\n"), &rule("bob", fields));
        let mut service = company.start();
        let receipts = company.folder.path("state/receipts.jsonl");
        let other = std::fs::File::open(&receipts).expect("a log");
        other.lock().expect("nobody holds it");
        let caller = company.call("bob", 5, &service, &[]);
        service.wait_for("another program holds its lock");
        let begin = Instant::now();
        service.signal(Signal::TERM);
        let (status, log) = service.ended();
        assert_eq!(status, Some(0), "{log}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}: {log}", begin.elapsed());
        let ran = finish(caller);
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        drop(other);
        // No run was begun, so none is counted.
        let service = company.start();
        is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    }
}

#[test]
fn a_service_without_room_for_connections_does_not_flood_its_log() {
    let company = Company::new("service-full");
    company.trust("bob");
    company.configure("", &rule("bob", ""));
    let serve = company.serve("serve.toml");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -n 40; exec \"$@\"", "sh"]).arg(serve.get_program()).args(serve.get_args());
    let log = company.folder.path("log");
    shell.env("XDG_CONFIG_HOME", company.folder.path("config")).stderr(std::fs::File::create(&log).expect("a log"));
    let mut child = shell.spawn().expect("it starts");
    let read = || std::fs::read_to_string(&log).expect("a log");
    let begin = Instant::now();
    while !read().contains("listening address=") {
        assert!(begin.elapsed() < Duration::from_secs(60), "{}", read());
    }
    let address = word(&read(), "listening address=");
    let strangers: Vec<_> = (0..60).map(|_| std::net::TcpStream::connect(&address).expect("listens")).collect();
    std::thread::sleep(Duration::from_secs(4));
    child.kill().expect("it runs");
    child.wait().expect("ends");
    drop(strangers);
    let lines = read().matches("cannot accept a connection now").count();
    assert!((1..=11).contains(&lines), "{lines}: {}", read());
}

#[test]
fn a_result_that_is_lost_at_the_end_is_reported() {
    let company = Company::new("service-lost");
    company.trust("bob");
    company.configure("[limits]\nstop = \"300ms\"\n", &rule("bob", ""));
    company.folder.file("results", "no folder");
    let mut service = company.start();
    is_sum(&finish(company.call("bob", 5, &service, &[])), 5);
    service.wait_for("A RESULT COULD NOT BE DELIVERED");
    service.signal(Signal::TERM);
    let (status, log) = service.ended();
    assert!(status == Some(0) && log.contains("THE RESULT OF THIS SESSION IS LOST"), "{log}");
}
