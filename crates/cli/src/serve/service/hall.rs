//! The hall of a service: who is let in, who waits, which sessions run, and how each ended.

use std::{
    collections::{HashMap, VecDeque},
    future::pending,
    sync::{Arc, Mutex, PoisonError},
};

use garblet::{SavedValues, on_own_thread, wants_to_fill};
use garblet_net::{Caller, Channel, Refusal, Tls};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::Instant,
};

use super::{
    config::{Config, Offer},
    data::RequestWords,
    session::{self, Admitted, Done, Shared, Stopped, Work},
};
use crate::{
    failure::{Class, Failure},
    hex::to_hex,
    receipts::{Receipts, Run},
    report::rss_bytes,
    session::Watched,
};

/// The refusals that are being told at once; who comes beyond that is cut off.
const FAREWELLS: usize = 256;

/// Parties of one session that have come and were not met yet.
const ARRIVALS: usize = 256;

/// The peer without an identity, as it is counted.
const NOBODY: &str = "nobody";

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
    named: HashMap<Named, Option<mpsc::Sender<Caller>>>,
    farewells: Arc<Semaphore>,
    is_stopping: bool,
    /// Set when a receipt could not be kept.
    is_closed: bool,
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
    peer: String,
    named: Option<Named>,
    id: String,
    job: String,
    digest: String,
    protocol: String,
    gates: u64,
}

