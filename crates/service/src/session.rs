//! One session of a service, from start to end, on its own thread.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Waker},
    time::{Duration, Instant},
};

use garblet::{
    Declined, Ends, Error, PhaseCosts, Stock,
    net::{Channel, Fingerprint, Mesh, Refusal, connect},
    store::Store,
};
use garblet_console::{
    failure::Failure,
    hints::{explain, net_failure},
    inputs::PartyInputs,
    receipts::Receipts,
    session::{Outcome, Task, Watched, compute_opened, fill_with},
    stock::{self, Folder},
    unfinished::{pause, unfinished},
};
use tokio::{
    sync::OwnedMutexGuard,
    task::{JoinHandle, coop::unconstrained, spawn_blocking},
};

use super::{
    config::{Config, Offer},
    counters::{Reserved, SharedCounters},
    counting::Counting,
    data::RequestWords,
    farewells::Farewells,
    metrics::{Metrics, clock},
    outbox::Outbox,
    read_ahead::ReadAhead,
    receipt,
    rule::Rule,
};

/// A session that runs or waits for a place.
pub(super) struct Admitted {
    pub(super) request: RequestWords,
    pub(super) offer: Arc<Offer>,
    /// The rule's index.
    pub(super) rule: usize,
    /// The configuration that admitted it.
    pub(super) config: Arc<Config>,
    /// The identities of all other parties.
    pub(super) others: Vec<Option<Fingerprint>>,
    pub(super) work: Work,
    /// Exclusive use of the store of its rule, if that has one.
    pub(super) alone: Option<OwnedMutexGuard<()>>,
    pub(super) counting: Counting,
    /// The options for connections.
    pub(super) options: garblet::net::Options,
    /// The peers and the traffic of their channels, once they are connected.
    pub(super) watched: Arc<Mutex<Watched>>,
}

/// The work of a session.
pub(super) enum Work {
    /// A run with one connected peer.
    Compute(Box<Channel>),
    /// Fills both stores with one peer: every kind below this percentage.
    Fill(Box<Channel>, u8),
    /// The same with a peer that this service calls.
    Refill {
        /// Its address.
        at: String,
        /// The percentage below which a kind is filled.
        below: u8,
    },
    /// With several peers.
    Mesh {
        /// `None` until all have come.
        met: Option<Box<Mesh>>,
        /// Set to fill all stores, every kind below this percentage; otherwise it is a run.
        fills: Option<u8>,
    },
}

impl Work {
    /// Returns whether it is a run, not the filling of a store.
    pub(super) fn is_run(&self) -> bool {
        !matches!(self, Work::Fill(..) | Work::Refill { .. } | Work::Mesh { fills: Some(_), .. })
    }

    /// Returns whether the only peer of a session that has not begun has left. Between its hello and ours it sends nothing, except that it gives up.
    pub(super) fn has_left(&mut self) -> bool {
        let (Work::Compute(channel) | Work::Fill(channel, _)) = self else { return false };
        let heard = pin!(unconstrained(channel.heard()));
        heard.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }
}

/// The state that all sessions share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) counters: SharedCounters,
    pub(super) metrics: Metrics,
    pub(super) stores: Stores,
    pub(super) receipts: Arc<Receipts>,
    pub(super) farewells: Farewells,
    pub(super) ahead: ReadAhead,
    pub(super) outbox: Outbox,
}

/// Stores, each used by one session at a time.
#[derive(Clone, Default)]
pub(super) struct Stores(Arc<Mutex<HashMap<PathBuf, Known>>>);

/// A store that another session uses.
pub(super) struct InUse;

/// The service's knowledge of a store since it started.
#[derive(Default)]
struct Known {
    alone: Arc<tokio::sync::Mutex<()>>,
    /// Set if condemning the store failed: the service takes nothing from it any more.
    is_condemned: bool,
    /// The number of orders that its peer abandoned.
    unfinished: Option<u32>,
    /// The end of the pause in filling it, after its peer abandoned another order.
    rests_until: Option<Instant>,
}

impl Stores {
    fn of<T>(&self, path: &Path, with: impl FnOnce(&mut Known) -> T) -> T {
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        with(stores.entry(path.into()).or_default())
    }

