//! The interface of correlated OT, real or ideal.

use std::future::Future;

use garblet_net::Channel;
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use crate::bit_vec::BitVec;
use crate::error::OtError;

/// The party with delta.
pub trait CorrelatedSender {
    /// The difference between the two blocks of every OT.
    fn delta(&self) -> &Delta;

    /// A public key for hashes over these OTs. *Unique*: one per session; both parties have the same.
    fn session_key(&self) -> Block;

    /// Makes `n` more OTs: the blocks `q`, of which the receiver has `q ^ c * delta`.
    ///
    /// *Errors*: the connection's, and the protocol's where it has checks.
    fn extend(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> impl Future<Output = Result<Zeroizing<Vec<Block>>, OtError>> + Send;
}

/// The party with the choices.
pub trait CorrelatedReceiver {
    /// A public key for hashes over these OTs. *Unique*: one per session; both parties have the same.
    fn session_key(&self) -> Block;

    /// Makes `n` more OTs with uniform choices `c` that the protocol itself makes: the choices, and the blocks
    /// `t = q ^ c * delta`. Choices of one's own come by correction, see [`crate::precomputed`].
    ///
    /// *Errors*: the connection's, and the protocol's where it has checks.
    fn extend_random(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> impl Future<Output = Result<(BitVec, Zeroizing<Vec<Block>>), OtError>> + Send;
}
