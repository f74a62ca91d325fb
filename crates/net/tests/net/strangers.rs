//! Strangers that connect to a party that waits for its peer: silent ones, port scans, other programs, other identities.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use garblet_net::{Channel, Hello, Identity, Listener, Mesh, NetError, Options, PeersFile, Tls, connect};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Longer than anything here takes, so that waiting for a stranger would show.
const LONG: Duration = Duration::from_secs(60);

fn identity(seed: u64) -> Identity {
    Identity::generate(&mut StdRng::seed_from_u64(seed))
}

/// Options of a party, and its lines about refused connections.
fn options(own: Option<u64>, trusted: u64) -> (Options, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let tell = {
        let lines = lines.clone();
        move |line: &str| lines.lock().expect("not poisoned").push(line.to_string())
    };
    let tls = own.map(|own| Tls::new(identity(own), [("the peer".to_string(), identity(trusted).fingerprint())]));
    (Options { patience: LONG, timeout: LONG, tls, on_refused: Some(Arc::new(tell)), ..Options::default() }, lines)
}

/// Fifty silent sockets, which stay open, and a port scan: some that close at once, one that speaks HTTP, one that reads a
/// little and resets.
async fn besiege(address: SocketAddr) -> Vec<TcpStream> {
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(TcpStream::connect(address).await.expect("listens"));
    }
    for _ in 0..20 {
        drop(TcpStream::connect(address).await.expect("listens"));
    }
    let mut http = TcpStream::connect(address).await.expect("listens");
    http.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("sent");
    silent.push(http);
    silent
}

async fn greet(channel: &mut Channel, party: u16) -> Result<Hello, NetError> {
    Hello::new("test", party, 2, [0; 32]).exchange(channel).await
}

#[tokio::test]
async fn the_right_peer_comes_through_silent_sockets_and_a_port_scan() {
    for tls in [false, true] {
        let ((ours, lines), (theirs, _)) = (options(tls.then_some(1), 2), options(tls.then_some(2), 1));
        let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.address();
        let start = Instant::now();
        let come = async {
            let siege = besiege(address).await;
            if tls {
                // A stranger with an identity that is not pinned.
                let error = connect(&address.to_string(), &options(Some(3), 1).0).await.err().expect("not pinned");
                assert!(matches!(error, NetError::IdentityRejected { .. }), "{error}");
            }
            let mut channel = connect(&address.to_string(), &theirs).await.expect("listens");
            greet(&mut channel, 1).await.expect("agrees");
            siege
        };
        let wait = async {
            let mut channel = listener.accept(&ours).await.expect("the peer comes");
            greet(&mut channel, 0).await.expect("agrees");
        };
        let (siege, ()) = tokio::join!(come, wait);
        drop(siege);
        assert!(start.elapsed() < LONG / 6, "{:?}: no stranger was waited for", start.elapsed());
        let lines = lines.lock().expect("not poisoned");
        assert!((2..=12).contains(&lines.len()), "{lines:?}");
        assert!(lines[0].starts_with("refused 127.0.0.1:"), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("closed the connection")), "{lines:?}");
    }
}

#[tokio::test]
async fn a_flood_does_not_keep_the_right_peer_out() {
    let ((ours, _), (theirs, _)) = (options(Some(1), 2), options(Some(2), 1));
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.address();
    let come = async {
        let mut flood = Vec::new();
        for _ in 0..300 {
            flood.push(TcpStream::connect(address).await.expect("listens"));
        }
        // The flood has the peer's own address, and the peer connects last.
        let channel = connect(&address.to_string(), &theirs).await.expect("it has a place");
        (flood, channel)
    };
    let (accepted, _) = tokio::join!(listener.accept(&ours), come);
    assert!(accepted.is_ok());
}

#[tokio::test]
async fn refused_connections_are_named_if_nobody_else_comes() {
    let (ours, _) = options(Some(1), 2);
    let ours = Options { patience: Duration::from_millis(300), timeout: Duration::from_millis(200), ..ours };
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let (accepted, _siege) = tokio::join!(listener.accept(&ours), besiege(listener.address()));
    let error = accepted.err().expect("no peer");
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("nobody connected to {} within 0.3 s; refused: 127.0.0.1:", listener.address())),
        "{text}"
    );
    assert!(text.ends_with("; and 63 more"), "{text}");
}

#[tokio::test]
async fn a_mesh_forms_among_strangers() {
    for identities in [false, true] {
        let (mut listeners, mut text) = (Vec::new(), String::new());
        for party in 0..3 {
            let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
            let (address, fingerprint) = (listener.address(), identity(party).fingerprint());
            let fingerprint = if identities { format!("fingerprint = \"{fingerprint}\"\n") } else { String::new() };
            text.push_str(&format!("[[party]]\naddress = \"{address}\"\n{fingerprint}"));
            listeners.push(listener);
        }
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("peers.toml"), text).expect("written");
        let peers = PeersFile::open(&folder.path().join("peers.toml")).expect("reads");
        let (zero, one) = (listeners.remove(0), listeners.remove(0));
        let addresses = [zero.address(), one.address()];
        let start = Instant::now();
        let all: [_; 3] = std::array::from_fn(|party| options(identities.then_some(party as u64), 9));
        let lines = all[0].1.clone();
        let [first, second, third] = all.map(|(options, _)| options);
        let last = async {
            let siege = (besiege(addresses[0]).await, besiege(addresses[1]).await);
            (Mesh::join(2, &peers, None, &third).await, siege)
        };
        let zero = Mesh::join(0, &peers, Some(zero), &first);
        let one = Mesh::join(1, &peers, Some(one), &second);
        let (zero, one, (two, _siege)) = tokio::join!(zero, one, last);
        for mesh in [zero, one, two] {
            assert_eq!(mesh.expect("joins").party_count(), 3);
        }
        assert!(start.elapsed() < LONG / 6, "{:?}: no stranger was waited for", start.elapsed());
        let lines = lines.lock().expect("not poisoned");
        assert!(lines.iter().any(|line| line.contains("closed the connection")), "{lines:?}");
    }
}

#[tokio::test]
async fn a_peer_evicted_before_the_welcome_calls_again() {
    let ((ours, _), (theirs, _)) = (options(Some(1), 2), options(Some(2), 1));
    let full = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = full.local_addr().expect("bound").to_string();
    let accept = async {
        drop(full.accept().await.expect("the peer"));
        drop(full);
        Listener::bind(&address).await.expect("free again").accept(&ours).await
    };
    let (accepted, connected) = tokio::join!(accept, connect(&address, &theirs));
    accepted.and(connected).expect("they meet");
}

#[tokio::test]
async fn an_unauthenticated_refusal_is_not_attributed_to_the_peer() {
    let address = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let anybody = async {
        let (mut stream, _) = address.accept().await.expect("the caller");
        let mut greeting = [0; 64];
        stream.read_exact(&mut greeting).await.expect("a greeting");
        // An alert in the clear: access denied.
        stream.write_all(&[0x15, 3, 3, 0, 2, 2, 49]).await.expect("sent");
        stream
    };
    let place = address.local_addr().expect("bound").to_string();
    let (options, _) = options(Some(1), 2);
    let (connected, _stream) = tokio::join!(connect(&place, &options), anybody);
    let error = connected.err().expect("refused");
    assert!(matches!(error, NetError::TlsMismatch { .. }), "{error}");
}
