//! Lookup by a secret index: in a constant table, and in an array of secret words.

use super::{
    Bit, CircuitBuilder,
    word::{Integer, Unsigned, Word},
};

/// AND gates of [`CircuitBuilder::lookup`] with k index bits and w bits per entry, at most.
pub fn lookup_ands(index_bits: usize, entry_bits: usize) -> u64 {
    (0..=index_bits / 2).map(|high| split_ands(index_bits, entry_bits, high)).min().unwrap_or(0)
}

/// All products of the high bits and of the low bits, and per output one AND for each product of high bits.
fn split_ands(index_bits: usize, entry_bits: usize, high: usize) -> u64 {
    let products = |bits: usize| (1u64 << bits) - bits as u64 - 1;
    products(high) + products(index_bits - high) + entry_bits as u64 * ((1 << high) - 1)
}

impl CircuitBuilder {
    /// Entry number `index` of a constant table, as `width` bits; zero beyond the table's end.
    ///
    /// *Cost*: at most [`lookup_ands`]: for k index bits, `2^k - k - 1` for any width, and about
    /// `2^(k/2 + 1)` for narrow entries.
    ///
    /// *Source*: each output is a polynomial over the index bits. Its terms are grouped by the high bits, and only
    /// products of secret factors cost gates (Boyar, Peralta and Pochuev 2000).
    ///
    /// # Panics
    /// If the index has more than 24 bits, or the table has more entries than the index can address.
    pub fn lookup(&mut self, table: &[u128], width: usize, index: &Unsigned) -> Unsigned {
        let k = index.bits().len();
        assert!(k <= 24 && table.len() <= 1 << k, "{} entries for an index of {k} bits", table.len());
        let high_bits = (0..=k / 2).min_by_key(|&high| split_ands(k, width, high)).unwrap_or(0);
        let (low, high) = index.bits().split_at(k - high_bits);
        let (low, high) = (self.products(low), self.products(high));
        let output = |c: &mut Self, bit: usize| {
            let polynomial = coefficients(table, bit, k);
            let mut sum = Bit::FALSE;
            for (&factor, terms) in high.iter().zip(polynomial.chunks(low.len())) {
                let inner = terms.iter().zip(&low).filter(|(used, _)| **used).map(|(_, &product)| product);
                let inner: Vec<Bit> = inner.collect();
                let inner = c.parity(&inner);
                let term = c.and(factor, inner);
                sum = c.xor(sum, term);
            }
            sum
        };
        Unsigned::new((0..width).map(|bit| output(self, bit)).collect())
    }

    /// Word number `index` of an array; beyond its end, one of its words.
    ///
    /// *Cost*: (entries - 1) times the bits of a word.
    ///
    /// # Panics
    /// If the array is empty, or longer than the index can address.
    pub fn element<W: Word>(&mut self, array: &[W], index: &Unsigned) -> W {
        let bits = index.bits();
        assert!(!array.is_empty() && array.len() as u64 <= 1 << bits.len().min(63), "an index names every entry");
        let mut level = array.to_vec();
        for &bit in bits {
            let pairs = level.chunks(2);
            level = pairs.map(|p| if p.len() == 2 { self.select(bit, &p[1], &p[0]) } else { p[0].clone() }).collect();
        }
        level.swap_remove(0)
    }

    /// The array with the word at `index` replaced; unchanged if the index is beyond its end.
    ///
    /// *Cost*: one AND per bit of the array, and [`CircuitBuilder::one_hot`].
    ///
    /// # Panics
    /// As [`CircuitBuilder::element`].
    pub fn with_element<W: Word>(&mut self, array: &[W], index: &Unsigned, value: &W) -> Vec<W> {
        let hot = self.one_hot(index, array.len());
        array.iter().zip(hot).map(|(old, here)| self.select(here, value, old)).collect()
    }

    /// Returns for each number below `n` whether it is the index.
    ///
    /// *Cost*: `2^k - k - 1` if n is `2^k`, k the bits of the index; else at most n + k.
    ///
    /// # Panics
    /// If n is more than the index can address.
    pub fn one_hot(&mut self, index: &Unsigned, n: usize) -> Vec<Bit> {
        let bits = index.bits();
        assert!(n as u64 <= 1 << bits.len().min(63), "an index names every entry");
        if n as u64 == 1 << bits.len().min(63) {
            return self.minterms(bits);
        }
        let mut hot = vec![Bit::TRUE];
        for (level, &bit) in bits.iter().enumerate().rev() {
            let count = n.div_ceil(1 << level);
            let mut next = Vec::with_capacity(count + 1);
            for prefix in hot {
                let one = self.and(prefix, bit);
                next.extend([self.xor(prefix, one), one]);
            }
            next.truncate(count);
            hot = next;
        }
        hot.truncate(n);
        hot
    }

    /// The products of all bits or their negations: sums of products of subsets.
    fn minterms(&mut self, bits: &[Bit]) -> Vec<Bit> {
        let mut terms = self.products(bits);
        for step in (0..bits.len()).map(|j| 1 << j) {
            for i in (0..terms.len()).filter(|i| i & step == 0) {
                terms[i] = self.xor(terms[i], terms[i | step]);
            }
        }
        terms
    }

