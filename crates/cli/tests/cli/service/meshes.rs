//! Sessions of several parties at a service, side by side, told apart by name.

use std::process::Child;

use super::Company;
use crate::{
    identities::keygen,
    invocation::{Ran, finish, garblet, start},
    many_parties::free_addresses,
};

const PROGRAM: &str = "pub fn main(a: u32, b: u32, c: u32) -> u32 {\n    a ^ b ^ c\n}\n";

/// A service that is party 0 of three, and the peers files of two sessions.
struct Three {
    company: Company,
}

impl Three {
    fn new(name: &str) -> Self {
        Three::under(name, ("gmw", PROGRAM), "total = 4", "")
    }

    /// A job under a protocol, with a limit and more fields of its rule.
    fn under(name: &str, (protocol, program): (&str, &str), limit: &str, more: &str) -> Self {
        let company = Company::new(name);
        let prints: Vec<String> = ["bob", "carol"].map(|name| keygen(&company.folder, &format!("{name}.pem")).1).into();
        let trust = company.folder.path("trust.toml");
        for (name, print) in ["bob", "carol"].iter().zip(&prints) {
            assert_eq!(garblet(&["trust", "add", name, print, "--trust", &trust]).status, Some(0));
        }
        let program = company.folder.file("three.garble.rs", program);
        let (out, all) = (
            company.folder.path("jobs/three.toml"),
            [company.fingerprint.clone(), prints[0].clone(), prints[1].clone()],
        );
        let parties =
            ["service", "bob", "carol"].iter().zip(&all).map(|(name, print)| format!("--party={name}={print}"));
        let parties: Vec<String> = parties.collect();
        let job =
            ["job", "new", &program, "--protocol", protocol, "--out", &out, &parties[0], &parties[1], &parties[2]];
        let ran = garblet(&job);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        let three = Three { company };
        three.peers_file("addresses.toml", "127.0.0.1:1", &all);
        let inputs = format!("inputs = {{ file = \"own.json\" }}\naddresses = \"addresses.toml\"\n{more}");
        let rule = format!("[[rule]]\njob = \"three\"\npeers = [\"bob\", \"carol\"]\noften = {{ {limit} }}\n{inputs}");
        three.company.configure("[limits]\nwait = \"4s\"\n", &rule);
        three
    }

    fn peers_file(&self, name: &str, service: &str, prints: &[String]) -> String {
        let addresses = [&[service.to_string()][..], &free_addresses(2)].concat();
        let entry = |(address, print): (&String, &String)| {
            format!("[[party]]\naddress = \"{address}\"\nfingerprint = \"{print}\"\n")
        };
        self.company.folder.file(name, &addresses.iter().zip(prints).map(entry).collect::<String>())
    }

    fn party(&self, party: usize, peers: &str, session: &[&str], value: u32) -> Child {
        let folder = &self.company.folder;
        let (name, port) = [("bob", "b"), ("carol", "c")][party - 1];
        let file = folder.file(&format!("{name}-{value}.json"), &format!("{{\"{port}\": {value}}}"));
        let (job, input) = (folder.path("jobs/three.toml"), format!("{party}={file}"));
        let identity = folder.path(&format!("{name}.pem"));
        let run = ["run", "--job", &job, "--peers", peers, "--input", &input];
        start(&[&run[..], &["--identity", &identity, "--timeout", "20s"], session].concat())
    }

    /// A party's call that fills its store with those of the others.
    fn filler(&self, party: usize, peers: &str, session: &str, triples: u32) -> Child {
        let (name, folder) = (["bob", "carol"][party - 1], &self.company.folder);
        let [job, identity] = ["jobs/three.toml".into(), format!("{name}.pem")].map(|name| folder.path(&name));
        let (number, triples) = (party.to_string(), format!("triples={triples}"));
        let fill = ["prepare", "--job", &job, "--peers", peers, "--party", &number, "--session", session];
        let amounts = ["--stock", &triples, "--stock", "masks=160", "--identity", &identity, "--timeout", "20s"];
        let own = self.store_of(party);
        let own: Vec<&str> = own.iter().map(|option| &option[..]).collect();
        start(&[&fill[..], &amounts, &own].concat())
    }

