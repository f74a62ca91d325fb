//! Parties in one process, over real and ideal garbling.

mod cost;
mod equals;
mod faults;
mod ideal;
mod insiders;
mod insiders_half_gates;
mod misuse;
mod recipients;
mod silent;
mod tables;
mod views;

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_net::Mesh;
use garblet_primitives::{Block, Prg};

use super::{BmrParty, Config, Form, Garbling, Hash, Optimisations, Plan, Prepared, communication};
use garblet_protocol::{MeshSession, PhaseCosts, ProtocolError};
use garblet_runs::{
    joint::JointParty,
    testing::mesh_run::{self, Outputs, TIMEOUT, block_on, hello, own_inputs, run},
};

pub(super) const PUBLISHED: Form = Form::Published(Optimisations::BothWays);

pub(super) const LINEAR: (Garbling, Form) = (Garbling::Ot, Form::Linear);
pub(super) const HALF_GATES: (Garbling, Form) = (Garbling::Ot, Form::HalfGates);

/// Every protocol with every form that it has.
pub(super) const KINDS: [(Garbling, Form); 11] = [
    (Garbling::Ot, Form::Linear),
    (Garbling::Ot, PUBLISHED),
    (Garbling::Bgw4, PUBLISHED),
    (Garbling::Bgw3, Form::Linear),
    (Garbling::Bgw3, PUBLISHED),
    (Garbling::Bgw2, Form::Linear),
    (Garbling::Bgw2, PUBLISHED),
    (Garbling::Ot, Form::Published(Optimisations::Correlated)),
    (Garbling::Ot, Form::Published(Optimisations::ThreeStrings)),
    (Garbling::Ot, Form::Published(Optimisations::Basic)),
    HALF_GATES,
];

/// A run up to the finished garbled circuit.
pub(super) struct Garbled {
    pub(super) session: MeshSession,
    pub(super) prepared: Prepared,
}

/// Sets up and garbles, all parties at once.
pub(super) fn garble(plan: &Arc<Plan>, seed: u64) -> Vec<Garbled> {
    let part = async |mesh: Mesh| {
        let (party, count) = (mesh.party(), mesh.party_count());
        let rng = Prg::new(Block::from_halves(seed, party.into()));
        let mut session = MeshSession::join(mesh, rng, &hello(party, count), Box::new(())).await?;
        let mut party = BmrParty::setup(&mut session, plan.clone()).await?;
        let prepared = party.prepare(&mut session).await?;
        Ok::<_, ProtocolError>(Garbled { session, prepared })
    };
    let all = block_on(futures_util::future::join_all(Mesh::memory(plan.parties()).into_iter().map(part)));
    all.into_iter().map(|garbled| garbled.expect("honest parties")).collect()
}

/// A party's outputs and costs.
pub(super) type Learned = (Outputs, PhaseCosts);

/// Evaluates the garbled circuits.
pub(super) fn evaluate(plan: &Plan, garbled: Vec<Garbled>, inputs: &[Bits]) -> Vec<Learned> {
    let one = async |Garbled { mut session, prepared }: Garbled| {
        let own = own_inputs(plan.program(), session.mesh().party(), inputs);
        let outputs = BmrParty::online(prepared, plan, &mut session, &own).await?;
        let costs = session.costs();
        session.close().await?;
        Ok::<_, ProtocolError>((outputs, costs))
    };
    let all = block_on(futures_util::future::join_all(garbled.into_iter().map(one)));
    all.into_iter().map(|learned| learned.expect("honest parties")).collect()
}

/// Bytes of labels that a party sends a recipient.
pub(super) fn label_bytes(plan: &Plan, to: Party) -> usize {
    let takes_labels = plan.form() != Form::HalfGates || to == plan.evaluator();
    if takes_labels { 16 * plan.input_count() } else { 0 }
}

/// A plan, or what is wrong with it.
pub(super) fn plan(program: &Program, parties: u16, config: Config) -> Result<Arc<Plan>, ProtocolError> {
    Plan::new(Arc::new(program.clone()), parties, config).map(Arc::new)
}

/// The parameters of a kind with a hash.
pub(super) fn config((garbling, form): (Garbling, Form), hash: Hash) -> Config {
    Config { form, hash, ..Config::of(garbling) }
}