    /// Takes exclusive use of the store of a rule, if it has one.
    ///
    /// *Errors*: another session uses it.
    pub(super) fn alone(&self, rule: &Rule) -> Result<Option<OwnedMutexGuard<()>>, InUse> {
        let Some(folder) = &rule.store else { return Ok(None) };
        let alone = self.of(&folder.path, |known| known.alone.clone());
        alone.try_lock_owned().map(Some).map_err(|_| InUse)
    }

    /// Checks that the store of a rule may be used, if it has one.
    ///
    /// *Errors*: the refusal.
    fn check(&self, rule: &Rule) -> Result<(), Refusal> {
        match &rule.store {
            Some(folder) if self.of(&folder.path, |known| known.is_condemned) => Err(Refusal::Closed),
            _ => Ok(()),
        }
    }

    /// Returns whether a store may be filled: not while it is paused because its peer abandoned an order, nor if it could not be condemned.
    pub(super) fn may_be_filled(&self, path: &Path) -> bool {
        self.of(path, |known| !known.is_condemned && known.rests_until.is_none_or(|until| until <= Instant::now()))
    }

    /// Records a failed session with a store.
    fn note(&self, folder: &Folder, failure: &Failure) {
        if failure.forbids_more_runs {
            tracing::error!(store = %folder.path.display(), "THIS STORE MUST NOT BE USED ANY MORE AND COULD NOT BE MARKED SO: the service ignores it; remove it");
            self.of(&folder.path, |known| known.is_condemned = true);
        }
    }

    /// Pauses filling a store if its peer has abandoned another order, longer each time.
    fn rest(&self, offer: &Offer, folder: &Folder, farewells: &Farewells) {
        let what = "cannot tell how many orders of gates the peer has left unfinished";
        match unfinished(&offer.settings, offer.plan.parties(), folder) {
            Ok(now) => self.note_unfinished(&offer.name, &folder.path, now),
            // At most once a minute: calls that fail cost the caller nothing.
            Err(Failure { message: reason, .. }) => {
                if let Some(more) = farewells.is_first((folder.peer.clone(), Some(offer.name.clone()), what)) {
                    tracing::error!(job = offer.name, reason, more, "{what}");
                }
            }
        }
    }

    fn note_unfinished(&self, job: &str, path: &Path, now: u32) {
        let rests = self.of(path, |known| {
            let has_more = known.unfinished.replace(now).unwrap_or(0) < now;
            has_more.then(|| {
                let rest = pause(now);
                known.rests_until = Some(Instant::now() + rest);
                rest
            })
        });
        if let Some(rest) = rests {
            let seconds = rest.as_secs();
            tracing::warn!(
                job,
                unfinished = now,
                seconds,
                "the peer has left an order of gates unfinished: filling the store is paused"
            );
        }
    }
}

fn pieces(store: &Store) -> u64 {
    store.stock().iter().map(|kind| kind.available.len()).sum()
}

/// The result of a session.
pub(super) enum Done {
    Filled(PhaseCosts),
    Computed(Box<Outcome>),
}

/// A session without a result.
pub(super) enum Stopped {
    Refused(Refusal),
    /// Some parties did not come, or did not connect correctly.
    NotMet(Failure),
    Failed(Failure),
    /// Its thread panicked, or the system had none for it.
    Died,
    /// The service aborted it, for this reason.
    GivenUp(&'static str),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        match error {
            Error::WorkerLost => Stopped::Died,
            error => Stopped::Failed(explain(&error)),
        }
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Stopped::Failed(failure)
    }
}

