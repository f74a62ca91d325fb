//! The same conversation over every transport, and TLS with parties that must be refused.

use std::future::ready;
use std::time::Duration;

use garblet_net::{
    Accuses, Advice, Blame, Cause, Channel, Fingerprint, Hello, Identity, Listener, NetError, Options, SimulatedLink,
    Tls, Traffic, connect, connect_over, memory_pair,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

type Ends = (Result<Channel, NetError>, Result<Channel, NetError>);

fn identity(seed: u64) -> Identity {
    Identity::generate(&mut StdRng::seed_from_u64(seed))
}

/// Options of the party with this identity, which trusts these others.
fn trusting(own: u64, trusted: &[u64]) -> Options {
    let trusted = trusted.iter().map(|&seed| (format!("peer {seed}"), identity(seed).fingerprint()));
    Options { tls: Some(Tls::new(identity(own), trusted)), ..plain() }
}

fn plain() -> Options {
    Options { timeout: Duration::from_secs(10), ..Options::default() }
}

/// The same for a party that will refuse its caller.
fn soon(options: Options) -> Options {
    let advice: Advice = |error| match error {
        NetError::UnknownIdentity { got, .. } => Some(format!("trust {got}")),
        NetError::TlsMismatch { .. } => Some("both or neither".into()),
        _ => None,
    };
    Options { patience: Duration::from_millis(300), advice: Some(advice), ..options }
}

/// The accepting and the connecting side.
async fn ends(accepting: &Options, connecting: &Options) -> Ends {
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.address().to_string();
    tokio::join!(listener.accept(accepting), connect(&address, connecting))
}

/// Both sides after exchanging hellos.
async fn pair(accepting: &Options, connecting: &Options) -> (Channel, Channel) {
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.address().to_string();
    tokio::join!(greeted(listener.accept(accepting), 0), greeted(connect(&address, connecting), 1))
}

async fn greeted(channel: impl Future<Output = Result<Channel, NetError>>, party: u16) -> Channel {
    let mut channel = channel.await.expect("connects");
    Hello::new("yao", party, 2, [1; 32]).exchange(&mut channel).await.expect("agrees");
    channel
}

/// The same through a WebSocket.
async fn web_pair(accepting: &Options, connecting: &Options) -> (Channel, Channel) {
    let listener = Listener::bind("ws://127.0.0.1:0").await.expect("a free port");
    let address = format!("ws://{}/any/path", listener.address());
    tokio::join!(greeted(listener.accept(accepting), 0), greeted(connect(&address, connecting), 1))
}

#[tokio::test]
async fn a_channel_works_over_any_open_stream() {
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let stream = TcpStream::connect(listener.address()).await.expect("listens");
    let (ours, theirs) = (trusting(1, &[2]), trusting(2, &[1]));
    let connected = async { connect_over(stream, &theirs).await };
    let [accepted, connected] = traffic(tokio::join!(greeted(listener.accept(&ours), 0), greeted(connected, 1))).await;
    assert_eq!(accepted.bytes_sent, connected.bytes_received);
}

/// The expected error of a side.
fn error(end: Result<Channel, NetError>) -> NetError {
    end.err().expect("no connection")
}

/// Tables and labels back and forth.
async fn conversation(channel: &mut Channel, party: u16) -> Result<(), NetError> {
    let data: Vec<u8> = (0..1_000_003u32).map(|i| (i % 251) as u8).collect();
    let mut got = vec![0; data.len()];
    for turn in 0..4 {
        if turn % 2 == party {
            channel.send_bytes(&data[..7]).await?;
            channel.send_bytes(&data[7..]).await?;
        } else {
            for piece in got.chunks_mut(99_991) {
                channel.receive_bytes(piece).await?;
            }
            assert!(got == data);
        }
    }
    channel.flush().await
}

async fn traffic((mut left, mut right): (Channel, Channel)) -> [Traffic; 2] {
    let run = async |mut channel: Channel, party| {
        conversation(&mut channel, party).await?;
        channel.close().await
    };
    left.set_timeout(Duration::from_secs(10));
    right.set_timeout(Duration::from_secs(10));
    tokio::try_join!(run(left, 0), run(right, 1)).expect("an honest conversation").into()
}

#[tokio::test]
async fn every_transport_carries_the_same_conversation_with_the_same_counters() {
    let (left, right) = memory_pair();
    let [left, right] = traffic(tokio::join!(greeted(ready(Ok(left)), 0), greeted(ready(Ok(right)), 1))).await;
    assert_eq!((left.bytes_sent, left.bytes_received), (right.bytes_received, right.bytes_sent));
    assert_eq!((left.rounds, right.rounds), (3, 2));
    let link: SimulatedLink = "1ms,1gbit".parse().expect("a link");
    let (ours, theirs) = (trusting(1, &[2]), trusting(2, &[1]));
    let linked = |options: &Options| Options { link, ..options.clone() };
    assert_eq!(traffic(pair(&plain(), &plain()).await).await, [left, right]);
    assert_eq!(traffic(pair(&linked(&plain()), &linked(&plain())).await).await, [left, right]);
    assert_eq!(traffic(pair(&ours, &theirs).await).await, [left, right]);
    assert_eq!(traffic(pair(&linked(&ours), &linked(&theirs)).await).await, [left, right]);
    assert_eq!(traffic(web_pair(&plain(), &plain()).await).await, [left, right]);
    assert_eq!(traffic(web_pair(&linked(&ours), &linked(&theirs)).await).await, [left, right]);
}

#[tokio::test]
async fn both_sides_use_a_websocket_or_neither() {
    let (ours, theirs) = (soon(trusting(1, &[2])), soon(trusting(2, &[1])));
    for (bound, scheme, why) in
        [("ws://127.0.0.1:0", "", "malformed WebSocket"), ("127.0.0.1:0", "ws://", "malformed TLS handshake")]
    {
        let listener = Listener::bind(bound).await.expect("a free port");
        let address = format!("{scheme}{}", listener.address());
        let (accepted, connected) = tokio::join!(listener.accept(&ours), connect(&address, &theirs));
        assert!(connected.is_err());
        let refused = error(accepted).to_string();
        assert!(refused.contains(why), "{refused}");
    }
}

#[tokio::test]
async fn a_peer_in_a_websocket_proves_its_identity() {
    let listener = Listener::bind("ws://127.0.0.1:0").await.expect("a free port");
    let address = format!("ws://{}", listener.address());
    let (ours, stranger) = (soon(trusting(1, &[2])), soon(trusting(3, &[1])));
    let (accepted, connected) = tokio::join!(listener.accept(&ours), connect(&address, &stranger));
    assert!(matches!(error(connected), NetError::IdentityRejected { .. }));
    let refused = error(accepted).to_string();
    assert!(refused.contains("the peer is unknown"), "{refused}");
}

#[tokio::test]
async fn pages_are_admitted_only_where_they_prove_an_identity() {
    let page = "Origin: http://localhost:8000\r\n";
    for (options, origin, answer) in [
        (soon(plain()), page, "HTTP/1.1 403 "),
        (soon(plain()), "Origin: null\r\n", "HTTP/1.1 403 "),
        (soon(plain()), "", "HTTP/1.1 101 "),
        (soon(trusting(1, &[2])), page, "HTTP/1.1 101 "),
        (soon(trusting(1, &[2])), "", "HTTP/1.1 101 "),
    ] {
        let listener = Listener::bind("ws://127.0.0.1:0").await.expect("a free port");
        let asks = async {
            let mut stream = TcpStream::connect(listener.address()).await.expect("listens");
            let request = format!(
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{origin}\r\n"
            );
            stream.write_all(request.as_bytes()).await.expect("sent");
            let mut said = vec![0; answer.len()];
            stream.read_exact(&mut said).await.expect("an answer");
            assert_eq!(String::from_utf8_lossy(&said), answer, "{origin}");
        };
        let (accepted, ()) = tokio::join!(listener.accept(&options), asks);
        let refused = error(accepted).to_string();
        let named = "malformed the page of a browser (Origin): expected none, got ";
        assert_eq!(refused.contains(named), answer.contains("403"), "{refused}");
    }
}

#[tokio::test]
async fn the_same_bytes_have_different_digests_over_each_tls_connection() {
    let digests = async |accepting: Options, connecting: Options| {
        let (mut left, mut right) = pair(&accepting, &connecting).await;
        let (ours, theirs) = (left.watch(), right.watch());
        tokio::try_join!(conversation(&mut left, 0), conversation(&mut right, 1)).expect("an honest conversation");
        assert_eq!([ours.sent(), ours.received()], [theirs.received(), theirs.sent()]);
        [ours.sent().digest, ours.received().digest]
    };
    let secured = async || digests(trusting(1, &[2]), trusting(2, &[1])).await;
    let (first, second) = (secured().await, secured().await);
    assert!(first[0] != second[0] && first[1] != second[1]);
    // Without TLS there is no secret to key them with.
    assert_eq!(digests(plain(), plain()).await, digests(plain(), plain()).await);
}

#[tokio::test]
async fn a_peer_that_ends_is_detected_on_every_transport() {
    let (mut left, right) = web_pair(&trusting(1, &[2]), &trusting(2, &[1])).await;
    drop(right);
    let error = left.receive_bytes(&mut [0]).await.expect_err("gone");
    assert!(matches!(error, NetError::PeerClosed { .. }), "{error}");
    for (ours, theirs) in [(plain(), plain()), (trusting(1, &[2]), trusting(2, &[1]))] {
        let (mut left, right) = pair(&ours, &theirs).await;
        drop(right);
        let error = left.receive_bytes(&mut [0]).await.expect_err("gone");
        assert!(matches!(error, NetError::PeerClosed { .. }), "{error}");

        let (mut left, right) = pair(&ours, &theirs).await;
        let (_, received) = tokio::join!(right.abort(), async {
            let received = left.receive_bytes(&mut [0]).await;
            drop(left);
            received
        });
        let error = received.expect_err("given up");
        assert!(matches!(error, NetError::PeerAborted { .. }), "{error}");

        let (mut left, mut right) = pair(&ours, &theirs).await;
        // The peer gives up in the middle of a stream that it has not read.
        right.receive_bytes(&mut [0; 0]).await.expect("nothing");
        let send = async {
            loop {
                left.send_bytes(&[0; 100_000]).await?;
            }
        };
        let (sent, _): (Result<(), NetError>, _) = tokio::join!(send, right.abort());
        let error = sent.expect_err("given up");
        assert!(matches!(error, NetError::PeerAborted { .. } | NetError::PeerClosed { .. }), "{error}");
    }
}

/// The identity that a side reports as unknown or rejected.
fn verdict(error: &NetError) -> (&'static str, Fingerprint) {
    match error {
        NetError::UnknownIdentity { got, .. } => ("unknown", *got),
        NetError::IdentityRejected { ours } => ("rejected", *ours),
        other => panic!("not about identities: {other:?}"),
    }
}

/// The connections refused by a side that nobody else called.
fn refused<const COUNT: usize>(end: Result<Channel, NetError>) -> [String; COUNT] {
    match error(end) {
        NetError::AcceptTimeout { refused, .. } => refused.try_into().expect("the expected number"),
        other => panic!("expected to wait for others, got {other:?}"),
    }
}

/// Asserts that the caller does not trust party 1.
fn assert_rejects_us(end: Result<Channel, NetError>) {
    let [refused] = refused(end);
    let ours = identity(1).fingerprint();
    assert!(refused.contains(&format!("the peer does not trust us: our fingerprint is {ours}")), "{refused}");
}

#[tokio::test]
async fn both_sides_name_the_rejected_identity() {
    // The connecting side is not trusted.
    let (accepted, connected) = ends(&soon(trusting(1, &[3])), &trusting(2, &[1])).await;
    assert_eq!(verdict(&error(connected)), ("rejected", identity(2).fingerprint()));
    let [refused] = refused(accepted);
    let known = identity(3).fingerprint();
    let got = identity(2).fingerprint();
    assert!(refused.contains(&format!("the peer is unknown: expected peer 3 {known}, got {got}")), "{refused}");
    assert!(refused.ends_with(&format!(" (trust {got})")), "{refused}");

    // The accepting side is not trusted.
    let (accepted, connected) = ends(&soon(trusting(1, &[2])), &trusting(2, &[3, 4])).await;
    assert_rejects_us(accepted);
    assert_eq!(verdict(&error(connected)), ("unknown", identity(1).fingerprint()));

    // Nobody is trusted yet.
    let (accepted, connected) = ends(&soon(trusting(1, &[])), &trusting(2, &[])).await;
    assert_rejects_us(accepted);
    assert!(error(connected).to_string().contains("nobody is trusted yet"));
}

#[tokio::test]
async fn any_of_several_trusted_peers_may_connect() {
    let (accepted, connected) = ends(&trusting(1, &[5, 2, 6]), &trusting(2, &[1])).await;
    assert!(accepted.is_ok() && connected.is_ok());
}

/// The messages of the two sides when one uses TLS and the other does not.
async fn mixed(accepting: Options, connecting: Options) -> (String, String) {
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.address().to_string();
    let connect = async {
        let error = match connect(&address, &connecting).await {
            Ok(mut channel) => Hello::new("yao", 1, 2, [1; 32]).exchange(&mut channel).await.expect_err("a mismatch"),
            Err(error) => error,
        };
        assert!(matches!(error, NetError::TlsMismatch { .. }), "{error}");
        error.to_string()
    };
    let accepting = soon(accepting);
    let (accepted, connected) = tokio::join!(listener.accept(&accepting), connect);
    let [refused] = refused(accepted);
    assert!(refused.ends_with(" (both or neither)"), "{refused}");
    (refused, connected)
}

#[tokio::test]
async fn tls_against_plain_is_explained() {
    let (accepting, connecting) = mixed(plain(), trusting(2, &[1])).await;
    assert!(accepting.contains("the peer uses TLS, this side does not"), "{accepting}");
    assert!(connecting.contains("TLS"), "{connecting}");
    let (accepting, connecting) = mixed(trusting(1, &[2]), plain()).await;
    assert!(accepting.contains("malformed TLS handshake"), "{accepting}");
    assert!(accepting.contains("got bytes that are not TLS"), "{accepting}");
    assert!(connecting.contains("the peer uses TLS, this side does not"), "{connecting}");
}

#[tokio::test]
async fn a_peer_that_stalls_in_the_tls_handshake_times_out() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = silent.local_addr().expect("bound").to_string();
    let options = soon(Options { timeout: Duration::from_millis(50), ..trusting(1, &[2]) });
    let error = connect(&address, &options).await.err().expect("silence");
    assert_eq!(error.to_string(), "no byte moved for 0.05 s while we waited for the TLS handshake");
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let (accepted, _stream) = tokio::join!(listener.accept(&options), TcpStream::connect(listener.address()));
    let [refused] = refused(accepted);
    assert!(refused.ends_with("no byte moved for 0.05 s while we waited for the TLS handshake"), "{refused}");
}

