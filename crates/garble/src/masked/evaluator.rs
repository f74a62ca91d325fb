//! The evaluator of gates with masks.

use garblet_circuit::Program;
use garblet_primitives::{AndGates, Backend, Block, Engine, GateHash, Kernel, QUAD_LANES, Rekeyed};
use zeroize::Zeroizing;

use super::{
    NEGATION,
    lanes::{GateMasks, GateTable, MaskedGates, add, load, load_bits, put, window, window_mut},
};
use crate::{
    cursor::ProgramCursor,
    run::{GateCounter, Piece},
    schedules::Schedules,
    scheme::{EvaluatorKeys, Table},
};

/// Evaluates a program whose wires have masks, and computes the sums that check the tables.
///
/// *Secret*: the labels and the delta of the checks; they are wiped on drop.
pub struct MaskedEvaluator<'p> {
    cursor: ProgramCursor<'p>,
    backend: Backend,
    check_delta: Zeroizing<Block>,
    with_tags: bool,
}

/// The terms of the gates' checks, one block of each per gate.
pub struct CheckMut<'a> {
    /// The terms that count where the masked value of the left operand is one.
    pub left: &'a [Block],
    /// The terms that count where the masked value of the right operand is one.
    pub right: &'a [Block],
    /// The destination to which the checks are added.
    pub values: &'a mut [Block],
}

/// The data of gates, read and written, and the number of the next gate.
struct Gates<'a> {
    masks: GateMasks<'a>,
    tables: &'a [GateTable],
    selects: &'a [u8],
    labels: Option<&'a mut [Block]>,
    check: CheckMut<'a>,
    at: usize,
}

impl<'p> MaskedEvaluator<'p> {
    /// Begins to evaluate the program from which `schedules` were made. `check_delta` is the evaluator's own delta, and
    /// `with_tags` says whether the garbler made tags.
    ///
    /// *Shape*: `inputs[k]` are the active labels of program input `k`, whose bits 0 are the masked values.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn new(
        program: &'p Program,
        schedules: &'p Schedules,
        hash_seed: Block,
        check_delta: Block,
        with_tags: bool,
        inputs: Vec<Box<[Block]>>,
    ) -> Self {
        MaskedEvaluator {
            cursor: ProgramCursor::new(program, schedules, inputs, hash_seed, 0, NEGATION, QUAD_LANES),
            backend: Backend::detect(),
            check_delta: Zeroizing::new(check_delta),
            with_tags,
        }
    }

    /// Evaluates with this backend instead of the fastest; the labels are the same.
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// The number of AND gates left.
    pub fn remaining(&self) -> u64 {
        self.cursor.remaining()
    }

    /// Evaluates as many gates as there are masks, writes the active labels of their results if requested, and adds to
    /// `check.values[g]`
    ///
    /// `v_a left[g] ^ v_b right[g] ^ (v_a v_b ^ v_c) check_delta`
    ///
    /// and, if there are tags, `H_2(L_a) ^ H_3(L_b)` of the active labels. See [the module](super) for the symbols.
    ///
    /// *Shape*: 32 bytes of `tables` per gate, one byte of `selects`, of which bit 0 counts, and one block of `labels` and
    /// of each of `check`.
    ///
    /// # Panics
    /// If the shape is wrong, or fewer gates are left.
    pub fn evaluate(
        &mut self,
        masks: GateMasks<'_>,
        tables: &[u8],
        selects: &[u8],
        mut labels: Option<&mut [Block]>,
        check: CheckMut<'_>,
    ) {
        let ands = masks.count();
        assert!(ands as u64 <= self.remaining(), "{ands} AND gates of {}", self.remaining());
        let (tables, rest) = tables.as_chunks::<{ size_of::<GateTable>() }>();
        assert_eq!([tables.len(), selects.len(), rest.len()], [ands, ands, 0], "tables and select bits");
        assert!(labels.as_ref().is_none_or(|labels| labels.len() == ands), "labels of gates");
        assert_eq!([check.left.len(), check.right.len(), check.values.len()], [ands; 3], "checks of gates");
        let MaskedEvaluator { cursor, backend, check_delta, with_tags } = self;
        cursor.advance_gates(ands, |at, piece| {
            let gates = Gates {
                masks,
                tables,
                selects,
                labels: labels.as_deref_mut(),
                check: CheckMut { left: check.left, right: check.right, values: &mut *check.values },
                at,
            };
            let check_delta = **check_delta;
            match (*with_tags, piece.slots.copies()) {
                (true, QUAD_LANES) => backend.run(Evaluate::<true, QUAD_LANES> { piece, check_delta, gates }),
                (true, _) => backend.run(Evaluate::<true, 1> { piece, check_delta, gates }),
                (false, QUAD_LANES) => backend.run(Evaluate::<false, QUAD_LANES> { piece, check_delta, gates }),
                (false, _) => backend.run(Evaluate::<false, 1> { piece, check_delta, gates }),
            }
        });
    }

    /// The active labels of the program's outputs.
    ///
    /// # Panics
    /// If gates are missing.
    pub fn into_outputs(mut self) -> Vec<Box<[Block]>> {
        // A program without AND gates has wires.
        let masks = GateMasks { left: &[], right: &[], result: &[] };
        self.evaluate(masks, &[], &[], None, CheckMut { left: &[], right: &[], values: &mut [] });
        self.cursor.into_outputs().0
    }
}

