use proptest::{collection::vec, prelude::*};

use crate::{
    builder::simulate,
    library::{self, lists::encode},
};

/// Outputs of a program, after checking that it has `stated` AND gates.
fn run(name: &str, stated: u64, inputs: &[Vec<bool>]) -> Vec<bool> {
    let program = library::find(name).unwrap();
    assert_eq!(program.stats().and, stated, "{name}");
    simulate::program(&program, inputs).remove(0)
}

fn bits(values: &[i128], width: usize) -> Vec<bool> {
    values.iter().flat_map(|&v| simulate::to_bits(v as u128, width)).collect()
}

fn signed(x: u128, width: usize) -> i128 {
    (x << (128 - width)) as i128 >> (128 - width)
}

/// Numbers of this many bits, often extreme ones.
fn numbers(width: usize, count: usize) -> impl Strategy<Value = Vec<i128>> {
    let (least, most) = (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1);
    vec(prop_oneof![Just(least), Just(most), least..=most], count)
}

proptest! {
    #[test]
    fn scores(
        (integer, fraction, features, rows, weights, bias, inputs) in (1usize..8, 0usize..8, 1usize..6, 1usize..3)
            .prop_filter("two bits", |(integer, fraction, ..)| integer + fraction > 1)
            .prop_flat_map(|(i, f, d, rows)| (
                Just(i), Just(f), Just(d), Just(rows), numbers(i + f, d), numbers(i + f, 1), numbers(i + f, d * rows),
            )),
    ) {
        let width = integer + fraction;
        let wires = [bits(&weights, width), bits(&bias, width), bits(&inputs, width)];
        let stated = rows as u64 * super::score_ands(features as u64, integer as u64, fraction as u64);
        let out = run(&format!("linear-model({rows}, {features}, {integer}, {fraction})"), stated, &wires);
        let expected: Vec<i128> = inputs
            .chunks(features)
            .map(|row| {
                let exact = row.iter().zip(&weights).map(|(x, w)| x * w).sum::<i128>() + (bias[0] << fraction);
                exact >> fraction
            })
            .collect();
        let bits = super::score_bits(features as u64, width as u64) as usize - fraction;
        let scores: Vec<i128> = out.chunks(bits).map(|score| signed(simulate::from_bits(score), bits)).collect();
        prop_assert_eq!(scores, expected);
    }

    #[test]
    fn classes(depth in 1usize..5, features in 1usize..9, rows in 1usize..4, seed in vec(any::<u16>(), 128)) {
        let (width, class) = (6, 5);
        let f = super::feature_bits(features as u64) as usize;
        let mut next = seed.iter().cycle().map(|&x| u128::from(x));
        let mut take = |count: usize, end: u128| next.by_ref().take(count).map(|x| x % end).collect::<Vec<u128>>();
        let of_node = take((1 << depth) - 1, features as u128);
        let thresholds = take((1 << depth) - 1, 64);
        let classes = take(1 << depth, 32);
        let inputs: Vec<Vec<u128>> = (0..rows).map(|_| take(features, 64)).collect();
        let nodes: Vec<bool> = of_node
            .iter()
            .zip(&thresholds)
            .flat_map(|(&x, &t)| [simulate::to_bits(x, f), simulate::to_bits(t, width)].concat())
            .collect();
        let flat = |values: &[u128], width| values.iter().flat_map(|&v| simulate::to_bits(v, width)).collect::<Vec<_>>();
        let wires = [nodes, flat(&classes, class), flat(&inputs.concat(), width)];
        let stated = rows as u64 * super::tree_ands(depth as u64, features as u64, width as u64, class as u64);
        let out = run(&format!("decision-tree({rows}, {depth}, {features}, {width}, {class})"), stated, &wires);
        let walk = |row: &Vec<u128>| {
            let mut at = 0;
            while at < of_node.len() {
                at = 2 * at + if row[of_node[at] as usize] > thresholds[at] { 2 } else { 1 };
            }
            vec![classes[at - of_node.len()]]
        };
        prop_assert_eq!(encode::array(&out, &[class]), inputs.iter().map(walk).collect::<Vec<_>>());
    }
}

/// The greatest possible score, and one component for any number of rows.
#[test]
fn scores_do_not_overflow() {
    for features in [1usize, 3, 7, 8] {
        let least = vec![-128i128; features];
        let wires = [bits(&least, 8), bits(&[127], 8), bits(&least, 8)];
        let stated = super::score_ands(features as u64, 4, 4);
        let out = run(&format!("linear-model(1, {features}, 4, 4)"), stated, &wires);
        let expected = ((features as i128) * 128 * 128 + (127 << 4)) >> 4;
        assert_eq!(signed(simulate::from_bits(&out), out.len()), expected);
    }
    for name in ["linear-model(1000, 8, 16, 16)", "decision-tree(1000, 4, 8, 16, 8)"] {
        let program = library::find(name).unwrap();
        assert_eq!((program.components().len(), program.instance_count()), (1, 1000), "{name}");
    }
    // One bit has no room for a product of two.
    assert!(library::find("linear-model(1, 2, 1, 0)").unwrap().stats().and <= super::score_ands(2, 1, 0));
    let message = library::find("linear-model(1, 2, 0, 4)").unwrap_err().to_string();
    assert!(message.ends_with("integer_bits is 0, expected 1 to 32"), "{message}");
}
