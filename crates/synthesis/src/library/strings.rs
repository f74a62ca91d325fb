//! Comparing strings: Hamming distance and longest common substring, whole and symbol by symbol.

use garblet_circuit::{CircuitError, Component, Party, Type};

use super::{
    levenshtein::symbols,
    member::{Build, Member, Parameter},
};
use crate::builder::{Bit, BitString, CircuitBuilder, Integer, Unsigned, Word};

/// - `hamming(n)`: the number of places where two strings of n bits differ; n minus the ones of n in binary.
/// - `longest-common-substring(n, symbol bits)`: the length of the longest run of symbols that two strings of n
///   symbols share; n² (bits - 1) AND gates to compare the symbols and at most 4 n² log2(n + 1), rounded up, to find the run
///   (n = 16: 3,937 in all, n = 32: 18,980).
/// - `lcs-incremental(n)`: the same for a string of n bits and one that arrives bit by bit, of which at most n bits count:
///   computes a row of the table of common runs from the row before. 4 w - 2 AND gates for each of the n lengths of w = log2(n + 1)
///   bits, rounded up, and 2 w for the first.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "hamming",
        summary: "number of places where party 0's and party 1's n bits differ",
        parameters: &[Parameter::new("n", 128, 1, 1 << 22)],
        ands: "n - (number of ones in n written in binary)",
        and_count: |p| p[0] - u64::from(p[0].count_ones()),
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, p| hamming(c, p[0]) },
    },
    Member {
        name: "longest-common-substring",
        summary: "length of the longest run of symbols that occurs in party 0's and in party 1's n symbols",
        parameters: &[Parameter::new("n", 16, 1, 4096), Parameter::new("bits", 8, 1, 64)],
        ands: "at most n^2 (bits - 1 + 4 ceil(log2(n + 1)))",
        and_count: |p| p[0] * p[0] * (p[1] - 1 + 4 * u64::from(u64::BITS - p[0].leading_zeros())),
        build: Build::Component { owners: &[Party(0), Party(1)], build: |c, p| common(c, p[0], p[1]) },
    },
    Member {
        name: "lcs-incremental",
        summary: "one step of the longest common substring of party 0's n bits and party 1's bits, which come one by one",
        parameters: &[Parameter::new("n", 128, 1, 1 << 16)],
        ands: "(4 n - 2) ceil(log2(n + 1)) - 2 n + 2",
        and_count: |p| (4 * p[0] - 2) * u64::from(u64::BITS - p[0].leading_zeros()) - 2 * p[0] + 2,
        build: Build::Component {
            owners: &[Party(0), Party(0), Party(0), Party(1)],
            build: |c, p| one_symbol_more(c, p[0]),
        },
    },
];

fn hamming(mut c: CircuitBuilder, n: u32) -> Result<Component, CircuitError> {
    let a: BitString = c.input("a", Type::Bits(n));
    let b: BitString = c.input("b", Type::Bits(n));
    let distance = c.hamming_distance(&a, &b);
    c.output("distance", &distance);
    c.finish()
}

fn common(mut c: CircuitBuilder, n: u32, bits: u32) -> Result<Component, CircuitError> {
    let a = symbols_of(&mut c, "a", n, bits);
    let b = symbols_of(&mut c, "b", n, bits);
    let equal = Table::new(n as usize, |i, j| c.equal(&a[i], &b[j]));
    let length = longest_run(&mut c, equal);
    c.output("length", &length);
    c.finish()
}

