//! Tests: a store that is cut off at each of its writes.
//!
//! A scenario runs once for each of its steps. At that step the folder is copied, as a kill of the process would leave it,
//! and the step fails, as on a failing disk. Then both the copy and the folder itself must open, have everything that was
//! promised, and offer nothing that was given out. The store's record lies beside it and is cut off in the same way.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rand::{SeedableRng, rngs::StdRng};

use crate::fail_points::FailPoints;
use crate::reconcile::AHEAD_MAX;
use crate::{Binding, IdSet, Kind, Past, PieceId, State, Store, StoreError, StoreKey, Summary};

/// The promises made to the scenario before it was cut off.
#[derive(Default)]
struct Promised {
    /// The possible numbers of added pieces: all, or none if the batch was not committed.
    committed: u64,
    batch: u64,
    /// Pieces whose bytes were given out.
    given: Vec<PieceId>,
    state: u8,
}

/// Different randomness for every opening.
fn rng() -> StdRng {
    static OPENINGS: AtomicU64 = AtomicU64::new(0);
    StdRng::seed_from_u64(OPENINGS.fetch_add(1, Ordering::Relaxed))
}

fn key() -> StoreKey {
    StoreKey([5; 32])
}

fn kind() -> Kind {
    Kind::new("k", b"")
}

fn fill(store: &mut Store, promised: &mut Promised, count: u64) -> Result<(), StoreError> {
    promised.batch = count;
    let mut batch = store.batch();
    for _ in 0..count {
        let id = batch.next_id(&kind());
        batch.push(&kind(), id, &vec![id.0 as u8; 300_000])?;
        batch.push(&Kind::new("other", b""), id, b"x")?;
    }
    batch.set_state("state", State { version: 0, bytes: vec![promised.state + 1] })?;
    batch.commit()?;
    promised.committed += count;
    promised.state += 1;
    promised.batch = 0;
    Ok(())
}

fn take(store: &mut Store, promised: &mut Promised, count: u64) -> Result<(), StoreError> {
    for piece in store.take_next(&kind(), count)? {
        promised.given.push(piece?.id);
    }
    Ok(())
}

fn scenario(folder: &Path, steps: FailPoints, promised: &mut Promised) -> Result<(), StoreError> {
    let mut store = Store::create_with(folder, &key(), &mut rng(), steps.clone())?;
    assert_eq!(store.record_in(&records_of(folder))?, Past::Known, "it is new");
    store.bind(&Binding { peer: "p".into(), role: "r".into(), protocol: "1".into(), library: String::new() })?;
    fill(&mut store, promised, 5)?;
    take(&mut store, promised, 2)?;
    drop(store);
    let mut store = Store::open_with(folder, &key(), &mut rng(), steps)?;
    assert_eq!(store.record_in(&records_of(folder))?, Past::Known);
    fill(&mut store, promised, 4)?;
    take(&mut store, promised, 5)?;
    store.reconcile(&store.summary_as_peer(), AHEAD_MAX)?;
    store.compact(&mut |_, _| {})?;
    take(&mut store, promised, 1)
}

/// Checks that a store that was cut off offers nothing that was given out, whatever a peer claims.
fn check_against_lies(folder: &Path, promised: &Promised, step: &str) {
    let lied_to = folder.with_extension("lied-to");
    copy(folder, &lied_to).expect("a copy");
    let Ok(mut store) = Store::open(&lied_to, &key(), &mut rng()) else { return };
    for lie in lies(&store) {
        // It may be refused or accepted.
        let _ = store.reconcile(&lie, AHEAD_MAX);
        let stock = store.stock_of(&kind());
        let back = promised.given.iter().find(|id| stock.available.contains(**id) || **id >= stock.next);
        assert_eq!(back, None, "cut off at {step}, a lying peer brings a piece back");
    }
}

/// The folder of a store's record.
fn records_of(folder: &Path) -> PathBuf {
    folder.with_extension("records")
}

impl Store {
    /// The summary that a peer with the same pieces would send.
    fn summary_as_peer(&self) -> crate::Summary {
        let bytes = postcard::to_stdvec(&self.summary()).expect("encodes");
        let mut summary: crate::Summary = postcard::from_bytes(&bytes).expect("decodes");
        summary.store = summary.store.map(|byte| !byte);
        summary
    }
}

