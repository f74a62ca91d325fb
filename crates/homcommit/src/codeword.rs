//! Codewords, singly and many in transposed form.

use std::ops::{BitAnd, BitXor, BitXorAssign};

use bytemuck::{Pod, Zeroable};
use garblet_primitives::{Aes128, Bit, Block, gf128, transpose};
use subtle::{Choice, ConstantTimeEq};
use zeroize::{DefaultIsZeroes, Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::code::{Code, MESSAGE_BITS, Parity};
use crate::squares::SQUARE;

/// The number of blocks that hold a codeword of any code.
const PARTS: usize = 3;

/// A vector of the code's length, in the code or not; the bits after it are zero.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Codeword([Block; PARTS]);

impl DefaultIsZeroes for Codeword {}

impl Codeword {
    /// The codeword of a message.
    pub(crate) fn of(code: Code, message: Block) -> Self {
        let Parity([low, high]) = code.encode(message);
        Codeword([message, low, high])
    }

    /// Codewords from their [columns](Rows::columns).
    pub(crate) fn joined<T: AsRef<[Block]>>(parts: &[T; PARTS]) -> impl Iterator<Item = Codeword> {
        let [low, middle, high] = parts.each_ref().map(|part| part.as_ref().iter());
        low.zip(middle).zip(high).map(|((&low, &middle), &high)| Codeword([low, middle, high]))
    }

    /// The vector of these bits, lowest first.
    pub(crate) fn from_bits(bits: impl Iterator<Item = Bit>) -> Self {
        let mut word = [0; PARTS];
        for (i, bit) in bits.enumerate().take(PARTS * SQUARE) {
            word[i / SQUARE] |= u128::from(bit.number()) << (i % SQUARE);
        }
        Codeword(word.map(Block::from_u128))
    }

    pub(crate) fn get(&self, i: usize) -> Bit {
        Bit::lowest_of((self.0[i / SQUARE].to_u128() >> (i % SQUARE)) as u64)
    }

    /// Bytes on the wire.
    pub(crate) const fn bytes(code: Code) -> usize {
        MESSAGE_BITS / 8 + code.parity_bytes()
    }

    /// Writes the wire bytes to `into`, which must have their length.
    #[inline]
    pub(crate) fn write(&self, into: &mut [u8]) {
        // Whole blocks take a few instructions each, and only a few bytes are left over.
        let (blocks, rest) = into.as_chunks_mut();
        blocks.iter_mut().zip(self.0).for_each(|(into, block)| *into = block.to_bytes());
        if let Some(last) = self.0.get(blocks.len()) {
            rest.iter_mut().zip(last.to_bytes()).for_each(|(into, byte)| *into = byte);
        }
    }

    /// Reads wire bytes; missing ones are zero.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut rest = bytes;
        Codeword(std::array::from_fn(|_| match rest.split_first_chunk() {
            Some((&block, later)) => {
                rest = later;
                Block::from_bytes(block)
            }
            None => {
                let last = rest.iter().rev().fold(0, |sum, &byte| sum << 8 | u128::from(byte));
                rest = &[];
                Block::from_u128(last)
            }
        }))
    }
}

impl BitXor for Codeword {
    type Output = Codeword;

    #[inline]
    fn bitxor(self, other: Codeword) -> Codeword {
        Codeword(std::array::from_fn(|i| self.0[i] ^ other.0[i]))
    }
}

impl BitXorAssign for Codeword {
    #[inline]
    fn bitxor_assign(&mut self, other: Codeword) {
        *self = *self ^ other;
    }
}

impl BitAnd for Codeword {
    type Output = Codeword;

