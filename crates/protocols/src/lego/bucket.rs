//! Evaluating buckets: the key that most of the components vouch for.
//!
//! *Source*: Frederiksen et al. 2015; Nielsen, Schneider and Trifiletti 2017, section II. Of a bucket that is not bad the true key is
//! always accepted and garbage never. If two keys are accepted, their sum is the difference: the constructor has cheated and
//! given away its secret, and [`extract`](super::extract) uses it.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use garblet_circuit::Walk;
use garblet_garble::{BucketCircuit, GateBuckets};
use garblet_primitives::Block;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::{gates::Components, plan::Plan};

/// A garbled gate and what joins it to the first of its bucket; once the function is known, to the wires that are there.
/// Its output is moved to the key that is committed to, and from there to the first gate's.
pub(super) type BucketGate = garblet_garble::SingleGate;

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
    /// Where the gates, and where the authenticators, of each bucket end.
    gate_ends: Vec<usize>,
    authenticator_ends: Vec<usize>,
}

impl Buckets {
    pub(super) fn push(
        &mut self,
        gates: impl IntoIterator<Item = BucketGate>,
        authenticators: impl IntoIterator<Item = BucketAuthenticator>,
    ) {
        self.gates.extend(gates);
        self.authenticators.extend(authenticators);
        self.gate_ends.push(self.gates.len());
        self.authenticator_ends.push(self.authenticators.len());
    }

    pub(super) fn gates(&self, bucket: usize) -> &[BucketGate] {
        &self.gates[start(&self.gate_ends, bucket)..self.gate_ends[bucket]]
    }

    pub(super) fn authenticators(&self, bucket: usize) -> &[BucketAuthenticator] {
        &self.authenticators[start(&self.authenticator_ends, bucket)..self.authenticator_ends[bucket]]
    }

    pub(super) fn gates_mut(&mut self, bucket: usize) -> &mut [BucketGate] {
        &mut self.gates[start(&self.gate_ends, bucket)..self.gate_ends[bucket]]
    }
}

/// Where a bucket begins.
fn start(ends: &[usize], bucket: usize) -> usize {
    bucket.checked_sub(1).map_or(0, |before| ends[before])
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
struct Given {
    key: Block,
    /// The difference, if the bucket has shown it.
    delta: Option<Block>,
}

impl Material {
    /// Joins the AND buckets to the function: `solderings` lead from the left and right input of each gate to the first
    /// gate of its bucket.
    pub(super) fn join(&mut self, solderings: &[[Block; 2]]) {
        for (bucket, [left, right]) in solderings.iter().enumerate() {
            for gate in self.ands.gates_mut(bucket) {
                gate.left ^= *left;
                gate.right ^= *right;
            }
        }
    }

    /// The keys of all outputs for those of all inputs, once the buckets are joined, and the difference if a bucket has
    /// shown it.
    ///
    /// *Shape*: `circuits` as the program's components.
    pub(super) fn evaluate(
        &self,
        plan: &Plan,
        circuits: &[BucketCircuit],
        keys: &[Block],
    ) -> (Vec<Block>, Option<Block>) {
        let mut walk = Walk::new(plan.program(), plan.by_port(keys), [Block::ZERO; 2]);
        let (mut evaluator, buckets) = (self.components.buckets(), self.gate_buckets());
        let (mut first, mut shown) = (0, None);
        let (mut wires, mut outputs) = (Vec::new(), Vec::new());
        let mut judge = |bucket: usize, keys: &[Block]| {
            let given = self.vote(self.ands.authenticators(bucket), keys);
            shown = shown.or(given.delta);
            given.key
        };
        while let Some(instance) = walk.next_instance(&mut wires) {
            let circuit = &circuits[plan.program().component_id(instance).0 as usize];
            evaluator.run(circuit, (first, buckets), &wires, &mut outputs, &mut judge);
            walk.finish(instance, &outputs);
            first += circuit.and_count();
            wires.zeroize();
            outputs.zeroize();
        }
        (walk.into_outputs().iter().flatten().copied().collect(), shown)
    }

    fn gate_buckets(&self) -> GateBuckets<'_> {
        GateBuckets { gates: &self.ands.gates, ends: &self.ands.gate_ends }
    }

    /// What each gate of an AND bucket gives for keys of the wires that it is joined to.
    pub(super) fn and_gates(&self, bucket: usize, left: Block, right: Block) -> Vec<Block> {
        self.components.buckets().each(self.ands.gates(bucket), [left, right])
    }

    /// What each gate of an input bucket gives for keys of its first gate's inputs.
    pub(super) fn input_gates(&self, bucket: usize, left: Block, right: Block) -> Vec<Block> {
        self.components.buckets().each(self.input_gates.gates(bucket), [left, right])
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

    /// The first of the inputs whose key most of its authenticators do not accept.
    ///
    /// *Shape*: the keys of the first inputs.
    pub(super) fn first_wrong_input(&self, keys: &[Block]) -> Option<usize> {
        let of_input =
            |(input, &key): (usize, &Block)| self.inputs.authenticators(input).iter().map(move |of| (of, key));
        let all = keys.iter().enumerate().flat_map(of_input);
        let numbers: Vec<u64> = all.clone().map(|(of, _)| of.number).collect();
        let mut hashes: Vec<Block> = all.map(|(of, key)| key ^ of.wire).collect();
        self.components.authenticator_hashes(&numbers, &mut hashes);
        let mut hashes = hashes.into_iter();
        (0..keys.len()).find(|&input| {
            let authenticators = self.inputs.authenticators(input);
            let accepting = authenticators.iter().zip(&mut hashes).filter(|(of, hash)| of.is(*hash)).count();
            2 * accepting <= authenticators.len()
        })
    }
}

impl BucketAuthenticator {
    /// Whether it is an authenticator of what has this hash.
    fn is(&self, hash: Block) -> bool {
        (hash.ct_eq(&self.pair[0]) | hash.ct_eq(&self.pair[1])).into()
    }
}
