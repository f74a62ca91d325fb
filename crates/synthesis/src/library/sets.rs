//! Databases and sets: keyed lookup, sorting, and the size of an intersection.

use garblet_circuit::{CircuitError, Component, Party, Program, Recipients, Type};

use super::member::{Build, Member, Parameter};
use crate::builder::{Bit, BitString, CircuitBuilder, Integer, ProgramBuilder, Unsigned, Wires, sort_comparators};

const OWNERS: &[Party] = &[Party(0), Party(1)];

/// - `keyed-database(n, key bits, value bits)`: the value of the first of party 0's records that has party 1's key,
///   zero if none has it; n (key bits + value bits) - 1 AND gates.
/// - `sort(n, bits)`: party 0's ceil(n/2) and party 1's floor(n/2) integers in one sorted list; 2 `bits` for each
///   comparator of Batcher's network.
/// - `intersection-size(n, m, bits)`: the number of values that two lists share, each list without repeats. Compares all pairs or
///   sorts both lists together, whichever takes fewer AND gates: n m (bits - 1) + n - ones(n), or
///   2 `bits` C(n + m) + (n + m - 1)(bits - 1) and the count, with C the comparators. Pairs win for short lists.
pub(super) const MEMBERS: &[Member] = &[
    Member {
        name: "keyed-database",
        summary: "value of the first of party 0's n records with party 1's key, and whether there is one",
        parameters: &[
            Parameter::new("n", 64, 1, 1 << 20),
            Parameter::new("key_bits", 32, 1, 1024),
            Parameter::new("value_bits", 32, 1, 4096),
        ],
        ands: "n (key_bits + value_bits) - 1",
        and_count: |p| p[0] * (p[1] + p[2]) - 1,
        build: Build::Component { owners: OWNERS, build: |c, p| database(c, p[0], p[1], p[2]) },
    },
    Member {
        name: "sort",
        summary: "party 0's first half and party 1's second half of n integers, sorted together",
        parameters: &[Parameter::new("n", 16, 2, 1 << 16), Parameter::new("bits", 32, 1, 1024)],
        ands: "2 bits C(n), C(n) = 1, 5, 19, 60, 185, 531 for n = 2, 4, 8, 16, 32, 64",
        and_count: |p| 2 * p[1] * sort_comparators(p[0] as usize),
        build: Build::Program { size: |p| sort_comparators(p[0] as usize) + 15 * p[1], build: sort },
    },
    Member {
        name: "intersection-size",
        summary: "the number of values that party 0's n and party 1's m integers share, each list without repeats",
        parameters: &[
            Parameter::new("n", 16, 1, 1 << 15),
            Parameter::new("m", 16, 1, 1 << 15),
            Parameter::new("bits", 32, 1, 1024),
        ],
        ands: "the fewer of n m (bits - 1) + n and 2 bits C(n + m) + (n + m - 1) bits, at most",
        and_count: |p| pairwise_ands(p[0], p[1], p[2]).min(sorting_ands(p[0], p[1], p[2])),
        build: Build::Program { size: |p| intersection_size(p[0], p[1], p[2]), build: intersection },
    },
];

fn integers(n: u32, bits: u32) -> Type {
    Type::Array(Box::new(Type::Unsigned(bits)), n)
}

fn database(mut c: CircuitBuilder, n: u32, key_bits: u32, value_bits: u32) -> Result<Component, CircuitError> {
    let record = vec![("key".into(), Type::Unsigned(key_bits)), ("value".into(), Type::Unsigned(value_bits))];
    let records: Vec<(Unsigned, Unsigned)> = c.input("records", Type::Array(Box::new(Type::Record(record)), n));
    let wanted: Unsigned = c.input("key", Type::Unsigned(key_bits));
    let mut level: Vec<(Bit, Unsigned)> = Vec::with_capacity(records.len());
    for (key, value) in records {
        level.push((c.equal(&key, &wanted), value));
    }
    // A tournament that the first record with the key wins; without such a record any winner will do.
    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        for pair in level.chunks(2) {
            next.push(match pair {
                [(found, first), (other, second)] => (c.or(*found, *other), c.select(*found, first, second)),
                alone => alone[0].clone(),
            });
        }
        level = next;
    }
    let (found, value) = level.remove(0);
    let value = c.mask(found, &value);
    c.output("found", &found);
    c.output("value", &value);
    c.finish()
}

/// Two integers in order.
fn comparator(p: &ProgramBuilder, bits: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("comparator({bits})"));
    let a: Unsigned = c.input("a", Type::Unsigned(bits));
    let b: Unsigned = c.input("b", Type::Unsigned(bits));
    let (least, most) = c.min_max(&a, &b);
    c.output("least", &least);
    c.output("most", &most);
    c.finish()
}

