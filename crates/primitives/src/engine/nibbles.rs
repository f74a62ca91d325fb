//! The S-box of AES in tables of 16 bytes, for processors with vector look-ups of bytes but without AES instructions.
//!
//! A byte is `k + i v`, with `k` and `i` in the subfield GF(2^4) of GF(2^8), four bits each, and with `v` such that `v + v^16` and
//! `v^17` equal one element `a`. The norm of the byte is `n = k^2 + a i k + a i^2`, and its inverse is `(k + a i) / n + v i / n`.
//! With `j = i + k`, the sums
//!
//! - `p = j + 1 / (1/i + a/k)`, which is `n / (k + a i)`,
//! - `q = i + 1 / (1/j + a/k)`, which is `n / (k + a j)`,
//!
//! give both parts: `(k + a i) / n = 1/p` and `i / n = (1/p) (1/a + 1/a^2) + (1/q) / a^2`. So the inverse, and the S-box except its
//! constant, is the sum of a table at `p` and a table at `q`. Infinity is [`INFINITY`], where a look-up gives zero.
//!
//! *Source*: Hamburg, "Accelerating AES with Vector Permute Instructions" (2009), section 3. The code derives the tables from the field.

use crate::gf256::{invert, mul};

/// One over zero. A sum with it is never a valid table index, and the sum of two is zero, as required.
const INFINITY: u8 = 0x80;

/// The constant that SubBytes adds to every byte last. All bytes of a column share it, so it is unchanged by MixColumns.
pub(super) const CONSTANT: u8 = 0x63;

/// An element of order 15 with `w^4 = w + 1`, whose powers below the fourth are the bits of GF(2^4).
const W: u8 = {
    let mut w = 2;
    while mul(mul(w, w), mul(w, w)) != w ^ 1 {
        w += 1;
    }
    w
};

/// The elements of GF(2^4).
const ELEMENTS: [u8; 16] = {
    let powers = [1, W, mul(W, W), mul(W, mul(W, W))];
    let mut elements = [0; 16];
    let mut bits = 1;
    while bits < 16_u8 {
        let top = bits.ilog2();
        elements[bits as usize] = elements[(bits ^ 1 << top) as usize] ^ powers[top as usize];
        bits += 1;
    }
    elements
};

/// `v` and `a`: any element outside the subfield, scaled to make trace and norm equal.
const V_AND_A: [u8; 2] = {
    let outside = 2;
    let mut conjugate = outside;
    let mut i = 0;
    while i < 4 {
        conjugate = mul(conjugate, conjugate);
        i += 1;
    }
    let [trace, norm] = [outside ^ conjugate, mul(outside, conjugate)];
    let factor = mul(trace, invert(norm));
    [mul(factor, outside), mul(factor, trace)]
};
const V: u8 = V_AND_A[0];
const A: u8 = V_AND_A[1];

/// The bits of an element of GF(2^4).
const fn bits(element: u8) -> u8 {
    let mut bits = 0;
    while ELEMENTS[bits as usize] != element {
        bits += 1;
    }
    bits
}

/// The byte with `k` in the lower four bits and `i` in the upper four.
const fn joined(nibbles: u8) -> u8 {
    ELEMENTS[(nibbles & 15) as usize] ^ mul(ELEMENTS[(nibbles >> 4) as usize], V)
}

const JOINED: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut nibbles = 0;
    while nibbles < 256 {
        bytes[nibbles] = joined(nibbles as u8);
        nibbles += 1;
    }
    bytes
};

/// `k` in the lower four bits and `i` in the upper four, from a byte.
pub(super) const fn split(byte: u8) -> u8 {
    let mut nibbles = 0;
    while JOINED[nibbles] != byte {
        nibbles += 1;
    }
    nibbles as u8
}

/// The round constants of the key schedule.
pub(super) const ROUND_CONSTANTS: [u8; 10] = {
    let mut constants = [0; 10];
    let mut round = 0;
    while round < 10 {
        constants[round] = split(super::ROUND_CONSTANTS[round] as u8);
        round += 1;
    }
    constants
};

/// The linear part of the last step of SubBytes.
const fn affine(y: u8) -> u8 {
    y ^ y.rotate_left(1) ^ y.rotate_left(2) ^ y.rotate_left(3) ^ y.rotate_left(4)
}

