//! The client of outsourced runs: it gives two servers shares of its input, and opens what they answer.
//!
//! *Source*: section 2 of the design of outsourced runs, `form=shares`. A client has one message to, and one from, each of two
//! servers, the generator (party 0) and the cloud (the last party), and does nothing else: no garbling, no oblivious transfer, no
//! group operation. The servers run a protocol of two parties on the shares.
//!
//! *Steps*:
//!
//! | step | function |
//! |---|---|
//! | the parties agree on a job | [`Job::new`], [`Job::decode`] |
//! | the client deals its input | [`deal`](fn@deal), [`Secret::seal_submission`] |
//! | a server reads its message | [`Header::of`], [`Secret::open_submission`], [`Submission::expand`] |
//! | it receives the challenge for its bits | [`Submission::check_challenge`] |
//! | it answers | [`Answer::encode`], [`Refusal::encode`], [`Secret::seal_answer`] |
//! | the client opens both answers | [`Secret::open_answer`], [`Pending::open`] |
//! | it keeps a receipt | [`Opened::receipt`] |
//!
//! Over a connection with each server that is a [`Visit`]: a [`Submit`] goes there, [`FromServer`] comes back.
//!
//! *Symbols*: `n` and `m` are bits of the client's input and output, `h` is [`Statistical::hash_bits`].
//!
//! | design | here |
//! |---|---|
//! | G, C | [`Server::Generator`], [`Server::Cloud`] |
//! | `share_S`, `pad_S`, `mask_S` | [`Dealt`] |
//! | `s_S` | the seed of a [`Submission`] |
//! | `mu_S`, `T(mu_S)`, `d_S` | challenge, matrix, commitment |
//! | `v_S` | hash |
//!
//! *Deviations*: answers and commitments to challenges carry a digest of job, client and counter in place of the job's alone ([`Place::run`]), so that an answer to
//! an earlier submission is not taken for one to this. Sealed messages have a random nonce beside a key of their own, and keys of answers
//! include the nonce of the submission, so that an old answer opens for no other submission, whatever its counter.
//!
//! *Cost*: `366 + ceil(n/8) + 2 ceil(m/8)` bytes at `h = 48` ([`payload_bytes`]), one round; sealing adds [`SEAL_BYTES`] to each of
//! the four messages.
//!
//! *Adversary and assumptions*: privacy and correctness against either server with any clients, if the servers' protocol is secure
//! against them; not if the two servers collude. Prg is a pseudo-random generator, BLAKE3 a random oracle. No fairness.
//!
//! ```
//! use garblet_circuit::{Bits, Party, Port, Program, Recipients, Type};
//! use garblet_client::{Identity, Invitation, Job, Receipt, Server, Terms, deal};
//! use garblet_primitives::{Block, Prg};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut program = Program::new("echo");
//! let input = program.add_input(Port::new("x", Type::Unsigned(8)), Party(1))?;
//! let link = program.input_link(input);
//! program.add_output(Port::new("y", Type::Unsigned(8)), Recipients::Only(vec![Party(1)]), vec![link])?;
//! let [generator, me, cloud] = [1, 2, 3].map(|key| Identity([key; 32]));
//! let job = Job::new(Terms::of(&program, generator, vec![me], cloud))?;
//!
//! # let mut random = Prg::new(Block::ZERO); // in place of the operating system's generator
//! let invitation = Invitation::new(cloud, "the cloud", "me", &mut random)?;
//! let receipt = Receipt::first("").with_counter(1);
//! let (_, to_cloud, pending) = deal(&job, Party(1), 2, &Bits::from_u128(42, 8), &mut random)?;
//! let pending = pending.after(receipt)?;
//! let sealed = invitation.secret.seal_submission(&to_cloud, &mut random);
//!
//! let submission = invitation.secret.open_submission(&sealed, &job, Party(1), Server::Cloud, Some(1))?;
//! assert_eq!(submission.expand().share.len(), 8);
//! # drop(pending);
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here waits, reads a clock or draws randomness by itself: messages go in and out as bytes, and generators are arguments.

mod answer;
mod cursor;
mod deal;
mod job;
mod malformed;
mod open;
mod place;
mod receipt;
mod seal;
mod shown;
mod submission;
#[cfg(test)]
mod testing;
mod unopened;
mod visit;

pub use answer::{ACCUSED_MAX, Answer, Reason, Refusal, Reply};
pub use deal::{Dealt, ToServer, deal};
pub use job::{
    CLIENT_BITS_MAX, CLIENTS_MAX, Destination, Identity, JOB_BYTES_MAX, Job, JobError, JobInput, JobOutput, Kept,
    Origin, Statistical, Terms,
};
pub use malformed::Malformed;
pub use open::{Opened, Pending, Rejected, Said};
pub use place::{Place, Server};
pub use receipt::{Receipt, Stale};
pub use seal::{Direction, Header, Invitation, InvitationError, SEAL_BYTES, Secret};
pub use shown::{is_name, is_shown};
pub use submission::{OwnChallenge, Submission, WrongChallenge};
pub use unopened::SealError;
pub use visit::{Begun, FromServer, Heard, SUBMIT_BYTES_MAX, Submit, Visit, VisitError};

/// The bytes of a client's two messages and two answers, before they are sealed.
pub fn payload_bytes(inputs: usize, outputs: usize, statistical: Statistical) -> usize {
    354 + 2 * (statistical.hash_bits() / 8) + inputs.div_ceil(8) + 2 * outputs.div_ceil(8)
}
