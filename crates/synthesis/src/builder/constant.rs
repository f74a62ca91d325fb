//! Products with constants, and a choice of the cheapest among equivalent constructions.
//!
//! A constant is built as a chain of sums. Each step shifts an earlier multiple of `a` and adds or subtracts `a` or the multiple
//! itself. This covers the constant's signed digits and repeated factors `2^i + 1` and `2^i - 1`:
//! 0x55555555 = 5 * 17 * 257 * 65537. *Source*: Bernstein 1986, with the cost of a sum counted in AND gates.

use std::collections::HashMap;

use garblet_circuit::Type;

use super::{
    Aim, Bit, CircuitBuilder,
    columns::Columns,
    word::{BitString, Integer},
};

/// The most constants to examine in the search for one chain.
const MAX_SEARCH: usize = 1 << 6;

/// A way to compute bits from others.
pub type Way<'a> = &'a dyn Fn(&mut CircuitBuilder, &[Bit]) -> Vec<Bit>;

/// A step from a multiple `x` of `a` to the next.
#[derive(Clone, Copy)]
struct Step {
    /// The shift of `x` in bits.
    shift: u32,
    /// Set if the step adds `x` itself instead of `a`.
    own: bool,
    /// Set if the step subtracts.
    minus: bool,
}

/// The cost of a constant, and its last step with the constant before it; none for 1.
type Chain = (u64, Option<(Step, u128)>);

/// The search for chains of odd constants.
struct Search {
    /// The width of `a`, the width of the product, and whether `a` is signed.
    bits: u32,
    width: u32,
    signed: bool,
    known: HashMap<u128, Chain>,
}

impl Search {
    /// The least known cost of a constant, and its last step with the constant before it.
    fn best(&mut self, k: u128) -> Chain {
        if k == 1 {
            return (0, None);
        }
        if let Some(&known) = self.known.get(&k) {
            return known;
        }
        let mut best = (u64::MAX, None);
        for (step, from) in self.steps(k) {
            let cost = self.best(from).0.saturating_add(self.cost(step, from, k));
            if cost < best.0 {
                best = (cost, Some((step, from)));
            }
        }
        self.known.insert(k, best);
        best
    }

    /// The possible last steps of an odd constant, each with the constant before it.
    fn steps(&self, k: u128) -> Vec<(Step, u128)> {
        let mut steps = Vec::new();
        let below = k - 1;
        let shift = below.trailing_zeros();
        steps.push((Step { shift, own: false, minus: false }, below >> shift));
        // Half of k + 1, which itself may overflow.
        let above = (k >> 1) + 1;
        let shift = above.trailing_zeros();
        if above >> shift < k {
            steps.push((Step { shift: shift + 1, own: false, minus: true }, above >> shift));
        }
        if self.known.len() < MAX_SEARCH {
            for shift in 1..u128::BITS - k.leading_zeros() {
                for (factor, minus) in [((1 << shift) + 1, false), ((1 << shift) - 1, true)] {
                    if factor > 1 && factor < k && k.is_multiple_of(factor) {
                        steps.push((Step { shift, own: true, minus }, k / factor));
                    }
                }
            }
        }
        steps
    }

    fn width_of(&self, k: u128) -> u32 {
        (self.bits + u128::BITS - k.leading_zeros()).min(self.width)
    }

    /// The approximate number of AND gates of a step.
    fn cost(&self, step: Step, from: u128, k: u128) -> u64 {
        let width = self.width_of(k);
        let added = if step.own { self.width_of(from) } else { self.bits };
        match step.minus {
            true => width.saturating_sub(2).into(),
            false if !self.signed && added <= step.shift => 0,
            false => width.saturating_sub(step.shift + 1).into(),
        }
    }

    /// The steps to a constant, in order.
    fn chain(&mut self, mut k: u128) -> Vec<Step> {
        let mut chain = Vec::new();
        while let (_, Some((step, from))) = self.best(k) {
            chain.push(step);
            k = from;
        }
        chain.reverse();
        chain
    }
}

