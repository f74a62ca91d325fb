//! Boolean functions of up to six variables as truth tables of 64 bits.
//!
//! Bit `x` of a table is the value at the point whose coordinates are the bits of `x`. A function of fewer variables is a
//! table that does not depend on the others.

use garblet_circuit::TruthTable;

/// The most variables.
pub(super) const VARIABLES: usize = 6;

/// The tables of the variables themselves.
pub(super) const VARIABLE: [u64; VARIABLES] = TruthTable::INPUTS;

/// The monomials of degree at most one.
pub(super) const AFFINE: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16 | 1 << 32;

/// The monomials of degree two.
pub(super) const QUADRATIC: u64 = {
    let (mut mask, mut i) = (0u64, 0u32);
    while i < 64 {
        if i.count_ones() == 2 {
            mask |= 1 << i;
        }
        i += 1;
    }
    mask
};

/// Converts a table to the coefficients of its polynomial over GF(2), and back: bit `m` belongs to the product of the
/// variables whose bits are set in `m`.
pub(super) fn polynomial(mut table: u64) -> u64 {
    for (i, variable) in VARIABLE.iter().enumerate() {
        table ^= (table & !variable) << (1 << i);
    }
    table
}

/// The function at `x ^ shift` in place of `x`.
pub(super) fn shifted(mut table: u64, shift: usize) -> u64 {
    for (i, variable) in VARIABLE.iter().enumerate().filter(|(i, _)| shift >> i & 1 == 1) {
        table = (table & variable) >> (1 << i) | (table << (1 << i)) & variable;
    }
    table
}

/// The function with two variables exchanged.
pub(super) fn exchanged(table: u64, i: usize, j: usize) -> u64 {
    let (low, high) = (VARIABLE[i.min(j)], VARIABLE[i.max(j)]);
    let distance = (1 << i.max(j)) - (1 << i.min(j));
    table & !(low ^ high) | (table & low & !high) << distance | (table & high & !low) >> distance
}

/// Returns whether the function depends on variable `i`.
pub(super) fn depends_on(table: u64, i: usize) -> bool {
    table != shifted(table, 1 << i)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tables_and_points_agree(table: u64, shift in 0usize..64, i in 0usize..6, j in 0usize..6) {
            let at = |table: u64, x: usize| table >> x & 1;
            let swap = |x: usize| if x >> i & 1 == x >> j & 1 { x } else { x ^ (1 << i | 1 << j) };
            for x in 0..64 {
                prop_assert_eq!(at(shifted(table, shift), x), at(table, x ^ shift));
                if i != j {
                    prop_assert_eq!(at(exchanged(table, i, j), x), at(table, swap(x)));
                }
                let terms = (0..64).filter(|m| m & x == *m).fold(0, |sum, m| sum ^ at(polynomial(table), m));
                prop_assert_eq!(terms, at(table, x));
            }
            prop_assert_eq!(depends_on(table, i), (0..64).any(|x| at(table, x) != at(table, x ^ 1 << i)));
        }
    }

    #[test]
    fn degrees_are_told_apart() {
        assert_eq!(polynomial(VARIABLE[2] ^ !VARIABLE[5]) & !AFFINE, 0);
        assert_eq!(polynomial(VARIABLE[2] & !VARIABLE[5]) & !AFFINE & !QUADRATIC, 0);
        assert_ne!(polynomial(VARIABLE[2] & VARIABLE[5] & VARIABLE[0]) & !AFFINE & !QUADRATIC, 0);
        assert_eq!((AFFINE.count_ones(), QUADRATIC.count_ones()), (7, 15));
    }
}
