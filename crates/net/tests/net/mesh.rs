//! The mesh over real sockets: parties that come in any order, are missing, come with a fault, or leave.

use std::time::Duration;

use futures_util::future::join_all;
use garblet_net::{
    Blame, Cause, Hello, Identity, Listener, Mesh, MeshError, NetError, Options, PartyError, PeersFile, SimulatedLink,
    Tls, connect, memory_pair,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

const PATIENCE: Duration = Duration::from_millis(600);

fn identity(party: u16) -> Identity {
    Identity::generate(&mut StdRng::seed_from_u64(party.into()))
}

fn plain() -> Options {
    Options { patience: PATIENCE, timeout: PATIENCE, ..Options::default() }
}

fn tls(party: u16) -> Options {
    Options { tls: Some(Tls::new(identity(party), [])), ..plain() }
}

/// Listeners for all parties, and the file that names their addresses.
async fn places(count: u16, identities: bool) -> (PeersFile, Vec<Listener>) {
    let mut listeners = Vec::new();
    for _ in 0..count {
        listeners.push(Listener::bind("127.0.0.1:0").await.expect("a free port"));
    }
    let addresses = listeners.iter().map(|listener| listener.address().to_string());
    let peers = match identities {
        false => PeersFile::plain(addresses),
        true => {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("peers.toml");
            let entry = |(party, address): (usize, String)| {
                let fingerprint = identity(party as u16).fingerprint();
                format!("[[party]]\naddress = \"{address}\"\nfingerprint = \"{fingerprint}\"\n")
            };
            let text: String = addresses.enumerate().map(entry).collect();
            std::fs::write(&path, text).expect("written");
            PeersFile::open(&path).expect("reads")
        }
    };
    (peers, listeners)
}

/// Joins the parties of `who` (their numbers and options), each delayed by `delay` times its index.
async fn join(count: u16, identities: bool, who: Vec<(u16, Options)>, delay: Duration) -> Vec<Result<Mesh, MeshError>> {
    let (peers, listeners) = places(count, identities).await;
    let mut listeners: Vec<Option<Listener>> = listeners.into_iter().map(Some).collect();
    let parties = who.into_iter().enumerate().map(|(place, (party, options))| {
        let (listener, peers) = (listeners[usize::from(party)].take(), &peers);
        async move {
            tokio::time::sleep(delay * place as u32).await;
            Mesh::join(party, peers, listener, &options).await
        }
    });
    join_all(parties).await
}

/// Every party sends its number to all others.
async fn greet(mesh: &mut Mesh) -> Result<(), PartyError> {
    let own = mesh.party() as u8;
    let mut incoming = mesh.per_peer(|_| [0u8; 1]);
    mesh.broadcast(&[own], &mut incoming).await?;
    assert!(incoming.iter().all(|(peer, got)| *got == [peer as u8]));
    Ok(())
}

#[tokio::test]
async fn parties_start_in_any_order_over_every_transport() {
    let link: SimulatedLink = "5ms,100mbit".parse().expect("a link");
    let linked = |options: Options| Options { link, ..options };
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
        for identities in [false, true] {
            let options = |party| linked(if identities { tls(party) } else { plain() });
            let who = order.map(|party| (party, options(party))).to_vec();
            let meshes = join(4, identities, who, Duration::from_millis(30)).await;
            let run = async |mesh: Result<Mesh, MeshError>| {
                let mut mesh = mesh.expect("joins");
                let before = mesh.traffic();
                greet(&mut mesh).await.expect("greets");
                let traffic = mesh.traffic() - before;
                assert_eq!((traffic.bytes_sent, traffic.bytes_received, traffic.rounds), (3, 3, 1));
                mesh.close().await.expect("closes");
            };
            join_all(meshes.into_iter().map(run)).await;
        }
    }
}

#[tokio::test]
async fn a_party_that_knows_all_data_of_two_others_cannot_guess_their_digests() {
    let who = (0..3).map(|party| (party, tls(party))).collect();
    let mut meshes: Vec<Mesh> = join(3, true, who, Duration::ZERO).await.into_iter().map(Result::unwrap).collect();
    let watches: Vec<_> = meshes.iter_mut().map(Mesh::watch).collect();
    for result in join_all(meshes.iter_mut().map(greet)).await {
        result.expect("an honest mesh");
    }
    let sent = |from: usize, to: u16| watches[from].get(to).expect("a peer").sent();
    let received = |by: usize, from: u16| watches[by].get(from).expect("a peer").received();
    assert_eq!(sent(0, 1), received(1, 0));
    // Party 2 received the same bytes as party 1, and could otherwise confirm any guess with its own digest.
    assert_eq!(sent(0, 1).bytes, sent(0, 2).bytes);
    assert_ne!(sent(0, 1).digest, received(2, 0).digest);
}

