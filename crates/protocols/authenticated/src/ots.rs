//! The correlated OTs of a session with a peer in both directions: by the extension, or silent ones that begin with it.
//!
//! The first silent OTs come from the extension of the session, so from the leaves of the set-up and fresh nonces of both parties: they have the difference of the store,
//! and nothing of them is kept. Once there are any, all later OTs of the session are silent.

use garblet_circuit::Party;
use garblet_net::Channel;
use garblet_ot::{
    BitVec, CorrelatedReceiver, CorrelatedSender, Direction, LpnSet, MaliciousCotReceiver, MaliciousCotSender, OtError,
    SilentCotReceiver, SilentCotSender,
};
use garblet_primitives::Block;
use garblet_protocol::session::Session;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::{secrets::OT_CHECK, shares::Shares};

/// Bytes of the answer to a check of the extension.
const ANSWER_BYTES: usize = OT_CHECK.digest_bytes();

/// Both directions: as sender, and as receiver.
pub(crate) struct Ots {
    pub(crate) kind: Kind,
    /// This party and the peer. The lower one begins as the sender.
    parties: [Party; 2],
}

pub(crate) enum Kind {
    Extension(Box<Extension>),
    Silent(Box<Silent>),
    /// The first silent OTs failed.
    Ended,
}

pub(crate) struct Extension {
    pub(crate) sender: MaliciousCotSender,
    pub(crate) receiver: MaliciousCotReceiver,
}

pub(crate) struct Silent {
    sender: SilentCotSender<MaliciousCotSender>,
    receiver: SilentCotReceiver<MaliciousCotReceiver>,
    is_first: bool,
    /// This party's difference. The OTs have it with bit 0 set.
    pub(crate) delta: Block,
    /// Tells whether bit 0 of the peer's difference is not set. Then that of the MACs is cleared.
    clears: bool,
}

/// A block for each OT. *Secret*.
pub(crate) type Blocks = Zeroizing<Vec<Block>>;

/// OTs in both directions. *Secret*.
pub(crate) struct Drawn {
    /// This party's choices.
    pub(crate) bits: BitVec,
    /// The keys of the peer's.
    pub(crate) keys: Blocks,
    /// The MACs of this party's.
    pub(crate) macs: Blocks,
}

/// Checked OTs in both directions, with a random block of each party, this party's first. Nobody knew both before all OTs were fixed. Public.
pub(crate) type Checked = (Drawn, [Block; 2]);

impl Ots {
    /// Begins with the extension of a session, of this party and the peer.
    pub(crate) fn new(sender: MaliciousCotSender, receiver: MaliciousCotReceiver, parties: [Party; 2]) -> Self {
        Ots { kind: Kind::Extension(Box::new(Extension { sender, receiver })), parties }
    }

    /// Tells whether the next OTs are silent.
    pub(crate) fn are_silent(&self) -> bool {
        matches!(self.kind, Kind::Silent(_))
    }

    /// The extension, as long as OTs are not silent.
    ///
    /// *Errors*: [`OtError::Ended`].
    pub(crate) fn extension(&mut self) -> Result<&mut Extension, OtError> {
        match &mut self.kind {
            Kind::Extension(extension) => Ok(extension),
            Kind::Silent(_) | Kind::Ended => Err(OtError::Ended),
        }
    }

    /// Makes the first silent OTs in both directions. The peer does the same at this moment. `clears` tells whether bit 0 of its difference is not set.
    ///
    /// *Errors*: those of checked OTs; [`OtError::Ended`] after a call that failed.
    pub(crate) async fn begin_silent(
        &mut self,
        channel: &mut Channel,
        rng: &mut (impl CryptoRng + ?Sized),
        clears: bool,
        set: LpnSet,
    ) -> Result<(), OtError> {
        let Kind::Extension(extension) = std::mem::replace(&mut self.kind, Kind::Ended) else {
            return Err(OtError::Ended);
        };
        let Extension { sender, receiver } = *extension;
        let [own, peer] = self.parties.map(|party| party.0);
        let [sends, receives] = [(own, peer), (peer, own)].map(|(sender, receiver)| Direction { sender, receiver });
        let is_first = own < peer;
        let delta = sender.delta().block();
        let (sender, receiver) = if is_first {
            let sender = SilentCotSender::setup(channel, rng, sender, set, sends).await?;
            (sender, SilentCotReceiver::setup(channel, rng, receiver, set, receives).await?)
        } else {
            let receiver = SilentCotReceiver::setup(channel, rng, receiver, set, receives).await?;
            (SilentCotSender::setup(channel, rng, sender, set, sends).await?, receiver)
        };
        channel.flush().await?;
        self.kind = Kind::Silent(Box::new(Silent { sender, receiver, is_first, delta, clears }));
        Ok(())
    }

