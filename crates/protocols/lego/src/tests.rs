mod hang_up;
mod put_back;
mod rates;
mod saved;
mod setup;
mod stock;
mod work;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use garblet_circuit::{Bits, Party, Program, random};
use garblet_net::{Channel, Hello, memory_pair};
use garblet_primitives::{Block, Prg};
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use garblet_protocol::{
    conduct::Conduct,
    error::ProtocolError,
    phase::{Phase, PhaseCosts},
    session::Session,
};

/// Outputs, costs, and how much was checked, which the evaluator knows.
type Outcome = Result<(Vec<Option<Bits>>, PhaseCosts, Checks), ProtocolError>;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

fn plan(program: Program) -> Arc<Plan> {
    Arc::new(Plan::new(Arc::new(program), Config::default()).expect("can be run"))
}

fn own_inputs(plan: &Plan, party: Party, inputs: &[Bits]) -> Vec<Bits> {
    let owned = plan.program().inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
    owned.map(|(_, value)| value.clone()).collect()
}

fn hello(party: Party) -> Hello {
    Hello::new(NAME, party.0, 2, [0; 32])
}

async fn session(mut channel: Channel, party: Party, seed: u64) -> Session {
    channel.set_timeout(Duration::from_secs(20));
    let rng = Prg::new(Block::from_halves(seed, party.0.into()));
    Session::open(channel, rng, &hello(party), Box::new(())).await.expect("both agree")
}

/// Changes a message; may use delta.
type Change = fn(&mut [u8], Block);

/// The change to one message, and that to the evaluator's material with delta.
#[derive(Clone, Default)]
struct Deviation {
    touch: Option<(Step, Change)>,
    /// The number of the message among the step's, if not all are meant.
    at: Option<usize>,
    spoil: Option<fn(&mut EvaluatorPrepared, Block)>,
    /// Set by the constructor once it has it.
    delta: Arc<OnceLock<Block>>,
    /// Set by the evaluator at the end: whether it came to know the difference, and its work.
    ended: Arc<OnceLock<(bool, [u64; 2])>>,
}

impl Conduct<Step> for Deviation {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        if self.at.is_some_and(|at| at != index) {
            return;
        }
        if let Some((_, change)) = self.touch.filter(|(at, _)| *at == step) {
            change(bytes, self.delta.get().copied().unwrap_or_default());
        }
    }
}

async fn construct(session: &mut Session, plan: Arc<Plan>, inputs: &[Bits], deviation: Deviation) -> Outcome {
    let own = own_inputs(&plan, CONSTRUCTOR, inputs);
    let delta = deviation.delta.clone();
    let mut constructor = Constructor::setup_with(session, plan.config(), deviation).await?;
    delta.set(constructor.delta()).ok();
    let mut prepared = constructor.prepare(session, plan).await?;
    constructor.build(session, &mut prepared).await?;
    let outputs = constructor.online(session, prepared, &own).await?;
    Ok((outputs, session.costs(), Checks::default()))
}

async fn evaluate(session: &mut Session, plan: Arc<Plan>, inputs: &[Bits], deviation: Deviation) -> Outcome {
    let own = own_inputs(&plan, EVALUATOR, inputs);
    let (spoil, delta, ended) = (deviation.spoil, deviation.delta.clone(), deviation.ended.clone());
    let mut evaluator = Evaluator::setup_with(session, plan.config(), deviation).await?;
    let mut prepared = evaluator.prepare(session, plan).await?;
    if let Some(spoil) = spoil {
        spoil(&mut prepared, *delta.get().expect("the constructor is set up"));
    }
    evaluator.build(session, &mut prepared).await?;
    let checks = prepared.checks();
    let before = evaluator.work();
    let outputs = evaluator.online(session, prepared, &own).await?;
    let after = evaluator.work();
    ended.set((evaluator.security().peer_exposed, [0, 1].map(|of| after[of] - before[of]))).ok();
    Ok((outputs, session.costs(), checks))
}

fn run_with(plan: &Arc<Plan>, inputs: &[Bits], seed: u64, deviation: &Deviation) -> [Outcome; 2] {
    let (ours, theirs) = memory_pair();
    block_on(async {
        let constructor = async {
            let mut session = session(ours, CONSTRUCTOR, seed).await;
            let outcome = construct(&mut session, plan.clone(), inputs, deviation.clone()).await;
            if outcome.is_err() {
                session.abort().await;
            }
            outcome
        };
        let evaluator = async {
            let mut session = session(theirs, EVALUATOR, seed).await;
            let outcome = evaluate(&mut session, plan.clone(), inputs, deviation.clone()).await;
            if outcome.is_err() {
                session.abort().await;
            }
            outcome
        };
        tokio::join!(constructor, evaluator).into()
    })
}

/// Every recipient has the plain evaluator's value, nobody else has any, and costs are as stated.
fn check(plan: &Arc<Plan>, inputs: &[Bits], seed: u64, deviation: &Deviation) -> [PhaseCosts; 2] {
    let program = plan.program();
    let expected = garblet_circuit::evaluate(program, inputs);
    let outcomes = run_with(plan, inputs, seed, deviation).map(|outcome| outcome.expect("a run with a result"));
    let order = plan.order().expect("it is small");
    let (checks, hellos) = (outcomes[1].2, [CONSTRUCTOR, EVALUATOR].map(hello));
    for (party, (outputs, costs, _)) in [CONSTRUCTOR, EVALUATOR].into_iter().zip(&outcomes) {
        for phase in Phase::ALL {
            let stated = communication(plan, &order, party, phase, &hellos, checks);
            assert_eq!(costs.of(phase).communication, stated, "party {party}, {phase:?} of {}", program.name());
        }
        for ((output, expected), got) in program.outputs().iter().zip(&expected).zip(outputs) {
            assert_eq!(got.as_ref(), output.recipients.contains(party).then_some(expected), "{}", program.name());
        }
    }
    outcomes.map(|(_, costs, _)| costs)
}

