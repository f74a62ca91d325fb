//! The results of runs.

use std::collections::BTreeMap;

use garblet_circuit::{Bits, Party};
use garblet_protocol::{PhaseCosts, ProtocolError, Security};

/// A run that ended without a result.
pub type Error = ProtocolError;

/// The results of a party, and what they cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The party.
    pub party: Party,
    /// The role that it had.
    pub role: &'static str,
    /// The values of the parameters that the link has decided.
    pub decided: BTreeMap<String, String>,
    /// The value of each program output; none if this party is not a recipient.
    pub outputs: Vec<Option<Bits>>,
    /// The cost of each phase.
    pub phases: PhaseCosts,
    /// The security that the run promises.
    pub security: Security,
}

/// The outcome of a run after which the parties have parted.
#[derive(Debug)]
pub struct Outcome {
    /// The report of what this party has learned and of the costs. It is final, whatever the peer did then: every check has passed, and what was taken
    /// from a store is spent.
    pub report: Report,
    /// The reason why the parties did not part in order, if they did not. A peer that has its own outputs and then breaks off costs this party
    /// nothing but the certainty that the peer has them.
    pub closing: Option<Error>,
}
