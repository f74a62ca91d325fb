//! The linear combinations that the receiver asks for.
//!
//! *Source*: Nielsen, Schneider and Trifiletti 2017, section V-A: 128 combinations at once, as the coefficients of a product
//! in GF(2^128). The coefficient of square `k` is `alpha^k`, the true power: a false word in any square makes the sum a polynomial
//! in alpha other than zero, which vanishes with probability at most the number of squares over 2^128.

use garblet_primitives::{Block, gf128};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::code::{Code, MESSAGE_BITS};
use crate::word::{Rows, Word};

/// The powers of a challenge, handed out square by square.
pub(crate) struct Powers {
    alpha: Block,
    next: Block,
}

impl Powers {
    pub(crate) fn of(alpha: Block) -> Self {
        Powers { alpha, next: gf128::ONE }
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
