//! Receipts of runs: their contents, values that must not appear in them, and comparisons between two parties.

use std::{fs, path::Path};

use serde_json::Value;

use crate::{
    identities::{keygen, pair},
    invocation::{Folder, command, finish, garblet},
    many_parties::free_addresses,
};

const SOURCE: &str = "pub fn main(x: u32, y: u32) -> u32 { x * y }\n";

/// Inputs and an output that are easy to recognise: 0x6be7 5a39 times 1,000 overflows; times 2 it does not.
const PLANTED: [&str; 2] = ["1810324025", "3620648050"];

/// Two parties with a job, inputs, and a log for each.
struct World {
    folder: Folder,
    identities: [String; 2],
    fingerprints: [String; 2],
    job: String,
    logs: [String; 2],
}

impl World {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let keys = [keygen(&folder, "alice.pem"), keygen(&folder, "bob.pem")];
        let source = folder.file("product.garble.rs", SOURCE);
        let job = folder.path("product.job.toml");
        let logs = ["alice.jsonl", "bob.jsonl"].map(|name| folder.path(name));
        let [identities, fingerprints] =
            [[&keys[0].0, &keys[1].0], [&keys[0].1, &keys[1].1]].map(|of| of.map(String::clone));
        let world = World { folder, identities, fingerprints, job, logs };
        world.write(&world.job, &source, "product");
        world
    }

    fn write(&self, path: &str, program: &str, name: &str) {
        let parties = ["alice", "bob"].iter().zip(&self.fingerprints);
        let parties: Vec<String> = parties.map(|(name, print)| format!("{name}={print}")).collect();
        let ran = garblet(&[
            "job",
            "new",
            program,
            "--out",
            path,
            "--party",
            &parties[0],
            "--party",
            &parties[1],
            "--name",
            name,
        ]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    }

    fn input(&self, party: usize, value: &str) -> String {
        let file =
            self.folder.file(&format!("{party}-{value}.json"), &format!("{{\"{}\": {value}}}", ["x", "y"][party]));
        format!("{party}={file}")
    }

    fn run<'a>(&'a self, party: usize, job: &'a str, input: &'a str) -> Vec<&'a str> {
        vec!["--job", job, "--identity", &self.identities[party], "--input", input, "--receipts", &self.logs[party]]
    }

    /// Runs both parties with these values.
    fn both(&self, values: [&str; 2], more: &[&str]) -> [crate::invocation::Ran; 2] {
        let inputs = [self.input(0, values[0]), self.input(1, values[1])];
        let calls = [0, 1].map(|party| [&self.run(party, &self.job, &inputs[party])[..], more].concat());
        pair(&calls[0], &calls[1]).into()
    }

    fn receipts(&self, party: usize) -> Vec<Value> {
        let shown = garblet(&["receipts", "show", &self.logs[party], "--json"]).json();
        shown["receipts"].as_array().expect("a list").clone()
    }
}

#[test]
fn both_parties_write_a_receipt_without_values() {
    let world = World::new("receipts-run");
    for ran in world.both([PLANTED[0], "2"], &[]) {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), &format!("out0 = {}\n", PLANTED[1])[..]), "{}", ran.stderr);
    }
    let job = garblet(&["job", "show", &world.job, "--json"]).json();
    for party in 0..2 {
        let receipts = world.receipts(party);
        let [receipt] = &receipts[..] else { panic!("expected one, got {receipts:?}") };
        assert_eq!(receipt["job"], job["job"]);
        assert_eq!(receipt["program"], job["fields"]["program"]);
        assert_eq!(receipt["party"], party);
        assert_eq!(receipt["peers"][0]["fingerprint"], world.fingerprints[1 - party]);
        assert_eq!(receipt["peers"][0]["name"], ["bob", "alice"][party]);
        assert_eq!(receipt["identity"], world.fingerprints[party]);
        assert_eq!((&receipt["protocol"], &receipt["parameters"]["scheme"]), (&"yao".into(), &"half-gates".into()));
        assert_eq!(receipt["ended"]["ok"]["closing"], Value::Null);
        assert!(receipt["security"]["computational_bits"].as_u64().is_some_and(|bits| bits > 100), "{receipt}");
        let text = fs::read_to_string(&world.logs[party]).expect("a log");
        let mut planted = PLANTED.iter().chain(&["6be75a39", "d7ceb472"]);
        assert!(planted.all(|value| !text.contains(value)), "{text}");
        let verified = garblet(&["receipts", "verify", &world.logs[party]]);
        let expected = format!("1 receipts, the last is {}\n", receipt["digest"].as_str().expect("a digest"));
        assert_eq!((verified.status, verified.stdout), (Some(0), expected));
    }
    let [ours, theirs] = [0, 1].map(|party| world.receipts(party).remove(0));
    assert_eq!(ours["bytes_sent"], theirs["bytes_received"]);
    assert_eq!(ours["transcripts"][0]["sent"], theirs["transcripts"][0]["received"]);
    let compared = garblet(&["receipts", "compare", &world.logs[0], &world.logs[1]]);
    let expected = "ours 1 and theirs 1: the same run; each received what the other sent\n";
    assert_eq!((compared.status, &compared.stdout[..]), (Some(0), expected), "{}", compared.stderr);
    let shown = garblet(&["receipts", "show", &world.logs[0]]).stdout;
    assert!(shown.contains("with a result\n") && shown.contains("party 1: bob "), "{shown}");
}

