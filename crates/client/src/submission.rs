//! A client's message as a server reads it, and the check of the challenge that the other server discloses.

use garblet_circuit::{Bits, Party};
use garblet_primitives::{Block, UniversalHash};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::cursor::Reader;
use crate::deal::{Dealt, commitment};
use crate::job::{Job, Shape};
use crate::malformed::Malformed;
use crate::place::{Place, Server};

/// A client's message to a server. *Secret*: wiped on drop, without `Debug`.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Submission {
    #[zeroize(skip)]
    place: Place,
    #[zeroize(skip)]
    shape: Shape,
    seed: Block,
    #[zeroize(skip)]
    commitment: [u8; 32],
    other_challenge: Block,
    other_hash: Bits,
    /// The cloud's share; the generator's is in the seed.
    share: Option<Bits>,
}

/// The challenge for a server's own bits: only [`Submission::check_challenge`] makes it.
pub struct OwnChallenge {
    challenge: Block,
    shape: Shape,
}

/// The challenge does not match the client's commitment: the client or the other server lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the challenge disclosed for client {client} is not the one that it committed to for the {server}")]
pub struct WrongChallenge {
    /// The client.
    pub client: Party,
    /// The server whose bits it would hash.
    pub server: Server,
}

impl Submission {
    /// Reads the message of a client to a server.
    ///
    /// *Errors*: another job, or other lengths than the client's ports have.
    pub fn decode(bytes: &[u8], job: &Job, client: Party, server: Server) -> Result<Self, Malformed> {
        let mut from = Reader::new("submission", bytes);
        let shape = job.shape(client).map_err(|_| {
            let expected = format!("1 to {}", job.terms().clients.len());
            from.fault("client", 0, expected, client.to_string())
        })?;
        from.digest("job", job.digest())?;
        let place = Place { job: *job.digest(), server, client, counter: from.u64("counter")? };
        let submission = Submission {
            place,
            shape,
            seed: from.block("seed")?,
            commitment: from.array("commitment to the challenge")?,
            other_challenge: from.block("challenge of the other server")?,
            other_hash: from.bits("hash of the other server's bits", shape.hash)?,
            share: match server {
                Server::Generator => None,
                Server::Cloud => Some(from.bits("share", shape.inputs)?),
            },
        };
        from.end()?;
        Ok(submission)
    }

    /// The place of the message; the server compares its counter with the client's last one.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The bits of this server.
    pub fn expand(&self) -> Dealt {
        Dealt::expand(self.seed, self.shape, self.share.as_ref())
    }

    /// The challenge for the other server's bits, to be disclosed once those are fixed.
    pub fn other_challenge(&self) -> Block {
        self.other_challenge
    }

    /// The hash that the other server's bits must have.
    pub fn other_hash(&self) -> &Bits {
        &self.other_hash
    }

    /// The matrix of the other server's hash, for sums of MACs or keys.
    ///
    /// *Shape*: share and pad in `columns`, then the mask.
    pub fn other_matrix(&self) -> UniversalHash {
        matrix(self.shape, self.other_challenge)
    }

    /// Checks, in constant time, that the challenge matches the client's commitment.
    ///
    /// *Errors*: any other challenge; then nothing about this server's bits may be disclosed.
    pub fn check_challenge(&self, told: Block) -> Result<OwnChallenge, WrongChallenge> {
        let Place { server, client, .. } = self.place;
        match commitment(&self.place.run(), server, told).ct_eq(&self.commitment).into() {
            true => Ok(OwnChallenge { challenge: told, shape: self.shape }),
            false => Err(WrongChallenge { client, server }),
        }
    }
}

impl OwnChallenge {
    /// The hash of this server's own bits, which the other server holds.
    pub fn hash(&self, own: &Dealt) -> Bits {
        own.hash(self.challenge)
    }

    /// The matrix of this hash, for sums of MACs or keys.
    ///
    /// *Shape*: share and pad in `columns`, then the mask.
    pub fn matrix(&self) -> UniversalHash {
        matrix(self.shape, self.challenge)
    }
}

fn matrix(shape: Shape, challenge: Block) -> UniversalHash {
    UniversalHash::new(shape.hash, shape.inputs + shape.outputs, challenge)
}
