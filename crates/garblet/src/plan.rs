//! A program made ready for a protocol, and the cost of a run in bytes and rounds, by formula.

use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_net::{JobTerms, SimulatedLink};
use garblet_protocol::{Communication, Phase, protocol::Precision, stock::SavedValues};

use crate::{choice::Alternative, config::Config, erased::AnyPlan, registry::Protocol, report::Error, stock::Stock};

/// A program made ready for a protocol, its parameters and a number of parties, for any number of sessions.
#[derive(Clone)]
pub struct Plan {
    protocol: Protocol,
    parties: u16,
    pub(crate) plan: Arc<dyn AnyPlan>,
}

impl Plan {
    /// Makes a program ready.
    ///
    /// *Errors*: a program or a number of parties that the protocol cannot run.
    pub fn new(program: impl Into<Arc<Program>>, parties: u16, config: &Config) -> Result<Self, Error> {
        Plan::saving(program, parties, config, SavedValues::default())
    }

    /// The same for runs that take values from stores, or leave them there.
    ///
    /// *Errors*: also a protocol that keeps no values; inputs that the program does not have.
    pub fn saving(
        program: impl Into<Arc<Program>>,
        parties: u16,
        config: &Config,
        saved: SavedValues,
    ) -> Result<Self, Error> {
        let protocol = config.protocol();
        let plan = (protocol.0.plan)(program.into(), parties, config.typed(), saved, config.wish())?;
        Ok(Plan { protocol, parties, plan })
    }

    /// The same under a job: all parties must have agreed on the same one, which each says in its hello.
    #[must_use]
    pub fn under(self, job: JobTerms) -> Self {
        Plan { plan: self.plan.under(job), ..self }
    }

    /// The program as it runs, whose outputs a report has: one that keeps outputs, and may panic, has one more, see
    /// [`SavedValues::program`].
    pub fn program(&self) -> &Arc<Program> {
        self.plan.program()
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// Checks that a store holds enough for a run, as far as one party can know: two stores are compared only when their owners meet. A run that makes what
    /// the store lacks needs no such check.
    ///
    /// *Errors*: [`NotPrepared`](crate::NotPrepared), with what is missing; a store that was given up, or is of another protocol.
    pub fn check_stock(&self, stock: &Stock) -> Result<(), Error> {
        self.plan.check_stock(stock)
    }

    /// The ways to run under parameters that the link decides, if all parties tell what this one tells; none if it decides nothing.
    pub fn alternatives(&self) -> Vec<Alternative> {
        self.plan.alternatives()
    }

    /// The most bytes that a party receives in a phase, whatever the link decides. `None` if that depends on what stores have.
    pub fn most_received(&self, party: Party, phase: Phase) -> Option<u64> {
        self.plan.most_received(party, phase)
    }

    /// Bytes and rounds of each phase of one run, under the alternative that would be taken.
    ///
    /// *Errors*: a program for which stores cannot hold enough.
    pub fn predict(&self) -> Result<Prediction, Error> {
        let exact = self.protocol.precision() == Precision::Exact;
        Ok(Prediction { parties: self.plan.costs()?, exact, together: self.protocol.is_mesh() })
    }
}

/// The cost of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// The cost of each phase for each party, by [`Phase`] as a number. `None` if that depends on what stores have.
    pub parties: Vec<[Option<Communication>; 4]>,
    /// Set if every run costs the same; if not, [`Protocol::precision`] says why.
    pub exact: bool,
    /// Set if parties wait for one another at the same time, not in turn.
    together: bool,
}

impl Prediction {
    /// The cost of a phase for a party; as [`Prediction::parties`].
    pub fn cost(&self, party: Party, phase: Phase) -> Option<Communication> {
        self.parties.get(usize::from(party.0)).and_then(|phases| phases[phase as usize])
    }

    /// The bytes that all parties send in all phases that are known.
    pub fn bytes(&self) -> u64 {
        self.parties.iter().flatten().flatten().map(|cost| cost.bytes_sent).sum()
    }

    /// The time for which a phase's messages are in transit if every two parties have such a link, in seconds: one latency for each
    /// round (of both parties if there are two, who wait in turn; otherwise all wait together), and the time of the bytes of the
    /// direction with most. The parties' computing, and waits that are not rounds, come on top.
    pub fn link_seconds(&self, phase: Phase, link: SimulatedLink) -> Option<f64> {
        let costs: Option<Vec<Communication>> = self.parties.iter().map(|party| party[phase as usize]).collect();
        let costs = costs?;
        let peers = costs.len().saturating_sub(1).max(1) as u64;
        let rounds = costs.iter().map(|cost| cost.rounds);
        let moves = if self.together { rounds.max().unwrap_or_default() } else { rounds.sum() };
        let bytes = costs.iter().map(|cost| cost.bytes_sent.max(cost.bytes_received) / peers).max().unwrap_or_default();
        let carried = link.bits_per_second.map_or(0.0, |rate| 8.0 * bytes as f64 / rate);
        Some(moves as f64 * link.latency.as_secs_f64() + carried)
    }
}