fn sort(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, bits] = parameters else { unreachable!("two parameters were checked") };
    let mut values = two_lists(&mut p, n.div_ceil(2), n / 2, bits)?.concat();
    let comparator = p.component(comparator(&p, bits)?);
    p.sort(comparator, &mut values)?;
    p.output("sorted", &Wires::concat(integers(n, bits), &values), Recipients::All)?;
    Ok(p.finish())
}

/// The values of party 0's `a` and of party 1's `b`.
fn two_lists(p: &mut ProgramBuilder, n: u32, m: u32, bits: u32) -> Result<[Vec<Wires>; 2], CircuitError> {
    let mut list = |name, count, party| {
        let all = p.input(name, integers(count, bits), Party(party))?;
        Ok((0..count).map(|k| all.element(k)).collect())
    };
    Ok([list("a", n, 0)?, list("b", m, 1)?])
}

fn intersection(mut p: ProgramBuilder, parameters: &[u32]) -> Result<Program, CircuitError> {
    let &[n, m, bits] = parameters else { unreachable!("three parameters were checked") };
    let lists = two_lists(&mut p, n, m, bits)?;
    let shared = match pairs_win(n.into(), m.into(), bits.into()) {
        true => shared_by_pairs(&mut p, lists, bits)?,
        false => shared_by_sorting(&mut p, lists.concat(), bits)?,
    };
    let shared = Wires::concat(Type::Bits(shared.len() as u32), &shared);
    // One type for the size, for either method.
    let width = u32::BITS - n.min(m).leading_zeros();
    let count = p.component(count(&p, shared.ty(), width)?);
    let size = p.instance(count, &[&shared])?.remove(0);
    p.output("size", &size, Recipients::All)?;
    Ok(p.finish())
}

/// The number of set bits among this many.
fn count(p: &ProgramBuilder, bits: &Type, width: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("count({})", bits.width()));
    let shared: BitString = c.input("shared", bits.clone());
    let size = c.popcount(&shared).resize(width as usize);
    c.output("size", &size);
    c.finish()
}

/// Returns for each value of the shorter list whether it is in the other.
fn shared_by_pairs(p: &mut ProgramBuilder, [a, b]: [Vec<Wires>; 2], bits: u32) -> Result<Vec<Wires>, CircuitError> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let list = Wires::concat(integers(long.len() as u32, bits), &long);
    let among = p.component(among(p, long.len() as u32, bits)?);
    short.iter().map(|x| Ok(p.instance(among, &[x, &list])?.remove(0))).collect()
}

/// Returns whether a value is in a list without repeats: at most one entry is equal, so the sum of the comparisons suffices.
fn among(p: &ProgramBuilder, n: u32, bits: u32) -> Result<Component, CircuitError> {
    let mut c = p.circuit(format!("among({n}, {bits})"));
    let x: Unsigned = c.input("x", Type::Unsigned(bits));
    let list: Vec<Unsigned> = c.input("list", integers(n, bits));
    let equal: Vec<Bit> = list.iter().map(|y| c.equal(&x, y)).collect();
    let found = c.parity(&equal);
    c.output("found", &found);
    c.finish()
}

/// Sorts all values; a shared value appears twice, side by side.
fn shared_by_sorting(p: &mut ProgramBuilder, mut all: Vec<Wires>, bits: u32) -> Result<Vec<Wires>, CircuitError> {
    let comparator = p.component(comparator(p, bits)?);
    p.sort(comparator, &mut all)?;
    let mut c = p.circuit(format!("equal({bits})"));
    let a: Unsigned = c.input("a", Type::Unsigned(bits));
    let b: Unsigned = c.input("b", Type::Unsigned(bits));
    let same = c.equal(&a, &b);
    c.output("equal", &same);
    let equal = p.component(c.finish()?);
    all.windows(2).map(|pair| Ok(p.instance(equal, &[&pair[0], &pair[1]])?.remove(0))).collect()
}

fn count_ands(n: u64) -> u64 {
    n - u64::from(n.count_ones())
}

fn pairwise_ands(n: u64, m: u64, bits: u64) -> u64 {
    n * m * (bits - 1) + count_ands(n.min(m))
}

fn sorting_ands(n: u64, m: u64, bits: u64) -> u64 {
    2 * bits * sort_comparators((n + m) as usize) + (n + m - 1) * (bits - 1) + count_ands(n + m - 1)
}

fn pairs_win(n: u64, m: u64, bits: u64) -> bool {
    pairwise_ands(n, m, bits) <= sorting_ands(n, m, bits)
}

