//! One session of a service, from its place to its end, on a thread of its own.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use garblet::{Ends, Error, PhaseCosts, store::Store};
use garblet_net::{Caller, Channel, Mesh, Refusal, connect};
use tokio::sync::{OwnedMutexGuard, mpsc};

use super::{
    super::{pause, unfinished},
    config::Offer,
    counters::Counters,
    data::{self, RequestWords},
    farewells::Farewells,
    metrics::{Metrics, clock},
    read_ahead::ReadAhead,
    rule::Rule,
    written::Refill,
};
use crate::{
    failure::Failure,
    hints::{explain, mesh_failure, net_failure},
    inputs::PartyInputs,
    receipts::Receipts,
    session::{Outcome, Task, Watched, compute_with, fill_with},
    stock::{self, Folder, Source},
};

/// The time between counts of the pieces in a store that runs use.
const COUNTED_EVERY: Duration = Duration::from_secs(60);

/// A session that has a place.
pub(super) struct Admitted {
    pub(super) request: RequestWords,
    pub(super) offer: Arc<Offer>,
    /// The rule's place.
    pub(super) rule: usize,
    pub(super) work: Work,
    /// The way in which connections are made.
    pub(super) options: garblet_net::Options,
    /// The peers and what goes through the channels to them, once they are met.
    pub(super) watched: Arc<Mutex<Watched>>,
}

/// The work of a session.
pub(super) enum Work {
    /// With one peer, who is there.
    Compute(Box<Channel>),
    /// With one peer: to fill both stores, of every kind below so many percent.
    Fill(Box<Channel>, u8),
    /// The same with a peer that this service calls.
    Refill(Refill),
    /// With several, who come one after another.
    Mesh(mpsc::Receiver<Caller>),
}

/// The things that all sessions share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) counters: Arc<Mutex<Counters>>,
    pub(super) metrics: Metrics,
    pub(super) stores: Stores,
    pub(super) receipts: Arc<Receipts>,
    pub(super) farewells: Farewells,
    pub(super) ahead: ReadAhead,
}

/// Stores, each used by one session at a time.
#[derive(Clone, Default)]
pub(super) struct Stores(Arc<Mutex<HashMap<PathBuf, Known>>>);

/// A store, as far as the service knows it since it was started.
#[derive(Default)]
struct Known {
    alone: Arc<tokio::sync::Mutex<()>>,
    /// Set if it should have been given up and could not be: nothing is taken from it any more.
    is_condemned: bool,
    /// The orders that its peer has left unfinished.
    unfinished: Option<u32>,
    /// The time until which it is not filled, as there were more of these.
    rests_until: Option<Instant>,
    /// The time at which its pieces were counted last.
    counted: Option<Instant>,
}

impl Stores {
    fn of<T>(&self, path: &Path, with: impl FnOnce(&mut Known) -> T) -> T {
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        with(stores.entry(path.into()).or_default())
    }

    /// Waits until no other session uses the store of a rule, if it has one.
    ///
    /// *Errors*: the refusal where it is not to be used, or not there.
    async fn alone(&self, rule: &Rule) -> Result<Option<OwnedMutexGuard<()>>, Refusal> {
        let Some(folder) = &rule.store else { return Ok(None) };
        let alone = self.of(&folder.path, |known| known.alone.clone()).lock_owned().await;
        match self.of(&folder.path, |known| known.is_condemned) {
            true => Err(Refusal::Closed),
            false => Ok(Some(alone)),
        }
    }

    /// Tells whether a store may be filled: it is not where its peer has just left an order unfinished, or where it should have been given up.
    pub(super) fn may_be_filled(&self, path: &Path) -> bool {
        self.of(path, |known| !known.is_condemned && known.rests_until.is_none_or(|until| until <= Instant::now()))
    }

    /// Notes that a session has failed with a store.
    fn note(&self, folder: &Folder, failure: &Failure) {
        if failure.condemned {
            tracing::error!(store = %folder.path.display(), "THIS STORE HAD TO BE GIVEN UP AND COULD NOT BE: nothing is taken from it any more; remove it");
            self.of(&folder.path, |known| known.is_condemned = true);
        }
    }

    /// Lets a store rest if its peer has left one more order unfinished, each time longer.
    fn rest(&self, offer: &Offer, folder: &Folder) {
        let Some(now) = unfinished(&offer.settings, folder) else { return };
        self.note_unfinished(&offer.name, &folder.path, now);
    }

    fn note_unfinished(&self, job: &str, path: &Path, now: u32) {
        self.of(path, |known| {
            if known.unfinished.replace(now).unwrap_or(0) < now {
                let rest = pause(now);
                tracing::warn!(
                    job,
                    unfinished = now,
                    seconds = rest.as_secs(),
                    "the peer has left an order of gates unfinished: the store rests"
                );
                known.rests_until = Some(Instant::now() + rest);
            }
        });
    }

