//! The service of a server: clients come and go, leave a submission at both servers, and have its answer in the same or a later visit.
//!
//! Both servers have the same [`Agreement`]: which programs may be run, by which clients, on which states, how often. Each has a desk, where visitors leave what they dealt, and
//! one connection with the other server, over which jobs are run one after another, as soon as both have the submissions of all their clients.
//!
//! # Steps
//!
//! | who | what | where |
//! |---|---|---|
//! | client | calls both servers, and sends each its frame | [`garblet_client::Visit`] |
//! | server | opens it, holds it against the agreement, and keeps it until those of all clients of the job are there | `desk` |
//! | cloud | tells the generator that it has all | `words` |
//! | generator | has all, too: calls the job; either refuses it if a state has another version or a counter was used | `pair` |
//! | servers | note durably that the submissions are used, then run the job | `pair`, `clients` |
//! | server | keeps the sealed answer for a day, and gives it to the client, also if that comes again | `desk` |
//!
//! A submission is used once, whatever becomes of it: a server that runs or refuses it takes it never again. So a sealed refusal of an honest server proves that it is not run,
//! unless the reason says that it may have been ([`Reason::is_never_run`]); as one server may lie, a client deals anew, with a higher counter, only if both say so. What a
//! server has used is in its store. A new store knows nothing of it: both servers change the agreement's service value whenever one of them begins with another store.
//!
//! *Deviations*: a job is refused by both servers before anything was told if its state has another version; such a refusal is not counted against anybody. A hash or challenge that does not
//! fit is refused by both before a label leaves, counted against the client, and they go on. Each run of which labels left and that does not end is counted, since the other server may have
//! guessed what it computes on: after 256 of them a server stops.

mod agreement;
mod clients;
mod desk;
mod pair;
#[cfg(test)]
mod tests;
mod visits;
mod words;

use std::{convert::Infallible, sync::Arc, time::Duration};

use garblet_authenticated::{Amounts, Authenticated};
use garblet_circuit::{Bits, Party};
use garblet_client::{Reason, Secret, Server};
use garblet_net::{Channel, Listener, NetError, Options, connect};
use garblet_primitives::Prg;
use garblet_protocol::{Protocol, ProtocolError, protocol::OrderRequest};
use garblet_store::{Store, StoreError};
use rand_core::CryptoRng;

pub use agreement::{Agreement, Offer, ServiceId};
pub use visits::{Unanswered, WayTo, call};

use crate::SERVERS;

use clients::UNENDED_MAX;
use desk::Desk;

/// The pause before the other server is met again.
const PAUSE: Duration = Duration::from_secs(1);
/// The time between two looks for submissions that have waited too long.
const LOOK: Duration = Duration::from_secs(1);

/// One of two servers that answers clients.
pub struct Service {
    desk: Desk,
    /// The server's own inputs, of the offers that have some.
    inputs: Vec<(String, Vec<Bits>)>,
    /// The amounts to which the store is filled while nobody waits, once there is less than half.
    stock: Amounts,
    open: OpenStore,
    hear: Box<dyn Fn(Event<'_>) + Send + Sync>,
}

/// Opens the server's store, each time that it meets the other one.
pub type OpenStore = Box<dyn Fn() -> Result<Store, ProtocolError> + Send + Sync>;

/// An event of a service, for its log.
pub enum Event<'a> {
    /// The other server is there.
    Met,
    /// The other server is gone, or something is wrong with it.
    Parted(&'a ProtocolError),
    /// A state cannot be used any more, here or at the other server.
    Closed(&'a ProtocolError),
    /// A job was run.
    Ran {
        /// The name of its offer.
        offer: &'a str,
        /// The names of its clients.
        clients: &'a [&'a str],
        /// This server's outputs, those of others not.
        outputs: &'a [Option<Bits>],
        /// Set if the computation has panicked, as far as this server learns: then it has no result, and what was kept before stays.
        has_panicked: bool,
        /// The time from the call of the job to the answers.
        took: Duration,
    },
    /// A job was refused.
    Refused {
        /// The name of its offer.
        offer: &'a str,
        /// The names of its clients.
        clients: &'a [&'a str],
        /// The reason that they are told.
        reason: Reason,
        /// Parties of the job of whom one is to blame.
        accused: &'a [Party],
    },
    /// A run did not end after labels had left; the number of them, and the one at which the service ends.
    Unended(u32, u32),
    /// The store is filled.
    Filling(Amounts),
}

