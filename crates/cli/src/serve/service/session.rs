//! One session of a service, from its place to its end, on a thread of its own.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use garblet::{Ends, Error, PhaseCosts};
use garblet_net::{Caller, Channel, Mesh, Refusal, connect};
use tokio::sync::mpsc;

use super::{
    config::Offer,
    counters::Counters,
    data::{self, RequestWords},
    farewells::Farewells,
    metrics::{Metrics, clock},
    rule::Rule,
    written::Refill,
};
use crate::{
    failure::Failure,
    hints::{explain, mesh_failure, net_failure},
    inputs::PartyInputs,
    receipts::Receipts,
    session::{Outcome, Task, Watched, compute_with, fill_with},
    stock::{Folder, Source},
};

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
}

/// Stores, each used by one session at a time.
#[derive(Clone, Default)]
pub(super) struct Stores(Arc<Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>>);

impl Stores {
    async fn alone(&self, folder: &Folder) -> tokio::sync::OwnedMutexGuard<()> {
        let lock =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(folder.path.clone()).or_default().clone();
        lock.lock_owned().await
    }
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
            let inputs = inputs(&offer, rule, &request).await;
            let inputs = match inputs.and_then(|inputs| count(rule, &request, &shared).map(|()| inputs)) {
                Ok(inputs) => inputs,
                Err(refusal) => {
                    shared.farewells.tell(*channel, refusal);
                    return Err(Stopped::Refused(refusal));
                }
            };
            let _alone = match &rule.store {
                Some(folder) => Some(shared.stores.alone(folder).await),
                None => None,
            };
            compute(&offer, rule, &request, Ends::from(*channel), inputs).await
        }
        Work::Mesh(callers) => {
            let Some(peers) = &rule.addresses else { return Err(Stopped::Refused(Refusal::UnknownJob)) };
            let mesh = Mesh::join_callers(rule.party.0, peers, callers, &options).await;
            let mesh = mesh.map_err(|error| Stopped::NotMet(mesh_failure(&error)))?;
            // Now that all are there: nobody has the inputs fetched, or uses up the runs of others, alone.
            let inputs = inputs(&offer, rule, &request).await;
            match inputs.and_then(|inputs| count(rule, &request, &shared).map(|()| inputs)) {
                Ok(inputs) => {
                    let mut ends = Ends::from(mesh);
                    watched.lock().unwrap_or_else(PoisonError::into_inner).begin(&mut ends, rule.party);
                    compute(&offer, rule, &request, ends, inputs).await
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
async fn inputs(offer: &Offer, rule: &Rule, request: &RequestWords) -> Result<PartyInputs, Refusal> {
    data::inputs(offer, rule, request).await.map_err(|Failure { message, .. }| {
        tracing::error!(session = request.id, job = offer.name, reason = message, "no inputs");
        Refusal::NoData
    })
}

/// Counts the run: on disk, before a peer hears anything that depends on an input.
///
/// *Errors*: the refusal.
fn count(rule: &Rule, request: &RequestWords, shared: &Shared) -> Result<(), Refusal> {
    let now = clock().as_secs();
    let mut counters = shared.counters.lock().unwrap_or_else(PoisonError::into_inner);
    let counted = counters.count(&rule.budget, &request.counted, rule.often, now);
    if counted == Err(Refusal::Closed) {
        shared.metrics.set_ready(false);
    }
    counted
}

/// Computes with peers who are there, and hands over the results.
async fn compute(
    offer: &Offer,
    rule: &Rule,
    request: &RequestWords,
    ends: Ends,
    inputs: PartyInputs,
) -> Result<Done, Stopped> {
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
    let outcome = Box::new(compute_with(task, ends).await?);
    let unhanded = data::hand_over(offer, rule, request, &outcome.outputs).await.err();
    Ok(Done::Computed { outcome, unhanded })
}

/// Fills the store of a rule together with that of its peer.
async fn fill(
    (offer, rule): (&Offer, &Rule),
    request: &RequestWords,
    (channel, below): (Channel, u8),
    shared: &Shared,
) -> Result<Done, Stopped> {
    let Some(folder) = &rule.store else { return Err(Stopped::Refused(Refusal::UnknownJob)) };
    let _alone = shared.stores.alone(folder).await;
    let filled = fill_with(&offer.settings, rule.party, folder, channel, below).await?;
    let pieces = filled.store.stock().iter().map(|kind| kind.available.len()).sum();
    shared.metrics.stocked(&offer.name, request.peers.first().map_or("", |peer| peer), pieces);
    Ok(Done::Filled(filled.phases))
}
