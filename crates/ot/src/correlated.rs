//! The interface of correlated OT, real or ideal.

use std::future::Future;

use garblet_net::Channel;
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use crate::bit_vec::BitVec;
use crate::error::OtError;

/// The party that holds delta.
pub trait CorrelatedSender {
    /// The difference between the two blocks of every OT.
    fn delta(&self) -> &Delta;

    /// A public key for hashes over these OTs. *Unique*: one per session; both parties have the same.
    fn session_key(&self) -> Block;

    /// Announces the next `n` OTs, so that a source that makes many at once sends what they need now. The receiver does the same.
    ///
    /// *Errors*: as [`CorrelatedSender::extend`].
    fn prepare(&mut self, channel: &mut Channel, n: usize) -> impl Future<Output = Result<(), OtError>> + Send {
        let _ = (channel, n);
        async { Ok(()) }
    }

    /// Makes `n` more OTs: returns the blocks `q`; the receiver gets `q ^ c * delta`.
    ///
    /// *Errors*: connection errors, and protocol errors where the protocol has checks.
    fn extend(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> impl Future<Output = Result<Zeroizing<Vec<Block>>, OtError>> + Send;
}

/// The party that holds the choices.
pub trait CorrelatedReceiver {
    /// A public key for hashes over these OTs. *Unique*: one per session; both parties have the same.
    fn session_key(&self) -> Block;

    /// Announces the next `n` OTs, see [`CorrelatedSender::prepare`].
    ///
    /// *Errors*: as [`CorrelatedReceiver::extend_random`].
    fn prepare(&mut self, channel: &mut Channel, n: usize) -> impl Future<Output = Result<(), OtError>> + Send {
        let _ = (channel, n);
        async { Ok(()) }
    }

    /// Makes `n` more OTs: returns uniform choices `c` that the protocol picks, and the blocks
    /// `t = q ^ c * delta`. To use choices of your own, correct them: see [`crate::precomputed`].
    ///
    /// *Errors*: connection errors, and protocol errors where the protocol has checks.
    fn extend_random(
        &mut self,
        channel: &mut Channel,
        n: usize,
    ) -> impl Future<Output = Result<(BitVec, Zeroizing<Vec<Block>>), OtError>> + Send;
}
