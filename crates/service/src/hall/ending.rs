//! The end of a session: first its receipt, log lines and counts, and only then its result.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use garblet::{Class, Phase, net::Fingerprint};
use garblet_console::{failure::Failure, report::PEER_EXPOSED, session::Watched};
use tokio::task::spawn_blocking;

use super::{
    super::{
        config::{Config, Offer},
        counting::Counting,
        data::RequestWords,
        outbox::{Offered, Parcel},
        receipt,
        session::{Admitted, Done, Shared, Stopped},
    },
    Stay, Ticket,
};

/// A session that has ended.
pub(in super::super) struct Ended {
    /// The result that was not accepted.
    pub(super) parcel: Option<Box<Parcel>>,
}

/// The parts of a session that are needed when it ends.
pub(super) struct Ending {
    shared: Shared,
    config: Arc<Config>,
    offer: Arc<Offer>,
    rule: usize,
    request: RequestWords,
    others: Vec<Option<Fingerprint>>,
    watched: Arc<Mutex<Watched>>,
    is_run: bool,
    counting: Counting,
    stay: Arc<Stay>,
}

impl Ending {
    pub(super) fn of(admitted: &Admitted, stay: Arc<Stay>, shared: Shared) -> Self {
        Ending {
            shared,
            config: admitted.config.clone(),
            offer: admitted.offer.clone(),
            rule: admitted.rule,
            request: admitted.request.clone(),
            others: admitted.others.clone(),
            watched: admitted.watched.clone(),
            is_run: admitted.work.is_run(),
            counting: admitted.counting.clone(),
            stay,
        }
    }

    /// The session's stay in the hall, which may last longer than this.
    pub(super) fn stay(&self) -> Weak<Stay> {
        Arc::downgrade(&self.stay)
    }

