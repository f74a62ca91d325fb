//! A visit: the messages between a client and each server over one connection, whatever the transport.
//!
//! The client deals ([`Visit::begin`]), keeps the receipt, sends a frame to each server, and passes the replies to the visit
//! until both have answered. The caller carries the frames, and has the connections, the clock and the timeouts.

mod frames;

use garblet_circuit::{Bits, Party};
use garblet_primitives::{Block, Prg};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::answer::Answer;
use crate::deal::{ToServer, deal};
use crate::job::{Identity, Job, JobError};
use crate::open::{Opened, Pending, Rejected, Said};
use crate::place::Server;
use crate::receipt::{Receipt, Stale};
use crate::seal::{Invitation, Secret};
use crate::unopened::SealError;

pub use frames::{FromServer, SUBMIT_BYTES_MAX, Submit};

/// Separates what follows from seeds from all other uses of BLAKE3.
const SEED_CONTEXT: &str = "garblet 2026 outsourced visit v1";

/// A server's reply: its answer, or what it said instead.
type Word = Result<Answer, Said>;

/// A submission that both servers are to answer. *Secret*; without `Debug`.
pub struct Visit {
    pending: Pending,
    /// Of generator and cloud.
    secrets: [Secret; 2],
    /// The nonces of the sealed submissions, to which answers are bound.
    nonces: [[u8; 12]; 2],
    words: [Option<Word>; 2],
}

/// A visit, and what to store and send for it.
pub struct Begun {
    /// The visit, which takes the servers' frames.
    pub visit: Visit,
    /// The receipt with the counter that is now used. Keep it before you send anything.
    pub receipt: Receipt,
    /// The frame for the generator.
    pub to_generator: Vec<u8>,
    /// The frame for the cloud.
    pub to_cloud: Vec<u8>,
}

/// The meaning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The server is there; more will come.
    Waiting,
    /// The server has an answer; it says nothing more.
    Answer,
    /// The server has none; it says nothing more. [`Visit::open`] returns the reason.
    NoAnswer,
}

/// A visit that cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VisitError {
    /// The servers know the client by different names.
    #[error("the generator invites `{generator}`, the cloud `{cloud}`: expected one name")]
    OtherName {
        /// The name in the generator's invitation.
        generator: String,
        /// The name in the cloud's.
        cloud: String,
    },
    /// An invitation is not from the job's server.
    #[error("the job's {server} is {expected:?}, the invitation is from `{name}`, {got:?}")]
    OtherServer {
        /// The server.
        server: Server,
        /// The server's name in the invitation.
        name: String,
        /// Its identity in the job.
        expected: Identity,
        /// Its identity in the invitation.
        got: Identity,
    },
    /// The job does not have the client.
    #[error("the job has no client `{name}`, {identity:?}")]
    NoClient {
        /// The client's name.
        name: String,
        /// Its identity.
        identity: Identity,
    },
    /// The inputs do not fit.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The job is older than the receipt, or the receipt is for another state.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// A frame is not the one that was kept with the submission.
    #[error("the frame for the {server} does not belong to the submission: {why}")]
    OtherFrame {
        /// The server.
        server: Server,
        /// The difference.
        why: SealError,
    },
}

impl VisitError {
    /// Advice for a person.
    pub fn hint(&self) -> &'static str {
        match self {
            VisitError::OtherName { .. } => "ask both servers for invitations under the same name",
            VisitError::OtherServer { .. } => {
                "use the invitations of the two servers that the job names, the generator's first"
            }
            VisitError::NoClient { .. } => "ask the job's author to add you to it under this name",
            VisitError::Job(error) => error.hint(),
            VisitError::Stale(stale) => stale.hint(),
            VisitError::OtherFrame { .. } => "resume with the frames that were kept with the submission",
        }
    }
}

