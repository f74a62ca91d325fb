//! Local evaluation of the joint garbled circuit.
//!
//! *Source*: Figure 3, step 2. A wire carries the active labels of all parties, one after another; bit 0 of any of them is
//! the wire's public value, since bit 0 of a label for the public value 0 is clear and bit 0 of a delta is set. One row
//! of each gate is read. *Cost*: `n^2` hash calls per AND gate.

use garblet_circuit::{AndOp, OutputWire};
use garblet_garble::joint::{AndGates, Gate, Layer, Quad, Wires, walk};
use garblet_primitives::{Backend, Block, Engine, FixedKey, JointAes256, JointHash, JointRows, QUAD_LANES, Rekeyed};

use super::{
    config::Hash,
    plan::Plan,
    rows::{Keys, Numbered},
};

/// The public values of wires on which all parties' labels agree.
///
/// *Unique*: only [`public_values`], which checks this, makes it.
pub(super) struct PublicValues(pub(super) Vec<bool>);

/// Evaluates a circuit. Returns the labels of all slots at the end.
///
/// *Shape*: `inputs` has the active labels of all parties for the first input wire, then for the next; `rows` has
/// [`Plan::row_blocks`] blocks.
pub(super) fn evaluate(
    plan: &Plan,
    numbered: Numbered,
    inputs: &[Block],
    rows: &[Block],
    backend: Backend,
) -> Vec<Quad> {
    match plan.config().hash {
        Hash::Rekeyed => evaluate_by::<Rekeyed>(plan, numbered, inputs, rows, backend),
        Hash::FixedKey => evaluate_by::<FixedKey>(plan, numbered, inputs, rows, backend),
        Hash::Aes256 => evaluate_by::<JointAes256>(plan, numbered, inputs, rows, backend),
    }
}

/// The public values of output wires after the evaluation: the value, perhaps inverted, that the
/// labels of all parties show. Constants have 0.
///
/// *Errors*: the first wire on which they disagree, which means that the circuit or the labels are wrong.
pub(super) fn public_values(
    plan: &Plan,
    slots: &[Quad],
    wires: impl Iterator<Item = OutputWire>,
) -> Result<PublicValues, usize> {
    let labels = plan.slots();
    let width = labels.div_ceil(QUAD_LANES);
    let value = |(at, wire): (usize, OutputWire)| match wire {
        OutputWire::Constant(_) => Ok(false),
        OutputWire::Slot(operand) => {
            let labels = &slots[operand.slot() * width..][..width].as_flattened()[..labels];
            let value = labels[0].lsb();
            if labels.iter().all(|label| label.lsb() == value) { Ok(value) } else { Err(at) }
        }
    };
    wires.enumerate().map(value).collect::<Result<_, _>>().map(PublicValues)
}

fn evaluate_by<H: JointHash>(
    plan: &Plan,
    numbered: Numbered,
    inputs: &[Block],
    rows: &[Block],
    backend: Backend,
) -> Vec<Quad> {
    let parties = usize::from(plan.parties());
    let width = parties.div_ceil(QUAD_LANES);
    let mut padded = vec![[Block::ZERO; QUAD_LANES]; width * plan.input_count()];
    for (to, labels) in padded.chunks_exact_mut(width).zip(inputs.chunks_exact(parties)) {
        to.as_flattened_mut()[..parties].copy_from_slice(labels);
    }
    let masks = vec![[Block::ZERO; QUAD_LANES]; parties];
    let mut active = Active::<H> { numbered, parties, rows, masks, hash: std::marker::PhantomData };
    // The evaluator may see these.
    std::mem::take(&mut *walk(backend, plan.schedule(), width, padded, &mut active))
}

struct Active<'a, H> {
    numbered: Numbered,
    parties: usize,
    rows: &'a [Block],
    /// Room for the masks of four rows.
    masks: Vec<Quad>,
    hash: std::marker::PhantomData<H>,
}

impl<H: JointHash> AndGates for Active<'_, H> {
    type State<E: Engine> = Keys<H::Key<E>>;

    #[inline(always)]
    fn begin<E: Engine>(&self, e: E) -> Self::State<E> {
        Keys::of::<E, H>(e, self.numbered, self.parties)
    }

    #[inline(always)]
    fn and<E: Engine>(&mut self, e: E, keys: &mut Self::State<E>, gate: Gate<'_>, out: &mut [Quad]) {
        let (first_row, key) = keys.of_gate::<E, H>(e, gate.index);
        let row = 2 * usize::from(gate.a[0][0].lsb()) + usize::from(gate.b[0][0].lsb());
        let at = self.parties * (4 * gate.index + row);
        load_row(&self.rows[at..], self.parties, out);
        H::add_masks(e, key, first_row + row as u64, self.parties, gate.a, gate.b, out);
    }

    /// Takes four gates side by side where one key serves all four, so every lane is in use whatever the number of parties.
    #[inline(always)]
    fn layer<E: Engine>(&mut self, e: E, keys: &mut Self::State<E>, layer: Layer<'_>, wires: &mut Wires<'_>) {
        let Layer { mut first, mut ops } = layer;
        while let Some(op) = ops.first() {
            let four = ops.first_chunk().and_then(|four| Some((four, keys.of_four::<E, H>(e, first)?)));
            let done = match four {
                Some((four, (first_row, key))) => {
                    self.four(e, key, first_row, first, four, wires);
                    QUAD_LANES
                }
                None => {
                    let (gate, out) = wires.gate(first, op);
                    self.and(e, keys, gate, out);
                    1
                }
            };
            first += done;
            ops = &ops[done..];
        }
    }
}

impl<H: JointHash> Active<'_, H> {
    #[inline(always)]
    fn four<E: Engine>(
        &mut self,
        e: E,
        key: &H::Key<E>,
        first_row: u64,
        first: usize,
        ops: &[AndOp; QUAD_LANES],
        wires: &mut Wires<'_>,
    ) {
        let blocks = QUAD_LANES * wires.width;
        let labels = wires.slots.as_flattened_mut();
        let [u, v] = [ops.map(|op| op.a.slot() * blocks), ops.map(|op| op.b.slot() * blocks)];
        // Row `2 alpha + beta` of each gate, counted from the first row of the circuit.
        let rows: [usize; QUAD_LANES] = std::array::from_fn(
            #[inline(always)]
            |g| 4 * g + 2 * usize::from(labels[u[g]].lsb()) + usize::from(labels[v[g]].lsb()),
        );
        let numbers = rows.map(|row| first_row + row as u64);
        H::quad_masks(e, key, &JointRows { rows: numbers, labels, u, v }, &mut self.masks);
        for g in 0..QUAD_LANES {
            let out = &mut labels[ops[g].out as usize * blocks..][..self.parties];
            let row = &self.rows[self.parties * (4 * first + rows[g])..][..self.parties];
            for ((out, row), mask) in out.iter_mut().zip(row).zip(&self.masks) {
                *out = *row ^ mask[g];
            }
        }
    }
}

/// Loads the slots of a row, as whole vectors where blocks follow the row: lanes beyond the parties are never used.
#[inline(always)]
fn load_row(rows: &[Block], parties: usize, out: &mut [Quad]) {
    match rows.get(..QUAD_LANES * out.len()) {
        Some(blocks) => out.copy_from_slice(blocks.as_chunks().0),
        None => out.as_flattened_mut()[..parties].copy_from_slice(&rows[..parties]),
    }
}