#[test]
fn aes_is_aes() {
    let plan = plan(library::find("aes128").expect("in the library"));
    let inputs = random::inputs(&mut StdRng::seed_from_u64(1), plan.program());
    let honest = Deviation::default();
    let [constructor, evaluator] = check(&plan, &inputs, 1, &honest);
    // Gates of AND buckets, and of input buckets for all four inputs; hashes of dummy votes, and of input keys.
    assert_eq!(honest.ended.get(), Some(&(false, [6 * 6_400 + 64 * 4 * 13, 8_890 + 256 * 11])));
    let online = constructor.of(Phase::Online).communication;
    let learned = |party| plan.learned(party).into_iter().filter(|learned| *learned).count() as u64;
    // The constructor's 128 keys are sent; the evaluator's 128 input bits, and the output bits that it learns, are opened.
    assert_eq!(online.bytes_sent, 128 * 16 + (128 + learned(EVALUATOR)) * 49);
    assert_eq!(online.bytes_received, 128 / 8 + learned(CONSTRUCTOR) * 16);
    assert_eq!(evaluator.of(Phase::Online).communication.rounds, 1);
    let build = constructor.of(Phase::Build).communication;
    assert_eq!(build.bytes_sent, 16 * (2 * 6_400 + 128) + 8 * 262 * plan.lots().len() as u64);
}

#[test]
fn random_programs_agree_with_the_plain_evaluator() {
    let cases = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 50 } else { 4 };
    for seed in 0..cases {
        let mut rng = StdRng::seed_from_u64(seed);
        let program = match seed % 2 {
            0 => random::program(&mut rng, 60, 2),
            _ => random::single(&mut rng, 200, 2),
        };
        let inputs = random::inputs(&mut rng, &program);
        check(&plan(program), &inputs, seed, &Deviation::default());
    }
}

/// A program of both parties' inputs and outputs.
fn addition() -> (Arc<Plan>, Vec<Bits>) {
    let plan = plan(library::find("add(32)").expect("in the library"));
    let inputs = random::inputs(&mut StdRng::seed_from_u64(3), plan.program());
    (plan, inputs)
}

/// The other key of the same wire is another input, not a wrong one.
#[test]
fn a_constructor_may_give_another_input_of_its_own() {
    let add_delta: Change =
        |bytes, delta| bytes.iter_mut().zip(delta.to_bytes()).for_each(|(byte, other)| *byte ^= other);
    let (plan, mut inputs) = addition();
    let deviation = Deviation { touch: Some((Step::InputKeys, add_delta)), ..Deviation::default() };
    let bit = inputs[0].get(0);
    inputs[0].set(0, !bit);
    let expected = garblet_circuit::evaluate(plan.program(), &inputs);
    inputs[0].set(0, bit);
    let [_, evaluator] = run_with(&plan, &inputs, 6, &deviation);
    let (outputs, ..) = evaluator.expect("a result");
    assert!(outputs.iter().zip(&expected).all(|(got, expected)| got.as_ref().is_none_or(|got| got == expected)));
}

/// A bucket with one bad gate still gives the right key; if the bad gate gives the other valid key, the evaluator
/// has delta, and computes the right output in the clear.
#[test]
fn bad_gates_in_buckets_change_nothing() {
    let (plan, inputs) = addition();
    let garbage: fn(&mut EvaluatorPrepared, Block) = |prepared, _| {
        for bucket in 0..31 {
            prepared.material.ands.first().gates_mut(bucket)[bucket % 2].output ^= Block::from_u128(77);
        }
    };
    let other_key: fn(&mut EvaluatorPrepared, Block) = |prepared, delta| {
        prepared.material.ands.first().gates_mut(20)[1].output ^= delta;
    };
    // Most gates of a bucket compute AND with another key than the committed one, but authenticators know better; a second bucket
    // makes the evaluator look at all four inputs of the first.
    let most_gates: fn(&mut EvaluatorPrepared, Block) = |prepared, delta| {
        let gates = prepared.material.ands.first().gates_mut(10);
        let (_, most) = gates.split_at_mut(1);
        most.iter_mut().for_each(|gate| gate.output ^= Block::from_u128(78));
        prepared.material.ands.first().gates_mut(20)[1].output ^= delta;
    };
    for spoil in [garbage, other_key, most_gates] {
        let deviation = Deviation { spoil: Some(spoil), ..Deviation::default() };
        let [constructor, _] = check(&plan, &inputs, 7, &deviation);
        let [honest, _] = check(&plan, &inputs, 7, &Deviation::default());
        let online = |costs: &PhaseCosts| costs.of(Phase::Online).communication;
        assert_eq!(online(&constructor), online(&honest), "nothing of it shows");
    }
}

/// Also for a wire without a partner in its bucket, of any value: otherwise the key handed to the constructor would show that its
/// input was looked for.
#[test]
fn all_bits_of_the_constructors_input_are_extracted() {
    let show_delta: fn(&mut EvaluatorPrepared, Block) =
        |prepared, delta| prepared.material.ands.first().gates_mut(0)[1].output ^= delta;
    for width in [4, 5] {
        let plan = plan(library::find(&format!("add({width})")).expect("in the library"));
        for value in [0, 1, 12, 31] {
            let inputs = [value, 9].map(|value| Bits::from_u128(value % (1 << width), width));
            let deviation = Deviation { spoil: Some(show_delta), ..Deviation::default() };
            check(&plan, &inputs, 8, &deviation);
        }
    }
}