impl CircuitBuilder {
    /// Applies the cheapest of several constructions to `bits`; the first one if they cost the same.
    ///
    /// # Panics
    /// If `ways` is empty.
    pub fn cheapest(&mut self, bits: &[Bit], ways: &[Way<'_>]) -> Vec<Bit> {
        let cost = |way: &&Way<'_>| {
            let mut trial = CircuitBuilder::with_aim("trial", self.aim);
            let mut inputs = HashMap::new();
            let mut input = |bit: Bit| {
                let next = inputs.len() as u32;
                *inputs.entry(bit.node()).or_insert(next)
            };
            let places: Vec<u32> = bits.iter().map(|&bit| input(bit)).collect();
            let BitString(wires) = trial.input("in", Type::Bits(inputs.len() as u32));
            let stand_in = |(&bit, place): (&Bit, u32)| match bit.as_constant() {
                Some(_) => bit,
                None => wires[place as usize].invert_if(bit.inverted()),
            };
            let own: Vec<Bit> = bits.iter().zip(places).map(stand_in).collect();
            let made = way(&mut trial, &own);
            let layers = match trial.aim {
                Aim::Size => 0,
                Aim::Depth => made.into_iter().map(|bit| trial.layer(bit)).max().unwrap_or(0),
            };
            (layers, trial.and_count())
        };
        let best = ways.iter().min_by_key(cost).expect("a way");
        best(self, bits)
    }

    /// `a * k` modulo `2^width`, or `-a * k` if `negative`.
    ///
    /// *Cost*: about the product's width for each sum in the shortest chain found; less than `width` for k = 2^i + 1 and
    /// k = 2^i - 1.
    pub fn mul_constant<I: Integer>(&mut self, a: &I, k: u128, negative: bool, width: usize) -> I {
        if k == 0 {
            return I::new(vec![Bit::FALSE; width]);
        }
        let chain = |c: &mut CircuitBuilder, bits: &[Bit]| c.by_chain(&I::new(bits.to_vec()), k, negative, width);
        let digits = |c: &mut CircuitBuilder, bits: &[Bit]| c.by_digits(&I::new(bits.to_vec()), k, negative, width);
        I::new(self.cheapest(a.bits(), &[&chain, &digits]))
    }

    fn by_chain<I: Integer>(&mut self, a: &I, k: u128, negative: bool, width: usize) -> Vec<Bit> {
        let even = k.trailing_zeros() as usize;
        let room = width.saturating_sub(even);
        let (bits, signed) = (a.width() as u32, I::SIGNED);
        let mut search = Search { bits, width: room as u32, signed, known: HashMap::new() };
        let odd = k >> even;
        let chain = search.chain(odd);
        let (mut x, mut multiple) = (a.clone(), 1u128);
        let mut is_negated = !negative;
        for (at, &Step { shift, own, minus }) in chain.iter().enumerate() {
            let added = if own { multiple } else { 1 };
            let shifted = multiple.checked_shl(shift).unwrap_or(0);
            multiple = if minus { shifted.wrapping_sub(added) } else { shifted.wrapping_add(added) };
            // A difference with its operands exchanged is the negative.
            let turned = negative && minus && at + 1 == chain.len();
            is_negated |= turned;
            let whole = if turned { room } else { search.width_of(multiple) as usize };
            let other = if own { x.clone() } else { a.clone() };
            let first = |i: usize| i.checked_sub(shift as usize).map_or(Bit::FALSE, |i| x.bit(i));
            x = I::new(match (minus, turned) {
                (false, _) => self.sum_bits(whole, |i| (first(i), other.bit(i)), Bit::FALSE),
                (true, false) => self.sum_bits(whole, |i| (first(i), !other.bit(i)), Bit::TRUE),
                (true, true) => self.sum_bits(whole, |i| (other.bit(i), !first(i)), Bit::TRUE),
            });
        }
        let mut product = x.resize(room);
        if !is_negated {
            product = self.neg(&product);
        }
        std::iter::repeat_n(Bit::FALSE, even.min(width)).chain(product.bits().iter().copied()).collect()
    }

