//! A service's reasons for refusing a caller.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A service's reason for refusing the request in a caller's hello. Nothing was computed, and nothing counts as a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The service has reached its limit of running and waiting sessions.
    Busy,
    /// The caller has reached its limit of sessions.
    TooManyOfCaller,
    /// The service is stopping.
    Stopping,
    /// The service does not have the job that the caller names, or the caller may not run it; the answer does not tell which.
    UnknownJob,
    /// The job has used up its runs.
    UsedUp {
        /// The seconds until it may run again; `None` if never.
        again_after: Option<u32>,
    },
    /// The service lacks inputs or prepared material for this run.
    NoData,
    /// A session of this name is running.
    SessionInUse,
    /// The session has no name, by which a service distinguishes sessions of several parties.
    Nameless,
    /// The service refuses everybody because of a problem of its own.
    Closed,
}

impl Refusal {
    /// The word for it in logs and counters.
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
            Refusal::Busy => "it has reached its limit of sessions",
            Refusal::TooManyOfCaller => "we have reached its limit of sessions for one caller",
            Refusal::Stopping => "it is stopping",
            Refusal::UnknownJob => "it has no such job for us, or we named no job",
            Refusal::UsedUp { again_after: None } => "the job has used up all its runs",
            Refusal::UsedUp { again_after: Some(seconds) } => {
                let (minutes, used_up) = (seconds.div_ceil(60), "the job has used up its runs; more are allowed in");
                return match (seconds, minutes) {
                    (..120, _) => write!(f, "{used_up} {seconds} s"),
                    (_, ..120) => write!(f, "{used_up} {minutes} min"),
                    _ => write!(f, "{used_up} {} h {} min", minutes / 60, minutes % 60),
                };
            }
            Refusal::NoData => "it lacks inputs or prepared material for this run",
            Refusal::SessionInUse => "a session of this name is running there",
            Refusal::Nameless => "it tells sessions of several parties apart by name, and ours has no name",
            Refusal::Closed => "it refuses everybody until its operator fixes a problem",
        })
    }
}
