//! Wrong configurations.

use super::{Company, data::with_stored_job, rule};
use crate::invocation::garblet;

#[test]
fn each_wrong_field_is_reported_with_its_place() {
    let company = Company::new("service-wrong");
    company.trust("bob");
    let bob = |fields: &str| rule("bob", fields);
    let cases = [
        (String::from("sessions = 3\n"), String::new(), "unknown field `sessions`"),
        (
            "[limits]\nsessions = \"many\"\n".into(),
            String::new(),
            "limits.sessions: expected a whole number from 0 on, got the text \"many\"",
        ),
        ("[limits]\nsessions = 0\n".into(), String::new(), "limits: sessions: expected 1 or more, got 0"),
        ("[limits]\nwait = \"2 weeks\"\n".into(), String::new(), "unknown unit `weeks`, expected ms, s, m or h"),
        ("metrics = \"here\"\n".into(), String::new(), "expected an address such as 127.0.0.1:9700, got `here`"),
        ("log = { format = \"xml\" }\n".into(), String::new(), "unknown variant `xml`, expected `text` or `json`"),
        (
            "insecure_plain_tcp = true\n".into(),
            String::new(),
            "insecure_plain_tcp: identity and trust have no effect with it",
        ),
        (String::new(), bob("").replace("sum-bob", "sum"), "job: no job `sum`; the jobs are sum-bob"),
        (String::new(), bob("").replace("[\"bob\"]", "[\"eve\"]"), "peers: `eve` is not trusted; trusted peers: bob"),
        (String::new(), bob("").replace("[\"bob\"]", "[]"), "expected the names of the peers that may run the job"),
        (String::new(), bob("inputs = { file = \"own.json\" }\n"), "often: expected a limit"),
        (String::new(), bob("often = { weekly = 3 }\n"), "unknown field `weekly`"),
        (String::new(), bob("often = { total = 3 }\n"), "inputs: expected a file, a folder or a command"),
        (String::new(), bob("often = { total = 3 }\ninputs = { }\n"), "inputs: expected one of file, folder and exec"),
        (String::new(), bob("often = { total = 3 }\ninputs = { exec = [] }\n"), "inputs: exec: expected a program"),
        (
            String::new(),
            bob("often = { total = 3 }\ninputs = { file = \"a\" }\nresults = { }\n"),
            "results: expected one of",
        ),
        (
            String::new(),
            bob("often = { total = 3 }\ninputs = { file = \"a\" }\nparty = 1\n"),
            "party: expected 0, the party with our identity, got 1",
        ),
        (
            String::new(),
            bob("often = { total = 3 }\ninputs = { file = \"a\" }\nstore = \"s\"\n"),
            "store: --store: yao uses no store",
        ),
        (
            String::new(),
            bob("often = { total = 3 }\ninputs = { file = \"a\" }\nrefill = { at = \"a:1\" }\n"),
            "refill: this rule has no store",
        ),
        (
            String::new(),
            bob("often = { total = 3 }\ninputs = { file = \"a\" }\naddresses = \"s\"\n"),
            "addresses: yao has one peer, which calls the service",
        ),
    ];
    for (fields, rules, expected) in cases {
        let file = company.configure(&fields, &rules);
        let ran = garblet(&["serve", "--config", &file]);
        assert_eq!(ran.status, Some(2), "{expected}: {}", ran.stderr);
        assert!(
            ran.stderr.starts_with(&format!("error: {file}")) && ran.stderr.contains(expected),
            "{expected}: {}",
            ran.stderr
        );
    }
    let ran = garblet(&["serve", "--config", &company.folder.path("serve.toml"), "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("--config"), "{}", ran.stderr);
}

#[test]
fn a_store_is_not_checked_more_often_than_the_service_looks() {
    let company = with_stored_job("service-refill-often");
    for (every, is_good) in [("249ms", false), ("250ms", true)] {
        let refill = format!("refill = {{ at = \"127.0.0.1:1\", every = \"{every}\" }}");
        let store = "store = \"s\"\nstock = { triples = 9, masks = 9 }";
        let file =
            company.configure("", &format!("{}{store}\n{refill}\n", rule("bob", "").replace("sum-bob", "stored")));
        let ran = garblet(&["serve", "--config", &file, "--check"]);
        assert_eq!(ran.status, Some(if is_good { 0 } else { 2 }), "{}", ran.stderr);
        let said = "refill: every: expected 250ms or more, got 249ms\nhint: each check of a low store calls the peer";
        assert!(is_good || ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn a_folder_without_jobs_and_a_job_of_others_are_reported() {
    let company = Company::new("service-jobs");
    company.trust("bob");
    let file = company.configure("", "");
    let job = company.folder.path("jobs/sum-bob.toml");
    let text = std::fs::read_to_string(&job).expect("a job");
    std::fs::remove_file(&job).expect("there");
    let ran = garblet(&["serve", "--config", &file]);
    assert!(ran.stderr.contains("has no job files (*.toml)\nhint: write one with `garblet job new`"), "{}", ran.stderr);
    let other = garblet(&["keygen", &company.folder.path("other.pem")]).stdout;
    company.folder.file("jobs/sum-bob.toml", &text.replace(&company.fingerprint, other.trim()));
    let file = company.configure("", &rule("bob", ""));
    let ran = garblet(&["serve", "--config", &file]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("is not one of the job's parties"), "{}", ran.stderr);
}
