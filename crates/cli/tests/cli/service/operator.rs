//! Limits, signals and pages, as the operator of a service has them.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Company, get, is_sum, rule, word};
use crate::invocation::finish;

const LATER: &str = "nothing was computed and nothing is counted: try again later";

/// A rule whose inputs take as long as that.
fn slow(name: &str, seconds: &str) -> String {
    let exec = format!("[\"sh\", \"-c\", \"sleep {seconds}; echo '{{\\\"a\\\": {}}}'\"]", super::PLANTED);
    rule(name, &format!("often = {{ total = 9 }}\ninputs = {{ exec = {exec}, time = \"60s\" }}\n"))
}

#[test]
fn who_comes_beyond_a_limit_is_refused_and_who_waits_is_served() {
    let company = Company::new("service-limits");
    ["bob", "carol", "dave"].iter().for_each(|name| company.trust(name));
    let limits = "log.level = \"debug\"\n[limits]\nsessions = 1\nwaiting = 1\nper_peer = 1\n";
    company.configure(limits, &["bob", "carol", "dave"].map(|name| slow(name, "2")).concat());
    let mut service = company.start();
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    company.is_refused("bob", &service, "we have as many sessions there as we may have at once", LATER);
    let second = company.call("carol", 3, &service, &[]);
    std::thread::sleep(Duration::from_millis(500));
    company.is_refused("dave", &service, "it has as many sessions as it may have at once", LATER);
    is_sum(&finish(first), 2);
    is_sum(&finish(second), 3);
}

#[test]
fn memory_waiting_time_and_the_longest_session_are_limits_too() {
    let company = Company::new("service-memory");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company
        .configure("log.level = \"debug\"\n[limits]\nmemory_mb = 1\n", &[slow("bob", "2"), rule("carol", "")].concat());
    let mut service = company.start();
    // Where none runs, waiting gives nothing back.
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    company.is_refused("carol", &service, "it has as many sessions as it may have at once", LATER);
    is_sum(&finish(first), 2);
    drop(service);
    let limits = "log.level = \"debug\"\n[limits]\nsessions = 1\nwait = \"300ms\"\nsession = \"3s\"\n";
    company.configure(limits, &[slow("bob", "60"), rule("carol", "")].concat());
    let mut service = company.start();
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    company.is_refused("carol", &service, "it has as many sessions as it may have at once", LATER);
    assert!(service.wait_for("was given up").contains("it took too long"));
    assert_eq!(finish(first).status, Some(1));
    is_sum(&finish(company.call("carol", 3, &service, &[])), 3);
}

#[test]
fn a_service_that_is_stopped_lets_sessions_end_and_refuses_all_others() {
    let company = Company::new("service-stop");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure("log.level = \"debug\"\n", &[slow("bob", "2"), rule("carol", "")].concat());
    let mut service = company.start();
    let first = company.call("bob", 2, &service, &[]);
    service.wait_for("has a place session=");
    service.signal(Signal::TERM);
    service.wait_for("stopping");
    let again = "nothing was computed: try again when it is back";
    company.is_refused("carol", &service, "it is being stopped", again);
    is_sum(&finish(first), 2);
    let (status, log) = service.ended();
    assert_eq!(status, Some(0), "{log}");
    assert!(log.contains(" done session=") && log.trim_end().ends_with("stopped"), "{log}");
}

#[test]
fn a_service_that_is_stopped_gives_up_by_its_deadline() {
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
    assert!(begin.elapsed() < Duration::from_secs(20) && log.contains("sessions are given up"), "{log}");
    assert_eq!(finish(first).status, Some(1));
    let receipts = std::fs::read_to_string(company.folder.path("state/receipts.jsonl")).expect("a log");
    assert!(receipts.lines().count() == 1 && receipts.contains("the service was stopped"), "{receipts}");
}

