//! One garbler's part of the tables for all deltas.

use garblet_garble::joint::{self, GarblerPart, GateShares};
use garblet_net::PerPeer;
use garblet_primitives::{Backend, Block, QUAD_LANES};

use crate::{
    pairs::PairOts,
    plan::Plan,
    secrets::Secrets,
    shares::{of_inputs, own_gates},
};
use garblet_circuit::Party;

/// This garbler's part of the tables for every delta, three blocks for each gate, with `own_products` as its own shares of `sigma delta`.
///
/// With two parties each third block is its bit 0.
///
/// *Cost*: four hash calls per gate and delta.
pub(super) fn tables(
    plan: &Plan,
    secrets: &Secrets,
    hash_seed: Block,
    ots: &PerPeer<PairOts>,
    own_products: &[Block],
) -> Vec<Vec<Block>> {
    let (slots, own) = (plan.slots(), plan.slot(secrets.party).unwrap_or_default());
    let width = (slots + 1).div_ceil(QUAD_LANES);
    let mut inputs = of_inputs(plan, secrets, ots, width);
    let (of_inputs, of_gates) = secrets.labels.0.split_at(plan.input_count());
    for (wire, label) in inputs.chunks_exact_mut(width).zip(of_inputs) {
        wire.as_flattened_mut()[slots] = *label;
    }
    let own_gates = own_gates(plan, secrets, ots);
    let mut shares: Vec<GateShares<'_>> = vec![[&own_gates[..], own_products]; slots];
    let received = plan.input_bits(secrets.party);
    for (peer, ots) in ots.iter() {
        if let Some(slot) = plan.slot(Party(peer)) {
            shares[slot] = ots.t.0[received..].split_at(plan.and_count()).into();
        }
    }
    let labels = (slots > 1).then_some(of_gates);
    let part = GarblerPart { hash_seed, delta: &secrets.delta, own, labels, shares };
    joint::garble(Backend::detect(), plan.schedule(), part, inputs)
}
