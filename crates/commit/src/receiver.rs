//! The party that is committed to.

use std::ops::BitXor;

use garblet_net::Channel;
use garblet_ot::Choices;
use garblet_primitives::{Aes128, Block};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::DefaultIsZeroes;

use crate::batches;
use crate::code::{Code, MESSAGE_BITS};
use crate::error::{CommitError, check_length};
use crate::fold::{Folded, Powers};
use crate::word::{Rows, Word};

/// What the receiver keeps of a commitment. Sums (`^`) are commitments to the sums of the messages.
///
/// [`CommitReceiver::commit`] and [`CommitReceiver::commit_to`] make it, after the sender's corrections were checked.
///
/// *Secret*: the sender must not learn it, or it could open the commitment to anything.
#[derive(Clone, Copy, Default)]
pub struct Watched(Word);

impl DefaultIsZeroes for Watched {}

impl Watched {
    /// Appends what [`Watched::read`] makes the same of: [`opening_bytes`](crate::opening_bytes) bytes but 16.
    pub fn write(&self, code: Code, bytes: &mut Vec<u8>) {
        self.0.write(code, bytes);
    }

    /// What [`Watched::write`] gave; what is missing is zero.
    ///
    /// The bytes are this party's own: nothing about them is checked.
    pub fn read(bytes: &[u8]) -> Self {
        Watched(Word::read(bytes))
    }
}

impl BitXor for Watched {
    type Output = Watched;

    #[inline]
    fn bitxor(self, other: Watched) -> Watched {
        Watched(self.0 ^ other.0)
    }
}

/// The receiver of commitments.
///
/// *Secret*: all of it.
pub struct CommitReceiver {
    code: Code,
    /// Which share this party knows, bit by bit.
    watch: Word,
    streams: Vec<Aes128>,
    position: u64,
}

impl CommitReceiver {
    /// The receiver who has the choices and chosen blocks of as many random OTs as a word has bits.
    ///
    /// *Errors*: [`CommitError::WrongLength`] if they are not as many.
    ///
    /// *Unique*: the OTs serve nothing else.
    pub fn new(code: Code, choices: &Choices, seeds: &[Block]) -> Result<Self, CommitError> {
        check_length("seeds", code.length(), seeds.len())?;
        check_length("choices", code.length(), choices.len())?;
        let (watch, streams) = (Word::from_bits(choices.iter()), Aes128::many(seeds));
        Ok(CommitReceiver { code, watch, streams, position: 0 })
    }

    /// Receives commitments to `n` uniform messages.
    ///
    /// *Errors*: [`CommitError::Inconsistent`] if the sender cheats; otherwise the connection's.
    pub async fn commit(
        &mut self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        n: usize,
    ) -> Result<Vec<Watched>, CommitError> {
        let mut batches_made = Vec::new();
        for squares in batches(n) {
            let mut corrections = vec![Block::ZERO; self.code.parity_bits() * squares];
            channel.receive_bytes(bytemuck::cast_slice_mut(&mut corrections)).await?;
            batches_made.push(self.stretch(squares, &corrections));
        }
        self.challenge(channel, rng, &batches_made).await?;
        let mut watched = Vec::with_capacity(batches_made.len() * crate::BATCH_SQUARES * MESSAGE_BITS);
        for rows in batches_made {
            watched.extend(rows.to_words().into_iter().map(Watched));
        }
        watched.drain(..crate::BLINDING);
        watched.truncate(n);
        Ok(watched)
    }

    /// Receives commitments to `n` messages of the sender's choice.
    ///
    /// *Errors*: as for [`CommitReceiver::commit`].
    pub async fn commit_to(
        &mut self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        n: usize,
    ) -> Result<Vec<Watched>, CommitError> {
        let mut watched = self.commit(channel, rng, n).await?;
        let mut corrections = vec![Block::ZERO; n];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut corrections)).await?;
        for (watched, correction) in watched.iter_mut().zip(corrections) {
            watched.0 ^= self.watch & Word::of(self.code, correction);
        }
        Ok(watched)
    }

    /// Receives messages that are opened one by one.
    ///
    /// *Errors*: [`CommitError::WrongOpening`] if the sender cheats; otherwise the connection's.
    pub async fn open(&self, channel: &mut Channel, watched: &[Watched]) -> Result<Vec<Block>, CommitError> {
        let size = crate::opening_bytes(self.code);
        let mut bytes = vec![0; watched.len() * size];
        channel.receive_bytes(&mut bytes).await?;
        let check = |(index, (watched, bytes)): (usize, (&Watched, &[u8]))| {
            let (message, share) = bytes.split_first_chunk().unwrap_or((&[0; 16], bytes));
            let message = Block::from_bytes(*message);
            let expected = Word::read(share) ^ (self.watch & Word::of(self.code, message));
            match watched.0.ct_eq(&expected).into() {
                true => Ok(message),
                false => Err(CommitError::WrongOpening { index }),
            }
        };
        watched.iter().zip(bytes.chunks_exact(size)).enumerate().map(check).collect()
    }

    /// Receives messages that are opened together.
    ///
    /// *Errors*: [`CommitError::WrongBatch`] if the sender cheats; otherwise the connection's.
    pub async fn open_batch(
        &self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        watched: &[Watched],
    ) -> Result<Vec<Block>, CommitError> {
        if watched.is_empty() {
            return Ok(Vec::new());
        }
        let mut messages = vec![Block::ZERO; watched.len()];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut messages)).await?;
        let mut powers = Powers::of(send_challenge(channel, rng).await?);
        let (mut folded, mut folded_messages) = (Folded::words(self.code), Folded::messages());
        let size = crate::BATCH_SQUARES * MESSAGE_BITS;
        for (watched, messages) in watched.chunks(size).zip(messages.chunks(size)) {
            let words: Vec<Word> = watched.iter().map(|watched| watched.0).collect();
            let powers = powers.take(words.len().div_ceil(MESSAGE_BITS));
            folded.add(&Rows::of(&words), &powers);
            folded_messages.add(&Rows::of_messages(messages), &powers);
        }
        let mut shares = vec![Block::ZERO; self.code.length()];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut shares)).await?;
        match folded.fit(self.code, &self.watch, &shares, &folded_messages.0) {
            true => Ok(messages),
            false => Err(CommitError::WrongBatch { count: watched.len() }),
        }
    }

    /// The next squares of the shares that this party knows, corrected where it knows the second.
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

    /// Has the sender show that its corrections are those of words.
    async fn challenge(
        &self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        batches: &[Rows],
    ) -> Result<(), CommitError> {
        let mut powers = Powers::of(send_challenge(channel, rng).await?);
        let mut folded = Folded::words(self.code);
        for rows in batches {
            folded.add(rows, &powers.take(rows.squares()));
        }
        let mut shares = vec![Block::ZERO; self.code.length()];
        let mut messages = vec![Block::ZERO; MESSAGE_BITS];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut shares)).await?;
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut messages)).await?;
        match folded.fit(self.code, &self.watch, &shares, &messages) {
            true => Ok(()),
            false => Err(CommitError::Inconsistent),
        }
    }
}

async fn send_challenge(channel: &mut Channel, rng: &mut (impl CryptoRng + ?Sized)) -> Result<Block, CommitError> {
    let alpha = Block::random(rng);
    channel.send_bytes(&alpha.to_bytes()).await?;
    channel.flush().await?;
    Ok(alpha)
}
