//! The party that holds the choices.

use garblet_net::Channel;
use garblet_primitives::Block;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::columns::{Columns, Streams};
use super::consistency::StatisticalSecurity;
use super::hello::SetupHello;
use super::tree;
use super::width::{BATCH_SQUARES, SQUARE, Width, batches};
use crate::base::{self, Challenged, ReceiverAnswered};
use crate::bit_vec::BitVec;
use crate::correlated::CorrelatedReceiver;
use crate::error::OtError;
use crate::room::emptied;

/// The receiver of correlated OTs: gets `c` and `t = q ^ c * delta`, while the sender has `q` and delta.
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
    /// *Errors*: [`OtError::FormMismatch`]; errors of the base OT sender ([`base::send`]).
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        width: Width,
    ) -> Result<Self, OtError> {
        ReceiverSetup::run(channel, rng, width, None).await?.finish(channel).await
    }

    /// The receiver with these leaves.
    pub(super) fn of_leaves(width: Width, session_key: Block, leaves: &[Block]) -> Self {
        CotReceiver { width, session_key, streams: Streams::new(width, leaves, false), columns: Columns::new(width) }
    }

    /// Releases the receiver after the check of the base OTs' answer.
    fn released(self, _answered: ReceiverAnswered) -> Self {
        self
    }

    /// Step 4 for given choices: the corrections of all trees to them, tree by tree.
    ///
    /// *Shape*: `choices` has a block for every square.
    fn corrections_to(&mut self, choices: &[Block]) -> &[Block] {
        let sums = self.columns.sums(self.width);
        for sums in sums.chunks_exact_mut(choices.len()) {
            sums.iter_mut().zip(choices).for_each(|(sum, &choice)| *sum ^= choice);
        }
        sums
    }

    /// Step 4: appends the first tree's sum to the choices, and returns the corrections of the other trees.
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

/// The receiver with the leaves of all trees; the answer of the base OTs is outstanding.
pub(super) struct ReceiverSetup {
    width: Width,
    base: Challenged,
    leaves: Zeroizing<Vec<Block>>,
}

impl ReceiverSetup {
    /// Steps 1 and 2, for a hello that requests checks if there is a `sigma`.
    pub(super) async fn run(
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        width: Width,
        sigma: Option<StatisticalSecurity>,
    ) -> Result<Self, OtError> {
        let (ours, theirs) = (SetupHello::new(width, sigma), channel.receive::<SetupHello>().await?);
        if ours != theirs {
            return Err(OtError::FormMismatch { ours: ours.to_string(), theirs: theirs.to_string() });
        }
        let base = base::send(channel, rng).await?;
        let (leaves, corrections) = tree::expand(width, base.pads());
        channel.send_bytes(bytemuck::cast_slice(&corrections)).await?;
        Ok(ReceiverSetup { width, base, leaves })
    }

    pub(super) fn session(&self) -> Block {
        self.base.session()
    }

    pub(super) fn leaves(&self) -> &[Block] {
        &self.leaves
    }

    /// Flushes the channel, and checks the answer of the base OTs.
    pub(super) async fn finish(self, channel: &mut Channel) -> Result<CotReceiver, OtError> {
        channel.flush().await?;
        // Prepare this while the answer is on its way.
        let receiver = CotReceiver::of_leaves(self.width, self.session(), &self.leaves);
        let answered: ReceiverAnswered = self.base.check_answer(channel).await?;
        Ok(receiver.released(answered))
    }
}

impl CotReceiver {
    /// Makes `n` OTs: shows the columns of each batch to `made`, and returns the choices.
    async fn extend(
        &mut self,
        channel: &mut Channel,
        n: usize,
        mut made: impl FnMut(&Columns),
    ) -> Result<BitVec, OtError> {
        let mut choices = Zeroizing::new(Vec::with_capacity(n.next_multiple_of(SQUARE) / 8));
        for squares in batches(n) {
            self.streams.expand(squares, &mut self.columns);
            let corrections = self.corrections(squares, &mut choices);
            channel.send_bytes(bytemuck::cast_slice(corrections)).await?;
            made(&self.columns);
        }
        channel.flush().await?;
        choices.truncate(n.div_ceil(8));
        BitVec::from_bytes(std::mem::take(&mut *choices), n)
    }

    /// Appends the columns of `n` OTs, square after square, and returns their choices.
    ///
    /// *Shape*: `n` is a multiple of 128.
    pub(super) async fn columns_onto(
        &mut self,
        channel: &mut Channel,
        n: usize,
        blocks: &mut Vec<Block>,
    ) -> Result<BitVec, OtError> {
        self.extend(channel, n, |columns| columns.gather_onto(blocks)).await
    }

    /// Appends the columns of OTs with given choices, a square for each block of `choices`.
    pub(super) async fn columns_to(
        &mut self,
        channel: &mut Channel,
        choices: &[Block],
        blocks: &mut Vec<Block>,
    ) -> Result<(), OtError> {
        for choices in choices.chunks(BATCH_SQUARES) {
            self.streams.expand(choices.len(), &mut self.columns);
            channel.send_bytes(bytemuck::cast_slice(self.corrections_to(choices))).await?;
            self.columns.gather_onto(blocks);
        }
        Ok(channel.flush().await?)
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
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        self.extend_random_in_parts(channel, n, Zeroizing::default(), |_| ()).await
    }

    async fn extend_random_in_parts(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
        mut change: impl FnMut(&mut [Block]) + Send,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        let mut blocks = emptied(room, n.next_multiple_of(SQUARE));
        let transpose = |columns: &Columns| {
            let rows = columns.rows().min(n - blocks.len());
            columns.transpose_onto(&mut blocks, rows, &mut change);
        };
        let choices = self.extend(channel, n, transpose).await?;
        Ok((choices, blocks))
    }
}
