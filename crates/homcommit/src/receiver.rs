//! The receiver of commitments.

use std::ops::BitXor;

use garblet_net::Channel;
use garblet_ot::BitVec;
use garblet_primitives::{Aes128, Block, secrets};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::code::{Code, MESSAGE_BITS};
use crate::codeword::{Codeword, Rows};
use crate::combination::{Combination, CombinationsMatch, Powers, TRUNCATED_BYTES};
use crate::cost::opening_bytes;
use crate::error::{CommitError, check_length};
use crate::squares::{BATCH_SQUARES, BLINDING, SQUARE, batches};

/// The receiver's share of a commitment. Sums (`^`) are commitments to the sums of the messages.
///
/// [`CommitReceiver::commit`] and [`CommitReceiver::commit_to`] make it after they have checked the sender's corrections.
///
/// *Secret*: if the sender learned it, it could open the commitment to anything.
#[derive(Clone, Copy, Default)]
pub struct ReceiverShare(Codeword);

impl DefaultIsZeroes for ReceiverShare {}

impl ReceiverShare {
    /// Writes the share for [`ReceiverShare::read`].
    ///
    /// *Shape*: [`opening_bytes`] minus 16 bytes.
    #[inline]
    pub fn write(&self, into: &mut [u8]) {
        self.0.write(into);
    }

    /// Reads a share of [`ReceiverShare::write`]; missing bytes are zero.
    ///
    /// Does not check anything: the bytes are this party's own.
    #[inline]
    pub fn read(bytes: &[u8]) -> Self {
        ReceiverShare(Codeword::read(bytes))
    }
}

impl BitXor for ReceiverShare {
    type Output = ReceiverShare;

    #[inline]
    fn bitxor(self, other: ReceiverShare) -> ReceiverShare {
        ReceiverShare(self.0 ^ other.0)
    }
}

/// The receiver of commitments.
///
/// *Secret*: all of it.
pub struct CommitReceiver {
    code: Code,
    /// The watch bits: which of the two shares this party knows, bit by bit.
    watch: Codeword,
    streams: Vec<Aes128>,
    position: u64,
}

impl CommitReceiver {
    /// Makes the receiver from the choices and chosen blocks of one random OT per bit of a codeword.
    ///
    /// *Errors*: [`CommitError::WrongLength`] if their number differs.
    ///
    /// *Unique*: do not use the OTs for anything else.
    pub fn new(code: Code, choices: &BitVec, seeds: &[Block]) -> Result<Self, CommitError> {
        check_length("seeds", code.length(), seeds.len())?;
        check_length("choices", code.length(), choices.len())?;
        let (watch, streams) = (Codeword::from_bits(choices.iter()), Aes128::many(seeds));
        Ok(CommitReceiver { code, watch, streams, position: 0 })
    }

    /// Receives commitments to `n` uniform messages.
    ///
    /// *Errors*: [`CommitError::Inconsistent`] if the sender cheats; connection errors.
    pub async fn commit(
        &mut self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        n: usize,
    ) -> Result<Vec<ReceiverShare>, CommitError> {
        let commitments = self.receive(channel, n).await?;
        let challenged = self.challenge(channel, rng, commitments).await?;
        self.verify(channel, challenged).await
    }

    /// Receives commitments to `n` uniform messages, for [`CommitReceiver::challenge`].
    ///
    /// *Errors*: connection errors.
    pub async fn receive(&mut self, channel: &mut Channel, n: usize) -> Result<Unchallenged, CommitError> {
        let mut batches_made = Vec::new();
        let mut corrections = Vec::new();
        for squares in batches(n) {
            corrections.resize(self.code.parity_bits() * squares, Block::ZERO);
            channel.receive_bytes(bytemuck::cast_slice_mut(&mut corrections)).await?;
            batches_made.push(self.stretch(squares, &corrections));
        }
        Ok(Unchallenged { batches: batches_made, n })
    }

