//! Findings of an evaluator, with evidence.

use std::fmt;

use garblet_primitives::Block;

use crate::{
    binding::SessionId,
    checks::{Cheating, Check},
};

/// The garbler has cheated and was found out: a check failed that deterrence is about.
///
/// No failure of a connection gives this. The evaluator that has found it takes part in no further run of the session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the peer is corrupted: {check}: {evidence}")]
pub struct Corrupted {
    /// The check that failed.
    pub check: Check,
    /// What anyone can compute again who believes this party's record of what was said.
    pub evidence: Evidence,
}

/// What a seed gives and what was said in its place. Of a circuit that nobody evaluates, so nothing here is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The run.
    pub run: SessionId,
    /// The circuit, from 0.
    pub circuit: usize,
    /// What the garbler's coins for the circuit must be from.
    pub seed: [u8; 16],
    /// A digest of what the garbler said.
    pub said: [u8; 32],
    /// The digest of what it had to say.
    pub due: [u8; 32],
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [seed, said, due] = [&self.seed[..], &self.said[..], &self.due[..]].map(hex);
        write!(f, "circuit {}, seed {seed}: what it said has the digest {said}, expected {due}", self.circuit)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A digest of what was said, compared with what the seed of a checked circuit gives.
pub(super) struct Comparison {
    pub(super) check: Check,
    pub(super) said: [u8; 32],
    pub(super) due: [u8; 32],
}

impl Comparison {
    /// *Errors*: the two differ.
    pub(super) fn verify(self, run: SessionId, circuit: usize, seed: Block) -> Result<(), Box<Corrupted>> {
        let Comparison { check, said, due } = self;
        match said == due {
            true => Ok(()),
            false => Err(Box::new(Corrupted {
                check,
                evidence: Evidence { run, circuit, seed: seed.to_bytes(), said, due },
            })),
        }
    }
}

/// The failure of a check that is never missed.
pub(super) fn cheating(check: Check, circuit: usize) -> Cheating {
    Cheating::new(check, format!("circuit {circuit}"))
}
