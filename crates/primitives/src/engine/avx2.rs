//! The transposition of bits for the engines with AVX2.

use std::arch::x86_64::*;

use crate::block::{BLOCK_BITS, Block};

/// Transposes 128 x 128 bits.
///
/// One instruction takes the top bits of 32 bytes. If these are the same byte of 32 rows, their top bits are a part of a column; doubling
/// every byte moves the next column to the top.
#[target_feature(enable = "avx2")]
pub(super) fn transpose(square: &mut [Block; BLOCK_BITS]) {
    let rows = *square;
    let columns: &mut [[u32; 4]; BLOCK_BITS] = bytemuck::cast_mut(square);
    for (part, rows) in rows.as_chunks::<32>().0.iter().enumerate() {
        for (byte, mut of_rows) in bytes_of(rows).into_iter().enumerate() {
            for column in (8 * byte..8 * byte + 8).rev() {
                columns[column][part] = _mm256_movemask_epi8(of_rows) as u32;
                of_rows = _mm256_add_epi8(of_rows, of_rows);
            }
        }
    }
}

/// The bytes of 32 rows: first those with number 0, row by row, then those with number 1, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of(rows: &[Block; 32]) -> [__m256i; 16] {
    let (lower, upper) = rows.split_at(16);
    let mut x = [_mm256_setzero_si256(); 16];
    for (x, (lower, upper)) in x.iter_mut().zip(lower.iter().zip(upper)) {
        *x = _mm256_set_m128i(bytemuck::cast(*upper), bytemuck::cast(*lower));
    }
    // In each lane, the number of a byte's vector and its place there are eight bits. Each round rotates them by one, so four exchange the two.
    for _ in 0..4 {
        let before = x;
        for i in 0..8 {
            x[2 * i] = _mm256_unpacklo_epi8(before[i], before[i + 8]);
            x[2 * i + 1] = _mm256_unpackhi_epi8(before[i], before[i + 8]);
        }
    }
    x
}
