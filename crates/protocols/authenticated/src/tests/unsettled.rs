//! Garblers that hang up when they learn the outcome of the equality check: the evaluator does nothing more with them until it knows the outcome too.

use std::{
    future::poll_fn,
    io,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    task::Poll,
};

use garblet_protocol::{Protocol, stock::Notice};
use garblet_store::{State, Store, StoreError, StoreKey, testing::open_hooked};

use super::{put_back::open, *};
use crate::{
    checks,
    coins::OPENING_BYTES,
    stock::{messages::Has, unsettled::LastCheck},
};

/// The places of secrets and of the last check in a store.
const SECRETS: &str = "authenticated";

const ORDER: Amounts = Amounts { triples: 16, masks: 32 };

/// A garbler that may make false leaky triples, and may be gone when it is to open its digest.
#[derive(Clone, Copy)]
enum Garbles {
    Well,
    /// It leaves although all is well.
    Leaves,
    /// All its leaky triples are false, and it keeps that it heard it.
    Falsely,
}

impl Conduct<Step> for Garbles {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        match (*self, step) {
            (Garbles::Leaves, Step::DigestOpening) => resume_unwind(Box::new(())),
            (Garbles::Falsely, Step::LeakyBlocks) => bytes.chunks_exact_mut(16).for_each(|block| block[15] ^= 0x80),
            _ => {}
        }
    }
}

/// A future to its end; one that panics is a process that is gone, with all that it held.
pub(crate) async fn until_it_leaves<T>(party: impl Future<Output = T>) -> Option<T> {
    let mut party = pin!(party);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| party.as_mut().poll(context))) {
        Ok(poll) => poll.map(Some),
        Err(_) => Poll::Ready(None),
    })
    .await
}

/// The evaluator after a meeting in which an order was to be made.
struct After {
    store: Store,
    made: Result<(), ProtocolError>,
}

impl After {
    fn is_unsettled(&self) -> bool {
        Authenticated::notices(&self.store).contains(&Notice::UnsettledCheck)
    }

    fn pieces(&self) -> u64 {
        self.store.stock().iter().map(|kind| kind.available.len()).sum()
    }
}

/// The evaluator's life: it fills its store. The store is on disk, since a meeting that is refused takes it away.
async fn evaluate(session: &mut Session, folder: &Path, seed: u64) -> Result<(), ProtocolError> {
    let store = open(folder, seed);
    let mut role =
        Participant::<EvaluatorSide, Any>::meet(session, Config::default(), (store, "test"), Any::new(Honest)).await?;
    role.fill(session, ORDER).await
}

/// A meeting of an evaluator with a garbler of arbitrary behaviour.
fn meet_with(folder: &Path, seed: u64, garbler: impl AsyncFnOnce(&mut Session)) -> After {
    let (ours, theirs) = memory_pair();
    let garbler = async {
        let mut session = session(ours, GARBLER, seed).await;
        garbler(&mut session).await;
        session.abort().await;
    };
    let evaluator = async {
        let mut session = session(theirs, EVALUATOR, seed).await;
        let made = evaluate(&mut session, &folder.join("1"), 2 * seed + 1).await;
        session.abort().await;
        made
    };
    let made = block_on(async { tokio::join!(until_it_leaves(garbler), evaluator).1 });
    After { store: open(&folder.join("1"), 99), made }
}

/// A meeting with a garbler that keeps its secrets.
fn meet(folder: &Path, conduct: Garbles, seed: u64) -> (After, Option<ProtocolError>) {
    let mut error = None;
    let after = meet_with(folder, seed, async |session| {
        let store = open(&folder.join("0"), 2 * seed);
        let made = async {
            let config = Config::default();
            let mut role =
                Participant::<GarblerSide, Any>::meet(session, config, (store, "test"), Any::new(conduct)).await?;
            role.fill(session, ORDER).await?;
            // As a caller does that closes.
            Ok(session.channel().flush().await?)
        };
        error = made.await.err();
    });
    (after, error)
}

/// The secrets of the garbler's store.
fn secrets_of(folder: &Path) -> Vec<u8> {
    open(&folder.join("0"), 50).state(SECRETS).expect("they have met").bytes.clone()
}

