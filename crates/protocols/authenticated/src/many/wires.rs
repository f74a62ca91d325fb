//! A party's shares of the masks of all wires that matter: operands of gates, and outputs.

use garblet_circuit::Party;
use garblet_garble::joint::{AndGates, Gate, Quad, Walk};
use garblet_primitives::{Block, Engine, QUAD_LANES};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{
    plan::Plan,
    shares::{Shares, add_public},
};

/// The shares of the masks of outputs.
pub(super) struct Masks {
    /// Of the outputs that each party learns, for that party's difference.
    of_outputs: Vec<Labels>,
    /// This party's zero labels of the outputs that it learns itself.
    labels: Labels,
    /// The wires of kept outputs. The evaluator has no labels of them yet.
    pub(super) kept: KeptWires,
}

/// A party's part of wires that stay: shares of their masks, and a garbler's zero labels, or the active labels of all garblers.
///
/// An output that is a constant, or the negation of a wire, is kept with another mask.
#[derive(Default, Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(super) struct KeptWires {
    pub(super) shares: Shares,
    /// Of the garbler, or of each garbler, the labels of all bits.
    pub(super) labels: Vec<Vec<Block>>,
}

impl KeptWires {
    /// The number of bits.
    pub(super) fn len(&self) -> usize {
        self.shares.len()
    }

    /// Tells whether these are this many bits, as a party of a plan keeps them.
    pub(super) fn is_of(&self, bits: usize, plan: &Plan, own: Party) -> bool {
        let labels = if plan.slot(own).is_some() { 1 } else { plan.garbler_count() };
        let columns = self.shares.columns();
        columns.len() == usize::from(plan.parties())
            && self.labels.len() == labels
            && columns.iter().chain(&self.labels).all(|blocks| blocks.len() == bits)
    }

    /// Appends wires of the same party.
    pub(super) fn append(&mut self, mut others: KeptWires) {
        if self.shares.columns().is_empty() {
            *self = others;
            return;
        }
        let all = self.shares.columns_mut().iter_mut().chain(&mut self.labels);
        for (to, from) in all.zip(others.shares.columns_mut().iter_mut().chain(&mut others.labels)) {
            let mut both = Vec::with_capacity(to.len() + from.len());
            both.extend(to.iter().chain(from.iter()));
            std::mem::replace(to, both).zeroize();
        }
    }

    /// Takes the first bits.
    pub(super) fn split_front(&mut self, count: usize) -> Self {
        let first = |blocks: &mut Vec<Block>| {
            let (front, rest) = (blocks[..count].to_vec(), blocks[count..].to_vec());
            std::mem::replace(blocks, rest).zeroize();
            front
        };
        let shares = Shares::of(self.shares.columns_mut().iter_mut().map(first).collect());
        KeptWires { shares, labels: self.labels.iter_mut().map(first).collect() }
    }
}

/// Blocks of wires that are wiped on drop: a garbler's zero labels, or shares of masks.
pub(super) type Labels = Zeroizing<Vec<Block>>;

/// A party's walk along the wires of a run, which carry its shares of their masks, and a garbler's zero labels.
pub(super) struct Wiring<'p> {
    plan: &'p Plan,
    own: Party,
    delta: Block,
    walk: Walk<'p>,
}

impl<'p> Wiring<'p> {
    /// Begins with party `own`'s shares of the masks of input bits, and a garbler's zero labels of them.
    pub(super) fn new(plan: &'p Plan, (own, delta): (Party, Block), masks: &Shares, labels: Option<&[Block]>) -> Self {
        let columns: Vec<&[Block]> = masks.columns().iter().map(|column| &column[..]).chain(labels).collect();
        let mut negation = vec![Block::ZERO; masks.columns().len()];
        negation.extend(labels.map(|_| zero_label_negation(delta)));
        let walk = plan.walk(lanes(plan.input_count(), &columns), &negation);
        Wiring { plan, own, delta, walk }
    }

    /// Follows the wires along the next gates, whose results have these masks and labels. Returns the shares of the masks of the first operands of all gates and of the
    /// second.
    pub(super) fn advance(&mut self, masks: &Shares, labels: Option<&[Block]>) -> [Shares; 2] {
        let gates = masks.len();
        let columns: Vec<&[Block]> = masks.columns().iter().map(|column| &column[..]).chain(labels).collect();
        let [left, right] = [(); 2].map(|()| Shares::with_room(self.plan.parties(), gates));
        let mut operands = Operands { columns, first: self.walk.done(), left, right };
        self.walk.advance(gates, &mut operands);
        [operands.left, operands.right]
    }

