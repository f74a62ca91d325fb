//! Several parties: `local` with any number of them, `run` with a peers file, and faults of one party.

use std::{
    net::{Ipv4Addr, TcpListener},
    process::Child,
    time::Duration,
};

use crate::identities::keygen;
use crate::invocation::{Folder, Ran, finish, garblet, start};

pub(crate) const CIPHERTEXT: &str = "ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a\n";
pub(crate) const INPUTS: [&[&str]; 3] =
    [&["--input", "0=examples/aes/key.json"], &["--input", "1=examples/aes/block.json"], &[]];

/// A host of this machine that is this process's own: callers get ports of 127.0.0.1. A Mac has no other hosts of loopback.
fn own_host() -> Ipv4Addr {
    let [a, b, c, d] = std::process::id().to_be_bytes();
    if cfg!(target_os = "macos") {
        Ipv4Addr::LOCALHOST
    } else {
        Ipv4Addr::new(127, 64 + (a ^ b) % 128, c, d.clamp(1, 254))
    }
}

/// Addresses that are currently free, and that nobody else is given.
pub(crate) fn free_addresses(count: usize) -> Vec<String> {
    let sockets: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind((own_host(), 0)).expect("a port")).collect();
    sockets.iter().map(|socket| socket.local_addr().expect("its address").to_string()).collect()
}

pub(crate) fn peers_file(folder: &Folder, fingerprints: Option<&[String]>) -> String {
    let entry = |(party, address): (usize, &String)| {
        let fingerprint = fingerprints.map(|all| format!("fingerprint = \"{}\"\n", all[party]));
        format!("[[party]]\naddress = \"{address}\"\n{}", fingerprint.unwrap_or_default())
    };
    let text: String = free_addresses(3).iter().enumerate().map(entry).collect();
    folder.file("peers.toml", &text)
}

/// Starts party `party` of three.
fn party(program: &str, party: usize, peers: &str, more: &[&str]) -> Child {
    let number = party.to_string();
    let first = ["run", program, "--protocol", "gmw", "--party", &number, "--peers", peers];
    start(&[&first[..], INPUTS[party], more].concat())
}

fn all(program: &str, peers: &str, more: [&[&str]; 3]) -> Vec<Ran> {
    // The last first: the order does not matter.
    let children: Vec<Child> = (0..3).rev().map(|k| party(program, k, peers, more[k])).collect();
    let mut ran: Vec<Ran> = children.into_iter().map(finish).collect();
    ran.reverse();
    ran
}

#[test]
fn any_number_of_parties_runs_locally_with_a_report_for_each() {
    for form in ["triples", "2012"] {
        let form = format!("form={form}");
        let first = ["local", "lib:aes128", "--protocol", "gmw", "--parties", "5", "--param", &form, "--json"];
        let report = garblet(&[&first[..], INPUTS[0], INPUTS[1]].concat()).json();
        assert_eq!(report["outputs"]["ciphertext"]["hex"], "69c4e0d86a7b0430d8cdb78070b4c55a");
        assert_eq!((report["parties"].as_u64(), &report["protocol"]), (Some(5), &"gmw".into()));
        let parts = report["per_party"].as_array().expect("a list");
        assert_eq!(parts.len(), 5);
        for (party, part) in parts.iter().enumerate() {
            assert_eq!(part["party"], party);
            let depth = report["program"]["and_depth"].as_u64().expect("a number");
            let rounds = if form == "form=2012" { 2 * depth + 1 } else { depth + 1 };
            assert_eq!(part["phases"]["online"]["rounds"], rounds);
            assert!(part["cpu_seconds"]["prepare"].as_f64().expect("a number") > 0.0);
        }
    }
}

#[test]
fn gmw_takes_a_round_for_each_layer_of_the_whole_program_and_one() {
    for example in ["edit-distance", "vickrey", "sort", "sha256"] {
        let source = format!("examples/{example}/{example}.garble.rs");
        let plan = garblet(&["plan", &source, "--protocol", "gmw", "--json"]).json();
        let depth = plan["program"]["and_depth"].as_u64().expect("a number");
        let rounds = &plan["protocols"][0]["per_party"][0]["phases"]["online"]["rounds"];
        assert_eq!(rounds.as_u64(), Some(depth + 1), "{example}");
    }
    let source = "examples/vickrey/vickrey.garble.rs";
    let inputs = ["0=examples/vickrey/first.csv", "1=examples/vickrey/second.csv"];
    let local = ["local", source, "--protocol", "gmw", "--input", inputs[0], "--input", inputs[1], "--json"];
    let run = garblet(&local).json();
    let depth = run["program"]["and_depth"].as_u64().expect("a number");
    assert_eq!(run["per_party"][1]["phases"]["online"]["rounds"], depth + 1);
}

