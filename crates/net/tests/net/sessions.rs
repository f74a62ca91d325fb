//! Sessions by name, and the callers of a service.

use std::time::Duration;

use garblet_net::{
    Callers, Fingerprint, Hello, Identity, Listener, Mesh, MeshError, NetError, Options, PeersFile, Refusal,
    SessionName, Tls, connect,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

const PATIENCE: Duration = Duration::from_secs(20);

fn identity(n: u64) -> Identity {
    Identity::generate(&mut StdRng::seed_from_u64(n))
}

fn print_of(n: u64) -> Fingerprint {
    identity(n).fingerprint()
}

fn session(name: &str) -> Option<SessionName> {
    Some(name.parse().expect("a name"))
}

fn options(own: u64, peers: &[u64], name: Option<&str>) -> Options {
    let tls = Tls::new(identity(own), peers.iter().map(|&peer| (format!("peer {peer}"), print_of(peer))));
    Options {
        patience: PATIENCE,
        timeout: PATIENCE,
        tls: Some(tls),
        session: name.and_then(session),
        ..Options::default()
    }
}

fn plain(name: Option<&str>) -> Options {
    Options { tls: None, ..options(0, &[], name) }
}

fn hello(party: u16) -> Hello {
    Hello::new("yao", party, 2, [7; 32])
}

fn peers_file(text: &str) -> PeersFile {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("peers.toml");
    std::fs::write(&path, text).expect("written");
    PeersFile::open(&path).expect("reads")
}

async fn bound() -> (Listener, String) {
    let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.address().to_string();
    (listener, address)
}

#[tokio::test]
async fn parties_of_one_session_meet_and_their_hellos_name_it() {
    for name in [None, Some("join-0041")] {
        for (ours, theirs) in [(plain(name), plain(name)), (options(1, &[2], name), options(2, &[1], name))] {
            let (listener, address) = bound().await;
            let met = tokio::join!(
                async {
                    let mut channel = listener.accept(&ours).await.expect("comes");
                    (hello(0).exchange(&mut channel).await, channel)
                },
                async {
                    let mut channel = connect(&address, &theirs).await.expect("it connected");
                    (hello(1).exchange(&mut channel).await, channel)
                }
            );
            for (theirs, channel) in [met.0, met.1] {
                assert_eq!(theirs.expect("agrees").parameter("session"), name);
                assert_eq!(channel.session().map(SessionName::as_str), name);
            }
        }
    }
}

#[tokio::test]
async fn parties_of_other_sessions_do_not_meet_and_the_right_one_is_admitted() {
    for (own, other) in [(Some("right"), Some("wrong")), (Some("right"), None), (None, Some("wrong"))] {
        let (listener, address) = bound().await;
        let strange = Options { patience: Duration::from_millis(400), ..options(2, &[1], other) };
        let late = Options { patience: Duration::from_millis(1200), ..options(1, &[2], own) };
        let (waited, refused) = tokio::join!(listener.accept(&late), connect(&address, &strange));
        let Err(NetError::AcceptTimeout { refused: named, .. }) = waited else { panic!("a party was admitted") };
        assert!(named[0].contains("another session: expected"), "{named:?}");
        assert!(matches!(refused, Err(NetError::PeerClosed { .. })), "no data in this session");
        // The refused party calls again, and the right party is admitted meanwhile.
        let right = options(2, &[1], own);
        let (ours, stranger) = (options(1, &[2], own), connect(&address, &strange));
        let (accepted, connected, _) = tokio::join!(listener.accept(&ours), connect(&address, &right), stranger);
        assert_eq!(accepted.expect("comes").peer(), Some(print_of(2)));
        connected.expect("it connected");
    }
}

#[tokio::test]
async fn without_tls_hellos_of_other_sessions_differ() {
    let (listener, address) = bound().await;
    let (ours, theirs) = (plain(Some("a")), plain(Some("b")));
    let (accepted, connected) =
        tokio::join!(async { hello(0).exchange(&mut listener.accept(&ours).await.expect("comes")).await }, async {
            hello(1).exchange(&mut connect(&address, &theirs).await.expect("it connected")).await
        });
    for result in [accepted, connected] {
        let text = result.expect_err("another session").to_string();
        assert!(text.starts_with("the peer does not agree with us: session: ours "), "{text}");
    }
}

#[tokio::test]
async fn callers_of_any_session_are_handled_concurrently_among_strangers() {
    let (listener, address) = bound().await;
    let mut callers = Callers::new(listener, 32, options(1, &[2, 3], None));
    let mut silent = TcpStream::connect(&address).await.expect("listens");
    let mut garbage = TcpStream::connect(&address).await.expect("listens");
    garbage.write_all(&[0x55; 500]).await.expect("sent");
    let call = async |own: u64, name: Option<&'static str>| {
        let mut channel = connect(&address, &options(own, &[1], name)).await?;
        hello(1).exchange(&mut channel).await
    };
    let answered = async {
        let mut heard = Vec::new();
        while heard.len() < 3 {
            let mut caller = callers.next().await.expect("listens");
            let name = caller.channel.session().map(SessionName::to_string);
            assert_eq!(caller.hello.parameter("session").map(str::to_string), name);
            hello(0).exchange(&mut caller.channel).await.expect("agrees");
            heard.push((caller.channel.peer().expect("proved"), name));
        }
        heard
    };
    let (heard, one, two, three, unknown) =
        tokio::join!(answered, call(2, None), call(2, Some("a")), call(3, Some("b")), call(4, Some("a")));
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    assert!(unknown.is_err(), "4 is not trusted");
    for (own, name) in [(2, None), (2, Some("a")), (3, Some("b"))] {
        assert!(heard.contains(&(print_of(own), name.map(str::to_string))), "{heard:?}");
    }
    assert!(callers.strangers() >= 2);
    silent.shutdown().await.expect("still there");
}

