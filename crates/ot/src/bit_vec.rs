//! Packed bits: choices, corrections, masks.

use garblet_net::Channel;
use garblet_primitives::{Bit, Block, Delta};
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::error::{OtError, check_length};

/// A vector of bits: a receiver's choices, or their corrections.
///
/// *Shape*: bit `i` is bit `i % 8` of byte `i / 8`; the unused bits of the last byte are zero.
/// *Secret*: usually, so there is no `Debug`, and it is wiped on drop.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct BitVec {
    bytes: Vec<u8>,
    len: usize,
}

impl BitVec {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        BitVec { bytes: vec![0; len.div_ceil(8)], len }
    }

    /// `len` uniform bits.
    pub fn random(len: usize, rng: &mut (impl CryptoRng + ?Sized)) -> Self {
        let mut packed = BitVec::zeros(len);
        rng.fill_bytes(&mut packed.bytes);
        packed.clear_padding();
        packed
    }

    /// Unpacks bytes, and ignores bits beyond the first `len`.
    ///
    /// *Errors*: [`OtError::WrongLength`] unless there are `len / 8` bytes, rounded up.
    pub fn from_bytes(bytes: Vec<u8>, len: usize) -> Result<Self, OtError> {
        let mut packed = BitVec { bytes, len };
        check_length("bytes of choices", len.div_ceil(8), packed.bytes.len())?;
        packed.clear_padding();
        Ok(packed)
    }

    /// Bit 0 of every block.
    pub fn of_lowest_bits(blocks: &[Block]) -> Self {
        let mut packed = BitVec::zeros(blocks.len());
        for (byte, blocks) in packed.bytes.iter_mut().zip(blocks.chunks(8)) {
            *byte = blocks.iter().rev().fold(0, |bits, block| bits << 1 | (block.halves()[0] & 1) as u8);
        }
        packed
    }

    /// The 128 bits of a delta, lowest first.
    pub fn of_delta(delta: &Delta) -> Self {
        BitVec { bytes: delta.block().to_bytes().to_vec(), len: 128 }
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    #[inline]
    pub fn get(&self, i: usize) -> Bit {
        assert!(i < self.len, "bit {i} of {}", self.len);
        Bit::lowest_of(u64::from(self.bytes[i / 8] >> (i % 8)))
    }

    /// The bits in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Bit> + '_ {
        (0..self.len).map(|i| self.get(i))
    }

    /// Declares the bits public, with a reason.
    pub fn public(&self, reason: &'static str) -> impl ExactSizeIterator<Item = bool> + '_ {
        self.iter().map(move |bit| bit.public(reason))
    }

    /// The packed bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bitwise sum with a vector of the same length.
    ///
    /// *Errors*: [`OtError::WrongLength`] if the lengths differ.
    pub fn xor(&self, other: &BitVec) -> Result<BitVec, OtError> {
        check_length("choices", self.len, other.len)?;
        let bytes = self.bytes.iter().zip(&other.bytes).map(|(a, b)| a ^ b).collect();
        Ok(BitVec { bytes, len: self.len })
    }

    /// The bits in a range.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn slice(&self, range: std::ops::Range<usize>) -> BitVec {
        assert!(range.start <= range.end && range.end <= self.len, "bits {range:?} of {}", self.len);
        if range.start.is_multiple_of(8) {
            let bytes = self.bytes[range.start / 8..range.end.div_ceil(8)].to_vec();
            let mut part = BitVec { bytes, len: range.len() };
            part.clear_padding();
            return part;
        }
        range.map(|i| self.get(i)).collect()
    }

    /// Sends the bits as `len / 8` bytes, rounded up; the peer knows the length.
    pub async fn send(&self, channel: &mut Channel) -> Result<(), OtError> {
        Ok(channel.send_bytes(&self.bytes).await?)
    }

    /// Receives `len` bits; errors call them `what`.
    ///
    /// *Errors*: [`OtError::NonZeroPadding`] if the unused bits are not zero; connection errors.
    pub async fn receive(channel: &mut Channel, len: usize, what: &'static str) -> Result<Self, OtError> {
        let mut packed = BitVec::zeros(len);
        channel.receive_bytes(&mut packed.bytes).await?;
        let last = packed.bytes.last().copied();
        packed.clear_padding();
        if last != packed.bytes.last().copied() {
            return Err(OtError::NonZeroPadding { what, bits: len });
        }
        Ok(packed)
    }

    /// Makes room for a byte, and wipes the old allocation if the bytes move.
    fn make_room(&mut self) {
        if self.bytes.len() == self.bytes.capacity() {
            let mut larger = Vec::with_capacity(2 * self.bytes.len().max(8));
            larger.extend_from_slice(&self.bytes);
            std::mem::replace(&mut self.bytes, larger).zeroize();
        }
    }

    fn clear_padding(&mut self) {
        if let (Some(last), used @ 1..) = (self.bytes.last_mut(), self.len % 8) {
            *last &= (1 << used) - 1;
        }
    }
}

