//! Division.

use super::{
    Aim, Bit, CircuitBuilder,
    word::{Integer, Signed, Unsigned},
};

impl CircuitBuilder {
    /// Quotient and remainder of unsigned integers of n and m bits; n bits and m bits.
    ///
    /// Division by zero gives all ones, and the low m bits of `a` as the remainder.
    ///
    /// *Cost*: the quotient alone, for n = m, n(n+1)/2 + 2n - 3 (32 bits: 589, 64 bits: 2,205); the remainder
    /// 2 min(n, m) - 1 more. In general the quotient costs `sum over i < n of min(i + 1, m)` + min(n, m - 1) + max(m - 2, 0), plus
    /// n - m + 1 if n > m > 1 (n - 1 if m = 1).
    ///
    /// With [`Aim::Depth`] about n/2 (log2(m) + 2) layers (32 bits: 104 layers and 2,979 AND gates, 64 bits: 234 and 13,410).
    ///
    /// *Source*: non-restoring division, with steps only as wide as the part of `a` read so far.
    pub fn div_rem(&mut self, a: &Unsigned, b: &Unsigned) -> (Unsigned, Unsigned) {
        let (n, m) = (a.width(), b.width());
        if m == 0 {
            return (Unsigned::new(vec![Bit::TRUE; n]), Unsigned::new(Vec::new()));
        }
        if self.aim == Aim::Depth {
            return self.div_rem_by_pairs(a, b);
        }
        let above = self.suffix_any(b.bits());
        let mut quotient = vec![Bit::FALSE; n];
        let mut rest = vec![Bit::FALSE];
        let mut subtract = Bit::TRUE;
        for step in 0..n {
            // Step i replaces the remainder r with 2r + a bit - b, or + b if r is negative. It keeps bits up to i + 1, which
            // are all bits if b < 2^(i+1). Otherwise r is negative, whatever the kept bits say, and the kept bits are still
            // correct.
            rest.insert(0, a.bits()[n - 1 - step]);
            let width = (step + 2).min(m + 1);
            let divisor: Vec<Bit> = (0..width).map(|i| self.xor(b.bit(i), subtract)).collect();
            let sign = *rest.last().expect("a remainder has a sign bit");
            rest = self.sum_bits(width, |i| (rest.get(i).copied().unwrap_or(sign), divisor[i]), subtract);
            let negative = self.or(rest[width - 1], above.get(step).copied().unwrap_or(Bit::FALSE));
            subtract = !negative;
            quotient[n - 1 - step] = subtract;
        }
        if n > m {
            // Without a divisor the remainder would exceed its m + 1 bits.
            let divides = self.or(above[0], b.bits()[0]);
            for bit in &mut quotient[..n - m] {
                *bit = !self.and(!*bit, divides);
            }
        }
        let remainder = self.restore(&rest, b, !subtract);
        (Unsigned::new(quotient), remainder)
    }

