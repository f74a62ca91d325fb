//! One party's shares of `lambda_w delta^j` at inputs and gates, from the OTs of all pairs.
//!
//! The own one is `lambda^j_w delta^j` and the sum of all `q`, another's is its `t`. Party `j`'s is at [`Plan::slot`].

use garblet_garble::joint::Quad;
use garblet_net::PerPeer;
use garblet_ot::BitVec;
use garblet_primitives::{Bit, Block, QUAD_LANES};
use zeroize::Zeroizing;

use super::{linear::count, pairs::PairOts, plan::Plan, secrets::Secrets};
use garblet_circuit::Party;

/// The shares of input wires, `width` vectors for each.
pub(super) fn of_inputs(plan: &Plan, secrets: &Secrets, ots: &PerPeer<PairOts>, width: usize) -> Vec<Quad> {
    let mut inputs = vec![[Block::ZERO; QUAD_LANES]; width * plan.input_count()];
    let mut add = |at: usize, slot: usize, block| inputs[width * at..][..width].as_flattened_mut()[slot] ^= block;
    if let Some(own) = plan.slot(secrets.party) {
        for at in 0..plan.input_count() {
            add(at, own, secrets.delta.block() & Block::mask(secrets.permutation.get(at)));
        }
        for (peer, ots) in ots.iter() {
            plan.inputs_of(Party(peer)).zip(&ots.q.0).for_each(|(at, q)| add(at, own, *q));
        }
    }
    for (peer, ots) in ots.iter() {
        if let Some(slot) = plan.slot(Party(peer)) {
            plan.inputs_of(secrets.party).zip(&ots.t.0).for_each(|(at, t)| add(at, slot, *t));
        }
    }
    inputs
}

/// The share of `lambda_w delta^i` of every gate, for this party's own delta.
pub(super) fn own_gates(plan: &Plan, secrets: &Secrets, ots: &PerPeer<PairOts>) -> Zeroizing<Vec<Block>> {
    let bits = (plan.input_count()..plan.base_count()).map(|at| secrets.permutation.get(at));
    let theirs = ots.iter().map(|(peer, ots)| &ots.q.0[plan.input_bits(Party(peer))..][..plan.and_count()]);
    own_shares(secrets, bits, theirs)
}

/// The share of `lambda_u lambda_v delta^i` of every gate, once the others' choices are corrected; before, a correction adds `delta^i` to it.
pub(super) fn own_products(
    plan: &Plan,
    secrets: &Secrets,
    product: &BitVec,
    ots: &PerPeer<PairOts>,
) -> Zeroizing<Vec<Block>> {
    let theirs = ots.iter().map(|(peer, ots)| &ots.q.0[count(plan, peer).chosen..]);
    own_shares(secrets, product.iter(), theirs)
}

fn own_shares<'a>(
    secrets: &Secrets,
    bits: impl Iterator<Item = Bit>,
    theirs: impl Iterator<Item = &'a [Block]>,
) -> Zeroizing<Vec<Block>> {
    let delta = secrets.delta.block();
    let mut shares = Zeroizing::new(Vec::with_capacity(bits.size_hint().0));
    shares.extend(bits.map(|bit| delta & Block::mask(bit)));
    for q in theirs {
        shares.iter_mut().zip(q).for_each(|(sum, q)| *sum ^= *q);
    }
    shares
}
