//! Payload bytes as formulas.

use crate::code::Code;
use crate::codeword::Codeword;
use crate::combination::TRUNCATED_BYTES;
use crate::squares::SQUARE;

/// Payload bytes that the sender sends for `n` commitments in one call; 16 more for each one if it chooses the messages.
pub const fn commit_bytes(code: Code, n: u64) -> u64 {
    let squares = n.div_ceil(SQUARE as u64) + 1;
    16 * (squares * code.parity_bits() as u64 + (code.length() + SQUARE) as u64)
}

/// Payload bytes of a single opening.
pub const fn opening_bytes(code: Code) -> usize {
    16 + Codeword::bytes(code)
}

/// Payload bytes of `n` openings together.
pub const fn batch_opening_bytes(code: Code, n: u64) -> u64 {
    match n {
        0 => 0,
        _ => 16 * n + (TRUNCATED_BYTES * code.length()) as u64,
    }
}
