//! The message on the wire besides blocks and bits: the contents of each side's store.

use garblet_net::Message;
use garblet_store::Summary;
use serde::{Deserialize, Serialize};

/// The contents of a party's store, and whose it is.
#[derive(Serialize, Deserialize)]
pub(crate) struct Has {
    pub(crate) summary: Summary,
    /// The name of the parties' secrets; `None` before they have any.
    pub(crate) secrets: Option<[u8; 32]>,
    /// Fresh randomness, on which all of this meeting depends.
    pub(crate) nonce: [u8; 32],
    /// The name of the batch whose check is open, and the evaluator's digest of it.
    pub(crate) unsettled: Option<[[u8; 32]; 2]>,
}

impl Message for Has {
    const NAME: &'static str = "summary of a store of triples";
    const KIND: u8 = 0x59;
    const MAX_BYTES: usize = Summary::BYTES_MAX + 192;

    /// A summary is checked when it is decoded.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
