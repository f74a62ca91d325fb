//! The party that commits.

use std::ops::BitXor;

use bytemuck::{Pod, Zeroable};
use garblet_net::Channel;
use garblet_primitives::{Aes128, Block};
use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::code::{Code, MESSAGE_BITS};
use crate::error::{CommitError, check_length};
use crate::fold::{Folded, Powers};
use crate::word::{Rows, Word};
use crate::{SQUARE, batches};

/// What the sender keeps of a commitment. Sums (`^`) are commitments to the sums of the messages.
///
/// *Shape*: as bytes, the message and then this party's share.
/// *Secret*: until it is opened.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Committed {
    message: Block,
    /// The share `t0` of the message's word; the other is `t0 ^ word`.
    share: Word,
}

impl DefaultIsZeroes for Committed {}

impl Committed {
    /// The message.
    pub fn message(&self) -> Block {
        self.message
    }

    /// Writes what [`Committed::read`] makes the same commitment of.
    ///
    /// *Shape*: [`opening_bytes`](crate::opening_bytes) bytes.
    #[inline]
    pub fn write(&self, into: &mut [u8]) {
        if let Some((message, share)) = into.split_first_chunk_mut() {
            *message = self.message.to_bytes();
            self.share.write(share);
        }
    }

    /// A commitment from what [`Committed::write`] gave; what is missing is zero.
    #[inline]
    pub fn read(bytes: &[u8]) -> Self {
        let (message, share) = bytes.split_first_chunk().unwrap_or((&[0; 16], &[]));
        Committed { message: Block::from_bytes(*message), share: Word::read(share) }
    }
}

impl BitXor for Committed {
    type Output = Committed;

