//! The farewell to those for whom nothing begins: they hear why, the operator's log and the receipts say it once a minute.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use garblet::net::{Channel, Refusal};
use garblet_console::{receipts::Receipts, session::Watched};
use tokio::{runtime::Handle, sync::Semaphore, task::spawn_blocking};

use super::{
    config::{Config, Offer},
    metrics::Metrics,
    receipt,
    session::Stopped,
};

/// The refusals that are being told at once; who comes beyond that is cut off.
const PLACES: usize = 256;

/// The time for which the same refusal of the same caller is not written down again.
const APART: Duration = Duration::from_secs(60);

/// Somebody who is refused.
pub(super) struct Refused {
    /// The caller, as it is called here.
    pub(super) peer: String,
    /// The job that it may run, with the rule's place, if it is about one.
    pub(super) job: Option<(Arc<Offer>, usize)>,
    /// The caller, and what went through its channel.
    pub(super) watched: Arc<Mutex<Watched>>,
    /// The reason for the log, which may say more than the caller hears.
    pub(super) reason: &'static str,
    pub(super) config: Arc<Config>,
    /// The number of the session that it waited for.
    pub(super) session: Option<String>,
}

/// A refusal as it is counted: of whom, for which job, why.
type Kind = (String, Option<String>, &'static str);

/// The farewells, which all sessions share.
#[derive(Clone)]
pub(super) struct Farewells {
    places: Arc<Semaphore>,
    /// The service's own, where whatever it tells goes on.
    runtime: Handle,
    metrics: Metrics,
    receipts: Arc<Receipts>,
    /// The time at which each was written down last, and how often it happened since.
    written: Arc<Mutex<HashMap<Kind, (Instant, u64)>>>,
    /// Set when a receipt could not be kept.
    is_closed: Arc<AtomicBool>,
}

impl Farewells {
    /// The farewells of the service that runs here.
    pub(super) fn new(metrics: Metrics, receipts: Arc<Receipts>) -> Self {
        let (places, runtime) = (Arc::new(Semaphore::new(PLACES)), Handle::current());
        Farewells { places, runtime, metrics, receipts, written: Arc::default(), is_closed: Arc::default() }
    }

    /// Tells whether everybody is to be refused, as a receipt could not be kept.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Refuses everybody from now on.
    pub(super) fn close(&self, reason: &str) {
        tracing::error!(reason, "NO RECEIPT COULD BE KEPT: everybody is refused from now on");
        self.is_closed.store(true, Ordering::Relaxed);
        self.metrics.set_ready(false);
    }

    /// Refuses somebody: tells it, and then writes it down.
    pub(super) fn refuse(&self, tell: impl Future<Output = ()> + Send + 'static, refusal: Refusal, refused: Refused) {
        let Refused { peer, job, watched, reason, config, session } = refused;
        self.metrics.refused(reason);
        let name = job.as_ref().map(|(offer, _)| offer.name.clone());
        let more = self.is_first((peer.clone(), name.clone(), reason));
        if more.is_some() {
            tracing::info!(peer, job = name, reason, more, "refused");
        }
        let (place, farewells) = (self.places.clone().try_acquire_owned().ok(), self.clone());
        self.runtime.spawn(async move {
            if place.is_some() {
                tell.await;
            }
            if let (Some(_), Some((offer, rule))) = (more, job) {
                // Nobody waits for it but who ends the service, by its place.
                let kept = spawn_blocking(move || {
                    let stopped = Err(Stopped::Refused(refusal));
                    let id = session.as_deref();
                    let session = receipt::Session { offer: &offer, rule, watched: &watched, config: &config, id };
                    session.keep(&farewells.receipts, &stopped).map_err(|failure| farewells.close(&failure.message))
                });
                let _ = kept.await;
            }
            drop(place);
        });
    }

    /// Tells a caller why nothing begins, and waits for a moment until it has heard.
    pub(super) async fn tell(&self, channel: Channel, refusal: Refusal) {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            let told = self.runtime.spawn(async move {
                channel.refuse(refusal).await;
                drop(place);
            });
            let _ = told.await;
        }
    }

    /// Waits for those who are being told, each for a moment.
    pub(super) async fn end(&self) {
        let all = self.places.acquire_many(PLACES as u32);
        let _ = tokio::time::timeout(Duration::from_secs(2), all).await;
    }

    /// Writes down what has not been for a minute, or all of it, and forgets the rest.
    pub(super) fn tell_rest(&self, is_end: bool) {
        let mut over = Vec::new();
        self.written.lock().unwrap_or_else(PoisonError::into_inner).retain(|kind, (last, more)| {
            let is_over = is_end || last.elapsed() >= APART;
            if is_over && *more > 0 {
                over.push((kind.clone(), *more));
            }
            !is_over
        });
        for ((peer, job, reason), more) in over {
            tracing::info!(peer, job, reason, more, "refused as before");
        }
    }

    /// The number of those that were not written down since the last, if this one is to be.
    pub(super) fn is_first(&self, kind: Kind) -> Option<u64> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match written.get_mut(&kind) {
            Some((last, more)) if last.elapsed() < APART => {
                *more += 1;
                None
            }
            Some((last, more)) => {
                *last = Instant::now();
                Some(std::mem::take(more))
            }
            None => {
                written.insert(kind, (Instant::now(), 0));
                Some(0)
            }
        }
    }
}
