//! The random OTs of a session: extended from a few, or in the form `al07` each with public keys, as published.

use garblet_ot::{
    CheckedCotReceiver, CheckedCotSender, Choices, RandomOtReceiver, RandomOtSender,
    pvw::{self, ReferenceString},
};
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use super::{
    EVALUATOR, Step,
    config::Ot,
    plan::{Plan, SIGMA},
};
use crate::{
    binding::{Place, SessionId},
    coin_toss::{self, Coins, First, Second},
    conduct::{Common, Conduct},
    error::ProtocolError,
    session::Session,
};

/// The garbler's end.
pub(super) enum Sender {
    Extension(Box<RandomOtSender<CheckedCotSender>>),
    Pvw(Box<ReferenceString>),
}

/// The evaluator's end.
pub(super) enum Receiver {
    Extension(Box<RandomOtReceiver<CheckedCotReceiver>>),
    Pvw(Box<ReferenceString>),
}

impl Sender {
    /// Base OTs, or the coins of the reference string.
    ///
    /// *Errors*: a receiver that is found to cheat; the connection's.
    pub(super) async fn setup(
        session: &mut Session,
        plan: &Plan,
        id: &SessionId,
        conduct: &Common<impl Conduct<Step>>,
    ) -> Result<Self, ProtocolError> {
        if plan.config().ot == Ot::Pvw {
            let mut commitment = [0; coin_toss::COMMITMENT_BYTES];
            session.channel().receive_bytes(&mut commitment).await?;
            let (second, mut share) = Second::answer(coins_place(id), commitment, session.rng());
            conduct.touch(Step::TossShare, 0, &mut share);
            session.channel().send_bytes(&share).await?;
            let mut opening = [0; coin_toss::OPENING_BYTES];
            session.channel().receive_bytes(&mut opening).await?;
            return Ok(Sender::Pvw(reference(second.finish(&opening)?)));
        }
        let (channel, rng) = session.parts();
        let delta = Delta::random(rng);
        let sender = CheckedCotSender::setup(channel, rng, &delta, plan.config().ot_width, SIGMA).await?;
        Ok(Sender::Extension(Box::new(RandomOtSender::new(sender))))
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
    /// As [`Sender::setup`]. The evaluator, who knows the coins first, may stop there, which says nothing.
    ///
    /// *Errors*: a sender that is found to cheat; the connection's.
    pub(super) async fn setup(
        session: &mut Session,
        plan: &Plan,
        id: &SessionId,
        conduct: &mut impl Conduct<Step>,
    ) -> Result<Self, ProtocolError> {
        if plan.config().ot == Ot::Pvw {
            let (first, mut commitment) = First::commit(coins_place(id), session.rng());
            conduct.touch(Step::TossCommitment, 0, &mut commitment);
            session.channel().send_bytes(&commitment).await?;
            let mut share = [0; coin_toss::SHARE_BYTES];
            session.channel().receive_bytes(&mut share).await?;
            let (coins, mut opening) = first.open(&share);
            conduct.touch(Step::TossOpening, 0, &mut opening);
            session.channel().send_bytes(&opening).await?;
            session.channel().flush().await?;
            return Ok(Receiver::Pvw(reference(coins)));
        }
        let (channel, rng) = session.parts();
        let receiver = CheckedCotReceiver::setup(channel, rng, plan.config().ot_width, SIGMA).await?;
        Ok(Receiver::Extension(Box::new(RandomOtReceiver::new(receiver))))
    }

    /// Random choices in `count` OTs, and the pad of each. *Unique*: `run`.
    ///
    /// *Errors*: as [`Receiver::setup`].
    pub(super) async fn extend(
        &mut self,
        session: &mut Session,
        run: &SessionId,
        count: usize,
    ) -> Result<(Choices, Zeroizing<Vec<Block>>), ProtocolError> {
        let (channel, rng) = session.parts();
        let (choices, pads) = match self {
            Receiver::Extension(receiver) => receiver.extend(channel, count).await?,
            Receiver::Pvw(reference) => {
                let choices = Choices::random(count, rng);
                let pads = pvw::receive(channel, reference, batch(run), &choices, rng).await?;
                (choices, pads)
            }
        };
        Ok((choices, pads))
    }
}

/// Where the coins of the reference string belong.
fn coins_place(id: &SessionId) -> Place {
    id.place(EVALUATOR, Step::TossCommitment as u8)
}

fn reference(coins: Coins) -> Box<ReferenceString> {
    let mut bytes = [0; 32];
    coins.into_stream().fill_bytes(&mut bytes);
    Box::new(ReferenceString::of_coins(&bytes))
}

/// What the OTs of a run are bound to.
fn batch(run: &SessionId) -> [u8; 32] {
    run.place(EVALUATOR, Step::InputChoices as u8).digest(b"PVW")
}