    /// Challenges the sender to prove that its corrections yield codewords. [`CommitReceiver::verify`] takes the proofs later, in
    /// the order of the challenges, so neither party waits for the other.
    ///
    /// *Errors*: connection errors.
    pub async fn challenge(
        &self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        commitments: Unchallenged,
    ) -> Result<Challenged, CommitError> {
        let mut powers = Powers::of(send_challenge(channel, rng).await?);
        let mut combination = Combination::codewords(self.code);
        for rows in &commitments.batches {
            combination.add(rows, &powers.take(rows.squares()));
        }
        Ok(Challenged { commitments, combination })
    }

    /// Receives the sender's proof, and returns the commitments if it holds.
    ///
    /// *Errors*: [`CommitError::Inconsistent`] if the sender cheats; connection errors.
    pub async fn verify(
        &self,
        channel: &mut Channel,
        challenged: Challenged,
    ) -> Result<Vec<ReceiverShare>, CommitError> {
        let mut shares = vec![Block::ZERO; self.code.length()];
        let mut messages = vec![Block::ZERO; MESSAGE_BITS];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut shares)).await?;
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut messages)).await?;
        let Challenged { commitments, combination } = challenged;
        let matched = combination.check(self.code, &self.watch, &shares, &messages).ok_or(CommitError::Inconsistent)?;
        Ok(commitments.into_shares(matched))
    }

    /// Receives commitments to `n` messages of the sender's choice.
    ///
    /// *Errors*: as for [`CommitReceiver::commit`].
    pub async fn commit_to(
        &mut self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        n: usize,
    ) -> Result<Vec<ReceiverShare>, CommitError> {
        let mut shares = self.commit(channel, rng, n).await?;
        let mut corrections = vec![Block::ZERO; n];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut corrections)).await?;
        for (share, correction) in shares.iter_mut().zip(corrections) {
            share.0 ^= self.watch & Codeword::of(self.code, correction);
        }
        Ok(shares)
    }

    /// Receives messages that are opened one by one.
    ///
    /// *Errors*: [`CommitError::WrongOpening`] if the sender cheats; connection errors.
    pub async fn open(&self, channel: &mut Channel, shares: &[ReceiverShare]) -> Result<Vec<Block>, CommitError> {
        let size = opening_bytes(self.code);
        let mut bytes = vec![0; shares.len() * size];
        channel.receive_bytes(&mut bytes).await?;
        let check = |(index, (ours, bytes)): (usize, (&ReceiverShare, &[u8]))| {
            let (message, share) = bytes.split_first_chunk().unwrap_or((&[0; 16], bytes));
            let message = Block::from_bytes(*message);
            let expected = Codeword::read(share) ^ (self.watch & Codeword::of(self.code, message));
            match secrets::verdict(ours.0.ct_eq(&expected), "commitments: whether an opening fits") {
                true => Ok(message),
                false => Err(CommitError::WrongOpening { index }),
            }
        };
        shares.iter().zip(bytes.chunks_exact(size)).enumerate().map(check).collect()
    }

    /// Receives messages that are opened together.
    ///
    /// *Errors*: [`CommitError::WrongBatch`] if the sender cheats; connection errors.
    pub async fn open_batch(
        &self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        shares: &[ReceiverShare],
    ) -> Result<Vec<Block>, CommitError> {
        if shares.is_empty() {
            return Ok(Vec::new());
        }
        let claimed = self.receive_openings(channel, rng, shares).await?;
        self.verify_openings(channel, claimed).await
    }

    /// Receives messages that are opened together, and challenges the sender to prove them. [`CommitReceiver::verify_openings`]
    /// takes the proofs later, in the order of the challenges.
    ///
    /// *Errors*: connection errors.
    pub async fn receive_openings(
        &self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        shares: &[ReceiverShare],
    ) -> Result<ClaimedOpenings, CommitError> {
        let mut messages = vec![Block::ZERO; shares.len()];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut messages)).await?;
        let mut powers = Powers::of(send_challenge(channel, rng).await?);
        let (mut combination, mut combined_messages) = (Combination::codewords(self.code), Combination::messages());
        let size = BATCH_SQUARES * MESSAGE_BITS;
        for (shares, messages) in shares.chunks(size).zip(messages.chunks(size)) {
            let powers = powers.take(shares.len().div_ceil(MESSAGE_BITS));
            combination.add(&Rows::of(shares, |share| &share.0), &powers);
            combined_messages.add(&Rows::of_messages(messages), &powers);
        }
        Ok(ClaimedOpenings { messages, combination, combined_messages })
    }

    /// Receives the sender's proof, and returns the messages if it holds.
    ///
    /// *Errors*: [`CommitError::WrongBatch`] if the sender cheats; connection errors.
    pub async fn verify_openings(
        &self,
        channel: &mut Channel,
        claimed: ClaimedOpenings,
    ) -> Result<Vec<Block>, CommitError> {
        let mut shares = vec![[0; TRUNCATED_BYTES]; self.code.length()];
        channel.receive_bytes(shares.as_flattened_mut()).await?;
        let ClaimedOpenings { messages, combination, combined_messages } = &claimed;
        let matched = combination.check_truncated(self.code, &self.watch, &shares, &combined_messages.0);
        let matched = matched.ok_or(CommitError::WrongBatch { count: messages.len() })?;
        Ok(claimed.into_messages(matched))
    }

    /// Stretches the next squares of the shares that this party knows, and applies corrections where it knows the second share.
    fn stretch(&mut self, squares: usize, corrections: &[Block]) -> Rows {
        let mut rows = Rows::stretch(&self.streams, self.position, squares);
        self.position += squares as u64;
        let parities = rows.split().1.chunks_exact_mut(squares).zip(corrections.chunks_exact(squares));
        for (bit, (row, corrections)) in parities.enumerate() {
            let mask = Block::mask(self.watch.get(MESSAGE_BITS + bit));
            row.iter_mut().zip(corrections).for_each(|(share, &correction)| *share ^= mask & correction);
        }
        rows
    }
}

