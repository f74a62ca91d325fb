//! Evaluating buckets: the key that most of the components support.
//!
//! *Source*: Frederiksen et al. 2015; Nielsen, Schneider and Trifiletti 2017, section II. A bucket that is not bad always accepts the true key, and never
//! garbage. If it accepts two keys, their sum is the difference: the constructor has cheated and revealed its secret, and
//! [`extract`](super::extract) uses it. The evaluation can continue with either key: the following buckets give keys of their wires.

use crate::checks;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use garblet_garble::{BucketEvaluator, Schedules};
use garblet_primitives::{Block, secrets};
use zeroize::Zeroizing;

use crate::{
    build::ands::{AndBuckets, SpilledBuckets},
    generate::{
        buckets::{BucketAuthenticator, Buckets},
        gates::Components,
    },
    plan::{Owner, Plan},
    stock::pieces::Transfer,
};
use garblet_protocol::{checks::Cheating, error::ProtocolError};

/// Inputs whose keys are hashed at once, so that they stay in the cache.
const INPUTS_AT_ONCE: usize = 64;

/// The evaluator's pieces of a run, without their wires.
pub struct Material {
    pub(crate) components: Arc<Components>,
    /// One for every AND gate.
    pub(crate) ands: AndBuckets,
    /// One for every two inputs of the constructor.
    pub(crate) input_gates: SpilledBuckets,
    /// Authenticators of every input bit.
    pub(crate) inputs: SpilledBuckets,
    pub(crate) transfers: Zeroizing<Vec<Transfer>>,
    /// Select bits of the output masks.
    pub(crate) claimed: Vec<bool>,
    /// The schedules of the program, once it is known.
    pub(crate) schedules: Schedules,
    /// The solderings of the sought wires to the input buckets, once the function is known.
    pub(crate) joins: Vec<Block>,
}

/// Keys of a party's inputs, each accepted by most of its authenticators.
pub(crate) struct AcceptedKeys(Zeroizing<Vec<Block>>);

impl AcceptedKeys {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.0.iter()
    }
}

/// The results of a bucket.
struct Given {
    key: Block,
    /// The difference, if the bucket has revealed it.
    delta: Option<Block>,
}

impl Material {
    /// Keys of all outputs for keys of all inputs, once the buckets are joined, and the difference if a bucket has revealed it. In that case each
    /// is one of the two keys of its wire, not necessarily the right one.
    ///
    /// There are dummy votes for a number of bad gates, each of which brings one more key into some bucket: hashes that the votes do not need are
    /// computed as dummies, so the work is the same for all results of gates.
    ///
    /// *Cost*: independent instances run on several threads.
    ///
    /// *Errors*: the disk's.
    pub(crate) fn evaluate(
        &self,
        plan: &Plan,
        keys: &[Block],
        bad_gates: u64,
        threads: usize,
    ) -> Result<(Zeroizing<Vec<Block>>, Option<Block>), ProtocolError> {
        let components = self.components.clone();
        let gates = components.soldered_gates();
        let mut evaluator =
            BucketEvaluator::new(gates, plan.program(), &self.schedules, plan.by_port(keys)).on(threads);
        let (shown, hashed, mut votes) = (OnceLock::new(), AtomicU64::new(0), Votes::default());
        self.ands.visit(plan, threads, |range, buckets| {
            components.count(buckets.gate_buckets().gates.len(), 0);
            evaluator.run(range.len(), (0, buckets.gate_buckets()), &|bucket, keys| {
                let given = vote(&components, buckets.authenticators(bucket), keys, &hashed);
                given.delta.into_iter().for_each(|delta| _ = shown.set(delta));
                given.key
            });
            votes.provide(buckets);
            if range.end as u64 == plan.and_count() {
                let left = votes.most(bad_gates).saturating_sub(hashed.load(Ordering::Relaxed));
                vote_in_vain(&components, buckets, left);
            }
        })?;
        let mut outputs = Zeroizing::new(Vec::with_capacity(plan.outputs()));
        evaluator.into_outputs().iter().for_each(|output| outputs.extend_from_slice(output));
        Ok((outputs, shown.into_inner()))
    }

