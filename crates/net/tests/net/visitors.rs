//! Visitors of a server among strangers.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use garblet_net::{Call, Carrier, Entrance, Identity, Messages, OnRefused, ServerTls, Visitor, Visitors};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

const MAX: usize = 50_000;
const SOON: Duration = Duration::from_millis(300);
const LATE: Duration = Duration::from_secs(20);
const PREAMBLE: [u8; 4] = [0xC8, b'g', b'v', 1];
const SOCKET: Carrier = Carrier::WebSocket { message_bytes_max: MAX };

fn identity() -> Identity {
    Identity::generate(&mut StdRng::seed_from_u64(1))
}

/// A server for visitors with and without TLS, and its lines about refused connections.
async fn server(patience: Duration) -> (Visitors, Arc<Mutex<Vec<String>>>) {
    let tls = ServerTls::new(&identity(), None).expect("TLS");
    let entrance = Entrance { plain: true, timeout: patience, ..Entrance::new(tls, MAX) };
    let lines = Arc::new(Mutex::new(Vec::new()));
    let tell: OnRefused = Arc::new({
        let lines = lines.clone();
        move |line: &str| lines.lock().expect("not poisoned").push(line.to_string())
    });
    (Visitors::bind("127.0.0.1:0", entrance, Some(tell)).await.expect("a free port"), lines)
}

/// Calls of the server over every kind of connection.
fn calls() -> [Call; 4] {
    let tls = Call { patience: LATE, timeout: LATE, ..Call::new(identity().fingerprint()) };
    let plain = Call { server: None, ..tls.clone() };
    [(tls.clone(), Carrier::Stream), (tls, SOCKET), (plain.clone(), Carrier::Stream), (plain, SOCKET)]
        .map(|(call, carrier)| Call { carrier, ..call })
}

/// A visitor that sends this and stays connected.
async fn says(address: SocketAddr, call: &Call, text: &[u8]) -> Messages {
    let mut messages = call.connect(&address.to_string()).await.expect("let in");
    messages.send(text).await.expect("sent");
    messages
}

async fn next(visitors: &mut Visitors) -> Visitor {
    timeout(LATE, visitors.next()).await.expect("in time").expect("a visitor")
}

#[tokio::test]
async fn visitors_come_with_their_first_message_and_can_be_answered() {
    let (mut visitors, lines) = server(LATE).await;
    let address = visitors.address();
    for call in calls() {
        let (mut visitor, mut called) = tokio::join!(next(&mut visitors), says(address, &call, b"hello"));
        assert_eq!((visitor.from.ip(), &visitor.said[..]), (address.ip(), &b"hello"[..]));
        let (sent, heard) = tokio::join!(visitor.messages.send(b"welcome"), called.receive(MAX));
        sent.expect("sent");
        assert_eq!(heard.expect("comes"), b"welcome");
    }
    assert!(lines.lock().expect("not poisoned").is_empty());
}

/// Some that send nothing at all, and some that send nothing after being admitted: many more than there are places.
#[tokio::test]
async fn many_silent_connections_do_not_keep_an_honest_one_out() {
    let (mut visitors, _) = server(LATE).await;
    let address = visitors.address();
    let begin = Instant::now();
    let come = async {
        let mut silent = Vec::new();
        for number in 0..200 {
            let mut stream = TcpStream::connect(address).await.expect("listens");
            if number % 2 == 0 {
                stream.write_all(&PREAMBLE).await.expect("sent");
            }
            silent.push(stream);
        }
        let mut called = Vec::new();
        for call in calls() {
            called.push(says(address, &call, b"here").await);
        }
        (silent, called)
    };
    let hear = async {
        for _ in calls() {
            assert_eq!(next(&mut visitors).await.said, b"here");
        }
    };
    tokio::join!(come, hear);
    assert!(begin.elapsed() < LATE / 2, "no time was lost on others");
}

