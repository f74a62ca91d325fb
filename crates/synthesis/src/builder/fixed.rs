//! Quotients and roots of fixed-point numbers, rounded down.
//!
//! A number with f bits after the point is an integer times 2^-f. Sum, difference, comparison and remainder work as for integers;
//! the product is the upper part of [`CircuitBuilder::mul_full`].

use super::{
    Bit, CircuitBuilder,
    word::{Integer, Signed, Unsigned},
};

impl CircuitBuilder {
    /// `a * 2^fraction / b`, rounded towards negative infinity, of signed integers of n and m bits; n + fraction + 1 bits.
    ///
    /// Division by zero gives 2^(n + fraction) - 1, or -2^(n + fraction) if `a` is negative.
    ///
    /// *Cost*: [`CircuitBuilder::div`] of n + `fraction` by m bits, and n + m - 1 for signs (32 bits, 16 of them after the point:
    /// 1,181). Only the divisor's sign costs anything, because `floor(-x / b) = !((x - 1) / b)`, which rounds as `!x / b` does.
    pub fn div_floor(&mut self, a: &Signed, b: &Signed, fraction: usize) -> Signed {
        let n = a.width();
        let sign_b = b.bits().last().copied().unwrap_or(Bit::FALSE);
        let a = self.neg_if(sign_b, &a.resize(n + 1));
        let sign = a.bits()[n];
        let low = std::iter::repeat_n(sign, fraction);
        let dividend: Vec<Bit> = low.chain(a.bits()[..n].iter().map(|&bit| self.xor(bit, sign))).collect();
        let mut divisor = self.abs(b).bits().to_vec();
        while divisor.last() == Some(&Bit::FALSE) {
            divisor.pop();
        }
        let quotient = self.div(&Unsigned::new(dividend), &Unsigned::new(divisor));
        let bits = quotient.bits().iter().map(|&bit| self.xor(bit, sign)).chain([sign]).collect();
        Signed::new(bits)
    }

    /// The square root of an unsigned integer, rounded down; half as many bits.
    ///
    /// *Cost*: k(k + 1)/2 for 2k bits, k > 1 (32 bits: 136, 64 bits: 528).
    ///
    /// *Source*: non-restoring digit by digit, as in [`CircuitBuilder::div_rem`]: with root q so far, a step subtracts 4q + 1
    /// from the remainder, or adds 4q + 3 if it is negative. Either operand is q or its complement, followed by two ones.
    pub fn sqrt(&mut self, a: &Unsigned) -> Unsigned {
        let k = a.width().div_ceil(2);
        let mut root: Vec<Bit> = Vec::with_capacity(k);
        let mut rest = vec![Bit::FALSE];
        let mut subtract = Bit::TRUE;
        for step in 0..k {
            let at = 2 * (k - 1 - step);
            rest.splice(0..0, [a.bit(at), a.bit(at + 1)]);
            let width = step + 3;
            let sign = *rest.last().expect("a remainder has a sign bit");
            let taken: Vec<Bit> = [Bit::TRUE; 2]
                .into_iter()
                .chain((0..width - 2).map(|i| self.xor(root.get(i).copied().unwrap_or(Bit::FALSE), subtract)))
                .collect();
            rest = self.sum_bits(width, |i| (rest.get(i).copied().unwrap_or(sign), taken[i]), Bit::FALSE);
            subtract = !rest[width - 1];
            root.insert(0, subtract);
        }
        Unsigned::new(root)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::{Component, Type};

    use super::*;
    use crate::builder::simulate;

    fn quotient(n: u32, m: u32, fraction: usize) -> Component {
        let mut c = CircuitBuilder::new("divide");
        let (a, b): (Signed, Signed) = (c.input("a", Type::Signed(n)), c.input("b", Type::Signed(m)));
        let quotient = c.div_floor(&a, &b, fraction);
        c.output("quotient", &quotient);
        c.finish().unwrap()
    }

    fn root(n: u32) -> Component {
        let mut c = CircuitBuilder::new("root");
        let a: Unsigned = c.input("a", Type::Unsigned(n));
        let root = c.sqrt(&a);
        c.output("root", &root);
        c.finish().unwrap()
    }

    fn signed(x: u128, width: u32) -> i128 {
        (x << (128 - width)) as i128 >> (128 - width)
    }

    fn expected(a: i128, b: i128, n: u32, fraction: u32) -> i128 {
        match b {
            0 if a < 0 => -(1 << (n + fraction)),
            0 => (1 << (n + fraction)) - 1,
            _ => {
                let (quotient, rest) = ((a << fraction) / b, (a << fraction) % b);
                quotient - i128::from(rest != 0 && (rest < 0) != (b < 0))
            }
        }
    }

    #[test]
    fn all_small_quotients_are_rounded_down() {
        for (n, m, fraction) in [(1, 1, 0), (3, 2, 1), (4, 4, 0), (4, 4, 3), (2, 5, 4)] {
            let component = quotient(n, m, fraction as usize);
            for (a, b) in (0..1u128 << n).flat_map(|a| (0..1u128 << m).map(move |b| (a, b))) {
                let got = signed(simulate::component(&component, &[a, b])[0], n + fraction + 1);
                let (a, b) = (signed(a, n), signed(b, m));
                assert_eq!(got, expected(a, b, n, fraction), "{a} / {b}, {n}, {m}, {fraction}");
            }
        }
    }

    #[test]
    fn all_small_roots_are_rounded_down() {
        for n in 1..=10 {
            let component = root(n);
            for a in 0..1u128 << n {
                assert_eq!(simulate::component(&component, &[a]), [a.isqrt()], "root of {a}");
            }
        }
    }

    #[test]
    fn counts_are_as_stated() {
        for (n, fraction) in [(8u32, 4usize), (16, 8), (32, 16), (64, 32), (32, 0)] {
            let mut c = CircuitBuilder::new("divide");
            let a: Unsigned = c.input("a", Type::Unsigned(n + fraction as u32));
            let b: Unsigned = c.input("b", Type::Unsigned(n));
            let plain = c.div(&a, &b);
            c.output("quotient", &plain);
            let plain = c.finish().unwrap().stats().and;
            let ands = quotient(n, n, fraction).stats().and;
            println!("{n} bits, {fraction} after the point: {ands}, of which {plain} divide");
            assert_eq!(ands, plain + u64::from(2 * n - 1));
        }
        for k in 2..40u32 {
            assert_eq!(root(2 * k).stats().and, u64::from(k * (k + 1) / 2), "{k}");
        }
    }

    proptest! {
        #[test]
        fn wide_quotients_and_roots(a: u32, b: u32, high: u32) {
            let divide = quotient(32, 32, 16);
            let got = signed(simulate::component(&divide, &[a.into(), b.into()])[0], 49);
            prop_assert_eq!(got, expected(signed(a.into(), 32), signed(b.into(), 32), 32, 16));
            let number = u128::from(high) << 32 | u128::from(a);
            prop_assert_eq!(simulate::component(&root(64), &[number]), [number.isqrt()]);
        }
    }
}
