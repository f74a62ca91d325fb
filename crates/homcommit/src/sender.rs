//! The sender of commitments.

use std::ops::BitXor;

use bytemuck::{Pod, Zeroable};
use garblet_net::Channel;
use garblet_primitives::{Aes128, Block};
use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::code::{Code, MESSAGE_BITS};
use crate::codeword::{Codeword, Rows};
use crate::combination::{Combination, Powers};
use crate::cost::opening_bytes;
use crate::error::{CommitError, check_length};
use crate::squares::{BATCH_SQUARES, BLINDING, SQUARE, batches};

/// The sender's share of a commitment, with the message. Sums (`^`) are commitments to the sums of the messages.
///
/// *Shape*: as bytes, the message and then the share `t0`.
/// *Secret*: until it is opened.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct SenderShare {
    message: Block,
    /// The share `t0` of the message's codeword; the other is `t1 = t0 ^ codeword`.
    share: Codeword,
}

impl DefaultIsZeroes for SenderShare {}

impl SenderShare {
    /// The message.
    pub fn message(&self) -> Block {
        self.message
    }

    /// Writes the message and the share for [`SenderShare::read`].
    ///
    /// *Shape*: [`opening_bytes`] bytes.
    #[inline]
    pub fn write(&self, into: &mut [u8]) {
        if let Some((message, share)) = into.split_first_chunk_mut() {
            *message = self.message.to_bytes();
            self.share.write(share);
        }
    }

    /// Reads what [`SenderShare::write`] wrote; missing bytes are zero.
    #[inline]
    pub fn read(bytes: &[u8]) -> Self {
        let (message, share) = bytes.split_first_chunk().unwrap_or((&[0; 16], &[]));
        SenderShare { message: Block::from_bytes(*message), share: Codeword::read(share) }
    }
}

impl BitXor for SenderShare {
    type Output = SenderShare;

    #[inline]
    fn bitxor(self, other: SenderShare) -> SenderShare {
        SenderShare { message: self.message ^ other.message, share: self.share ^ other.share }
    }
}

/// The sender of commitments.
///
/// *Secret*: all of it.
pub struct CommitSender {
    code: Code,
    streams: [Vec<Aes128>; 2],
    position: u64,
}

impl CommitSender {
    /// Makes the sender from both blocks of one random OT per bit of a codeword.
    ///
    /// *Errors*: [`CommitError::WrongLength`] if their number differs.
    ///
    /// *Unique*: do not use the OTs for anything else.
    pub fn new(code: Code, seeds: &[[Block; 2]]) -> Result<Self, CommitError> {
        check_length("seeds", code.length(), seeds.len())?;
        let streams = [0, 1].map(|side| {
            let seeds: Zeroizing<Vec<Block>> = Zeroizing::new(seeds.iter().map(|pair| pair[side]).collect());
            Aes128::many(&seeds)
        });
        Ok(CommitSender { code, streams, position: 0 })
    }

    /// Commits to `n` uniform messages.
    ///
    /// *Errors*: connection errors.
    pub async fn commit(&mut self, channel: &mut Channel, n: usize) -> Result<Vec<SenderShare>, CommitError> {
        let (shares, pending) = self.begin(channel, n).await?;
        self.prove(channel, pending).await?;
        Ok(shares)
    }

