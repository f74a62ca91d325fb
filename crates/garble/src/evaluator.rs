//! The evaluator: consumes a program's tables chunk by chunk.

use garblet_circuit::Program;
use garblet_primitives::{Backend, Block};

use crate::{
    config::GarblingConfig,
    cursor::{ProgramCursor, Workspace},
    run::{EvaluatePiece, SchemeKernels},
    schedules::Schedules,
};

/// Evaluates a garbled program, in memory that does not grow with the program.
///
/// *Secret*: the labels; they are wiped on drop.
pub struct Evaluator<'p> {
    cursor: ProgramCursor<'p>,
    config: GarblingConfig,
    kernels: SchemeKernels,
    backend: Backend,
    controls: Vec<u8>,
}

/// Bytes from the peer that cannot be a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// A chunk of the wrong length.
    #[error("chunk of garbled tables has {got} bytes, expected {expected}")]
    ChunkLength {
        /// Bytes of the chunk.
        got: usize,
        /// The expected number of bytes.
        expected: usize,
    },
}

impl<'p> Evaluator<'p> {
    /// Begins to evaluate the program from which `schedules` were made.
    ///
    /// *Shape*: `inputs[k]` are the active labels of program input `k`.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn new(
        program: &'p Program,
        schedules: &'p Schedules,
        config: GarblingConfig,
        hash_seed: Block,
        first_gate: u64,
        inputs: Vec<Box<[Block]>>,
    ) -> Self {
        let kernels = SchemeKernels::of(config);
        let [_, negation] = (kernels.negation_offsets)(Block::ZERO);
        Evaluator {
            cursor: ProgramCursor::new(program, schedules, inputs, hash_seed, first_gate, negation, kernels.copies),
            config,
            kernels,
            backend: Backend::detect(),
            controls: Vec::new(),
        }
    }

    /// Evaluates with this backend instead of the fastest; the labels are the same.
    /// Four-row garbling and SHA-256, the reference implementations, always run on the portable backend.
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Evaluates in memory that another garbling no longer needs; call it before the first chunk.
    pub fn in_workspace(mut self, workspace: Workspace) -> Self {
        self.cursor.use_workspace(workspace);
        self
    }

    /// Bytes of the next chunk, 0 when there is none.
    pub fn next_chunk_bytes(&self) -> usize {
        self.config.chunk_bytes(self.cursor.chunk_ands())
    }

    /// Consumes the next chunk.
    ///
    /// *Errors*: a length other than [`Evaluator::next_chunk_bytes`], which changes nothing.
    pub fn evaluate_chunk(&mut self, tables: &[u8]) -> Result<(), EvaluateError> {
        let expected = self.next_chunk_bytes();
        if tables.len() != expected {
            return Err(EvaluateError::ChunkLength { got: tables.len(), expected });
        }
        let ands = self.cursor.chunk_ands();
        let Evaluator { cursor, config, kernels, backend, controls } = self;
        let (gate_bytes, control_bits) = config.scheme.sizes();
        let (tables, packed) = tables.split_at(ands * gate_bytes);
        unpack(packed, control_bits, ands, controls);
        cursor.advance(ands, |done, piece| {
            let piece = EvaluatePiece {
                piece,
                tables: &tables[done * gate_bytes..],
                controls: controls.get(done..).unwrap_or_default(),
            };
            (kernels.evaluate)(*backend, piece)
        });
        Ok(())
    }

    /// The active labels of the program's outputs.
    ///
    /// # Panics
    /// If chunks are missing.
    pub fn into_outputs(self) -> Vec<Box<[Block]>> {
        self.into_outputs_and_workspace().0
    }

    /// The same, and memory for the next evaluation.
    ///
    /// # Panics
    /// If chunks are missing.
    pub fn into_outputs_and_workspace(mut self) -> (Vec<Box<[Block]>>, Workspace) {
        // A program without AND gates has no chunk, but it has wires. If chunks are missing, this does nothing.
        let _ = self.evaluate_chunk(&[]);
        self.cursor.into_outputs()
    }
}

/// Unpacks `count` groups of `bits` bits into a byte each; nothing if `bits` is 0.
pub(crate) fn unpack(packed: &[u8], bits: usize, count: usize, bytes: &mut Vec<u8>) {
    bytes.clear();
    if bits > 0 {
        let bit = |at: usize| packed[at / 8] >> (at % 8) & 1;
        bytes.extend((0..count).map(|i| (0..bits).fold(0, |sum, b| sum | bit(i * bits + b) << b)));
    }
}
