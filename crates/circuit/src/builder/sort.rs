//! Sorting by a network of comparators, which does the same steps whatever the values are.

use super::{
    CircuitBuilder,
    word::{Integer, Word},
};

/// How many comparators sort n words: n = 2, 4, 8, 16, 32, 64 take 1, 5, 19, 63, 191, 543.
pub fn sort_comparators(n: usize) -> u64 {
    let mut count = 0;
    merge_exchange(n, |_, _| count += 1);
    count
}

impl CircuitBuilder {
    /// Sorts integers of one width, least first. *Cost*: 2w for each of the [`sort_comparators`].
    pub fn sort<I: Integer>(&mut self, values: &mut [I]) {
        merge_exchange(values.len(), |low, high| {
            let (least, most) = self.min_max(&values[low], &values[high]);
            values[low] = least;
            values[high] = most;
        });
    }

    /// Sorts words by their keys, least first; the order among equal keys is unspecified.
    ///
    /// *Cost*: 2k + w for each of the [`sort_comparators`], with keys of k bits and words of w.
    pub fn sort_by_key<I: Integer, W: Word>(&mut self, items: &mut [(I, W)]) {
        merge_exchange(items.len(), |low, high| {
            let swap = self.less(&items[high].0, &items[low].0);
            let (least, most) = self.swap_if(swap, &items[low], &items[high]);
            items[low] = least;
            items[high] = most;
        });
    }
}

/// Batcher's merge exchange for any n: gives each comparator's two places, lower one first.
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

    use super::*;
    use crate::{
        builder::{
            simulate,
            word::{Signed, Unsigned},
        },
        types::Type,
    };

    /// A network that sorts all sequences of zeros and ones sorts everything (Knuth 5.3.4, theorem Z).
    #[test]
    fn networks_sort_all_zeros_and_ones() {
        for n in 0..15 {
            let mut network = Vec::new();
            merge_exchange(n, |a, b| network.push((a, b)));
            for mut x in 0u32..1 << n {
                let ones = x.count_ones();
                for &(low, high) in &network {
                    assert!(low < high && high < n);
                    if x >> low & 1 == 1 && x >> high & 1 == 0 {
                        x ^= 1 << low | 1 << high;
                    }
                }
                assert_eq!(x, ((1 << ones) - 1) << (n as u32 - ones), "{n} places");
            }
        }
    }

    #[test]
    fn comparator_counts() {
        let counts: Vec<u64> = [0, 1, 2, 4, 8, 16, 32, 64].into_iter().map(sort_comparators).collect();
        assert_eq!(counts, [0, 0, 1, 5, 19, 63, 191, 543]);
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
