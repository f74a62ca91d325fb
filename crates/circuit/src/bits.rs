//! Packed bit strings: plain inputs and outputs.

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A string of bits, bit 0 first: the value on consecutive wires.
///
/// *Secret*: often a party's private input. Wiped when dropped. `Debug` shows only the length; `Display` shows the bits.
#[derive(Clone, Default, PartialEq, Eq, Hash, Zeroize, ZeroizeOnDrop)]
pub struct Bits {
    /// Bit `i` is bit `i % 64` of word `i / 64`; bits from `len` on are zero.
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// No bits, with room for `capacity` of them.
    pub fn with_capacity(capacity: usize) -> Self {
        Bits { words: Vec::with_capacity(capacity.div_ceil(64)), len: 0 }
    }

    /// `len` zero bits.
    pub fn zeros(len: usize) -> Self {
        Bits { words: vec![0; len.div_ceil(64)], len }
    }

    /// The lowest `len` bits of `value`, least significant first; bits from 128 on are zero.
    pub fn from_u128(value: u128, len: usize) -> Self {
        (0..len).map(|i| i < 128 && value >> i & 1 == 1).collect()
    }

    /// All bits of `bytes`: first byte first, bit 0 of a byte first.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        Bits { words: words.collect(), len: bytes.len() * 8 }
    }

    /// Takes `len` bits from packed bytes that `fill` writes, then wipes the bytes: first byte first, bit 0 of a byte first.
    /// Ignores the padding of the last byte.
    pub fn filled(len: usize, fill: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = Zeroizing::new(vec![0; len.div_ceil(8)]);
        fill(&mut bytes);
        let mut bits = Bits::from_bytes(&bytes);
        bits.len = len;
        if let (Some(last), used @ 1..) = (bits.words.last_mut(), len % 64) {
            *last &= (1 << used) - 1;
        }
        bits
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the string is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i`, in the same time for either value.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub fn set(&mut self, i: usize, value: bool) {
        assert!(i < self.len, "bit {i} of {}", self.len);
        let word = &mut self.words[i / 64];
        *word = *word & !(1 << (i % 64)) | u64::from(value) << (i % 64);
    }

    /// Appends a bit, in the same time for either value.
    pub fn push(&mut self, value: bool) {
        if self.len.is_multiple_of(64) {
            self.reserve(1);
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(value) << (self.len % 64);
        self.len += 1;
    }

    /// Makes room for `bits` more bits, and wipes the old allocation if the string moves.
    fn reserve(&mut self, bits: usize) {
        let words = (self.len + bits).div_ceil(64);
        if words > self.words.capacity() {
            let mut larger = Vec::with_capacity(words.max(2 * self.words.capacity()));
            larger.extend_from_slice(&self.words);
            std::mem::replace(&mut self.words, larger).zeroize();
        }
    }

    /// Appends all bits of `other`.
    pub fn append(&mut self, other: &Bits) {
        self.extend(other.iter());
    }

    /// The bits in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = bool> + DoubleEndedIterator + '_ {
        (0..self.len).map(|i| self.words[i / 64] >> (i % 64) & 1 == 1)
    }

    /// A copy of `len` bits, from bit `start` on.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub fn slice(&self, start: usize, len: usize) -> Bits {
        assert!(start + len <= self.len, "bits {start}..{} of {}", start + len, self.len);
        (start..start + len).map(|i| self.get(i)).collect()
    }

    /// The bits as bytes: bit 0 is bit 0 of the first byte. The last byte is padded with zeros.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.words.iter().flat_map(|w| w.to_le_bytes());
        bytes.take(self.len.div_ceil(8)).collect()
    }

    /// The bits as an unsigned integer, bit 0 the least significant, if it is below 2^128.
    pub fn to_u128(&self) -> Option<u128> {
        let (low, high) = self.words.split_at(self.words.len().min(2));
        let value = low.iter().rev().fold(0, |value, &word| value << 64 | u128::from(word));
        high.iter().all(|&word| word == 0).then_some(value)
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut all = Bits::default();
        all.extend(bits);
        all
    }
}

impl Extend<bool> for Bits {
    fn extend<I: IntoIterator<Item = bool>>(&mut self, bits: I) {
        let bits = bits.into_iter();
        self.reserve(bits.size_hint().0);
        bits.for_each(|bit| self.push(bit));
    }
}

/// A string with a character other than `0` and `1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("character {at} of the bit string is {found:?}, expected `0` or `1`")]
pub struct NotBits {
    /// Position of the first such character, from 1.
    pub at: usize,
    /// That character.
    pub found: char,
}

