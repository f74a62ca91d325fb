//! Correlated OT that is secure against malicious parties: the extension, with its consistency checks.
//!
//! *Source*: Roy 2022, section 4 (consistency check) and section 6 (trees of a malicious receiver).
//!
//! | step | who | what |
//! |---|---|---|
//! | a | receiver | after the trees: sends the sum of the leaves' tags of each tree, and a hash of all tags, see `tags` |
//! | b | sender | finds the tag of each missing leaf and aborts unless the hash covers exactly these tags |
//! | c | receiver | extends by whole squares and one more, whose OTs have no other use |
//! | d | sender | sends a random point |
//! | e | receiver | sends the hashes of its choices and of every column at that point |
//! | f | sender | aborts unless they match its own, see `consistency`; both discard the last square |
//!
//! *Adversary*: malicious. A malicious receiver can only guess bits of delta, and a wrong guess is detected.
//!
//! Two parties that extend in both directions at once run steps c to f separately: [`MaliciousCotReceiver::correct`] with
//! [`MaliciousCotSender::receive`], then [`MaliciousCotSender::point`], [`MaliciousCotReceiver::answer`] and [`MaliciousCotSender::check`].
//! Set-ups that serve many sessions are [`SenderSeeds`] and [`ReceiverSeeds`].

mod seeds;

use garblet_net::Channel;
use garblet_primitives::{Block, Delta, Prg};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::consistency::{self, ChoicesConsistent, StatisticalSecurity};
use super::receiver::{CotReceiver, ReceiverSetup};
use super::sender::{Choices, CotSender, SenderSetup};
use super::tags::{self, TreesConsistent};
use super::width::{SQUARE, Width};
use crate::bit_vec::BitVec;
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::error::{OtError, check_length};
use crate::room::emptied;

pub use seeds::{ReceiverSeeds, SenderSeeds};

/// The OTs of a checked extension by `n`, including those that hide the others.
pub(super) const fn with_hiding(n: usize) -> usize {
    if n == 0 { 0 } else { n.next_multiple_of(SQUARE) + SQUARE }
}

/// The sender of correlated OTs, secure against malicious receivers.
///
/// *Secret*: all of it. *Unique*: one per session and peer.
pub struct MaliciousCotSender {
    inner: CotSender,
    sigma: StatisticalSecurity,
    delta: BitVec,
    /// The generator of the points of the checks.
    points: Prg,
    _trees: TreesConsistent,
}

/// The sender's columns of an extension that is not yet checked, square after square. The check hashes them and turns them into blocks.
pub struct Unchecked {
    squares: Zeroizing<Vec<Block>>,
    n: usize,
}

/// The receiver's choices and columns of an extension whose corrections are sent and whose answer is outstanding.
pub struct Corrected {
    choices: BitVec,
    squares: Zeroizing<Vec<Block>>,
    n: usize,
}

impl MaliciousCotSender {
    /// Sets up with a peer that calls [`MaliciousCotReceiver::setup`] with the same width and security.
    ///
    /// *Errors*: as [`CotSender::setup`]; [`OtError::InconsistentTrees`].
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        width: Width,
        sigma: StatisticalSecurity,
    ) -> Result<Self, OtError> {
        let setup = SenderSetup::run(channel, rng, delta, width, Some(sigma)).await?;
        let mut message = vec![0; tags::bytes(width)];
        channel.receive_bytes(&mut message).await?;
        let delta = BitVec::of_delta(delta);
        let trees = tags::check(width, setup.session(), &delta, setup.leaves(), &message)?;
        Ok(MaliciousCotSender { inner: setup.finish(), sigma, delta, points: Prg::random(rng), _trees: trees })
    }

    /// Step c: receives the corrections of `n` OTs. Reuses the allocation `room` for their blocks if it is large enough.
    ///
    /// *Errors*: connection errors.
    pub async fn receive(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
    ) -> Result<Unchecked, OtError> {
        self.receive_columns(channel, n, Choices::Drawn, room).await
    }

    /// Step c with choices that the receiver gives, see [`MaliciousCotReceiver::correct_to`].
    ///
    /// *Shape*: `n` is a multiple of 128, and not 0. *Errors*: connection errors.
    pub async fn receive_given(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
    ) -> Result<Unchecked, OtError> {
        self.receive_columns(channel, n, Choices::Given, room).await
    }

    async fn receive_columns(
        &mut self,
        channel: &mut Channel,
        n: usize,
        choices: Choices,
        room: Zeroizing<Vec<Block>>,
    ) -> Result<Unchecked, OtError> {
        let mut squares = emptied(room, with_hiding(n));
        self.inner.columns_onto(channel, with_hiding(n), choices, &mut squares).await?;
        Ok(Unchecked { squares, n })
    }

    /// Step d: a random point, to send after all corrections have arrived.
    pub fn point(&mut self) -> Block {
        self.points.next_block()
    }

    /// Step f: checks the answer at the point sent for these OTs, and releases them.
    ///
    /// *Errors*: [`OtError::InconsistentChoices`].
    pub fn check(
        &self,
        mut unchecked: Unchecked,
        point: Block,
        answer: &[u8],
    ) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let consistent = consistency::check(self.sigma, &self.delta, &mut unchecked.squares, point, answer)?;
        Ok(release(unchecked, consistent))
    }

    /// The security of the checks.
    pub(crate) fn security(&self) -> StatisticalSecurity {
        self.sigma
    }

    /// Bytes of an answer: the hash of the choices, and that of every column.
    pub fn answer_bytes(&self) -> usize {
        self.sigma.digest_bytes()
    }
}

