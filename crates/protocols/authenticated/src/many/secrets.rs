//! A party's secrets, which last as long as its store.

use garblet_ot::{ReceiverSeeds, SenderSeeds};
use garblet_primitives::Block;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The version of everything that is stored.
pub(super) const VERSION: u32 = 1;

/// A party's secrets, which last as long as its store.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(super) struct Secrets {
    pub(super) delta: Block,
    /// Those in common with every other party, in order.
    pub(super) pairs: Vec<PairSecrets>,
}

/// The secrets that two parties have in common: the leaves of their OTs in both directions, and a seed.
#[derive(Serialize, Deserialize, Zeroize, ZeroizeOnDrop)]
pub(super) struct PairSecrets {
    pub(super) sender: SenderSeeds,
    pub(super) receiver: ReceiverSeeds,
    /// *Secret*: from everybody outside the pair.
    pub(super) seed: Block,
}
