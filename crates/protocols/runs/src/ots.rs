//! The correlated OTs with one peer, semi-honest, from either source.

use garblet_net::Channel;
use garblet_ot::{
    BitVec, CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender, Direction, LpnSet, OtError,
    SilentCotReceiver, SilentCotSender, Width,
};
use garblet_primitives::{Block, Delta, Prg};
use zeroize::Zeroizing;

/// The source of the OTs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// SoftSpoken of this width.
    Extension(Width),
    /// Silent OT, which begins with SoftSpoken of the greatest width.
    Silent(LpnSet),
}

impl Source {
    /// Tells whether OTs are silent.
    pub fn is_silent(self) -> bool {
        matches!(self, Source::Silent(_))
    }

    /// The width of the OT extension that begins.
    pub fn width(self) -> Width {
        match self {
            Source::Extension(width) => width,
            Source::Silent(_) => Width::Eight,
        }
    }

    /// Payload bytes of set-up that a party sends as sender of correlated OTs, and as receiver.
    pub fn setup_bytes(self) -> [u64; 2] {
        let width = self.width();
        let first = match self {
            Source::Extension(_) => 0,
            Source::Silent(set) => width.extension_bytes(set.stock() as u64),
        };
        [width.sender_setup_bytes(), width.receiver_setup_bytes() + first]
    }

    /// The same for the OTs of a run.
    pub fn run_bytes(self, ots: u64) -> [u64; 2] {
        match self {
            Source::Extension(width) => [0, width.extension_bytes(ots)],
            Source::Silent(set) => set.batch_bytes(ots, false),
        }
    }
}

/// The sender of correlated OTs.
pub enum Sender {
    /// As [`Source::Extension`].
    Extension(CotSender),
    /// As [`Source::Silent`].
    Silent(Box<SilentCotSender<CotSender>>),
}

/// The receiver of correlated OTs.
pub enum Receiver {
    /// As [`Source::Extension`].
    Extension(CotReceiver),
    /// As [`Source::Silent`].
    Silent(Box<SilentCotReceiver<CotReceiver>>),
}

impl Sender {
    /// Sets up with a peer that calls [`Receiver::setup`] with the same source and direction.
    ///
    /// *Errors*: as [`CotSender::setup`].
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut Prg,
        delta: &Delta,
        source: Source,
        direction: Direction,
    ) -> Result<Self, OtError> {
        let base = CotSender::setup(channel, rng, delta, source.width()).await?;
        Ok(match source {
            Source::Extension(_) => Sender::Extension(base),
            Source::Silent(set) => {
                Sender::Silent(Box::new(SilentCotSender::setup(channel, rng, base, set, direction).await?))
            }
        })
    }
}

impl Receiver {
    /// Sets up with a peer that calls [`Sender::setup`] with the same source and direction.
    ///
    /// *Errors*: as [`CotReceiver::setup`].
    pub async fn setup(
        channel: &mut Channel,
        rng: &mut Prg,
        source: Source,
        direction: Direction,
    ) -> Result<Self, OtError> {
        let base = CotReceiver::setup(channel, rng, source.width()).await?;
        Ok(match source {
            Source::Extension(_) => Receiver::Extension(base),
            Source::Silent(set) => {
                Receiver::Silent(Box::new(SilentCotReceiver::setup(channel, rng, base, set, direction).await?))
            }
        })
    }
}

impl CorrelatedSender for Sender {
    fn delta(&self) -> &Delta {
        match self {
            Sender::Extension(sender) => sender.delta(),
            Sender::Silent(sender) => sender.delta(),
        }
    }

    fn session_key(&self) -> Block {
        match self {
            Sender::Extension(sender) => sender.session_key(),
            Sender::Silent(sender) => sender.session_key(),
        }
    }

    async fn prepare(&mut self, channel: &mut Channel, n: usize) -> Result<(), OtError> {
        match self {
            Sender::Extension(sender) => sender.prepare(channel, n).await,
            Sender::Silent(sender) => sender.prepare(channel, n).await,
        }
    }

    async fn extend(&mut self, channel: &mut Channel, n: usize) -> Result<Zeroizing<Vec<Block>>, OtError> {
        match self {
            Sender::Extension(sender) => sender.extend(channel, n).await,
            Sender::Silent(sender) => sender.extend(channel, n).await,
        }
    }

    async fn extend_in_parts(
        &mut self,
        channel: &mut Channel,
        n: usize,
        see: impl FnMut(&[Block]) + Send,
    ) -> Result<(), OtError> {
        match self {
            Sender::Extension(sender) => sender.extend_in_parts(channel, n, see).await,
            Sender::Silent(sender) => sender.extend_in_parts(channel, n, see).await,
        }
    }
}

impl CorrelatedReceiver for Receiver {
    fn session_key(&self) -> Block {
        match self {
            Receiver::Extension(receiver) => receiver.session_key(),
            Receiver::Silent(receiver) => receiver.session_key(),
        }
    }

    async fn prepare(&mut self, channel: &mut Channel, n: usize) -> Result<(), OtError> {
        match self {
            Receiver::Extension(receiver) => receiver.prepare(channel, n).await,
            Receiver::Silent(receiver) => receiver.prepare(channel, n).await,
        }
    }

    async fn extend_random(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        match self {
            Receiver::Extension(receiver) => receiver.extend_random(channel, n).await,
            Receiver::Silent(receiver) => receiver.extend_random(channel, n).await,
        }
    }

    async fn extend_random_in_parts(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
        change: impl FnMut(&mut [Block]) + Send,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), OtError> {
        match self {
            Receiver::Extension(receiver) => receiver.extend_random_in_parts(channel, n, room, change).await,
            Receiver::Silent(receiver) => receiver.extend_random_in_parts(channel, n, room, change).await,
        }
    }
}
