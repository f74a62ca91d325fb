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
    assert_eq!(rows.len(), columns.len() * BLOCK_BITS / 8, "{BLOCK_BITS} rows of one bit per column");
    transpose_part(rows, 0, columns);
}

/// Transposes a part of a matrix of 128 rows, the columns from `first` on.
///
/// *Shape*: as [`transpose`]; `first` and the number of columns are multiples of 128, too.
///
/// # Panics
/// If the shape is wrong.
pub fn transpose_part(rows: &[u8], first: usize, columns: &mut [Block]) {
    transpose_with_backend(Backend::detect(), rows, first, columns);
}

/// Transposes squares of 128 by 128 bits in place: bit `i` of block `j` of a square becomes bit `j` of its block `i`.
///
/// # Panics
/// If the number of blocks is not a multiple of 128.
pub fn transpose_squares(blocks: &mut [Block]) {
    transpose_squares_with_backend(Backend::detect(), blocks);
}

/// [`transpose_squares`] with a given backend.
///
/// # Panics
/// If the number of blocks is not a multiple of 128.
pub(crate) fn transpose_squares_with_backend(backend: Backend, blocks: &mut [Block]) {
    let (squares, rest) = blocks.as_chunks_mut::<BLOCK_BITS>();
    assert!(rest.is_empty(), "a multiple of {BLOCK_BITS} blocks, not {}", squares.len() * BLOCK_BITS + rest.len());
    backend.run(TransposeSquares { squares });
}

/// [`transpose_part`] with a given backend.
///
/// # Panics
/// If the shape is wrong.
pub(crate) fn transpose_with_backend(backend: Backend, rows: &[u8], first: usize, columns: &mut [Block]) {
    for count in [first, columns.len(), rows.len() / (BLOCK_BITS / 8)] {
        assert!(count.is_multiple_of(BLOCK_BITS), "a multiple of {BLOCK_BITS} columns, not {count}");
    }
    assert!(rows.len() / (BLOCK_BITS / 8) >= first + columns.len(), "rows of {} columns", first + columns.len());
    backend.run(Transpose { rows, first_square: first / BLOCK_BITS, columns });
}

struct Transpose<'a> {
    rows: &'a [u8],
    first_square: usize,
    columns: &'a mut [Block],
}

impl Kernel for Transpose<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let row_bytes = self.rows.len() / BLOCK_BITS;
        for (square, columns) in (self.first_square..).zip(self.columns.as_chunks_mut::<BLOCK_BITS>().0) {
            for (i, block) in columns.iter_mut().enumerate() {
                let bytes = self.rows[i * row_bytes + square * 16..].first_chunk().copied().unwrap_or_default();
                *block = Block::from_bytes(bytes);
            }
            e.transpose(columns);
        }
    }
}

struct TransposeSquares<'a> {
    squares: &'a mut [[Block; BLOCK_BITS]],
}

impl Kernel for TransposeSquares<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        for square in self.squares {
            e.transpose(square);
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
                transpose_with_backend(backend, &rows, 0, &mut columns);
                for (first, end) in [(0, n / 256 * 128), (n / 256 * 128, n), (n, n)] {
                    let mut part = vec![Block::ZERO; end - first];
                    transpose_with_backend(backend, &rows, first, &mut part);
                    assert!(part == columns[first..end], "columns {first} to {end} of {n} on {backend}");
                }
                let mut squares: Vec<Block> = columns.clone();
                transpose_squares_with_backend(backend, &mut squares);
                for (square, blocks) in squares.chunks(BLOCK_BITS).enumerate() {
                    for (i, block) in blocks.iter().enumerate() {
                        let row = &rows[i * n / 8 + 16 * square..][..16];
                        assert!(block.to_bytes() == row, "row {i} of square {square} of {n} on {backend}");
                    }
                }
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
    #[should_panic(expected = "a multiple of 128 blocks, not 129")]
    fn refuses_a_part_of_a_square_in_place() {
        transpose_squares(&mut [Block::ZERO; 129]);
    }

    #[test]
    #[should_panic(expected = "128 rows of one bit per column")]
    fn refuses_missing_rows() {
        transpose(&[0; 2047], &mut [Block::ZERO; 128]);
    }

    #[test]
    #[should_panic(expected = "rows of 384 columns")]
    fn refuses_a_part_beyond_the_rows() {
        transpose_part(&[0; 4096], 128, &mut [Block::ZERO; 256]);
    }
}
