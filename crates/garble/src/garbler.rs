//! The garbler: makes a program's tables chunk by chunk.

use garblet_circuit::{Program, diagnostic::Diagnostic};
use garblet_primitives::{Backend, Block, Delta};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    config::GarblingConfig,
    cursor::{ProgramCursor, TablePart, Work, Workspace},
    lookup::GarbleLookup,
    run::{GarblePiece, SchemeKernels},
    schedules::Schedules,
};

/// The randomness of a garbling besides delta and labels. *Unique*: fresh for every garbling.
pub struct Seeds {
    /// The seed of the hash. Public: the evaluator needs it.
    pub hash: Block,
    /// The seed of the choices that some schemes make at every gate.
    pub(crate) secret: Zeroizing<Block>,
}

impl Seeds {
    /// Seeds sampled earlier. *Secret*: `secret`.
    pub fn new(hash: Block, secret: Block) -> Self {
        Seeds { hash, secret: Zeroizing::new(secret) }
    }

    /// Fresh seeds.
    pub fn random(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Seeds { hash: Block::random(rng), secret: Zeroizing::new(Block::random(rng)) }
    }
}

/// Makes a program's garbled tables, in memory that does not grow with the program.
///
/// *Secret*: everything but the tables and the hash seed; labels are wiped on drop.
/// *Unique*: a delta with a hash seed is used for gate numbers `first_gate..first_gate + and_count` once.
pub struct Garbler<'p> {
    cursor: ProgramCursor<'p>,
    config: GarblingConfig,
    kernels: SchemeKernels,
    backend: Backend,
    delta: Delta,
    secret: Zeroizing<Block>,
    controls: Vec<u8>,
}

impl<'p> Garbler<'p> {
    /// Begins to garble the program from which `schedules` were made.
    ///
    /// *Shape*: `inputs[k]` are the zero labels of program input `k`, see [`GarblingConfig::zero_label`].
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn new(
        program: &'p Program,
        schedules: &'p Schedules,
        config: GarblingConfig,
        delta: &Delta,
        seeds: Seeds,
        first_gate: u64,
        inputs: Vec<Box<[Block]>>,
    ) -> Self {
        schedules.check(config);
        let kernels = SchemeKernels::of(config);
        let [negation, _] = (kernels.negation_offsets)(delta.block());
        Garbler {
            cursor: ProgramCursor::new(program, schedules, inputs, seeds.hash, first_gate, negation, kernels.copies),
            config,
            kernels,
            backend: Backend::detect(),
            delta: delta.clone(),
            secret: seeds.secret,
            controls: Vec::new(),
        }
    }

    /// Garbles with this backend instead of the fastest; the tables are the same.
    /// Four-row garbling and SHA-256, the reference implementations, always run on the portable backend.
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Garbles in memory that another garbling no longer needs; call it before the first chunk.
    pub fn in_workspace(mut self, workspace: Workspace) -> Self {
        self.cursor.use_workspace(workspace);
        self
    }

    /// Bytes of the next chunk, 0 when there is none.
    pub fn next_chunk_bytes(&self) -> usize {
        self.config.chunk_bytes(self.cursor.chunk_ands())
    }

    /// Appends the next chunk to `tables`; returns whether more chunks follow.
    ///
    /// *Shape*: appends exactly [`Garbler::next_chunk_bytes`] bytes.
    pub fn garble_chunk(&mut self, tables: &mut Vec<u8>) -> bool {
        let begin = tables.len();
        tables.resize(begin + self.next_chunk_bytes(), 0);
        self.garble_chunk_into(&mut tables[begin..])
    }

