//! Bits in words, for many gates at once.

use garblet_circuit::Party;
use garblet_protocol::{bulk::check_padding_of, error::ProtocolError};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A vector of bits, 64 to a word, the first in the lowest place. Bits beyond the end are zero.
///
/// *Secret*: usually, so there is no `Debug`, and it is wiped on drop.
#[derive(Clone, Default, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub(super) struct Packed {
    words: Vec<u64>,
    len: usize,
}

impl Packed {
    /// A vector of `len` zeros.
    pub(super) fn zeros(len: usize) -> Self {
        Packed { words: vec![0; len.div_ceil(64)], len }
    }

    /// The bits of a peer's packed bytes, `len` of them.
    ///
    /// *Errors*: as [`check_padding_of`].
    pub(super) fn received(peer: u16, bytes: &[u8], len: usize) -> Result<Self, ProtocolError> {
        check_padding_of(Party(peer), bytes, len)?;
        Ok(Packed::from_bytes(bytes, len))
    }

    /// The bits of packed bytes; bits after the first `len` are ignored, and missing ones are zero.
    pub(super) fn from_bytes(bytes: &[u8], len: usize) -> Self {
        let mut packed = Packed::zeros(len);
        let count = bytes.len().min(len.div_ceil(8));
        packed.as_bytes_mut()[..count].copy_from_slice(&bytes[..count]);
        packed.clear_padding();
        packed
    }

    /// The bits in order, `len` of them.
    pub(super) fn collect(bits: impl Iterator<Item = bool>, len: usize) -> Self {
        let mut packed = Packed::zeros(len);
        for (at, bit) in bits.take(len).enumerate() {
            packed.set(at, bit);
        }
        packed
    }

    /// The number of bits.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The words.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words, mutable; bits beyond the end must stay zero.
    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Bit `at`.
    pub(super) fn get(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    /// Sets bit `at`, which was zero.
    pub(super) fn set(&mut self, at: usize, bit: bool) {
        self.words[at / 64] |= u64::from(bit) << (at % 64);
    }

    /// The `len` bits from bit `start` on, as a vector of its own.
    pub(super) fn slice(&self, start: usize, len: usize) -> Packed {
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let (first, shift) = (start / 64, start % 64);
        let joined = |k: usize| match shift {
            0 => word(first + k),
            _ => word(first + k) >> shift | word(first + k + 1) << (64 - shift),
        };
        let mut slice = Packed { words: (0..len.div_ceil(64)).map(joined).collect(), len };
        slice.clear_padding();
        slice
    }

    /// Overwrites bits from bit `start` on, which is at the beginning of a word.
    pub(super) fn put(&mut self, start: usize, bits: &Packed) {
        self.words[start / 64..][..bits.words.len()].copy_from_slice(&bits.words);
    }

    /// Adds a vector of the same length.
    pub(super) fn add(&mut self, other: &Packed) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word ^= other);
    }

    /// Bytes on the wire: the padding of the last one is zero.
    pub(super) fn byte_len(len: usize) -> usize {
        len.div_ceil(8)
    }

    /// The bits as they go over the wire.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..Packed::byte_len(self.len)]
    }

    fn as_bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    fn clear_padding(&mut self) {
        if let (Some(last), used @ 1..) = (self.words.last_mut(), self.len % 64) {
            *last &= (1 << used) - 1;
        }
    }
}

impl AsRef<[u8]> for Packed {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slices_are_those_bits_and_nothing_beyond(bytes: [u8; 40], start in 0usize..330, len in 0usize..330) {
            let all = Packed::from_bytes(&bytes, 320);
            let slice = all.slice(start, len);
            let bit = |at: usize| at < 320 && bytes[at / 8] >> (at % 8) & 1 == 1;
            prop_assert!((0..len).all(|at| slice.get(at) == bit(start + at)));
            let padded = (len..slice.words.len() * 64).any(|at| slice.get(at));
            prop_assert!(!padded, "what is sent must not hold bits of the next gates");
            prop_assert!(slice == Packed::from_bytes(slice.as_bytes(), len));
            prop_assert!(slice == Packed::collect((start..start + len).map(bit), len));
        }
    }

    #[test]
    fn bits_of_a_peer_beyond_the_end_are_refused() {
        let error = Packed::received(3, &[0x3f], 5).err();
        assert!(matches!(error, Some(ProtocolError::Peer { party: Party(3), .. })));
        assert!(Packed::received(3, &[0xff, 1], 9).is_ok_and(|bits| bits == Packed::collect([true; 9].into_iter(), 9)));
        assert!(Packed::from_bytes(&[0xff; 9], 5) == Packed::collect([true; 5].into_iter(), 5));
        assert!(Packed::from_bytes(&[], 70) == Packed::zeros(70));
    }
}
