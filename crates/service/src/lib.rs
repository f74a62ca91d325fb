//! `garblet serve --config`: runs many sessions at once on one port, with the peers that a policy allows, for months.
//!
//! The service itself is one thread that never computes: it accepts callers, decides, and starts each session on its own thread.
//! `written` is the file; `config` holds the settings and jobs made from it. `hall` admits callers, queues them or refuses them, by `rule` and limits;
//! `farewells` tells the refused ones why. `session` is one session: it fetches `data`, which `read_ahead` has read or a program of the `operator` prints,
//! counts in `counters`, and runs. `receipt` writes its receipt. `outbox` offers results again that nobody accepted. `log`, `metrics` and `page` are
//! for the operator. `net/src/callers.rs` accepts callers; `net/src/refusing.rs` holds the answers that a service sends in place of a hello.

// These macros panic if the stream cannot be written; use `output` of the console instead.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod config;
mod counters;
mod counting;
mod data;
mod farewells;
mod hall;
mod log;
mod metrics;
mod operator;
mod outbox;
mod page;
mod read_ahead;
mod receipt;
mod rule;
mod session;
mod written;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use garblet::{
    circuit::diagnostic::one_line,
    net::{Callers, Listener},
    store::{Store, StoreError},
};
use garblet_console::{
    configuration::in_configuration,
    failure::Failure,
    hints::{net_failure, store_failure},
    output::{print, tell},
    receipts::Receipts,
    session::block_on,
    way::check_address,
    whole_file::sweep,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinHandle,
    time::{Instant, interval, sleep_until},
};

use self::{
    config::Config,
    counters::{Counters, SharedCounters},
    data::ResultSink,
    farewells::Farewells,
    hall::{Hall, rounded},
    metrics::Metrics,
    outbox::Outbox,
    read_ahead::ReadAhead,
    rule::Rule,
    session::{Shared, Stores},
};

/// The interval at which waiting callers are checked.
const LOOK: Duration = Duration::from_millis(250);

/// Runs a service until it is stopped.
///
/// *Errors*: a wrong configuration; an unusable address or counters.
pub fn run(path: &Path) -> Result<(), Failure> {
    block_on(async {
        // Before anything slow: an unhandled signal would end the process.
        let signals = Signals::hear()?;
        raise_file_limit();
        let config = Arc::new(config::load(path)?);
        let metrics = Metrics::new();
        log::begin(config.log, metrics.lost_lines());
        config.tell();
        let records = in_configuration(None, "stores")?;
        let counters = Counters::open(&config.state, config.key.as_deref(), &records)?;
        sweep_drafts(&config, records);
        let counters = SharedCounters::new(counters);
        let is_new = !config.receipts.exists();
        let receipts = Arc::new(Receipts::at(&config.receipts)?);
        if is_new {
            tracing::warn!(file = %config.receipts.display(), "created a new log of receipts");
        }
        let farewells = Farewells::new(metrics.clone(), receipts.clone());
        let ahead = ReadAhead::default();
        ahead.look(&config);
        keep_begun(&counters, &receipts)?;
        let in_force = watch::Sender::new(config.clone());
        let (stores, outbox) = (Stores::default(), Outbox::new(in_force.subscribe()));
        let shared = Shared { counters, metrics, stores, receipts, farewells, ahead, outbox };
        let listener = Listener::bind(&config.listen).await.map_err(|error| net_failure(&error))?;
        tracing::info!(address = %listener.address(), jobs = config.offers.len(), "listening");
        show_page(&config, &shared.metrics).await?;
        let callers = Callers::new(listener, config.limits.unproven, config.options());
        shared.metrics.set_ready(true);
        let hall = Hall::new(in_force, shared);
        let (reloading, again) = (None, false);
        Service { path: path.into(), callers, hall, reloading, again, stop_by: None }.serve(signals).await
    })
}

