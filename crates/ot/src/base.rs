//! Base OT: 128 random OTs from public-key cryptography, secure against malicious parties.
//!
//! *Source*: Canetti, Sarkar and Wang, "Blazing fast OT for three-round UC OT extension" (PKC 2020), over ristretto255
//! (RFC 9496). Assumes computational Diffie-Hellman and an observable random oracle (BLAKE3 here).
//!
//! # Steps
//!
//! | step | who | what | where |
//! |---|---|---|---|
//! | 1 | receiver | seed; `T = H(seed)`; `B_i = a_i G + b_i T` | `receiver::Offer` |
//! | 2 | sender | `z = r G`; `K_i0 = r B_i`, `K_i1 = r B_i - r T`; pads `p_iv = H(i, v, K_iv)` | `sender::Keys` |
//! | 3 | both | `h_iv = H(p_iv)`; challenges `h_i0 + h_i1`; answer `H(h_10, h_20, ...)`; proof `H(answer)` | [`send`] |
//! | 4 | receiver | `p_ib = H(i, b, a_i z)`; computes the answer from the challenges; aborts unless it fits the proof | [`receive`] |
//! | 5 | sender | aborts unless the receiver's answer equals its own | [`Challenged::check_answer`] |
//!
//! The pads themselves are the messages. A sender with messages of its own masks them with the pads. It may send them before
//! step 5, as in the paper, but must not *use* them before.
//!
//! # Deviations
//!
//! - Points are computed at half their value and doubled during encoding, because the encoding of doubled points shares
//!   one inversion over a batch. With `T` halved in the same way, this is the same protocol with `2 a_i` and `2 r` for
//!   `a_i` and `r`.
//! - The first 32 points leave before the rest are computed, and `z` leaves as soon as all points have arrived, before the
//!   sender's keys are ready. So both parties compute at once. Neither message depends on the messages that it overtakes.
//! - Every hash is bound to the session: the seed, all points and `z`.
//!
//! # Cost
//!
//! Two messages and the answer: [`RECEIVER_BYTES`] = 32 (1 + 128) + 32 and [`SENDER_BYTES`] = 32 + 16 * 128 + 32. Per OT
//! the sender multiplies one point by a scalar; the receiver multiplies two fixed points, with tables.

mod cost;
mod receiver;
mod sender;
mod transcript;

pub use cost::{BASE_OTS, RECEIVER_BYTES, SENDER_BYTES};
pub use receiver::{Chosen, receive};
pub use sender::{Challenged, ReceiverAnswered, send};

#[cfg(test)]
mod tests;