/// Runs a session.
///
/// *Errors*: any end without a result. With two parties, a refused caller has been told the reason; with several, all are told only that it was aborted.
pub(super) async fn run(admitted: Admitted, shared: Shared) -> Result<Done, Stopped> {
    let Admitted { request, offer, rule: at, config, work, alone: _alone, counting, options, watched, .. } = admitted;
    let (rule, undecided) = (&offer.rules[at], counting.clone());
    let ready = async || {
        shared.stores.check(rule)?;
        // While this session waited, writing a receipt may have failed, or another result of the rule may have been rejected.
        if shared.farewells.is_closed() || shared.outbox.blocks(rule) {
            return Err(Refusal::Closed);
        }
        // While the caller can still be told.
        take_room(&offer, &request, &shared).await?;
        // Before a program is started for the inputs: it rests after a run that does not come about.
        let stock = stock(&offer, rule, &request, &shared)?;
        let inputs = shared.ahead.inputs(&offer, rule, &request, &undecided).await;
        let (inputs, start) =
            inputs.map_err(|failure| refused((Refusal::NoData, "no inputs"), &offer, &request, &shared, &failure))?;
        let reserved = shared.counters.reserve(&rule.budget, &request.counted, rule.often, clock().as_secs());
        Ok::<_, Refusal>((inputs, stock, reserved?, start))
    };
    let begin = |reserved| Beginning {
        request: request.clone(),
        offer: offer.clone(),
        rule: at,
        config,
        watched: watched.clone(),
        reserved,
        shared: shared.clone(),
        counting,
    };
    match work {
        Work::Fill(channel, below) => fill_with_one((&offer, rule), &request, (*channel, below), &shared).await,
        Work::Refill { at, below } => {
            let channel = connect(&at, &options).await.map_err(|error| net_failure(&error))?;
            match rule.applies_to(channel.peer()) {
                true => fill_with_one((&offer, rule), &request, (channel, below), &shared).await,
                false => Err(Failure::no_result(format!("refill: the peer at {at} is not the one in the rule")).into()),
            }
        }
        Work::Compute(channel) => {
            // The program for the inputs rests if the session ends before the run is counted.
            let (inputs, stock, reserved, _start) = match ready().await {
                Ok(ready) => ready,
                Err(refusal) => return Err(refuse(*channel, refusal, &shared).await),
            };
            compute(&offer, rule, Ends::from(*channel), (inputs, stock), begin(reserved)).await
        }
        Work::Mesh { met: None, .. } => Err(Stopped::Refused(Refusal::UnknownJob)),
        Work::Mesh { met: Some(mesh), fills: Some(below) } => match store_to_fill(rule, &shared) {
            Ok(folder) => fill((&offer, rule), folder, &request, (Ends::from(*mesh), below), &shared).await,
            Err(refusal) => {
                mesh.abort(None).await;
                Err(Stopped::Refused(refusal))
            }
        },
        Work::Mesh { met: Some(mesh), fills: None } => {
            // Only now that all are there, so that no single peer can cause inputs to be fetched or use up the runs of others.
            match ready().await {
                Ok((inputs, stock, reserved, _start)) => {
                    let mut ends = Ends::from(*mesh);
                    watched.lock().unwrap_or_else(PoisonError::into_inner).begin(&mut ends, rule.party);
                    compute(&offer, rule, ends, (inputs, stock), begin(reserved)).await
                }
                Err(refusal) => {
                    mesh.abort(None).await;
                    Err(Stopped::Refused(refusal))
                }
            }
        }
    }
}

/// Opens the store of a rule, if it has one, for the one run that uses it, and counts its pieces. A run that needs more than that does not start,
/// so it costs the caller nothing.
///
/// *Errors*: the refusal; the log says more.
fn stock(offer: &Offer, rule: &Rule, request: &RequestWords, shared: &Shared) -> Result<Option<Stock>, Refusal> {
    let Some(folder) = &rule.store else { return Ok(None) };
    let refused = |what, failure: &Failure| refused((Refusal::NoData, what), offer, request, shared, failure);
    stock::find_store(&folder.path).map_err(|failure| refused("no store", &failure))?;
    let stock = open_stock(offer, folder).map_err(|failure| refused("the store cannot be used", &failure))?;
    shared.metrics.stocked(&offer.name, request.peer(), pieces(&stock.store));
    match offer.plan.check_stock(&stock) {
        Ok(()) => Ok(Some(stock)),
        Err(error @ Error::NotPrepared(_)) => Err(refused("the store holds too little", &explain(&error))),
        Err(error) => Err(refused("the store cannot be used", &explain(&error))),
    }
}

/// Opens the store of a rule.
fn open_stock(offer: &Offer, folder: &Folder) -> Result<Stock, Failure> {
    let (config, parties) = (offer.settings.config()?, offer.plan.parties());
    folder.open(folder.order(&config, parties)?, (&config, parties), Store::open)
}

