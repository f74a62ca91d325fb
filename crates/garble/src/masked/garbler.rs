//! The garbler of gates with masks.

use garblet_circuit::Program;
use garblet_primitives::{AndGates, Backend, Block, Delta, Engine, GateHash, GateNumber, Kernel, QUAD_LANES, Rekeyed};

use super::lanes::{GateMasks, GateTable, MaskedGates, add, put, put_bits, window_mut};
use crate::{
    cursor::ProgramCursor,
    run::{GateCounter, Piece},
    schedules::Schedules,
    scheme::{GarblerKeys, TableMut},
};

/// Makes the tables of a program whose wires have masks.
///
/// *Secret*: everything but the tables, the select bits and the hash seed; labels are wiped on drop.
/// *Unique*: a delta with a hash seed is used once, as gate numbers begin at zero.
pub struct MaskedGarbler<'p> {
    cursor: ProgramCursor<'p>,
    backend: Backend,
    delta: Delta,
    with_tags: bool,
}

/// The hashes for the evaluator's checks, one block of each per gate. A sent tag is the sum of such a hash and a term from
/// the garbler's share.
pub struct TagsMut<'a> {
    /// Receives the sum of the hashes of both labels of the left operand.
    pub left: &'a mut [Block],
    /// Receives the sum of the hashes of both labels of the right operand.
    pub right: &'a mut [Block],
    /// Receives the sum of the hashes of the zero labels of both operands.
    pub sum: &'a mut [Block],
}

/// The data of gates, read and written, and the number of the next gate.
struct Gates<'a> {
    masks: GateMasks<'a>,
    tables: &'a mut [GateTable],
    selects: &'a mut [u8],
    labels: Option<&'a mut [Block]>,
    tags: TagsMut<'a>,
    at: usize,
}

impl<'p> MaskedGarbler<'p> {
    /// Begins to garble the program from which `schedules` were made. `with_tags` says whether to make tags, which determines
    /// the tweaks and the period of the hash key.
    ///
    /// *Shape*: `inputs[k]` are the zero labels of program input `k`, each with bit 0 zero.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn new(
        program: &'p Program,
        schedules: &'p Schedules,
        delta: &Delta,
        hash_seed: Block,
        with_tags: bool,
        inputs: Vec<Box<[Block]>>,
    ) -> Self {
        debug_assert!(inputs.iter().flatten().all(|label| !label.lsb()), "bit 0 of zero labels");
        let negation = negation(delta.block());
        MaskedGarbler {
            cursor: ProgramCursor::new(program, schedules, inputs, hash_seed, 0, negation, QUAD_LANES),
            backend: Backend::detect(),
            delta: delta.clone(),
            with_tags,
        }
    }

    /// Garbles with this backend instead of the fastest; the tables are the same.
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// The number of AND gates left.
    pub fn remaining(&self) -> u64 {
        self.cursor.remaining()
    }

    /// Garbles as many gates as there are masks: writes their tables, select bits and, if requested, the zero labels of
    /// their results, and adds to `tags`.
    ///
    /// *Shape*: 32 bytes of `tables` per gate, one byte of 0 or 1 of `selects`, and one block of `labels` and of each of
    /// `tags`.
    ///
    /// # Panics
    /// If the shape is wrong, fewer gates are left, or tags are missing or unexpected.
    pub fn garble(
        &mut self,
        masks: GateMasks<'_>,
        tables: &mut [u8],
        selects: &mut [u8],
        mut labels: Option<&mut [Block]>,
        tags: Option<TagsMut<'_>>,
    ) {
        let ands = masks.count();
        assert!(ands as u64 <= self.remaining(), "{ands} AND gates of {}", self.remaining());
        let (tables, rest) = tables.as_chunks_mut::<{ size_of::<GateTable>() }>();
        assert_eq!([tables.len(), selects.len(), rest.len()], [ands, ands, 0], "tables and select bits");
        assert!(labels.as_ref().is_none_or(|labels| labels.len() == ands), "labels of gates");
        assert_eq!(tags.is_some(), self.with_tags, "tags");
        let tags = tags.unwrap_or_else(TagsMut::none);
        let tag_count = if self.with_tags { ands } else { 0 };
        assert_eq!([tags.left.len(), tags.right.len(), tags.sum.len()], [tag_count; 3], "tags of gates");
        let MaskedGarbler { cursor, backend, delta, with_tags } = self;
        cursor.advance_gates(ands, |at, piece| {
            let gates = Gates {
                masks,
                tables: &mut *tables,
                selects: &mut *selects,
                labels: labels.as_deref_mut(),
                tags: TagsMut { left: &mut *tags.left, right: &mut *tags.right, sum: &mut *tags.sum },
                at,
            };
            let delta = delta.block();
            match (*with_tags, piece.slots.copies()) {
                (true, QUAD_LANES) => backend.run(Garble::<true, QUAD_LANES> { piece, delta, gates }),
                (true, _) => backend.run(Garble::<true, 1> { piece, delta, gates }),
                (false, QUAD_LANES) => backend.run(Garble::<false, QUAD_LANES> { piece, delta, gates }),
                (false, _) => backend.run(Garble::<false, 1> { piece, delta, gates }),
            }
        });
    }

    /// The zero labels of the program's outputs.
    ///
    /// # Panics
    /// If gates are missing.
    pub fn into_outputs(mut self) -> Vec<Box<[Block]>> {
        // A program without AND gates has wires.
        let masks = GateMasks { left: &[], right: &[], result: &[] };
        let tags = self.with_tags.then(TagsMut::none);
        self.garble(masks, &mut [], &mut [], None, tags);
        self.cursor.into_outputs().0
    }
}

