//! Garbling schemes: the work at an AND gate.
//!
//! A scheme is written once, on vectors of four gates, for every hash and every processor.
//! # Adding a scheme
//!
//! In this order, with `grr3` as the example:
//!
//! 1. A file beside `grr3.rs`: a type that implements [`Scheme`], with tests where the paper gives more than the truth table, as `three_halves.rs` has. Add
//!    `mod` and `pub(crate) use` here.
//! 2. `config.rs`: a variant of `SchemeKind`, its name in `names!`, an arm in `sizes` and in `hash_calls`. If zero labels, backends or the number of hash
//!    calls (six at most) are special: `zero_label`, `is_privacy_free`, `backend`, `security_bits`. Its tests list names and sizes.
//! 3. `run.rs`: an arm in `SchemeKernels::of`, `of_scheme` or `reference`; `MAX_QUAD_BYTES` if a table has more than 64 bytes.
//! 4. `primitives`: nothing, as a rule. The loops of `gates/` run any scheme; a hash call of a new shape goes to `gate_hash.rs`, an operation on vectors to
//!    `engine.rs`.
//! 5. Parameter texts: `any_scheme!` in `protocol/src/parameters.rs`; those of `covert` and `cut-and-choose` in their `protocol.rs`.
//!    `errors_name_every_scheme_that_a_protocol_takes` (`garblet/tests/face/config.rs`) finds a text without the new name.
//! 6. `tests/golden_tables.txt`: a line for each hash, in the order of `names!`. All other tests and benchmarks use `SchemeKind::ALL`.
//! 7. The book's chapters on `yao`, `components` and `cut-and-choose`, the README's line on schemes, and the changelog.

mod four_row;
mod grr3;
mod half_gates;
mod privacy_free;
mod three_halves;

use garblet_primitives::{Block, Engine, GateHash, GateNumber, QUAD_LANES, each, numbered};

pub(crate) use self::{
    four_row::FourRow, grr3::Grr3, half_gates::HalfGates, privacy_free::PrivacyFree, three_halves::ThreeHalves,
};

/// A garbling scheme with free XOR.
pub(crate) trait Scheme {
    /// Whole bytes per AND gate.
    const TABLE_BYTES: usize;
    /// Further bits per AND gate.
    const CONTROL_BITS: u32 = 0;
    /// Hash calls that the garbler makes per AND gate.
    const CALLS: u64;
    /// Set if the garbler needs secret randomness at every gate.
    const RANDOM: bool = false;
    /// Set if the select bit of a label is the wire's value, as it is if every zero label has select bit 0. A negation
    /// then flips it.
    const SELECT_IS_VALUE: bool = false;

    /// Garbles four gates: the zero labels of the results, from the zero labels of the operands.
    ///
    /// *Shape*: `table.bytes` and `table.controls` hold four gates.
    fn garble<E: Engine, H: GateHash>(
        keys: &GarblerKeys<E, H>,
        gate: GateNumber,
        labels: [E::Quad; 2],
        table: TableMut<'_>,
    ) -> E::Quad;

    /// Evaluates four gates: the active labels of the results, from the active labels of the operands.
    fn evaluate<E: Engine, H: GateHash>(
        keys: &EvaluatorKeys<E, H>,
        gate: GateNumber,
        labels: [E::Quad; 2],
        table: Table<'_>,
    ) -> E::Quad;
}

/// The blocks that turn labels into those of the negated wires: for the garbler's zero labels, and for the evaluator's.
pub(crate) fn negation_offsets<S: Scheme>(delta: Block) -> [Block; 2] {
    let lsb = if S::SELECT_IS_VALUE { Block::from_u128(1) } else { Block::ZERO };
    [delta ^ lsb, lsb]
}

/// The keys that the garbler needs at every gate.
pub(crate) struct GarblerKeys<E: Engine, H: GateHash> {
    pub(crate) e: E,
    pub(crate) hash: H::Key<E>,
    pub(crate) delta: E::Quad,
    /// The key of a scheme with [`Scheme::RANDOM`].
    pub(crate) secret: Option<E::Key>,
}

