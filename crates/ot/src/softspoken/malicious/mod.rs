//! Correlated OT that is secure against malicious parties: the extension, with its consistency checks.
//!
//! *Source*: Roy 2022, section 4 (consistency check) and section 6 (trees of a malicious receiver).
//!
//! | step | who | what |
//! |---|---|---|
//! | a | receiver | after the trees: for each, the sum of its leaves' tags; a hash of all tags, see `tags` |
//! | b | sender | finds the tag of each missing leaf and aborts unless the hash is that of all tags |
//! | c | receiver | extends by whole squares and one more, whose OTs are used for nothing else |
//! | d | sender | sends a random point |
//! | e | receiver | sends the hashes of its choices and of every column at that point |
//! | f | sender | aborts unless they fit its own, see `consistency`; both discard the last square |
//!
//! *Adversary*: malicious. A malicious receiver can only guess bits of delta, and a wrong guess is found out.

use garblet_net::Channel;
use garblet_primitives::{Block, Delta, Prg};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::consistency::{self, ChoicesConsistent, StatisticalSecurity};
use super::receiver::{CotReceiver, ReceiverSetup};
use super::sender::{CotSender, SenderSetup};
use super::tags::{self, TreesConsistent};
use super::width::{SQUARE, Width};
use crate::bit_vec::BitVec;
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::error::OtError;

/// The OTs of a checked extension by `n`, those that hide the others included.
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

impl MaliciousCotSender {
    /// Sets up with a peer that calls [`MaliciousCotReceiver::setup`] with the same width and security.
    ///
    /// *Errors*: those of [`CotSender::setup`]; [`OtError::InconsistentTrees`].
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

    /// Steps d and f.
    async fn challenge(&mut self, channel: &mut Channel, rows: &[Block]) -> Result<ChoicesConsistent, OtError> {
        let point = self.points.next_block();
        channel.send_bytes(&point.to_bytes()).await?;
        let mut digest = vec![0; self.sigma.digest_bytes()];
        channel.receive_bytes(&mut digest).await?;
        consistency::check(self.sigma, &self.delta, rows, point, &digest)
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
        let rows = self.inner.extend(channel, with_hiding(n)).await?;
        let consistent = self.challenge(channel, &rows).await?;
        Ok(release(rows, n, consistent))
    }
}

/// Releases the OTs after the check, without the last square.
fn release(mut rows: Zeroizing<Vec<Block>>, n: usize, _consistent: ChoicesConsistent) -> Zeroizing<Vec<Block>> {
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
    /// *Errors*: those of [`CotReceiver::setup`].
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
        let (choices, mut rows) = self.inner.extend_random(channel, with_hiding(n)).await?;
        let mut point = [0; 16];
        channel.receive_bytes(&mut point).await?;
        let squares = choices.as_bytes().as_chunks::<16>().0.iter().map(|&bytes| Block::from_bytes(bytes));
        let squares = Zeroizing::new(squares.collect::<Vec<Block>>());
        let digest = consistency::digest(self.sigma, &squares, &rows, Block::from_bytes(point));
        channel.send_bytes(&digest).await?;
        channel.flush().await?;
        rows.truncate(n);
        Ok((choices.slice(0..n), rows))
    }
}

#[cfg(test)]
pub(crate) use tests::deviations;

#[cfg(test)]
mod tests;
