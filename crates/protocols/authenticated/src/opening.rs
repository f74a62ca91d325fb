//! Bits that a party opens to the other, with a proof that they are authentic.
//!
//! *Source*: Katz, Ranellucci, Rosulek and Wang 2018, section 2 (`Open`). One block authenticates a message: the sum of all MACs, weighted with the powers of
//! a point. The point is a hash of all opened bits, so nobody can change them with knowledge of it. The receiver can compute the block itself.

use garblet_circuit::Party;
use garblet_primitives::{Block, secrets};
use garblet_protocol::{
    bulk::{check_padding, check_padding_of},
    checks::{Cheating, Check},
    domain::Domain,
    error::ProtocolError,
};

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::shares::{LOT, PowerSum};

/// Bytes of a proof.
pub(crate) const PROOF_BYTES: usize = 16;

/// Bytes of `count` opened bits and their proof.
pub(crate) const fn opened_bytes(bits: usize) -> usize {
    bits.div_ceil(8) + PROOF_BYTES
}

/// Bits packed, the first in the lowest place of the first byte; wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Packed(pub(crate) Vec<u8>);

impl Packed {
    /// `bits` zeros.
    pub(crate) fn zeros(bits: usize) -> Self {
        Packed(vec![0; bits.div_ceil(8)])
    }

    /// `bits` bits, by their places.
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

    /// Adds bit 0 of blocks from place `at` on, where all bits are zero.
    fn put(&mut self, at: usize, blocks: &[Block]) {
        let to_byte = (at.wrapping_neg() % 8).min(blocks.len());
        let (first, rest) = blocks.split_at(to_byte);
        first.iter().enumerate().for_each(|(index, block)| self.add(at + index, block.lsb()));
        let bytes = &mut self.0[(at + to_byte) / 8..];
        for (byte, blocks) in bytes.iter_mut().zip(rest.chunks(8)) {
            *byte |= blocks.iter().rev().fold(0, |bits, block| bits << 1 | u8::from(block.lsb()));
        }
    }

    /// Flips bit `at` if `bit`.
    #[inline(always)]
    pub(crate) fn add(&mut self, at: usize, bit: bool) {
        self.0[at / 8] ^= u8::from(bit) << (at % 8);
    }

    /// `bits` bits of a peer.
    ///
    /// *Errors*: as [`check_padding`].
    pub(crate) fn received(bytes: &[u8], bits: usize) -> Result<Self, ProtocolError> {
        check_padding(bytes, bits)?;
        Ok(Packed(bytes.to_vec()))
    }

    /// `bits` bits of one of several peers.
    ///
    /// *Errors*: as [`check_padding_of`].
    pub(crate) fn received_of(peer: Party, bytes: &[u8], bits: usize) -> Result<Self, ProtocolError> {
        check_padding_of(peer, bytes, bits)?;
        Ok(Packed(bytes.to_vec()))
    }

    /// The first `bits` bits.
    pub(crate) fn first(&self, bits: usize) -> Packed {
        let mut first = Packed(self.0[..bits.div_ceil(8)].to_vec());
        if let (Some(last), used @ 1..) = (first.0.last_mut(), bits % 8) {
            *last &= (1 << used) - 1;
        }
        first
    }

    /// The sum with other bits.
    pub(crate) fn sum(&self, others: &[u8]) -> Packed {
        Packed(self.0.iter().zip(others).map(|(a, b)| a ^ b).collect())
    }
}

/// A party's shares of the bits to open: sums of two blocks each, or single blocks, in order.
#[derive(Default)]
pub(crate) struct Sums<'a>(Vec<(&'a [Block], &'a [Block])>);

impl<'a> Sums<'a> {
    /// Adds the sums of two slices of the same length.
    pub(crate) fn and(mut self, first: &'a [Block], second: &'a [Block]) -> Self {
        assert_eq!(first.len(), second.len(), "slices of one length");
        self.0.push((first, second));
        self
    }

    /// Adds single blocks.
    pub(crate) fn and_alone(mut self, blocks: &'a [Block]) -> Self {
        self.0.push((blocks, &[]));
        self
    }

    /// The number of sums.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|(first, _)| first.len()).sum()
    }

    /// The sums in lots of at most [`LOT`], each with the number of its first sum.
    fn each_lot(&self, mut give: impl FnMut(usize, &mut [Block])) {
        let mut room = Zeroizing::new([Block::ZERO; LOT]);
        let mut start = 0;
        for (first, second) in &self.0 {
            for at in (0..first.len()).step_by(LOT) {
                let lot = at..first.len().min(at + LOT);
                let room = &mut room[..lot.len()];
                room.copy_from_slice(&first[lot.clone()]);
                if !second.is_empty() {
                    room.iter_mut().zip(&second[lot.clone()]).for_each(|(sum, &block)| *sum ^= block);
                }
                give(start, room);
                start += lot.len();
            }
        }
    }

    /// Bit 0 of every sum: the party's share.
    pub(crate) fn bits(&self) -> Packed {
        let mut bits = Packed::zeros(self.len());
        self.each_lot(|start, lot| bits.put(start, lot));
        bits
    }

    /// Adds up all sums.
    pub(crate) fn add_to(&self, sum: &mut PowerSum) {
        self.each_lot(|_, lot| sum.add(lot));
    }

    /// Adds up the values that match the other party's shares: these sums, plus the difference where the bit is set.
    pub(crate) fn add_expected(&self, sum: &mut PowerSum, bits: &Packed, delta: Block) {
        self.each_lot(|start, lot| {
            for (at, block) in lot.iter_mut().enumerate() {
                *block ^= Block::mask(bits.get(start + at)) & delta;
            }
            sum.add(lot);
        });
    }
}