/// Connections from one address, for as long as the honest visitor from another address needs.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_flood_evicts_itself() {
    let (mut visitors, lines) = server(LATE).await;
    let address = visitors.address();
    let flood = async {
        let mut open = std::collections::VecDeque::new();
        loop {
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.bind("127.0.0.2:0".parse().expect("an address")).expect("this machine");
            open.push_back(socket.connect(address).await);
            if open.len() > 100 {
                open.pop_front();
            }
        }
    };
    let come = async {
        let mut called = Vec::new();
        for call in calls() {
            for round in 0..5 {
                called.push(says(address, &call, &[round]).await);
            }
        }
    };
    let hear = async {
        let mut heard = 0;
        while heard < 20 {
            let visitor = next(&mut visitors).await;
            assert_eq!(visitor.from.ip(), IpAddr::from([127, 0, 0, 1]));
            heard += 1;
        }
    };
    tokio::select! {
        _ = async { tokio::join!(come, hear) } => {}
        () = flood => {}
    }
    let lines = lines.lock().expect("not poisoned");
    assert!(lines.len() <= 12, "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("refused 127.0.0.2:")), "{lines:?}");
}

#[tokio::test]
async fn a_first_message_that_is_too_large_is_refused() {
    let (mut visitors, lines) = server(LATE).await;
    let address = visitors.address();
    let long = vec![7; MAX + 1];
    let come = async {
        for call in calls() {
            let mut messages = call.connect(&address.to_string()).await.expect("let in");
            // It may be refused before all of it is on its way.
            let _ = messages.send(&long).await;
            assert!(messages.receive(MAX).await.is_err());
        }
        says(address, &calls()[0], &long[1..]).await
    };
    let (_called, visitor) = tokio::join!(come, next(&mut visitors));
    assert!(visitor.said == long[1..]);
    let lines = lines.lock().expect("not poisoned");
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line.contains("too large: expected at most 50000 ")), "{lines:?}");
}

#[tokio::test]
async fn no_connection_holds_a_place_longer_than_both_times() {
    let (mut visitors, lines) = server(SOON).await;
    let address = visitors.address();
    let begin = Instant::now();
    let stay = |first: &'static [u8], more: bool| async move {
        let (mut reader, mut writer) = TcpStream::connect(address).await.expect("listens").into_split();
        writer.write_all(first).await.expect("sent");
        // Faster than the least rate of a message.
        let dribble = async {
            while more && writer.write_all(&[0; 50]).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            std::future::pending::<()>().await;
        };
        let mut end = Vec::new();
        tokio::select! {
            _ = reader.read_to_end(&mut end) => {}
            () = dribble => {}
        }
    };
    let announced: &[u8] = &[0xC8, b'g', b'v', 1, 0x40, 0x9C, 0, 0];
    let all = async {
        tokio::join!(stay(b"", false), stay(&PREAMBLE, false), stay(announced, false), stay(announced, true));
    };
    tokio::select! {
        () = all => {}
        _ = visitors.next() => panic!("no visitor has sent anything"),
    }
    // Twice the time-out, and slack for a busy machine.
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    let lines = lines.lock().expect("not poisoned");
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[tokio::test]
async fn a_dropped_wait_loses_no_visitor() {
    let (mut visitors, lines) = server(LATE).await;
    let address = visitors.address();
    let come = async {
        let come = (0..40u8).map(|number| async move {
            let text = vec![number; usize::from(number) * 1000];
            says(address, &calls()[usize::from(number % 4)], &text).await
        });
        futures_util::future::join_all(come).await
    };
    let hear = async {
        let mut heard = Vec::new();
        while heard.len() < 40 {
            if let Ok(visitor) = timeout(Duration::from_micros(200), visitors.next()).await {
                let said = visitor.expect("a visitor").said;
                heard.push(said.len() / 1000);
            }
        }
        heard.sort_unstable();
        heard
    };
    let (_called, heard) = timeout(LATE, async { tokio::join!(come, hear) }).await.expect("in time");
    assert!(heard.into_iter().eq(0..40));
    assert!(lines.lock().expect("not poisoned").is_empty());
}

/// A server runs this concurrently with other tasks, on any thread.
#[tokio::test]
async fn visitors_can_be_handled_in_tasks() {
    let (mut visitors, _) = server(LATE).await;
    let address = visitors.address();
    let task = tokio::spawn(async move { visitors.next().await.map(|visitor| visitor.said) });
    let _called = says(address, &calls()[1], b"x").await;
    assert_eq!(task.await.expect("runs").expect("a visitor"), b"x");
}
