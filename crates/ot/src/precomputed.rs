//! Correlated OTs that are made before the inputs are known, and corrected afterwards.
//!
//! *Source*: Beaver, "Precomputing oblivious transfer" (CRYPTO 1995).
//!
//! # Steps
//!
//! 1. Early: correlated OTs with random choices `c`.
//! 2. Online: the receiver sends the corrections `d = x ^ c` for its choices `x`.
//! 3. The sender swaps the two sides of OT `i` if `d_i` is one, and sends what the method requires:
//!
//! | method | what the sender sends per OT |
//! |---|---|
//! | `correct` | nothing: the blocks for zero become `q ^ d delta` |
//! | `transfer` | one block: the sender may choose its blocks for zero, with the same delta |
//!
//! `transfer` sends `zero ^ q ^ d delta`, from which the receiver gets `zero ^ x delta` and nothing else: the sum depends only on
//! that block and the receiver's `t`.
//!
//! *Unique*: every method consumes the precomputed OTs, so none is used twice. *Cost*: one bit per OT from the receiver
//! (rounded up to bytes), 0 or 16 bytes per OT from the sender; one round.

use garblet_net::Channel;
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use crate::bit_vec::{BitVec, masked};
use crate::error::{OtError, check_length};

const CORRECTIONS: &str = "choice corrections";

/// The sender's side of precomputed correlated OTs.
pub struct PrecomputedCotSender {
    delta: Delta,
    q: Zeroizing<Vec<Block>>,
}

impl PrecomputedCotSender {
    /// Stores the blocks of an extension.
    pub fn new(delta: &Delta, q: Zeroizing<Vec<Block>>) -> Self {
        PrecomputedCotSender { delta: delta.clone(), q }
    }

    /// Tells whether there are no OTs left.
    pub fn is_empty(&self) -> bool {
        self.q.is_empty()
    }

    /// Returns the blocks for zero under these corrections.
    ///
    /// *Errors*: [`OtError::WrongLength`].
    pub fn correct_by(mut self, corrections: &BitVec) -> Result<Zeroizing<Vec<Block>>, OtError> {
        check_length(CORRECTIONS, self.q.len(), corrections.len())?;
        for (q, d) in self.q.iter_mut().zip(corrections.iter()) {
            *q ^= masked(d, self.delta.block());
        }
        Ok(self.q)
    }

    /// Receives the corrections and returns the blocks for zero.
    ///
    /// *Errors*: [`OtError::NonZeroPadding`]; connection errors.
    pub async fn correct(self, channel: &mut Channel) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let corrections = BitVec::receive(channel, self.q.len(), CORRECTIONS).await?;
        self.correct_by(&corrections)
    }

    /// Receives the corrections and transfers the sender's own blocks: `zeros` for zero, `zeros ^ delta` for one.
    ///
    /// *Errors*: [`OtError::WrongLength`], [`OtError::NonZeroPadding`]; connection errors.
    pub async fn transfer(self, channel: &mut Channel, zeros: &[Block]) -> Result<(), OtError> {
        check_length("blocks to transfer", self.q.len(), zeros.len())?;
        let mut masked = self.correct(channel).await?;
        for (masked, &zero) in masked.iter_mut().zip(zeros) {
            *masked ^= zero;
        }
        channel.send_bytes(bytemuck::cast_slice(&masked)).await?;
        Ok(channel.flush().await?)
    }
}

/// The receiver's side of precomputed correlated OTs.
pub struct PrecomputedCotReceiver {
    choices: BitVec,
    t: Zeroizing<Vec<Block>>,
}

impl PrecomputedCotReceiver {
    /// Stores the choices and blocks of an extension.
    ///
    /// *Errors*: [`OtError::WrongLength`] if their numbers differ.
    pub fn new(choices: BitVec, t: Zeroizing<Vec<Block>>) -> Result<Self, OtError> {
        check_length("blocks of prepared OTs", choices.len(), t.len())?;
        Ok(PrecomputedCotReceiver { choices, t })
    }

    /// Tells whether there are no OTs left.
    pub fn is_empty(&self) -> bool {
        self.t.is_empty()
    }

    /// Returns the corrections to send for these choices, and the chosen blocks relative to the sender's corrected ones.
    ///
    /// *Errors*: [`OtError::WrongLength`].
    pub fn correct_by(self, choices: &BitVec) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        Ok((self.choices.xor(choices)?, self.t))
    }

    /// Sends the corrections and returns the chosen blocks.
    ///
    /// *Errors*: [`OtError::WrongLength`]; connection errors.
    pub async fn correct(self, channel: &mut Channel, choices: &BitVec) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let (corrections, blocks) = self.correct_by(choices)?;
        corrections.send(channel).await?;
        channel.flush().await?;
        Ok(blocks)
    }

    /// Sends the corrections, and receives the chosen blocks among the sender's own.
    ///
    /// *Errors*: [`OtError::WrongLength`]; connection errors.
    pub async fn transfer(self, channel: &mut Channel, choices: &BitVec) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let mut blocks = self.correct(channel, choices).await?;
        let mut masked = vec![Block::ZERO; blocks.len()];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut masked)).await?;
        for (block, &masked) in blocks.iter_mut().zip(&masked) {
            *block ^= masked;
        }
        Ok(blocks)
    }
}

#[cfg(test)]
mod tests;
