//! Shifts and rotations, by a constant or by a secret amount.
//!
//! The operations take any integer; right shifts of signed ones copy the sign.

use super::{
    Bit, CircuitBuilder,
    word::{Integer, Unsigned},
};

impl CircuitBuilder {
    /// `a * 2^amount` modulo `2^n`. *Cost*: 0.
    pub fn shift_left<I: Integer>(&mut self, a: &I, amount: usize) -> I {
        I::new((0..a.width()).map(|i| i.checked_sub(amount).map_or(Bit::FALSE, |i| a.bit(i))).collect())
    }

    /// `a / 2^amount`, rounded down. *Cost*: 0.
    pub fn shift_right<I: Integer>(&mut self, a: &I, amount: usize) -> I {
        I::new((0..a.width()).map(|i| a.bit(i.saturating_add(amount))).collect())
    }

    /// Bit `i` moves to place `i + amount` modulo n. *Cost*: 0.
    pub fn rotate_left<I: Integer>(&mut self, a: &I, amount: usize) -> I {
        let mut bits = a.bits().to_vec();
        if !bits.is_empty() {
            let amount = amount % bits.len();
            bits.rotate_right(amount);
        }
        I::new(bits)
    }

    /// Bit `i` moves to place `i - amount` modulo n. *Cost*: 0.
    pub fn rotate_right<I: Integer>(&mut self, a: &I, amount: usize) -> I {
        let n = a.width().max(1);
        self.rotate_left(a, n - amount % n)
    }

    /// `a * 2^amount` modulo `2^n` for a secret amount of k bits.
    ///
    /// *Cost*: n for each bit of the amount worth less than n; if the amount has more bits, n plus their number minus one.
    pub fn shift_left_by<I: Integer>(&mut self, a: &I, amount: &Unsigned) -> I {
        let zero = I::new(vec![Bit::FALSE; a.width()]);
        self.shift_by(a, amount, &zero, Self::shift_left)
    }

    /// `a / 2^amount`, rounded down, for a secret amount of k bits.
    ///
    /// *Cost*: as [`CircuitBuilder::shift_left_by`], but with n - 1 in place of n for signed integers.
    pub fn shift_right_by<I: Integer>(&mut self, a: &I, amount: &Unsigned) -> I {
        let gone = self.shift_right(a, a.width());
        self.shift_by(a, amount, &gone, Self::shift_right)
    }

    /// Bit `i` moves to place `i + amount` modulo n, for a secret amount of k bits. *Cost*: nk at most.
    pub fn rotate_left_by<I: Integer>(&mut self, a: &I, amount: &Unsigned) -> I {
        self.rotate_by(a, amount, Self::rotate_left)
    }

    /// Bit `i` moves to place `i - amount` modulo n, for a secret amount of k bits. *Cost*: nk at most.
    pub fn rotate_right_by<I: Integer>(&mut self, a: &I, amount: &Unsigned) -> I {
        self.rotate_by(a, amount, Self::rotate_right)
    }

    /// One stage per bit of the amount; `gone` is the result when the amount is n or more.
    fn shift_by<I: Integer>(&mut self, a: &I, amount: &Unsigned, gone: &I, shift: fn(&mut Self, &I, usize) -> I) -> I {
        let stages = a.width().max(1).next_power_of_two().trailing_zeros() as usize;
        let (stages, beyond) = amount.bits().split_at(stages.min(amount.width()));
        let mut value = a.clone();
        for (j, &bit) in stages.iter().enumerate() {
            let moved = shift(self, &value, 1 << j);
            value = self.select(bit, &moved, &value);
        }
        let beyond = self.any(beyond);
        self.select(beyond, gone, &value)
    }

