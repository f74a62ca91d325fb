//! The message of a meeting: the contents of each party's store.

use garblet_net::Message;
use garblet_store::Summary;
use serde::{Deserialize, Serialize};

/// The contents of a party's store.
#[derive(Serialize, Deserialize)]
pub(super) struct HasRuns {
    pub(super) summary: Summary,
}

impl Message for HasRuns {
    const NAME: &'static str = "summary of a store of runs";
    const KIND: u8 = 0x5a;
    const MAX_BYTES: usize = Summary::BYTES_MAX;

    /// A summary is checked when it is decoded.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
