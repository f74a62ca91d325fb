//! Parties that lie, and the evidence that honest parties have. All deviations with their outcomes are in the crate `garblet-cheat`; here are those whose rates
//! are counted.

use garblet_protocol::checks::{Check, Unattributed};

use super::*;

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

/// The check that failed at an honest party, of nobody in particular; none if it was told that the run is over.
///
/// # Panics
/// If it has other evidence.
pub(super) fn found(error: &ProtocolError) -> Option<Check> {
    match error {
        ProtocolError::Unattributed(Unattributed { check, .. }) => Some(*check),
        error => {
            assert!(!error.is_evidence(), "{error}");
            None
        }
    }
}