/// Checks what must hold of a store after it was cut off.
fn check(folder: &Path, promised: &Promised, step: &str) {
    let mut store = Store::open_or_create(folder, &key(), &mut rng())
        .unwrap_or_else(|error| panic!("cut off at {step}, it does not open: {error}"));
    let past = store.record_in(&records_of(folder));
    let past = past.unwrap_or_else(|error| panic!("cut off at {step}, its record does not fit: {error}"));
    assert_eq!(past, Past::Known, "cut off at {step}");
    let stock = store.stock_of(&kind());
    let next = stock.next.0;
    let whole = [promised.committed, promised.committed + promised.batch];
    assert!(whole.contains(&next), "cut off at {step}, half a batch is there: {next} of {whole:?}");
    let used = stock.available.len() + stock.consumed + stock.dropped;
    assert_eq!(used, next, "cut off at {step}, pieces are not counted");
    for id in &promised.given {
        assert!(!stock.available.contains(*id), "cut off at {step}, piece {id} is offered twice");
    }
    let state = store.state("state").map_or(0, |state| state.bytes[0]);
    let state_next = promised.state + u8::from(promised.batch > 0 && next > promised.committed);
    assert_eq!(state, state_next, "cut off at {step}, the state does not fit the pieces");
    let left = store.take(&kind(), &stock.available).and_then(crate::Taken::read_all);
    let left = left.unwrap_or_else(|error| panic!("cut off at {step}, a piece is lost: {error}"));
    assert!(left.iter().all(|piece| piece.bytes[..] == [piece.id.0 as u8; 300_000]), "cut off at {step}");
    let mut again = Promised { committed: next, state, ..Promised::default() };
    fill(&mut store, &mut again, 2).unwrap_or_else(|error| panic!("cut off at {step}, it cannot be filled: {error}"));
    assert_eq!(store.stock_of(&kind()).available, IdSet::range(PieceId(next), 2));
}

/// A summary with contents that a peer can choose freely.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Told {
    store: [u8; 16],
    changes: u64,
    seen: Vec<([u8; 16], u64)>,
    kinds: Vec<(Kind, u64, IdSet)>,
}

/// Well-formed summaries of a lying peer: it has used pieces, knows nothing, or knows too much.
fn lies(store: &Store) -> Vec<Summary> {
    let told: Told = postcard::from_bytes(&postcard::to_stdvec(&store.summary()).expect("encodes")).expect("decodes");
    let peer = store.head.peers.first().map_or([9; 16], |peer| peer.store);
    let has_all = |kinds: &[(Kind, u64, IdSet)]| {
        let all = |(kind, next, _): &(Kind, u64, IdSet)| (kind.clone(), *next, IdSet::range(PieceId(0), *next));
        kinds.iter().map(all).collect::<Vec<_>>()
    };
    let honest = Told { store: peer, changes: 1 << 40, seen: vec![(store.id, 0)], kinds: has_all(&told.kinds) };
    let ahead = |next: u64| {
        has_all(&honest.kinds.iter().map(|(kind, ..)| (kind.clone(), next, IdSet::new())).collect::<Vec<_>>())
    };
    let unknown = |number| (Kind::new(&format!("unknown {number}"), b""), 1, IdSet::new());
    let mut unknown: Vec<_> = (0..crate::KINDS_MAX).map(unknown).collect();
    unknown.sort_by_key(|(kind, ..)| kind.digest());
    let lies = [
        honest.clone(),
        Told { seen: Vec::new(), ..honest.clone() },
        Told { changes: 0, ..honest.clone() },
        Told { seen: vec![(store.id, u64::MAX)], changes: u64::MAX, ..honest.clone() },
        Told { kinds: unknown, ..honest.clone() },
        Told { kinds: ahead(u64::MAX), ..honest.clone() },
        Told { kinds: ahead(crate::IDS_MAX + 1), ..honest.clone() },
    ];
    let decode = |lie: &Told| postcard::from_bytes::<Summary>(&postcard::to_stdvec(lie).expect("encodes"));
    let is_empty = honest.kinds.is_empty();
    assert!(lies[5..].iter().all(|lie| is_empty || decode(lie).is_err()), "identifiers that would wrap around");
    lies[..5].iter().map(|lie| decode(lie).expect("well-formed")).collect()
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(to)?;
    std::fs::set_permissions(to, std::fs::metadata(from)?.permissions())?;
    for entry in std::fs::read_dir(from)? {
        let (from, to) = (entry.as_ref().map(|e| e.path()).unwrap_or_default(), to.join(entry?.file_name()));
        if from.is_dir() { copy(&from, &to)? } else { std::fs::copy(&from, &to).map(drop)? }
    }
    Ok(())
}

