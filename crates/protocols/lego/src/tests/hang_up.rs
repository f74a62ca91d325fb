//! Parties that leave: for a constructor that has learned what is checked, the attempt counts, and in the end it gets no more chances.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    pin::pin,
    task::Poll,
};

use garblet_store::{State, Store, StoreKey};

use super::*;
use crate::stock::orders::Orders;
use garblet_protocol::conduct::Honest;

const ORDER: Amounts = Amounts { gates: 520, inputs: 64, input_pairs: 32, outputs: 64 };

/// Leaves before it answers the challenge of a step.
struct Leaves(Step);

impl Conduct<Step> for Leaves {
    fn touch(&mut self, step: Step, _: usize, _: &mut [u8]) {
        if step == self.0 {
            resume_unwind(Box::new(()));
        }
    }
}

/// A future to its end; one that panics is a process that is gone, with all that it held.
async fn until_it_leaves(party: impl Future<Output = ()>) {
    let mut party = pin!(party);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| party.as_mut().poll(context))) {
        Ok(poll) => poll,
        Err(_) => Poll::Ready(()),
    })
    .await;
}

/// The constructor's store, which survives its process.
fn of_constructor(folder: &Path, seed: u64) -> Store {
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    Store::open_or_create(folder, &key, &mut StdRng::seed_from_u64(seed)).expect("opens")
}

/// The state of the evaluator after a meeting in which an order was to be made.
struct After {
    store: Store,
    cheating_log2: f64,
    made: Result<(), ProtocolError>,
}

fn meet(folder: &Path, store: Store, leaves: Option<Step>, seed: u64) -> After {
    let (ours, theirs) = memory_pair();
    let (order, config) = (Order::new(ORDER, Config::default()).expect("small"), Config::default());
    let constructor = async {
        let mut session = session(ours, CONSTRUCTOR, seed).await;
        let store = of_constructor(folder, seed);
        let filled = if let Some(step) = leaves {
            let role = Constructor::meet_with(&mut session, config, store, "test", Leaves(step)).await;
            role.expect("they belong together").fill(&mut session, &order).await
        } else {
            let role = Constructor::meet_with(&mut session, config, store, "test", Honest).await;
            role.expect("they belong together").fill(&mut session, &order).await
        };
        if filled.is_err() {
            session.abort().await;
        }
    };
    let evaluator = async {
        let mut session = session(theirs, EVALUATOR, seed).await;
        let mut role = Evaluator::meet(&mut session, config, store, "test").await.expect("they belong together");
        let made = role.fill(&mut session, &order).await.map(|_| ());
        if made.is_err() {
            session.abort().await;
        }
        let cheating_log2 = role.security().cheating_log2.expect("it is malicious");
        After { cheating_log2, store: role.into_store().expect("it came with one"), made }
    };
    block_on(async { tokio::join!(until_it_leaves(constructor), evaluator).1 })
}

/// The counted chance after each of these orders that the constructor left, in multiples of the chance after one completed order.
fn counted_after_leaving_at(step: Step, attempts: u64) -> (Vec<f64>, Result<(), ProtocolError>) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("constructor");
    let store = Store::in_memory(&mut StdRng::seed_from_u64(2)).expect("memory");
    let mut after = meet(&folder, store, None, 1);
    after.made.as_ref().expect("both are honest");
    let of_orders = |after: &After| after.cheating_log2.exp2() - Orders::of_store(Config::default().code);
    let once = of_orders(&after);
    let mut counted = Vec::new();
    for attempt in 0..attempts {
        after = meet(&folder, after.store, Some(step), attempt + 2);
        assert!(after.made.is_err());
        counted.push((of_orders(&after) / once).round());
    }
    (counted, after.made)
}

#[test]
fn hanging_up_after_the_challenge_counts_and_is_refused_in_the_end() {
    let (counted, made) = counted_after_leaving_at(Step::Checked, 10);
    assert_eq!(
        counted,
        [2.0, 3.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0],
        "each order left after the challenge counts"
    );
    let error = made.expect_err("refused").to_string();
    assert!(error.contains("left 3 orders or setups unfinished"), "{error}");
}

#[test]
fn hanging_up_after_the_challenge_to_select_bits_also_counts() {
    let (counted, made) = counted_after_leaving_at(Step::LeakCombinations, 4);
    assert_eq!(counted, [2.0, 3.0, 4.0, 4.0]);
    assert!(matches!(made, Err(ProtocolError::Unfinished(_))));
}

/// A constructor that says that it has no secrets, and leaves before there are new ones.
#[test]
fn a_peers_mere_claim_costs_no_stored_material() {
    let folder = tempfile::tempdir().expect("a folder");
    let [ours, theirs] = ["constructor", "evaluator"].map(|name| folder.path().join(name));
    let after = meet(&ours, of_constructor(&theirs, 2), None, 1);
    after.made.expect("both are honest");
    let pieces = |store: &Store| store.stock().iter().map(|kind| kind.available.len()).sum::<u64>();
    let before = pieces(&after.store);
    let mut store = of_constructor(&ours, 3);
    let secrets = State { version: 1, bytes: store.state("lego").expect("they met").bytes.clone() };
    store.remove_states(|name| name == "lego").expect("written");
    drop(store);
    let (channel, peer) = memory_pair();
    let liar = async {
        let mut session = session(channel, CONSTRUCTOR, 4).await;
        let store = of_constructor(&ours, 4);
        Constructor::meet_with(&mut session, Config::default(), store, "test", Leaves(Step::Delta)).await.ok();
    };
    let honest = async {
        let mut session = session(peer, EVALUATOR, 4).await;
        let met = Evaluator::meet(&mut session, Config::default(), after.store, "test").await;
        assert!(met.is_err(), "it left");
    };
    block_on(async { tokio::join!(until_it_leaves(liar), honest) });
    let mut store = of_constructor(&ours, 5);
    store.set_state("lego", secrets).expect("written");
    drop(store);
    let after = meet(&ours, of_constructor(&theirs, 6), None, 6);
    after.made.expect("they have the same secrets");
    assert_eq!(pieces(&after.store), 2 * before, "both orders");
}

/// Nothing was made that an evaluator could have a share in.
#[test]
fn an_order_without_messages_from_the_evaluator_does_not_count_for_the_constructor() {
    let (ours, theirs) = memory_pair();
    let (order, config) = (Order::new(ORDER, Config::default()).expect("small"), Config::default());
    let [first, second] = [3, 4].map(|seed| Store::in_memory(&mut StdRng::seed_from_u64(seed)).expect("memory"));
    let constructor = async {
        let mut session = session(ours, CONSTRUCTOR, 1).await;
        let mut role = Constructor::meet(&mut session, config, first, "test").await.expect("they are new");
        let _gone = role.fill(&mut session, &order).await.expect_err("the evaluator is gone");
        let store = role.into_store().expect("it came with one");
        Orders::of(&store).expect("readable").security(config.code).cheating_log2.map(f64::exp2)
    };
    let evaluator = async {
        let mut session = session(theirs, EVALUATOR, 1).await;
        Evaluator::meet(&mut session, config, second, "test").await.expect("they are new");
        session.abort().await;
    };
    let (counted, ()) = block_on(async { tokio::join!(constructor, evaluator) });
    assert_eq!(counted, Some(0.0));
}
