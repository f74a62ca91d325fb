//! The OTs of one circuit: a whole OT extension, with all coins of each party from a seed, so that it can be replayed.

use garblet_net::{Channel, memory_pair};
use garblet_ot::{BitVec, MaliciousCotReceiver, MaliciousCotSender, OtError, RotReceiver, RotSender, Width};
use garblet_primitives::{Block, Delta, Prg};
use zeroize::Zeroizing;

use super::plan::SIGMA;

/// The number and form of a circuit's OTs.
#[derive(Clone, Copy)]
pub(super) struct InputOts {
    pub(super) width: Width,
    /// Their number; if 0, nothing is sent.
    pub(super) count: usize,
}

/// The OTs that follow from a seed.
pub(super) struct Replayed {
    /// The transcript, as the receiver of the OTs saw it.
    pub(super) transcript: [u8; 32],
    /// Both pads of each OT.
    pub(super) pads: Zeroizing<Vec<[Block; 2]>>,
}

impl InputOts {
    /// The sender: both pads of each OT.
    ///
    /// *Errors*: a receiver caught cheating; the connection's.
    pub(super) async fn send(self, channel: &mut Channel, coins: Block) -> Result<Zeroizing<Vec<[Block; 2]>>, OtError> {
        if self.count == 0 {
            return Ok(Zeroizing::default());
        }
        let mut rng = Prg::new(coins);
        let delta = Delta::random(&mut rng);
        let sender = MaliciousCotSender::setup(channel, &mut rng, &delta, self.width, SIGMA).await?;
        RotSender::new(sender).extend(channel, self.count).await
    }

    /// The receiver: random choices, and the pad of each.
    ///
    /// *Errors*: a sender caught cheating; the connection's.
    pub(super) async fn receive(
        self,
        channel: &mut Channel,
        coins: Block,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        if self.count == 0 {
            return Ok((BitVec::zeros(0), Zeroizing::default()));
        }
        let receiver = MaliciousCotReceiver::setup(channel, &mut Prg::new(coins), self.width, SIGMA).await?;
        RotReceiver::new(receiver).extend(channel, self.count).await
    }

    /// Both parties, in memory.
    ///
    /// *Errors*: none, with honest code at both ends.
    pub(super) async fn replay(self, sender: Block, receiver: Block) -> Result<Replayed, OtError> {
        let (mut left, mut right) = memory_pair();
        right.begin_transcript();
        let (sent, received) = tokio::join!(self.send(&mut left, sender), self.receive(&mut right, receiver));
        received?;
        Ok(Replayed { transcript: right.end_transcript(), pads: sent? })
    }
}
