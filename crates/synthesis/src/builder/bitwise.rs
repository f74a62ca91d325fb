//! Bitwise operations and selection, on words of any shape.

use super::{Bit, CircuitBuilder, word::Word};

impl CircuitBuilder {
    /// Exclusive or, bit by bit. *Cost*: 0.
    pub fn xor_words<W: Word>(&mut self, a: &W, b: &W) -> W {
        let bits = self.zip_bits(a, b, Self::xor);
        a.with_bits(&bits)
    }

    /// And, bit by bit. *Cost*: n.
    pub fn and_words<W: Word>(&mut self, a: &W, b: &W) -> W {
        let bits = self.zip_bits(a, b, Self::and);
        a.with_bits(&bits)
    }

    /// Or, bit by bit. *Cost*: n.
    pub fn or_words<W: Word>(&mut self, a: &W, b: &W) -> W {
        let bits = self.zip_bits(a, b, Self::or);
        a.with_bits(&bits)
    }

    /// Negation, bit by bit. *Cost*: 0.
    pub fn not_word<W: Word>(&mut self, a: &W) -> W {
        let bits: Vec<Bit> = a.to_bits().into_iter().map(|bit| !bit).collect();
        a.with_bits(&bits)
    }

    /// The word if `condition`, else all zeros. *Cost*: n.
    pub fn mask<W: Word>(&mut self, condition: Bit, a: &W) -> W {
        let bits: Vec<Bit> = a.to_bits().into_iter().map(|bit| self.and(condition, bit)).collect();
        a.with_bits(&bits)
    }

    /// `then` if `condition`, else `other`. *Cost*: n.
    pub fn select<W: Word>(&mut self, condition: Bit, then: &W, other: &W) -> W {
        let bits = self.zip_bits(then, other, |c, a, b| c.mux(condition, a, b));
        then.with_bits(&bits)
    }

    /// `(b, a)` if `condition`, else `(a, b)`. *Cost*: n.
    pub fn swap_if<W: Word>(&mut self, condition: Bit, a: &W, b: &W) -> (W, W) {
        let differ = self.xor_words(a, b);
        let change = self.mask(condition, &differ);
        (self.xor_words(a, &change), self.xor_words(b, &change))
    }

    /// Combines two words of one shape bit by bit.
    pub(super) fn zip_bits<W: Word>(
        &mut self,
        a: &W,
        b: &W,
        mut combine: impl FnMut(&mut Self, Bit, Bit) -> Bit,
    ) -> Vec<Bit> {
        let (a, b) = (a.to_bits(), b.to_bits());
        assert_eq!(a.len(), b.len(), "words of one width");
        a.into_iter().zip(b).map(|(a, b)| combine(self, a, b)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::Type;

    use super::*;
    use crate::builder::{simulate, word::Unsigned};

    type Operation = fn(&mut CircuitBuilder, Bit, &Unsigned, &Unsigned) -> Unsigned;

    fn build(width: u32, operation: Operation) -> garblet_circuit::Component {
        let mut c = CircuitBuilder::new("bitwise");
        let s: Bit = c.input("s", Type::Bool);
        let a: Unsigned = c.input("a", Type::Unsigned(width));
        let b: Unsigned = c.input("b", Type::Unsigned(width));
        let out = operation(&mut c, s, &a, &b);
        c.output("out", &out);
        c.finish().unwrap()
    }

    proptest! {
        #[test]
        fn bitwise_operations(width in 1u32..100, s: bool, a: u128, b: u128) {
            let mask = (1u128 << width) - 1;
            let (a, b) = (a & mask, b & mask);
            let n = u64::from(width);
            let cases: [(Operation, u128, u64); 8] = [
                (|c, _, a, b| c.xor_words(a, b), a ^ b, 0),
                (|c, _, a, b| c.and_words(a, b), a & b, n),
                (|c, _, a, b| c.or_words(a, b), a | b, n),
                (|c, _, a, _| c.not_word(a), !a & mask, 0),
                (|c, s, a, _| c.mask(s, a), if s { a } else { 0 }, n),
                (|c, s, a, b| c.select(s, a, b), if s { a } else { b }, n),
                (|c, s, a, b| c.swap_if(s, a, b).0, if s { b } else { a }, n),
                (|c, s, a, b| c.swap_if(s, a, b).1, if s { a } else { b }, n),
            ];
            for (k, (operation, expected, ands)) in cases.into_iter().enumerate() {
                let component = build(width, operation);
                prop_assert_eq!(simulate::component(&component, &[s.into(), a, b]), [expected], "operation {}", k);
                prop_assert_eq!(component.stats().and, ands, "operation {}", k);
            }
        }
    }

    #[test]
    #[should_panic(expected = "words of one width")]
    fn unequal_widths_panic() {
        let mut c = CircuitBuilder::new("unequal");
        c.xor_words(&Unsigned::constant(1, 3), &Unsigned::constant(1, 4));
    }
}
