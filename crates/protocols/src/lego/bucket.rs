//! Evaluating buckets: the key that most of the components vouch for.
//!
//! *Source*: Frederiksen et al. 2015; Nielsen, Schneider and Trifiletti 2017, section II. Of a bucket that is not bad the true key is
//! always accepted and garbage never. If two keys are accepted, their sum is the difference: the constructor has cheated and
//! given away its secret, and [`extract`](super::extract) uses it.

use std::sync::{Arc, OnceLock};

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use garblet_circuit::Party;
use garblet_garble::{BucketEvaluator, GateBuckets, Schedules};
use garblet_primitives::Block;
use garblet_store::SLACK_BYTES;
use subtle::ConstantTimeEq;

use super::{
    PAST,
    ands::{Ands, Aside},
    gates::Components,
    plan::Plan,
};
use crate::{
    checks::{Cheating, Check},
    error::ProtocolError,
};

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

    /// Makes room for so many buckets more, which have so many gates and authenticators.
    pub(super) fn reserve(&mut self, buckets: usize, [gates, authenticators]: [usize; 2]) {
        self.gates.reserve(gates);
        self.authenticators.reserve(authenticators);
        self.gate_ends.reserve(buckets);
        self.authenticator_ends.reserve(buckets);
    }

    /// Leaves room for others.
    pub(super) fn clear(&mut self) {
        self.gates.clear();
        self.authenticators.clear();
        self.gate_ends.clear();
        self.authenticator_ends.clear();
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.gate_ends.len()
    }

    /// Joins the buckets from `first` on to what the solderings of their left and right inputs lead from.
    pub(super) fn join(&mut self, first: usize, solderings: &[[Block; 2]]) {
        for (bucket, [left, right]) in (first..).zip(solderings) {
            for gate in self.gates_mut(bucket) {
                gate.left ^= *left;
                gate.right ^= *right;
            }
        }
    }

    /// How many gates and authenticators each bucket has.
    pub(super) fn sizes(&self) -> Vec<[u8; 2]> {
        (0..self.len())
            .map(|bucket| [self.gates(bucket).len() as u8, self.authenticators(bucket).len() as u8])
            .collect()
    }

    /// All gates, and all authenticators.
    pub(super) fn bytes(&self) -> [&[u8]; 2] {
        [cast_slice(&self.gates), cast_slice(&self.authenticators)]
    }

    /// Becomes buckets of these sizes, of which `fill` fills in all gates, part 0, and then all authenticators, part 1. What it
    /// fills has [`SLACK_BYTES`] more.
    pub(super) fn lay_out<E>(
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
    fn gate_buckets(&self) -> GateBuckets<'_> {
        GateBuckets { gates: &self.gates, ends: &self.gate_ends }
    }
}

/// Where a bucket begins.
fn start(ends: &[usize], bucket: usize) -> usize {
    bucket.checked_sub(1).map_or(0, |before| ends[before])
}

/// Has so many items filled in, in a room that has [`SLACK_BYTES`] more.
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

/// Inputs whose keys are hashed at once: what that takes stays in the cache.
const INPUTS_AT_ONCE: usize = 64;

/// All components that the evaluator has for a run, in their buckets.
pub(super) struct Material {
    pub(super) components: Arc<Components>,
    /// One for every AND gate.
    pub(super) ands: Ands,
    /// One for every two inputs of the constructor.
    pub(super) input_gates: Aside,
    /// Authenticators of every input bit.
    pub(super) inputs: Aside,
}

/// What a bucket gives.
struct Given {
    key: Block,
    /// The difference, if the bucket has shown it.
    delta: Option<Block>,
}

