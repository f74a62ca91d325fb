//! A party of `authenticated` that caught its peer cheating, or does not know how a check ended, stops using the secrets it shares with that peer.

use std::{
    future::poll_fn,
    panic::resume_unwind,
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    task::Poll,
    thread::JoinHandle,
    time::Duration,
};

use garblet_authenticated::{
    Amounts, Authenticated, Config, EVALUATOR, EvaluatorSide, GARBLER, GarblerSide, NAME, Participant, Plan, Run, Side,
    Step,
};
use garblet_cheat::authenticated::{
    CheatingEvaluator, CheatingGarbler, Deviation, EvaluatorDeviation, GarblerDeviation, configs,
};
use garblet_circuit::{Bits, Party};
use garblet_net::{
    Channel, Hello, memory_pair,
    testing::{Direction, Fault, FaultKind, intercepted_pair},
};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    Protocol, ProtocolError, Role, Session,
    conduct::{AnyConduct, Conduct, Honest},
    stock::Notice,
};
use garblet_store::{Store, StoreKey};
use rand::{SeedableRng, rngs::StdRng};

use crate::job::{Job, job};

const ORDER: Amounts = Amounts { triples: 16, masks: 32 };

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

async fn session(mut channel: Channel, party: Party, seed: u64) -> Session {
    channel.set_timeout(Duration::from_secs(20));
    let rng = Prg::new(Block::from_halves(seed, party.0.into()));
    let hello = Hello::new(NAME, party.0, 2, [0; 32]);
    Session::open(channel, rng, &hello, Box::new(())).await.expect("both agree")
}

fn own(job: &Job, party: Party) -> Vec<Bits> {
    let all = job.program.inputs().iter().zip(&job.inputs);
    all.filter(|(input, _)| input.owner == party).map(|(_, value)| value.clone()).collect()
}

async fn set_up<S: Side>(
    session: &mut Session,
    job: &Job,
    config: Config,
    conduct: impl Conduct<Step>,
) -> Run<S, AnyConduct<Step>> {
    let plan = Arc::new(Plan::new(job.program.clone(), config, &[], false).expect("can be run"));
    let role = Participant::<S, _>::setup(session, config, AnyConduct::new(conduct)).await;
    let role = role.expect("nobody cheats in the setup");
    Run::new(role, plan, false)
}

/// The errors of an honest party on side `H`, without a store: in a run with a cheating peer, and in its next run in a new session. Takes the first of some
/// runs in which the cheat shows: with few gates, possibly no wrong row is used.
fn twice<H: Side, P: Side, C: Conduct<Step>>(job: &Job, config: Config, cheat: impl Fn() -> C) -> [ProtocolError; 2] {
    (1..5).find_map(|seed| again::<H, P>(job, config, cheat(), seed)).expect("it finds the peer cheating")
}

fn again<H: Side, P: Side>(
    job: &Job,
    config: Config,
    cheat: impl Conduct<Step>,
    seed: u64,
) -> Option<[ProtocolError; 2]> {
    block_on(async {
        let (ours, theirs) = memory_pair();
        let honest = async {
            let mut session = session(ours, H::PARTY, seed).await;
            let mut run = set_up::<H>(&mut session, job, config, Honest).await;
            let first = run.run(&mut session, &own(job, H::PARTY)).await.err();
            session.abort().await;
            (run, first)
        };
        let peer = async {
            let mut session = session(theirs, P::PARTY, seed).await;
            let mut run = set_up::<P>(&mut session, job, config, cheat).await;
            let _ = run.run(&mut session, &own(job, P::PARTY)).await;
            session.abort().await;
        };
        let ((mut run, first), ()) = tokio::join!(honest, peer);
        let first = first?;
        let (ours, theirs) = memory_pair();
        let (mut again, peer) = tokio::join!(session(ours, H::PARTY, seed), session(theirs, P::PARTY, seed));
        let second = run.run(&mut again, &own(job, H::PARTY)).await.expect_err("it has found the peer cheating");
        drop(peer);
        Some([first, second])
    })
}

fn is_over(error: &ProtocolError) -> bool {
    matches!(error, ProtocolError::Over)
}

#[test]
fn a_party_that_caught_its_peer_does_nothing_more_with_the_same_differences() {
    let job = job();
    for config in configs() {
        let both = Deviation::ALL.into_iter().filter(|(deviation, _)| *deviation != Deviation::LaterMaskBit);
        let of_garbler = GarblerDeviation::ALONE.into_iter().filter(|(_, forms, _)| forms.include(config));
        let of_garbler = of_garbler.map(|(deviation, _, _)| deviation);
        for deviation in both.clone().map(|(any, _)| GarblerDeviation::Any(any)).chain(of_garbler) {
            let cheat = || CheatingGarbler::new(deviation, &job.program);
            let [first, second] = twice::<EvaluatorSide, GarblerSide, _>(&job, config, cheat);
            assert!(first.is_evidence() && is_over(&second), "{deviation:?}, {config:?}: {first}; {second}");
        }
        let of_evaluator = EvaluatorDeviation::ALONE.into_iter().filter(|(_, forms, _)| forms.include(config));
        let of_evaluator = of_evaluator.map(|(deviation, _, _)| deviation);
        for deviation in both.map(|(any, _)| EvaluatorDeviation::Any(any)).chain(of_evaluator) {
            let cheat = || CheatingEvaluator::new(deviation);
            let [first, second] = twice::<GarblerSide, EvaluatorSide, _>(&job, config, cheat);
            assert!(first.is_evidence() && is_over(&second), "{deviation:?}, {config:?}: {first}; {second}");
        }
    }
}