#[test]
fn a_garbler_that_left_settles_first_and_then_continues() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (after, _) = meet(folder, Garbles::Well, 1);
    after.made.as_ref().expect("both are honest");
    let before = after.pieces();
    assert!(!after.is_unsettled() && before > 0);
    drop(after);
    let (after, _) = meet(folder, Garbles::Leaves, 2);
    assert!(after.made.is_err() && after.is_unsettled());
    assert_eq!(after.pieces(), before, "nothing of the batch was kept, and nothing was lost");
    drop(after);
    // It may leave any number of times.
    let (after, _) = meet(folder, Garbles::Leaves, 3);
    assert!(after.made.is_err() && after.is_unsettled());
    drop(after);
    let (after, error) = meet(folder, Garbles::Well, 4);
    assert!(error.is_none());
    after.made.as_ref().expect("it was settled");
    assert!(!after.is_unsettled() && after.pieces() > before);
}

/// A garbler that was caught knows it, keeps its secrets, and tries to go on.
#[test]
fn a_garbler_that_was_caught_cannot_settle() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (after, _) = meet(folder, Garbles::Well, 1);
    after.made.as_ref().expect("both are honest");
    drop(after);
    let secrets = secrets_of(folder);
    let put_back = || {
        let state = State { version: 1, bytes: secrets.clone() };
        open(&folder.join("0"), 51).set_state(SECRETS, state).expect("written");
    };
    let (after, error) = meet(folder, Garbles::Falsely, 2);
    let error = error.expect("it hears it");
    assert!(matches!(&error, ProtocolError::Cheating(cheating) if cheating.check == checks::EQUALITY), "{error}");
    assert!(after.made.is_err() && after.is_unsettled());
    drop(after);
    for seed in 3..6 {
        put_back();
        let (after, error) = meet(folder, Garbles::Well, seed);
        assert!(error.is_some(), "it has nothing that it could open");
        assert!(after.made.is_err() && after.is_unsettled(), "{:?}", after.made);
    }
    // It opens arbitrary values.
    let told = |name: [u8; 32]| move |summary| Has { summary, secrets: Some(name), nonce: [7; 32], unsettled: None };
    put_back();
    let store = open(&folder.join("0"), 52);
    let kept: crate::stock::kept::Kept<Secrets> = postcard::from_bytes(&secrets).expect("as it was kept");
    let has = told(kept.name)(store.summary());
    let after = meet_with(folder, 7, async |session| {
        session.channel().send(&has).await.expect("sent");
        let theirs: Has = session.channel().receive().await.expect("it comes first");
        assert!(theirs.unsettled.is_some(), "the evaluator says so");
        session.channel().send_bytes(&[7; OPENING_BYTES]).await.expect("sent");
        session.channel().flush().await.expect("sent");
        // It waits for the evaluator's reaction.
        let _ = session.channel().receive::<Has>().await;
    });
    let error = after.made.as_ref().expect_err("it opens nothing");
    let caught = |check| matches!(error, ProtocolError::Cheating(cheating) if cheating.check == check);
    assert!(caught(checks::EQUALITY_OPENING), "{error}");
    assert_eq!(after.pieces(), 0, "all is given up");
}

/// A garbler that claims to have another store, or none: the evaluator neither settles nor loses anything.
#[test]
fn an_unsettled_evaluator_makes_no_new_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    meet(folder, Garbles::Well, 1).0.made.expect("both are honest");
    let (after, _) = meet(folder, Garbles::Leaves, 2);
    let before = after.pieces();
    assert!(after.is_unsettled() && before > 0);
    drop(after);
    for (seed, secrets) in [(3, None), (4, Some([9; 32]))] {
        let after = meet_with(folder, seed, async |session| {
            let summary = open(&folder.join("0"), 60).summary();
            let has = Has { summary, secrets, nonce: [7; 32], unsettled: None };
            session.channel().send(&has).await.expect("sent");
            let _ = session.channel().receive::<Has>().await;
            let _ = session.channel().receive::<Has>().await;
        });
        let error = after.made.as_ref().expect_err("it refuses").to_string();
        assert!(error.contains("is not settled: the peer has another store"), "{error}");
        assert!(after.is_unsettled());
        assert_eq!(after.pieces(), before);
    }
    let (after, _) = meet(folder, Garbles::Well, 5);
    after.made.as_ref().expect("the garbler that left settles it");
}

