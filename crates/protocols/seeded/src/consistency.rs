//! A hash of the garbler's input, computed on labels, that must be the same in every evaluated circuit.
//!
//! *Source*: shelat and Shen (CCS 2013), section 3.2, with this in place of the extended input there: the hash is
//! `h = T x + r`, where `T` is a random Toeplitz matrix and `r` consists of additional random bits of the garbler. `r` hides `T x`
//! perfectly, and two inputs that were fixed before `T` was chosen agree on `h` with probability `2^-rows`, whatever their `r`.
//! With free XOR the sums cost no gates.
//!
//! The garbler announces `h`, and every circuit has a digest of the labels of the sums for it. So the evaluator's sums
//! of its labels prove two things at once: that they encode an input with this hash, and that they are valid
//! labels. Let `e` be their difference from valid labels, in the quotient by delta; the sums are valid if `T e + e_r = 0`,
//! which for non-zero `e` fixed before `T` also has probability `2^-rows`, and for `e = 0` needs `e_r = 0`.

use std::ops::Range;

use garblet_circuit::Bits;
use garblet_primitives::{Block, Delta, UniversalHash};
use zeroize::Zeroizing;

/// The hash of the garbler's input with the value that the garbler claims, and hashes of parts of the input, if there are any.
pub struct InputHash {
    hash: UniversalHash,
    /// All values, with those of parts after the first.
    value: Bits,
    parts: Vec<PartHash>,
}

/// A hash of some of the garbler's wires, the last of which hide it, and the value that the garbler claims.
pub struct PartHash {
    /// The wires, in the order of the hash.
    pub wires: Vec<Range<usize>>,
    /// The hash, with as many columns plus rows as there are wires.
    pub hash: UniversalHash,
    /// The claimed value, one bit per row.
    pub value: Bits,
}

impl PartHash {
    /// Adds up the blocks of the wires.
    fn sums(&self, blocks: &[Block]) -> Zeroizing<Vec<Block>> {
        let mut own = Zeroizing::new(Vec::with_capacity(self.hash.columns() + self.hash.rows()));
        self.wires.iter().for_each(|range| own.extend_from_slice(&blocks[range.clone()]));
        self.hash.sums(&own)
    }
}

impl InputHash {
    /// No hash, for circuits in which something else binds the garbler's input.
    pub fn none() -> Self {
        InputHash::new(UniversalHash::new(0, 0, Block::ZERO), Bits::default())
    }

    /// A hash and its value.
    ///
    /// *Shape*: as many bits as the hash has rows.
    pub fn new(hash: UniversalHash, value: Bits) -> Self {
        InputHash { hash, value, parts: Vec::new() }
    }

    /// The same with hashes of parts of the input.
    ///
    /// *Unique*: as for the first, the party that a challenge protects samples it, and announces it after the input is fixed.
    #[must_use]
    pub fn with_parts(mut self, parts: Vec<PartHash>) -> Self {
        parts.iter().for_each(|part| self.value.append(&part.value));
        self.parts = parts;
        self
    }

    /// The sums of an evaluator's labels.
    pub fn sums(&self, labels: &[Block]) -> Zeroizing<Vec<Block>> {
        // The capacity is for all sums, since growing would leave copies behind.
        let mut sums = Zeroizing::new(Vec::with_capacity(self.value.len()));
        sums.extend_from_slice(&self.hash.sums(labels));
        self.parts.iter().for_each(|part| sums.extend_from_slice(&part.sums(labels)));
        sums
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
    fn only_labels_of_the_input_have_the_expected_sums() {
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

    #[test]
    fn parts_have_sums_of_their_own_wires() {
        let (rows, columns) = (8, 40);
        let mut rng = Prg::new(Block::from_u128(4));
        let delta = Delta::random(&mut rng);
        let zero: Vec<Block> = (0..columns + rows).map(|_| rng.next_block()).collect();
        let input: Bits = zero.iter().map(|label| label.to_bytes()[5] & 1 == 1).collect();
        let active = |input: &Bits| -> Vec<Block> {
            zero.iter().zip(input.iter()).map(|(&zero, bit)| zero ^ (Block::mask(bit) & delta.block())).collect()
        };
        let part = |wires: Vec<Range<usize>>, flipped: Option<usize>| {
            let own: Bits = wires.iter().cloned().flatten().map(|wire| input.get(wire)).collect();
            let hash = UniversalHash::new(rows, own.len() - rows, Block::from_u128(9));
            let mut value = Bits::from_bytes(&hash.of(&own.to_bytes())).slice(0, rows);
            flipped.into_iter().for_each(|bit| value.set(bit, !value.get(bit)));
            PartHash { wires, hash, value }
        };
        let of = |flipped| {
            let universal = UniversalHash::new(rows, columns, Block::ONES);
            let value = Bits::from_bytes(&universal.of(&input.to_bytes()));
            let parts = vec![part(vec![3..9, 20..28], None), part(vec![30..31, 9..12, 12..20], flipped)];
            InputHash::new(universal, value).with_parts(parts)
        };
        assert_eq!(of(None).sums(&zero).len(), 3 * rows);
        assert!(of(None).sums(&active(&input)) == of(None).expected(&zero, &delta));
        assert!(of(Some(5)).sums(&active(&input)) != of(Some(5)).expected(&zero, &delta));
        // The last part's hiding wires come last in it.
        let mut other = input.clone();
        other.set(19, !other.get(19));
        let (sums, expected) = (of(None).sums(&active(&other)), of(None).expected(&zero, &delta));
        assert!(sums[rows..2 * rows] == expected[rows..2 * rows] && sums[2 * rows..] != expected[2 * rows..]);
    }
}