    /// The options for a party's store.
    fn store_of(&self, party: usize) -> [String; 4] {
        let of = |what: &str| self.company.folder.path(&format!("{what}-{party}"));
        ["--store".into(), of("store"), "--store-key".into(), of("key")]
    }

    fn prints(&self) -> Vec<String> {
        ["service", "bob", "carol"]
            .map(|name| garblet(&["id", &self.company.folder.path(&format!("{name}.pem"))]).stdout.trim().to_string())
            .into()
    }
}

#[test]
fn sessions_of_three_run_side_by_side_and_never_meet() {
    let three = Three::new("service-meshes");
    let service = three.company.start();
    let prints = three.prints();
    let calls: Vec<(u32, Vec<Child>)> = ["one", "two"]
        .iter()
        .zip([1u32 << 8, 1 << 9])
        .map(|(session, value)| {
            let peers = three.peers_file(&format!("{session}.toml"), &service.address, &prints);
            let parties = [1, 2].map(|party| three.party(party, &peers, &["--session", session], value + party as u32));
            (value, parties.into())
        })
        .collect();
    for (value, parties) in calls {
        let expected = format!("out0 = {}\n", super::PLANTED ^ (value + 1) ^ (value + 2));
        for ran in parties.into_iter().map(finish) {
            assert_eq!((ran.status, &ran.stdout), (Some(0), &expected), "{} {}", ran.stderr, service.log());
        }
    }
}

#[test]
fn a_session_without_a_name_is_refused_and_one_that_nobody_joins_is_aborted() {
    let three = Three::new("service-nameless");
    let mut service = three.company.start();
    let peers = three.peers_file("one.toml", &service.address, &three.prints());
    let nameless: Ran = finish(three.party(1, &peers, &[], 5));
    assert_eq!(nameless.status, Some(1), "{}", nameless.stderr);
    let refused = "the peer refuses: it tells sessions of several parties apart by name, and ours has no name\n";
    assert!(nameless.stderr.contains(refused), "{}", nameless.stderr);
    let alone = finish(three.party(1, &peers, &["--session", "alone"], 6));
    assert_eq!(alone.status, Some(1), "{}", alone.stderr);
    let line = service.wait_for("failed session=");
    assert!(line.contains("party 2"), "{line}");
}

#[test]
fn no_party_alone_uses_up_runs_or_joins_twice() {
    let three = Three::new("service-mesh-alone");
    let path = three.company.folder.path("serve.toml");
    let text = std::fs::read_to_string(&path).expect("a configuration");
    let text = text.replace("total = 4", "total = 1").replace("4s", "2s");
    three.company.folder.file("serve.toml", &format!("log.level = \"debug\"\n{text}"));
    let service = three.company.start();
    let prints = three.prints();
    let peers = |name: &str| three.peers_file(&format!("{name}.toml"), &service.address, &prints);
    for (at, name) in ["one", "two"].iter().enumerate() {
        let alone = three.party(1, &peers(name), &["--session", name], 5);
        service.wait_for_all("gathering its parties session=", at + 1);
        let again = finish(three.party(1, &peers("again"), &["--session", name], 5));
        assert!(again.stderr.contains("the peer refuses: a session of this name is running there"), "{}", again.stderr);
        assert_eq!(finish(alone).status, Some(1));
        // The second is not recorded again.
        service.wait_for_all("failed session=", 1);
    }
    let all = peers("all");
    let parties = [1, 2].map(|party| three.party(party, &all, &["--session", "all"], 16 + party as u32));
    let expected = format!("out0 = {}\n", super::PLANTED ^ 17 ^ 18);
    for ran in parties.map(finish) {
        assert_eq!((ran.status, &ran.stdout), (Some(0), &expected), "{} {}", ran.stderr, service.log());
    }
}

