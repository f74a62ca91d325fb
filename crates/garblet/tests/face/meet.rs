//! The place where parties meet, the peers that they trust, and the text that binds a store to its peer.

use garblet::{
    Party,
    meet::{MeetError, Meeting, Peers, Way, check_loopback, mark_without_identities},
    net::{Fingerprint, Identity, PeersFile},
};

fn identity() -> Identity {
    Identity::generate(&mut rand::rng())
}

fn listen() -> Meeting {
    Meeting::Listen("127.0.0.1:0".into())
}

fn peers_file(folder: &tempfile::TempDir, fingerprints: &[Fingerprint]) -> PeersFile {
    let path = folder.path().join("peers.toml");
    let entry = |(at, print): (usize, &Fingerprint)| {
        format!("[[party]]\naddress = \"127.0.0.1:{}\"\nfingerprint = \"{print}\"\n", 7000 + at)
    };
    let text: String = fingerprints.iter().enumerate().map(entry).collect();
    std::fs::write(&path, text).expect("a folder of the test's own");
    PeersFile::open(&path).expect("a peers file")
}

#[test]
fn plain_tcp_is_for_this_machine() {
    assert!(check_loopback("127.0.0.1:1").is_ok());
    let text = |address: &str| check_loopback(address).expect_err(address).to_string();
    assert_eq!(text("0.0.0.0:1"), "0.0.0.0:1 is not on this machine");
    assert!(text("ws://127.0.0.1:1").contains("every web page"));
    for address in [":1", "1", ""] {
        assert!(text(address).contains("expected HOST:PORT"), "{address}");
    }
    let addresses = || PeersFile::plain(["127.0.0.1:1", "127.0.0.1:2"].map(String::from));
    for (listen, fits) in [(None, true), (Some("127.0.0.1:3"), true), (Some("0.0.0.0:3"), false)] {
        let peers = Peers::new(Party(1), addresses(), listen.map(String::from)).expect("it has two");
        assert_eq!(Way::plain(Meeting::Peers(peers), None).is_ok(), fits, "{listen:?}");
    }
    assert!(matches!(Peers::new(Party(2), addresses(), None), Err(MeetError::NoSuchParty { count: 2, .. })));
}

#[test]
fn who_listens_waits_for_one_peer() {
    let [alice, bob] = [("alice", identity()), ("bob", identity())];
    let known = |all: &[&(&str, Identity)]| -> Vec<_> {
        all.iter().map(|(name, identity)| (name.to_string(), identity.fingerprint())).collect()
    };
    let way = |meeting, trusted, session| Way::pinned(meeting, identity(), trusted, session);
    let session = || Some("join-0041".parse().expect("a name"));
    let both = || known(&[&alice, &bob]);
    let refused = way(listen(), both(), None).err().expect("two could come");
    assert_eq!(refused.to_string(), "no peer to wait for was chosen; trusted are alice, bob");
    assert!(matches!(way(listen(), Vec::new(), None), Err(MeetError::NobodyTrusted)));
    // Whoever of them comes for that session, or is called, is the peer; but a store is for one.
    for way in [way(listen(), both(), session()), way(Meeting::Connect("127.0.0.1:1".into()), both(), None)] {
        let way = way.expect("it says which");
        assert!(matches!(way.mark(), Err(MeetError::SeveralTrusted)));
    }
    let to_bob = way(listen(), known(&[&bob]), None).expect("one can come");
    assert_eq!(to_bob.mark().expect("one peer"), bob.1.fingerprint().to_string());
}

#[test]
fn a_party_of_several_has_the_identity_of_the_peers_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let identities = [identity(), identity(), identity()];
    let prints = identities.each_ref().map(Identity::fingerprint);
    let peers = |party| Peers::new(Party(party), peers_file(&folder, &prints), None).expect("it has three");
    let [zero, one, _] = identities;
    let way = Way::pinned(Meeting::Peers(peers(1)), one, Vec::new(), None).expect("its own");
    assert_eq!(way.mark().expect("known"), format!("party 0 {}, party 2 {}", prints[0], prints[2]));
    let refused = Way::pinned(Meeting::Peers(peers(2)), zero, Vec::new(), None).err().expect("another's");
    let expected = format!("party 2 of the peers file is {}, our identity is {}", prints[2], prints[0]);
    assert_eq!(refused.to_string(), expected);
    let plain = Peers::new(Party(0), PeersFile::plain(["127.0.0.1:1", "127.0.0.1:2"].map(String::from)), None);
    let plain = Meeting::Peers(plain.expect("it has two"));
    assert!(matches!(Way::pinned(plain, identity(), Vec::new(), None), Err(MeetError::NoFingerprints)));
}

/// Stores that were filled with one front end, or by another version, go on to fit.
#[test]
fn marks_of_stores_stay() {
    assert_eq!(mark_without_identities(2), "a peer without identity");
    assert_eq!(mark_without_identities(4), "3 peers without identity");
    let way = Way::plain(listen(), None).expect("it is here");
    assert_eq!(way.mark().expect("one peer"), "a peer without identity");
}

#[tokio::test]
async fn the_last_party_of_several_listens_nowhere() {
    let addresses = || PeersFile::plain(["127.0.0.1:0", "127.0.0.1:0"].map(String::from));
    for (party, listens) in [(0, true), (1, false)] {
        let peers = Peers::new(Party(party), addresses(), None).expect("it has two");
        let way = Way::plain(Meeting::Peers(peers), None).expect("it is here");
        assert_eq!(way.listen().await.expect("a free port").address().is_some(), listens, "{party}");
    }
}
