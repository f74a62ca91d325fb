//! A hash of the garbler's input that is taken on labels, so that it must be the same in every evaluated circuit.
//!
//! *Source*: shelat and Shen (CCS 2013), section 3.2, with this in place of the extended input there: the hash is
//! `h = T x + r`, where `T` is a random Toeplitz matrix and `r` are as many further random bits of the garbler. `r` hides `T x`
//! perfectly, and two inputs that were fixed before `T` was chosen agree on `h` with probability `2^-rows`, whatever their `r`.
//! With free XOR the sums cost no gates.

use garblet_circuit::Bits;
use garblet_primitives::{Block, Prg};

use crate::encoding::combinations;

/// The matrix `[T | I]`.
pub(crate) struct UniversalHash {
    rows: usize,
    columns: usize,
    /// Entry `(t, j)` of `T` is bit `t + j`; bit `i` of window `d` is bit `d + i`, for four of them.
    windows: Vec<u8>,
}

impl UniversalHash {
    /// The matrix of a seed, for inputs of `columns` bits and `rows` further ones.
    ///
    /// *Unique*: the seed is chosen by the evaluator after the garbler's inputs are fixed.
    pub(crate) fn new(rows: usize, columns: usize, seed: Block) -> Self {
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

    /// The labels of the hash, from those of the input and of the further bits behind it.
    ///
    /// *Shape*: `rows + columns` labels in, `rows` out. *Cost*: a quarter as many XORs as the matrix has entries.
    pub(crate) fn sums(&self, labels: &[Block]) -> Vec<Block> {
        let (input, hiding) = labels.split_at(self.columns.min(labels.len()));
        let mut sums = hiding.to_vec();
        sums.resize(self.rows, Block::ZERO);
        for (four, labels) in input.chunks(4).enumerate() {
            let combinations = combinations(labels);
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
        let labels: Vec<Block> = bits.iter().map(|&bit| Block::mask(bit)).collect();
        hash.sums(&labels).into_iter().map(Block::lsb).collect()
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
}