    /// The same from the constant's signed digits, summed in one go.
    fn by_digits<I: Integer>(&mut self, a: &I, k: u128, negative: bool, width: usize) -> Vec<Bit> {
        let mut columns = Columns::new(width);
        let (mut rest, mut shift, mut carry) = (k, 0, false);
        while (rest > 0 || carry) && shift < width {
            // A digit is -1 where a run of ones continues.
            let odd = (rest & 1 == 1) != carry;
            let minus = odd && rest >> 1 & 1 == 1;
            carry = if odd { minus } else { carry };
            rest >>= 1;
            if odd {
                let bits = if I::SIGNED { a.resize(width - shift) } else { a.clone() };
                match minus != negative {
                    true => columns.subtract(bits.bits(), shift),
                    false => columns.add(bits.bits(), shift),
                }
            }
            shift += 1;
        }
        columns.sum(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::builder::{
        simulate,
        word::{Signed, Unsigned},
    };

    fn mask(width: u32) -> u128 {
        if width >= 128 { u128::MAX } else { (1 << width) - 1 }
    }

    /// The AND gates of a product with a constant, and its value for a number.
    fn product<I: Integer>(ty: Type, k: u128, negative: bool, width: u32) -> (u64, impl Fn(u128) -> u128) {
        let mut c = CircuitBuilder::new("constant");
        let a: I = c.input("a", ty);
        let product = c.mul_constant(&a, k, negative, width as usize);
        c.output("product", &product);
        let component = c.finish().unwrap();
        (component.stats().and, move |a| simulate::component(&component, &[a])[0])
    }

    fn check(bits: u32, k: u128, negative: bool, width: u32, values: impl Iterator<Item = u128>) {
        let (_, unsigned) = product::<Unsigned>(Type::Unsigned(bits), k, negative, width);
        let (_, signed) = product::<Signed>(Type::Signed(bits), k, negative, width);
        let turned = |x: u128| if negative { x.wrapping_neg() } else { x };
        for a in values {
            let what = format!("{a} * {k}, negative {negative}, {bits} bits, {width} of the product");
            assert_eq!(unsigned(a), turned(a.wrapping_mul(k)) & mask(width), "{what}");
            let value = ((a << (128 - bits)).cast_signed() >> (128 - bits)).cast_unsigned();
            assert_eq!(signed(a), turned(value.wrapping_mul(k)) & mask(width), "signed {what}");
        }
    }

    #[test]
    fn every_small_product() {
        for (bits, width) in [(1, 1), (1, 4), (2, 9), (3, 3), (3, 7), (4, 5), (4, 11)] {
            for k in (0..40).chain([63, 64, 85, 127, 255, 256, 257]) {
                [false, true].into_iter().for_each(|negative| check(bits, k, negative, width, 0..1 << bits));
            }
        }
    }

    #[test]
    fn digits_that_repeat_are_factors() {
        let ands = |k: u128, width: u32| product::<Unsigned>(Type::Unsigned(32), k, false, width).0;
        assert!(ands(255, 64) <= 39, "{}", ands(255, 64));
        assert!(ands(0x5555_5555, 64) <= 150, "{}", ands(0x5555_5555, 64));
        assert!(ands(7, 32) <= 30, "{}", ands(7, 32));
        assert_eq!(ands(1 << 20, 64), 0);
        assert_eq!(ands(u128::from(u32::MAX) + 2, 64), 0);
    }

    proptest! {
        #[test]
        fn products(bits in 1u32..100, width in 1u32..128, k: u128, shift in 0u32..128, negative: bool, a: u128) {
            check(bits, k >> shift, negative, width, [a & mask(bits), 0, mask(bits)].into_iter());
        }

        #[test]
        fn products_with_few_digits(bits in 1u32..70, width in 1u32..128, i in 0u32..60, j in 0u32..60, plus: bool, negative: bool, a: u128) {
            let k = if plus { (1u128 << i) + (1 << j) } else { (1u128 << i).abs_diff(1 << j) };
            check(bits, k * k, negative, width, [a & mask(bits), mask(bits)].into_iter());
        }
    }
}
