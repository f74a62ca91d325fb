//! Blame: when a party of a mesh gives up, it tells the others whom it holds responsible.

use std::fmt;

/// Bytes of a blame in an abort: the party, little-endian, and the cause; then, for hearsay, its source.
pub(crate) const BLAME_BYTES: [usize; 2] = [3, 5];

/// The fault of a party that stops a run, as other parties learn it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cause {
    /// The party ended, crashed, or was cut off.
    Gone = 1,
    /// The party did nothing for too long.
    Silent = 2,
    /// The party gave up by itself.
    GaveUp = 3,
    /// The party sent something that no honest party sends.
    Misbehaved = 4,
    /// The party wants to run something else, or does not trust the party that reports this.
    Disagrees = 5,
    /// The party never came.
    Missing = 6,
    /// The party connected twice, or two parties claim to be this one.
    DuplicateParty = 7,
    /// The party is not the expected one.
    UnknownPeer = 8,
    /// The party sent or read too slowly.
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
        Cause::DuplicateParty,
        Cause::UnknownPeer,
        Cause::Slow,
    ];
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Gone => "is gone",
            Cause::Silent => "fell silent",
            Cause::GaveUp => "gave up",
            Cause::Misbehaved => "violated the protocol",
            Cause::Disagrees => "wants to run something else",
            Cause::Missing => "never came",
            Cause::DuplicateParty => "came twice",
            Cause::UnknownPeer => "has an unexpected identity",
            Cause::Slow => "is too slow",
        })
    }
}

/// A party, its fault, and the source of the claim. Contains nothing about inputs.
///
/// Hearsay is passed on once, with the name of its source. Then it carries two names, the source's and the messenger's, and both can be
/// held responsible. A party that gets it at second hand does not pass it on, but says that the messenger gave up. So no party can
/// attribute a claim to another without its own name on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blame {
    /// The party.
    pub party: u16,
    /// The party's fault.
    pub cause: Cause,
    /// The source, if this is not the sender's own evidence.
    pub heard_from: Option<u16>,
}

impl Blame {
    /// A fault that a party has seen itself.
    pub fn seen(party: u16, cause: Cause) -> Self {
        Blame { party, cause, heard_from: None }
    }

    /// The blame as it goes over the wire.
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut bytes = self.party.to_le_bytes().to_vec();
        bytes.push(self.cause as u8);
        bytes.extend(self.heard_from.into_iter().flat_map(u16::to_le_bytes));
        bytes
    }

    /// Decodes a blame; `None` if the cause is unknown.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (party, cause, heard_from) = match *bytes {
            [low, high, cause] => ([low, high], cause, None),
            [low, high, cause, one, two] => ([low, high], cause, Some(u16::from_le_bytes([one, two]))),
            _ => return None,
        };
        let cause = Cause::ALL.into_iter().find(|known| *known as u8 == cause)?;
        Some(Blame { party: u16::from_le_bytes(party), cause, heard_from })
    }

    /// The blame that this party passes on after receiving this one from `peer`.
    pub(crate) fn heard_of(self, peer: u16) -> Self {
        match self.heard_from {
            None => Blame { heard_from: Some(peer), ..self },
            Some(_) => Blame::seen(peer, Cause::GaveUp),
        }
    }

    /// The claim in words, for a peer that sent it.
    pub(crate) fn told(&self) -> String {
        format!("{}says that party {} {}", teller(self.heard_from), self.party, self.cause)
    }
}

/// The words before `says`: the source, if the peer received the claim from another party.
pub(crate) fn teller(heard_from: Option<u16>) -> String {
    heard_from.map_or(String::new(), |party| format!("passes on that party {party} "))
}

/// An error of a step with one peer.
pub trait Accuses: std::error::Error + 'static {
    /// The blame for it, given that the step was with `peer`; `None` if this party itself is at fault.
    fn accuses(&self, peer: u16) -> Option<Blame>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::NetError;

    #[test]
    fn every_blame_reads_back_and_unknown_causes_are_ignored() {
        for (cause, heard_from) in Cause::ALL.into_iter().flat_map(|cause| [(cause, None), (cause, Some(0x0304))]) {
            let blame = Blame { party: 0x0102, cause, heard_from };
            assert_eq!(Blame::decode(&blame.encode()), Some(blame));
            assert!(BLAME_BYTES.contains(&blame.encode().len()));
        }
        for cause in [0, 10, 255] {
            assert_eq!(Blame::decode(&[1, 0, cause]), None);
        }
    }

    #[test]
    fn hearsay_keeps_its_origin_and_is_passed_on_once() {
        let blame = Blame::seen(2, Cause::Silent);
        let heard = |blame| NetError::PeerBlames { doing: "for it".into(), blame };
        // Party 3 has seen it; this party passes it on with its own name; the next party does not.
        let first = heard(blame).accuses(3).expect("of party 2");
        assert_eq!(first, Blame { heard_from: Some(3), ..blame });
        assert_eq!(heard(first).accuses(0), Some(Blame::seen(0, Cause::GaveUp)));
        assert_eq!(heard(blame).to_string(), "says that party 2 fell silent, and gave up while we waited for it");
        let text = heard(first).to_string();
        assert_eq!(text, "passes on that party 3 says that party 2 fell silent, and gave up while we waited for it");
    }

    #[test]
    fn own_faults_blame_nobody() {
        let cause = Cause::Misbehaved;
        let said_of_us = NetError::PeerBlamesUs { doing: "for it".into(), cause, heard_from: None };
        assert_eq!(said_of_us.accuses(0), Some(Blame::seen(0, Cause::GaveUp)));
        assert_eq!(NetError::AddressInUse { address: "a:1".into() }.accuses(0), None);
    }
}