impl TagsMut<'_> {
    /// Tags of no gates.
    fn none() -> Self {
        TagsMut { left: &mut [], right: &mut [], sum: &mut [] }
    }

    /// The tags of this many gates.
    #[inline(always)]
    fn window(&mut self, at: usize, count: usize) -> TagsMut<'_> {
        TagsMut {
            left: window_mut(self.left, at, count),
            right: window_mut(self.right, at, count),
            sum: window_mut(self.sum, at, count),
        }
    }
}

/// The block that turns a zero label into that of the negated wire: bit 0 stays zero.
fn negation(delta: Block) -> Block {
    delta ^ Block::from_u128(1)
}

struct Garble<'a, const TAGS: bool, const COPIES: usize> {
    piece: Piece<'a>,
    delta: Block,
    gates: Gates<'a>,
}

struct GarbleGates<'a, E: Engine, const TAGS: bool> {
    counter: GateCounter<MaskedGates<TAGS>>,
    hash_seed: Block,
    keys: GarblerKeys<E, Rekeyed>,
    negation: E::Quad,
    without_select: E::Quad,
    gates: Gates<'a>,
}

impl<const TAGS: bool, const COPIES: usize> Kernel for Garble<'_, TAGS, COPIES> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> usize {
        let Garble { piece, delta, gates } = self;
        let mut counter = GateCounter::new(piece.first_gate);
        let hash = Rekeyed::key(e, piece.hash_seed, counter.new_period().unwrap_or_default());
        let mut gates: GarbleGates<'_, E, TAGS> = GarbleGates {
            counter,
            hash_seed: piece.hash_seed,
            keys: GarblerKeys { e, hash, delta: e.splat(delta), secret: None },
            negation: e.splat(negation(delta)),
            without_select: e.splat(Block::from_u128(!1)),
            gates: gates.of_one_length::<TAGS>(),
        };
        piece.gates.run::<E, _, COPIES>(e, piece.cursor, piece.slots, piece.limit, &mut gates)
    }
}

