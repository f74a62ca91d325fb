//! The evaluator's circuit: its own shares, to which it adds the sums of all garblers, and going through it.

use garblet_circuit::Schedule;
use garblet_primitives::{Backend, Bit, Block, Engine, GateHash, QUAD_LANES, Rekeyed, each};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    GateShares, circuit_blocks,
    keys::Keys,
    place,
    program::Walk,
    wires::{AndGates, Gate, Quad, walk},
};
use crate::masked::NEGATION;

/// Writes the evaluator's own shares as a circuit: its part of the tables for all slots.
///
/// *Shape*: `inputs` has for every input wire as many vectors as hold the shares of `lambda delta^j` of all slots; `circuit` has [`circuit_blocks`].
///
/// # Panics
/// If the shape is wrong.
pub fn own_shares(
    backend: Backend,
    schedule: &Schedule,
    shares: Vec<GateShares<'_>>,
    inputs: Vec<Quad>,
    circuit: &mut [Block],
) {
    let width = shares.len().div_ceil(QUAD_LANES);
    let mut own = Own::new(0, schedule.ands().len(), shares, circuit);
    walk(backend, schedule, width, inputs, &mut own);
}

/// The same for the next gates alone, as many as there are shares, whose circuit this is.
///
/// # Panics
/// If the shape is wrong, or fewer gates are left.
pub fn own_shares_of_lot(walk: &mut Walk<'_>, gates: usize, shares: Vec<GateShares<'_>>, circuit: &mut [Block]) {
    let mut own = Own::new(walk.done(), gates, shares, circuit);
    walk.advance(gates, &mut own);
}

/// Wires that carry the shares of `lambda delta^j` by slot.
struct Own<'a> {
    shares: Vec<GateShares<'a>>,
    /// The gate to which the first of the shares belong.
    first: usize,
    circuit: &'a mut [Block],
}

impl<'a> Own<'a> {
    fn new(first: usize, gates: usize, shares: Vec<GateShares<'a>>, circuit: &'a mut [Block]) -> Self {
        assert!(shares.iter().flatten().all(|shares| shares.len() == gates), "shares of gates");
        assert_eq!(circuit.len(), circuit_blocks(shares.len(), gates), "blocks of a circuit");
        Own { shares, first, circuit }
    }
}

impl AndGates for Own<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        let (a, b, out) = (gate.a.as_flattened(), gate.b.as_flattened(), out.as_flattened_mut());
        let (slots, number) = (self.shares.len(), gate.index - self.first);
        for (slot, [of_gates, of_products]) in self.shares.iter().enumerate() {
            out[slot] = of_gates[number];
            let table = [b[slot], a[slot], out[slot] ^ of_products[number]];
            for (block, share) in table.into_iter().enumerate() {
                self.circuit[place(slots, slot, number, block)] = share;
            }
        }
    }
}

/// The check of all gates by their tags.
///
/// *Secret*: all of it; wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct TagCheck {
    delta: Block,
    bytes: usize,
    /// The bits in which the sum of any gate was wrong.
    wrong: Block,
}

impl TagCheck {
    /// A check before the first gate, with the evaluator's difference. Tags are the top `bytes` bytes of blocks.
    ///
    /// # Panics
    /// If the tags have no bytes, or all 16: bit 0 of a share is a bit of the mask's.
    pub fn new(delta: Block, bytes: usize) -> Self {
        assert!((1..16).contains(&bytes), "tags of {bytes} bytes");
        TagCheck { delta, bytes, wrong: Block::ZERO }
    }

    /// The bits of tags in which any gate was wrong. If the block is zero, all were right.
    ///
    /// It says nothing before the last gate. *Secret*: until it is compared with zero, in constant time; only the outcome may be told.
    pub fn difference(&self) -> Block {
        self.wrong & Block::from_u128(u128::MAX << (8 * (16 - self.bytes)))
    }

    /// Checks the sum of a gate with these labels, which show the public values of the operands and the result.
    #[inline(always)]
    fn add(&mut self, sum: Block, labels: [Block; 3]) {
        let [a, b, c] = each(
            labels,
            #[inline(always)]
            |label| Bit::lowest_of(label.halves()[0]),
        );
        let wrong = sum ^ self.delta & Block::mask(a & b ^ c);
        self.wrong ^= wrong ^ self.wrong & wrong;
    }
}

/// The evaluator's record of all gates.
///
/// *Secret*: the labels; wiped on drop.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub struct Seen {
    /// The labels of every gate's result, of all garblers for the first gate, then for the next.
    pub labels: Vec<Block>,
    /// The public values of every gate's operands, inversions included.
    pub operands: Vec<[bool; 2]>,
}

impl Seen {
    /// Nothing yet, with room for a circuit.
    pub fn with_room(garblers: usize, gates: usize) -> Self {
        Seen { labels: Vec::with_capacity(garblers * gates), operands: Vec::with_capacity(gates) }
    }
}