#[tokio::test]
async fn all_name_a_party_that_never_comes() {
    let who = [0, 1, 3].map(|party| (party, plain())).to_vec();
    for result in join(4, false, who, Duration::ZERO).await {
        let error = result.err().expect("party 2 is missing");
        let blamed = match &error {
            MeshError::Missing { missing, .. } => missing.iter().map(|(party, _)| *party).collect(),
            MeshError::Party(error) => error.blame().map(|blame| blame.party).into_iter().collect(),
            MeshError::Own(_) => vec![],
        };
        assert_eq!(blamed, [2], "{error}");
    }
}

#[tokio::test]
async fn strangers_do_no_harm_and_are_named_if_a_party_is_missing() {
    let (peers, mut listeners) = places(2, false).await;
    let last = listeners.pop();
    let address = peers.parties()[0].address.clone();
    let stranger = async {
        let mut stream = TcpStream::connect(&address).await.expect("listens");
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("sent");
        let _silent = TcpStream::connect(&address).await.expect("listens");
        tokio::time::sleep(PATIENCE * 2).await;
    };
    let options = plain();
    let joined = Mesh::join(0, &peers, listeners.pop(), &options);
    let (error, ()) = tokio::join!(joined, stranger);
    let error = error.err().expect("party 1 is missing").to_string();
    assert!(error.contains("party 1: nobody connected"), "{error}");
    assert!(error.contains("the text `GET / `"), "{error}");
    drop(last);
}

#[tokio::test]
async fn two_parties_with_one_number_are_named() {
    let (peers, mut listeners) = places(3, false).await;
    let zero = listeners.swap_remove(0);
    let options = plain();
    let one = || Mesh::join(1, &peers, None, &options);
    let (zero, first, second) = tokio::join!(Mesh::join(0, &peers, Some(zero), &options), one(), one());
    let error = zero.err().expect("party 1 came twice");
    let text = error.to_string();
    assert!(text.starts_with("party 1: came twice: from 127.0.0.1:"), "{text}");
    assert!(first.is_err() && second.is_err());
}

#[tokio::test]
async fn a_third_party_learns_of_a_duplicate_and_a_late_duplicate_does_no_harm() {
    let (peers, mut listeners) = places(3, false).await;
    listeners.truncate(2);
    let [zero, first] = <[Listener; 2]>::try_from(listeners).ok().expect("two listen");
    let options = plain();
    // The last party could join before the others greet it.
    let last = async {
        match Mesh::join(2, &peers, None, &options).await {
            Ok(mut mesh) => greet(&mut mesh).await.err().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        }
    };
    let zero = Mesh::join(0, &peers, Some(zero), &options);
    let (first, second) = (Mesh::join(1, &peers, Some(first), &options), Mesh::join(1, &peers, None, &options));
    let (zero, _, second, last) = tokio::join!(zero, first, second, last);
    assert!(zero.err().expect("party 1 came twice").to_string().starts_with("party 1: came twice: from "));
    assert!(second.is_err());
    // It learns about party 1 even if it calls just when party 0 gives up.
    let last = last.expect("it cannot run");
    assert!(last.contains("party 1"), "{last}");

    // Once all parties are there, none listens any more.
    let (peers, mut listeners) = places(2, false).await;
    let zero = Mesh::join(0, &peers, Some(listeners.swap_remove(0)), &options);
    let (zero, one) = tokio::join!(zero, Mesh::join(1, &peers, None, &options));
    let (mut zero, mut one) = (zero.expect("joins"), one.expect("joins"));
    assert!(Mesh::join(1, &peers, None, &options).await.is_err());
    let (zero, one) = tokio::join!(greet(&mut zero), greet(&mut one));
    assert!(zero.is_ok() && one.is_ok());
}

#[tokio::test]
async fn an_accused_party_learns_its_accuser_and_passes_no_blame_on() {
    let meshes = join(3, false, [0, 1, 2].map(|party| (party, plain())).to_vec(), Duration::ZERO).await;
    let [zero, one, two]: [Mesh; 3] =
        meshes.into_iter().map(|mesh| mesh.expect("joins")).collect::<Vec<_>>().try_into().ok().expect("three");
    let said = Blame::seen(1, Cause::Misbehaved);
    let hears = async |mut mesh: Mesh| {
        let mut incoming = mesh.per_peer(|peer| vec![0; usize::from(peer == 2)]);
        let error = mesh.broadcast(&[], &mut incoming).await.expect_err("no byte");
        (error.to_string(), error.blame())
    };
    let (zero, one, ()) = tokio::join!(hears(zero), hears(one), two.abort(Some(said)));
    assert_eq!(zero.1, Some(Blame { heard_from: Some(2), ..said }), "it is passed on with the name of its source");
    assert!(zero.0.starts_with("party 2: says that party 1 violated the protocol"), "{}", zero.0);
    assert_eq!(one.1, Some(Blame::seen(2, Cause::GaveUp)), "it does not blame itself on another's word");
    assert!(one.0.starts_with("party 2: blames us: this party violated the protocol"), "{}", one.0);
}

