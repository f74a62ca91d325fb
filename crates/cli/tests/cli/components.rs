//! Preparing in one pair of processes, computing in another; mistakes of users.

use std::io::{BufRead, BufReader};
use std::process::Child;

use crate::invocation::{Folder, Ran, finish, garblet, start};

const LIBRARY: &str = "examples/components/library.toml";
const PROGRAM: &str = "examples/components/highest.json";
const INPUTS: [&str; 2] = ["0=examples/components/house0.json", "1=examples/components/house1.json"];

/// Two parties with stores and identities.
pub(crate) struct Parties {
    folder: Folder,
    identity: [String; 2],
    fingerprint: [String; 2],
}

impl Parties {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let keygen = |name: &str| {
            let path = folder.path(name);
            let ran = garblet(&["keygen", &path]);
            assert_eq!(ran.status, Some(0), "{}", ran.stderr);
            (path, ran.stdout.trim().to_string())
        };
        let ((a, b), (c, d)) = (keygen("zero.pem"), keygen("one.pem"));
        Parties { folder, identity: [a, c], fingerprint: [b, d] }
    }

    /// A file in the parties' folder: its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        self.folder.file(name, text)
    }

    /// The contents of a party's store.
    pub(crate) fn list(&self, party: usize) -> Ran {
        let [store, key] = ["store", "key"].map(|name| self.folder.path(&format!("{name}{party}")));
        garblet(&["store", "list", &store, "--store-key", &key])
    }

    /// A command of a party with its store, its identity and its peer's.
    fn arguments(&self, party: usize, command: &[&str]) -> Vec<String> {
        let (number, other) = (party.to_string(), 1 - party);
        let store = self.folder.path(&format!("store{party}"));
        let key = self.folder.path(&format!("key{party}"));
        let own = ["--store", &store, "--store-key", &key, "--party", &number, "--identity", &self.identity[party]];
        let peer = ["--peer", &self.fingerprint[other][..]];
        [command, &own, &peer].concat().into_iter().map(String::from).collect()
    }

    /// Runs a command as party 1, which connects.
    pub(crate) fn connect(&self, address: &str, command: &[&str]) -> Ran {
        let arguments = self.arguments(1, &[command, &["--connect", address]].concat());
        garblet(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Starts a command as party 0, which listens.
    pub(crate) fn listen(&self, command: &[&str]) -> (Child, String) {
        let arguments = self.arguments(0, command);
        listen(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Runs a command as both parties.
    pub(crate) fn both(&self, command: &[&str], more: [&[&str]; 2]) -> [Ran; 2] {
        let (child, address) = self.listen(&[command, more[0]].concat());
        let connected = self.connect(&address, &[command, more[1]].concat());
        [finish(child), connected]
    }

    fn prepare(&self) -> [Ran; 2] {
        self.both(&["prepare", LIBRARY], [&["--json"]; 2])
    }

    fn run(&self, program: &str, more: &[&str]) -> [Ran; 2] {
        let command = [&["run", program, "--protocol", "components"], more].concat();
        self.both(&command, INPUTS.map(|file| ["--input", file]).each_ref().map(|more| &more[..]))
    }
}

fn listen(arguments: &[&str]) -> (Child, String) {
    let mut child = start(&[arguments, &["--listen", "127.0.0.1:0"]].concat());
    let mut line = String::new();
    let stderr = child.stderr.as_mut().expect("piped");
    BufReader::with_capacity(1, stderr).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_string();
    (child, address)
}

#[test]
fn filled_stores_serve_functions_over_tls_until_they_are_empty() {
    let parties = Parties::new("components");
    for ran in parties.prepare() {
        let report = ran.json();
        assert!(report["pieces"].as_u64().unwrap() > 60, "{report}");
        assert_eq!(report["lost"], 0);
    }
    // Four trees, half of each left over every time, and twenty single components: enough for ten programs of seven.
    for round in 0..5 {
        for ran in parties.run(PROGRAM, &[]) {
            assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "highest = 4100\n"), "{round}: {}", ran.stderr);
        }
    }
    let more = parties.prepare();
    assert!(more.iter().all(|ran| ran.status == Some(0)), "{}", more[0].stderr);
}

#[test]
fn missing_material_is_reported_and_prepared_on_request() {
    let parties = Parties::new("components-missing");
    let library = parties
        .folder
        .file("small.toml", "input-bits = 64\n[[component]]\nname = \"higher\"\nlibrary = \"max(16)\"\ncount = 3\n");
    let prepared = parties.both(&["prepare", &library], [&[]; 2]);
    assert!(prepared.iter().all(|ran| ran.status == Some(0)), "{}", prepared[1].stderr);
    let run = |more: &[&str]| {
        let command = [&["run", PROGRAM, "--protocol", "components", "--library", &library], more].concat();
        parties.both(&command, INPUTS.map(|file| ["--input", file]).each_ref().map(|more| &more[..]))
    };
    for ran in run(&[]) {
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        let missing = "error: the stores lack 4 of the 7 higher that the program takes\nhint: prepare more with `garblet prepare`";
        assert!(ran.stderr.contains(missing), "{}", ran.stderr);
    }
    for ran in run(&["--top-up"]) {
        assert_eq!(ran.stdout, "highest = 4100\n", "{}", ran.stderr);
    }
}

#[test]
fn a_store_is_for_one_library_and_one_protocol() {
    let parties = Parties::new("components-other");
    let prepared = parties.prepare();
    assert!(prepared.iter().all(|ran| ran.status == Some(0)), "{}", prepared[0].stderr);
    let edited =
        std::fs::read_to_string(crate::invocation::root().join(LIBRARY)).unwrap().replace("levels = 4", "levels = 3");
    let edited = parties.folder.file("edited.toml", &edited);
    for ran in parties.both(&["prepare", &edited], [&[]; 2]) {
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("library"), "{}", ran.stderr);
    }
    let ran = garblet(&["local", PROGRAM, "--library", LIBRARY, "--input", INPUTS[0], "--input", INPUTS[1]]);
    ran.fails(2, "error: --library, --store: yao prepares no components\nhint: give --protocol components\n");
}

