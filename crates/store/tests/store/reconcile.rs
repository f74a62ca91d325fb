//! Two stores that meet.

#![cfg(unix)]

use std::sync::atomic::{AtomicU64, Ordering};

use garblet_store::{AHEAD_MAX, IDS_MAX, IdSet, KINDS_MAX, Kind, PieceId, Store, StoreError, StoreKey, Summary};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

/// Different randomness for every opening.
fn rng() -> StdRng {
    static OPENINGS: AtomicU64 = AtomicU64::new(0);
    StdRng::seed_from_u64(OPENINGS.fetch_add(1, Ordering::Relaxed))
}

fn memory() -> Store {
    Store::in_memory(&mut rng()).expect("made")
}

fn kind(number: u64) -> Kind {
    Kind::new(&format!("kind {number}"), b"")
}

fn fill(store: &mut Store, kind: &Kind, ids: impl IntoIterator<Item = u64>) {
    let mut batch = store.batch();
    for id in ids {
        batch.push(kind, PieceId(id), &id.to_le_bytes()).expect("fits");
    }
    batch.commit().expect("durable");
}

/// Reconciles both with each other's summary, and returns the pieces that each lost.
fn meet(a: &mut Store, b: &mut Store) -> Result<(u64, u64), StoreError> {
    let over_the_wire = |summary: Summary| {
        let bytes = postcard::to_stdvec(&summary).expect("encodes");
        assert!(bytes.len() <= Summary::BYTES_MAX);
        postcard::from_bytes::<Summary>(&bytes).expect("decodes")
    };
    let (from_a, from_b) = (over_the_wire(a.summary()), over_the_wire(b.summary()));
    let lost =
        |store: &mut Store, peer| Ok(store.reconcile(peer, AHEAD_MAX)?.dropped.iter().map(|(_, count)| count).sum());
    let from_b = lost(a, &from_b)?;
    Ok((from_b, lost(b, &from_a)?))
}

fn agree(a: &Store, b: &Store) -> bool {
    let facts = |store: &Store| store.stock().into_iter().map(|s| (s.kind, s.available, s.next)).collect::<Vec<_>>();
    facts(a) == facts(b)
}

#[test]
fn pieces_that_only_one_store_has_are_lost_and_counted() {
    let (mut a, mut b) = (memory(), memory());
    fill(&mut a, &kind(1), 0..10);
    fill(&mut b, &kind(1), 0..6);
    fill(&mut b, &kind(2), 0..3);
    b.take_next(&kind(1), 2).expect("there");
    assert_eq!(meet(&mut a, &mut b).expect("they belong together"), (6, 3));
    assert!(agree(&a, &b));
    assert_eq!(a.stock_of(&kind(1)).available, IdSet::range(PieceId(2), 4));
    assert_eq!((a.next_id(&kind(1)), b.next_id(&kind(1))), (PieceId(10), PieceId(10)));
    assert_eq!((a.next_id(&kind(2)), a.stock_of(&kind(1)).dropped), (PieceId(3), 6));
    assert_eq!(meet(&mut a, &mut b).expect("again"), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn after_any_past_both_have_the_same(
        steps in proptest::collection::vec((any::<bool>(), 0u64..3, 0u64..4, 1u64..9), 0..40)
    ) {
        let (mut a, mut b) = (memory(), memory());
        for (first, number, what, n) in steps {
            let store = if first { &mut a } else { &mut b };
            let kind = kind(number);
            match what {
                0 => { let next = store.next_id(&kind).0; fill(store, &kind, next..next + n); }
                1 => { let n = n.min(store.count(&kind)); store.take_next(&kind, n).expect("there"); }
                2 => { store.drop_pieces(&kind, &IdSet::range(PieceId(3 * n), n)).expect("dropped"); }
                _ => { meet(&mut a, &mut b).expect("they belong together"); }
            }
        }
        meet(&mut a, &mut b).expect("they belong together");
        prop_assert!(agree(&a, &b));
    }

    #[test]
    fn any_bytes_are_a_summary_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(summary) = postcard::from_bytes::<Summary>(&bytes) {
            let _ = memory().reconcile(&summary, AHEAD_MAX);
        }
    }
}

/// A summary with contents that a peer can choose freely.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Told {
    store: [u8; 16],
    changes: u64,
    seen: Vec<([u8; 16], u64)>,
    kinds: Vec<(Kind, u64, IdSet)>,
}

impl Told {
    fn by(store: &Store) -> Self {
        postcard::from_bytes(&postcard::to_stdvec(&store.summary()).expect("encodes")).expect("decodes")
    }

