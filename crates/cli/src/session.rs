//! One party's run from address to report: the only place that calls the library's protocols.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use garblet::{Bits, Config, Error, Party, Peer, Program, Report, Security};
use garblet_circuit::InputId;
use garblet_net::{Channel, DEFAULT_TIMEOUT, Listener, SimulatedLink, Tls, connect};
use garblet_ot::OtError;
use serde::{Deserialize, Serialize};

use crate::{
    args::{Param, ProtocolArgs},
    failure::Failure,
    progress::Bar,
    report::{PartyPart, peak_rss_bytes},
};

/// How to compute, as it can be handed to another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) protocol: String,
    pub(crate) params: Vec<Param>,
    pub(crate) link: Option<String>,
    pub(crate) timeout: Duration,
}

/// Where the parties meet.
pub(crate) enum Meeting {
    /// This party waits there.
    Listen(String),
    /// This party goes there.
    Connect(String),
}

/// One party's part in a run.
pub(crate) struct Task<'a> {
    pub(crate) program: Program,
    pub(crate) party: Party,
    pub(crate) inputs: Vec<(InputId, Bits)>,
    pub(crate) settings: &'a Settings,
    pub(crate) meeting: Meeting,
    /// None is plain TCP.
    pub(crate) tls: Option<Tls>,
    /// Hears where this party listens, with the port that the system chose.
    pub(crate) listening: &'a dyn Fn(SocketAddr) -> Result<(), Failure>,
    pub(crate) progress: bool,
}

/// What came of it.
pub(crate) struct Outcome {
    /// None where this party is no recipient.
    pub(crate) outputs: Vec<Option<Bits>>,
    pub(crate) security: Security,
    pub(crate) part: PartyPart,
}

impl Settings {
    /// The settings of a call.
    ///
    /// *Errors*: protocols, adversaries and parameters that do not exist.
    pub(crate) fn new(args: &ProtocolArgs) -> Result<Self, Failure> {
        let settings = Settings {
            protocol: args.protocol.clone(),
            params: args.params.clone(),
            link: args.link.map(|l| l.to_string()),
            timeout: args.timeout.0,
        };
        let protocol = settings.config()?.protocol;
        if args.adversary != protocol.adversary() {
            let (got, expected) = (&args.adversary, protocol.adversary());
            return Err(Failure::call(format!("--adversary {got}: {protocol} withstands {expected} adversaries")));
        }
        Ok(settings)
    }

    /// The default protocol with its default parameters.
    pub(crate) fn standard(link: Option<SimulatedLink>) -> Self {
        Settings {
            protocol: Config::default().protocol.to_string(),
            params: Vec::new(),
            link: link.map(|l| l.to_string()),
            timeout: DEFAULT_TIMEOUT,
        }
    }

    /// The protocol and its parameters.
    ///
    /// *Errors*: as [`Settings::new`].
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let protocol = self.protocol.parse().map_err(|e| Failure::call(format!("--protocol: {e}")))?;
        let mut config = Config { protocol, ..Config::default() };
        for Param { name, value } in &self.params {
            config.set(name, value).map_err(|e| Failure::call(format!("--param {name}={value}: {e}")))?;
        }
        Ok(config)
    }

    /// How many parties there are.
    ///
    /// *Errors*: a number that the protocol or the program does not have.
    pub(crate) fn parties(&self, program: &Program, asked: Option<u16>) -> Result<u16, Failure> {
        let (needed, protocol) = (program.party_count(), &self.protocol);
        if needed != 2 {
            return Err(Failure::call(format!("{protocol} has 2 parties, `{}` needs {needed}", program.name())));
        }
        match asked {
            Some(other) if other != 2 => {
                Err(Failure::call(format!("--parties {other}: expected 2, which is what {protocol} has")))
            }
            _ => Ok(2),
        }
    }

    fn options(&self, tls: Option<Tls>) -> Result<garblet_net::Options, Failure> {
        let link = self.link.as_deref().map(str::parse::<SimulatedLink>).transpose();
        let link = link.map_err(Failure::call)?.unwrap_or_default();
        Ok(garblet_net::Options { patience: self.timeout, timeout: self.timeout, tls, link })
    }
}

/// Meets the peer and computes.
///
/// *Errors*: whatever ends the run without a result.
pub(crate) fn compute(task: Task<'_>) -> Result<Outcome, Failure> {
    // One thread: garbling and evaluating keep one core busy, and the peer's process has its own.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|e| Failure::no_result(format!("the runtime cannot be started: {e}")))?;
    runtime.block_on(async {
        let channel = meet(&task).await?;
        let report = converse(task, channel).await?;
        let part = PartyPart {
            party: report.party.0,
            role: report.role.into(),
            peak_rss_bytes: peak_rss_bytes(),
            phases: report.phases,
        };
        Ok(Outcome { outputs: report.outputs, security: report.security, part })
    })
}

async fn meet(task: &Task<'_>) -> Result<Channel, Failure> {
    let options = task.settings.options(task.tls.clone())?;
    match &task.meeting {
        Meeting::Listen(address) => {
            let listener = Listener::bind(address).await.map_err(|e| Failure::net(&e))?;
            (task.listening)(listener.address())?;
            listener.accept(&options).await
        }
        Meeting::Connect(address) => connect(address, &options).await,
    }
    .map_err(|e| Failure::net(&e))
}

async fn converse(task: Task<'_>, channel: Channel) -> Result<Report, Failure> {
    let config = task.settings.config()?;
    let bar = Bar::new(task.progress);
    let program = Arc::new(task.program);
    let inputs: Vec<Bits> = task.inputs.into_iter().map(|(_, bits)| bits).collect();
    let peer = Peer::open(program, task.party, channel, config, &mut rand::rng(), Box::new(bar)).await;
    let mut peer = peer.map_err(|e| explain(&e))?;
    let done = async {
        let prepared = peer.prepare().await?;
        peer.online(prepared, &inputs).await
    };
    match done.await {
        Ok(report) => {
            peer.close().await.map_err(|e| explain(&e))?;
            Ok(report)
        }
        Err(error) => {
            peer.abort().await;
            Err(explain(&error))
        }
    }
}

fn explain(error: &Error) -> Failure {
    match error {
        Error::Net(error) | Error::Ot(OtError::Net(error)) => Failure::net(error),
        Error::Unsupported { .. } | Error::Input { .. } | Error::NoSuchParty { .. } => Failure::call(error),
        _ => Failure::no_result(error),
    }
}
