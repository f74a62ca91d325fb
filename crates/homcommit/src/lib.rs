//! XOR-homomorphic commitments with a linear code.
//!
//! A sender commits to blocks of 128 bits by the thousand, at the cost of some AES, and opens any sum of them. After the
//! set-up there is no public-key cryptography, and a commitment takes 17 bytes.
//!
//! *Source*: Frederiksen, Jakobsen, Nielsen and Trifiletti, "On the complexity of additively homomorphic UC commitments" (TCC 2016),
//! as Nielsen, Schneider and Trifiletti implement it in "Constant round maliciously secure 2PC with function-independent
//! preprocessing using LEGO" (NDSS 2017), section V-A.
//!
//! # Steps
//!
//! | step | who | what | where |
//! |---|---|---|---|
//! | 1 | both | random OTs, one per bit of a codeword; the sender has seeds `s0_j, s1_j`, the receiver a bit `b_j` and `s_j = sb_j` | the caller's |
//! | 2 | both | stretch the seeds; bit `i` of row `j` is bit `j` of commitment `i`'s shares `t0`, `t1` | [`CommitSender::commit`] |
//! | 3 | sender | the message is the first 128 bits of `t0 ^ t1`; sends corrections that make the other bits those of its codeword | same |
//! | 4 | both | the receiver sends a random `alpha`; the sender opens 128 combinations, blinded by 128 commitments more | [`CommitReceiver::challenge`], [`CommitSender::prove`] |
//! | 5 | sender | opens: message and `t0`; or, many together, messages, and 64 combinations of the `t0` for one more `alpha` | [`CommitSender::open`], [`CommitSender::open_batch`] |
//!
//! # Symbols
//!
//! `t0 ^ t1` is the message's codeword; the receiver knows `w_j = tb_j` at every bit `j`: it "watches" half of the bits, and the sender does
//! not know which. To open another message the sender would have to change a share at 40 bits or more and hit no watched one.
//!
//! # Deviations
//!
//! - The [262, 128, 40] code in place of the published [312, 128, 41], 27 % fewer bytes; see [`Code`].
//! - In a combination the sender sends shares of one side and messages; the receiver encodes the messages itself. That is shorter,
//!   and what is compared is a codeword by construction.
//! - True powers of `alpha`. The public prototype squares `alpha` from block to block, so that its coefficients return after 128
//!   blocks and equal errors in blocks 128 apart cancel; a test has that error caught.
//! - Encoding, correcting and combining work on rows, before the transposition, 512 commitments in a register, without
//!   tables that secrets are looked up in.
//!
//! # Cost
//!
//! Payload bytes are [`commit_bytes`], [`opening_bytes`] and [`batch_opening_bytes`]; the receiver sends 16 for each challenge.
//! A call to commit or to open together takes the sender one round. Memory grows with the commitments of one call.
//!
//! # Adversary and assumptions
//!
//! Malicious, static, with the statistical error `2^-40` for binding by the code's distance; AES-128 is a pseudo-random
//! function; the random OTs are secure against malicious parties. UC-secure in that model (Frederiksen et al., theorem 1).

mod code;
mod codeword;
mod combination;
mod cost;
mod error;
mod receiver;
mod sender;
mod squares;

pub use code::Code;
pub use cost::{batch_opening_bytes, commit_bytes, opening_bytes};
pub use error::CommitError;
pub use receiver::{Challenged, ClaimedOpenings, CommitReceiver, ReceiverShare, Unchallenged};
pub use sender::{CommitSender, PendingProof, SenderShare};

#[cfg(test)]
mod tests;
