//! Sealing: messages that only a client and a server can read, over whatever carries them.
//!
//! ```text
//! version 1 | direction 1 | job 32 | client 2 | counter 8 | nonce 12 | ciphertext | tag 16
//! ```
//!
//! ChaCha20-Poly1305 (RFC 8439) with the fields before the ciphertext as associated data. The key is
//! `H(secret | version | direction | job | client | counter | server)`: each message has its own, so that a message opens at its
//! place alone, and one that is sent again, or in place of another, does not open elsewhere. The nonce is random, so that a
//! counter that is used twice by mistake gives nothing away.

mod invitation;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce, Tag};
use garblet_circuit::Party;
use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::cursor::{Reader, Writer, beginning};
use crate::deal::ToServer;
use crate::job::Job;
use crate::malformed::Malformed;
use crate::open::Pending;
use crate::place::{Place, Server};
use crate::submission::Submission;
use crate::unopened::SealError;

pub use invitation::{Invitation, InvitationError};

/// The bytes by which a sealed message is longer.
pub const SEAL_BYTES: usize = HEADER_BYTES + 28;

/// Version, direction, job, client, counter.
const HEADER_BYTES: usize = 44;
/// Separates keys of messages from all other uses of BLAKE3.
const KEY_CONTEXT: &str = "garblet 2026 outsourced message key v1";
/// The version of sealed messages.
const VERSION: u8 = 1;
/// The longest message: a share of the most bits, and what is before it.
pub(crate) const MESSAGE_BYTES_MAX: usize = (crate::job::CLIENT_BITS_MAX / 8) as usize + 1024;

/// The end to which a message goes.
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

/// The fields of a sealed message that are not secret, and not yet known to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The end to which it goes.
    pub direction: Direction,
    /// The digest of the job.
    pub job: [u8; 32],
    /// The client's number in the job.
    pub client: Party,
    /// The client's number for the submission.
    pub counter: u64,
}

impl Header {
    /// The header of a sealed message, by which a server finds job and secret.
    ///
    /// *Errors*: no sealed message.
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
        from.bytes("nonce and tag", 28)?;
        Ok(Header { direction, job, client, counter })
    }

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        let mut to = Writer::with_capacity(HEADER_BYTES);
        to.u8(VERSION).u8(self.direction as u8).bytes(&self.job).u16(self.client.0).u64(self.counter);
        to.finish()
    }

    /// Checks that it is that of a place.
    fn check(&self, direction: Direction, job: &[u8; 32], client: Party) -> Result<(), SealError> {
        let elsewhere = |field, expected, got| Err(SealError::Elsewhere { field, expected, got });
        if self.direction != direction {
            return elsewhere("direction", format!("{direction:?}"), format!("{:?}", self.direction));
        }
        if self.job != *job {
            return elsewhere("job", beginning(job), beginning(&self.job));
        }
        match self.client == client {
            true => Ok(()),
            false => elsewhere("client", client.to_string(), self.client.to_string()),
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

    /// The 32 bytes, to be kept where nobody else reads them.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Seals a client's message to a server.
    pub fn seal_submission(&self, message: &ToServer, random: &mut (impl CryptoRng + ?Sized)) -> Vec<u8> {
        self.seal(message.place(), Direction::ToServer, message.payload(), random)
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
        header.check(Direction::ToServer, job.digest(), client)?;
        let place = Place { job: *job.digest(), server, client, counter: header.counter };
        let payload = self.open(&place, &header, sealed)?;
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

    /// Seals the answer to the submission of a place.
    pub fn seal_answer(&self, place: &Place, answer: &[u8], random: &mut (impl CryptoRng + ?Sized)) -> Vec<u8> {
        self.seal(place, Direction::ToClient, answer, random)
    }

    /// Opens the answer of a server, which [`Pending::open`] reads.
    ///
    /// *Errors*: [`SealError`].
    pub fn open_answer(&self, sealed: &[u8], server: Server, pending: &Pending) -> Result<Vec<u8>, SealError> {
        let (header, place) = (Header::of(sealed)?, pending.place(server));
        header.check(Direction::ToClient, &place.job, place.client)?;
        if header.counter != place.counter {
            let (expected, got) = (place.counter.to_string(), header.counter.to_string());
            return Err(SealError::Elsewhere { field: "counter", expected, got });
        }
        self.open(&place, &header, sealed).map(|payload| payload.to_vec())
    }

    fn seal(
        &self,
        place: &Place,
        direction: Direction,
        message: &[u8],
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Vec<u8> {
        let header = Header { direction, job: place.job, client: place.client, counter: place.counter };
        let mut nonce = [0; 12];
        random.fill_bytes(&mut nonce);
        let mut sealed = Vec::with_capacity(message.len() + SEAL_BYTES);
        sealed.extend_from_slice(&header.encode());
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(message);
        let (associated, text) = sealed.split_at_mut(HEADER_BYTES + nonce.len());
        let tag =
            self.cipher(&header, place.server).encrypt_inout_detached(&Nonce::from(nonce), associated, text.into());
        let tag = tag.expect("messages of a client are far below 256 GiB");
        sealed.extend_from_slice(&tag);
        sealed
    }

    fn open(&self, place: &Place, header: &Header, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let (associated, rest) = sealed.split_at(HEADER_BYTES + 12);
        let (text, tag) = rest.split_at(rest.len() - 16);
        let nonce: [u8; 12] = associated[HEADER_BYTES..].first_chunk().copied().unwrap_or_default();
        let tag: [u8; 16] = tag.first_chunk().copied().unwrap_or_default();
        let mut text = Zeroizing::new(text.to_vec());
        let cipher = self.cipher(header, place.server);
        let opened =
            cipher.decrypt_inout_detached(&Nonce::from(nonce), associated, (&mut text[..]).into(), &Tag::from(tag));
        match opened {
            Ok(()) => Ok(text),
            Err(_) => Err(SealError::Broken { client: header.client }),
        }
    }

    /// The cipher of the one message of a place.
    fn cipher(&self, header: &Header, server: Server) -> ChaCha20Poly1305 {
        let mut hash = blake3::Hasher::new_derive_key(KEY_CONTEXT);
        hash.update(&self.0).update(&header.encode()).update(&[server.byte()]);
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
