//! Evaluating buckets: the key that most of the components vouch for.
//!
//! *Source*: Frederiksen et al. 2015; Nielsen, Schneider and Trifiletti 2017, section II. Of a bucket that is not bad the true key is
//! always accepted and garbage never. If two keys are accepted, their sum is the difference: the constructor has cheated and
//! given away its secret, and [`extract`](super::extract) uses it.

use garblet_primitives::Block;

use super::{
    gates::Components,
    layout::{Layout, Soldering, Solderings},
    parameters::Buckets,
};

/// All components that the evaluator has, in their buckets.
pub(super) struct Material {
    pub(super) components: Components,
    pub(super) tables: Vec<u8>,
    /// What moves each gate's key to the one that is committed to.
    pub(super) shifts: Vec<Block>,
    pub(super) authenticators: Vec<[Block; 2]>,
    pub(super) layout: Layout,
    pub(super) solderings: Solderings,
    pub(super) buckets: Buckets,
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
            false => self.vote(bucket, &keys),
        }
    }

    /// What each gate of an AND bucket gives.
    pub(super) fn and_gates(&self, bucket: usize, left: Block, right: Block) -> Vec<Block> {
        let others = self.buckets.gates as usize - 1;
        let solderings = &self.solderings.gates[bucket * others..][..others];
        self.gates(self.layout.gates(bucket), solderings, left, right)
    }

    /// What each gate of an input bucket gives.
    pub(super) fn input_gates(&self, bucket: usize, left: Block, right: Block) -> Vec<Block> {
        let others = self.buckets.input_gates as usize - 1;
        let solderings = &self.solderings.input_gates[bucket * others..][..others];
        self.gates(self.layout.input_gates(bucket), solderings, left, right)
    }

    fn gates(&self, numbers: &[u64], solderings: &[Soldering<Block>], left: Block, right: Block) -> Vec<Block> {
        let all = || std::iter::once(&[Block::ZERO; 3]).chain(solderings);
        let inputs: Vec<Block> = all().flat_map(|[l, r, _]| [left ^ *l, right ^ *r]).collect();
        let mut keys = vec![Block::ZERO; numbers.len()];
        self.components.evaluate(numbers, &inputs, &self.tables, &mut keys);
        for ((key, &number), soldering) in keys.iter_mut().zip(numbers).zip(all()) {
            *key ^= self.shifts[number as usize] ^ soldering[2];
        }
        keys
    }

    /// The bucket's gates disagree: those and its authenticators vote.
    fn vote(&self, bucket: usize, keys: &[Block]) -> Given {
        let mut different: Vec<Block> = Vec::new();
        keys.iter().for_each(|&key| {
            if different.iter().all(|&other| other != key) {
                different.push(key)
            }
        });
        let votes = |key: Block| {
            let gates = keys.iter().filter(|&&other| other == key).count();
            gates + self.vouching(bucket, key)
        };
        let accepted: Vec<Block> =
            different.iter().copied().filter(|&key| votes(key) >= self.buckets.gates as usize).collect();
        match accepted[..] {
            [key] => Given { key, delta: None },
            [key, other, ..] => Given { key, delta: Some(key ^ other) },
            // A bad bucket, which has the probability of the bounds.
            [] => Given { key: different.into_iter().max_by_key(|&key| votes(key)).unwrap_or_default(), delta: None },
        }
    }

    fn vouching(&self, bucket: usize, key: Block) -> usize {
        let numbers = self.layout.authenticators(bucket);
        let solderings = &self.solderings.authenticators[bucket * numbers.len()..];
        numbers.iter().zip(solderings).filter(|&(&number, &soldering)| self.accepts(number, key ^ soldering)).count()
    }

    /// Whether most authenticators of an input accept its key.
    pub(super) fn input_is_valid(&self, input: usize, key: Block) -> bool {
        let numbers = self.layout.input_authenticators(input);
        let others = numbers.len() - 1;
        let solderings = &self.solderings.input_authenticators[input * others..][..others];
        let solderings = std::iter::once(&Block::ZERO).chain(solderings);
        let accepting = numbers.iter().zip(solderings).filter(|&(&number, &s)| self.accepts(number, key ^ s)).count();
        2 * accepting > numbers.len()
    }

    fn accepts(&self, number: u64, key: Block) -> bool {
        self.components.accepts(number, &self.authenticators[number as usize], key)
    }
}