#[test]
fn incomplete_sessions_take_no_place() {
    let three = Three::new("service-mesh-unmet");
    let path = three.company.folder.path("serve.toml");
    three.company.trust("dave");
    let text = std::fs::read_to_string(&path).expect("a configuration");
    let limits =
        "log.level = \"debug\"\nmetrics = \"127.0.0.1:0\"\n[limits]\nsessions = 2\nwait = \"30s\"\ngathering = 3\n";
    let text = text.replace("[limits]\nwait = \"4s\"\n", limits) + &super::rule("dave", "");
    three.company.folder.file("serve.toml", &text);
    let mut service = three.company.start();
    let page = super::word(&service.wait_for("metrics are at"), "address=");
    let prints = three.prints();
    let unmet: Vec<Child> = ["one", "two", "three"]
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let peers = three.peers_file(&format!("{name}.toml"), &service.address, &prints);
            let alone = three.party(1, &peers, &["--session", name], 5);
            service.wait_for_all("gathering its parties session=", at + 1);
            alone
        })
        .collect();
    // There is no room for more of them, but room for all others.
    let peers = three.peers_file("four.toml", &service.address, &prints);
    let refused = finish(three.party(1, &peers, &["--session", "four"], 5));
    assert!(refused.stderr.contains("it has reached its limit of sessions"), "{}", refused.stderr);
    super::is_sum(&finish(three.company.call("dave", 7, &service, &[])), 7);
    let mut metrics = super::get(&page, "/metrics");
    while !metrics.contains("garblet_sessions_gathering 3") {
        metrics = super::get(&page, "/metrics");
    }
    for mut child in unmet {
        child.kill().expect("it runs");
        child.wait().expect("ends");
    }
}

#[test]
fn three_parties_fill_their_stores_at_a_service_and_run_from_them() {
    const AND: &str = "pub fn main(a: u32, b: u32, c: u32) -> u32 {\n    (a & b) ^ c\n}\n";
    let stock = "store = \"store-service\"\nstock = { triples = 64, masks = 160 }\n";
    let three = Three::under("service-mesh-store", ("authenticated-bmr", AND), "total = 2", stock);
    let mut service = three.company.start();
    let prints = three.prints();
    let address = service.address.clone();
    let peers = |name: &str| three.peers_file(&format!("{name}.toml"), &address, &prints);
    let run = |name: &str| {
        let file = peers(name);
        [1, 2].map(|party| {
            let own = three.store_of(party);
            let more: Vec<&str> = ["--session", name].into_iter().chain(own.iter().map(|option| &option[..])).collect();
            three.party(party, &file, &more, 16 + party as u32)
        })
    };
    let fill = |name: &str, triples: [u32; 2]| {
        let file = peers(name);
        [1, 2].map(|party| three.filler(party, &file, name, triples[party - 1])).map(finish)
    };
    // The service has no store yet. The others make theirs, which hold nothing.
    for party in [1, 2] {
        let own = three.store_of(party);
        let [_, folder, option, key] = own.each_ref().map(|option| &option[..]);
        assert_eq!(garblet(&["store", "init", folder, option, key]).status, Some(0));
    }
    run("early").map(finish).iter().for_each(|ran| assert_eq!(ran.status, Some(1), "{}", ran.stderr));
    assert!(service.wait_for(" no store session=").contains("no store in "), "{}", service.log());
    // An order that is not the service's fills nothing.
    fill("other", [64, 80]).iter().for_each(|ran| assert_eq!(ran.status, Some(1), "{}", ran.stderr));
    for ran in fill("filling", [64, 64]) {
        assert_eq!(ran.status, Some(0), "{} {}", ran.stderr, service.log());
    }
    let expected = format!("out0 = {}\n", (super::PLANTED & 17) ^ 18);
    let succeeds = |name: &str, log: String| {
        for ran in run(name).map(finish) {
            assert_eq!((ran.status, &ran.stdout), (Some(0), &expected), "{} {log}", ran.stderr);
        }
    };
    succeeds("first", service.log());
    // What is left is too little, which the service knows before it counts a run.
    run("second").map(finish).iter().for_each(|ran| assert_eq!(ran.status, Some(1), "{}", ran.stderr));
    let line = service.wait_for(" the store holds too little session=");
    assert!(line.contains("masks"), "{line}");
    assert_eq!(service.log().matches(" begins session=").count(), 1, "{}", service.log());
    fill("again", [64, 64]).iter().for_each(|ran| assert_eq!(ran.status, Some(0), "{}", ran.stderr));
    succeeds("third", service.log());
    let late = run("late").map(finish);
    assert!(late[0].stderr.contains("the peer refuses: the job has used up all its runs"), "{}", late[0].stderr);
}

