//! The linear codes: 128 message bits, followed by parity bits.
//!
//! # Why the distance of [`Code::Short`] is 40
//!
//! `C1` is the BCH code of length 255 and designed distance 37, with 131 message bits. `C2`, a subcode of it, has designed distance 39
//! and 123 message bits (the tests count the roots). Construction X (Sloane, Reddy and Chen 1972) appends 8 bits to a word of `C1`
//! that identify its coset of `C2`, and their parity. A word in `C2` has weight 39 or more; any other word has weight 37 or more and
//! at least 2 in the tail. The parity of the word in `C1` is one more bit, which makes all weights even: `39 -> 40`, `37 -> 38`, and
//! `38 + 2 = 40`. Shortening removes three message bits, which does not reduce the distance.

mod bch;
mod parity;

use std::sync::LazyLock;

use garblet_primitives::{Backend, Bit, Block, Engine, Kernel, QUAD_LANES};

pub(crate) use parity::Parity;

/// The number of bits of a message.
pub(crate) const MESSAGE_BITS: usize = 128;

/// A systematic linear code: each word begins with its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// \[262, 128, 40\]: Construction X on two BCH codes of length 255.
    #[default]
    Short,
    /// \[312, 128, 41\]: the BCH code of length 511 that corrects 20 errors, shortened to 299 bits and padded with zeros as in
    /// Nielsen, Schneider and Trifiletti 2017 (section V-A); for comparison with their figures.
    Bch312,
}

impl Code {
    /// Both codes.
    pub const ALL: [Code; 2] = [Code::Short, Code::Bch312];

    /// The length of a codeword in bits.
    pub const fn length(self) -> usize {
        MESSAGE_BITS + self.parity_bits()
    }

    /// The least number of bits in which two codewords differ. A sender that opens another message must change this many bits and hit
    /// no watched one, which succeeds with probability `2^-distance`.
    pub const fn distance(self) -> u32 {
        match self {
            Code::Short => 40,
            Code::Bch312 => 41,
        }
    }

    /// The number of bits after the message.
    pub const fn parity_bits(self) -> usize {
        match self {
            Code::Short => 134,
            Code::Bch312 => 184,
        }
    }

    /// The number of bytes of a parity on the wire.
    pub(crate) const fn parity_bytes(self) -> usize {
        self.parity_bits().div_ceil(8)
    }

    /// The parity of a message, in constant time.
    pub(crate) fn encode(self, message: Block) -> Parity {
        let message = message.to_u128();
        self.matrix().rows.iter().enumerate().fold(Parity::default(), |sum, (i, row)| {
            let mask = Block::mask(Bit::lowest_of((message >> i) as u64));
            sum ^ Parity([row.0[0] & mask, row.0[1] & mask])
        })
    }

    /// Encodes many messages in transposed form: row `i` of `messages` has bit `i` of each message.
    ///
    /// *Shape*: rows of `squares` blocks; 128 of them, and [`Code::parity_bits`].
    pub fn encode_rows(self, squares: usize, messages: &[Block], parities: &mut [Block]) {
        Backend::detect().run(EncodeRows { matrix: self.matrix(), squares, messages, parities });
    }

    fn matrix(self) -> &'static Matrix {
        static SHORT: LazyLock<Matrix> = LazyLock::new(|| Matrix::new(Code::Short, short_rows()));
        static BCH_312: LazyLock<Matrix> = LazyLock::new(|| Matrix::new(Code::Bch312, bch_312_rows()));
        match self {
            Code::Short => &SHORT,
            Code::Bch312 => &BCH_312,
        }
    }
}

/// The parities of the messages with a single one, from the lowest bit up.
fn short_rows() -> Vec<Parity> {
    let inner = bch::GF_256.generator_polynomial(36);
    // The polynomial of `C2` is the polynomial of `C1` times this one; residues modulo this one identify the cosets.
    let quotient = bch::GF_256.minimal_polynomial(37);
    let one = Parity::bit_if(true, 0);
    let (mut residue, mut coset) = (Parity::bit_if(true, inner.degree()) ^ inner, one);
    let mut rows = Vec::with_capacity(MESSAGE_BITS);
    for _ in 0..MESSAGE_BITS {
        // The word in C1 consists of the message bit and the residue.
        let tail = (0..8).fold(Parity::ZERO, |tail, i| tail ^ Parity::bit_if(coset.get(i), inner.degree() + i));
        let parities = Parity::bit_if(coset.is_odd(), 132) ^ Parity::bit_if(!residue.is_odd(), 133);
        rows.push(residue ^ tail ^ parities);
        let (next, carried) = residue.times_x().reduce_once(inner);
        residue = next;
        coset = coset.times_x() ^ Parity::bit_if(carried, 0);
        coset = coset.reduce_once(quotient).0;
    }
    rows
}

fn bch_312_rows() -> Vec<Parity> {
    let modulus = bch::GF_512.generator_polynomial(40);
    let first = Parity::bit_if(true, modulus.degree()) ^ modulus;
    std::iter::successors(Some(first), |row| Some(row.times_x().reduce_once(modulus).0)).take(MESSAGE_BITS).collect()
}

/// The number of message bits per lookup when many messages are encoded.
const GROUP: usize = 4;

/// A generator matrix in two forms.
struct Matrix {
    rows: Vec<Parity>,
    /// For every group of four message bits, the sum of rows that each parity bit takes.
    sums: Vec<Vec<u8>>,
}

