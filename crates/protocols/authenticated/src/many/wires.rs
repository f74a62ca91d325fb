//! A party's shares of the masks of all wires that matter: operands of gates, and outputs.

use garblet_circuit::{OutputWire, Party};
use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_primitives::{Backend, Block, Engine, QUAD_LANES};
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

impl Masks {
    /// Follows the wires of a plan from party `own`'s shares of the masks of base wires, and a garbler's zero labels of them. Returns the shares of the masks of
    /// the first operands of all gates and of the second, too.
    pub(super) fn of(
        plan: &Plan,
        (own, delta): (Party, Block),
        masks: &Shares,
        labels: Option<&[Block]>,
    ) -> ([Shares; 2], Self) {
        let parties = usize::from(plan.parties());
        let columns: Vec<&[Block]> = masks.columns().iter().map(|column| &column[..]).chain(labels).collect();
        let inputs = lanes(plan.input_count(), &columns);
        let width = columns.len().div_ceil(QUAD_LANES);
        let [left, right] = [(); 2].map(|()| Shares::with_room(plan.parties(), plan.and_count()));
        let mut operands = Operands { columns, inputs: plan.input_count(), left, right };
        let wires = walk(Backend::detect(), plan.schedule(), width, inputs, &mut operands);
        let lane = |learns: Party, lane: usize| lane_of(plan, (&wires, width), lane, learns);
        let of_outputs = (0..plan.parties()).map(|party| lane(Party(party), usize::from(party))).collect();
        let mut shares = Shares::of((0..parties).map(|lane| kept_lane(plan, (&wires, width), lane)).collect());
        let changed: Vec<bool> = plan.kept_wires().map(value_without_mask).collect();
        add_public(shares.columns_mut(), own, delta, 0..changed.len(), |at| changed[at]);
        let of_kept = labels.map(|_| kept_lane(plan, (&wires, width), parties));
        let kept = KeptWires { shares, labels: of_kept.into_iter().collect() };
        let labels = labels.map_or_else(Labels::default, |_| lane(own, parties));
        ([operands.left, operands.right], Masks { of_outputs, labels, kept })
    }

    /// The shares of the masks of the outputs that a party learns, for that party's difference.
    pub(super) fn of_outputs(&self, learns: Party) -> impl ExactSizeIterator<Item = Block> + Clone + '_ {
        self.of_outputs[usize::from(learns.0)].iter().copied()
    }

    /// The zero labels of the outputs that this party learns.
    pub(super) fn output_labels(&self) -> &[Block] {
        &self.labels
    }
}

/// One lane of the wires that a party learns; zero for constants.
pub(super) fn lane_of(plan: &Plan, (wires, width): (&[Quad], usize), lane: usize, learns: Party) -> Labels {
    let mut blocks = Zeroizing::new(Vec::with_capacity(plan.output_bits(learns)));
    blocks.extend(plan.outputs_of(learns).map(|output| match output {
        OutputWire::Constant(_) => Block::ZERO,
        OutputWire::Slot(operand) => wires[operand.slot() * width..][..width].as_flattened()[lane],
    }));
    blocks
}

/// One lane of the wires that are kept; zero for constants.
pub(super) fn kept_lane(plan: &Plan, (wires, width): (&[Quad], usize), lane: usize) -> Vec<Block> {
    let blocks = plan.kept_wires().map(|output| match output {
        OutputWire::Constant(_) => Block::ZERO,
        OutputWire::Slot(operand) => wires[operand.slot() * width..][..width].as_flattened()[lane],
    });
    let mut lane = Vec::with_capacity(plan.kept_wires().count());
    lane.extend(blocks);
    lane
}

/// The value of an output if the values of all wires were zero.
fn value_without_mask(output: OutputWire) -> bool {
    match output {
        OutputWire::Constant(value) => value,
        OutputWire::Slot(operand) => operand.inverted(),
    }
}

/// The first `count` base wires: they carry the values in these columns, one in each lane.
pub(super) fn lanes(count: usize, columns: &[&[Block]]) -> Vec<Quad> {
    let width = columns.len().div_ceil(QUAD_LANES);
    let mut wires = vec![[Block::ZERO; QUAD_LANES]; width * count];
    wires.chunks_exact_mut(width).enumerate().for_each(|(at, wire)| put(wire, columns, at));
    wires
}

/// Writes what base wire `at` carries.
fn put(wire: &mut [Quad], columns: &[&[Block]], at: usize) {
    wire.as_flattened_mut().iter_mut().zip(columns).for_each(|(lane, column)| *lane = column[at]);
}

struct Operands<'a> {
    /// The shares of the masks of base wires, and a garbler's zero labels.
    columns: Vec<&'a [Block]>,
    inputs: usize,
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
        put(out, &self.columns, self.inputs + gate.index);
    }
}
