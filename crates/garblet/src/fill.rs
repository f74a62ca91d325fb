//! Stores of prepared material: orders for them, and how they are filled.

use garblet_circuit::Party;
use garblet_net::{Hello, LOW_WATER, Options};
use garblet_primitives::Prg;
use garblet_protocol::{
    Progress,
    protocol::OrderRequest,
    stock::{Filled, Notice},
};
use garblet_store::Store;
use rand::CryptoRng;

use crate::{
    config::Config,
    erased::{Ends, Erased},
    registry::Protocol,
    report::Error,
    stock::{Order, Stock},
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

/// The percentage below which a peer with this hello wants to [`fill`], if it does.
pub fn wants_to_fill(hello: &Hello) -> Option<u8> {
    hello.parameter(LOW_WATER)?.parse().ok().filter(|below| (1..=100).contains(below))
}

/// The options with which several parties meet to [`fill`] their stores below this percentage: so a service that one of them is knows it from the first hello.
pub fn meeting_to_fill(options: Options, below: u8) -> Options {
    Options { asks: Some((LOW_WATER, below.to_string())), ..options }
}

/// Tells whether a store has less than `below` percent of some kind of its order, so that [`fill`] would make more. It is also true if that shows only when the
/// parties meet.
pub fn is_low(stock: &Stock, config: &Config, below: u8) -> bool {
    (config.protocol().0.is_low)(stock, below)
}

/// Refills a store, together with the other parties' stores: every kind below `below` percent of its order, up to the whole order. Runs are prepared up to
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
    (config.protocol().0.fill)((stock, below), (config.typed(), config.wish()), party, ends.into(), rng, progress)
}

/// Lists the notices that a store has for its owner.
pub fn notices(store: &Store) -> Vec<Notice> {
    Protocol::ALL.iter().flat_map(|protocol| (protocol.0.notices)(store)).collect()
}

/// Settles one of the [`notices`] of a store, at its owner's word: [`Notice`] says what that means for each.
///
/// *Errors*: a store that cannot be written.
pub fn settle(store: &mut Store, notice: &Notice) -> Result<(), Error> {
    Protocol::ALL.iter().try_for_each(|protocol| (protocol.0.settle)(store, notice))
}
