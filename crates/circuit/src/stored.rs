//! Circuits whose gates are not in memory: they are read in blocks, again and again, as often as they are needed.
//!
//! A pass over the blocks from the last to the first finds, for each block, the wires that later blocks read (`crossing`). With
//! that a pass from the first to the last keeps values only on wires that will still be read (`values`). Memory is that of a block,
//! of the wires that are live at once, of about three bytes for each wire that is read in another block than its own, and during the
//! first pass of two bits for each wire of a page of which such a wire is one.

mod crossing;
mod values;

use std::{fmt, sync::Arc};

use self::{crossing::Crossing, crossing::crossings};
pub(crate) use self::{
    crossing::{Block, LAST, LIVE},
    values::Values,
};
use crate::{
    deep::Deep,
    diagnostic::Diagnostic,
    encoder::{Encoder, OneComponent},
    gate::{Gate, GateCounts, Wire},
    literal::Literal,
};

/// The place of a circuit's gates.
pub trait GateBlocks: Send + Sync {
    /// Appends the gates of a block: of all blocks as many, but for the last. All reads of a block give the same gates, and no gate
    /// reads a wire that is not set before it.
    ///
    /// *Errors*: they cannot be read, or are not those of the first time.
    fn read(&self, block: usize, gates: &mut Vec<Gate>) -> Result<(), Diagnostic>;
}

/// The gates of a circuit that are not in memory, and all that is known of them.
pub struct StoredGates {
    shape: Shape,
    outputs: Vec<Wire>,
    blocks: Arc<dyn GateBlocks>,
    crossings: Vec<Crossing>,
    /// The uses of each input.
    inputs: Vec<Use>,
    encoded: Encoder,
    measured: Measured,
}

/// The numbers of a circuit's wires and gates.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Input wires.
    pub input_count: u32,
    /// Gates.
    pub gate_count: u32,
    /// The gates of each block but the last one.
    pub block_gates: u32,
}

/// The use of a wire after some point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Set if a gate reads it, or it is an output.
    pub(crate) read: bool,
    /// Set if an output depends on it.
    pub(crate) live: bool,
}

/// The results of a pass over all gates.
#[derive(Default)]
struct Measured {
    counts: GateCounts,
    /// AND gates that are garbled.
    garbled: u64,
    /// The outputs, if inputs are distinct and of depth 0.
    outputs: Vec<Deep>,
    /// The greatest depth of all wires.
    deepest: u64,
}

impl Shape {
    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.gate_count.div_ceil(self.block_gates) as usize
    }

    /// The wire of a block's first gate, and the number of its gates.
    pub fn block(&self, block: usize) -> (u32, u32) {
        let begin = block as u32 * self.block_gates;
        (self.input_count + begin, (self.gate_count - begin).min(self.block_gates))
    }
}

