//! Blocks: the 128 bits of labels, seeds and hash values.

use std::ops::{BitAnd, BitAndAssign, BitXor, BitXorAssign};

use bytemuck::{Pod, Zeroable};
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroize;

use crate::bit::Bit;

/// The number of bits of a block.
pub const BLOCK_BITS: usize = 128;

/// 128 bits. As an integer, bit 0 is the least significant; as bytes, the least significant byte comes first.
///
/// *Secret*: usually, so there is no `Debug`, and comparison is in constant time.
#[derive(Clone, Copy, Default, Pod, Zeroable, serde::Serialize, serde::Deserialize)]
#[serde(into = "[u8; 16]", from = "[u8; 16]")]
#[repr(C, align(16))]
pub struct Block([u64; 2]);

impl Block {
    /// All bits zero.
    pub const ZERO: Block = Block([0; 2]);
    /// All bits one.
    pub const ONES: Block = Block([u64::MAX; 2]);

    /// The block with these low and high halves.
    #[inline(always)]
    pub const fn from_halves(low: u64, high: u64) -> Self {
        Block([low, high])
    }

    /// The low and the high half.
    #[inline(always)]
    pub const fn halves(self) -> [u64; 2] {
        self.0
    }

    /// The block of an integer.
    #[inline(always)]
    pub const fn from_u128(value: u128) -> Self {
        Block([value as u64, (value >> 64) as u64])
    }

    /// The block as an integer.
    #[inline(always)]
    pub const fn to_u128(self) -> u128 {
        self.0[0] as u128 | (self.0[1] as u128) << 64
    }

    /// The block of 16 bytes, least significant first.
    #[inline(always)]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Block::from_u128(u128::from_le_bytes(bytes))
    }

    /// The block as 16 bytes, least significant first.
    #[inline(always)]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.to_u128().to_le_bytes()
    }

    /// The first half of a digest.
    #[inline]
    pub fn from_digest(digest: &[u8; 32]) -> Self {
        Block::from_bytes(digest.as_chunks().0[0])
    }

    /// A uniform block.
    pub fn random(rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        let mut bytes = [0; 16];
        rng.fill_bytes(&mut bytes);
        Block::from_bytes(bytes)
    }

    /// Bit 0.
    #[inline(always)]
    pub const fn lsb(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// The same block with bit 0 set to `bit`.
    #[inline(always)]
    pub fn with_lsb(self, bit: impl Into<Bit>) -> Self {
        Block([self.0[0] & !1 | u64::from(bit.into().number()), self.0[1]])
    }

    /// All ones for true, all zeros for false, without a branch here or where the mask is used.
    #[inline(always)]
    pub fn mask(bit: impl Into<Bit>) -> Self {
        let half = bit.into().word();
        Block([half, half])
    }

    /// `if_true` or `if_false`, in constant time.
    #[inline(always)]
    pub fn select(bit: impl Into<Bit>, if_true: Block, if_false: Block) -> Self {
        if_false ^ Block::mask(bit) & (if_true ^ if_false)
    }
}

/// A type with the size and alignment of a block that the processor stores at once.
#[cfg(target_arch = "x86_64")]
type Whole = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Whole = u128;

impl Zeroize for Block {
    /// Writes the whole block at once. The compiler would take a volatile write of its halves through the stack.
    #[inline(always)]
    fn zeroize(&mut self) {
        let whole: *mut Whole = std::ptr::from_mut(self).cast();
        // SAFETY: the reference is valid for writes of its 16 bytes and as aligned, and zeros are a block.
        unsafe { whole.write_volatile(bytemuck::Zeroable::zeroed()) };
        std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
    }
}

impl BitXor for Block {
    type Output = Block;

    #[inline(always)]
    fn bitxor(self, other: Block) -> Block {
        Block([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }
}

impl BitXorAssign for Block {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Block) {
        *self = *self ^ other;
    }
}

impl BitAnd for Block {
    type Output = Block;

    #[inline(always)]
    fn bitand(self, other: Block) -> Block {
        Block([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }
}

impl BitAndAssign for Block {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Block) {
        *self = *self & other;
    }
}

impl ConstantTimeEq for Block {
    fn ct_eq(&self, other: &Self) -> Choice {
        (self.to_u128() ^ other.to_u128()).ct_eq(&0)
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Block {}

impl ConditionallySelectable for Block {
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        Block([u64::conditional_select(&a.0[0], &b.0[0], choice), u64::conditional_select(&a.0[1], &b.0[1], choice)])
    }
}

impl From<[u8; 16]> for Block {
    fn from(bytes: [u8; 16]) -> Self {
        Block::from_bytes(bytes)
    }
}

impl From<Block> for [u8; 16] {
    fn from(block: Block) -> Self {
        block.to_bytes()
    }
}

impl From<u128> for Block {
    fn from(value: u128) -> Self {
        Block::from_u128(value)
    }
}

impl From<Block> for u128 {
    fn from(block: Block) -> Self {
        block.to_u128()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn conversions_agree(v: u128, w: u128, bit: bool) {
            let (a, b) = (Block::from_u128(v), Block::from_u128(w));
            prop_assert_eq!(a.to_u128(), v);
            prop_assert_eq!(a.to_bytes(), v.to_le_bytes());
            prop_assert!(Block::from_bytes(v.to_le_bytes()) == a);
            prop_assert!(Block::from_digest(&bytemuck::cast([a.to_bytes(), b.to_bytes()])) == a);
            prop_assert_eq!(a.lsb(), v & 1 == 1);
            prop_assert_eq!(a.with_lsb(bit).to_u128(), v & !1 | u128::from(bit));
            prop_assert_eq!((a ^ b).to_u128(), v ^ w);
            prop_assert_eq!((a & b).to_u128(), v & w);
            let chosen = if bit { a } else { b };
            prop_assert!(Block::select(bit, a, b) == chosen);
            prop_assert!(Block::from_halves(a.halves()[0], a.halves()[1]) == a);
            prop_assert_eq!(a == b, v == w);
        }
    }

    #[test]
    fn memory_and_text_forms_are_the_little_endian_bytes() {
        let block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);
        assert_eq!(bytemuck::bytes_of(&block), &std::array::from_fn::<u8, 16, _>(|i| i as u8));
        let json = serde_json::to_string(&block).unwrap();
        assert_eq!(json, "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]");
        assert!(serde_json::from_str::<Block>(&json).unwrap() == block);
        assert!(serde_json::from_str::<Block>("[1,2,3]").is_err());
    }

    #[test]
    fn differs_in_any_single_bit() {
        for bit in 0..128 {
            assert!(Block::ZERO != Block::from_u128(1 << bit));
        }
    }

    #[test]
    fn wiping_zeroes() {
        let mut blocks = [Block::ONES; 5];
        blocks.zeroize();
        assert!(blocks == [Block::ZERO; 5]);
    }
}
