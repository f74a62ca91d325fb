//! Evaluating buckets: the key that most of the components vouch for.
//!
//! *Source*: Frederiksen et al. 2015; Nielsen, Schneider and Trifiletti 2017, section II. Of a bucket that is not bad the true key is
//! always accepted and garbage never. If two keys are accepted, their sum is the difference: the constructor has cheated and
//! given away its secret, and [`extract`](super::extract) uses it.

use std::{ops::Range, sync::Arc};

use bytemuck::{Pod, Zeroable};
use garblet_primitives::Block;

use super::gates::Components;

/// A garbled gate and what joins it to the first of its bucket.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct BucketGate {
    pub(super) number: u64,
    pub(super) unused: u64,
    pub(super) table: [Block; 2],
    pub(super) left: Block,
    pub(super) right: Block,
    /// What moves the gate's key to the one that is committed to, and from there to the first gate's.
    pub(super) output: Block,
}

/// A wire authenticator and what joins it to the wire of its bucket.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct BucketAuthenticator {
    pub(super) number: u64,
    pub(super) unused: u64,
    pub(super) pair: [Block; 2],
    pub(super) wire: Block,
}

/// Buckets one after another, each of so many gates and authenticators.
#[derive(Default)]
pub(super) struct Buckets {
    gates: Vec<BucketGate>,
    authenticators: Vec<BucketAuthenticator>,
    /// Where each bucket ends.
    ends: Vec<[usize; 2]>,
}

impl Buckets {
    pub(super) fn push(
        &mut self,
        gates: impl IntoIterator<Item = BucketGate>,
        authenticators: impl IntoIterator<Item = BucketAuthenticator>,
    ) {
        self.gates.extend(gates);
        self.authenticators.extend(authenticators);
        self.ends.push([self.gates.len(), self.authenticators.len()]);
    }

    fn ranges(&self, bucket: usize) -> [Range<usize>; 2] {
        let starts = bucket.checked_sub(1).map_or([0; 2], |before| self.ends[before]);
        [0, 1].map(|kind| starts[kind]..self.ends[bucket][kind])
    }

    pub(super) fn gates(&self, bucket: usize) -> &[BucketGate] {
        &self.gates[self.ranges(bucket)[0].clone()]
    }

    pub(super) fn authenticators(&self, bucket: usize) -> &[BucketAuthenticator] {
        &self.authenticators[self.ranges(bucket)[1].clone()]
    }

    #[cfg(test)]
    pub(super) fn gates_mut(&mut self, bucket: usize) -> &mut [BucketGate] {
        let range = self.ranges(bucket)[0].clone();
        &mut self.gates[range]
    }
}

/// All components that the evaluator has for a run, in their buckets.
pub(super) struct Material {
    pub(super) components: Arc<Components>,
    /// One for every AND gate.
    pub(super) ands: Buckets,
    /// One for every two inputs of the constructor.
    pub(super) input_gates: Buckets,
    /// Authenticators of every input bit.
    pub(super) inputs: Buckets,
}

/// What a bucket gives.
pub(super) struct Given {
    pub(super) key: Block,
    /// The difference, if the bucket has shown it.
    pub(super) delta: Option<Block>,
}

impl Material {
    /// The key that an AND bucket gives for keys of its first gate's inputs.
    pub(super) fn and(&self, bucket: usize, left: Block, right: Block) -> Given {
        let keys = self.and_gates(bucket, left, right);
        match keys.iter().all(|&key| key == keys[0]) {
            true => Given { key: keys[0], delta: None },
            false => self.vote(self.ands.authenticators(bucket), &keys),
        }
    }

    /// What each gate of an AND bucket gives.
    pub(super) fn and_gates(&self, bucket: usize, left: Block, right: Block) -> Vec<Block> {
        self.gates(self.ands.gates(bucket), left, right)
    }

    /// What each gate of an input bucket gives.
    pub(super) fn input_gates(&self, bucket: usize, left: Block, right: Block) -> Vec<Block> {
        self.gates(self.input_gates.gates(bucket), left, right)
    }

    fn gates(&self, gates: &[BucketGate], left: Block, right: Block) -> Vec<Block> {
        let numbers: Vec<u64> = gates.iter().map(|gate| gate.number).collect();
        let tables: Vec<&[u8]> = gates.iter().map(|gate| bytemuck::bytes_of(&gate.table)).collect();
        let inputs: Vec<Block> = gates.iter().flat_map(|gate| [left ^ gate.left, right ^ gate.right]).collect();
        let mut keys = vec![Block::ZERO; gates.len()];
        self.components.evaluate(&numbers, &inputs, &tables, &mut keys);
        keys.iter_mut().zip(gates).for_each(|(key, gate)| *key ^= gate.output);
        keys
    }

    /// A bucket's gates disagree: those and its authenticators vote.
    fn vote(&self, authenticators: &[BucketAuthenticator], keys: &[Block]) -> Given {
        let mut different: Vec<Block> = Vec::new();
        keys.iter().for_each(|&key| {
            if different.iter().all(|&other| other != key) {
                different.push(key)
            }
        });
        let votes = |key: Block| {
            let gates = keys.iter().filter(|&&other| other == key).count();
            gates + self.accepting(authenticators, key)
        };
        let accepted: Vec<Block> = different.iter().copied().filter(|&key| votes(key) >= keys.len()).collect();
        match accepted[..] {
            [key] => Given { key, delta: None },
            [key, other, ..] => Given { key, delta: Some(key ^ other) },
            // A bad bucket, which has the probability of the bounds.
            [] => Given { key: different.into_iter().max_by_key(|&key| votes(key)).unwrap_or_default(), delta: None },
        }
    }

    /// How many of the authenticators accept the key of their wire.
    fn accepting(&self, authenticators: &[BucketAuthenticator], key: Block) -> usize {
        authenticators.iter().filter(|of| self.components.accepts(of.number, &of.pair, key ^ of.wire)).count()
    }

    /// Whether most authenticators of an input accept its key.
    pub(super) fn input_is_valid(&self, input: usize, key: Block) -> bool {
        let authenticators = self.inputs.authenticators(input);
        2 * self.accepting(authenticators, key) > authenticators.len()
    }
}
