//! XOR-homomorphic commitments with a linear code.
//!
//! A sender commits to blocks of 128 bits by the thousand, at the cost of some AES, and opens any sum of them. After
//! set-up there is no public-key cryptography, and a commitment takes 17 bytes.
//!
//! *Source*: Frederiksen, Jakobsen, Nielsen and Trifiletti, "On the complexity of additively homomorphic UC commitments" (TCC 2016),
//! in the implementation of Nielsen, Schneider and Trifiletti, "Constant round maliciously secure 2PC with function-independent
//! preprocessing using LEGO" (NDSS 2017), section V-A.
//!
//! # Steps
//!
//! | step | who | what | where |
//! |---|---|---|---|
//! | 1 | both | random OTs, one per bit of a codeword; the sender has seeds `s0_j, s1_j`, the receiver a bit `b_j` and `s_j = sb_j` | the caller's |
//! | 2 | both | stretch the seeds; bit `i` of row `j` is bit `j` of commitment `i`'s shares `t0`, `t1` | [`CommitSender::commit`] |
//! | 3 | sender | the message is the first 128 bits of `t0 ^ t1`; sends corrections that complete it to its codeword | same |
//! | 4 | both | the receiver sends a random `alpha`; the sender opens 128 combinations, blinded by 128 further commitments | [`CommitReceiver::challenge`], [`CommitSender::prove`] |
//! | 5 | sender | opens: message and `t0`; or, many together, messages, and 64 combinations of the `t0` for another `alpha` | [`CommitSender::open`], [`CommitSender::open_batch`] |
//!
//! # Symbols
//!
//! `t0 ^ t1` is the message's codeword. The receiver knows `w_j = tb_j` at every bit `j`: it "watches" one share per bit, and the
//! sender does not know which. To open another message, the sender would have to change a share at 40 bits or more and hit no
//! watched one.
//!
//! # Deviations
//!
//! - The [262, 128, 40] code instead of the published [312, 128, 41], 27 % fewer bytes; see [`Code`].
//! - For a combination, the sender sends shares of one side and messages; the receiver encodes the messages itself. This is shorter,
//!   and the comparison is with a codeword by construction.
//! - True powers of `alpha`. The public prototype squares `alpha` from block to block, so its coefficients repeat after 128
//!   blocks and equal errors in blocks 128 apart cancel. A test checks that this error is caught.
//! - Encoding, correcting and combining work on rows before the transposition, 512 commitments in a register, without
//!   table lookups by secrets.
//!
//! # Cost
//!
//! Payload bytes: [`commit_bytes`], [`opening_bytes`] and [`batch_opening_bytes`]; the receiver sends 16 for each challenge.
//! A call to commit or to open a batch takes the sender one round. Memory grows with the commitments of one call.
//!
//! # Adversary and assumptions
//!
//! Malicious, static. Binding has the statistical error `2^-40` from the code's distance. Assumptions: AES-128 is a pseudo-random
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