/// Gates of the components, with a few free gates for each AND gate, and instances.
fn intersection_size(n: u64, m: u64, bits: u64) -> u64 {
    match pairs_win(n, m, bits) {
        true => 5 * n.max(m) * bits + 6 * n.min(m),
        false => 20 * bits + sort_comparators((n + m) as usize) + 6 * (n + m),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::{builder::simulate, library};

    fn wires(values: &[u32], bits: usize) -> Vec<bool> {
        values.iter().flat_map(|&v| simulate::to_bits(v.into(), bits)).collect()
    }

    fn run(name: &str, inputs: &[Vec<bool>]) -> Vec<u128> {
        let program = library::find(name).unwrap();
        simulate::program(&program, inputs).iter().map(|bits| simulate::from_bits(bits)).collect()
    }

    fn intersection_size(a: &[u32], b: &[u32], bits: usize) -> u128 {
        let name = format!("intersection-size({}, {}, {bits})", a.len(), b.len());
        run(&name, &[wires(a, bits), wires(b, bits)])[0]
    }

    proptest! {
        #[test]
        fn databases(records in proptest::collection::vec((0u32..16, any::<u8>()), 1..20), key in 0u32..16) {
            let n = records.len();
            let content = records.iter().flat_map(|&(k, v)| [wires(&[k], 4), wires(&[v.into()], 8)].concat()).collect();
            let expected = records.iter().find(|(k, _)| *k == key).map_or([0, 0], |&(_, v)| [1, v.into()]);
            let name = format!("keyed-database({n}, 4, 8)");
            prop_assert_eq!(run(&name, &[content, wires(&[key], 4)]), expected);
            prop_assert_eq!(library::find(&name).unwrap().stats().and, n as u64 * 12 - 1);
        }

        #[test]
        fn sorted_together(values in proptest::collection::vec(any::<u8>(), 2..12)) {
            let n = values.len();
            let (a, b) = values.split_at(n.div_ceil(2));
            let program = library::find(&format!("sort({n}, 8)")).unwrap();
            let inputs = [simulate::bytes_to_bits(a), simulate::bytes_to_bits(b)];
            let mut expected = values.clone();
            expected.sort_unstable();
            prop_assert_eq!(simulate::bits_to_bytes(&simulate::program(&program, &inputs)[0]), expected);
        }

        #[test]
        fn intersections(
            a in proptest::collection::btree_set(0u32..32, 1..20),
            b in proptest::collection::btree_set(0u32..32, 1..20),
        ) {
            let shared = a.intersection(&b).count() as u128;
            let (a, b): (Vec<u32>, Vec<u32>) = (a.into_iter().collect(), b.into_iter().rev().collect());
            prop_assert_eq!(intersection_size(&a, &b, 5), shared);
        }
    }

    #[test]
    fn long_lists_are_sorted_short_ones_are_paired() {
        for (n, m, bits, expected) in [(16, 16, 32, true), (64, 64, 32, false), (1, 200, 8, true)] {
            assert_eq!(pairs_win(n, m, bits), expected, "{n}, {m}, {bits}");
        }
        let (a, b): (BTreeSet<u32>, BTreeSet<u32>) =
            ((0..100).map(|x| 3 * x).collect(), (0..90).map(|x| 5 * x).collect());
        let shared = a.intersection(&b).count() as u128;
        let (a, b): (Vec<u32>, Vec<u32>) = (a.into_iter().rev().collect(), b.into_iter().collect());
        assert_eq!(intersection_size(&a, &b, 9), shared);
        let ands = library::find("intersection-size(100, 90, 9)").unwrap().stats().and;
        let stated = sorting_ands(100, 90, 9).min(pairwise_ands(100, 90, 9));
        // The count's top bits are always zero, so a gate or two is left out.
        assert!(ands <= stated && ands + 9 > stated, "{ands} of {stated}");
    }

    /// However long the lists are, one comparator is stored, not one for each comparison.
    #[test]
    fn long_lists_take_little_memory() {
        for (name, instances) in [
            ("sort(2000, 32)", sort_comparators(2000)),
            ("intersection-size(1000, 1000, 32)", sort_comparators(2000) + 1999 + 1),
            ("intersection-size(3, 30000, 32)", 3 + 1),
        ] {
            let program = library::find(name).unwrap();
            let gates: usize = program.components().iter().map(|c| c.circuit().gates().len()).sum();
            let (member, parameters, _) = library::resolve(name).unwrap();
            let Build::Program { size, .. } = member.build else { panic!("{name} is one component") };
            let stated = size(&parameters.iter().map(|&p| p.into()).collect::<Vec<u64>>());
            assert_eq!(program.instance_count() as u64, instances, "{name}");
            assert!(gates as u64 + instances <= stated, "{name}: {gates} gates, {stated} stated with instances");
            assert!(stated < 6_000_000, "{name}: {stated} gates and instances");
        }
    }
}