/// Logs why a caller is refused for lack of data or room, at most once a minute because such calls cost the caller nothing. Returns the refusal.
fn refused(
    (refusal, what): (Refusal, &'static str),
    offer: &Offer,
    request: &RequestWords,
    shared: &Shared,
    failure: &Failure,
) -> Refusal {
    if let Some(more) = shared.farewells.is_first((request.peer().into(), Some(offer.name.clone()), what)) {
        let (reason, hint) = (&failure.message, &failure.hint);
        tracing::error!(session = request.id, job = offer.name, reason, hint, more, "{what}");
    }
    refusal
}

/// Takes room on the disk for the receipt of a run.
///
/// *Errors*: the refusal; the next caller may find room, but not in a log that is damaged.
async fn take_room(offer: &Offer, request: &RequestWords, shared: &Shared) -> Result<(), Refusal> {
    let taken = seek_room(shared).await.unwrap_or_else(|died| Err(Failure::no_result(died)));
    taken.map_err(|failure| {
        let why = match failure.forbids_more_runs {
            true => (Refusal::Closed, "THE LOG OF RECEIPTS CANNOT BE CONTINUED: everybody is refused until it can"),
            false => (Refusal::Busy, "no room for a receipt"),
        };
        refused(why, offer, request, shared, &failure)
    })
}

/// Takes room for the receipt of the next run. The service is ready only while there is some.
pub(super) fn seek_room(shared: &Shared) -> JoinHandle<Result<(), Failure>> {
    let (receipts, metrics) = (shared.receipts.clone(), shared.metrics.clone());
    // It may wait for another program that holds the log's lock.
    spawn_blocking(move || {
        let taken = receipts.take_room();
        metrics.set_room(taken.is_ok());
        taken
    })
}

/// Sends a caller the refusal.
async fn refuse(channel: Channel, refusal: Refusal, shared: &Shared) -> Stopped {
    shared.farewells.tell(channel, refusal).await;
    Stopped::Refused(refusal)
}

/// A run that starts once all parties agree on it.
struct Beginning {
    request: RequestWords,
    offer: Arc<Offer>,
    rule: usize,
    config: Arc<Config>,
    watched: Arc<Mutex<Watched>>,
    reserved: Reserved,
    shared: Shared,
    counting: Counting,
}

impl Beginning {
    /// Counts the run on disk, with its start receipt, before a peer receives anything that depends on an input. Then logs the start.
    ///
    /// *Errors*: the refusal; the log says more.
    fn count(self) -> Result<(), Refusal> {
        let Beginning { request, offer, rule, config, watched, reserved, shared, counting } = self;
        if shared.farewells.is_closed() {
            return Err(Refusal::Closed);
        }
        let id = Some(&request.id[..]);
        let session = receipt::Session { offer: &offer, rule, watched: &watched, config: &config, id };
        let begun = session.begun().map_err(|_| Refusal::Closed)?;
        counting.count(|| {
            if let Err((refusal, error)) = reserved.count(&request.id, &begun, clock().as_secs()) {
                if refusal == Refusal::Closed {
                    shared.metrics.set_ready(false);
                }
                if let Some(error) = error {
                    tracing::error!(%error, "COUNTERS CANNOT BE WRITTEN: everybody is refused until the service restarts");
                }
                return Err(refusal);
            }
            let (peer, protocol) = (request.peer(), &offer.settings.protocol);
            let (session, name, digest) = (&request.id, &request.session, &offer.digest);
            tracing::info!(session, name, peer, job = offer.name, digest, protocol, "begins");
            Ok(())
        })
    }
}

/// Computes with connected peers.
async fn compute(
    offer: &Offer,
    rule: &Rule,
    ends: Ends,
    (inputs, stock): (PartyInputs, Option<Stock>),
    beginning: Beginning,
) -> Result<Done, Stopped> {
    let (refused, stores) = (Arc::new(Mutex::new(None)), beginning.shared.stores.clone());
    let told = refused.clone();
    let begins = move || {
        beginning.count().map_err(|refusal| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
            Declined
        })
    };
    let task = Task {
        plan: offer.plan.clone(),
        party: rule.party,
        inputs,
        settings: &offer.settings,
        progress: false,
        // The job was loaded before the peer connected.
        loaded: Duration::ZERO,
        source: None,
        begins: Some(Box::new(begins)),
    };
    let computed = compute_opened(task, ends, stock).await;
    if let (Some(folder), Err(failure)) = (&rule.store, &computed) {
        stores.note(folder, failure);
    }
    match refused.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(refusal) => Err(Stopped::Refused(refusal)),
        None => Ok(Done::Computed(Box::new(computed?))),
    }
}

/// The store of a rule, if it may be filled now.
///
/// *Errors*: the refusal.
fn store_to_fill<'a>(rule: &'a Rule, shared: &Shared) -> Result<&'a Folder, Refusal> {
    let folder = rule.store.as_ref().ok_or(Refusal::UnknownJob)?;
    shared.stores.check(rule)?;
    if shared.stores.may_be_filled(&folder.path) { Ok(folder) } else { Err(Refusal::Busy) }
}

