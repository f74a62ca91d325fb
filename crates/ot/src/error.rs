//! What can go wrong in an oblivious transfer, by whose fault.

use garblet_net::{Accuses, Blame, Cause, NetError};

/// Why an oblivious transfer cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum OtError {
    /// The connection failed, or the peer's bytes have no place at this step.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The peer sent bytes that encode no group element.
    #[error("{what} {index} from the peer: expected a canonical ristretto255 encoding, got other bytes")]
    InvalidPoint {
        /// Which message the point belongs to.
        what: &'static str,
        /// Which of its points, from 0.
        index: usize,
    },
    /// The peer sent the neutral element, with which every key would be known.
    #[error(
        "{what} {index} from the peer: expected an element of ristretto255 other than the identity, got the identity"
    )]
    IdentityPoint {
        /// Which message the point belongs to.
        what: &'static str,
        /// Which of its points, from 0.
        index: usize,
    },
    /// The base OT sender's challenges do not fit the pads that its own group element gives: it cheats.
    #[error("the base OT sender cheats: its challenges do not fit its proof")]
    InconsistentChallenges,
    /// The base OT receiver does not know the pads that it chose: it cheats.
    #[error("the base OT receiver cheats: its answer to our challenges is wrong")]
    WrongAnswer,
    /// The peer sent a vector of bits whose unused bits are not zero.
    #[error("{what} from the peer: expected zeros after bit {bits}, got others")]
    NonZeroPadding {
        /// The vector.
        what: &'static str,
        /// Its length.
        bits: usize,
    },
    /// The two parties were told different field widths.
    #[error("the peer extends OTs with another field width: expected k = {ours}, got k = {theirs}")]
    WidthMismatch {
        /// What we were told.
        ours: u8,
        /// What the peer was told.
        theirs: u8,
    },
    /// The call has vectors of different lengths: a mistake on this side.
    #[error("{what}: expected {expected}, got {got}")]
    WrongLength {
        /// The vector.
        what: &'static str,
        /// The length that fits.
        expected: usize,
        /// The length that was given.
        got: usize,
    },
    /// More prepared OTs are wanted than there are: a mistake on this side.
    #[error("prepared OTs used up: expected {wanted} or more, got {left}")]
    UsedUp {
        /// How many the call takes.
        wanted: usize,
        /// How many are left.
        left: usize,
    },
}

impl Accuses for OtError {
    fn accuses(&self, peer: u16) -> Option<Blame> {
        let cause = match self {
            OtError::Net(error) => return error.accuses(peer),
            OtError::WrongLength { .. } => return None,
            OtError::WidthMismatch { .. } => Cause::Disagrees,
            _ => Cause::Misbehaved,
        };
        Some(Blame { party: peer, cause })
    }
}

impl OtError {
    /// Whether the peer did what no honest party does.
    pub fn is_cheating(&self) -> bool {
        use OtError::{IdentityPoint, InconsistentChallenges, InvalidPoint, NonZeroPadding, WrongAnswer};
        matches!(
            self,
            InvalidPoint { .. } | IdentityPoint { .. } | InconsistentChallenges | WrongAnswer | NonZeroPadding { .. }
        )
    }
}

/// Refuses lengths that do not fit one another.
pub(crate) fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), OtError> {
    if expected == got { Ok(()) } else { Err(OtError::WrongLength { what, expected, got }) }
}