/// Commitments whose sender has not been challenged yet.
#[must_use = "nothing is known about the commitments before they are verified"]
pub struct Unchallenged {
    batches: Vec<Rows>,
    n: usize,
}

/// Commitments whose sender has been challenged to prove these combinations.
#[must_use = "nothing is known about the commitments before they are verified"]
pub struct Challenged {
    commitments: Unchallenged,
    combination: Combination,
}

/// Messages that the sender claims to have committed to and that it has been challenged to prove.
#[must_use = "nothing is known of the messages before they are verified"]
pub struct ClaimedOpenings {
    messages: Vec<Block>,
    combination: Combination,
    combined_messages: Combination,
}

impl Unchallenged {
    fn into_shares(self, _matched: CombinationsMatch) -> Vec<ReceiverShare> {
        let mut shares = Vec::with_capacity(self.n + SQUARE);
        let mut skip = BLINDING;
        for rows in self.batches {
            let parts = [0, 1, 2].map(|part| Zeroizing::new(rows.columns(part)));
            shares.extend(Codeword::joined(&parts).skip(skip).map(ReceiverShare));
            skip = 0;
        }
        shares.truncate(self.n);
        shares
    }
}

impl ClaimedOpenings {
    fn into_messages(self, _matched: CombinationsMatch) -> Vec<Block> {
        self.messages
    }
}

async fn send_challenge(channel: &mut Channel, rng: &mut (impl CryptoRng + ?Sized)) -> Result<Block, CommitError> {
    let alpha = Block::random(rng);
    channel.send_bytes(&alpha.to_bytes()).await?;
    channel.flush().await?;
    Ok(alpha)
}
