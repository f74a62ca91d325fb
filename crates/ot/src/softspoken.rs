//! SoftSpoken OT extension: any number of correlated OTs from 128 base OTs.
//!
//! *Source*: Roy, "SoftSpokenOT: Quieter OT extension from small-field silent VOLE in the Minicrypt model" (CRYPTO 2022),
//! section 3 (small-field VOLE), section 4 (its efficient form), section 5 with the repetition code.
//!
//! # Steps
//!
//! | step | who | what | where |
//! |---|---|---|---|
//! | 1 | both | 128 base OTs; the sender of correlated OTs is their receiver, with the bits of delta as choices | [`crate::base`] |
//! | 2 | both | `128 / k` seed trees of `2^k` leaves; the receiver knows all leaves, the sender all except one per tree | `tree` |
//! | 3 | both | leaves stretch to `n` bits and fold to columns: receiver `u`, `v`; sender `w = v + u * delta` | `columns` |
//! | 4 | receiver | sends `u_j + u_0` for every tree `j` except the first, so that all use the choices `u_0` | `receiver` |
//! | 5 | both | the sender adds them where delta has ones; both transpose 128 columns to `n` blocks | `sender`, `receiver` |
//!
//! # Symbols
//!
//! Tree `j` corresponds to one element of GF(2^k) of delta: its bits `k j .. k (j + 1)`. `r_x` is the stream of leaf `x`;
//! `u = sum r_x`; `v = sum x r_x`, `k` columns of bits. The sender numbers its leaves by their distance `y = x + delta_j` from its
//! missing leaf: `w = sum y r`, where the missing leaf has `y = 0` and drops out.
//!
//! # Cost
//!
//! Set-up: [`Width::sender_setup_bytes`] and [`Width::receiver_setup_bytes`], two rounds for the sender and one for the receiver. An
//! extension by `n` is one message of the receiver, of [`Width::extension_bytes`] bytes: `(128 / k - 1) / 8` per OT, rounded up to
//! whole squares of 128 OTs. This is one bit less than the paper's `16 / k` bytes, because the protocol picks the choices itself.
//! Correcting them to chosen ones (see [`crate::precomputed`]) costs the missing bit. Computation: `2^k * 128 / k` bits of AES-128
//! per OT.
//!
//! # Adversary and assumptions
//!
//! [`CotSender`] and [`CotReceiver`]: semi-honest; AES-128 is a pseudo-random function. The base OTs are secure against malicious
//! parties already. [`MaliciousCotSender`] and [`MaliciousCotReceiver`] add the paper's consistency checks, which detect a
//! receiver whose trees depend on delta or whose choices differ from tree to tree: secure against malicious parties.

mod columns;
mod consistency;
mod cost;
mod hello;
mod malicious;
mod receiver;
mod sender;
mod tags;
mod tree;
mod width;

pub use consistency::StatisticalSecurity;
pub use malicious::{Corrected, MaliciousCotReceiver, MaliciousCotSender, ReceiverSeeds, SenderSeeds, Unchecked};
pub use receiver::CotReceiver;
pub use sender::CotSender;
pub(crate) use width::SQUARE;
pub use width::{BATCH_OTS, Width};

#[cfg(test)]
pub(crate) use malicious::deviations;

#[cfg(test)]
mod tests;
