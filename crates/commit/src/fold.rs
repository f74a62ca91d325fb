//! The linear combinations that the receiver asks for.
//!
//! *Source*: Nielsen, Schneider and Trifiletti 2017, section V-A: 128 combinations at once, as the coefficients of a product
//! in GF(2^128). The coefficient of square `k` is `alpha^(k + 1)`, the true power: a false word in any square makes the sum a
//! polynomial in alpha that is not constant, and vanishes with probability at most the number of squares over 2^128. Of openings
//! the first 64 combinations are compared ([`Folded::cut`]): a polynomial that is not constant takes each of the 2^64 values that are zero there
//! with that probability, so all together at most with the number of squares over 2^64.

use garblet_primitives::{Block, gf128};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::code::{Code, MESSAGE_BITS};
use crate::word::{Rows, Word};

/// Bytes of a bit of 64 combinations.
pub(crate) const CUT_BYTES: usize = 8;

/// The powers of a challenge, handed out square by square.
pub(crate) struct Powers {
    alpha: Block,
    next: Block,
}

impl Powers {
    pub(crate) fn of(alpha: Block) -> Self {
        Powers { alpha, next: alpha }
    }

    /// The next `count` powers.
    pub(crate) fn take(&mut self, count: usize) -> Vec<Block> {
        let mut powers = Vec::with_capacity(count);
        for _ in 0..count {
            powers.push(self.next);
            self.next = gf128::mul(self.next, self.alpha);
        }
        powers
    }
}

/// Combinations of as many words as a block has bits, lying across: one block per bit of the word.
pub(crate) struct Folded(pub(crate) Zeroizing<Vec<Block>>);

impl Folded {
    /// No combination yet, of words.
    pub(crate) fn words(code: Code) -> Self {
        Folded(Zeroizing::new(vec![Block::ZERO; code.length()]))
    }

    /// No combination yet, of messages.
    pub(crate) fn messages() -> Self {
        Folded(Zeroizing::new(vec![Block::ZERO; MESSAGE_BITS]))
    }

    /// Adds the combinations of more rows.
    pub(crate) fn add(&mut self, rows: &Rows, powers: &[Block]) {
        rows.fold(powers, &mut self.0);
    }

    /// The first 64 combinations, as they are sent.
    pub(crate) fn cut(&self) -> Vec<[u8; CUT_BYTES]> {
        self.0.iter().map(|row| row.halves()[0].to_le_bytes()).collect()
    }

    /// Whether the first 64 of these combinations of watched words fit what is [cut](Folded::cut) of the sender's shares, and the
    /// messages.
    pub(crate) fn fit_cut(&self, code: Code, watch: &Word, shares: &[[u8; CUT_BYTES]], messages: &[Block]) -> bool {
        let low = |row: &Block| Block::from_halves(row.halves()[0], 0);
        let shares: Vec<Block> = shares.iter().map(|&share| Block::from_halves(u64::from_le_bytes(share), 0)).collect();
        let messages: Vec<Block> = messages.iter().map(low).collect();
        let watched = Folded(Zeroizing::new(self.0.iter().map(low).collect()));
        watched.fit(code, watch, &shares, &messages)
    }

    /// Whether these combinations of watched words fit the same ones of the sender's shares and messages.
    ///
    /// The messages are encoded here, so that what they are compared with is a word of the code.
    pub(crate) fn fit(&self, code: Code, watch: &Word, shares: &[Block], messages: &[Block]) -> bool {
        let mut parities = vec![Block::ZERO; code.parity_bits()];
        code.encode_rows(1, messages, &mut parities);
        let words = messages.iter().chain(&parities);
        let differences = self.0.iter().zip(shares).zip(words).enumerate();
        let difference = differences.fold(Block::ZERO, |sum, (j, ((&watched, &share), &word))| {
            sum_or(sum, watched ^ share ^ (Block::mask(watch.get(j)) & word))
        });
        difference.ct_eq(&Block::ZERO).into()
    }
}

fn sum_or(a: Block, b: Block) -> Block {
    Block::from_u128(a.to_u128() | b.to_u128())
}