#[test]
fn joint_garbling_takes_two_rounds_online_with_every_protocol_and_form() {
    for (protocol, forms) in [
        ("bmr", &["form=half-gates", "form=linear", "form=published"][..]),
        ("bmr-bgw4", &["hash=aes-256"]),
        ("bmr-bgw3", &["form=linear", "form=published"]),
        ("bmr-bgw2", &["form=linear", "form=published"]),
    ] {
        for form in forms {
            let first = ["local", "lib:aes128", "--protocol", protocol, "--parties", "4", "--param", form, "--json"];
            let report = garblet(&[&first[..], INPUTS[0], INPUTS[1]].concat()).json();
            assert_eq!(report["outputs"]["ciphertext"]["hex"], "69c4e0d86a7b0430d8cdb78070b4c55a");
            let parts = report["per_party"].as_array().expect("a list");
            let rounds = |part: &serde_json::Value, phase: &str| part["phases"][phase]["rounds"].as_u64().unwrap_or(99);
            assert_eq!(parts.len(), 4);
            assert!(parts.iter().all(|part| rounds(part, "prepare") + rounds(part, "build") <= 6));
            assert!(parts.iter().all(|part| rounds(part, "online") <= 2));
        }
    }
}

#[test]
fn too_many_corrupted_parties_are_refused() {
    let local = |more: &[&str]| garblet(&[&["local", "lib:aes128"], INPUTS[0], INPUTS[1], more].concat());
    for (protocol, parties, range) in
        [("bmr", "1", "2 to 64"), ("bmr-bgw3", "2", "3 to 64"), ("bmr-bgw2", "3", "4 to 64")]
    {
        local(&["--protocol", protocol, "--parties", parties])
            .fails(2, &format!("error: --parties {parties}: expected {range}, the number for {protocol}\n"));
    }
    // Without a number, the protocol decides how many there are.
    let report = local(&["--protocol", "bmr-bgw2", "--json"]).json();
    assert_eq!(report["parties"], 4);
}

#[test]
fn parties_with_pinned_identities_meet_in_any_order() {
    let folder = Folder::new("mesh-pinned");
    let keygen = |party: usize| {
        let path = folder.path(&format!("{party}.pem"));
        let ran = garblet(&["keygen", &path]);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        (path, ran.stdout.trim().to_string())
    };
    let (identities, fingerprints): (Vec<String>, Vec<String>) = (0..3).map(keygen).unzip();
    let peers = peers_file(&folder, Some(&fingerprints));
    let own = |party: usize| ["--identity", &identities[party][..]];
    let [one, two, three] = [own(0), own(1), own(2)];
    for ran in all("lib:aes128", &peers, [&one, &two, &three]) {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(0), CIPHERTEXT), "{}", ran.stderr);
    }
    // A party whose identity differs from the file's does not even start.
    let ran = finish(party("lib:aes128", 1, &peers, &own(2)));
    let said = format!("error: party 1 of the peers file is {}, our identity is {}", fingerprints[1], fingerprints[2]);
    assert!(ran.status == Some(2) && ran.stderr.starts_with(&said), "{}", ran.stderr);
}

#[test]
fn all_name_a_party_with_another_program_or_other_parameters() {
    let folder = Folder::new("mesh-other");
    let peers = peers_file(&folder, None);
    let plain: &[&str] = &["--insecure-plain-tcp"];
    let other: &[&str] = &["--insecure-plain-tcp", "--param", "form=2012"];
    let ran = all("lib:aes128", &peers, [plain, plain, other]);
    for ran in &ran[..2] {
        assert_eq!(ran.status, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains("party 2"), "{}", ran.stderr);
    }
    assert!(ran.iter().any(|ran| ran.stderr.contains("form: ours triples, theirs 2012")), "{}", ran[0].stderr);
    assert_eq!(ran[2].status, Some(1));
}

#[test]
fn all_name_a_missing_party_within_the_timeout() {
    let folder = Folder::new("mesh-missing");
    let peers = peers_file(&folder, None);
    let more = ["--insecure-plain-tcp", "--timeout", "2s"];
    let begin = std::time::Instant::now();
    let children: Vec<Child> = [0, 2].map(|k| party("lib:aes128", k, &peers, &more)).into();
    for ran in children.into_iter().map(finish) {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(1), ""), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("party 1: ") || ran.stderr.contains("says that party 1 never came"),
            "{}",
            ran.stderr
        );
    }
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn all_name_a_killed_party() {
    let folder = Folder::new("mesh-killed");
    let peers = peers_file(&folder, None);
    // Many rounds over a slow link, so that there is time to kill it.
    let slow = ["--insecure-plain-tcp", "--link", "20ms,inf"];
    let mut children: Vec<Child> = (0..3).map(|k| party("lib:aes128-chain(20)", k, &peers, &slow)).collect();
    std::thread::sleep(Duration::from_millis(1500));
    let mut last = children.pop().expect("three");
    last.kill().expect("it runs");
    last.wait().expect("it ends");
    for ran in children.into_iter().map(finish) {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(1), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("party 2: ") || ran.stderr.contains("says that party 2 "), "{}", ran.stderr);
    }
}