    /// The shares of the masks of outputs, after the last gate.
    pub(super) fn finish(self) -> Masks {
        let Wiring { plan, own, delta, walk } = self;
        let (parties, garbles) = (usize::from(plan.parties()), plan.slot(own).is_some());
        let width = (parties + usize::from(garbles)).div_ceil(QUAD_LANES);
        let outputs = walk.into_outputs();
        let lane = |learns: Party, lane: usize| lane_of(plan, (&outputs, width), lane, learns);
        let of_outputs = (0..plan.parties()).map(|party| lane(Party(party), usize::from(party))).collect();
        let mut shares = Shares::of((0..parties).map(|lane| kept_lane(plan, (&outputs, width), lane)).collect());
        let changed: Vec<bool> = plan.kept_bits().map(|bit| plan.is_negated(bit)).collect();
        add_public(shares.columns_mut(), own, delta, 0..changed.len(), |at| changed[at]);
        let of_kept = garbles.then(|| kept_lane(plan, (&outputs, width), parties));
        let kept = KeptWires { shares, labels: of_kept.into_iter().collect() };
        let labels = if garbles { lane(own, parties) } else { Labels::default() };
        Masks { of_outputs, labels, kept }
    }
}

/// The block that a negation adds to a zero label: bit 0 of an active label is the masked value.
pub(super) fn zero_label_negation(delta: Block) -> Block {
    delta ^ Block::from_u128(1)
}

impl Masks {
    /// The shares of the masks of the outputs that a party learns, for that party's difference.
    pub(super) fn of_outputs(&self, learns: Party) -> impl ExactSizeIterator<Item = Block> + Clone + '_ {
        self.of_outputs[usize::from(learns.0)].iter().copied()
    }

    /// The zero labels of the outputs that this party learns.
    pub(super) fn output_labels(&self) -> &[Block] {
        &self.labels
    }
}

/// One lane of the output bits that a party learns.
pub(super) fn lane_of(plan: &Plan, (outputs, width): (&[Quad], usize), lane: usize, learns: Party) -> Labels {
    let mut blocks = Zeroizing::new(Vec::with_capacity(plan.output_bits(learns)));
    blocks.extend(plan.outputs_of(learns).map(|bit| outputs[bit * width..][..width].as_flattened()[lane]));
    blocks
}

/// One lane of the output bits that are kept.
pub(super) fn kept_lane(plan: &Plan, (outputs, width): (&[Quad], usize), lane: usize) -> Vec<Block> {
    let mut blocks = Vec::with_capacity(plan.kept_bits().count());
    blocks.extend(plan.kept_bits().map(|bit| outputs[bit * width..][..width].as_flattened()[lane]));
    blocks
}

/// The first `count` input bits: their wires carry the values in these columns, one in each lane.
pub(super) fn lanes(count: usize, columns: &[&[Block]]) -> Vec<Quad> {
    let width = columns.len().div_ceil(QUAD_LANES);
    let mut wires = vec![[Block::ZERO; QUAD_LANES]; width * count];
    wires.chunks_exact_mut(width).enumerate().for_each(|(at, wire)| put(wire, columns, at));
    wires
}

/// Writes what wire `at` carries.
fn put(wire: &mut [Quad], columns: &[&[Block]], at: usize) {
    wire.as_flattened_mut().iter_mut().zip(columns).for_each(|(lane, column)| *lane = column[at]);
}

struct Operands<'a> {
    /// The shares of the masks of the results of gates, and a garbler's zero labels.
    columns: Vec<&'a [Block]>,
    /// The gate to which the first of them belong.
    first: usize,
    left: Shares,
    right: Shares,
}

impl AndGates for Operands<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    #[inline(always)]
    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
        for (operand, to) in [(gate.a, &mut self.left), (gate.b, &mut self.right)] {
            let lanes = operand.as_flattened().iter().zip(to.columns_mut());
            lanes.for_each(|(block, column)| column.push(*block));
        }
        put(out, &self.columns, gate.index - self.first);
    }
}
