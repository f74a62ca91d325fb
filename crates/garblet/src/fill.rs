//! Stores of prepared material: orders for them, and how they are filled.

use garblet_circuit::Party;
use garblet_net::Hello;
use garblet_primitives::Prg;
use garblet_protocol::{
    Progress,
    protocol::OrderRequest,
    stock::{Filled, SavedNames},
};
use garblet_store::Store;
use rand::CryptoRng;

use crate::{
    config::Config,
    erased::{Ends, Erased},
    registry::Protocol,
    report::Error,
    stock::{LOW_WATER, Order, Stock},
};

impl Order {
    /// Parses an order for the store of one of `parties` parties.
    ///
    /// *Errors*: kinds that the protocol does not have; a file or a program that it cannot use.
    pub fn new(request: &OrderRequest, parties: u16, config: &Config) -> Result<Self, Error> {
        (config.protocol().0.order)(request, config.typed(), parties)
    }

    /// An order of a protocol's own type.
    pub fn of<P: Erased>(order: P::Order) -> Self {
        Order(Box::new(order))
    }
}

/// The percentage below which a peer that greets like this wants to [`fill`], if it wants to.
pub fn wants_to_fill(hello: &Hello) -> Option<u8> {
    hello.parameter(LOW_WATER)?.parse().ok().filter(|below| (1..=100).contains(below))
}

/// Refills a store, together with those of all others: every kind below `below` percent of its order, up to all of it. Runs are prepared up to
/// their number, whatever `below` is.
///
/// *Errors*: a peer that fills its store with other contents, misbehaves or is gone; a store that was filled for something
/// else. What was done until then is kept.
pub fn fill<E: Into<Ends>, R: CryptoRng>(
    stock: Stock,
    party: Party,
    ends: E,
    config: &Config,
    below: u8,
    mut rng: R,
    progress: Box<dyn Progress>,
) -> impl Future<Output = Result<Filled, Error>> + Send + use<E, R> {
    let rng = Prg::random(&mut rng);
    (config.protocol().0.fill)((stock, below), config.typed(), party, ends.into(), rng, progress)
}

/// Lists the values that a store keeps and nobody knows.
pub fn saved(store: &Store) -> Vec<SavedNames> {
    Protocol::ALL.iter().flat_map(|protocol| (protocol.0.saved)(store)).collect()
}

/// Closes a state that a store keeps for others: it is not used again, and the other server hears so when it next meets this one. Whether there was one of that name.
///
/// *Errors*: a store that cannot be written.
pub fn close_state(store: &mut Store, name: &str) -> Result<bool, Error> {
    let closed: Result<Vec<bool>, Error> =
        Protocol::ALL.iter().map(|protocol| (protocol.0.close_state)(store, name)).collect();
    Ok(closed?.contains(&true))
}

/// Counts the orders that the peer of a store has left unfinished in a way in which cheaters do.
pub fn unfinished(store: &Store) -> u32 {
    Protocol::ALL.iter().map(|protocol| (protocol.0.unfinished)(store)).sum()
}

/// Forgives the orders that [`unfinished`] counts, and the runs that were to keep values and did not end, and returns how many these were.
///
/// *Errors*: a store that cannot be written.
pub fn forgive(store: &mut Store) -> Result<u32, Error> {
    Protocol::ALL.iter().map(|protocol| (protocol.0.forgive)(store)).sum()
}

/// Tells whether a check of the peer was begun whose outcome a store's party does not know: the next meeting begins with it.
pub fn unsettled(store: &Store) -> bool {
    Protocol::ALL.iter().any(|protocol| (protocol.0.unsettled)(store))
}
