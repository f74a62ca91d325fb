//! The key derivation that hides the rows of gates.

use garblet_primitives::Block;
use sha2::{Digest, Sha256};

use super::{Label, Method};

/// The choice whether a KDF of two hashes includes the operand that a key belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sides {
    /// Includes the operand.
    #[default]
    Separated,
    /// Omits the operand, so equal keys cancel: unsafe, for comparison.
    AsPublished,
}

/// `KDF(k1, k2, s)` with `s` a gate and the external bits of a row.
#[derive(Clone, Copy)]
pub(super) struct Kdf {
    one_hash: bool,
    sides: Sides,
}

/// The most bytes hashed: they fit one block of SHA-256.
const MAX_BYTES: usize = 55;

/// The row for hashing a single key.
const ALONE: u8 = 0xff;

impl Kdf {
    pub(super) fn new(method: Method, sides: Sides) -> Self {
        Kdf { one_hash: method == Method::RomGrr, sides }
    }

    /// The pad of a row, from the keys of the operands' labels, whose external values are the bits of `row`, the last operand's
    /// the lowest.
    pub(super) fn pad(self, keys: &[Block], gate: u64, row: usize) -> Label {
        match self.one_hash {
            true => hash(keys, gate, row, keys.len(), None),
            false => keys.iter().enumerate().fold(Label::default(), |pad, (side, &key)| {
                let side = (self.sides == Sides::Separated).then_some(side as u8);
                pad ^ hash(&[key], gate, row, keys.len(), side)
            }),
        }
    }

    /// The key derived from a single key for one side of a gate.
    pub(super) fn alone(self, key: Block, gate: u64, side: u8) -> Block {
        hash(&[key], gate, usize::from(ALONE), 1, Some(side)).key
    }
}

/// The first 129 bits of `SHA-256(keys || gate || row || side)`.
fn hash(keys: &[Block], gate: u64, row: usize, arity: usize, side: Option<u8>) -> Label {
    let mut bytes = zeroize::Zeroizing::new([0; MAX_BYTES]);
    let mut len = 0;
    let mut push = |part: &[u8]| {
        bytes[len..len + part.len()].copy_from_slice(part);
        len += part.len();
    };
    keys.iter().for_each(|key| push(&key.to_bytes()));
    push(&gate.to_le_bytes());
    match row == usize::from(ALONE) {
        true => push(&[ALONE]),
        false => (0..arity).for_each(|i| push(&[(row >> (arity - 1 - i) & 1) as u8])),
    }
    push(side.as_slice());
    let digest: [u8; 32] = Sha256::digest(&bytes[..len]).into();
    Label { key: Block::from_digest(&digest), external: digest[16] & 1 == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pad_is_the_sum_of_the_hashes_of_both_sides() {
        let keys = [Block::ONES, Block::ZERO];
        let digest = |key: u8, rest: &[u8]| -> [u8; 32] {
            let mut bytes = vec![key; 16];
            bytes.extend([7, 0, 0, 0, 0, 0, 0, 0]);
            bytes.extend(rest);
            Sha256::digest(&bytes).into()
        };
        for (sides, ends) in
            [(Sides::Separated, [&[1, 0, 0][..], &[1, 0, 1]]), (Sides::AsPublished, [&[1, 0], &[1, 0]])]
        {
            let pad = Kdf::new(Method::Base, sides).pad(&keys, 7, 0b10);
            let [a, b] = [digest(0xff, ends[0]), digest(0, ends[1])];
            let expected: Vec<u8> = a.iter().zip(b).map(|(a, b)| a ^ b).collect();
            assert!(pad.key.to_bytes() == expected[..16] && pad.external == (expected[16] & 1 == 1));
        }
    }

    #[test]
    fn equal_keys_cancel_only_as_published() {
        let pad = |method, sides| Kdf::new(method, sides).pad(&[Block::ONES; 2], 3, 0).key;
        assert!(pad(Method::CorGrr, Sides::AsPublished) == Block::ZERO);
        assert!(pad(Method::CorGrr, Sides::Separated) != Block::ZERO);
        assert!(pad(Method::RomGrr, Sides::AsPublished) != Block::ZERO);
    }
}