    /// The same for a divisor of some bits, two bits of the quotient at a time: while one subtraction decides the first of them,
    /// both numbers are made that may follow. A negative remainder r is kept as !r, so a pair of steps takes the divisor from
    /// four times that, and the next bits of `a`, once if the first step went below zero and three times if not.
    fn div_rem_by_pairs(&mut self, a: &Unsigned, b: &Unsigned) -> (Unsigned, Unsigned) {
        let (n, m) = (a.width(), b.width());
        let even = n.next_multiple_of(2);
        let above = self.suffix_any(b.bits());
        let wide = b.resize(m + 2);
        let twice = self.shift_left(&wide, 1);
        let thrice = self.add(&wide, &twice);
        let mut quotient = Vec::with_capacity(even);
        // The remainder is `rest`, or its complement if negative. Its bits and its sign are kept as in `div_rem`.
        let (mut rest, mut negative) = (vec![Bit::FALSE], Bit::FALSE);
        for read in (1..=even).step_by(2) {
            let next = [even - read - 1, even - read].map(|i| self.xor(a.bit(i), negative));
            let next: Vec<Bit> = next.into_iter().chain(rest).collect();
            let step = |c: &mut Self, from: &[Bit], taken: &Unsigned, read: usize| {
                let width = (read + 1).min(m + 1);
                let bit = |i: usize| (from.get(i).copied().unwrap_or(Bit::FALSE), !taken.bit(i));
                let left = c.sum_bits(width, bit, Bit::TRUE);
                let sign = c.xor(left[width - 1], negative);
                let sign = c.or(sign, above.get(read - 1).copied().unwrap_or(Bit::FALSE));
                (left, sign)
            };
            let (_, first) = step(self, &next[1..], b, read);
            let (once, sign_once) = step(self, &next, b, read + 1);
            let (thrice, sign_thrice) = step(self, &next, &thrice, read + 1);
            let below = self.xor(first, negative);
            let second = self.mux(below, sign_once, sign_thrice);
            let flip = self.xor(negative, second);
            rest = once.iter().zip(&thrice).map(|(&once, &thrice)| self.mux(below, once, thrice)).collect();
            rest.iter_mut().for_each(|bit| *bit = self.xor(*bit, flip));
            negative = second;
            quotient.extend([!first, !second]);
        }
        quotient.reverse();
        // Without a divisor the remainder would exceed its m + 1 bits.
        let none = self.is_zero(b);
        quotient[..even.saturating_sub(m)].iter_mut().for_each(|bit| *bit = self.or(*bit, none));
        quotient.truncate(n);
        rest.iter_mut().for_each(|bit| *bit = self.xor(*bit, negative));
        let remainder = self.restore(&rest, b, negative);
        (Unsigned::new(quotient), remainder)
    }

    /// Quotient of unsigned integers. *Cost*: see [`CircuitBuilder::div_rem`].
    pub fn div(&mut self, a: &Unsigned, b: &Unsigned) -> Unsigned {
        self.div_rem(a, b).0
    }

    /// Remainder of unsigned integers. *Cost*: see [`CircuitBuilder::div_rem`].
    pub fn rem(&mut self, a: &Unsigned, b: &Unsigned) -> Unsigned {
        self.div_rem(a, b).1
    }

    /// Quotient, rounded towards zero, and remainder, with the sign of `a`, of signed integers of n and m bits; n bits
    /// and m bits.
    ///
    /// The least value divided by -1 wraps around. Division by zero gives -1, or 1 if `a` is negative, and the low m
    /// bits of `a`.
    ///
    /// *Cost*: [`CircuitBuilder::div_rem`] and 2(n - 1) + 2(m - 1) for the absolute values and signs.
    pub fn div_rem_signed(&mut self, a: &Signed, b: &Signed) -> (Signed, Signed) {
        let sign = |x: &Signed| x.bits().last().copied().unwrap_or(Bit::FALSE);
        let (sign_a, sign_b) = (sign(a), sign(b));
        let (abs_a, abs_b) = (self.abs(a), self.abs(b));
        let (quotient, remainder) = self.div_rem(&abs_a, &abs_b);
        let differ = self.xor(sign_a, sign_b);
        (self.neg_if(differ, &quotient.as_signed()), self.neg_if(sign_a, &remainder.as_signed()))
    }

    /// Returns for each i whether a bit above bit i is set. *Cost*: m - 2.
    fn suffix_any(&mut self, bits: &[Bit]) -> Vec<Bit> {
        let highest: Vec<Bit> = bits.iter().skip(1).rev().copied().collect();
        let mut above = self.running_any(&highest);
        above.reverse();
        above.push(Bit::FALSE);
        above
    }

