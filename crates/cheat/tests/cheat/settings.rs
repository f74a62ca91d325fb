//! Deviations from `authenticated` with every strength and width of oblivious transfers, for every input, and in runs from stores that read kept values.

use std::{path::Path, sync::Arc, thread, time::Duration};

use garblet_authenticated::{
    Authenticated, Config, EVALUATOR, EvaluatorSide, GARBLER, GarblerSide, NAME, Participant, Plan, Run, Side,
    Statistical, Step,
};
use garblet_cheat::{
    Outcome,
    authenticated::{
        CheatingEvaluator, CheatingGarbler, Deviation, EvaluatorDeviation, GarblerDeviation, configs, run,
    },
    binomial_tail, outcome,
};
use garblet_circuit::{Bits, Party};
use garblet_net::{Channel, Hello, memory_pair};
use garblet_ot::Width;
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    Protocol, ProtocolError, Role, Session,
    checks::Check,
    conduct::{AnyConduct, Conduct, Honest},
    stock::{ReadInput, SavedValues},
};
use garblet_store::{Store, StoreKey};
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use crate::job::{ALPHA, Job, job, trials, tries};

/// Deviations of a garbler in a configuration without streaming, each with the check that catches it.
fn of_garbler(config: Config) -> impl Iterator<Item = (GarblerDeviation, Check)> {
    let any = any().map(|(deviation, check)| (GarblerDeviation::Any(deviation), check));
    let alone = GarblerDeviation::ALONE.into_iter().filter(move |(_, forms, _)| forms.include(config));
    any.chain(alone.map(|(deviation, _, check)| (deviation, check)))
}

/// Deviations of an evaluator, likewise.
fn of_evaluator(config: Config) -> impl Iterator<Item = (EvaluatorDeviation, Check)> {
    let any = any().map(|(deviation, check)| (EvaluatorDeviation::Any(deviation), check));
    let alone = EvaluatorDeviation::ALONE.into_iter().filter(move |(_, forms, _)| forms.include(config));
    any.chain(alone.map(|(deviation, _, check)| (deviation, check)))
}

/// Deviations of either party, except the one that needs a second message of masks, which only streaming has.
fn any() -> impl Iterator<Item = (Deviation, Check)> {
    Deviation::ALL.into_iter().filter(|(deviation, _)| *deviation != Deviation::LaterMaskBit)
}

/// The outcome of the first run in which a deviation shows: every deviation shows at least half of the time, as a wrong row does.
fn first_that_is_found(run: impl FnMut(u128) -> Outcome) -> Outcome {
    let mut outcomes = (3..3 + tries(0.5)).map(run);
    outcomes.find(|outcome| *outcome != Outcome::Right).unwrap_or(Outcome::Right)
}

#[test]
fn every_strength_and_width_catches_every_deviation_by_its_check() {
    let job = job();
    for (statistical, ot_width) in [(Statistical::SixtyFour, Width::Two), (Statistical::Eighty, Width::Eight)] {
        for config in configs() {
            let config = Config { statistical, ot_width, ..config };
            let honest = run(&job.program, &job.inputs, config, (Honest, Honest), 3);
            for (party, result) in (0..).zip(&honest) {
                assert_eq!(outcome(result, &job.right(party)), Outcome::Right, "party {party}, {config:?}");
            }
            for (deviation, check) in of_garbler(config) {
                let found = first_that_is_found(|seed| {
                    let cheat = CheatingGarbler::new(deviation, &job.program);
                    let [_, evaluator] = run(&job.program, &job.inputs, config, (cheat, Honest), seed);
                    outcome(&evaluator, &job.right(1))
                });
                assert_eq!(found, Outcome::Caught(check), "{deviation:?}, {config:?}");
            }
            for (deviation, check) in of_evaluator(config) {
                let found = first_that_is_found(|seed| {
                    let cheat = CheatingEvaluator::new(deviation);
                    let [garbler, _] = run(&job.program, &job.inputs, config, (Honest, cheat), seed);
                    outcome(&garbler, &job.right(0))
                });
                assert_eq!(found, Outcome::Caught(check), "{deviation:?}, {config:?}");
            }
        }
    }
}

