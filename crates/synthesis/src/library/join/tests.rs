use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};

use crate::{
    builder::simulate,
    library::{
        self,
        lists::encode::{self, run},
    },
};

const KEY: usize = 5;
const VALUE: usize = 7;

/// A list and its capacity. One in three has rows in any order, repeated keys, and extreme keys.
fn records() -> impl Strategy<Value = (Vec<(u128, u128)>, usize)> {
    let key = || prop_oneof![Just(0u128), Just(31), 0u128..32];
    let sorted = proptest::collection::btree_map(key(), 0u128..128, 0..14).prop_map(|map| map.into_iter().collect());
    let any = vec((key(), 0u128..128), 0..14);
    (prop_oneof![2 => sorted, 1 => any], 0usize..4)
        .prop_map(|(rows, more): (Vec<_>, usize)| (rows.clone(), (rows.len() + more).max(1)))
}

fn is_strict(rows: &[(u128, u128)]) -> bool {
    rows.is_sorted_by(|x, y| x.0 < y.0)
}

/// The rows that count: none if the list is out of order.
fn counting(rows: &[(u128, u128)]) -> BTreeMap<u128, u128> {
    if is_strict(rows) { rows.iter().copied().collect() } else { BTreeMap::new() }
}

fn keys(rows: &[(u128, u128)], most: usize) -> Vec<bool> {
    encode::list(&rows.iter().map(|row| vec![row.0]).collect::<Vec<_>>(), most, &[KEY])
}

fn both(rows: &[(u128, u128)], most: usize) -> Vec<bool> {
    encode::list(&rows.iter().map(|row| vec![row.0, row.1]).collect::<Vec<_>>(), most, &[KEY, VALUE])
}

proptest! {
    #[test]
    fn sums((a, n) in records(), (b, m) in records()) {
        let out = run("intersection-sum", &[n, m, KEY, VALUE], &[keys(&a, n), both(&b, m)]);
        let (ours, theirs) = (counting(&a), counting(&b));
        let shared: Vec<u128> = ours.keys().filter_map(|key| theirs.get(key).copied()).collect();
        prop_assert_eq!(simulate::from_bits(&out[0]), shared.len() as u128);
        prop_assert_eq!(simulate::from_bits(&out[1]), shared.iter().sum::<u128>());
        prop_assert_eq!(out[2][0], is_strict(&a) && is_strict(&b));
    }

    #[test]
    fn intersections((a, n) in records(), (b, m) in records(), with_a: bool, with_b: bool) {
        let bits = [with_a, with_b].map(|with| if with { VALUE } else { 0 });
        let list = |rows: &[(u128, u128)], most, with| if with { both(rows, most) } else { keys(rows, most) };
        let inputs = [list(&a, n, with_a), list(&b, m, with_b)];
        let out = run("intersection", &[n, m, KEY, bits[0], bits[1]], &inputs);
        let (ours, theirs) = (counting(&a), counting(&b));
        let row = |(&key, &value): (&u128, &u128)| {
            let other = *theirs.get(&key)?;
            Some([Some(key), with_a.then_some(value), with_b.then_some(other)].into_iter().flatten().collect())
        };
        let expected: Vec<Vec<u128>> = ours.iter().filter_map(row).collect();
        let widths: Vec<usize> = [KEY, bits[0], bits[1]].into_iter().filter(|&bits| bits > 0).collect();
        prop_assert_eq!(encode::rows(&out[0], n.min(m), &widths), expected);
        prop_assert_eq!(out[1][0], is_strict(&a) && is_strict(&b));
    }

    /// Party 0 may repeat keys.
    #[test]
    fn joins((mut a, n) in records(), (b, m) in records(), sorted: bool) {
        if sorted {
            a.sort_unstable();
        }
        let out = run("join", &[n, m, KEY, VALUE], &[keys(&a, n), both(&b, m)]);
        let ascending = a.is_sorted_by_key(|row| row.0);
        let theirs = counting(&b);
        let found = |row: &(u128, u128)| theirs.get(&row.0).copied().filter(|_| ascending);
        let mut expected: Vec<Vec<u128>> = a.iter().map(|row| found(row).map_or(vec![0, 0], |v| vec![1, v])).collect();
        expected.resize(n, vec![0, 0]);
        prop_assert_eq!(encode::array(&out[0], &[1, VALUE]), expected);
        prop_assert_eq!(out[1][0], ascending && is_strict(&b));
    }
}

/// Full lists, all keys alike or all different, and a count that exceeds the capacity.
#[test]
fn ends() {
    for (n, m) in [(1, 1), (1, 9), (9, 1), (16, 16), (17, 15), (31, 32)] {
        let full = |most: usize| (0..most as u128).map(|key| (key, key + 64)).collect::<Vec<_>>();
        let (a, b) = (full(n), full(m));
        let common = n.min(m) as u128;
        let out = run("intersection-sum", &[n, m, KEY, VALUE], &[keys(&a, n), both(&b, m)]);
        assert_eq!(simulate::from_bits(&out[0]), common);
        assert_eq!(simulate::from_bits(&out[1]), (0..common).map(|key| key + 64).sum());
        let mut more = both(&b, m);
        (0..library::lists::count_bits(m as u64) as usize).for_each(|k| more[k] = true);
        assert_eq!(run("intersection-sum", &[n, m, KEY, VALUE], &[keys(&a, n), more]), out);
        let apart: Vec<(u128, u128)> = (0..m as u128).map(|key| (key, 1)).collect();
        let above: Vec<(u128, u128)> = (m as u128..32).take(n).map(|key| (key, 1)).collect();
        let out = run("join", &[n, m, KEY, VALUE], &[keys(&above, n), both(&apart, m)]);
        assert!(out[0].iter().all(|&bit| !bit) && out[1][0]);
        let alike = vec![(3, 0); n];
        let out = run("join", &[n, m, KEY, VALUE], &[keys(&alike, n), both(&b, m)]);
        let expected = if m > 3 { vec![1, 67] } else { vec![0, 0] };
        assert_eq!(encode::array(&out[0], &[1, VALUE]), vec![expected; n]);
    }
}

#[test]
fn long_lists_take_little_memory() {
    for (name, most) in [
        ("intersection-sum(1000, 1000, 32, 32)", 15_000),
        ("intersection(1000, 1000, 32, 32, 32)", 32_000),
        ("join(1000, 1000, 32, 32)", 30_000),
    ] {
        let program = library::find(name).unwrap();
        let gates: usize = program.components().iter().map(|c| c.circuit().gates().len()).sum();
        println!("{name}: {} AND gates, {gates} gates, {} instances", program.stats().and, program.instance_count());
        assert!(gates < 20_000 && program.instance_count() < most, "{name}: {gates} {}", program.instance_count());
        let (member, parameters, _) = library::resolve(name).unwrap();
        let library::member::Build::Program { size, .. } = member.build else { panic!("{name} is one component") };
        let stated = size(&parameters.iter().map(|&p| p.into()).collect::<Vec<u64>>());
        assert!(gates + program.instance_count() <= stated as usize, "{name}: {stated} stated");
    }
}
