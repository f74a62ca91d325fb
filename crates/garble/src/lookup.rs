//! Components garbled as tables: a lookup at an index that nobody knows takes a block for each bit of the index and of the entry, and a bit
//! for each bit of the table.
//!
//! *Source*: the size, but for one block, is that of Heath, Kolesnikov and Ng, *Garbled Circuit Lookup Tables with Logarithmic Number of
//! Ciphertexts* (EUROCRYPT 2024); positions are those of Heath and Kolesnikov, *One Hot Garbling* (CCS 2021).
//!
//! The evaluator knows the select bits `s` of the inputs' labels, and the garbler knows how they differ from the values: it looks up `s` in a
//! table whose rows it has moved.
//!
//! - **Positions.** For the first `j` inputs, the wires `h[p]` that are true where `p` is the number of their select bits. The evaluator knows
//!   zero labels of all but one, so it can double them: the zero label of `h[p]` and not `s[j]` is a hash of that of `h[p]`, and one block gives
//!   it the missing one.
//! - **Halving.** The last input `k` halves the table. For each pair of rows the evaluator gets the bit of one, hidden by a bit `r`: `u = row + r`.
//!   It knows every `u`, so `u` at the position of the other inputs is a sum of labels of `h`. The garbler knows both of what `u` can be, and one
//!   block makes the two sums agree. It remains to look up `r`, in a table of half as many rows that the garbler knows.
//! - The last `r` is one bit that the garbler knows.
//!
//! # Privacy
//!
//! The evaluator has one label of each input. All that it receives is hidden by a hash that it cannot compute, each under a number of its own:
//! the block of a doubling by the hash of the label of the one position that is true, all that an input sends by the hashes of its other label.
//! So bytes and labels are to it as random ones, if the hash is what half gates need it to be: labels that differ by delta, in messages that
//! depend on delta. Each `u` is hidden by a bit of that other label, or is a bit of its own label that the row has not touched.

use std::marker::PhantomData;

use garblet_circuit::TruthTable;
use garblet_primitives::{Bit, Block, Engine, GateHash, Kernel, QUAD_LANES};
use zeroize::Zeroizing;

/// A component that is garbled as a table.
pub(crate) struct Lookup {
    table: TruthTable,
    bytes: usize,
}

impl Lookup {
    /// # Panics
    /// If no table of this shape is garbled.
    pub(crate) fn new(table: TruthTable) -> Self {
        let bytes = TruthTable::garbled_bytes(table.inputs(), table.columns().len());
        Lookup { bytes: bytes.expect("a shape that is garbled") as usize, table }
    }

    /// The bytes of the garbled table.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn inputs(&self) -> usize {
        self.table.inputs() as usize
    }

    /// The number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.table.columns().len()
    }

    /// Bytes of the rows that are left when an input halves the table.
    fn row_bytes(&self, input: usize) -> usize {
        (self.outputs() << input).div_ceil(8)
    }
}

/// The seed of a table's hashes, whose numbers count from zero: keys of gates differ from it in the other half.
fn seed_of(hash_seed: Block, first_gate: u64) -> Block {
    hash_seed ^ Block::from_halves(0, first_gate.wrapping_add(1))
}

/// Hash calls under one number: an input's two labels.
const CALLS: u64 = 2;

/// Hashes of one table.
struct Hashes<E, H> {
    e: E,
    seed: Block,
    next: u64,
    hash: PhantomData<H>,
}

impl<E: Engine, H: GateHash> Hashes<E, H> {
    fn new(e: E, seed: Block) -> Self {
        Hashes { e, seed, next: 0, hash: PhantomData }
    }

    /// Takes numbers for this many blocks. They begin at a multiple of four.
    fn take(&mut self, blocks: usize) -> u64 {
        let first = self.next;
        self.next += blocks.next_multiple_of(QUAD_LANES) as u64;
        first
    }

    /// Hashes blocks under the numbers from `first` on.
    #[inline(always)]
    fn hash(&self, first: u64, blocks: &mut [Block]) {
        let mut key = None;
        for (quad, blocks) in blocks.chunks_mut(QUAD_LANES).enumerate() {
            let number = H::key_period(CALLS).split(first + (quad * QUAD_LANES) as u64);
            let (_, key) = match key.take() {
                Some((period, old)) if period == number.period => key.insert((period, old)),
                _ => key.insert((number.period, H::key(self.e, self.seed, number.period))),
            };
            let mut four = Zeroizing::new([Block::ZERO; QUAD_LANES]);
            four[..blocks.len()].copy_from_slice(blocks);
            let [[hashes]] = H::hash::<E, 1, 1>(self.e, key, number.local, [[self.e.load(&four)]]);
            blocks.copy_from_slice(&self.e.store(hashes)[..blocks.len()]);
        }
    }

