//! The attack on the published links, and the same attack on ours.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::*;
use crate::scmc::{Blocks, attack, find_delta, publish};

#[test]
fn scmc_leaks_delta_and_the_round_key() {
    let round = component("aes-round");
    let mut rng = StdRng::seed_from_u64(5);
    for seed in 0..3 {
        let first: Vec<bool> = (0..256).map(|_| rng.random()).collect();
        let key: Vec<bool> = (0..128).map(|_| rng.random()).collect();
        let blocks = Blocks { component: &round, width: 128 };
        let (view, delta) = publish(&blocks, &first, &key, &mut Prg::new(Block::from_u128(seed)));
        let learned = attack(&blocks, &view).unwrap();
        assert_eq!(learned.delta, delta.to_u128());
        // The evaluator's own state and the garbler's round key, for which the evaluator knew only labels.
        let state: Vec<Option<bool>> = first[..128].iter().map(|bit| Some(*bit)).collect();
        assert_eq!(learned.first_inputs[..128], state);
        assert_eq!(learned.key.as_deref(), Some(&first[128..]));
    }
}

#[test]
fn the_same_attack_finds_nothing_in_ours() {
    let program = crate::tests::linking::rounds(3);
    let inputs: Vec<Bits> = (0..4).map(|k| Bits::from_u128(0x1234_5678_9abc_def0 << (3 * k), 128)).collect();
    for linking in [Linking::Standard, Linking::Keyed, Linking::Cheapest] {
        let (library, _) = crate::tests::invariant::rounds_library();
        let config = Config { linking, ..Config::default() };
        let (labels, plan) = block_on(async {
            let mut pair = Pair::prepared(&library, config).await;
            let (mine, theirs) = pair.build(&program).await;
            let (mine, theirs) = (mine.unwrap(), theirs.unwrap());
            crate::tests::invariant::active_labels(&pair, mine, theirs, &inputs)
        });
        let mut blocks: Vec<&[Block]> = Vec::new();
        for (_, input, output) in &plan.tasks {
            blocks.extend([&labels[*input..][..128], &labels[*input + 128..][..128], &labels[*output..][..128]]);
        }
        assert_eq!(blocks.len(), 9);
        // An output and the input that it feeds differ by links, which are uniform: no two sums are the same.
        assert!(find_delta(&blocks).is_none(), "{linking:?}");
    }
}
