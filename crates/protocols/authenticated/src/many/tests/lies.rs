//! Parties that lie, and the evidence that honest parties have.

use garblet_ot::OtError;
use garblet_protocol::checks::{Check, Unattributed};

use super::*;

/// A change of one byte of a message.
#[derive(Clone, Copy)]
pub(super) struct Lie {
    pub(super) step: Step,
    /// The party that it is for; all of them if there is none.
    pub(super) to: Option<usize>,
    pub(super) byte: usize,
    /// The number of messages of that step before it, to the same party.
    pub(super) after: usize,
}

/// The conduct of a party that lies once, or is honest.
pub(super) struct Once {
    lie: Option<Lie>,
    seen: [usize; 16],
}

impl Once {
    pub(super) fn new(lie: Option<Lie>) -> Self {
        Once { lie, seen: [0; 16] }
    }
}

impl Conduct<Step> for Once {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        let Some(lie) = self.lie.filter(|lie| lie.step == step && lie.to.is_none_or(|to| to == index)) else { return };
        self.seen[index] += 1;
        if self.seen[index] == lie.after + 1 {
            bytes[lie.byte] ^= 1;
        }
    }
}

/// A change of every message of a step to a party.
#[derive(Clone)]
pub(super) struct Change {
    pub(super) step: Step,
    /// The party that it is for; all of them if there is none.
    pub(super) to: Option<usize>,
    /// The first changed byte.
    pub(super) at: usize,
    /// The sum of the wrong bytes and the right ones.
    pub(super) error: Vec<u8>,
}

/// The conduct of a party whose messages are recorded, after changes in all of its runs.
#[derive(Default)]
pub(super) struct Watched {
    pub(super) changes: Vec<Change>,
    pub(super) sent: Vec<(Step, usize, Vec<u8>)>,
}

impl Conduct<Step> for Watched {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        let is_meant = |change: &&Change| change.step == step && change.to.is_none_or(|to| to == index);
        for Change { at, error, .. } in self.changes.iter().filter(is_meant) {
            bytes[*at..].iter_mut().zip(error).for_each(|(byte, error)| *byte ^= error);
        }
        self.sent.push((step, index, bytes.to_vec()));
    }
}

/// The ways in which a check fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// It names the party that lies.
    Named(Check),
    /// It names nobody.
    Somebody(Check),
    /// The check of OTs, which names the party that lies.
    Ots,
}

/// The evidence that an honest party has; none if it was told that the run is over.
///
/// # Panics
/// If it names another party than the one that lies.
pub(super) fn found(error: &ProtocolError, lies: Party) -> Option<Found> {
    match error {
        ProtocolError::Unattributed(Unattributed { check, .. }) => Some(Found::Somebody(*check)),
        ProtocolError::Peer { party, source } => match &**source {
            ProtocolError::Cheating(cheating) => {
                assert_eq!(*party, lies, "{error}");
                Some(Found::Named(cheating.check))
            }
            ProtocolError::Ot(OtError::InconsistentChoices) => {
                assert_eq!(*party, lies, "{error}");
                Some(Found::Ots)
            }
            source => {
                assert!(!source.is_evidence(), "{error}");
                None
            }
        },
        error => {
            assert!(!error.is_evidence(), "{error}");
            None
        }
    }
}
