//! Parties that are killed at any point of preparing and computing: no triple or mask that was made before the function was known is
//! used twice, a check that was left open is settled at the next meeting, and the next run succeeds.

use std::{
    collections::HashMap,
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use garblet::{
    Bits, Role, Session,
    authenticated::{Amounts, Config, Drawn, Evaluator, Garbler, Participant, Plan, Run, Side},
    circuit::evaluate,
    library,
    net::{Channel, Hello, memory_pair},
    store::{PieceId, Store, StoreKey, testing::open_hooked},
};
use garblet_primitives::Prg;
use garblet_protocol::conduct::Honest;

use crate::killing::{self, Ended, child as process, kill_whenever};

/// The amounts that the stores are filled up to: some runs of the function below.
const WANTED: Amounts = Amounts { triples: 64, masks: 128 };

/// Pieces that a run takes: of triples, and of masks of 7 AND gates and 16 bits of inputs.
const TAKEN: usize = 1 + 2;

/// Pieces by kind and identifier.
type Pieces = Vec<(String, u64)>;

/// One party's whole life: fills its store up, and computes.
async fn live(party: u16, store: Store, mut session: Session, log: impl FnOnce(&Pieces) -> io::Result<()>) -> Ended {
    let config = Config::default();
    let program = Arc::new(library::find("lib:add(8)")?);
    let plan = Arc::new(Plan::new(program.clone(), config, &[], false)?);
    let values = [Bits::from_u128(37, 8), Bits::from_u128(210, 8)];
    let own = &values[usize::from(party)..][..1];
    let outputs = if party == 0 {
        let role = Garbler::meet(&mut session, config, (store, "test"), Honest).await?;
        compute(role, &mut session, plan, own, log).await?
    } else {
        let role = Evaluator::meet(&mut session, config, (store, "test"), Honest).await?;
        compute(role, &mut session, plan, own, log).await?
    };
    session.close().await?;
    let expected: Vec<Option<Bits>> = evaluate(&program, &values).into_iter().map(Some).collect();
    if outputs == expected { Ok(()) } else { Err("a wrong sum".into()) }
}

async fn compute<S: Side>(
    mut role: Participant<S, Honest>,
    session: &mut Session,
    plan: Arc<Plan>,
    own: &[Bits],
    log: impl FnOnce(&Pieces) -> io::Result<()>,
) -> Result<Vec<Option<Bits>>, Box<dyn std::error::Error>> {
    if let Some(short) = WANTED.short_of(role.stock(), 50) {
        role.fill(session, short).await?;
    }
    let mut run = Run::new(role, plan, false);
    let drawn = run.draw(session).await?;
    log(&each(&drawn))?;
    let prepared = run.build(session, drawn).await?;
    Ok(run.online(session, prepared, own).await?)
}

fn each(drawn: &Drawn) -> Pieces {
    let pieces = drawn.pieces();
    pieces.iter().flat_map(|(kind, ids)| ids.iter().map(|PieceId(id)| (kind.to_string(), id))).collect()
}

/// The entry of a party's process.
#[test]
fn child() {
    process(async |party, store, session, log: killing::Log| live(party, store, session, |all| log.write(all)).await);
}

/// Held by the tests in turn: a process that is begun holds the locks on stores of this one, until it runs its own program.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn no_triple_is_used_twice_whoever_is_killed_whenever() {
    let _alone = ALONE.lock();
    let kills = if is_full() { 240 } else { 12 };
    kill_whenever("authenticated::child", 2, kills, 2 * 2 * TAKEN);
}

fn is_full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

/// The pieces that all runs with a pair of stores took: by party, kind and identifier the run.
type Log = Mutex<HashMap<(u16, String, u64), usize>>;

/// Both parties live at once. Returns whether both came to the result.
fn meet(stores: [Store; 2], run: usize, taken: &Log) -> bool {
    let party = |party: u16, store: Store, channel: Channel| {
        let log = move |all: &Pieces| {
            let mut taken = taken.lock().expect("nobody panics with it");
            for (kind, id) in all {
                let before = taken.insert((party, kind.clone(), *id), run);
                assert_eq!(before, None, "{kind} {id} of party {party}, again in run {run}");
            }
            Ok(())
        };
        let whole = async move {
            let hello = Hello::new("kill", party, 2, [0; 32]);
            let session = Session::open(channel, Prg::random(&mut rand::rng()), &hello, Box::new(())).await?;
            live(party, store, session, log).await
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(whole).map_err(|error| error.to_string())
    };
    let ([garbler, evaluator], (left, right)) = (stores, memory_pair());
    std::thread::scope(|scope| {
        let garbler = scope.spawn(|| party(0, garbler, left));
        let evaluator = party(1, evaluator, right);
        let garbler = garbler.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        garbler.is_ok() && evaluator.is_ok()
    })
}

/// A store that is cut off at its write of this number, and a count of its writes.
fn cut_off(folder: &Path, key: &StoreKey, at: usize) -> (Store, Arc<AtomicUsize>) {
    let writes = Arc::new(AtomicUsize::new(0));
    let count = writes.clone();
    let hook = move |step: &'static str| match count.fetch_add(1, Ordering::Relaxed) < at {
        true => Ok(()),
        false => Err(io::Error::other(format!("killed at {step}"))),
    };
    (open_hooked(folder, key, &mut rand::rng(), hook).expect("a new folder"), writes)
}

/// A party's store is cut off at each of its writes, the first as the last; then both open what is on disk, and compute again and again.
#[test]
fn stores_that_are_cut_off_at_any_write_go_on() {
    let _alone = ALONE.lock();
    for party in 0..2 {
        let (mut at, mut is_whole) = (0, false);
        while !is_whole {
            let folder = tempfile::tempdir().expect("a folder");
            let places = [0, 1].map(|party: usize| folder.path().join(party.to_string()));
            let keys = [0, 1].map(|_| StoreKey::generate(&mut rand::rng()));
            let whole = 1 << 20;
            // The writes with which a store is made are not a party's.
            let made = cut_off(&folder.path().join("other"), &keys[0], whole).1.load(Ordering::Relaxed);
            let cut = [0, 1].map(|other: usize| {
                let at = if other == party { made + at } else { whole };
                cut_off(&places[other], &keys[other], at)
            });
            let writes = cut[party].1.clone();
            let taken = Log::default();
            let result = meet(cut.map(|(store, _)| store), 0, &taken);
            is_whole = writes.load(Ordering::Relaxed) <= made + at;
            assert!(result || !is_whole, "a life that nobody cuts off");
            for run in 1..3 {
                let open = |party: usize| Store::open(&places[party], &keys[party], &mut rand::rng());
                let stores = [0, 1].map(|party| open(party).expect("it opens, wherever it was cut off"));
                assert!(meet(stores, run, &taken), "party {party}, cut off at write {at}, run {run}");
            }
            let taken = taken.into_inner().expect("nobody panicked with it");
            // What one party took for a run, the other took for no other.
            for ((_, kind, id), run) in &taken {
                let runs = [0, 1].map(|party| taken.get(&(party, kind.clone(), *id)).copied().unwrap_or(*run));
                assert_eq!(runs, [*run; 2], "{kind} {id}");
            }
            at += if is_full() { 1 } else { 3 };
        }
        assert!(at > 10, "{at} writes");
    }
}
