//! Preparing in one pair of processes, computing in another; faults of those who use it.

use std::io::{BufRead, BufReader};
use std::process::Child;

use crate::invocation::{Folder, Ran, finish, garblet, start};

const LIBRARY: &str = "examples/components/library.toml";
const PROGRAM: &str = "examples/components/highest.json";
const INPUTS: [&str; 2] = ["0=examples/components/house0.json", "1=examples/components/house1.json"];

/// Two parties with stores and identities.
struct Parties {
    folder: Folder,
    identity: [String; 2],
    fingerprint: [String; 2],
}

impl Parties {
    fn new(name: &str) -> Self {
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

    /// Runs a command as both parties.
    fn both(&self, command: &[&str], more: [&[&str]; 2]) -> [Ran; 2] {
        let arguments = |party: usize| -> Vec<String> {
            let (number, other) = (party.to_string(), 1 - party);
            let store = self.folder.path(&format!("store{party}"));
            let key = self.folder.path(&format!("key{party}"));
            let own = ["--store", &store, "--store-key", &key, "--party", &number, "--identity", &self.identity[party]];
            let peer = ["--peer", &self.fingerprint[other][..]];
            [command, &own, &peer, more[party]].concat().into_iter().map(String::from).collect()
        };
        let listening = arguments(0);
        let (child, address) = listen(&listening.iter().map(String::as_str).collect::<Vec<_>>());
        let connecting = arguments(1);
        let mut connecting: Vec<&str> = connecting.iter().map(String::as_str).collect();
        connecting.extend(["--connect", &address]);
        let connected = garblet(&connecting);
        [finish(child), connected]
    }

    fn prepare(&self) -> [Ran; 2] {
        self.both(&["prepare", LIBRARY], [&["--json"]; 2])
    }

    fn run(&self, program: &str, more: &[&str]) -> [Ran; 2] {
        let command = [&["run", program, "--protocol", "components", "--library", LIBRARY], more].concat();
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
fn stores_that_were_filled_before_serve_functions_over_tls_until_they_are_empty() {
    let parties = Parties::new("components");
    for ran in parties.prepare() {
        let report = ran.json();
        assert!(report["pieces"].as_u64().unwrap() > 60, "{report}");
        assert_eq!(report["lost"], 0);
    }
    // Four trees, of which half is left over each time, and twenty single components: enough for ten programs of seven.
    for round in 0..5 {
        for ran in parties.run(PROGRAM, &[]) {
            assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "highest = 4100\n"), "{round}: {}", ran.stderr);
        }
    }
    let more = parties.prepare();
    assert!(more.iter().all(|ran| ran.status == Some(0)), "{}", more[0].stderr);
}

#[test]
fn what_is_missing_is_said_and_made_on_request() {
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
        let missing = "error: the stores lack 4 of the 7 higher that the program takes\nhint: `garblet prepare";
        assert!(ran.stderr.contains(missing), "{}", ran.stderr);
    }
    for ran in run(&["--top-up"]) {
        assert_eq!(ran.stdout, "highest = 4100\n", "{}", ran.stderr);
    }
}

#[test]
fn stores_are_for_one_library_and_one_protocol() {
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
fn serving_refills_what_has_run_low() {
    let parties = Parties::new("components-serve");
    let served = parties.both(&["serve", LIBRARY], [&["--rounds", "1"]; 2]);
    assert!(served.iter().all(|ran| ran.status == Some(0)), "{}", served[0].stderr);
    let ran = parties.run(PROGRAM, &[]);
    assert!(ran.iter().all(|ran| ran.stdout == "highest = 4100\n"), "{}", ran[1].stderr);
    let served = parties.both(&["serve", LIBRARY], [&["--rounds", "1", "--low-water", "90"]; 2]);
    assert!(served.iter().all(|ran| ran.status == Some(0)), "{}", served[0].stderr);
}

#[test]
fn local_runs_prepare_for_themselves() {
    for more in [&[][..], &["--library", LIBRARY], &["--param", "links=standard", "--param", "scheme=grr3"]] {
        let base = ["local", PROGRAM, "--protocol", "components", "--input", INPUTS[0], "--input", INPUTS[1]];
        let ran = garblet(&[&base, more].concat());
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "highest = 4100\n"), "{}", ran.stderr);
    }
}
