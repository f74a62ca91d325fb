//! Sealing: messages that only a client and a server can read, over any transport.
//!
//! ```text
//! version 1 | direction 1 | job 32 | client 2 | counter 8 | nonce 12 | ciphertext | tag 16
//! ```
//!
//! ChaCha20-Poly1305 (RFC 8439) with the fields before the ciphertext as associated data. The key is
//! `H(secret | version | direction | job | client | counter | server)`: each message has its own, so a message opens only at its
//! place. A submission with a counter that was used before is refused ([`Secret::open_submission`]). The nonce is random, so that a
//! counter that is used twice by mistake gives nothing away.
//!
//! The key of an answer also depends on the nonce of the sealed submission, `H(... | server | nonce of the submission)`, so that an old
//! answer does not open for a submission with the same counter, which a client that has lost its receipt deals.

mod invitation;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce, Tag};
use garblet_circuit::Party;
use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::cursor::{Reader, Writer, beginning};
use crate::deal::ToServer;
use crate::job::{Job, digest_of};
use crate::malformed::Malformed;
use crate::open::Pending;
use crate::place::{Place, Server};
use crate::submission::Submission;
use crate::unopened::SealError;

pub use invitation::{Invitation, InvitationError};

/// The bytes that sealing adds to a message.
pub const SEAL_BYTES: usize = HEADER_BYTES + 16;

/// Version, direction, job, client, counter, nonce.
const HEADER_BYTES: usize = 56;
/// The same without the nonce, as it enters keys.
const PLACE_BYTES: usize = 44;
/// Separates keys of messages from all other uses of BLAKE3.
const KEY_CONTEXT: &str = "garblet 2026 outsourced message key v1";
/// The version of sealed messages.
const VERSION: u8 = 1;
/// The longest message: a share of the most bits, and the fields before it.
pub(crate) const MESSAGE_BYTES_MAX: usize = (crate::job::CLIENT_BITS_MAX / 8) as usize + 1024;

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client.
    ToServer,
    /// To the client.
    ToClient,
}

/// The secret of one client and one server. *Secret*: wiped on drop, compared in constant time, without `Debug`.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Secret([u8; 32]);

/// The public fields of a sealed message, not authenticated yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The message's direction.
    pub direction: Direction,
    /// The digest of the job.
    pub job: [u8; 32],
    /// The client's number in the job.
    pub client: Party,
    /// The client's number for the submission.
    pub counter: u64,
    /// The random bytes of this message. Those of a submission distinguish it from others with the same counter.
    pub nonce: [u8; 12],
}

impl Header {
    /// The header of a sealed message, by which a server finds job and secret.
    ///
    /// *Errors*: bytes that are not a sealed message.
    pub fn of(sealed: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new("sealed message", sealed);
        if sealed.len() > MESSAGE_BYTES_MAX + SEAL_BYTES {
            return Err(from.fault("size", 0, "a message of a client", format!("{} bytes", sealed.len())));
        }
        from.constant("version", VERSION)?;
        let direction = match from.u8("direction")? {
            0 => Direction::ToServer,
            1 => Direction::ToClient,
            other => return Err(from.fault("direction", 1, "0 or 1", other.to_string())),
        };
        let job = from.array("job")?;
        let (client, counter) = (from.u16("client").map(Party)?, from.u64("counter")?);
        let nonce = from.array("nonce")?;
        from.bytes("tag", 16)?;
        Ok(Header { direction, job, client, counter, nonce })
    }

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut to = Writer::with_capacity(HEADER_BYTES);
        to.u8(VERSION).u8(self.direction as u8).bytes(&self.job).u16(self.client.0).u64(self.counter);
        to.bytes(&self.nonce);
        to.finish()
    }

    /// Checks that it belongs to a place.
    fn check(&self, direction: Direction, place: &Place) -> Result<(), SealError> {
        let elsewhere = |field, expected, got| Err(SealError::Elsewhere { field, expected, got });
        if self.direction != direction {
            return elsewhere("direction", format!("{direction:?}"), format!("{:?}", self.direction));
        }
        if self.job != place.job {
            return elsewhere("job", beginning(&place.job), beginning(&self.job));
        }
        if self.client != place.client {
            return elsewhere("client", place.client.to_string(), self.client.to_string());
        }
        match self.counter == place.counter {
            true => Ok(()),
            false => elsewhere("counter", place.counter.to_string(), self.counter.to_string()),
        }
    }
}

impl Secret {
    /// A new secret.
    pub fn random(random: &mut (impl CryptoRng + ?Sized)) -> Self {
        let mut secret = Secret([0; 32]);
        random.fill_bytes(&mut secret.0);
        secret
    }

