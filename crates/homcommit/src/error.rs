//! Errors of commitments, classified by who caused them.

use garblet_net::{Accuses, Blame, Cause, NetError};
use garblet_ot::OtError;

/// An error of a commitment or an opening.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// The connection failed, or the peer sent a message of the wrong type for this step.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The OTs that the commitments rest on failed.
    #[error(transparent)]
    Ot(#[from] OtError),
    /// The sender's corrections do not yield codewords: it cheats.
    #[error("the committing party cheats: its commitments are not words of the code")]
    Inconsistent,
    /// An opening does not match its commitment: the sender cheats.
    #[error("the committing party cheats: opening {index} does not fit its commitment")]
    WrongOpening {
        /// The opening's index in the call.
        index: usize,
    },
    /// Some of the messages opened together do not match their commitments: the sender cheats.
    #[error("the committing party cheats: {count} values opened together do not fit their commitments")]
    WrongBatch {
        /// The number of messages.
        count: usize,
    },
    /// The number of seeds or choices differs from the number of bits of a codeword: a mistake on this side.
    #[error("{what} of a commitment scheme: expected {expected}, got {got}")]
    WrongLength {
        /// The vector.
        what: &'static str,
        /// The expected length.
        expected: usize,
        /// The given length.
        got: usize,
    },
}

impl Accuses for CommitError {
    fn accuses(&self, peer: u16) -> Option<Blame> {
        match self {
            CommitError::Net(error) => error.accuses(peer),
            CommitError::Ot(error) => error.accuses(peer),
            CommitError::Inconsistent | CommitError::WrongOpening { .. } | CommitError::WrongBatch { .. } => {
                Some(Blame::seen(peer, Cause::Misbehaved))
            }
            CommitError::WrongLength { .. } => None,
        }
    }
}

pub(crate) fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), CommitError> {
    match expected == got {
        true => Ok(()),
        false => Err(CommitError::WrongLength { what, expected, got }),
    }
}
