//! The hall of a service: the callers that wait, the running sessions, and how each ended.

mod door;
mod ending;
mod refilling;
mod stay;
#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use garblet::{
    Class,
    net::{Mesh, Refusal},
    on_own_thread,
};
use garblet_console::failure::Failure;
use tokio::{
    sync::{mpsc, watch},
    task::{JoinHandle, JoinSet, spawn_blocking},
    time::{Instant, sleep, timeout_at},
};

pub(super) use self::ending::rounded;
use self::{
    door::Arrivals,
    ending::{Ended, Ending},
    stay::{Left, Refiller, Stay, Ticket, tell_if_hanging},
};
use super::{
    config::Config,
    farewells::Refused,
    read_ahead::ReadAhead,
    session::{self, Admitted, Done, InUse, Shared, Stopped, Work},
};

/// The pause between two attempts to find room for a receipt while there is none.
const SEEK: Duration = Duration::from_secs(5);

/// The time allowed for recording aborted sessions.
const GIVING_UP: Duration = Duration::from_secs(5);

/// A session's job and name.
type Named = (String, String);

/// The hall.
pub(super) struct Hall {
    /// The current configuration, which others watch too.
    in_force: watch::Sender<Arc<Config>>,
    shared: Shared,
    /// Sessions that have a place until they end, or longer.
    sessions: JoinSet<Ended>,
    /// Sessions that end without ever having had a place.
    unbegun: JoinSet<Ended>,
    /// The sessions that have a place.
    running: usize,
    /// Those of them that were aborted and still run.
    hanging: usize,
    /// Sessions still waiting for some of their parties. They have no place yet.
    gathering: JoinSet<Gathered>,
    /// The results being offered again.
    handing: JoinSet<()>,
    waiting: VecDeque<Waiting>,
    /// The number of sessions per caller, waiting ones included.
    of_peer: HashMap<String, usize>,
    /// Named sessions that run or wait, and the channels by which later parties join them.
    named: HashMap<Named, Option<Arrivals>>,
    /// The rules whose stores are refilled, each with the time of its next check; `None` while one is under way.
    refills: HashMap<Refiller, Option<Instant>>,
    /// The current check of the input files.
    reading: Option<JoinHandle<()>>,
    /// The time at which room for a receipt was last sought without a caller.
    seeking: Option<Instant>,
    is_stopping: bool,
    /// Signals that no session starts any more.
    stopping: watch::Sender<bool>,
    /// Signals that all sessions are aborted.
    over: watch::Sender<bool>,
    /// Events that sessions report themselves, even if their tasks have ended.
    told: mpsc::UnboundedReceiver<Event>,
    tells: mpsc::UnboundedSender<Event>,
}

/// A session that has no place yet.
struct Waiting {
    since: Instant,
    admitted: Admitted,
    stay: Arc<Stay>,
}

/// A session of several parties: all came, or some did not.
pub(super) struct Gathered {
    admitted: Admitted,
    stay: Arc<Stay>,
    /// `None` if this service called nobody, as its store is not low.
    met: Option<Result<Mesh, Failure>>,
    time: Duration,
}

/// A task of the hall that has ended, or a session that has left.
pub(super) enum Event {
    Left(Box<Left>),
    /// An aborted session with a place still runs. It leaves later, or never.
    Hangs,
    Ended(Box<Ended>),
    Gathered(Box<Gathered>),
    HandedOver,
    /// A task panicked, with this consequence for the log.
    Panicked(&'static str),
}

/// The log's text for each kind of task that panics.
const SESSION_PANICKED: &str = "the task of a session panicked: this is a bug; a counted run without a receipt gets one when the service restarts, and a result that was not delivered is lost";
const GATHERING_PANICKED: &str = "the task that waits for the parties of a session panicked: this is a bug; the session has ended, and no run was counted";
const HANDING_PANICKED: &str = "the task that delivers a result panicked: this is a bug; the result is lost, and its rule serves nobody until the service restarts";

impl Hall {
    pub(super) fn new(in_force: watch::Sender<Arc<Config>>, shared: Shared) -> Self {
        let (tells, told) = mpsc::unbounded_channel();
        Hall {
            in_force,
            shared,
            sessions: JoinSet::new(),
            unbegun: JoinSet::new(),
            running: 0,
            hanging: 0,
            gathering: JoinSet::new(),
            handing: JoinSet::new(),
            waiting: VecDeque::new(),
            of_peer: HashMap::new(),
            named: HashMap::new(),
            refills: HashMap::new(),
            reading: None,
            seeking: None,
            is_stopping: false,
            stopping: watch::Sender::new(false),
            over: watch::Sender::new(false),
            told,
            tells,
        }
    }

    pub(super) fn config(&self) -> Arc<Config> {
        self.in_force.borrow().clone()
    }

    /// Switches to another configuration; running and waiting sessions keep theirs. Waiting callers that may no longer run their job are refused.
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