#[test]
fn outputs_are_included_on_request() {
    let world = World::new("receipts-outputs");
    world.both([PLANTED[0], "2"], &["--receipt-outputs"]);
    assert_eq!(world.receipts(0)[0]["outputs"]["out0"]["value"].to_string(), PLANTED[1]);
    let text = fs::read_to_string(&world.logs[0]).expect("a log");
    assert!(!text.contains(PLANTED[0]), "inputs never: {text}");
    let call = ["run", "lib:aes128", "--party", "0", "--input", "0=examples/aes/key.json", "--insecure-plain-tcp"];
    let ran = garblet(&[&call[..], &["--connect", "127.0.0.1:1", "--receipt-outputs"]].concat());
    assert!(ran.stderr.contains("error: --receipt-outputs: this run writes no receipt"), "{}", ran.stderr);
}

#[test]
fn a_panic_is_recorded_without_its_place() {
    let world = World::new("receipts-panic");
    for ran in world.both([PLANTED[0], "1000"], &[]) {
        assert!(ran.stderr.contains("panicked at "), "{}", ran.stderr);
        assert_eq!(ran.status, Some(1));
    }
    let failed = &world.receipts(1)[0]["ended"]["failed"];
    assert_eq!((&failed["class"], &failed["message"]), (&"panic".into(), &"the computation panicked".into()));
}

#[test]
fn refused_runs_are_recorded_with_the_reason() {
    let world = World::new("receipts-refused");
    let other = world.folder.path("other.job.toml");
    world.write(&other, &world.folder.path("product.garble.rs"), "other");
    let inputs = [world.input(0, "1"), world.input(1, "2")];
    pair(&world.run(0, &world.job, &inputs[0]), &world.run(1, &other, &inputs[1]));
    for (party, told) in [(0, "job name: ours product, theirs other"), (1, "job name: ours other, theirs product")] {
        let receipt = world.receipts(party).remove(0);
        assert_eq!(receipt["ended"]["failed"]["class"], "disagreement");
        let message = receipt["ended"]["failed"]["message"].as_str().expect("a message");
        assert!(message.contains(told), "{message}");
        assert_eq!(receipt["security"], Value::Null);
        assert_eq!(receipt["peers"][0]["fingerprint"], world.fingerprints[1 - party]);
    }
    // The party met nobody.
    let ran = garblet(
        &[&["run"], &world.run(0, &world.job, &inputs[0])[..], &["--connect", "127.0.0.1:1", "--timeout", "300ms"]]
            .concat(),
    );
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let receipt = world.receipts(0).remove(1);
    assert_eq!(
        (&receipt["ended"]["failed"]["class"], &receipt["peers"]),
        (&"network".into(), &Value::Array(Vec::new()))
    );
    let compared = garblet(&["receipts", "compare", &world.logs[0], &world.logs[1]]);
    assert_eq!(compared.status, Some(0), "runs without a result may end differently: {}", compared.stdout);
}

