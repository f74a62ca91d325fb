//! The blueprint of circuits, with the sizes of their parts.

use std::sync::Arc;

use garblet_circuit::{Bits, Program};
use garblet_garble::{CHUNK_ANDS, GarblingConfig, HashKind, Schedules, published::Method};
use garblet_primitives::Block;

use super::published::{Published, refused_hash};
use crate::encoding::Encoding;
use garblet_protocol::party_io::{self, EVALUATOR, GARBLER};

/// The parties whose labels are committed to in every circuit, two commitments for each wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The garbler's, in the order of their select bits, which hides their values.
    pub garbler: bool,
    /// The evaluator's, in the order of their values.
    pub evaluator: bool,
}

/// The program and parameters from which all circuits of a run are made.
pub struct Blueprint {
    program: Arc<Program>,
    schedules: Schedules,
    garbling: GarblingConfig,
    /// The published scheme, if one garbles in place of `garbling`.
    published: Option<Published>,
    /// Bytes of the tables of each piece: one chunk, since data in transit is in fresh memory.
    pieces: Vec<usize>,
    committed: Committed,
    /// Rows of the hash of the garbler's input.
    hash_rows: usize,
    /// Wires of the evaluator's encoded input.
    evaluator_wires: usize,
}

impl Blueprint {
    /// A blueprint for a program whose evaluator's input is encoded on `evaluator_wires` wires.
    pub fn new(
        program: Arc<Program>,
        garbling: GarblingConfig,
        committed: Committed,
        hash_rows: usize,
        evaluator_wires: usize,
    ) -> Self {
        let schedules = Schedules::new(&program);
        let total = schedules.and_count() as usize;
        let ands = (0..total).step_by(CHUNK_ANDS).map(|begin| (total - begin).min(CHUNK_ANDS));
        let pieces = ands.map(|ands| garbling.chunk_bytes(ands)).collect();
        Blueprint { program, schedules, garbling, published: None, pieces, committed, hash_rows, evaluator_wires }
    }

    /// The same garbled by a scheme of 2009, whose circuit has the encoding of the evaluator's input among its gates. All tables are one piece.
    ///
    /// *Errors*: the reason, for a hash that the scheme does not support, or a program too large for one circuit.
    pub fn published(mut self, method: Method, encoding: &Encoding) -> Result<Self, String> {
        if let Some(reason) = refused_hash(method, self.garbling.hash) {
            return Err(reason);
        }
        let published = Published::new(&self.program, method, encoding).map_err(|error| error.to_string())?;
        self.pieces = vec![published.table_bytes()];
        self.published = Some(published);
        Ok(self)
    }

    /// Its gates for a published scheme, if one garbles it.
    pub fn as_published(&self) -> Option<&Published> {
        self.published.as_ref()
    }

    /// The garbled program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Its schedules.
    pub fn schedules(&self) -> &Schedules {
        &self.schedules
    }

    /// Garbling scheme and hash.
    pub fn garbling(&self) -> GarblingConfig {
        self.garbling
    }

    /// log2 of the work to break the hash of the gates.
    pub fn security_bits(&self) -> u32 {
        let hash = if self.published.is_some() { HashKind::Sha256 } else { self.garbling.hash };
        GarblingConfig { hash, ..self.garbling }.security_bits(self.and_count())
    }

    /// The parties whose labels are committed to.
    pub fn committed(&self) -> Committed {
        self.committed
    }

    /// AND gates of a circuit.
    pub fn and_count(&self) -> u64 {
        self.schedules.and_count()
    }

    /// Wires of the evaluator's encoded input.
    pub fn evaluator_wires(&self) -> usize {
        self.evaluator_wires
    }

    /// Rows of the hash of the garbler's input.
    pub fn hash_rows(&self) -> usize {
        self.hash_rows
    }

    /// Wires of the garbler that are inputs of the program.
    pub fn garbler_inputs(&self) -> usize {
        party_io::input_bits(&self.program, GARBLER)
    }

    /// Wires of the garbler: inputs of the program, then those that hide the hash.
    pub fn garbler_wires(&self) -> usize {
        self.garbler_inputs() + self.hash_rows
    }

    /// Output bits that the evaluator learns.
    pub fn evaluator_outputs(&self) -> usize {
        party_io::output_bits(&self.program, EVALUATOR)
    }

    /// Select bits of the evaluator's output labels.
    pub fn select_bits(&self, labels: &[Box<[Block]>]) -> Bits {
        party_io::select_bits(&self.program, self.garbling, EVALUATOR, labels)
    }

    /// Bytes of the tables in a part of a circuit; `None` if it has no tables.
    pub fn table_bytes(&self, part: usize) -> Option<usize> {
        self.pieces.get(part.checked_sub(1)?).copied()
    }

    /// The number of parts in which a circuit is sent: head, pieces, tail.
    pub fn part_count(&self) -> usize {
        self.pieces.len() + 2
    }

    /// Blocks of part `part` of a circuit as it is sent.
    pub fn part_blocks(&self, part: usize) -> usize {
        let blocks = |bits: usize| bits.div_ceil(128);
        match part {
            // The commitments to both labels of each wire, the digest of the labels of the hash.
            0 => self.hash_seed_blocks() + 4 * self.committed_wires() + 2 * usize::from(self.hash_rows > 0),
            _ => match self.table_bytes(part) {
                Some(bytes) => bytes.div_ceil(16),
                None => blocks(self.evaluator_outputs()),
            },
        }
    }

    /// The space for part `part` at the beginning of a buffer, which grows to fit every part if it is too small.
    ///
    /// It never shrinks: a removed part would have to be filled again before the next tables are written there.
    pub fn room_for<'b>(&self, part: usize, buffer: &'b mut Vec<Block>) -> &'b mut [Block] {
        let length = self.part_blocks(part);
        if buffer.len() < length {
            let most = (0..self.part_count()).map(|part| self.part_blocks(part)).max().unwrap_or(0);
            *buffer = vec![Block::ZERO; most];
        }
        &mut buffer[..length]
    }

    /// Blocks of the seed of the hash of gates; the published schemes have no seed.
    pub(crate) fn hash_seed_blocks(&self) -> usize {
        usize::from(self.published.is_none())
    }

    /// Blocks of a circuit as it is sent.
    pub fn circuit_blocks(&self) -> usize {
        (0..self.part_count()).map(|part| self.part_blocks(part)).sum()
    }

    /// The parts of a circuit that stand one after another.
    ///
    /// # Panics
    /// If there are fewer than [`Blueprint::circuit_blocks`].
    pub fn parts<'b>(&self, mut blocks: &'b [Block]) -> Vec<&'b [Block]> {
        let split = |part: usize| {
            let (first, rest) = blocks.split_at(self.part_blocks(part));
            blocks = rest;
            first
        };
        (0..self.part_count()).map(split).collect()
    }

    /// Wires to whose labels every circuit has commitments.
    pub(crate) fn committed_wires(&self) -> usize {
        let of = |committed: bool, wires: usize| if committed { wires } else { 0 };
        of(self.committed.garbler, self.garbler_wires()) + of(self.committed.evaluator, self.evaluator_wires)
    }
}
