//! The message on the wire besides blocks and bits: the contents of each side's store.

use garblet_net::Message;
use garblet_primitives::Block;
use garblet_store::Summary;
use serde::{Deserialize, Serialize};

use crate::setup::secrets::MEETINGS_MAX;

/// The contents of a party's store, and whose it is.
#[derive(Serialize, Deserialize)]
pub(crate) struct Has {
    pub(crate) summary: Summary,
    /// The block that identifies the parties' secrets; `None` before they have any.
    pub(crate) stock: Option<Block>,
    /// The number of times that they have met with these.
    pub(crate) meetings: u64,
    /// Fresh randomness, on which all of this meeting depends.
    pub(crate) nonce: [u8; 32],
}

impl Message for Has {
    const NAME: &'static str = "summary of a store of gates";
    const KIND: u8 = 0x58;
    const MAX_BYTES: usize = Summary::BYTES_MAX + 64;

    /// A summary is checked when it is decoded.
    fn check(&self) -> Result<(), String> {
        match self.meetings < MEETINGS_MAX {
            true => Ok(()),
            false => Err(format!("{} meetings, expected less than {}", self.meetings, MEETINGS_MAX)),
        }
    }
}
