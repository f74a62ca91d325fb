//! BLAKE3 of many short messages at once.
//!
//! A message of one block is one call of the compression function, which works on 32-bit words with steps that depend on one another.
//! So messages fill the lanes of vectors: the code is that of one message with rows of words in place of words, and the compiler makes
//! vector instructions of it, for each backend its own.

use zeroize::Zeroizing;

use crate::{
    backend::{Backend, Kernel},
    block::Block,
    engine::Engine,
};

/// A message, with zeros behind it.
pub type ShortMessage = [Block; 4];

/// The most bytes of a message.
const SHORT_BYTES: usize = size_of::<ShortMessage>();

/// Messages that are hashed side by side.
const SIDE: usize = 16;

/// A word of each of the messages that are hashed side by side.
type Row = [u32; SIDE];

/// The initialisation vector (BLAKE3, table 1).
const IV: [u32; 4] = [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A];

/// A whole message in one block under a key: `CHUNK_START`, `CHUNK_END`, `ROOT`, `KEYED_HASH` (BLAKE3, table 3).
const FLAGS: u32 = 1 | 2 | 8 | 16;

/// The words of a message in the order of each round (BLAKE3, table 2, applied again and again).
const SCHEDULES: [[usize; 16]; 7] = {
    const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let mut schedules = [[0; 16]; 7];
    let mut i = 0;
    while i < 16 * 7 {
        let (round, word) = (i / 16, i % 16);
        schedules[round][word] = if round == 0 { word } else { schedules[round - 1][PERMUTATION[word]] };
        i += 1;
    }
    schedules
};

/// The keyed BLAKE3 hash of the first `length` bytes of each message, with the fastest backend.
///
/// *Shape*: what is behind them in a message is zero. *Cost*: about a fifth of hashing one message after the other, where there are vectors of
/// 256 bits or more.
///
/// # Panics
/// If `length` is more than 64.
pub fn short_hashes(key: &[u8; 32], length: usize, messages: &[ShortMessage]) -> Vec<[u8; 32]> {
    short_hashes_with_backend(Backend::detect(), key, length, messages)
}

/// The same with that backend.
///
/// # Panics
/// As [`short_hashes`].
pub fn short_hashes_with_backend(
    backend: Backend,
    key: &[u8; 32],
    length: usize,
    messages: &[ShortMessage],
) -> Vec<[u8; 32]> {
    assert!(length <= SHORT_BYTES, "{length} bytes in a short message");
    let mut hashes = vec![[0; 32]; messages.len()];
    backend.run(ShortHashes { key, length, messages, hashes: &mut hashes });
    hashes
}

struct ShortHashes<'a> {
    key: &'a [u8; 32],
    length: usize,
    messages: &'a [ShortMessage],
    hashes: &'a mut [[u8; 32]],
}

impl Kernel for ShortHashes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, _: E) {
        let mut words = Zeroizing::new([[0; SIDE]; 16]);
        for (messages, hashes) in self.messages.chunks(SIDE).zip(self.hashes.chunks_mut(SIDE)) {
            for (lane, message) in messages.iter().enumerate() {
                for (row, word) in words.iter_mut().zip(bytemuck::cast_slice::<Block, u32>(message)) {
                    row[lane] = *word;
                }
            }
            let compressed = compress(self.key, self.length as u32, &words);
            for (lane, hash) in hashes.iter_mut().enumerate() {
                for (row, word) in compressed.iter().zip(hash.as_chunks_mut().0) {
                    *word = row[lane].to_le_bytes();
                }
            }
        }
    }
}

/// The compression function on a block of each message (BLAKE3, section 2.2), the first half of its output.
#[inline(always)]
fn compress(key: &[u8; 32], length: u32, words: &[Row; 16]) -> [Row; 8] {
    let mut state = [[0; SIDE]; 16];
    for (row, word) in state.iter_mut().zip(key.as_chunks().0) {
        *row = [u32::from_le_bytes(*word); SIDE];
    }
    for (row, word) in state[8..].iter_mut().zip(IV) {
        *row = [word; SIDE];
    }
    // The counter, which is zero, is between.
    (state[14], state[15]) = ([length; SIDE], [FLAGS; SIDE]);
    for schedule in &SCHEDULES {
        let pair = |at: usize| [&words[schedule[at]], &words[schedule[at + 1]]];
        mix(&mut state, [0, 4, 8, 12], pair(0));
        mix(&mut state, [1, 5, 9, 13], pair(2));
        mix(&mut state, [2, 6, 10, 14], pair(4));
        mix(&mut state, [3, 7, 11, 15], pair(6));
        mix(&mut state, [0, 5, 10, 15], pair(8));
        mix(&mut state, [1, 6, 11, 12], pair(10));
        mix(&mut state, [2, 7, 8, 13], pair(12));
        mix(&mut state, [3, 4, 9, 14], pair(14));
    }
    let mut output = [[0; SIDE]; 8];
    for (i, row) in output.iter_mut().enumerate() {
        for lane in 0..SIDE {
            row[lane] = state[i][lane] ^ state[i + 8][lane];
        }
    }
    output
}

/// The function `G` (BLAKE3, section 2.2).
#[inline(always)]
fn mix(state: &mut [Row; 16], [a, b, c, d]: [usize; 4], words: [&Row; 2]) {
    let [mut va, mut vb, mut vc, mut vd] = [a, b, c, d].map(
        #[inline(always)]
        |row| state[row],
    );
    for (words, [first, second]) in words.into_iter().zip([[16, 12], [8, 7]]) {
        // A loop for each operation, so that each becomes one instruction.
        (0..SIDE).for_each(|i| va[i] = va[i].wrapping_add(vb[i]).wrapping_add(words[i]));
        (0..SIDE).for_each(|i| vd[i] = (vd[i] ^ va[i]).rotate_right(first));
        (0..SIDE).for_each(|i| vc[i] = vc[i].wrapping_add(vd[i]));
        (0..SIDE).for_each(|i| vb[i] = (vb[i] ^ vc[i]).rotate_right(second));
    }
    (state[a], state[b], state[c], state[d]) = (va, vb, vc, vd);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For all lengths, at every number of messages around the boundaries of batches.
    #[test]
    fn hashes_are_those_of_blake3() {
        let key = std::array::from_fn(|i| i as u8);
        for backend in Backend::available() {
            for count in [0, 1, SIDE - 1, SIDE, SIDE + 1, 3 * SIDE + 5] {
                for length in [0, 1, 4, 28, 63, 64] {
                    let bytes = |i: usize| -> [u8; SHORT_BYTES] {
                        std::array::from_fn(|at| if at < length { (251 * i + 7 * at + 1) as u8 } else { 0 })
                    };
                    let message = |i: usize| bytemuck::cast(bytes(i));
                    let messages: Vec<_> = (0..count).map(message).collect();
                    let hashes = short_hashes_with_backend(backend, &key, length, &messages);
                    let expected: Vec<[u8; 32]> =
                        (0..count).map(|i| blake3::keyed_hash(&key, &bytes(i)[..length]).into()).collect();
                    assert_eq!(hashes, expected, "{count} messages of {length} bytes, {backend}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "65 bytes in a short message")]
    fn long_messages_are_refused() {
        short_hashes(&[0; 32], 65, &[]);
    }
}