/// Opens a party's store in a folder.
fn open(folder: &Path, party: Party) -> Store {
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    let rng = &mut StdRng::seed_from_u64(party.0.into());
    Store::open_or_create(&folder.join(party.to_string()), &key, rng).expect("opens")
}

async fn meet<S: Side>(session: &mut Session, folder: &Path) -> Result<Participant<S, Honest>, ProtocolError> {
    Participant::meet(session, Config::default(), (open(folder, S::PARTY), "test"), Honest).await
}

async fn fill<S: Side>(session: &mut Session, role: &mut Participant<S, Honest>) -> Result<(), ProtocolError> {
    role.fill(session, ORDER).await?;
    // As a caller that closes.
    Ok(session.channel().flush().await?)
}

/// A party that is gone when it should send something.
struct LeavesAt(Step);

impl Conduct<Step> for LeavesAt {
    fn touch(&mut self, step: Step, _: usize, _: &mut [u8]) {
        if step == self.0 {
            resume_unwind(Box::new(()));
        }
    }
}

/// A separate thread for a party that leaves: it fills its store if it has one, and prepares a run otherwise.
fn leaves<S: Side>(channel: Channel, folder: Option<PathBuf>, step: Step) -> JoinHandle<()> {
    std::thread::spawn(move || {
        block_on(async {
            let (config, mut session) = (Config::default(), session(channel, S::PARTY, 1).await);
            if let Some(folder) = folder {
                let store = (open(&folder, S::PARTY), "test");
                let role = Participant::<S, _>::meet(&mut session, config, store, LeavesAt(step)).await;
                let _ = role.expect("both are honest so far").fill(&mut session, ORDER).await;
            } else {
                let mut run = set_up::<S>(&mut session, &job(), config, LeavesAt(step)).await;
                let _ = run.prepare(&mut session).await;
            }
        });
    })
}

/// The next try of the same participant would overwrite the unsettled check with that of its own batch.
#[test]
fn an_evaluator_whose_check_is_not_settled_makes_nothing_more() {
    let folder = tempfile::tempdir().expect("a folder");
    block_on(async {
        let (ours, theirs) = memory_pair();
        let garbler = leaves::<GarblerSide>(ours, Some(folder.path().into()), Step::DigestOpening);
        let mut first = session(theirs, EVALUATOR, 1).await;
        let mut role = meet::<EvaluatorSide>(&mut first, folder.path()).await.expect("both agree");
        assert!(role.fill(&mut first, ORDER).await.is_err());
        assert!(is_unsettled(role.store().expect("it came with one")));
        first.abort().await;
        assert!(garbler.join().is_err(), "it left");
        let (ours, theirs) = memory_pair();
        let (_peer, mut again) = tokio::join!(session(ours, GARBLER, 2), session(theirs, EVALUATOR, 2));
        let error = role.fill(&mut again, ORDER).await.expect_err("nothing is known of the last check");
        assert!(is_over(&error), "{error}");
        assert!(is_unsettled(role.store().expect("it came with one")), "and so it stays");
    });
    let filled = fill_over(memory_pair, folder.path(), 3, TO_THE_END);
    assert!(filled.iter().all(|party| party.error.is_none() && party.refuses), "they settle: {filled:?}");
}

#[test]
fn an_evaluator_without_a_store_whose_check_is_not_settled_makes_nothing_more() {
    block_on(async {
        let (ours, theirs) = memory_pair();
        let garbler = leaves::<GarblerSide>(ours, None, Step::DigestOpening);
        let mut first = session(theirs, EVALUATOR, 1).await;
        let mut run = set_up::<EvaluatorSide>(&mut first, &job(), Config::default(), Honest).await;
        assert!(run.prepare(&mut first).await.is_err());
        first.abort().await;
        assert!(garbler.join().is_err(), "it left");
        let (ours, theirs) = memory_pair();
        let (_peer, mut again) = tokio::join!(session(ours, GARBLER, 2), session(theirs, EVALUATOR, 2));
        let error = run.prepare(&mut again).await.err().expect("nothing is known of the last check");
        assert!(is_over(&error), "{error}");
    });
}

