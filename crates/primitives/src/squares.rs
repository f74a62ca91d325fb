//! Squares of 128 by 128 bits, transposed in place.

use crate::block::{BLOCK_BITS, Block};

/// Transposes 128 x 128 bits.
///
/// *Source*: Eklundh 1972 (seven rounds of exchanging squares of halving size).
#[inline(always)]
pub(crate) fn exchange_squares(blocks: &mut [Block; BLOCK_BITS]) {
    // In each row, the low half comes first.
    let rows: &mut [[u64; 2]; BLOCK_BITS] = bytemuck::cast_mut(blocks);
    for pair in 0..BLOCK_BITS / 2 {
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
fn exchange<const SIZE: usize>(rows: &mut [[u64; 2]; BLOCK_BITS], low: u64) {
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
