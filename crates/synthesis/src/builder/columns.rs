//! Sums of many numbers, column by column.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    Aim, Bit, CircuitBuilder,
    word::{Integer, Unsigned, Word},
};

/// Bits to be added, by their weight: column `i` holds bits worth `2^i`.
///
/// Full adders (three bits in, one AND) and at the end perhaps a half adder reduce each column to one bit; their
/// carries go to the next column: `floor(m / 2)` ANDs for `m` bits, none in the last column. This never costs more
/// than adding the numbers one after another.
pub(super) struct Columns {
    columns: Vec<Column>,
}

#[derive(Clone, Default)]
struct Column {
    bits: Vec<Bit>,
    ones: usize,
}

impl Columns {
    /// No bits, for a sum of `width` bits; overflow is dropped.
    pub(super) fn new(width: usize) -> Self {
        Columns { columns: vec![Column::default(); width] }
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Adds one bit worth `2^column`.
    pub(super) fn push(&mut self, column: usize, bit: Bit) {
        let Some(column) = self.columns.get_mut(column) else { return };
        match bit.as_constant() {
            None => column.bits.push(bit),
            Some(one) => column.ones += usize::from(one),
        }
    }

    /// Adds an unsigned number times `2^shift`.
    pub(super) fn add(&mut self, bits: &[Bit], shift: usize) {
        bits.iter().enumerate().for_each(|(i, &bit)| self.push(shift + i, bit));
    }

    /// Subtracts an unsigned number times `2^shift`, modulo the width: adds its complement, ones above it, and one.
    pub(super) fn subtract(&mut self, bits: &[Bit], shift: usize) {
        bits.iter().enumerate().for_each(|(i, &bit)| self.push(shift + i, !bit));
        (shift + bits.len()..self.columns.len()).for_each(|i| self.push(i, Bit::TRUE));
        self.push(shift, Bit::TRUE);
    }

    /// The sum.
    pub(super) fn sum(mut self, c: &mut CircuitBuilder) -> Vec<Bit> {
        if c.aim == Aim::Depth {
            return self.sum_of_two(c);
        }
        let mut out = Vec::with_capacity(self.columns.len());
        for i in 0..self.columns.len() {
            let Column { mut bits, ones } = std::mem::take(&mut self.columns[i]);
            if i + 1 == self.columns.len() {
                out.push(c.parity(&bits).invert_if(ones % 2 == 1));
                break;
            }
            let next = &mut self.columns[i + 1];
            next.ones += ones / 2;
            out.push(reduce(c, &mut bits, ones % 2 == 1, |carry| match carry.as_constant() {
                None => next.bits.push(carry),
                Some(one) => next.ones += usize::from(one),
            }));
        }
        out
    }
}

/// Bits of a column, those that are there first on top.
type Early = BinaryHeap<Reverse<(u32, Bit)>>;

/// Takes the bit that is there first.
fn first(column: &mut Early) -> Bit {
    column.pop().map_or(Bit::FALSE, |Reverse((_, bit))| bit)
}

impl Columns {
    /// The sum, with [`Aim::Depth`]: layer by layer, full adders reduce the bits of each column that are there, until every column
    /// has two. The sum of bits costs no layer, so k bits leave one or two in their layer, and k/2 carries in the next.
    ///
    /// *Source*: Dadda 1965, with all that a layer can add added in it.
    fn sum_of_two(self, c: &mut CircuitBuilder) -> Vec<Bit> {
        let Some(last) = self.columns.len().checked_sub(1) else { return Vec::new() };
        let mut ones = 0;
        let with_layers = |column: Column| {
            ones += column.ones;
            let one = (ones % 2 == 1).then_some(Bit::TRUE);
            ones /= 2;
            column.bits.into_iter().chain(one).map(|bit| Reverse((c.layer(bit), bit))).collect()
        };
        let mut columns: Vec<Early> = self.columns.into_iter().map(with_layers).collect();
        while let Some(layer) = columns[..last].iter().filter_map(third).min() {
            add_in_layer(c, &mut columns, layer);
        }
        let highest: Vec<Bit> = columns.remove(last).into_iter().map(|Reverse((_, bit))| bit).collect();
        let highest = (c.parity(&highest), Bit::FALSE);
        let pairs: Vec<(Bit, Bit)> =
            columns.iter_mut().map(|column| (first(column), first(column))).chain([highest]).collect();
        c.sum_bits(pairs.len(), |i| pairs[i], Bit::FALSE)
    }
}

/// Adds the bits of each column that are there by a layer; the carries are there in the next.
fn add_in_layer(c: &mut CircuitBuilder, columns: &mut [Early], layer: u32) {
    let last = columns.len() - 1;
    let mut carries = Vec::new();
    for (i, column) in columns.iter_mut().enumerate() {
        let mut next = Vec::new();
        while i < last && third(column).is_some_and(|third| third <= layer) {
            let (sum, carry) = c.full_adder(first(column), first(column), first(column));
            column.push(Reverse((layer, sum)));
            next.push(carry);
        }
        // A carry to two bits would make the next column wait for its own.
        let there = |column: &Early| column.iter().all(|Reverse((own, _))| *own <= layer);
        if i < last && column.len() == 2 && carries.len() == 1 && there(column) {
            let (sum, carry) = c.full_adder(first(column), first(column), Bit::FALSE);
            column.push(Reverse((layer, sum)));
            next.push(carry);
        }
        column.extend(carries.drain(..).map(|carry| Reverse((c.layer(carry), carry))));
        next.retain(|&carry| carry != Bit::FALSE);
        carries = next;
    }
}

/// The layer in which the third bit of a column is there, if it has as many.
fn third(column: &Early) -> Option<u32> {
    (column.len() > 2).then(|| {
        let mut layers: Vec<u32> = column.iter().map(|Reverse((layer, _))| *layer).collect();
        *layers.select_nth_unstable(2).1
    })
}

/// Reduces a column to one bit, oldest bits first so that the adders form a tree, and returns its carries.
fn reduce(c: &mut CircuitBuilder, bits: &mut Vec<Bit>, one: bool, mut carry: impl FnMut(Bit)) -> Bit {
    let mut first = 0;
    while bits.len() - first >= 3 {
        let (sum, out) = c.full_adder(bits[first], bits[first + 1], bits[first + 2]);
        first += 3;
        bits.push(sum);
        carry(out);
    }
    // A constant one comes last: it turns the half adder into a full adder of the same cost, or one without an AND.
    let (sum, out) = match bits[first..] {
        [a, b] => c.full_adder(a, b, one.into()),
        [a] => (a.invert_if(one), if one { a } else { Bit::FALSE }),
        _ => (one.into(), Bit::FALSE),
    };
    carry(out);
    sum
}

impl CircuitBuilder {
    /// The number of bits that are set.
    ///
    /// *Shape*: as many bits as the number n needs. *Cost*: n minus the number of ones in the binary form of n.
    pub fn count_ones(&mut self, bits: &[Bit]) -> Unsigned {
        let width = (usize::BITS - bits.len().leading_zeros()) as usize;
        let mut columns = Columns::new(width);
        bits.iter().for_each(|&bit| columns.push(0, bit));
        // The number of ones is below 2^width, so the last column holds one bit and its carry would be zero.
        Unsigned::new(columns.sum(self))
    }