impl<B: Into<Bit>> FromIterator<B> for BitVec {
    fn from_iter<I: IntoIterator<Item = B>>(bits: I) -> Self {
        let bits = bits.into_iter();
        let mut packed = BitVec { bytes: Vec::with_capacity(bits.size_hint().0.div_ceil(8)), len: 0 };
        for bit in bits {
            if packed.len.is_multiple_of(8) {
                packed.make_room();
                packed.bytes.push(0);
            }
            if let Some(last) = packed.bytes.last_mut() {
                *last |= bit.into().number() << (packed.len % 8);
            }
            packed.len += 1;
        }
        packed
    }
}

/// `block` if the bit is one, zero otherwise, without a branch.
#[inline]
pub(crate) fn masked(bit: impl Into<Bit>, block: Block) -> Block {
    Block::mask(bit) & block
}

#[cfg(test)]
mod tests {
    use garblet_net::memory_pair;
    use garblet_primitives::Prg;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::block_on;

    proptest! {
        #[test]
        fn bits_come_back_from_every_form(bits in proptest::collection::vec(any::<bool>(), 0..70), cut in 0usize..70) {
            let packed: BitVec = bits.iter().copied().collect();
            prop_assert_eq!(packed.len(), bits.len());
            prop_assert_eq!(packed.public("a test").collect::<Vec<_>>(), bits.clone());
            let again = BitVec::from_bytes(packed.as_bytes().to_vec(), bits.len()).unwrap();
            prop_assert_eq!(again.public("a test").collect::<Vec<_>>(), bits.clone());
            let cut = cut.min(bits.len());
            prop_assert_eq!(packed.slice(cut..bits.len()).public("a test").collect::<Vec<_>>(), &bits[cut..]);
            prop_assert_eq!(packed.slice(0..cut).public("a test").collect::<Vec<_>>(), &bits[..cut]);
            prop_assert!(packed.xor(&again).unwrap().as_bytes().iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn padding_is_zero_from_every_source() {
        let random = BitVec::random(3, &mut Prg::new(Block::ONES));
        assert_eq!(random.as_bytes()[0] & !7, 0);
        assert_eq!(BitVec::from_bytes(vec![0xff], 3).unwrap().as_bytes(), [7]);
        assert_eq!(BitVec::from_bytes(vec![0xff, 0xff], 16).unwrap().slice(0..9).as_bytes(), [0xff, 1]);
    }

    #[test]
    fn the_lowest_bits_of_blocks_are_in_their_order() {
        let bits = |len: usize| (0..len).map(|at| at % 3 == 0 || at % 7 == 2);
        for len in [0, 1, 7, 8, 9, 200] {
            let blocks: Vec<Block> = bits(len).map(|bit| Block::from_u128(6 << 100).with_lsb(bit)).collect();
            assert_eq!(
                BitVec::of_lowest_bits(&blocks).public("a test").collect::<Vec<_>>(),
                bits(len).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn collecting_a_known_number_of_bits_never_reallocates() {
        let bits = || (0..1000).map(|at| at % 3 == 0);
        assert_eq!(bits().collect::<BitVec>().bytes.capacity(), 125, "bytes that move leave a copy");
        let unknown: BitVec = bits().flat_map(|bit| [bit, !bit]).filter(|_| true).collect();
        assert_eq!(
            unknown.public("a test").collect::<Vec<_>>(),
            bits().flat_map(|bit| [bit, !bit]).collect::<Vec<_>>()
        );
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        for (bytes, len) in [(0, 1), (1, 0), (1, 9), (3, 16)] {
            assert!(matches!(BitVec::from_bytes(vec![0; bytes], len), Err(OtError::WrongLength { .. })));
        }
        assert!(BitVec::zeros(3).xor(&BitVec::zeros(4)).is_err());
    }

    #[test]
    fn received_padding_that_is_not_zero_is_refused() {
        let (mut ours, mut theirs) = memory_pair();
        let error = block_on(async {
            ours.send_bytes(&[0b1000]).await.unwrap();
            ours.flush().await.unwrap();
            BitVec::receive(&mut theirs, 3, "corrections").await.err()
        });
        assert!(matches!(error, Some(OtError::NonZeroPadding { what: "corrections", bits: 3 })));
    }
}
