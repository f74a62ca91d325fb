//! Sums over the intersection of two sorted lists.

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bit, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires, merge_comparators};

/// - `intersection-sum(n, m, key bits, value bits)`: how many keys party 0's list and party 1's records share, and the sum of the
///   values of these records. Both are sorted by key, without repeats; they are merged, and neighbours compared.
///
/// A list that is not so makes fewer or other keys be found, but only keys that are in both, each record once at most: what comes
/// out is the size and the sum of a part of the intersection, which a party could choose by its list as well.
///
/// *Source*: Huang, Evans and Katz 2012, section 5, for merging and comparing neighbours.
pub(super) const MEMBERS: &[Member] = &[Member {
    name: "intersection-sum",
    summary: "how many of party 0's n sorted keys party 1's m sorted records have, and the sum of these records' values",
    parameters: &[
        Parameter::new("n", 16, 1, 1 << 18),
        Parameter::new("m", 16, 1, 1 << 18),
        Parameter::new("key_bits", 32, 1, 1024),
        Parameter::new("value_bits", 32, 1, 1024),
    ],
    ands: "(2 key_bits + value_bits + 2) M(n + m) + (n + m - 1) (key_bits + 2 value_bits + 2 s - 1), s bits of min(n, m), M(n) about n log2(n) / 2",
    and_count: |p| sum_ands(p[0], p[1], p[2], p[3]),
    build: Build::Program { size: |p| program_size(p[0], p[1], p[2], p[3]), build: intersection_sum },
}];

/// The bits of the size of an intersection.
fn size_bits(n: u64, m: u64) -> u64 {
    u64::from(u64::BITS - n.min(m).leading_zeros())
}

fn sum_ands(n: u64, m: u64, key: u64, value: u64) -> u64 {
    let step = key + 2 * value + 2 * size_bits(n, m) - 1;
    (2 * key + value + 2) * merge_comparators((n + m) as usize) + (n + m - 1) * step
}

/// Gates of both components, of which around each AND gate stand a few free ones, and instances.
fn program_size(n: u64, m: u64, key: u64, value: u64) -> u64 {
    20 * (key + value + 64) + merge_comparators((n + m) as usize) + n + m
}

/// The type of an element while lists are merged: its key with the number of its list below, and its value.
fn element(key: u32, value: u32) -> Type {
    Type::Record(vec![("0".into(), Type::Unsigned(key + 1)), ("1".into(), Type::Unsigned(value))])
}

fn intersection_sum(name: String, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, key, value] = parameters else { unreachable!("four parameters were checked") };
    let mut p = ProgramBuilder::new(name);
    let keys = p.input("a", Type::Array(Box::new(Type::Unsigned(key)), n), Party(0))?;
    let record = vec![("key".into(), Type::Unsigned(key)), ("value".into(), Type::Unsigned(value))];
    let records = p.input("b", Type::Array(Box::new(Type::Record(record)), m), Party(1))?;
    let item = |list: bool, wires: &Wires, rest: Option<&Wires>| {
        let list = Wires::constant(Type::Bits(1), |_| list);
        Wires::concat(element(key, value), [&list, wires].into_iter().chain(rest))
    };
    let none = Wires::constant(Type::Unsigned(value), |_| false);
    let first = (0..n).map(|k| item(false, &keys.element(k), Some(&none)));
    let second = (0..m).rev().map(|k| item(true, &records.element(k), None));
    let mut all: Vec<Wires> = first.chain(second).collect();
    let comparator = p.component(comparator(key, value)?);
    p.merge(comparator, &mut all)?;
    let bits = size_bits(n.into(), m.into()) as u32;
    let step = p.component(step(key, value, bits)?);
    let zero = |ty: Type| Wires::constant(ty, |_| false);
    let mut state = vec![zero(Type::Bool), zero(Type::Unsigned(bits)), zero(Type::Unsigned(value + bits))];
    for pair in all.windows(2) {
        state = p.instance(step, &[&state[0], &state[1], &state[2], &pair[0], &pair[1]])?;
    }
    p.output("size", &state[1], Recipients::All)?;
    p.output("sum", &state[2], Recipients::All)?;
    Ok(p.finish())
}

