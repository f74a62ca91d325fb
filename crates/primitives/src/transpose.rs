//! Bit-matrix transposition for OT extension: 128 long rows to many blocks.

use crate::{
    backend::Backend,
    block::{BLOCK_BITS, Block},
    engine::Engine,
    kernel::Kernel,
};

/// Transposes a matrix of 128 rows: bit `i` of `columns[j]` becomes bit `j` of row `i`.
///
/// *Shape*: row `i` is `rows[i * n / 8..][..n / 8]` for `n = columns.len()`, a multiple of 128; bit `j` of a row is bit
/// `j % 8` of its byte `j / 8`.
///
/// # Panics
/// If the shape is wrong.
pub fn transpose(rows: &[u8], columns: &mut [Block]) {
    transpose_with_backend(Backend::detect(), rows, columns);
}

/// [`transpose`] with a given backend.
///
/// # Panics
/// If the shape is wrong.
pub(crate) fn transpose_with_backend(backend: Backend, rows: &[u8], columns: &mut [Block]) {
    assert!(columns.len().is_multiple_of(BLOCK_BITS), "a multiple of {BLOCK_BITS} columns, not {}", columns.len());
    assert_eq!(rows.len(), columns.len() * BLOCK_BITS / 8, "{BLOCK_BITS} rows of one bit per column");
    backend.run(Transpose { rows, columns });
}

struct Transpose<'a> {
    rows: &'a [u8],
    columns: &'a mut [Block],
}

impl Kernel for Transpose<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let row_bytes = self.columns.len() / 8;
        for (square, columns) in self.columns.as_chunks_mut::<BLOCK_BITS>().0.iter_mut().enumerate() {
            for (i, block) in columns.iter_mut().enumerate() {
                let bytes = self.rows[i * row_bytes + square * 16..].first_chunk().copied().unwrap_or_default();
                *block = Block::from_bytes(bytes);
            }
            e.transpose(columns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prg::Prg;

    #[test]
    fn every_backend_equals_the_definition() {
        for n in [0, 128, 256, 1024, 1152] {
            let mut rows = vec![0; BLOCK_BITS * n / 8];
            Prg::new(Block::from_u128(n as u128)).fill_bytes(&mut rows);
            let bit = |i: usize, j: usize| rows[i * n / 8 + j / 8] >> (j % 8) & 1;
            for backend in Backend::available() {
                let mut columns = vec![Block::ZERO; n];
                transpose_with_backend(backend, &rows, &mut columns);
                for (j, column) in columns.iter().enumerate() {
                    let expected = (0..BLOCK_BITS).fold(0, |sum, i| sum | u128::from(bit(i, j)) << i);
                    assert_eq!(column.to_u128(), expected, "column {j} of {n} on {backend}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a multiple of 128 columns, not 64")]
    fn refuses_a_part_of_a_square() {
        transpose(&[0; 1024], &mut [Block::ZERO; 64]);
    }

    #[test]
    #[should_panic(expected = "128 rows of one bit per column")]
    fn refuses_missing_rows() {
        transpose(&[0; 2047], &mut [Block::ZERO; 128]);
    }
}