/// Evaluates a circuit. Returns what all slots of the schedule carry at the end: the labels of all garblers, and zero for tags.
///
/// `check` is of a circuit with tags. Whatever it finds, the evaluation goes on to the last gate.
///
/// *Shape*: `seeds` are of the hash keys of all garblers; `inputs` has the active labels of all garblers for the first input wire, then for the next;
/// `circuit` has [`circuit_blocks`], of one slot more than there are garblers if there are tags. *Cost*: two hash calls per gate, slot and garbler.
///
/// # Panics
/// If the shape is wrong.
pub fn evaluate(
    backend: Backend,
    schedule: &Schedule,
    seeds: &[Block],
    inputs: &[Block],
    circuit: &[Block],
    check: Option<&mut TagCheck>,
    seen: Option<&mut Seen>,
) -> Zeroizing<Vec<Quad>> {
    let slots = seeds.len() + usize::from(check.is_some());
    let gates = schedule.ands().len();
    let inputs = lanes_of_labels((seeds.len(), slots), inputs);
    let width = slots.div_ceil(QUAD_LANES);
    walk(backend, schedule, width, inputs, &mut Active::new((0, gates), seeds, circuit, check, seen))
}

/// The values that wires carry in an evaluation, for these numbers of garblers and of slots.
///
/// *Shape*: `labels` has those of all garblers for the first wire, then for the next.
///
/// # Panics
/// If the shape is wrong.
pub fn lanes_of_labels((garblers, slots): (usize, usize), labels: &[Block]) -> Vec<Quad> {
    let width = slots.div_ceil(QUAD_LANES);
    let mut padded = vec![[Block::ZERO; QUAD_LANES]; width * (labels.len() / garblers)];
    assert_eq!(labels.len() % garblers, 0, "labels of wires");
    for (to, labels) in padded.chunks_exact_mut(width).zip(labels.chunks_exact(garblers)) {
        to.as_flattened_mut()[..garblers].copy_from_slice(labels);
    }
    padded
}

/// Evaluates the next gates, whose circuit this is, as [`evaluate`] does all.
///
/// # Panics
/// If the shape is wrong, or fewer gates are left.
pub fn evaluate_lot(
    walk: &mut Walk<'_>,
    gates: usize,
    seeds: &[Block],
    circuit: &[Block],
    check: Option<&mut TagCheck>,
    seen: Option<&mut Seen>,
) {
    let mut active = Active::new((walk.done(), gates), seeds, circuit, check, seen);
    walk.advance(gates, &mut active);
}

/// Wires that carry the active labels of all garblers, and zero for tags.
struct Active<'a> {
    seeds: &'a [Block],
    slots: usize,
    /// The first gate of the circuit.
    first: usize,
    circuit: &'a [Block],
    check: Option<&'a mut TagCheck>,
    seen: Option<&'a mut Seen>,
}

impl<'a> Active<'a> {
    fn new(
        (first, gates): (usize, usize),
        seeds: &'a [Block],
        circuit: &'a [Block],
        check: Option<&'a mut TagCheck>,
        seen: Option<&'a mut Seen>,
    ) -> Self {
        let slots = seeds.len() + usize::from(check.is_some());
        assert_eq!(circuit.len(), circuit_blocks(slots, gates), "blocks of a circuit");
        Active { seeds, slots, first, circuit, check, seen }
    }
}

impl<'a> AndGates for Active<'a> {
    type State<E: Engine> = Keys<'a, E>;

    #[inline(always)]
    fn begin<E: Engine>(&self, e: E) -> Keys<'a, E> {
        Keys::new(e, self.seeds, self.slots)
    }

    #[inline(always)]
    fn and<E: Engine>(&mut self, e: E, keys: &mut Keys<'a, E>, gate: Gate<'_>, out: &mut [Quad]) {
        let (slots, number) = (self.slots, gate.index - self.first);
        let (first, keys) = keys.of_gate(e, gate.index);
        let [negate_a, negate_b] = gate.inverted.map(|inverted| NEGATION & Block::mask(inverted));
        let [a, b] = each(
            [(gate.a, negate_a), (gate.b, negate_b)],
            #[inline(always)]
            |(wire, negate)| (wire.as_flattened(), negate),
        );
        // All labels of a wire show its public value.
        let [shown_a, shown_b] = [a.0[0] ^ a.1, b.0[0] ^ b.1];
        let [value_a, value_b] = [e.lsb(e.splat(shown_a)), e.lsb(e.splat(shown_b))];
        for (quad, out) in out.iter_mut().enumerate() {
            let slot = quad * QUAD_LANES;
            let [one, two, three] = each(
                [0, 1, 2],
                #[inline(always)]
                |block| load(e, &self.circuit[place(slots, slot, number, block)..], slots - slot),
            );
            // For tags there is no label; bit 0 does not count.
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
        if let Some(check) = &mut self.check {
            let out = out.as_flattened_mut();
            let sum = std::mem::take(&mut out[self.seeds.len()]);
            check.add(sum, [shown_a, shown_b, out[0]]);
        }
        if let Some(seen) = &mut self.seen {
            seen.labels.extend_from_slice(&out.as_flattened()[..self.seeds.len()]);
            seen.operands.push([shown_a.lsb(), shown_b.lsb()]);
        }
    }
}

/// The blocks of up to four slots. Whole vectors where there are blocks behind them: lanes that no slot has are never read.
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