const NAMES: [&str; 3] = ["service", "bob", "carol"];

/// Three services, with their configurations in files `NAME.toml`.
struct Services {
    three: Three,
    addresses: Vec<String>,
    /// The peers file with all addresses.
    peers: String,
}

impl Services {
    /// All for a job under a protocol, with this stock; the last refills.
    fn new(name: &str, of_job: (&str, &str), stock: &str) -> Self {
        let three = Three::under(name, of_job, "total = 2", "");
        let (prints, folder) = (three.prints(), &three.company.folder);
        let trust = folder.path("all.toml");
        for (name, print) in NAMES.iter().zip(&prints) {
            assert_eq!(garblet(&["trust", "add", name, print, "--trust", &trust]).status, Some(0));
        }
        let addresses = free_addresses(3);
        let entry = |(address, print)| format!("[[party]]\naddress = \"{address}\"\nfingerprint = \"{print}\"\n");
        let peers = folder.file("addresses.toml", &addresses.iter().zip(&prints).map(entry).collect::<String>());
        let inputs = [format!("{{\"a\": {}}}", super::PLANTED), "{\"b\": 17}".into(), "{\"c\": 18}".into()];
        let refills = ["", "", "refill = { below = 60, every = \"500ms\" }\n"];
        for (party, name) in NAMES.into_iter().enumerate() {
            let others: Vec<String> = NAMES.iter().filter(|of| **of != name).map(|name| format!("{name:?}")).collect();
            folder.file(&format!("own-{name}.json"), &inputs[party]);
            let text = format!(
                "listen = \"{}\"\nidentity = \"{name}.pem\"\ntrust = \"all.toml\"\njobs = \"jobs\"\nstate = \"state-{name}\"\n\
                 key = \"key-{party}\"\n[limits]\nwait = \"3s\"\n[[rule]]\njob = \"three\"\npeers = [{}]\noften = {{ total = 9 }}\n\
                 inputs = {{ file = \"own-{name}.json\" }}\naddresses = \"addresses.toml\"\nstore = \"store-{party}\"\n\
                 stock = {{ {stock} }}\n{}",
                addresses[party],
                others.join(", "),
                refills[party]
            );
            folder.file(&format!("{name}.toml"), &text);
        }
        Services { three, addresses, peers }
    }

    fn start(&self, party: usize) -> super::Running {
        let name = NAMES[party];
        self.three.company.start_as(&format!("{name}.toml"), &format!("log-{name}"))
    }

    /// The last party's run from its store, with the configuration folder of its service, which has the record of the store.
    fn run(&self, session: &str) -> Ran {
        let folder = &self.three.company.folder;
        let [job, identity, input] = ["jobs/three.toml", "carol.pem", "own-carol.json"].map(|name| folder.path(name));
        let (input, own) = (format!("2={input}"), self.three.store_of(2));
        let run = ["run", "--job", &job, "--peers", &self.peers, "--input", &input, "--session", session];
        let more = ["--identity", &identity, "--timeout", "20s", &own[0], &own[1], &own[2], &own[3]];
        finish(self.three.company.begin(&[&run[..], &more].concat()))
    }
}

#[test]
fn the_last_of_three_services_refills_the_stores_of_all_as_soon_as_all_come() {
    const AND: &str = "pub fn main(a: u32, b: u32, c: u32) -> u32 {\n    (a & b) ^ c\n}\n";
    const XOR: u32 = super::PLANTED ^ 17 ^ 18;
    for (name, of_job, stock, sum) in [
        ("pieces", ("authenticated-bmr", AND), "triples = 64, masks = 160", (super::PLANTED & 17) ^ 18),
        ("runs", ("bmr", PROGRAM), "runs = 1", XOR),
    ] {
        let services = Services::new(&format!("service-mesh-refill-{name}"), of_job, stock);
        // One party is silent: the refill ends in time, loudly, and the next try follows.
        let silent = std::net::TcpListener::bind(&services.addresses[1]).expect("it is free");
        let (service, mut carol) = (services.start(0), services.start(2));
        let line = carol.wait_for(" A STORE WAS NOT REFILLED: ");
        assert!(line.contains("ERROR") && line.contains("party 1: ") && line.contains("next=0.5"), "{line}");
        drop(silent);
        let bob = services.start(1);
        let log = || service.log() + &bob.log();
        for at in 0..2 {
            carol.wait_for_all(" done session=", at + 1);
            // A store that is not low is left alone.
            std::thread::sleep(std::time::Duration::from_millis(1200));
            assert_eq!(carol.log().matches(" done session=").count(), at + 1, "{}", carol.log());
            let ran = services.run(&format!("run-{at}"));
            assert_eq!((ran.status, &ran.stdout), (Some(0), &format!("out0 = {sum}\n")), "{} {}", ran.stderr, log());
        }
        assert!(!(log() + &carol.log()).contains("CHEATED"), "{} {}", log(), carol.log());
    }
}

