//! The evaluator's circuit: the sums of all garblers with its own shares, and going through it.
//!
//! A circuit begins with the seeds of the garblers' hash keys. Then every gate has the first blocks for all deltas, the second, and the third.

use garblet_net::PerPeer;
use garblet_primitives::{Backend, Block, Engine, GateHash, QUAD_LANES, Rekeyed};
use zeroize::Zeroizing;

use super::{TABLE, garbler::NEGATION, keys::Keys};
use crate::{
    pairs::PairOts,
    plan::Plan,
    secrets::Secrets,
    shares::of_inputs,
    wires::{AndGates, Gate, Quad, walk},
};

/// Blocks of a circuit.
pub(crate) fn circuit_blocks(plan: &Plan) -> usize {
    plan.slots() * (1 + TABLE * plan.and_count())
}

/// The place of a block of a gate's table for one delta.
#[inline(always)]
pub(super) fn place(slots: usize, slot: usize, gate: usize, block: usize) -> usize {
    slots * (1 + TABLE * gate + block) + slot
}

/// The evaluator's own shares, as a circuit.
pub(super) fn own_shares(plan: &Plan, secrets: &Secrets, ots: &PerPeer<PairOts>) -> Vec<Block> {
    let width = plan.slots().div_ceil(QUAD_LANES);
    let inputs = of_inputs(plan, secrets, ots, width);
    let received = plan.input_bits(secrets.party);
    // All others garble.
    let shares = ots.iter().map(|(_, ots)| ots.t.0[received..].split_at(plan.and_count()).into()).collect();
    let mut own = Own { shares, circuit: vec![Block::ZERO; circuit_blocks(plan)] };
    walk(Backend::detect(), plan.schedule(), width, inputs, &mut own);
    own.circuit
}

/// Wires that carry the shares of `lambda delta^j` by slot.
struct Own<'a> {
    /// The shares of `lambda_c delta^j` and of `sigma delta^j` of every gate, by slot.
    shares: Vec<[&'a [Block]; 2]>,
    circuit: Vec<Block>,
}

impl AndGates for Own<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let (a, b, out) = (gate.a.as_flattened(), gate.b.as_flattened(), out.as_flattened_mut());
        let slots = self.shares.len();
        for (slot, [of_gates, of_products]) in self.shares.iter().enumerate() {
            out[slot] = of_gates[gate.index];
            let table = [b[slot], a[slot], out[slot] ^ of_products[gate.index]];
            for (block, share) in table.into_iter().enumerate() {
                self.circuit[place(slots, slot, gate.index, block)] = share;
            }
        }
    }
}

/// Evaluates a circuit. Returns the labels of all slots at the end.
///
/// *Shape*: `inputs` has the active labels of all garblers for the first input wire, then for the next. *Cost*: `2 (n - 1)^2` hash calls per gate.
pub(crate) fn evaluate(plan: &Plan, inputs: &[Block], circuit: &[Block], backend: Backend) -> Zeroizing<Vec<Quad>> {
    let slots = plan.slots();
    let width = slots.div_ceil(QUAD_LANES);
    let mut padded = vec![[Block::ZERO; QUAD_LANES]; width * plan.input_count()];
    for (to, labels) in padded.chunks_exact_mut(width).zip(inputs.chunks_exact(slots)) {
        to.as_flattened_mut()[..slots].copy_from_slice(labels);
    }
    let mut active = Active { seeds: &circuit[..slots], circuit };
    walk(backend, plan.schedule(), width, padded, &mut active)
}

/// Wires that carry the active labels of all garblers.
struct Active<'a> {
    seeds: &'a [Block],
    circuit: &'a [Block],
}

impl<'a> AndGates for Active<'a> {
    type State<E: Engine> = Keys<'a, E>;

    #[inline(always)]
    fn begin<E: Engine>(&self, e: E) -> Keys<'a, E> {
        Keys::new(e, self.seeds, self.seeds.len())
    }

    #[inline(always)]
    fn and<E: Engine>(&mut self, e: E, keys: &mut Keys<'a, E>, gate: Gate<'_>, out: &mut [Quad]) {
        let slots = self.seeds.len();
        let (first, keys) = keys.of_gate(e, gate.index);
        let [negate_a, negate_b] = gate.inverted.map(|inverted| NEGATION & Block::mask(inverted));
        let [a, b] = [(gate.a, negate_a), (gate.b, negate_b)].map(
            #[inline(always)]
            |(wire, negate)| (wire.as_flattened(), negate),
        );
        // All labels of a wire show its public value.
        let [value_a, value_b] = [a, b].map(
            #[inline(always)]
            |(labels, negate)| e.lsb(e.splat(labels[0] ^ negate)),
        );
        for (quad, out) in out.iter_mut().enumerate() {
            let slot = quad * QUAD_LANES;
            let [one, two, three] = [0, 1, 2].map(
                #[inline(always)]
                |block| load(e, &self.circuit[place(slots, slot, gate.index, block)..], slots - slot),
            );
            let label_a = e.xor(e.load(&gate.a[quad]), e.splat(negate_a));
            let mut sum = e.xor_if(value_a, three, one);
            sum = e.xor_if(value_b, sum, e.xor(two, label_a));
            for (key, (label_a, label_b)) in keys.iter().zip(a.0.iter().zip(b.0)) {
                let labels = [[e.splat(*label_a ^ a.1)], [e.splat(*label_b ^ b.1)]];
                let [[of_a], [of_b]] = <Rekeyed as GateHash>::hash::<E, 2, 1>(e, key, first + slot as u64, labels);
                sum = e.xor3(sum, of_a, of_b);
            }
            *out = e.store(sum);
        }
    }
}

/// The blocks of up to four deltas. Whole vectors where there are blocks behind them: lanes that no delta has are never read.
#[inline(always)]
fn load<E: Engine>(e: E, blocks: &[Block], slots: usize) -> E::Quad {
    match blocks.first_chunk() {
        Some(quad) => e.load(quad),
        None => {
            let mut quad = [Block::ZERO; QUAD_LANES];
            quad[..slots.min(QUAD_LANES)].copy_from_slice(&blocks[..slots.min(QUAD_LANES)]);
            e.load(&quad)
        }
    }
}
