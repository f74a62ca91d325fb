//! Whom a party holds responsible when it gives up, as it tells the others of a mesh.

use std::fmt;

use crate::error::NetError;

/// Bytes of a blame in an abort: the party, little-endian, and the cause.
pub(crate) const BLAME_BYTES: usize = 3;

/// What a party has done that a run cannot go on, as far as others are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cause {
    /// It ended, crashed, or was cut off.
    Gone = 1,
    /// It did nothing for too long.
    Silent = 2,
    /// It gave up by itself.
    GaveUp = 3,
    /// It sent what an honest party does not send.
    Misbehaved = 4,
    /// It wants to run something else.
    Disagrees = 5,
    /// It never came.
    Missing = 6,
    /// It came twice, or two parties say that they are it.
    CameTwice = 7,
    /// It is somebody else than who was expected.
    Stranger = 8,
    /// It sent or read too slowly.
    Slow = 9,
}

impl Cause {
    const ALL: [Cause; 9] = [
        Cause::Gone,
        Cause::Silent,
        Cause::GaveUp,
        Cause::Misbehaved,
        Cause::Disagrees,
        Cause::Missing,
        Cause::CameTwice,
        Cause::Stranger,
        Cause::Slow,
    ];
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Gone => "is gone",
            Cause::Silent => "fell silent",
            Cause::GaveUp => "gave up",
            Cause::Misbehaved => "sent what it may not send",
            Cause::Disagrees => "wants to run something else",
            Cause::Missing => "never came",
            Cause::CameTwice => "came twice",
            Cause::Stranger => "is somebody else than expected",
            Cause::Slow => "is too slow",
        })
    }
}

/// A party and what it has done. It says nothing about anybody's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blame {
    /// The party.
    pub party: u16,
    /// What it has done.
    pub cause: Cause,
}

impl Blame {
    /// As it goes over the wire.
    pub(crate) fn encode(self) -> [u8; BLAME_BYTES] {
        let [low, high] = self.party.to_le_bytes();
        [low, high, self.cause as u8]
    }

    /// Reads a blame; none if the cause is unknown.
    pub(crate) fn decode([low, high, cause]: [u8; BLAME_BYTES]) -> Option<Self> {
        let cause = Cause::ALL.into_iter().find(|known| *known as u8 == cause)?;
        Some(Blame { party: u16::from_le_bytes([low, high]), cause })
    }
}

/// An error of a step with one peer.
pub trait Accuses: std::error::Error + 'static {
    /// Who is to blame for it, given that the step was with `peer`; none if it is this party itself.
    fn accuses(&self, peer: u16) -> Option<Blame>;
}

impl Accuses for NetError {
    fn accuses(&self, peer: u16) -> Option<Blame> {
        let cause = match self {
            NetError::PeerBlames { blame, .. } => return Some(*blame),
            NetError::PeerClosed { .. } => Cause::Gone,
            NetError::PeerAborted { .. } | NetError::PeerBlamesUs { .. } => Cause::GaveUp,
            NetError::Timeout { .. } => Cause::Silent,
            NetError::TooSlow { .. } => Cause::Slow,
            NetError::Malformed { .. } | NetError::TooLarge { .. } | NetError::Unexpected { .. } => Cause::Misbehaved,
            NetError::Incompatible { .. } => Cause::Disagrees,
            NetError::UnknownIdentity { .. } | NetError::IdentityRejected { .. } => Cause::Stranger,
            NetError::UnknownHost { .. } | NetError::CannotConnect { .. } | NetError::NobodyCame { .. } => {
                Cause::Missing
            }
            NetError::CameTwice { .. } => Cause::CameTwice,
            NetError::NotAnAddress { .. }
            | NetError::AddressInUse { .. }
            | NetError::Unsendable { .. }
            | NetError::Io { .. } => return None,
        };
        Some(Blame { party: peer, cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_blame_reads_back_and_unknown_causes_are_none() {
        for cause in Cause::ALL {
            let blame = Blame { party: 0x0102, cause };
            assert_eq!(Blame::decode(blame.encode()), Some(blame));
        }
        for cause in [0, 10, 255] {
            assert_eq!(Blame::decode([1, 0, cause]), None);
        }
    }

    #[test]
    fn hearsay_stays_what_was_heard_and_own_faults_blame_nobody() {
        let blame = Blame { party: 2, cause: Cause::Silent };
        let heard = NetError::PeerBlames { doing: "for it".into(), blame };
        assert_eq!(heard.accuses(0), Some(blame));
        let said_of_us = NetError::PeerBlamesUs { doing: "for it".into(), cause: Cause::Misbehaved };
        assert_eq!(said_of_us.accuses(0), Some(Blame { party: 0, cause: Cause::GaveUp }));
        assert_eq!(NetError::AddressInUse { address: "a:1".into() }.accuses(0), None);
    }
}
