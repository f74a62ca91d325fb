//! OTs made before the inputs are known, and corrected when they are.
//!
//! *Source*: Beaver, "Precomputing oblivious transfer" (CRYPTO 1995).
//!
//! # Steps
//!
//! 1. Early: OTs with random choices `c`, correlated or random.
//! 2. Online: the receiver sends the corrections `d = x ^ c` for its choices `x`.
//! 3. The sender exchanges the two sides of OT `i` if `d_i` is one, and sends what the choices select, if anything:
//!
//! | prepared | method | what the sender sends per OT |
//! |---|---|---|
//! | correlated | `correct` | nothing: the blocks for zero become `q ^ d delta` |
//! | correlated | `transfer` | one block: lets it have chosen its blocks for zero, with the same delta |
//! | random | `transfer` | two blocks: both chosen freely |
//!
//! A block that is sent is masked with the prepared block of the same side. The correlated `transfer` sends
//! `zero ^ q ^ d delta`, from which the receiver gets `zero ^ x delta` and nothing else: adding its `t` is all that the
//! sum depends on.
//!
//! *Unique*: every method consumes the prepared OTs, so none is used twice. *Cost*: one bit per OT from the receiver
//! (rounded up to bytes), 0, 16 or 32 bytes per OT from the sender; one round.

use garblet_net::Channel;
use garblet_primitives::{Block, Delta};
use zeroize::{Zeroize, Zeroizing};

use crate::choices::{Choices, masked};
use crate::error::{OtError, check_length};

const CORRECTIONS: &str = "choice corrections";

/// Payload bytes of the receiver's corrections of `n` OTs.
pub const fn correction_bytes(n: u64) -> u64 {
    n.div_ceil(8)
}

/// The sender's side of correlated OTs.
pub struct PreparedCotSender {
    delta: Delta,
    q: Zeroizing<Vec<Block>>,
}

impl PreparedCotSender {
    /// Prepared OTs from the blocks of an extension.
    pub fn new(delta: &Delta, q: Zeroizing<Vec<Block>>) -> Self {
        PreparedCotSender { delta: delta.clone(), q }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.q.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.q.is_empty()
    }

    /// Removes the first `n` OTs, to be used on their own.
    ///
    /// *Errors*: [`OtError::UsedUp`].
    pub fn take(&mut self, n: usize) -> Result<Self, OtError> {
        Ok(PreparedCotSender { delta: self.delta.clone(), q: take(&mut self.q, n)? })
    }

    /// The blocks for zero under these corrections.
    ///
    /// *Errors*: [`OtError::WrongLength`].
    pub fn correct_by(mut self, corrections: &Choices) -> Result<Zeroizing<Vec<Block>>, OtError> {
        check_length(CORRECTIONS, self.q.len(), corrections.len())?;
        for (q, d) in self.q.iter_mut().zip(corrections.iter()) {
            *q ^= masked(d, self.delta.block());
        }
        Ok(self.q)
    }

    /// Receives the corrections and returns the blocks for zero.
    ///
    /// *Errors*: [`OtError::NonZeroPadding`]; the connection's.
    pub async fn correct(self, channel: &mut Channel) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let corrections = Choices::receive(channel, self.len(), CORRECTIONS).await?;
        self.correct_by(&corrections)
    }

    /// Receives the corrections and sends what makes `zeros` the blocks for zero, `zeros ^ delta` those for one.
    ///
    /// *Errors*: [`OtError::WrongLength`], [`OtError::NonZeroPadding`]; the connection's.
    pub async fn transfer(self, channel: &mut Channel, zeros: &[Block]) -> Result<(), OtError> {
        check_length("blocks to transfer", self.len(), zeros.len())?;
        let mut masked = self.correct(channel).await?;
        for (masked, &zero) in masked.iter_mut().zip(zeros) {
            *masked ^= zero;
        }
        channel.send_bytes(bytemuck::cast_slice(&masked)).await?;
        Ok(channel.flush().await?)
    }
}

/// The receiver's side of correlated OTs.
pub struct PreparedCotReceiver(PreparedReceiver);

impl PreparedCotReceiver {
    /// Prepared OTs from the choices and blocks of an extension.
    ///
    /// *Errors*: [`OtError::WrongLength`] if there are not as many of both.
    pub fn new(choices: Choices, t: Zeroizing<Vec<Block>>) -> Result<Self, OtError> {
        PreparedReceiver::new(choices, t).map(PreparedCotReceiver)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the first `n` OTs, to be used on their own.
    ///
    /// *Errors*: [`OtError::UsedUp`].
    pub fn take(&mut self, n: usize) -> Result<Self, OtError> {
        self.0.take(n).map(PreparedCotReceiver)
    }

    /// The corrections to send for these choices, and the chosen blocks relative to the sender's corrected ones.
    ///
    /// *Errors*: [`OtError::WrongLength`].
    pub fn correct_by(self, choices: &Choices) -> Result<(Choices, Zeroizing<Vec<Block>>), OtError> {
        self.0.correct_by(choices)
    }

    /// Sends the corrections and returns the chosen blocks.
    ///
    /// *Errors*: [`OtError::WrongLength`]; the connection's.
    pub async fn correct(self, channel: &mut Channel, choices: &Choices) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let (corrections, blocks) = self.correct_by(choices)?;
        corrections.send(channel).await?;
        channel.flush().await?;
        Ok(blocks)
    }

