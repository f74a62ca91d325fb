//! A party's shares of the masks of all wires that matter: operands of gates, and outputs.

use garblet_circuit::{OutputWire, Party};
use garblet_garble::joint::{AndGates, Gate, Quad, walk};
use garblet_primitives::{Backend, Block, Engine, QUAD_LANES};
use zeroize::Zeroizing;

use super::{plan::Plan, shares::Shares};

/// The masks of all wires at the end.
pub(super) struct Masks {
    /// The values that all slots of the schedule carry after the last gate: a share for every party, and the zero label.
    wires: Zeroizing<Vec<Quad>>,
    width: usize,
}

/// Blocks of wires that are wiped on drop: a garbler's zero labels, or shares of masks.
pub(super) type Labels = Zeroizing<Vec<Block>>;

impl Masks {
    /// Follows the wires of a plan from a party's shares of the masks of base wires. Returns those of the first operands of all gates and of the second, too.
    pub(super) fn of(plan: &Plan, masks: &Shares, labels: &[Block]) -> ([Shares; 2], Self) {
        let parties = usize::from(plan.parties());
        let width = (parties + 1).div_ceil(QUAD_LANES);
        let mut inputs = vec![[Block::ZERO; QUAD_LANES]; width * plan.input_count()];
        for (at, quads) in inputs.chunks_exact_mut(width).enumerate() {
            put(quads.as_flattened_mut(), masks, labels, at);
        }
        let [left, right] = [(); 2].map(|()| Shares::with_room(plan.parties(), plan.and_count()));
        let mut operands = Operands { masks, labels, inputs: plan.input_count(), left, right };
        let wires = walk(Backend::detect(), plan.schedule(), width, inputs, &mut operands);
        ([operands.left, operands.right], Masks { wires, width })
    }

    /// The shares of the masks of the outputs that a party learns, for the difference of `of`.
    pub(super) fn of_outputs(&self, plan: &Plan, learns: Party, of: Party) -> Labels {
        self.lane(plan, learns, usize::from(of.0))
    }

    /// The zero labels of the outputs that a party learns.
    pub(super) fn output_labels(&self, plan: &Plan, learns: Party) -> Labels {
        self.lane(plan, learns, usize::from(plan.parties()))
    }

    fn lane(&self, plan: &Plan, learns: Party, lane: usize) -> Labels {
        Zeroizing::new(lane_of(&self.wires, self.width, lane, plan.outputs_of(learns)).collect())
    }
}

/// One lane of output wires; zero for constants.
pub(super) fn lane_of<'a>(
    wires: &'a [Quad],
    width: usize,
    lane: usize,
    outputs: impl Iterator<Item = OutputWire> + 'a,
) -> impl Iterator<Item = Block> + 'a {
    outputs.map(move |output| match output {
        OutputWire::Constant(_) => Block::ZERO,
        OutputWire::Slot(operand) => wires[operand.slot() * width..][..width].as_flattened()[lane],
    })
}

/// Writes the values that a base wire carries.
fn put(lanes: &mut [Block], masks: &Shares, labels: &[Block], at: usize) {
    for (lane, column) in lanes.iter_mut().zip(masks.columns()) {
        *lane = column[at];
    }
    lanes[masks.columns().len()] = labels.get(at).copied().unwrap_or_default();
}

struct Operands<'a> {
    masks: &'a Shares,
    labels: &'a [Block],
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
        put(out.as_flattened_mut(), self.masks, self.labels, self.inputs + gate.index);
    }
}
