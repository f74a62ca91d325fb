//! Garbled AND gates and wire authenticators. Each has its own number, on which its hashes depend.
//!
//! A gate is a garbled component with one AND gate. A public block, its shift, maps its output key to the committed
//! key. An authenticator accepts a key of its wire and reveals nothing: the hashes of both keys, in random order.

use garblet_circuit::{Circuit, Component, Gate, Port, Type, Wire};
use garblet_garble::{
    ComponentGarbling, GarblingConfig, HashKind, InstanceEvaluator, SchemeKind, Seeds, SolderedGate, SolderedGates,
};
use garblet_primitives::{Block, Delta, OtHash};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Bytes of a gate's table.
pub(crate) const TABLE_BYTES: usize = 32;

/// Two half gates under a hash whose key changes.
pub(crate) const GARBLING: GarblingConfig = GarblingConfig { scheme: SchemeKind::HalfGates, hash: HashKind::Rekeyed };

/// Makes and evaluates gates and authenticators of one sequence.
pub(crate) struct Components {
    instances: ComponentGarbling,
    gate_seed: Block,
    authenticator_hash: OtHash,
    #[cfg(test)]
    work: tests::Work,
}

impl Components {
    /// The components of a sequence that these public seeds name.
    pub(crate) fn new(seeds: [Block; 2]) -> Self {
        let circuit = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]);
        let bit = |name: &str| Port::new(name, Type::Bool);
        let component = circuit
            .and_then(|circuit| Component::new("and", vec![bit("left"), bit("right")], vec![bit("output")], circuit))
            .expect("a gate is a component");
        let [gate_seed, authenticators] = seeds;
        let authenticator_hash = OtHash::new(authenticators);
        Components {
            instances: ComponentGarbling::new(&component, GARBLING),
            gate_seed,
            authenticator_hash,
            #[cfg(test)]
            work: tests::Work::default(),
        }
    }

    /// Garbles gates from number `first` on: their tables, and the zero keys of their outputs.
    ///
    /// *Shape*: `inputs` are the zero keys of left and right input, gate by gate.
    pub(crate) fn garble(
        &self,
        delta: &Delta,
        secret: Block,
        first: u64,
        inputs: &[Block],
    ) -> (Vec<u8>, Zeroizing<Vec<Block>>) {
        let count = inputs.len() / 2;
        let mut tables = vec![0; TABLE_BYTES * count];
        let mut outputs = Zeroizing::new(vec![Block::ZERO; count]);
        let seeds = Seeds::new(self.gate_seed, secret);
        self.instances.garbler(delta, &seeds, 0).garble(first, count, inputs, &mut tables, &mut outputs);
        (tables, outputs)
    }

    /// Evaluates gates by their numbers: their output keys, not yet shifted.
    ///
    /// *Shape*: `inputs` are keys of left and right input, gate by gate; a table of [`TABLE_BYTES`] for each.
    pub(crate) fn evaluate(&self, numbers: &[u64], inputs: &[Block], tables: &[&[u8]], outputs: &mut [Block]) {
        InstanceEvaluator::new(self.gate_seed).evaluate((&self.instances, 0), numbers, inputs, tables, outputs);
    }

    /// Evaluates gates that are combined in buckets.
    pub(crate) fn soldered_gates(&self) -> SolderedGates {
        SolderedGates::new(self.gate_seed)
    }

    /// The key that each gate of a bucket gives for these labels.
    pub(crate) fn each(&self, gates: &[SolderedGate], labels: [Block; 2]) -> Vec<Block> {
        self.count(gates.len(), 0);
        self.soldered_gates().each(gates, labels)
    }

    /// Counts gates that are evaluated and authenticators' hashes, in tests only.
    #[inline]
    pub(crate) fn count(&self, gates: usize, hashes: usize) {
        #[cfg(test)]
        self.work.add([gates, hashes]);
        #[cfg(not(test))]
        let _ = (gates, hashes);
    }

    #[cfg(test)]
    pub(crate) fn work(&self) -> [u64; 2] {
        self.work.done()
    }

    /// Authenticators from number `first` on for wires with these zero keys. `swaps` marks those in reverse order.
    pub(crate) fn authenticate(
        &self,
        delta: &Delta,
        first: u64,
        zeros: &[Block],
        swaps: impl Iterator<Item = bool>,
    ) -> Vec<[Block; 2]> {
        let mut low = zeros.to_vec();
        let mut high: Vec<Block> = zeros.iter().map(|&zero| zero ^ delta.block()).collect();
        self.authenticator_hash.hash_batch(first, &mut low);
        self.authenticator_hash.hash_batch(first, &mut high);
        let order = |((low, high), swap)| [Block::select(swap, low, high), Block::select(swap, high, low)];
        low.into_iter().zip(high).zip(swaps).map(order).collect()
    }

    /// Replaces keys by their hashes, each for the authenticator with this number.
    pub(crate) fn authenticator_hashes(&self, numbers: &[u64], keys: &mut [Block]) {
        self.count(0, numbers.len());
        self.authenticator_hash.hash_each(numbers, keys);
    }

    /// Tells whether an authenticator accepts a key.
    pub(crate) fn accepts(&self, number: u64, pair: &[Block; 2], key: Block) -> bool {
        self.count(0, 1);
        let hash = self.authenticator_hash.hash(number, key);
        (hash.ct_eq(&pair[0]) | hash.ct_eq(&pair[1])).into()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use garblet_primitives::Prg;

    use super::*;

    /// Gates that were evaluated, and hashes of authenticators.
    #[derive(Default)]
    pub(crate) struct Work([AtomicU64; 2]);

    impl Work {
        pub(crate) fn add(&self, counts: [usize; 2]) {
            for (sum, count) in self.0.iter().zip(counts) {
                sum.fetch_add(count as u64, Ordering::Relaxed);
            }
        }

        pub(crate) fn done(&self) -> [u64; 2] {
            self.0.each_ref().map(|sum| sum.load(Ordering::Relaxed))
        }
    }

    /// A number that is not a multiple of the gates that share a hash key.
    const FIRST: u64 = 3 << 40 | 1000;

    #[test]
    fn gates_compute_and_by_their_numbers() {
        let mut rng = Prg::new(Block::from_u128(1));
        let delta = Delta::random(&mut rng);
        let components = Components::new([rng.next_block(), rng.next_block()]);
        let zeros: Vec<Block> = (0..600).map(|_| rng.next_block()).collect();
        let (tables, outputs) = components.garble(&delta, rng.next_block(), FIRST, &zeros);
        let chosen: Vec<usize> = (0..300).rev().step_by(7).collect();
        let numbers: Vec<u64> = chosen.iter().map(|&n| FIRST + n as u64).collect();
        let tables: Vec<&[u8]> = chosen.iter().map(|&n| &tables[TABLE_BYTES * n..][..TABLE_BYTES]).collect();
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let key = |zero: Block, bit| zero ^ (Block::mask(bit) & delta.block());
            let keys: Vec<Block> =
                chosen.iter().flat_map(|&n| [key(zeros[2 * n], a), key(zeros[2 * n + 1], b)]).collect();
            let mut given = vec![Block::ZERO; numbers.len()];
            components.evaluate(&numbers, &keys, &tables, &mut given);
            assert!(chosen.iter().zip(&given).all(|(&n, &given)| given == key(outputs[n], a && b)));
        }
    }

    #[test]
    fn authenticators_accept_only_the_two_keys_of_their_wire() {
        let mut rng = Prg::new(Block::from_u128(2));
        let delta = Delta::random(&mut rng);
        let components = Components::new([rng.next_block(), rng.next_block()]);
        let zeros: Vec<Block> = (0..10).map(|_| rng.next_block()).collect();
        let pairs = components.authenticate(&delta, FIRST, &zeros, (0..10).map(|i| i % 3 == 0));
        for (number, (&zero, pair)) in zeros.iter().zip(&pairs).enumerate() {
            let number = FIRST + number as u64;
            assert!(components.accepts(number, pair, zero) && components.accepts(number, pair, zero ^ delta.block()));
            assert!(!components.accepts(number, pair, rng.next_block()));
            assert!(!components.accepts(number + 1, pair, zero), "of another number");
        }
    }
}