    /// Sends the corrections, and receives the chosen ones of the sender's own blocks.
    ///
    /// *Errors*: [`OtError::WrongLength`]; the connection's.
    pub async fn transfer(self, channel: &mut Channel, choices: &Choices) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let mut blocks = self.correct(channel, choices).await?;
        let mut masked = vec![Block::ZERO; blocks.len()];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut masked)).await?;
        for (block, &masked) in blocks.iter_mut().zip(&masked) {
            *block ^= masked;
        }
        Ok(blocks)
    }
}

/// The sender's side of random OTs.
pub struct PreparedSender {
    pads: Zeroizing<Vec<[Block; 2]>>,
}

impl PreparedSender {
    /// Prepared OTs from the blocks of random OTs.
    pub fn new(pads: Zeroizing<Vec<[Block; 2]>>) -> Self {
        PreparedSender { pads }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pads.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pads.is_empty()
    }

    /// Removes the first `n` OTs, to be used on their own.
    ///
    /// *Errors*: [`OtError::UsedUp`].
    pub fn take(&mut self, n: usize) -> Result<Self, OtError> {
        take(&mut self.pads, n).map(PreparedSender::new)
    }

    /// Receives the corrections and sends these messages.
    ///
    /// *Errors*: [`OtError::WrongLength`], [`OtError::NonZeroPadding`]; the connection's.
    pub async fn transfer(self, channel: &mut Channel, messages: &[[Block; 2]]) -> Result<(), OtError> {
        check_length("messages to transfer", self.len(), messages.len())?;
        let corrections = Choices::receive(channel, self.len(), CORRECTIONS).await?;
        let mut masked = Vec::with_capacity(self.len());
        for ((&[zero, one], &[m0, m1]), d) in self.pads.iter().zip(messages).zip(corrections.iter()) {
            masked.push([m0 ^ Block::select(d, one, zero), m1 ^ Block::select(d, zero, one)]);
        }
        channel.send_bytes(bytemuck::cast_slice(masked.as_flattened())).await?;
        Ok(channel.flush().await?)
    }
}

/// The receiver's side of random OTs.
pub struct PreparedReceiver {
    choices: Choices,
    blocks: Zeroizing<Vec<Block>>,
}

impl PreparedReceiver {
    /// Prepared OTs from the choices and blocks of random OTs.
    ///
    /// *Errors*: [`OtError::WrongLength`] if there are not as many of both.
    pub fn new(choices: Choices, blocks: Zeroizing<Vec<Block>>) -> Result<Self, OtError> {
        check_length("blocks of prepared OTs", choices.len(), blocks.len())?;
        Ok(PreparedReceiver { choices, blocks })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Removes the first `n` OTs, to be used on their own.
    ///
    /// *Errors*: [`OtError::UsedUp`].
    pub fn take(&mut self, n: usize) -> Result<Self, OtError> {
        let blocks = take(&mut self.blocks, n)?;
        let (first, rest) = (self.choices.slice(0..n), self.choices.slice(n..self.choices.len()));
        self.choices = rest;
        Ok(PreparedReceiver { choices: first, blocks })
    }

    /// Sends the corrections for these choices, and receives the chosen messages.
    ///
    /// *Errors*: [`OtError::WrongLength`]; the connection's.
    pub async fn transfer(self, channel: &mut Channel, choices: &Choices) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let (corrections, mut blocks) = self.correct_by(choices)?;
        corrections.send(channel).await?;
        let mut masked = vec![[Block::ZERO; 2]; blocks.len()];
        channel.receive_bytes(bytemuck::cast_slice_mut(masked.as_flattened_mut())).await?;
        for ((block, &[zero, one]), choice) in blocks.iter_mut().zip(&masked).zip(choices.iter()) {
            *block ^= Block::select(choice, one, zero);
        }
        Ok(blocks)
    }

    fn correct_by(self, choices: &Choices) -> Result<(Choices, Zeroizing<Vec<Block>>), OtError> {
        let corrections = self.choices.xor(choices)?;
        Ok((corrections, self.blocks))
    }
}

/// Removes the first `n` elements, and leaves no copy behind.
fn take<T: Copy + Zeroize>(from: &mut Zeroizing<Vec<T>>, n: usize) -> Result<Zeroizing<Vec<T>>, OtError> {
    if n > from.len() {
        return Err(OtError::UsedUp { wanted: n, left: from.len() });
    }
    let rest = Zeroizing::new(from[n..].to_vec());
    let mut taken = std::mem::replace(from, rest);
    taken[n..].iter_mut().for_each(Zeroize::zeroize);
    taken.truncate(n);
    Ok(taken)
}

#[cfg(test)]
mod tests;
