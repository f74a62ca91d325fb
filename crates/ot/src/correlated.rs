//! The interface of correlated OT, real or ideal.

use std::future::Future;

use garblet_net::Channel;
use garblet_primitives::{Block, Delta};
use zeroize::Zeroizing;

use crate::bit_vec::BitVec;
use crate::error::OtError;

/// The party that holds delta.
pub trait CorrelatedSender: Send {
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

    /// Makes `n` more OTs and shows their blocks `q` to `see`, part after part, as soon as they are made, and keeps none.
    ///
    /// *Errors*: as [`CorrelatedSender::extend`].
    fn extend_in_parts(
        &mut self,
        channel: &mut Channel,
        n: usize,
        mut see: impl FnMut(&[Block]) + Send,
    ) -> impl Future<Output = Result<(), OtError>> + Send {
        async move {
            see(&self.extend(channel, n).await?);
            Ok(())
        }
    }
}

/// The party that holds the choices.
pub trait CorrelatedReceiver: Send {
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

    /// The same, with the blocks as `change` leaves them, which gets part after part as soon as it is made. The blocks may take the allocation
    /// of `room`, whose contents are lost.
    ///
    /// *Errors*: as [`CorrelatedReceiver::extend_random`].
    fn extend_random_in_parts(
        &mut self,
        channel: &mut Channel,
        n: usize,
        room: Zeroizing<Vec<Block>>,
        mut change: impl FnMut(&mut [Block]) + Send,
    ) -> impl Future<Output = Result<(BitVec, Zeroizing<Vec<Block>>), OtError>> + Send {
        async move {
            drop(room);
            let (choices, mut blocks) = self.extend_random(channel, n).await?;
            change(&mut blocks);
            Ok((choices, blocks))
        }
    }
}
