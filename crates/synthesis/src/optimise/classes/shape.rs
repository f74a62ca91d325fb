//! Numbers that do not change when a function is replaced by another one of its class.

use super::super::functions::{AFFINE, VARIABLES, polynomial, shifted};

/// The points, and the directions.
pub(super) const POINTS: usize = 1 << VARIABLES;

/// A number that all functions of a class have in common, and that few classes share: it depends on the degree, and on how
/// often each absolute value is among the Walsh coefficients and among the autocorrelations.
pub(super) fn key(table: u64) -> u64 {
    let coefficients = polynomial(table) & !AFFINE;
    let degree = (0..POINTS as u32).filter(|m| coefficients >> m & 1 == 1).map(u32::count_ones).max();
    let mut values: [i32; POINTS] = std::array::from_fn(|x| 1 - 2 * (table >> x & 1) as i32);
    transform(&mut values);
    let mut key = MIX[degree.unwrap_or(0) as usize];
    for value in &mut values {
        // The order of the values does not matter, so their terms are added.
        key = key.wrapping_add(MIX[value.unsigned_abs() as usize]);
        *value *= *value;
    }
    transform(&mut values);
    for value in values {
        key = key.wrapping_add(MIX[value.unsigned_abs() as usize / POINTS].rotate_left(32));
    }
    key
}

/// Replaces values at the points with their sums, with a sign for each linear form.
fn transform(values: &mut [i32; POINTS]) {
    for i in 0..VARIABLES {
        for pair in values.chunks_exact_mut(2 << i) {
            let (low, high) = pair.split_at_mut(1 << i);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
    }
}

/// One step of SplitMix64 (Steele, Lea and Flood 2014).
const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

static MIX: [u64; POINTS + 1] = {
    let mut all = [0; POINTS + 1];
    let mut i = 0;
    while i <= POINTS {
        all[i] = mix(i as u64);
        i += 1;
    }
    all
};

/// A function, and its derivatives `f(x) + f(x + a)` along all directions.
pub(super) struct Shape {
    pub(super) table: u64,
    pub(super) derivative: [u64; POINTS],
    /// The points at which the derivative of each derivative is true.
    pub(super) second: [[u8; POINTS]; POINTS],
    /// A number for each direction that an affine map takes along with the direction.
    pub(super) signature: [u64; POINTS],
}

impl Shape {
    pub(super) fn of(table: u64) -> Self {
        let derivative = std::array::from_fn(|a| table ^ shifted(table, a));
        let mut shape = Shape { table, derivative, second: [[0; POINTS]; POINTS], signature: [0; POINTS] };
        for (a, &along) in derivative.iter().enumerate() {
            for b in 1..a {
                let count = (along ^ shifted(along, b)).count_ones() as u8;
                shape.second[a][b] = count;
                shape.second[b][a] = count;
            }
        }
        // An affine function added to a function may negate a derivative.
        let first = derivative.map(|of| u64::from(of.count_ones().abs_diff(POINTS as u32 / 2)));
        for a in 1..POINTS {
            let others = (1..POINTS).filter(|&b| b != a);
            let sum = others.fold(0u64, |sum, b| {
                let pair = first[b].min(first[a ^ b]) << 16 | first[b].max(first[a ^ b]) << 8;
                sum.wrapping_add(mix(pair | u64::from(shape.second[a][b])))
            });
            shape.signature[a] = mix(sum ^ first[a]);
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shifts_and_affine_functions_change_nothing(table: u64, shift in 0usize..64, form in 0usize..64, invert: bool) {
            let affine = (0..64).filter(|x: &usize| ((x & form).count_ones() & 1 == 1) != invert).fold(0, |t, x| t | 1 << x);
            let other = shifted(table, shift) ^ affine;
            prop_assert_eq!(key(table), key(other));
            let [one, other] = [table, other].map(Shape::of);
            prop_assert_eq!(one.second, other.second);
            prop_assert_eq!(one.signature, other.signature);
        }

        #[test]
        fn signatures_move_with_their_directions(table: u64, i in 0usize..6, j in 0usize..6) {
            let other = super::super::super::functions::exchanged(table, i, j);
            prop_assume!(i != j);
            prop_assert_eq!(key(table), key(other));
            let swap = |x: usize| if x >> i & 1 == x >> j & 1 { x } else { x ^ (1 << i | 1 << j) };
            let [one, other] = [table, other].map(Shape::of);
            prop_assert!((0..POINTS).all(|a| one.signature[a] == other.signature[swap(a)]));
        }
    }
}
