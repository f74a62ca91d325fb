//! The linear combinations that the receiver requests.
//!
//! *Source*: Nielsen, Schneider and Trifiletti 2017, section V-A: 128 combinations at once, as the coefficients of a product
//! in GF(2^128). The coefficient of square `k` is `alpha^(k + 1)`, the true power. A false codeword in any square makes the sum a
//! non-constant polynomial in alpha, which vanishes with probability at most the number of squares over 2^128. For openings, only
//! the first 64 combinations are compared ([`Combination::truncate`]). A non-constant polynomial takes each of the 2^64 values
//! whose first 64 coefficients are zero with the probability above, so all together with at most the number of squares over 2^64.

use garblet_primitives::{Block, gf128, secrets};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::code::{Code, MESSAGE_BITS};
use crate::codeword::{Codeword, Rows};

/// Bytes per bit of 64 combinations.
pub(crate) const TRUNCATED_BYTES: usize = 8;

/// The powers of a challenge, taken square by square.
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

/// Proof that the sender's combinations match the receiver's; only [`Combination::check`] makes it.
pub(crate) struct CombinationsMatch(());

/// 128 linear combinations of codewords or messages in transposed form: one block per bit.
pub(crate) struct Combination(pub(crate) Zeroizing<Vec<Block>>);

impl Combination {
    /// Empty sums of codewords.
    pub(crate) fn codewords(code: Code) -> Self {
        Combination(Zeroizing::new(vec![Block::ZERO; code.length()]))
    }

    /// Empty sums of messages.
    pub(crate) fn messages() -> Self {
        Combination(Zeroizing::new(vec![Block::ZERO; MESSAGE_BITS]))
    }

    /// Adds the combinations of more rows.
    pub(crate) fn add(&mut self, rows: &Rows, powers: &[Block]) {
        rows.combine_onto(powers, &mut self.0);
    }

    /// The first 64 combinations, for sending.
    pub(crate) fn truncate(&self) -> Vec<[u8; TRUNCATED_BYTES]> {
        self.0.iter().map(|row| row.halves()[0].to_le_bytes()).collect()
    }

    /// Checks the first 64 combinations against the sender's [truncated](Combination::truncate) combinations of shares, and its messages.
    pub(crate) fn check_truncated(
        &self,
        code: Code,
        watch: &Codeword,
        shares: &[[u8; TRUNCATED_BYTES]],
        messages: &[Block],
    ) -> Option<CombinationsMatch> {
        let low = |row: &Block| Block::from_halves(row.halves()[0], 0);
        let shares: Vec<Block> = shares.iter().map(|&share| Block::from_halves(u64::from_le_bytes(share), 0)).collect();
        let messages: Vec<Block> = messages.iter().map(low).collect();
        let watched = Combination(Zeroizing::new(self.0.iter().map(low).collect()));
        watched.check(code, watch, &shares, &messages)
    }

    /// Checks the receiver's combinations against the sender's combinations of shares and messages.
    ///
    /// It encodes the messages here, so the comparison is with a valid codeword.
    pub(crate) fn check(
        &self,
        code: Code,
        watch: &Codeword,
        shares: &[Block],
        messages: &[Block],
    ) -> Option<CombinationsMatch> {
        let mut parities = vec![Block::ZERO; code.parity_bits()];
        code.encode_rows(1, messages, &mut parities);
        let codewords = messages.iter().chain(&parities);
        let differences = self.0.iter().zip(shares).zip(codewords).enumerate();
        let difference = differences.fold(Block::ZERO, |sum, (j, ((&watched, &share), &codeword))| {
            sum_or(sum, watched ^ share ^ (Block::mask(watch.get(j)) & codeword))
        });
        let fits = difference.ct_eq(&Block::ZERO);
        secrets::verdict(fits, "commitments: whether combinations match the watched bits")
            .then_some(CombinationsMatch(()))
    }
}

fn sum_or(a: Block, b: Block) -> Block {
    Block::from_u128(a.to_u128() | b.to_u128())
}