/// The place where the servers meet.
pub enum Place {
    /// This server waits there.
    Listen(Listener),
    /// This server goes there.
    Connect(String),
}

impl Place {
    async fn meet(&self, options: &Options) -> Result<Channel, NetError> {
        match self {
            Place::Listen(listener) => listener.accept(options).await,
            Place::Connect(address) => connect(address, options).await,
        }
    }
}

impl Service {
    /// A service of one of the servers.
    ///
    /// *Shape*: a secret for each client of the agreement, in its order; `inputs` are those of this server for the offers that need some, each with all
    /// values in the program's order. *Errors*: a store that cannot be opened, or that knows the clients by other numbers; inputs that are missing or do not fit.
    pub fn new(
        (agreement, server): (Arc<Agreement>, Server),
        secrets: Vec<Secret>,
        inputs: Vec<(String, Vec<Bits>)>,
        (stock, open): (&OrderRequest, OpenStore),
        hear: impl Fn(Event<'_>) + Send + Sync + 'static,
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Self, ProtocolError> {
        agreement.check_inputs(server, &inputs)?;
        let stock = Authenticated::order(stock, &agreement.config(), SERVERS)?;
        let mut store = open()?;
        clients::number(&mut store, agreement.clients())?;
        let desk = Desk::new(agreement, server, secrets, &store, rng)?;
        // It is opened anew for the other server.
        drop(store);
        Ok(Service { desk, inputs, stock, open, hear: Box::new(hear) })
    }

    /// The agreement.
    pub fn agreement(&self) -> &Agreement {
        self.desk.agreement()
    }

    /// Runs jobs with the other server, which is met again whenever it was lost. It computes for long: it belongs on a thread of its own.
    ///
    /// *Errors*: what ends the service for good: a store that cannot be used, or that was given up; too many runs that did not end.
    pub async fn run_jobs(&self, place: &Place, options: &Options, rng: &mut Prg) -> Result<Infallible, ProtocolError> {
        loop {
            self.check_unended()?;
            let Err(error) = self.meet_and_pair(place, options, rng).await;
            (self.hear)(Event::Parted(&error));
            if is_final(&error) {
                return Err(error);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Meets the other server once; submissions that have waited too long are refused meanwhile.
    async fn meet_and_pair(
        &self,
        place: &Place,
        options: &Options,
        rng: &mut Prg,
    ) -> Result<Infallible, ProtocolError> {
        let mut store = (self.open)()?;
        let mut meeting = std::pin::pin!(place.meet(options));
        let channel = loop {
            tokio::select! {
                met = &mut meeting => break met?,
                () = tokio::time::sleep(LOOK) => self.desk.expire(&mut store, rng)?,
            }
        };
        self.pair(channel, store, options, Prg::random(rng)).await
    }

    fn check_unended(&self) -> Result<(), ProtocolError> {
        let got = self.desk.unended();
        match got < UNENDED_MAX {
            true => Ok(()),
            false => Err(ProtocolError::Stored {
                what: "runs that did not end after labels had left: the other server may have guessed at inputs",
                expected: format!("fewer than {UNENDED_MAX}"),
                got: got.to_string(),
            }),
        }
    }
}

/// Tells whether a service has no use for meeting the other server again.
fn is_final(error: &ProtocolError) -> bool {
    match error {
        ProtocolError::NotGivenUp { .. } => true,
        // A disk that is full has room later; that this store is older than it was is only the other server's word.
        ProtocolError::Store(
            StoreError::Io { .. }
            | StoreError::Broken
            | StoreError::OtherProcess { .. }
            | StoreError::RolledBack { .. },
        ) => false,
        ProtocolError::Store(own) => !own.is_misbehaviour(),
        ProtocolError::Peer { source, .. } => is_final(source),
        error => error.is_evidence(),
    }
}
