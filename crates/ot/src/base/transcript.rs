//! The random oracles of one run, all bound to its transcript.

use garblet_primitives::{Bit, Block, secrets};
use subtle::ConstantTimeEq;

use super::cost::BASE_OTS;
use crate::error::OtError;

/// The purpose of a hash.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Domain {
    Pad = 1,
    Response = 2,
    Answer = 3,
    Proof = 4,
    Session = 5,
}

/// The oracles of a run, keyed with everything sent before the first query.
pub(super) struct Transcript {
    key: [u8; 32],
}

/// Proof that the sender's challenges fit its proof; only [`Transcript::check_proof`] makes it.
pub(super) struct ChallengesConsistent(());

impl Transcript {
    /// Binds the oracles to the receiver's seed and points as sent, and to the sender's group element.
    pub(super) fn new(seed: &[u8; 32], points: &[[u8; 32]], element: &[u8; 32]) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("garblet base OT: Canetti-Sarkar-Wang over ristretto255, v1");
        hash.update(seed).update(points.as_flattened()).update(element);
        Transcript { key: hash.finalize().into() }
    }

    /// A public block that identifies the run.
    pub(super) fn session(&self) -> Block {
        Block::from_digest(&self.hash(Domain::Session, 0, false, &[]))
    }

    /// The pad of branch `branch` of OT `index`, from the encoding of its key.
    pub(super) fn pad(&self, index: usize, branch: impl Into<Bit>, key: &[u8; 32]) -> Block {
        Block::from_digest(&self.hash(Domain::Pad, index, branch, key))
    }

    /// The response that proves knowledge of a pad.
    pub(super) fn response(&self, index: usize, branch: impl Into<Bit>, pad: Block) -> Block {
        Block::from_digest(&self.hash(Domain::Response, index, branch, &pad.to_bytes()))
    }

    /// The answer from the responses of branch zero of every OT.
    pub(super) fn answer(&self, responses: &[Block; BASE_OTS]) -> [u8; 32] {
        self.hash(Domain::Answer, 0, false, bytemuck::cast_slice(responses))
    }

    /// The proof that the sender knows the answer.
    pub(super) fn proof(&self, answer: &[u8; 32]) -> [u8; 32] {
        self.hash(Domain::Proof, 0, false, answer)
    }

    /// Checks that the sender knew the answer when it made its proof.
    ///
    /// *Errors*: [`OtError::InconsistentChallenges`].
    pub(super) fn check_proof(&self, answer: &[u8; 32], proof: &[u8; 32]) -> Result<ChallengesConsistent, OtError> {
        let fits = self.proof(answer).ct_eq(proof);
        if secrets::verdict(fits, "base OT: whether the sender knew the answer") {
            Ok(ChallengesConsistent(()))
        } else {
            Err(OtError::InconsistentChallenges)
        }
    }

    fn hash(&self, domain: Domain, index: usize, branch: impl Into<Bit>, input: &[u8]) -> [u8; 32] {
        let [i0, i1, ..] = (index as u32).to_le_bytes();
        let mut hash = blake3::Hasher::new_keyed(&self.key);
        hash.update(&[domain as u8, i0, i1, branch.into().number()]).update(input);
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_proof_is_compared() {
        let run = Transcript::new(&[1; 32], &[[2; 32]; 3], &[3; 32]);
        let mut proof = run.proof(&[4; 32]);
        assert!(run.check_proof(&[4; 32], &proof).is_ok());
        for at in 0..proof.len() {
            proof[at] ^= 1;
            let error = run.check_proof(&[4; 32], &proof).err();
            assert!(matches!(error, Some(OtError::InconsistentChallenges)), "byte {at}");
            proof[at] ^= 1;
        }
    }

    #[test]
    fn every_oracle_depends_on_its_domain_index_branch_and_run() {
        let run = Transcript::new(&[1; 32], &[[2; 32]; 3], &[3; 32]);
        let key = [4; 32];
        let pad = run.pad(5, false, &key);
        let others = [
            Transcript::new(&[0; 32], &[[2; 32]; 3], &[3; 32]).pad(5, false, &key),
            Transcript::new(&[1; 32], &[[0; 32]; 3], &[3; 32]).pad(5, false, &key),
            Transcript::new(&[1; 32], &[[2; 32]; 3], &[0; 32]).pad(5, false, &key),
            run.pad(6, false, &key),
            run.pad(5, true, &key),
            run.pad(5, false, &[5; 32]),
            run.response(5, false, pad),
            run.session(),
        ];
        assert!(others.iter().all(|&other| other != pad));
    }
}
