//! The reasons of a service to refuse somebody.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The reason for which a service does not begin what a caller's hello asks for. Nothing was computed, and nothing counts as a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The service has its maximum of running and waiting sessions.
    Busy,
    /// The caller has its maximum of sessions there.
    TooManyOfCaller,
    /// The service stops.
    Stopping,
    /// The service has no job that the caller's hello names, or none that the caller may run: which of the two is not told.
    UnknownJob,
    /// The job was run as often as it may be.
    UsedUp {
        /// The seconds until it may be run again; none if never.
        again_after: Option<u32>,
    },
    /// The service has no inputs for this run.
    NoData,
    /// A session of this name is running.
    SessionInUse,
    /// The session has no name, and a service tells sessions of several parties apart by their names.
    Nameless,
    /// The service refuses everybody: something of its own is wrong.
    Closed,
}

impl Refusal {
    /// A word for it in logs and counters.
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Busy => "busy",
            Refusal::TooManyOfCaller => "too-many-of-caller",
            Refusal::Stopping => "stopping",
            Refusal::UnknownJob => "unknown-job",
            Refusal::UsedUp { .. } => "used-up",
            Refusal::NoData => "no-data",
            Refusal::SessionInUse => "session-in-use",
            Refusal::Nameless => "nameless",
            Refusal::Closed => "closed",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Busy => "it has as many sessions as it may have at once",
            Refusal::TooManyOfCaller => "we have as many sessions there as we may have at once",
            Refusal::Stopping => "it is being stopped",
            Refusal::UnknownJob => "it has no such job for us, or we have named none",
            Refusal::UsedUp { again_after: None } => "the job was run as often as it ever may be",
            Refusal::UsedUp { again_after: Some(seconds) } => {
                return write!(f, "the job was run as often as it may be, until {seconds} s from now");
            }
            Refusal::NoData => "it has no inputs for this run",
            Refusal::SessionInUse => "a session of this name is running there",
            Refusal::Nameless => "it knows sessions of several parties by their names, and ours has none",
            Refusal::Closed => "it refuses everybody until its operator has mended something",
        })
    }
}