/// A gate on one bit of each party.
fn one_gate(value: u128) -> Job {
    let program = Arc::new(library::find("lib:mul(1)").expect("in the library"));
    let inputs = vec![Bits::from_u128(value & 1, 1), Bits::from_u128(value >> 1, 1)];
    Job { program: program.clone(), other: program, inputs }
}

/// Counts for each pair of input bits, on a thread for each.
fn for_all_inputs(count: impl Fn(u128) -> u32 + Sync) -> [u32; 4] {
    let count = &count;
    thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|value| scope.spawn(move || count(value)));
        threads.map(|thread| thread.join().expect("it does not panic"))
    })
}

/// For any deviation, the inputs do not affect whether the honest party stops.
#[test]
fn a_deviation_is_found_as_often_for_all_inputs() {
    // A failure that depends on an input differs by 1/2 between inputs, which 200 tries show.
    let tries = trials(6).min(200);
    let compare = |what: &str, found: [u32; 4]| {
        let mean = f64::from(found.iter().sum::<u32>()) / f64::from(4 * tries);
        for (value, found) in found.into_iter().enumerate() {
            let tail = binomial_tail(found, tries, mean);
            assert!(tail > ALPHA, "{what}, inputs {value:02b}: {found} of {tries}, all {mean:.3} (tail {tail:.1e})");
        }
    };
    let seeds = |value: u128| (0..u128::from(tries)).map(move |seed| 4 * seed + value);
    for config in [configs()[0], configs()[2]] {
        for (deviation, _) in of_garbler(config) {
            let found = for_all_inputs(|value| {
                let job = one_gate(value);
                let finds = |seed| {
                    let cheat = CheatingGarbler::new(deviation, &job.program);
                    let [_, evaluator] = run(&job.program, &job.inputs, config, (cheat, Honest), seed);
                    evaluator.is_err()
                };
                seeds(value).filter(|&seed| finds(seed)).count() as u32
            });
            compare(&format!("{deviation:?}, {config:?}"), found);
        }
        for (deviation, _) in of_evaluator(config) {
            let found = for_all_inputs(|value| {
                let job = one_gate(value);
                let finds = |seed| {
                    let cheat = CheatingEvaluator::new(deviation);
                    let [garbler, _] = run(&job.program, &job.inputs, config, (Honest, cheat), seed);
                    garbler.is_err()
                };
                seeds(value).filter(|&seed| finds(seed)).count() as u32
            });
            compare(&format!("{deviation:?}, {config:?}"), found);
        }
    }
}

/// The name under which outputs are kept.
const KEPT: &str = "sum";

/// Opens a party's store in a folder.
fn open(folder: &Path, party: Party) -> Store {
    let key = StoreKey::generate(&mut StdRng::seed_from_u64(1));
    let rng = &mut StdRng::seed_from_u64(party.0.into());
    Store::open_or_create(&folder.join(party.to_string()), &key, rng).expect("opens")
}

/// A run from a store, which makes whatever the store lacks: its first input is the kept value, if it reads, and it keeps outputs.
async fn live<S: Side>(
    channel: Channel,
    (folder, job, config): (&Path, &Job, Config),
    (reads, seed): (bool, u64),
    conduct: AnyConduct<Step>,
) -> Result<(), ProtocolError> {
    let (mut channel, rng) = (channel, Prg::new(Block::from_halves(seed, S::PARTY.0.into())));
    channel.set_timeout(Duration::from_secs(20));
    let hello = Hello::new(NAME, S::PARTY.0, 2, [0; 32]);
    let mut session = Session::open(channel, rng, &hello, Box::new(())).await.expect("both agree");
    let port = job.program.inputs()[0].port.name.clone();
    let read: Vec<ReadInput> = reads.then(|| ReadInput { port, name: KEPT.into(), output: None }).into_iter().collect();
    let numbers: Vec<usize> = read.iter().map(|_| 0).collect();
    let plan = Arc::new(Plan::new(job.program.clone(), config, &numbers, true).expect("can be run"));
    let own = job.program.inputs().iter().zip(&job.inputs).enumerate();
    let own = own.filter(|(number, (input, _))| input.owner == S::PARTY && !numbers.contains(number));
    let own: Vec<Bits> = own.map(|(_, (_, value))| value.clone()).collect();
    let ran = async {
        let store = (open(folder, S::PARTY), "test");
        let role = Participant::<S, _>::meet(&mut session, config, store, conduct).await?;
        let saved = SavedValues { keep: Some(KEPT.into()), read };
        let mut run = Run::saving(&mut session, role, plan, saved, true).await?;
        run.run(&mut session, &own).await.map(drop)
    };
    match ran.await {
        Ok(()) => session.close().await,
        Err(error) => {
            session.abort().await;
            Err(error)
        }
    }
}

