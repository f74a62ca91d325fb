//! Which components are checked, and how those of a bucket are joined.

use std::ops::BitXor;

use garblet_primitives::{Block, Prg};
use rand_core::Rng;

use super::parameters::Parameters;

/// The three wires of a gate: left and right input, and output.
pub(super) type Soldering<W> = [W; 3];

/// What the evaluator asks to see, component by component in their order, and how the others are permuted. Everything that it
/// depends on has arrived when the constructor learns the seed.
pub(super) struct Challenge {
    pub(super) gates: Coins<2>,
    pub(super) authenticators: Coins<1>,
    /// Seeds of the permutations of gates and of authenticators.
    pub(super) permutations: [Block; 2],
}

impl Challenge {
    /// The challenge of a seed.
    pub(super) fn of(seed: Block, parameters: &Parameters) -> Self {
        let mut rng = Prg::new(seed);
        Challenge {
            gates: Coins::new(rng.next_block(), parameters.check_gates),
            authenticators: Coins::new(rng.next_block(), parameters.check_authenticators),
            permutations: [rng.next_block(), rng.next_block()],
        }
    }
}

/// Whether one component after another is checked, and for which bits.
pub(super) struct Coins<const N: usize> {
    rng: Prg,
    threshold: u64,
}

impl<const N: usize> Coins<N> {
    /// Checks with a probability, rounded to `2^-32`.
    fn new(seed: Block, probability: f64) -> Self {
        Coins { rng: Prg::new(seed), threshold: (probability * 2f64.powi(32)) as u64 }
    }

    /// The bits for which the next component is checked, if it is.
    pub(super) fn toss(&mut self) -> Option<[bool; N]> {
        let word = self.rng.next_u64();
        let bits = std::array::from_fn(|bit| word >> (32 + bit) & 1 == 1);
        (u64::from(word as u32) < self.threshold).then_some(bits)
    }
}

/// The keys of a gate for these inputs, which are opened if it is checked.
pub(super) fn gate_keys<W>(delta: W, [left, right, output]: Soldering<W>, [a, b]: [bool; 2]) -> [W; 3]
where
    W: Copy + Default + BitXor<Output = W>,
{
    [key(delta, left, a), key(delta, right, b), key(delta, output, a && b)]
}

/// The key of a wire for a bit.
pub(super) fn key<W: Copy + Default + BitXor<Output = W>>(delta: W, zero: W, bit: bool) -> W {
    zero ^ if bit { delta } else { W::default() }
}

/// What is opened to join the components of a bucket: the sums of every wire with that of the first gate, of authenticators
/// with its output, or, in a bucket without gates, with the first authenticator. For the constructor these are
/// commitments, for the evaluator what it watches of them.
pub(super) fn solderings<W: Copy + BitXor<Output = W>>(
    mut gates: impl Iterator<Item = Soldering<W>>,
    mut authenticators: impl Iterator<Item = W>,
    sums: &mut Vec<W>,
) {
    let first = match gates.next() {
        Some(head) => {
            gates.for_each(|gate| sums.extend([0, 1, 2].map(|wire| head[wire] ^ gate[wire])));
            Some(head[2])
        }
        None => authenticators.next(),
    };
    if let Some(first) = first {
        sums.extend(authenticators.map(|authenticator| first ^ authenticator));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_checked_as_often_as_they_should_and_for_all_bits() {
        let mut coins = Coins::<2>::new(Block::from_u128(3), 0.25);
        let bits: Vec<[bool; 2]> = (0..40_000).filter_map(|_| coins.toss()).collect();
        // Five standard deviations.
        assert!((9_570..=10_430).contains(&bits.len()), "{}", bits.len());
        for which in [[false, false], [false, true], [true, false], [true, true]] {
            let count = bits.iter().filter(|bits| **bits == which).count();
            assert!((2_280..=2_720).contains(&count), "{which:?}: {count}");
        }
    }

    #[test]
    fn every_component_of_a_bucket_is_joined_to_the_first() {
        let mut sums = Vec::new();
        solderings([[1, 2, 4], [8, 16, 32]].into_iter(), [64, 128].into_iter(), &mut sums);
        assert_eq!(sums, [9, 18, 36, 68, 132]);
        sums.clear();
        solderings::<u32>(std::iter::empty(), [1, 2, 4].into_iter(), &mut sums);
        assert_eq!(sums, [3, 5]);
        assert_eq!(gate_keys(64, [1, 2, 4], [true, false]), [65, 2, 4]);
        assert_eq!(gate_keys(64, [1, 2, 4], [true, true]), [65, 66, 68]);
    }
}