    /// Returns whether the current configuration allows all other parties of a session to run its job.
    fn is_allowed(&self, admitted: &Admitted) -> bool {
        self.config().allows(&admitted.offer.digest, &admitted.others, !admitted.work.is_run())
    }

    pub(super) fn read_ahead(&self) -> ReadAhead {
        self.shared.ahead.clone()
    }

    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Returns whether a session runs, apart from those that hang.
    fn is_at_work(&self) -> bool {
        self.running > self.hanging
    }

    /// Returns whether there are no callers and no waiting results.
    pub(super) fn is_empty(&self) -> bool {
        let has_ended = self.sessions.is_empty() && self.unbegun.is_empty() && self.handing.is_empty();
        has_ended && self.gathering.is_empty() && self.waiting.is_empty()
    }

    /// Records that a session stays in the hall.
    fn let_in(&mut self, ticket: Ticket) -> Arc<Stay> {
        *self.of_peer.entry(ticket.caller.clone()).or_default() += 1;
        Stay::new(ticket, self.tells.clone())
    }

    fn start(&mut self, admitted: Admitted, stay: Arc<Stay>) {
        self.running += 1;
        stay.take_place();
        tracing::debug!(session = stay.id, peer = stay.peer, job = stay.job, "has a place");
        let (shared, longest, over) = (self.shared.clone(), self.config().limits.session.0, self.over.subscribe());
        let ending = Ending::of(&admitted, stay.clone(), shared.clone());
        self.sessions.spawn(async move {
            let begin = Instant::now();
            let session = on_own_thread(move || async move {
                // The last that the thread drops.
                let _stay = stay;
                session::run(admitted, shared).await
            });
            let result = result_in_time(session, (longest, over), &ending).await;
            ending.conclude(result, begin.elapsed()).await
        });
    }

    /// Ends a session that never had a place.
    fn end_unbegun(&mut self, admitted: &Admitted, stay: Arc<Stay>, (stopped, time): (Stopped, Duration)) {
        let ending = Ending::of(admitted, stay, self.shared.clone());
        self.unbegun.spawn(ending.conclude(Err(stopped), time));
    }

    /// Waits for the next task to end, or the next session to leave; forever if there is none.
    pub(super) async fn next(&mut self) -> Event {
        tokio::select! {
            Some(event) = self.told.recv() => event,
            Some(ended) = self.sessions.join_next() => {
                ended.map_or(Event::Panicked(SESSION_PANICKED), |ended| Event::Ended(Box::new(ended)))
            }
            Some(ended) = self.unbegun.join_next() => {
                ended.map_or(Event::Panicked(SESSION_PANICKED), |ended| Event::Ended(Box::new(ended)))
            }
            Some(gathered) = self.gathering.join_next() => {
                gathered.map_or(Event::Panicked(GATHERING_PANICKED), |gathered| Event::Gathered(Box::new(gathered)))
            }
            Some(handed) = self.handing.join_next() => {
                handed.map_or(Event::Panicked(HANDING_PANICKED), |()| Event::HandedOver)
            }
        }
    }

    /// Records a task's end, and starts what waited for it.
    pub(super) fn note(&mut self, event: Event) {
        match event {
            Event::Left(left) => self.release(&left),
            Event::Hangs => self.hanging += 1,
            Event::Ended(ended) => self.end(*ended),
            Event::Gathered(gathered) => self.take_in(*gathered),
            Event::HandedOver => {}
            // Without the panic's message, which may contain a value.
            Event::Panicked(what) => tracing::error!("{what}"),
        }
        self.begin_waiting();
    }

    fn end(&mut self, Ended { parcel }: Ended) {
        if let Some(parcel) = parcel {
            let (outbox, metrics) = (self.shared.outbox.clone(), self.shared.metrics.clone());
            self.handing.spawn(outbox.insist(parcel, metrics));
        }
    }

    /// Queues a session whose parties have all come.
    fn take_in(&mut self, gathered: Gathered) {
        let Gathered { mut admitted, stay, met, time } = gathered;
        match met {
            None => {}
            Some(Ok(mesh)) => {
                if let Work::Mesh { met, .. } = &mut admitted.work {
                    *met = Some(Box::new(mesh));
                }
                let waiting = Waiting { since: Instant::now(), admitted, stay };
                let is_full = self.is_full(&waiting.admitted.offer.rules[waiting.admitted.rule]);
                match () {
                    () if self.is_stopping => self.refuse_waiter(waiting, Refusal::Stopping),
                    () if !self.is_allowed(&waiting.admitted) => self.refuse_waiter(waiting, Refusal::UnknownJob),
                    () if is_full => self.refuse_waiter(waiting, Refusal::Busy),
                    () => self.waiting.push_back(waiting),
                }
            }
            Some(Err(failure)) => self.end_unbegun(&admitted, stay, (Stopped::NotMet(failure), time)),
        }
    }

