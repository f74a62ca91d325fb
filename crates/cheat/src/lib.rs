//! Parties that run the honest code with one planted deviation, for tests of protocols against cheaters.
//!
//! A deviation is a [`Conduct`](garblet_protocol::conduct::Conduct) that changes one thing at one step. A test runs it against
//! an honest peer and compares what both came to with what the protocol promises: [`Outcome`]. How often a deviation that may
//! pass does pass is compared with the protocol's formula by [`binomial_tail`].
//!
//! Nothing outside of tests depends on this crate.

pub mod authenticated;
pub mod covert;
pub mod cut_and_choose;
pub mod lego;
pub mod outsourced;
mod run;
mod statistics;

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
    /// A result, but a wrong one.
    Wrong,
    /// It found the peer cheating, by that check.
    Caught(Check),
    /// It found the peer cheating in an oblivious transfer, by that check.
    CaughtInOt(OtCheck),
    /// It found the peer opening a commitment otherwise than it had committed.
    FalseOpening,
    /// It found that the peer's commitments are none.
    FalseCommitment,
    /// It found the peer cheating, by that check, with evidence.
    Corrupted(Check),
    /// The peer was gone where it may have cheated.
    Suspected,
    /// It found at the end that the circuits did not agree.
    NoMajority,
    /// It ended otherwise: the peer was gone.
    Ended,
}

/// Puts what the first of some circuits has in place of what the others have. Circuits are made on several threads, so that the first
/// to come is any of them.
#[derive(Default)]
struct Replay {
    first: Option<(usize, Vec<u8>)>,
}

impl Replay {
    /// Sees a circuit's bytes, which are as many for all.
    fn touch(&mut self, circuit: usize, bytes: &mut [u8]) {
        let (first, own) = self.first.get_or_insert_with(|| (circuit, bytes.to_vec()));
        if *first != circuit {
            bytes.copy_from_slice(own);
        }
    }
}

/// The outputs of a party, none where it is no recipient.
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