    /// The products of all subsets of some bits; the ones in a subset's number are its members.
    fn products(&mut self, bits: &[Bit]) -> Vec<Bit> {
        let mut products = vec![Bit::TRUE];
        for &bit in bits {
            for subset in 0..products.len() {
                let product = self.and(products[subset], bit);
                products.push(product);
            }
        }
        products
    }
}

/// The coefficients of one bit of the table as a polynomial over its index bits: the Möbius transform.
fn coefficients(table: &[u128], bit: usize, index_bits: usize) -> Vec<bool> {
    let entry = |i: usize| bit < 128 && table.get(i).is_some_and(|entry| entry >> bit & 1 == 1);
    let mut values: Vec<bool> = (0..1 << index_bits).map(entry).collect();
    for step in (0..index_bits).map(|j| 1 << j) {
        for i in (0..values.len()).filter(|i| i & step != 0) {
            values[i] ^= values[i ^ step];
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::{Component, Type};

    use super::*;
    use crate::builder::simulate;

    fn table_component(table: &[u128], width: usize, index_bits: u32) -> Component {
        let mut c = CircuitBuilder::new("table");
        let index: Unsigned = c.input("index", Type::Unsigned(index_bits));
        let entry = c.lookup(table, width, &index);
        c.output("entry", &entry);
        c.finish().unwrap()
    }

    #[test]
    fn costs_of_tables() {
        assert_eq!(lookup_ands(0, 5), 0);
        assert_eq!(lookup_ands(2, 64), 1);
        assert_eq!(lookup_ands(8, 1), 37);
        assert_eq!(lookup_ands(8, 200), 247);
        // A table with every product in every output reaches the stated cost.
        for (k, width) in [(1, 1), (2, 3), (4, 1), (6, 2), (8, 1), (8, 8)] {
            let mut table = vec![0; 1 << k];
            table[0] = u128::MAX;
            assert!(table_component(&table, width, k).stats().and <= lookup_ands(k as usize, width));
        }
    }

    proptest! {
        #[test]
        fn tables(index_bits in 0u32..8, width in 1usize..20, seed in proptest::collection::vec(any::<u32>(), 128), cut: u8) {
            let entries = (1usize << index_bits).min(1 + usize::from(cut));
            let table: Vec<u128> = seed[..entries].iter().map(|&e| e.into()).collect();
            let component = table_component(&table, width, index_bits);
            prop_assert!(component.stats().and <= lookup_ands(index_bits as usize, width));
            for index in 0..1usize << index_bits {
                let expected = table.get(index).map_or(0, |e| e & ((1 << width) - 1));
                prop_assert_eq!(simulate::component(&component, &[index as u128]), [expected]);
            }
        }

        #[test]
        fn arrays(entries in 1usize..20, width in 1u32..6, seed: u128) {
            let index_bits = entries.next_power_of_two().trailing_zeros();
            let mut c = CircuitBuilder::new("array");
            let array: Vec<Unsigned> = c.input("array", Type::Array(Box::new(Type::Unsigned(width)), entries as u32));
            let index: Unsigned = c.input("index", Type::Unsigned(index_bits));
            let element = c.element(&array, &index);
            c.output("element", &element);
            let component = c.finish().unwrap();
            prop_assert_eq!(component.stats().and, (entries as u64 - 1) * u64::from(width));
            for i in 0..entries {
                let content = seed & ((1u128 << (entries as u32 * width)) - 1);
                let expected = content >> (i as u32 * width) & ((1 << width) - 1);
                prop_assert_eq!(simulate::component(&component, &[content, i as u128]), [expected]);
            }
        }
    }

    proptest! {
        #[test]
        fn writes(entries in 1usize..20, width in 1u32..6, more in 0u32..2, seed: u128, value: u8) {
            let index_bits = entries.next_power_of_two().trailing_zeros() + more;
            let mut c = CircuitBuilder::new("array");
            let array: Vec<Unsigned> = c.input("array", Type::Array(Box::new(Type::Unsigned(width)), entries as u32));
            let index: Unsigned = c.input("index", Type::Unsigned(index_bits));
            let word: Unsigned = c.input("value", Type::Unsigned(width));
            let written = c.with_element(&array, &index, &word);
            c.output("array", &written);
            let component = c.finish().unwrap();
            let (n, k) = (entries as u64, u64::from(index_bits));
            let decoding = if n == 1 << k { n - k - 1 } else { n + k };
            prop_assert!(component.stats().and <= n * u64::from(width) + decoding);
            let content = seed & ((1u128 << (entries as u32 * width)) - 1);
            let value = u128::from(value) & ((1 << width) - 1);
            for i in 0..1usize << index_bits {
                let place = i as u32 * width;
                let cleared = content & !(((1 << width) - 1) << place.min(127));
                let expected = if i < entries { cleared | value << place } else { content };
                prop_assert_eq!(simulate::component(&component, &[content, i as u128, value]), [expected]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "5 entries for an index of 2 bits")]
    fn an_index_too_short_panics() {
        table_component(&[0; 5], 1, 2);
    }
}
