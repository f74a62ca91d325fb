//! Secret bits that the compiler cannot turn into branches.

use std::ops::{BitAnd, BitXor, BitXorAssign, Not};

use subtle::Choice;
use zeroize::DefaultIsZeroes;

use crate::secrets;

/// A bit that may be secret.
///
/// A `bool` has two known cases, so the compiler may branch on it wherever it is used, even where the source uses a mask.
/// A value from this type may be any number, as far as the compiler knows.
///
/// *Secret*: usually, so there is neither `Debug` nor a comparison, and only [`Bit::public`] converts it to a `bool`.
#[derive(Clone, Copy, Default)]
pub struct Bit(u8);

impl Bit {
    /// Zero.
    pub const ZERO: Bit = Bit(0);

    /// The lowest bit of a number.
    #[inline(always)]
    pub fn lowest_of(number: u64) -> Self {
        Bit((number & 1) as u8)
    }

    /// All ones or all zeros.
    #[inline(always)]
    pub fn word(self) -> u64 {
        hidden(self.0.into()).wrapping_neg()
    }

    /// One or zero.
    #[inline(always)]
    pub fn number(self) -> u8 {
        hidden(self.0.into()) as u8
    }

    /// Declares the bit public, with a reason.
    #[inline]
    pub fn public(self, reason: &'static str) -> bool {
        secrets::public(self.0, reason) == 1
    }
}

impl DefaultIsZeroes for Bit {}

/// The same number, hidden from the compiler.
#[inline(always)]
fn hidden(number: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut number = number;
        // SAFETY: no instruction. The compiler must assume that the register changed, and nothing else.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags)) };
        number
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    std::hint::black_box(number)
}

impl From<bool> for Bit {
    #[inline(always)]
    fn from(bit: bool) -> Self {
        Bit(bit.into())
    }
}

impl From<Bit> for Choice {
    #[inline]
    fn from(bit: Bit) -> Self {
        Choice::from(bit.0)
    }
}

impl<B: Into<Bit>> BitXor<B> for Bit {
    type Output = Bit;

    #[inline(always)]
    fn bitxor(self, other: B) -> Bit {
        Bit(self.0 ^ other.into().0)
    }
}

impl<B: Into<Bit>> BitXorAssign<B> for Bit {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: B) {
        self.0 ^= other.into().0;
    }
}

impl<B: Into<Bit>> BitAnd<B> for Bit {
    type Output = Bit;

    #[inline(always)]
    fn bitand(self, other: B) -> Bit {
        Bit(self.0 & other.into().0)
    }
}

impl Not for Bit {
    type Output = Bit;

    #[inline(always)]
    fn not(self) -> Bit {
        Bit(self.0 ^ 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_compute_like_bools() {
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let [x, y] = [a, b].map(Bit::from);
            let mut sum = x;
            sum ^= y;
            let public = |bit: Bit| bit.public("a test");
            assert_eq!([x ^ y, sum, x & y, !x, x ^ b, x & b].map(public), [a ^ b, a ^ b, a & b, !a, a ^ b, a & b]);
            assert_eq!((x.word(), x.number()), (u64::from(a).wrapping_neg(), u8::from(a)));
            assert_eq!(Choice::from(x).unwrap_u8(), u8::from(a));
        }
        assert!(Bit::lowest_of(3).public("a test") && !Bit::lowest_of(u64::MAX - 1).public("a test"));
        assert!(!Bit::default().public("a test"));
    }
}
