//! Which gates and authenticators are checked, and which go into which bucket.

use std::ops::BitXor;

use garblet_primitives::{Block, Prg};
use rand_core::Rng;

use super::{
    bucket::{BucketAuthenticator, BucketGate, Buckets},
    parameters::Parameters,
};

/// The numbers of the components that were not checked, in the order of their buckets.
pub(super) struct Layout {
    parameters: Parameters,
    gates: Vec<u64>,
    authenticators: Vec<u64>,
}

/// The three wires of a gate: left and right input, and output.
pub(super) type Soldering<W> = [W; 3];

impl Layout {
    /// Puts what was not checked into buckets by a random permutation; none if too little is left.
    pub(super) fn new(parameters: Parameters, unchecked: [Vec<u64>; 2], seed: Block) -> Option<Self> {
        let needed = [parameters.bucketed_gates(), parameters.bucketed_authenticators()];
        let mut rng = Prg::new(seed);
        let [gates, authenticators] = unchecked.map(|mut numbers| {
            shuffle(&mut numbers, &mut rng);
            numbers
        });
        let enough = gates.len() as u64 >= needed[0] && authenticators.len() as u64 >= needed[1];
        enough.then_some(Layout { parameters, gates, authenticators })
    }

    /// The gates of an AND bucket.
    pub(super) fn gates(&self, bucket: usize) -> &[u64] {
        let size = self.parameters.buckets.gates as usize;
        &self.gates[bucket * size..][..size]
    }

    /// The authenticators of an AND bucket.
    fn authenticators(&self, bucket: usize) -> &[u64] {
        let size = self.parameters.buckets.authenticators() as usize;
        &self.authenticators[bucket * size..][..size]
    }

    /// The gates of an input bucket.
    fn input_gates(&self, bucket: usize) -> &[u64] {
        let Parameters { demand, buckets, .. } = self.parameters;
        let size = buckets.input_gates as usize;
        &self.gates[(demand.gates * u64::from(buckets.gates)) as usize + bucket * size..][..size]
    }

    /// The authenticators of an input.
    fn input_authenticators(&self, input: usize) -> &[u64] {
        let Parameters { demand, buckets, .. } = self.parameters;
        let size = buckets.input_authenticators as usize;
        let before = (demand.gates * u64::from(buckets.authenticators())) as usize;
        &self.authenticators[before + input * size..][..size]
    }

    fn and_buckets(&self) -> std::ops::Range<usize> {
        0..self.parameters.demand.gates as usize
    }

    fn input_buckets(&self) -> std::ops::Range<usize> {
        0..self.parameters.demand.input_buckets as usize
    }

    fn inputs(&self) -> std::ops::Range<usize> {
        0..self.parameters.demand.inputs as usize
    }

    /// What is opened to join the components of each bucket: the sum of every wire with that of the bucket's first
    /// component. For the constructor these are commitments, for the evaluator what it watches of them.
    pub(super) fn solderings<W: Copy + BitXor<Output = W>>(
        &self,
        gates: &[Soldering<W>],
        authenticators: &[W],
    ) -> Vec<W> {
        let gate = |number: &u64| gates[*number as usize];
        let authenticator = |number: &u64| authenticators[*number as usize];
        let mut sums = Vec::with_capacity(self.parameters.solderings() as usize);
        let mut join = |numbers: &[u64]| {
            let head = gate(&numbers[0]);
            for other in numbers[1..].iter().map(gate) {
                sums.extend((0..3).map(|wire| head[wire] ^ other[wire]));
            }
        };
        self.and_buckets().for_each(|bucket| join(self.gates(bucket)));
        self.input_buckets().for_each(|bucket| join(self.input_gates(bucket)));
        for bucket in self.and_buckets() {
            let [_, _, output] = gate(&self.gates(bucket)[0]);
            sums.extend(self.authenticators(bucket).iter().map(|number| output ^ authenticator(number)));
        }
        for input in self.inputs() {
            let numbers = self.input_authenticators(input);
            let head = authenticator(&numbers[0]);
            sums.extend(numbers[1..].iter().map(|number| head ^ authenticator(number)));
        }
        sums
    }

    /// The first gate of every AND bucket, of every input bucket, and the first authenticator of every input.
    pub(super) fn heads<W: Copy>(&self, gates: &[Soldering<W>], authenticators: &[W]) -> Heads<W> {
        let gate = |numbers: &[u64]| gates[numbers[0] as usize];
        let ends = |[left, right, _]: Soldering<W>| [left, right];
        Heads {
            gates: self.and_buckets().map(|bucket| gate(self.gates(bucket))).collect(),
            input_gates: self.input_buckets().map(|bucket| ends(gate(self.input_gates(bucket)))).collect(),
            inputs: self.inputs().map(|i| authenticators[self.input_authenticators(i)[0] as usize]).collect(),
        }
    }

