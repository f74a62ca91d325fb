//! AND gates garbled by themselves, several of which evaluate each AND gate of a program.
//!
//! They were garbled as [instances](crate::ComponentGarbling) of one gate, with half gates under the hash whose key changes. Gates
//! that now come together were garbled far apart, so each has its own hash key.

use bytemuck::{Pod, Zeroable};
use garblet_primitives::{AndGates, Backend, Block, Engine, Kernel, QUAD_LANES, Rekeyed, each, numbered, secrets};
use zeroize::Zeroizing;

use crate::{
    run::Piece,
    scheme::{HalfGates, Scheme},
};

/// A garbled AND gate and the blocks that shift the labels of its wires.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct SolderedGate {
    /// The position of its hashes.
    place: Block,
    /// The garbled table.
    pub table: [Block; 2],
    /// The block that turns labels of the wire joined to its left input into labels of that input.
    pub left: Block,
    /// The same for the right input.
    pub right: Block,
    /// The block that turns its output label into a label of the wire joined to its output.
    pub output: Block,
}

impl SolderedGate {
    /// An instance of a component that is an AND gate, joined to nothing yet.
    pub fn new(number: u64, table: [Block; 2]) -> Self {
        SolderedGate { place: Rekeyed::place(number, HalfGates::CALLS, 2), table, ..SolderedGate::default() }
    }
}

/// Buckets of gates, one after another.
#[derive(Clone, Copy)]
pub struct GateBuckets<'a> {
    /// The gates of all buckets.
    pub gates: &'a [SolderedGate],
    /// The place where each bucket ends.
    pub ends: &'a [usize],
}

/// Resolves a bucket whose gates disagree: gets its number and the label of each gate, and returns the bucket's label.
pub(crate) type ResolveConflict<'a> = &'a (dyn Fn(usize, &[Block]) -> Block + Sync);

/// Evaluates gates garbled under one hash seed.
#[derive(Clone, Copy)]
pub struct SolderedGates {
    pub(crate) backend: Backend,
    pub(crate) seed: Block,
}

impl SolderedGates {
    /// An evaluator of gates garbled under this hash seed.
    pub fn new(hash_seed: Block) -> Self {
        Self::with_backend(Backend::detect(), hash_seed)
    }

    /// The same on this backend.
    pub fn with_backend(backend: Backend, hash_seed: Block) -> Self {
        SolderedGates { backend, seed: hash_seed }
    }

    /// The label that each gate of a bucket gives for labels of the wires joined to the bucket.
    pub fn each(&self, gates: &[SolderedGate], labels: [Block; 2]) -> Vec<Block> {
        self.backend.run(Each { seed: self.seed, gates, labels })
    }
}

/// Four gates, each with the labels of the wires joined to it.
#[inline(always)]
fn quad<E: Engine>(e: E, seed: E::Quad, gates: [&SolderedGate; QUAD_LANES], labels: [E::Quad; 2]) -> E::Quad {
    // Written out: closures in closures are not always inlined, and a call would cost more than the gates.
    let [g0, g1, g2, g3] = gates;
    let a = e.xor(labels[0], e.load_each([&g0.left, &g1.left, &g2.left, &g3.left]));
    let b = e.xor(labels[1], e.load_each([&g0.right, &g1.right, &g2.right, &g3.right]));
    let places = e.load_each([&g0.place, &g1.place, &g2.place, &g3.place]);
    let hashes = Rekeyed::hash_each(e, seed, places, [a, b]);
    let rows = [
        e.load_each([&g0.table[0], &g1.table[0], &g2.table[0], &g3.table[0]]),
        e.load_each([&g0.table[1], &g1.table[1], &g2.table[1], &g3.table[1]]),
    ];
    let outputs = e.load_each([&g0.output, &g1.output, &g2.output, &g3.output]);
    e.xor(HalfGates::join(e, [a, b], hashes, rows), outputs)
}

/// Up to four of some gates, padded to four with the last one.
#[inline(always)]
fn lanes(gates: &[SolderedGate]) -> [&SolderedGate; QUAD_LANES] {
    numbered(
        #[inline(always)]
        |lane| &gates[lane.min(gates.len() - 1)],
    )
}

struct Each<'a> {
    seed: Block,
    gates: &'a [SolderedGate],
    labels: [Block; 2],
}

impl Kernel for Each<'_> {
    type Output = Vec<Block>;

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> Vec<Block> {
        let (seed, labels) = (e.splat(self.seed), [e.splat(self.labels[0]), e.splat(self.labels[1])]);
        let mut given = Vec::with_capacity(self.gates.len().next_multiple_of(QUAD_LANES));
        for gates in self.gates.chunks(QUAD_LANES) {
            given.extend(e.store(quad(e, seed, lanes(gates), labels)));
        }
        given.truncate(self.gates.len());
        given
    }
}

