//! Addition, subtraction and negation.

use super::{
    Aim, Bit, CircuitBuilder,
    word::{Integer, Signed, Unsigned},
};

impl CircuitBuilder {
    /// `a + b` modulo `2^n`, n the greater width. *Cost*: n - 1; with [`Aim::Depth`] ceil(log2(n)) layers, and about
    /// n log2(n) AND gates (32 bits: 144, 64 bits: 352).
    pub fn add<I: Integer>(&mut self, a: &I, b: &I) -> I {
        let n = a.width().max(b.width());
        I::new(self.sum_bits(n, |i| (a.bit(i), b.bit(i)), Bit::FALSE))
    }

    /// `a - b` modulo `2^n`, n the greater width. *Cost*: n - 1.
    pub fn sub<I: Integer>(&mut self, a: &I, b: &I) -> I {
        let n = a.width().max(b.width());
        I::new(self.sum_bits(n, |i| (a.bit(i), !b.bit(i)), Bit::TRUE))
    }

    /// `a + b + carry` modulo `2^n`, and the carry out of it. *Cost*: n.
    pub fn add_with_carry<I: Integer>(&mut self, a: &I, b: &I, carry: Bit) -> (I, Bit) {
        let n = a.width().max(b.width());
        let mut bits = self.sum_bits(n + 1, |i| low(n, i, a.bit(i), b.bit(i)), carry);
        let out = bits.pop().expect("n + 1 bits");
        (I::new(bits), out)
    }

    /// `a - b - borrow` modulo `2^n`, and the borrow out of it. *Cost*: n.
    pub fn sub_with_borrow<I: Integer>(&mut self, a: &I, b: &I, borrow: Bit) -> (I, Bit) {
        let n = a.width().max(b.width());
        let mut bits = self.sum_bits(n + 1, |i| low(n, i, a.bit(i), !b.bit(i)), !borrow);
        let no_borrow = bits.pop().expect("n + 1 bits");
        (I::new(bits), !no_borrow)
    }

    /// `a + b` modulo `2^n`, and whether the true sum is out of range. *Cost*: n.
    pub fn add_overflow<I: Integer>(&mut self, a: &I, b: &I) -> (I, Bit) {
        let n = a.width().max(b.width());
        let bits = self.sum_bits(n + 1, |i| (a.bit(i), b.bit(i)), Bit::FALSE);
        self.split_overflow(n, bits)
    }

    /// `a - b` modulo `2^n`, and whether the true difference is out of range. *Cost*: n.
    pub fn sub_overflow<I: Integer>(&mut self, a: &I, b: &I) -> (I, Bit) {
        let n = a.width().max(b.width());
        let bits = self.sum_bits(n + 1, |i| (a.bit(i), !b.bit(i)), Bit::TRUE);
        self.split_overflow(n, bits)
    }

    /// `-a` modulo `2^n`. *Cost*: n - 2, or 0 if n = 1.
    pub fn neg<I: Integer>(&mut self, a: &I) -> I {
        I::new(self.sum_bits(a.width(), |i| (Bit::FALSE, !a.bit(i)), Bit::TRUE))
    }

    /// `-a` modulo `2^n` if `condition`, else `a`. *Cost*: n - 1.
    pub fn neg_if<I: Integer>(&mut self, condition: Bit, a: &I) -> I {
        let flipped: Vec<Bit> = a.bits().iter().map(|&bit| self.xor(bit, condition)).collect();
        I::new(self.sum_bits(a.width(), |i| (Bit::FALSE, flipped[i]), condition))
    }

    /// The absolute value, unsigned so that it always fits. *Cost*: n - 1.
    pub fn abs(&mut self, a: &Signed) -> Unsigned {
        let sign = a.bits().last().copied().unwrap_or(Bit::FALSE);
        self.neg_if(sign, a).as_unsigned()
    }

    /// The low `width` bits of the sum of two numbers and a carry. *Cost*: `width` - 1.
    pub(super) fn sum_bits(&mut self, width: usize, bits: impl Fn(usize) -> (Bit, Bit), carry: Bit) -> Vec<Bit> {
        if self.aim == Aim::Depth {
            let pairs: Vec<(Bit, Bit)> = (0..width).map(bits).collect();
            let carries = self.carries(&pairs[..width.saturating_sub(1)], carry);
            let carries = [carry].into_iter().chain(carries);
            return pairs.into_iter().zip(carries).map(|((a, b), carry)| self.parity(&[a, b, carry])).collect();
        }
        let mut carry = carry;
        let mut sum = Vec::with_capacity(width);
        for i in 0..width {
            let (a, b) = bits(i);
            if i + 1 < width {
                let (bit, next) = self.full_adder(a, b, carry);
                sum.push(bit);
                carry = next;
            } else {
                sum.push(self.parity(&[a, b, carry]));
            }
        }
        sum
    }

    /// Removes bit n of the true result: the carry or borrow or, if signed, the true sign, which must equal the sign bit.
    fn split_overflow<I: Integer>(&mut self, n: usize, mut bits: Vec<Bit>) -> (I, Bit) {
        let beyond = bits.pop().expect("n + 1 bits");
        let sign = if I::SIGNED && n > 0 { bits[n - 1] } else { Bit::FALSE };
        (I::new(bits), self.xor(beyond, sign))
    }
}

