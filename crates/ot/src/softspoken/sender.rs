//! The party that holds delta.

use garblet_net::Channel;
use garblet_primitives::{Bit, Block, Delta};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::columns::{Columns, Streams};
use super::consistency::StatisticalSecurity;
use super::hello::SetupHello;
use super::tree;
use super::width::{PART_SQUARES, SQUARE, Width, batches};
use crate::base::{self, Chosen};
use crate::bit_vec::BitVec;
use crate::correlated::CorrelatedSender;
use crate::error::OtError;

/// The sender of correlated OTs: gets `q`, while the receiver gets `q ^ c * delta`.
///
/// *Secret*: all of it. *Unique*: one per session and peer.
pub struct CotSender {
    width: Width,
    delta: Delta,
    session_key: Block,
    streams: Streams,
    columns: Columns,
    corrections: Vec<Block>,
}

impl CotSender {
    /// Sets up with a peer that calls [`CotReceiver::setup`](super::CotReceiver::setup) with the same width.
    ///
    /// The last message, the answer of the base OTs, leaves with the next flush or receive.
    ///
    /// *Errors*: errors of the base OT receiver ([`base::receive`]).
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        width: Width,
    ) -> Result<Self, OtError> {
        Ok(SenderSetup::run(channel, rng, delta, width, None).await?.finish())
    }

    /// The sender with these leaves.
    pub(super) fn of_leaves(width: Width, delta: Delta, session_key: Block, leaves: &[Block]) -> Self {
        let streams = Streams::new(width, leaves, true);
        CotSender { width, delta, session_key, streams, columns: Columns::new(width), corrections: Vec::new() }
    }

    /// Step 5: adds the receiver's corrections to the columns where delta has ones.
    fn correct(&mut self, squares: usize, choices: Choices) {
        let bits = self.width.bits();
        let delta = self.delta.block().to_u128();
        let first = choices.uncorrected();
        for (column, values) in self.columns.values().enumerate().skip(first * bits) {
            let selected = Block::mask(Bit::lowest_of((delta >> column) as u64));
            let correction = &self.corrections[(column / bits - first) * squares..][..squares];
            for (value, &correction) in values.iter_mut().zip(correction) {
                *value ^= selected & correction;
            }
        }
    }
}

/// The origin of the choices of an extension.
#[derive(Clone, Copy)]
pub(super) enum Choices {
    /// From the first tree, whose sum they are.
    Drawn,
    /// From the receiver, which corrects the first tree, too.
    Given,
}

impl Choices {
    /// The number of trees without corrections.
    fn uncorrected(self) -> usize {
        match self {
            Choices::Drawn => 1,
            Choices::Given => 0,
        }
    }
}

/// The sender with the leaves of all trees.
pub(super) struct SenderSetup {
    width: Width,
    delta: Delta,
    base: Chosen,
    leaves: Zeroizing<Vec<Block>>,
}

impl SenderSetup {
    /// Steps 1 and 2, with a hello that requests checks if there is a `sigma`.
    pub(super) async fn run(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        width: Width,
        sigma: Option<StatisticalSecurity>,
    ) -> Result<Self, OtError> {
        channel.send(&SetupHello::new(width, sigma)).await?;
        let choices = BitVec::of_delta(delta);
        let base = base::receive(channel, &choices, rng).await?;
        channel.flush().await?;
        let mut corrections = vec![Block::ZERO; width.corrections()];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut corrections)).await?;
        let leaves = tree::puncture(width, &choices, base.pads(), &corrections);
        Ok(SenderSetup { width, delta: delta.clone(), base, leaves })
    }

    pub(super) fn session(&self) -> Block {
        self.base.session()
    }

    pub(super) fn leaves(&self) -> &[Block] {
        &self.leaves
    }

    pub(super) fn finish(self) -> CotSender {
        CotSender::of_leaves(self.width, self.delta.clone(), self.session(), &self.leaves)
    }
}

impl CotSender {
    /// Appends the columns of `n` OTs, square after square.
    ///
    /// *Shape*: `n` is a multiple of 128.
    pub(super) async fn columns_onto(
        &mut self,
        channel: &mut Channel,
        n: usize,
        choices: Choices,
        blocks: &mut Vec<Block>,
    ) -> Result<(), OtError> {
        for squares in batches(n) {
            self.batch(channel, squares, choices).await?;
            self.columns.gather_onto(blocks);
        }
        Ok(())
    }

    /// Steps 3 to 5 of a batch, up to the transposition.
    async fn batch(&mut self, channel: &mut Channel, squares: usize, choices: Choices) -> Result<(), OtError> {
        self.streams.expand(squares, &mut self.columns);
        self.corrections.resize((self.width.trees() - choices.uncorrected()) * squares, Block::ZERO);
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut self.corrections)).await?;
        self.correct(squares, choices);
        Ok(())
    }
}

impl CorrelatedSender for CotSender {
    fn delta(&self) -> &Delta {
        &self.delta
    }

    fn session_key(&self) -> Block {
        self.session_key
    }

    async fn extend(&mut self, channel: &mut Channel, n: usize) -> Result<Zeroizing<Vec<Block>>, OtError> {
        let mut blocks = Zeroizing::new(Vec::with_capacity(n.next_multiple_of(SQUARE)));
        for squares in batches(n) {
            self.batch(channel, squares, Choices::Drawn).await?;
            let rows = (SQUARE * squares).min(n - blocks.len());
            self.columns.transpose_onto(&mut blocks, rows, |_| ());
        }
        Ok(blocks)
    }

    async fn extend_in_parts(
        &mut self,
        channel: &mut Channel,
        n: usize,
        mut see: impl FnMut(&[Block]) + Send,
    ) -> Result<(), OtError> {
        let mut room = Zeroizing::new(vec![Block::ZERO; SQUARE * PART_SQUARES]);
        let mut left = n;
        for squares in batches(n) {
            self.batch(channel, squares, Choices::Drawn).await?;
            for (first, squares) in self.columns.parts() {
                let part = &mut room[..SQUARE * squares];
                self.columns.transpose(first, part);
                let made = left.min(part.len());
                see(&part[..made]);
                left -= made;
            }
        }
        Ok(())
    }
}
