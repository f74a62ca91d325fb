//! Correlated OT that is secure against malicious parties: the extension, with its consistency checks.
//!
//! *Source*: Roy 2022, section 4 (consistency check) and section 6 (trees of a malicious planter).
//!
//! | step | who | what |
//! |---|---|---|
//! | a | receiver | after the trees: for each, the sum of its leaves' tags; a hash of all tags |
//! | b | sender | finds the tag of each missing leaf and aborts unless the hash is that of all tags |
//! | c | receiver | extends by whole squares and one more, whose OTs are used for nothing else |
//! | d | sender | sends a random point |
//! | e | receiver | sends the hashes of its choices and of every column at that point |
//! | f | sender | aborts unless they fit its own, see `consistency`; both discard the last square |
//!
//! *Adversary*: malicious. What remains to a malicious receiver is to guess bits of delta: a wrong guess is found out.

use garblet_net::Channel;
use garblet_primitives::{Block, Delta, Prg};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::consistency::{self, ChoicesConsistent, Sigma};
use super::{CotReceiver, CotSender, SQUARE, Width};
use crate::choices::Choices;
use crate::correlated::{CorrelatedReceiver, CorrelatedSender};
use crate::error::OtError;

/// Bytes of a leaf's tag.
const TAG_BYTES: usize = 32;

/// OTs that a checked extension by `n` makes, those that hide the others included.
pub(super) const fn with_hiding(n: usize) -> usize {
    if n == 0 { 0 } else { n.next_multiple_of(SQUARE) + SQUARE }
}

/// Bytes of step a.
pub(super) const fn tag_bytes(width: Width) -> usize {
    TAG_BYTES * (width.trees() + 1)
}

/// The sender of correlated OTs, secure against malicious receivers.
///
/// *Secret*: all of it. *Unique*: one per session and peer.
pub struct CheckedCotSender {
    inner: CotSender,
    sigma: Sigma,
    delta: Choices,
    /// Where the points of the checks come from.
    points: Prg,
}