/// One row of the table of common runs, from the row before: `runs[j]` is the length of the run that ends at `string[j]` and at
/// the latest symbol.
fn one_symbol_more(mut c: CircuitBuilder, n: u32) -> Result<Component, CircuitError> {
    let width = u32::BITS - n.leading_zeros();
    let number = Type::Unsigned(width);
    let string = symbols_of(&mut c, "string", n, 1);
    let runs: Vec<Unsigned> = c.input("runs", Type::Array(Box::new(number.clone()), n));
    let longest: Unsigned = c.input("longest", number);
    let symbol: Unsigned = c.input("symbol", Type::Unsigned(1));

    let [zero, one] = [0, 1].map(|value| Unsigned::constant(value, width as usize));
    let before = std::iter::once(&zero).chain(&runs);
    let row: Vec<Unsigned> = string
        .iter()
        .zip(before)
        .map(|(own, before)| {
            let (equal, longer) = (c.equal(own, &symbol), c.add(before, &one));
            c.mask(equal, &longer)
        })
        .collect();
    c.output("runs", &row);
    let longest = greatest(&mut c, row.into_iter().chain([longest]).collect());
    c.output("longest", &longest);
    c.finish()
}

/// The greatest of one or more numbers, by pairs to keep the depth low.
fn greatest(c: &mut CircuitBuilder, mut numbers: Vec<Unsigned>) -> Unsigned {
    while numbers.len() > 1 {
        let of_pair =
            |pair: &[Unsigned]| pair.iter().skip(1).fold(pair[0].clone(), |first, other| c.max(&first, other));
        numbers = numbers.chunks(2).map(of_pair).collect();
    }
    numbers.remove(0)
}

fn symbols_of(c: &mut CircuitBuilder, name: &str, n: u32, bits: u32) -> Vec<Unsigned> {
    let string: crate::builder::Value = c.input(name, symbols(n, bits));
    string.to_bits().chunks(bits as usize).map(|symbol| Unsigned::new(symbol.to_vec())).collect()
}

/// A square of bits, false outside.
struct Table {
    side: usize,
    bits: Vec<Bit>,
}

impl Table {
    fn new(side: usize, mut bit: impl FnMut(usize, usize) -> Bit) -> Self {
        let places = (0..side * side).map(|k| (k / side, k % side));
        Table { side, bits: places.map(|(i, j)| bit(i, j)).collect() }
    }

    fn at(&self, i: usize, j: usize) -> Bit {
        if i < self.side && j < self.side { self.bits[i * self.side + j] } else { Bit::FALSE }
    }
}

