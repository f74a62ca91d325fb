//! `garblet serve --config`: many sessions side by side on one port, with whom a policy allows, for months.
//!
//! The service itself is one thread, which never computes: it hears callers, decides, and starts sessions, each on a thread of its own.

mod config;
mod counters;
mod data;
mod farewells;
mod hall;
mod log;
mod metrics;
mod operator;
mod page;
mod read_ahead;
mod receipt;
mod rule;
mod session;
mod written;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use garblet_net::{Callers, Listener};
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
    task::JoinHandle,
    time::{Instant, interval, sleep_until},
};

use self::{
    config::Config,
    counters::Counters,
    farewells::Farewells,
    hall::Hall,
    metrics::Metrics,
    read_ahead::ReadAhead,
    session::{Shared, Stores},
};
use crate::{
    configuration::in_configuration, failure::Failure, hints::net_failure, receipts::Receipts, session::block_on,
};

/// The time between looks at those who wait.
const LOOK: Duration = Duration::from_millis(250);

/// Runs a service until it is stopped.
///
/// *Errors*: a configuration that is wrong; an address, or counters, that cannot be used.
pub(super) fn run(path: &Path) -> Result<(), Failure> {
    block_on(async {
        // Before anything that takes time: a signal that nobody hears would end the process.
        let signals = Signals::hear()?;
        let config = Arc::new(config::load(path)?);
        log::begin(config.log);
        config.tell_odd();
        let counters = Counters::open(&config.state, config.key.as_deref(), &in_configuration(None, "stores")?)?;
        let counters = Arc::new(Mutex::new(counters));
        let (receipts, metrics) = (Arc::new(Receipts::at(&config.receipts)?), Metrics::new());
        let farewells = Farewells::new(metrics.clone(), receipts.clone());
        let ahead = ReadAhead::default();
        ahead.look(&config);
        let shared = Shared { counters, metrics, stores: Stores::default(), receipts, farewells, ahead };
        let listener = Listener::bind(&config.listen).await.map_err(|error| net_failure(&error))?;
        tracing::info!(address = %listener.address(), jobs = config.offers.len(), "listening");
        show_page(&config, &shared.metrics).await?;
        let callers = Callers::new(listener, config.limits.unproven, config.options());
        shared.metrics.set_ready(true);
        let hall = Hall::new(config, shared);
        let (reloading, again) = (None, false);
        Service { path: path.into(), callers, hall, reloading, again, stop_by: None }.serve(signals).await
    })
}

/// Begins to show the operator's page, if there is to be one.
async fn show_page(config: &Config, metrics: &Metrics) -> Result<(), Failure> {
    let Some(address) = config.metrics else { return Ok(()) };
    let unusable = |error: std::io::Error| Failure::call(format!("metrics: {address}: cannot be listened on: {error}"));
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
        let hear = |kind| signal(kind).map_err(|error| Failure::no_result(format!("signals cannot be heard: {error}")));
        let [hang_up, terminate, interrupt] =
            [SignalKind::hangup(), SignalKind::terminate(), SignalKind::interrupt()].map(hear);
        Ok(Signals { hang_up: hang_up?, terminate: terminate?, interrupt: interrupt? })
    }
}

/// A service that runs.
struct Service {
    path: PathBuf,
    callers: Callers,
    hall: Hall,
    /// The configuration that is being read.
    reloading: Option<JoinHandle<Result<Config, Failure>>>,
    /// Set if it may have changed since that began.
    again: bool,
    /// The time at which it ends, once it is being stopped.
    stop_by: Option<Instant>,
}

impl Service {
    async fn serve(mut self, mut signals: Signals) -> Result<(), Failure> {
        let mut look = interval(LOOK);
        while self.stop_by.is_none() || !self.hall.is_empty() {
            let stop_by = self.stop_by.unwrap_or_else(Instant::now);
            tokio::select! {
                caller = self.callers.next() => self.hall.receive(caller.map_err(|error| net_failure(&error))?),
                ended = self.hall.next_ended() => self.hall.end(ended),
                loaded = loaded(&mut self.reloading) => self.change(loaded),
                _ = signals.hang_up.recv() => self.reload(),
                _ = signals.terminate.recv() => self.stop(),
                _ = signals.interrupt.recv() => self.stop(),
                _ = look.tick() => self.hall.look(self.callers.strangers()),
                () = sleep_until(stop_by), if self.stop_by.is_some() => {
                    tracing::warn!(sessions = self.hall.running(), "the time to stop is over: sessions are given up");
                    self.hall.give_up().await;
                    break;
                }
            }
        }
        self.hall.farewell().await;
        tracing::info!("stopped");
        Ok(())
    }

    /// Begins to stop: nothing begins any more, and what runs may end until the deadline. Told again, it changes nothing.
    fn stop(&mut self) {
        if self.stop_by.is_none() {
            let time = self.hall.config().limits.stop.0;
            tracing::info!(sessions = self.hall.running(), seconds = time.as_secs_f64(), "stopping");
            self.stop_by = Some(Instant::now() + time);
            self.hall.stop();
        }
    }

    /// Begins to read the configuration again, beside everything else: it compiles programs.
    fn reload(&mut self) {
        self.again = self.reloading.is_some();
        if self.reloading.is_none() {
            let (path, ahead) = (self.path.clone(), self.hall.read_ahead());
            let load = move || config::load(&path).inspect(|config| ahead.look(config));
            self.reloading = Some(tokio::task::spawn_blocking(load));
        }
    }

    /// Goes on with what was read, or with what there is if that is wrong.
    fn change(&mut self, loaded: Result<Config, Failure>) {
        let old = self.hall.config();
        let loaded = loaded.and_then(|new| match new.tls.is_some() == old.tls.is_some() {
            true => Ok(new),
            false => Err(Failure::call("insecure_plain_tcp: the service has to be started again for that")),
        });
        match loaded {
            Err(Failure { message, .. }) => {
                tracing::error!(reason = message, "THE NEW CONFIGURATION IS WRONG: the old one stays in force");
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
                    tracing::warn!(field, "changes when the service is started again");
                }
                tracing::info!(jobs = new.offers.len(), "the new configuration is in force");
                new.tell_odd();
                self.callers.set_options(new.options());
                self.hall.set_config(new);
            }
        }
        if self.again {
            self.reload();
        }
    }
}

/// The configuration that was being read; never, if none is.
async fn loaded(reloading: &mut Option<JoinHandle<Result<Config, Failure>>>) -> Result<Config, Failure> {
    let Some(reading) = reloading else { return std::future::pending().await };
    let read = reading.await;
    *reloading = None;
    read.unwrap_or_else(|error| Err(Failure::no_result(format!("reading it has failed: {error}"))))
}
