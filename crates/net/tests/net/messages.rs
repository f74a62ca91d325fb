//! Whole messages over every kind of connection to a server, and strangers.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use garblet_net::{
    Call, Carrier, CertificateError, Entrance, Identity, Listener, Messages, NetError, ServerTls, WebCertificate,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rcgen::{CertificateParams, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

const MAX: usize = 100_000;
const SOON: Duration = Duration::from_millis(300);
const LATE: Duration = Duration::from_secs(20);
const PREAMBLE: [u8; 4] = [0xC8, b'g', b'v', 1];

fn identity(seed: u64) -> Identity {
    Identity::generate(&mut StdRng::seed_from_u64(seed))
}

/// An entrance of the server with identity 1, for visitors with and without TLS.
fn entrance(timeout: Duration) -> Entrance {
    let tls = ServerTls::new(&identity(1), None).expect("TLS");
    Entrance { plain: true, timeout, ..Entrance::new(tls, MAX) }
}

const SOCKET: Carrier = Carrier::WebSocket { message_bytes_max: MAX };

/// Calls of the server over every kind of connection.
fn calls() -> Vec<Call> {
    let tls = Call { patience: LATE, timeout: LATE, ..Call::new(identity(1).fingerprint()) };
    let both = [tls.clone(), Call { server: None, ..tls }];
    let ways = |call: &Call| [Carrier::Stream, SOCKET].map(|carrier| Call { carrier, ..call.clone() });
    both.iter().flat_map(ways).collect()
}

/// The server's and the visitor's end, over TCP.
async fn ends(entrance: &Entrance, call: &Call) -> (Result<Messages, NetError>, Result<Messages, NetError>) {
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.address().to_string();
    let admitted = async {
        let (stream, _) = listener.accept_stream().await?;
        entrance.admit(stream).await
    };
    tokio::join!(admitted, call.connect(&address))
}

async fn pair(call: &Call) -> (Messages, Messages) {
    let (server, visitor) = ends(&entrance(LATE), call).await;
    (server.expect("admitted"), visitor.expect("let in"))
}

/// Two ends, where the visitor writes raw bytes.
async fn raw(begin: &[u8], timeout: Duration) -> (Result<Messages, NetError>, DuplexStream) {
    let (near, mut far) = duplex(1 << 20);
    far.write_all(begin).await.expect("room");
    (entrance(timeout).admit(near).await, far)
}

/// The same after opening a WebSocket.
async fn raw_socket(timeout: Duration) -> (Messages, DuplexStream) {
    let request = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let (server, mut far) = raw(request.as_bytes(), timeout).await;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(far.read_u8().await.expect("an answer"));
    }
    assert!(answer.starts_with(b"HTTP/1.1 101 "));
    (server.expect("admitted"), far)
}

