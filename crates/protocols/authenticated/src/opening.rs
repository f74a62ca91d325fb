//! Bits that a party opens to the other, with the proof that they are its own.
//!
//! *Source*: Katz, Ranellucci, Rosulek and Wang 2018, section 2 (`Open`). All MACs of a message go into one block: their sum with the powers of a point
//! that is a hash of all bits that are opened, so that no change of them was made in knowledge of it. The receiver can compute the block itself.

use garblet_primitives::Block;
use garblet_protocol::{
    checks::{Cheating, Check},
    domain::Domain,
};

use crate::shares::{LOT, PowerSum};

/// Bytes of a proof.
pub(crate) const PROOF_BYTES: usize = 16;

/// Bytes of so many opened bits and the proof of them.
pub(crate) const fn opened_bytes(bits: usize) -> usize {
    bits.div_ceil(8) + PROOF_BYTES
}

/// Bits packed, the first in the lowest place of the first byte.
pub(crate) struct Packed(pub(crate) Vec<u8>);

impl Packed {
    /// So many zeros.
    pub(crate) fn zeros(bits: usize) -> Self {
        Packed(vec![0; bits.div_ceil(8)])
    }

    /// So many, by their places.
    pub(crate) fn collect(bits: usize, bit: impl Fn(usize) -> bool) -> Self {
        let mut packed = Packed::zeros(bits);
        (0..bits).for_each(|at| packed.add(at, bit(at)));
        packed
    }

    /// Bit `at`.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> bool {
        self.0[at / 8] >> (at % 8) & 1 == 1
    }

    /// Bit `at` is set if `bit`.
    #[inline(always)]
    pub(crate) fn add(&mut self, at: usize, bit: bool) {
        self.0[at / 8] ^= u8::from(bit) << (at % 8);
    }

    /// The first so many.
    pub(crate) fn first(&self, bits: usize) -> Packed {
        let mut first = Packed(self.0[..bits.div_ceil(8)].to_vec());
        if let (Some(last), used @ 1..) = (first.0.last_mut(), bits % 8) {
            *last &= (1 << used) - 1;
        }
        first
    }

    /// The sum with others.
    pub(crate) fn sum(&self, others: &[u8]) -> Packed {
        Packed(self.0.iter().zip(others).map(|(a, b)| a ^ b).collect())
    }
}

/// The message that opens bits: these, and the proof by the MACs that `macs` adds up in the order of the bits.
pub(crate) fn open(domain: &Domain, bits: &Packed, macs: impl FnOnce(&mut PowerSum)) -> Vec<u8> {
    let mut sum = PowerSum::new(Block::from_digest(&domain.digest(&bits.0)));
    macs(&mut sum);
    let mut message = Vec::with_capacity(bits.0.len() + PROOF_BYTES);
    message.extend_from_slice(&bits.0);
    message.extend_from_slice(&sum.finish().to_bytes());
    message
}

/// The proof with a peer's bits that a message must have: `expected` adds up the MACs that fit them.
///
/// *Errors*: `check`.
pub(crate) fn verify(
    domain: &Domain,
    message: &[u8],
    check: Check,
    expected: impl FnOnce(&mut PowerSum),
) -> Result<(), Cheating> {
    let (bits, proof) = message.split_at(message.len() - PROOF_BYTES);
    let mut sum = PowerSum::new(Block::from_digest(&domain.digest(bits)));
    expected(&mut sum);
    let proof = Block::from_bytes(*proof.first_chunk().unwrap_or(&[0; 16]));
    if sum.finish() == proof { Ok(()) } else { Err(Cheating::new(check, "the proof is of other bits")) }
}

/// Adds up `block(i)` for `i` below `count`.
pub(crate) fn add_each(sum: &mut PowerSum, count: usize, block: impl Fn(usize) -> Block) {
    let mut lot = [Block::ZERO; LOT];
    for start in (0..count).step_by(LOT) {
        let lot = &mut lot[..LOT.min(count - start)];
        lot.iter_mut().enumerate().for_each(|(at, place)| *place = block(start + at));
        sum.add(lot);
    }
}