/// A table of one lookup: `f(n)` for `n` below 16.
macro_rules! table {
    ($n:ident => $f:expr) => {{
        let mut table = [0; 16];
        let mut $n = 0;
        while $n < 16_u8 {
            table[$n as usize] = $f;
            $n += 1;
        }
        table
    }};
}

/// To nibbles: the contributions of the lower and the upper four bits of a byte.
pub(super) const SPLIT: [[u8; 16]; 2] = [table!(n => split(n)), table!(n => split(n << 4))];
/// From nibbles: the contributions of `k` and `i`.
pub(super) const JOIN: [[u8; 16]; 2] = [table!(n => joined(n)), table!(n => joined(n << 4))];

/// `1 / n`.
pub(super) const INVERSE: [u8; 16] = over(1);
/// `a / n`.
pub(super) const A_OVER: [u8; 16] = over(A);

const fn over(dividend: u8) -> [u8; 16] {
    table!(n => match n {
        0 => INFINITY,
        n => bits(mul(dividend, invert(ELEMENTS[n as usize]))),
    })
}

/// The factors of `1/p` and `1/q` in the inverse.
const FACTORS: [u8; 2] = {
    let one_over_a = invert(A);
    let square = mul(one_over_a, one_over_a);
    [1 ^ mul(V, one_over_a ^ square), mul(V, square)]
};

/// The S-box without its constant: the contributions of `p` and `q`.
pub(super) const SUBSTITUTED: [[u8; 16]; 2] = [substituted(FACTORS[0]), substituted(FACTORS[1])];
/// The same in nibbles.
pub(super) const SUBSTITUTED_SPLIT: [[u8; 16]; 2] = [split_all(SUBSTITUTED[0], 1), split_all(SUBSTITUTED[1], 1)];
/// Twice the S-box without its constant, in nibbles.
pub(super) const DOUBLED_SPLIT: [[u8; 16]; 2] = [split_all(SUBSTITUTED[0], 2), split_all(SUBSTITUTED[1], 2)];

const fn substituted(factor: u8) -> [u8; 16] {
    table!(n => affine(mul(factor, invert(ELEMENTS[n as usize]))))
}

const fn split_all(table: [u8; 16], factor: u8) -> [u8; 16] {
    table!(n => split(mul(factor, table[n as usize])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks up as processors do: an index that is too large gives zero.
    fn look_up(table: [u8; 16], index: u8) -> u8 {
        table.get(usize::from(index)).copied().unwrap_or(0)
    }

    fn both([first, second]: [[u8; 16]; 2], p: u8, q: u8) -> u8 {
        look_up(first, p) ^ look_up(second, q)
    }

    #[test]
    fn tables_give_the_s_box() {
        for byte in 0..=255 {
            let nibbles = both(SPLIT, byte & 15, byte >> 4);
            assert_eq!(both(JOIN, nibbles & 15, nibbles >> 4), byte);
            let [k, i] = [nibbles & 15, nibbles >> 4];
            let [j, a_over_k] = [i ^ k, look_up(A_OVER, k)];
            let p = j ^ look_up(INVERSE, look_up(INVERSE, i) ^ a_over_k);
            let q = i ^ look_up(INVERSE, look_up(INVERSE, j) ^ a_over_k);
            // FIPS 197, section 5.1.1.
            let expected = affine(invert(byte));
            assert_eq!(both(SUBSTITUTED, p, q), expected, "byte {byte:02x}");
            assert_eq!(both(SUBSTITUTED_SPLIT, p, q), split(expected), "byte {byte:02x}");
            assert_eq!(both(DOUBLED_SPLIT, p, q), split(mul(2, expected)), "byte {byte:02x}");
        }
        let joined = ROUND_CONSTANTS.map(|nibbles| i32::from(JOINED[usize::from(nibbles)]));
        assert_eq!(joined, super::super::ROUND_CONSTANTS);
        // FIPS 197, figure 7.
        assert_eq!([0x00, 0x01, 0x53, 0xff].map(|byte| affine(invert(byte)) ^ CONSTANT), [0x63, 0x7c, 0xed, 0x16]);
    }
}
