//! Runs of all parties in one thread, on batches so small that they hide nothing, or of the normal size.

mod any;
mod equivocations;
mod lies;
mod locks;
mod programs;
mod rates;
mod saved;
mod set_up;
mod silent;
mod silent_cheats;
mod stores;
mod streams;
mod triples;
mod views;

use std::sync::Arc;

use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Program, Recipients, Type, Wire};
use garblet_net::Mesh;
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    MeshSession, Role,
    conduct::{AnyConduct, Conduct},
    error::ProtocolError,
    phase::PhaseCosts,
};
use garblet_runs::testing::mesh_run::{self, TIMEOUT, block_on};

use super::{Config, Member, Plan, Step, build::Built, ground::Ground, saved::Read, shares::Triples, supply::Supply};
use crate::{amounts::Amounts, config::ResultCheck, parameters::Batch};

/// The conduct of all parties in most tests.
type Any = AnyConduct<Step>;

/// Lets all parties live, each in a session of its own; one that fails tells the others.
fn all<T>(
    parties: u16,
    seed: u64,
    party: impl AsyncFn(&mut MeshSession, Party) -> Result<T, ProtocolError>,
) -> Vec<Result<T, ProtocolError>> {
    let part = async |session: &mut MeshSession| {
        let own = Party(session.mesh().party());
        party(session, own).await
    };
    block_on(mesh_run::run(Mesh::memory(parties), seed, TIMEOUT, part))
}

/// A program of inputs of the same width, one of each owner, with outputs for all.
fn circuit(owners: &[u16], width: u32, gates: Vec<Gate>, outputs: Vec<Wire>) -> Program {
    let learned = outputs.len() as u32;
    let circuit = Circuit::new(width * owners.len() as u32, gates, outputs).expect("a circuit");
    let port = |name: String, bits| Port::new(name, Type::Bits(bits));
    let inputs = (0..owners.len()).map(|input| port(format!("x{input}"), width)).collect();
    let component = Component::new("test", inputs, vec![port("z".into(), learned)], circuit).expect("it fits");
    let owners: Vec<Party> = owners.iter().copied().map(Party).collect();
    Program::from_component(component, &owners).expect("a component is a program")
}

/// A program of one AND gate.
fn product() -> Arc<Program> {
    Arc::new(circuit(&[0, 1], 1, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]))
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
    Arc::new(circuit(&[0, 1], 1, gates, [2, 3, 0, 5, 6, 4, 4].map(Wire).to_vec()))
}

/// The plan of a program whose last party evaluates.
fn plan(program: impl Into<Arc<Program>>, parties: u16, check: ResultCheck) -> Arc<Plan> {
    let config = Config { check, evaluator: parties - 1, ..Config::default() };
    Arc::new(Plan::new(program.into(), parties, config).expect("it can be run"))
}

/// A run's build, on a batch of toy size, and the party's shares of the masks and triples that it was made of.
async fn build<K: Conduct<Step>>(
    ground: &mut Ground<K>,
    session: &mut MeshSession,
    plan: &Plan,
) -> Result<(Built, Vec<bool>), ProtocolError> {
    let Amounts { triples, masks } = plan.amounts();
    let (triples, masks) = (triples as usize, masks as usize);
    let batch = (triples > 0).then_some(Batch { triples: triples as u64, bucket: 2 });
    let mut supply = Supply::with_room(plan.parties(), triples, masks);
    ground.make(session, (batch, triples, masks), &mut supply).await?;
    let Triples { a, b, c } = &supply.triples;
    let bits = [&supply.masks, a, b, c].into_iter().flat_map(|shares| (0..shares.len()).map(|at| shares.bit(at)));
    let bits: Vec<bool> = bits.collect();
    Ok((ground.build(session, plan, (supply, Read::default())).await?, bits))
}

impl<K: Conduct<Step>> Ground<K> {
    /// Computes once, and keeps nothing.
    async fn compute(
        &mut self,
        session: &mut MeshSession,
        plan: &Plan,
        built: Built,
        values: &[Bits],
    ) -> Result<Vec<Option<Bits>>, ProtocolError> {
        let (outputs, _) = self.compute_and_keep(session, plan, built, values).await?;
        Ok(outputs)
    }
}

/// A party's inputs among those of all.
fn own_inputs(plan: &Plan, party: Party, inputs: &[Bits]) -> Vec<Bits> {
    mesh_run::own_inputs(plan.program(), party.0, inputs)
}

/// A party after one batch.
struct Made {
    ground: Ground<Any>,
    supply: Supply,
}

/// One batch of every party, each with its conduct, after a set-up.
fn make<K: Conduct<Step>>(
    parties: u16,
    seed: u64,
    (batch, masks): (Option<Batch>, usize),
    conduct: impl Fn(Party) -> K,
) -> Vec<Result<Made, ProtocolError>> {
    all(parties, seed, async |session, party| {
        let plan = Plan::new(product(), parties, Config::default())?;
        let mut ground = Ground::set_up(session, &plan, party, Any::new(conduct(party))).await?;
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
        let mut member = Member::set_up(session, plan.clone(), party, Any::new(conduct(party))).await?;
        let outputs = member.run(session, &own_inputs(plan, party, inputs)).await?;
        Ok((outputs, session.costs()))
    })
}

/// The outputs that a party must learn.
fn learned(plan: &Plan, party: Party, inputs: &[Bits]) -> Vec<Option<Bits>> {
    let values = garblet_circuit::evaluate(plan.program(), inputs);
    let outputs = plan.program().outputs().iter().zip(values);
    outputs.map(|(output, value)| output.recipients.contains(party).then_some(value)).collect()
}