    /// The number of bits of a word that are set. *Cost*: as [`CircuitBuilder::count_ones`].
    pub fn popcount<W: Word>(&mut self, word: &W) -> Unsigned {
        self.count_ones(&word.to_bits())
    }

    /// The number of differing bits of two words of one shape. *Cost*: as [`CircuitBuilder::count_ones`].
    pub fn hamming_distance<W: Word>(&mut self, a: &W, b: &W) -> Unsigned {
        let differ = self.zip_bits(a, b, Self::xor);
        self.count_ones(&differ)
    }

    /// The sum of any number of integers modulo `2^width`.
    ///
    /// *Cost*: column `i` of `m_i` bits and `f_(i-1)` carries has `f_i = floor((m_i + f_(i-1)) / 2)`, the last 0; for k
    /// integers of w = `width` bits at most (k - 1)(w - 1).
    pub fn sum<I: Integer>(&mut self, terms: &[I], width: usize) -> I {
        let mut columns = Columns::new(width);
        for term in terms {
            columns.add(term.resize(width).bits(), 0);
        }
        I::new(columns.sum(self))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use garblet_circuit::Type;

    use super::*;
    use crate::builder::{simulate, word::Signed};

    #[test]
    fn popcount_of_every_length() {
        for n in 0u32..100 {
            let mut c = CircuitBuilder::new("popcount");
            let x: Unsigned = c.input("x", Type::Unsigned(n));
            let count = c.popcount(&x);
            c.output("count", &count);
            let component = c.finish().unwrap();
            assert_eq!(component.stats().and, u64::from(n - n.count_ones()), "{n}");
            for x in [0, u128::MAX, 0x5555_5555_5555_5555_1234_5678_9abc_def0] {
                let x = x & ((1 << n) - 1);
                assert_eq!(simulate::component(&component, &[x]), [x.count_ones().into()], "{n} bits, {x:x}");
            }
        }
    }

    fn expected_ands(terms: u64, width: u64) -> u64 {
        let columns = 0..width.saturating_sub(1);
        columns.fold((0, 0), |(ands, carries), _| (ands + (terms + carries) / 2, (terms + carries) / 2)).0
    }

    proptest! {
        #[test]
        fn sums(width in 1u32..40, values in proptest::collection::vec(any::<u64>(), 1..9)) {
            let mask = (1u128 << width) - 1;
            let mut c = CircuitBuilder::new("sum");
            let terms: Vec<Signed> = (0..values.len()).map(|k| c.input(format!("x{k}"), Type::Signed(width))).collect();
            let sum = c.sum(&terms, width as usize);
            c.output("sum", &sum);
            let component = c.finish().unwrap();
            let values: Vec<u128> = values.iter().map(|&v| u128::from(v) & mask).collect();
            prop_assert_eq!(simulate::component(&component, &values), [values.iter().sum::<u128>() & mask]);
            let ands = component.stats().and;
            prop_assert_eq!(ands, expected_ands(values.len() as u64, width.into()));
            prop_assert!(ands <= (values.len() as u64 - 1) * u64::from(width - 1));
        }

        #[test]
        fn sums_with_constants(width in 1usize..40, value: u64, constants in proptest::collection::vec(any::<u64>(), 0..5)) {
            let mask = (1u128 << width) - 1;
            let mut c = CircuitBuilder::new("sum");
            let x: Unsigned = c.input("x", Type::Unsigned(width as u32));
            let mut terms: Vec<Unsigned> = constants.iter().map(|&k| Unsigned::constant(k.into(), 64)).collect();
            terms.push(x);
            let sum = c.sum(&terms, width);
            c.output("sum", &sum);
            let component = c.finish().unwrap();
            let value = u128::from(value) & mask;
            let expected = (constants.iter().map(|&k| u128::from(k)).sum::<u128>() + value) & mask;
            prop_assert_eq!(simulate::component(&component, &[value]), [expected]);
            prop_assert!(component.stats().and < width as u64);
        }

        #[test]
        fn differences(width in 1usize..40, shift in 0usize..10, a: u64, b: u32) {
            let mask = (1u128 << width) - 1;
            let mut c = CircuitBuilder::new("difference");
            let x: Unsigned = c.input("x", Type::Unsigned(64));
            let y: Unsigned = c.input("y", Type::Unsigned(32));
            let mut columns = Columns::new(width);
            columns.add(x.bits(), 0);
            columns.subtract(y.bits(), shift);
            let difference = Unsigned::new(columns.sum(&mut c));
            c.output("difference", &difference);
            let component = c.finish().unwrap();
            let expected = u128::from(a).wrapping_sub(u128::from(b) << shift) & mask;
            prop_assert_eq!(simulate::component(&component, &[a.into(), b.into()]), [expected]);
        }
    }
}
