use std::sync::{Arc, OnceLock};
use std::time::Duration;

use garblet_circuit::{Bits, Party, Program, library, random};
use garblet_net::{Channel, Hello, memory_pair};
use garblet_primitives::{Block, Prg};
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    checks::Check,
    conduct::Conduct,
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

/// What happens to one message, and what to the evaluator's material with delta.
#[derive(Clone, Default)]
struct Deviation {
    touch: Option<(Step, Change)>,
    spoil: Option<fn(&mut EvaluatorPrepared, Block)>,
    /// Set by the constructor once it has it.
    delta: Arc<OnceLock<Block>>,
}

impl Conduct<Step> for Deviation {
    fn touch(&mut self, step: Step, _index: usize, bytes: &mut [u8]) {
        if let Some((_, change)) = self.touch.filter(|(at, _)| *at == step) {
            change(bytes, self.delta.get().copied().unwrap_or_default());
        }
    }
}

async fn construct(session: &mut Session, plan: Arc<Plan>, inputs: &[Bits], deviation: Deviation) -> Outcome {
    let own = own_inputs(&plan, CONSTRUCTOR, inputs);
    let delta = deviation.delta.clone();
    let mut constructor = Constructor::setup_with(session, plan, deviation).await?;
    delta.set(constructor.delta()).ok();
    let mut prepared = constructor.prepare(session).await?;
    constructor.build(session, &mut prepared).await?;
    let outputs = constructor.online(session, prepared, &own).await?;
    Ok((outputs, session.costs(), Checks::default()))
}

async fn evaluate(session: &mut Session, plan: Arc<Plan>, inputs: &[Bits], deviation: Deviation) -> Outcome {
    let own = own_inputs(&plan, EVALUATOR, inputs);
    let (spoil, delta) = (deviation.spoil, deviation.delta.clone());
    let mut evaluator = Evaluator::setup_with(session, plan, deviation).await?;
    let mut prepared = evaluator.prepare(session).await?;
    if let Some(spoil) = spoil {
        spoil(&mut prepared, *delta.get().expect("the constructor is set up"));
    }
    evaluator.build(session, &mut prepared).await?;
    let checks = prepared.checks();
    let outputs = evaluator.online(session, prepared, &own).await?;
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
    let (checks, hellos) = (outcomes[1].2, [CONSTRUCTOR, EVALUATOR].map(hello));
    for (party, (outputs, costs, _)) in [CONSTRUCTOR, EVALUATOR].into_iter().zip(&outcomes) {
        for phase in Phase::ALL {
            let stated = communication(plan, party, phase, &hellos, checks);
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
    let [constructor, evaluator] = check(&plan, &inputs, 1, &Deviation::default());
    let online = constructor.of(Phase::Online).communication;
    let learned = |party| plan.learned(party).into_iter().filter(|learned| *learned).count() as u64;
    // The constructor's 128 keys are sent; the evaluator's 128 input bits, and the output bits that it learns, are opened.
    assert_eq!(online.bytes_sent, 128 * 16 + (128 + learned(EVALUATOR)) * 49);
    assert_eq!(online.bytes_received, 128 / 8 + learned(CONSTRUCTOR) * 16);
    assert_eq!(evaluator.of(Phase::Online).communication.rounds, 1);
    let build = constructor.of(Phase::Build).communication;
    assert_eq!(build.bytes_sent, 16 * (2 * 6_400 + 128) + 16 * 262);
}

#[test]
fn random_programs_give_what_the_plain_evaluator_does() {
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

/// The check that a deviation trips, by the party that is right.
fn tripped(step: Step, change: fn(&mut [u8], Block)) -> Check {
    let (plan, inputs) = addition();
    let deviation = Deviation { touch: Some((step, change)), ..Deviation::default() };
    let by_constructor = !matches!(step, Step::Combinations | Step::Claims | Step::OutputKeys);
    let [constructor, evaluator] = run_with(&plan, &inputs, 5, &deviation);
    let (right, wrong) = if by_constructor { (evaluator, constructor) } else { (constructor, evaluator) };
    assert!(step == Step::OutputKeys || wrong.is_err(), "the party that deviates gets nothing");
    match right.expect_err("the other party notices") {
        ProtocolError::Cheating(cheating) => cheating.check,
        other => panic!("{step:?}: {other}"),
    }
}

fn xor(bytes: &mut [u8], block: Block) {
    bytes.iter_mut().zip(block.to_bytes()).for_each(|(byte, other)| *byte ^= other);
}

#[test]
fn every_deviation_trips_its_check() {
    let spoil: fn(&mut [u8], Block) = |bytes, _| bytes.iter_mut().for_each(|byte| *byte ^= 1);
    let first: fn(&mut [u8], Block) = |bytes, _| bytes[0] ^= 1;
    let add_delta: fn(&mut [u8], Block) = xor;
    let high_of_all: fn(&mut [u8], Block) = |bytes, _| bytes.chunks_exact_mut(16).for_each(|block| block[15] ^= 0x80);
    // All but the lowest bit, which the evaluator would find to be wrong before.
    let high: fn(&mut [u8], Block) = |bytes, _| bytes[15] ^= 0x80;
    let flip_all: fn(&mut [u8], Block) = |bytes, delta| bytes.chunks_exact_mut(16).for_each(|block| xor(block, delta));
    let deviations = [
        (Step::Combinations, first, Check::DeltaChoices),
        (Step::Claims, first, Check::DeltaClaim),
        (Step::Delta, high, Check::CommittedDelta),
        (Step::Told, spoil, Check::ToldBits),
        (Step::Told, first, Check::ToldBits),
        (Step::Tables, spoil, Check::LegoGate),
        (Step::Shifts, spoil, Check::LegoGate),
        (Step::Authenticators, spoil, Check::Authenticator),
        (Step::Strings, flip_all, Check::InputKeyBit),
        (Step::Strings, high_of_all, Check::InputKey),
        (Step::InputKeys, first, Check::InputKey),
        (Step::OutputKeys, first, Check::OutputKey),
    ];
    for (step, change, check) in deviations {
        assert_eq!(tripped(step, change), check, "{step:?}");
    }
    assert!(CHECKS.iter().all(|check| deviations.iter().any(|(_, _, tripped)| tripped == check)));
    // The other key of the same wire is another input, not a wrong one.
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

/// A bucket with one bad gate gives the right key all the same; if what it gives is the other valid key, the evaluator
/// has delta, and computes the right output in the clear.
#[test]
fn bad_gates_in_buckets_change_nothing() {
    let (plan, inputs) = addition();
    let garbage: fn(&mut EvaluatorPrepared, Block) = |prepared, _| {
        for bucket in 0..31 {
            let number = prepared.material.layout.gates(bucket)[bucket % 2] as usize;
            prepared.material.shifts[number] ^= Block::from_u128(77);
        }
    };
    let other_key: fn(&mut EvaluatorPrepared, Block) = |prepared, delta| {
        let number = prepared.material.layout.gates(20)[1] as usize;
        prepared.material.shifts[number] ^= delta;
    };
    for spoil in [garbage, other_key] {
        let deviation = Deviation { spoil: Some(spoil), ..Deviation::default() };
        let [constructor, _] = check(&plan, &inputs, 7, &deviation);
        let [honest, _] = check(&plan, &inputs, 7, &Deviation::default());
        let online = |costs: &PhaseCosts| costs.of(Phase::Online).communication;
        assert_eq!(online(&constructor), online(&honest), "nothing of it shows");
    }
}
