//! Numbers of OTs and bytes.

/// Base OTs in a run: one per bit of a block.
pub const BASE_OTS: usize = 128;

/// Points in the first part of the receiver's message.
pub(super) const FIRST_POINTS: usize = 32;

/// Payload bytes from the receiver: seed, points, answer.
pub const RECEIVER_BYTES: u64 = 32 + 32 * BASE_OTS as u64 + 32;

/// Payload bytes from the sender: its group element, challenges, proof.
pub const SENDER_BYTES: u64 = 32 + 16 * BASE_OTS as u64 + 32;