/// Checks a configuration with all jobs, inputs and programs that it names, and prints what it allows. Starts, creates and counts nothing.
///
/// *Errors*: as [`run`], except for an address in use and for what is in the counters, since a service may run; also wrong inputs, and a log of receipts that
/// cannot be continued.
pub fn check(path: &Path) -> Result<(), Failure> {
    let config = config::load(path)?;
    check_address(&config.listen)?;
    Counters::check(&config.state, config.key.as_deref(), &in_configuration(None, "stores")?)?;
    for note in config.odd() {
        tell(&format!("warning: {note}"));
    }
    for (offer, rule) in config.offers.iter().flat_map(|offer| offer.rules.iter().map(move |rule| (offer, rule))) {
        for missing in data::check(offer, rule)? {
            tell(&format!("warning: {}: {missing}: callers are refused until it exists", offer.name));
        }
        if let Some(Err(error)) = rule.store.as_ref().map(|store| Store::find(&store.path)) {
            let Failure { message, hint, .. } = store_failure(&error);
            let until = match (error, hint) {
                (StoreError::Missing { .. }, _) => ": callers are refused until it is filled".into(),
                (_, Some(hint)) => format!(": callers are refused; {hint}"),
                (_, None) => ": callers are refused".into(),
            };
            tell(&format!("warning: {}: {message}{until}", offer.name));
        }
    }
    Receipts::check(&config.receipts)?;
    let rules = |offer: &config::Offer| match offer.rules.len() {
        1 => "1 rule".into(),
        rules => format!("{rules} rules"),
    };
    let line = |offer: &Arc<config::Offer>| format!("{}  {}  {}\n", offer.digest, one_line(&offer.name), rules(offer));
    let jobs: String = config.offers.iter().map(line).collect();
    print(&format!("{jobs}{}: good\n", one_line(&path.display().to_string())))
}

/// Writes the receipts of runs that an earlier service counted before it was killed.
///
/// *Errors*: the receipt log or the counters cannot be written.
fn keep_begun(counters: &SharedCounters, receipts: &Receipts) -> Result<(), Failure> {
    for (session, begun) in counters.begun() {
        let Some(begun) = begun else {
            tracing::error!(
                session,
                "this run was counted, but its start record cannot be read: it gets no receipt, and this is its last log line"
            );
            counters.ended(&session).map_err(|error| store_failure(&error))?;
            continue;
        };
        let was_added = receipts.add_unless_there(&begun)?;
        counters.ended(&session).map_err(|error| store_failure(&error))?;
        if was_added {
            tracing::warn!(session, "this run was counted, but its outcome is unknown; the receipt says so");
        }
    }
    Ok(())
}

/// Removes the drafts that earlier services left in our folders when they were killed.
fn sweep_drafts(config: &Config, records: PathBuf) {
    let rules = config.offers.iter().flat_map(|offer| &offer.rules);
    let of_rule = |rule: &Rule| match &rule.results {
        Some(ResultSink::Folder(folder)) => Some(folder.clone()),
        Some(ResultSink::Command(_)) | None => None,
    };
    let folders: BTreeSet<PathBuf> = rules.filter_map(of_rule).chain([records]).collect();
    for folder in folders.into_iter().filter(|folder| folder.exists()) {
        let place = folder.display();
        match sweep(&folder) {
            Ok(0) => {}
            Ok(files) => {
                tracing::info!(folder = %place, files, "removed unfinished files of services that were killed")
            }
            Err(error) => tracing::warn!(folder = %place, %error, "cannot look for unfinished files"),
        }
    }
}

/// Lets this process open as many files as the system allows it: every connection is one, and no receipt can be written without one more.
fn raise_file_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Otherwise the limit stays as it is, which is enough for few callers.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Starts the operator's page, if one is configured.
async fn show_page(config: &Config, metrics: &Metrics) -> Result<(), Failure> {
    let Some(address) = config.metrics else { return Ok(()) };
    let unusable = |error: std::io::Error| {
        Failure::call(format!("metrics: cannot listen on {address}: {error}")).hint("give metrics another address")
    };
    let listener = TcpListener::bind(address).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    tracing::info!(%address, "metrics are at /metrics, health at /healthz and /readyz");
    let metrics = metrics.clone();
    tokio::spawn(async move { page::answer(listener, metrics).await });
    Ok(())
}

struct Signals {
    hang_up: Signal,
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn hear() -> Result<Self, Failure> {
        let hear =
            |kind| signal(kind).map_err(|error| Failure::no_result(format!("cannot listen for signals: {error}")));
        let [hang_up, terminate, interrupt] =
            [SignalKind::hangup(), SignalKind::terminate(), SignalKind::interrupt()].map(hear);
        Ok(Signals { hang_up: hang_up?, terminate: terminate?, interrupt: interrupt? })
    }
}

