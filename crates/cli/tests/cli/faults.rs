//! Peers that disagree, disappear, fall silent or are other programs: exit status 1, both sides say why, nothing hangs.

use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    time::Duration,
};

use garblet::{
    Bits, Config, Party, Peer, Protocol, library,
    net::{Listener, Options},
};

use crate::{
    identities::{listen, pair},
    invocation::{finish, garblet, start},
};

const KEY: &str = "0=examples/aes/key.json";
const BLOCK: &str = "1=examples/aes/block.json";
const GARBLER: [&str; 6] = ["lib:aes128", "--party", "0", "--input", KEY, "--insecure-plain-tcp"];
const EVALUATOR: [&str; 6] = ["lib:aes128", "--party", "1", "--input", BLOCK, "--insecure-plain-tcp"];
const SAME_OPTIONS: &str =
    "hint: give both parties the same version, program, protocol and parameters, and each its own party number\n";

/// Asserts that both parties ended without a result, each naming the difference from its side.
fn both_name(garbler: &[&str], evaluator: &[&str], ours: &str, theirs: &str) {
    let (listened, connected) = pair(garbler, evaluator);
    for (ran, words) in [(listened, ours), (connected, theirs)] {
        assert_eq!((ran.status, &ran.stdout[..]), (Some(1), ""), "{}", ran.stderr);
        let said = format!("the peer does not agree with us: {words}");
        assert!(ran.stderr.contains(&said) && ran.stderr.ends_with(SAME_OPTIONS), "{}", ran.stderr);
    }
}

#[test]
fn peers_that_disagree_both_name_the_difference() {
    let other_program = ["lib:aes128-expanded", "--party", "1", "--input", BLOCK, "--insecure-plain-tcp"];
    both_name(&GARBLER, &other_program, "program digest: ours ", "program digest: ours ");
    both_name(&GARBLER, &GARBLER, "party (must differ): ours 0, theirs 0", "party (must differ): ours 0, theirs 0");
    both_name(
        &GARBLER,
        &[&EVALUATOR[..], &["--protocol", "covert"]].concat(),
        "protocol: ours yao, theirs covert\n",
        "protocol: ours covert, theirs yao\n",
    );
    both_name(
        &[&GARBLER[..], &["--param", "scheme=grr3"]].concat(),
        &[&EVALUATOR[..], &["--param", "build=ahead"]].concat(),
        "build: ours stream, theirs ahead; scheme: ours grr3, theirs half-gates",
        "build: ours ahead, theirs stream; scheme: ours half-gates, theirs grr3",
    );
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    garblet(&[&["run"], &GARBLER[..], &["--listen", &address]].concat()).fails(
        2,
        &format!(
            "error: cannot listen on {address}: the port is in use\n\
             hint: another run may not have ended yet; choose another port, or port 0 for any free one\n"
        ),
    );
}

#[test]
fn a_silent_or_missing_peer() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("its address").to_string();
    let connect = ["--connect", &address, "--timeout", "1s"];
    garblet(&[&["run"], &EVALUATOR[..], &connect].concat()).fails(
        1,
        "error: no byte moved for 1 s while we waited for hello\nhint: the peer may be stopped, overloaded, or cut off\n",
    );
    drop(silent);
    let ran = garblet(&[&["run"], &EVALUATOR[..], &connect].concat());
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.starts_with(&format!("error: cannot connect to {address} within 1 s")), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: start the peer, and check the address"), "{}", ran.stderr);
}

#[test]
fn a_peer_that_is_another_program() {
    // It keeps waiting for the peer, and reports at the end who came.
    let (child, address) = listen(&[&GARBLER[..], &["--timeout", "2s"]].concat());
    let mut peer = TcpStream::connect(&address).expect("the party listens");
    peer.write_all(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").expect("it reads");
    let ran = finish(child);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("the text `GET / `: the peer is another program"), "{}", ran.stderr);
}