#[test]
fn serving_refills_kinds_that_have_run_low() {
    let parties = Parties::new("components-serve");
    let served = parties.both(&["serve", LIBRARY], [&["--rounds", "1"]; 2]);
    assert!(served.iter().all(|ran| ran.status == Some(0)), "{}", served[0].stderr);
    let ran = parties.run(PROGRAM, &[]);
    assert!(ran.iter().all(|ran| ran.stdout == "highest = 4100\n"), "{}", ran[1].stderr);
    let served = parties.both(&["serve", LIBRARY], [&["--rounds", "1", "--low-water", "90"]; 2]);
    assert!(served.iter().all(|ran| ran.status == Some(0)), "{}", served[0].stderr);
}

#[test]
fn an_answering_party_fills_stores_and_runs_its_program_whenever_the_peer_calls() {
    let parties = Parties::new("components-answer");
    let logs = ["server.jsonl", "caller.jsonl"].map(|name| parties.folder.path(name));
    let command =
        ["serve", LIBRARY, "--answer", PROGRAM, "--input", INPUTS[0], "--rounds", "4", "--receipts", &logs[0]];
    let (server, address) = parties.listen(&command);
    let run = |program| {
        let call = ["run", program, "--protocol", "components", "--input", INPUTS[1], "--receipts", &logs[1]];
        parties.connect(&address, &call)
    };
    let refused = run(PROGRAM);
    assert_eq!(refused.status, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("no store in"), "{}", refused.stderr);
    assert!(refused.stderr.ends_with("hint: create and fill one with `garblet prepare`\n"), "{}", refused.stderr);
    let prepared = parties.connect(&address, &["prepare", LIBRARY, "--json"]).json();
    assert!(prepared["pieces"].as_u64().unwrap() > 60, "{prepared}");
    // A caller whose receipt could not be written is refused; the next one is answered.
    std::fs::write(&logs[0], "no receipt\n").expect("ours");
    let ran = run(PROGRAM);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let closed = "the peer refuses: it refuses everybody until its operator fixes a problem";
    assert!(ran.stderr.contains(closed), "{}", ran.stderr);
    std::fs::write(&logs[0], "").expect("ours");
    let ran = run(PROGRAM);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "highest = 4100\n"), "{}", ran.stderr);
    // A program other than the answered one: both sides say so, and the next call is answered.
    let text = std::fs::read_to_string(crate::invocation::root().join(PROGRAM)).unwrap();
    let other = parties.folder.file("other.json", &text.replace("highest", "best"));
    assert_ne!(std::fs::read_to_string(&other).unwrap(), text);
    let ran = run(&other);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("program digest"), "{}", ran.stderr);
    assert_eq!(run(PROGRAM).stdout, "highest = 4100\n");
    let served = finish(server);
    assert_eq!((served.status, &served.stdout[..]), (Some(0), "highest = 4100\nhighest = 4100\n"));
    assert!(served.stderr.contains("program digest"), "{}", served.stderr);
    assert!(served.stderr.contains("server.jsonl: the last line: not a receipt"), "{}", served.stderr);
    let compared = garblet(&["receipts", "compare", &logs[0], &logs[1]]);
    let alike =
        |ours, theirs| format!("ours {ours} and theirs {theirs}: the same run; each received what the other sent\n");
    assert!(compared.stdout.contains(&alike(1, 3)) && compared.stdout.contains(&alike(3, 5)), "{}", compared.stdout);
    assert_eq!(compared.status, Some(0), "{}", compared.stderr);
}

#[test]
fn a_store_remembers_the_library_that_filled_it() {
    let folder = Folder::new("components-library");
    let (store, key) = (folder.path("store"), folder.path("key"));
    let made = garblet(&["store", "init", &store, "--store-key", &key]);
    assert_eq!(made.status, Some(0), "{}", made.stderr);
    let input = ["--protocol", "components", "--input", INPUTS[1], "--insecure-plain-tcp", "--connect", "127.0.0.1:1"];
    let run = ["run", PROGRAM, "--party", "1", "--store", &store, "--store-key", &key];
    let hint = "hint: give --library FILE, or fill it with `garblet prepare`\n";
    let expected = format!("error: {store}: the store was never filled from a library\n{hint}");
    garblet(&[&run[..], &input].concat()).fails(2, &expected);
}

#[test]
fn local_runs_prepare_their_own_material() {
    for more in [&[][..], &["--library", LIBRARY], &["--param", "links=standard", "--param", "scheme=grr3"]] {
        let base = ["local", PROGRAM, "--protocol", "components", "--input", INPUTS[0], "--input", INPUTS[1]];
        let ran = garblet(&[&base, more].concat());
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "highest = 4100\n"), "{}", ran.stderr);
    }
}
