//! The classes of errors: what ended a run. Every error has one, which is decided only here.

use garblet_homcommit::CommitError;
use garblet_net::NetError;
use garblet_ot::OtError;
use garblet_store::StoreError;
use serde::{Deserialize, Serialize};

use crate::error::ProtocolError;

/// The class of an error: what ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The call or one of its files.
    Call,
    /// The network, this machine, or a peer that is gone.
    Network,
    /// Parties that wanted different things.
    Disagreement,
    /// A party with an unexpected identity.
    Identity,
    /// A peer that did not follow the protocol, or somebody in between who changed its messages.
    Misbehaviour,
    /// A store of prepared material.
    Store,
    /// The computation itself: an overflow, an index out of bounds.
    Panic,
    /// Anything else, such as a bug.
    Other,
}

impl Class {
    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Class::Call => "call",
            Class::Network => "network",
            Class::Disagreement => "disagreement",
            Class::Identity => "identity",
            Class::Misbehaviour => "misbehaviour",
            Class::Store => "store",
            Class::Panic => "panic",
            Class::Other => "other",
        }
    }
}

impl From<&ProtocolError> for Class {
    fn from(error: &ProtocolError) -> Self {
        match error {
            ProtocolError::Net(error) => error.into(),
            ProtocolError::Ot(error) => error.into(),
            ProtocolError::Commit(error) => error.into(),
            ProtocolError::Store(error) => error.into(),
            ProtocolError::Peer { source, .. } | ProtocolError::NotGivenUp { source, .. } => (&**source).into(),
            ProtocolError::Cheating(_)
            | ProtocolError::Unattributed(_)
            | ProtocolError::Corrupted(_)
            | ProtocolError::Refused(_)
            | ProtocolError::Rejected(_)
            | ProtocolError::NoMajority(_)
            | ProtocolError::Garble(_)
            | ProtocolError::Material { .. } => Class::Misbehaviour,
            // A lost connection explains it too, so it is no proof.
            ProtocolError::Suspected(_) => Class::Network,
            ProtocolError::NotPrepared(_)
            | ProtocolError::Unfinished(_)
            | ProtocolError::Unsettled { .. }
            | ProtocolError::State { .. }
            | ProtocolError::NotKept { .. }
            | ProtocolError::Stored { .. } => Class::Store,
            ProtocolError::OtherRun { .. } => Class::Disagreement,
            ProtocolError::Library(_)
            | ProtocolError::KeptName { .. }
            | ProtocolError::KeepsTooMuch { .. }
            | ProtocolError::Order { .. }
            | ProtocolError::Unsupported { .. }
            | ProtocolError::Input { .. }
            | ProtocolError::NoSuchParty { .. } => Class::Call,
            ProtocolError::Declined(_)
            | ProtocolError::WorkerLost
            | ProtocolError::Internal { .. }
            | ProtocolError::Unlucky { .. }
            | ProtocolError::Over => Class::Other,
        }
    }
}

impl From<&OtError> for Class {
    fn from(error: &OtError) -> Self {
        match error {
            OtError::Net(error) => error.into(),
            OtError::InvalidPoint { .. }
            | OtError::IdentityPoint { .. }
            | OtError::InconsistentChallenges
            | OtError::WrongAnswer
            | OtError::NonZeroPadding { .. }
            | OtError::InconsistentTrees
            | OtError::InconsistentChoices
            | OtError::CoinOpening
            | OtError::InconsistentLeaves => Class::Misbehaviour,
            OtError::FormMismatch { .. } => Class::Disagreement,
            OtError::WrongLength { .. } | OtError::WeakBase { .. } | OtError::Ended => Class::Other,
        }
    }
}

impl From<&CommitError> for Class {
    fn from(error: &CommitError) -> Self {
        match error {
            CommitError::Net(error) => error.into(),
            CommitError::Ot(error) => error.into(),
            CommitError::Inconsistent | CommitError::WrongOpening { .. } | CommitError::WrongBatch { .. } => {
                Class::Misbehaviour
            }
            CommitError::WrongLength { .. } => Class::Other,
        }
    }
}

impl From<&NetError> for Class {
    fn from(error: &NetError) -> Self {
        match error {
            NetError::Incompatible { .. }
            | NetError::OtherSession { .. }
            | NetError::DuplicateParty { .. }
            | NetError::Refused { .. } => Class::Disagreement,
            NetError::UnknownIdentity { .. } | NetError::IdentityRejected { .. } | NetError::TlsMismatch { .. } => {
                Class::Identity
            }
            NetError::Malformed { .. }
            | NetError::TooLarge { .. }
            | NetError::Unexpected { .. }
            | NetError::Tampered { .. } => Class::Misbehaviour,
            NetError::NotAnAddress { .. } => Class::Call,
            NetError::PeerClosed { .. }
            | NetError::PeerAborted { .. }
            | NetError::PeerBlames { .. }
            | NetError::PeerBlamesUs { .. }
            | NetError::Timeout { .. }
            | NetError::TooSlow { .. }
            | NetError::UnknownHost { .. }
            | NetError::AddressInUse { .. }
            | NetError::CannotConnect { .. }
            | NetError::AcceptTimeout { .. }
            | NetError::Io { .. } => Class::Network,
            // Bugs on this side of the connection.
            NetError::Unsendable { .. } | NetError::CutOff | NetError::GivenUp => Class::Other,
        }
    }
}

impl From<&StoreError> for Class {
    fn from(error: &StoreError) -> Self {
        match error.is_misbehaviour() {
            true => Class::Misbehaviour,
            false => Class::Store,
        }
    }
}

#[cfg(test)]
mod tests;