/// A session that has ended.
pub(super) struct Ended {
    ticket: Ticket,
    seconds: f64,
    /// None if it took too long.
    result: Option<Result<Done, Stopped>>,
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
            farewells: Arc::new(Semaphore::new(FAREWELLS)),
            is_stopping: false,
            is_closed: false,
        }
    }

    pub(super) fn config(&self) -> Arc<Config> {
        self.config.clone()
    }

    /// Goes on with another configuration; what runs or waits keeps its own.
    pub(super) fn set_config(&mut self, config: Config) {
        self.config = Arc::new(config);
    }

    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Tells whether nobody is there.
    pub(super) fn is_empty(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }

    /// Receives a caller: begins its session, lets it wait, or refuses it.
    pub(super) fn receive(&mut self, caller: Caller) {
        let peer = self.config.name(caller.channel.peer());
        let (session, hello) = (caller.channel.session().map(ToString::to_string), &caller.hello);
        let below = wants_to_fill(hello);
        let decided = match below {
            Some(_) => self.config.decide_filling(hello, caller.channel.peer()),
            None => self.config.decide(hello, caller.channel.peer()),
        };
        let (offer, rule) = match decided {
            Ok((offer, rule)) => (self.config.offers[offer].clone(), rule),
            Err(refusal) => return self.refuse(caller.channel, refusal, &peer, None),
        };
        let job = Some(&offer.name[..]);
        let named = session.clone().map(|name| (offer.digest.clone(), name));
        if let Some(running) = named.as_ref().and_then(|named| self.named.get(named)) {
            let Some(takes_in) = running else { return self.refuse(caller.channel, Refusal::SessionInUse, &peer, job) };
            if let Err(error) = takes_in.try_send(caller) {
                let (mpsc::error::TrySendError::Full(caller) | mpsc::error::TrySendError::Closed(caller)) = error;
                self.refuse(caller.channel, Refusal::SessionInUse, &peer, job);
            }
            return;
        }
        if let Err(refusal) = self.has_room_for(&peer, offer.is_mesh && named.is_none()) {
            return self.refuse(caller.channel, refusal, &peer, job);
        }
        let identities = offer.others(rule, caller.channel.peer());
        let id = to_hex(&rand::random::<[u8; 8]>());
        let peers = identities.iter().map(|identity| self.config.name(*identity)).collect();
        let counted = identities.iter().map(|identity| identity.map_or(NOBODY.into(), |print| print.to_string()));
        let request = RequestWords { id: id.clone(), session: session.clone(), peers, counted: counted.collect() };
        let mut options = self.config.options();
        let party = offer.rules[rule].party;
        let mut watched = Watched::default();
        let (mut takes_in, mut work) = (None, None);
        match (below, offer.is_mesh) {
            (Some(below), _) => work = Some(Work::Fill(Box::new(caller.channel), below)),
            (None, false) => {
                watched = Watched::of_watch(caller.watch, party);
                work = Some(Work::Compute(Box::new(caller.channel)));
            }
            (None, true) => {
                options.session = caller.channel.session().cloned();
                options.job = Some(offer.digest.clone());
                let (send, receive) = mpsc::channel(ARRIVALS);
                if send.try_send(caller).is_ok() {
                    (takes_in, work) = (Some(send), Some(Work::Mesh(receive)));
                }
            }
        }
        let Some(work) = work else { return };
        let (digest, protocol) = (offer.digest.clone(), offer.settings.protocol.clone());
        let (job, gates) = (offer.name.clone(), offer.program.stats().and);
        let ticket = Ticket { peer: peer.clone(), named: named.clone(), id, job, digest, protocol, gates };
        *self.of_peer.entry(peer).or_default() += 1;
        if let Some(named) = named {
            self.named.insert(named, takes_in);
        }
        let watched = Arc::new(Mutex::new(watched));
        let admitted = Admitted { request, offer, rule, work, options, watched };
        match self.running < self.config.limits.sessions {
            true => self.start(admitted, ticket),
            false => self.waiting.push_back(Waiting { since: Instant::now(), admitted, ticket }),
        }
    }

    /// Looks whether a caller may have a session, now or when one has ended.
    fn has_room_for(&self, peer: &str, is_nameless: bool) -> Result<(), Refusal> {
        let limits = &self.config.limits;
        let is_full = self.running >= limits.sessions && self.waiting.len() >= limits.waiting;
        let memory = || limits.memory_mb.is_some_and(|most| rss_bytes().is_some_and(|held| held / 1_000_000 >= most));
        match () {
            () if self.is_closed => Err(Refusal::Closed),
            () if self.is_stopping => Err(Refusal::Stopping),
            () if is_nameless => Err(Refusal::Nameless),
            () if self.of_peer.get(peer).is_some_and(|count| *count >= limits.per_peer) => {
                Err(Refusal::TooManyOfCaller)
            }
            () if is_full || memory() => Err(Refusal::Busy),
            () => Ok(()),
        }
    }

    fn start(&mut self, admitted: Admitted, ticket: Ticket) {
        self.running += 1;
        let Ticket { peer, id, job, digest, protocol, named, .. } = &ticket;
        let name = named.as_ref().map(|(_, name)| &name[..]);
        tracing::info!(session = id, name, peer, job, digest, protocol, "begins");
        let (shared, config) = (self.shared.clone(), self.config.clone());
        self.sessions.spawn(async move {
            let begin = Instant::now();
            let is_run = !matches!(admitted.work, Work::Fill(..));
            let (offer, rule, watched) = (admitted.offer.clone(), admitted.rule, admitted.watched.clone());
            let receipts = shared.receipts.clone();
            let session = on_own_thread(move || session::run(admitted, shared));
            let result = tokio::time::timeout(config.limits.session.0, session).await.ok();
            let seconds = begin.elapsed().as_secs_f64();
            let kept = tokio::task::spawn_blocking(move || {
                let kept = is_run.then(|| keep(&receipts, (&offer, rule), &watched, &config, result.as_ref()));
                (result, kept.and_then(Result::err))
            });
            match kept.await {
                Ok((result, unkept)) => Ended { ticket, seconds, result, unkept },
                Err(died) => {
                    Ended { ticket, seconds, result: Some(Err(Stopped::Died)), unkept: Some(Failure::no_result(died)) }
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
        let Ended { ticket, seconds, result, unkept } = ended;
        self.release(&ticket);
        let Ticket { peer, id, job, digest, protocol, .. } = &ticket;
        let outcome = match &result {
            Some(Ok(done)) => {
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
                    for Failure { message: reason, .. } in unhanded.iter().chain(&outcome.closing) {
                        tracing::warn!(session = id, job, reason, "done, but not all is well");
                    }
                }
                "done"
            }
            Some(Err(Stopped::Refused(refusal))) => {
                self.shared.metrics.refused(refusal.name());
                tracing::info!(session = id, peer, job, digest, reason = refusal.name(), "refused");
                "refused"
            }
            Some(Err(Stopped::Failed(failure))) => {
                let reason = &failure.message;
                tracing::warn!(session = id, peer, job, digest, protocol, seconds, reason, "failed");
                "failed"
            }
            Some(Err(Stopped::Died)) => {
                tracing::error!(session = id, peer, job, digest, protocol, seconds, "died: this is a bug");
                "died"
            }
            None => {
                tracing::warn!(session = id, peer, job, digest, protocol, seconds, "took too long, and was given up");
                "too-long"
            }
        };
        self.shared.metrics.ended(job, outcome);
        if let Some(Failure { message: reason, .. }) = unkept {
            tracing::error!(session = id, job, reason, "NO RECEIPT COULD BE KEPT: everybody is refused from now on");
            self.is_closed = true;
            self.shared.metrics.set_ready(false);
            self.refuse_waiting(Refusal::Closed);
        }
        self.begin_waiting();
    }

    fn begin_waiting(&mut self) {
        while self.running < self.config.limits.sessions
            && let Some(Waiting { admitted, ticket, .. }) = self.waiting.pop_front()
        {
            self.start(admitted, ticket);
        }
    }

    fn release(&mut self, ticket: &Ticket) {
        if let Some(named) = &ticket.named {
            self.named.remove(named);
        }
        if let Some(count) = self.of_peer.get_mut(&ticket.peer) {
            *count -= 1;
            if *count == 0 {
                self.of_peer.remove(&ticket.peer);
            }
        }
    }

    /// Refuses those who have waited for too long, and counts who is there.
    pub(super) fn look(&mut self, strangers: u64) {
        let most = self.config.limits.wait.0;
        while self.waiting.front().is_some_and(|first| first.since.elapsed() >= most) {
            self.refuse_first(Refusal::Busy);
        }
        self.shared.metrics.see(self.running, self.waiting.len(), strangers);
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

    /// Waits for those who are being refused, each for a moment.
    pub(super) async fn farewell(&mut self) {
        self.sessions.abort_all();
        let all = self.farewells.acquire_many(FAREWELLS as u32);
        let _ = tokio::time::timeout(std::time::Duration::from_secs(2), all).await;
    }

    fn refuse_first(&mut self, refusal: Refusal) {
        let Some(Waiting { admitted, ticket, .. }) = self.waiting.pop_front() else { return };
        self.release(&ticket);
        let job = Some(&ticket.job[..]);
        match admitted.work {
            Work::Compute(channel) | Work::Fill(channel, _) => self.refuse(*channel, refusal, &ticket.peer, job),
            Work::Mesh(mut callers) => {
                while let Ok(caller) = callers.try_recv() {
                    self.refuse(caller.channel, refusal, &ticket.peer, job);
                }
            }
        }
    }

    /// Tells a caller why nothing begins.
    fn refuse(&self, channel: Channel, refusal: Refusal, peer: &str, job: Option<&str>) {
        self.shared.metrics.refused(refusal.name());
        tracing::info!(peer, job, reason = refusal.name(), "refused");
        if let Ok(place) = self.farewells.clone().try_acquire_owned() {
            tokio::spawn(async move {
                channel.refuse(refusal).await;
                drop(place);
            });
        }
    }
}

/// Keeps the receipt of a run that has ended so; none if it took too long.
fn keep(
    receipts: &Receipts,
    (offer, rule): (&Offer, usize),
    watched: &Mutex<Watched>,
    config: &Config,
    result: Option<&Result<Done, Stopped>>,
) -> Result<(), Failure> {
    let run = Run {
        program: &offer.program,
        settings: &offer.settings,
        party: offer.rules[rule].party,
        parties: offer.plan.parties(),
        identity: config.tls.as_ref().map(Tls::fingerprint),
        saved: SavedValues::default(),
    };
    let without = match result {
        Some(Ok(Done::Computed { outcome, .. })) => {
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            return receipts.add(&run, &watched, &config.names, Ok(outcome));
        }
        Some(Ok(Done::Filled(_))) => return Ok(()),
        Some(Err(Stopped::Refused(refusal))) => {
            Failure::no_result(format!("the caller was refused: {}", refusal.name())).of_class(Class::Disagreement)
        }
        Some(Err(Stopped::Failed(failure))) => failure.clone(),
        Some(Err(Stopped::Died)) => Failure::no_result("its thread has died"),
        None => Failure::no_result("it took too long, and was given up"),
    };
    let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
    receipts.add(&run, &watched, &config.names, Err(&without))
}
