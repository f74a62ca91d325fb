//! Secret sharing over GF(2^128): polynomials through points, with coefficients computed once.
//!
//! *Source*: Pinkas et al. 2009, section 5. The integer `v` is the polynomial whose bits are those of `v`; row `r` of a gate, from 0,
//! is at the point `r + 1`; the sent values are at 5 and 6, the label at 0.

use garblet_primitives::{Block, gf128};

/// The rows of a gate of two inputs.
const ROWS: usize = 4;

/// The coefficients of all interpolations for gates.
pub(super) struct Sharing {
    /// The coefficients, for each odd row, of all rows (its own is zero) of the quadratic through the others, at 0, 5 and 6.
    others: [[[Block; ROWS]; 3]; ROWS],
    /// The coefficients, for each row, of it, 5 and 6 in the quadratic through them at 0.
    quadratic: [[Block; 3]; ROWS],
    /// The coefficients, for the rows on the two diagonals, of all rows of the line through them, at 0 and 5.
    diagonals: [[[Block; ROWS]; 2]; 2],
    /// The coefficients, for each row, of it and 5 in the line through them at 0.
    line: [[Block; 2]; ROWS],
}

impl Sharing {
    pub(super) fn new() -> Self {
        let among = |rows: &[usize], at: u8| {
            let points: Vec<u8> = rows.iter().map(|&row| row as u8 + 1).collect();
            let mut all = [Block::ZERO; ROWS];
            for (&row, coefficient) in rows.iter().zip(coefficients(&points, at)) {
                all[row] = coefficient;
            }
            all
        };
        let others = |odd_row: usize| (0..ROWS).filter(|&row| row != odd_row).collect::<Vec<_>>();
        let first = |points: &[u8]| coefficients(points, 0);
        Sharing {
            others: [0, 1, 2, 3].map(|odd_row| [0, 5, 6].map(|at| among(&others(odd_row), at))),
            quadratic: [1, 2, 3, 4].map(|point| fixed(&first(&[point, 5, 6]))),
            diagonals: [[0, 3], [1, 2]].map(|rows| [0, 5].map(|at| among(&rows, at))),
            line: [1, 2, 3, 4].map(|point| fixed(&first(&[point, 5]))),
        }
    }

    /// For a gate whose value in row `odd_row` differs from the others': the label in the other rows, the label in that row, and
    /// the values to send.
    ///
    /// `odd_row` is secret; its coefficients are picked in constant time.
    pub(super) fn odd(&self, pads: &[Block; ROWS], odd_row: usize) -> [Block; 4] {
        let of_others = [0, 1, 2].map(|at| {
            let coefficients: [Block; ROWS] =
                std::array::from_fn(|row| pick(&self.others.map(|o| o[at][row]), odd_row));
            gf128::inner_product(&coefficients, pads)
        });
        let [common, fifth, sixth] = of_others;
        let coefficients: [Block; 3] = std::array::from_fn(|i| pick(&self.quadratic.map(|q| q[i]), odd_row));
        let alone = gf128::inner_product(&coefficients, &[pick(pads, odd_row), fifth, sixth]);
        [common, alone, fifth, sixth]
    }

    /// For a gate whose value in rows 0 and 3 differs from that in rows 1 and 2: for both, the label and the value to send.
    pub(super) fn even(&self, pads: &[Block; ROWS]) -> [[Block; 2]; 2] {
        self.diagonals.map(|diagonal| diagonal.map(|coefficients| gf128::inner_product(&coefficients, pads)))
    }

    /// The label of an odd gate from the pad of the row and the sent values.
    pub(super) fn of_odd(&self, row: usize, pad: Block, sent: [Block; 2]) -> Block {
        gf128::inner_product(&self.quadratic[row], &[pad, sent[0], sent[1]])
    }

    /// The label of an even gate from the pad of the row and the value sent for its external value.
    pub(super) fn of_even(&self, row: usize, pad: Block, sent: Block) -> Block {
        gf128::inner_product(&self.line[row], &[pad, sent])
    }
}

/// The element at a secret place, in constant time.
pub(super) fn pick<const N: usize>(elements: &[Block; N], place: usize) -> Block {
    elements.iter().enumerate().fold(Block::ZERO, |sum, (i, &element)| sum ^ Block::mask(i == place) & element)
}

