//! What goes over the wire besides blocks and bits: what each side's store has.

use garblet_net::Message;
use garblet_primitives::Block;
use garblet_store::Summary;
use serde::{Deserialize, Serialize};

/// What a party's store has, and whose.
#[derive(Serialize, Deserialize)]
pub(super) struct Has {
    pub(super) summary: Summary,
    /// What the parties' secrets are known by; none before they have any.
    pub(super) pool: Option<Block>,
    /// How often they have met with these.
    pub(super) meetings: u64,
    /// Fresh randomness, on which all of this meeting depends.
    pub(super) nonce: [u8; 32],
}

impl Message for Has {
    const NAME: &'static str = "summary of a store of gates";
    const KIND: u8 = 0x58;
    const MAX_BYTES: usize = Summary::BYTES_MAX + 64;

    /// A summary is checked when it is decoded.
    fn check(&self) -> Result<(), String> {
        match self.meetings < super::secrets::MEETINGS_MAX {
            true => Ok(()),
            false => Err(format!("{} meetings, expected less than {}", self.meetings, super::secrets::MEETINGS_MAX)),
        }
    }
}