/// Runs the scenario, cut off at step number `at`, and returns the name of that step.
fn cut_off(at: usize) -> Option<&'static str> {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let (folder, killed) = (scratch.path().join("store"), scratch.path().join("killed"));
    let reached = Arc::new(Mutex::new((0, None)));
    let steps = {
        let (reached, folder, killed) = (reached.clone(), folder.clone(), killed.clone());
        FailPoints::with(move |step| {
            let mut reached = reached.lock().expect("one thread");
            reached.0 += 1;
            match reached.0 - 1 {
                n if n < at => Ok(()),
                n => {
                    if n == at {
                        reached.1 = Some(step);
                        copy(&folder, &killed)?;
                        copy(&records_of(&folder), &records_of(&killed))?;
                    }
                    Err(io::Error::other("cut off"))
                }
            }
        })
    };
    let mut promised = Promised::default();
    let ended = scenario(&folder, steps, &mut promised);
    let step = reached.lock().expect("one thread").1;
    match step {
        Some(step) => {
            for folder in [&killed, &folder] {
                check_against_lies(folder, &promised, step);
                check(folder, &promised, step);
            }
        }
        None => ended.expect("nothing failed"),
    }
    step
}

#[test]
fn a_store_cut_off_at_any_write_opens_and_offers_nothing_twice() {
    let steps: Vec<_> = (0..).map_while(cut_off).collect();
    let names: std::collections::BTreeSet<_> = steps.iter().copied().collect();
    let all = [
        "creation",
        "folder",
        "index change",
        "index changed",
        "lock",
        "names",
        "record",
        "record name",
        "recorded",
        "segment creation",
        "segment removal",
        "segment sync",
        "segment write",
    ];
    assert!(names.iter().copied().eq(all), "{names:?}");
    assert!(steps.len() >= 45, "{steps:?}");
}

/// Whatever a lying peer claims, the record refuses a copy from any time before the last taken piece or the last agreement.
#[test]
fn a_store_restored_to_any_moment_before_the_last_taken_piece_is_refused() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let folder = scratch.path().join("store");
    let copies = Arc::new(Mutex::new(Vec::new()));
    let steps = {
        let (copies, folder, scratch) = (copies.clone(), folder.clone(), scratch.path().to_path_buf());
        FailPoints::with(move |step| {
            let mut copies = copies.lock().expect("one thread");
            let to = scratch.join(format!("copy-{}", copies.len()));
            copy(&folder, &to)?;
            copies.push((step, to));
            Ok(())
        })
    };
    let mut promised = Promised::default();
    scenario(&folder, steps, &mut promised).expect("nothing fails");
    let copies = std::mem::take(&mut *copies.lock().expect("one thread"));
    let last = copies.iter().rposition(|(step, _)| *step == "index changed").expect("the last piece is taken");
    let (mut refused, mut in_use) = (0, 0);
    for (at, (step, old)) in copies.iter().enumerate() {
        let Ok(mut store) = Store::open(old, &key(), &mut rng()) else { continue };
        match store.record_in(&records_of(&folder)) {
            Err(StoreError::Restored { expected, got, .. }) => {
                assert!(at < last && got < expected, "{step}, the {at}th");
                refused += 1;
            }
            Ok(past) => {
                assert!(at >= last && past == Past::Known, "{step}, the {at}th of {last}, is put back unnoticed");
                let offered = store.stock_of(&kind()).available;
                assert!(promised.given.iter().all(|id| !offered.contains(*id)));
                let other = Store::open(&copies[copies.len() - 1].1, &key(), &mut rng());
                if let Some(mut other) = other.ok().filter(|_| at + 1 < copies.len()) {
                    let error = other.record_in(&records_of(&folder));
                    assert!(matches!(error, Err(StoreError::CopyInUse { .. })), "two copies at once");
                    in_use += 1;
                }
            }
            Err(error) => panic!("{step}: {error}"),
        }
    }
    assert!(refused >= 40 && in_use >= 1, "{refused} refused, {in_use} in use");
}

