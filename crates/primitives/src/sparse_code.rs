//! A random linear code whose generator has ten ones in every row. Two may fall together, and cancel.
//!
//! *Source*: Yang, Weng, Lan, Zhang and Wang, "Ferret: Fast Extension for Correlated OT with Small Communication" (CCS 2020), section 6 (10-local
//! linear codes).

use crate::{aes::Aes128, backend::Backend, block::Block, engine::Engine, kernel::Kernel};

/// The ones of a row.
const ROW_ONES: usize = 10;
/// Rows made at a time: their indices stay in the first level of the cache.
const CHUNK_ROWS: usize = 128;
/// Blocks of the stream for a chunk: 32 bits per index.
const CHUNK_BLOCKS: usize = CHUNK_ROWS * ROW_ONES / 4;

/// A public random code of ten ones per row, of which two may fall together and cancel.
///
/// Index `j` of row `i` is the high half of the product of the number of columns and word `10 i + j` of an AES-128 stream in counter mode, so rows can be made in
/// any order.
#[derive(Clone)]
pub struct SparseCode {
    backend: Backend,
    stream: Aes128,
    columns: u32,
}

impl SparseCode {
    /// The code of a public seed.
    pub fn new(seed: Block, columns: u32) -> Self {
        Self::with_backend(Backend::detect(), seed, columns)
    }

    /// The code of a public seed, on a given backend.
    pub fn with_backend(backend: Backend, seed: Block, columns: u32) -> Self {
        SparseCode { backend, stream: Aes128::with_backend(backend, seed), columns }
    }

    /// Adds to `rows[i]` the sum of the ten entries of `table` that row `first + i` of the code selects.
    ///
    /// # Panics
    /// If the table does not have an entry for every column, or `first` is odd.
    pub fn add_rows(&self, first: u64, table: &[Block], rows: &mut [Block]) {
        assert_eq!(table.len(), self.columns as usize, "an entry per column");
        assert!(first.is_multiple_of(2), "two rows share a block of the stream");
        let mut words = [Block::ZERO; CHUNK_BLOCKS];
        for (chunk, rows) in rows.chunks_mut(CHUNK_ROWS).enumerate() {
            let first = first + (chunk * CHUNK_ROWS) as u64;
            let words = &mut words[..(rows.len() * ROW_ONES).div_ceil(4)];
            self.stream.keystream(first / 2 * ROW_ONES as u64 / 2, words);
            self.backend.run(AddRows { words: bytemuck::cast_slice_mut(words), table, rows });
        }
    }
}

struct AddRows<'a> {
    words: &'a mut [u32],
    table: &'a [Block],
    rows: &'a mut [Block],
}

impl Kernel for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, _e: E) {
        // All indices at once, in vectors.
        let columns = self.table.len() as u64;
        for word in self.words.iter_mut() {
            *word = ((u64::from(*word) * columns) >> 32) as u32;
        }
        for (row, indices) in self.rows.iter_mut().zip(self.words.as_chunks::<ROW_ONES>().0) {
            let mut sum = *row;
            for &index in indices {
                // SAFETY: the high half of the product of a word and the number of entries is less than the latter.
                sum ^= unsafe { *self.table.get_unchecked(index as usize) };
            }
            *row = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prg::Prg;

    fn random(seed: u128, count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        Prg::new(Block::from_u128(seed)).fill_blocks(&mut blocks);
        blocks
    }

    /// The rows by the definition.
    fn formula(seed: Block, first: usize, table: &[Block], rows: &mut [Block]) {
        let mut words = vec![[0u8; 4]; ROW_ONES * (first + rows.len())];
        Prg::with_backend(Backend::PORTABLE, seed).fill_bytes(words.as_flattened_mut());
        for (row, words) in rows.iter_mut().zip(words[ROW_ONES * first..].chunks(ROW_ONES)) {
            for &word in words {
                *row ^= table[((u64::from(u32::from_le_bytes(word)) * table.len() as u64) >> 32) as usize];
            }
        }
    }

    #[test]
    fn rows_equal_the_definition_on_every_backend() {
        let seed = Block::from_u128(5 << 77);
        for columns in [1, 2, 1000, 139_264] {
            let table = random(1, columns);
            for (first, count) in [(0, 0), (0, 1), (0, 2), (2, 3), (0, CHUNK_ROWS + 1), (256, 3 * CHUNK_ROWS)] {
                let before = random(2, count);
                let mut expected = before.clone();
                formula(seed, first, &table, &mut expected);
                for backend in Backend::available() {
                    let mut rows = before.clone();
                    let code = SparseCode::with_backend(backend, seed, columns as u32);
                    code.add_rows(first as u64, &table, &mut rows);
                    assert!(rows == expected, "{count} rows from {first} of {columns} columns on {backend}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "an entry per column")]
    fn a_table_of_another_size_is_refused() {
        SparseCode::new(Block::ZERO, 3).add_rows(0, &[Block::ZERO; 2], &mut []);
    }
}
