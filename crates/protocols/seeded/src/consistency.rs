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
use garblet_primitives::{Block, Delta, Prg};
use zeroize::Zeroizing;

use crate::encoding::combine;

/// The hash of the garbler's input, and what the garbler says it is.
pub struct InputHash {
    hash: UniversalHash,
    value: Bits,
}

impl InputHash {
    /// No hash, for circuits in which something else binds the garbler's input.
    pub fn none() -> Self {
        InputHash { hash: UniversalHash::of_diagonals(0, 0, &[]), value: Bits::default() }
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

/// The matrix `[T | I]`.
pub struct UniversalHash {
    rows: usize,
    columns: usize,
    /// Entry `(t, j)` of `T` is bit `t + j`; bit `i` of window `d` is bit `d + i`, for four of them.
    windows: Vec<u8>,
}

impl UniversalHash {
    /// The matrix of a seed, for inputs of `columns` bits and `rows` further ones.
    ///
    /// *Unique*: the seed is chosen by the evaluator after the garbler's inputs are fixed.
    pub fn new(rows: usize, columns: usize, seed: Block) -> Self {
        let mut bytes = vec![0; (rows + columns).div_ceil(8)];
        Prg::new(seed).fill_bytes(&mut bytes);
        let diagonals: Vec<bool> = Bits::from_bytes(&bytes).iter().take(rows + columns).collect();
        UniversalHash::of_diagonals(rows, columns, &diagonals)
    }

    fn of_diagonals(rows: usize, columns: usize, diagonals: &[bool]) -> Self {
        let window = |first: usize| {
            let bits = diagonals[first..].iter().take(4).enumerate();
            bits.fold(0, |window, (i, &bit)| window | u8::from(bit) << i)
        };
        UniversalHash { rows, columns, windows: (0..diagonals.len()).map(window).collect() }
    }

    /// Bits of the hash.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The hash of an input, of which the last bits are those that hide it.
    pub fn of(&self, input: &Bits) -> Bits {
        let bits: Zeroizing<Vec<Block>> = Zeroizing::new(input.iter().map(Block::mask).collect());
        self.sums(&bits).iter().map(|sum| sum.lsb()).collect()
    }

    /// The labels of the hash, from those of the input and of the further bits behind it.
    ///
    /// *Shape*: `rows + columns` labels in, `rows` out. *Cost*: a quarter as many XORs as the matrix has entries.
    fn sums(&self, labels: &[Block]) -> Zeroizing<Vec<Block>> {
        let (input, hiding) = labels.split_at(self.columns.min(labels.len()));
        let mut sums = Zeroizing::new(vec![Block::ZERO; self.rows]);
        sums.iter_mut().zip(hiding).for_each(|(sum, &label)| *sum = label);
        let mut combinations = Zeroizing::new([Block::ZERO; 16]);
        for (four, labels) in input.chunks(4).enumerate() {
            combine(labels, &mut combinations);
            for (sum, &window) in sums.iter_mut().zip(&self.windows[4 * four..]) {
                *sum ^= combinations[usize::from(window)];
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(hash: &UniversalHash, bits: &[bool]) -> Vec<bool> {
        hash.of(&bits.iter().copied().collect()).iter().collect()
    }

    /// Over all matrices of small size, each difference of inputs gives each difference of hashes equally often.
    #[test]
    fn the_hash_is_universal_for_differences() {
        let (rows, columns) = (2, 3);
        for difference in 1..1u32 << columns {
            let mut counts = [0; 4];
            for matrix in 0..1u32 << (rows + columns - 1) {
                let diagonals: Vec<bool> = (0..rows + columns).map(|i| matrix >> i & 1 == 1).collect();
                let universal = UniversalHash::of_diagonals(rows, columns, &diagonals);
                let bits: Vec<bool> = (0..columns + rows).map(|i| i < columns && difference >> i & 1 == 1).collect();
                let value = hash(&universal, &bits);
                counts[usize::from(value[0]) + 2 * usize::from(value[1])] += 1;
            }
            assert_eq!(counts, [4; 4], "difference {difference:b}");
        }
    }

    #[test]
    fn hiding_bits_are_added_and_inputs_of_any_size_are_hashed() {
        for columns in [0, 1, 70] {
            let universal = UniversalHash::new(9, columns, Block::ONES);
            let mut rng = Prg::new(Block::ZERO);
            let mut bits: Vec<bool> = (0..columns + 9).map(|_| rng.next_block().lsb()).collect();
            let before = hash(&universal, &bits);
            bits[columns + 4] ^= true;
            let mut expected = before.clone();
            expected[4] ^= true;
            assert_eq!(hash(&universal, &bits), expected);
        }
    }

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
        let value = universal.of(&input);
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