fn fixed<const N: usize>(coefficients: &[Block]) -> [Block; N] {
    std::array::from_fn(|i| coefficients[i])
}

/// Lagrange coefficients: the factors of the values at `points` whose sum is the value at `at`.
fn coefficients(points: &[u8], at: u8) -> Vec<Block> {
    let element = |v: u8| Block::from_u128(v.into());
    let of = |(i, &x): (usize, &u8)| {
        let others = points.iter().enumerate().filter(|(j, _)| *j != i);
        others.fold(gf128::ONE, |product, (_, &y)| {
            gf128::mul(product, gf128::mul(element(at ^ y), gf128::invert(element(x ^ y))))
        })
    };
    points.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    /// The value at `at` of the polynomial of least degree through the points, by Newton's divided differences.
    fn newton(points: &[(u8, Block)], at: u8) -> Block {
        let element = |v: u8| Block::from_u128(v.into());
        let mut table: Vec<Block> = points.iter().map(|(_, value)| *value).collect();
        for step in 1..points.len() {
            for i in (step..points.len()).rev() {
                let run = gf128::invert(element(points[i].0 ^ points[i - step].0));
                table[i] = gf128::mul(table[i] ^ table[i - 1], run);
            }
        }
        let value = |sum, i: usize| gf128::mul(sum, element(at ^ points[i].0)) ^ table[i];
        (0..points.len()).rev().fold(Block::ZERO, value)
    }

    fn pads(seed: u64) -> [Block; ROWS] {
        let mut rng = Prg::new(Block::from_halves(seed, 0));
        [0; ROWS].map(|_| rng.next_block())
    }

    #[test]
    fn the_coefficients_are_the_known_ones() {
        let sharing = Sharing::new();
        let known = |value: u128| Block::from_u128(value);
        let [c, c5, c6] = sharing.quadratic[0];
        assert!(c == known(0x36db6db6db6db6db6db6db6db6db6dac));
        assert!(c5 == known(0x80000000000000000000000000000043) && c6 == known(0xb6db6db6db6db6db6db6db6db6db6dee));
        assert!(sharing.quadratic[2].iter().all(|&c| c == gf128::ONE));
        assert!(sharing.quadratic[3] == [0xf, 8, 6].map(known));
        assert!(sharing.line[3] == [5, 4].map(known));
        assert!(sharing.line[0][0] == known(0xc0000000000000000000000000000063));
        assert!(sharing.others[3][0] == [1, 1, 1, 0].map(known));
    }

    #[test]
    fn both_sides_of_an_odd_gate_agree_with_plain_interpolation() {
        let sharing = Sharing::new();
        for seed in 0..20 {
            let pads = pads(seed);
            for odd_row in 0..ROWS {
                let [common, alone, fifth, sixth] = sharing.odd(&pads, odd_row);
                let others: Vec<(u8, Block)> =
                    (0..ROWS).filter(|&r| r != odd_row).map(|r| (r as u8 + 1, pads[r])).collect();
                assert!([common, fifth, sixth] == [0, 5, 6].map(|at| newton(&others, at)));
                assert!(alone == newton(&[(odd_row as u8 + 1, pads[odd_row]), (5, fifth), (6, sixth)], 0));
                for (row, &pad) in pads.iter().enumerate() {
                    let expected = if row == odd_row { alone } else { common };
                    assert!(sharing.of_odd(row, pad, [fifth, sixth]) == expected);
                }
            }
        }
    }

    #[test]
    fn both_sides_of_an_even_gate_agree_with_plain_interpolation() {
        let sharing = Sharing::new();
        for seed in 0..20 {
            let pads = pads(seed);
            let labels = sharing.even(&pads);
            for (rows, [label, sent]) in [[0, 3], [1, 2]].into_iter().zip(labels) {
                let points = rows.map(|row: usize| (row as u8 + 1, pads[row]));
                assert!([label, sent] == [0, 5].map(|at| newton(&points, at)));
                assert!(rows.iter().all(|&row| sharing.of_even(row, pads[row], sent) == label));
            }
        }
    }
}