/// The message that opens bits, from this party's shares of the bits and of the peer's multiples: the former, and the proof.
pub(crate) fn open(domain: &Domain, bits: &Packed, peers: &Sums<'_>) -> Vec<u8> {
    let mut message = bits.0.clone();
    let mut sum = PowerSum::new(Block::from_digest(&domain.digest(&message)));
    peers.add_to(&mut sum);
    message.extend_from_slice(&sum.finish().to_bytes());
    message
}

/// Checks the message with which the peer opens bits, against this party's shares of the bits and of its own multiples. Returns the bits.
///
/// *Errors*: `check`; as [`check_padding`].
pub(crate) fn opened(
    domain: &Domain,
    message: &[u8],
    check: Check,
    (own_bits, own): (&Packed, &Sums<'_>),
    delta: Block,
) -> Result<Packed, ProtocolError> {
    let (bits, proof) = message.split_at(message.len() - PROOF_BYTES);
    check_padding(bits, own.len())?;
    let total = own_bits.sum(bits);
    let mut sum = PowerSum::new(Block::from_digest(&domain.digest(bits)));
    own.add_expected(&mut sum, &total, delta);
    let proof = Block::from_bytes(*proof.first_chunk().unwrap_or(&[0; 16]));
    let fits = sum.finish().ct_eq(&proof);
    match secrets::verdict(fits, "authenticated: whether the proof of opened bits is right") {
        true => Ok(total),
        false => Err(Cheating::new(check, "the proof is of other bits").into()),
    }
}

/// Adds up `block(i)` for `i` below `count`.
pub(crate) fn add_each(sum: &mut PowerSum, count: usize, block: impl Fn(usize) -> Block) {
    let mut lot = Zeroizing::new([Block::ZERO; LOT]);
    for start in (0..count).step_by(LOT) {
        let lot = &mut lot[..LOT.min(count - start)];
        lot.iter_mut().enumerate().for_each(|(at, place)| *place = block(start + at));
        sum.add(lot);
    }
}

#[cfg(test)]
mod tests {
    use garblet_primitives::Prg;
    use garblet_protocol::domain::SessionId;

    use super::*;
    use crate::checks;

    /// Two parties' shares of bits: the opener's of the verifier's multiples, and the verifier's own and of the opener's.
    #[test]
    fn only_opened_values_are_accepted() {
        let mut rng = Prg::new(Block::ONES);
        let domain = SessionId::new("test", [0; 32], [[0; 32]; 2]).domain(Party(0), 1);
        let delta = rng.next_block().with_lsb(true);
        for counts in [[0, 1], [7, 3], [LOT - 1, 9], [LOT + 3, 2 * LOT + 5]] {
            let mut random = |count: usize| {
                let mut blocks = vec![Block::ZERO; count];
                rng.fill_blocks(&mut blocks);
                blocks
            };
            let [first, alone] = counts.map(&mut random);
            let (second, own_second) = (random(counts[0]), random(counts[0]));
            let values: Vec<bool> = random(counts[0] + counts[1]).iter().map(|block| block.lsb()).collect();
            // The verifier's and the opener's shares add up to the bit times delta; the opener's bit is in its own block.
            let of = |at: usize, block: Block| block ^ (Block::mask(values[at]) & delta);
            let own_first: Vec<Block> =
                (0..counts[0]).map(|at| of(at, first[at] ^ second[at]) ^ own_second[at]).collect();
            let own_alone: Vec<Block> = (0..counts[1]).map(|at| of(counts[0] + at, alone[at])).collect();
            let peers = Sums::default().and(&first, &second).and_alone(&alone);
            let own = Sums::default().and(&own_first, &own_second).and_alone(&own_alone);
            let bits = peers.bits();
            let message = open(&domain, &bits, &peers);
            assert_eq!(message.len(), opened_bytes(values.len()));
            let total = opened(&domain, &message, checks::MASK_BITS, (&own.bits(), &own), delta).expect("it is right");
            assert!((0..values.len()).all(|at| total.get(at) == values[at]));
            if let used @ 1.. = values.len() % 8 {
                let mut padded = message.clone();
                padded[values.len() / 8] |= 1 << used;
                let error = opened(&domain, &padded, checks::MASK_BITS, (&own.bits(), &own), delta).err();
                assert!(matches!(error, Some(ProtocolError::Net(_))), "{} bits", values.len());
            }
            for byte in [0, message.len() - 1] {
                let mut wrong = message.clone();
                wrong[byte] ^= 1;
                assert!(opened(&domain, &wrong, checks::MASK_BITS, (&own.bits(), &own), delta).is_err());
            }
        }
    }
}
