//! The hall of a service: who waits, which sessions run, and how each ended.

mod door;

use std::{
    collections::{HashMap, VecDeque},
    future::pending,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use garblet::on_own_thread;
use garblet_net::{Caller, Refusal};
use tokio::{
    sync::watch,
    task::{JoinHandle, JoinSet, spawn_blocking},
    time::{Instant, sleep, timeout_at},
};

use self::door::Arrivals;
use super::{
    config::{Config, Offer},
    farewells::Refused,
    read_ahead::ReadAhead,
    receipt,
    rule::Rule,
    session::{self, Admitted, Done, Shared, Stopped, Work},
};
use crate::{
    failure::{Class, Failure},
    report::PEER_EXPOSED,
};

/// The time in which sessions that are given up are written down.
const GIVING_UP: Duration = Duration::from_secs(5);

/// A session's job and name.
type Named = (String, String);

/// The hall.
pub(super) struct Hall {
    config: Arc<Config>,
    shared: Shared,
    sessions: JoinSet<Ended>,
    running: usize,
    waiting: VecDeque<Waiting>,
    /// Sessions of each caller, those that wait included.
    of_peer: HashMap<String, usize>,
    /// The sessions with names that run or wait, and where those of several parties take in who comes later.
    named: HashMap<Named, Option<Arrivals>>,
    /// The stores that are refilled, each with the time of the next look; none while one is under way.
    refills: HashMap<PathBuf, Option<Instant>>,
    /// The look at the files of inputs that is under way.
    reading: Option<JoinHandle<()>>,
    is_stopping: bool,
    /// Says that all sessions are given up.
    over: watch::Sender<bool>,
}

/// A session that has no place yet.
struct Waiting {
    since: Instant,
    admitted: Admitted,
    ticket: Ticket,
}

/// The things that a session holds in the hall.
#[derive(Clone)]
struct Ticket {
    /// The caller as it is counted, by its identity.
    caller: String,
    peer: String,
    named: Option<Named>,
    id: String,
    job: String,
    digest: String,
    protocol: String,
    gates: u64,
    /// The store that the service refills, and when it looks again.
    refills: Option<(PathBuf, Duration)>,
}

/// A session that has ended.
pub(super) struct Ended {
    ticket: Ticket,
    seconds: f64,
    result: Result<Done, Stopped>,
    /// The number of those alike that were not written down before it; none if it is not to be either.
    more: Option<u64>,
    /// The receipt that could not be kept.
    unkept: Option<Failure>,
}

impl Hall {
    pub(super) fn new(config: Arc<Config>, shared: Shared) -> Self {
        Hall {
            config,
            shared,
            sessions: JoinSet::new(),
            running: 0,
            waiting: VecDeque::new(),
            of_peer: HashMap::new(),
            named: HashMap::new(),
            refills: HashMap::new(),
            reading: None,
            is_stopping: false,
            over: watch::Sender::new(false),
        }
    }

    pub(super) fn config(&self) -> Arc<Config> {
        self.config.clone()
    }

    /// Goes on with another configuration; what runs or waits keeps its own.
    pub(super) fn set_config(&mut self, config: Config) {
        self.config = Arc::new(config);
    }

    pub(super) fn read_ahead(&self) -> ReadAhead {
        self.shared.ahead.clone()
    }

    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Tells whether nobody is there.
    pub(super) fn is_empty(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    fn start(&mut self, admitted: Admitted, ticket: Ticket) {
        self.running += 1;
        tracing::debug!(session = ticket.id, peer = ticket.peer, job = ticket.job, "has a place");
        let (shared, config, mut over) = (self.shared.clone(), self.config.clone(), self.over.subscribe());
        self.sessions.spawn(async move {
            let begin = Instant::now();
            let is_run = !matches!(admitted.work, Work::Fill(..) | Work::Refill(_));
            let (offer, rule, watched) = (admitted.offer.clone(), admitted.rule, admitted.watched.clone());
            let request = admitted.request.clone();
            let (receipts, farewells) = (shared.receipts.clone(), shared.farewells.clone());
            let session = on_own_thread(move || session::run(admitted, shared));
            let result = tokio::select! {
                biased;
                result = session => result,
                () = sleep(config.limits.session.0) => Err(Stopped::GivenUp("it took too long")),
                _ = over.wait_for(|over| *over) => Err(Stopped::GivenUp("the service was stopped")),
            };
            let seconds = begin.elapsed().as_secs_f64();
            let of_offer = offer.clone();
            let result = match result {
                Ok(done) if offer.rules[rule].results.is_some() => {
                    on_own_thread(move || async move {
                        Ok::<_, Stopped>(session::hand_over(done, &of_offer, rule, &request).await)
                    })
                    .await
                }
                other => other,
            };
            // These cost a caller nothing.
            let reason = match &result {
                Err(Stopped::Refused(refusal)) => Some(refusal.name()),
                Err(Stopped::NotMet(_)) => Some("not-met"),
                Err(Stopped::Failed(failure)) if !is_run && failure.class != Class::Misbehaviour => Some("not-filled"),
                _ => None,
            };
            let is_first = |reason| farewells.is_first((ticket.peer.clone(), Some(ticket.job.clone()), reason));
            let more = reason.map_or(Some(0), is_first);
            let is_kept = is_run && more.is_some();
            let kept = spawn_blocking(move || {
                let kept = is_kept.then(|| receipt::keep(&receipts, (&offer, rule), &watched, &config, &result));
                (result, kept.and_then(Result::err))
            });
            match kept.await {
                Ok((result, unkept)) => Ended { ticket, seconds, result, more, unkept },
                Err(died) => {
                    let unkept = Some(Failure::no_result(died));
                    Ended { ticket, seconds, result: Err(Stopped::Died), more, unkept }
                }
            }
        });
    }

    /// The next session that ends; never, while none runs.
    pub(super) async fn next_ended(&mut self) -> Ended {
        loop {
            match self.sessions.join_next().await {
                Some(Ok(ended)) => return ended,
                // Tasks do nothing but wait: none panics, and none is aborted before the end.
                Some(Err(_)) => {}
                None => return pending().await,
            }
        }
    }

    /// Notes how a session has ended, and begins the next.
    pub(super) fn end(&mut self, ended: Ended) {
        self.running -= 1;
        let Ended { ticket, seconds, result, more, unkept } = ended;
        self.release(&ticket);
        let Ticket { peer, id, job, digest, protocol, .. } = &ticket;
        let outcome = match &result {
            Ok(done) => {
                let (gates, phases) = match done {
                    Done::Filled(phases) => (0, phases),
                    Done::Computed { outcome, .. } => (ticket.gates, &outcome.part.phases),
                };
                let sent: u64 =
                    garblet::Phase::ALL.iter().map(|phase| phases.of(*phase).communication.bytes_sent).sum();
                let received: u64 =
                    garblet::Phase::ALL.iter().map(|phase| phases.of(*phase).communication.bytes_received).sum();
                self.shared.metrics.computed(gates, phases);
                tracing::info!(session = id, peer, job, digest, protocol, seconds, sent, received, "done");
                if let Done::Computed { outcome, unhanded } = done {
                    if outcome.security.peer_exposed {
                        self.shared.metrics.misbehaved(peer);
                        tracing::error!(session = id, peer, job, "{}", PEER_EXPOSED.trim_end());
                    }
                    for Failure { message: reason, .. } in unhanded.iter().chain(&outcome.closing) {
                        tracing::warn!(session = id, job, reason, "done, but not all is well");
                    }
                }
                "done"
            }
            Err(Stopped::Refused(refusal)) => {
                self.shared.metrics.refused(refusal.name());
                if more.is_some() {
                    tracing::info!(session = id, peer, job, digest, reason = refusal.name(), more, "refused");
                }
                "refused"
            }
            Err(Stopped::Failed(failure) | Stopped::NotMet(failure)) => {
                if more.is_some() {
                    self.tell_failed(&ticket, failure, seconds, more);
                }
                "failed"
            }
            Err(Stopped::Died) => {
                tracing::error!(session = id, peer, job, digest, protocol, seconds, "died: this is a bug");
                "died"
            }
            Err(Stopped::GivenUp(why)) => {
                tracing::warn!(session = id, peer, job, digest, protocol, seconds, why, "was given up");
                "given-up"
            }
        };
        self.shared.metrics.ended(job, outcome);
        if let Some(Failure { message, .. }) = unkept {
            self.shared.farewells.close(&message);
        }
        if self.shared.farewells.is_closed() {
            self.refuse_waiting(Refusal::Closed);
        }
        self.begin_waiting();
    }

    fn tell_failed(&self, ticket: &Ticket, failure: &Failure, seconds: f64, more: Option<u64>) {
        let Ticket { peer, id, job, digest, protocol, .. } = ticket;
        let Failure { message: reason, hint, .. } = failure;
        if failure.class == Class::Misbehaviour {
            self.shared.metrics.misbehaved(peer);
            let what = "A PEER HAS CHEATED, or what it sent was changed";
            tracing::error!(session = id, peer, job, digest, protocol, seconds, reason, hint, "{what}");
        } else {
            tracing::warn!(session = id, peer, job, digest, protocol, seconds, reason, more, "failed");
        }
    }

    fn begin_waiting(&mut self) {
        while self.running < self.config.limits.sessions
            && self.has_memory()
            && let Some(Waiting { admitted, ticket, .. }) = self.waiting.pop_front()
        {
            self.start(admitted, ticket);
        }
    }

    fn release(&mut self, ticket: &Ticket) {
        if let Some((store, every)) = &ticket.refills {
            self.refills.insert(store.clone(), Some(Instant::now() + *every));
        }
        if let Some(named) = &ticket.named {
            self.named.remove(named);
        }
        if let Some(count) = self.of_peer.get_mut(&ticket.caller) {
            *count -= 1;
            if *count == 0 {
                self.of_peer.remove(&ticket.caller);
            }
        }
    }

    /// Refuses those who have waited for too long, and counts who is there.
    pub(super) fn look(&mut self, strangers: u64) {
        let most = self.config.limits.wait.0;
        while self.waiting.front().is_some_and(|first| first.since.elapsed() >= most) {
            self.refuse_first(Refusal::Busy);
        }
        if self.shared.farewells.is_closed() {
            self.refuse_waiting(Refusal::Closed);
        }
        self.begin_waiting();
        self.refill();
        self.shared.farewells.tell_rest(false);
        if self.reading.as_ref().is_none_or(JoinHandle::is_finished) {
            let (ahead, config) = (self.shared.ahead.clone(), self.config.clone());
            self.reading = Some(spawn_blocking(move || ahead.look(&config)));
        }
        self.shared.metrics.see(self.running, self.waiting.len(), strangers);
    }

    /// Begins to refill the stores whose time has come, as long as nobody waits and there is room for a caller beside it.
    fn refill(&mut self) {
        let config = self.config.clone();
        let rules = |offer: &Arc<Offer>| (0..offer.rules.len()).map(|rule| (offer.clone(), rule)).collect::<Vec<_>>();
        for (offer, rule) in config.offers.iter().flat_map(rules) {
            let Rule { store: Some(store), refill: Some(refill), peers, .. } = &offer.rules[rule] else { continue };
            let is_due = match self.refills.get(&store.path) {
                None => true,
                Some(None) => false,
                Some(Some(next)) => *next <= Instant::now(),
            } && self.shared.stores.may_be_filled(&store.path);
            let under_way = self.refills.values().filter(|next| next.is_none()).count();
            let has_room = self.running == 0 || self.running + 1 < config.limits.sessions;
            if !is_due || !has_room || !self.waiting.is_empty() || under_way >= config.limits.per_peer {
                continue;
            }
            let identity = peers.first().map(|(_, fingerprint)| *fingerprint);
            let refills = Some((store.path.clone(), refill.every.0));
            let ticket = Ticket { refills, ..self.ticket(&offer, identity, None) };
            if self.has_room_for(&ticket, false).is_err() {
                continue;
            }
            self.refills.insert(store.path.clone(), None);
            *self.of_peer.entry(ticket.caller.clone()).or_default() += 1;
            let request = self.request(&ticket, &offer, rule, identity);
            let (work, watched, options) = (Work::Refill(refill.clone()), Arc::default(), config.options());
            self.start(Admitted { request, offer: offer.clone(), rule, work, options, watched }, ticket);
        }
    }

    /// Begins to stop: who waits is refused, and so is who comes.
    pub(super) fn stop(&mut self) {
        self.is_stopping = true;
        self.shared.metrics.set_ready(false);
        self.refuse_waiting(Refusal::Stopping);
    }

    fn refuse_waiting(&mut self, refusal: Refusal) {
        while !self.waiting.is_empty() {
            self.refuse_first(refusal);
        }
    }

    /// Gives all sessions up, and waits until that is written down.
    pub(super) async fn give_up(&mut self) {
        self.over.send_replace(true);
        let end = Instant::now() + GIVING_UP;
        while self.running > 0
            && let Ok(ended) = timeout_at(end, self.next_ended()).await
        {
            self.end(ended);
        }
    }

    /// Waits for those who are being refused, each for a moment.
    pub(super) async fn farewell(&mut self) {
        self.shared.farewells.end().await;
        self.shared.farewells.tell_rest(true);
    }

    fn refuse_first(&mut self, refusal: Refusal) {
        let Some(Waiting { admitted, ticket, .. }) = self.waiting.pop_front() else { return };
        self.release(&ticket);
        let Admitted { offer, rule, work, watched, .. } = admitted;
        let is_run = !matches!(work, Work::Fill(..));
        let refused = |peer: String| Refused {
            peer,
            job: is_run.then(|| (offer.clone(), rule)),
            watched: watched.clone(),
            reason: refusal.name(),
            config: self.config.clone(),
        };
        let farewells = &self.shared.farewells;
        match work {
            Work::Compute(channel) | Work::Fill(channel, _) => {
                farewells.refuse(*channel, refusal, refused(ticket.peer));
            }
            // None of them waits.
            Work::Refill(_) => {}
            Work::Mesh(mut callers) => {
                while let Ok(Caller { channel, .. }) = callers.try_recv() {
                    let peer = self.config.name(channel.peer());
                    farewells.refuse(channel, refusal, refused(peer));
                }
            }
        }
    }
}