    /// The secret of 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Secret(bytes)
    }

    /// The 32 bytes. Keep them where nobody else can read them.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Seals a client's message to a server.
    pub fn seal_submission(&self, message: &ToServer, random: &mut (impl CryptoRng + ?Sized)) -> Vec<u8> {
        self.seal(message.place(), None, message.payload(), random)
    }

    /// Returns whether a message was sealed with this secret for a server and the bytes of a job, before these are read: an untrusted message costs only a
    /// digest and a tag.
    pub fn has_sealed(&self, sealed: &[u8], job: &[u8], server: Server) -> bool {
        let Ok(header) = Header::of(sealed) else { return false };
        let is_of_job = header.direction == Direction::ToServer && header.job == digest_of(job);
        // The tag is tried in any case.
        self.open(&header, server, None, sealed).is_ok() && is_of_job
    }

    /// Opens a client's message, with the highest counter that this client used before.
    ///
    /// *Errors*: [`SealError`]; the counter counts as used only when the message opened.
    pub fn open_submission(
        &self,
        sealed: &[u8],
        job: &Job,
        client: Party,
        server: Server,
        last: Option<u64>,
    ) -> Result<Submission, SealError> {
        let header = Header::of(sealed)?;
        let place = Place { job: *job.digest(), server, client, counter: header.counter };
        header.check(Direction::ToServer, &place)?;
        let payload = self.open(&header, server, None, sealed)?;
        if let Some(last) = last.filter(|last| header.counter <= *last) {
            return Err(SealError::Replayed { last, got: header.counter });
        }
        let submission = Submission::decode(&payload, job, client, server)?;
        match submission.place().counter {
            counter if counter == header.counter => Ok(submission),
            counter => Err(SealError::Elsewhere {
                field: "counter of the submission",
                expected: header.counter.to_string(),
                got: counter.to_string(),
            }),
        }
    }

    /// The nonce of the client's own message of a place.
    ///
    /// *Errors*: it belongs to another place, was changed, or was sealed with another secret.
    pub(crate) fn nonce_of(&self, sealed: &[u8], place: &Place) -> Result<[u8; 12], SealError> {
        let header = Header::of(sealed)?;
        header.check(Direction::ToServer, place)?;
        self.open(&header, place.server, None, sealed).map(|_| header.nonce)
    }

    /// Seals the answer to the submission of a place, which has this nonce ([`Header::nonce`]).
    pub fn seal_answer(
        &self,
        place: &Place,
        submission: &[u8; 12],
        answer: &[u8],
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Vec<u8> {
        self.seal(place, Some(submission), answer, random)
    }

    /// Opens the answer of a server to the submission with this nonce, which [`Pending::open`] reads.
    ///
    /// *Errors*: [`SealError`].
    pub fn open_answer(
        &self,
        sealed: &[u8],
        server: Server,
        pending: &Pending,
        submission: &[u8; 12],
    ) -> Result<Vec<u8>, SealError> {
        let header = Header::of(sealed)?;
        header.check(Direction::ToClient, &pending.place(server))?;
        self.open(&header, server, Some(submission), sealed).map(|payload| payload.to_vec())
    }

    /// Seals a submission, or the answer to the one with a nonce.
    fn seal(
        &self,
        place: &Place,
        answers: Option<&[u8; 12]>,
        message: &[u8],
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Vec<u8> {
        let direction = if answers.is_some() { Direction::ToClient } else { Direction::ToServer };
        let Place { job, server, client, counter } = *place;
        let mut header = Header { direction, job, client, counter, nonce: [0; 12] };
        random.fill_bytes(&mut header.nonce);
        let mut sealed = Vec::with_capacity(message.len() + SEAL_BYTES);
        sealed.extend_from_slice(&header.encode());
        sealed.extend_from_slice(message);
        let (associated, text) = sealed.split_at_mut(HEADER_BYTES);
        let cipher = self.cipher(&header, server, answers);
        let tag = cipher.encrypt_inout_detached(&Nonce::from(header.nonce), associated, text.into());
        let tag = tag.expect("messages of a client are far below 256 GiB");
        sealed.extend_from_slice(&tag);
        sealed
    }

    fn open(
        &self,
        header: &Header,
        server: Server,
        answers: Option<&[u8; 12]>,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (associated, rest) = sealed.split_at(HEADER_BYTES);
        let (text, tag) = rest.split_at(rest.len() - 16);
        let tag: [u8; 16] = tag.first_chunk().copied().unwrap_or_default();
        let mut text = Zeroizing::new(text.to_vec());
        let cipher = self.cipher(header, server, answers);
        let nonce = Nonce::from(header.nonce);
        match cipher.decrypt_inout_detached(&nonce, associated, (&mut text[..]).into(), &Tag::from(tag)) {
            Ok(()) => Ok(text),
            Err(_) => Err(SealError::Broken { client: header.client }),
        }
    }

    /// The cipher of the one submission of a place, or of the answer to the one with a nonce.
    fn cipher(&self, header: &Header, server: Server, answers: Option<&[u8; 12]>) -> ChaCha20Poly1305 {
        let mut hash = blake3::Hasher::new_derive_key(KEY_CONTEXT);
        hash.update(&self.0).update(&header.encode()[..PLACE_BYTES]).update(&[server.byte()]);
        hash.update(answers.map_or(&[], |nonce| &nonce[..]));
        let key = Zeroizing::new(*hash.finalize().as_bytes());
        hash.zeroize();
        ChaCha20Poly1305::new(<&Key>::from(&*key))
    }
}

impl ConstantTimeEq for Secret {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

#[cfg(test)]
mod tests;
