//! One party's run from address to report: the only place that calls the library's protocols.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use garblet::{
    Adversary, Bits, Config, Ends, Error, Filled, NotPrepared, Order, Party, Peer, Plan, Program, Protocol, Report,
    SavedValues, Security, Stock, StockKinds, store::Store,
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
    stock::{Folder, Source},
    store::store_failure,
};

/// The way to compute, as it can be handed to another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) protocol: String,
    pub(crate) params: Vec<Param>,
    pub(crate) link: Option<String>,
    pub(crate) timeout: Duration,
}

/// The place where the parties meet.
pub(crate) enum Meeting<'a> {
    /// This party waits there.
    Listen(String),
    /// This party goes there.
    Connect(String),
    /// Several parties: this one listens there, unless it is the last, and the others are where the file says.
    Mesh { listen: Option<String>, peers: Box<dyn Fn() -> Result<PeersFile, Failure> + 'a> },
}

/// The way from a party to the others.
pub(crate) struct Route<'a> {
    pub(crate) meeting: &'a Meeting<'a>,
    /// None is plain TCP.
    pub(crate) tls: Option<Tls>,
    /// Hears where this party listens, with the port that the system chose.
    pub(crate) listening: &'a dyn Fn(SocketAddr) -> Result<(), Failure>,
}

/// One party's part in a run.
pub(crate) struct Task<'a> {
    pub(crate) plan: Plan,
    pub(crate) party: Party,
    pub(crate) inputs: Vec<(InputId, Bits)>,
    pub(crate) settings: &'a Settings,
    pub(crate) progress: bool,
    /// The time that it took to read and build the program and to make it ready.
    pub(crate) loaded: Duration,
    /// The source of prepared material; none makes what the program needs.
    pub(crate) source: Option<Source>,
}

impl Task<'_> {
    fn open_stock(&self) -> Result<Option<Stock>, Failure> {
        let config = self.settings.config()?;
        self.source.as_ref().map(|source| source.open(&config, self.plan.parties())).transpose()
    }
}

/// The result of a party's part in a run.
pub(crate) struct Outcome {
    /// None where this party is no recipient.
    pub(crate) outputs: Vec<Option<Bits>>,
    pub(crate) security: Security,
    pub(crate) part: PartyPart,
    /// The reason why the parties did not part in order, if they did not; the result is final all the same.
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
        let protocol = settings.config()?.protocol();
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
            protocol: Protocol::default().to_string(),
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
        let has_library = |protocol: &Protocol| protocol.stock() == Some(StockKinds::Library);
        if !given || has_library(&self.config()?.protocol()) {
            return Ok(());
        }
        let names = Protocol::ALL.iter().copied().filter(has_library).map(Protocol::name).collect::<Vec<_>>();
        Err(Failure::call(format!("--library, --store: {} prepares no components", self.protocol))
            .hint(format!("give --protocol {}", names.join(" or "))))
    }

    /// Makes a program ready for one of the protocol's runs.
    ///
    /// *Errors*: a program that the protocol cannot run; values that it cannot save.
    pub(crate) fn plan(&self, program: Program, parties: u16, saved: SavedValues) -> Result<Plan, Failure> {
        let (config, program) = (self.config()?, Arc::new(program));
        Plan::saving(program, parties, &config, saved).map_err(|error| explain(&error))
    }

    /// The number of parties: as many as were asked for, or as the program needs.
    ///
    /// *Errors*: a number that the protocol or the program does not have.
    pub(crate) fn parties(&self, program: &Program, asked: Option<u16>) -> Result<u16, Failure> {
        let (needed, protocol) = (program.party_count(), self.config()?.protocol());
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

    /// The way in which connections are made.
    pub(crate) fn options(&self, tls: Option<Tls>) -> Result<garblet_net::Options, Failure> {
        let link = self.link.as_deref().map(str::parse::<SimulatedLink>).transpose();
        let link = link.map_err(Failure::call)?.unwrap_or_default();
        let on_refused: OnRefused = Arc::new(tell);
        let (patience, timeout) = (self.timeout, self.timeout);
        Ok(garblet_net::Options { patience, timeout, tls, link, on_refused: Some(on_refused) })
    }
}

/// Meets all others and computes.
///
/// *Errors*: whatever ends the run without a result.
pub(crate) fn compute(task: Task<'_>, route: Route<'_>) -> Result<Outcome, Failure> {
    block_on(async {
        // Before the others are met, so that a mistake is told at once.
        let stock = task.open_stock()?;
        let ends = connect_all(task.settings, task.party, route).await?;
        converse(task, ends, stock).await
    })
}

/// Meets all others, and fills a store together with theirs.
///
/// *Errors*: whatever ends it. What was done until then is kept.
pub(crate) fn fill(
    settings: &Settings,
    party: Party,
    parties: u16,
    folder: &Folder,
    route: Route<'_>,
    (below, progress): (u8, bool),
) -> Result<Filled, Failure> {
    let config = settings.config()?;
    let order = folder.order(&config, parties)?;
    block_on(async {
        let ends = connect_all(settings, party, route).await?;
        fill_met((&config, party, parties), (folder, order), ends, (below, progress)).await
    })
}

