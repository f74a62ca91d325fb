//! One party's run from address to report: the only place that calls the library's protocols.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use garblet::{
    Adversary, AnyPeer, Bits, Config, Error, Filled, MeshPeer, Party, Peer, Program, Protocol, Report, Security,
    Supply, components::NotPrepared, store::Store,
};
use garblet_circuit::InputId;
use garblet_net::{
    Channel, DEFAULT_TIMEOUT, Fingerprint, Listener, Mesh, OnRefused, PeersFile, SimulatedLink, Tls, connect,
};
use serde::{Deserialize, Serialize};

use crate::{
    args::{Param, ProtocolArgs},
    cpu::{CpuBar, CpuClock, CpuSeconds},
    failure::Failure,
    output::tell,
    progress::Bar,
    report::{PartyPart, peak_rss_bytes},
    store::store_failure,
    supply::{Folder, Source},
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
pub(crate) enum Meeting<'a> {
    /// This party waits there.
    Listen(String),
    /// This party goes there.
    Connect(String),
    /// Several parties: this one listens there, unless it is the last, and the others are where the file says.
    Mesh { listen: Option<String>, peers: Box<dyn Fn() -> Result<PeersFile, Failure> + 'a> },
}

/// How a party gets to the others.
pub(crate) struct Route<'a> {
    pub(crate) meeting: Meeting<'a>,
    /// None is plain TCP.
    pub(crate) tls: Option<Tls>,
    /// Hears where this party listens, with the port that the system chose.
    pub(crate) listening: &'a dyn Fn(SocketAddr) -> Result<(), Failure>,
}

/// One party's part in a run.
pub(crate) struct Task<'a> {
    pub(crate) program: Program,
    pub(crate) party: Party,
    pub(crate) inputs: Vec<(InputId, Bits)>,
    pub(crate) settings: &'a Settings,
    pub(crate) progress: bool,
    /// How long it took to read and build the program.
    pub(crate) loaded: Duration,
    /// With components: where they are kept; none makes what the program needs.
    pub(crate) supply: Option<Source>,
}

/// What came of it.
pub(crate) struct Outcome {
    /// None where this party is no recipient.
    pub(crate) outputs: Vec<Option<Bits>>,
    pub(crate) security: Security,
    pub(crate) part: PartyPart,
    /// Why the parties did not part in order, if they did not; the result is final all the same.
    pub(crate) closing: Option<Failure>,
    /// All others, with the identities that they have proved.
    pub(crate) met: Vec<(u16, Option<Fingerprint>)>,
}

impl Outcome {
    fn new(
        outcome: garblet::Outcome,
        cpu_seconds: Option<CpuSeconds>,
        load: Duration,
        met: Vec<(u16, Option<Fingerprint>)>,
    ) -> Self {
        let garblet::Outcome { report: Report { party, role, outputs, phases, security }, closing } = outcome;
        let (party, role, peak_rss_bytes) = (party.0, role.into(), peak_rss_bytes());
        let load_seconds = Some(load.as_secs_f64());
        let part = PartyPart { party, role, peak_rss_bytes, cpu_seconds, load_seconds, phases };
        Outcome { outputs, security, part, closing: closing.map(|e| explain(&e)), met }
    }

    /// Warns of a peer that did not part in order.
    pub(crate) fn warn_of_closing(&self) {
        if let Some(failure) = &self.closing {
            let what = &failure.message;
            tell(&format!("warning: the result is final, but the peer did not end the session in order: {what}"));
        }
    }
}

