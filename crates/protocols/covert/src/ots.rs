//! The random OTs of a session: from an extension, or in the form `al07` optionally public-key OTs, as published.

use garblet_ot::{
    BitVec, MaliciousCotReceiver, MaliciousCotSender, RotReceiver, RotSender,
    pvw::{self, ReferenceString},
};
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use super::{
    EVALUATOR, Step,
    config::Ot,
    plan::{Plan, SIGMA},
};
use garblet_protocol::{
    coin_toss::{Coins, Committer, Responder},
    conduct::{Common, Conduct},
    domain::{Domain, SessionId},
    error::ProtocolError,
    session::Session,
};

/// The garbler's end.
pub(super) enum Sender {
    Extension(Box<RotSender<MaliciousCotSender>>),
    Pvw(Box<ReferenceString>),
}

/// The evaluator's end.
pub(super) enum Receiver {
    Extension(Box<RotReceiver<MaliciousCotReceiver>>),
    Pvw(Box<ReferenceString>),
}

impl Sender {
    /// Base OTs, or the coins of the reference string.
    ///
    /// *Errors*: a receiver caught cheating; the connection's.
    pub(super) async fn setup(
        session: &mut Session,
        plan: &Plan,
        id: &SessionId,
        conduct: &Common<impl Conduct<Step>>,
    ) -> Result<Self, ProtocolError> {
        if plan.config().ot == Ot::Pvw {
            let coins = Responder::toss(session, coins_domain(id), Step::TossShare, conduct).await?;
            return Ok(Sender::Pvw(reference(coins)));
        }
        let (channel, rng) = session.parts();
        let delta = Delta::random(rng);
        let sender = MaliciousCotSender::setup(channel, rng, &delta, plan.config().ot_width, SIGMA).await?;
        Ok(Sender::Extension(Box::new(RotSender::new(sender))))
    }

    /// Both pads of each of `count` OTs. *Unique*: `run`.
    ///
    /// *Errors*: as [`Sender::setup`].
    pub(super) async fn extend(
        &mut self,
        session: &mut Session,
        run: &SessionId,
        count: usize,
    ) -> Result<Zeroizing<Vec<[Block; 2]>>, ProtocolError> {
        let (channel, rng) = session.parts();
        Ok(match self {
            Sender::Extension(sender) => sender.extend(channel, count).await?,
            Sender::Pvw(reference) => pvw::send(channel, reference, batch(run), count, rng).await?,
        })
    }
}

impl Receiver {
    /// As [`Sender::setup`]. The evaluator, which knows the coins first, may stop there, which proves nothing.
    ///
    /// *Errors*: a sender caught cheating; the connection's.
    pub(super) async fn setup(
        session: &mut Session,
        plan: &Plan,
        id: &SessionId,
        conduct: &mut impl Conduct<Step>,
    ) -> Result<Self, ProtocolError> {
        if plan.config().ot == Ot::Pvw {
            let steps = [Step::TossCommitment, Step::TossOpening];
            let coins = Committer::toss(session, coins_domain(id), steps, conduct).await?;
            return Ok(Receiver::Pvw(reference(coins)));
        }
        let (channel, rng) = session.parts();
        let receiver = MaliciousCotReceiver::setup(channel, rng, plan.config().ot_width, SIGMA).await?;
        Ok(Receiver::Extension(Box::new(RotReceiver::new(receiver))))
    }

    /// Random choices in `count` OTs, and the pad of each. *Unique*: `run`.
    ///
    /// *Errors*: as [`Receiver::setup`].
    pub(super) async fn extend(
        &mut self,
        session: &mut Session,
        run: &SessionId,
        count: usize,
    ) -> Result<(BitVec, Zeroizing<Vec<Block>>), ProtocolError> {
        let (channel, rng) = session.parts();
        let (choices, pads) = match self {
            Receiver::Extension(receiver) => receiver.extend(channel, count).await?,
            Receiver::Pvw(reference) => {
                let choices = BitVec::random(count, rng);
                let pads = pvw::receive(channel, reference, batch(run), &choices, rng).await?;
                (choices, pads)
            }
        };
        Ok((choices, pads))
    }
}

/// The domain of the coins of the reference string.
fn coins_domain(id: &SessionId) -> Domain {
    id.domain(EVALUATOR, Step::TossCommitment as u8)
}

fn reference(coins: Coins) -> Box<ReferenceString> {
    let mut bytes = [0; 32];
    coins.into_stream().fill_bytes(&mut bytes);
    Box::new(ReferenceString::of_coins(&bytes))
}

/// The identifier of a run's OTs.
fn batch(run: &SessionId) -> [u8; 32] {
    run.domain(EVALUATOR, Step::InputChoices as u8).digest(b"PVW")
}
