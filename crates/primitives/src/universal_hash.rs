//! A universal hash that is linear over GF(2), for bits and for blocks.

use zeroize::Zeroizing;

use crate::{block::Block, prg::Prg};

/// The number of rows whose windows of eight columns fit one word.
const WORD_ROWS: usize = 57;

/// The matrix `[T | I]` with a random Toeplitz matrix `T`: the hash of an input `x` with further bits `r` is `T x + r`.
///
/// *Source*: Krawczyk, CRYPTO 1994, section 3. Two inputs fixed before the choice of `T` have the same hash with probability
/// `2^-rows`, whatever their `r`; a uniform `r` hides `T x` perfectly. *Shape*: `columns` bits of `x`, then one bit of `r` per
/// row. *Unique*: reveal the seed only after inputs are fixed, and use it for one input.
pub struct UniversalHash {
    rows: usize,
    columns: usize,
    /// Entry `(t, j)` of `T` is bit `t + j`.
    diagonals: Zeroizing<Vec<u64>>,
}

impl UniversalHash {
    /// The matrix from a seed, for inputs of `columns` bits and `rows` further ones: its diagonals are the first bits of [`Prg`].
    pub fn new(rows: usize, columns: usize, seed: Block) -> Self {
        let mut diagonals = Zeroizing::new(vec![0; (rows + columns).div_ceil(64) + 2]);
        let bytes = (rows + columns).div_ceil(8);
        Prg::new(seed).fill_bytes(&mut bytemuck::cast_slice_mut(&mut diagonals)[..bytes]);
        UniversalHash { rows, columns, diagonals }
    }

    /// The number of bits of the hash.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of bits of an input, without the hiding bits.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The hash of an input that ends with the hiding bits.
    ///
    /// *Shape*: packed bits, bit 0 of a byte first; `columns + rows` in, `rows` out. *Secret*: takes the same time for all bits and
    /// seeds. *Cost*: one AND and one XOR of words for every row and 64 columns.
    ///
    /// # Panics
    /// If the input is too short.
    pub fn of(&self, input: &[u8]) -> Vec<u8> {
        let mut products = Zeroizing::new(vec![0u64; self.rows]);
        for first in (0..self.columns).step_by(64) {
            let kept = u64::MAX >> (64 - (self.columns - first).min(64));
            let bits = bits_at(input, first) & kept;
            for (t, product) in products.iter_mut().enumerate() {
                *product ^= bits & self.window(first + t);
            }
        }
        let mut hash = vec![0; self.rows.div_ceil(8)];
        for (t, product) in products.iter().enumerate() {
            let hiding = input[(self.columns + t) / 8] >> ((self.columns + t) % 8);
            let bit = (product.count_ones() as u8 ^ hiding) & 1;
            hash[t / 8] |= bit << (t % 8);
        }
        hash
    }

    /// The same sums on blocks, for the blocks of the input followed by the hiding blocks.
    ///
    /// *Shape*: `columns + rows` blocks in, `rows` out. *Cost*: as [`UniversalHash::add`].
    pub fn sums(&self, blocks: &[Block]) -> Zeroizing<Vec<Block>> {
        let (input, hiding) = blocks.split_at(self.columns.min(blocks.len()));
        let mut sums = Zeroizing::new(vec![Block::ZERO; self.rows]);
        sums.iter_mut().zip(hiding).for_each(|(sum, &block)| *sum = block);
        self.add(0, input, &mut sums);
        sums
    }

    /// Multiplies the columns from number `first` on by these blocks, and adds them to the sums.
    ///
    /// *Shape*: one sum for every row. *Cost*: `rows / 4 + 4` XORs of blocks for each block. The time depends on the seed, which
    /// may be public by then, but not on blocks.
    ///
    /// # Panics
    /// If there are more blocks than columns from `first` on.
    pub fn add(&self, first: usize, blocks: &[Block], sums: &mut [Block]) {
        assert!(
            first + blocks.len() <= self.columns,
            "{} blocks from column {first} of {}",
            blocks.len(),
            self.columns
        );
        let mut tables = Zeroizing::new([[Block::ZERO; 16]; 2]);
        let [low, high] = &mut *tables;
        for (eight, blocks) in blocks.chunks(8).enumerate() {
            let (begin, rest) = blocks.split_at(blocks.len().min(4));
            subset_sums(begin, low);
            subset_sums(rest, high);
            for (part, sums) in sums[..self.rows].chunks_mut(WORD_ROWS).enumerate() {
                let window = self.window(first + 8 * eight + part * WORD_ROWS);
                for (t, sum) in sums.iter_mut().enumerate() {
                    let ones = (window >> t) as usize;
                    *sum = *sum ^ low[ones & 15] ^ high[ones >> 4 & 15];
                }
            }
        }
    }

