//! Tests: a store that is cut off at each of its writes.
//!
//! A scenario is run once for every step it has. At that step the folder is copied, which is what a kill of the process
//! would leave, and the step fails, which is what a failing disk does. Then both the copy and the folder itself must
//! open, have everything that was promised, and offer nothing that was given out.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rand::{SeedableRng, rngs::StdRng};

use crate::steps::Steps;
use crate::{Binding, IdSet, Kind, PieceId, State, Store, StoreError, StoreKey};

/// What the scenario was promised before it was cut off.
#[derive(Default)]
struct Promised {
    /// Pieces that were put in, in each case all or, where the batch was not committed, none.
    committed: u64,
    batch: u64,
    /// Pieces of which the bytes were given out.
    given: Vec<PieceId>,
    state: u8,
}

/// Other randomness for every opening.
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

fn scenario(folder: &Path, steps: Steps, promised: &mut Promised) -> Result<(), StoreError> {
    let mut store = Store::create_with(folder, &key(), &mut rng(), steps.clone())?;
    store.bind(&Binding { peer: "p".into(), role: "r".into(), protocol: "1".into(), library: String::new() })?;
    fill(&mut store, promised, 5)?;
    take(&mut store, promised, 2)?;
    drop(store);
    let mut store = Store::open_with(folder, &key(), &mut rng(), steps)?;
    fill(&mut store, promised, 4)?;
    take(&mut store, promised, 5)?;
    store.reconcile(&store.summary_as_peer())?;
    store.compact(&mut |_, _| {})?;
    take(&mut store, promised, 1)
}

impl Store {
    /// What a peer with the same pieces would tell.
    fn summary_as_peer(&self) -> crate::Summary {
        let bytes = postcard::to_stdvec(&self.summary()).expect("encodes");
        postcard::from_bytes(&bytes).expect("decodes")
    }
}

/// What must hold of a store after it was cut off.
fn check(folder: &Path, promised: &Promised, step: &str) {
    let mut store = Store::open_or_create(folder, &key(), &mut rng())
        .unwrap_or_else(|error| panic!("cut off at {step}, it does not open: {error}"));
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

fn copy(from: &Path, to: &Path) -> io::Result<()> {
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
        Steps::with(move |step| {
            let mut reached = reached.lock().expect("one thread");
            reached.0 += 1;
            match reached.0 - 1 {
                n if n < at => Ok(()),
                n => {
                    if n == at {
                        reached.1 = Some(step);
                        copy(&folder, &killed)?;
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
            check(&killed, &promised, step);
            check(&folder, &promised, step);
        }
        None => ended.expect("nothing failed"),
    }
    step
}

#[test]
fn a_store_that_is_cut_off_at_any_write_opens_and_offers_nothing_twice() {
    let steps: Vec<_> = (0..).map_while(cut_off).collect();
    let names: std::collections::BTreeSet<_> = steps.iter().copied().collect();
    let all = [
        "creation",
        "index change",
        "index changed",
        "lock",
        "names",
        "segment creation",
        "segment removal",
        "segment sync",
        "segment write",
    ];
    assert!(names.iter().copied().eq(all), "{names:?}");
    assert!(steps.len() >= 45, "{steps:?}");
}

#[test]
fn after_a_failed_write_nothing_is_promised_until_the_store_is_opened_again() {
    let scratch = tempfile::tempdir().expect("a folder for the test");
    let folder = scratch.path().join("store");
    let fails = Arc::new(AtomicU64::new(0));
    let steps = {
        let fails = fails.clone();
        Steps::with(move |step| match step == "index changed" && fails.load(Ordering::Relaxed) == 1 {
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
    // It was durable after all, so that the piece is gone, though nobody got it.
    let store = Store::open(&folder, &key(), &mut rng()).expect("opens");
    assert_eq!((store.count(&kind()), store.stock_of(&kind()).consumed), (2, 1));
}