impl Settings {
    /// The settings of a call.
    ///
    /// *Errors*: protocols, adversaries and parameters that do not exist.
    pub(crate) fn new(args: &ProtocolArgs) -> Result<Self, Failure> {
        let settings = Settings {
            protocol: args.name(),
            params: args.params.clone(),
            link: args.link.map(|l| l.to_string()),
            timeout: args.timeout.0,
        };
        let protocol = settings.config()?.protocol;
        let strongest = protocol.adversary();
        match args.adversary.filter(|asked| *asked > strongest) {
            None => Ok(settings),
            Some(asked) => {
                let problem = format!("--adversary {asked}: {protocol} withstands {strongest} parties");
                let stronger = Protocol::against(asked);
                Err(Failure::call(problem).hint(match protocol.is_mesh() {
                    true => {
                        format!("--protocol {stronger} withstands more, of two parties; {}", several_hint(stronger))
                    }
                    false => format!("--protocol {stronger} withstands more"),
                }))
            }
        }
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

    /// A protocol with these parameters, over an undisturbed link.
    pub(crate) fn of(protocol: Protocol, params: Vec<Param>, timeout: Duration) -> Self {
        Settings { protocol: protocol.to_string(), params, link: None, timeout }
    }

    /// The protocol and its parameters.
    ///
    /// *Errors*: as [`Settings::new`].
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let protocol = self.protocol.parse().map_err(|e| Failure::call(format!("--protocol: {e}")))?;
        let mut config = Config::of(protocol);
        for Param { name, value } in &self.params {
            config.set(name, value).map_err(|e| Failure::call(format!("--param {name}={value}: {e}")))?;
        }
        Ok(config)
    }

    /// Refuses a library where the protocol has none.
    pub(crate) fn check_library(&self, given: bool) -> Result<(), Failure> {
        match given && self.config()?.protocol != Protocol::Components {
            true => Err(Failure::call(format!("--library, --store: {} prepares no components", self.protocol))
                .hint("give --protocol components")),
            false => Ok(()),
        }
    }

    /// How many parties there are: as many as were asked for, or as the program needs.
    ///
    /// *Errors*: a number that the protocol or the program does not have.
    pub(crate) fn parties(&self, program: &Program, asked: Option<u16>) -> Result<u16, Failure> {
        let (needed, protocol) = (program.party_count(), self.config()?.protocol);
        let (allowed, name) = (protocol.parties(), program.name());
        let (least, most, range) = (*allowed.start(), *allowed.end(), party_range(protocol));
        if needed > most {
            let failure = Failure::call(format!("{protocol} has {range} parties, `{name}` needs {needed}"));
            return Err(if protocol.is_mesh() { failure } else { failure.hint(several_hint(protocol)) });
        }
        match asked {
            Some(other) if !allowed.contains(&other) => {
                let failure =
                    Failure::call(format!("--parties {other}: expected {range}, which is what {protocol} has"));
                Err(if protocol.is_mesh() || other < 2 { failure } else { failure.hint(several_hint(protocol)) })
            }
            Some(other) if other < needed => Err(Failure::call(format!(
                "--parties {other}: `{name}` needs {needed}: it has inputs or outputs of theirs"
            ))),
            _ => Ok(asked.unwrap_or(needed.max(least))),
        }
    }

    /// How connections are made.
    pub(crate) fn options(&self, tls: Option<Tls>) -> Result<garblet_net::Options, Failure> {
        let link = self.link.as_deref().map(str::parse::<SimulatedLink>).transpose();
        let link = link.map_err(Failure::call)?.unwrap_or_default();
        let on_refused: OnRefused = Arc::new(tell);
        let (patience, timeout) = (self.timeout, self.timeout);
        Ok(garblet_net::Options { patience, timeout, tls, link, on_refused: Some(on_refused) })
    }
}

/// Meets the peer and computes.
///
/// *Errors*: whatever ends the run without a result.
pub(crate) fn compute(task: Task<'_>, route: Route<'_>) -> Result<Outcome, Failure> {
    block_on(async {
        // Before the peer is met, so that a mistake is told at once.
        let supply = task.supply.as_ref().map(Source::open).transpose()?;
        let connected = connect_all(&task, route).await?;
        converse(task, connected, supply).await
    })
}