    #[inline]
    fn bitxor(self, other: Committed) -> Committed {
        Committed { message: self.message ^ other.message, share: self.share ^ other.share }
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
    /// The sender who has both blocks of as many random OTs as a word has bits.
    ///
    /// *Errors*: [`CommitError::WrongLength`] if they are not as many.
    ///
    /// *Unique*: the OTs serve nothing else.
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
    /// *Errors*: the connection's.
    pub async fn commit(&mut self, channel: &mut Channel, n: usize) -> Result<Vec<Committed>, CommitError> {
        let (committed, unanswered) = self.begin(channel, n).await?;
        self.answer(channel, unanswered).await?;
        Ok(committed)
    }

    /// Commits to `n` uniform messages; the receiver's challenge is to be [answered](CommitSender::answer) later, in the order
    /// of the calls, so that neither party waits for the other.
    ///
    /// *Errors*: the connection's.
    pub async fn begin(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(Vec<Committed>, Unanswered), CommitError> {
        self.begin_with(channel, n, |_| {}).await
    }

    /// [`CommitSender::begin`] with what sees the corrections before they are sent and may change them, for tests of who checks them.
    ///
    /// *Errors*: as [`CommitSender::begin`].
    pub async fn begin_with(
        &mut self,
        channel: &mut Channel,
        n: usize,
        mut touch: impl FnMut(&mut [u8]),
    ) -> Result<(Vec<Committed>, Unanswered), CommitError> {
        let (mut committed, mut batches_made) = (Vec::with_capacity(n + SQUARE), Vec::new());
        for squares in batches(n) {
            let (batch, mut corrections) = self.stretch(squares);
            touch(bytemuck::cast_slice_mut(&mut corrections));
            channel.send_bytes(bytemuck::cast_slice(&corrections)).await?;
            batch.append_to(&mut committed, if batches_made.is_empty() { crate::BLINDING } else { 0 });
            batches_made.push(batch);
        }
        committed.truncate(n);
        Ok((committed, Unanswered(batches_made)))
    }

    /// Where the next call begins, to [recall](CommitSender::recall) its commitments.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// What a call for `n` commitments that began at `position` gave, made anew.
    pub fn recall(&self, position: u64, n: usize) -> Vec<Committed> {
        let (mut committed, mut at) = (Vec::with_capacity(n + SQUARE), position);
        for squares in batches(n) {
            let skip = if at == position { crate::BLINDING } else { 0 };
            self.expand(at, squares, MESSAGE_BITS).0.append_to(&mut committed, skip);
            at += squares as u64;
        }
        committed.truncate(n);
        committed
    }

    /// Commits to these messages.
    ///
    /// *Errors*: the connection's.
    pub async fn commit_to(
        &mut self,
        channel: &mut Channel,
        messages: &[Block],
    ) -> Result<Vec<Committed>, CommitError> {
        let mut committed = self.commit(channel, messages.len()).await?;
        let mut corrections = Vec::with_capacity(messages.len());
        for (committed, &message) in committed.iter_mut().zip(messages) {
            corrections.push(committed.message ^ message);
            committed.message = message;
        }
        channel.send_bytes(bytemuck::cast_slice(&corrections)).await?;
        channel.flush().await?;
        Ok(committed)
    }

    /// Opens commitments one by one, without a further message.
    ///
    /// *Errors*: the connection's.
    pub async fn open(&self, channel: &mut Channel, committed: &[Committed]) -> Result<(), CommitError> {
        let size = crate::opening_bytes(self.code);
        let mut bytes = vec![0; committed.len() * size];
        committed.iter().zip(bytes.chunks_exact_mut(size)).for_each(|(committed, into)| committed.write(into));
        channel.send_bytes(&bytes).await?;
        Ok(channel.flush().await?)
    }

    /// Opens commitments together: the messages, and combinations of the shares for the receiver's challenge.
    ///
    /// *Errors*: the connection's.
    pub async fn open_batch(&self, channel: &mut Channel, committed: &[Committed]) -> Result<(), CommitError> {
        if committed.is_empty() {
            return Ok(());
        }
        self.show(channel, committed).await?;
        self.prove(channel, committed).await
    }

    /// The first half of [opening together](CommitSender::open_batch), the messages; to [prove](CommitSender::prove) them is
    /// left for later, in the order of the calls.
    ///
    /// *Errors*: the connection's.
    pub async fn show(&self, channel: &mut Channel, committed: &[Committed]) -> Result<(), CommitError> {
        let messages: Vec<Block> = committed.iter().map(Committed::message).collect();
        Ok(channel.send_bytes(bytemuck::cast_slice(&messages)).await?)
    }

    /// The second half: combinations of the shares for the receiver's challenge.
    ///
    /// *Errors*: the connection's.
    pub async fn prove(&self, channel: &mut Channel, committed: &[Committed]) -> Result<(), CommitError> {
        let mut powers = Powers::of(receive_challenge(channel).await?);
        let mut folded = Folded::words(self.code);
        for committed in committed.chunks(crate::BATCH_SQUARES * MESSAGE_BITS) {
            let powers = powers.take(committed.len().div_ceil(MESSAGE_BITS));
            folded.add(&Rows::of(committed, |committed| &committed.share), &powers);
        }
        channel.send_bytes(folded.cut().as_flattened()).await?;
        Ok(channel.flush().await?)
    }

    /// The next squares, and what makes the second share the first one and a word.
    fn stretch(&mut self, squares: usize) -> (Batch, Vec<Block>) {
        let (batch, mut others) = self.expand(self.position, squares, self.code.length());
        self.position += squares as u64;
        let mut corrections = vec![Block::ZERO; self.code.parity_bits() * squares];
        self.code.encode_rows(squares, batch.messages.blocks(), &mut corrections);
        let tails = batch.shares.parities().iter().zip(others.split().1.iter());
        corrections.iter_mut().zip(tails).for_each(|(correction, (&a, &b))| *correction ^= a ^ b);
        (batch, corrections)
    }

    /// Squares from a position on, and the first rows of the second shares.
    fn expand(&self, position: u64, squares: usize, rows: usize) -> (Batch, Rows) {
        let [streams, other_streams] = &self.streams;
        let shares = Rows::stretch(streams, position, squares);
        let others = Rows::stretch(&other_streams[..rows], position, squares);
        let mut messages = Rows::messages(squares);
        let sums = shares.blocks().iter().zip(others.blocks()).map(|(&a, &b)| a ^ b);
        messages.split().0.iter_mut().zip(sums).for_each(|(message, sum)| *message = sum);
        (Batch { shares, messages }, others)
    }

    /// Shows that the corrections are those of words: the receiver's combinations of shares and messages. The first square,
    /// which is used for nothing else, blinds them.
    ///
    /// *Errors*: the connection's.
    pub async fn answer(&self, channel: &mut Channel, unanswered: Unanswered) -> Result<(), CommitError> {
        let mut powers = Powers::of(receive_challenge(channel).await?);
        let (mut shares, mut messages) = (Folded::words(self.code), Folded::messages());
        for batch in &unanswered.0 {
            let powers = powers.take(batch.shares.squares());
            shares.add(&batch.shares, &powers);
            messages.add(&batch.messages, &powers);
        }
        channel.send_bytes(bytemuck::cast_slice(&shares.0)).await?;
        channel.send_bytes(bytemuck::cast_slice(&messages.0)).await?;
        Ok(channel.flush().await?)
    }
}

/// What a call to [`CommitSender::begin`] made, of which the receiver asks for combinations.
#[must_use = "the receiver's challenge is to be answered"]
pub struct Unanswered(Vec<Batch>);

/// First shares, and messages, across.
struct Batch {
    shares: Rows,
    messages: Rows,
}

impl Batch {
    /// Appends the commitments behind the first `skip`.
    fn append_to(&self, committed: &mut Vec<Committed>, skip: usize) {
        let [messages, parts @ ..] = [(&self.messages, 0), (&self.shares, 0), (&self.shares, 1), (&self.shares, 2)]
            .map(|(rows, part)| Zeroizing::new(rows.columns(part)));
        let shares = Word::joined(&parts).skip(skip);
        let made = messages.iter().skip(skip).zip(shares);
        committed.extend(made.map(|(&message, share)| Committed { message, share }));
    }
}

async fn receive_challenge(channel: &mut Channel) -> Result<Block, CommitError> {
    let mut alpha = [Block::ZERO];
    channel.receive_bytes(bytemuck::cast_slice_mut(&mut alpha)).await?;
    Ok(alpha[0])
}
