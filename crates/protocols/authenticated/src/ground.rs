//! The state that both parties share: differences, OTs in both directions, and the names of everything.

use garblet_circuit::Party;
use garblet_primitives::{Block, Delta};
use garblet_protocol::{
    conduct::Conduct,
    domain::{Domain, SessionId},
    error::ProtocolError,
    session::Session,
};

use crate::{
    EVALUATOR, GARBLER, NAME, Step,
    config::Config,
    ots::Ots,
    place::Place,
    secrets::{OT_CHECK, Secrets, in_ots},
    shares::Shares,
    stock::store::Stock,
};

/// The state of a session that both parties share.
pub struct Ground<C> {
    pub(crate) party: Party,
    /// This party's difference in OTs.
    pub(crate) in_ots: Delta,
    /// The same with bit 0 set, from which shares are made.
    pub(crate) delta: Delta,
    pub(crate) ots: Ots,
    id: SessionId,
    /// Batches, messages that open masks, and runs so far.
    pub(crate) batches: u64,
    pub(crate) openings: u64,
    pub(crate) runs: u64,
    /// The probability that the peer has an insecure triple among all triples made with these differences.
    pub(crate) insecure: f64,
    pub(crate) stock: Option<Stock>,
    /// Set while a batch is being made, and forever once a batch or a check of the peer failed: these differences are never used again, since the peer may have
    /// guessed bits of them.
    pub(crate) over: bool,
    /// The memory of the last batch, reused by the next: freeing and allocating it again would take as long as filling it.
    pub(crate) room: Shares,
    pub(crate) conduct: C,
}

impl<C: Conduct<Step>> Ground<C> {
    /// Begins a session from secrets that both parties know by the same name.
    ///
    /// *Errors*: secrets for another width of OTs.
    pub(crate) fn new(
        session: &mut Session,
        secrets: &Secrets,
        party: Party,
        config: Config,
        id: SessionId,
        conduct: C,
    ) -> Result<Self, ProtocolError> {
        let in_ots = in_ots(secrets.delta);
        let name = Block::from_digest(&id.domain(GARBLER, Place::Streams as u8).digest(b""));
        let sender = secrets.sender.session(name, session.rng(), &in_ots, config.width(), OT_CHECK)?;
        let receiver = secrets.receiver.session(name, config.width(), OT_CHECK)?;
        let ots = Ots::new(sender, receiver, [party, other(party)]);
        let delta = Delta::new(secrets.delta);
        Ok(Ground {
            party,
            in_ots,
            delta,
            ots,
            id,
            batches: 0,
            openings: 0,
            runs: 0,
            insecure: 0.0,
            stock: None,
            over: false,
            room: Shares::default(),
            conduct,
        })
    }

    /// Agrees on a name with the peer, and begins a session.
    ///
    /// *Cost*: 32 bytes each way, one round. *Errors*: the connection's.
    pub(crate) async fn agree(
        session: &mut Session,
        secrets: &Secrets,
        party: Party,
        config: Config,
        conduct: C,
    ) -> Result<Self, ProtocolError> {
        let (channel, rng) = session.parts();
        let id = SessionId::agree(channel, rng, NAME, [0; 32], party).await?;
        Ground::new(session, secrets, party, config, id, conduct)
    }

    /// The peer.
    pub(crate) fn peer(&self) -> Party {
        other(self.party)
    }

    /// Refuses to continue after a batch failed or the peer was caught cheating.
    ///
    /// *Errors*: [`ProtocolError::Over`].
    pub(crate) fn check_sound(&self) -> Result<(), ProtocolError> {
        if self.over { Err(ProtocolError::Over) } else { Ok(()) }
    }

    /// The number of the next run.
    pub(crate) fn next_run(&mut self) -> u64 {
        self.runs += 1;
        self.runs - 1
    }

    /// The domain of a party's values at a place, with a number.
    pub(crate) fn domain(&self, party: Party, place: Place, number: u64) -> Domain {
        self.id.domain(party, place as u8).at(number)
    }

    /// Sends and receives at the same time, after the conduct has seen the message.
    ///
    /// *Errors*: the connection's.
    pub(crate) async fn exchange(
        &mut self,
        session: &mut Session,
        step: Step,
        outgoing: &mut [u8],
        incoming: &mut [u8],
    ) -> Result<(), ProtocolError> {
        self.conduct.touch(step, 0, outgoing);
        Ok(session.channel().exchange_bytes(outgoing, incoming).await?)
    }

    /// Sends a message, after the conduct has seen it.
    ///
    /// *Errors*: the connection's.
    pub(crate) async fn send(
        &mut self,
        session: &mut Session,
        step: Step,
        bytes: &mut [u8],
    ) -> Result<(), ProtocolError> {
        self.conduct.touch(step, 0, bytes);
        Ok(session.channel().send_bytes(bytes).await?)
    }
}

fn other(party: Party) -> Party {
    if party == GARBLER { EVALUATOR } else { GARBLER }
}
