//! Stores of prepared material, and what they are to hold.

use std::any::Any;

use garblet_net::JobTerms;
use garblet_store::{Store, StoreError};
use rand::CryptoRng;

/// A store, what it is to hold, and for whom.
pub struct Stock {
    /// The store.
    pub store: Store,
    /// The peer: its fingerprint, or what stands for it where peers have no identities. Of several, all in order.
    pub peer: String,
    /// The kinds and amounts that it is filled up to; a run needs no amounts.
    pub order: Order,
    /// Set if a run makes what the store lacks; all parties must wish it.
    pub top_up: bool,
    pub(crate) fill_first: bool,
    /// The job under which it is filled; a run has that of its [`Plan`](crate::Plan).
    pub job: Option<JobTerms>,
}

impl Stock {
    /// A store that was filled, or is to be filled, together with that of a peer.
    pub fn new(order: Order, store: Store, peer: impl Into<String>) -> Self {
        Stock { store, peer: peer.into(), order, top_up: false, fill_first: false, job: None }
    }

    /// A new store in memory, which is filled before the first run.
    ///
    /// *Errors*: a store that cannot be made.
    pub fn in_memory(order: Order, rng: &mut impl CryptoRng) -> Result<Self, StoreError> {
        Ok(Stock { fill_first: true, ..Stock::new(order, Store::in_memory(rng)?, "in memory") })
    }
}

/// An order for a store of a protocol: how much of what.
pub struct Order(pub(crate) Box<dyn Any + Send + Sync>);

/// A hello's word that begins a [`fill`](crate::fill()): below how much is filled, in percent.
pub(crate) const LOW_WATER: &str = "low-water";
