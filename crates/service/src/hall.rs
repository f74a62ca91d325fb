//! The hall of a service: who waits, which sessions run, and how each ended.

mod door;
mod ending;

use std::{
    collections::{HashMap, VecDeque},
    future::pending,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use garblet::{
    net::{Mesh, Refusal},
    on_own_thread,
};
use garblet_console::failure::Failure;
use tokio::{
    sync::watch,
    task::{JoinHandle, JoinSet, spawn_blocking},
    time::{Instant, sleep, timeout_at},
};

pub(super) use self::ending::rounded;
use self::{
    door::Arrivals,
    ending::{Ended, Ending},
};
use super::{
    config::{Config, Offer},
    farewells::Refused,
    read_ahead::ReadAhead,
    rule::Rule,
    session::{self, Admitted, Counting, InUse, Shared, Stopped, Work},
};

/// The time in which sessions that are given up are written down.
const GIVING_UP: Duration = Duration::from_secs(5);

/// A session's job and name.
type Named = (String, String);

/// The hall.
pub(super) struct Hall {
    /// The configuration in force, of which others hear too.
    in_force: watch::Sender<Arc<Config>>,
    shared: Shared,
    sessions: JoinSet<Ended>,
    running: usize,
    /// The sessions of several parties that have not all come. They have no place yet.
    gathering: JoinSet<Gathered>,
    /// The results that are offered again.
    handing: JoinSet<()>,
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
    /// Says that nothing begins any more.
    stopping: watch::Sender<bool>,
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

/// A session of several parties that have all come, or not.
pub(super) struct Gathered {
    admitted: Admitted,
    ticket: Ticket,
    met: Result<Mesh, Failure>,
    time: Duration,
}

/// Something that has ended in the hall.
pub(super) enum Event {
    Ended(Box<Ended>),
    Gathered(Box<Gathered>),
    HandedOver,
}

impl Hall {
    pub(super) fn new(in_force: watch::Sender<Arc<Config>>, shared: Shared) -> Self {
        Hall {
            in_force,
            shared,
            sessions: JoinSet::new(),
            running: 0,
            gathering: JoinSet::new(),
            handing: JoinSet::new(),
            waiting: VecDeque::new(),
            of_peer: HashMap::new(),
            named: HashMap::new(),
            refills: HashMap::new(),
            reading: None,
            is_stopping: false,
            stopping: watch::Sender::new(false),
            over: watch::Sender::new(false),
        }
    }

    pub(super) fn config(&self) -> Arc<Config> {
        self.in_force.borrow().clone()
    }

    /// Goes on with another configuration; what runs or waits keeps its own. Who waits and may not run the job any more is refused.
    pub(super) fn set_config(&mut self, config: Config) {
        self.in_force.send_replace(Arc::new(config));
        let waiting = std::mem::take(&mut self.waiting);
        for waiting in waiting {
            match self.is_allowed(&waiting.admitted) {
                true => self.waiting.push_back(waiting),
                false => self.refuse_waiter(waiting, Refusal::UnknownJob),
            }
        }
    }

    /// Tells whether all others of a session may run its job by the configuration that there is now.
    fn is_allowed(&self, admitted: &Admitted) -> bool {
        self.config().allows(&admitted.offer.digest, &admitted.others, !admitted.work.is_run())
    }

    pub(super) fn read_ahead(&self) -> ReadAhead {
        self.shared.ahead.clone()
    }

    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Tells whether nobody is there, and no result waits.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.gathering.is_empty() && self.waiting.is_empty() && self.handing.is_empty()
    }

    fn start(&mut self, admitted: Admitted, ticket: Ticket) {
        self.running += 1;
        tracing::debug!(session = ticket.id, peer = ticket.peer, job = ticket.job, "has a place");
        let (shared, longest, mut over) = (self.shared.clone(), self.config().limits.session.0, self.over.subscribe());
        let ending = Ending::of(&admitted, ticket, shared.clone());
        self.sessions.spawn(async move {
            let begin = Instant::now();
            let session = on_own_thread(move || session::run(admitted, shared));
            let result = tokio::select! {
                biased;
                result = session => result,
                () = sleep(longest) => Err(Stopped::GivenUp("it took too long")),
                _ = over.wait_for(|over| *over) => Err(Stopped::GivenUp("the service was stopped")),
            };
            ending.conclude(result, (begin.elapsed(), true)).await
        });
    }

    /// The next thing that ends; never, while there is none.
    pub(super) async fn next(&mut self) -> Event {
        // Tasks do nothing but wait: none panics, and none is aborted before the end.
        tokio::select! {
            Some(Ok(ended)) = self.sessions.join_next() => Event::Ended(Box::new(ended)),
            Some(Ok(gathered)) = self.gathering.join_next() => Event::Gathered(Box::new(gathered)),
            Some(_) = self.handing.join_next() => Event::HandedOver,
            else => pending().await,
        }
    }

    /// Notes what has ended, and begins what was waiting for that.
    pub(super) fn note(&mut self, event: Event) {
        match event {
            Event::Ended(ended) => self.end(*ended),
            Event::Gathered(gathered) => self.take_in(*gathered),
            Event::HandedOver => {}
        }
        self.begin_waiting();
    }

    fn end(&mut self, ended: Ended) {
        let Ended { ticket, had_place, parcel, unkept } = ended;
        self.running -= usize::from(had_place);
        self.release(&ticket);
        if let Some(parcel) = parcel {
            let (outbox, metrics) = (self.shared.outbox.clone(), self.shared.metrics.clone());
            self.handing.spawn(outbox.insist(parcel, metrics));
        }
        if let Some(Failure { message, .. }) = unkept {
            self.shared.farewells.close(&message);
        }
    }

    /// Lets a session whose parties have all come wait for a place.
    fn take_in(&mut self, gathered: Gathered) {
        let Gathered { mut admitted, ticket, met, time } = gathered;
        match met {
            Ok(mesh) => {
                admitted.work = Work::Mesh(Some(Box::new(mesh)));
                let waiting = Waiting { since: Instant::now(), admitted, ticket };
                let is_full = self.is_full(&waiting.admitted.offer.rules[waiting.admitted.rule]);
                match () {
                    () if self.is_stopping => self.refuse_waiter(waiting, Refusal::Stopping),
                    () if !self.is_allowed(&waiting.admitted) => self.refuse_waiter(waiting, Refusal::UnknownJob),
                    () if is_full => self.refuse_waiter(waiting, Refusal::Busy),
                    () => self.waiting.push_back(waiting),
                }
            }
            Err(failure) => {
                let ending = Ending::of(&admitted, ticket, self.shared.clone());
                self.sessions.spawn(ending.conclude(Err(Stopped::NotMet(failure)), (time, false)));
            }
        }
    }

    /// Begins what waits, as far as there are places; one that waits for a store keeps nobody else. Where a receipt could not be kept, all are refused.
    fn begin_waiting(&mut self) {
        if self.shared.farewells.is_closed() {
            self.refuse_waiting(Refusal::Closed);
        }
        let (sessions, mut at) = (self.config().limits.sessions, 0);
        while self.running < sessions
            && self.has_memory()
            && let Some(waiting) = self.waiting.get(at)
        {
            match self.shared.stores.alone(&waiting.admitted.offer.rules[waiting.admitted.rule]) {
                Err(InUse) => at += 1,
                Ok(alone) => {
                    if let Some(Waiting { admitted, ticket, .. }) = self.waiting.remove(at) {
                        self.start(Admitted { alone, ..admitted }, ticket);
                    }
                }
            }
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
        let most = self.config().limits.wait.0;
        while self.waiting.front().is_some_and(|first| first.since.elapsed() >= most)
            && let Some(first) = self.waiting.pop_front()
        {
            self.refuse_waiter(first, Refusal::Busy);
        }
        self.begin_waiting();
        self.refill();
        self.shared.farewells.tell_rest(false);
        if self.reading.as_ref().is_none_or(JoinHandle::is_finished) {
            let (ahead, config) = (self.shared.ahead.clone(), self.config());
            self.reading = Some(spawn_blocking(move || ahead.look(&config)));
        }
        self.shared.metrics.see([self.running, self.waiting.len(), self.gathering.len()], strangers);
    }

    /// Begins to refill the stores whose time has come, as long as nobody waits and there is room for a caller beside it.
    fn refill(&mut self) {
        let config = self.config();
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
            if self.has_room_for(&ticket, &offer.rules[rule]).is_err() {
                continue;
            }
            let Ok(alone) = self.shared.stores.alone(&offer.rules[rule]) else { continue };
            self.refills.insert(store.path.clone(), None);
            *self.of_peer.entry(ticket.caller.clone()).or_default() += 1;
            let request = self.request(&ticket, &offer, rule, identity);
            let admitted = Admitted {
                request,
                offer: offer.clone(),
                rule,
                config: config.clone(),
                others: vec![identity],
                work: Work::Refill(refill.clone()),
                alone,
                counting: Counting::default(),
                options: config.options(),
                watched: Arc::default(),
            };
            self.start(admitted, ticket);
        }
    }

    /// Begins to stop: who waits is refused, and so is who comes.
    pub(super) fn stop(&mut self) {
        self.is_stopping = true;
        self.stopping.send_replace(true);
        self.shared.metrics.set_ready(false);
        self.refuse_waiting(Refusal::Stopping);
    }

    fn refuse_waiting(&mut self, refusal: Refusal) {
        while let Some(first) = self.waiting.pop_front() {
            self.refuse_waiter(first, refusal);
        }
    }

    /// Gives all sessions up, and waits until that is written down.
    pub(super) async fn give_up(&mut self) {
        self.over.send_replace(true);
        let end = Instant::now() + GIVING_UP;
        while self.running > 0
            && let Ok(event) = timeout_at(end, self.next()).await
        {
            self.note(event);
        }
        if self.running > 0 {
            tracing::error!(
                sessions = self.running,
                "NOT ALL IS WRITTEN DOWN: the receipts of runs that were counted are written when the service is started again"
            );
        }
    }

    /// Waits for those who are being refused, each for a moment.
    pub(super) async fn farewell(&mut self) {
        self.shared.farewells.end().await;
        self.shared.farewells.tell_rest(true);
        self.shared.outbox.tell_lost();
    }

    fn refuse_waiter(&mut self, Waiting { admitted, ticket, .. }: Waiting, refusal: Refusal) {
        self.release(&ticket);
        let Admitted { request, offer, rule, config, work, watched, .. } = admitted;
        let is_run = work.is_run();
        let refused = Refused {
            peer: ticket.peer,
            job: is_run.then_some((offer, rule)),
            watched,
            reason: refusal.name(),
            config,
            session: Some(request.id),
        };
        let farewells = &self.shared.farewells;
        match work {
            Work::Compute(channel) | Work::Fill(channel, _) => {
                farewells.refuse(channel.refuse(refusal), refusal, refused)
            }
            // They have met: none of them hears a reason any more.
            Work::Mesh(Some(mesh)) => farewells.refuse(async move { mesh.abort(None).await }, refusal, refused),
            // None of them waits.
            Work::Refill(_) | Work::Mesh(None) => {}
        }
    }
}