    fn summary(mut self) -> Summary {
        self.kinds.sort_by_key(|(kind, ..)| kind.digest());
        postcard::from_bytes(&postcard::to_stdvec(&self).expect("encodes")).expect("well-formed")
    }
}

/// One of two peers tells a number that is possible to one store and withholds it from another. The honest store that was led on is not blamed by the other.
#[test]
fn a_store_that_was_led_on_is_not_blamed_by_one_that_was_not() {
    let [mut a, mut b, mut c] = [memory(), memory(), memory()];
    [&mut a, &mut b, &mut c].into_iter().for_each(|store| fill(store, &kind(1), 0..4));
    let all = [&a, &b, &c].map(Store::summary);
    let others = |own: usize| [0, 1, 2].into_iter().filter(move |&other| other != own);
    for (own, store) in [&mut a, &mut b, &mut c].into_iter().enumerate() {
        store
            .reconcile_all(&others(own).map(|other| all[other].clone()).collect::<Vec<_>>(), AHEAD_MAX)
            .expect("the first meeting");
    }
    let lie = |next: u64, c: &Store| {
        let mut told = Told::by(c);
        told.kinds[0].1 = next;
        told.summary()
    };
    // The first time only A goes on.
    let of_b = b.summary();
    a.reconcile_all(&[of_b, lie(4 + AHEAD_MAX, &c)], AHEAD_MAX).expect("this number is possible");
    // The second time the numbers of all are compared.
    let (of_b, told) = (b.summary(), lie(5 + 2 * AHEAD_MAX, &c));
    for error in [a.reconcile_all(&[of_b, told.clone()], AHEAD_MAX), b.reconcile_all(&[a.summary(), told], AHEAD_MAX)] {
        let error = error.expect_err("nobody has made so many");
        assert!(matches!(error, StoreError::Apart { .. }) && !error.is_misbehaviour(), "{error}");
    }
    let of_a = a.summary();
    b.reconcile_all(&[of_a, c.summary()], AHEAD_MAX).expect("what A says is possible");
}

/// A peer claims a number of a kind that nobody knows yet. Then one store makes a piece after it, and the other is closed and opened again.
#[test]
fn stores_that_know_their_kinds_all_remember_what_a_peer_claimed() {
    for knows in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let key = StoreKey::generate(&mut rng());
        let mut b = Store::create(folder.path().join("b").as_path(), &key, &mut rng()).expect("a new folder");
        let [mut a, c] = [memory(), memory()];
        if knows {
            [&mut a, &mut b].into_iter().for_each(|store| store.know(&[&kind(1)]).expect("it can be written"));
        }
        let lie = |next| {
            let mut told = Told::by(&c);
            told.kinds.push((kind(1), next, IdSet::new()));
            told.summary()
        };
        let (of_a, of_b) = (a.summary(), b.summary());
        a.reconcile_all(&[of_b, lie(AHEAD_MAX)], AHEAD_MAX).expect("this number is possible");
        b.reconcile_all(&[of_a, lie(AHEAD_MAX)], AHEAD_MAX).expect("this number is possible");
        fill(&mut a, &kind(1), [AHEAD_MAX]);
        drop(b);
        let mut b = Store::open(folder.path().join("b").as_path(), &key, &mut rng()).expect("nobody holds it");
        let met = b.reconcile_all(&[a.summary(), lie(AHEAD_MAX)], AHEAD_MAX);
        assert_eq!(met.is_ok(), knows, "{met:?}");
    }
}

#[test]
fn two_parties_with_one_store_are_refused_without_a_trace() {
    let [mut a, b, c] = [memory(), memory(), memory()];
    for store in [&a, &b].map(|of| Told::by(of).store) {
        let told = Told { store, ..Told::by(&c) };
        let before = a.summary();
        let error =
            a.reconcile_all(&[b.summary(), told.summary()], AHEAD_MAX).expect_err("each has a store of its own");
        assert!(matches!(error, StoreError::Twice { .. }) && !error.is_misbehaviour(), "{error}");
        assert_eq!(a.summary(), before);
    }
}

