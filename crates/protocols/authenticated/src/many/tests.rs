//! Runs of all parties in one thread, on batches so small that they hide nothing, or of the normal size.

mod deviations;
mod programs;
mod triples;

use std::{sync::Arc, time::Duration};

use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Program, Type, Wire};
use garblet_net::{Hello, Mesh};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{MeshSession, Role, conduct::Conduct, error::ProtocolError, phase::PhaseCosts};

use super::{Config, Member, NAME, Plan, Step, ground::Ground, shares::Supply};
use crate::parameters::Batch;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

/// Lets all parties live, each in a session of its own; one that fails tells the others.
fn all<T: Send>(
    parties: u16,
    seed: u64,
    party: impl AsyncFn(&mut MeshSession, Party) -> Result<T, ProtocolError>,
) -> Vec<Result<T, ProtocolError>> {
    let live = async |mut mesh: Mesh| {
        mesh.set_timeout(Duration::from_secs(20));
        let number = mesh.party();
        let rng = Prg::new(Block::from_halves(seed, number.into()));
        let hello = Hello::new(NAME, number, parties, [0; 32]);
        let mut session = MeshSession::join(mesh, rng, &hello, Box::new(())).await.expect("all agree");
        let result = party(&mut session, Party(number)).await;
        match &result {
            Err(error) => session.abort(error).await,
            Ok(_) => drop(session.close().await),
        }
        result
    };
    block_on(futures_util::future::join_all(Mesh::memory(parties).into_iter().map(live)))
}

/// A program of two input bits, of parties 0 and 1, with outputs for all.
fn circuit(gates: Vec<Gate>, outputs: Vec<Wire>) -> Arc<Program> {
    let width = outputs.len() as u32;
    let circuit = Circuit::new(2, gates, outputs).expect("a circuit");
    let port = |name: &str, bits| Port::new(name, Type::Bits(bits));
    let component =
        Component::new("test", vec![port("x", 1), port("y", 1)], vec![port("z", width)], circuit).expect("it fits");
    Arc::new(Program::from_component(component, &[Party(0), Party(1)]).expect("a component is a program"))
}

/// A program of one AND gate.
fn product() -> Arc<Program> {
    circuit(vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)])
}

/// Outputs that are constants, inputs, their sum and negation, a product, and the product once more.
fn odd_outputs() -> Arc<Program> {
    let gates = vec![
        Gate::Constant(false),
        Gate::Constant(true),
        Gate::And(Wire(0), Wire(1)),
        Gate::Not(Wire(1)),
        Gate::Xor(Wire(0), Wire(1)),
    ];
    circuit(gates, [2, 3, 0, 5, 6, 4, 4].map(Wire).to_vec())
}

/// A party after one batch.
struct Made<K> {
    ground: Ground<K>,
    supply: Supply,
}

/// One batch of every party, each with its conduct, after a set-up.
fn make<K: Conduct<Step>>(
    parties: u16,
    seed: u64,
    (batch, masks): (Option<Batch>, usize),
    conduct: impl Fn(Party) -> K,
) -> Vec<Result<Made<K>, ProtocolError>> {
    all(parties, seed, async |session, party| {
        let plan = Plan::new(product(), parties, Config::default())?;
        let mut ground = Ground::set_up(session, &plan, party, conduct(party)).await?;
        let triples = batch.map_or(0, |batch| batch.triples as usize);
        let mut supply = Supply::with_room(parties, triples, masks);
        ground.make(session, (batch, triples, masks), &mut supply).await?;
        Ok(Made { ground, supply })
    })
}

/// A party's outputs of a run, and its costs.
type Ran = (Vec<Option<Bits>>, PhaseCosts);

/// One run of all, each with its conduct.
fn run<K: Conduct<Step>>(
    plan: &Arc<Plan>,
    seed: u64,
    inputs: &[Bits],
    conduct: impl Fn(Party) -> K,
) -> Vec<Result<Ran, ProtocolError>> {
    all(plan.parties(), seed, async |session, party| {
        let mut member = Member::set_up(session, plan.clone(), party, conduct(party)).await?;
        let owned = plan.program().inputs().iter().zip(inputs).filter(|(input, _)| input.owner == party);
        let own: Vec<Bits> = owned.map(|(_, value)| value.clone()).collect();
        let outputs = member.run(session, &own).await?;
        Ok((outputs, session.costs()))
    })
}

/// The outputs that a party must learn.
fn learned(plan: &Plan, party: Party, inputs: &[Bits]) -> Vec<Option<Bits>> {
    let values = garblet_circuit::evaluate(plan.program(), inputs);
    let outputs = plan.program().outputs().iter().zip(values);
    outputs.map(|(output, value)| output.recipients.contains(party).then_some(value)).collect()
}
