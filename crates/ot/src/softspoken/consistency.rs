//! The consistency check: a receiver of correlated OTs used the same choices in every tree.
//!
//! *Source*: Roy 2022, section 4 (consistency checking for VOLE), in the field of two elements, where the correlation holds
//! column by column: `w_i = v_i + delta_i u`. The universal hash is a polynomial over GF(2^128) at a random point. It is
//! applied to the choices and to *every* column separately. The check that adds up the columns with random factors (Keller,
//! Orsini and Scholl 2015) has no valid proof, so this crate does not use it.
//!
//! # Symbols
//!
//! The hash input is the row squares `x_1 .. x_s` of 128 bits of one column, then a last square of random bits with no other use.
//! The hash of the column at the point `chi` is `sum chi^(s + 1 - j) x_j + last`: the last square hides the others.

use garblet_primitives::{Block, gf128, secrets, transpose_squares};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::width::SQUARE;
use crate::bit_vec::{BitVec, masked};
use crate::error::OtError;

/// The statistical security of the check. A receiver that cheats in `m` trees of `2^k` leaves escapes detection with probability
/// `2^(-k m)`, as in the ideal protocol, plus at most `2^-sigma`, for up to `2^30` OTs at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StatisticalSecurity {
    /// 40 bits: hashes of 8 bytes.
    #[default]
    Forty,
    /// 80 bits: hashes of 16 bytes.
    Eighty,
}

impl StatisticalSecurity {
    /// Both.
    pub const ALL: [StatisticalSecurity; 2] = [StatisticalSecurity::Forty, StatisticalSecurity::Eighty];

    /// The security in bits.
    pub const fn bits(self) -> u32 {
        match self {
            StatisticalSecurity::Forty => 40,
            StatisticalSecurity::Eighty => 80,
        }
    }

    /// Bytes of a hash. A polynomial of degree `d` takes a value given to `b` bits at `d 2^-b` of all points.
    const fn hash_bytes(self) -> usize {
        match self {
            StatisticalSecurity::Forty => 8,
            StatisticalSecurity::Eighty => 16,
        }
    }

    /// Bytes of the receiver's message in a check: the hashes of the choices and of 128 columns.
    pub const fn digest_bytes(self) -> usize {
        self.hash_bytes() * (1 + SQUARE)
    }
}

/// Proof that the receiver's hashes match the sender's in every column; only [`check`] makes it.
pub(super) struct ChoicesConsistent(());

/// The hashes of columns, which become rows while they are in the cache.
///
/// *Shape*: whole squares of 128 columns; the last square hides the others.
fn hash_columns(squares: &mut [Block], point: Block) -> [Block; SQUARE] {
    let mut sums = [gf128::Product::default(); SQUARE];
    let squares = squares.chunks_exact_mut(SQUARE);
    let powers = gf128::powers(point, squares.len());
    for (square, &power) in squares.zip(powers.iter().rev()) {
        gf128::add_products(&mut sums, power, square);
        transpose_squares(square);
    }
    sums.map(gf128::Product::reduce)
}

/// The receiver's message: the hashes of its choices and of its columns, see [`hash_columns`].
pub(super) fn digest(sigma: StatisticalSecurity, choices: &[Block], squares: &mut [Block], point: Block) -> Vec<u8> {
    let powers = gf128::powers(point, choices.len());
    let reversed: Zeroizing<Vec<Block>> = Zeroizing::new(choices.iter().rev().copied().collect());
    let of_choices = gf128::inner_product(&reversed, &powers);
    let hashes = std::iter::once(of_choices).chain(hash_columns(squares, point));
    hashes.flat_map(|hash| hash.to_bytes().into_iter().take(sigma.hash_bytes())).collect()
}