/// Meets all others of several parties, and prepares runs until the stores have so many.
///
/// *Errors*: whatever ends it. What was done until then is kept.
pub(crate) fn fill_runs(
    settings: &Settings,
    party: Party,
    program: Program,
    route: Route<'_>,
    folder: &Folder,
    count: u64,
    progress: bool,
) -> Result<Filled, Failure> {
    block_on(async {
        let supply = folder.open(Store::open_or_create)?;
        let mesh = join(settings, party, route).await?;
        let (config, bar, rng) = (settings.config()?, Box::new(Bar::new(progress)), rand::rng());
        let filled = garblet::fill_runs(Arc::new(program), mesh, config, supply, count, rng, bar);
        filled.await.map_err(|e| explain(&e))
    })
}

/// Computes with a peer that was met.
///
/// *Errors*: as [`compute`].
pub(crate) async fn compute_with(task: Task<'_>, channel: Channel) -> Result<Outcome, Failure> {
    let supply = task.supply.as_ref().map(Source::open).transpose()?;
    converse(task, Connected::Channel(Box::new(channel)), supply).await
}

/// What joins this party to the others.
enum Connected {
    Channel(Box<Channel>),
    Mesh(Mesh),
}

impl Connected {
    /// All others, as they are known to the one that is `party`.
    fn others(&self, party: Party) -> Vec<(u16, Option<Fingerprint>)> {
        match self {
            Connected::Channel(channel) => vec![(1 - party.0.min(1), channel.peer())],
            Connected::Mesh(mesh) => mesh.identities().iter().map(|(party, identity)| (party, *identity)).collect(),
        }
    }
}

async fn connect_all(task: &Task<'_>, route: Route<'_>) -> Result<Connected, Failure> {
    match &route.meeting {
        Meeting::Mesh { .. } => Ok(Connected::Mesh(join(task.settings, task.party, route).await?)),
        meeting => Ok(Connected::Channel(Box::new(meet(task.settings, meeting, route.tls, route.listening).await?))),
    }
}

/// Joins the mesh of several parties.
pub(crate) async fn join(settings: &Settings, party: Party, route: Route<'_>) -> Result<Mesh, Failure> {
    let Meeting::Mesh { listen, peers } = &route.meeting else {
        return Err(Failure::call("--peers is missing: where all parties are"));
    };
    let options = settings.options(route.tls)?;
    let listener = match listen {
        Some(address) => {
            let listener = Listener::bind(address).await.map_err(|e| Failure::net(&e))?;
            (route.listening)(listener.address())?;
            Some(listener)
        }
        None => None,
    };
    Mesh::join(party.0, &peers()?, listener, &options).await.map_err(|e| Failure::mesh(&e))
}

/// Runs a future to its end on one thread: garbling and evaluating keep one core busy, and the peer's process has its own.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let runtime = runtime.map_err(|e| Failure::no_result(format!("the runtime cannot be started: {e}")))?;
    runtime.block_on(future)
}

/// Meets the peer.
pub(crate) async fn meet(
    settings: &Settings,
    meeting: &Meeting<'_>,
    tls: Option<Tls>,
    listening: &dyn Fn(SocketAddr) -> Result<(), Failure>,
) -> Result<Channel, Failure> {
    let options = settings.options(tls)?;
    match meeting {
        Meeting::Listen(address) => {
            let listener = Listener::bind(address).await.map_err(|e| Failure::net(&e))?;
            listening(listener.address())?;
            listener.accept(&options).await
        }
        Meeting::Connect(address) => connect(address, &options).await,
        Meeting::Mesh { .. } => return Err(Failure::call("--peers: this is between two parties")),
    }
    .map_err(|e| Failure::net(&e))
}

