//! Identities, trust, and `run` between processes.

use std::io::{BufRead, BufReader};
use std::process::Child;

use crate::invocation::{Folder, Ran, command, finish, garblet, start};

const AES_INPUTS: [&str; 2] = ["0=examples/aes/key.json", "1=examples/aes/block.json"];

/// Starts a listening party and returns it with its address.
pub(crate) fn listen(arguments: &[&str]) -> (Child, String) {
    let more = ["--listen", "127.0.0.1:0"];
    let mut child = start(&[&["run"], arguments, &more].concat());
    let mut line = String::new();
    let stderr = child.stderr.as_mut().expect("piped");
    // Read byte by byte, so that nothing after the line is lost to a buffer.
    BufReader::with_capacity(1, stderr).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_string();
    (child, address)
}

/// Runs a listening and a connecting party.
pub(crate) fn pair(listening: &[&str], connecting: &[&str]) -> (Ran, Ran) {
    let (child, address) = listen(listening);
    let connected = garblet(&[&["run"], connecting, &["--connect", &address]].concat());
    (finish(child), connected)
}

pub(crate) fn keygen(folder: &Folder, name: &str) -> (String, String) {
    let path = folder.path(name);
    let ran = garblet(&["keygen", &path]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    (path, ran.stdout.trim().to_string())
}

#[test]
fn parties_with_pinned_identities_compute() {
    let folder = Folder::new("pinned");
    let (alice, alice_print) = keygen(&folder, "alice.pem");
    let (bob, bob_print) = keygen(&folder, "bob.pem");
    let trust = folder.path("trust.toml");
    assert_eq!(garblet(&["trust", "add", "bob", &bob_print, "--trust", &trust]).status, Some(0));
    let (garbler, evaluator) = pair(
        &[
            "lib:aes128",
            "--party",
            "0",
            "--input",
            AES_INPUTS[0],
            "--identity",
            &alice,
            "--peer",
            "bob",
            "--trust",
            &trust,
        ],
        &["lib:aes128", "--party", "1", "--input", AES_INPUTS[1], "--identity", &bob, "--peer", &alice_print],
    );
    for ran in [garbler, evaluator] {
        assert_eq!(ran.stdout, "ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a\n", "{}", ran.stderr);
        assert_eq!(ran.status, Some(0));
    }
}

#[test]
fn an_unknown_identity_is_refused_on_both_sides() {
    let folder = Folder::new("unknown");
    let (alice, alice_print) = keygen(&folder, "alice.pem");
    let (bob, bob_print) = keygen(&folder, "bob.pem");
    let (mallory, mallory_print) = keygen(&folder, "mallory.pem");
    let alice_waits_for_bob = [
        "lib:aes128",
        "--party",
        "0",
        "--input",
        AES_INPUTS[0],
        "--identity",
        &alice,
        "--peer",
        &bob_print,
        "--timeout",
        "5s",
    ];
    let party1 = ["lib:aes128", "--party", "1", "--input", AES_INPUTS[1], "--peer", &alice_print, "--identity"];
    let (garbler, evaluator) = pair(&alice_waits_for_bob, &[&party1[..], &[&mallory]].concat());
    assert_eq!((garbler.status, evaluator.status), (Some(1), Some(1)), "{} {}", garbler.stderr, evaluator.stderr);
    // It reports the refusal at once, and keeps waiting for the peer.
    let refused = format!("the peer is unknown: expected the peer {bob_print}, got {mallory_print}");
    assert!(garbler.stderr.starts_with("refused 127.0.0.1:"), "{}", garbler.stderr);
    assert_eq!(garbler.stderr.matches(&refused).count(), 2, "{}", garbler.stderr);
    // The call decides, and no file of trusted peers.
    let then = format!("to you over another channel: --peer {mallory_print}");
    assert!(garbler.stderr.contains(&then) && !garbler.stderr.contains("trust add"), "{}", garbler.stderr);
    assert!(garbler.stderr.contains("within 5 s; refused: 127.0.0.1:"), "{}", garbler.stderr);
    assert!(!evaluator.stderr.contains("panicked"), "{}", evaluator.stderr);

    let (garbler, evaluator) = pair(
        &alice_waits_for_bob,
        &["lib:aes128", "--party", "1", "--input", AES_INPUTS[1], "--identity", &bob, "--peer", &mallory_print],
    );
    assert_eq!((garbler.status, evaluator.status), (Some(1), Some(1)), "{} {}", garbler.stderr, evaluator.stderr);
    assert!(evaluator.stderr.contains(&alice_print), "{}", evaluator.stderr);
}

#[test]
fn trust_is_added_listed_and_removed() {
    let folder = Folder::new("trust");
    let (_, one) = keygen(&folder, "one.pem");
    let (_, two) = keygen(&folder, "two.pem");
    let store = folder.path("trust.toml");
    let trust = |arguments: &[&str]| garblet(&[&["trust"], arguments, &["--trust", &store]].concat());
    assert_eq!(trust(&["add", "bob", &one]).status, Some(0));
    assert_eq!(trust(&["list"]).stdout, format!("bob  {one}\n"));
    trust(&["add", "bob", &two]).fails(
        2,
        &format!(
            "error: `bob` is trusted already, with another identity: expected {one}, got {two}\n\
             hint: if the peer has a new identity, first `garblet trust remove bob --trust {store}`\n"
        ),
    );
    assert_eq!(trust(&["remove", "bob"]).status, Some(0));
    trust(&["remove", "bob"]).fails(
        2,
        &format!(
            "error: no trusted peer is called `bob`; trusted peers: none\n\
             hint: add one with `garblet trust add NAME FINGERPRINT --trust {store}`\n"
        ),
    );
    let ran = trust(&["add", "eve", "h2wm-xxxx"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("fingerprint has 8 characters"), "{}", ran.stderr);
}

#[test]
fn an_identity_is_never_overwritten_and_must_be_private() {
    let folder = Folder::new("identity");
    let (path, _) = keygen(&folder, "me.pem");
    let again = garblet(&["keygen", &path]);
    again.fails(
        2,
        &format!(
            "error: {path} exists already\nhint: use it, or move it away first: peers know it by its fingerprint\n"
        ),
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("ours");
        let arguments = ["run", "lib:aes128", "--party", "0", "--input", AES_INPUTS[0], "--listen", "127.0.0.1:0"];
        garblet(&[&arguments[..], &["--identity", &path, "--peer", "x"]].concat()).fails(
            2,
            &format!("error: {path} has mode 644, expected 600: others can read the key\nhint: chmod 600 {path}\n"),
        );
    }
}

#[test]
fn a_mistyped_fingerprint_is_not_taken_for_a_name() {
    let folder = Folder::new("mistyped");
    let (identity, fingerprint) = keygen(&folder, "own.pem");
    let last = if fingerprint.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{last}", &fingerprint[..fingerprint.len() - 1]);
    let way = ["--connect", "127.0.0.1:9", "--identity", &identity, "--trust", &folder.path("trust.toml")];
    let run = ["run", "lib:aes128-expanded", "--owner", "block=0", "--party", "1", "--peer", &mistyped];
    let ran = garblet(&[&run[..], &way].concat());
    assert_eq!((ran.status, &ran.stdout[..]), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("fingerprint is mistyped or misheard"), "{}", ran.stderr);
}

#[test]
fn a_key_that_cannot_be_written_is_not_a_wrong_call() {
    let folder = Folder::new("unwritable-key");
    let ran = garblet(&["keygen", &folder.path(&"x".repeat(300))]);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot write") && !ran.stderr.contains("os error"), "{}", ran.stderr);
}

#[test]
fn without_a_configuration_folder_files_must_be_named() {
    let ran =
        command(&["keygen"]).env_remove("HOME").env_remove("XDG_CONFIG_HOME").spawn().expect("the command starts");
    finish(ran)
        .fails(2, "error: no folder for identity.pem: neither XDG_CONFIG_HOME nor HOME is set\nhint: name the file, or set XDG_CONFIG_HOME\n");
}