/// Fills the store of a rule together with that of its one peer.
async fn fill_with_one(
    (offer, rule): (&Offer, &Rule),
    request: &RequestWords,
    (channel, below): (Channel, u8),
    shared: &Shared,
) -> Result<Done, Stopped> {
    match store_to_fill(rule, shared) {
        Ok(folder) => fill((offer, rule), folder, request, (Ends::from(channel), below), shared).await,
        Err(refusal) => Err(refuse(channel, refusal, shared).await),
    }
}

/// Fills the store of a rule together with those of all others.
async fn fill(
    (offer, rule): (&Offer, &Rule),
    folder: &Folder,
    request: &RequestWords,
    (ends, below): (Ends, u8),
    shared: &Shared,
) -> Result<Done, Stopped> {
    let parties = offer.plan.parties();
    let filled = fill_with(&offer.settings, rule.party, parties, folder, ends, below).await;
    let done = filled.map(|filled| {
        shared.metrics.stocked(&offer.name, request.peer(), pieces(&filled.store));
        if filled.lost > 0 {
            let (session, peer, job, lost) = (&request.id, request.peer(), &offer.name, filled.lost);
            tracing::warn!(session, peer, job, lost, "discarded pieces that not all stores had");
        }
        Done::Filled(filled.phases)
    });
    if let Err(failure) = &done {
        shared.stores.note(folder, failure);
        shared.stores.rest(offer, folder, &shared.farewells);
    }
    Ok(done?)
}

#[cfg(test)]
mod tests {
    use garblet::{OrderRequest, Party, net::memory_pair};

    use super::*;

    fn with_store() -> (Rule, Folder) {
        let folder = Folder {
            order: OrderRequest::default(),
            path: "store".into(),
            key: None,
            peer: String::new(),
            recorded: true,
            again: None,
        };
        let rule = Rule {
            party: Party(0),
            peers: Vec::new(),
            often: Default::default(),
            budget: String::new(),
            addresses: None,
            inputs: None,
            arrange: Default::default(),
            beat: Duration::ZERO,
            results: None,
            store: Some(folder.clone()),
            refill: None,
        };
        (rule, folder)
    }

    #[tokio::test]
    async fn a_waiting_caller_that_closes_or_gives_up_has_left() {
        for gives_up in [false, true] {
            let (ours, theirs) = memory_pair();
            let mut work = Work::Compute(Box::new(ours));
            assert!(!work.has_left() && !work.has_left());
            if gives_up {
                theirs.abort().await;
            } else {
                drop(theirs);
            }
            assert!(work.has_left() && work.has_left(), "{gives_up}");
        }
    }

    #[test]
    fn one_session_at_a_time_uses_a_store() {
        let ((rule, _), stores) = (with_store(), Stores::default());
        let alone = stores.alone(&rule).map_err(|_| "in use").expect("nobody uses it");
        assert!(alone.is_some() && stores.alone(&rule).is_err());
        drop(alone);
        assert!(stores.alone(&rule).is_ok());
    }

    #[test]
    fn a_store_that_could_not_be_condemned_is_not_used() {
        let ((rule, folder), stores) = (with_store(), Stores::default());
        stores.note(&folder, &Failure::no_result("the peer has cheated"));
        assert!(stores.check(&rule).is_ok() && stores.may_be_filled(&folder.path));
        stores.note(&folder, &Failure { forbids_more_runs: true, ..Failure::no_result("and the disk is full") });
        assert_eq!(stores.check(&rule), Err(Refusal::Closed));
        assert!(!stores.may_be_filled(&folder.path));
        assert!(stores.may_be_filled(Path::new("another")));
    }

    #[test]
    fn filling_a_store_pauses_after_another_abandoned_order() {
        let (stores, path) = (Stores::default(), Path::new("store"));
        let end_of_rest = || stores.of(path, |known| known.rests_until);
        stores.note_unfinished("job", path, 0);
        assert!(stores.may_be_filled(path));
        stores.note_unfinished("job", path, 1);
        assert!(!stores.may_be_filled(path));
        let first = end_of_rest();
        stores.note_unfinished("job", path, 1);
        assert_eq!(end_of_rest(), first, "no further order was abandoned");
        stores.note_unfinished("job", path, 2);
        assert!(end_of_rest() > first);
    }
}
