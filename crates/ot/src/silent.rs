//! Silent OT: correlated OTs for a tenth of a byte each, from a first stock of other ones.
//!
//! *Source*: Yang, Weng, Lan, Zhang and Wang, "Ferret: Fast Extension for Correlated OT with Small Communication" (CCS 2020), with the trees of "Half-Tree"
//! (Guo and others, EUROCRYPT 2023).
//!
//! # Steps
//!
//! A *batch* makes any number of OTs in as many *rounds* as they take. Each round consumes a stock of `M` OTs and makes the next stock first.
//!
//! | step | who | what | where |
//! |---|---|---|---|
//! | 0 | both | once: the first stock, from SoftSpoken | `sender`, `receiver` |
//! | 1 | both | toss a coin: the sender commits to its share, the receiver sends its own, the sender opens; the coin gives each round of the batch a code and a key, which no other pair, direction or session has | `coins` |
//! | 2 | sender | for each round: a seed tree of `2^d` leaves per noise position, and a correction of 16 bytes for each level | `tree` |
//! | 3 | receiver | from them all leaves, but delta is added to the one leaf on the path of its choices: the noise | `tree` |
//! | 4 | both | add ten OTs of the stock to every leaf: OTs. Those of the first trees are the next round's stock | `round` |
//! | 5 | receiver | checked form, after the corrections of all rounds: sends a random point, and the sum of its noise there, masked by 128 OTs of the first stock | `check` |
//! | 6 | sender | checked form: answers with a hash of its sum at that point | `check` |
//! | 7 | receiver | checked form: aborts unless it is the hash of its own sum | `check` |
//! | 8 | both | make OTs tree by tree as they are wanted, without traffic | `supply` |
//!
//! In step 6 the sender sends and never learns the receiver's sum, so it can only guess noise positions, and a wrong guess is detected.
//!
//! # Symbols
//!
//! The parameters `k`, `t` and `d` are those of [`LpnSet`]. Bit 0 of all blocks of the sender is zero, and bit 0 of a block of the receiver is its choice, so that
//! one sum of blocks is also one of choices. For this the difference of the OTs is delta with bit 0 set.
//!
//! # Cost
//!
//! [`LpnSet::batch_bytes`]: for a whole round of the default set 0.0935 bytes per OT, almost all from the sender; one round trip for the coin and, in the checked form, one
//! for the check. For each OT the sender hashes a block three times (twice without the check) and the receiver twice (once); both read ten blocks at random places of
//! the table, and 40 bytes of an AES stream.
//!
//! # Adversary and assumptions
//!
//! Learning parity with noise, for a random code with ten ones in each row of the generator, of which two may fall together and cancel, and one noise bit in every `2^d`; AES-128 is an ideal cipher.
//! `SilentCotSender<CotSender>` and its receiver: semi-honest. `SilentCotSender<MaliciousCotSender>` and its receiver: malicious; they take their first stock from
//! checked OTs, and check every batch. There is no checked form on unchecked OTs, or on OTs with a check of fewer than 80 bits. Public implementations have had the first defect.

mod base;
mod check;
mod coins;
mod parameters;
mod receiver;
mod round;
mod sender;
mod supply;
mod tree;

pub use base::{BaseReceiver, BaseSender};
pub use coins::Direction;
pub use parameters::LpnSet;
pub use receiver::SilentCotReceiver;
pub use sender::SilentCotSender;

#[cfg(test)]
pub(crate) use tests::deviations;

#[cfg(test)]
mod tests;
