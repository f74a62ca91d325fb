//! Words of the servers between runs.

use garblet_net::Message;
use serde::{Deserialize, Serialize};

/// The number of a job with its submissions, see [`Gathered::id`](super::desk::Gathered).
pub(super) type Id = [u8; 32];

/// A word of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Word {
    /// This server is there.
    Here,
    /// The cloud has all submissions of a job, of this digest.
    Have(Id, [u8; 32]),
    /// The generator calls a job, of which it has all, too.
    Call(Id),
    /// The cloud is ready for the job that was called, or for filling.
    Ready,
    /// This server refuses the job that was called or is to be called, or does not have it any more.
    Refuse(Id),
    /// The generator fills its store with so many triples and masks, and so does the cloud.
    Fill([u64; 2]),
}

impl Message for Word {
    const NAME: &'static str = "word of a server";
    const KIND: u8 = 9;
    const MAX_BYTES: usize = 80;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