    /// Counts the pieces of a store, unless that was done a moment ago.
    fn pieces(&self, offer: &Offer, folder: &Folder) -> Option<u64> {
        let is_due = |known: &mut Known| {
            let is_due = known.counted.is_none_or(|counted| counted.elapsed() > COUNTED_EVERY);
            is_due.then(|| known.counted = Some(Instant::now()))
        };
        self.of(&folder.path, is_due)?;
        let config = offer.settings.config().ok()?;
        let stock = folder.open(folder.order(&config, 2).ok()?, (&config, 2), Store::open).ok()?;
        Some(pieces(&stock.store))
    }
}

fn pieces(store: &Store) -> u64 {
    store.stock().iter().map(|kind| kind.available.len()).sum()
}

/// The result of a session.
pub(super) enum Done {
    Filled(PhaseCosts),
    Computed {
        outcome: Box<Outcome>,
        /// The reason why the results went nowhere.
        unhanded: Option<Failure>,
    },
}

/// A session without a result.
pub(super) enum Stopped {
    Refused(Refusal),
    /// Several parties that did not all come, or not as they should.
    NotMet(Failure),
    Failed(Failure),
    /// Its thread has panicked.
    Died,
    /// The service has given it up, for this reason.
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
/// *Errors*: whatever ends it without a result. Of two parties, a caller that is refused has heard it; of several, they hear that it is broken off.
pub(super) async fn run(admitted: Admitted, shared: Shared) -> Result<Done, Stopped> {
    let Admitted { request, offer, rule, work, options, watched } = admitted;
    let rule = &offer.rules[rule];
    match work {
        Work::Fill(channel, below) => fill((&offer, rule), &request, (*channel, below), &shared).await,
        Work::Refill(Refill { at, below, .. }) => {
            let channel = connect(&at, &options).await.map_err(|error| net_failure(&error))?;
            match rule.applies_to(channel.peer()) {
                true => fill((&offer, rule), &request, (channel, below), &shared).await,
                false => {
                    Err(Failure::no_result(format!("refill: at {at} there is another peer than the rule's")).into())
                }
            }
        }
        Work::Compute(channel) => {
            let ready = async {
                // First, so that no refill waits for a store that this caller has open while it waits for us.
                let alone = shared.stores.alone(rule).await?;
                let inputs = inputs(&offer, rule, &request, &shared).await?;
                find_store(&offer, rule, &request, &shared)?;
                count(&offer, rule, &request, &shared).map(|()| (inputs, alone))
            };
            let (inputs, _alone) = match ready.await {
                Ok(ready) => ready,
                Err(refusal) => return Err(refuse(*channel, refusal, &shared).await),
            };
            let computed = compute(&offer, rule, Ends::from(*channel), inputs).await;
            if let Some(folder) = &rule.store {
                if let Err(Stopped::Failed(failure)) = &computed {
                    shared.stores.note(folder, failure);
                }
                if let Some(pieces) = shared.stores.pieces(&offer, folder) {
                    shared.metrics.stocked(&offer.name, request.peer(), pieces);
                }
            }
            computed
        }
        Work::Mesh(callers) => {
            let Some(peers) = &rule.addresses else { return Err(Stopped::Refused(Refusal::UnknownJob)) };
            let mesh = Mesh::join_callers(rule.party.0, peers, callers, &options).await;
            let mesh = mesh.map_err(|error| Stopped::NotMet(mesh_failure(&error)))?;
            // Now that all are there: nobody has the inputs fetched, or uses up the runs of others, alone.
            let inputs = inputs(&offer, rule, &request, &shared).await;
            match inputs.and_then(|inputs| count(&offer, rule, &request, &shared).map(|()| inputs)) {
                Ok(inputs) => {
                    let mut ends = Ends::from(mesh);
                    watched.lock().unwrap_or_else(PoisonError::into_inner).begin(&mut ends, rule.party);
                    compute(&offer, rule, ends, inputs).await
                }
                Err(refusal) => {
                    mesh.abort(None).await;
                    Err(Stopped::Refused(refusal))
                }
            }
        }
    }
}

/// Fetches the inputs.
///
/// *Errors*: the refusal; the log says more.
async fn inputs(offer: &Offer, rule: &Rule, request: &RequestWords, shared: &Shared) -> Result<PartyInputs, Refusal> {
    let inputs = shared.ahead.inputs(offer, rule, request).await;
    inputs.map_err(|failure| no_data(offer, request, shared, &failure))
}

/// Looks whether the store of a rule is there, if it has one.
///
/// *Errors*: the refusal; the log says more.
fn find_store(offer: &Offer, rule: &Rule, request: &RequestWords, shared: &Shared) -> Result<(), Refusal> {
    let found = rule.store.as_ref().map_or(Ok(()), |folder| stock::find_store(&folder.path));
    found.map_err(|failure| no_data(offer, request, shared, &failure))
}

/// Logs why a caller is refused for want of data: once a minute, as it costs the caller nothing.
fn no_data(offer: &Offer, request: &RequestWords, shared: &Shared, failure: &Failure) -> Refusal {
    if let Some(more) = shared.farewells.is_first((request.peer().into(), Some(offer.name.clone()), "no-inputs")) {
        tracing::error!(session = request.id, job = offer.name, reason = failure.message, more, "no inputs");
    }
    Refusal::NoData
}

/// Tells a caller why nothing begins.
async fn refuse(channel: Channel, refusal: Refusal, shared: &Shared) -> Stopped {
    shared.farewells.tell(channel, refusal).await;
    Stopped::Refused(refusal)
}

/// Counts the run: on disk, before a peer hears anything that depends on an input. Only now the log says that it begins.
///
/// *Errors*: the refusal.
fn count(offer: &Offer, rule: &Rule, request: &RequestWords, shared: &Shared) -> Result<(), Refusal> {
    let now = clock().as_secs();
    let mut counters = shared.counters.lock().unwrap_or_else(PoisonError::into_inner);
    let counted = counters.count(&rule.budget, &request.counted, rule.often, now);
    if counted == Err(Refusal::Closed) {
        shared.metrics.set_ready(false);
    }
    if counted.is_ok() {
        let (peer, protocol) = (request.peer(), &offer.settings.protocol);
        let (session, name, digest) = (&request.id, &request.session, &offer.digest);
        tracing::info!(session, name, peer, job = offer.name, digest, protocol, "begins");
    }
    counted
}

/// Computes with peers who are there.
async fn compute(offer: &Offer, rule: &Rule, ends: Ends, inputs: PartyInputs) -> Result<Done, Stopped> {
    let folder = rule.store.clone();
    let task = Task {
        plan: offer.plan.clone(),
        party: rule.party,
        inputs,
        settings: &offer.settings,
        progress: false,
        // It was there before the peer came.
        loaded: Duration::ZERO,
        source: folder.map(|folder| Source::Store { folder, top_up: false, make: false }),
    };
    Ok(Done::Computed { outcome: Box::new(compute_with(task, ends).await?), unhanded: None })
}

/// Hands over the results of a session, if it has some, whatever time that takes.
pub(super) async fn hand_over(done: Done, offer: &Offer, rule: usize, request: &RequestWords) -> Done {
    match done {
        Done::Computed { outcome, .. } => {
            let unhanded = data::hand_over(offer, &offer.rules[rule], request, &outcome.outputs).await.err();
            Done::Computed { outcome, unhanded }
        }
        filled => filled,
    }
}

/// Fills the store of a rule together with that of its peer.
async fn fill(
    (offer, rule): (&Offer, &Rule),
    request: &RequestWords,
    (channel, below): (Channel, u8),
    shared: &Shared,
) -> Result<Done, Stopped> {
    let Some(folder) = &rule.store else { return Err(refuse(channel, Refusal::UnknownJob, shared).await) };
    let _alone = match shared.stores.alone(rule).await {
        Ok(_) if !shared.stores.may_be_filled(&folder.path) => return Err(refuse(channel, Refusal::Busy, shared).await),
        Ok(alone) => alone,
        Err(refusal) => return Err(refuse(channel, refusal, shared).await),
    };
    let filled = fill_with(&offer.settings, rule.party, folder, channel, below).await;
    let done = filled.map(|filled| {
        shared.metrics.stocked(&offer.name, request.peer(), pieces(&filled.store));
        Done::Filled(filled.phases)
    });
    if let Err(failure) = &done {
        shared.stores.note(folder, failure);
        shared.stores.rest(offer, folder);
    }
    Ok(done?)
}

#[cfg(test)]
mod tests {
    use garblet::{OrderRequest, Party};

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
            beat: Duration::ZERO,
            results: None,
            store: Some(folder.clone()),
            refill: None,
        };
        (rule, folder)
    }

    #[tokio::test]
    async fn a_store_that_could_not_be_given_up_is_used_by_nobody() {
        let ((rule, folder), stores) = (with_store(), Stores::default());
        stores.note(&folder, &Failure::no_result("the peer has cheated"));
        assert!(stores.alone(&rule).await.is_ok_and(|alone| alone.is_some()) && stores.may_be_filled(&folder.path));
        stores.note(&folder, &Failure { condemned: true, ..Failure::no_result("and the disk is full") });
        assert_eq!(stores.alone(&rule).await.err(), Some(Refusal::Closed));
        assert!(!stores.may_be_filled(&folder.path));
        assert!(stores.may_be_filled(Path::new("another")));
    }

    #[test]
    fn a_store_rests_when_one_more_order_was_left_unfinished() {
        let (stores, path) = (Stores::default(), Path::new("store"));
        let end_of_rest = || stores.of(path, |known| known.rests_until);
        stores.note_unfinished("job", path, 0);
        assert!(stores.may_be_filled(path));
        stores.note_unfinished("job", path, 1);
        assert!(!stores.may_be_filled(path));
        let first = end_of_rest();
        stores.note_unfinished("job", path, 1);
        assert_eq!(end_of_rest(), first, "there is none more");
        stores.note_unfinished("job", path, 2);
        assert!(end_of_rest() > first);
    }
}
