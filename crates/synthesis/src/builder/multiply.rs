//! Multiplication.
//!
//! Short products are schoolbook: all partial products, summed by columns. From 14 bits on Karatsuba's identity
//! `a1 b0 + a0 b1 = (a0 + a1)(b0 + b1) - a0 b0 - a1 b1` saves AND gates.

use super::{
    Aim, Bit, CircuitBuilder,
    columns::Columns,
    word::{Integer, Unsigned},
};

/// Width from which Karatsuba's method has fewer AND gates for a whole product.
const SPLIT_FROM: usize = 14;

/// The same for a square.
const SPLIT_SQUARE_FROM: usize = 18;

/// The same for the low half of a product, in which only one of the three parts is whole.
const SPLIT_LOW_FROM: usize = 27;

impl CircuitBuilder {
    /// `a * b` modulo `2^n`, n the greater width.
    ///
    /// *Cost*: n² - n + 1 for two operands of n bits, fewer from n = 27 on (32 bits: 961, 64 bits: 3,523). With [`Aim::Depth`]
    /// about 2 log2(n) + 3 layers (32 bits: 12 layers and 1,068 AND gates, 64 bits: 15 and 4,251).
    pub fn mul<I: Integer>(&mut self, a: &I, b: &I) -> I {
        let n = a.width().max(b.width());
        let (a, b) = (a.resize(n), b.resize(n));
        I::new(self.low_product(a.bits(), b.bits()))
    }

    /// `a * b` modulo `2^n`, and whether the true product is out of range; n is the greater width.
    ///
    /// *Cost*: [`CircuitBuilder::mul`] for one more bit, minus the partial products of that bit, plus at most 3n - 4
    /// (32 bits: 1,109, 64 bits: 3,805; signed: 1,107, 3,803).
    ///
    /// *Source*: Schulte, Gok, Balzola and Brocato 2000. If no two bits of the magnitudes have weights whose product exceeds
    /// the result's range, the product has at most one bit more than the result, and that bit shows overflow.
    pub fn mul_overflow<I: Integer>(&mut self, a: &I, b: &I) -> (I, Bit) {
        let n = a.width().max(b.width());
        if n == 0 {
            return (a.clone(), Bit::FALSE);
        }
        let (a, b) = (a.resize(n), b.resize(n));
        let mut bits = if I::SIGNED || self.splits(n + 1, SPLIT_LOW_FROM) {
            self.low_product(a.resize(n + 1).bits(), b.resize(n + 1).bits())
        } else {
            let mut columns = Columns::new(n + 1);
            self.partial_products_below(&mut columns, a.bits(), b.bits(), n);
            columns.sum(self)
        };
        let beyond = bits.pop().expect("n + 1 bits");
        // The bits of a magnitude; one less if it is negative, since a power of two more or less makes no difference.
        let sign = |x: &I| if I::SIGNED { x.bit(n - 1) } else { Bit::FALSE };
        let (sign_a, sign_b) = (sign(&a), sign(&b));
        let size = n - usize::from(I::SIGNED);
        let a: Vec<Bit> = a.bits()[..size].iter().map(|&bit| self.xor(bit, sign_a)).collect();
        let b: Vec<Bit> = b.bits()[..size].iter().map(|&bit| self.xor(bit, sign_b)).collect();
        let large = self.any_product_from(&a, &b);
        let outside = if I::SIGNED { self.xor(beyond, bits[n - 1]) } else { beyond };
        (I::new(bits), self.or(large, outside))
    }

    /// Returns whether products of n bits are split, if that has fewer AND gates from this width on. It has more layers.
    fn splits(&self, n: usize, from: usize) -> bool {
        self.aim == Aim::Size && n >= from
    }

    /// Returns whether bits i of `a` and j of `b` are both set for some i + j >= n, for two numbers of n bits.
    fn any_product_from(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let n = a.len();
        let highest: Vec<Bit> = b.iter().skip(1).rev().copied().collect();
        let early = (self.aim == Aim::Depth).then(|| self.running_any(&highest));
        let mut from = Bit::FALSE;
        let mut found = Vec::with_capacity(n);
        for i in 1..n {
            from = match &early {
                Some(from) => from[i - 1],
                None => self.or(from, b[n - i]),
            };
            let both = self.and(a[i], from);
            found.push(both);
        }
        self.any(&found)
    }

    /// The whole product, as wide as both operands together.
    ///
    /// *Cost*: 2nm - max(n, m) for unsigned operands of n and m bits, fewer if n = m >= 14 (32 bits: 1,604, 64 bits:
    /// 5,216); for signed ones of two bits or more 2nm - max(n, m).
    pub fn mul_full<I: Integer>(&mut self, a: &I, b: &I) -> I {
        let bits = if I::SIGNED { self.signed_product(a.bits(), b.bits()) } else { self.product(a.bits(), b.bits()) };
        I::new(bits)
    }