    /// Checks that most authenticators of each of a party's inputs accept its key. Saved keys have none: they were checked when
    /// they were made.
    ///
    /// *Shape*: the owners of all inputs; a key for each of the party's.
    ///
    /// *Errors*: [`checks::INPUT_KEY`] for the first wrong key; the disk's.
    pub(crate) fn check_keys(
        &mut self,
        owners: &[Owner],
        of: Owner,
        keys: Zeroizing<Vec<Block>>,
    ) -> Result<AcceptedKeys, ProtocolError> {
        let inputs = self.inputs.get()?;
        let authenticated = owners.iter().enumerate().filter(|(_, owner)| **owner != Owner::Saved);
        let own = authenticated.enumerate().filter(|(_, (_, owner))| **owner == of);
        // By the number among all inputs, and among those that have authenticators.
        let own: Vec<(usize, usize, Block)> =
            own.zip(keys.iter()).map(|((number, (input, _)), &key)| (input, number, key)).collect();
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
                let accepted = 2 * accepting > authenticators.len();
                if !secrets::public(accepted, "lego: whether authenticators accept the key of an input") {
                    let what = format!("input bit {input} of party {}", of as u8);
                    return Err(Cheating::new(checks::INPUT_KEY, what).into());
                }
            }
        }
        Ok(AcceptedKeys(keys))
    }
}

/// The number of hashes that votes may take.
#[derive(Default)]
struct Votes {
    /// Authenticators of the largest bucket.
    authenticators: u64,
    /// The number of hashes if every gate of every bucket gave another key.
    all: u64,
}

impl Votes {
    fn provide(&mut self, buckets: &Buckets) {
        for bucket in 0..buckets.len() {
            let [gates, authenticators] = [buckets.gates(bucket).len(), buckets.authenticators(bucket).len()];
            self.authenticators = self.authenticators.max(authenticators as u64);
            self.all += (2 * gates.saturating_sub(1) * authenticators) as u64;
        }
    }

    /// The most hashes that votes take with a number of bad gates: each gives a key that differs from the right one, at worst each in another
    /// bucket, whose right keys vote as well.
    fn most(&self, bad_gates: u64) -> u64 {
        bad_gates.saturating_mul(2 * self.authenticators).min(self.all)
    }
}

/// Does the work of votes with this number of hashes: dummy votes over two keys, and a part of one.
fn vote_in_vain(components: &Components, buckets: &Buckets, hashes: u64) {
    let (mut left, hashed) = (hashes as usize, AtomicU64::new(0));
    let of_each = (0..buckets.len()).map(|bucket| buckets.authenticators(bucket));
    for authenticators in of_each.filter(|of| !of.is_empty()).cycle() {
        if left == 0 {
            return;
        }
        if 2 * authenticators.len() <= left {
            std::hint::black_box(vote(components, authenticators, &[Block::ZERO, Block::ONES], &hashed).key);
            left -= 2 * authenticators.len();
        } else {
            let some = &authenticators[..left.div_ceil(2)];
            std::hint::black_box(accepting(components, some, [Block::ZERO, Block::ONES]));
            left = 0;
        }
    }
}

/// The vote of a bucket's gates and authenticators when its gates disagree. Counts its hashes: twice the number of authenticators for each key beyond the
/// first.
fn vote(components: &Components, authenticators: &[BucketAuthenticator], keys: &[Block], hashed: &AtomicU64) -> Given {
    let mut different = Zeroizing::new(Vec::with_capacity(keys.len()));
    keys.iter().for_each(|&key| {
        if different.iter().all(|&other| other != key) {
            different.push(key)
        }
    });
    let mut votes: Vec<usize> = Vec::with_capacity(keys.len());
    votes.extend(different.iter().map(|&key| keys.iter().filter(|&&other| other == key).count()));
    for other in 1..different.len() {
        // The first key's count is the same each time, so that every key more is as much work.
        let [first, others] = accepting(components, authenticators, [different[0], different[other]]);
        votes[other] += others;
        votes[0] += first * usize::from(other == 1);
    }
    hashed.fetch_add((2 * different.len().saturating_sub(1) * authenticators.len()) as u64, Ordering::Relaxed);
    let mut accepted = (0..different.len()).filter(|&key| votes[key] >= keys.len());
    match [accepted.next(), accepted.next()] {
        [Some(key), None] => Given { key: different[key], delta: None },
        [Some(key), Some(other)] => Given { key: different[key], delta: Some(different[key] ^ different[other]) },
        // A bad bucket, which has the probability of the bounds.
        [None, _] => {
            let most = (0..different.len()).max_by_key(|&key| votes[key]);
            Given { key: most.map_or(Block::ZERO, |key| different[key]), delta: None }
        }
    }
}

