//! Runs of both parties in one thread, on batches so small that they hide nothing, or on batches of the normal size.

mod differences;
mod programs;
pub(crate) mod put_back;
mod rates;
mod saved;
mod silent;
mod triples;
pub(crate) mod unsettled;
mod views;

use std::{
    marker::PhantomData,
    sync::{Arc, OnceLock},
    time::Duration,
};

use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Program, Type, Wire, random};
use garblet_net::{Channel, Hello, memory_pair};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    conduct::{AnyConduct, Conduct, Honest},
    error::ProtocolError,
    phase::{Phase, PhaseCosts},
    session::Session,
};
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{
    ground::Ground,
    online::{evaluator::EvaluatorSide, garbler::GarblerSide},
    others::Nothing,
    parameters::Batch,
    place::Place,
    plan::ots,
    secrets::Secrets,
    shares::Made,
    side::{Read, Side},
    supply::Supply,
};

/// The two sides of a run, for tests that treat both alike.
type Both<T> = [Result<T, ProtocolError>; 2];

/// The conduct of all parties here.
type Any = AnyConduct<Step>;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

async fn session(mut channel: Channel, party: Party, seed: u64) -> Session {
    channel.set_timeout(Duration::from_secs(20));
    let rng = Prg::new(Block::from_halves(seed, party.0.into()));
    let hello = Hello::new(NAME, party.0, 2, [0; 32]);
    Session::open(channel, rng, &hello, Box::new(())).await.expect("both agree")
}

/// Lets both parties live, each in a session of its own; one that fails is gone for the other.
fn both<A, B>(
    seed: u64,
    garbler: impl AsyncFnOnce(&mut Session) -> Result<A, ProtocolError>,
    evaluator: impl AsyncFnOnce(&mut Session) -> Result<B, ProtocolError>,
) -> (Result<A, ProtocolError>, Result<B, ProtocolError>) {
    let (ours, theirs) = memory_pair();
    block_on(async {
        let garbler = async {
            let mut session = session(ours, GARBLER, seed).await;
            let result = garbler(&mut session).await;
            if result.is_err() {
                session.abort().await;
            }
            result
        };
        let evaluator = async {
            let mut session = session(theirs, EVALUATOR, seed).await;
            let result = evaluator(&mut session).await;
            if result.is_err() {
                session.abort().await;
            }
            result
        };
        tokio::join!(garbler, evaluator)
    })
}

/// The secrets of two parties, set up once: as many sessions as anybody likes begin with them.
fn secrets() -> &'static [Secrets; 2] {
    static SECRETS: OnceLock<[Secrets; 2]> = OnceLock::new();
    // Whoever is first is in a runtime already.
    SECRETS.get_or_init(|| std::thread::spawn(set_up).join().expect("both are honest"))
}

fn set_up() -> [Secrets; 2] {
    let set_up =
        async |session: &mut Session, party| Secrets::set_up(session, party, Config::default(), &mut Honest).await;
    let garbler = async |session: &mut Session| set_up(session, GARBLER).await;
    let evaluator = async |session: &mut Session| set_up(session, EVALUATOR).await;
    let (garbler, evaluator) = both(0, garbler, evaluator);
    [garbler, evaluator].map(|secrets| secrets.expect("both are honest"))
}

/// Begins a session with these secrets.
async fn ground(session: &mut Session, party: Party, conduct: impl Conduct<Step>) -> Ground<Any> {
    let secrets = &secrets()[usize::from(party.0)];
    Ground::agree(session, secrets, party, Config::default(), Any::new(conduct)).await.expect("both agree")
}

fn plan(program: Program, config: Config) -> Plan {
    Plan::new(Arc::new(program), config, &[], false).expect("can be run")
}

/// All forms of the protocol.
fn configs() -> [Config; 4] {
    let of = |check, build| Config { check, build, ..Config::default() };
    [
        of(ResultCheck::Tags, Build::Ahead),
        of(ResultCheck::Tags, Build::Stream),
        of(ResultCheck::Reveal, Build::Ahead),
        of(ResultCheck::Reveal, Build::Stream),
    ]
}

