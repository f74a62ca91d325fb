//! Wires by the ports that they are on.

use garblet_primitives::Block;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Shares of the masks of wires, by ports.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Shared {
    pub(crate) own: Vec<Box<[Block]>>,
    pub(crate) peer: Vec<Box<[Block]>>,
}

/// Wires as a side has them: shares of the masks, and labels: zero labels, or active ones, of which bit 0 is the masked value.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Wires {
    pub(crate) own: Vec<Box<[Block]>>,
    pub(crate) peer: Vec<Box<[Block]>>,
    pub(crate) labels: Vec<Box<[Block]>>,
}

impl Wires {
    pub(crate) fn new(masks: Shared, labels: Vec<Box<[Block]>>) -> Self {
        let Shared { own, peer } = &mut { masks };
        Wires { own: std::mem::take(own), peer: std::mem::take(peer), labels }
    }
}