#[test]
fn a_peer_that_is_impossibly_far_ahead_is_refused_without_a_trace() {
    let (mut a, mut b) = (memory(), memory());
    [&mut a, &mut b].into_iter().for_each(|store| fill(store, &kind(1), 0..4));
    meet(&mut a, &mut b).expect("the first meeting");
    for (claimed, next, known) in [(1, IDS_MAX, 4), (1, 5 + AHEAD_MAX, 4), (2, IDS_MAX, 0), (2, 1 + AHEAD_MAX, 0)] {
        let mut told = Told::by(&b);
        told.kinds.retain(|(kept, ..)| *kept != kind(claimed));
        told.kinds.push((kind(claimed), next, IdSet::new()));
        let before = a.summary();
        let error = a.reconcile(&told.summary(), AHEAD_MAX).expect_err("no peer has made this number");
        assert!(matches!(error, StoreError::PeerAhead { .. }) && error.is_misbehaviour(), "{error}");
        assert_eq!((a.summary(), a.next_id(&kind(claimed))), (before, PieceId(known)));
    }
    let mut told = Told::by(&b);
    told.kinds[0].1 += AHEAD_MAX;
    a.reconcile(&told.summary(), AHEAD_MAX).expect("this number is possible");
    assert_eq!(a.next_id(&kind(1)), PieceId(4 + AHEAD_MAX));
}

/// With the bound of its protocol, a peer that lies at every meeting uses up no more numbers than it could by making pieces.
#[test]
fn a_peer_leads_a_store_on_by_no_more_than_the_protocol_allows() {
    let [mut a, mut b, mut c] = [memory(), memory(), memory()];
    [&mut a, &mut b, &mut c].into_iter().for_each(|store| fill(store, &kind(1), 0..4));
    let lie = |next: u64, of: &Store| {
        let mut told = Told::by(of);
        told.kinds[0].1 = next;
        told.summary()
    };
    for meeting in 0..3 {
        let (of_a, of_b, next) = (a.summary(), b.summary(), 4 + 8 * meeting);
        let error = a.reconcile_all(&[of_b.clone(), lie(next + 9, &c)], 8).expect_err("nobody has made so many");
        let expected = format!("expected the next piece of {} within 8 of {next}, got {}", kind(1), next + 9);
        assert!(error.to_string().ends_with(&expected) && !error.is_misbehaviour(), "{error}");
        let told = lie(next + 8, &c);
        a.reconcile_all(&[of_b, told.clone()], 8).expect("this number is possible");
        b.reconcile_all(&[of_a, told.clone()], 8).expect("this number is possible");
        assert_eq!((a.next_id(&kind(1)), b.next_id(&kind(1))), (PieceId(next + 8), PieceId(next + 8)));
    }
}

#[test]
fn kinds_known_only_to_the_peer_are_forgotten_when_the_store_is_closed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store");
    let key = StoreKey::generate(&mut rng());
    let mut a = Store::create(&path, &key, &mut rng()).expect("made");
    let mut b = memory();
    [&mut a, &mut b].into_iter().for_each(|store| fill(store, &kind(0), 0..4));
    meet(&mut a, &mut b).expect("the first meeting");
    for meeting in 0..3 {
        let mut told = Told::by(&b);
        (1..KINDS_MAX as u64).for_each(|junk| told.kinds.push((kind(5000 * meeting + junk), 7, IdSet::new())));
        let all = told.clone().summary();
        told.kinds.push((kind(1 << 20), 7, IdSet::new()));
        told.kinds.remove(0);
        a.reconcile(&all, AHEAD_MAX).expect("as many as there may be");
        assert_eq!((a.stock().len(), a.next_id(&kind(5000 * meeting + 1))), (KINDS_MAX, PieceId(7)));
        let error = a.reconcile(&told.summary(), AHEAD_MAX).expect_err("one more");
        assert!(matches!(error, StoreError::PeerKinds { .. }) && error.is_misbehaviour(), "{error}");
        a.clear().expect("durable");
        drop(a);
        a = Store::open(&path, &key, &mut rng()).expect("opens");
        assert_eq!(a.stock().len(), 1);
    }
    fill(&mut a, &kind(1), 0..4);
}

#[test]
fn a_stranger_is_refused_by_both() {
    let (mut a, mut b, mut c, mut d) = (memory(), memory(), memory(), memory());
    fill(&mut a, &kind(1), 0..4);
    fill(&mut b, &kind(1), 0..4);
    meet(&mut a, &mut b).expect("the first meeting");
    let error = a.reconcile(&c.summary(), AHEAD_MAX).expect_err("a stranger");
    assert!(matches!(error, StoreError::OtherPeerStore { .. }), "{error}");
    let error = c.reconcile(&a.summary(), AHEAD_MAX).expect_err("promised to another");
    assert!(matches!(error, StoreError::OtherStore { .. }), "{error}");
    assert_eq!(a.count(&kind(1)), 4, "nothing is lost by meeting a stranger");
    meet(&mut c, &mut d).expect("two new ones");
}