    /// 64 diagonals from number `first` on.
    #[inline(always)]
    fn window(&self, first: usize) -> u64 {
        let [low, high] = [first / 64, first / 64 + 1].map(|word| self.diagonals[word]);
        ((u128::from(high) << 64 | u128::from(low)) >> (first % 64)) as u64
    }
}

/// 64 packed bits from bit `first` on, a multiple of 8; missing bits are zero.
fn bits_at(bytes: &[u8], first: usize) -> u64 {
    let rest = bytes.get(first / 8..).unwrap_or_default();
    let mut word = [0; 8];
    let known = rest.len().min(8);
    word[..known].copy_from_slice(&rest[..known]);
    u64::from_le_bytes(word)
}

/// The sums of all sets of at most four blocks: bit `i` of the index says whether block `i` is in the set.
///
/// *Source*: Arlazarov, Dinic, Kronrod and Faradzhev 1970, "the four Russians". *Secret*: the sums; the choice among them is public.
#[inline]
pub fn subset_sums(blocks: &[Block], sums: &mut [Block; 16]) {
    sums[0] = Block::ZERO;
    for i in 0..4 {
        // The stand-in for a missing block adds nothing.
        let block = blocks.get(i).copied().unwrap_or_default();
        let (known, new) = sums.split_at_mut(1 << i);
        new.iter_mut().zip(known).for_each(|(new, known)| *new = *known ^ block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: Block = Block::from_u128(7);

    fn of_diagonals(rows: usize, columns: usize, diagonals: u64) -> UniversalHash {
        UniversalHash { rows, columns, diagonals: Zeroizing::new(vec![diagonals, 0, 0]) }
    }

    fn bit(bytes: &[u8], i: usize) -> bool {
        bytes[i / 8] >> (i % 8) & 1 == 1
    }

    /// Over all matrices of small size, every difference of inputs gives every difference of hashes equally often.
    #[test]
    fn the_hash_is_universal_for_differences() {
        let (rows, columns) = (2, 3);
        for difference in 1..1u8 << columns {
            let mut counts = [0; 4];
            for matrix in 0..1 << (rows + columns - 1) {
                let hash = of_diagonals(rows, columns, matrix).of(&[difference]);
                counts[usize::from(hash[0])] += 1;
            }
            assert_eq!(counts, [4; 4], "difference {difference:b}");
        }
    }

    /// The definition, entry by entry, at sizes on both sides of every boundary: bytes, words, windows.
    #[test]
    fn bits_and_blocks_have_the_hash_of_the_definition() {
        for rows in [0, 1, 7, 48, 57, 58, 72, 88, 130] {
            for columns in [0, 1, 4, 7, 8, 9, 63, 64, 65, 70, 127, 128, 300] {
                let universal = UniversalHash::new(rows, columns, SEED);
                let mut diagonals = vec![0; (rows + columns).div_ceil(8)];
                Prg::new(SEED).fill_bytes(&mut diagonals);
                let mut input = vec![0; (rows + columns).div_ceil(8)];
                let mut blocks = vec![Block::ZERO; rows + columns];
                let mut rng = Prg::new(Block::ONES);
                rng.fill_bytes(&mut input);
                rng.fill_blocks(&mut blocks);
                let (hash, sums) = (universal.of(&input), universal.sums(&blocks));
                assert_eq!((hash.len(), sums.len()), (rows.div_ceil(8), rows));
                for t in 0..rows {
                    let ones = || (0..columns).filter(|j| bit(&diagonals, t + j)).chain([columns + t]);
                    let sum = ones().fold(false, |sum, i| sum ^ bit(&input, i));
                    assert_eq!(bit(&hash, t), sum, "bit {t} of {rows} x {columns}");
                    let sum = ones().fold(Block::ZERO, |sum, i| sum ^ blocks[i]);
                    assert!(sums[t] == sum, "sum {t} of {rows} x {columns}");
                }
            }
        }
    }

    #[test]
    fn columns_may_be_added_in_parts() {
        let universal = UniversalHash::new(72, 100, SEED);
        let mut blocks = vec![Block::ZERO; 172];
        Prg::new(SEED).fill_blocks(&mut blocks);
        let mut sums = blocks[100..].to_vec();
        for part in [0..3, 3..11, 11..11, 11..80, 80..100] {
            universal.add(part.start, &blocks[part], &mut sums);
        }
        assert!(sums == *universal.sums(&blocks));
    }
}
