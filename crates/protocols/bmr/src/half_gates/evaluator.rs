//! The evaluator's circuit: the sums of all garblers with its own shares, and going through it.
//!
//! A circuit begins with the seeds of the garblers' hash keys. Then come the [tables](joint) of all gates.

use garblet_garble::joint::{self, Quad};
use garblet_net::PerPeer;
use garblet_primitives::{Backend, Block, QUAD_LANES};
use zeroize::Zeroizing;

use crate::{pairs::PairOts, plan::Plan, secrets::Secrets, shares::of_inputs};

/// Blocks of a circuit.
pub(crate) fn circuit_blocks(plan: &Plan) -> usize {
    plan.slots() + joint::circuit_blocks(plan.slots(), plan.and_count())
}

/// The evaluator's own shares, as a circuit.
pub(super) fn own_shares(plan: &Plan, secrets: &Secrets, ots: &PerPeer<PairOts>) -> Vec<Block> {
    let width = plan.slots().div_ceil(QUAD_LANES);
    let inputs = of_inputs(plan, secrets, ots, width);
    let received = plan.input_bits(secrets.party);
    // All others garble.
    let shares = ots.iter().map(|(_, ots)| ots.t.0[received..].split_at(plan.and_count()).into()).collect();
    let mut circuit = vec![Block::ZERO; circuit_blocks(plan)];
    joint::own_shares(Backend::detect(), plan.schedule(), shares, inputs, &mut circuit[plan.slots()..]);
    circuit
}

/// Evaluates a circuit. Returns the labels of all slots at the end.
///
/// *Shape*: `inputs` has the active labels of all garblers for the first input wire, then for the next. *Cost*: `2 (n - 1)^2` hash calls per gate.
pub(crate) fn evaluate(plan: &Plan, inputs: &[Block], circuit: &[Block], backend: Backend) -> Zeroizing<Vec<Quad>> {
    let (seeds, tables) = circuit.split_at(plan.slots());
    joint::evaluate(backend, plan.schedule(), seeds, inputs, tables, None, None)
}