    /// From now on nothing leaves to the others in a run. A session that fills stores, which has no receipt, may send until it next waits.
    pub(super) fn cut(&self) {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).cut();
    }

    /// Writes the receipt, then logs and counts the end, and then delivers the result. If the receipt cannot be written, everybody is refused before this
    /// session's place is free.
    pub(super) async fn conclude(self, result: Result<Done, Stopped>, time: Duration) -> Ended {
        // An aborted run may be in the middle of counting: wait for the answer.
        let counting = self.counting.clone();
        let is_counted = spawn_blocking(move || counting.settle()).await.unwrap_or(true);
        // These cost the caller nothing.
        let reason = match &result {
            Err(Stopped::Refused(refusal)) => Some(refusal.name()),
            Err(Stopped::NotMet(_)) => Some("not-met"),
            Err(Stopped::Failed(failure)) if !is_counted && failure.class != Class::Misbehaviour => {
                Some(if self.is_run { "not-begun" } else { "not-filled" })
            }
            _ => None,
        };
        let is_first =
            |reason| self.shared.farewells.is_first((self.stay.peer.clone(), Some(self.stay.job.clone()), reason));
        let more = reason.map_or(Some(0), is_first);
        let (ending, result, unkept) = self.keep(result, is_counted, more).await;
        if let Some(Failure { message, .. }) = unkept {
            ending.shared.farewells.close(&message);
        }
        ending.tell(&result, (time, is_counted), more);
        let parcel = match result {
            Ok(Done::Computed(outcome)) => {
                let Ending { shared, offer, rule, request, others, .. } = &ending;
                let (offer, rule, request, others) = (offer.clone(), *rule, request.clone(), others.clone());
                let parcel = Parcel { offer, rule, others, request, outputs: outcome.outputs };
                match shared.outbox.hand_over(parcel, &shared.metrics).await {
                    Offered::NotAccepted(parcel) => Some(parcel),
                    Offered::Accepted | Offered::Ended => None,
                }
            }
            _ => None,
        };
        Ended { parcel }
    }

    /// Writes the receipt, if the session gets one.
    async fn keep(
        self,
        result: Result<Done, Stopped>,
        is_counted: bool,
        more: Option<u64>,
    ) -> (Self, Result<Done, Stopped>, Option<Failure>) {
        // Nothing ran, so nobody else is refused because such a receipt has no room: there may be room for the next one.
        let has_room = !self.shared.metrics.lacks_room();
        let is_kept = self.is_run && (is_counted || (more.is_some() && has_room));
        let (receipts, counters) = (self.shared.receipts.clone(), self.shared.counters.clone());
        let Ending { offer, rule, watched, config, stay, .. } = &self;
        let (offer, rule, watched, config, id) =
            (offer.clone(), *rule, watched.clone(), config.clone(), stay.id.clone());
        let kept = spawn_blocking(move || {
            let session = receipt::Session { offer: &offer, rule, watched: &watched, config: &config, id: Some(&id) };
            let kept = if is_kept { session.keep(&receipts, &result) } else { Ok(()) };
            // The start receipt stays until the final one is written.
            if is_counted
                && kept.is_ok()
                && let Err(error) = counters.ended(&id)
            {
                let unkept = Failure::no_result(format!("cannot write the counters: {error}"));
                return (result, Err(unkept));
            }
            (result, kept)
        });
        match kept.await {
            Ok((result, kept)) => (self, result, kept.err()),
            Err(died) => (self, Err(Stopped::Died), Some(Failure::no_result(died))),
        }
    }

    /// Logs and counts the outcome.
    fn tell(&self, result: &Result<Done, Stopped>, (time, counted): (Duration, bool), more: Option<u64>) {
        let Ticket { peer, id, job, digest, protocol, .. } = &**self.stay;
        let (metrics, seconds) = (&self.shared.metrics, rounded(time));
        let outcome = match result {
            Ok(done) => {
                self.tell_done(done, seconds);
                "done"
            }
            Err(Stopped::Refused(refusal)) => {
                metrics.refused(refusal.name());
                if more.is_some() {
                    tracing::info!(session = id, peer, job, digest, reason = refusal.name(), more, "refused");
                }
                "refused"
            }
            Err(Stopped::Failed(failure) | Stopped::NotMet(failure)) => {
                if more.is_some() {
                    self.tell_failed(failure, (seconds, counted), more);
                }
                "failed"
            }
            Err(Stopped::Died) => {
                let what = "died: this is a bug, unless the system has no threads or file descriptors left";
                tracing::error!(session = id, peer, job, digest, protocol, seconds, counted, "{what}");
                "died"
            }
            Err(Stopped::GivenUp(why)) => {
                tracing::warn!(session = id, peer, job, digest, protocol, seconds, why, counted, "aborted");
                "given-up"
            }
        };
        metrics.ended(job, outcome, self.work());
    }

    /// The work of the session, as metrics name it.
    fn work(&self) -> &'static str {
        if self.is_run { "run" } else { "filling" }
    }

    fn tell_done(&self, done: &Done, seconds: f64) {
        let Ticket { peer, id, job, digest, protocol, gates, .. } = &**self.stay;
        let (gates, phases) = match done {
            Done::Filled(phases) => (0, phases),
            Done::Computed(outcome) => (*gates, &outcome.part.phases),
        };
        let sent: u64 = Phase::ALL.iter().map(|phase| phases.of(*phase).communication.bytes_sent).sum();
        let received: u64 = Phase::ALL.iter().map(|phase| phases.of(*phase).communication.bytes_received).sum();
        self.shared.metrics.computed(gates, phases, self.work());
        // A filling is told apart from a run.
        let filled = matches!(done, Done::Filled(_)).then_some(true);
        tracing::info!(session = id, peer, job, digest, protocol, seconds, sent, received, filled, "done");
        if let Done::Computed(outcome) = done {
            if outcome.security.peer_exposed {
                self.shared.metrics.misbehaved(peer);
                tracing::error!(session = id, peer, job, "{}", PEER_EXPOSED.trim_end());
            }
            if let Some(Failure { message: reason, .. }) = &outcome.closing {
                tracing::warn!(session = id, job, reason, "done, but with a problem");
            }
        }
    }

    fn tell_failed(&self, failure: &Failure, (seconds, counted): (f64, bool), more: Option<u64>) {
        let Ticket { peer, id, job, digest, protocol, .. } = &**self.stay;
        let Failure { message: reason, hint, .. } = failure;
        if failure.class == Class::Misbehaviour {
            self.shared.metrics.misbehaved(peer);
            let what = "A PEER HAS CHEATED, or its data was changed in transit";
            tracing::error!(session = id, peer, job, digest, protocol, seconds, reason, hint, counted, "{what}");
        } else if let (Some((_, every)), true) = (&self.stay.refills, self.offer.is_mesh) {
            let (next, what) =
                (rounded(*every), "A STORE WAS NOT REFILLED: all parties must come; the next try follows");
            tracing::error!(session = id, peer, job, digest, protocol, seconds, reason, hint, next, more, "{what}");
        } else {
            tracing::warn!(session = id, peer, job, digest, protocol, seconds, reason, hint, counted, more, "failed");
        }
    }
}

/// Seconds, to the millisecond.
pub(in super::super) fn rounded(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).round() / 1e3
}