impl Visit {
    /// Deals a client's input to both servers with the counter after the receipt's, and seals it.
    ///
    /// *Shape*: `invitations` are those of generator and cloud; `inputs` are the bits of all input ports of the client
    /// ([`Job::join_inputs`]). *Errors*: invitations, job, inputs and receipt do not go together; nothing is dealt then.
    pub fn begin(
        job: &Job,
        invitations: [&Invitation; 2],
        receipt: &Receipt,
        inputs: &Bits,
        random: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Begun, VisitError> {
        let client = invited(job, invitations)?;
        let counter = receipt.counter().saturating_add(1);
        let (to_generator, to_cloud, pending) = deal(job, client, counter, inputs, random)?;
        let pending = pending.after(receipt.clone())?;
        let mut seal = |to: &ToServer, by: &Invitation| by.secret.seal_submission(to, random);
        let sealed = [seal(&to_generator, invitations[0]), seal(&to_cloud, invitations[1])];
        let secrets = invitations.map(|invitation| &invitation.secret);
        let visit = Visit::of(pending, [&sealed[0], &sealed[1]], secrets)?;
        let frame = |sealed, by: &Invitation| Submit { job: job.encode().to_vec(), client: by.identity(), sealed };
        let [generator, cloud] = sealed;
        Ok(Begun {
            to_generator: frame(generator, invitations[0]).encode(),
            to_cloud: frame(cloud, invitations[1]).encode(),
            receipt: receipt.clone().with_counter(counter),
            visit,
        })
    }

    /// The same as [`Visit::begin`], where all that is drawn follows from a seed: for languages that bring 32 random bytes.
    ///
    /// *Unique*: a new seed for each visit. One that is used again by mistake gives other bytes for another job, counter or input.
    pub fn begin_from_seed(
        job: &Job,
        invitations: [&Invitation; 2],
        receipt: &Receipt,
        inputs: &Bits,
        seed: &[u8; 32],
    ) -> Result<Begun, VisitError> {
        let counter = receipt.counter().saturating_add(1);
        let mut hash = blake3::Hasher::new_derive_key(SEED_CONTEXT);
        hash.update(seed).update(job.digest()).update(&counter.to_le_bytes());
        hash.update(&Zeroizing::new(inputs.to_bytes()));
        let mut key = Zeroizing::new([0; 16]);
        hash.finalize_xof().fill(&mut *key);
        hash.zeroize();
        Visit::begin(job, invitations, receipt, inputs, &mut Prg::new(Block::from_bytes(*key)))
    }

    /// Resumes an earlier submission ([`Pending::decode`]), with the frames and secrets of generator and cloud. Send the
    /// same frames again.
    ///
    /// `receipt` is the current one, which replaces the saved one. It may be newer than the submission if later
    /// visits ended before: the output is opened all the same, and the next receipt is never older than this one.
    ///
    /// *Errors*: frames of another submission, a receipt of another state.
    pub fn resume(
        pending: Pending,
        receipt: Receipt,
        frames: [&[u8]; 2],
        secrets: [&Secret; 2],
    ) -> Result<Self, VisitError> {
        let [generator, cloud] = Server::BOTH.map(|server| {
            let submit = Submit::decode(frames[usize::from(server.byte())]);
            submit.map_err(|why| VisitError::OtherFrame { server, why: why.into() })
        });
        Visit::of(pending.resumed(receipt)?, [&generator?.sealed, &cloud?.sealed], secrets)
    }

    /// A visit with sealed submissions to generator and cloud.
    fn of(pending: Pending, sealed: [&[u8]; 2], secrets: [&Secret; 2]) -> Result<Self, VisitError> {
        let [generator, cloud] = Server::BOTH.map(|server| {
            let at = usize::from(server.byte());
            let nonce = secrets[at].nonce_of(sealed[at], &pending.place(server));
            nonce.map_err(|why| VisitError::OtherFrame { server, why })
        });
        let nonces = [generator?, cloud?];
        Ok(Visit { pending, secrets: secrets.map(Secret::clone), nonces, words: [None, None] })
    }

    /// The secret that opens the answers, to be kept until then ([`Pending::encode`]).
    pub fn pending(&self) -> &Pending {
        &self.pending
    }

    /// The most bytes that a frame of a server may have.
    pub fn frame_bytes_max(&self) -> usize {
        FromServer::bytes_max(self.pending.outputs())
    }

    /// Takes a frame from a server. Frames after its answer are ignored.
    pub fn hear(&mut self, server: Server, frame: &[u8]) -> Heard {
        let at = usize::from(server.byte());
        let word = match &self.words[at] {
            Some(word) => word,
            None => match self.read(server, frame) {
                None => return Heard::Waiting,
                Some(word) => self.words[at].insert(word),
            },
        };
        match word {
            Ok(_) => Heard::Answer,
            Err(_) => Heard::NoAnswer,
        }
    }

    /// Returns whether a server has answered, or said that it will not.
    pub fn has_heard(&self, server: Server) -> bool {
        self.words[usize::from(server.byte())].is_some()
    }

    /// Opens the output.
    ///
    /// *Errors*: as [`Pending::open`], with each server's reply, which is [`Said::Nothing`] if it was incomplete.
    pub fn open(self) -> Result<Opened, Rejected> {
        let [generator, cloud] = self.words.map(|word| word.unwrap_or(Err(Said::Nothing)));
        self.pending.open_words((generator, cloud))
    }

    /// The reply in a frame; none if more will come.
    fn read(&self, server: Server, frame: &[u8]) -> Option<Word> {
        let sealed = match FromServer::decode(frame) {
            Ok(FromServer::Waiting) => return None,
            Ok(FromServer::Refused(reason)) => return Some(Err(Said::Unproven(reason))),
            Ok(FromServer::Sealed(sealed)) => sealed,
            Err(malformed) => return Some(Err(Said::Malformed(malformed))),
        };
        let at = usize::from(server.byte());
        match self.secrets[at].open_answer(&sealed, server, &self.pending, &self.nonces[at]) {
            Ok(answer) => Some(self.pending.read(&answer)),
            Err(error) => Some(Err(Said::Unopened(error))),
        }
    }
}

/// The client of both invitations.
fn invited(job: &Job, [generator, cloud]: [&Invitation; 2]) -> Result<Party, VisitError> {
    if generator.client_name != cloud.client_name {
        let (generator, cloud) = (generator.client_name.clone(), cloud.client_name.clone());
        return Err(VisitError::OtherName { generator, cloud });
    }
    let servers = [(Server::Generator, generator, job.terms().generator), (Server::Cloud, cloud, job.terms().cloud)];
    for (server, invitation, expected) in servers {
        if invitation.server != expected {
            let (name, got) = (invitation.server_name.clone(), invitation.server);
            return Err(VisitError::OtherServer { server, name, expected, got });
        }
    }
    let identity = generator.identity();
    let none = || VisitError::NoClient { name: generator.client_name.clone(), identity };
    job.client(&identity).ok_or_else(none)
}

#[cfg(test)]
mod tests;
