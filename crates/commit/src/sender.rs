//! The party that commits.

use std::ops::BitXor;

use bytemuck::{Pod, Zeroable};
use garblet_net::Channel;
use garblet_primitives::{Aes128, Block};
use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::batches;
use crate::code::{Code, MESSAGE_BITS};
use crate::error::{CommitError, check_length};
use crate::fold::{Folded, Powers};
use crate::word::{Rows, Word};

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

    /// Appends what [`Committed::read`] makes the same commitment of: [`opening_bytes`](crate::opening_bytes) bytes.
    pub fn write(&self, code: Code, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.message.to_bytes());
        self.share.write(code, bytes);
    }

    /// A commitment from what [`Committed::write`] gave; what is missing is zero.
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
        let mut batches_made = Vec::new();
        for squares in batches(n) {
            let (shares, messages, corrections) = self.stretch(squares);
            channel.send_bytes(bytemuck::cast_slice(&corrections)).await?;
            batches_made.push((shares, messages));
        }
        self.answer_challenge(channel, &batches_made).await?;
        let mut committed = Vec::with_capacity(batches_made.len() * crate::BATCH_SQUARES * MESSAGE_BITS);
        for (shares, messages) in batches_made {
            let pairs = Zeroizing::new(messages.to_messages());
            let shares = Zeroizing::new(shares.to_words());
            committed.extend(pairs.iter().zip(shares.iter()).map(|(&message, &share)| Committed { message, share }));
        }
        committed.drain(..crate::BLINDING);
        committed.truncate(n);
        Ok(committed)
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
        let mut bytes = Vec::with_capacity(committed.len() * crate::opening_bytes(self.code));
        committed.iter().for_each(|committed| committed.write(self.code, &mut bytes));
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
        let messages: Vec<Block> = committed.iter().map(Committed::message).collect();
        channel.send_bytes(bytemuck::cast_slice(&messages)).await?;
        let mut powers = Powers::of(receive_challenge(channel).await?);
        let mut folded = Folded::words(self.code);
        for committed in committed.chunks(crate::BATCH_SQUARES * MESSAGE_BITS) {
            let shares: Zeroizing<Vec<Word>> = Zeroizing::new(committed.iter().map(|c| c.share).collect());
            folded.add(&Rows::of(&shares), &powers.take(shares.len().div_ceil(MESSAGE_BITS)));
        }
        channel.send_bytes(bytemuck::cast_slice(&folded.0)).await?;
        Ok(channel.flush().await?)
    }

    /// The next squares of both shares: the first share, the messages, and what makes the second one the first and a word.
    fn stretch(&mut self, squares: usize) -> (Rows, Rows, Vec<Block>) {
        let [mut shares, mut others] = [0, 1].map(|side| Rows::stretch(&self.streams[side], self.position, squares));
        self.position += squares as u64;
        let mut messages = Rows::messages(squares);
        let mut corrections = vec![Block::ZERO; self.code.parity_bits() * squares];
        let ((head, tail), (other_head, other_tail)) = (shares.split(), others.split());
        let sums = head.iter().zip(other_head).map(|(&a, &mut b)| a ^ b);
        messages.split().0.iter_mut().zip(sums).for_each(|(message, sum)| *message = sum);
        self.code.encode_rows(squares, messages.blocks(), &mut corrections);
        for (correction, (&mut a, &mut b)) in corrections.iter_mut().zip(tail.iter_mut().zip(other_tail)) {
            *correction ^= a ^ b;
        }
        (shares, messages, corrections)
    }

    /// Shows that the corrections are those of words: the receiver's combinations of shares and messages. The first square,
    /// which is used for nothing else, blinds them.
    async fn answer_challenge(&self, channel: &mut Channel, batches: &[(Rows, Rows)]) -> Result<(), CommitError> {
        let mut powers = Powers::of(receive_challenge(channel).await?);
        let (mut shares, mut messages) = (Folded::words(self.code), Folded::messages());
        for (share_rows, message_rows) in batches {
            let powers = powers.take(share_rows.squares());
            shares.add(share_rows, &powers);
            messages.add(message_rows, &powers);
        }
        channel.send_bytes(bytemuck::cast_slice(&shares.0)).await?;
        channel.send_bytes(bytemuck::cast_slice(&messages.0)).await?;
        Ok(channel.flush().await?)
    }
}

async fn receive_challenge(channel: &mut Channel) -> Result<Block, CommitError> {
    let mut alpha = [Block::ZERO];
    channel.receive_bytes(bytemuck::cast_slice_mut(&mut alpha)).await?;
    Ok(alpha[0])
}
