//! Words of a code, one by one and many across.

use std::ops::{BitAnd, BitXor, BitXorAssign};

use bytemuck::{Pod, Zeroable};
use garblet_primitives::{Aes128, Block, ROWS as SQUARE, gf128, transpose};
use subtle::{Choice, ConstantTimeEq};
use zeroize::{DefaultIsZeroes, Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::code::{Code, MESSAGE_BITS, Parity};

/// The blocks that hold a word of any code.
const PARTS: usize = 3;

/// As many bits as a word of the code has; those behind are zero.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Word([Block; PARTS]);

impl DefaultIsZeroes for Word {}

impl Word {
    /// The word of a message.
    pub(crate) fn of(code: Code, message: Block) -> Self {
        let Parity([low, high]) = code.encode(message);
        Word([message, low, high])
    }

    /// Words of which these are the [columns](Rows::columns).
    pub(crate) fn joined<T: AsRef<[Block]>>(parts: &[T; PARTS]) -> impl Iterator<Item = Word> {
        let [low, middle, high] = parts.each_ref().map(|part| part.as_ref().iter());
        low.zip(middle).zip(high).map(|((&low, &middle), &high)| Word([low, middle, high]))
    }

    /// A word of packed bits, lowest first.
    pub(crate) fn from_bits(bits: impl Iterator<Item = bool>) -> Self {
        let mut word = [0; PARTS];
        for (i, bit) in bits.enumerate().take(PARTS * SQUARE) {
            word[i / SQUARE] |= u128::from(bit) << (i % SQUARE);
        }
        Word(word.map(Block::from_u128))
    }

    pub(crate) fn get(&self, i: usize) -> bool {
        self.0[i / SQUARE].to_u128() >> (i % SQUARE) & 1 == 1
    }

    /// The bytes of a word on the wire.
    pub(crate) const fn bytes(code: Code) -> usize {
        MESSAGE_BITS / 8 + code.parity_bytes()
    }

    /// Fills `into`, which is as long, with the word.
    #[inline]
    pub(crate) fn write(&self, into: &mut [u8]) {
        // What has a known length takes a few instructions; of what is left there is little.
        let (blocks, rest) = into.as_chunks_mut();
        blocks.iter_mut().zip(self.0).for_each(|(into, block)| *into = block.to_bytes());
        if let Some(last) = self.0.get(blocks.len()) {
            rest.iter_mut().zip(last.to_bytes()).for_each(|(into, byte)| *into = byte);
        }
    }

    /// The word of bytes on the wire; what is missing is zero.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut rest = bytes;
        Word(std::array::from_fn(|_| match rest.split_first_chunk() {
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

impl BitXor for Word {
    type Output = Word;

    #[inline]
    fn bitxor(self, other: Word) -> Word {
        Word(std::array::from_fn(|i| self.0[i] ^ other.0[i]))
    }
}

impl BitXorAssign for Word {
    #[inline]
    fn bitxor_assign(&mut self, other: Word) {
        *self = *self ^ other;
    }
}

impl BitAnd for Word {
    type Output = Word;

    #[inline]
    fn bitand(self, other: Word) -> Word {
        Word(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl ConstantTimeEq for Word {
    fn ct_eq(&self, other: &Word) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

/// Words that lie across: row `j` has bit `j` of each of them.
///
/// *Shape*: rows of `squares` blocks; a multiple of 128 rows, of which those behind the word are zero.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Rows {
    squares: usize,
    blocks: Vec<Block>,
}

impl Rows {
    /// Rows for words.
    pub(crate) fn words(squares: usize) -> Self {
        Rows { squares, blocks: vec![Block::ZERO; PARTS * SQUARE * squares] }
    }

    /// Rows for messages.
    pub(crate) fn messages(squares: usize) -> Self {
        Rows { squares, blocks: vec![Block::ZERO; MESSAGE_BITS * squares] }
    }

    /// The next `squares` blocks of every stream.
    pub(crate) fn stretch(streams: &[Aes128], position: u64, squares: usize) -> Self {
        let mut rows = Rows::words(squares);
        for (stream, row) in streams.iter().zip(rows.blocks.chunks_exact_mut(squares)) {
            stream.keystream(position, row);
        }
        rows
    }

    /// Words that stand one by one, in items, the last square filled up with zeros.
    pub(crate) fn of<T>(items: &[T], word: impl Fn(&T) -> &Word) -> Self {
        let mut rows = Rows::words(items.len().div_ceil(SQUARE));
        let mut room = Zeroizing::new([Block::ZERO; 2 * SQUARE]);
        for (at, items) in items.chunks(SQUARE).enumerate() {
            for part in 0..PARTS {
                rows.put_square(part, at, items.iter().map(|item| word(item).0[part]), &mut room[..]);
            }
        }
        rows
    }

    /// Messages that stand one by one, the last square filled up with zeros.
    pub(crate) fn of_messages(messages: &[Block]) -> Self {
        let mut rows = Rows::messages(messages.len().div_ceil(SQUARE));
        let mut room = Zeroizing::new([Block::ZERO; 2 * SQUARE]);
        for (at, messages) in messages.chunks(SQUARE).enumerate() {
            rows.put_square(0, at, messages.iter().copied(), &mut room[..]);
        }
        rows
    }

    /// Puts a square of columns, the last ones of which may be missing, across `room`.
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

    /// The message rows of words, and the others.
    pub(crate) fn split(&mut self) -> (&mut [Block], &mut [Block]) {
        self.blocks.split_at_mut(MESSAGE_BITS * self.squares)
    }

    pub(crate) fn squares(&self) -> usize {
        self.squares
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The rows behind those of messages.
    pub(crate) fn parities(&self) -> &[Block] {
        &self.blocks[MESSAGE_BITS * self.squares..]
    }

    /// Bits `128 part ..` of the words one by one.
    pub(crate) fn columns(&self, part: usize) -> Vec<Block> {
        let mut columns = vec![Block::ZERO; SQUARE * self.squares];
        transpose(bytemuck::cast_slice(&self.blocks[part * columns.len()..][..columns.len()]), &mut columns);
        columns
    }

    /// Adds to `sums`, row by row, the sum of its blocks times the powers: 128 linear combinations of the words at once.
    pub(crate) fn fold(&self, powers: &[Block], sums: &mut [Block]) {
        for (sum, row) in sums.iter_mut().zip(self.blocks.chunks_exact(self.squares)) {
            *sum ^= gf128::inner_product(row, powers);
        }
    }
}