impl CorrelatedSender for MaliciousCotSender {
    fn delta(&self) -> &Delta {
        self.inner.delta()
    }

    fn session_key(&self) -> Block {
        self.inner.session_key()
    }

    async fn extend(&mut self, channel: &mut Channel, n: usize) -> Result<Zeroizing<Vec<Block>>, OtError> {
        if n == 0 {
            return Ok(Zeroizing::default());
        }
        let unchecked = self.receive(channel, n, Zeroizing::default()).await?;
        let point = self.point();
        channel.send_bytes(&point.to_bytes()).await?;
        let mut answer = vec![0; self.answer_bytes()];
        channel.receive_bytes(&mut answer).await?;
        self.check(unchecked, point, &answer)
    }
}

/// Releases the OTs after the check, without the last square.
fn release(Unchecked { squares: mut rows, n }: Unchecked, _consistent: ChoicesConsistent) -> Zeroizing<Vec<Block>> {
    rows.truncate(n);
    rows
}

/// The receiver of correlated OTs, secure against malicious senders.
///
/// *Secret*: all of it. *Unique*: one per session and peer.
pub struct MaliciousCotReceiver {
    inner: CotReceiver,
    sigma: StatisticalSecurity,
}

impl MaliciousCotReceiver {
    /// Sets up with a peer that calls [`MaliciousCotSender::setup`] with the same width and security.
    ///
    /// *Errors*: as [`CotReceiver::setup`].
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        width: Width,
        sigma: StatisticalSecurity,
    ) -> Result<Self, OtError> {
        let setup = ReceiverSetup::run(channel, rng, width, Some(sigma)).await?;
        channel.send_bytes(&tags::message(width, setup.session(), setup.leaves())).await?;
        Ok(MaliciousCotReceiver { inner: setup.finish(channel).await?, sigma })
    }

    /// Step c: sends the corrections of `n` OTs. Reuses the allocation `room` for their blocks if it is large enough.
    ///
    /// *Errors*: connection errors.
    pub async fn correct(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
    ) -> Result<Corrected, OtError> {
        let mut squares = emptied(room, with_hiding(n));
        let choices = self.inner.columns_onto(channel, with_hiding(n), &mut squares).await?;
        Ok(Corrected { choices, squares, n })
    }

    /// Step c with given choices, 128 in a block: sends the corrections of all trees to them. The last block hides the others and has no other use.
    ///
    /// A party that wants the same choices with several senders gives the same blocks to all. It answers all of them at one point only: a second answer
    /// would tell the last block, and then the others.
    ///
    /// *Errors*: connection errors.
    pub async fn correct_to(
        &mut self,
        channel: &mut Channel,
        choices: &[Block],
        room: Zeroizing<Vec<Block>>,
    ) -> Result<Corrected, OtError> {
        let mut squares = emptied(room, SQUARE * choices.len());
        self.inner.columns_to(channel, choices, &mut squares).await?;
        let all = BitVec::from_bytes(bytemuck::cast_slice(choices).to_vec(), SQUARE * choices.len())?;
        Ok(Corrected { choices: all, squares, n: SQUARE * choices.len().saturating_sub(1) })
    }

    /// The security of the checks.
    pub(crate) fn security(&self) -> StatisticalSecurity {
        self.sigma
    }

    /// Step e: the answer at the sender's point, and the choices and blocks.
    pub fn answer(&self, corrected: Corrected, point: Block) -> (Vec<u8>, BitVec, Zeroizing<Vec<Block>>) {
        let Corrected { choices, squares: mut rows, n } = corrected;
        let blocks = choices.as_bytes().as_chunks::<16>().0.iter().map(|&bytes| Block::from_bytes(bytes));
        let blocks = Zeroizing::new(blocks.collect::<Vec<Block>>());
        let answer = consistency::digest(self.sigma, &blocks, &mut rows, point);
        rows.truncate(n);
        (answer, choices.slice(0..n), rows)
    }
}

impl CorrelatedReceiver for MaliciousCotReceiver {
    fn session_key(&self) -> Block {
        self.inner.session_key()
    }

    async fn extend_random(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        if n == 0 {
            return Ok((BitVec::zeros(0), Zeroizing::default()));
        }
        let corrected = self.correct(channel, n, Zeroizing::default()).await?;
        let mut point = [0; 16];
        channel.receive_bytes(&mut point).await?;
        let (answer, choices, rows) = self.answer(corrected, Block::from_bytes(point));
        channel.send_bytes(&answer).await?;
        channel.flush().await?;
        Ok((choices, rows))
    }
}

#[cfg(test)]
pub(crate) use tests::deviations;

#[cfg(test)]
mod tests;
