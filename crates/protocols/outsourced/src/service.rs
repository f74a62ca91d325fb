//! The service of a server: clients come and go, leave a submission at both servers, and get the answer in the same or a later visit.
//!
//! Both servers have the same [`Agreement`]: which programs may be run, by which clients, on which states, how often. Each has a desk, where visitors leave
//! submissions, and one connection with the other server, over which they run jobs one after another, as soon as both have the submissions of all clients of a
//! job.
//!
//! # Steps
//!
//! | who | what | where |
//! |---|---|---|
//! | client | calls both servers, and sends each its frame | [`garblet_client::Visit`] |
//! | server | opens it, checks it against the agreement, and keeps it until all clients of the job have submitted | `desk` |
//! | cloud | tells the generator once it has all submissions of a job | `words` |
//! | generator | once it has all, too, calls the job; either server refuses it if a state has another version or a counter was used | `pair` |
//! | servers | record durably that the submissions are used, then run the job | `pair`, `clients` |
//! | server | keeps the sealed answer for a day, and gives it to the client, also on later visits | `desk` |
//!
//! A submission is used once, whatever its outcome: a server that runs or refuses it never accepts it again. So a sealed refusal by an honest server proves
//! that it is not run, unless the reason says that it may have been ([`Reason::is_never_run`]); as one server may lie, a client deals again, with a higher
//! counter, only if both refuse. A server's store records the used submissions. A new store knows none of them: both servers change the agreement's service
//! value whenever one of them starts with another store.
//!
//! *Deviations*: both servers refuse a job before anything is revealed if its state has another version; such a refusal is not counted against anybody. Both
//! refuse a wrong hash or challenge before a label leaves, count it against the client, and go on. Each unfinished run whose labels have left is counted,
//! since the other server may have guessed inputs: after 256 of them a server stops.

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

pub use crate::agreement::{Agreement, Offer, ServiceId};
pub use visits::{Unanswered, WayTo, call};

use crate::SERVERS;

use clients::UNENDED_MAX;
use desk::Desk;

/// The pause before meeting the other server again.
const PAUSE: Duration = Duration::from_secs(1);
/// The interval between checks for submissions that have waited too long.
const LOOK: Duration = Duration::from_secs(1);

/// One of two servers that answers clients.
pub struct Service {
    desk: Desk,
    /// The server's own inputs, for offers that have some.
    inputs: Vec<(String, Vec<Bits>)>,
    /// The amounts to which the store is filled while nobody waits, once it is less than half full.
    stock: Amounts,
    open: OpenStore,
    hear: Box<dyn Fn(Event<'_>) + Send + Sync>,
}

/// Opens the server's store, each time it meets the other server.
pub type OpenStore = Box<dyn Fn() -> Result<Store, ProtocolError> + Send + Sync>;

/// An event of a service, for its log.
pub enum Event<'a> {
    /// The other server is connected.
    Met,
    /// The other server is gone or faulty.
    Parted(&'a ProtocolError),
    /// A state has become unusable, here or at the other server.
    Closed(&'a ProtocolError),
    /// A job was run.
    Ran {
        /// The name of its offer.
        offer: &'a str,
        /// The names of its clients.
        clients: &'a [&'a str],
        /// This server's outputs, not those of others.
        outputs: &'a [Option<Bits>],
        /// Set if the computation panicked, as far as this server learns: then there is no result, and the state stays as it was.
        has_panicked: bool,
        /// The time from calling the job to the answers.
        took: Duration,
    },
    /// A job was refused.
    Refused {
        /// The name of its offer.
        offer: &'a str,
        /// The names of its clients.
        clients: &'a [&'a str],
        /// The reason given to the clients.
        reason: Reason,
        /// The parties of the job, one of which is to blame.
        accused: &'a [Party],
    },
    /// A run did not finish after labels had left; the number of such runs, and the number at which the service ends.
    Unended(u32, u32),
    /// The store was filled.
    Filling(Amounts),
}

/// The place where the servers meet.
pub enum Place {
    /// This server listens there.
    Listen(Listener),
    /// This server connects there.
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
    /// *Shape*: a secret for each client of the agreement, in its order; `inputs` are this server's inputs for the offers that need some, each with all
    /// values in the program's order. *Errors*: a store that cannot be opened, or that numbers the clients differently; inputs that are missing or do not fit.
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
        // It is opened again for each meeting with the other server.
        drop(store);
        Ok(Service { desk, inputs, stock, open, hear: Box::new(hear) })
    }

    /// The agreement.
    pub fn agreement(&self) -> &Agreement {
        self.desk.agreement()
    }

    /// Runs jobs with the other server, and meets it again whenever the connection is lost. It computes for long stretches: give it its own thread.
    ///
    /// *Errors*: those that end the service for good: a store that is unusable or was given up; too many unfinished runs.
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

    /// Runs jobs with the other server over a connection that the caller has, until one of them leaves.
    ///
    /// *Errors*: the reason for that; too many unfinished runs.
    pub async fn run_jobs_over(
        &self,
        channel: Channel,
        options: &Options,
        rng: Prg,
    ) -> Result<Infallible, ProtocolError> {
        self.check_unended()?;
        self.pair(channel, (self.open)()?, options, rng).await
    }

    /// Meets the other server once; meanwhile refuses submissions that have waited too long.
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

/// Tells whether it is useless to meet the other server again.
fn is_final(error: &ProtocolError) -> bool {
    match error {
        ProtocolError::NotGivenUp { .. } => true,
        // A full disk may have room later; that this store was rolled back is only the other server's claim.
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
