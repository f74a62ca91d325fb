//! The part of a codeword after the message: up to 256 bits, also read as a polynomial over GF(2).

use std::ops::{BitXor, BitXorAssign};

use garblet_primitives::Block;

/// Up to 256 bits; bit `i` is bit `i % 128` of block `i / 128`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Parity(pub(crate) [Block; 2]);

impl Parity {
    pub(super) const ZERO: Parity = Parity([Block::ZERO; 2]);

    pub(super) const fn from_halves(low: u128, high: u128) -> Self {
        Parity([Block::from_u128(low), Block::from_u128(high)])
    }

    fn halves(self) -> [u128; 2] {
        self.0.map(Block::to_u128)
    }

    /// Bit `i` alone if `set`, else zero.
    pub(super) fn bit_if(set: bool, i: usize) -> Self {
        let bit = u128::from(set) << (i % 128);
        if i < 128 { Parity::from_halves(bit, 0) } else { Parity::from_halves(0, bit) }
    }

    pub(super) fn get(self, i: usize) -> bool {
        self.halves()[i / 128] >> (i % 128) & 1 == 1
    }

    /// The parity of the bits.
    pub(super) fn is_odd(self) -> bool {
        let [low, high] = self.halves();
        (low ^ high).count_ones() % 2 == 1
    }

    /// The highest set bit, or 0 if there is none.
    pub(super) fn degree(self) -> usize {
        let [low, high] = self.halves();
        let bits = if high == 0 { 128 - low.leading_zeros() } else { 256 - high.leading_zeros() };
        bits.saturating_sub(1) as usize
    }

    /// The polynomial times `x`.
    pub(super) fn times_x(self) -> Self {
        let [low, high] = self.halves();
        Parity::from_halves(low << 1, high << 1 | low >> 127)
    }

    /// The product of polynomials, of degree below 256.
    pub(super) fn times(self, other: Parity) -> Self {
        (0..=other.degree()).rev().fold(Parity::ZERO, |sum, i| {
            let sum = sum.times_x();
            if other.get(i) { sum ^ self } else { sum }
        })
    }

    /// The polynomial, whose degree is at most the degree of `modulus`, reduced by it; also whether that changed it.
    pub(super) fn reduce_once(self, modulus: Parity) -> (Self, bool) {
        match self.get(modulus.degree()) {
            true => (self ^ modulus, true),
            false => (self, false),
        }
    }
}

impl BitXor for Parity {
    type Output = Parity;

    fn bitxor(self, other: Parity) -> Parity {
        Parity([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }
}

impl BitXorAssign for Parity {
    fn bitxor_assign(&mut self, other: Parity) {
        *self = *self ^ other;
    }
}

#[cfg(test)]
impl PartialEq for Parity {
    fn eq(&self, other: &Parity) -> bool {
        self.halves() == other.halves()
    }
}
