//! Errors of oblivious transfers, classified by who caused them.

use garblet_net::{Accuses, Blame, Cause, NetError};

/// An error of an oblivious transfer.
#[derive(Debug, thiserror::Error)]
pub enum OtError {
    /// The connection failed, or the peer sent a message of the wrong type for this step.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The peer sent bytes that do not encode a group element.
    #[error("{what} {index} from the peer: expected a canonical ristretto255 encoding, got other bytes")]
    InvalidPoint {
        /// The message that contains the point.
        what: &'static str,
        /// The index of the point in the message.
        index: usize,
    },
    /// The peer sent the neutral element, which would make every key known.
    #[error(
        "{what} {index} from the peer: expected an element of ristretto255 other than the identity, got the identity"
    )]
    IdentityPoint {
        /// The message that contains the point.
        what: &'static str,
        /// The index of the point in the message.
        index: usize,
    },
    /// The base OT sender's challenges do not match the pads that its own group element implies: it cheats.
    #[error("the base OT sender cheats: its challenges do not fit its proof")]
    InconsistentChallenges,
    /// The base OT receiver does not know the pads that it chose: it cheats.
    #[error("the base OT receiver cheats: its answer to our challenges is wrong")]
    WrongAnswer,
    /// The peer sent a vector of bits with nonzero padding.
    #[error("{what} from the peer: expected zeros after bit {bits}, got others")]
    NonZeroPadding {
        /// The vector.
        what: &'static str,
        /// Its length.
        bits: usize,
    },
    /// The receiver of an OT extension made trees whose leaves depend on which leaf is missing: it cheats.
    #[error("the OT receiver cheats: the leaves of its trees do not fit their tags")]
    InconsistentTrees,
    /// The receiver of an OT extension used different choices in different trees: it cheats.
    #[error("the OT receiver cheats: its choices are not the same in every tree")]
    InconsistentChoices,
    /// The sender of silent OTs opened its share of a coin to something else: it cheats.
    #[error("the OT sender cheats: its share of a coin does not fit its commitment")]
    CoinOpening,
    /// The sender of silent OTs corrected trees so that they depend on the receiver's choices: it cheats.
    #[error("the OT sender cheats: its corrections of trees do not fit its answer")]
    InconsistentLeaves,
    /// An earlier batch of silent OTs failed, so there are no others: a mistake on this side.
    #[error("no OTs are left: expected a session without failures, got one in which a batch of silent OTs failed")]
    Ended,
    /// The check of the first OTs of silent OT has too few bits for all the OTs that rest on it: a mistake on this side.
    #[error(
        "first OTs of silent OT: expected a check of at least {expected} bits, got one of {got} bits; set up the OT extension with more"
    )]
    WeakBase {
        /// The least security in bits.
        expected: u32,
        /// The security in bits.
        got: u32,
    },
    /// The two parties have different field widths or checks.
    #[error("the peer extends OTs in another form: expected {ours}, got {theirs}")]
    FormMismatch {
        /// The form on this side.
        ours: String,
        /// The form on the peer's side.
        theirs: String,
    },
    /// The call has vectors of different lengths: a mistake on this side.
    #[error("{what}: expected {expected}, got {got}")]
    WrongLength {
        /// The vector.
        what: &'static str,
        /// The expected length.
        expected: usize,
        /// The given length.
        got: usize,
    },
}

impl Accuses for OtError {
    fn accuses(&self, peer: u16) -> Option<Blame> {
        let cause = match self {
            OtError::Net(error) => return error.accuses(peer),
            OtError::FormMismatch { .. } => Cause::Disagrees,
            _ => self.check().map(|_| Cause::Misbehaved)?,
        };
        Some(Blame::seen(peer, cause))
    }
}

/// A check of the peer's behaviour in an oblivious transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OtCheck {
    /// Group elements are encoded canonically.
    PointEncoding,
    /// Group elements are not the identity.
    PointIdentity,
    /// The base OT sender's challenges fit its proof.
    Challenges,
    /// The base OT receiver answers them.
    Answer,
    /// Unused bits are zero.
    Padding,
    /// The trees of an extension are the same for every delta.
    Trees,
    /// The choices of an extension are the same in every tree.
    Choices,
    /// Shares of coins fit their commitments.
    Coin,
    /// The trees of silent OT do not depend on the receiver's choices.
    Leaves,
}

impl OtCheck {
    /// All checks.
    pub const ALL: [OtCheck; 9] = [
        OtCheck::PointEncoding,
        OtCheck::PointIdentity,
        OtCheck::Challenges,
        OtCheck::Answer,
        OtCheck::Padding,
        OtCheck::Trees,
        OtCheck::Choices,
        OtCheck::Coin,
        OtCheck::Leaves,
    ];
}

impl OtError {
    /// The check that failed, if the error proves that the peer deviated.
    pub fn check(&self) -> Option<OtCheck> {
        match self {
            OtError::InvalidPoint { .. } => Some(OtCheck::PointEncoding),
            OtError::IdentityPoint { .. } => Some(OtCheck::PointIdentity),
            OtError::InconsistentChallenges => Some(OtCheck::Challenges),
            OtError::WrongAnswer => Some(OtCheck::Answer),
            OtError::NonZeroPadding { .. } => Some(OtCheck::Padding),
            OtError::InconsistentTrees => Some(OtCheck::Trees),
            OtError::InconsistentChoices => Some(OtCheck::Choices),
            OtError::CoinOpening => Some(OtCheck::Coin),
            OtError::InconsistentLeaves => Some(OtCheck::Leaves),
            OtError::Net(_)
            | OtError::Ended
            | OtError::WeakBase { .. }
            | OtError::FormMismatch { .. }
            | OtError::WrongLength { .. } => None,
        }
    }
}

/// Rejects lengths that do not match.
pub(crate) fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), OtError> {
    if expected == got { Ok(()) } else { Err(OtError::WrongLength { what, expected, got }) }
}