    /// The whole square, twice as wide. *Cost*: n² - n - 1 for n >= 2, fewer from n = 18 on (32 bits: 871,
    /// 64 bits: 2,927).
    pub fn square(&mut self, a: &Unsigned) -> Unsigned {
        self.mul_full(a, a)
    }

    /// The sum of the products of pairs, modulo `2^width`, all summed in one go.
    ///
    /// *Cost*: for k pairs of w = `width` bits at most k (w² - w + 1) + (k - 1)(w - 1).
    pub fn dot<I: Integer>(&mut self, a: &[I], b: &[I], width: usize) -> I {
        assert_eq!(a.len(), b.len(), "vectors of one length");
        let mut columns = Columns::new(width);
        for (x, y) in a.iter().zip(b) {
            let (x, y) = (x.resize(width), y.resize(width));
            self.partial_products(&mut columns, x.bits(), y.bits());
        }
        I::new(columns.sum(self))
    }

    /// All bits of the product of two unsigned numbers.
    fn product(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let n = a.len();
        if n == b.len() && self.splits(n, if a == b { SPLIT_SQUARE_FROM } else { SPLIT_FROM }) {
            return self.karatsuba(a, b);
        }
        let mut columns = Columns::new(n + b.len());
        self.partial_products(&mut columns, a, b);
        columns.sum(self)
    }

    /// *Source*: Karatsuba and Ofman 1962.
    fn karatsuba(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let n = a.len();
        let half = n.div_ceil(2);
        let (a0, a1) = a.split_at(half);
        let (b0, b1) = b.split_at(half);
        let low = self.product(a0, b0);
        let high = self.product(a1, b1);
        let (sum_a, sum_b) = (self.whole_sum(a0, a1), self.whole_sum(b0, b1));
        let sums = self.product(&sum_a, &sum_b);

        // The middle part is at most 2 (2^half - 1)^2, below 2^(2 half + 1).
        let mut middle = Columns::new(2 * half + 1);
        middle.add(&sums, 0);
        middle.subtract(&low, 0);
        middle.subtract(&high, 0);
        let middle = middle.sum(self);

        let mut columns = Columns::new(2 * n);
        columns.add(&low, 0);
        columns.add(&high, 2 * half);
        columns.add(&middle, half);
        columns.sum(self)
    }

    /// The low n bits of the product of two numbers of n bits.
    fn low_product(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let n = a.len();
        let mut columns = Columns::new(n);
        if !self.splits(n, SPLIT_LOW_FROM) {
            self.partial_products(&mut columns, a, b);
            return columns.sum(self);
        }
        // Three fifths, rounded to an even number, cost least: whole products of odd widths cost more than their share.
        let split = n * 3 / 10 * 2;
        let low = self.product(&a[..split], &b[..split]);
        columns.add(&low, 0);
        for (x, y) in [(&a[split..], &b[..n - split]), (&a[..n - split], &b[split..])] {
            let cross = self.low_product(x, y);
            columns.add(&cross, split);
        }
        columns.sum(self)
    }

