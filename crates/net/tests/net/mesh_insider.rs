//! Attacks by one party of a mesh with its own identity: it poses as another party, and attributes claims to others.

use std::time::Duration;

use futures_util::future::join_all;
use garblet_net::{
    Blame, Cause, Channel, Hello, Identity, Listener, Mesh, MeshError, NetError, Options, PartyError, PeersFile, Tls,
    connect, memory_pair,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::io::{AsyncWriteExt, DuplexStream, duplex, split};
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_millis(600);

/// The insider.
const INSIDER: u16 = 3;

fn identity(party: u16) -> Identity {
    Identity::generate(&mut StdRng::seed_from_u64(party.into()))
}

/// Options of a party that trusts the identities in the file.
fn options(party: u16, patience: Duration) -> Options {
    let everybody = (0..4).map(|other| (format!("party {other}"), identity(other).fingerprint()));
    Options { patience, timeout: PATIENCE, tls: Some(Tls::new(identity(party), everybody)), ..Options::default() }
}

/// Four parties: their identities, and the addresses of those that listen.
async fn places() -> (PeersFile, Vec<Listener>) {
    let (mut listeners, mut text) = (Vec::new(), String::new());
    for party in 0..4 {
        let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
        let (address, fingerprint) = (listener.address(), identity(party).fingerprint());
        text.push_str(&format!("[[party]]\naddress = \"{address}\"\nfingerprint = \"{fingerprint}\"\n"));
        listeners.push(listener);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("peers.toml");
    std::fs::write(&path, text).expect("written");
    (PeersFile::open(&path).expect("reads"), listeners)
}

/// The insider calls party 0 with its own identity, as this party of this number of parties. Returns the answer, as one of four.
async fn call_as(peers: &PeersFile, party: u16, count: u16) -> NetError {
    let mut channel = connect(&peers.parties()[0].address, &options(INSIDER, PATIENCE)).await.expect("a party");
    channel.send(&Hello::new("mesh", party, count, [0; 32])).await.expect("says so");
    let _: Hello = channel.receive().await.expect("the answer to all");
    let mut channel = Some(channel);
    let mut meshes = Mesh::of_pairs(4, |low, high| match channel.take_if(|_| (low, high) == (0, INSIDER)) {
        Some(channel) => (memory_pair().0, channel),
        None => memory_pair(),
    });
    let mut insider = meshes.pop().expect("four");
    let mut incoming = insider.per_peer(|peer| vec![0; usize::from(peer == 0)]);
    insider.broadcast(&[], &mut incoming).await.expect_err("refused").source
}

/// The party error that prevented a mesh.
fn over(result: Result<Mesh, MeshError>) -> PartyError {
    match result.err().expect("no mesh") {
        MeshError::Party(error) => error,
        MeshError::Missing { missing, .. } => {
            let (party, source) = missing.into_iter().next().expect("somebody");
            PartyError { party, source }
        }
        MeshError::Own(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_party_posing_as_another_is_refused_and_the_real_one_may_still_come() {
    let (peers, mut listeners) = places().await;
    listeners.truncate(3);
    let last = async {
        for count in [4, 9] {
            let heard = call_as(&peers, 2, count).await;
            assert!(
                matches!(heard, NetError::PeerBlamesUs { cause: Cause::Disagrees, heard_from: None, .. }),
                "{heard}"
            );
        }
        // Then it connects correctly and is accepted.
        Mesh::join(INSIDER, &peers, None, &options(INSIDER, PATIENCE * 20)).await
    };
    let honest = listeners.into_iter().zip(0..).map(async |(listener, party)| {
        // The real party 2 is late.
        tokio::time::sleep(PATIENCE / 4 * u32::from(party == 2)).await;
        Mesh::join(party, &peers, Some(listener), &options(party, PATIENCE * 20)).await
    });
    let (meshes, last) = tokio::join!(join_all(honest), last);
    for mesh in meshes.into_iter().chain([last]) {
        mesh.expect("all four have joined in the end");
    }
}

#[tokio::test]
async fn a_party_that_only_poses_as_another_is_named_with_its_claim() {
    let (peers, mut listeners) = places().await;
    listeners.truncate(3);
    let honest = listeners
        .into_iter()
        .zip(0..)
        .map(async |(listener, party)| Mesh::join(party, &peers, Some(listener), &options(party, PATIENCE)).await);
    let (results, _) = tokio::join!(join_all(honest), call_as(&peers, 2, 4));
    for (party, result) in results.into_iter().enumerate() {
        let error = over(result);
        let blame = error.blame().expect("somebody else's fault");
        assert_eq!((party, blame.party), (party, INSIDER), "{error}");
        if party == 0 {
            let text = error.to_string();
            assert!(text.ends_with("party of this identity: ours 3, theirs 2"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_wrong_count_is_its_senders_fault() {
    let (peers, mut listeners) = places().await;
    let options = options(0, PATIENCE);
    let zero = Mesh::join(0, &peers, Some(listeners.swap_remove(0)), &options);
    let (zero, _) = tokio::join!(zero, call_as(&peers, INSIDER, 9));
    let error = over(zero);
    assert_eq!(error.blame(), Some(Blame::seen(INSIDER, Cause::Disagrees)), "{error}");
    assert!(error.to_string().contains("number of parties: ours 4, theirs 9"), "{error}");
}

/// The error of a party that waits only for this peer, and the blame that it sends to the others.
async fn waits_for(mut mesh: Mesh, from: u16) -> (String, Option<Blame>) {
    let mut incoming = mesh.per_peer(|peer| vec![0; usize::from(peer == from)]);
    let error = mesh.broadcast(&[], &mut incoming).await.expect_err("no byte");
    let blame = error.blame();
    mesh.abort(blame).await;
    (error.to_string(), blame)
}

/// Three honest parties, the insider's end of its pipe to party 0, and the rest of its mesh, which stays open.
fn with_insider() -> ([Mesh; 3], DuplexStream, Mesh) {
    let (near, far) = duplex(1 << 10);
    let mut near = Some(near);
    let mut meshes = Mesh::of_pairs(4, |low, high| match near.take_if(|_| (low, high) == (0, INSIDER)) {
        Some(near) => {
            let (reader, writer) = split(near);
            (Channel::new(reader, writer), memory_pair().1)
        }
        None => memory_pair(),
    });
    meshes.iter_mut().for_each(|mesh| mesh.set_timeout(PATIENCE));
    let insider = meshes.pop().expect("four");
    (meshes.try_into().ok().expect("three"), far, insider)
}

/// An encoded abort.
fn abort(blame: &[u8]) -> Vec<u8> {
    [&[0xC2, 0, blame.len() as u8, 0, 0, 0], blame].concat()
}

#[tokio::test]
async fn hearsay_carries_the_name_of_its_source() {
    // The insider tells only party 0 that party 2 fell silent; party 1 waits for party 0.
    let ([zero, one, _two], mut insider, _rest) = with_insider();
    insider.write_all(&abort(&[2, 0, Cause::Silent as u8])).await.expect("in memory");
    let ((zero, passed_on), (one, blamed)) = tokio::join!(waits_for(zero, INSIDER), waits_for(one, 0));
    assert!(zero.starts_with("party 3: says that party 2 fell silent"), "{zero}");
    assert_eq!(passed_on, Some(Blame { heard_from: Some(INSIDER), ..Blame::seen(2, Cause::Silent) }));
    assert!(one.starts_with("party 0: passes on that party 3 says that party 2 fell silent"), "{one}");
    // The claim ends there: party 1 has only seen that party 0 gave up.
    assert_eq!(blamed, Some(Blame::seen(0, Cause::GaveUp)));
}

#[tokio::test]
async fn a_party_that_attributes_a_claim_is_named_with_it() {
    // The insider claims that party 1 blames party 2.
    let ([zero, one, _two], mut insider, _rest) = with_insider();
    insider.write_all(&abort(&[2, 0, Cause::Misbehaved as u8, 1, 0])).await.expect("in memory");
    let ((zero, passed_on), (one, _)) = tokio::join!(waits_for(zero, INSIDER), waits_for(one, 0));
    assert!(zero.starts_with("party 3: passes on that party 1 says that party 2 violated the protocol"), "{zero}");
    assert_eq!(passed_on, Some(Blame::seen(INSIDER, Cause::GaveUp)));
    assert!(one.starts_with("party 0: says that party 3 gave up"), "{one}");
}

/// The error of party 1 when it calls party 0 and receives this instead of a hello.
async fn joining_hears(bytes: Vec<u8>) -> PartyError {
    let insider = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = insider.local_addr().expect("bound");
    let peers = PeersFile::plain([address.to_string(), "127.0.0.1:1".into()]);
    let options = Options { patience: PATIENCE * 20, timeout: PATIENCE, ..Options::default() };
    let insider = async {
        let (mut stream, _) = insider.accept().await.expect("party 1");
        stream.write_all(&bytes).await.expect("sent");
        stream
    };
    let (joined, _stream) = tokio::join!(Mesh::join(1, &peers, None, &options), insider);
    over(joined)
}

#[tokio::test]
async fn a_joining_party_does_not_pass_on_blame_of_itself() {
    let error = joining_hears(abort(&[1, 0, Cause::Silent as u8])).await;
    assert!(matches!(error.source, NetError::PeerBlamesUs { cause: Cause::Silent, .. }), "{error}");
    assert_eq!(error.blame(), Some(Blame::seen(0, Cause::GaveUp)));
}

#[tokio::test]
async fn blame_of_unknown_parties_is_ignored() {
    let silent = Cause::Silent as u8;
    for blame in [vec![2, 0, silent], vec![255, 255, silent], vec![0, 0, silent, 2, 0]] {
        let error = joining_hears(abort(&blame)).await;
        assert!(matches!(error.source, NetError::PeerAborted { .. }), "{error}");
        assert_eq!(error.blame(), Some(Blame::seen(0, Cause::GaveUp)));
    }
    // Between two parties there is nobody else to blame.
    let (near, mut far) = duplex(1 << 10);
    let (reader, writer) = split(near);
    far.write_all(&abort(&[2, 0, silent])).await.expect("in memory");
    let error = Channel::new(reader, writer).receive_bytes(&mut [0]).await.expect_err("an abort");
    assert!(matches!(error, NetError::PeerAborted { .. }), "{error}");
}
