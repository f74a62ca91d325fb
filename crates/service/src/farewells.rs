//! Farewells to refused callers: each receives the reason; the operator's log and the receipts record it once a minute.

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

/// The most refusals sent at once; further callers are cut off.
const PLACES: usize = 256;

/// The time within which the same refusal of the same caller is not recorded again.
const APART: Duration = Duration::from_secs(60);

/// A refused caller.
pub(super) struct Refused {
    /// The caller's local name.
    pub(super) peer: String,
    /// The job that it may run and the index of the rule, if the call is about one.
    pub(super) job: Option<(Arc<Offer>, usize)>,
    /// The caller and its channel's traffic.
    pub(super) watched: Arc<Mutex<Watched>>,
    /// The reason for the log, which may say more than the caller receives.
    pub(super) reason: &'static str,
    /// The request, for the log, if the caller may not have what it asks for.
    pub(super) asked: Option<String>,
    pub(super) config: Arc<Config>,
    /// The session that it was waiting for.
    pub(super) session: Option<String>,
}

/// The key for counting refusals: caller, job, reason.
type Kind = (String, Option<String>, &'static str);

/// The farewells, shared by all sessions.
#[derive(Clone)]
pub(super) struct Farewells {
    places: Arc<Semaphore>,
    /// The service's runtime, on which farewells continue.
    runtime: Handle,
    metrics: Metrics,
    receipts: Arc<Receipts>,
    /// For each refusal, the time of its last record and the number since then.
    written: Arc<Mutex<HashMap<Kind, (Instant, u64)>>>,
    /// Set once a receipt could not be written.
    is_closed: Arc<AtomicBool>,
}

impl Farewells {
    /// Creates the farewells on the current runtime.
    pub(super) fn new(metrics: Metrics, receipts: Arc<Receipts>) -> Self {
        let (places, runtime) = (Arc::new(Semaphore::new(PLACES)), Handle::current());
        Farewells { places, runtime, metrics, receipts, written: Arc::default(), is_closed: Arc::default() }
    }

    /// Returns whether everybody is refused because a receipt could not be written.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Refuses everybody from now on.
    pub(super) fn close(&self, reason: &str) {
        tracing::error!(reason, "A RECEIPT COULD NOT BE WRITTEN: everybody is refused from now on");
        self.is_closed.store(true, Ordering::Relaxed);
        self.metrics.set_ready(false);
    }

    /// Refuses a caller: informs it, then records the refusal.
    pub(super) fn refuse(&self, tell: impl Future<Output = ()> + Send + 'static, refusal: Refusal, refused: Refused) {
        let Refused { peer, job, watched, reason, asked, config, session } = refused;
        self.metrics.refused(reason);
        let name = job.as_ref().map(|(offer, _)| offer.name.clone());
        let more = self.is_first((peer.clone(), name.clone(), reason));
        if more.is_some() {
            tracing::info!(peer, job = name, reason, asked, more, "refused");
        }
        let (place, farewells) = (self.places.clone().try_acquire_owned().ok(), self.clone());
        self.runtime.spawn(async move {
            if place.is_some() {
                tell.await;
            }
            if let (Some(_), Some((offer, rule))) = (more, job) {
                // Only the end of the service waits for this, by its permit.
                let kept = spawn_blocking(move || {
                    let stopped = Err(Stopped::Refused(refusal));
                    let id = session.as_deref();
                    let session = receipt::Session { offer: &offer, rule, watched: &watched, config: &config, id };
                    // Nothing ran, so nobody else is refused for it.
                    if let Err(failure) = session.keep(&farewells.receipts, &stopped) {
                        farewells.metrics.set_room(false);
                        tracing::error!(reason = failure.message, hint = failure.hint, "no receipt of a refusal");
                    }
                });
                let _ = kept.await;
            }
            drop(place);
        });
    }

    /// Sends a caller the refusal, and waits a moment for it to arrive.
    pub(super) async fn tell(&self, channel: Channel, refusal: Refusal) {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            let told = self.runtime.spawn(async move {
                channel.refuse(refusal).await;
                drop(place);
            });
            let _ = told.await;
        }
    }

    /// Waits a moment for each refusal being sent.
    pub(super) async fn end(&self) {
        let all = self.places.acquire_many(PLACES as u32);
        let _ = tokio::time::timeout(Duration::from_secs(2), all).await;
    }

    /// Records counts older than a minute, or all of them, and forgets the rest.
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

    /// If this refusal should be recorded, the number of unrecorded ones since the last record.
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