struct Evaluate<'a, const TAGS: bool, const COPIES: usize> {
    piece: Piece<'a>,
    check_delta: Block,
    gates: Gates<'a>,
}

struct EvaluateGates<'a, E: Engine, const TAGS: bool> {
    counter: GateCounter<MaskedGates<TAGS>>,
    hash_seed: Block,
    keys: EvaluatorKeys<E, Rekeyed>,
    check_delta: E::Quad,
    negation: E::Quad,
    gates: Gates<'a>,
}

impl<const TAGS: bool, const COPIES: usize> Kernel for Evaluate<'_, TAGS, COPIES> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> usize {
        let Evaluate { piece, check_delta, gates } = self;
        let mut counter = GateCounter::new(piece.first_gate);
        let hash = Rekeyed::key(e, piece.hash_seed, counter.new_period().unwrap_or_default());
        let mut gates: EvaluateGates<'_, E, TAGS> = EvaluateGates {
            counter,
            hash_seed: piece.hash_seed,
            keys: EvaluatorKeys { e, hash },
            check_delta: e.splat(check_delta),
            negation: e.splat(NEGATION),
            gates: gates.of_one_length(),
        };
        piece.gates.run::<E, _, COPIES>(e, piece.cursor, piece.slots, piece.limit, &mut gates)
    }
}

impl<E: Engine, const TAGS: bool> AndGates<E> for EvaluateGates<'_, E, TAGS> {
    #[inline(always)]
    fn begin(&mut self, e: E, count: usize) -> usize {
        if let Some(period) = self.counter.new_period() {
            self.keys.hash = Rekeyed::key(e, self.hash_seed, period);
        }
        self.counter.under_this_key(count)
    }

    #[inline(always)]
    fn quad(&mut self, e: E, count: usize, [a, b]: [E::Quad; 2], [invert_a, invert_b]: [E::Mask; 2]) -> E::Quad {
        let [a, b] = [e.xor_if(invert_a, a, self.negation), e.xor_if(invert_b, b, self.negation)];
        let number = self.counter.take(count);
        let gates = self.gates.next(count);
        let (ha, hb, tags) = if TAGS {
            let [[ha], [hb], [tag_a], [tag_b]] = self.keys.hash(number, [[a], [b], [a], [b]]);
            (ha, hb, e.xor(tag_a, tag_b))
        } else {
            let [[ha], [hb]] = self.keys.hash(number, [[a], [b]]);
            (ha, hb, e.splat(Block::ZERO))
        };
        let [value_a, value_b] = [e.lsb(a), e.lsb(b)];
        let [left, right, result] = gates.masks.load(e);
        let [first, second] = load_tables(e, gates.tables);
        let label = e.xor3(ha, hb, result);
        let label = e.xor_if(value_a, label, e.xor(first, right));
        let label = e.xor_if(value_b, label, e.xor3(second, a, left));
        let label = e.xor_if(load_bits(e, gates.selects), label, self.negation);
        let CheckMut { left, right, values } = gates.check;
        let check = e.xor_if(value_a, tags, load(e, left));
        let check = e.xor_if(value_b, check, load(e, right));
        let check = e.xor_if(e.mask_and(value_a, value_b), check, self.check_delta);
        add(e, e.xor_if(e.lsb(label), check, self.check_delta), values);
        if let Some(labels) = gates.labels {
            put(e, label, labels);
        }
        label
    }
}

impl CheckMut<'_> {
    /// The terms of this many gates.
    #[inline(always)]
    fn window(&mut self, at: usize, count: usize) -> CheckMut<'_> {
        CheckMut {
            left: window(self.left, at, count),
            right: window(self.right, at, count),
            values: window_mut(self.values, at, count),
        }
    }
}

impl Gates<'_> {
    /// The same, with lengths that the compiler knows to be equal.
    #[inline(always)]
    fn of_one_length(self) -> Self {
        let Gates { masks, tables, selects, labels, check: CheckMut { left, right, values }, at } = self;
        let ands = selects.len();
        let labels = labels.map(
            #[inline(always)]
            |labels| &mut labels[..ands],
        );
        let check = CheckMut { left: &left[..ands], right: &right[..ands], values: &mut values[..ands] };
        Gates { masks: masks.window(0, ands), tables: &tables[..ands], selects, labels, check, at }
    }

    /// The data of the next gates, one to four.
    #[inline(always)]
    fn next(&mut self, count: usize) -> Gates<'_> {
        let at = self.at;
        self.at += count;
        Gates {
            masks: self.masks.window(at, count),
            tables: window(self.tables, at, count),
            selects: window(self.selects, at, count),
            labels: self.labels.as_deref_mut().map(
                #[inline(always)]
                |labels| window_mut(labels, at, count),
            ),
            check: self.check.window(at, count),
            at,
        }
    }
}

/// The tables of one to four gates.
#[inline(always)]
fn load_tables<E: Engine>(e: E, tables: &[GateTable]) -> [E::Quad; 2] {
    let mut four = [[0; size_of::<GateTable>()]; QUAD_LANES];
    let tables = if tables.len() == QUAD_LANES {
        tables
    } else {
        four[..tables.len()].copy_from_slice(tables);
        &four
    };
    Table { bytes: tables.as_flattened(), controls: [0; QUAD_LANES] }.pair(e)
}
