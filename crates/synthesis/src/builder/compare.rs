//! Comparison, minimum and maximum.

use super::{
    Aim, Bit, CircuitBuilder,
    word::{Integer, Word},
};

impl CircuitBuilder {
    /// `a < b`. *Cost*: n, the greater width.
    pub fn less<I: Integer>(&mut self, a: &I, b: &I) -> Bit {
        let n = a.width().max(b.width());
        // The carry of b + !a is one if a < b. The weight of a sign bit is negative, so there a and b change places.
        let pairs = (0..n).map(|i| if I::SIGNED && i + 1 == n { (a.bit(i), !b.bit(i)) } else { (b.bit(i), !a.bit(i)) });
        if self.aim == Aim::Depth {
            let carries = self.carries(&pairs.collect::<Vec<_>>(), Bit::FALSE);
            return carries.last().copied().unwrap_or(Bit::FALSE);
        }
        pairs.fold(Bit::FALSE, |carry, (x, y)| self.full_adder(x, y, carry).1)
    }

    /// `a <= b`. *Cost*: n.
    pub fn less_equal<I: Integer>(&mut self, a: &I, b: &I) -> Bit {
        !self.less(b, a)
    }

    /// `a > b`. *Cost*: n.
    pub fn greater<I: Integer>(&mut self, a: &I, b: &I) -> Bit {
        self.less(b, a)
    }

    /// `a >= b`. *Cost*: n.
    pub fn greater_equal<I: Integer>(&mut self, a: &I, b: &I) -> Bit {
        !self.less(a, b)
    }

    /// Returns whether two words of one shape are equal. *Cost*: n - 1.
    pub fn equal<W: Word>(&mut self, a: &W, b: &W) -> Bit {
        let same = self.zip_bits(a, b, |c, x, y| !c.xor(x, y));
        self.all(&same)
    }

    /// Returns whether all bits are zero. *Cost*: n - 1.
    pub fn is_zero<W: Word>(&mut self, a: &W) -> Bit {
        !self.any(&a.to_bits())
    }

    /// The lesser of two integers. *Cost*: 2n.
    pub fn min<I: Integer>(&mut self, a: &I, b: &I) -> I {
        self.min_max(a, b).0
    }

    /// The greater of two integers. *Cost*: 2n.
    pub fn max<I: Integer>(&mut self, a: &I, b: &I) -> I {
        self.min_max(a, b).1
    }

    /// The lesser and the greater of two integers. *Cost*: 2n for both together.
    pub fn min_max<I: Integer>(&mut self, a: &I, b: &I) -> (I, I) {
        let n = a.width().max(b.width());
        let (a, b) = (a.resize(n), b.resize(n));
        let swap = self.less(&b, &a);
        self.swap_if(swap, &a, &b)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::Type;

    use super::*;
    use crate::builder::{
        simulate,
        word::{Signed, Unsigned},
    };

    type Comparison<I> = fn(&mut CircuitBuilder, &I, &I) -> Bit;

    fn bit_output<I: Integer>(ty: Type, operation: Comparison<I>) -> (u64, impl Fn(u128, u128) -> bool) {
        let mut c = CircuitBuilder::new("compare");
        let (a, b): (I, I) = (c.input("a", ty.clone()), c.input("b", ty));
        let bit = operation(&mut c, &a, &b);
        c.output("bit", &bit);
        let component = c.finish().unwrap();
        (component.stats().and, move |a, b| simulate::component(&component, &[a, b]) == [1])
    }

    fn signed(x: u128, width: u32) -> i128 {
        (x << (128 - width)) as i128 >> (128 - width)
    }

    /// Numbers that differ in few places or none.
    fn close_pair() -> impl Strategy<Value = (u128, u128)> {
        (any::<u128>(), prop_oneof![Just(0), (0..128).prop_map(|i| 1u128 << i), any::<u128>()])
            .prop_map(|(a, d)| (a, a ^ d))
    }

    proptest! {
        #[test]
        fn comparisons(width in 1u32..100, (a, b) in close_pair()) {
            let mask = (1u128 << width) - 1;
            let (a, b) = (a & mask, b & mask);
            let (x, y) = (signed(a, width), signed(b, width));
            let n = u64::from(width);
            let unsigned: [(Comparison<Unsigned>, bool, u64); 6] = [
                (CircuitBuilder::less, a < b, n),
                (CircuitBuilder::less_equal, a <= b, n),
                (CircuitBuilder::greater, a > b, n),
                (CircuitBuilder::greater_equal, a >= b, n),
                (CircuitBuilder::equal, a == b, n - 1),
                (|c, a, _| c.is_zero(a), a == 0, n - 1),
            ];
            for (operation, expected, cost) in unsigned {
                let (ands, run) = bit_output(Type::Unsigned(width), operation);
                prop_assert_eq!(run(a, b), expected);
                prop_assert_eq!(ands, cost);
            }
            let signed: [(Comparison<Signed>, bool); 4] = [
                (CircuitBuilder::less, x < y),
                (CircuitBuilder::less_equal, x <= y),
                (CircuitBuilder::greater, x > y),
                (CircuitBuilder::greater_equal, x >= y),
            ];
            for (operation, expected) in signed {
                let (ands, run) = bit_output(Type::Signed(width), operation);
                prop_assert_eq!(run(a, b), expected);
                prop_assert_eq!(ands, n);
            }
        }

        #[test]
        fn minimum_and_maximum(width in 1u32..100, (a, b) in close_pair()) {
            let mask = (1u128 << width) - 1;
            let (a, b) = (a & mask, b & mask);
            let mut c = CircuitBuilder::new("min-max");
            let x: Signed = c.input("a", Type::Signed(width));
            let y: Signed = c.input("b", Type::Signed(width));
            let (least, most) = (c.min(&x, &y), c.max(&x, &y));
            c.output("min", &least);
            c.output("max", &most);
            let component = c.finish().unwrap();
            prop_assert_eq!(component.stats().and, 2 * u64::from(width));
            let (x, y) = (signed(a, width), signed(b, width));
            let expected = [x.min(y) as u128 & mask, x.max(y) as u128 & mask];
            prop_assert_eq!(simulate::component(&component, &[a, b]), expected);
        }

        #[test]
        fn unequal_widths_compare_by_value(wa in 1u32..20, wb in 1u32..20, a: u128, b: u128) {
            let mut c = CircuitBuilder::new("widths");
            let x: Signed = c.input("a", Type::Signed(wa));
            let y: Signed = c.input("b", Type::Signed(wb));
            let less = c.less(&x, &y);
            c.output("less", &less);
            let component = c.finish().unwrap();
            let (a, b) = (a & ((1 << wa) - 1), b & ((1 << wb) - 1));
            let expected = signed(a, wa) < signed(b, wb);
            prop_assert_eq!(simulate::component(&component, &[a, b]), [u128::from(expected)]);
        }
    }
}
