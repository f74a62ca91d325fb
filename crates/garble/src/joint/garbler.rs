//! One garbler's part of the tables for all slots.

use garblet_circuit::Schedule;
use garblet_primitives::{Backend, Block, Delta, Engine, GateHash, QUAD_LANES, Rekeyed, each};

use super::{
    GateShares, TABLE,
    keys::Keys,
    program::Walk,
    wires::{AndGates, Gate, Quad, walk},
};
use crate::masked::NEGATION;

/// The secrets of one garbler at gates.
///
/// *Secret*: all but the seed and the slot.
pub struct GarblerPart<'a> {
    /// The public seed of this garbler's hash keys. *Unique*: it serves one circuit.
    pub hash_seed: Block,
    /// This garbler's delta.
    pub delta: &'a Delta,
    /// This garbler's slot.
    pub own: usize,
    /// The zero labels of gates, bit 0 clear; none if they come from the tables, as they can if nobody else garbles.
    pub labels: Option<&'a [Block]>,
    /// The shares of every slot.
    pub shares: Vec<GateShares<'a>>,
}

/// One garbler's part of the tables for every slot, three blocks for each gate.
///
/// If labels come from the tables, each third block of the own slot is its bit 0.
///
/// *Shape*: `inputs` has for every input wire as many vectors as hold the shares of `lambda delta^j` of all slots and then the zero label. *Cost*: four
/// hash calls per gate and slot.
///
/// # Panics
/// If the shape is wrong.
pub fn garble(backend: Backend, schedule: &Schedule, part: GarblerPart<'_>, inputs: Vec<Quad>) -> Vec<Vec<Block>> {
    let width = (part.shares.len() + 1).div_ceil(QUAD_LANES);
    let seeds = [part.hash_seed];
    let mut garbling = Garbling::new((0, schedule.ands().len()), &seeds, part);
    walk(backend, schedule, width, inputs, &mut garbling);
    garbling.tables
}

/// The same for the next gates alone. All parts of one garbler have the same seed, delta and slots.
///
/// *Shape*: `part` has shares and labels of these gates.
///
/// # Panics
/// If the shape is wrong, or fewer gates are left.
pub fn garble_lot(walk: &mut Walk<'_>, gates: usize, part: GarblerPart<'_>) -> Vec<Vec<Block>> {
    let seeds = [part.hash_seed];
    let mut garbling = Garbling::new((walk.done(), gates), &seeds, part);
    walk.advance(gates, &mut garbling);
    garbling.tables
}

/// Wires that carry the shares of `lambda delta^j` by slot, then this garbler's zero label.
struct Garbling<'a> {
    seeds: &'a [Block],
    part: GarblerPart<'a>,
    /// The gate to which the first of the shares belong.
    first: usize,
    tables: Vec<Vec<Block>>,
}

impl<'a> Garbling<'a> {
    fn new((first, gates): (usize, usize), seeds: &'a [Block], part: GarblerPart<'a>) -> Self {
        assert!(part.shares.iter().flatten().all(|shares| shares.len() == gates), "shares of gates");
        assert!(part.labels.is_none_or(|labels| labels.len() == gates), "labels of gates");
        let tables = vec![vec![Block::ZERO; TABLE * gates]; part.shares.len()];
        Garbling { seeds, part, first, tables }
    }
}

impl<'a> AndGates for Garbling<'a> {
    type State<E: Engine> = Keys<'a, E>;

    #[inline(always)]
    fn begin<E: Engine>(&self, e: E) -> Keys<'a, E> {
        Keys::new(e, self.seeds, self.part.shares.len())
    }

    #[inline(always)]
    fn and<E: Engine>(&mut self, e: E, keys: &mut Keys<'a, E>, gate: Gate<'_>, out: &mut [Quad]) {
        let Garbling { part, first: first_gate, tables, .. } = self;
        let number = gate.index - *first_gate;
        let (slots, delta, at) = (part.shares.len(), part.delta.block(), TABLE * number);
        let (first, keys) = keys.of_gate(e, gate.index);
        let operands = [(gate.a, gate.inverted[0]), (gate.b, gate.inverted[1])];
        let [label_a, label_b] = each(
            operands,
            #[inline(always)]
            |(wire, inverted)| wire.as_flattened()[slots] ^ (delta ^ NEGATION) & Block::mask(inverted),
        );
        let (labels, splat_delta) = ([e.splat(label_a), e.splat(label_b)], e.splat(delta));
        let out = out.as_flattened_mut();
        for quad in 0..slots.div_ceil(QUAD_LANES) {
            let slot = quad * QUAD_LANES;
            let [[a0, a01], [b0, b01]] =
                <Rekeyed as GateHash>::hash_pairs::<E, 2>(e, &keys[0], first + slot as u64, labels, splat_delta);
            let blocks = [
                e.store(e.xor(a01, e.load(&gate.b[quad]))),
                e.store(e.xor(b01, e.load(&gate.a[quad]))),
                e.store(e.xor(a0, b0)),
            ];
            let shares = part.shares[slot..].iter().zip(&mut tables[slot..]).zip(&mut out[slot..slots]);
            for (lane, (([of_gates, of_products], table), out)) in shares.take(QUAD_LANES).enumerate() {
                *out = of_gates[number];
                let result = *out ^ of_products[number];
                let [first, second, third] = each(
                    blocks,
                    #[inline(always)]
                    |quad| quad[lane],
                );
                table[at..at + TABLE].copy_from_slice(&[first, second, third ^ result]);
            }
        }
        let [_, second, third] = &mut tables[part.own][at..at + TABLE] else { unreachable!("three blocks") };
        *second ^= label_a;
        let label = part.labels.map_or_else(|| third.with_lsb(false), |labels| labels[number]);
        *third ^= label;
        out[slots] = label;
    }
}