impl StoredGates {
    /// Reads all gates twice. `encoded` was fed all of them.
    ///
    /// `None` if a part of the circuit computes a constant from wires that are not constant, or if it has no AND gate to garble: such a
    /// circuit has to be in memory to be simplified.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn new(
        shape: Shape,
        outputs: Vec<Wire>,
        blocks: Arc<dyn GateBlocks>,
        encoded: OneComponent,
    ) -> Result<Option<Self>, Diagnostic> {
        let (crossings, inputs) = crossings(&shape, &outputs, &*blocks)?;
        let (encoded, measured) = (encoded.finish(&outputs), Measured::default());
        let gates = StoredGates { shape, outputs, blocks, crossings, inputs, encoded, measured };
        Ok(gates.measure()?.filter(|measured| measured.garbled > 0).map(|measured| StoredGates { measured, ..gates }))
    }

    /// The number of input wires.
    pub(crate) fn input_count(&self) -> u32 {
        self.shape.input_count
    }

    /// The number of gates.
    pub(crate) fn gate_count(&self) -> usize {
        self.shape.gate_count as usize
    }

    /// The output wires.
    pub(crate) fn outputs(&self) -> &[Wire] {
        &self.outputs
    }

    /// The use of each input.
    pub(crate) fn inputs(&self) -> &[Use] {
        &self.inputs
    }

    /// The beginning of the digest of a program that has no other component.
    pub(crate) fn encoded(&self) -> &Encoder {
        &self.encoded
    }

    /// The numbers of gates, and the AND depth.
    pub(crate) fn counts(&self) -> GateCounts {
        self.measured.counts
    }

    /// The number of AND gates that are garbled.
    pub fn garbled_ands(&self) -> u64 {
        self.measured.garbled
    }

    /// The outputs, if inputs are distinct and of depth 0, and the greatest depth of all wires.
    pub(crate) fn depths(&self) -> (&[Deep], u64) {
        (&self.measured.outputs, self.measured.deepest)
    }

    /// Reads all gates, in order.
    ///
    /// *Errors*: gates that cannot be read again.
    pub(crate) fn for_each(&self, mut each: impl FnMut(Gate)) -> Result<(), Diagnostic> {
        let mut gates = Vec::new();
        for block in 0..self.shape.blocks() {
            gates.clear();
            self.blocks.read(block, &mut gates)?;
            gates.iter().for_each(|gate| each(*gate));
        }
        Ok(())
    }

    /// All gates.
    ///
    /// *Errors*: gates that cannot be read again.
    pub(crate) fn all(&self) -> Result<Vec<Gate>, Diagnostic> {
        read_all(&self.shape, &*self.blocks)
    }

    /// Reads a block, and replaces the one before it; `None` if there are no more.
    ///
    /// *Errors*: gates that cannot be read again.
    pub(crate) fn block(&self, number: usize, before: Block) -> Result<Option<Block>, Diagnostic> {
        let Some(crossing) = self.crossings.get(number) else { return Ok(None) };
        let (first, _) = self.shape.block(number);
        let mut gates = before.into_gates();
        self.blocks.read(number, &mut gates)?;
        Ok(Some(Block::new(first, gates, crossing)))
    }

    /// Counts gates and depths; `None` as in [`StoredGates::new`].
    fn measure(&self) -> Result<Option<Measured>, Diagnostic> {
        let mut measured = Measured::default();
        let inputs = (0..self.shape.input_count).map(|input| (input, Deep::fresh(u64::from(input) + 1)));
        let read = inputs.zip(&self.inputs).filter(|(_, used)| used.read).map(|(input, _)| input);
        let mut wires = Values::new(read.collect());
        let mut node = 1 + u64::from(self.shape.input_count);
        let (mut block, mut number) = (Block::default(), 0);
        while let Some(next) = self.block(number, block)? {
            wires.begin(next.first);
            for (gate, marks) in next.gates() {
                let before = node;
                let wire = Deep::of_gate(gate, |wire| wires.get(wire), &mut node);
                let live = marks & LIVE != 0;
                let drops = || gate.operands().any(|operand| !wires.get(operand).literal.is_constant());
                if live && wire.literal.is_constant() && drops() {
                    return Ok(None);
                }
                measured.counts.add(gate);
                measured.garbled += u64::from(live && node > before && matches!(gate, Gate::And(..)));
                measured.deepest = measured.deepest.max(wire.depth);
                wires.push(wire);
            }
            wires.end(&next);
            (block, number) = (next, number + 1);
        }
        measured.outputs = self.outputs.iter().map(|wire| wires.get(*wire)).collect();
        measured.counts.and_depth = measured.outputs.iter().map(|wire| wire.depth).max().unwrap_or(0);
        Ok(Some(measured))
    }

    /// The literals of outputs that are inputs or their negations, by the numbers of inputs from 1 on.
    pub(crate) fn passed(&self) -> impl Iterator<Item = Literal> {
        let inputs = u64::from(self.shape.input_count);
        self.measured.outputs.iter().map(move |wire| {
            let node = wire.literal.number().min(inputs + 1) as u32;
            Literal::of(node).invert_if(wire.literal.inverted())
        })
    }
}

/// All gates of some blocks.
///
/// *Errors*: gates that cannot be read again.
pub fn read_all(shape: &Shape, blocks: &dyn GateBlocks) -> Result<Vec<Gate>, Diagnostic> {
    let mut gates = Vec::new();
    (0..shape.blocks()).try_for_each(|block| blocks.read(block, &mut gates))?;
    Ok(gates)
}

/// Gates are the same if they are in the same place.
impl PartialEq for StoredGates {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for StoredGates {}

impl fmt::Debug for StoredGates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredGates").field("shape", &self.shape).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