/// Two copies were used: one gave pieces out, the other was changed more often, in ways that are not recorded.
#[test]
fn of_two_used_copies_only_the_recorded_one_opens() {
    type Change = fn(&mut Store);
    let filled: Change = |store| {
        (0..4).for_each(|_| fill(store, &mut Promised::default(), 1).expect("filled"));
    };
    let compacted: Change = |store| {
        (0..4).for_each(|_| {
            fill(store, &mut Promised::default(), 1).expect("filled");
            store.compact(&mut |_, _| {}).expect("compacted");
        });
    };
    // Used without the record, as on another machine, so that more was given out than the record knows.
    let used: Change = |store| (0..4).for_each(|_| take(store, &mut Promised::default(), 1).expect("taken"));
    for (how, change, is_recorded) in [("filled", filled, true), ("compacted", compacted, true), ("used", used, false)]
    {
        let scratch = tempfile::tempdir().expect("a folder for the test");
        let [folder, other] = ["store", "copy"].map(|name| scratch.path().join(name));
        let records = records_of(&folder);
        let open = |folder: &Path| Store::open(folder, &key(), &mut rng()).expect("opens");
        scenario(&folder, FailPoints::default(), &mut Promised::default()).expect("nothing fails");
        fill(&mut open(&folder), &mut Promised::default(), 9).expect("filled");
        copy(&folder, &other).expect("a copy");
        let mut store = open(&folder);
        if is_recorded {
            assert_eq!(store.record_in(&records).expect("the first of both"), Past::Known, "{how}");
        }
        change(&mut store);
        drop(store);
        let mut store = open(&other);
        assert_eq!(store.record_in(&records).expect("nothing was given out"), Past::Known, "{how}");
        take(&mut store, &mut Promised::default(), 2).expect("taken");
        drop(store);
        let error = open(&folder).record_in(&records).expect_err("what the other gave out is offered again");
        assert!(matches!(error, StoreError::Forked { .. }), "{how}: {error}");
        assert_eq!(open(&other).record_in(&records).expect("it is the recorded one"), Past::Known, "{how}");
    }
}

#[test]
fn a_store_without_a_record_has_an_unknown_past_once() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let folder = scratch.path().join("store");
    scenario(&folder, FailPoints::default(), &mut Promised::default()).expect("nothing fails");
    let elsewhere = scratch.path().join("elsewhere");
    let past = || Store::open(&folder, &key(), &mut rng()).and_then(|mut store| store.record_in(&elsewhere));
    assert_eq!(past().expect("opens"), Past::Unknown);
    assert_eq!(past().expect("opens"), Past::Known);
    // An unreadable record counts as missing and is created again.
    let record = std::fs::read_dir(&elsewhere).expect("a folder").flatten().next().expect("a record").path();
    std::fs::write(&record, [7; 80]).expect("damaged");
    assert_eq!(past().expect("opens"), Past::Unknown);
    assert_eq!(past().expect("opens"), Past::Known);
}

/// Wherever the first opening is cut off, a known record has a durable name, and so do the folders above it.
#[test]
fn the_name_of_a_record_is_durable_before_anything_is_recorded() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let folder = scratch.path().join("store");
    drop(Store::create(&folder, &key(), &mut rng()).expect("made"));
    let open = |records: &Path, cut_off: &'static str| {
        let passed = Arc::new(Mutex::new(Vec::new()));
        let steps = FailPoints::with({
            let passed = passed.clone();
            move |step| {
                passed.lock().expect("one thread").push(step);
                if step == cut_off { Err(io::Error::other("cut off")) } else { Ok(()) }
            }
        });
        let past = Store::open_with(&folder, &key(), &mut rng(), steps).and_then(|mut store| store.record_in(records));
        assert_eq!(past.is_err(), !cut_off.is_empty(), "{cut_off}");
        let passed = std::mem::take(&mut *passed.lock().expect("one thread"));
        passed.into_iter().filter(|step| *step != "lock").collect::<Vec<_>>()
    };
    for cut_off in ["", "record name", "record", "recorded"] {
        let records = scratch.path().join(format!("above {cut_off}")).join("records");
        let first = ["folder", "folder", "record name", "record", "recorded"];
        let until = first.iter().position(|step| *step == cut_off).map_or(first.len(), |at| at + 1);
        assert_eq!(open(&records, cut_off), first[..until], "{cut_off}");
        let again = match cut_off {
            "record name" | "record" => &first[2..],
            _ => &[],
        };
        assert_eq!(open(&records, ""), again, "after {cut_off}");
    }
}