#[tokio::test]
async fn both_sides_name_a_party_with_a_wrong_number_or_count() {
    let (peers, mut listeners) = places(3, false).await;
    let more = PeersFile::plain(peers.parties().iter().map(|party| party.address.clone()).chain(["a:1".into()]));
    let options = plain();
    let zero = Mesh::join(0, &peers, Some(listeners.swap_remove(0)), &options);
    let (zero, one) = tokio::join!(zero, Mesh::join(1, &more, None, &options));
    let text = zero.err().expect("disagrees").to_string();
    assert!(
        text.starts_with("party 1: the peer does not agree with us: number of parties: ours 3, theirs 4"),
        "{text}"
    );
    let text = one.err().expect("disagrees").to_string();
    assert!(
        text.starts_with("party 0: the peer does not agree with us: number of parties: ours 4, theirs 3"),
        "{text}"
    );
}

#[tokio::test]
async fn mixed_up_addresses_are_named() {
    let (peers, mut listeners) = places(3, false).await;
    let mixed = [1, 0, 2].map(|party: usize| peers.parties()[party].address.clone());
    let mixed = PeersFile::plain(mixed);
    let options = plain();
    let one = Mesh::join(1, &peers, Some(listeners.swap_remove(1)), &options);
    let (_, two) = tokio::join!(one, Mesh::join(2, &mixed, None, &options));
    let text = two.err().expect("somebody else").to_string();
    assert!(text.contains("party at this address: ours 0, theirs 1"), "{text}");
}

/// Three parties; the last does `wrong` instead of the second greeting. Returns the others' blame.
async fn blamed(wrong: impl AsyncFnOnce(Mesh)) -> Vec<Option<Blame>> {
    let meshes = join(3, false, [0, 1, 2].map(|party| (party, plain())).to_vec(), Duration::ZERO).await;
    let mut meshes: Vec<Mesh> = meshes.into_iter().map(|mesh| mesh.expect("joins")).collect();
    let last = meshes.pop();
    let honest = async |mut mesh: Mesh| {
        greet(&mut mesh).await.expect("all are honest so far");
        let error = greet(&mut mesh).await.expect_err("party 2 does not greet");
        let blame = error.blame();
        mesh.abort(blame).await;
        blame
    };
    let dishonest = async {
        let mut mesh = last.expect("three parties");
        greet(&mut mesh).await.expect("honest so far");
        wrong(mesh).await;
    };
    tokio::join!(join_all(meshes.into_iter().map(honest)), dishonest).0
}

#[tokio::test]
async fn all_others_name_a_party_that_dies_gives_up_or_falls_silent() {
    let expected = |cause| vec![Some(Blame::seen(2, cause)); 2];
    assert_eq!(blamed(async |mesh| drop(mesh)).await, expected(Cause::Gone));
    assert_eq!(blamed(async |mesh| mesh.abort(None).await).await, expected(Cause::GaveUp));
    assert_eq!(blamed(async |mesh| mesh.close().await.map_or((), drop)).await, expected(Cause::Misbehaved));
    let silent = async |mesh| {
        tokio::time::sleep(PATIENCE * 3).await;
        drop(mesh);
    };
    assert_eq!(blamed(silent).await, expected(Cause::Silent));
}

#[tokio::test]
async fn blame_reaches_parties_that_saw_nothing() {
    let meshes = join(3, false, [0, 1, 2].map(|party| (party, plain())).to_vec(), Duration::ZERO).await;
    let [zero, one, two]: [Mesh; 3] =
        meshes.into_iter().map(|mesh| mesh.expect("joins")).collect::<Vec<_>>().try_into().ok().expect("three");
    // Party 2 misbehaves only towards party 0; party 1 waits only for party 0.
    let wronged = async {
        let mut zero = zero;
        let mut incoming = zero.per_peer(|peer| vec![0; usize::from(peer == 2)]);
        let error = zero.broadcast(&[], &mut incoming).await.expect_err("no byte");
        zero.abort(error.blame()).await;
    };
    let listening = async {
        let mut one = one;
        let mut incoming = one.per_peer(|peer| vec![0; usize::from(peer == 0)]);
        one.broadcast(&[], &mut incoming).await.expect_err("no byte")
    };
    let silent = async {
        tokio::time::sleep(PATIENCE * 3).await;
        drop(two);
    };
    let ((), error, ()) = tokio::join!(wronged, listening, silent);
    let text = error.to_string();
    // Its own time-out may come first.
    let heard = text.starts_with("party 0: says that party 2 fell silent");
    assert!(heard || text.starts_with("party 0: no byte moved"), "{text}");
    assert!(heard == (error.blame() == Some(Blame { heard_from: Some(0), ..Blame::seen(2, Cause::Silent) })));
}