/// A running service.
struct Service {
    path: PathBuf,
    callers: Callers,
    hall: Hall,
    /// The configuration being read.
    reloading: Option<JoinHandle<Result<Config, Failure>>>,
    /// Set if the file may have changed since then.
    again: bool,
    /// The time at which the service ends, once it is stopping.
    stop_by: Option<Instant>,
}

impl Service {
    /// Serves until the service is stopped, or cannot accept callers any more.
    async fn serve(mut self, signals: Signals) -> Result<(), Failure> {
        let ended = self.answer(signals).await;
        if let Err(Failure { message: reason, .. }) = &ended {
            tracing::error!(reason, "NO CALLER CAN BE ACCEPTED: aborting sessions");
            self.hall.stop();
            self.hall.give_up().await;
        }
        self.hall.farewell().await;
        tracing::info!("stopped");
        ended
    }

    /// Answers callers and signals until the service has stopped.
    ///
    /// *Errors*: a socket that fails.
    async fn answer(&mut self, mut signals: Signals) -> Result<(), Failure> {
        let mut look = interval(LOOK);
        while self.stop_by.is_none() || !self.hall.is_empty() {
            let stop_by = self.stop_by.unwrap_or_else(Instant::now);
            tokio::select! {
                caller = self.callers.next() => self.hall.receive(caller.map_err(|error| net_failure(&error))?),
                event = self.hall.next() => self.hall.note(event),
                loaded = loaded(&mut self.reloading) => self.change(loaded),
                _ = signals.hang_up.recv() => self.reload(),
                _ = signals.terminate.recv() => self.stop(),
                _ = signals.interrupt.recv() => self.stop(),
                _ = look.tick() => self.hall.look(self.callers.strangers()),
                () = sleep_until(stop_by), if self.stop_by.is_some() => {
                    tracing::warn!(sessions = self.hall.running(), "out of time to stop: aborting sessions");
                    self.hall.give_up().await;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Starts to stop: no session starts any more, and running ones may finish until the deadline. A second call changes nothing.
    fn stop(&mut self) {
        if self.stop_by.is_none() {
            let time = self.hall.config().limits.stop.0;
            tracing::info!(sessions = self.hall.running(), seconds = rounded(time), "stopping");
            self.stop_by = Some(Instant::now() + time);
            self.hall.stop();
        }
    }

    /// Starts to reread the configuration in the background, since that compiles programs.
    fn reload(&mut self) {
        self.again = self.reloading.is_some();
        if self.reloading.is_none() {
            let (path, ahead) = (self.path.clone(), self.hall.read_ahead());
            let load = move || config::load(&path).inspect(|config| ahead.look(config));
            self.reloading = Some(tokio::task::spawn_blocking(load));
        }
    }

    /// Switches to the configuration that was read, or keeps the old one if the new one is wrong.
    fn change(&mut self, loaded: Result<Config, Failure>) {
        let old = self.hall.config();
        let loaded = loaded.and_then(|new| match new.tls.is_some() == old.tls.is_some() {
            true => Ok(new),
            false => Err(Failure::call("insecure_plain_tcp: restart the service to change this")),
        });
        match loaded {
            Err(Failure { message, hint, .. }) => {
                tracing::error!(reason = message, hint, "THE NEW CONFIGURATION IS WRONG: the old one stays in force");
            }
            Ok(new) => {
                let kept = [
                    ("listen", new.listen != old.listen),
                    ("state", new.state != old.state || new.key != old.key),
                    ("receipts", new.receipts != old.receipts),
                    ("metrics", new.metrics != old.metrics),
                    ("log", new.log != old.log),
                    ("limits.unproven", new.limits.unproven != old.limits.unproven),
                ];
                for (field, _) in kept.iter().filter(|(_, differs)| *differs) {
                    tracing::warn!(field, "takes effect when the service restarts");
                }
                tracing::info!(jobs = new.offers.len(), "the new configuration is in force");
                new.tell();
                self.callers.set_options(new.options());
                self.hall.set_config(new);
            }
        }
        if self.again {
            self.reload();
        }
    }
}

/// The configuration once it is read; pending forever if none is being read.
async fn loaded(reloading: &mut Option<JoinHandle<Result<Config, Failure>>>) -> Result<Config, Failure> {
    let Some(reading) = reloading else { return std::future::pending().await };
    let read = reading.await;
    *reloading = None;
    read.unwrap_or_else(|error| Err(Failure::no_result(format!("reading the configuration failed: {error}"))))
}