#[test]
fn several_stores_keep_their_common_pieces_and_strangers_are_refused_by_place() {
    let mut stores = [memory(), memory(), memory()];
    for (store, count) in stores.iter_mut().zip([6, 4, 5]) {
        fill(store, &kind(1), 0..count);
    }
    fill(&mut stores[2], &kind(2), 0..3);
    stores[0].take_next(&kind(1), 1).expect("there");
    let meet = |stores: &mut [Store; 3]| {
        let told: Vec<Summary> = stores.iter().map(Store::summary).collect();
        let lost = |(own, store): (usize, &mut Store)| {
            let peers: Vec<Summary> = (0..3).filter(|peer| *peer != own).map(|peer| told[peer].clone()).collect();
            Ok(store.reconcile_all(&peers, AHEAD_MAX)?.dropped.iter().map(|(_, count)| count).sum())
        };
        stores.iter_mut().enumerate().map(lost).collect::<Result<Vec<u64>, StoreError>>()
    };
    assert_eq!(meet(&mut stores).expect("they belong together"), [2, 1, 5]);
    for store in &stores {
        assert_eq!(store.stock_of(&kind(1)).available, IdSet::range(PieceId(1), 3));
        assert_eq!((store.next_id(&kind(1)), store.next_id(&kind(2))), (PieceId(6), PieceId(3)));
    }
    assert_eq!(meet(&mut stores).expect("again"), [0, 0, 0]);
    let stranger = memory();
    assert!(stores[0].check_peer(0, &stores[1].summary()).is_ok());
    for (at, summary) in [(0, stores[2].summary()), (1, stranger.summary()), (2, stranger.summary())] {
        let error = stores[0].check_peer(at, &summary).expect_err("a stranger there");
        assert!(matches!(error, StoreError::OtherPeerStore { .. }), "{error}");
    }
    let error = stranger.check_peer(0, &stores[1].summary()).expect_err("promised to others");
    assert!(matches!(error, StoreError::OtherStore { .. }), "{error}");
}

#[test]
fn both_detect_a_restored_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, backup) = (folder.path().join("store"), folder.path().join("backup"));
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    let mut b = memory();
    let mut a = Store::create(&path, &key, &mut rng()).expect("made");
    fill(&mut a, &kind(1), 0..4);
    fill(&mut b, &kind(1), 0..4);
    drop(a);
    copy(&path, &backup);
    let mut a = Store::open(&path, &key, &mut rng()).expect("opens");
    meet(&mut a, &mut b).expect("the first meeting");
    a.take_next(&kind(1), 2).expect("there");
    b.take_next(&kind(1), 2).expect("there");
    meet(&mut a, &mut b).expect("the second meeting");
    drop(a);

    let mut old = Store::open(&backup, &key, &mut rng()).expect("opens");
    assert_eq!(old.count(&kind(1)), 4, "the copy does not know");
    let error = b.reconcile(&old.summary(), AHEAD_MAX).expect_err("older than when we met");
    assert!(matches!(error, StoreError::PeerRolledBack { .. }), "{error}");
    let error = old.reconcile(&b.summary(), AHEAD_MAX).expect_err("older than what the peer saw");
    assert!(matches!(error, StoreError::RolledBack { .. }), "{error}");
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new().mode(0o700).create(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("a copy");
            assert_eq!(std::fs::metadata(&to).expect("there").permissions().mode() & 0o77, 0);
        }
    }
}

#[test]
fn summaries_beyond_their_bounds_are_refused() {
    let mut store = memory();
    fill(&mut store, &kind(1), [0, 2, 4]);
    let good = postcard::to_stdvec(&store.summary()).expect("encodes");
    assert!(postcard::from_bytes::<Summary>(&good).is_ok());
    // The last bytes are the ranges, preceded by the next identifier, 5.
    let next = good.len() - 8;
    assert_eq!(good[next], 5);
    let mut bad = good.clone();
    bad[next] = 4;
    let error = postcard::from_bytes::<Summary>(&bad);
    assert!(error.is_err(), "pieces beyond the next identifier");
}

#[test]
fn a_fragmented_store_sends_its_longest_ranges_and_both_keep_those() {
    let (mut a, mut b) = (memory(), memory());
    let odd: IdSet = (1000..70_000u64).filter(|id| id % 2 == 1).map(PieceId).collect();
    for store in [&mut a, &mut b] {
        fill(store, &kind(1), 0..70_000);
        store.drop_pieces(&kind(1), &odd).expect("dropped");
    }
    let (lost_a, lost_b) = meet(&mut a, &mut b).expect("they belong together");
    assert_eq!(lost_a, lost_b);
    assert!(lost_a > 0 && lost_a < 3000, "{lost_a}");
    assert!(agree(&a, &b) && a.stock_of(&kind(1)).available.contains(PieceId(999)));
}