    /// Writes the next chunk into `tables`; returns whether more chunks follow.
    ///
    /// # Panics
    /// If `tables` does not have [`Garbler::next_chunk_bytes`].
    pub fn garble_chunk_into(&mut self, tables: &mut [u8]) -> bool {
        assert_eq!(tables.len(), self.next_chunk_bytes(), "room for the chunk");
        let ands = self.cursor.chunk_ands();
        let Garbler { cursor, config, kernels, backend, delta, secret, controls, .. } = self;
        let (gate_bytes, control_bits) = config.scheme.sizes();
        let (tables, packed) = tables.split_at_mut(ands * gate_bytes);
        controls.clear();
        controls.resize(if control_bits > 0 { ands } else { 0 }, 0);
        cursor.advance(ands, |done, work| {
            let piece = match work {
                Work::Gates(piece) => piece,
                Work::Table(part) => {
                    return garble_part(part, delta, *kernels, *backend, &mut tables[done * gate_bytes..]);
                }
            };
            let piece = GarblePiece {
                piece,
                delta: delta.block(),
                secret: **secret,
                tables: &mut tables[done * gate_bytes..],
                controls: controls.get_mut(done..).unwrap_or_default(),
            };
            (kernels.garble)(*backend, piece)
        });
        pack(controls, control_bits, packed);
        self.cursor.chunk_ands() > 0
    }

    /// Checks that all gates so far could be read, if the program's gates are not in memory. If not, nothing since the check before is of use.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn check(&self) -> Result<(), Diagnostic> {
        self.cursor.check()
    }

    /// The zero labels of the program's outputs.
    ///
    /// # Panics
    /// If chunks are missing.
    pub fn into_outputs(self) -> Vec<Box<[Block]>> {
        self.into_outputs_and_workspace().0
    }

    /// The same, and memory for the next garbling.
    ///
    /// # Panics
    /// If chunks are missing.
    pub fn into_outputs_and_workspace(mut self) -> (Vec<Box<[Block]>>, Workspace) {
        if self.next_chunk_bytes() == 0 {
            // A program without AND gates has no chunk, but it has wires.
            self.garble_chunk_into(&mut []);
        }
        self.cursor.into_outputs()
    }
}

/// Garbles a table before its first part, and writes the next part of it into `tables`; returns the number of gates whose place it takes.
fn garble_part(
    part: TablePart<'_>,
    delta: &Delta,
    kernels: SchemeKernels,
    backend: Backend,
    tables: &mut [u8],
) -> usize {
    let TablePart { table, bytes, done, limit, ports, hash_seed, first_gate } = part;
    if done == 0 {
        bytes.resize(table.bytes(), 0);
        let mut outputs = Zeroizing::new(vec![Block::ZERO; table.lookup.outputs()]);
        let garble = GarbleLookup {
            lookup: &table.lookup,
            delta: delta.block(),
            hash_seed,
            first_gate,
            inputs: ports,
            bytes: &mut bytes[..table.lookup.bytes()],
            outputs: &mut outputs,
        };
        (kernels.lookups.garble)(backend, garble);
        ports.zeroize();
        ports.extend_from_slice(&outputs);
    }
    let range = done * table.gate_bytes..(done + limit) * table.gate_bytes;
    tables[..range.len()].copy_from_slice(&bytes[range]);
    limit
}

/// Packs the low `bits` bits of each byte, at most eight, one after another, lowest first.
pub(crate) fn pack(bytes: &[u8], bits: usize, packed: &mut [u8]) {
    if bits == 0 {
        return;
    }
    // Eight bytes are a word, whose parts move together: bytes to pairs, pairs to fours, fours to eights.
    let low = u64::MAX / 255 * (255 >> (8 - bits));
    let (whole, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for (place, word) in whole.iter().chain([&last]).enumerate() {
        let mut word = u64::from_le_bytes(*word) & low;
        for (level, evens) in EVEN_PARTS.into_iter().enumerate() {
            word = word & evens | (word >> (8 << level) & evens) << (bits << level);
        }
        // A whole word where there is room: the next one overwrites its zeros.
        let room = &mut packed[place * bits..];
        match room.first_chunk_mut() {
            Some(room) => *room = word.to_le_bytes(),
            None => room.iter_mut().zip(word.to_le_bytes()).for_each(|(to, byte)| *to = byte),
        }
    }
}

/// The parts with even numbers of a word: bytes, pairs of bytes, halves.
pub(crate) const EVEN_PARTS: [u64; 3] = [0x00ff_00ff_00ff_00ff, 0x0000_ffff_0000_ffff, 0xffff_ffff];