    /// Hashes of one label: rows as bits, and a block for each output.
    #[inline(always)]
    fn of_label(&self, label: Block, [rows, labels]: [u64; 2], lookup: &Lookup, input: usize) -> LabelHashes {
        let mut bits = Zeroizing::new(vec![label; (lookup.outputs() << input).div_ceil(128)]);
        let mut blocks = Zeroizing::new(vec![label; lookup.outputs()]);
        self.hash(rows, &mut bits);
        self.hash(labels, &mut blocks);
        LabelHashes { rows: bits.iter().flat_map(|block| block.halves()).collect(), labels: blocks }
    }
}

struct LabelHashes {
    rows: Rows,
    labels: Zeroizing<Vec<Block>>,
}

/// Bits of rows, output after output.
///
/// *Secret*: what hides them, and on the garbler's side the rows; wiped on drop.
struct Rows(Zeroizing<Vec<u64>>);

impl FromIterator<u64> for Rows {
    fn from_iter<I: IntoIterator<Item = u64>>(words: I) -> Self {
        Rows(Zeroizing::new(words.into_iter().collect()))
    }
}

impl Rows {
    fn zeros(bits: usize) -> Self {
        Rows(Zeroizing::new(vec![0; bits.div_ceil(64)]))
    }

    /// At most 64 bits from a place on that is a multiple of their number, or whose word holds them all.
    fn get(&self, at: usize, count: usize) -> u64 {
        self.0[at / 64] >> (at % 64) & u64::MAX >> (64 - count)
    }

    fn set(&mut self, at: usize, bits: u64) {
        self.0[at / 64] |= bits << (at % 64);
    }

    fn to_bytes(&self, bytes: &mut [u8]) {
        for (bytes, word) in bytes.chunks_mut(8).zip(self.0.iter()) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        bytes.chunks(8).map(word).collect()
    }
}

/// The places of all rows of an output, at most 64 at a time: the first row and their number.
fn words(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).step_by(64).map(move |first| (first, rows.min(64)))
}

/// The sum of the blocks whose bits are set, at most 64.
#[inline(always)]
fn sum<E: Engine>(e: E, bits: u64, blocks: &[Block]) -> Block {
    let (quads, rest) = blocks.as_chunks::<QUAD_LANES>();
    let (mut word, mut lanes) = (bits, e.splat(Block::ZERO));
    for quad in quads {
        lanes = e.xor_if(e.bit::<0>(&[word, word >> 1, word >> 2, word >> 3]), lanes, e.load(quad));
        word >>= QUAD_LANES;
    }
    let mut sum = Block::ZERO;
    for lane in e.store(lanes) {
        sum ^= lane;
    }
    for (i, block) in rest.iter().enumerate() {
        sum ^= Block::mask(Bit::lowest_of(word >> i)) & *block;
    }
    sum
}

/// A table to garble.
pub(crate) struct GarbleLookup<'a> {
    pub(crate) lookup: &'a Lookup,
    pub(crate) delta: Block,
    pub(crate) hash_seed: Block,
    pub(crate) first_gate: u64,
    /// Zero labels of the inputs.
    pub(crate) inputs: &'a [Block],
    /// As many bytes as the table has.
    pub(crate) bytes: &'a mut [u8],
    /// Receives the zero labels of the outputs.
    pub(crate) outputs: &'a mut [Block],
}

/// A garbled table to evaluate.
pub(crate) struct EvaluateLookup<'a> {
    pub(crate) lookup: &'a Lookup,
    pub(crate) hash_seed: Block,
    pub(crate) first_gate: u64,
    /// Active labels of the inputs.
    pub(crate) inputs: &'a [Block],
    /// As many bytes as the table has.
    pub(crate) bytes: &'a [u8],
    /// Receives the active labels of the outputs.
    pub(crate) outputs: &'a mut [Block],
}

/// Runs with the hash `H`.
pub(crate) struct With<T, H>(pub(crate) T, pub(crate) PhantomData<H>);