impl<E: Engine, const TAGS: bool> AndGates<E> for GarbleGates<'_, E, TAGS> {
    #[inline(always)]
    fn begin(&mut self, e: E, count: usize) -> usize {
        if let Some(period) = self.counter.new_period() {
            self.keys.hash = Rekeyed::key(e, self.hash_seed, period);
        }
        self.counter.under_this_key(count)
    }

    #[inline(always)]
    fn quad(&mut self, e: E, count: usize, [a, b]: [E::Quad; 2], [invert_a, invert_b]: [E::Mask; 2]) -> E::Quad {
        let labels = [e.xor_if(invert_a, a, self.negation), e.xor_if(invert_b, b, self.negation)];
        let number = self.counter.take(count);
        let gates = self.gates.next::<TAGS>(count);
        let [[a0, a01], [b0, b01]] = match TAGS {
            true => add_tags(&self.keys, number, labels, gates.tags),
            false => self.keys.hash_pairs(number, labels),
        };
        let [left, right, result] = gates.masks.load(e);
        put_tables(e, [e.xor(a01, right), e.xor3(b01, labels[0], left)], gates.tables);
        let label = e.xor3(a0, b0, result);
        put_bits(e, label, gates.selects);
        let label = e.and(label, self.without_select);
        if let Some(labels) = gates.labels {
            put(e, label, labels);
        }
        label
    }
}

impl Gates<'_> {
    /// The same, with lengths that the compiler knows to be equal.
    #[inline(always)]
    fn of_one_length<const TAGS: bool>(self) -> Self {
        let Gates { masks, tables, selects, labels, mut tags, at } = self;
        let ands = selects.len();
        if TAGS {
            let TagsMut { left, right, sum } = tags;
            tags = TagsMut { left: &mut left[..ands], right: &mut right[..ands], sum: &mut sum[..ands] };
        }
        let labels = labels.map(
            #[inline(always)]
            |labels| &mut labels[..ands],
        );
        Gates { masks: masks.window(0, ands), tables: &mut tables[..ands], selects, labels, tags, at }
    }

    /// The data of the next gates, one to four.
    #[inline(always)]
    fn next<const TAGS: bool>(&mut self, count: usize) -> Gates<'_> {
        let at = self.at;
        self.at += count;
        Gates {
            masks: self.masks.window(at, count),
            tables: window_mut(self.tables, at, count),
            selects: window_mut(self.selects, at, count),
            labels: self.labels.as_deref_mut().map(
                #[inline(always)]
                |labels| window_mut(labels, at, count),
            ),
            tags: if TAGS { self.tags.window(at, count) } else { TagsMut::none() },
            at,
        }
    }
}

/// Hashes the operands of one to four gates as [`GarblerKeys::hash_pairs`] does, and once more for the tags.
#[inline(always)]
fn add_tags<E: Engine>(
    keys: &GarblerKeys<E, Rekeyed>,
    gate: GateNumber,
    [a, b]: [E::Quad; 2],
    tags: TagsMut<'_>,
) -> [[E::Quad; 2]; 2] {
    let e = keys.e;
    let [ha, hb, [tag_a0, tag_a01], [tag_b0, tag_b01]] = keys.hash_pairs(gate, [a, b, a, b]);
    add(e, tag_a01, tags.left);
    add(e, tag_b01, tags.right);
    add(e, e.xor(tag_a0, tag_b0), tags.sum);
    [ha, hb]
}

/// Writes the tables of one to four gates.
#[inline(always)]
fn put_tables<E: Engine>(e: E, [first, second]: [E::Quad; 2], tables: &mut [GateTable]) {
    let mut four = [[0; size_of::<GateTable>()]; QUAD_LANES];
    let whole = tables.len() == QUAD_LANES;
    let bytes = if whole { &mut *tables } else { &mut four }.as_flattened_mut();
    TableMut { bytes, controls: &mut [0; QUAD_LANES] }.put_pair(e, first, second);
    if !whole {
        tables.copy_from_slice(&four[..tables.len()]);
    }
}
