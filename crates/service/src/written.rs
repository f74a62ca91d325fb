//! A service's configuration file: TOML.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use garblet_console::args::Time;
use serde::Deserialize;
use toml::Spanned;

/// A configuration file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    #[serde(rename = "format")]
    _format: Option<u32>,
    pub(super) listen: String,
    #[serde(default)]
    pub(super) insecure_plain_tcp: bool,
    pub(super) identity: Option<PathBuf>,
    pub(super) trust: Option<PathBuf>,
    /// The folder of the job files.
    pub(super) jobs: PathBuf,
    /// The folder of the service's counters.
    pub(super) state: PathBuf,
    /// The key that encrypts the counters.
    pub(super) key: Option<PathBuf>,
    /// The receipt log; by default in the state folder.
    pub(super) receipts: Option<PathBuf>,
    pub(super) metrics: Option<String>,
    #[serde(default)]
    pub(super) log: Log,
    #[serde(default)]
    pub(super) limits: Limits,
    #[serde(default, rename = "rule")]
    pub(super) rules: Vec<Spanned<WrittenRule>>,
}

/// The log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table such as { format = \"json\" }")]
pub(super) struct Log {
    pub(super) format: LogFormat,
    pub(super) level: Level,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// The lowest level that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
}

/// A service's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    /// Concurrent sessions.
    pub(super) sessions: usize,
    /// Waiting callers.
    pub(super) waiting: usize,
    /// Sessions waiting for some of their parties.
    pub(super) gathering: usize,
    /// Sessions of one caller, waiting ones included.
    pub(super) per_peer: usize,
    /// Concurrent connections that have not sent a hello yet.
    pub(super) unproven: usize,
    /// Memory of this process, in megabytes, at which no new session starts.
    pub(super) memory_mb: Option<u64>,
    /// The longest time of a session.
    pub(super) session: Long,
    /// The longest time for which a caller waits.
    pub(super) wait: Long,
    /// The longest time without progress of a peer.
    pub(super) timeout: Long,
    /// The time for sessions to end when the service stops.
    pub(super) stop: Long,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            sessions: 16,
            waiting: 64,
            gathering: 64,
            per_peer: 8,
            unproven: 256,
            memory_mb: None,
            session: Long(Duration::from_secs(600)),
            wait: Long(Duration::from_secs(30)),
            timeout: Long(Duration::from_secs(60)),
            stop: Long(Duration::from_secs(30)),
        }
    }
}

/// A duration, in the format of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Long(pub(super) Duration);

impl TryFrom<String> for Long {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(|Time(time)| Long(time))
    }
}

/// A rule: who may run a job, how often, with which data.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenRule {
    /// The name of the job's file in the folder of jobs, or its digest.
    pub(super) job: String,
    /// Names from the file of trusted peers; omitted with plain TCP.
    #[serde(default)]
    pub(super) peers: Vec<String>,
    /// The party that the service plays; needed only with plain TCP.
    pub(super) party: Option<u16>,
    /// The name under which runs are counted, for jobs that share it; by default the job's digest.
    pub(super) budget: Option<String>,
    #[serde(default)]
    pub(super) often: Often,
    pub(super) inputs: Option<Inputs>,
    pub(super) results: Option<Results>,
    /// The addresses of all parties, for a protocol with several.
    pub(super) addresses: Option<PathBuf>,
    pub(super) store: Option<PathBuf>,
    /// The target amounts of the store, by kind, or a library file that lists them.
    #[serde(default)]
    pub(super) stock: BTreeMap<String, u64>,
    pub(super) library: Option<PathBuf>,
    pub(super) refill: Option<Refill>,
}

/// The settings by which the service refills a store.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refill {
    /// The address of the peer; those of several parties are in their own file.
    pub(super) at: Option<String>,
    /// The low-water mark: the percentage below which a kind is refilled.
    #[serde(default = "half")]
    pub(super) below: u8,
    /// The time between checks.
    #[serde(default = "a_minute")]
    pub(super) every: Long,
}

fn half() -> u8 {
    50
}

fn a_minute() -> Long {
    Long(Duration::from_secs(60))
}

/// The limits on the number of runs. All given ones apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Often {
    pub(super) per_day: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) peer_per_day: Option<u64>,
    pub(super) peer_total: Option<u64>,
}

/// The source of the service's inputs for a run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    /// One file for all runs.
    pub(super) file: Option<PathBuf>,
    /// A folder with one file per peer or job.
    pub(super) folder: Option<PathBuf>,
    #[serde(default)]
    pub(super) named_by: NamedBy,
    pub(super) exec: Option<Vec<String>>,
    /// The time that the command may take.
    pub(super) time: Option<Long>,
    /// Answers that wait for the command, or for a file that has just changed, leave after a whole number of beats.
    #[serde(default = "a_second")]
    pub(super) beat: Long,
    /// Sorts the rows of lists by key, where the program relies on their order.
    #[serde(default)]
    pub(super) sort: bool,
    /// Also adds up the values of rows with the same key.
    #[serde(default)]
    pub(super) sum_by_key: bool,
}

fn a_second() -> Long {
    Long(Duration::from_secs(1))
}

/// The choice of file names in a folder of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NamedBy {
    #[default]
    Peer,
    Job,
}

/// The destination of results.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Results {
    pub(super) folder: Option<PathBuf>,
    pub(super) exec: Option<Vec<String>>,
    /// The time that the command may take.
    pub(super) time: Option<Long>,
}