#[test]
fn mistakes_in_a_peers_file_are_explained() {
    let folder = Folder::new("peers-file");
    let [(_, one), (_, two)] = ["one.pem", "two.pem"].map(|name| keygen(&folder, name));
    let party = |address: &str, print: &str| match print {
        "" => format!("[[party]]\naddress = \"{address}\"\n"),
        print => format!("[[party]]\naddress = \"{address}\"\nfingerprint = \"{print}\"\n"),
    };
    let form =
        "hint: one table per party, in order: [[party]] with address = \"HOST:PORT\" and fingerprint = \"...\"\n";
    for (text, error, hint) in [
        (String::new(), ": expected 2 to 255 parties, got 0\n", form),
        ([party("a:1", ""), party("a", "")].concat(), ":4: party 1: `a` is not an address: expected HOST:PORT\n", ""),
        (
            [party("a:1", &one), party("a:2", "h2wm")].concat(),
            ":6: party 1: fingerprint has 4 characters, expected 36 in groups of 4\n",
            "hint: `garblet id` prints a party's fingerprint\n",
        ),
        (
            [party("a:1", &one), party("a:1", &two)].concat(),
            ":4: party 1 has the address a:1 of party 0\n",
            "hint: each party listens on an address of its own\n",
        ),
        (
            [party("a:1", &one), party("a:2", &one)].concat(),
            ":4: party 1 has the fingerprint of party 0\n",
            "hint: each party needs its own identity: create one with `garblet keygen`\n",
        ),
        (
            [party("a:1", &one), party("a:2", "")].concat(),
            ":4: party 0 has a fingerprint, party 1 has none\n",
            "hint: give every party its fingerprint; or none, for plain TCP\n",
        ),
    ] {
        let peers = folder.file("peers.toml", &text);
        let ran = garblet(&["run", "lib:add(8)", "--party", "2", "--protocol", "gmw", "--peers", &peers]);
        ran.fails(2, &format!("error: {peers}{error}{hint}"));
    }
    let missing = folder.path("missing.toml");
    let ran = garblet(&["run", "lib:add(8)", "--party", "2", "--protocol", "gmw", "--peers", &missing]);
    ran.fails(2, &format!("error: {missing}: cannot be read: no such file or directory\n"));
}

#[test]
fn impossible_calls_are_explained() {
    let local = |more: &[&str]| garblet(&[&["local", "lib:aes128"], INPUTS[0], INPUTS[1], more].concat());
    local(&["--protocol", "gmw", "--parties", "1"])
        .fails(2, "error: --parties 1: expected 2 to 255, the number for gmw\n");
    local(&["--parties", "3"])
        .fails(2, "error: --parties 3: expected 2, the number for yao\nhint: --protocol gmw has more\n");
    let ran = local(&["--protocol", "gmw", "--owner", "block=4", "--parties", "3"]);
    assert!(
        ran.stderr.starts_with("error: --parties 3: `aes128` has inputs or outputs of 5 parties"),
        "{}",
        ran.stderr
    );
    let folder = Folder::new("mesh-bad");
    let run = |more: &[&str]| garblet(&[&["run", "lib:aes128", "--party", "0"], INPUTS[0], more].concat());
    let peers = folder.file("peers.toml", "[[party]]\naddress = \"a:1\"\n[[party]]\naddress = \"a:2\"\n");
    // Nobody has to write a file that the protocol does not use.
    for peers in [&peers, &folder.path("missing.toml")] {
        run(&["--peers", peers]).fails(
            2,
            "error: --peers: yao has one peer\nhint: give --listen or --connect, or use --protocol gmw for several peers\n",
        );
    }
    let ran = run(&["--protocol", "gmw", "--connect", "a:1"]);
    assert!(ran.stderr.starts_with("error: gmw needs a peers file"), "{}", ran.stderr);
    let peers = folder.file("two.toml", "[[party]]\naddress = \"a:1\"\n[[party]]\naddress = \"a:2\"\n");
    let ran = run(&["--protocol", "gmw", "--peers", &peers, "--insecure-plain-tcp"]);
    assert!(ran.stderr.starts_with("error: --insecure-plain-tcp: a:1 is not on this machine"), "{}", ran.stderr);
    // The file has only addresses of this machine; the address that replaces ours must be one, too.
    let here = folder.file("here.toml", "[[party]]\naddress = \"127.0.0.1:1\"\n[[party]]\naddress = \"127.0.0.1:2\"\n");
    for (address, why) in [
        ("0.0.0.0:0", "is not on this machine"),
        ("ws://127.0.0.1:0", "is open to every web page in a browser on this machine"),
    ] {
        run(&["--protocol", "gmw", "--peers", &here, "--insecure-plain-tcp", "--listen", address]).fails(
            2,
            &format!(
                "error: --insecure-plain-tcp: {address} {why}\nhint: leave the option out and give --identity and --peer\n"
            ),
        );
    }
}