#[test]
fn runs_under_a_job_write_receipts_by_default_others_on_request() {
    let world = World::new("receipts-default");
    let inputs = [world.input(0, "1"), world.input(1, "2")];
    let run = |party: usize, more: &[&str]| {
        let mut run =
            command(&[&["run", "--identity", &world.identities[party], "--input", &inputs[party]], more].concat());
        run.env("XDG_CONFIG_HOME", world.folder.path("config"));
        run
    };
    let program = world.folder.path("product.garble.rs");
    for (job, kept) in [(false, false), (true, true)] {
        let ports = free_addresses(1).remove(0);
        let args = |party: usize| match job {
            true => vec!["--job".to_string(), world.job.clone()],
            false => {
                vec![
                    program.clone(),
                    "--party".into(),
                    party.to_string(),
                    "--peer".into(),
                    world.fingerprints[1 - party].clone(),
                ]
            }
        };
        let [ours, theirs] = [0, 1].map(args);
        let ours: Vec<&str> = ours.iter().map(|word| &word[..]).chain(["--listen", &ports]).collect();
        let theirs: Vec<&str> = theirs.iter().map(|word| &word[..]).chain(["--connect", &ports]).collect();
        let listening = run(0, &ours).spawn().expect("it starts");
        let connected = finish(run(1, &theirs).spawn().expect("it starts"));
        let listened = finish(listening);
        assert_eq!(connected.status, Some(0), "{}{}", connected.stderr, listened.stderr);
        assert_eq!(Path::new(&world.folder.path("config/garblet/receipts.jsonl")).exists(), kept);
    }
}

#[test]
fn a_torn_log_continues_and_a_changed_one_is_refused_before_the_run() {
    let world = World::new("receipts-torn");
    world.both(["1", "2"], &[]);
    let text = fs::read_to_string(&world.logs[1]).expect("a log");
    let digest = world.receipts(1)[0]["digest"].as_str().expect("a digest").to_string();
    let torn = format!("{{\"format\":1,\"number\":2,\"previous\":\"{digest}\",\"time\":\"20");
    fs::write(&world.logs[1], format!("{text}{torn}")).expect("written");
    let verified = garblet(&["receipts", "verify", &world.logs[1]]);
    assert!(
        verified.stderr.contains(&format!("{} bytes after receipt 1 are an incomplete receipt", torn.len())),
        "{}",
        verified.stderr
    );
    assert_eq!(verified.status, Some(0));
    let [_, connected] = world.both(["3", "4"], &[]);
    assert!(
        connected.stderr.contains(&format!("cut off {} bytes of an incomplete receipt after receipt 1\n", torn.len())),
        "{}",
        connected.stderr
    );
    assert_eq!([0, 1].map(|party| world.receipts(party).len()), [2, 2]);

    let text = fs::read_to_string(&world.logs[0]).expect("a log");
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&world.logs[0], text.replacen("\"party\":0", "\"party\":1", 1)).expect("written");
    let verified = garblet(&["receipts", "verify", &world.logs[0]]);
    assert!(
        verified.stderr.contains(&format!("error: {}:1: it was changed: its digest is ", world.logs[0])),
        "{}",
        verified.stderr
    );
    assert_eq!(verified.status, Some(1));
    fs::write(&world.logs[0], format!("{}\n", lines[1])).expect("written");
    let verified = garblet(&["receipts", "verify", &world.logs[0]]);
    assert!(verified.stderr.contains(":1: it is receipt 2, expected 1: one was dropped"), "{}", verified.stderr);
    // Detecting that the end is missing needs a digest noted earlier.
    let last = world.receipts(1)[1]["digest"].as_str().expect("a digest").to_string();
    let holds = |log: &str| garblet(&["receipts", "verify", log, "--holds", &last]);
    assert_eq!(holds(&world.logs[1]).status, Some(0));
    let theirs = fs::read_to_string(&world.logs[1]).expect("a log");
    fs::write(&world.logs[1], &theirs[..=theirs.find('\n').expect("a line")]).expect("written");
    assert!(holds(&world.logs[1]).stderr.contains(&format!("no receipt has the digest {last}\n")));
    let compared = garblet(&["receipts", "compare", &world.logs[1], &world.logs[1]]);
    assert!(compared.stdout.contains("ours 1, "), "a log is not the peer's of itself: {}", compared.stdout);
    assert_eq!(compared.status, Some(1));

    fs::write(&world.logs[0], text.replacen("\"number\":2", "\"number\":3", 1)).expect("written");
    let input = world.input(0, "1");
    let ran = garblet(&[&["run"], &world.run(0, &world.job, &input)[..], &["--connect", "127.0.0.1:1"]].concat());
    assert!(ran.stderr.contains("the last line: it was changed: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: `garblet receipts verify` checks every line"), "{}", ran.stderr);
}

#[test]
fn receipt_options_are_refused_where_no_receipt_is_written() {
    let serve = ["serve", "--party", "0", "--store", "x", "--connect", "a:1"];
    for option in [&["--receipts", "r.jsonl"][..], &["--receipt-outputs"]] {
        let ran = garblet(&[&serve[..], option].concat());
        ran.fails(2, "error: --receipts, --receipt-outputs: only runs with one peer under --answer have receipts\n");
    }
}
