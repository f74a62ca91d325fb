//! The party with the choices.

use garblet_net::Channel;
use garblet_primitives::Block;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::columns::{Columns, Streams};
use super::{SQUARE, SetupHello, Sigma, Width, batches, checked, tree};
use crate::base::{self, ReceiverAnswered};
use crate::choices::Choices;
use crate::correlated::CorrelatedReceiver;
use crate::error::OtError;

/// The receiver of correlated OTs: has `c` and `t = q ^ c * delta`, while the sender has `q` and delta.
///
/// *Secret*: all of it. *Unique*: one per session and peer.
pub struct CotReceiver {
    pub(super) width: Width,
    session_key: Block,
    streams: Streams,
    columns: Columns,
}

impl CotReceiver {
    /// Sets up with a peer that calls [`CotSender::setup`](super::CotSender::setup) with the same width.
    ///
    /// *Errors*: [`OtError::FormMismatch`]; those of the base OT sender ([`base::challenge`]).
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        width: Width,
    ) -> Result<Self, OtError> {
        Self::setup_with(channel, rng, width, None).await
    }

    /// The same, with the check of the trees if `sigma` asks for checks.
    pub(super) async fn setup_with(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        width: Width,
        sigma: Option<Sigma>,
    ) -> Result<Self, OtError> {
        let (ours, theirs) = (SetupHello::new(width, sigma), channel.receive::<SetupHello>().await?);
        if ours != theirs {
            return Err(OtError::FormMismatch { ours: ours.to_string(), theirs: theirs.to_string() });
        }
        let challenged = base::challenge(channel, rng).await?;
        let (leaves, corrections) = tree::plant(width, challenged.pads());
        channel.send_bytes(bytemuck::cast_slice(&corrections)).await?;
        let session_key = challenged.session();
        if sigma.is_some() {
            channel.send_bytes(&checked::tree_tags(width, session_key, &leaves)).await?;
        }
        channel.flush().await?;
        let streams = Streams::new(width, &leaves, false);
        let answered = challenged.check_answer(channel).await?;
        Ok(Self::ready(width, session_key, streams, answered))
    }

    /// The receiver after the base OTs; their sender must have checked the answer.
    fn ready(width: Width, session_key: Block, streams: Streams, _answered: ReceiverAnswered) -> Self {
        CotReceiver { width, session_key, streams, columns: Columns::new(width) }
    }

    /// Step 4: makes the first tree's sum the choices, and the others' what corrects them.
    fn corrections<'a>(&'a mut self, squares: usize, choices: &mut Vec<u8>) -> &'a [Block] {
        let (first, others) = self.columns.sums(self.width).split_at_mut(squares);
        choices.extend_from_slice(bytemuck::cast_slice(first));
        for sums in others.chunks_exact_mut(squares) {
            for (sum, &choice) in sums.iter_mut().zip(&*first) {
                *sum ^= choice;
            }
        }
        others
    }
}

impl CorrelatedReceiver for CotReceiver {
    fn session_key(&self) -> Block {
        self.session_key
    }

    async fn extend_random(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(Choices, Zeroizing<Vec<Block>>), OtError> {
        let mut blocks = Zeroizing::new(Vec::with_capacity(n.next_multiple_of(SQUARE)));
        let mut choices = Zeroizing::new(Vec::with_capacity(n.next_multiple_of(SQUARE) / 8));
        for squares in batches(n) {
            self.streams.expand(squares, &mut self.columns);
            let corrections = self.corrections(squares, &mut choices);
            channel.send_bytes(bytemuck::cast_slice(corrections)).await?;
            let rows = (SQUARE * squares).min(n - blocks.len());
            self.columns.transpose_onto(&mut blocks, rows);
        }
        channel.flush().await?;
        choices.truncate(n.div_ceil(8));
        Ok((Choices::from_bytes(std::mem::take(&mut *choices), n)?, blocks))
    }
}
