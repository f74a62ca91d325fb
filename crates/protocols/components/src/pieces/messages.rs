//! The messages on the wire besides blocks and bits: the contents of each side's store, and the seed of the garbling hash.

use garblet_net::Message;
use garblet_primitives::Block;
use garblet_store::Summary;
use serde::{Deserialize, Serialize};

/// The contents of a party's store.
#[derive(Serialize, Deserialize)]
pub(crate) struct Has {
    pub(crate) summary: Summary,
}

impl Message for Has {
    const NAME: &'static str = "summary of a store";
    const KIND: u8 = 0x50;
    const MAX_BYTES: usize = Summary::BYTES_MAX;

    /// A summary is checked when it is decoded.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The garbler's public constants.
#[derive(Serialize, Deserialize)]
pub(crate) struct HashSeed {
    seed: [u8; 16],
}

impl HashSeed {
    pub(crate) fn new(seed: Block) -> Self {
        HashSeed { seed: seed.to_bytes() }
    }

    pub(crate) fn block(&self) -> Block {
        Block::from_bytes(self.seed)
    }
}

impl Message for HashSeed {
    const NAME: &'static str = "seed of the garbling hash";
    const KIND: u8 = 0x51;
    const MAX_BYTES: usize = 16;

    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}