/// The numbers of a bucket's authenticators that accept each of two keys.
fn accepting(components: &Components, authenticators: &[BucketAuthenticator], keys: [Block; 2]) -> [usize; 2] {
    let of_each = || keys.into_iter().flat_map(|key| authenticators.iter().map(move |of| (of, key)));
    let mut numbers = Vec::with_capacity(2 * authenticators.len());
    let mut hashes = Zeroizing::new(Vec::with_capacity(2 * authenticators.len()));
    numbers.extend(of_each().map(|(of, _)| of.number));
    hashes.extend(of_each().map(|(of, key)| key ^ of.wire));
    components.authenticator_hashes(&numbers, &mut hashes);
    let (first, second) = hashes.split_at(authenticators.len());
    [first, second].map(|hashes| authenticators.iter().zip(hashes).filter(|(of, hash)| of.is(**hash)).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::buckets::BucketGate;

    const DELTA: Block = Block::from_u128(0x5555_5555_5555_5555_5555_5555_5555_5555);
    const RIGHT: Block = Block::from_u128(0x100);
    /// The number of keys that a bad gate may give: both keys of its wire, and two other blocks.
    const GIVEN: usize = 4;
    /// The number of ways in which a bad authenticator may accept: nothing, the right key, the other one, or another block.
    const ACCEPTED: usize = 4;

    /// All sequences of a number of numbers below `range`.
    fn sequences(length: usize, range: usize) -> impl Iterator<Item = Vec<usize>> {
        (0..range.pow(length as u32))
            .map(move |number| (0..length as u32).map(|place| number / range.pow(place) % range).collect())
    }

    /// Checks the results of buckets of a number of gates, in which the bad ones, too few to make a bad bucket, do anything: the result is a key of the
    /// wire, and the right one unless the difference is revealed.
    fn check(gates: usize) {
        let components = Components::new([Block::ZERO, Block::ONES]);
        let keys = [RIGHT, RIGHT ^ DELTA, Block::from_u128(7), Block::from_u128(8)];
        let hash = |key: Block| {
            let mut hash = [key];
            components.authenticator_hashes(&[5], &mut hash);
            hash[0]
        };
        let of = |pair: [Block; 2]| BucketAuthenticator { number: 5, pair, ..BucketAuthenticator::default() };
        let good = of([hash(keys[0]), hash(keys[1])]);
        let bad = [of([Block::ZERO; 2]), of([hash(keys[0]); 2]), of([hash(keys[1]); 2]), of([hash(keys[2]); 2])];
        let mut shown = 0;
        for bad_gates in 0..gates {
            for bad_authenticators in 0..gates - bad_gates {
                for (given, accepted) in sequences(bad_gates, GIVEN)
                    .flat_map(|given| sequences(bad_authenticators, ACCEPTED).map(move |of| (given.clone(), of)))
                {
                    let mut all: Vec<Block> = given.iter().map(|&key| keys[key]).collect();
                    all.resize(gates, RIGHT);
                    let mut authenticators: Vec<_> = accepted.iter().map(|&which| bad[which]).collect();
                    authenticators.resize(gates - 1, good);
                    let hashed = AtomicU64::new(0);
                    let Given { key, delta } = vote(&components, &authenticators, &all, &hashed);
                    match delta {
                        None => assert!(key == RIGHT, "{given:?}, {accepted:?}"),
                        Some(delta) => assert!(delta == DELTA && keys[..2].contains(&key), "{given:?}, {accepted:?}"),
                    }
                    shown += usize::from(delta.is_some());
                    let most = 2 * bad_gates.max(1) * (gates - 1);
                    assert!(hashed.into_inner() <= most as u64, "a vote is provided for");
                }
            }
        }
        assert!(shown > 0);
    }

    #[test]
    fn a_good_bucket_gives_the_right_key_or_shows_the_difference() {
        (2..=5).for_each(check);
    }

    #[test]
    fn as_many_hashes_as_votes_may_take_are_made_up_for() {
        let components = Components::new([Block::ZERO, Block::ONES]);
        let mut buckets = Buckets::default();
        for authenticators in [1, 3, 2] {
            let gates = (0..authenticators + 1).map(|number| BucketGate::new(number, [Block::ZERO; 2]));
            buckets.push(gates, (0..authenticators).map(|_| BucketAuthenticator::default()));
        }
        let mut votes = Votes::default();
        votes.provide(&buckets);
        assert_eq!([1, 2, 3, 1000].map(|bad| votes.most(bad)), [6, 12, 18, 2 + 18 + 8]);
        for hashes in [0, 2, 4, 6, 8, 100] {
            let [_, before] = components.work();
            vote_in_vain(&components, &buckets, hashes);
            assert_eq!(components.work()[1] - before, hashes);
        }
        vote_in_vain(&components, &Buckets::default(), 4);
    }
}
