//! Stores that are restored to an earlier time.

use std::path::{Path, PathBuf};

use garblet_store::{Store, StoreError, StoreKey};

use super::*;

/// Opens a party's store in a folder.
pub(crate) fn open(folder: &Path, seed: u64) -> Store {
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    Store::open_or_create(folder, &key, &mut StdRng::seed_from_u64(seed)).expect("opens")
}

/// Copies the folder of a store.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    std::fs::set_permissions(to, std::fs::metadata(from).expect("there").permissions()).expect("ours");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { std::fs::copy(&from, &to).map(drop).expect("a copy") }
    }
}

/// A digest of all names and streams of a meeting, the shares of masks made in it, and the contents of the stores.
type Met = (Vec<u8>, Vec<Block>, Amounts);

/// Triples and masks that are used at every meeting but the first.
const TAKEN: u64 = 16;

/// Both parties' values of a meeting of stores, in which masks are made, and triples stored if there are none, or used if there are.
fn meet(folders: [&Path; 2], seed: u64) -> Both<Met> {
    let life = async |session: &mut Session, party: Party| -> Result<Met, ProtocolError> {
        let store = open(folders[usize::from(party.0)], 2 * seed + u64::from(party.0));
        match party {
            GARBLER => of::<GarblerSide>(session, store).await,
            _ => of::<EvaluatorSide>(session, store).await,
        }
    };
    async fn of<S: Side>(session: &mut Session, store: Store) -> Result<Met, ProtocolError> {
        let mut role =
            Participant::<S, Any>::meet(session, Config::default(), (store, "test"), Any::new(Honest)).await?;
        if role.stock() == Amounts::default() {
            role.fill(session, Amounts { triples: 8 * TAKEN, masks: 8 * TAKEN }).await?;
        } else if let Some(stock) = &mut role.ground.stock {
            stock.take(Amounts { triples: TAKEN, masks: TAKEN })?;
        }
        let made = role.ground.make(session, None, 256).await?;
        session.channel().flush().await?;
        let names = role.ground.domain(GARBLER, Place::Transcript, 0).digest(b"").to_vec();
        Ok((names, made.shares.peer.clone(), role.stock()))
    }
    let (garbler, evaluator) =
        both(seed, async |session| life(session, GARBLER).await, async |session| life(session, EVALUATOR).await);
    [garbler, evaluator]
}

/// The folders of two stores that have met twice, as they are and as they were in between, and the results of the second meeting.
fn met_twice(scratch: &Path) -> ([[PathBuf; 2]; 2], Both<Met>) {
    let [now, old] = ["now", "old"].map(|name| ["0", "1"].map(|party| scratch.join(name).join(party)));
    std::fs::create_dir_all(scratch.join("now")).expect("a folder");
    for made in meet([&now[0], &now[1]], 1) {
        made.expect("both are honest");
    }
    now.iter().zip(&old).for_each(|(now, old)| copy(now, old));
    let second = meet([&now[0], &now[1]], 2);
    ([now, old], second)
}

/// Both stores are restored, so nobody notices: the same triples are available again, and every use of them gets other names,
/// other hash keys, and other masks.
#[test]
fn names_and_streams_do_not_return_when_both_stores_are_put_back() {
    let scratch = tempfile::tempdir().expect("a folder");
    let ([_, old], first) = met_twice(scratch.path());
    let again = meet([&old[0], &old[1]], 3);
    for (party, (first, again)) in first.into_iter().zip(again).enumerate() {
        let [first, again] = [first, again].map(|met| met.expect("they belong together"));
        assert_eq!(first.2, again.2, "the same triples, party {party}");
        assert_ne!(first.0, again.0, "names of party {party}");
        assert!(first.1.iter().all(|block| !again.1.contains(block)), "masks of party {party}");
    }
}

/// One store, restored by one meeting, has triples that the other has used: they are given up.
#[test]
fn a_restored_store_does_not_reuse_what_the_peer_has_used() {
    for party in [0, 1] {
        let scratch = tempfile::tempdir().expect("a folder");
        let ([now, old], second) = met_twice(scratch.path());
        let before = second.map(|met| met.expect("both are honest").2);
        let mut folders = [&now[0], &now[1]];
        folders[party] = &old[party];
        for (met, before) in meet([folders[0], folders[1]], 3).into_iter().zip(before) {
            let (_, _, has) = met.expect("they belong together");
            assert_eq!([has.triples, has.masks], [before.triples - TAKEN, before.masks - TAKEN]);
        }
    }
}

/// One that has forgotten more is refused by the other.
#[test]
fn a_store_restored_by_two_meetings_is_refused_by_the_peer() {
    for party in [0, 1] {
        let scratch = tempfile::tempdir().expect("a folder");
        let ([now, old], _) = met_twice(scratch.path());
        assert!(meet([&now[0], &now[1]], 3).iter().all(Result::is_ok));
        let mut folders = [&now[0], &now[1]];
        folders[party] = &old[party];
        let results = meet([folders[0], folders[1]], 4);
        let error = results[1 - party].as_ref().err().expect("it knows");
        assert!(matches!(error, ProtocolError::Store(StoreError::PeerRolledBack { .. })), "{error}");
        assert!(results[party].is_err());
    }
}

/// Each finds out by itself, before anything is sent.
#[test]
fn each_restored_store_is_refused_by_its_own_record() {
    let scratch = tempfile::tempdir().expect("a folder");
    let ([now, old], _) = met_twice(scratch.path());
    let records = scratch.path().join("records");
    for party in [0, 1] {
        let _ = open(&now[party], 7).record_in(&records).expect("a first record");
        let error = open(&old[party], 8).record_in(&records).expect_err("older");
        assert!(matches!(error, StoreError::Restored { .. }), "{error}");
    }
}
