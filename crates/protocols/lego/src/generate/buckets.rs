//! The evaluator's buckets of soldered gates and authenticators.

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use garblet_garble::GateBuckets;
use garblet_primitives::Block;
use garblet_store::SLACK_BYTES;
use subtle::ConstantTimeEq;

/// A garbled gate and the blocks that join it to the first gate of its bucket, and once the function is known to the function's wires.
/// Its output is shifted to the committed key, and from there to the first gate's.
pub(crate) type BucketGate = garblet_garble::SolderedGate;

/// A wire authenticator and the block that joins it to the wire of its bucket.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BucketAuthenticator {
    pub(crate) number: u64,
    pub(crate) unused: u64,
    pub(crate) pair: [Block; 2],
    pub(crate) wire: Block,
}

impl BucketAuthenticator {
    /// Tells whether it accepts a key with this hash.
    pub(crate) fn is(&self, hash: Block) -> bool {
        (hash.ct_eq(&self.pair[0]) | hash.ct_eq(&self.pair[1])).into()
    }
}

/// Buckets one after another, each with a number of gates and authenticators.
#[derive(Default)]
pub(crate) struct Buckets {
    gates: Vec<BucketGate>,
    authenticators: Vec<BucketAuthenticator>,
    /// The ends of the gates, and of the authenticators, of each bucket.
    gate_ends: Vec<usize>,
    authenticator_ends: Vec<usize>,
}

impl Buckets {
    pub(crate) fn push(
        &mut self,
        gates: impl IntoIterator<Item = BucketGate>,
        authenticators: impl IntoIterator<Item = BucketAuthenticator>,
    ) {
        self.gates.extend(gates);
        self.authenticators.extend(authenticators);
        self.gate_ends.push(self.gates.len());
        self.authenticator_ends.push(self.authenticators.len());
    }

    /// Reserves room for further buckets with these numbers of gates and authenticators.
    pub(crate) fn reserve(&mut self, buckets: usize, [gates, authenticators]: [usize; 2]) {
        self.gates.reserve(gates);
        self.authenticators.reserve(authenticators);
        self.gate_ends.reserve(buckets);
        self.authenticator_ends.reserve(buckets);
    }

    /// Empties it, and keeps the memory for others.
    pub(crate) fn clear(&mut self) {
        self.gates.clear();
        self.authenticators.clear();
        self.gate_ends.clear();
        self.authenticator_ends.clear();
    }

    pub(crate) fn gates(&self, bucket: usize) -> &[BucketGate] {
        &self.gates[start(&self.gate_ends, bucket)..self.gate_ends[bucket]]
    }

    pub(crate) fn authenticators(&self, bucket: usize) -> &[BucketAuthenticator] {
        &self.authenticators[start(&self.authenticator_ends, bucket)..self.authenticator_ends[bucket]]
    }

    pub(crate) fn gates_mut(&mut self, bucket: usize) -> &mut [BucketGate] {
        &mut self.gates[start(&self.gate_ends, bucket)..self.gate_ends[bucket]]
    }

    /// The number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.gate_ends.len()
    }

    /// Joins the buckets from `first` on to the sources of their left and right inputs' solderings.
    pub(crate) fn join(&mut self, first: usize, solderings: &[[Block; 2]]) {
        for (bucket, [left, right]) in (first..).zip(solderings) {
            for gate in self.gates_mut(bucket) {
                gate.left ^= *left;
                gate.right ^= *right;
            }
        }
    }

    /// The numbers of gates and authenticators of each bucket.
    pub(crate) fn sizes(&self) -> Vec<[u8; 2]> {
        (0..self.len())
            .map(|bucket| [self.gates(bucket).len() as u8, self.authenticators(bucket).len() as u8])
            .collect()
    }

    /// All gates, and all authenticators.
    pub(crate) fn bytes(&self) -> [&[u8]; 2] {
        [cast_slice(&self.gates), cast_slice(&self.authenticators)]
    }

    /// Becomes buckets of these sizes. `fill` fills in all gates (part 0), and then all authenticators (part 1). Its buffer has
    /// [`SLACK_BYTES`] more.
    pub(crate) fn lay_out<E>(
        &mut self,
        sizes: &[[u8; 2]],
        mut fill: impl FnMut(usize, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.gate_ends.clear();
        self.authenticator_ends.clear();
        let mut ends = [0; 2];
        for size in sizes {
            ends = [0, 1].map(|kind| ends[kind] + usize::from(size[kind]));
            self.gate_ends.push(ends[0]);
            self.authenticator_ends.push(ends[1]);
        }
        fill_in(&mut self.gates, ends[0], |into| fill(0, into))?;
        fill_in(&mut self.authenticators, ends[1], |into| fill(1, into))
    }

    /// The gates, as they are evaluated.
    pub(crate) fn gate_buckets(&self) -> GateBuckets<'_> {
        GateBuckets { gates: &self.gates, ends: &self.gate_ends }
    }
}

/// The index at which a bucket begins.
fn start(ends: &[usize], bucket: usize) -> usize {
    bucket.checked_sub(1).map_or(0, |before| ends[before])
}

/// Fills in `count` items, in a buffer with [`SLACK_BYTES`] more.
fn fill_in<T: Pod + Default, E>(
    items: &mut Vec<T>,
    count: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
) -> Result<(), E> {
    let slack = SLACK_BYTES.div_ceil(size_of::<T>());
    items.resize(count + slack, T::default());
    let filled = fill(&mut cast_slice_mut(items)[..count * size_of::<T>() + SLACK_BYTES]);
    items.truncate(count);
    filled
}