#[test]
fn a_run_that_was_not_prepared_is_refused_before_it_is_counted() {
    let stock = "store = \"store-service\"\nstock = { runs = 1 }\n";
    let three = Three::under("service-mesh-runs", ("bmr", PROGRAM), "total = 1", stock);
    let path = |name: &str| three.company.folder.path(name);
    let stores = [("store-service", "state.key"), ("store-1", "key-1"), ("store-2", "key-2")];
    for (store, key) in stores {
        assert_eq!(garblet(&["store", "init", &path(store), "--store-key", &path(key)]).status, Some(0));
    }
    let mut service = three.company.start();
    let peers = three.peers_file("one.toml", &service.address, &three.prints());
    let parties = [1, 2].map(|party| {
        let own = three.store_of(party);
        let more: Vec<&str> = ["--session", "one"].into_iter().chain(own.iter().map(|option| &option[..])).collect();
        three.party(party, &peers, &more, 5)
    });
    parties.map(finish).iter().for_each(|ran| assert_eq!(ran.status, Some(1), "{}", ran.stderr));
    let line = service.wait_for(" the store holds too little session=");
    assert!(line.contains("no run of `three` left"), "{line}");
    assert!(!service.log().contains(" begins session="), "{}", service.log());
}

#[test]
fn a_store_of_several_parties_is_checked_with_the_configuration() {
    let three = Three::under(
        "service-mesh-store-rules",
        ("authenticated-bmr", PROGRAM),
        "total = 1",
        "store = \"store-service\"\nstock = { triples = 64 }\n",
    );
    let path = three.company.folder.path("serve.toml");
    let text = std::fs::read_to_string(&path).expect("a configuration");
    let check = |text: &str| {
        three.company.folder.file("serve.toml", text);
        garblet(&["serve", "--config", &path, "--check"])
    };
    let good = check(&text);
    assert_eq!(good.status, Some(0), "{}", good.stderr);
    for (refill, expected) in [
        (
            "at = \"127.0.0.1:1\"",
            "refill: at: authenticated-bmr has several parties, whose addresses are in another file",
        ),
        ("below = 50", "refill: expected it at party 2, which calls all others; this is party 0"),
    ] {
        let refilled = check(&format!("{text}refill = {{ {refill} }}\n"));
        assert!(refilled.status == Some(2) && refilled.stderr.contains(expected), "{}", refilled.stderr);
    }
    let unknown = check(&text.replace("triples = 64", "gates = 64"));
    assert!(unknown.status == Some(2) && unknown.stderr.contains("`gates`"), "{}", unknown.stderr);
}

#[test]
fn a_job_of_several_parties_has_one_rule_for_all() {
    let three = Three::new("service-mesh-rules");
    let path = three.company.folder.path("serve.toml");
    let text = std::fs::read_to_string(&path).expect("a configuration");
    let refused = |text: String, expected: &str| {
        three.company.folder.file("serve.toml", &text);
        let ran = garblet(&["serve", "--config", &path]);
        assert!(ran.status == Some(2) && ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
    };
    refused(text.replace("[\"bob\", \"carol\"]", "[\"bob\"]"), "peers: three has several parties: ");
    let (_, rule) = text.split_once("[[rule]]").expect("a rule");
    refused(format!("{text}\n[[rule]]{rule}"), "three has several parties and a rule already");
}