/// A frame of a browser (RFC 6455, section 5.2), whose mask is zero.
fn frame(first: u8, announced: usize, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match announced {
        0..126 => bytes.push(0x80 | announced as u8),
        126..65_536 => bytes.extend([&[0x80 | 126][..], &(announced as u16).to_be_bytes()].concat()),
        _ => bytes.extend([&[0x80 | 127][..], &(announced as u64).to_be_bytes()].concat()),
    }
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

const TEXT: u8 = 0x81;
const BINARY: u8 = 0x82;
const PING: u8 = 0x89;

fn message(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

#[tokio::test]
async fn messages_of_all_sizes_arrive_whole_and_in_order_both_ways() {
    for call in calls() {
        let (mut server, mut visitor) = pair(&call).await;
        for len in [0, 1, 125, 126, 65_535, 65_536, MAX - 1, MAX, 0] {
            let message = message(len);
            let (sent, got) = tokio::join!(visitor.send(&message), server.receive(MAX));
            sent.expect("sent");
            assert!(got.expect("comes") == message, "{len} bytes, {call:?}");
            let (sent, got) = tokio::join!(server.send(&message), visitor.receive(MAX));
            sent.expect("sent");
            assert!(got.expect("comes") == message, "{len} bytes, {call:?}");
        }
        // Several messages wait until they are received.
        for len in [3, 0, 7] {
            server.send(&message(len)).await.expect("sent");
        }
        let (closed, ()) = tokio::join!(server.close(), async {
            for len in [3, 0, 7] {
                assert_eq!(visitor.receive(MAX).await.expect("comes"), message(len));
            }
            let end = visitor.receive(MAX).await.expect_err("the end");
            assert!(matches!(end, NetError::PeerClosed { .. }), "{end}");
            visitor.close().await.expect("closes");
        });
        closed.expect("closes");
    }
}

#[tokio::test]
async fn messages_that_are_too_long_are_refused() {
    for call in calls() {
        let (mut server, mut visitor) = pair(&call).await;
        let long = message(MAX + 1);
        let (_, got) = tokio::join!(visitor.send(&long), server.receive(MAX));
        let error = got.expect_err("too long").to_string();
        assert_eq!(error, format!("message too large: expected at most {MAX} bytes, got {}", MAX + 1), "{call:?}");

        let (mut server, mut visitor) = pair(&call).await;
        let (sent, got) = tokio::join!(server.send(&long[..11]), visitor.receive(10));
        sent.expect("on its way");
        assert!(matches!(got, Err(NetError::TooLarge { limit: 10, got: 11, .. })), "{call:?}");
    }
}

/// Wrong lengths are refused before any part of the message has arrived.
#[tokio::test]
async fn announced_lengths_are_bounded() {
    let (server, mut far) = raw(&PREAMBLE, LATE).await;
    far.write_all(&u32::MAX.to_le_bytes()).await.expect("room");
    let error = server.expect("admitted").receive(MAX).await.expect_err("too long");
    assert!(matches!(error, NetError::TooLarge { got: 0xFFFF_FFFF, .. }), "{error}");

    for announced in [MAX + 1, usize::MAX >> 1] {
        let (mut server, mut far) = raw_socket(LATE).await;
        far.write_all(&frame(BINARY, announced, &[])).await.expect("room");
        let error = server.receive(MAX).await.expect_err("too long");
        assert!(matches!(error, NetError::TooLarge { got, .. } if got == announced), "{error}");
    }
}

#[tokio::test]
async fn pieces_of_a_message_are_put_together() {
    let (mut server, mut far) = raw_socket(LATE).await;
    // Two fragments with a ping between them.
    let parts = [frame(0x02, 2, b"he"), frame(PING, 1, b"?"), frame(0x80, 3, b"llo")].concat();
    far.write_all(&parts).await.expect("room");
    assert_eq!(server.receive(MAX).await.expect("comes"), b"hello");
    server.send(b"!").await.expect("sent");
    let mut answers = [0; 6];
    far.read_exact(&mut answers).await.expect("answers");
    assert_eq!(answers, [0x8A, 1, b'?', 0x82, 1, b'!']);
}

#[tokio::test]
async fn text_and_garbage_are_refused() {
    let (mut server, mut far) = raw_socket(LATE).await;
    far.write_all(&frame(TEXT, 5, b"hello")).await.expect("room");
    let error = server.receive(MAX).await.expect_err("text").to_string();
    assert_eq!(error, "unexpected data from the peer: expected a binary message, got a text message");
    // The browser receives status 1003, unsupported data.
    let mut told = [0; 4];
    far.read_exact(&mut told).await.expect("told");
    assert_eq!(told, [0x88, 2, 0x03, 0xEB]);

    for bytes in [&[0xF2, 0x80, 0, 0, 0, 0][..], &[BINARY, 0x01, 7], &frame(TEXT, 1, &[0xFF]), &frame(0x80, 0, &[])] {
        let (mut server, mut far) = raw_socket(LATE).await;
        far.write_all(bytes).await.expect("room");
        let error = server.receive(MAX).await.expect_err("nonsense");
        assert!(matches!(error, NetError::Malformed { .. }), "{bytes:?}: {error}");
    }
}

/// A peer that only sends pings cannot block forever, however fast it is.
#[tokio::test]
async fn pings_are_not_messages() {
    let (mut server, mut far) = raw_socket(LATE).await;
    let flood = async {
        let pings = frame(PING, 125, &[1; 125]).repeat(20);
        while far.write_all(&pings).await.is_ok() {
            let _ = far.read(&mut [0; 1 << 16]).await;
        }
    };
    let received = async { server.receive(10).await };
    tokio::select! {
        error = received => assert!(matches!(error, Err(NetError::TooLarge { .. })), "{error:?}"),
        () = flood => panic!("the server left without a word"),
    }
}

#[tokio::test]
async fn silent_peers_time_out() {
    for call in calls() {
        let (mut server, visitor) = pair(&call).await;
        server.set_timeout(SOON);
        let error = server.receive(MAX).await.expect_err("silent");
        assert!(matches!(error, NetError::Timeout { .. }), "{error}");
        drop(visitor);
    }
    // In the middle of a message, and of its length.
    for begin in [&[5, 0, 0, 0, 1][..], &[5, 0]] {
        let (server, mut far) = raw(&PREAMBLE, SOON).await;
        far.write_all(begin).await.expect("room");
        let error = server.expect("admitted").receive(MAX).await.expect_err("silent");
        assert!(matches!(error, NetError::TooSlow { .. } | NetError::Timeout { .. }), "{error}");
    }
    let (mut server, mut far) = raw_socket(SOON).await;
    far.write_all(&frame(BINARY, 5, b"1")).await.expect("room");
    let error = server.receive(MAX).await.expect_err("silent");
    assert!(matches!(error, NetError::TooSlow { .. } | NetError::Timeout { .. }), "{error}");
}

/// A peer that does not read: the pipe is full, and the sender does not wait forever.
#[tokio::test]
async fn peers_that_do_not_read_time_out() {
    for socket in [false, true] {
        let (mut server, _far) = match socket {
            true => raw_socket(SOON).await,
            false => {
                let (server, far) = raw(&PREAMBLE, SOON).await;
                (server.expect("admitted"), far)
            }
        };
        let begin = Instant::now();
        let error = server.send(&message(3 << 20)).await.expect_err("no room");
        assert!(matches!(error, NetError::TooSlow { .. } | NetError::Timeout { .. }), "{error}");
        assert!(begin.elapsed() < LATE);
    }
}

#[tokio::test]
async fn bytes_that_arrive_one_by_one_are_accepted_if_fast_enough() {
    for socket in [false, true] {
        let bytes =
            if socket { frame(BINARY, 200, &message(200)) } else { [&[200, 0, 0, 0][..], &message(200)].concat() };
        let (mut server, mut far) = match socket {
            true => raw_socket(LATE).await,
            false => {
                let (server, far) = raw(&PREAMBLE, LATE).await;
                (server.expect("admitted"), far)
            }
        };
        let dribble = async {
            for byte in &bytes {
                far.write_all(&[*byte]).await.expect("room");
                tokio::task::yield_now().await;
            }
        };
        let (got, ()) = tokio::join!(server.receive(MAX), dribble);
        assert_eq!(got.expect("comes"), message(200));
        // Slower than the least rate by more than a time-out.
        server.set_timeout(SOON);
        let dribble = async {
            for byte in &bytes {
                tokio::time::sleep(SOON / 3).await;
                if far.write_all(&[*byte]).await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            got = server.receive(MAX) => assert!(matches!(got, Err(NetError::TooSlow { .. })), "{got:?}"),
            () = dribble => panic!("all came"),
        }
    }
}

#[tokio::test]
async fn peers_that_leave_are_detected() {
    for call in calls() {
        let (mut server, visitor) = pair(&call).await;
        drop(visitor);
        let error = server.receive(MAX).await.expect_err("gone");
        assert!(matches!(error, NetError::PeerClosed { .. }), "{call:?}: {error}");
    }
    for begin in [&[5, 0, 0, 0, 1][..], &[5, 0]] {
        let (server, mut far) = raw(&PREAMBLE, LATE).await;
        far.write_all(begin).await.expect("room");
        drop(far);
        let error = server.expect("admitted").receive(MAX).await.expect_err("cut");
        assert!(matches!(error, NetError::PeerClosed { .. }), "{error}");
    }
    let (mut server, mut far) = raw_socket(LATE).await;
    far.write_all(&frame(BINARY, 5, b"1")).await.expect("room");
    drop(far);
    let error = server.receive(MAX).await.expect_err("cut");
    assert!(matches!(error, NetError::PeerClosed { .. }), "{error}");
}

/// After one direction is closed, earlier data still arrives, and the other direction works.
#[tokio::test]
async fn half_closed_connections_receive_everything() {
    let (server, mut far) = raw(&PREAMBLE, LATE).await;
    far.write_all(&[2, 0, 0, 0, 8, 9]).await.expect("room");
    far.shutdown().await.expect("half closed");
    let mut server = server.expect("admitted");
    assert_eq!(server.receive(MAX).await.expect("comes"), [8, 9]);
    server.send(&[7]).await.expect("still open");
    assert!(matches!(server.receive(MAX).await, Err(NetError::PeerClosed { .. })));
    let mut got = [0; 5];
    far.read_exact(&mut got).await.expect("comes");
    assert_eq!(got, [1, 0, 0, 0, 7]);
}

#[tokio::test]
async fn a_dropped_receive_loses_nothing() {
    for call in calls() {
        let (mut server, mut visitor) = pair(&call).await;
        let mut heard = Vec::new();
        let speak = async {
            for len in [1, 60_000, MAX] {
                visitor.send(&message(len)).await.expect("sent");
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
        };
        let hear = async {
            while heard.len() < 3 {
                if let Ok(got) = tokio::time::timeout(Duration::from_micros(300), server.receive(MAX)).await {
                    heard.push(got.expect("comes"));
                }
            }
        };
        tokio::join!(speak, hear);
        assert!(heard == [1, 60_000, MAX].map(message), "{call:?}");
    }
}

#[tokio::test]
async fn strangers_are_not_admitted() {
    for (begin, text) in [
        (
            &[0u8; 8][..],
            "malformed first bytes of a visitor: expected a visitor's preamble, or a browser's request for a WebSocket, got byte 00",
        ),
        (
            &[0xC8, b'g', b'v', 2],
            "malformed first bytes of a visitor: expected a visitor's preamble, or a browser's request for a WebSocket, got bytes c8 [67, 76, 02]",
        ),
        (
            b"\x16 is no TLS",
            "malformed TLS handshake: expected TLS 1.3 from a program or a browser, got bytes that are not TLS",
        ),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "malformed WebSocket: expected data according to RFC 6455, got "),
        (b"", "no byte moved for 0.3 s while we waited for a visitor's first bytes"),
    ] {
        let error = raw(begin, SOON).await.0.err().expect("refused").to_string();
        assert!(error.starts_with(text), "{error}");
    }
    let (near, mut far) = duplex(100);
    far.write_all(&PREAMBLE).await.expect("room");
    let secured = Entrance { plain: false, ..entrance(SOON) };
    let error = secured.admit(near).await.err().expect("refused").to_string();
    assert_eq!(error, "malformed first byte of a visitor: expected a TLS handshake, got a program without TLS");
    let (near, mut far) = duplex(100);
    far.write_all(&[0x16]).await.expect("room");
    let error = Entrance { tls: None, ..entrance(SOON) }.admit(near).await.err().expect("refused").to_string();
    assert!(error.ends_with("expected no TLS, which this server does not offer, got a TLS handshake"), "{error}");
}

#[tokio::test]
async fn scripts_of_other_pages_are_refused() {
    let known = Entrance { origins: Some(vec!["https://friends.example".into()]), ..entrance(LATE) };
    for (origin, entrance, answer) in [
        ("Origin: https://friends.example\r\n", &known, "HTTP/1.1 101 "),
        ("Origin: https://evil.example\r\n", &known, "HTTP/1.1 403 "),
        ("Origin: https://friends.example.evil\r\n", &known, "HTTP/1.1 403 "),
        ("Origin: https://friends.examplf\r\n", &known, "HTTP/1.1 403 "),
        ("Origin: null\r\n", &known, "HTTP/1.1 403 "),
        ("Origin: caf\u{e9}\u{9b}31m\r\n", &known, "HTTP/1.1 403 "),
        // A program, and an entrance for all pages.
        ("", &known, "HTTP/1.1 101 "),
        ("Origin: https://evil.example\r\n", &entrance(LATE), "HTTP/1.1 101 "),
    ] {
        let (near, mut far) = duplex(1 << 20);
        let request = format!(
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{origin}\r\n"
        );
        far.write_all(request.as_bytes()).await.expect("room");
        let admitted = entrance.admit(near).await;
        let mut said = vec![0; answer.len()];
        far.read_exact(&mut said).await.expect("an answer");
        assert_eq!(String::from_utf8_lossy(&said), answer, "{origin}");
        let refused = admitted.err().map(|error| error.to_string());
        // Terminal controls are escaped as numbers.
        let page = origin.trim_start_matches("Origin: ").trim_end().as_bytes().escape_ascii();
        let text = format!("malformed the page of a browser (Origin): expected https://friends.example, got {page}");
        assert_eq!(refused, answer.contains("403").then_some(text));
    }
}

#[tokio::test]
async fn nothing_is_sent_after_a_message_that_was_cut_off() {
    for call in calls() {
        let (mut server, _visitor) = pair(&call).await;
        let large = vec![7; 64 << 20];
        let sent = tokio::time::timeout(Duration::from_millis(50), server.send(&large)).await;
        assert!(sent.is_err(), "nobody reads it");
        assert!(matches!(server.send(b"a").await, Err(NetError::CutOff)));
    }
}

#[tokio::test]
async fn a_server_with_another_identity_is_refused() {
    for carrier in [Carrier::Stream, SOCKET] {
        let call = Call { carrier, patience: LATE, ..Call::new(identity(2).fingerprint()) };
        let (server, visitor) = ends(&entrance(LATE), &call).await;
        let error = visitor.err().expect("not the server");
        assert!(matches!(error, NetError::UnknownIdentity { got, .. } if got == identity(1).fingerprint()), "{error}");
        assert!(server.is_err());
    }
}

/// A certificate and key in PEM files, as from a web certificate authority.
fn certificate(folder: &Path) -> (PathBuf, PathBuf, rcgen::Certificate) {
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key");
    let params = CertificateParams::new(vec!["cloud.example".into()]).expect("a name");
    let certificate = params.self_signed(&key).expect("signed");
    let (chain, private) = (folder.join("chain.pem"), folder.join("key.pem"));
    std::fs::write(&chain, certificate.pem()).expect("written");
    std::fs::write(&private, key.serialize_pem()).expect("written");
    set_mode(&private, 0o640);
    (chain, private, certificate)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}

/// On one port, a browser sees the web certificate, and programs see the identity that they have pinned.
#[tokio::test]
async fn browsers_and_programs_each_see_their_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let (chain, key, certificate) = certificate(folder.path());
    let web = WebCertificate::read(&chain, &key).expect("a certificate");
    let tls = ServerTls::new(&identity(1), Some(web)).expect("TLS");
    let entrance = Entrance { timeout: LATE, ..Entrance::new(tls.clone(), MAX) };
    for carrier in [Carrier::Stream, SOCKET] {
        let call = Call { carrier, ..Call::new(identity(1).fingerprint()) };
        let (server, visitor) = ends(&entrance, &call).await;
        let (mut server, mut visitor) = (server.expect("admitted"), visitor.expect("let in"));
        visitor.send(b"a").await.expect("sent");
        assert_eq!(server.receive(MAX).await.expect("comes"), b"a");
    }

    browse(&entrance, &certificate).await;
    // The web certificate is renewed.
    let (chain, key, renewed) = self::certificate(folder.path());
    tls.renew(WebCertificate::read(&chain, &key).expect("a certificate"));
    browse(&entrance, &renewed).await;
}

/// A browser: web roots, a server name, and a WebSocket.
async fn browse(entrance: &Entrance, certificate: &rcgen::Certificate) {
    let (near, far) = duplex(1 << 20);
    let entrance = entrance.clone();
    let admitted = tokio::spawn(async move { entrance.admit(near).await });
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der().clone()).expect("a certificate");
    let mut config = rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let name = "cloud.example".try_into().expect("a name");
    let stream =
        tokio_rustls::TlsConnector::from(std::sync::Arc::new(config)).connect(name, far).await.expect("trusts");
    let call = Call { server: None, carrier: SOCKET, ..Call::new(identity(1).fingerprint()) };
    let mut browser = call.over(stream, "cloud.example", LATE).await.expect("opens");
    let mut server = admitted.await.expect("runs").expect("admitted");
    let (sent, got) = tokio::join!(browser.send(b"hello"), server.receive(MAX));
    sent.expect("sent");
    assert_eq!(got.expect("comes"), b"hello");
}

#[test]
fn malformed_certificate_files_are_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let (chain, key, _) = certificate(folder.path());
    let refused = |chain: &Path, key: &Path| {
        let error = WebCertificate::read(chain, key).err().expect("refused");
        assert!(!error.hint().is_empty());
        error
    };
    let none = folder.path().join("none");
    assert!(
        matches!(refused(&none, &key), CertificateError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    );
    assert!(refused(&key, &key).to_string().ends_with("expected certificates in PEM, got none"));
    set_mode(&chain, 0o600);
    let error = refused(&chain, &chain).to_string();
    assert!(error.ends_with("expected a private key in PEM, got something else, or a damaged one"), "{error}");
    let other = tempfile::tempdir().expect("a folder");
    let (_, other_key, _) = certificate(other.path());
    assert!(matches!(refused(&chain, &other_key), CertificateError::Mismatch { .. }));
    set_mode(&key, 0o644);
    #[cfg(unix)]
    assert!(matches!(refused(&chain, &key), CertificateError::Exposed { mode: 0o644, .. }));
}

#[tokio::test]
async fn a_peer_that_does_not_close_causes_only_a_short_wait() {
    for call in calls() {
        let (mut server, visitor) = pair(&call).await;
        server.send(b"last words").await.expect("sent");
        server.set_timeout(SOON);
        let begin = Instant::now();
        server.close().await.expect("closed");
        assert!(begin.elapsed() < LATE);
        drop(visitor);
    }
}