    /// The components of every bucket with what was opened to join them, in the order of [`Layout::solderings`].
    ///
    /// *Shape*: `gate` and `authenticator` give a component by its number, not yet joined.
    pub(super) fn fill(
        &self,
        gate: impl Fn(u64) -> BucketGate,
        authenticator: impl Fn(u64) -> BucketAuthenticator,
        opened: Vec<Block>,
    ) -> [Buckets; 3] {
        let mut opened = opened.into_iter();
        let mut next = || opened.next().unwrap_or_default();
        let mut joined = |numbers: &[u64]| -> Vec<BucketGate> {
            let mut gates: Vec<BucketGate> = numbers.iter().map(|&number| gate(number)).collect();
            for gate in &mut gates[1..] {
                [gate.left, gate.right] = [next(), next()];
                gate.output ^= next();
            }
            gates
        };
        let ands: Vec<_> = self.and_buckets().map(|bucket| joined(self.gates(bucket))).collect();
        let mut input_gates = Buckets::default();
        self.input_buckets().for_each(|bucket| input_gates.push(joined(self.input_gates(bucket)), []));
        let mut join = |&number: &u64| BucketAuthenticator { wire: next(), ..authenticator(number) };
        let mut buckets = Buckets::default();
        for (bucket, gates) in ands.into_iter().enumerate() {
            buckets.push(gates, self.authenticators(bucket).iter().map(&mut join));
        }
        let mut inputs = Buckets::default();
        for input in self.inputs() {
            let (head, others) = self.input_authenticators(input).split_at(1);
            inputs.push([], head.iter().map(|&number| authenticator(number)).chain(others.iter().map(&mut join)));
        }
        [buckets, input_gates, inputs]
    }
}

/// The components that stand for their buckets.
pub(super) struct Heads<W> {
    pub(super) gates: Vec<Soldering<W>>,
    /// The inputs of the first gate.
    pub(super) input_gates: Vec<[W; 2]>,
    pub(super) inputs: Vec<W>,
}

/// A uniform permutation (Fisher and Yates), up to a bias of `2^-32` for any exchange.
fn shuffle(numbers: &mut [u64], rng: &mut Prg) {
    for last in (1..numbers.len()).rev() {
        // A product keeps the range without a loop; 64 random bits make its bias far smaller than the range.
        let place = (u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64;
        numbers.swap(last, place as usize);
    }
}

/// What the evaluator asks to see of the components: which, and for which inputs.
pub(super) struct Challenge {
    pub(super) gates: Vec<Checked<2>>,
    pub(super) authenticators: Vec<Checked<1>>,
}

/// A component that is checked, and the bits for which.
pub(super) struct Checked<const N: usize> {
    pub(super) number: u64,
    pub(super) bits: [bool; N],
}

impl Challenge {
    /// The challenge of a seed: every gate and authenticator by its own coin.
    pub(super) fn of(seed: Block, parameters: &Parameters, gates: usize, authenticators: usize) -> Self {
        let mut rng = Prg::new(seed);
        Challenge {
            gates: draw(&mut rng, gates, parameters.check_gates),
            authenticators: draw(&mut rng, authenticators, parameters.check_authenticators),
        }
    }

    /// The numbers that are not checked.
    pub(super) fn unchecked(&self, gates: usize, authenticators: usize) -> [Vec<u64>; 2] {
        fn others<const N: usize>(checked: &[Checked<N>], count: usize) -> Vec<u64> {
            let mut checked = checked.iter().map(|c| c.number).peekable();
            (0..count as u64).filter(|number| checked.next_if_eq(number).is_none()).collect()
        }
        [others(&self.gates, gates), others(&self.authenticators, authenticators)]
    }

    /// What is opened for the checks: the keys of the chosen inputs, and of what they give.
    pub(super) fn keys<W: Copy + Default + BitXor<Output = W>>(
        &self,
        delta: W,
        gates: &[Soldering<W>],
        authenticators: &[W],
    ) -> Vec<W> {
        let key = |zero: W, bit: bool| zero ^ if bit { delta } else { W::default() };
        let of_gates = self.gates.iter().flat_map(|checked| {
            let ([left, right, output], [a, b]) = (gates[checked.number as usize], checked.bits);
            [key(left, a), key(right, b), key(output, a && b)]
        });
        let of_authenticators = self.authenticators.iter().map(|c| key(authenticators[c.number as usize], c.bits[0]));
        of_gates.chain(of_authenticators).collect()
    }
}

/// Checks each of `count` with a probability, rounded to `2^-32`.
fn draw<const N: usize>(rng: &mut Prg, count: usize, probability: f64) -> Vec<Checked<N>> {
    let threshold = (probability * 2f64.powi(32)) as u64;
    let one = |number| {
        let word = rng.next_u64();
        let bits = std::array::from_fn(|bit| word >> (32 + bit) & 1 == 1);
        (u64::from(word as u32) < threshold).then_some(Checked { number, bits })
    };
    (0..count as u64).filter_map(one).collect()
}
