//! The results that wait to be handed over: what the operator's folder or program does not take is offered again until it does.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use garblet::{Bits, Error, net::Fingerprint, on_own_thread};
use garblet_console::failure::Failure;
use tokio::{sync::watch, time::sleep};

use super::{
    config::{Config, Offer},
    data::{self, RequestWords, ResultSink},
    metrics::Metrics,
    rule::Rule,
};

/// The time after which a result is first offered again; each time twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// All results that are not handed over yet; clones are the same.
#[derive(Clone)]
pub(super) struct Outbox {
    waiting: Arc<Mutex<BTreeMap<String, Waiting>>>,
    /// The configuration in force, which says where results go.
    config: watch::Receiver<Arc<Config>>,
}

/// A result that is not handed over yet.
#[derive(Clone)]
struct Waiting {
    job: String,
    sink: ResultSink,
    /// Set once it was not taken.
    is_refused: bool,
}

/// A result, and where it goes.
pub(super) struct Parcel {
    pub(super) offer: Arc<Offer>,
    /// The rule's place.
    pub(super) rule: usize,
    /// The identities of all others.
    pub(super) others: Vec<Option<Fingerprint>>,
    pub(super) request: RequestWords,
    pub(super) outputs: Vec<Option<Bits>>,
}

impl Outbox {
    /// An empty one. Results that wait go where the configuration in force says, as long as that has a place for them.
    pub(super) fn new(config: watch::Receiver<Arc<Config>>) -> Self {
        Outbox { waiting: Arc::default(), config }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place for a result: by the configuration in force, else by the one under which it was computed, else the last to which it was offered.
    fn sink(&self, parcel: &Parcel) -> Option<ResultSink> {
        let Parcel { offer, rule, others, request, .. } = parcel;
        let now = self.config.borrow().results(&offer.digest, others).cloned();
        let of_rule = || offer.rules[*rule].results.clone();
        now.or_else(of_rule).or_else(|| self.lock().get(&request.id).map(|waiting| waiting.sink.clone()))
    }

    /// Tells whether a result for the place where those of a rule go was not taken, and waits.
    pub(super) fn blocks(&self, rule: &Rule) -> bool {
        self.lock().values().any(|waiting| waiting.is_refused && rule.results.as_ref() == Some(&waiting.sink))
    }

    /// Hands a result over, if its rule says where to. Returns it if it is not taken.
    pub(super) async fn hand_over(&self, parcel: Parcel, metrics: &Metrics) -> Option<Parcel> {
        let sink = self.sink(&parcel)?;
        let (id, job) = (parcel.request.id.clone(), parcel.offer.name.clone());
        let fresh = Waiting { job: job.clone(), sink: sink.clone(), is_refused: false };
        // A place that was told of once is new to nobody; another one is.
        self.lock()
            .entry(id.clone())
            .and_modify(|waiting| {
                if waiting.sink != sink {
                    *waiting = fresh.clone();
                }
            })
            .or_insert_with(|| fresh.clone());
        let (parcel, handed) = parcel.offered(sink).await;
        let is_first = match (&handed, self.lock().get_mut(&id)) {
            (Err(_), Some(waiting)) => !std::mem::replace(&mut waiting.is_refused, true),
            _ => false,
        };
        if handed.is_ok() {
            self.lock().remove(&id);
        }
        metrics.set_waiting_results(self.lock().values().filter(|waiting| waiting.is_refused).count());
        match handed {
            Ok(()) => None,
            Err(Failure { message: reason, .. }) => {
                if is_first {
                    tracing::error!(
                        session = id,
                        job,
                        reason,
                        "A RESULT COULD NOT BE HANDED OVER: it is offered again, and nobody else is served by this rule until it is taken"
                    );
                }
                Some(parcel)
            }
        }
    }

    /// Offers a result again until it is taken.
    pub(super) async fn insist(self, mut parcel: Parcel, metrics: Metrics) {
        let (mut pause, mut config) = (FIRST_PAUSE, self.config.clone());
        config.mark_unchanged();
        loop {
            tokio::select! {
                () = sleep(pause) => pause = LONGEST_PAUSE.min(2 * pause),
                // Another place may take it at once.
                Ok(()) = config.changed() => pause = FIRST_PAUSE,
            }
            let (id, job) = (parcel.request.id.clone(), parcel.offer.name.clone());
            match self.hand_over(parcel, &metrics).await {
                Some(again) => parcel = again,
                None => {
                    tracing::info!(session = id, job, "the result is handed over");
                    return;
                }
            }
        }
    }

    /// Logs what is lost, as the service ends.
    pub(super) fn tell_lost(&self) {
        for (session, Waiting { job, .. }) in &*self.lock() {
            tracing::error!(session, job, "THE RESULT OF THIS SESSION IS LOST: nothing took it");
        }
    }
}

impl Parcel {
    /// Offers it to a place, whatever time that takes.
    async fn offered(self, sink: ResultSink) -> (Parcel, Result<(), Failure>) {
        let Parcel { offer, rule, request, outputs, .. } = &self;
        let (offer, rule, request, outputs) = (offer.clone(), *rule, request.clone(), outputs.clone());
        let handed = on_own_thread(move || async move {
            Ok::<_, Error>(data::hand_over((&offer, &offer.rules[rule]), &sink, &request, &outputs).await)
        });
        let handed = handed.await.unwrap_or_else(|_| Err(Failure::no_result("its thread has died")));
        (self, handed)
    }
}