#[tokio::test]
async fn flipped_bytes_under_tls_are_detected() {
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let middle = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let target = listener.address();
    let address = middle.local_addr().expect("bound").to_string();
    // A relay that flips a bit of the 100,000th byte from the connecting side.
    let relay = async {
        let (mut near, _) = middle.accept().await?;
        let mut far = TcpStream::connect(target).await?;
        let (mut near_reader, mut near_writer) = near.split();
        let (mut far_reader, mut far_writer) = far.split();
        let there = async {
            let (mut buffer, mut seen) = (vec![0; 4096], 0);
            loop {
                let count = near_reader.read(&mut buffer).await?;
                if count == 0 {
                    return far_writer.shutdown().await;
                }
                if (seen..seen + count).contains(&100_000) {
                    buffer[100_000 - seen] ^= 1;
                }
                seen += count;
                far_writer.write_all(&buffer[..count]).await?;
            }
        };
        tokio::try_join!(there, tokio::io::copy(&mut far_reader, &mut near_writer)).map(drop)
    };
    let (ours, theirs) = (trusting(1, &[2]), trusting(2, &[1]));
    let receive = async {
        let mut channel = listener.accept(&ours).await?;
        channel.receive_bytes(&mut vec![0; 200_000]).await
    };
    let send = async {
        let mut channel = connect(&address, &theirs).await?;
        channel.send_bytes(&vec![9; 200_000]).await?;
        channel.flush().await?;
        channel.receive_bytes(&mut [0]).await
    };
    let (received, sent, _) = tokio::join!(receive, send, relay);
    let error = received.expect_err("a flipped bit");
    assert!(matches!(error, NetError::Tampered { .. }), "{error}");
    assert_eq!(error.accuses(1), Some(Blame::seen(1, Cause::Gone)), "it is not the peer's doing");
    assert!(sent.is_err());
}
