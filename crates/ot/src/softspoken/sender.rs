//! The party with delta.

use garblet_net::Channel;
use garblet_primitives::{Block, Delta};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::columns::{Columns, Streams};
use super::{SQUARE, SetupHello, Sigma, Width, batches, checked, tree};
use crate::base;
use crate::choices::{Choices, masked};
use crate::correlated::CorrelatedSender;
use crate::error::OtError;

/// The sender of correlated OTs: has `q`, while the receiver has `q ^ c * delta`.
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
    /// *Errors*: those of the base OT receiver ([`base::choose`]).
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        width: Width,
    ) -> Result<Self, OtError> {
        Self::setup_with(channel, rng, delta, width, None).await
    }

    /// The same, with the check of the trees if `sigma` asks for checks.
    pub(super) async fn setup_with(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        width: Width,
        sigma: Option<Sigma>,
    ) -> Result<Self, OtError> {
        channel.send(&SetupHello::new(width, sigma)).await?;
        let choices = Choices::of_delta(delta);
        let chosen = base::choose(channel, &choices, rng).await?;
        channel.flush().await?;
        let mut corrections = vec![Block::ZERO; width.corrections()];
        channel.receive_bytes(bytemuck::cast_slice_mut(&mut corrections)).await?;
        let leaves = tree::puncture(width, &choices, chosen.pads(), &corrections);
        if sigma.is_some() {
            let mut tags = vec![0; checked::tag_bytes(width)];
            channel.receive_bytes(&mut tags).await?;
            let _consistent = checked::check_trees(width, chosen.session(), &choices, &leaves, &tags)?;
        }
        Ok(CotSender {
            width,
            delta: delta.clone(),
            session_key: chosen.session(),
            streams: Streams::new(width, &leaves, true),
            columns: Columns::new(width),
            corrections: Vec::new(),
        })
    }

    /// Step 5: adds the receiver's corrections to the columns at which delta has ones.
    fn correct(&mut self, squares: usize) {
        let bits = self.width.bits();
        let delta = self.delta.block().to_u128();
        // The first tree needs no correction: its sum is the choices.
        for (column, values) in self.columns.values().enumerate().skip(bits) {
            let selected = delta >> column & 1 == 1;
            let correction = &self.corrections[(column / bits - 1) * squares..][..squares];
            for (value, &correction) in values.iter_mut().zip(correction) {
                *value ^= masked(selected, correction);
            }
        }
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
            self.streams.expand(squares, &mut self.columns);
            self.corrections.resize((self.width.trees() - 1) * squares, Block::ZERO);
            channel.receive_bytes(bytemuck::cast_slice_mut(&mut self.corrections)).await?;
            self.correct(squares);
            let rows = (SQUARE * squares).min(n - blocks.len());
            self.columns.transpose_onto(&mut blocks, rows);
        }
        Ok(blocks)
    }
}
