//! Phases, and what each costs a party.

use garblet_circuit::Party;
use garblet_net::Traffic;
use serde::{Deserialize, Serialize};
use web_time::Instant;

/// The phases that every protocol has, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Needs only the peers.
    Setup,
    /// Needs sizes.
    Prepare,
    /// Needs the function.
    Build,
    /// Needs the inputs.
    Online,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Phase; 4] = [Phase::Setup, Phase::Prepare, Phase::Build, Phase::Online];

    /// The name in results and messages.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Setup => "setup",
            Phase::Prepare => "prepare",
            Phase::Build => "build",
            Phase::Online => "online",
        }
    }
}

/// The communication cost of a phase for one party: payload only, without framing and encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Communication {
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    /// The number of times that the party waited for bytes after it had sent some since its last wait.
    pub rounds: u64,
}

impl Communication {
    /// The cost for `party` if each of `parties` parties sends `bytes` bytes to each other, in `rounds` rounds.
    pub fn among(parties: u16, party: Party, one_way: impl Fn(Party, Party) -> u64, rounds: u64) -> Self {
        let peers = || (0..parties).map(Party).filter(|peer| *peer != party);
        Communication {
            bytes_sent: peers().map(|peer| one_way(party, peer)).sum(),
            bytes_received: peers().map(|peer| one_way(peer, party)).sum(),
            rounds,
        }
    }

    fn of(traffic: Traffic) -> Self {
        let Traffic { bytes_sent, bytes_received, rounds, .. } = traffic;
        Communication { bytes_sent, bytes_received, rounds }
    }
}

impl std::ops::AddAssign for Communication {
    fn add_assign(&mut self, other: Self) {
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.rounds += other.rounds;
    }
}

/// The cost of a phase for one party.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseCost {
    /// Wall-clock time, including waiting.
    pub seconds: f64,
    /// Bytes and rounds.
    #[serde(flatten)]
    pub communication: Communication,
}

/// The cost of every phase of a run, for one party.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseCosts {
    /// Cost of [`Phase::Setup`].
    pub setup: PhaseCost,
    /// Cost of [`Phase::Prepare`].
    pub prepare: PhaseCost,
    /// Cost of [`Phase::Build`].
    pub build: PhaseCost,
    /// Cost of [`Phase::Online`].
    pub online: PhaseCost,
}

impl PhaseCosts {
    /// The cost of one phase.
    pub fn of(&self, phase: Phase) -> PhaseCost {
        match phase {
            Phase::Setup => self.setup,
            Phase::Prepare => self.prepare,
            Phase::Build => self.build,
            Phase::Online => self.online,
        }
    }

    fn of_mut(&mut self, phase: Phase) -> &mut PhaseCost {
        match phase {
            Phase::Setup => &mut self.setup,
            Phase::Prepare => &mut self.prepare,
            Phase::Build => &mut self.build,
            Phase::Online => &mut self.online,
        }
    }
}

/// Attributes time and traffic to phases.
pub struct Meter {
    phase: Phase,
    since: Instant,
    traffic: Traffic,
    costs: PhaseCosts,
}

impl Meter {
    pub(crate) fn start(traffic: Traffic) -> Self {
        Meter { phase: Phase::Setup, since: Instant::now(), traffic, costs: PhaseCosts::default() }
    }

    /// Ends the current phase and begins another.
    pub fn enter(&mut self, phase: Phase, traffic: Traffic) {
        let now = Instant::now();
        let cost = self.costs.of_mut(self.phase);
        cost.seconds += (now - self.since).as_secs_f64();
        cost.communication += Communication::of(traffic - self.traffic);
        (self.phase, self.since, self.traffic) = (phase, now, traffic);
    }

    /// Counts all that follows to another phase.
    pub(crate) fn skip_to(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// Adds the counts of another meter, which ran instead of this one since its last phase began.
    pub(crate) fn absorb(&mut self, other: Meter, traffic: Traffic) {
        for phase in Phase::ALL {
            let (cost, more) = (self.costs.of_mut(phase), other.costs.of(phase));
            cost.seconds += more.seconds;
            cost.communication += more.communication;
        }
        (self.phase, self.since, self.traffic) = (other.phase, other.since, traffic);
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    pub(crate) fn costs(&self) -> PhaseCosts {
        self.costs
    }
}