/// A party's values of its inputs, joined.
fn own_input(plan: &Plan, party: Party, inputs: &[Bits]) -> Bits {
    let owned = plan.program().inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
    owned.flat_map(|(_, value)| value.iter().collect::<Vec<bool>>()).collect()
}

/// A party's outputs of a run, and its costs.
type Ran = (Vec<Option<Bits>>, PhaseCosts);

/// One run of a side on triples of a batch of this size, if given, and otherwise of the normal size.
async fn live<S: Side>(
    session: &mut Session,
    plan: &Plan,
    batch: Option<Batch>,
    inputs: &[Bits],
    ground: Ground<Any>,
) -> Result<Ran, ProtocolError> {
    let mut participant = Participant::<S, Any> { ground, config: plan.config(), side: PhantomData };
    let mut supply = Supply::default();
    let masks = plan.amounts().masks;
    let batches = batch.map_or_else(|| plan.batches(), |batch| vec![(Some(batch), masks)]);
    participant.ground.begin_ots(session, plan.config(), ots(&batches)).await?;
    session.enter(Phase::Prepare);
    for (batch, masks) in batches {
        supply.add(&participant.ground.make(session, batch, masks as usize).await?)?;
    }
    let prepared = participant.build(session, plan, supply, Read::default()).await?;
    session.enter(Phase::Online);
    let own = own_input(plan, S::PARTY, inputs);
    let io = (&own, &mut Nothing::new(S::PARTY, None));
    let computed = S::compute(&mut participant.ground, session, plan, prepared.work, io).await?;
    Ok((computed.outputs, session.costs()))
}

/// One run of both, each with its conduct.
fn run(
    plan: &Plan,
    batch: Option<Batch>,
    inputs: &[Bits],
    (garbler, evaluator): (impl Conduct<Step>, impl Conduct<Step>),
    seed: u64,
) -> Both<Ran> {
    let (garbler, evaluator) = both(
        seed,
        async |session| {
            let ground = ground(session, GARBLER, garbler).await;
            live::<GarblerSide>(session, plan, batch, inputs, ground).await
        },
        async |session| {
            let ground = ground(session, EVALUATOR, evaluator).await;
            live::<EvaluatorSide>(session, plan, batch, inputs, ground).await
        },
    );
    [garbler, evaluator]
}

/// The outputs that a party must learn.
fn learned(plan: &Plan, party: Party, inputs: &[Bits]) -> Vec<Option<Bits>> {
    let program = plan.program();
    let values = garblet_circuit::evaluate(program, inputs);
    let learned = program.outputs().iter().zip(values);
    learned.map(|(output, value)| output.recipients.contains(party).then_some(value)).collect()
}

/// A program of one circuit, with one input of each party's and one output for both.
fn circuit(bits: [u32; 2], gates: Vec<Gate>, outputs: Vec<Wire>) -> Program {
    let width = outputs.len() as u32;
    let circuit = Circuit::new(bits[0] + bits[1], gates, outputs).expect("a circuit");
    let port = |name: &str, bits| Port::new(name, Type::Bits(bits));
    let inputs = vec![port("x", bits[0]), port("y", bits[1])];
    let component = Component::new("test", inputs, vec![port("z", width)], circuit).expect("it fits");
    Program::from_component(component, &[GARBLER, EVALUATOR]).expect("a component is a program")
}

/// The product of a bit of each party's.
fn product() -> Program {
    circuit([1, 1], vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)])
}

/// Tells whether a count is so far from its expectation that the probability is only 10^-4, by the normal approximation, which counts of
/// hundreds allow.
pub(crate) fn is_far(count: usize, trials: usize, probability: f64) -> bool {
    let expected = trials as f64 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt();
    (count as f64 - expected).abs() > 3.9 * deviation
}