impl<E: Engine, H: GateHash> GarblerKeys<E, H> {
    #[inline(always)]
    pub(crate) fn hash<const T: usize, const P: usize>(
        &self,
        gate: GateNumber,
        x: [[E::Quad; P]; T],
    ) -> [[E::Quad; P]; T] {
        H::hash(self.e, &self.hash, gate.local, x)
    }

    /// See [`GateHash::hash_pairs`].
    #[inline(always)]
    pub(crate) fn hash_pairs<const T: usize>(&self, gate: GateNumber, x: [E::Quad; T]) -> [[E::Quad; 2]; T] {
        H::hash_pairs(self.e, &self.hash, gate.local, x, self.delta)
    }

    /// Secret random blocks of the gates of a scheme.
    #[inline(always)]
    pub(crate) fn random<S: Scheme>(&self, gate: GateNumber) -> E::Quad {
        let counter = self.e.count(H::key_period(S::CALLS).join(gate), 1);
        match &self.secret {
            Some(key) => {
                let [[random]] = self.e.encrypt(key, [[counter]]);
                random
            }
            None => unreachable!("a scheme that says that it uses randomness"),
        }
    }
}

/// The keys that the evaluator needs at every gate.
pub(crate) struct EvaluatorKeys<E: Engine, H: GateHash> {
    pub(crate) e: E,
    pub(crate) hash: H::Key<E>,
}

impl<E: Engine, H: GateHash> EvaluatorKeys<E, H> {
    #[inline(always)]
    pub(crate) fn hash<const T: usize, const P: usize>(
        &self,
        gate: GateNumber,
        x: [[E::Quad; P]; T],
    ) -> [[E::Quad; P]; T] {
        H::hash(self.e, &self.hash, gate.local, x)
    }
}

/// The tables of four gates, to be filled: the gates' bytes one after another, and one byte per gate for the further bits.
pub(crate) struct TableMut<'a> {
    pub(crate) bytes: &'a mut [u8],
    pub(crate) controls: &'a mut [u8; QUAD_LANES],
}

/// The tables of four gates, to be read.
pub(crate) struct Table<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) controls: [u8; QUAD_LANES],
}

impl TableMut<'_> {
    /// Writes a table of two blocks per gate.
    #[inline(always)]
    pub(crate) fn put_pair<E: Engine>(self, e: E, first: E::Quad, second: E::Quad) {
        let (quads, _) = self.bytes.as_chunks_mut::<{ 16 * QUAD_LANES }>();
        for (bytes, quad) in quads.iter_mut().zip(e.interleave(first, second)) {
            *bytes = bytemuck::cast(e.store(quad));
        }
    }

    /// Writes a table of `ROWS` blocks per gate.
    #[inline(always)]
    fn put_rows<E: Engine, const ROWS: usize>(self, e: E, rows: [E::Quad; ROWS]) {
        let rows = each(
            rows,
            #[inline(always)]
            |row| e.store(row),
        );
        let (blocks, _) = self.bytes.as_chunks_mut::<16>();
        for (at, bytes) in blocks.iter_mut().enumerate() {
            *bytes = rows[at % ROWS][at / ROWS].to_bytes();
        }
    }
}

impl Table<'_> {
    /// Reads a table of two blocks per gate.
    #[inline(always)]
    pub(crate) fn pair<E: Engine>(&self, e: E) -> [E::Quad; 2] {
        let (quads, _) = self.bytes.as_chunks::<{ 16 * QUAD_LANES }>();
        e.deinterleave(each(
            [0, 1],
            #[inline(always)]
            |i| e.load(&bytemuck::cast(quads[i])),
        ))
    }

    /// Reads a table of `ROWS` blocks per gate.
    #[inline(always)]
    fn rows<E: Engine, const ROWS: usize>(&self, e: E) -> [E::Quad; ROWS] {
        let (blocks, _) = self.bytes.as_chunks::<16>();
        let block = |lane: usize, row: usize| Block::from_bytes(blocks[lane * ROWS + row]);
        numbered(
            #[inline(always)]
            |row| e.load(&[block(0, row), block(1, row), block(2, row), block(3, row)]),
        )
    }
}