/// The length of the longest run of ones along a diagonal, found bit by bit from the top.
///
/// `runs[k]` marks where a run of `2^k` begins: where a run half as long begins, and another one where that ends. `ends` marks
/// the end (one place after it) of each run whose length is given by the bits found so far. If one of them continues for another
/// `2^k`, bit k is one, and only those remain. This takes about 4 n² ANDs for each bit of the length; a table of
/// lengths and their maximum would take 4 n² plus the sums and masks of lengths.
fn longest_run(c: &mut CircuitBuilder, equal: Table) -> Unsigned {
    let n = equal.side;
    let mut runs = vec![equal];
    while 2 << (runs.len() - 1) <= n {
        let (half, step) = (&runs[runs.len() - 1], 1 << (runs.len() - 1));
        runs.push(Table::new(n, |i, j| c.and(half.at(i, j), half.at(i + step, j + step))));
    }
    let mut ends = Table::new(n + 1, |_, _| Bit::TRUE);
    let mut length = Vec::new();
    for (k, runs) in runs.iter().enumerate().rev() {
        let step = 1 << k;
        let longer = Table::new(n + 1, |i, j| match (i.checked_sub(step), j.checked_sub(step)) {
            (Some(i), Some(j)) => c.and(ends.at(i, j), runs.at(i, j)),
            _ => Bit::FALSE,
        });
        let bit = c.any(&longer.bits);
        // If the bit is zero, no run is longer, so the rest is `longer` or, where it is all zero, `ends`.
        ends = Table::new(n + 1, |i, j| {
            let kept = c.and(ends.at(i, j), !bit);
            c.xor(kept, longer.at(i, j))
        });
        length.insert(0, bit);
    }
    Unsigned::new(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{builder::simulate, library};

    fn plain(a: &[u8], b: &[u8]) -> u128 {
        let starts = (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
        starts.map(|(i, j)| a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count()).max().unwrap() as u128
    }

    fn length(a: &[u8], b: &[u8], bits: u32) -> u128 {
        let component = library::component(&format!("longest-common-substring({}, {bits})", a.len())).unwrap();
        let wires = a.iter().chain(b).flat_map(|&s| simulate::to_bits(s.into(), bits as usize));
        simulate::from_bits(&simulate::circuit(component.circuit(), &wires.collect::<Vec<_>>()))
    }

    #[test]
    fn known_substrings() {
        assert_eq!(length(b"xabcdx", b"abcdyy", 8), 4);
        assert_eq!(length(b"a", b"b", 8), 0);
        assert_eq!(length(b"a", b"a", 8), 1);
        assert_eq!(length(b"sixteen letters!", b"sixteen letters!", 8), 16);
    }

    /// The string, runs of zeros, and the longest run; then the runs and the longest one after each further symbol.
    fn incrementally(string: &[u8], symbols: &[u8]) -> Vec<u128> {
        let n = string.len();
        let program = library::find(&format!("lcs-incremental({n})")).unwrap();
        let width = (usize::BITS - n.leading_zeros()) as usize;
        let bits = |symbols: &[u8]| symbols.iter().map(|s| *s == 1).collect::<Vec<_>>();
        let (mut runs, mut longest) = (vec![false; n * width], vec![false; width]);
        let step = |symbol: &u8| {
            let outputs = simulate::program(&program, &[bits(string), runs.clone(), longest.clone(), bits(&[*symbol])]);
            (runs, longest) = (outputs[0].clone(), outputs[1].clone());
            simulate::from_bits(&longest)
        };
        symbols.iter().map(step).collect()
    }

    #[test]
    fn a_common_substring_grows_with_each_symbol_that_goes_on() {
        let lengths = incrementally(&[1, 1, 0, 1, 0, 0], &[0, 1, 1, 0, 0, 1, 0, 0]);
        assert_eq!(lengths, [1, 2, 2, 3, 3, 3, 3, 4]);
        assert_eq!(incrementally(&[1], &[0, 1, 1]), [0, 1, 1]);
    }

    #[test]
    fn a_step_takes_few_gates_for_each_place() {
        let ands = |n: u32| library::component(&format!("lcs-incremental({n})")).unwrap().stats().and;
        assert_eq!([1, 2, 128, 256, 512].map(ands), [2, 10, 3_826, 8_688, 19_438]);
    }

    #[test]
    fn counts_of_the_usual_sizes() {
        let ands = |n: u32| library::component(&format!("longest-common-substring({n})",)).map(|c| c.stats().and);
        assert!(matches!(ands(16), Err(library::LibraryError::ParameterCount { expected: 2, got: 1, .. })));
        let ands = |n: u32| library::component(&format!("longest-common-substring({n}, 8)")).unwrap().stats().and;
        assert_eq!([1, 2, 16, 32].map(ands), [7, 36, 3937, 18_980]);
    }

    proptest! {
        #[test]
        fn substrings(pairs in proptest::collection::vec((0u8..2, 0u8..2), 1..18)) {
            let (a, b): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
            prop_assert_eq!(length(&a, &b, 1), plain(&a, &b));
        }

        #[test]
        fn substrings_symbol_by_symbol(
            string in proptest::collection::vec(0u8..2, 1..18),
            symbols in proptest::collection::vec(0u8..2, 1..18),
        ) {
            // No run is longer than the string, so any number of symbols may come.
            let expected: Vec<u128> = (1..=symbols.len()).map(|k| plain(&string, &symbols[..k])).collect();
            prop_assert_eq!(incrementally(&string, &symbols), expected);
        }

        #[test]
        fn hamming_distances(n in 1u32..128, a: u128, b: u128) {
            let mask = (1u128 << n) - 1;
            let (a, b) = (a & mask, b & mask);
            let component = library::component(&format!("hamming({n})")).unwrap();
            prop_assert_eq!(component.stats().and, u64::from(n - n.count_ones()));
            prop_assert_eq!(simulate::component(&component, &[a, b]), [u128::from((a ^ b).count_ones())]);
        }
    }
}