    /// Two's complement operands: the partial products with exactly one sign bit are negative.
    ///
    /// `-x 2^k = !x 2^k - 2^k`, and the sum of all these powers is three ones. *Source*: Baugh and Wooley 1973.
    fn signed_product(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let (n, m) = (a.len(), b.len());
        let mut columns = Columns::new(n + m);
        if n == 0 || m == 0 {
            return columns.sum(self);
        }
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in b.iter().enumerate() {
                let negative = (i + 1 == n) != (j + 1 == m);
                let bit = self.and(x, y).invert_if(negative);
                columns.push(i + j, bit);
            }
        }
        for place in [n - 1, m - 1, n + m - 1] {
            columns.push(place, Bit::TRUE);
        }
        columns.sum(self)
    }

    /// Adds all products of a bit of `a` and a bit of `b` whose columns are within the sum.
    fn partial_products(&mut self, columns: &mut Columns, a: &[Bit], b: &[Bit]) {
        self.partial_products_below(columns, a, b, columns.width());
    }

    /// The same for the first `width` columns.
    fn partial_products_below(&mut self, columns: &mut Columns, a: &[Bit], b: &[Bit], width: usize) {
        let square = a == b;
        for (i, &x) in a.iter().enumerate().take(width) {
            for (j, &y) in b.iter().enumerate().take(width - i) {
                match i.cmp(&j) {
                    // x_i x_j + x_j x_i is one product of twice the weight.
                    std::cmp::Ordering::Less if square => continue,
                    std::cmp::Ordering::Greater if square && i + j + 1 >= width => continue,
                    std::cmp::Ordering::Greater if square => {
                        let bit = self.and(x, y);
                        columns.push(i + j + 1, bit);
                    }
                    _ => {
                        let bit = self.and(x, y);
                        columns.push(i + j, bit);
                    }
                }
            }
        }
    }

    fn whole_sum(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let n = a.len().max(b.len());
        let at = |bits: &[Bit], i: usize| bits.get(i).copied().unwrap_or(Bit::FALSE);
        self.sum_bits(n + 1, |i| (at(a, i), at(b, i)), Bit::FALSE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::{Component, Type};

    use super::*;
    use crate::builder::{simulate, word::Signed};

    fn build<I: Integer>(types: [Type; 2], operation: impl Fn(&mut CircuitBuilder, &I, &I) -> I) -> Component {
        let mut c = CircuitBuilder::new("multiply");
        let [ta, tb] = types;
        let (a, b): (I, I) = (c.input("a", ta), c.input("b", tb));
        let out = operation(&mut c, &a, &b);
        c.output("out", &out);
        c.finish().unwrap()
    }

    fn mask(width: u32) -> u128 {
        if width >= 128 { u128::MAX } else { (1 << width) - 1 }
    }

    fn signed(x: u128, width: u32) -> i128 {
        (x << (128 - width)) as i128 >> (128 - width)
    }

    fn counts(n: u32) -> [u64; 3] {
        let ty = || [Type::Unsigned(n), Type::Unsigned(n)];
        let low = build::<Unsigned>(ty(), |c, a, b| c.mul(a, b));
        let full = build::<Unsigned>(ty(), |c, a, b| c.mul_full(a, b));
        let square = build::<Unsigned>(ty(), |c, a, _| c.square(a));
        [low, full, square].map(|component| component.stats().and)
    }

    #[test]
    fn counts_are_as_stated() {
        for n in (1u32..70).chain([127, 128, 200]) {
            let k = u64::from(n);
            let schoolbook = [k * k - k + 1, 2 * k * k - k, (k * k).saturating_sub(k + 1)];
            let split_from = [SPLIT_LOW_FROM, SPLIT_FROM, SPLIT_SQUARE_FROM];
            for ((got, schoolbook), from) in counts(n).into_iter().zip(schoolbook).zip(split_from) {
                let split = n as usize >= from;
                assert!(if split { got <= schoolbook } else { got == schoolbook }, "{n} bits: {got} of {schoolbook}");
            }
        }
        assert_eq!(counts(32), [961, 1604, 871]);
        assert_eq!(counts(64), [3523, 5216, 2927]);
    }

    #[test]
    fn splitting_earlier_saves_nothing() {
        let n = SPLIT_FROM - 1;
        let ty = || [Type::Unsigned(n as u32), Type::Unsigned(n as u32)];
        let split = build::<Unsigned>(ty(), |c, a, b| Unsigned::new(c.karatsuba(a.bits(), b.bits())));
        assert!(split.stats().and >= counts(n as u32)[1]);
    }

    #[test]
    fn signed_products_cost_as_stated() {
        for (n, m) in [(2u32, 2u32), (2, 7), (7, 2), (3, 9), (12, 5), (32, 32)] {
            let component = build::<Signed>([Type::Signed(n), Type::Signed(m)], |c, a, b| c.mul_full(a, b));
            assert_eq!(component.stats().and, u64::from(2 * n * m - n.max(m)), "{n} by {m}");
        }
    }

    #[test]
    fn unequal_widths_cost_as_stated() {
        for (n, m) in [(1u32, 1u32), (1, 7), (7, 1), (3, 9), (12, 5), (40, 33)] {
            let component = build::<Unsigned>([Type::Unsigned(n), Type::Unsigned(m)], |c, a, b| c.mul_full(a, b));
            assert_eq!(component.stats().and, u64::from(2 * n * m - n.max(m)), "{n} by {m}");
        }
    }

    fn checked<I: Integer>(ty: fn(u32) -> Type, n: u32) -> Component {
        let mut c = CircuitBuilder::new("checked");
        let (a, b): (I, I) = (c.input("a", ty(n)), c.input("b", ty(n)));
        let (product, overflow) = c.mul_overflow(&a, &b);
        c.output("product", &product);
        c.output("overflow", &overflow);
        c.finish().unwrap()
    }

    #[test]
    fn overflow_costs_little_more_than_the_product() {
        let ands =
            |n| [checked::<Unsigned>(Type::Unsigned, n), checked::<Signed>(Type::Signed, n)].map(|c| c.stats().and);
        for n in 1..40 {
            assert!(
                ands(n).iter().all(|&ands| ands <= u64::from((n + 1) * (n + 1) + 2 * n)),
                "{n} bits: {:?}",
                ands(n)
            );
        }
        assert_eq!([ands(8), ands(32), ands(64)], [[84, 88], [1109, 1107], [3805, 3803]]);
    }

    #[test]
    fn every_overflow_of_small_products() {
        for n in 1..6 {
            let (unsigned, of_signed) = (checked::<Unsigned>(Type::Unsigned, n), checked::<Signed>(Type::Signed, n));
            for (a, b) in (0..1u128 << n).flat_map(|a| (0..1u128 << n).map(move |b| (a, b))) {
                let expected = [(a * b) & mask(n), u128::from(a * b > mask(n))];
                assert_eq!(simulate::component(&unsigned, &[a, b]), expected, "{a} * {b}");
                let product = signed(a, n) * signed(b, n);
                let expected = [product as u128 & mask(n), u128::from(product != signed(product as u128, n))];
                assert_eq!(simulate::component(&of_signed, &[a, b]), expected, "signed {a} * {b}, {n} bits");
            }
        }
    }

    proptest! {
        #[test]
        fn overflows(n in 1u32..64, a: u64, b: u64, shift_a in 0u32..64, shift_b in 0u32..64, negate: bool) {
            let small = |x: u64, shift: u32| u128::from(x >> shift) & mask(n);
            let (a, b) = (small(a, shift_a), small(b, shift_b));
            let a = if negate { a.wrapping_neg() & mask(n) } else { a };
            let expected = [(a * b) & mask(n), u128::from(a * b > mask(n))];
            prop_assert_eq!(simulate::component(&checked::<Unsigned>(Type::Unsigned, n), &[a, b]), expected);
            let product = signed(a, n) * signed(b, n);
            let expected = [product as u128 & mask(n), u128::from(product != signed(product as u128, n))];
            prop_assert_eq!(simulate::component(&checked::<Signed>(Type::Signed, n), &[a, b]), expected);
        }

        #[test]
        fn products(wa in 1u32..64, wb in 1u32..64, equal: bool, a: u64, b: u64) {
            let wb = if equal { wa } else { wb };
            let (x, y) = (u128::from(a) & mask(wa), u128::from(b) & mask(wb));
            let types = || [Type::Unsigned(wa), Type::Unsigned(wb)];
            let full = build::<Unsigned>(types(), |c, a, b| c.mul_full(a, b));
            prop_assert_eq!(simulate::component(&full, &[x, y]), [x * y]);
            let low = build::<Unsigned>(types(), |c, a, b| c.mul(a, b));
            prop_assert_eq!(simulate::component(&low, &[x, y]), [(x * y) & mask(wa.max(wb))]);
            let square = build::<Unsigned>(types(), |c, a, _| c.square(a));
            prop_assert_eq!(simulate::component(&square, &[x, y]), [x * x]);

            let (s, t) = (signed(x, wa), signed(y, wb));
            let types = || [Type::Signed(wa), Type::Signed(wb)];
            let full = build::<Signed>(types(), |c, a, b| c.mul_full(a, b));
            prop_assert_eq!(simulate::component(&full, &[x, y]), [(s * t) as u128 & mask(wa + wb)]);
            let low = build::<Signed>(types(), |c, a, b| c.mul(a, b));
            prop_assert_eq!(simulate::component(&low, &[x, y]), [(s * t) as u128 & mask(wa.max(wb))]);
        }

        #[test]
        fn dot_products(k in 0usize..6, width in 1u32..24, values: [u32; 12]) {
            let mut c = CircuitBuilder::new("dot");
            let word = Type::Array(Box::new(Type::Unsigned(width)), k as u32);
            let a: Vec<Unsigned> = c.input("a", word.clone());
            let b: Vec<Unsigned> = c.input("b", word);
            let dot = c.dot(&a, &b, width as usize);
            c.output("dot", &dot);
            let component = c.finish().unwrap();
            let value = |i: usize| u128::from(values[i]) & mask(width);
            let wires: Vec<bool> =
                (0..k).chain(6..6 + k).flat_map(|i| simulate::to_bits(value(i), width as usize)).collect();
            let expected = (0..k).map(|i| value(i) * value(6 + i)).sum::<u128>() & mask(width);
            prop_assert_eq!(simulate::from_bits(&simulate::circuit(component.circuit(), &wires)), expected);
            let (k, w) = (k as u64, u64::from(width));
            prop_assert!(component.stats().and <= k * (w * w - w + 1) + k.saturating_sub(1) * (w - 1));
        }
    }
}