#[test]
fn after_a_failed_write_the_store_fails_until_it_is_reopened() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let folder = scratch.path().join("store");
    let fails = Arc::new(AtomicU64::new(0));
    let steps = {
        let fails = fails.clone();
        FailPoints::with(move |step| match step == "index changed" && fails.load(Ordering::Relaxed) == 1 {
            true => Err(io::Error::other("no space")),
            false => Ok(()),
        })
    };
    let mut store = Store::create_with(&folder, &key(), &mut rng(), steps).expect("made");
    let mut promised = Promised::default();
    fill(&mut store, &mut promised, 3).expect("durable");
    fails.store(1, Ordering::Relaxed);
    assert!(matches!(store.take_next(&kind(), 1), Err(StoreError::Io { .. })));
    fails.store(0, Ordering::Relaxed);
    assert!(matches!(store.take_next(&kind(), 1), Err(StoreError::Broken)));
    assert!(matches!(fill(&mut store, &mut promised, 1), Err(StoreError::Broken)));
    drop(store);
    // The write was durable after all, so the piece is gone although nobody received it.
    let store = Store::open(&folder, &key(), &mut rng()).expect("opens");
    assert_eq!((store.count(&kind()), store.stock_of(&kind()).consumed), (2, 1));
}

/// The peer is found to cheat when only the store's record can still be written.
#[test]
fn every_copy_of_a_store_given_up_only_in_its_record_is_refused() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let [folder, other] = ["store", "copy"].map(|name| scratch.path().join(name));
    let records = records_of(&folder);
    let fails = Arc::new(AtomicU64::new(0));
    let steps = {
        let fails = fails.clone();
        FailPoints::with(move |step| match (step, fails.load(Ordering::Relaxed)) {
            ("index changed", 1) | ("given up", 2) => Err(io::Error::other("no space")),
            _ => Ok(()),
        })
    };
    let mut store = Store::create_with(&folder, &key(), &mut rng(), steps).expect("made");
    assert!(matches!(store.mark_given_up(), Ok(false)), "it has no record yet");
    assert_eq!(store.record_in(&records).expect("it is new"), Past::Known);
    fill(&mut store, &mut Promised::default(), 3).expect("durable");
    copy(&folder, &other).expect("a copy");
    fails.store(1, Ordering::Relaxed);
    assert!(matches!(store.take_next(&kind(), 1), Err(StoreError::Io { .. })));
    fails.store(2, Ordering::Relaxed);
    let given_up = || State { version: 1, bytes: Vec::new() };
    let error = store.give_up("secrets", given_up(), |_| true).expect_err("neither can be written");
    let StoreError::NotMarked { store: own, record } = &error else { panic!("{error}") };
    assert!(matches!((&**own, &**record), (StoreError::Broken, StoreError::Io { .. })), "both are reported: {error}");
    assert!(error.to_string().contains(&own.to_string()) && error.to_string().contains(&record.to_string()));
    fails.store(0, Ordering::Relaxed);
    assert!(matches!(store.take_next(&kind(), 1), Err(StoreError::Broken)));
    store.give_up("secrets", given_up(), |_| true).expect("its record says so");
    drop(store);
    for folder in [&folder, &other, &folder] {
        let mut store = Store::open(folder, &key(), &mut rng()).expect("opens");
        let error = store.record_in(&records).expect_err("it was given up");
        assert!(matches!(error, StoreError::GivenUp { .. }), "{error}");
    }
}