#[tokio::test]
async fn a_service_joins_concurrent_meshes_by_name() {
    let (listener, address) = bound().await;
    let mut callers = Callers::new(listener, 32, options(10, &[11, 12], None));
    let file = |third: &str| {
        let party =
            |n: u64, address: &str| format!("[[party]]\naddress = \"{address}\"\nfingerprint = \"{}\"\n", print_of(n));
        let text = [party(10, &address), party(11, third), party(12, "127.0.0.1:1")].concat();
        peers_file(&text)
    };
    let party = async |own: u16, name: &'static str, at: Listener, peers: PeersFile| {
        let listener = (own < 2).then_some(at);
        Mesh::join(own, &peers, listener, &options(10 + u64::from(own), &[], Some(name))).await
    };
    let (a, a_address) = bound().await;
    let (b, b_address) = bound().await;
    let (unused_a, unused_b) = (bound().await.0, bound().await.0);
    let (peers_a, peers_b) = (file(&a_address), file(&b_address));
    let ours = async |name: &'static str, peers: PeersFile, callers: mpsc::Receiver<_>| {
        Mesh::join_callers(0, &peers, callers, &options(10, &[], Some(name))).await
    };
    let (to_a, from_a) = mpsc::channel(4);
    let (to_b, from_b) = mpsc::channel(4);
    let route = async {
        for _ in 0..4 {
            let caller = callers.next().await.expect("listens");
            let to = if caller.channel.session() == session("a").as_ref() { &to_a } else { &to_b };
            assert!(to.send(caller).await.is_ok());
        }
    };
    let met: [Result<Mesh, MeshError>; 6] = {
        let (one, two) = (ours("a", peers_a.clone(), from_a), ours("b", peers_b.clone(), from_b));
        let (three, four) = (party(1, "a", a, peers_a.clone()), party(1, "b", b, peers_b.clone()));
        let (five, six) = (party(2, "a", unused_a, peers_a.clone()), party(2, "b", unused_b, peers_b.clone()));
        let (one, two, three, four, five, six, ()) = tokio::join!(one, two, three, four, five, six, route);
        [one, two, three, four, five, six]
    };
    let parties: Vec<u16> = met.into_iter().map(|mesh| mesh.expect("joins").party()).collect();
    assert_eq!(parties, [0, 0, 1, 1, 2, 2]);
}

#[tokio::test]
async fn a_party_that_joins_a_mesh_receives_a_refusal() {
    let (listener, address) = bound().await;
    let mut callers = Callers::new(listener, 4, options(10, &[11], None));
    let text = [(10, &address[..]), (11, "127.0.0.1:1")]
        .map(|(n, address)| format!("[[party]]\naddress = \"{address}\"\nfingerprint = \"{}\"\n", print_of(n)));
    let peers = peers_file(&text.concat());
    let job = Options { job: Some("00ff".into()), ..options(11, &[10], Some("a")) };
    let service = async {
        let caller = callers.next().await.expect("listens");
        assert_eq!(caller.hello.parameter("job"), Some("00ff"));
        caller.channel.refuse(Refusal::UnknownJob).await;
    };
    let ((), joined) = tokio::join!(service, Mesh::join(1, &peers, None, &job));
    let error = joined.err().expect("refused").to_string();
    assert!(error.contains("party 0: the peer refuses: it has no such job for us"), "{error}");
}