impl Matrix {
    fn new(code: Code, rows: Vec<Parity>) -> Self {
        let sum = |group: &[Parity], bit| group.iter().rev().fold(0, |sum, row| sum << 1 | u8::from(row.get(bit)));
        let sums = rows.chunks(GROUP).map(|group| (0..code.parity_bits()).map(|bit| sum(group, bit)).collect());
        let sums = sums.collect();
        Matrix { rows, sums }
    }
}

/// Transposed encoding by the method of four Russians (Arlazarov, Dinic, Kronrod and Faradzhev 1970): computes all sums of four
/// message rows; each parity row takes one of them. Lookups depend only on the matrix, which is public.
struct EncodeRows<'a> {
    matrix: &'static Matrix,
    squares: usize,
    messages: &'a [Block],
    parities: &'a mut [Block],
}

impl Kernel for EncodeRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let squares = self.squares;
        let mut sums = vec![e.splat(Block::ZERO); self.matrix.sums[0].len()];
        for at in (0..squares).step_by(QUAD_LANES) {
            let width = QUAD_LANES.min(squares - at);
            sums.fill(e.splat(Block::ZERO));
            for (group, which) in self.matrix.sums.iter().enumerate() {
                let mut rows = [e.splat(Block::ZERO); GROUP];
                for (i, row) in rows.iter_mut().enumerate() {
                    let mut blocks = [Block::ZERO; QUAD_LANES];
                    blocks[..width].copy_from_slice(&self.messages[(GROUP * group + i) * squares + at..][..width]);
                    *row = e.load(&blocks);
                }
                let table = table(e, rows);
                for (sum, &which) in sums.iter_mut().zip(which) {
                    *sum = e.xor(*sum, table[usize::from(which & 15)]);
                }
            }
            for (parity, &sum) in self.parities.chunks_exact_mut(squares).zip(&sums) {
                parity[at..at + width].copy_from_slice(&e.store(sum)[..width]);
            }
        }
    }
}

/// All sums of four vectors; bit `i` of the index says whether vector `i` is in the sum.
#[inline(always)]
fn table<E: Engine>(e: E, rows: [E::Quad; GROUP]) -> [E::Quad; 1 << GROUP] {
    let mut table = [e.splat(Block::ZERO); 1 << GROUP];
    for (i, &row) in rows.iter().enumerate() {
        for low in 0..1 << i {
            table[low | 1 << i] = e.xor(table[low], row);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;
    use proptest::prelude::*;

    use super::*;

    fn weight(message: u128, parity: Parity) -> u32 {
        message.count_ones() + parity.0.iter().map(|block| block.to_u128().count_ones()).sum::<u32>()
    }

    proptest! {
        #[test]
        fn codes_are_linear(a: u128, b: u128) {
            for code in Code::ALL {
                let [pa, pb, sum] = [a, b, a ^ b].map(|message| code.encode(Block::from_u128(message)));
                prop_assert!((pa ^ pb) == sum);
            }
        }
    }

    #[test]
    fn sampled_words_are_as_heavy_as_promised() {
        for (code, distance) in Code::ALL.map(|code| (code, code.distance())) {
            let row = |i: usize| code.matrix().rows[i];
            for i in 0..MESSAGE_BITS {
                assert!(weight(1 << i, row(i)) >= distance, "{code:?}, bit {i}");
                for j in 0..i {
                    let pair = row(i) ^ row(j);
                    assert!(weight(1 << i | 1 << j, pair) >= distance, "{code:?}, bits {i} and {j}");
                    for k in 0..j {
                        assert!(weight(1 << i | 1 << j | 1 << k, pair ^ row(k)) >= distance, "{code:?}, {i} {j} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn all_words_of_the_short_code_are_even() {
        for (i, &row) in Code::Short.matrix().rows.iter().enumerate() {
            assert!(weight(1 << i, row).is_multiple_of(2));
        }
    }

    #[test]
    fn parities_stay_within_their_bits() {
        for code in Code::ALL {
            assert!(code.matrix().rows.iter().all(|row| row.degree() < code.parity_bits()));
            assert!(code.matrix().rows.iter().any(|row| row.degree() + 14 >= code.parity_bits()));
        }
    }

    /// The words of the BCH code of length 511 are the multiples of its polynomial.
    #[test]
    fn words_of_the_published_code_are_multiples_of_its_polynomial() {
        let modulus = bch::GF_512.generator_polynomial(40);
        for (i, &row) in Code::Bch312.matrix().rows.iter().enumerate() {
            let mut power = Parity::bit_if(true, 0);
            for _ in 0..modulus.degree() + i {
                power = power.times_x().reduce_once(modulus).0;
            }
            assert!(power == row, "bit {i}");
        }
    }

    #[test]
    fn encoding_across_equals_encoding_one_by_one() {
        for code in Code::ALL {
            for squares in [1, 2, 4, 7] {
                let mut rows = vec![Block::ZERO; MESSAGE_BITS * squares];
                Prg::new(Block::from_u128(squares as u128)).fill_blocks(&mut rows);
                let mut parities = vec![Block::ZERO; code.parity_bits() * squares];
                code.encode_rows(squares, &rows, &mut parities);
                let bit = |rows: &[Block], row: usize, i: usize| {
                    u128::from(rows[row * squares + i / 128].to_u128() >> (i % 128) & 1 == 1)
                };
                for i in 0..128 * squares {
                    let message = (0..MESSAGE_BITS).fold(0, |sum, row| sum | bit(&rows, row, i) << row);
                    let expected = code.encode(Block::from_u128(message));
                    let got = (0..code.parity_bits()).all(|p| expected.get(p) == (bit(&parities, p, i) == 1));
                    assert!(got, "{code:?}, message {i} of {squares} squares");
                }
            }
        }
    }
}