/// The bits within the width, then zeros, so that the next bit of the sum is the carry.
fn low(n: usize, i: usize, a: Bit, b: Bit) -> (Bit, Bit) {
    if i < n { (a, b) } else { (Bit::FALSE, Bit::FALSE) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::Type;

    use super::*;
    use crate::builder::simulate;

    fn mask(width: u32) -> u128 {
        (1 << width) - 1
    }

    fn signed(x: u128, width: u32) -> i128 {
        (x << (128 - width)) as i128 >> (128 - width)
    }

    /// A component of two operands, its AND gates and its outputs for given inputs.
    fn run<I: Integer>(
        ty: fn(u32) -> Type,
        widths: (u32, u32),
        (a, b): (u128, u128),
        operation: impl Fn(&mut CircuitBuilder, &I, &I) -> (I, Bit),
    ) -> (u64, Vec<u128>) {
        let mut c = CircuitBuilder::new("arithmetic");
        let x: I = c.input("a", ty(widths.0));
        let y: I = c.input("b", ty(widths.1));
        let (value, flag) = operation(&mut c, &x, &y);
        c.output("value", &value);
        c.output("flag", &flag);
        let component = c.finish().unwrap();
        (component.stats().and, simulate::component(&component, &[a & mask(widths.0), b & mask(widths.1)]))
    }

    proptest! {
        #[test]
        fn unsigned(wa in 1u32..100, wb in 1u32..100, a: u128, b: u128, carry: bool) {
            let n = wa.max(wb);
            let (x, y) = (a & mask(wa), b & mask(wb));
            let k = u128::from(carry);
            let ands = u64::from(n);
            let run = |operation: fn(&mut CircuitBuilder, &Unsigned, &Unsigned) -> (Unsigned, Bit)| {
                run(Type::Unsigned, (wa, wb), (a, b), operation)
            };
            let (got, value) = run(|c, a, b| (c.add(a, b), Bit::FALSE));
            prop_assert_eq!(value, [(x + y) & mask(n), 0]);
            prop_assert_eq!(got, ands - 1);
            let (got, value) = run(|c, a, b| (c.sub(a, b), Bit::FALSE));
            prop_assert_eq!(value, [x.wrapping_sub(y) & mask(n), 0]);
            prop_assert_eq!(got, ands - 1);
            let (got, value) = run(|c, a, b| c.add_overflow(a, b));
            prop_assert_eq!(value, [(x + y) & mask(n), (x + y) >> n]);
            prop_assert_eq!(got, ands);
            let (got, value) = run(|c, a, b| c.sub_overflow(a, b));
            prop_assert_eq!(value, [x.wrapping_sub(y) & mask(n), u128::from(x < y)]);
            prop_assert_eq!(got, ands);
            let with_carry = |c: &mut CircuitBuilder, a: &Unsigned, b: &Unsigned| c.add_with_carry(a, b, carry.into());
            let (_, value) = super::tests::run(Type::Unsigned, (wa, wb), (a, b), with_carry);
            prop_assert_eq!(value, [(x + y + k) & mask(n), (x + y + k) >> n]);
            let with_borrow = |c: &mut CircuitBuilder, a: &Unsigned, b: &Unsigned| c.sub_with_borrow(a, b, carry.into());
            let (_, value) = super::tests::run(Type::Unsigned, (wa, wb), (a, b), with_borrow);
            prop_assert_eq!(value, [x.wrapping_sub(y + k) & mask(n), u128::from(x < y + k)]);
        }

        #[test]
        fn signed_integers(wa in 1u32..100, wb in 1u32..100, a: u128, b: u128) {
            let n = wa.max(wb);
            let (x, y) = (signed(a, wa), signed(b, wb));
            let fits = |value: i128| value == signed(value as u128, n);
            let ands = u64::from(n);
            let run = |operation: fn(&mut CircuitBuilder, &Signed, &Signed) -> (Signed, Bit)| {
                run(Type::Signed, (wa, wb), (a, b), operation)
            };
            let (got, value) = run(|c, a, b| c.add_overflow(a, b));
            prop_assert_eq!(value, [(x + y) as u128 & mask(n), u128::from(!fits(x + y))]);
            prop_assert_eq!(got, ands);
            let (got, value) = run(|c, a, b| c.sub_overflow(a, b));
            prop_assert_eq!(value, [(x - y) as u128 & mask(n), u128::from(!fits(x - y))]);
            prop_assert_eq!(got, ands);
            let (got, value) = run(|c, a, _| (c.neg(a), Bit::FALSE));
            prop_assert_eq!(value, [x.wrapping_neg() as u128 & mask(wa), 0]);
            prop_assert_eq!(got, u64::from(wa).saturating_sub(2));
            let (got, value) = run(|c, a, _| (c.abs(a).as_signed(), Bit::FALSE));
            prop_assert_eq!(value, [x.unsigned_abs() & mask(wa), 0]);
            prop_assert_eq!(got, u64::from(wa - 1));
            let (got, value) = run(|c, a, b| (c.neg_if(b.bits()[0], a), Bit::FALSE));
            prop_assert_eq!(value, [if b & 1 == 1 { x.wrapping_neg() } else { x } as u128 & mask(wa), 0]);
            prop_assert_eq!(got, u64::from(wa - 1));
        }

        #[test]
        fn carries_in_cost_nothing_more(width in 1u32..60, a: u64, b: u64, carry: bool) {
            let mut c = CircuitBuilder::new("carry");
            let x: Unsigned = c.input("a", Type::Unsigned(width));
            let y: Unsigned = c.input("b", Type::Unsigned(width));
            let carry_in: Bit = c.input("carry", Type::Bool);
            let (sum, out) = c.add_with_carry(&x, &y, carry_in);
            c.output("sum", &sum);
            c.output("out", &out);
            let component = c.finish().unwrap();
            prop_assert_eq!(component.stats().and, u64::from(width));
            let (a, b) = (u128::from(a) & mask(width), u128::from(b) & mask(width));
            let total = a + b + u128::from(carry);
            let got = simulate::component(&component, &[a, b, carry.into()]);
            prop_assert_eq!(got, [total & mask(width), total >> width]);
        }
    }
}