#[tokio::test]
async fn a_port_in_use_prevents_a_mesh() {
    let (peers, listeners) = places(2, false).await;
    let listener = listeners.into_iter().next();
    let options = plain();
    let peer = async {
        let channel = connect(&peers.parties()[0].address, &options).await.expect("listens");
        channel.abort().await;
    };
    let (error, ()) = tokio::join!(Mesh::join(0, &peers, listener, &options), peer);
    let text = error.err().expect("no mesh").to_string();
    assert!(text.contains("the peer aborted"), "{text}");
}

/// A listener for party 0 of two that closes all connections, and the peers file.
async fn full_place() -> (PeersFile, TcpListener, String) {
    let full = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = full.local_addr().expect("bound").to_string();
    (PeersFile::plain([address.clone(), "127.0.0.1:1".into()]), full, address)
}

#[tokio::test]
async fn a_party_evicted_before_the_hello_calls_again() {
    let (peers, full, address) = full_place().await;
    let options = Options { patience: PATIENCE * 20, ..plain() };
    let zero = async {
        drop(full.accept().await.expect("party 1"));
        drop(full);
        let listener = Listener::bind(&address).await.expect("free again");
        Mesh::join(0, &peers, Some(listener), &options).await
    };
    let (zero, one) = tokio::join!(zero, Mesh::join(1, &peers, None, &options));
    zero.and(one).expect("both have joined in the end");
}

#[tokio::test]
async fn a_party_evicted_until_the_end_reports_that() {
    let (peers, full, _) = full_place().await;
    let closing = async {
        loop {
            drop(full.accept().await.expect("party 1"));
        }
    };
    let options = plain();
    let joined = tokio::select! { joined = Mesh::join(1, &peers, None, &options) => joined, () = closing => return };
    let error = joined.err().expect("no party 0");
    assert!(matches!(error, MeshError::Missing { .. }), "{error}");
    assert!(error.to_string().starts_with("party 0: the peer closed the connection"), "{error}");
}

#[tokio::test]
async fn parties_that_came_learn_at_once_that_another_did_not() {
    let (peers, mut listeners) = places(3, false).await;
    let options = Options { patience: PATIENCE / 6, ..plain() };
    let start = std::time::Instant::now();
    let one = async {
        let patient = Options { timeout: PATIENCE * 20, ..plain() };
        let mut one = connect(&peers.parties()[0].address, &patient).await.expect("listens");
        one.send(&Hello::new("mesh", 1, 3, [0; 32])).await.expect("sent");
        one.receive::<Hello>().await.expect("the answer");
        let error = one.receive_bytes(&mut [0]).await.expect_err("party 2 is missing");
        assert!(matches!(error, NetError::PeerAborted { .. }), "{error}");
        start.elapsed()
    };
    let (zero, told) = tokio::join!(Mesh::join(0, &peers, Some(listeners.swap_remove(0)), &options), one);
    assert!(zero.is_err());
    // The wait for late parties is longer than that.
    assert!(told < Duration::from_secs(1), "{told:?}");
}

/// Party 2 leaves while party 0 sends much data to party 1, which reads late: party 1 must not mistake the blame for the rest of that data.
#[tokio::test(start_paused = true)]
async fn a_party_cut_off_in_a_large_exchange_learns_whom_to_blame() {
    const LARGE: usize = 4 << 20;
    let meshes = Mesh::of_pairs(3, |_, _| memory_pair());
    let Ok([mut zero, mut one, two]) = <[Mesh; 3]>::try_from(meshes) else { panic!("three parties") };
    let says = async {
        let mut incoming = zero.per_peer(|_| [0; 1]);
        let error = zero.broadcast(&vec![7; LARGE], &mut incoming).await.expect_err("party 2 has left");
        zero.abort(error.blame()).await;
    };
    let hears = async {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let outgoing = one.per_peer(|_| []);
        let mut incoming = one.per_peer(|peer| vec![0; if peer == 0 { LARGE } else { 0 }]);
        one.exchange(&outgoing, &mut incoming).await.expect_err("party 2 has left")
    };
    let ((), error, ()) = tokio::join!(says, hears, two.abort(None));
    assert_eq!(error.blame(), Some(Blame { heard_from: Some(0), ..Blame::seen(2, Cause::GaveUp) }), "{error}");
}
