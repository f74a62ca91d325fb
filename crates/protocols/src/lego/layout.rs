//! Which gates and authenticators are checked, and which go into which bucket.

use std::ops::BitXor;

use garblet_primitives::{Block, Prg};
use rand_core::Rng;

use super::parameters::Parameters;

/// The numbers of the components that were not checked, in the order of their buckets.
pub(super) struct Layout {
    parameters: Parameters,
    gates: Vec<u64>,
    authenticators: Vec<u64>,
}

/// Where a component goes: solderings of one bucket.
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
    pub(super) fn authenticators(&self, bucket: usize) -> &[u64] {
        let size = self.parameters.buckets.authenticators() as usize;
        &self.authenticators[bucket * size..][..size]
    }

    /// The gates of an input bucket.
    pub(super) fn input_gates(&self, bucket: usize) -> &[u64] {
        let Parameters { demand, buckets, .. } = self.parameters;
        let size = buckets.input_gates as usize;
        &self.gates[(demand.gates * u64::from(buckets.gates)) as usize + bucket * size..][..size]
    }

    /// The authenticators of an input.
    pub(super) fn input_authenticators(&self, input: usize) -> &[u64] {
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
        let mut sums = Vec::new();
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
        Heads {
            gates: self.and_buckets().map(|bucket| gate(self.gates(bucket))).collect(),
            input_gates: self.input_buckets().map(|bucket| gate(self.input_gates(bucket))).collect(),
            inputs: self.inputs().map(|i| authenticators[self.input_authenticators(i)[0] as usize]).collect(),
        }
    }

    /// The opened solderings, sorted.
    pub(super) fn sort(&self, opened: Vec<Block>) -> Solderings {
        let Parameters { demand, buckets, .. } = self.parameters;
        let triples = |count: u64, size: u32| (count * u64::from(size - 1)) as usize;
        let mut rest = opened.into_iter();
        let mut gates = |count: usize| -> Vec<Soldering<Block>> {
            (0..count).map(|_| std::array::from_fn(|_| rest.next().unwrap_or_default())).collect()
        };
        let of_gates = gates(triples(demand.gates, buckets.gates));
        let of_inputs = gates(triples(demand.input_buckets, buckets.input_gates));
        let ordinary = (demand.gates * u64::from(buckets.authenticators())) as usize;
        let authenticators: Vec<Block> = rest.by_ref().take(ordinary).collect();
        Solderings { gates: of_gates, input_gates: of_inputs, authenticators, input_authenticators: rest.collect() }
    }
}

/// The components that stand for their buckets.
pub(super) struct Heads<W> {
    pub(super) gates: Vec<Soldering<W>>,
    pub(super) input_gates: Vec<Soldering<W>>,
    pub(super) inputs: Vec<W>,
}

/// What joins the other components of each bucket to the first.
pub(super) struct Solderings {
    pub(super) gates: Vec<Soldering<Block>>,
    pub(super) input_gates: Vec<Soldering<Block>>,
    pub(super) authenticators: Vec<Block>,
    pub(super) input_authenticators: Vec<Block>,
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
