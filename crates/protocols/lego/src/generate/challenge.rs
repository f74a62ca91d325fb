//! The choice of the components that are checked, and the permutations of the others.

use garblet_primitives::{Block, Prg, secrets};
use rand_core::Rng;

use crate::parameters::Parameters;

/// The evaluator's challenge: the components to open, in their order, and the permutation of the others. All components have arrived when the
/// constructor learns the seed.
pub(crate) struct Challenge {
    pub(crate) gates: Coins<2>,
    pub(crate) authenticators: Coins<1>,
    /// Seeds of the permutations of gates and of authenticators.
    pub(crate) permutations: [Block; 2],
}

impl Challenge {
    /// The challenge of a seed.
    pub(crate) fn of(seed: Block, parameters: &Parameters) -> Self {
        let seed = secrets::public(seed, "lego: the challenge, sent once everything that it concerns has arrived");
        let mut rng = Prg::new(seed);
        Challenge {
            gates: Coins::new(rng.next_block(), parameters.check_gates),
            authenticators: Coins::new(rng.next_block(), parameters.check_authenticators),
            permutations: [rng.next_block(), rng.next_block()],
        }
    }
}

/// The coins that decide for each component whether it is checked, and for which bits.
pub(crate) struct Coins<const N: usize> {
    rng: Prg,
    threshold: u64,
}

impl<const N: usize> Coins<N> {
    /// Checks with a probability, rounded to `2^-32`.
    fn new(seed: Block, probability: f64) -> Self {
        Coins { rng: Prg::new(seed), threshold: (probability * 2f64.powi(32)) as u64 }
    }

    /// The bits for which the next component is checked, if it is.
    pub(crate) fn toss(&mut self) -> Option<[bool; N]> {
        let word = self.rng.next_u64();
        let bits = std::array::from_fn(|bit| word >> (32 + bit) & 1 == 1);
        (u64::from(word as u32) < self.threshold).then_some(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_checked_at_the_right_rate_and_for_all_bits() {
        let mut coins = Coins::<2>::new(Block::from_u128(3), 0.25);
        let bits: Vec<[bool; 2]> = (0..40_000).filter_map(|_| coins.toss()).collect();
        // Five standard deviations.
        assert!((9_570..=10_430).contains(&bits.len()), "{}", bits.len());
        for which in [[false, false], [false, true], [true, false], [true, true]] {
            let count = bits.iter().filter(|bits| **bits == which).count();
            assert!((2_280..=2_720).contains(&count), "{which:?}: {count}");
        }
    }
}
