//! Squares and batches, the units in which commitments are made.

/// Commitments in a square, the unit in which they are made.
pub(crate) const SQUARE: usize = 128;

/// Commitments that only blind the combinations of a call: the first square.
pub(crate) const BLINDING: usize = SQUARE;

/// Squares in a batch. An odd multiple of 64 bytes from row to row spreads rows over the sets of the cache.
pub(crate) const BATCH_SQUARES: usize = 28;

/// The sizes of the batches, in squares, of a call for `n` commitments.
pub(crate) fn batches(n: usize) -> impl Iterator<Item = usize> {
    let squares = (n + BLINDING).div_ceil(SQUARE);
    (0..squares).step_by(BATCH_SQUARES).map(move |done| (squares - done).min(BATCH_SQUARES))
}