    /// Adds the divisor back to a negative remainder, which has w = min(n, m) bits at that point. *Cost*: 2w - 1.
    fn restore(&mut self, rest: &[Bit], b: &Unsigned, negative: Bit) -> Unsigned {
        let rest = Unsigned::new(rest[..rest.len() - 1].to_vec());
        let back = self.mask(negative, &b.resize(rest.width()));
        self.add(&rest, &back).resize(b.width())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::{Component, Type};

    use super::*;
    use crate::builder::simulate;

    fn build(n: u32, m: u32, both: bool) -> Component {
        let mut c = CircuitBuilder::new("divide");
        let a: Unsigned = c.input("a", Type::Unsigned(n));
        let b: Unsigned = c.input("b", Type::Unsigned(m));
        let (quotient, remainder) = c.div_rem(&a, &b);
        c.output("quotient", &quotient);
        if both {
            c.output("remainder", &remainder);
        }
        c.finish().unwrap()
    }

    fn stated_ands(n: u64, m: u64) -> u64 {
        let beyond = if n > m { n - m + u64::from(m > 1) } else { 0 };
        (0..n).map(|i| (i + 1).min(m)).sum::<u64>() + n.min(m - 1) + m.saturating_sub(2) + beyond
    }

    #[test]
    fn counts_are_as_stated() {
        for n in 1..40 {
            for m in [1, 2, 3, n / 2 + 1, n, n + 1, 2 * n] {
                let (div, both) = (build(n, m, false).stats().and, build(n, m, true).stats().and);
                let stated = stated_ands(n.into(), m.into());
                assert_eq!(div, stated, "{n} by {m}");
                let (w, more) = (u64::from(n.min(m)), both - stated);
                // Other gates may already compute a remainder of one bit.
                assert!(more == 2 * w - 1 || w == 1 && more == 0, "{n} by {m}: {more} more for the remainder");
            }
        }
        assert_eq!(stated_ands(32, 32), 589);
        assert_eq!(stated_ands(64, 64), 2205);
    }

    fn signed(x: u128, width: u32) -> i128 {
        (x << (128 - width)) as i128 >> (128 - width)
    }

    #[test]
    fn all_small_quotients() {
        for (n, m) in [(1, 1), (2, 5), (5, 2), (4, 4), (5, 5)] {
            let component = build(n, m, true);
            for (a, b) in (0..1u128 << n).flat_map(|a| (0..1u128 << m).map(move |b| (a, b))) {
                let quotient = a.checked_div(b).unwrap_or((1 << n) - 1);
                let remainder = a.checked_rem(b).unwrap_or(a) & ((1 << m) - 1);
                assert_eq!(simulate::component(&component, &[a, b]), [quotient, remainder], "{a} / {b}");
            }
        }
    }

    proptest! {
        #[test]
        fn quotients(n in 1u32..80, m in 1u32..80, a: u128, b: u128, small in 0u32..80) {
            let a = a & ((1 << n) - 1);
            let b = (b & ((1 << m) - 1)) >> small.min(m);
            let quotient = a.checked_div(b).unwrap_or((1 << n) - 1);
            let remainder = a.checked_rem(b).unwrap_or(a) & ((1 << m) - 1);
            prop_assert_eq!(simulate::component(&build(n, m, true), &[a, b]), [quotient, remainder]);
        }

        #[test]
        fn signed_quotients(n in 1u32..40, m in 1u32..40, a: u128, b: u128, small in 0u32..40) {
            let mut c = CircuitBuilder::new("divide");
            let x: Signed = c.input("a", Type::Signed(n));
            let y: Signed = c.input("b", Type::Signed(m));
            let (quotient, remainder) = c.div_rem_signed(&x, &y);
            c.output("quotient", &quotient);
            c.output("remainder", &remainder);
            let component = c.finish().unwrap();
            let (a, b) = (a & ((1 << n) - 1), (b & ((1 << m) - 1)) >> small.min(m));
            let (x, y) = (signed(a, n), signed(b, m));
            let quotient = x.checked_div(y).unwrap_or(if x < 0 { 1 } else { -1 });
            let remainder = x.checked_rem(y).unwrap_or(x);
            let expected = [quotient as u128 & ((1 << n) - 1), remainder as u128 & ((1 << m) - 1)];
            prop_assert_eq!(simulate::component(&component, &[a, b]), expected);
            let (wide_n, wide_m) = (u64::from(n), u64::from(m));
            let stated = stated_ands(wide_n, wide_m) + 2 * wide_m + 2 * (wide_n - 1) + 2 * (wide_m - 1);
            prop_assert!(component.stats().and <= stated);
        }
    }
}
