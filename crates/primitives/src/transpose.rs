//! Bit-matrix transposition for OT extension: 128 long rows to many blocks.

use crate::{
    backend::{Backend, Kernel},
    block::Block,
    engine::Engine,
};

/// Rows of the matrix, which are the bits of a block.
pub const ROWS: usize = 128;

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

/// Transposes as [`transpose`] with that backend.
///
/// # Panics
/// If the shape is wrong.
pub fn transpose_with_backend(backend: Backend, rows: &[u8], columns: &mut [Block]) {
    assert!(columns.len().is_multiple_of(ROWS), "a multiple of {ROWS} columns, not {}", columns.len());
    assert_eq!(rows.len(), columns.len() * ROWS / 8, "{ROWS} rows of one bit per column");
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
        for (square, columns) in self.columns.as_chunks_mut::<ROWS>().0.iter_mut().enumerate() {
            for (i, block) in columns.iter_mut().enumerate() {
                let bytes = self.rows[i * row_bytes + square * 16..].first_chunk().copied().unwrap_or_default();
                *block = Block::from_bytes(bytes);
            }
            e.transpose(columns);
        }
    }
}

/// Transposes 128 x 128 bits.
///
/// *Source*: Eklundh 1972 (seven rounds of exchanging squares of halving size).
#[inline(always)]
pub(crate) fn exchange_squares(blocks: &mut [Block; ROWS]) {
    // In each row the low half comes first.
    let rows: &mut [[u64; 2]; ROWS] = bytemuck::cast_mut(blocks);
    for pair in 0..ROWS / 2 {
        let (low, high) = (rows[pair], rows[pair + 64]);
        rows[pair] = [low[0], high[0]];
        rows[pair + 64] = [low[1], high[1]];
    }
    exchange::<32>(rows, 0x0000_0000_ffff_ffff);
    exchange::<16>(rows, 0x0000_ffff_0000_ffff);
    exchange::<8>(rows, 0x00ff_00ff_00ff_00ff);
    exchange::<4>(rows, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<2>(rows, 0x3333_3333_3333_3333);
    exchange::<1>(rows, 0x5555_5555_5555_5555);
}

/// Exchanges the off-diagonal `SIZE` x `SIZE` squares of every `2 SIZE` x `2 SIZE` square on the diagonal grid; `low`
/// has ones at the bits whose position has bit `SIZE` clear.
#[inline(always)]
fn exchange<const SIZE: usize>(rows: &mut [[u64; 2]; ROWS], low: u64) {
    for group in rows.chunks_exact_mut(2 * SIZE) {
        let (upper, lower) = group.split_at_mut(SIZE);
        for (u, l) in upper.iter_mut().zip(lower) {
            for half in 0..2 {
                let swap = (u[half] >> SIZE ^ l[half]) & low;
                l[half] ^= swap;
                u[half] ^= swap << SIZE;
            }
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
            let mut rows = vec![0; ROWS * n / 8];
            Prg::new(Block::from_u128(n as u128)).fill_bytes(&mut rows);
            let bit = |i: usize, j: usize| rows[i * n / 8 + j / 8] >> (j % 8) & 1;
            for backend in Backend::available() {
                let mut columns = vec![Block::ZERO; n];
                transpose_with_backend(backend, &rows, &mut columns);
                for (j, column) in columns.iter().enumerate() {
                    let expected = (0..ROWS).fold(0, |sum, i| sum | u128::from(bit(i, j)) << i);
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