/// Two elements in the order of their keys, those of the first list before others.
fn comparator(key: u32, value: u32) -> Result<Component, CircuitError> {
    let mut c = CircuitBuilder::new(format!("comparator({key}, {value})"));
    let a: (Unsigned, Unsigned) = c.input("a", element(key, value));
    let b: (Unsigned, Unsigned) = c.input("b", element(key, value));
    let less = c.less(&b.0, &a.0);
    let (least, most) = c.swap_if(less, &a, &b);
    c.output("least", &least);
    c.output("most", &most);
    c.finish()
}

/// Counts two neighbours that are of different lists and have one key, unless the first has been counted.
fn step(key: u32, value: u32, bits: u32) -> Result<Component, CircuitError> {
    let mut c = CircuitBuilder::new(format!("count({key}, {value})"));
    let used: Bit = c.input("used", Type::Bool);
    let size: Unsigned = c.input("size", Type::Unsigned(bits));
    let sum: Unsigned = c.input("sum", Type::Unsigned(value + bits));
    let a: (Unsigned, Unsigned) = c.input("a", element(key, value));
    let b: (Unsigned, Unsigned) = c.input("b", element(key, value));
    let keys = [&a, &b].map(|item| Unsigned::new(item.0.bits()[1..].to_vec()));
    let same = c.equal(&keys[0], &keys[1]);
    let differ = c.xor(a.0.bits()[0], b.0.bits()[0]);
    let pair = c.and(same, differ);
    let found = c.and(pair, !used);
    // One of both has no value.
    let both = c.xor_words(&a.1, &b.1);
    let value = c.mask(found, &both);
    let sum = c.add(&sum, &value);
    let size = c.add(&size, &Unsigned::new(vec![found]));
    c.output("used", &found);
    c.output("size", &size);
    c.output("sum", &sum);
    c.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use crate::{builder::simulate, library};

    /// Size and sum of `intersection-sum` of keys of 5 bits and values of 7.
    fn run(a: &[u32], b: &[(u32, u32)]) -> [u128; 2] {
        let program = library::find(&format!("intersection-sum({}, {}, 5, 7)", a.len(), b.len())).unwrap();
        let keys = a.iter().flat_map(|&k| simulate::to_bits(k.into(), 5)).collect();
        let records = b
            .iter()
            .flat_map(|&(k, v)| [simulate::to_bits(k.into(), 5), simulate::to_bits(v.into(), 7)].concat())
            .collect();
        let outputs = simulate::program(&program, &[keys, records]);
        [simulate::from_bits(&outputs[0]), simulate::from_bits(&outputs[1])]
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_records_that_are_in_both(
            a in proptest::collection::btree_set(0u32..32, 1..20),
            b in proptest::collection::btree_map(0u32..32, 0u32..128, 1..20),
        ) {
            let shared: Vec<u32> = a.iter().filter_map(|key| b.get(key).copied()).collect();
            let (a, b): (Vec<u32>, Vec<(u32, u32)>) = (a.into_iter().collect(), b.into_iter().collect());
            prop_assert_eq!(run(&a, &b), [shared.len() as u128, shared.iter().map(|&v| u128::from(v)).sum()]);
        }

        /// The most that a list which is not sorted, or has a key twice, can do.
        #[test]
        fn lists_that_are_not_sorted_find_a_part_of_the_intersection(
            a in proptest::collection::vec(0u32..8, 1..12),
            b in proptest::collection::btree_map(0u32..8, 0u32..8, 1..8),
        ) {
            // Values that are powers of two say which are in the sum, and how often.
            let powers: BTreeMap<u32, u32> = b.keys().take(7).enumerate().map(|(k, &key)| (key, 1 << k)).collect();
            let records: Vec<(u32, u32)> = powers.clone().into_iter().collect();
            let [size, sum] = run(&a, &records);
            let of: u128 = powers.iter().filter(|(key, _)| a.contains(key)).map(|(_, &v)| u128::from(v)).sum();
            prop_assert_eq!(sum & !of, 0);
            prop_assert_eq!(u128::from(sum.count_ones()), size);
        }
    }

    #[test]
    fn long_lists_take_little_memory() {
        let program = library::find("intersection-sum(1000, 1000, 32, 32)").unwrap();
        let gates: usize = program.components().iter().map(|c| c.circuit().gates().len()).sum();
        assert!(gates < 1000 && program.instance_count() < 14_000, "{gates} {}", program.instance_count());
        let hundred = super::sum_ands(100_000, 100_000, 32, 32);
        println!("100,000 keys and as many records of 32 and 32 bits: {hundred} AND gates");
        assert!(hundred < 250_000_000 && super::program_size(100_000, 100_000, 32, 32) < 1 << 22);
    }
}
