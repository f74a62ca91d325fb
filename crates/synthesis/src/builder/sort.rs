//! Sorting by a network of comparators, whose steps do not depend on the values.

use garblet_circuit::{CircuitError, ComponentId};

use super::{
    CircuitBuilder,
    program::{ProgramBuilder, Wires},
    word::{Integer, Word},
};

/// The number of comparators that sort n words: n = 2, 4, 8, 16, 32, 64 take 1, 5, 19, 60, 185, 531.
pub fn sort_comparators(n: usize) -> u64 {
    let mut exchange = 0;
    merge_exchange(n, |_, _| exchange += 1);
    let mut merged = 0;
    merge_sort(n, |_, _| merged += 1);
    exchange.min(merged)
}

impl CircuitBuilder {
    /// Sorts integers of one width, least first. *Cost*: 2w for each of the [`sort_comparators`].
    pub fn sort<I: Integer>(&mut self, values: &mut [I]) {
        sort_places(values.len(), |low, high| {
            let (least, most) = self.min_max(&values[low], &values[high]);
            values[low] = least;
            values[high] = most;
        });
    }

    /// Sorts words by their keys, least first; the order among equal keys is unspecified.
    ///
    /// *Cost*: 2k + w for each of the [`sort_comparators`], with keys of k bits and words of w.
    pub fn sort_by_key<I: Integer, W: Word>(&mut self, items: &mut [(I, W)]) {
        sort_places(items.len(), |low, high| {
            let swap = self.less(&items[high].0, &items[low].0);
            let (least, most) = self.swap_if(swap, &items[low], &items[high]);
            items[low] = least;
            items[high] = most;
        });
    }
}

impl ProgramBuilder {
    /// Sorts values with instances of a component, so that all comparators share one circuit.
    ///
    /// *Shape*: `comparator` takes two values and returns them in order. *Cost*: the comparator's own cost for each of
    /// the [`sort_comparators`].
    ///
    /// *Errors*: a component with other input ports.
    ///
    /// # Panics
    /// If the component does not have two output ports.
    pub fn sort(&mut self, comparator: ComponentId, values: &mut [Wires]) -> Result<(), CircuitError> {
        let mut places = Vec::new();
        sort_places(values.len(), |low, high| places.push((low, high)));
        for (low, high) in places {
            let sorted = self.instance(comparator, &[&values[low], &values[high]])?;
            let [least, most] = sorted.try_into().expect("a comparator gives two values");
            (values[low], values[high]) = (least, most);
        }
        Ok(())
    }
}

/// The number of comparators that merge n values, where a first part ascends and the rest descends.
pub fn merge_comparators(n: usize) -> u64 {
    let mut count = 0;
    merge_places(n, |_, _| count += 1);
    count
}

/// The network that merges n values, where a first part ascends and the rest descends. It is the network of the next power of two
/// without leading padding, which would be less than every value and stay in place. Passes each comparator's places, lower first.
///
/// *Source*: Batcher 1968.
pub(crate) fn merge_places(n: usize, mut comparator: impl FnMut(usize, usize)) {
    let size = n.next_power_of_two();
    let absent = size - n;
    let mut half = size / 2;
    while half > 0 {
        for low in (absent..size).filter(|place| place & half == 0) {
            comparator(low - absent, low + half - absent);
        }
        half /= 2;
    }
}

/// The smaller of the two sorting networks here. Passes each comparator's places, lower first.
pub fn sort_places(n: usize, comparator: impl FnMut(usize, usize)) {
    let mut exchange = 0;
    merge_exchange(n, |_, _| exchange += 1);
    if sort_comparators(n) < exchange { merge_sort(n, comparator) } else { merge_exchange(n, comparator) }
}

/// The network for the next power of two, without the padding at its end, which would be greater than every value and stay there.
///
/// Runs of 16 are sorted by Green's network and merged by Batcher's odd-even merge.
fn merge_sort(n: usize, mut comparator: impl FnMut(usize, usize)) {
    let size = n.next_power_of_two();
    if size < 16 {
        return merge_exchange(n, comparator);
    }
    let mut within = |low: usize, high: usize| {
        if high < n {
            comparator(low, high);
        }
    };
    for start in (0..size).step_by(16) {
        SIXTEEN.iter().for_each(|&(low, high)| within(start + usize::from(low), start + usize::from(high)));
    }
    let mut len = 32;
    while len <= size {
        (0..size).step_by(len).for_each(|start| odd_even_merge(start, len, 1, &mut within));
        len *= 2;
    }
}

/// Merges the two sorted halves of every `step`-th of `len` places from `start` on.
///
/// *Source*: Batcher 1968.
fn odd_even_merge(start: usize, len: usize, step: usize, comparator: &mut impl FnMut(usize, usize)) {
    if 2 * step >= len {
        return comparator(start, start + step);
    }
    odd_even_merge(start, len, 2 * step, comparator);
    odd_even_merge(start + step, len, 2 * step, comparator);
    for low in (start + step..start + len - step).step_by(2 * step) {
        comparator(low, low + step);
    }
}