/// The evaluator has committed itself to the digest that it was about to send.
#[test]
fn an_evaluator_that_leaves_before_it_sends_its_digest_settles_at_the_next_meeting() {
    let folder = tempfile::tempdir().expect("a folder");
    block_on(async {
        let (ours, theirs) = memory_pair();
        let evaluator = leaves::<EvaluatorSide>(theirs, Some(folder.path().into()), Step::Digest);
        let mut first = session(ours, GARBLER, 1).await;
        let mut role = meet::<GarblerSide>(&mut first, folder.path()).await.expect("both agree");
        assert!(role.fill(&mut first, ORDER).await.is_err());
        first.abort().await;
        assert!(evaluator.join().is_err(), "it left");
    });
    assert!(is_unsettled(&open(folder.path(), EVALUATOR)));
    let filled = fill_over(memory_pair, folder.path(), 3, TO_THE_END);
    assert!(filled.iter().all(|party| party.error.is_none() && party.refuses), "they settle: {filled:?}");
    assert!(!is_unsettled(&open(folder.path(), EVALUATOR)));
}

fn is_unsettled(store: &Store) -> bool {
    Authenticated::notices(store).contains(&Notice::UnsettledCheck)
}

/// Polls a future to its end, or this many times; then drops it.
async fn polled<T>(future: impl Future<Output = T>, mut times: usize) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if times == 0 => Poll::Ready(None),
        Poll::Pending => {
            times -= 1;
            Poll::Pending
        }
    })
    .await
}

/// The end of a party's filling: the error that ended it, if any, and whether a second try was refused where it must be.
#[derive(Debug)]
struct Ended {
    error: Option<String>,
    refuses: bool,
}

/// Fills the store of a side, as far as it gets in this many polls. Then tries again in the same process, with a peer that is gone: after a failed batch,
/// it refuses by itself.
async fn fill_twice<S: Side>(channel: Channel, folder: &Path, seed: u64, polls: usize) -> Ended {
    let mut first = session(channel, S::PARTY, seed).await;
    let mut role = match meet::<S>(&mut first, folder).await {
        Ok(role) => role,
        Err(error) => {
            first.abort().await;
            return Ended { error: Some(error.to_string()), refuses: true };
        }
    };
    let had = role.stock();
    let filled = polled(fill(&mut first, &mut role), polls).await;
    let error = filled.map_or(Some("dropped".into()), |filled| filled.err().map(|error| error.to_string()));
    first.abort().await;
    // A batch that was written before the connection failed has succeeded.
    let is_whole = role.stock() != had;
    let (ours, theirs) = memory_pair();
    let other = if S::PARTY == GARBLER { EVALUATOR } else { GARBLER };
    let (mut again, peer) = tokio::join!(session(ours, S::PARTY, seed), session(theirs, other, seed));
    drop(peer);
    let second = role.fill(&mut again, ORDER).await.expect_err("the peer is gone");
    Ended { error, refuses: is_over(&second) != is_whole }
}

fn fill_over(channels: impl FnOnce() -> (Channel, Channel), folder: &Path, seed: u64, polls: [usize; 2]) -> [Ended; 2] {
    block_on(async {
        let (left, right) = channels();
        let garbler = fill_twice::<GarblerSide>(left, folder, seed, polls[0]);
        let evaluator = fill_twice::<EvaluatorSide>(right, folder, seed, polls[1]);
        let (garbler, evaluator) = tokio::join!(garbler, evaluator);
        [garbler, evaluator]
    })
}

const TO_THE_END: [usize; 2] = [usize::MAX; 2];

/// Fills stores that have met before, breaking off each fill a little later than the one before until one completes; after each, the parties meet again, settle
/// and go on. Returns the number of broken fills.
fn broken_off(mut filling: impl FnMut(&Path, usize) -> [Ended; 2]) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let whole = |seed: u64| {
        let filled = fill_over(memory_pair, folder, seed, TO_THE_END);
        assert!(filled.iter().all(|party| party.error.is_none() && party.refuses), "seed {seed}: {filled:?}");
    };
    whole(0);
    for at in 1.. {
        let filled = filling(folder, at);
        assert!(filled.iter().all(|party| party.refuses), "at {at}: {filled:?}");
        if filled.iter().all(|party| party.error.is_none()) {
            return at - 1;
        }
        whole(2 * at as u64);
    }
    unreachable!("it ends")
}

#[test]
fn a_cut_at_any_message_costs_a_batch_at_most() {
    for direction in [Direction::Forth, Direction::Back] {
        let messages = broken_off(|folder, frame| {
            // The first frame is the hello.
            let fault = Fault { direction, frame, kind: FaultKind::Cut };
            let cut = || {
                let (left, right, _) = intercepted_pair(Some(fault));
                (left, right)
            };
            fill_over(cut, folder, 2 * frame as u64 + 1, TO_THE_END)
        });
        assert!(messages > 8, "{direction:?}: {messages}");
    }
}

#[test]
fn dropping_a_future_at_any_await_costs_at_most_a_batch() {
    for party in [0, 1] {
        let waits = broken_off(|folder, at| {
            let mut polls = TO_THE_END;
            polls[party] = at - 1;
            fill_over(memory_pair, folder, 2 * at as u64 + 1, polls)
        });
        assert!(waits > 8, "party {party}: {waits}");
    }
}