/// A later digest for the same batch is never accepted.
#[test]
fn an_evaluator_has_one_digest_for_a_batch() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    meet(folder, Garbles::Well, 1).0.made.expect("both are honest");
    let (after, _) = meet(folder, Garbles::Leaves, 2);
    let LastCheck::Unsettled { name, digest, commitment } = LastCheck::of(&after.store).expect("readable") else {
        panic!("it is unsettled")
    };
    let mut store = after.store;
    let mut other = digest;
    other[0] ^= 1;
    LastCheck::Unsettled { name, digest: other, commitment }.keep(&mut store).expect("written");
    drop(store);
    let (after, error) = meet(folder, Garbles::Well, 3);
    let error = error.expect("it has heard another").to_string();
    assert!(error.contains("says another digest of it than before"), "{error}");
    let mut store = after.store;
    assert!(after.made.is_err());
    LastCheck::Unsettled { name, digest, commitment }.keep(&mut store).expect("written");
    drop(store);
    let (after, _) = meet(folder, Garbles::Well, 4);
    after.made.expect("the first is the right one");
}

/// The garbler knows durably that the digests differ, and was cut off before its store was given up.
#[test]
fn an_interrupted_garbler_gives_up_its_store_when_it_returns() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    let (after, error) = meet(folder, Garbles::Well, 1);
    assert!(after.made.is_ok() && error.is_none());
    drop(after);
    let mut store = open(&folder.join("0"), 51);
    let known = LastCheck::Committed { name: [1; 32], digest: [2; 32], opening: [3; 32], heard: Some([4; 32]) };
    known.keep(&mut store).expect("it can be written");
    drop(store);
    let (_, error) = meet(folder, Garbles::Well, 2);
    assert!(matches!(error, Some(ProtocolError::Cheating(cheating)) if cheating.check == checks::EQUALITY));
    assert!(secrets_of(folder).is_empty());
}

/// A store that was given up stays so, whatever a program that still has it open does.
#[test]
fn nothing_is_made_or_taken_with_a_store_that_was_given_up() {
    let scratch = tempfile::tempdir().expect("a folder");
    let mut refused = Vec::new();
    meet_with(scratch.path(), 1, async |session| {
        let store = open(&scratch.path().join("0"), 2);
        let config = Config::default();
        let mut role = Participant::<GarblerSide, Any>::meet(session, config, (store, "test"), Any::new(Honest))
            .await
            .expect("it is new");
        role.fill(session, ORDER).await.expect("both are honest");
        let found: Result<(), ProtocolError> =
            role.ground.revoked(Err(garblet_protocol::checks::Cheating::new(checks::TAGS, "a test").into()));
        assert!(found.is_err());
        let error = role.fill(session, ORDER).await.expect_err("nothing more is made with it");
        assert!(matches!(error, ProtocolError::Over), "{error}");
        let stock = role.ground.stock.as_mut().expect("a store");
        refused.push(stock.take(Amounts::default()).err());
    });
    assert!(refused.iter().all(|error| matches!(error, Some(ProtocolError::Stored { .. }))), "{refused:?}");
    assert!(secrets_of(scratch.path()).is_empty());
}

/// The disk is full when a cheat is found: the store cannot be written, and its record can.
#[test]
fn a_store_that_could_not_be_written_when_the_peer_cheated_is_refused_after_a_restart() {
    let scratch = tempfile::tempdir().expect("a folder");
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    for cannot in ["index change", "given up"] {
        let fails = Arc::new(AtomicBool::new(false));
        let heard = fails.clone();
        let hook = move |step: &str| match heard.load(Ordering::Relaxed) && (step == "index change" || step == cannot) {
            true => Err(io::Error::other("no space")),
            false => Ok(()),
        };
        let is_kept = cannot == "given up";
        let [folder, records] = ["store of ", "records of "].map(|name| scratch.path().join(format!("{name}{cannot}")));
        let mut store = open_hooked(&folder, &key, &mut StdRng::seed_from_u64(2), hook).expect("opens");
        let _ = store.record_in(&records).expect("it is new");
        let cheated = Err::<(), _>(garblet_protocol::checks::Cheating::new(checks::TAGS, "a test").into());
        fails.store(true, Ordering::Relaxed);
        let error = crate::stock::store::STATE.revoke_if_cheated(&mut store, cheated).expect_err("it is passed on");
        assert_eq!(matches!(error, ProtocolError::NotGivenUp { .. }), is_kept, "{cannot}: {error}");
        assert!(error.is_evidence());
        drop(store);
        let mut store = Store::open(&folder, &key, &mut StdRng::seed_from_u64(3)).expect("opens");
        let past = store.record_in(&records);
        assert_eq!(matches!(past, Err(StoreError::GivenUp { .. })), !is_kept, "{cannot}: {past:?}");
    }
}
