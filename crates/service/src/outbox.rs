//! Results that wait for delivery: one that the operator's folder or program does not accept is offered again until it does.

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

/// The time before a result is first offered again; it doubles each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// All undelivered results; clones share them.
#[derive(Clone)]
pub(super) struct Outbox {
    waiting: Arc<Mutex<BTreeMap<String, Waiting>>>,
    /// The current configuration, which says where results go.
    config: watch::Receiver<Arc<Config>>,
    /// Signals that the service ends.
    over: watch::Sender<bool>,
}

/// An undelivered result.
#[derive(Clone)]
struct Waiting {
    job: String,
    sink: ResultSink,
    /// Set once it was not accepted.
    is_refused: bool,
}

/// A result and its destination.
pub(super) struct Parcel {
    pub(super) offer: Arc<Offer>,
    /// The rule's index.
    pub(super) rule: usize,
    /// The identities of all other parties.
    pub(super) others: Vec<Option<Fingerprint>>,
    pub(super) request: RequestWords,
    pub(super) outputs: Vec<Option<Bits>>,
}

/// The outcome of offering a result.
pub(super) enum Offered {
    /// It was accepted, or nobody wants it.
    Accepted,
    NotAccepted(Box<Parcel>),
    /// The service ended meanwhile.
    Ended,
}

impl Outbox {
    /// Creates an empty outbox. Waiting results follow the current configuration, as long as it has a destination for them.
    pub(super) fn new(config: watch::Receiver<Arc<Config>>) -> Self {
        Outbox { waiting: Arc::default(), config, over: watch::Sender::new(false) }
    }

    /// Ends all deliveries, and kills the programs that take them.
    pub(super) fn end(&self) {
        self.over.send_replace(true);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A result's destination by the current configuration, else by the one under which it was computed, else the last one tried.
    fn sink(&self, parcel: &Parcel) -> Option<ResultSink> {
        let Parcel { offer, rule, others, request, .. } = parcel;
        let now = self.config.borrow().results(&offer.digest, others).cloned();
        let of_rule = || offer.rules[*rule].results.clone();
        now.or_else(of_rule).or_else(|| self.lock().get(&request.id).map(|waiting| waiting.sink.clone()))
    }

    /// Returns whether a waiting result was not accepted by the destination of this rule.
    pub(super) fn blocks(&self, rule: &Rule) -> bool {
        self.lock().values().any(|waiting| waiting.is_refused && rule.results.as_ref() == Some(&waiting.sink))
    }

    /// Delivers a result if its rule has a destination.
    pub(super) async fn hand_over(&self, parcel: Parcel, metrics: &Metrics) -> Offered {
        let Some(sink) = self.sink(&parcel) else { return Offered::Accepted };
        let (id, job) = (parcel.request.id.clone(), parcel.offer.name.clone());
        let fresh = Waiting { job: job.clone(), sink: sink.clone(), is_refused: false };
        // Report each destination's first failure only.
        self.lock()
            .entry(id.clone())
            .and_modify(|waiting| {
                if waiting.sink != sink {
                    *waiting = fresh.clone();
                }
            })
            .or_insert_with(|| fresh.clone());
        let (parcel, handed) = parcel.offered(sink, self.over.subscribe()).await;
        let Some(handed) = handed else {
            if let Some(waiting) = self.lock().get_mut(&id) {
                waiting.is_refused = false;
            }
            tracing::warn!(
                session = id,
                job,
                "the service ends: it killed the program to which it was handing this result"
            );
            return Offered::Ended;
        };
        let is_first = match (&handed, self.lock().get_mut(&id)) {
            (Err(_), Some(waiting)) => !std::mem::replace(&mut waiting.is_refused, true),
            _ => false,
        };
        if handed.is_ok() {
            self.lock().remove(&id);
        }
        metrics.set_waiting_results(self.lock().values().filter(|waiting| waiting.is_refused).count());
        match handed {
            Ok(()) => Offered::Accepted,
            Err(Failure { message: reason, .. }) => {
                if is_first {
                    tracing::error!(
                        session = id,
                        job,
                        reason,
                        "A RESULT COULD NOT BE DELIVERED: it is offered again, and this rule serves nobody until it is accepted"
                    );
                }
                Offered::NotAccepted(Box::new(parcel))
            }
        }
    }

    /// Offers a result again until it is accepted or the service ends.
    pub(super) async fn insist(self, mut parcel: Box<Parcel>, metrics: Metrics) {
        let (mut pause, mut config, mut over) = (FIRST_PAUSE, self.config.clone(), self.over.subscribe());
        config.mark_unchanged();
        loop {
            tokio::select! {
                () = sleep(pause) => pause = LONGEST_PAUSE.min(2 * pause),
                // A new destination may accept it at once.
                Ok(()) = config.changed() => pause = FIRST_PAUSE,
                _ = over.wait_for(|over| *over) => return,
            }
            let (id, job) = (parcel.request.id.clone(), parcel.offer.name.clone());
            match self.hand_over(*parcel, &metrics).await {
                Offered::NotAccepted(again) => parcel = again,
                Offered::Accepted => return tracing::info!(session = id, job, "the result was delivered"),
                Offered::Ended => return,
            }
        }
    }

    /// Logs the results that are lost when the service ends.
    pub(super) fn tell_lost(&self) {
        for (session, Waiting { job, is_refused, .. }) in &*self.lock() {
            let what = match is_refused {
                true => "THE RESULT OF THIS SESSION IS LOST: nothing accepted it",
                false => "THE RESULT OF THIS SESSION MAY BE LOST: it was not yet accepted when the service ended",
            };
            tracing::error!(session, job, "{what}");
        }
    }
}

impl Parcel {
    /// Offers it to a destination, however long that takes; without an answer if the service ends first.
    async fn offered(self, sink: ResultSink, mut over: watch::Receiver<bool>) -> (Parcel, Option<Result<(), Failure>>) {
        let Parcel { offer, rule, request, outputs, .. } = &self;
        let (offer, rule, request, outputs) = (offer.clone(), *rule, request.clone(), outputs.clone());
        let handed = on_own_thread(move || async move {
            Ok::<_, Error>(tokio::select! {
                biased;
                handed = data::hand_over((&offer, &offer.rules[rule]), &sink, &request, &outputs) => Some(handed),
                // The delivery is dropped first, which kills its program.
                _ = over.wait_for(|over| *over) => None,
            })
        });
        let died = |_| Some(Err(Failure::no_result("its thread ended without an answer")));
        let handed = handed.await.unwrap_or_else(died);
        (self, handed)
    }
}
