//! AES by vectors that look bytes up in tables (see [`nibbles`]), in the same time for all bytes, for processors with vectors but without
//! AES instructions.
//!
//! A cipher's state is in nibbles from the first round key on, as are all round keys except the last.

use super::{
    QUAD_LANES, each,
    nibbles::{
        A_OVER, CONSTANT, DOUBLED_SPLIT, INVERSE, JOIN, ROUND_CONSTANTS, SPLIT, SUBSTITUTED, SUBSTITUTED_SPLIT, split,
    },
};

/// A vector of 16 bytes: a state of AES or a round key, with the operations that its rounds need.
pub(super) trait Bytes: Copy {
    /// The vector of these bytes.
    fn new(bytes: [u8; 16]) -> Self;
    /// Byte by byte `self ^ other`.
    fn xor(self, other: Self) -> Self;
    /// Looks every byte of the vector up in a table; an index that is too large gives zero.
    fn look_up(self, table: [u8; 16]) -> Self;
    /// The lower and the upper four bits of every byte.
    fn halves(self) -> [Self; 2];
    /// ShiftRows.
    fn shift_rows(self) -> Self;
    /// Rotates every column by one byte up.
    fn up(self) -> Self;
    /// Rotates every column by one byte down.
    fn down(self) -> Self;
    /// The last column, rotated by one byte up, in place of all.
    fn last_up(self) -> Self;
    /// Moves every column by one to the right; the first is zero.
    fn right(self) -> Self;
    /// Moves every column by two to the right; the first two are zero.
    fn right_by_two(self) -> Self;
}

/// Four vectors.
type Quad<B> = [B; QUAD_LANES];

/// The same byte everywhere.
#[inline(always)]
fn all<B: Bytes>(byte: u8) -> B {
    B::new([byte; 16])
}

/// The same column everywhere: a byte, and zeros.
#[inline(always)]
fn column<B: Bytes>(byte: u8) -> B {
    B::new([byte, 0, 0, 0, byte, 0, 0, 0, byte, 0, 0, 0, byte, 0, 0, 0])
}

/// The sum of two look-ups.
#[inline(always)]
fn look_up_both<B: Bytes>([first, second]: [[u8; 16]; 2], [p, q]: [B; 2]) -> B {
    p.look_up(first).xor(q.look_up(second))
}

/// The table indices of the S-box.
#[inline(always)]
fn s_box_places<B: Bytes>(nibbles: B) -> [B; 2] {
    let [k, i] = nibbles.halves();
    let j = i.xor(k);
    let a_over_k = k.look_up(A_OVER);
    let p = i.look_up(INVERSE).xor(a_over_k).look_up(INVERSE);
    let q = j.look_up(INVERSE).xor(a_over_k).look_up(INVERSE);
    [p.xor(j), q.xor(i)]
}

/// A round, except the last one.
#[inline(always)]
fn round<B: Bytes>(state: B, key: B) -> B {
    let places = s_box_places(state.shift_rows());
    let once = look_up_both(SUBSTITUTED_SPLIT, places);
    // MixColumns: for a column with byte b after a, then c and d, compute 2 a + b, and from it 2 a + 3 b + c + d.
    let sum = look_up_both(DOUBLED_SPLIT, places).xor(once.up());
    sum.xor(sum.up()).xor(once.down().xor(key))
}

#[inline(always)]
fn last_round<B: Bytes>(state: B, key: B) -> B {
    look_up_both(SUBSTITUTED, s_box_places(state.shift_rows())).xor(key)
}

#[inline(always)]
fn to_nibbles<B: Bytes>(bytes: B) -> B {
    look_up_both(SPLIT, bytes.halves())
}

/// The constant that SubBytes leaves to the round keys, in nibbles.
#[inline(always)]
fn constant<B: Bytes>() -> B {
    all(const { split(CONSTANT) })
}

/// The round key after `key`, all in nibbles.
#[inline(always)]
fn next_round_key<B: Bytes>(key: B, round_constant: u8) -> B {
    let last = look_up_both(SUBSTITUTED_SPLIT, s_box_places(key.last_up())).xor(constant());
    let key = key.xor(key.right());
    let key = key.xor(key.right_by_two());
    key.xor(last).xor(column(round_constant))
}

/// Passes on the round keys after `key` in order, each in the form that its round adds.
#[inline(always)]
fn schedule<B: Bytes>(key: B, mut round_key: impl FnMut(usize, B)) {
    let mut key = to_nibbles(key);
    for (round, round_constant) in ROUND_CONSTANTS.into_iter().enumerate() {
        key = next_round_key(key, round_constant);
        let as_added = match round + 1 {
            10 => look_up_both(JOIN, key.halves()).xor(all(CONSTANT)),
            _ => key.xor(constant()),
        };
        round_key(round + 1, as_added);
    }
}

