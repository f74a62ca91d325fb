//! Stores that are restored to an earlier time, where nobody can notice.

use std::path::Path;

use garblet_circuit::Party;
use garblet_store::{Store, StoreError, StoreKey};

use super::*;

/// Opens a copy of a party's store in a folder.
pub(super) fn open(folder: &Path, seed: u64) -> Store {
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    Store::open_or_create(folder, &key, &mut StdRng::seed_from_u64(seed)).expect("opens")
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    std::fs::set_permissions(to, std::fs::metadata(from).expect("there").permissions()).expect("ours");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { std::fs::copy(&from, &to).map(drop).expect("a copy") }
    }
}

/// The values that each party's streams and numbers follow from in a meeting of the stores in a folder.
fn meet(folder: &Path, seed: u64) -> [(Vec<[u64; 2]>, u64); 2] {
    let (ours, theirs) = memory_pair();
    let store = |party: Party| open(&folder.join(party.to_string()), 2 * seed + u64::from(party.0));
    let constructor = async {
        let mut session = session(ours, CONSTRUCTOR, seed).await;
        let role = Constructor::meet(&mut session, Config::default(), store(CONSTRUCTOR), "test").await;
        role.expect("they belong together").secrets().of_meeting()
    };
    let evaluator = async {
        let mut session = session(theirs, EVALUATOR, seed).await;
        let role = Evaluator::meet(&mut session, Config::default(), store(EVALUATOR), "test").await;
        role.expect("they belong together").secrets().of_meeting()
    };
    block_on(async { tokio::join!(constructor, evaluator) }).into()
}

/// Both stores are restored, including their counters, as for a party whose peer lies about what it remembers.
#[test]
fn streams_and_numbers_do_not_return_when_both_stores_are_put_back() {
    let scratch = tempfile::tempdir().expect("a folder");
    let [now, old] = ["now", "old"].map(|name| scratch.path().join(name));
    std::fs::create_dir(&now).expect("a folder");
    meet(&now, 1);
    copy(&now, &old);
    let (first, again) = (meet(&now, 2), meet(&old, 3));
    for (party, (first, again)) in first.iter().zip(&again).enumerate() {
        assert!(first.0.iter().zip(&again.0).all(|(first, again)| first != again), "streams of party {party}");
        assert_ne!(first.1, again.1, "numbers of party {party}");
    }
    assert_eq!((first[0].1, again[0].1), (first[1].1, again[1].1), "both parties have the same numbers");
}

/// Each finds out by itself, before anything is sent.
#[test]
fn each_restored_store_is_refused_by_its_own_record() {
    let scratch = tempfile::tempdir().expect("a folder");
    let [now, old, records] = ["now", "old", "records"].map(|name| scratch.path().join(name));
    std::fs::create_dir(&now).expect("a folder");
    meet(&now, 1);
    copy(&now, &old);
    meet(&now, 2);
    for party in ["0", "1"] {
        let _ = open(&now.join(party), 7).record_in(&records).expect("a first record");
        let error = open(&old.join(party), 8).record_in(&records).expect_err("older");
        assert!(matches!(error, StoreError::Restored { .. }), "{error}");
    }
}
