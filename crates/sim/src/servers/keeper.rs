//! A server: its disk, the service that lives between meetings, and what it said to its log.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use garblet::outsourced::service::{Agreement, Event, OpenStore, Service};
use garblet_client::{Reason, Server};
use garblet_primitives::{Block, Prg};
use garblet_protocol::{ProtocolError, protocol::OrderRequest};

use crate::{
    bug::Bug,
    disk::{Disk, Failure},
    line::Presence,
};

use super::{
    agreed::{CLIENTS, Function},
    client::secret,
};

/// A word of a server to its log.
#[derive(Clone)]
pub(crate) struct Word {
    pub(crate) what: What,
    /// The same for people.
    pub(crate) text: String,
}

/// A word, as far as the model looks at it.
#[derive(Clone, Copy)]
pub(crate) enum What {
    /// Both servers have met.
    Met,
    /// The state was closed.
    Closed,
    /// A function was run.
    Ran(Function),
    /// A client's job was refused for this reason, which may accuse somebody.
    Refused {
        client: usize,
        reason: Reason,
        accuses: bool,
    },
    Other,
}

/// The circumstances under which a server opens its store.
struct Now {
    failure: Option<Failure>,
    presence: Arc<Presence>,
    rng: Prg,
}

/// A server.
pub(crate) struct Keeper {
    server: Server,
    pub(crate) disk: Arc<Mutex<Disk>>,
    now: Arc<Mutex<Now>>,
    words: Arc<Mutex<Vec<Word>>>,
    service: Option<Arc<Service>>,
    bug: Option<Bug>,
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Keeper {
    pub(crate) fn new(server: Server, disk: Disk, bug: Option<Bug>) -> Self {
        let now = Now { failure: None, presence: Presence::new(None), rng: Prg::new(Block::ZERO) };
        Keeper {
            server,
            disk: Arc::new(Mutex::new(disk)),
            now: Arc::new(Mutex::new(now)),
            words: Arc::default(),
            service: None,
            bug,
        }
    }

    pub(crate) fn disk(&self) -> MutexGuard<'_, Disk> {
        lock(&self.disk)
    }

    /// Ends its process, if it runs.
    pub(crate) fn stop(&mut self) {
        self.service = None;
    }

    /// A meeting begins, under these circumstances.
    pub(crate) fn enter(&mut self, failure: Option<Failure>, presence: Arc<Presence>, rng: Prg) {
        *lock(&self.now) = Now { failure, presence, rng };
        lock(&self.words).clear();
    }

    /// The words since the meeting began.
    pub(crate) fn words(&self) -> Vec<Word> {
        lock(&self.words).clone()
    }

    /// The service, started if it does not run.
    ///
    /// *Errors*: those of its store.
    pub(crate) fn service(
        &mut self,
        agreement: &Arc<Agreement>,
        stock: &OrderRequest,
    ) -> Result<Arc<Service>, ProtocolError> {
        if let Some(service) = &self.service {
            return Ok(service.clone());
        }
        let secrets = (0..CLIENTS.len()).map(|client| secret(self.server, client)).collect();
        let words = self.words.clone();
        let hear = move |event: Event<'_>| lock(&words).push(word(event));
        let mut rng = Prg::random(&mut lock(&self.now).rng);
        let (ready, stock) = ((agreement.clone(), self.server), (stock, self.opener()));
        let service = Arc::new(Service::new(ready, secrets, Vec::new(), stock, hear, &mut rng)?);
        self.service = Some(service.clone());
        Ok(service)
    }

    /// Opens the store as things are when it is called.
    fn opener(&self) -> OpenStore {
        let (disk, now, bug) = (self.disk.clone(), self.now.clone(), self.bug);
        Box::new(move || {
            let mut now = lock(&now);
            let mut rng = Prg::random(&mut now.rng);
            let bug = bug.filter(|bug| *bug == Bug::NoRecord);
            Ok(lock(&disk).open(&mut rng, (now.failure, &now.presence), bug)?)
        })
    }
}

/// The word for an event.
fn word(event: Event<'_>) -> Word {
    let other = |text: String| Word { what: What::Other, text };
    match event {
        Event::Met => Word { what: What::Met, text: "has met the other one".into() },
        Event::Parted(error) => other(format!("has parted: {error}")),
        Event::Closed(error) => Word { what: What::Closed, text: format!("closes: {error}") },
        Event::Ran { offer, clients, has_panicked, .. } => {
            let text =
                format!("ran {offer} of {}{}", clients.join(", "), if has_panicked { ", which panicked" } else { "" });
            Word { what: Function::named(offer).map_or(What::Other, What::Ran), text }
        }
        Event::Refused { offer, clients, reason, accused } => {
            let client = clients.first().and_then(|name| CLIENTS.iter().position(|client| client == name));
            let accuses = !accused.is_empty();
            let what = client.map_or(What::Other, |client| What::Refused { client, reason, accuses });
            Word { what, text: format!("refuses {offer} of {}: {reason}", clients.join(", ")) }
        }
        Event::Unended(runs, _) => other(format!("counts {runs} runs that did not end")),
        Event::Filling(_) => other("fills its store".into()),
    }
}
