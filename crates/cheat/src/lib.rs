//! Parties that run the honest code with one planted deviation, for tests of protocols against cheaters.
//!
//! A deviation is a [`Conduct`](garblet_protocol::conduct::Conduct) that changes one thing at one step. A test runs it against
//! an honest peer and compares the outcomes of both with the protocol's promise: [`Outcome`]. If a deviation may pass,
//! [`binomial_tail`] compares how often it passes with the protocol's formula.
//!
//! Only tests depend on this crate.

pub mod authenticated;
pub mod authenticated_bmr;
pub mod covert;
pub mod cut_and_choose;
pub mod lego;
pub mod outsourced;
mod run;
mod statistics;
pub mod two_garblers;

pub use statistics::binomial_tail;

use garblet_circuit::Bits;
use garblet_homcommit::CommitError;
use garblet_ot::OtCheck;
use garblet_protocol::{ProtocolError, checks::Check};

/// The outcome of a run for an honest party.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The right result.
    Right,
    /// A wrong result.
    Wrong,
    /// That check caught the peer.
    Caught(Check),
    /// That check of oblivious transfers caught the peer.
    CaughtInOt(OtCheck),
    /// The peer opened a commitment to another value.
    FalseOpening,
    /// The peer's commitments are invalid.
    FalseCommitment,
    /// That check caught the peer, with evidence.
    Corrupted(Check),
    /// The peer left at a point where it may have cheated.
    Suspected,
    /// The circuits had no majority, which showed at the end.
    NoMajority,
    /// It ended for another reason: the peer was gone.
    Ended,
}

/// Replaces the bytes of all circuits by those of the first one. Several threads make circuits, so any of them may be the first.
#[derive(Default)]
struct Replay {
    first: Option<(usize, Vec<u8>)>,
}

impl Replay {
    /// Sees a circuit's bytes. All circuits have the same number of bytes.
    fn touch(&mut self, circuit: usize, bytes: &mut [u8]) {
        let (first, own) = self.first.get_or_insert_with(|| (circuit, bytes.to_vec()));
        if *first != circuit {
            bytes.copy_from_slice(own);
        }
    }
}

/// The outputs of a party; `None` for those of other recipients.
pub type Outputs = Vec<Option<Bits>>;

/// Compares a party's result with the right one.
pub fn outcome(result: &Result<Outputs, ProtocolError>, right: &Outputs) -> Outcome {
    match result {
        Ok(outputs) if outputs == right => Outcome::Right,
        Ok(_) => Outcome::Wrong,
        Err(ProtocolError::Cheating(cheating)) => Outcome::Caught(cheating.check),
        Err(ProtocolError::Commit(CommitError::WrongOpening { .. } | CommitError::WrongBatch { .. })) => {
            Outcome::FalseOpening
        }
        Err(ProtocolError::Ot(error)) => error.check().map_or(Outcome::Ended, Outcome::CaughtInOt),
        Err(ProtocolError::Commit(CommitError::Inconsistent)) => Outcome::FalseCommitment,
        Err(ProtocolError::Corrupted(corrupted)) => Outcome::Corrupted(corrupted.check),
        Err(ProtocolError::Suspected(_)) => Outcome::Suspected,
        Err(ProtocolError::NoMajority(_)) => Outcome::NoMajority,
        Err(_) => Outcome::Ended,
    }
}
