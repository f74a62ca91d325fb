//! The evaluator: consumes a program's tables chunk by chunk.

use garblet_circuit::{Program, diagnostic::Diagnostic};
use garblet_primitives::{Backend, Block};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    config::GarblingConfig,
    cursor::{ProgramCursor, TablePart, Work, Workspace},
    garbler::EVEN_PARTS,
    lookup::EvaluateLookup,
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
        schedules.check(config);
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
        cursor.advance(ands, |done, work| {
            let piece = match work {
                Work::Gates(piece) => piece,
                Work::Table(part) => return evaluate_part(part, *kernels, *backend, &tables[done * gate_bytes..]),
            };
            let piece = EvaluatePiece {
                piece,
                tables: &tables[done * gate_bytes..],
                controls: controls.get(done..).unwrap_or_default(),
            };
            (kernels.evaluate)(*backend, piece)
        });
        Ok(())
    }

    /// Checks that all gates so far could be read, if the program's gates are not in memory. If not, nothing since the check before is of use.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn check(&self) -> Result<(), Diagnostic> {
        self.cursor.check()
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

/// Takes the next part of a table from `tables`, and evaluates it after the last; returns the number of gates whose place it takes.
fn evaluate_part(part: TablePart<'_>, kernels: SchemeKernels, backend: Backend, tables: &[u8]) -> usize {
    let TablePart { table, bytes, done, limit, ports, hash_seed, first_gate } = part;
    bytes.extend_from_slice(&tables[..limit * table.gate_bytes]);
    if (done + limit) as u64 == table.gates {
        let mut outputs = Zeroizing::new(vec![Block::ZERO; table.lookup.outputs()]);
        let evaluate = EvaluateLookup {
            lookup: &table.lookup,
            hash_seed,
            first_gate,
            inputs: ports,
            bytes: &bytes[..table.lookup.bytes()],
            outputs: &mut outputs,
        };
        (kernels.lookups.evaluate)(backend, evaluate);
        ports.zeroize();
        ports.extend_from_slice(&outputs);
    }
    limit
}

/// Unpacks `count` groups of `bits` bits, at most eight, into a byte each; nothing if `bits` is 0.
pub(crate) fn unpack(packed: &[u8], bits: usize, count: usize, bytes: &mut Vec<u8>) {
    bytes.clear();
    if bits == 0 {
        return;
    }
    bytes.resize(count.next_multiple_of(8), 0);
    for (place, bytes) in bytes.as_chunks_mut().0.iter_mut().enumerate() {
        let packed = &packed[place * bits..];
        let mut word = u64::from_le_bytes(packed.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last.iter_mut().zip(packed).for_each(|(to, byte)| *to = *byte);
            last
        }));
        for (level, evens) in EVEN_PARTS.into_iter().enumerate().rev() {
            let part = evens / ((1 << (8 << level)) - 1) * (u64::MAX >> (64 - (bits << level)));
            word = word & part | (word >> (bits << level) & part) << (8 << level);
        }
        *bytes = word.to_le_bytes();
    }
    bytes.truncate(count);
}

#[cfg(test)]
mod tests {
    use garblet_primitives::{Block, Prg};

    use super::*;
    use crate::garbler::pack;

    #[test]
    fn bits_are_packed_one_after_another_and_unpacked_again() {
        let mut prg = Prg::new(Block::from_u128(7));
        for bits in 0..=8 {
            for count in 0..=67usize {
                let bytes: Vec<u8> = (0..count).map(|_| prg.next_block().to_bytes()[0]).collect();
                let mut packed = vec![0xff; (count * bits).div_ceil(8)];
                pack(&bytes, bits, &mut packed);
                let bit = |at: usize| packed[at / 8] >> (at % 8) & 1;
                for at in 0..count * bits {
                    assert_eq!(bit(at), bytes[at / bits] >> (at % bits) & 1, "{bits} bits, {count} bytes, bit {at}");
                }
                assert!((count * bits..8 * packed.len()).all(|at| bit(at) == 0));
                let mut unpacked = vec![1];
                unpack(&packed, bits, count, &mut unpacked);
                let low = |byte: &u8| byte & ((1u16 << bits) - 1) as u8;
                let expected = if bits == 0 { Vec::new() } else { bytes.iter().map(low).collect() };
                assert_eq!(unpacked, expected, "{bits} bits, {count} bytes");
            }
        }
    }
}
