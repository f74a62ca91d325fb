//! Stores of prepared material, and their target contents.

use std::any::Any;

use garblet_net::JobTerms;
use garblet_store::{Store, StoreError};
use rand::CryptoRng;

/// A store, with an order and its peer.
pub struct Stock {
    /// The store.
    pub store: Store,
    /// The peer: its fingerprint, or a substitute if peers have no identities; of several peers, all in order.
    pub peer: String,
    /// The kinds and amounts that it is filled up to; a run needs no amounts.
    pub order: Order,
    /// Set if a run makes what the store lacks; all parties must want that.
    pub top_up: bool,
    pub(crate) fill_first: bool,
    /// The most runs that are to keep a value under one name and do not end; 16 by default. Each may have been a guess of the other party.
    pub retries: Option<u32>,
    /// The job under which it is filled. A run uses the job of its [`Plan`](crate::Plan).
    pub job: Option<JobTerms>,
}

impl Stock {
    /// A store that is filled together with a peer's.
    pub fn new(order: Order, store: Store, peer: impl Into<String>) -> Self {
        Stock { store, peer: peer.into(), order, top_up: false, fill_first: false, retries: None, job: None }
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