/// Fills a store together with that of a peer that was met.
///
/// *Errors*: as [`fill`].
pub(crate) async fn fill_with(
    settings: &Settings,
    party: Party,
    folder: &Folder,
    channel: Channel,
    below: u8,
) -> Result<Filled, Failure> {
    let config = settings.config()?;
    let order = folder.order(&config, 2)?;
    fill_met((&config, party, 2), (folder, order), channel.into(), (below, false)).await
}

/// Fills a store together with those of others that were met. The store is opened only now: others may use it until then.
async fn fill_met(
    (config, party, parties): (&Config, Party, u16),
    (folder, order): (&Folder, Option<Order>),
    ends: Ends,
    (below, progress): (u8, bool),
) -> Result<Filled, Failure> {
    let stock = folder.open(order, (config, parties), Store::open_or_create)?;
    let bar = Box::new(Bar::new(progress));
    let filled = garblet::fill(stock, party, ends, config, below, rand::rng(), bar).await;
    filled.map_err(|e| explain(&e))
}

/// Computes with a peer that was met.
///
/// *Errors*: as [`compute`].
pub(crate) async fn compute_with(task: Task<'_>, channel: Channel) -> Result<Outcome, Failure> {
    let stock = task.open_stock()?;
    converse(task, channel.into(), stock).await
}

/// All others, as they are known to the one that is `party`.
fn others(ends: &Ends, party: Party) -> Vec<(u16, Option<Fingerprint>)> {
    match ends {
        Ends::Channel(channel) => vec![(1 - party.0.min(1), channel.peer())],
        Ends::Mesh(mesh) => mesh.identities().iter().map(|(party, identity)| (party, *identity)).collect(),
    }
}

async fn connect_all(settings: &Settings, party: Party, route: Route<'_>) -> Result<Ends, Failure> {
    match route.meeting {
        Meeting::Mesh { .. } => Ok(join(settings, party, route).await?.into()),
        meeting => Ok(meet(settings, meeting, route.tls, route.listening).await?.into()),
    }
}

/// Joins the mesh of several parties.
async fn join(settings: &Settings, party: Party, route: Route<'_>) -> Result<Mesh, Failure> {
    let Meeting::Mesh { listen, peers } = route.meeting else {
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
async fn meet(
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

async fn converse(task: Task<'_>, ends: Ends, stock: Option<Stock>) -> Result<Outcome, Failure> {
    let cpu = CpuClock::start();
    let bar = Box::new(CpuBar::new(Bar::new(task.progress), cpu.clone()));
    let inputs: Vec<Bits> = task.inputs.into_iter().map(|(_, bits)| bits).collect();
    let (rng, party, met) = (rand::rng(), task.party, others(&ends, task.party));
    let peer = match stock {
        Some(stock) => Peer::open_with(&task.plan, party, ends, stock, rng, bar).await,
        None => Peer::open(&task.plan, party, ends, rng, bar).await,
    };
    let peer = peer.map_err(|e| explain(&e))?;
    match peer.finish(&inputs).await {
        Ok(outcome) => Ok(Outcome::new(outcome, cpu.seconds(), task.loaded + cpu.before_hello(), met)),
        Err(error) => {
            let failure = explain(&error);
            match (&error, task.source.as_ref().and_then(Source::again)) {
                (Error::NotPrepared(NotPrepared::NoRun { .. }), Some(again)) => {
                    Err(failure.hint(format!("prepare more, all together: {again}")))
                }
                _ => Err(failure),
            }
        }
    }
}

/// The failure that a protocol's error is to the user.
pub(crate) fn explain(error: &Error) -> Failure {
    if let Some(error) = error.net() {
        return Failure::net(error);
    }
    match error {
        Error::Store(error) => store_failure(error),
        Error::Library(diagnostics) => Failure::diagnosed(diagnostics.clone()),
        Error::NotPrepared(NotPrepared::UnknownComponent { .. }) => {
            Failure::call(error).hint("add it to the library file; a store is filled for one library")
        }
        Error::NotPrepared(_) => {
            Failure::no_result(error).hint("`garblet prepare` makes more for the store; --top-up makes it during the run")
        }
        Error::Unfinished(unfinished) => Failure::no_result(error).hint(format!(
            "a peer that cheats does so; if it was the network or this machine, `garblet store allow {}` goes on",
            unfinished.folder.display()
        )),
        Error::OtherRun { .. } => Failure::no_result(error).hint(
            "nothing of an input was given away; one party's program has lost or skipped a run, so start anew, all together",
        ),
        Error::Peer { party, source } => {
            let failure = explain(source);
            Failure { message: format!("party {party}: {}", failure.message), ..failure }
        }
        Error::Corrupted(_) | Error::Cheating(_) | Error::NoMajority(_) => Failure::no_result(error).hint(
            "the peer's program did not follow the protocol; no failure of the network does this, so keep the message",
        ),
        Error::Suspected(_) => Failure::no_result(error)
            .hint("if it happens again, do not run with this peer; without --param form it has no such way out"),
        Error::Unsupported { .. } | Error::Input { .. } | Error::Order { .. } | Error::NoSuchParty { .. } => Failure::call(error),
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

/// The numbers of parties that a protocol may have: `2`, `3 to 64`.
pub(crate) fn party_range(protocol: Protocol) -> String {
    let (least, most) = protocol.parties().into_inner();
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
