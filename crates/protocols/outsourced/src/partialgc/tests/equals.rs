//! Results agree with the plain evaluator.

use garblet_circuit::{evaluate, random};
use rand::{SeedableRng, rngs::StdRng};

use super::*;

#[test]
fn random_programs_agree_with_the_plain_evaluator() {
    for seed in 0..12 {
        let mut rng = StdRng::seed_from_u64(seed);
        let parties = 3 + (seed % 2) as u16;
        let program = Arc::new(random::program(&mut rng, 60, parties));
        let inputs = random::inputs(&mut rng, &program);
        let expected = evaluate(&program, &inputs);
        let given: Vec<Option<Bits>> = inputs.into_iter().map(Some).collect();
        let reuse = if seed % 3 == 0 { Reuse::PartialGates } else { Reuse::Labels };
        let scene = Scene { seed, ..Scene::new(&program, parties, small(reuse)) };
        let (results, states) = scene.run(&given, None);
        for (party, result) in results.into_iter().enumerate() {
            let got = result.unwrap_or_else(|error| panic!("seed {seed}, party {party}: {error}"));
            assert!(got == learned(&program, party as u16, &expected), "seed {seed}, party {party}");
        }
        assert!(states.is_some());
    }
}

#[test]
fn prepared_runs_serve_in_any_order() {
    let mut rng = StdRng::seed_from_u64(77);
    let program = Arc::new(random::program(&mut rng, 60, 3));
    let inputs = random::inputs(&mut rng, &program);
    let expected = evaluate(&program, &inputs);
    let given: Vec<Option<Bits>> = inputs.into_iter().map(Some).collect();
    for order in [&[0, 1, 2][..], &[2, 0, 1]] {
        let scene = Scene { order, ..Scene::new(&program, 3, small(Reuse::Labels)) };
        let (results, _) = scene.run(&given, None);
        for (party, result) in results.into_iter().enumerate() {
            assert!(result.unwrap() == learned(&program, party as u16, &expected), "party {party}, {order:?}");
        }
    }
}