#[test]
fn a_peer_that_is_killed_in_the_middle() {
    let chain = "lib:aes128-chain(20000)";
    let garbler = [&[chain], &GARBLER[1..]].concat();
    let evaluator = [&[chain], &EVALUATOR[1..]].concat();
    let (mut child, address) = listen(&garbler);
    let connected = start(&[&["run"], &evaluator[..], &["--connect", &address]].concat());
    std::thread::sleep(Duration::from_millis(400));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let ran = finish(connected);
    assert_eq!((ran.status, &ran.stdout[..]), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("the peer closed the connection"), "{}", ran.stderr);
}

/// The evaluator's result is final once the garbler has its own: breaking off then takes nothing away.
#[test]
fn a_peer_that_breaks_off_after_the_result_takes_nothing_away() {
    for json in [false, true] {
        let (address, garbler) = breaks_off_after_the_result();
        let options = ["--protocol", "cut-and-choose", "--param", "circuits=9", "--connect", &address];
        let json_option: &[&str] = if json { &["--json"] } else { &[] };
        let ran = garblet(&[&["run"], &EVALUATOR[..], &options, json_option].concat());
        garbler.join().expect("it did what it was to do");
        let warning = "warning: the result is final, but the peer did not close the session properly: the peer ";
        assert!(ran.stderr.contains(warning), "{}", ran.stderr);
        if json {
            let object = ran.json();
            assert_eq!(object["outputs"]["ciphertext"]["hex"], "69c4e0d86a7b0430d8cdb78070b4c55a");
            assert!(object["closing"].as_str().is_some_and(|text| text.starts_with("the peer ")), "{object}");
        } else {
            let result = "ciphertext = 69c4e0d86a7b0430d8cdb78070b4c55a\n";
            assert_eq!((ran.status, &ran.stdout[..]), (Some(0), result), "{}", ran.stderr);
        }
    }
}

/// Starts a garbler that runs correctly and then breaks off; returns its address.
fn breaks_off_after_the_result() -> (String, std::thread::JoinHandle<()>) {
    let (say, heard) = std::sync::mpsc::channel();
    let garbler = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = Listener::bind("127.0.0.1:0").await.expect("a port");
            say.send(listener.address().to_string()).expect("it is heard");
            let channel = listener.accept(&Options::default()).await.expect("the evaluator comes");
            let program = library::find("lib:aes128").expect("it exists");
            let mut config = Config::of(Protocol::of::<garblet::cut_and_choose::CutAndChoose>());
            config.get_mut::<garblet::cut_and_choose::CutAndChoose>().unwrap().circuits = Some(9);
            let key = Bits::from_bytes(&(0..16).collect::<Vec<u8>>());
            let (rng, progress) = (&mut rand::rng(), Box::new(()));
            let peer = Peer::open(&garblet::Plan::new(program, 2, &config).unwrap(), Party(0), channel, rng, progress);
            let mut peer = peer.await.expect("both agree");
            peer.run(&[key]).await.expect("its output");
            peer.abort(&garblet::Error::Over).await;
        });
    });
    (heard.recv().expect("it listens"), garbler)
}

#[cfg(target_os = "linux")]
#[test]
fn no_party_outlives_a_killed_local_run() {
    let arguments = ["local", "lib:aes128-chain(20000)", "--input", KEY, "--input", BLOCK];
    let mut parent = start(&arguments);
    let children = || std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", parent.id())).unwrap_or_default();
    let parties: Vec<String> = until(|| {
        let found: Vec<String> = children().split_whitespace().map(String::from).collect();
        (found.len() == 2).then_some(found)
    });
    // By then both have read their jobs and are meeting.
    std::thread::sleep(Duration::from_millis(400));
    parent.kill().expect("it runs");
    parent.wait().expect("it ends");
    until(|| parties.iter().all(|id| is_over(id)).then_some(()));
}

/// Polls a condition, for less time than the run would need to end by itself, and returns the last answer.
#[cfg(target_os = "linux")]
fn until<T>(question: impl Fn() -> Option<T>) -> T {
    for _ in 0..100 {
        if let Some(answer) = question() {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("nothing after two seconds");
}

/// Returns whether a process is gone, or a zombie that its new parent has not reaped.
#[cfg(target_os = "linux")]
fn is_over(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).map_or(true, |stat| stat.contains(") Z "))
}