    fn rotate_by<I: Integer>(&mut self, a: &I, amount: &Unsigned, rotate: fn(&mut Self, &I, usize) -> I) -> I {
        let mut value = a.clone();
        let mut step = 1 % a.width().max(1);
        for &bit in amount.bits() {
            let moved = rotate(self, &value, step);
            value = self.select(bit, &moved, &value);
            step = 2 * step % a.width().max(1);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::Type;

    use super::*;
    use crate::builder::{simulate, word::Signed};

    fn by_secret<I: Integer>(
        ty: Type,
        k: u32,
        operation: fn(&mut CircuitBuilder, &I, &Unsigned) -> I,
    ) -> (u64, impl Fn(u128, u128) -> u128) {
        let mut c = CircuitBuilder::new("shift");
        let a: I = c.input("a", ty);
        let amount: Unsigned = c.input("amount", Type::Unsigned(k));
        let out = operation(&mut c, &a, &amount);
        c.output("out", &out);
        let component = c.finish().unwrap();
        (component.stats().and, move |a, k| simulate::component(&component, &[a, k])[0])
    }

    fn by_constant(n: u32, a: u128, operation: impl Fn(&mut CircuitBuilder, &Signed) -> Signed) -> u128 {
        let mut c = CircuitBuilder::new("shift");
        let x: Signed = c.input("a", Type::Signed(n));
        let out = operation(&mut c, &x);
        c.output("out", &out);
        let component = c.finish().unwrap();
        assert_eq!(component.stats().and, 0);
        simulate::component(&component, &[a])[0]
    }

    fn signed(x: u128, n: u32) -> i128 {
        (x << (128 - n)) as i128 >> (128 - n)
    }

    fn rotated(a: u128, n: u32, k: u128) -> u128 {
        let k = (k % u128::from(n)) as u32;
        if k == 0 { a } else { (a << k | a >> (n - k)) & ((1 << n) - 1) }
    }

    proptest! {
        #[test]
        fn constant_amounts(n in 1u32..60, a: u64, k in 0u32..70) {
            let mask = (1u128 << n) - 1;
            let a = u128::from(a) & mask;
            let amount = k as usize;
            prop_assert_eq!(by_constant(n, a, |c, x| c.shift_left(x, amount)), a << k.min(64) & mask);
            prop_assert_eq!(by_constant(n, a, |c, x| c.shift_right(x, amount)), (signed(a, n) >> k) as u128 & mask);
            prop_assert_eq!(by_constant(n, a, |c, x| c.rotate_left(x, amount)), rotated(a, n, k.into()));
            let back = u128::from(n - k % n);
            prop_assert_eq!(by_constant(n, a, |c, x| c.rotate_right(x, amount)), rotated(a, n, back));
        }

        #[test]
        fn secret_amounts(n in 1u32..60, k in 0u32..9, a: u64, amount: u8) {
            let mask = (1u128 << n) - 1;
            let a = u128::from(a) & mask;
            let amount = u128::from(amount) & ((1 << k) - 1);
            let stages = n.next_power_of_two().trailing_zeros();
            let beyond = k.saturating_sub(stages);
            let ands = |per_stage: u32| u64::from(per_stage * (k.min(stages) + u32::from(beyond > 0)) + beyond.max(1) - 1);

            let (left, run) = by_secret::<Unsigned>(Type::Unsigned(n), k, CircuitBuilder::shift_left_by);
            let expected = if amount < 128 { a << amount & mask } else { 0 };
            prop_assert_eq!(run(a, amount), if amount < 60 { expected } else { 0 });
            prop_assert_eq!(left, ands(n));

            let (right, run) = by_secret::<Unsigned>(Type::Unsigned(n), k, CircuitBuilder::shift_right_by);
            prop_assert_eq!(run(a, amount), if amount < 128 { a >> amount } else { 0 });
            prop_assert_eq!(right, ands(n));

            let (right, run) = by_secret::<Signed>(Type::Signed(n), k, CircuitBuilder::shift_right_by);
            prop_assert_eq!(run(a, amount), (signed(a, n) >> amount.min(127)) as u128 & mask);
            prop_assert!(right <= ands(n - 1));

            let (left, run) = by_secret::<Unsigned>(Type::Unsigned(n), k, CircuitBuilder::rotate_left_by);
            prop_assert_eq!(run(a, amount), rotated(a, n, amount));
            prop_assert!(left <= u64::from(n * k));
            let (_, run) = by_secret::<Unsigned>(Type::Unsigned(n), k, CircuitBuilder::rotate_right_by);
            prop_assert_eq!(run(rotated(a, n, amount), amount), a);
        }
    }
}