    /// Starts waiting sessions while there are places; one that waits for a store holds up no other. If a receipt could not be written, refuses all.
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
                    if let Some(Waiting { admitted, stay, .. }) = self.waiting.remove(at) {
                        self.start(Admitted { alone, ..admitted }, stay);
                    }
                }
            }
        }
    }

    fn release(&mut self, Left { ticket, had_place, was_hanging }: &Left) {
        self.running -= usize::from(*had_place);
        self.hanging -= usize::from(*was_hanging);
        if let Some((refiller, every)) = &ticket.refills {
            self.refills.insert(refiller.clone(), Some(Instant::now() + *every));
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

    /// Takes callers that have left out of the queue. The parties of a session of several have met, and have much to say: whether one of them has
    /// left shows when the session begins.
    fn dismiss_left(&mut self) {
        for mut waiting in std::mem::take(&mut self.waiting) {
            match waiting.admitted.work.has_left() {
                false => self.waiting.push_back(waiting),
                true => {
                    let left = "the caller left while it waited for a place";
                    let stopped = Stopped::Failed(Failure::no_result(left).of_class(Class::Network));
                    let Waiting { since, admitted, stay } = waiting;
                    self.end_unbegun(&admitted, stay, (stopped, since.elapsed()));
                }
            }
        }
    }

    /// Takes callers that have left out of the queue, refuses those that have waited too long, and updates the metrics.
    pub(super) fn look(&mut self, strangers: u64) {
        self.dismiss_left();
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
        // Who is sent callers only while it is ready finds room without one.
        if self.shared.metrics.lacks_room() && self.seeking.as_ref().is_none_or(|last| last.elapsed() >= SEEK) {
            self.seeking = Some(Instant::now());
            session::seek_room(&self.shared);
        }
        let sessions = [self.running, self.hanging, self.waiting.len(), self.gathering.len()];
        self.shared.metrics.see(sessions, strangers);
    }

    /// Starts to stop: refuses waiting and new callers.
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

    /// Aborts all sessions and deliveries, with the operator's programs that run for them, and waits until that is recorded.
    pub(super) async fn give_up(&mut self) {
        self.over.send_replace(true);
        self.shared.outbox.end();
        let end = Instant::now() + GIVING_UP;
        while (self.running > 0 || self.unended() > 0 || !self.handing.is_empty())
            && let Ok(event) = timeout_at(end, self.next()).await
        {
            self.note(event);
        }
        let unended = self.unended();
        if unended > 0 {
            tracing::error!(
                sessions = unended,
                "SESSIONS DID NOT END IN TIME: receipts of counted runs that are missing will be written when the service restarts"
            );
        }
        let hanging = self.outlasting();
        if hanging > 0 {
            tracing::warn!(
                sessions = hanging,
                "aborted sessions still run, perhaps because a file system does not answer: the service ends without them"
            );
        }
    }

    /// The number of sessions whose end is not recorded.
    fn unended(&self) -> usize {
        self.sessions.len() + self.unbegun.len()
    }

    /// The number of sessions that keep their places after their end was recorded.
    fn outlasting(&self) -> usize {
        self.running.saturating_sub(self.sessions.len())
    }

    /// Waits a moment for each caller being refused.
    pub(super) async fn farewell(&mut self) {
        self.shared.farewells.end().await;
        self.shared.farewells.tell_rest(true);
        self.shared.outbox.tell_lost();
    }

    fn refuse_waiter(&self, Waiting { admitted, stay, .. }: Waiting, refusal: Refusal) {
        let Admitted { request, offer, rule, config, work, watched, .. } = admitted;
        let is_run = work.is_run();
        let refused = Refused {
            peer: stay.peer.clone(),
            job: is_run.then_some((offer, rule)),
            watched,
            reason: refusal.name(),
            asked: None,
            config,
            session: Some(request.id),
        };
        let farewells = &self.shared.farewells;
        match work {
            Work::Compute(channel) | Work::Fill(channel, _) => {
                farewells.refuse(channel.refuse(refusal), refusal, refused)
            }
            // The parties have met, so it is too late to send them a reason.
            Work::Mesh { met: Some(mesh), .. } => {
                farewells.refuse(async move { mesh.abort(None).await }, refusal, refused)
            }
            // No party waits for an answer.
            Work::Refill { .. } | Work::Mesh { met: None, .. } => {}
        }
    }
}

/// The result of a session, which is given up if it takes too long or all are over: then nothing more leaves to its peers.
async fn result_in_time(
    session: impl Future<Output = Result<Done, Stopped>>,
    (longest, mut over): (Duration, watch::Receiver<bool>),
    ending: &Ending,
) -> Result<Done, Stopped> {
    let result = tokio::select! {
        biased;
        result = session => result,
        () = sleep(longest) => Err(Stopped::GivenUp("it took too long")),
        _ = over.wait_for(|over| *over) => Err(Stopped::GivenUp("the service was stopped")),
    };
    // Before the end is recorded, which may wait for the same disk. A party that computes would go on sending until it next waits.
    if matches!(result, Err(Stopped::GivenUp(_))) {
        ending.cut();
        tokio::spawn(tell_if_hanging(ending.stay()));
    }
    result
}