/// See [`Engine::round_keys`](super::Engine::round_keys).
#[inline(always)]
pub(super) fn round_keys<B: Bytes>(keys: Quad<B>) -> [Quad<B>; 11] {
    let mut round_keys = [keys; 11];
    for (lane, key) in keys.into_iter().enumerate() {
        schedule(
            key,
            #[inline(always)]
            |round, key| round_keys[round][lane] = key,
        );
    }
    round_keys
}

/// See [`Engine::key`](super::Engine::key).
#[inline(always)]
pub(super) fn key<B: Bytes>(key: B) -> [B; 11] {
    let mut round_keys = [key; 11];
    schedule(
        key,
        #[inline(always)]
        |round, key| round_keys[round] = key,
    );
    round_keys
}

/// See [`Engine::encrypt`](super::Engine::encrypt).
#[inline(always)]
pub(super) fn encrypt<B: Bytes>(key: &[B; 11], quads: &mut [Quad<B>]) {
    for quad in quads {
        *quad = each(
            *quad,
            #[inline(always)]
            |block| to_nibbles(block.xor(key[0])),
        );
        for round_key in &key[1..10] {
            *quad = each(
                *quad,
                #[inline(always)]
                |block| round(block, *round_key),
            );
        }
        *quad = each(
            *quad,
            #[inline(always)]
            |block| last_round(block, key[10]),
        );
    }
}

/// See [`Engine::encrypt_each`](super::Engine::encrypt_each).
#[inline(always)]
pub(super) fn encrypt_each<B: Bytes, const N: usize, const P: usize>(keys: [Quad<B>; N], x: &mut [[Quad<B>; P]; N]) {
    for (keys, x) in keys.iter().zip(x) {
        for (lane, &key) in keys.iter().enumerate() {
            for quad in x.iter_mut() {
                quad[lane] = to_nibbles(quad[lane].xor(key));
            }
            schedule(
                key,
                #[inline(always)]
                |number, key| {
                    for quad in x.iter_mut() {
                        quad[lane] = match number {
                            10 => last_round(quad[lane], key),
                            _ => round(quad[lane], key),
                        };
                    }
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{backend::Backend, block::Block, prg::Prg};

    impl Bytes for [u8; 16] {
        fn new(bytes: [u8; 16]) -> Self {
            bytes
        }
        fn xor(self, other: Self) -> Self {
            std::array::from_fn(|i| self[i] ^ other[i])
        }
        fn look_up(self, table: [u8; 16]) -> Self {
            self.map(|place| table.get(usize::from(place)).copied().unwrap_or(0))
        }
        fn halves(self) -> [Self; 2] {
            [self.map(|byte| byte & 15), self.map(|byte| byte >> 4)]
        }
        fn shift_rows(self) -> Self {
            std::array::from_fn(|i| self[(i + 4 * (i % 4)) % 16])
        }
        fn up(self) -> Self {
            std::array::from_fn(|i| self[i / 4 * 4 + (i + 1) % 4])
        }
        fn down(self) -> Self {
            std::array::from_fn(|i| self[i / 4 * 4 + (i + 3) % 4])
        }
        fn last_up(self) -> Self {
            std::array::from_fn(|i| self.up()[12 + i % 4])
        }
        fn right(self) -> Self {
            std::array::from_fn(|i| if i < 4 { 0 } else { self[i - 4] })
        }
        fn right_by_two(self) -> Self {
            self.right().right()
        }
    }

    #[test]
    fn bytes_one_by_one_give_aes() {
        let mut blocks = [Block::ZERO; 3 * QUAD_LANES];
        Prg::new(Block::ONES).fill_blocks(&mut blocks);
        let [keys, x, y]: [Quad<[u8; 16]>; 3] = bytemuck::cast(blocks);
        let encrypted = |key: [u8; 16], x: [u8; 16]| {
            let cipher = crate::Aes128::with_backend(Backend::PORTABLE, Block::from_bytes(key));
            cipher.encrypt(Block::from_bytes(x)).to_bytes()
        };
        let mut under_one = [x, y];
        encrypt(&key(keys[0]), &mut under_one);
        assert_eq!(under_one, [x, y].map(|x| x.map(|x| encrypted(keys[0], x))));
        let mut under_each = [[x, y]];
        encrypt_each([keys], &mut under_each);
        let all = round_keys(keys);
        for lane in 0..QUAD_LANES {
            let expected = [x[lane], y[lane]].map(|x| encrypted(keys[lane], x));
            assert_eq!(under_each[0].map(|quad| quad[lane]), expected);
            assert_eq!(all.map(|quad| quad[lane]), key(keys[lane]));
        }
    }
}
