//! The party that is committed to.

use std::ops::BitXor;

use garblet_net::Channel;
use garblet_ot::Choices;
use garblet_primitives::{Aes128, Block};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::code::{Code, MESSAGE_BITS};
use crate::error::{CommitError, check_length};
use crate::fold::{CUT_BYTES, Folded, Powers};
use crate::word::{Rows, Word};
use crate::{SQUARE, batches};

/// What the receiver keeps of a commitment. Sums (`^`) are commitments to the sums of the messages.
///
/// [`CommitReceiver::commit`] and [`CommitReceiver::commit_to`] make it, after the sender's corrections were checked.
///
/// *Secret*: the sender must not learn it, or it could open the commitment to anything.
#[derive(Clone, Copy, Default)]
pub struct Watched(Word);

impl DefaultIsZeroes for Watched {}

impl Watched {
    /// Writes what [`Watched::read`] makes the same of.
    ///
    /// *Shape*: [`opening_bytes`](crate::opening_bytes) bytes but 16.
    #[inline]
    pub fn write(&self, into: &mut [u8]) {
        self.0.write(into);
    }

    /// What [`Watched::write`] gave; what is missing is zero.
    ///
    /// The bytes are this party's own: nothing about them is checked.
    #[inline]
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
        let received = self.receive(channel, n).await?;
        let challenged = self.challenge(channel, rng, received).await?;
        self.verify(channel, challenged).await
    }

    /// Receives commitments to `n` uniform messages that are to be [challenged](CommitReceiver::challenge).
    ///
    /// *Errors*: the connection's.
    pub async fn receive(&mut self, channel: &mut Channel, n: usize) -> Result<Received, CommitError> {
        let mut batches_made = Vec::new();
        let mut corrections = Vec::new();
        for squares in batches(n) {
            corrections.resize(self.code.parity_bits() * squares, Block::ZERO);
            channel.receive_bytes(bytemuck::cast_slice_mut(&mut corrections)).await?;
            batches_made.push(self.stretch(squares, &corrections));
        }
        Ok(Received { batches: batches_made, n })
    }

    /// Has the sender show that its corrections are those of words; its answer is to be [verified](CommitReceiver::verify)
    /// later, in the order of the calls, so that neither party waits for the other.
    ///
    /// *Errors*: the connection's.
    pub async fn challenge(
        &self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        received: Received,
    ) -> Result<Challenged, CommitError> {
        let mut powers = Powers::of(send_challenge(channel, rng).await?);
        let mut folded = Folded::words(self.code);
        for rows in &received.batches {
            folded.add(rows, &powers.take(rows.squares()));
        }
        Ok(Challenged { received, folded })
    }

    /// The commitments, if the sender's answer fits.
    ///
    /// *Errors*: [`CommitError::Inconsistent`] if the sender cheats; otherwise the connection's.
    pub async fn verify(&self, channel: &mut Channel, challenged: Challenged) -> Result<Vec<Watched>, CommitError> {
        let mut shares = vec![Block::ZERO; self.code.length()];
        let mut messages = vec![Block::ZERO; MESSAGE_BITS];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut shares)).await?;
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut messages)).await?;
        let Challenged { received, folded } = challenged;
        match folded.fit(self.code, &self.watch, &shares, &messages) {
            true => Ok(received.into_watched()),
            false => Err(CommitError::Inconsistent),
        }
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
        let shown = self.receive_shown(channel, rng, watched).await?;
        self.verify_shown(channel, shown).await
    }

    /// Receives messages that are opened together, and challenges the sender to prove them; [its
    /// proof](CommitReceiver::verify_shown) comes later, in the order of the calls.
    ///
    /// *Errors*: the connection's.
    pub async fn receive_shown(
        &self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        watched: &[Watched],
    ) -> Result<Shown, CommitError> {
        let mut messages = vec![Block::ZERO; watched.len()];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut messages)).await?;
        let mut powers = Powers::of(send_challenge(channel, rng).await?);
        let (mut folded, mut folded_messages) = (Folded::words(self.code), Folded::messages());
        let size = crate::BATCH_SQUARES * MESSAGE_BITS;
        for (watched, messages) in watched.chunks(size).zip(messages.chunks(size)) {
            let powers = powers.take(watched.len().div_ceil(MESSAGE_BITS));
            folded.add(&Rows::of(watched, |watched| &watched.0), &powers);
            folded_messages.add(&Rows::of_messages(messages), &powers);
        }
        Ok(Shown { messages, folded, folded_messages })
    }

    /// The messages, if the sender's proof fits.
    ///
    /// *Errors*: [`CommitError::WrongBatch`] if the sender cheats; otherwise the connection's.
    pub async fn verify_shown(&self, channel: &mut Channel, shown: Shown) -> Result<Vec<Block>, CommitError> {
        let mut shares = vec![[0; CUT_BYTES]; self.code.length()];
        channel.receive_bytes(shares.as_flattened_mut()).await?;
        match shown.folded.fit_cut(self.code, &self.watch, &shares, &shown.folded_messages.0) {
            true => Ok(shown.messages),
            false => Err(CommitError::WrongBatch { count: shown.messages.len() }),
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
}

/// Commitments whose sender has not been challenged.
#[must_use = "nothing is known of the commitments before they are verified"]
pub struct Received {
    batches: Vec<Rows>,
    n: usize,
}

/// Commitments whose sender has been challenged, and the combinations that it is to show.
#[must_use = "nothing is known of the commitments before they are verified"]
pub struct Challenged {
    received: Received,
    folded: Folded,
}

/// Messages that the sender claims to have committed to, and has been challenged to prove.
#[must_use = "nothing is known of the messages before they are verified"]
pub struct Shown {
    messages: Vec<Block>,
    folded: Folded,
    folded_messages: Folded,
}

impl Received {
    fn into_watched(self) -> Vec<Watched> {
        let mut watched = Vec::with_capacity(self.n + SQUARE);
        let mut skip = crate::BLINDING;
        for rows in self.batches {
            let parts = [0, 1, 2].map(|part| Zeroizing::new(rows.columns(part)));
            watched.extend(Word::joined(&parts).skip(skip).map(Watched));
            skip = 0;
        }
        watched.truncate(self.n);
        watched
    }
}

async fn send_challenge(channel: &mut Channel, rng: &mut (impl CryptoRng + ?Sized)) -> Result<Block, CommitError> {
    let alpha = Block::random(rng);
    channel.send_bytes(&alpha.to_bytes()).await?;
    channel.flush().await?;
    Ok(alpha)
}
