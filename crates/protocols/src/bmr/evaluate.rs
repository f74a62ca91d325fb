//! Local evaluation of the joint garbled circuit.
//!
//! *Source*: Figure 3, step 2. A wire carries the active labels of all parties, one after another; bit 0 of any of them is
//! the wire's public value, since bit 0 of a label for the public value 0 is clear and bit 0 of an offset is set. Of a gate's
//! rows one is read. *Cost*: `n^2` hash calls per AND gate.

use garblet_circuit::OutputWire;
use garblet_primitives::{Backend, Block, Engine, JointAes256, JointFixedKey, JointHash, JointRekeyed, LANES};

use super::{
    config::Hash,
    plan::Plan,
    rows::{Keys, Numbered},
    wires::{AndGates, Gate, Quad, walk},
};

/// The public values of wires that all parties' labels agree about.
///
/// *Unique*: only [`public_values`] makes it, which checks that.
pub(super) struct PublicValues(pub(super) Vec<bool>);

/// Evaluates a circuit. Returns what all slots carry at the end.
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
        Hash::Rekeyed => evaluate_by::<JointRekeyed>(plan, numbered, inputs, rows, backend),
        Hash::FixedKey => evaluate_by::<JointFixedKey>(plan, numbered, inputs, rows, backend),
        Hash::Aes256 => evaluate_by::<JointAes256>(plan, numbered, inputs, rows, backend),
    }
}

/// The public values of output wires after the evaluation: a value, perhaps inverted, that the labels of all parties
/// show alike. Of constants it is 0.
///
/// *Errors*: the first of the wires about which they do not agree; then the circuit or the labels are not what they should be.
pub(super) fn public_values(
    plan: &Plan,
    slots: &[Quad],
    wires: impl Iterator<Item = OutputWire>,
) -> Result<PublicValues, usize> {
    let parties = usize::from(plan.parties());
    let width = parties.div_ceil(LANES);
    let value = |(at, wire): (usize, OutputWire)| match wire {
        OutputWire::Constant(_) => Ok(false),
        OutputWire::Slot(operand) => {
            let labels = &slots[operand.slot() * width..][..width].as_flattened()[..parties];
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
    let width = parties.div_ceil(LANES);
    let mut padded = vec![[Block::ZERO; LANES]; width * plan.input_count()];
    for (to, labels) in padded.chunks_exact_mut(width).zip(inputs.chunks_exact(parties)) {
        to.as_flattened_mut()[..parties].copy_from_slice(labels);
    }
    let mut active = Active::<H> { numbered, parties, rows, hash: std::marker::PhantomData };
    walk(backend, plan.schedule(), width, padded, &mut active)
}

struct Active<'a, H> {
    numbered: Numbered,
    parties: usize,
    rows: &'a [Block],
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
}

/// Loads the slots of a row. Whole vectors where there are blocks behind the row: lanes that no party has are never read.
#[inline(always)]
fn load_row(rows: &[Block], parties: usize, out: &mut [Quad]) {
    match rows.get(..LANES * out.len()) {
        Some(blocks) => out.copy_from_slice(blocks.as_chunks().0),
        None => out.as_flattened_mut()[..parties].copy_from_slice(&rows[..parties]),
    }
}
