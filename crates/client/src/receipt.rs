//! Receipts: what a client keeps between runs, so that servers cannot go back to an earlier state.
//!
//! ```text
//! version 1 | counter 8 | version of the state 8 | chain 32 | length 2 | name of the state
//! ```

use crate::cursor::{Reader, Writer};
use crate::malformed::Malformed;
use crate::shown::NAME_BYTES_MAX;

/// The version of the encoding.
const VERSION: u8 = 1;

/// The state that a client last saw, and the counter that it last used. Not secret, but nobody else may change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    state: String,
    version: u64,
    chain: [u8; 32],
    counter: u64,
}

/// A job or an answer that is older than what the client knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// The receipt is of another state.
    #[error("the receipt is of state `{receipt}`, the job of `{job}`")]
    OtherState {
        /// The state of the receipt.
        receipt: String,
        /// The state of the job.
        job: String,
    },
    /// The state was newer before.
    #[error("version {got} of state `{state}` is older than version {known}, which the client has seen")]
    Older {
        /// The state.
        state: String,
        /// The version of the receipt.
        known: u64,
        /// The version of the job or of the answers.
        got: u64,
    },
    /// The state has another history than before.
    #[error("version {version} of state `{state}` is not the one that the client has seen")]
    Forked {
        /// The state.
        state: String,
        /// The version.
        version: u64,
    },
    /// The counter was used before.
    #[error("counter {got} is not higher than {last}, which was used")]
    Counter {
        /// The counter of the receipt.
        last: u64,
        /// The counter of the submission.
        got: u64,
    },
}

impl Stale {
    /// Advice for a person.
    pub fn hint(&self) -> &'static str {
        match self {
            Stale::OtherState { .. } => "use the receipt of the job's state",
            Stale::Older { .. } | Stale::Forked { .. } => {
                "the servers were rolled back, or lie: do not use the state until their operators have explained it"
            }
            Stale::Counter { .. } => "deal with the counter after the receipt's",
        }
    }
}

impl Receipt {
    /// The receipt of a client that has seen nothing of a state; the name is empty for jobs without one.
    pub fn first(state: &str) -> Self {
        Receipt { state: state.into(), version: 0, chain: [0; 32], counter: 0 }
    }

    /// The name of the state.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// The version that was last seen, 0 for none.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The digest of the state's history at that version.
    pub fn chain(&self) -> &[u8; 32] {
        &self.chain
    }

    /// The counter that was last used.
    pub fn counter(&self) -> u64 {
        self.counter
    }

    /// The same receipt with a counter that is now used. Keep it before you send anything.
    pub fn with_counter(mut self, counter: u64) -> Self {
        self.counter = self.counter.max(counter);
        self
    }

    /// The receipt after an accepted answer. It never goes back: an older version, as from a visit that ends after a later one,
    /// does not change the state.
    pub fn next(self, version: u64, chain: [u8; 32], counter: u64) -> Self {
        let known = self.with_counter(counter);
        if version < known.version { known } else { Receipt { version, chain, ..known } }
    }

    /// Checks that it belongs to a job's state.
    pub(crate) fn check_state(&self, state: &str) -> Result<(), Stale> {
        match self.state == state {
            true => Ok(()),
            false => Err(Stale::OtherState { receipt: self.state.clone(), job: state.into() }),
        }
    }

    /// Checks that a job's state and a counter come after the receipt.
    pub(crate) fn check_job(&self, state: &str, version: u64, counter: u64) -> Result<(), Stale> {
        self.check_state(state)?;
        if counter <= self.counter {
            return Err(Stale::Counter { last: self.counter, got: counter });
        }
        self.check_version(version)
    }

    /// Checks the state of an answer.
    ///
    /// *Errors*: an older version, or another history of the same version.
    pub fn check(&self, version: u64, chain: &[u8; 32]) -> Result<(), Stale> {
        self.check_version(version)?;
        match version == self.version && version > 0 && *chain != self.chain {
            true => Err(Stale::Forked { state: self.state.clone(), version }),
            false => Ok(()),
        }
    }

    fn check_version(&self, got: u64) -> Result<(), Stale> {
        match got >= self.version {
            true => Ok(()),
            false => Err(Stale::Older { state: self.state.clone(), known: self.version, got }),
        }
    }

    /// The receipt as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::with_capacity(51 + self.state.len());
        to.u8(VERSION).u64(self.counter).u64(self.version).bytes(&self.chain).text(&self.state);
        to.finish().to_vec()
    }

    /// Reads what [`Receipt::encode`] wrote.
    ///
    /// *Errors*: anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new("receipt", bytes);
        from.constant("version of the encoding", VERSION)?;
        let (counter, version) = (from.u64("counter")?, from.u64("version")?);
        let receipt =
            Receipt { counter, version, chain: from.array("chain")?, state: from.text("state", NAME_BYTES_MAX)? };
        from.end()?;
        Ok(receipt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt() -> Receipt {
        Receipt::first("ledger").next(7, [9; 32], 3)
    }

    #[test]
    fn is_read_as_it_was_written_and_nothing_else_is() {
        let bytes = receipt().encode();
        assert_eq!(bytes.len(), 51 + 6);
        assert_eq!(Receipt::decode(&bytes), Ok(receipt()));
        for cut in 0..bytes.len() {
            assert!(Receipt::decode(&bytes[..cut]).is_err());
        }
        let longer = Receipt::decode(&[&bytes[..], &[0]].concat()).unwrap_err();
        assert_eq!(longer.to_string(), "receipt, byte 57, end: expected no more bytes, got 1");
    }

    #[test]
    fn older_and_forked_states_are_refused() {
        let older = receipt().check(6, &[9; 32]).unwrap_err();
        assert_eq!(older.to_string(), "version 6 of state `ledger` is older than version 7, which the client has seen");
        assert_eq!(receipt().check(7, &[8; 32]), Err(Stale::Forked { state: "ledger".into(), version: 7 }));
        assert_eq!(receipt().check(7, &[9; 32]), Ok(()));
        assert_eq!(receipt().check(8, &[8; 32]), Ok(()));
        assert_eq!(Receipt::first("ledger").check(1, &[8; 32]), Ok(()));
    }

    #[test]
    fn jobs_of_other_states_and_used_counters_are_refused() {
        assert_eq!(receipt().check_job("ledger", 7, 4), Ok(()));
        assert!(matches!(receipt().check_job("other", 7, 4), Err(Stale::OtherState { .. })));
        assert_eq!(receipt().check_job("ledger", 7, 3), Err(Stale::Counter { last: 3, got: 3 }));
        assert!(matches!(receipt().check_job("ledger", 6, 4), Err(Stale::Older { known: 7, got: 6, .. })));
        assert_eq!(receipt().with_counter(9).check_job("ledger", 8, 9), Err(Stale::Counter { last: 9, got: 9 }));
    }
}
