//! The correlated OTs of a session in both directions: by the extension, or silent ones that begin with it.
//!
//! The first silent OTs come from the extension of the session, so from the leaves of the set-up and fresh nonces of both parties: they have the difference of the store,
//! and nothing of them is kept. Once there are any, all later OTs of the session are silent.

use garblet_net::Channel;
use garblet_ot::{
    BitVec, CorrelatedReceiver, CorrelatedSender, MaliciousCotReceiver, MaliciousCotSender, OtError, SilentCotReceiver,
    SilentCotSender,
};
use garblet_primitives::{Block, Delta};
use garblet_protocol::session::Session;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::{
    config::{Config, LPN},
    secrets::{OT_CHECK, Secrets},
    shares::Shares,
};

/// Bytes of the answer to a check of the extension.
const ANSWER_BYTES: usize = OT_CHECK.digest_bytes();

/// Both directions: as sender, and as receiver.
pub(crate) struct Ots {
    kind: Kind,
    /// Tells whether this is the garbler, which begins as the sender.
    is_garbler: bool,
}

enum Kind {
    Extension(Box<Extension>),
    Silent(Box<Silent>),
    /// The first silent OTs failed.
    Ended,
}

struct Extension {
    sender: MaliciousCotSender,
    receiver: MaliciousCotReceiver,
}

struct Silent {
    sender: SilentCotSender<MaliciousCotSender>,
    receiver: SilentCotReceiver<MaliciousCotReceiver>,
}

/// Checked OTs in both directions. *Secret*.
pub(crate) struct Checked {
    /// This party's choices.
    pub(crate) bits: BitVec,
    /// The keys of the peer's.
    pub(crate) keys: Zeroizing<Vec<Block>>,
    /// The MACs of this party's.
    pub(crate) macs: Zeroizing<Vec<Block>>,
    /// A random block of each party, this party's first. Nobody knew both before all OTs were fixed. Public.
    pub(crate) points: [Block; 2],
}

impl Ots {
    /// Begins with the extension, in a session of that name.
    ///
    /// *Errors*: [`OtError::WrongLength`] for secrets of another width.
    pub(crate) fn new(
        secrets: &Secrets,
        name: Block,
        rng: &mut (impl CryptoRng + ?Sized),
        delta: &Delta,
        (config, is_garbler): (Config, bool),
    ) -> Result<Self, OtError> {
        let sender = secrets.sender.session(name, rng, delta, config.width(), OT_CHECK)?;
        let receiver = secrets.receiver.session(name, config.width(), OT_CHECK)?;
        Ok(Ots { kind: Kind::Extension(Box::new(Extension { sender, receiver })), is_garbler })
    }

    /// Tells whether the next OTs are silent.
    pub(crate) fn are_silent(&self) -> bool {
        matches!(self.kind, Kind::Silent(_))
    }

    /// Makes the first silent OTs in both directions. The peer does the same at this moment.
    ///
    /// *Errors*: those of checked OTs; [`OtError::Ended`] after a call that failed.
    pub(crate) async fn begin_silent(&mut self, session: &mut Session) -> Result<(), OtError> {
        let Kind::Extension(extension) = std::mem::replace(&mut self.kind, Kind::Ended) else {
            return Err(OtError::Ended);
        };
        let Extension { sender, receiver } = *extension;
        let (channel, rng) = session.parts();
        let (sender, receiver) = if self.is_garbler {
            let sender = SilentCotSender::setup(channel, rng, sender, LPN).await?;
            (sender, SilentCotReceiver::setup(channel, rng, receiver, LPN).await?)
        } else {
            let receiver = SilentCotReceiver::setup(channel, rng, receiver, LPN).await?;
            (SilentCotSender::setup(channel, rng, sender, LPN).await?, receiver)
        };
        channel.flush().await?;
        self.kind = Kind::Silent(Box::new(Silent { sender, receiver }));
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
            Kind::Silent(silent) => silent.make(session, count, rooms, self.is_garbler).await,
            Kind::Ended => Err(OtError::Ended),
        }
    }
}

impl Extension {
    async fn make(
        &mut self,
        channel: &mut Channel,
        count: usize,
        [of_keys, of_macs]: [Zeroizing<Vec<Block>>; 2],
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
        Ok(Checked { bits, keys, macs, points: [point, their_point] })
    }
}

impl Silent {
    /// Bit 0 of these OTs' difference is set, and that of the evaluator's is not: so the garbler clears bit 0 of its MACs.
    async fn make(
        &mut self,
        session: &mut Session,
        count: usize,
        [of_keys, of_macs]: [Zeroizing<Vec<Block>>; 2],
        is_garbler: bool,
    ) -> Result<Checked, OtError> {
        let Silent { sender, receiver } = self;
        let (channel, rng) = session.parts();
        if is_garbler {
            sender.prepare(channel, count).await?;
            receiver.prepare(channel, count).await?;
        } else {
            receiver.prepare(channel, count).await?;
            sender.prepare(channel, count).await?;
        }
        // Points leave once both have all corrections and have checked them.
        let (point, mut theirs) = (Block::random(rng), [0; 16]);
        channel.exchange_bytes(&point.to_bytes(), &mut theirs).await?;
        let keys = sender.extend_into(channel, count, of_keys).await?;
        let clear = |macs: &mut [Block]| {
            if is_garbler {
                macs.iter_mut().for_each(|mac| *mac = mac.with_lsb(false));
            }
        };
        let (bits, macs) = receiver.extend_random_in_parts(channel, count, of_macs, clear).await?;
        Ok(Checked { bits, keys, macs, points: [point, Block::from_bytes(theirs)] })
    }
}
