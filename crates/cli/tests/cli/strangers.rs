//! Strangers that connect to a party that waits for its peer.

use std::io::Write;
use std::net::TcpStream;

use crate::components::Parties;
use crate::identities::{keygen, listen};
use crate::invocation::{Folder, Ran, finish, garblet};

const LIBRARY: &str = "examples/components/library.toml";
const PROGRAM: &str = "examples/components/highest.json";
const INPUTS: [&str; 2] = ["0=examples/components/house0.json", "1=examples/components/house1.json"];
const AES_INPUTS: [&str; 2] = ["0=examples/aes/key.json", "1=examples/aes/block.json"];

/// Fifty silent sockets, a port scan of twenty that close at once, and another program. They stay until the returned value is
/// dropped.
fn besiege(address: &str) -> Vec<TcpStream> {
    let connect = || TcpStream::connect(address).expect("it listens");
    let mut stay: Vec<TcpStream> = (0..50).map(|_| connect()).collect();
    (0..20).for_each(|_| drop(connect()));
    let mut other = connect();
    other.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    stay.push(other);
    stay
}

/// Asserts that strangers are reported, but not one by one.
fn assert_tells(ran: &Ran) {
    let told = ran.stderr.lines().filter(|line| line.starts_with("refused ")).count();
    assert!((2..40).contains(&told), "{}", ran.stderr);
    assert!(ran.stderr.contains("refused 127.0.0.1:"), "{}", ran.stderr);
}

#[test]
fn a_run_waits_for_the_right_peer_among_strangers() {
    let folder = Folder::new("strangers");
    let (alice, alice_print) = keygen(&folder, "alice.pem");
    let (bob, bob_print) = keygen(&folder, "bob.pem");
    let plain = [&["--insecure-plain-tcp"][..]; 2];
    let tls = [&["--identity", &alice, "--peer", &bob_print][..], &["--identity", &bob, "--peer", &alice_print]];
    for [ours, theirs] in [plain, tls] {
        let (child, address) = listen(&[&["lib:aes128", "--party", "0", "--input", AES_INPUTS[0]], ours].concat());
        let siege = besiege(&address);
        let run = ["run", "lib:aes128", "--party", "1", "--input", AES_INPUTS[1], "--connect", &address];
        let ran = garblet(&[&run[..], theirs].concat());
        assert_eq!(ran.stdout, "ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a\n", "{}", ran.stderr);
        let waited = finish(child);
        assert_eq!((waited.status, &waited.stdout), (Some(0), &ran.stdout), "{}", waited.stderr);
        assert_tells(&waited);
        drop(siege);
    }
}

#[test]
fn an_unread_standard_error_does_not_end_the_wait() {
    let plain = "--insecure-plain-tcp";
    let (mut child, address) = listen(&["lib:aes128", "--party", "0", "--input", AES_INPUTS[0], plain]);
    drop(child.stderr.take());
    let siege = besiege(&address);
    let ran = garblet(&["run", "lib:aes128", "--party", "1", "--input", AES_INPUTS[1], "--connect", &address, plain]);
    assert_eq!(ran.stdout, "ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a\n", "{}", ran.stderr);
    let waited = finish(child);
    assert_eq!((waited.status, &waited.stdout), (Some(0), &ran.stdout));
    drop(siege);
}

#[test]
fn a_serving_party_answers_the_right_peer_among_strangers() {
    let parties = Parties::new("strangers-serve");
    let command = ["serve", LIBRARY, "--answer", PROGRAM, "--input", INPUTS[0], "--rounds", "2"];
    let (server, address) = parties.listen(&command);
    let first = besiege(&address);
    let prepared = parties.connect(&address, &["prepare", LIBRARY]);
    assert_eq!(prepared.status, Some(0), "{}", prepared.stderr);
    let second = besiege(&address);
    let ran = parties.connect(&address, &["run", PROGRAM, "--protocol", "components", "--input", INPUTS[1]]);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(0), "highest = 4100\n"), "{}", ran.stderr);
    let served = finish(server);
    assert_eq!((served.status, &served.stdout[..]), (Some(0), "highest = 4100\n"), "{}", served.stderr);
    assert_tells(&served);
    drop((first, second));
}