/// The sender's check of the receiver's message, after which its columns are rows, see [`hash_columns`].
///
/// *Shape*: `digest` is [`StatisticalSecurity::digest_bytes`] long.
/// *Errors*: [`OtError::InconsistentChoices`].
pub(super) fn check(
    sigma: StatisticalSecurity,
    delta: &BitVec,
    squares: &mut [Block],
    point: Block,
    digest: &[u8],
) -> Result<ChoicesConsistent, OtError> {
    let hash = |bytes: &[u8]| {
        let mut block = [0; 16];
        block[..bytes.len()].copy_from_slice(bytes);
        Block::from_bytes(block)
    };
    let (of_choices, of_columns) = digest.split_at(sigma.hash_bytes().min(digest.len()));
    let of_choices = hash(of_choices);
    let ours = hash_columns(squares, point);
    let mut fit = Choice::from(u8::from(digest.len() == sigma.digest_bytes()));
    for ((ours, delta), theirs) in ours.iter().zip(delta.iter()).zip(of_columns.chunks_exact(sigma.hash_bytes())) {
        let expected = hash(theirs) ^ masked(delta, of_choices);
        fit &= ours.to_bytes()[..sigma.hash_bytes()].ct_eq(&expected.to_bytes()[..sigma.hash_bytes()]);
    }
    if secrets::verdict(fit, "OT extension: whether the choices are the same in all columns") {
        Ok(ChoicesConsistent(()))
    } else {
        Err(OtError::InconsistentChoices)
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;

    use super::*;

    /// Rows `q`, choices and rows `t` of OTs that satisfy the correlation.
    fn correlated(squares: usize, delta: &BitVec, rng: &mut Prg) -> (Vec<Block>, BitVec, Vec<Block>) {
        let n = squares * SQUARE;
        let mut q = vec![Block::ZERO; n];
        rng.fill_blocks(&mut q);
        let choices = BitVec::random(n, rng);
        let block = Block::from_bytes(delta.as_bytes().first_chunk().copied().unwrap());
        let t = q.iter().zip(choices.iter()).map(|(&q, choice)| q ^ masked(choice, block)).collect();
        (q, choices, t)
    }

    fn blocks(choices: &BitVec) -> Vec<Block> {
        choices.as_bytes().as_chunks::<16>().0.iter().map(|&bytes| Block::from_bytes(bytes)).collect()
    }

    /// The columns of rows, square by square.
    fn columns(rows: &[Block]) -> Vec<Block> {
        let mut squares = rows.to_vec();
        transpose_squares(&mut squares);
        squares
    }

    #[test]
    fn the_hash_is_the_polynomial_of_its_definition() {
        let mut rng = Prg::new(Block::ZERO);
        let mut rows = vec![Block::ZERO; 3 * SQUARE];
        rng.fill_blocks(&mut rows);
        let point = rng.next_block();
        let mut squares = columns(&rows);
        let hashes = hash_columns(&mut squares, point);
        assert!(squares == rows);
        for (column, &hash) in hashes.iter().enumerate() {
            let part = |square: usize| {
                let bit = |row: usize| (rows[square * SQUARE + row].to_u128() >> column & 1) << row;
                Block::from_u128((0..SQUARE).map(bit).sum())
            };
            let expected = (0..3).fold(Block::ZERO, |sum, square| gf128::mul(sum, point) ^ part(square));
            assert!(hash == expected, "column {column}");
        }
    }

    #[test]
    fn honest_receivers_pass_and_one_wrong_row_of_any_column_is_found() {
        for sigma in StatisticalSecurity::ALL {
            for squares in [2, 3, 61] {
                let mut rng = Prg::new(Block::from_u128(squares as u128));
                let delta = BitVec::random(SQUARE, &mut rng);
                let (q, choices, mut t) = correlated(squares, &delta, &mut rng);
                let point = rng.next_block();
                let message = digest(sigma, &blocks(&choices), &mut columns(&t), point);
                assert_eq!(message.len(), sigma.digest_bytes());
                assert!(check(sigma, &delta, &mut columns(&q), point, &message).is_ok());
                for column in [0, 1, 77, 127] {
                    // The last square only hides the others.
                    let row = (column * 31) % (t.len() - SQUARE);
                    t[row] ^= Block::from_u128(1 << column);
                    let message = digest(sigma, &blocks(&choices), &mut columns(&t), point);
                    let error = check(sigma, &delta, &mut columns(&q), point, &message).err();
                    assert!(matches!(error, Some(OtError::InconsistentChoices)), "column {column}, row {row}");
                    t[row] ^= Block::from_u128(1 << column);
                }
            }
        }
    }

    #[test]
    fn a_wrong_hash_of_the_choices_or_a_message_of_another_length_is_refused() {
        let mut rng = Prg::new(Block::ZERO);
        let delta = BitVec::random(SQUARE, &mut rng);
        let (q, choices, t) = correlated(2, &delta, &mut rng);
        let point = rng.next_block();
        let mut message = digest(StatisticalSecurity::Eighty, &blocks(&choices), &mut columns(&t), point);
        message[3] ^= 1;
        assert!(check(StatisticalSecurity::Eighty, &delta, &mut columns(&q), point, &message).is_err());
        message[3] ^= 1;
        for len in [0, 5, message.len() - 16, message.len() - 1] {
            assert!(check(StatisticalSecurity::Eighty, &delta, &mut columns(&q), point, &message[..len]).is_err());
        }
    }

    /// A check of only a part of each hash would let a cheating receiver pass correspondingly more often.
    #[test]
    fn every_byte_of_every_hash_is_compared() {
        for sigma in StatisticalSecurity::ALL {
            let mut rng = Prg::new(Block::from_u128(sigma.bits().into()));
            // Covers both values of delta's bits: in columns where the bit is one, the expected hash includes the hash of the choices.
            let delta = BitVec::random(SQUARE, &mut rng);
            let (q, choices, t) = correlated(2, &delta, &mut rng);
            let point = rng.next_block();
            let mut message = digest(sigma, &blocks(&choices), &mut columns(&t), point);
            for at in 0..message.len() {
                for bit in [0, 7] {
                    message[at] ^= 1 << bit;
                    let error = check(sigma, &delta, &mut columns(&q), point, &message).err();
                    assert!(matches!(error, Some(OtError::InconsistentChoices)), "{sigma:?}, byte {at}, bit {bit}");
                    message[at] ^= 1 << bit;
                }
            }
            assert!(check(sigma, &delta, &mut columns(&q), point, &message).is_ok());
        }
    }
}
