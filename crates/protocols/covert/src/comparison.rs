//! Comparison of messages with those that seeds give.

use garblet_primitives::Block;

use garblet_protocol::{
    checks::{Check, Corrupted, Evidence},
    domain::SessionId,
};

/// The digest of a message, compared with the one that the seed of a checked circuit gives.
pub(super) struct Comparison {
    pub(super) check: Check,
    pub(super) said: [u8; 32],
    pub(super) due: [u8; 32],
}

impl Comparison {
    /// Compares. *Errors*: the two differ.
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