    /// Commits to `n` uniform messages. [`CommitSender::prove`] answers the receiver's challenges later, in the order of the
    /// calls, so neither party waits for the other.
    ///
    /// *Errors*: connection errors.
    pub async fn begin(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(Vec<SenderShare>, PendingProof), CommitError> {
        self.begin_with(channel, n, |_| {}).await
    }

    /// [`CommitSender::begin`] with a hook `touch` that may change corrections before they are sent, to test the check.
    ///
    /// *Errors*: as [`CommitSender::begin`].
    pub async fn begin_with(
        &mut self,
        channel: &mut Channel,
        n: usize,
        mut touch: impl FnMut(&mut [u8]),
    ) -> Result<(Vec<SenderShare>, PendingProof), CommitError> {
        let (mut shares, mut batches_made) = (Vec::with_capacity(n + SQUARE), Vec::new());
        for squares in batches(n) {
            let (batch, mut corrections) = self.stretch(squares);
            touch(bytemuck::cast_slice_mut(&mut corrections));
            channel.send_bytes(bytemuck::cast_slice(&corrections)).await?;
            batch.append_to(&mut shares, if batches_made.is_empty() { BLINDING } else { 0 });
            batches_made.push(batch);
        }
        shares.truncate(n);
        Ok((shares, PendingProof(batches_made)))
    }

    /// The start position of the next call, for [`CommitSender::recall`].
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Recomputes the `n` commitments of a call that began at `position`.
    pub fn recall(&self, position: u64, n: usize) -> Vec<SenderShare> {
        let (mut shares, mut at) = (Vec::with_capacity(n + SQUARE), position);
        for squares in batches(n) {
            let skip = if at == position { BLINDING } else { 0 };
            self.expand(at, squares, MESSAGE_BITS).0.append_to(&mut shares, skip);
            at += squares as u64;
        }
        shares.truncate(n);
        shares
    }

    /// Commits to these messages.
    ///
    /// *Errors*: connection errors.
    pub async fn commit_to(
        &mut self,
        channel: &mut Channel,
        messages: &[Block],
    ) -> Result<Vec<SenderShare>, CommitError> {
        let mut shares = self.commit(channel, messages.len()).await?;
        let mut corrections = Vec::with_capacity(messages.len());
        for (share, &message) in shares.iter_mut().zip(messages) {
            corrections.push(share.message ^ message);
            share.message = message;
        }
        channel.send_bytes(bytemuck::cast_slice(&corrections)).await?;
        channel.flush().await?;
        Ok(shares)
    }

    /// Opens commitments one by one, without a challenge.
    ///
    /// *Errors*: connection errors.
    pub async fn open(&self, channel: &mut Channel, shares: &[SenderShare]) -> Result<(), CommitError> {
        let size = opening_bytes(self.code);
        let mut bytes = vec![0; shares.len() * size];
        shares.iter().zip(bytes.chunks_exact_mut(size)).for_each(|(share, into)| share.write(into));
        channel.send_bytes(&bytes).await?;
        Ok(channel.flush().await?)
    }

    /// Opens commitments together: sends the messages, and proves them by combinations of the shares.
    ///
    /// *Errors*: connection errors.
    pub async fn open_batch(&self, channel: &mut Channel, shares: &[SenderShare]) -> Result<(), CommitError> {
        if shares.is_empty() {
            return Ok(());
        }
        self.claim_openings(channel, shares).await?;
        self.prove_openings(channel, shares).await
    }

    /// Sends the messages of [`CommitSender::open_batch`]; [`CommitSender::prove_openings`] proves them later, in the order of
    /// the calls.
    ///
    /// *Errors*: connection errors.
    pub async fn claim_openings(&self, channel: &mut Channel, shares: &[SenderShare]) -> Result<(), CommitError> {
        let messages: Vec<Block> = shares.iter().map(SenderShare::message).collect();
        Ok(channel.send_bytes(bytemuck::cast_slice(&messages)).await?)
    }

    /// Proves messages of [`CommitSender::claim_openings`] with the combinations of shares that the receiver requests.
    ///
    /// *Errors*: connection errors.
    pub async fn prove_openings(&self, channel: &mut Channel, shares: &[SenderShare]) -> Result<(), CommitError> {
        let mut powers = Powers::of(receive_challenge(channel).await?);
        let mut combination = Combination::codewords(self.code);
        for shares in shares.chunks(BATCH_SQUARES * MESSAGE_BITS) {
            let powers = powers.take(shares.len().div_ceil(MESSAGE_BITS));
            combination.add(&Rows::of(shares, |share| &share.share), &powers);
        }
        channel.send_bytes(combination.truncate().as_flattened()).await?;
        Ok(channel.flush().await?)
    }

    /// Stretches the next squares, and computes the corrections that make the two shares differ by a codeword.
    fn stretch(&mut self, squares: usize) -> (Batch, Vec<Block>) {
        let (batch, mut others) = self.expand(self.position, squares, self.code.length());
        self.position += squares as u64;
        let mut corrections = vec![Block::ZERO; self.code.parity_bits() * squares];
        self.code.encode_rows(squares, batch.messages.blocks(), &mut corrections);
        let tails = batch.shares.parities().iter().zip(others.split().1.iter());
        corrections.iter_mut().zip(tails).for_each(|(correction, (&a, &b))| *correction ^= a ^ b);
        (batch, corrections)
    }

    /// Stretches squares from a position on: returns first shares and messages, and the first rows of the second shares.
    fn expand(&self, position: u64, squares: usize, rows: usize) -> (Batch, Rows) {
        let [streams, other_streams] = &self.streams;
        let shares = Rows::stretch(streams, position, squares);
        let others = Rows::stretch(&other_streams[..rows], position, squares);
        let mut messages = Rows::messages(squares);
        let sums = shares.blocks().iter().zip(others.blocks()).map(|(&a, &b)| a ^ b);
        messages.split().0.iter_mut().zip(sums).for_each(|(message, sum)| *message = sum);
        (Batch { shares, messages }, others)
    }

    /// Proves that the corrections yield codewords, with the combinations of shares and messages that the receiver requests.
    /// The first square, which has no other use, blinds them.
    ///
    /// *Errors*: connection errors.
    pub async fn prove(&self, channel: &mut Channel, pending: PendingProof) -> Result<(), CommitError> {
        let mut powers = Powers::of(receive_challenge(channel).await?);
        let (mut shares, mut messages) = (Combination::codewords(self.code), Combination::messages());
        for batch in &pending.0 {
            let powers = powers.take(batch.shares.squares());
            shares.add(&batch.shares, &powers);
            messages.add(&batch.messages, &powers);
        }
        channel.send_bytes(bytemuck::cast_slice(&shares.0)).await?;
        channel.send_bytes(bytemuck::cast_slice(&messages.0)).await?;
        Ok(channel.flush().await?)
    }
}

/// The shares of a call to [`CommitSender::begin`], for the combinations that the receiver will request.
#[must_use = "the receiver waits for the proof"]
pub struct PendingProof(Vec<Batch>);

/// First shares and messages of a batch, in transposed form.
struct Batch {
    shares: Rows,
    messages: Rows,
}

impl Batch {
    /// Appends the commitments after the first `skip`.
    fn append_to(&self, made: &mut Vec<SenderShare>, skip: usize) {
        let [messages, parts @ ..] = [(&self.messages, 0), (&self.shares, 0), (&self.shares, 1), (&self.shares, 2)]
            .map(|(rows, part)| Zeroizing::new(rows.columns(part)));
        let shares = Codeword::joined(&parts).skip(skip);
        let both = messages.iter().skip(skip).zip(shares);
        made.extend(both.map(|(&message, share)| SenderShare { message, share }));
    }
}

async fn receive_challenge(channel: &mut Channel) -> Result<Block, CommitError> {
    let mut alpha = [Block::ZERO];
    channel.receive_bytes(bytemuck::cast_slice_mut(&mut alpha)).await?;
    Ok(alpha[0])
}