impl CheckedCotSender {
    /// Sets up with a peer that calls [`CheckedCotReceiver::setup`] with the same width and security.
    ///
    /// *Errors*: those of [`CotSender::setup`]; [`OtError::InconsistentTrees`].
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        width: Width,
        sigma: Sigma,
    ) -> Result<Self, OtError> {
        let inner = CotSender::setup_with(channel, rng, delta, width, Some(sigma)).await?;
        Ok(CheckedCotSender { inner, sigma, delta: Choices::of_delta(delta), points: Prg::random(rng) })
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

impl CorrelatedSender for CheckedCotSender {
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

/// The OTs that may be used: after the check, and without the last square.
fn release(mut rows: Zeroizing<Vec<Block>>, n: usize, _consistent: ChoicesConsistent) -> Zeroizing<Vec<Block>> {
    rows.truncate(n);
    rows
}

/// The receiver of correlated OTs, secure against malicious senders.
///
/// *Secret*: all of it. *Unique*: one per session and peer.
pub struct CheckedCotReceiver {
    inner: CotReceiver,
    sigma: Sigma,
}

impl CheckedCotReceiver {
    /// Sets up with a peer that calls [`CheckedCotSender::setup`] with the same width and security.
    ///
    /// *Errors*: those of [`CotReceiver::setup`].
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        width: Width,
        sigma: Sigma,
    ) -> Result<Self, OtError> {
        let inner = CotReceiver::setup_with(channel, rng, width, Some(sigma)).await?;
        Ok(CheckedCotReceiver { inner, sigma })
    }
}

impl CorrelatedReceiver for CheckedCotReceiver {
    fn session_key(&self) -> Block {
        self.inner.session_key()
    }

    async fn extend_random(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(Choices, Zeroizing<Vec<Block>>), OtError> {
        if n == 0 {
            return Ok((Choices::zeros(0), Zeroizing::default()));
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

/// The trees of the receiver are the same whatever delta is; only [`check_trees`] makes it.
pub(super) struct TreesConsistent(());

/// Step a: the sums of the tags of each tree, then the hash of all tags.
pub(super) fn tree_tags(width: Width, session: Block, leaves: &[Block]) -> Vec<u8> {
    let mut message = Vec::with_capacity(tag_bytes(width));
    let mut all = hash_of_tags(session);
    for (tree, leaves) in leaves.chunks_exact(width.leaves()).enumerate() {
        let mut sum = [0; TAG_BYTES];
        for (x, &leaf) in leaves.iter().enumerate() {
            let tag = tag(session, tree, x, leaf);
            add(&mut sum, &tag);
            all.update(&tag);
        }
        message.extend_from_slice(&sum);
    }
    message.extend_from_slice(all.finalize().as_bytes());
    message
}

/// Step b. `leaves` stand by their distance from the missing ones, as the sender counts them.
///
/// *Errors*: [`OtError::InconsistentTrees`].
pub(super) fn check_trees(
    width: Width,
    session: Block,
    delta: &Choices,
    leaves: &[Block],
    message: &[u8],
) -> Result<TreesConsistent, OtError> {
    let mut all = hash_of_tags(session);
    let (sums, theirs) = message.split_at(message.len().saturating_sub(TAG_BYTES));
    for (tree, (leaves, sum)) in leaves.chunks_exact(width.leaves()).zip(sums.as_chunks::<TAG_BYTES>().0).enumerate() {
        let bits = (0..width.bits()).map(|bit| usize::from(delta.get(tree * width.bits() + bit)) << bit);
        let missing: usize = bits.sum();
        // The tag of the missing leaf is what the others lack of the sum. Tags change places without a branch on delta.
        let mut tags = vec![[0; TAG_BYTES]; width.leaves()];
        tags[0] = *sum;
        for y in 1..width.leaves() {
            tags[y] = tag(session, tree, y ^ missing, leaves[y]);
            let known = tags[y];
            add(&mut tags[0], &known);
        }
        by_number(&mut tags, missing);
        tags.iter().for_each(|tag| _ = all.update(tag));
    }
    let fits = all.finalize().as_bytes().ct_eq(theirs);
    if bool::from(fits) { Ok(TreesConsistent(())) } else { Err(OtError::InconsistentTrees) }
}

/// Moves what stands at `y` to `y ^ missing`.
fn by_number(tags: &mut [[u8; TAG_BYTES]], missing: usize) {
    for bit in 0..tags.len().ilog2() {
        let swap = (missing >> bit & 1) as u8;
        for x in (0..tags.len()).filter(|x| x >> bit & 1 == 0) {
            let (low, high) = tags.split_at_mut(x | 1 << bit);
            for (a, b) in low[x].iter_mut().zip(&mut high[0]) {
                let difference = (*a ^ *b) & swap.wrapping_neg();
                *a ^= difference;
                *b ^= difference;
            }
        }
    }
}

fn tag(session: Block, tree: usize, x: usize, leaf: Block) -> [u8; TAG_BYTES] {
    let mut input = [0; 40];
    input[..16].copy_from_slice(&session.to_bytes());
    input[16..20].copy_from_slice(&(tree as u32).to_le_bytes());
    input[20..24].copy_from_slice(&(x as u32).to_le_bytes());
    input[24..].copy_from_slice(&leaf.to_bytes());
    blake3::derive_key("garblet OT extension: tag of a leaf, v1", &input)
}

fn hash_of_tags(session: Block) -> blake3::Hasher {
    let mut hash = blake3::Hasher::new_derive_key("garblet OT extension: all tags, v1");
    hash.update(&session.to_bytes());
    hash
}

fn add(sum: &mut [u8; TAG_BYTES], tag: &[u8; TAG_BYTES]) {
    sum.iter_mut().zip(tag).for_each(|(sum, tag)| *sum ^= tag);
}

#[cfg(test)]
pub(crate) use tests::deviations;

#[cfg(test)]
mod tests;