#[test]
fn a_new_configuration_is_taken_and_a_broken_one_is_not() {
    let company = Company::new("service-reload");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure("", &rule("bob", ""));
    let mut service = company.start();
    company.configure("", "[[rule]]\njob = \"sum-carol\"\npeers = [\"nobody\"]\n");
    service.signal(Signal::HUP);
    let line = service.wait_for("THE NEW CONFIGURATION IS WRONG");
    assert!(line.contains("peers: `nobody` is not trusted; trusted are bob, carol"), "{line}");
    is_sum(&finish(company.call("bob", 4, &service, &[])), 4);
    company.configure("", &rule("carol", ""));
    service.signal(Signal::HUP);
    service.wait_for("the new configuration is in force");
    is_sum(&finish(company.call("carol", 5, &service, &[])), 5);
    let ask = "give --job FILE, the job that both sides have (compare `garblet job show`); its operator decides who may run it";
    company.is_refused("bob", &service, "it has no such job for us, or we have named none", ask);
    assert!(service.log().contains("reason=\"not-allowed\""), "{}", service.log());
}

#[test]
fn a_change_while_the_configuration_is_read_is_not_lost_and_no_port_loses_its_tls() {
    let company = Company::new("service-reload-again");
    ["bob", "carol"].iter().for_each(|name| company.trust(name));
    company.configure("", &rule("bob", ""));
    let mut service = company.start();
    // A file that is not read to its end before somebody writes to it.
    let pipe = company.folder.path("jobs/slow.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts");
    assert!(made.success());
    service.signal(Signal::HUP);
    std::thread::sleep(Duration::from_millis(500));
    company.configure("", &rule("carol", ""));
    service.signal(Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    let job = std::fs::read_to_string(company.job("carol")).expect("a job");
    let pipe_end = std::fs::OpenOptions::new().write(true).open(&pipe).expect("it is read");
    std::fs::remove_file(&pipe).expect("there");
    std::io::Write::write_all(&mut { pipe_end }, job.replace("intersection", "x").as_bytes()).expect("read");
    let log = service.wait_for_all("the new configuration is in force", 1);
    is_sum(&finish(company.call("carol", 5, &service, &[])), 5);
    assert!(!log.contains("insecure_plain_tcp"), "{log}");
    let address =
        format!("listen = \"{}\"\ninsecure_plain_tcp = true\njobs = \"jobs\"\nstate = \"state\"\n", service.address);
    company.folder.file("serve.toml", &address);
    service.signal(Signal::HUP);
    let line = service.wait_for("insecure_plain_tcp: the service has to be started again for that");
    assert!(line.contains("THE NEW CONFIGURATION IS WRONG"), "{line}");
    is_sum(&finish(company.call("carol", 6, &service, &[])), 6);
}

#[test]
fn pages_show_what_happened_and_the_log_may_be_json() {
    let company = Company::new("service-pages");
    company.trust("bob");
    let fields = "metrics = \"127.0.0.1:0\"\n";
    company.configure(fields, &rule("bob", "often = { peer_total = 1 }\ninputs = { file = \"own.json\" }\n"));
    let mut service = company.start();
    let page = word(&service.wait_for("metrics are at"), "address=");
    assert!(get(&page, "/healthz").starts_with("HTTP/1.1 200") && get(&page, "/readyz").starts_with("HTTP/1.1 200"));
    assert!(get(&page, "/other").starts_with("HTTP/1.1 404"));
    is_sum(&finish(company.call("bob", 4, &service, &[])), 4);
    let ask = "its operator decides how often: wait, or ask for more";
    company.is_refused("bob", &service, "the job was run as often as it ever may be", ask);
    service.wait_for("reason=\"used-up\"");
    let mut metrics = get(&page, "/metrics");
    // It is counted four times a second.
    while !metrics.contains("garblet_sessions_running 0") {
        metrics = get(&page, "/metrics");
    }
    for line in [
        "garblet_sessions_total{job=\"sum-bob\",outcome=\"done\"} 1",
        "garblet_refusals_total{reason=\"used-up\"} 1",
        "garblet_phase_seconds_total{phase=\"online\"} ",
        "garblet_payload_bytes_total{direction=\"sent\"} ",
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
