//! One garbler's part of the tables for all deltas.

use garblet_net::PerPeer;
use garblet_primitives::{Backend, Block, Engine, GateHash, QUAD_LANES, Rekeyed};

use super::{TABLE, keys::Keys};
use crate::{
    pairs::PairOts,
    plan::Plan,
    secrets::Secrets,
    shares::{of_inputs, own_gates},
    wires::{AndGates, Gate, Quad, walk},
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
    let mut shares = vec![[&own_gates[..], own_products]; slots];
    let received = plan.input_bits(secrets.party);
    for (peer, ots) in ots.iter() {
        if let Some(slot) = plan.slot(Party(peer)) {
            shares[slot] = ots.t.0[received..].split_at(plan.and_count()).into();
        }
    }
    let mut garbling = Garbling {
        delta: secrets.delta.block(),
        seeds: &[hash_seed],
        own,
        labels: (slots > 1).then_some(of_gates),
        shares,
        tables: vec![vec![Block::ZERO; TABLE * plan.and_count()]; slots],
    };
    walk(Backend::detect(), plan.schedule(), width, inputs, &mut garbling);
    garbling.tables
}

/// Wires that carry the shares of `lambda delta^j` by slot, then this garbler's zero label.
struct Garbling<'a> {
    delta: Block,
    seeds: &'a [Block],
    /// This garbler's slot.
    own: usize,
    /// The zero labels of gates; none if they come from the tables.
    labels: Option<&'a [Block]>,
    /// The shares of `lambda_c delta^j` and of `sigma delta^j` of every gate, by slot.
    shares: Vec<[&'a [Block]; 2]>,
    tables: Vec<Vec<Block>>,
}

impl<'a> AndGates for Garbling<'a> {
    type State<E: Engine> = Keys<'a, E>;

    #[inline(always)]
    fn begin<E: Engine>(&self, e: E) -> Keys<'a, E> {
        Keys::new(e, self.seeds, self.shares.len())
    }

    #[inline(always)]
    fn and<E: Engine>(&mut self, e: E, keys: &mut Keys<'a, E>, gate: Gate<'_>, out: &mut [Quad]) {
        let (slots, at) = (self.shares.len(), TABLE * gate.index);
        let (first, keys) = keys.of_gate(e, gate.index);
        let operands = [(gate.a, gate.inverted[0]), (gate.b, gate.inverted[1])];
        let [label_a, label_b] = operands.map(
            #[inline(always)]
            |(wire, inverted)| wire.as_flattened()[slots] ^ (self.delta ^ NEGATION) & Block::mask(inverted),
        );
        let (labels, delta) = ([e.splat(label_a), e.splat(label_b)], e.splat(self.delta));
        let out = out.as_flattened_mut();
        for quad in 0..slots.div_ceil(QUAD_LANES) {
            let slot = quad * QUAD_LANES;
            let [[a0, a01], [b0, b01]] =
                <Rekeyed as GateHash>::hash_pairs::<E, 2>(e, &keys[0], first + slot as u64, labels, delta);
            let blocks = [
                e.store(e.xor(a01, e.load(&gate.b[quad]))),
                e.store(e.xor(b01, e.load(&gate.a[quad]))),
                e.store(e.xor(a0, b0)),
            ];
            let shares = self.shares[slot..].iter().zip(&mut self.tables[slot..]).zip(&mut out[slot..slots]);
            for (lane, (([of_gates, of_products], table), out)) in shares.take(QUAD_LANES).enumerate() {
                *out = of_gates[gate.index];
                let result = *out ^ of_products[gate.index];
                let [first, second, third] = blocks.map(
                    #[inline(always)]
                    |quad| quad[lane],
                );
                table[at..at + TABLE].copy_from_slice(&[first, second, third ^ result]);
            }
        }
        let [_, second, third] = &mut self.tables[self.own][at..at + TABLE] else { unreachable!("three blocks") };
        *second ^= label_a;
        let label = self.labels.map_or_else(|| third.with_lsb(false), |labels| labels[gate.index]);
        *third ^= label;
        out[slots] = label;
    }
}

/// The block that turns an active label into that of the inverted wire.
pub(super) const NEGATION: Block = Block::from_u128(1);