impl std::str::FromStr for Bits {
    type Err = NotBits;

    /// Reads `0110`: bit 0 first.
    fn from_str(text: &str) -> Result<Self, NotBits> {
        let bit = |(i, c)| match c {
            '0' => Ok(false),
            '1' => Ok(true),
            found => Err(NotBits { at: i + 1, found }),
        };
        text.chars().enumerate().map(bit).collect()
    }
}

impl std::fmt::Display for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.iter().try_for_each(|bit| f.write_str(if bit { "1" } else { "0" }))
    }
}

impl std::fmt::Debug for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bits({} bits)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_agree_on_the_order_of_bits() {
        let bits: Bits = "0110000010000000".parse().unwrap();
        assert_eq!(bits.to_u128(), Some(0x0106));
        assert_eq!(bits.to_bytes(), [0x06, 0x01]);
        assert_eq!(Bits::from_u128(0x0106, 16), bits);
        assert_eq!(Bits::from_bytes(&[0x06, 0x01]), bits);
        assert_eq!(bits.to_string(), "0110000010000000");
    }

    #[test]
    fn every_length_around_the_word_boundaries_survives_every_form() {
        for len in [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 191, 192, 193] {
            let bits: Bits = (0..len).map(|i| i % 3 == 0 || i % 7 == 2).collect();
            assert_eq!(bits.len(), len);
            assert_eq!(bits.to_string().parse::<Bits>().unwrap(), bits);
            assert_eq!(Bits::from_bytes(&bits.to_bytes()).slice(0, len), bits);
            let filled = Bits::filled(len, |bytes| {
                bytes.copy_from_slice(&bits.to_bytes());
                if let (Some(last), used @ 1..) = (bytes.last_mut(), len % 8) {
                    *last |= 0xff << used;
                }
            });
            assert_eq!(filled, bits, "what fills up the last byte is left out");
            let halves = [bits.slice(0, len / 2), bits.slice(len / 2, len - len / 2)];
            let mut joined = halves[0].clone();
            joined.append(&halves[1]);
            assert_eq!(joined, bits);
        }
    }

    #[test]
    fn integers_of_more_than_128_bits_are_told_apart() {
        assert_eq!(Bits::zeros(500).to_u128(), Some(0));
        let mut bits = Bits::from_u128(u128::MAX, 129);
        assert_eq!(bits.to_u128(), Some(u128::MAX));
        bits.set(128, true);
        assert_eq!(bits.to_u128(), None);
        bits.set(128, false);
        assert_eq!(bits, Bits::from_u128(u128::MAX, 129));
    }

    #[test]
    fn other_characters_are_refused_with_their_place() {
        assert_eq!("01x".parse::<Bits>(), Err(NotBits { at: 3, found: 'x' }));
        assert_eq!("0 1".parse::<Bits>(), Err(NotBits { at: 2, found: ' ' }));
    }

    #[test]
    #[should_panic(expected = "bit 3 of 3")]
    fn a_bit_past_the_end_is_refused() {
        Bits::zeros(3).get(3);
    }

    #[test]
    fn debug_output_keeps_the_value_to_itself() {
        assert_eq!(format!("{:?}", Bits::from_u128(5, 3)), "Bits(3 bits)");
    }
}
