//! The configuration of a service as it is written: TOML.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use garblet_console::args::Time;
use serde::Deserialize;
use toml::Spanned;

/// A configuration file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) listen: String,
    #[serde(default)]
    pub(super) insecure_plain_tcp: bool,
    pub(super) identity: Option<PathBuf>,
    pub(super) trust: Option<PathBuf>,
    /// The folder of the job files.
    pub(super) jobs: PathBuf,
    /// The folder of what the service counts.
    pub(super) state: PathBuf,
    /// The key under which that is kept.
    pub(super) key: Option<PathBuf>,
    /// The log of receipts; in the folder of the state if it is not said.
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
#[serde(deny_unknown_fields, default)]
pub(super) struct Log {
    pub(super) format: LogFormat,
    pub(super) level: Level,
}

/// The form of the lines of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// The least that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
}

/// The limits of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    /// Sessions at once.
    pub(super) sessions: usize,
    /// Callers that wait until one of them has ended.
    pub(super) waiting: usize,
    /// Sessions of several parties that have not all come.
    pub(super) gathering: usize,
    /// Sessions of one caller, those that wait included.
    pub(super) per_peer: usize,
    /// Connections at once of those who have not said yet what they want.
    pub(super) unproven: usize,
    /// Megabytes of memory of this process from which no session begins.
    pub(super) memory_mb: Option<u64>,
    /// The longest session.
    pub(super) session: Long,
    /// The longest time for which a caller waits.
    pub(super) wait: Long,
    /// The time for which a peer may do nothing.
    pub(super) timeout: Long,
    /// The time for sessions to end when the service is stopped.
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

/// A length of time, as options have it.
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
    /// The name of its file in the folder of jobs, or its digest.
    pub(super) job: String,
    /// Names in the file of trusted peers; left out with plain TCP.
    #[serde(default)]
    pub(super) peers: Vec<String>,
    /// The party that the service is; needed with plain TCP alone.
    pub(super) party: Option<u16>,
    /// The name under which runs are counted; the job's digest, unless several jobs share one.
    pub(super) budget: Option<String>,
    #[serde(default)]
    pub(super) often: Often,
    pub(super) inputs: Option<Inputs>,
    pub(super) results: Option<Results>,
    /// The addresses of all parties, for a protocol of several.
    pub(super) addresses: Option<PathBuf>,
    pub(super) store: Option<PathBuf>,
    /// The amounts to which the store is filled, by kind; or the library file that says them.
    #[serde(default)]
    pub(super) stock: BTreeMap<String, u64>,
    pub(super) library: Option<PathBuf>,
    pub(super) refill: Option<Refill>,
}

/// The way in which the service itself sees that a store is full.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refill {
    /// The address of the peer.
    pub(super) at: String,
    /// The low-water mark: the percentage of the stock below which a kind is refilled.
    #[serde(default = "half")]
    pub(super) below: u8,
    /// The time between looks.
    #[serde(default = "a_minute")]
    pub(super) every: Long,
}

fn half() -> u8 {
    50
}

fn a_minute() -> Long {
    Long(Duration::from_secs(60))
}

/// The limits of how often runs may begin. All that are given hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Often {
    pub(super) per_day: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) peer_per_day: Option<u64>,
    pub(super) peer_total: Option<u64>,
}

/// The place where the service's inputs of a run come from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    /// The same for all runs.
    pub(super) file: Option<PathBuf>,
    /// A folder with a file for each peer or job.
    pub(super) folder: Option<PathBuf>,
    #[serde(default)]
    pub(super) named_by: NamedBy,
    pub(super) exec: Option<Vec<String>>,
    /// The time that the command may take.
    pub(super) time: Option<Long>,
    /// Answers that wait for the command, or for a file that has just changed, leave after a whole number of these.
    #[serde(default = "a_second")]
    pub(super) beat: Long,
    /// Set if the rows of lists are sorted by key, where the program relies on their order.
    #[serde(default)]
    pub(super) sort: bool,
    /// Set if also the values of rows with the same key are added up.
    #[serde(default)]
    pub(super) sum_by_key: bool,
}

fn a_second() -> Long {
    Long(Duration::from_secs(1))
}

/// The name of a file in a folder of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NamedBy {
    #[default]
    Peer,
    Job,
}

/// The place where results go.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Results {
    pub(super) folder: Option<PathBuf>,
    pub(super) exec: Option<Vec<String>>,
    /// The time that the command may take.
    pub(super) time: Option<Long>,
}
