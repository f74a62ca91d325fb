//! Receipts, which a client keeps between runs, so that servers cannot roll back a state.

use garblet_client::{Receipt, Stale};
use garblet_protocol::{
    error::{ProtocolError, StateProblem},
    secrets::unreadable,
};
use garblet_store::{Binding, State, Store};

use crate::{NAME, state::Standing};

/// The prefix of the places where a store keeps receipts.
const PLACE: &str = "receipt ";
/// The place where a store keeps the counter of submissions.
const COUNTER: &str = "outsourced counter";
/// The version of both.
const VERSION: u32 = 1;

/// A client's store: its receipts, by state.
pub struct Receipts(Store);

impl Receipts {
    /// A client's store, for the servers identified by this text.
    ///
    /// *Errors*: a store made for something else.
    pub fn new(mut store: Store, servers: &str) -> Result<Self, ProtocolError> {
        store.bind(&Binding {
            peer: servers.into(),
            role: "client".into(),
            protocol: NAME.into(),
            library: String::new(),
        })?;
        Ok(Receipts(store))
    }

    /// The receipt of a state, with the counter last used for any state.
    ///
    /// *Errors*: a receipt that cannot be read.
    pub(crate) fn of(&self, state: &str) -> Result<Receipt, ProtocolError> {
        let receipt = match self.0.state_of(&format!("{PLACE}{state}"), VERSION)? {
            Some(kept) => Receipt::decode(kept).map_err(|malformed| ProtocolError::Stored {
                what: "receipt",
                expected: "what was stored".into(),
                got: malformed.to_string(),
            })?,
            None => Receipt::first(state),
        };
        Ok(receipt.with_counter(self.counter()?))
    }

    /// The last counter used.
    ///
    /// *Errors*: a counter that cannot be read: with another one, a counter could be used again.
    pub(crate) fn counter(&self) -> Result<u64, ProtocolError> {
        let Some(bytes) = self.0.state_of(COUNTER, VERSION)? else { return Ok(0) };
        bytes.try_into().map(u64::from_le_bytes).map_err(|_| unreadable("counter"))
    }

    /// Takes the next counter, and records it durably before it is sent.
    ///
    /// *Errors*: the store's.
    pub(crate) fn next_counter(&mut self) -> Result<u64, ProtocolError> {
        let counter = self.counter()? + 1;
        self.0.set_state(COUNTER, State { version: VERSION, bytes: counter.to_le_bytes().to_vec() })?;
        Ok(counter)
    }

    /// Checks that the servers are not behind this client's view of a state, and keeps what both report if it is new.
    ///
    /// *Errors*: [`ProtocolError::State`]; the store's.
    pub(crate) fn hear(&mut self, state: &str, told: Standing) -> Result<(), ProtocolError> {
        let receipt = self.of(state)?;
        if let Err(stale) = receipt.check(told.version, &told.chain) {
            let problem = match stale {
                Stale::Forked { version, .. } => StateProblem::OtherHistory { version },
                _ => StateProblem::Behind { seen: receipt.version(), got: told.version },
            };
            return Err(ProtocolError::State { name: state.into(), problem });
        }
        if told.version == receipt.version() {
            return Ok(());
        }
        let counter = receipt.counter();
        self.keep(&receipt.next(told.version, told.chain, counter))
    }

    /// Keeps a receipt.
    ///
    /// *Errors*: the store's.
    pub(crate) fn keep(&mut self, receipt: &Receipt) -> Result<(), ProtocolError> {
        let place = format!("{PLACE}{}", receipt.state());
        Ok(self.0.set_state(&place, State { version: VERSION, bytes: receipt.encode() })?)
    }
}