impl Material {
    /// The keys of all outputs for those of all inputs, once the buckets are joined, and the difference if a bucket has
    /// shown it.
    ///
    /// *Shape*: `schedules` of the program.
    ///
    /// *Cost*: instances that do not read one another run on so many threads.
    ///
    /// *Errors*: the disk's.
    pub(super) fn evaluate(
        &self,
        plan: &Plan,
        schedules: &Schedules,
        keys: &[Block],
        threads: usize,
    ) -> Result<(Vec<Block>, Option<Block>), ProtocolError> {
        let components = self.components.clone();
        let gates = components.single_gates();
        let mut evaluator = BucketEvaluator::new(gates, plan.program(), schedules, plan.by_port(keys)).on(threads);
        let shown = OnceLock::new();
        self.ands.visit(plan, threads, |range, buckets| {
            evaluator.run(range.len(), (0, buckets.gate_buckets()), &|bucket, keys| {
                let given = vote(&components, buckets.authenticators(bucket), keys);
                given.delta.into_iter().for_each(|delta| _ = shown.set(delta));
                given.key
            });
        })?;
        Ok((evaluator.into_outputs().iter().flatten().copied().collect(), shown.into_inner()))
    }

    /// Checks that most authenticators of each of a party's inputs accept its key. Kept keys have none: they were found right when
    /// they were made.
    ///
    /// *Shape*: the owners of all inputs; a key for each of the party's.
    ///
    /// *Errors*: [`Check::InputKey`] for the first that is wrong; the disk's.
    pub(super) fn check_keys(&mut self, owners: &[Party], party: Party, keys: &[Block]) -> Result<(), ProtocolError> {
        let inputs = self.inputs.get()?;
        let authenticated = owners.iter().enumerate().filter(|(_, owner)| **owner != PAST);
        let own = authenticated.enumerate().filter(|(_, (_, owner))| **owner == party);
        // By the number among all inputs, and among those that have authenticators.
        let own: Vec<(usize, usize, Block)> =
            own.zip(keys).map(|((number, (input, _)), &key)| (input, number, key)).collect();
        let (mut numbers, mut hashes) = (Vec::new(), Vec::new());
        for own in own.chunks(INPUTS_AT_ONCE) {
            numbers.clear();
            hashes.clear();
            for &(_, number, key) in own {
                let authenticators = inputs.authenticators(number);
                numbers.extend(authenticators.iter().map(|of| of.number));
                hashes.extend(authenticators.iter().map(|of| key ^ of.wire));
            }
            self.components.authenticator_hashes(&numbers, &mut hashes);
            let mut rest = &hashes[..];
            for &(input, number, _) in own {
                let authenticators = inputs.authenticators(number);
                let (own, others) = rest.split_at(authenticators.len());
                rest = others;
                let accepting = authenticators.iter().zip(own).filter(|(of, hash)| of.is(**hash)).count();
                if 2 * accepting <= authenticators.len() {
                    return Err(Cheating::new(Check::InputKey, format!("input bit {input} of party {party}")).into());
                }
            }
        }
        Ok(())
    }
}

/// A bucket's gates disagree: those and its authenticators vote.
fn vote(components: &Components, authenticators: &[BucketAuthenticator], keys: &[Block]) -> Given {
    let mut different: Vec<Block> = Vec::new();
    keys.iter().for_each(|&key| {
        if different.iter().all(|&other| other != key) {
            different.push(key)
        }
    });
    let votes =
        |key: Block| keys.iter().filter(|&&other| other == key).count() + accepting(components, authenticators, key);
    let accepted: Vec<Block> = different.iter().copied().filter(|&key| votes(key) >= keys.len()).collect();
    match accepted[..] {
        [key] => Given { key, delta: None },
        [key, other, ..] => Given { key, delta: Some(key ^ other) },
        // A bad bucket, which has the probability of the bounds.
        [] => Given { key: different.into_iter().max_by_key(|&key| votes(key)).unwrap_or_default(), delta: None },
    }
}

/// How many of a bucket's authenticators accept a key.
pub(super) fn accepting(components: &Components, authenticators: &[BucketAuthenticator], key: Block) -> usize {
    authenticators.iter().filter(|of| components.accepts(of.number, &of.pair, key ^ of.wire)).count()
}

impl BucketAuthenticator {
    /// Whether it is an authenticator of what has this hash.
    fn is(&self, hash: Block) -> bool {
        (hash.ct_eq(&self.pair[0]) | hash.ct_eq(&self.pair[1])).into()
    }
}
