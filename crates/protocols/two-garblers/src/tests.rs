//! Parties in one process. Deviations from the protocol are in `garblet-cheat`.

mod again;
mod cost;
mod digests;
mod early;
mod equals;
mod misuse;
mod sessions;
mod silence;
mod views;

use std::sync::Arc;

use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Program, Recipients, Type, Wire};
use garblet_net::{Mesh, testing::PairTranscript};
use garblet_protocol::{
    MeshSession, PhaseCosts, ProtocolError,
    conduct::{AnyConduct, Conduct, Honest},
    protocol::BoxedRole,
};
use garblet_runs::testing::mesh_run::{self, Outputs, TIMEOUT, block_on, own_inputs, run_recorded};

use super::*;

/// Both times at which tables are sent.
const BUILDS: [Build; 2] = [Build::Stream, Build::Ahead];

fn plan(program: &Program, build: Build) -> Arc<Plan> {
    Arc::new(Plan::new(Arc::new(program.clone()), 3, Config { build }).expect("a program for three parties"))
}

/// An honest party.
async fn set_up(session: &mut MeshSession, plan: &Arc<Plan>) -> Result<BoxedRole<Mesh>, ProtocolError> {
    set_up_with(session, plan, Honest).await
}

/// A party of this conduct.
async fn set_up_with(
    session: &mut MeshSession,
    plan: &Arc<Plan>,
    conduct: impl Conduct<Step>,
) -> Result<BoxedRole<Mesh>, ProtocolError> {
    let (plan, party, conduct) = (plan.clone(), Party(session.mesh().party()), AnyConduct::new(conduct));
    Ok(match plan.seat(party) {
        Some(_) => Box::new(Garbler::set_up(session, plan, party, conduct).await?),
        None => Box::new(Evaluator::set_up(session, plan, party, conduct).await?),
    })
}

/// A party's outputs and costs.
type Learned = (Outputs, PhaseCosts);

/// One run of all parties, who are honest.
fn run(plan: &Arc<Plan>, inputs: &[Bits], seed: u64) -> Vec<Learned> {
    let part = async |session: &mut MeshSession| {
        let own = own_inputs(plan.program(), session.mesh().party(), inputs);
        let outputs = set_up(session, plan).await?.run(session, &own).await?;
        Ok((outputs, session.costs()))
    };
    let all = block_on(mesh_run::run(Mesh::memory(3), seed, TIMEOUT, part));
    all.into_iter().map(|learned| learned.expect("honest parties")).collect()
}

/// Several runs of all parties, one after another, and what they send. Returns the outputs of each party for each run.
fn runs(plan: &Arc<Plan>, inputs: &[Bits], count: usize, seed: u64) -> (Vec<Vec<Outputs>>, Vec<PairTranscript>) {
    run_recorded(3, seed, async |session: &mut MeshSession| {
        let own = own_inputs(plan.program(), session.mesh().party(), inputs);
        let mut role = set_up(session, plan).await?;
        let mut learned = Vec::new();
        for _ in 0..count {
            learned.push(role.run(session, &own).await?);
        }
        Ok(learned)
    })
}

/// A circuit as a program, with inputs of these widths for parties 0, 1 and 2, and one output.
fn circuit(widths: [u32; 3], gates: Vec<Gate>, outputs: Vec<Wire>) -> Program {
    let width = outputs.len() as u32;
    let circuit = Circuit::new(widths.iter().sum(), gates, outputs).expect("wires that exist");
    let port = |(party, width): (usize, &u32)| Port::new(format!("x{party}"), Type::Bits(*width));
    let inputs: Vec<Port> = widths.iter().enumerate().map(port).collect();
    let component = Component::new("circuit", inputs, vec![Port::new("y", Type::Bits(width))], circuit);
    Program::from_component(component.expect("ports that fit"), &[0, 1, 2].map(Party)).expect("owners of all")
}

/// A program with more tables than two pieces hold.
fn large() -> Program {
    let gate = |at: u32| {
        let (a, b) = (Wire(at), Wire(at + 7));
        if at.is_multiple_of(4) { Gate::Xor(a, b) } else { Gate::And(a, b) }
    };
    let count = 90_000;
    circuit([3, 4, 5], (0..count).map(gate).collect(), (count..count + 12).map(Wire).collect())
}

/// The parties with these bits in a mask.
fn members(mask: u16) -> Recipients {
    Recipients::Only((0..3).filter(|party| mask >> party & 1 == 1).map(Party).collect())
}