/// 60 comparators for 16 places, none known with fewer.
///
/// *Source*: Green 1969 (Knuth, The Art of Computer Programming 3, section 5.3.4), in an arrangement of ten layers.
#[rustfmt::skip]
const SIXTEEN: [(u8, u8); 60] = [
    (0, 13), (1, 12), (2, 15), (3, 14), (4, 8), (5, 6), (7, 11), (9, 10),
    (0, 5), (1, 7), (2, 9), (3, 4), (6, 13), (8, 14), (10, 15), (11, 12),
    (0, 1), (2, 3), (4, 5), (6, 8), (7, 9), (10, 11), (12, 13), (14, 15),
    (0, 2), (1, 3), (4, 10), (5, 11), (6, 7), (8, 9), (12, 14), (13, 15),
    (1, 2), (3, 12), (4, 6), (5, 7), (8, 10), (9, 11), (13, 14),
    (1, 4), (2, 6), (5, 8), (7, 10), (9, 13), (11, 14),
    (2, 4), (3, 6), (9, 12), (11, 13),
    (3, 5), (6, 8), (7, 9), (10, 12),
    (3, 4), (5, 6), (7, 8), (9, 10), (11, 12),
    (6, 7), (8, 9),
];

/// Batcher's merge exchange for any n. Passes each comparator's places, lower first.
///
/// *Source*: Batcher 1968; Knuth, The Art of Computer Programming 3, algorithm 5.2.2M.
fn merge_exchange(n: usize, mut comparator: impl FnMut(usize, usize)) {
    if n < 2 {
        return;
    }
    let top = n.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            for i in (0..n - d).filter(|i| i & p == r) {
                comparator(i, i + d);
            }
            if q == p {
                break;
            }
            d = q - p;
            q /= 2;
            r = p;
        }
        p /= 2;
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

    /// A network that sorts all sequences of zeros and ones sorts everything (Knuth 5.3.4, theorem Z).
    #[test]
    fn networks_sort_all_zeros_and_ones() {
        for n in 0..=17 {
            let mut comparators = Vec::new();
            sort_places(n, |a, b| comparators.push((a, b)));
            assert_eq!(comparators.len() as u64, sort_comparators(n));
            for mut x in 0u32..1 << n {
                let ones = x.count_ones();
                for &(low, high) in &comparators {
                    assert!(low < high && high < n);
                    if x >> low & 1 == 1 && x >> high & 1 == 0 {
                        x ^= 1 << low | 1 << high;
                    }
                }
                assert_eq!(x, ((1 << ones) - 1) << (n as u32 - ones), "{n} places");
            }
        }
    }

    /// A merge that is correct for all runs of zeros and ones is correct for all sorted runs.
    #[test]
    fn merges_are_right() {
        for (len, ones) in [2usize, 8, 32, 64].into_iter().flat_map(|len| (0..=len / 2).map(move |ones| (len, ones))) {
            for others in 0..=len / 2 {
                let run = |ones: usize| (0..len / 2).map(move |i| i >= len / 2 - ones);
                let mut places: Vec<bool> = run(ones).chain(run(others)).collect();
                odd_even_merge(0, len, 1, &mut |low, high| {
                    (places[low], places[high]) = (places[low] & places[high], places[low] | places[high]);
                });
                assert!(places.is_sorted(), "{ones} and {others} ones of {len}");
            }
        }
    }

    #[test]
    fn comparator_counts() {
        let counts: Vec<u64> = [0, 1, 2, 4, 8, 16, 32, 64].into_iter().map(sort_comparators).collect();
        assert_eq!(counts, [0, 0, 1, 5, 19, 60, 185, 531]);
    }

    proptest! {
        #[test]
        fn sorted(values in proptest::collection::vec(any::<i8>(), 1..16)) {
            let n = values.len();
            let mut c = CircuitBuilder::new("sort");
            let mut words: Vec<Signed> = c.input("in", Type::Array(Box::new(Type::Signed(8)), n as u32));
            c.sort(&mut words);
            c.output("out", &words);
            let component = c.finish().unwrap();
            prop_assert_eq!(component.stats().and, 16 * sort_comparators(n));
            let bytes: Vec<u8> = values.iter().map(|&v| v as u8).collect();
            let out = simulate::circuit(component.circuit(), &simulate::bytes_to_bits(&bytes));
            let mut expected = values.clone();
            expected.sort_unstable();
            let out: Vec<i8> = simulate::bits_to_bytes(&out).into_iter().map(|v| v as i8).collect();
            prop_assert_eq!(out, expected);
        }

        #[test]
        fn sorted_by_key(values in proptest::collection::vec(any::<(u8, u8)>(), 1..12)) {
            let n = values.len();
            let item = vec![("0".into(), Type::Unsigned(8)), ("1".into(), Type::Unsigned(8))];
            let mut c = CircuitBuilder::new("sort");
            let ty = Type::Array(Box::new(Type::Record(item)), n as u32);
            let mut items: Vec<(Unsigned, Unsigned)> = c.input("in", ty);
            c.sort_by_key(&mut items);
            c.output("out", &items);
            let component = c.finish().unwrap();
            prop_assert_eq!(component.stats().and, 24 * sort_comparators(n));
            let bytes: Vec<u8> = values.iter().flat_map(|&(k, v)| [k, v]).collect();
            let out = simulate::circuit(component.circuit(), &simulate::bytes_to_bits(&bytes));
            let mut out: Vec<(u8, u8)> = simulate::bits_to_bytes(&out).chunks(2).map(|p| (p[0], p[1])).collect();
            prop_assert!(out.is_sorted_by_key(|&(k, _)| k));
            let mut expected = values.clone();
            expected.sort_unstable();
            out.sort_unstable();
            prop_assert_eq!(out, expected);
        }
    }
}
