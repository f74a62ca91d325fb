//! Delta: the global difference between the two labels of every wire.

use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::block::Block;

/// The difference between the label for true and the label for false of every wire of one garbling.
///
/// Bit 0 is one, so that bit 0 of a label, its select bit, differs between the two labels of a wire.
///
/// *Source*: Kolesnikov and Schneider 2008, section 3 (free XOR).
/// *Secret*: with delta and one label of a wire, anybody can compute the other label. *Unique*: one per garbling.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Delta(Block);

impl Delta {
    /// A uniform delta.
    pub fn random(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        Delta::new(Block::random(rng))
    }

    /// The delta that equals a block with bit 0 set.
    pub fn new(block: Block) -> Self {
        Delta(block.with_lsb(true))
    }

    /// A difference for OTs only, which equals a block with bit 0 cleared; never use it for a garbling.
    ///
    /// *Source*: Katz, Ranellucci, Rosulek and Wang 2018: the sum of the two parties' differences has bit 0 set.
    pub fn even(block: Block) -> Self {
        Delta(block.with_lsb(false))
    }

    /// The delta as a block.
    #[inline(always)]
    pub fn block(&self) -> Block {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_zero_is_set_and_the_rest_kept() {
        assert!(Delta::new(Block::ZERO).block() == Block::from_u128(1));
        assert!(Delta::new(Block::ONES).block() == Block::ONES);
        assert!(Delta::new(Block::from_u128(6)).block() == Block::from_u128(7));
        assert!(Delta::even(Block::from_u128(7)).block() == Block::from_u128(6));
    }
}
