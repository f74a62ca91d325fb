//! Circuits for the schemes of 2009: gates by their tables, the encoding of the evaluator's input among them.
//!
//! Where XOR is not free, the sums of an encoding cannot be computed on labels, so they are gates, as in the paper. The circuit must be known
//! before the labels, so the matrix of random combinations follows from a public seed, [`MATRIX_SEED`]: any matrix in which every sum of
//! rows has many ones protects the evaluator, even if it is public, and this seed is as good as one that the evaluator samples.

use garblet_circuit::{CircuitError, Program, Wire};
use garblet_garble::{
    EvaluateError, HashKind,
    published::{self, Garbled, Method, PublishedConfig},
};
use garblet_primitives::Block;
use garblet_synthesis::tables::{Signal, TableBuilder, TableCircuit};
use zeroize::Zeroizing;

use crate::encoding::Encoding;
use garblet_protocol::party_io::{self, EVALUATOR, GARBLER};

/// The seed of the matrix of an encoding made of gates: a nothing-up-my-sleeve number.
pub const MATRIX_SEED: Block = Block::from_u128(0x2009);

/// The reason why a scheme of 2009 does not support a hash of gates: it only hashes with SHA-256.
pub(super) fn refused_hash(method: Method, hash: HashKind) -> Option<String> {
    let goes = [HashKind::default(), HashKind::Sha256].contains(&hash);
    (!goes).then(|| format!("the scheme {} hashes by SHA-256, not by {hash}: leave the hash out", method.name()))
}

/// A program as gates for a published scheme. Its inputs are the garbler's, then the evaluator's encoded ones.
pub struct Published {
    config: PublishedConfig,
    circuit: TableCircuit,
    /// Wires of each output of the program.
    widths: Vec<usize>,
}

impl Published {
    /// The program in the form that suits the scheme, after the sums of an encoding.
    ///
    /// *Errors*: a program too large for one circuit.
    pub fn new(program: &Program, method: Method, encoding: &Encoding) -> Result<Self, CircuitError> {
        let config = PublishedConfig::new(method);
        let form = config.form(program.flatten()?.circuit());
        let garbler = party_io::input_bits(program, GARBLER);
        let mut builder = TableBuilder::new((garbler + encoding.wires()) as u32);
        let inputs: Vec<Signal> = (0..garbler + encoding.wires()).map(|i| Signal::of(Wire(i as u32))).collect();
        let (own, encoded) = inputs.split_at(garbler);
        let sums = encoding.gates(encoded, |a, b| builder.gate(&[a, b], 0b0110));
        let (mut own, mut sums) = (own.iter().copied(), sums.into_iter());
        let mut inputs = Vec::with_capacity(form.input_count() as usize);
        for input in program.inputs() {
            let from: &mut dyn Iterator<Item = Signal> = if input.owner == EVALUATOR { &mut sums } else { &mut own };
            inputs.extend(from.take(input.port.width() as usize));
        }
        let outputs = builder.append(&form, &inputs);
        let widths = program.outputs().iter().map(|output| output.port.width() as usize).collect();
        Ok(Published { config, circuit: builder.finish(outputs), widths })
    }

    /// The gates.
    pub fn circuit(&self) -> &TableCircuit {
        &self.circuit
    }

    /// Tells whether both labels of every wire differ by the same secret.
    pub fn has_free_xor(&self) -> bool {
        self.config.method.has_free_xor()
    }

    /// Bytes of the tables.
    pub fn table_bytes(&self) -> usize {
        self.config.table_bytes(&self.circuit)
    }

    /// Garbles, from both labels of every input. *Unique*: `seed`, from which all other randomness follows.
    pub(super) fn garble(&self, pairs: impl Iterator<Item = [Block; 2]>, delta: Block, seed: Block) -> Garbled {
        let inputs = published::InputLabels::of_pairs(pairs, delta, seed);
        published::garble(&self.circuit, self.config, &inputs)
    }

    /// Evaluates: the labels of all outputs.
    ///
    /// *Errors*: tables of another length.
    pub fn evaluate(
        &self,
        tables: &[u8],
        labels: impl Iterator<Item = Block>,
    ) -> Result<Zeroizing<Vec<Box<[Block]>>>, EvaluateError> {
        let inputs: Zeroizing<Vec<published::Label>> = Zeroizing::new(labels.map(published::Label::of_block).collect());
        let outputs = published::evaluate(&self.circuit, self.config, tables, &inputs)?;
        Ok(Zeroizing::new(self.dealt(outputs.iter().copied())))
    }

    /// Distributes the blocks of all outputs' wires over the outputs.
    pub fn dealt(&self, mut blocks: impl Iterator<Item = Block>) -> Vec<Box<[Block]>> {
        self.widths.iter().map(|&width| blocks.by_ref().take(width).collect()).collect()
    }
}
