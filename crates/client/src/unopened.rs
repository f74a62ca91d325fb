//! The fault of a sealed message that does not open.

use garblet_circuit::Party;

use crate::malformed::Malformed;

/// A sealed message that does not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// It is not a sealed message, or what it contains is not a message.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// It belongs to another place.
    #[error("sealed message, {field}: expected {expected}, got {got}")]
    Elsewhere {
        /// The field that differs.
        field: &'static str,
        /// The value here.
        expected: String,
        /// The value of the message.
        got: String,
    },
    /// Its counter is not higher than an earlier message's.
    #[error("sealed message, counter: expected more than {last}, got {got}")]
    Replayed {
        /// The highest counter before.
        last: u64,
        /// The counter of the message.
        got: u64,
    },
    /// It was changed, or sealed with another secret.
    #[error("sealed message of client {client}: it was changed in transit, or sealed with another secret")]
    Broken {
        /// The client that it names.
        client: Party,
    },
}

impl SealError {
    /// Advice for a person.
    pub fn hint(&self) -> &'static str {
        match self {
            SealError::Malformed(malformed) => malformed.hint(),
            SealError::Elsewhere { .. } => "it belongs to another job, client or run; compare the jobs on both ends",
            SealError::Replayed { .. } => {
                "it was sent before, or the client lost its receipt: deal again with a higher counter"
            }
            SealError::Broken { .. } => {
                "compare the invitations on both ends; if they are the same, somebody between them changes messages"
            }
        }
    }
}