impl<H: GateHash> Kernel for With<GarbleLookup<'_>, H> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let GarbleLookup { lookup, delta, hash_seed, first_gate, inputs, bytes, outputs } = self.0;
        let mut hashes = Hashes::<E, H>::new(e, seed_of(hash_seed, first_gate));
        // The label of each input whose select bit is 0: the zero label of the select bit.
        let select = |label: Block| Bit::lowest_of(label.halves()[0]);
        let zeros: Zeroizing<Vec<Block>> =
            Zeroizing::new(inputs.iter().map(|&label| label ^ Block::mask(select(label)) & delta).collect());
        let moved = Zeroizing::new(inputs.iter().map(|&label| select(label)).collect::<Vec<Bit>>());
        let (positions, mut rest) = bytes.split_at_mut(16 * (lookup.inputs() - 2));
        let nodes = garble_positions(&mut hashes, delta, &zeros, positions);
        let mut columns: Vec<Rows> = lookup.table.columns().iter().map(|column| move_rows(column, &moved)).collect();
        outputs.fill(Block::ZERO);
        for input in (0..lookup.inputs()).rev() {
            let (now, later) = rest.split_at_mut(lookup.row_bytes(input) + 16 * lookup.outputs());
            rest = later;
            let numbers = numbers(&mut hashes, lookup, input);
            // Written out, because `map` on an array is not always inlined.
            let of = [
                hashes.of_label(zeros[input], numbers, lookup, input),
                hashes.of_label(zeros[input] ^ delta, numbers, lookup, input),
            ];
            halve(e, input, &nodes[1 << input..][..1 << input], &of, &mut columns, (now, outputs));
        }
        for (output, column) in outputs.iter_mut().zip(&columns) {
            *output ^= Block::mask(Bit::lowest_of(column.get(0, 1))) & delta;
        }
    }
}

/// Numbers of the hashes for an input that halves the table: of rows, and of labels.
fn numbers<E: Engine, H: GateHash>(hashes: &mut Hashes<E, H>, lookup: &Lookup, input: usize) -> [u64; 2] {
    [hashes.take((lookup.outputs() << input).div_ceil(128)), hashes.take(lookup.outputs())]
}

/// Zero labels of all positions: those of the first `j` inputs begin at `2^j`.
#[inline(always)]
fn garble_positions<E: Engine, H: GateHash>(
    hashes: &mut Hashes<E, H>,
    delta: Block,
    zeros: &[Block],
    bytes: &mut [u8],
) -> Zeroizing<Vec<Block>> {
    let mut nodes = Zeroizing::new(vec![Block::ZERO; 1 << zeros.len()]);
    [nodes[1], nodes[2], nodes[3]] = [delta, zeros[0] ^ delta, zeros[0]];
    for (level, bytes) in (1..).zip(bytes.as_chunks_mut::<16>().0) {
        let (parents, children) = nodes[1 << level..].split_at_mut(1 << level);
        let (without, with) = children[..2 << level].split_at_mut(1 << level);
        without.copy_from_slice(parents);
        let first = hashes.take(without.len());
        hashes.hash(first, without);
        let mut sum = zeros[level];
        for ((parent, without), with) in parents.iter().zip(without).zip(with) {
            *with = *parent ^ *without;
            sum ^= *with;
        }
        *bytes = sum.to_bytes();
    }
    nodes
}

/// A column whose row `s` is row `s + moved` of the table.
fn move_rows(column: &[u64], moved: &[Bit]) -> Rows {
    let mut rows = Rows(Zeroizing::new(column.to_vec()));
    for (k, bit) in moved.iter().enumerate() {
        let mask = bit.word();
        if k < 6 {
            // The rows whose bit `k` is 0.
            let low = u64::MAX / ((1 << (1 << k)) + 1);
            for word in rows.0.iter_mut() {
                let swapped = (*word & low) << (1 << k) | *word >> (1 << k) & low;
                *word ^= (*word ^ swapped) & mask;
            }
        } else {
            for pair in rows.0.chunks_mut(2 << (k - 6)) {
                let (low, high) = pair.split_at_mut(1 << (k - 6));
                for (low, high) in low.iter_mut().zip(high) {
                    let difference = (*low ^ *high) & mask;
                    *low ^= difference;
                    *high ^= difference;
                }
            }
        }
    }
    rows
}