    #[inline]
    fn bitand(self, other: Codeword) -> Codeword {
        Codeword(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl ConstantTimeEq for Codeword {
    fn ct_eq(&self, other: &Codeword) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

/// Codewords in transposed form: row `j` has bit `j` of each codeword.
///
/// *Shape*: rows of `squares` blocks; a multiple of 128 rows. Rows beyond the codeword are zero.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Rows {
    squares: usize,
    blocks: Vec<Block>,
}

impl Rows {
    /// Zero rows for codewords.
    pub(crate) fn codewords(squares: usize) -> Self {
        Rows { squares, blocks: vec![Block::ZERO; PARTS * SQUARE * squares] }
    }

    /// Zero rows for messages.
    pub(crate) fn messages(squares: usize) -> Self {
        Rows { squares, blocks: vec![Block::ZERO; MESSAGE_BITS * squares] }
    }

    /// The next `squares` blocks of every stream.
    pub(crate) fn stretch(streams: &[Aes128], position: u64, squares: usize) -> Self {
        let mut rows = Rows::codewords(squares);
        for (stream, row) in streams.iter().zip(rows.blocks.chunks_exact_mut(squares)) {
            stream.keystream(position, row);
        }
        rows
    }

    /// Transposes codewords, one from each item; the last square is padded with zeros.
    pub(crate) fn of<T>(items: &[T], word: impl Fn(&T) -> &Codeword) -> Self {
        let mut rows = Rows::codewords(items.len().div_ceil(SQUARE));
        let mut room = Zeroizing::new([Block::ZERO; 2 * SQUARE]);
        for (at, items) in items.chunks(SQUARE).enumerate() {
            for part in 0..PARTS {
                rows.put_square(part, at, items.iter().map(|item| word(item).0[part]), &mut room[..]);
            }
        }
        rows
    }

    /// Transposes messages; the last square is padded with zeros.
    pub(crate) fn of_messages(messages: &[Block]) -> Self {
        let mut rows = Rows::messages(messages.len().div_ceil(SQUARE));
        let mut room = Zeroizing::new([Block::ZERO; 2 * SQUARE]);
        for (at, messages) in messages.chunks(SQUARE).enumerate() {
            rows.put_square(0, at, messages.iter().copied(), &mut room[..]);
        }
        rows
    }

    /// Transposes a square of columns, whose last ones may be missing, using `room`.
    fn put_square(
        &mut self,
        part: usize,
        at: usize,
        columns: impl ExactSizeIterator<Item = Block>,
        room: &mut [Block],
    ) {
        let (across, along) = room.split_at_mut(SQUARE);
        across[columns.len()..].fill(Block::ZERO);
        across.iter_mut().zip(columns).for_each(|(into, column)| *into = column);
        transpose(bytemuck::cast_slice(across), along);
        let rows = self.blocks[part * SQUARE * self.squares..].chunks_exact_mut(self.squares);
        rows.zip(along).for_each(|(row, &mut block)| row[at] = block);
    }

    /// The rows of messages and the rows of parities.
    pub(crate) fn split(&mut self) -> (&mut [Block], &mut [Block]) {
        self.blocks.split_at_mut(MESSAGE_BITS * self.squares)
    }

    pub(crate) fn squares(&self) -> usize {
        self.squares
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The rows of parities.
    pub(crate) fn parities(&self) -> &[Block] {
        &self.blocks[MESSAGE_BITS * self.squares..]
    }

    /// Bits `128 part ..` of each codeword.
    pub(crate) fn columns(&self, part: usize) -> Vec<Block> {
        let mut columns = vec![Block::ZERO; SQUARE * self.squares];
        transpose(bytemuck::cast_slice(&self.blocks[part * columns.len()..][..columns.len()]), &mut columns);
        columns
    }

    /// Adds 128 linear combinations of the codewords to `sums`: for each row, the sum of its blocks times the powers.
    pub(crate) fn combine_onto(&self, powers: &[Block], sums: &mut [Block]) {
        for (sum, row) in sums.iter_mut().zip(self.blocks.chunks_exact(self.squares)) {
            *sum ^= gf128::inner_product(row, powers);
        }
    }
}
