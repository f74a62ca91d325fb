//! A peer from another build, which computes the same gates in another order.

use garblet::{
    Program,
    circuit::{Schedule, Windows},
    library, net,
};
use garblet_garble::Schedules;

use crate::identities::listen;
use crate::invocation::finish;

/// The order of a program's gates in a build with these windows, as in its hello.
fn schedule(program: &Program, windows: Windows) -> String {
    let schedules: Vec<Schedule> =
        program.components().iter().map(|component| Schedule::within(component.circuit(), windows)).collect();
    Schedules::ready(program, &schedules).digest().to_string()
}

/// The hello of party 0 at `address`, received by a caller that agrees in nothing.
async fn hello(address: &str) -> net::Hello {
    let mut channel = dial(address).await;
    net::Hello::new("none", 1, 2, [0; 32]).greet(&mut channel).await.expect("a hello")
}

/// Says hello to party 0 at `address` as a party 1 that is identical except for this order of gates. Returns the outcome and the number of received
/// bytes.
async fn greet(address: &str, theirs: &net::Hello, order: String) -> (Result<net::Hello, net::NetError>, u64) {
    let mut channel = dial(address).await;
    let mut ours = theirs.clone();
    ours.party = 1;
    for (name, value) in &mut ours.parameters {
        if name == net::SCHEDULE {
            *value = order.clone();
        }
    }
    let agreed = ours.exchange(&mut channel).await;
    // Read until the other side closes: not a byte of the protocol arrives.
    let rest = channel.receive::<net::Hello>().await;
    assert!(matches!(rest, Err(net::NetError::PeerClosed { .. } | net::NetError::PeerAborted { .. })), "{rest:?}");
    (agreed, channel.traffic().bytes_received)
}

async fn dial(address: &str) -> net::Channel {
    let stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
    let (reader, writer) = stream.into_split();
    net::Channel::new(reader, writer)
}

#[test]
fn a_peer_with_other_windows_is_refused_before_anything_is_sent() {
    let program = library::find("lib:aes128").expect("there is one");
    let ours = schedule(&program, Windows::STANDARD);
    let small = Windows { wide_gates: Windows::STANDARD.gates, ..Windows::STANDARD };
    let theirs = schedule(&program, small);
    let input = "0=examples/aes/key.json";
    for protocol in ["yao", "authenticated"] {
        let arguments =
            ["lib:aes128", "--protocol", protocol, "--party", "0", "--input", input, "--insecure-plain-tcp"];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (child, address) = listen(&arguments);
        let hello = runtime.block_on(hello(&address));
        assert_eq!(finish(child).status, Some(1), "{protocol} agrees with nobody who agrees in nothing");
        let (child, address) = listen(&arguments);
        let (agreed, received) = runtime.block_on(greet(&address, &hello, theirs.clone()));
        assert_eq!(hello.parameter(net::SCHEDULE), Some(&ours[..]), "{protocol}");
        let difference = format!("the peer does not agree with us: schedule: ours {theirs}, theirs {ours}");
        assert_eq!(agreed.expect_err("another order").to_string(), difference);
        assert_eq!(received, hello.encoded_bytes(), "{protocol} says nothing but hello");
        let difference = format!("error: the peer does not agree with us: schedule: ours {ours}, theirs {theirs}\n");
        finish(child).fails(
            1,
            &(difference
                + "hint: give both parties the same version, program, protocol and parameters, and each its own party number\n"),
        );
    }
}