/// Halves the columns by an input; `of` are the hashes of its labels with select bits 0 and 1, `positions` zero labels.
#[inline(always)]
fn halve<E: Engine>(
    e: E,
    input: usize,
    positions: &[Block],
    of: &[LabelHashes; 2],
    columns: &mut [Rows],
    (bytes, outputs): (&mut [u8], &mut [Block]),
) {
    let rows = 1 << input;
    let (row_bytes, labels) = bytes.split_at_mut(bytes.len() - 16 * outputs.len());
    let mut sent = Rows::zeros(rows * columns.len());
    for (o, (column, output)) in columns.iter_mut().zip(outputs).enumerate() {
        let (mut of_zero, mut of_both) = (Block::ZERO, Block::ZERO);
        for (first, count) in words(rows) {
            let pair = [column.get(first, count), column.get(rows + first, count)];
            let hidden = [0, 1].map(|select| of[select].rows.get(o * rows + first, count));
            let both = pair[0] ^ pair[1];
            sent.set(o * rows + first, both ^ hidden[0] ^ hidden[1]);
            column.0[first / 64] = pair[0] ^ hidden[0];
            let positions = &positions[first..first + count];
            of_zero ^= sum(e, hidden[0], positions);
            of_both ^= sum(e, both, positions);
        }
        let [zero, one] = [0, 1].map(|select| of[select].labels[o]);
        labels[16 * o..][..16].copy_from_slice(&(of_both ^ zero ^ one).to_bytes());
        *output ^= of_zero ^ zero;
    }
    sent.to_bytes(row_bytes);
}

impl<H: GateHash> Kernel for With<EvaluateLookup<'_>, H> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let EvaluateLookup { lookup, hash_seed, first_gate, inputs, bytes, outputs } = self.0;
        let mut hashes = Hashes::<E, H>::new(e, seed_of(hash_seed, first_gate));
        let (positions, mut rest) = bytes.split_at(16 * (lookup.inputs() - 2));
        let nodes = evaluate_positions(&mut hashes, inputs, positions);
        outputs.fill(Block::ZERO);
        for (input, &label) in inputs.iter().enumerate().rev() {
            let (row_bytes, later) = rest.split_at(lookup.row_bytes(input));
            let (labels, later) = later.split_at(16 * lookup.outputs());
            rest = later;
            let numbers = numbers(&mut hashes, lookup, input);
            let of = hashes.of_label(label, numbers, lookup, input);
            let select = Bit::lowest_of(label.halves()[0]);
            let (sent, rows) = (Rows::from_bytes(row_bytes), 1 << input);
            let positions = &nodes[rows..][..rows];
            for (o, (output, sent_label)) in outputs.iter_mut().zip(labels.as_chunks::<16>().0).enumerate() {
                for (first, count) in words(rows) {
                    let at = o * rows + first;
                    let known = of.rows.get(at, count) ^ sent.get(at, count) & select.word();
                    *output ^= sum(e, known, &positions[first..first + count]);
                }
                *output ^= of.labels[o] ^ Block::mask(select) & Block::from_bytes(*sent_label);
            }
        }
    }
}

/// Labels of all positions, as [`garble_positions`] numbers them.
#[inline(always)]
fn evaluate_positions<E: Engine, H: GateHash>(
    hashes: &mut Hashes<E, H>,
    labels: &[Block],
    bytes: &[u8],
) -> Zeroizing<Vec<Block>> {
    let select = |label: Block| Bit::lowest_of(label.halves()[0]);
    let mut nodes = Zeroizing::new(vec![Block::ZERO; 1 << labels.len()]);
    // All ones at the position of the select bits, for the inputs so far.
    let mut here = Zeroizing::new(vec![Block::ZERO; 1 << labels.len()]);
    nodes[2..4].fill(labels[0]);
    [here[2], here[3]] = [!select(labels[0]), select(labels[0])].map(Block::mask);
    for (level, bytes) in (1..).zip(bytes.as_chunks::<16>().0) {
        let bit = Block::mask(select(labels[level]));
        let (parents, children) = nodes[1 << level..].split_at_mut(1 << level);
        let (without, with) = children[..2 << level].split_at_mut(1 << level);
        let (at, below) = here[1 << level..].split_at_mut(1 << level);
        let (below_without, below_with) = below[..2 << level].split_at_mut(1 << level);
        without.copy_from_slice(parents);
        let first = hashes.take(without.len());
        hashes.hash(first, without);
        let mut missing = labels[level] ^ Block::from_bytes(*bytes);
        let off = Block::mask(true);
        for p in 0..parents.len() {
            with[p] = parents[p] ^ without[p];
            missing ^= with[p] & (at[p] ^ off);
            below_with[p] = at[p] & bit;
            below_without[p] = at[p] ^ below_with[p];
        }
        for p in 0..parents.len() {
            with[p] ^= (with[p] ^ missing) & at[p];
            without[p] = parents[p] ^ with[p];
        }
    }
    nodes
}
