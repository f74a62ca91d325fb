use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};

use crate::{
    builder::simulate,
    library::{
        self,
        lists::encode::{self, run},
    },
};

const KEY: usize = 4;
const VALUE: usize = 7;

fn single(values: &[u128], most: usize, width: usize) -> Vec<bool> {
    encode::list(&values.iter().map(|&x| vec![x]).collect::<Vec<_>>(), most, &[width])
}

fn values() -> impl Strategy<Value = (Vec<u128>, usize)> {
    let value = prop_oneof![Just(0u128), Just(127), 0u128..128];
    (vec(value, 0..20), 0usize..3).prop_map(|(v, more)| (v.clone(), (v.len() + more).max(1)))
}

proptest! {
    #[test]
    fn groups(rows in vec((0u128..16, prop_oneof![Just(127u128), 0u128..128]), 0..20), more in 0usize..3, cut in 0usize..3, groups in 1usize..17) {
        let most = (rows.len() + more).max(1);
        let bits = super::group_bits(groups as u64) as usize;
        let group = |row: &(u128, u128)| row.0 & ((1 << bits) - 1);
        let of: Vec<u128> = rows.iter().map(group).collect();
        let values: Vec<u128> = rows.iter().skip(cut).map(|row| row.1).collect();
        let inputs = [single(&of, most, bits), single(&values, most, VALUE)];
        let out = run("group-sum", &[most, groups, VALUE], &inputs);
        let mut expected = vec![vec![0u128]; groups];
        for (&group, &value) in of.iter().zip(&values) {
            if let Some(sum) = expected.get_mut(group as usize) {
                sum[0] += value;
            }
        }
        let width = super::sum_bits(most as u64, VALUE as u64) as usize;
        prop_assert_eq!(encode::array(&out[0], &[width]), expected);
        prop_assert_eq!(out[1][0], of.len() == values.len());
    }

    #[test]
    fn keys(mut a in vec((0u128..16, 0u128..128), 0..14), mut b in vec((0u128..16, 0u128..128), 0..14), sorted in 0..4, groups in 1usize..20) {
        if sorted > 0 {
            a.sort_unstable();
            b.sort_unstable();
        }
        let (n, m) = (a.len().max(1), b.len() + 1);
        let groups = groups.min(n + m);
        let list = |rows: &[(u128, u128)], most| {
            encode::list(&rows.iter().map(|row| vec![row.0, row.1]).collect::<Vec<_>>(), most, &[KEY, VALUE])
        };
        let out = run("group-sum-by-key", &[n, m, groups, KEY, VALUE], &[list(&a, n), list(&b, m)]);
        let mut sums: BTreeMap<u128, u128> = BTreeMap::new();
        let in_order = |rows: &[(u128, u128)]| rows.is_sorted_by_key(|row| row.0);
        for rows in [&a, &b].into_iter().filter(|rows| in_order(rows)) {
            rows.iter().for_each(|row| *sums.entry(row.0).or_default() += row.1);
        }
        let width = super::sum_bits((n + m) as u64, VALUE as u64) as usize;
        let expected: Vec<Vec<u128>> = sums.iter().take(groups).map(|(&key, &sum)| vec![key, sum]).collect();
        prop_assert_eq!(encode::rows(&out[0], groups, &[KEY, width]), expected);
        prop_assert_eq!(out[1][0], sums.len() > groups);
        prop_assert_eq!(out[2][0], in_order(&a) && in_order(&b));
    }

    #[test]
    fn ranges((a, n) in values(), (b, m) in values(), least in 0usize..140, width in 1usize..40, buckets in 1usize..9) {
        let out = {
            let name = format!("histogram({n}, {m}, {VALUE}, {least}, {width}, {buckets})");
            let program = library::find(&name).unwrap();
            let stated = super::histogram_ands(n as u64, m as u64, VALUE as u64, buckets as u64);
            prop_assert!(program.stats().and <= stated, "{}: {} of {stated}", name, program.stats().and);
            simulate::program(&program, &[single(&a, n, VALUE), single(&b, m, VALUE)])
        };
        let mut expected = vec![vec![0u128]; buckets];
        for &value in a.iter().chain(&b).filter(|&&value| value >= least as u128) {
            if let Some(count) = expected.get_mut((value as usize - least) / width) {
                count[0] += 1;
            }
        }
        let bits = super::sum_bits((n + m) as u64, 1) as usize;
        prop_assert_eq!(encode::array(&out[0], &[bits]), expected);
    }
}

/// The greatest possible sums.
#[test]
fn nothing_overflows() {
    for n in [1usize, 2, 3, 16, 17] {
        let out = run("group-sum", &[n, 1, VALUE], &[single(&vec![0; n], n, 1), single(&vec![127; n], n, VALUE)]);
        assert_eq!(simulate::from_bits(&out[0]), 127 * n as u128);
        let rows = encode::list(&vec![vec![15, 127]; n], n, &[KEY, VALUE]);
        let out = run("group-sum-by-key", &[n, n, 1, KEY, VALUE], &[rows.clone(), rows]);
        let bits = super::sum_bits(2 * n as u64, VALUE as u64) as usize;
        assert_eq!(encode::rows(&out[0], 1, &[KEY, bits]), [[15, 254 * n as u128]]);
        let ones = single(&vec![127; n], n, VALUE);
        let program = library::find(&format!("histogram({n}, {n}, {VALUE}, 120, 8, 2)")).unwrap();
        let out = simulate::program(&program, &[ones.clone(), ones]);
        assert_eq!(encode::array(&out[0], &[super::sum_bits(2 * n as u64, 1) as usize]), [[2 * n as u128], [0]]);
    }
}

#[test]
fn more_groups_than_rows_are_refused() {
    let message = |name: &str| library::find(name).unwrap_err().to_string();
    let signature = "`group-sum-by-key(n, m, groups, key_bits, value_bits)`";
    assert_eq!(message("lib:group-sum-by-key(4, 3, 8, 16, 16)"), format!("{signature}: groups is 8, expected 1 to 7"));
    assert_eq!(
        message("lib:group-sum(4, 0, 16)"),
        "`group-sum(n, groups, value_bits)`: groups is 0, expected 1 to 1024"
    );
    assert!(message("lib:histogram(4, 4, 33, 0, 1, 1)").contains("bits is 33, expected 1 to 32"));
}

#[test]
fn long_lists_take_little_memory() {
    for name in [
        "group-sum(10000, 16, 32)",
        "group-sum-by-key(1000, 1000, 100, 32, 32)",
        "histogram(5000, 5000, 32, 0, 1000, 10)",
    ] {
        let program = library::find(name).unwrap();
        let gates: usize = program.components().iter().map(|c| c.circuit().gates().len()).sum();
        println!("{name}: {} AND gates, {gates} gates, {} instances", program.stats().and, program.instance_count());
        let (member, parameters, _) = library::resolve(name).unwrap();
        let library::member::Build::Program { size, .. } = member.build else { panic!("{name} is one component") };
        let stated = size(&parameters.iter().map(|&p| p.into()).collect::<Vec<u64>>());
        assert!(gates + program.instance_count() <= stated as usize, "{name}: {stated} stated");
        assert!(stated < 300_000, "{name}: {stated}");
    }
}