async fn converse(task: Task<'_>, connected: Connected, supply: Option<Supply>) -> Result<Outcome, Failure> {
    let mut config = task.settings.config()?;
    let cpu = CpuClock::start();
    let bar = CpuBar::new(Bar::new(task.progress), cpu.clone());
    let program = Arc::new(task.program);
    let inputs: Vec<Bits> = task.inputs.into_iter().map(|(_, bits)| bits).collect();
    let (rng, bar, party) = (rand::rng(), Box::new(bar), task.party);
    let top_up = task.supply.as_ref().is_some_and(Source::top_up);
    (config.components.top_up, config.lego.top_up) = (top_up, top_up);
    let met = connected.others(party);
    let (two, several) = (|peer| AnyPeer::Two(Box::new(peer)), |peer| AnyPeer::Many(Box::new(peer)));
    let peer = match (connected, supply) {
        (Connected::Mesh(mesh), Some(supply)) => {
            MeshPeer::join_supplied(program, mesh, config, supply, rng, bar).await.map(several)
        }
        (Connected::Mesh(mesh), None) => MeshPeer::join(program, mesh, config, rng, bar).await.map(several),
        (Connected::Channel(channel), Some(supply)) => {
            Peer::open_supplied(program, party, *channel, config, supply, rng, bar).await.map(two)
        }
        (Connected::Channel(channel), None) => Peer::open(program, party, *channel, config, rng, bar).await.map(two),
    };
    let peer = peer.map_err(|e| explain(&e))?;
    match peer.finish(&inputs).await {
        Ok(outcome) => Ok(Outcome::new(outcome, cpu.seconds(), task.loaded + cpu.before_hello(), met)),
        Err(error) => {
            let failure = explain(&error);
            match (&error, task.supply.as_ref().and_then(Source::again)) {
                (Error::NoRun(_), Some(again)) => Err(failure.hint(format!("prepare more, all together: {again}"))),
                _ => Err(failure),
            }
        }
    }
}

/// What a protocol's error is to the user.
pub(crate) fn explain(error: &Error) -> Failure {
    if let Some(error) = error.net() {
        return Failure::net(error);
    }
    match error {
        Error::Store(error) => store_failure(error),
        Error::NotPrepared(NotPrepared::Missing(_)) => Failure::no_result(error)
            .hint("`garblet prepare` makes more for the store; --top-up makes it during the run"),
        Error::Unfinished(unfinished) => Failure::no_result(error).hint(format!(
            "a peer that cheats does so; if it was the network or this machine, `garblet store allow {}` goes on",
            unfinished.folder.display()
        )),
        Error::NoRun(_) => {
            Failure::no_result(error).hint("`garblet prepare` makes more; --top-up makes it during the run")
        }
        Error::OtherRun { .. } => Failure::no_result(error).hint(
            "nothing of an input was given away; one party's program has lost or skipped a run, so start anew, all together",
        ),
        Error::NotPrepared(_) => {
            Failure::call(error).hint("add it to the library file; a store is filled for one library")
        }
        Error::Peer { party, source } => {
            let failure = explain(source);
            Failure { message: format!("party {party}: {}", failure.message), ..failure }
        }
        Error::Corrupted(_) | Error::Cheating(_) | Error::NoMajority(_) => Failure::no_result(error).hint(
            "the peer's program did not follow the protocol; no failure of the network does this, so keep the message",
        ),
        Error::Suspected(_) => Failure::no_result(error)
            .hint("if it happens again, do not run with this peer; without --param form it has no such way out"),
        Error::Unsupported { .. } | Error::Input { .. } | Error::NoSuchParty { .. } => Failure::call(error),
        _ => Failure::no_result(error),
    }
}

/// The protocols for three parties and more, in place of a protocol of two.
pub(crate) fn several_hint(two: Protocol) -> String {
    let names: Vec<&str> =
        Protocol::ALL.iter().filter(|several| several.is_mesh()).map(|several| several.name()).collect();
    match two.adversary() {
        Adversary::SemiHonest => "--protocol gmw has more".into(),
        stronger => format!(
            "no protocol for three or more parties withstands {stronger} ones; {} are for semi-honest parties",
            names.join(", ")
        ),
    }
}

/// How many parties a protocol may have: `2`, `3 to 64`.
pub(crate) fn party_range(protocol: Protocol) -> String {
    let (least, most) = protocol.parties().into_inner();
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
