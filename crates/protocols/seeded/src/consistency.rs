//! A hash of the garbler's input that is taken on labels, so that it must be the same in every evaluated circuit.
//!
//! *Source*: shelat and Shen (CCS 2013), section 3.2, with this in place of the extended input there: the hash is
//! `h = T x + r`, where `T` is a random Toeplitz matrix and `r` are as many further random bits of the garbler. `r` hides `T x`
//! perfectly, and two inputs that were fixed before `T` was chosen agree on `h` with probability `2^-rows`, whatever their `r`.
//! With free XOR the sums cost no gates.
//!
//! The garbler tells `h`, and every circuit has a digest of the labels that the sums have for it. So what the evaluator adds up
//! from the labels that it got shows both at once: that they stand for an input with that hash, and that they are labels at
//! all. Let `e` be what they differ by from labels, in the quotient by delta; the sums are labels if `T e + e_r = 0`,
//! which for `e` that is not zero and was fixed before `T` has probability `2^-rows` too, and for `e = 0` needs `e_r = 0`.

use garblet_circuit::Bits;
use garblet_primitives::{Block, Delta, UniversalHash};
use zeroize::Zeroizing;

/// The hash of the garbler's input, and what the garbler says it is.
pub struct InputHash {
    hash: UniversalHash,
    value: Bits,
}

impl InputHash {
    /// No hash, for circuits in which something else binds the garbler's input.
    pub fn none() -> Self {
        InputHash { hash: UniversalHash::new(0, 0, Block::ZERO), value: Bits::default() }
    }

    /// A hash and its value.
    ///
    /// *Shape*: as many bits as the hash has rows.
    pub fn new(hash: UniversalHash, value: Bits) -> Self {
        InputHash { hash, value }
    }

    /// The sums of an evaluator's labels.
    pub fn sums(&self, labels: &[Block]) -> Zeroizing<Vec<Block>> {
        self.hash.sums(labels)
    }

    /// The labels that the sums must have, from the zero labels of the input. *Secret*.
    pub fn expected(&self, zero: &[Block], delta: &Delta) -> Zeroizing<Vec<Block>> {
        let mut sums = self.sums(zero);
        sums.iter_mut().zip(self.value.iter()).for_each(|(sum, bit)| *sum ^= Block::mask(bit) & delta.block());
        sums
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    #[test]
    fn labels_of_the_input_and_no_others_have_the_expected_sums() {
        let (rows, columns) = (40, 70);
        let mut rng = Prg::new(Block::from_u128(3));
        let delta = Delta::random(&mut rng);
        let zero: Vec<Block> = (0..columns + rows).map(|_| rng.next_block()).collect();
        let input: Bits = zero.iter().map(|label| label.to_bytes()[3] & 1 == 1).collect();
        let labels: Vec<Block> =
            zero.iter().zip(input.iter()).map(|(&zero, bit)| zero ^ (Block::mask(bit) & delta.block())).collect();
        let universal = UniversalHash::new(rows, columns, Block::ONES);
        let value = Bits::from_bytes(&universal.of(&input.to_bytes()));
        let of = InputHash::new(universal, value.clone());
        let expected = of.expected(&zero, &delta);
        assert!(of.sums(&labels) == expected);
        for (wire, difference) in [(0, delta.block()), (columns - 1, Block::from_u128(2)), (columns, Block::ONES)] {
            let mut other = labels.clone();
            other[wire] ^= difference;
            assert!(of.sums(&other) != expected, "wire {wire}");
        }
        let mut other = value;
        other.set(rows - 1, !other.get(rows - 1));
        let of = InputHash::new(UniversalHash::new(rows, columns, Block::ONES), other);
        assert!(of.sums(&labels) != of.expected(&zero, &delta));
    }
}