    /// Makes `count` OTs in each direction, checked by both parties. The blocks may take the allocations of `room`.
    ///
    /// *Errors*: those of checked OTs.
    pub(crate) async fn make(
        &mut self,
        session: &mut Session,
        count: usize,
        room: &mut Shares,
    ) -> Result<Checked, OtError> {
        let rooms = [&mut room.own, &mut room.peer].map(|room| Zeroizing::new(std::mem::take(room)));
        match &mut self.kind {
            Kind::Extension(extension) => extension.make(session.channel(), count, rooms).await,
            Kind::Silent(silent) => silent.make(session, count, rooms).await,
            Kind::Ended => Err(OtError::Ended),
        }
    }
}

impl Extension {
    async fn make(
        &mut self,
        channel: &mut Channel,
        count: usize,
        [of_keys, of_macs]: [Blocks; 2],
    ) -> Result<Checked, OtError> {
        let Extension { sender, receiver } = self;
        let correct = async |out: &mut _| receiver.correct(out, count, of_macs).await;
        let receive = async |into: &mut _| sender.receive(into, count, of_keys).await;
        let (corrected, unchecked) = channel.full_duplex(correct, receive).await?;
        // Points leave once all corrections have arrived.
        let (point, mut theirs) = (sender.point(), [0; 16]);
        channel.exchange_bytes(&point.to_bytes(), &mut theirs).await?;
        let their_point = Block::from_bytes(theirs);
        let (answer, bits, macs) = receiver.answer(corrected, their_point);
        let mut theirs = vec![0; ANSWER_BYTES];
        channel.exchange_bytes(&answer, &mut theirs).await?;
        let keys = sender.check(unchecked, point, &theirs)?;
        Ok((Drawn { bits, keys, macs }, [point, their_point]))
    }
}

impl Silent {
    async fn make(&mut self, session: &mut Session, count: usize, rooms: [Blocks; 2]) -> Result<Checked, OtError> {
        let (channel, rng) = session.parts();
        self.prepare(channel, count).await?;
        // Points leave once both have all corrections and have checked them.
        let (point, mut theirs) = (Block::random(rng), [0; 16]);
        channel.exchange_bytes(&point.to_bytes(), &mut theirs).await?;
        Ok((self.draw(channel, count, rooms).await?, [point, Block::from_bytes(theirs)]))
    }

    /// Makes a batch of `count` OTs in each direction, checked by both parties.
    ///
    /// *Errors*: those of silent OTs.
    pub(crate) async fn prepare(&mut self, channel: &mut Channel, count: usize) -> Result<(), OtError> {
        let Silent { sender, receiver, is_first, .. } = self;
        if *is_first {
            sender.prepare(channel, count).await?;
            receiver.prepare(channel, count).await
        } else {
            receiver.prepare(channel, count).await?;
            sender.prepare(channel, count).await
        }
    }

    /// The OTs of a batch, with this party's difference and the peer's as they are. Nothing is sent.
    pub(crate) async fn draw(
        &mut self,
        channel: &mut Channel,
        count: usize,
        [of_keys, of_macs]: [Blocks; 2],
    ) -> Result<Drawn, OtError> {
        let Silent { sender, receiver, clears, .. } = self;
        let keys = sender.extend_into(channel, count, of_keys).await?;
        let clear = |macs: &mut [Block]| {
            if *clears {
                macs.iter_mut().for_each(|mac| *mac = mac.with_lsb(false));
            }
        };
        let (bits, macs) = receiver.extend_random_in_parts(channel, count, of_macs, clear).await?;
        Ok(Drawn { bits, keys, macs })
    }
}