/// A piece whose AND gates are evaluated by the buckets from number `first` on.
pub(crate) struct RunBuckets<'a> {
    pub(crate) piece: Piece<'a>,
    pub(crate) first: usize,
    pub(crate) buckets: GateBuckets<'a>,
    pub(crate) resolve: ResolveConflict<'a>,
}

impl Kernel for RunBuckets<'_> {
    /// The number of AND gates run.
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(self, e: E) -> usize {
        let RunBuckets { piece, first, buckets, resolve } = self;
        let begin = first.checked_sub(1).map_or(0, |before| buckets.ends[before]);
        let (sizes, owners, given) = ([0; QUAD_LANES], Vec::new(), Zeroizing::default());
        let mut ands: Ands<'_, E> =
            Ands { seed: e.splat(piece.hash_seed), buckets, next: first, begin, sizes, owners, given, resolve };
        piece.gates.run::<E, _, 1>(e, piece.cursor, piece.slots, piece.limit, &mut ands)
    }
}

struct Ands<'a, E: Engine> {
    seed: E::Quad,
    buckets: GateBuckets<'a>,
    /// The next bucket, and its first gate.
    next: usize,
    begin: usize,
    /// The sizes of the last four buckets, and the bucket of each of their gates, padded to fours.
    sizes: [usize; QUAD_LANES],
    owners: Vec<[usize; QUAD_LANES]>,
    /// The labels that the gates give.
    given: Zeroizing<Vec<[Block; QUAD_LANES]>>,
    resolve: ResolveConflict<'a>,
}

impl<E: Engine> Ands<'_, E> {
    /// Takes the next buckets: their gates.
    #[inline(always)]
    fn take(&mut self, count: usize) -> std::ops::Range<usize> {
        let (mut sizes, mut at) = ([0; QUAD_LANES], self.begin);
        for (size, &end) in sizes.iter_mut().zip(&self.buckets.ends[self.next..][..count]) {
            *size = end - at;
            at = end;
        }
        if sizes != self.sizes {
            self.lay_out(sizes);
        }
        let gates = self.begin..at;
        self.begin = at;
        self.next += count;
        gates
    }

    #[cold]
    fn lay_out(&mut self, sizes: [usize; QUAD_LANES]) {
        let owners: Vec<usize> = (0..QUAD_LANES).flat_map(|owner| std::iter::repeat_n(owner, sizes[owner])).collect();
        let four = |owners: &[usize]| std::array::from_fn(|lane| owners[lane.min(owners.len() - 1)]);
        self.owners = owners.chunks(QUAD_LANES).map(four).collect();
        self.given = Zeroizing::new(vec![[Block::ZERO; QUAD_LANES]; self.owners.len()]);
        self.sizes = sizes;
    }
}

impl<E: Engine> AndGates<E> for Ands<'_, E> {
    #[inline(always)]
    fn begin(&mut self, _e: E, count: usize) -> usize {
        count
    }

    #[inline(always)]
    fn quad(&mut self, e: E, count: usize, labels: [E::Quad; 2], _inverted: [E::Mask; 2]) -> E::Quad {
        let first = self.next;
        let range = self.take(count);
        let gates = &self.buckets.gates[range];
        let [left, right] = each(
            labels,
            #[inline(always)]
            |labels| e.store(labels),
        );
        for ((gates, owners), given) in gates.chunks(QUAD_LANES).zip(&self.owners).zip(self.given.iter_mut()) {
            let [o0, o1, o2, o3] = each(
                *owners,
                #[inline(always)]
                |owner| owner % QUAD_LANES,
            );
            let labels = [
                e.load_each([&left[o0], &left[o1], &left[o2], &left[o3]]),
                e.load_each([&right[o0], &right[o1], &right[o2], &right[o3]]),
            ];
            *given = e.store(quad(e, self.seed, lanes(gates), labels));
        }
        let mut results = [Block::ZERO; QUAD_LANES];
        let mut rest = self.given.as_flattened();
        for (lane, result) in results.iter_mut().enumerate().take(count) {
            let (given, later) = rest.split_at(self.sizes[lane]);
            rest = later;
            *result = match agreed(given) {
                Some(label) => label,
                None => (self.resolve)(first + lane, given),
            };
        }
        e.load(&results)
    }
}

/// The label that all gates of a bucket give, if they agree.
#[inline(always)]
fn agreed(given: &[Block]) -> Option<Block> {
    let (&first, others) = given.split_first()?;
    let difference = others.iter().fold(0, |sum, &other| sum | (first ^ other).to_u128());
    secrets::public(difference == 0, "lego: whether the gates of a bucket agree, as those of an honest party do")
        .then_some(first)
}

#[cfg(test)]
pub(crate) mod tests;
