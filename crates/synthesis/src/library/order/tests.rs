use proptest::{collection::vec, prelude::*};

use crate::{
    builder::simulate,
    library::{
        self,
        lists::encode::{self, run},
    },
};

const VALUE: usize = 5;
const PAYLOAD: usize = 6;

fn values(most: usize) -> impl Strategy<Value = Vec<u128>> {
    vec(prop_oneof![Just(0u128), Just(31), 0u128..32], 0..=most)
}

/// Rows whose payloads are a function of their values, so that a test can tell which ones belong together.
fn with_payload(values: &[u128]) -> Vec<Vec<u128>> {
    values.iter().map(|&v| vec![v, v * 7 % 64]).collect()
}

proptest! {
    #[test]
    fn greatest(k in 1usize..20, mut a in values(19), mut b in values(19), sorted in 0..4, payload: bool) {
        a.truncate(k);
        b.truncate(k);
        if sorted > 0 {
            a.sort_unstable_by(|x, y| y.cmp(x));
            b.sort_unstable_by(|x, y| y.cmp(x));
        }
        let bits = if payload { PAYLOAD } else { 0 };
        let widths = if payload { vec![VALUE, PAYLOAD] } else { vec![VALUE] };
        let rows = |values: &[u128]| match payload {
            true => with_payload(values),
            false => values.iter().map(|&v| vec![v]).collect(),
        };
        let inputs = [encode::list(&rows(&a), k, &widths), encode::list(&rows(&b), k, &widths)];
        let out = run("top-k", &[k, VALUE, bits], &inputs);
        let in_order = |values: &[u128]| values.is_sorted_by(|x, y| x >= y);
        let mut all: Vec<u128> = [&a, &b].into_iter().filter(|own| in_order(own)).flatten().copied().collect();
        all.sort_unstable_by(|x, y| y.cmp(x));
        all.truncate(k);
        prop_assert_eq!(encode::rows(&out[0], k, &widths), rows(&all));
        prop_assert_eq!(out[1][0], in_order(&a) && in_order(&b));
    }

    #[test]
    fn quantiles(mut a in values(15), mut b in values(15), more in 0usize..3, sorted in 0..4, q in prop_oneof![Just(0u128), Just(1000), Just(500), 0u128..1001]) {
        if sorted > 0 {
            a.sort_unstable();
            b.sort_unstable();
        }
        let (n, m) = ((a.len() + more).max(1), b.len().max(1));
        let list = |values: &[u128], most| {
            encode::list(&values.iter().map(|&v| vec![v]).collect::<Vec<_>>(), most, &[VALUE])
        };
        let out = run("quantile", &[n, m, VALUE, q as usize], &[list(&a, n), list(&b, m)]);
        let in_order = |values: &[u128]| values.is_sorted();
        let mut all: Vec<u128> = [&a, &b].into_iter().filter(|own| in_order(own)).flatten().copied().collect();
        all.sort_unstable();
        let number = (all.len() as u128 * q).div_ceil(1000).max(1) as usize;
        let expected = all.get(number - 1).copied();
        prop_assert_eq!(out[0][0], expected.is_some());
        prop_assert_eq!(simulate::from_bits(&out[1]), expected.unwrap_or(0));
        prop_assert_eq!(out[2][0], in_order(&a) && in_order(&b));
    }
}

#[test]
fn quantiles_are_zero_to_one() {
    let message = |name: &str| library::find(name).unwrap_err().to_string();
    let signature = "`quantile(n, m, bits, per_mille)`";
    assert_eq!(message("lib:quantile(4, 4, 16, 1001)"), format!("{signature}: per_mille is 1001, expected 0 to 1000"));
    assert!(message("lib:top-k(0, 16, 0)").contains("k is 0, expected 1 to 65536"));
}

#[test]
fn long_lists_take_little_memory() {
    for name in ["top-k(2000, 32, 32)", "quantile(10000, 10000, 32, 500)"] {
        let program = library::find(name).unwrap();
        let gates: usize = program.components().iter().map(|c| c.circuit().gates().len()).sum();
        println!("{name}: {} AND gates, {gates} gates, {} instances", program.stats().and, program.instance_count());
        let (member, parameters, _) = library::resolve(name).unwrap();
        let library::member::Build::Program { size, .. } = member.build else { panic!("{name} is one component") };
        let stated = size(&parameters.iter().map(|&p| p.into()).collect::<Vec<u64>>());
        assert!(gates + program.instance_count() <= stated as usize, "{name}: {stated} stated");
        assert!(stated < 500_000, "{name}: {stated}");
    }
}
