//! Wires by port.

use garblet_primitives::Block;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Shares of the masks of wires, by port.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Shared {
    pub(crate) own: Vec<Box<[Block]>>,
    pub(crate) peer: Vec<Box<[Block]>>,
}

/// A party's wires: shares of the masks, and labels. They are zero labels, or active labels whose bit 0 is the masked value.
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