fn both(
    of: (&Path, &Job, Config),
    reads: (bool, u64),
    (garbler, evaluator): (impl Conduct<Step>, impl Conduct<Step>),
) -> [Result<(), ProtocolError>; 2] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (left, right) = memory_pair();
        let garbler = live::<GarblerSide>(left, of, reads, AnyConduct::new(garbler));
        let evaluator = live::<EvaluatorSide>(right, of, reads, AnyConduct::new(evaluator));
        let (garbler, evaluator) = tokio::join!(garbler, evaluator);
        [garbler, evaluator]
    })
}

/// Stores of two parties that have kept a sum, after a second run that reads it and in which one cheats: its check catches it, and the honest party's store is
/// given up with all kept values.
fn after_a_cheat(
    config: Config,
    honest: Party,
    check: Check,
    what: &str,
    mut cheat: impl FnMut(&Path, u64) -> [Result<(), ProtocolError>; 2],
) {
    let (folder, job) = (tempfile::tempdir().expect("a folder"), job());
    let of = (folder.path(), &job, config);
    assert!(both(of, (false, 0), (Honest, Honest)).iter().all(Result::is_ok), "both are honest");
    assert_eq!(Authenticated::notices(&open(folder.path(), honest)).len(), 1, "the sum is kept");
    // With few gates, possibly no wrong row is used.
    let found = (1..5).find_map(|seed| {
        let [garbler, evaluator] = cheat(folder.path(), seed);
        if honest == GARBLER { garbler.err() } else { evaluator.err() }
    });
    let found = found.unwrap_or_else(|| panic!("{what}, {config:?}: the cheat is not caught"));
    assert!(matches!(&found, ProtocolError::Cheating(found) if found.check == check), "{what}, {config:?}: {found}");
    let store = open(folder.path(), honest);
    assert!(Authenticated::notices(&store).is_empty() && store.stock().iter().all(|kind| kind.available.is_empty()));
    drop(store);
    let again = both(of, (false, 9), (Honest, Honest));
    let refused = again[usize::from(honest.0)].as_ref().expect_err("the store was used again");
    assert!(matches!(refused, ProtocolError::Stored { .. }), "{what}, {config:?}: {refused}");
}

#[test]
fn a_cheat_in_a_run_that_reads_kept_values_loses_all_of_them() {
    use GarblerDeviation::{OtherInputLabels, OtherRows, OtherRowsAtTheEnd};
    let job = job();
    // Differences were set up when the stores were new, so deviations in their set-up do not apply.
    let of_setup = [OtherInputLabels, OtherRows, OtherRowsAtTheEnd];
    for config in [configs()[0], configs()[2]] {
        for (deviation, check) in of_garbler(config).filter(|(deviation, _)| !of_setup.contains(deviation)) {
            after_a_cheat(config, EVALUATOR, check, &format!("{deviation:?}"), |folder, seed| {
                let cheat = CheatingGarbler::new(deviation, &job.program);
                both((folder, &job, config), (true, seed), (cheat, Honest))
            });
        }
        let of_setup = EvaluatorDeviation::OddDifference;
        for (deviation, check) in of_evaluator(config).filter(|(deviation, _)| *deviation != of_setup) {
            after_a_cheat(config, GARBLER, check, &format!("{deviation:?}"), |folder, seed| {
                let cheat = CheatingEvaluator::new(deviation);
                both((folder, &job, config), (true, seed), (Honest, cheat))
            });
        }
    }
}
