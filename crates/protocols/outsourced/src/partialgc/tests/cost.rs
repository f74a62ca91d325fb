//! Bytes and rounds are those of the formulas.

use garblet_circuit::random;
use garblet_protocol::Phase;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::partialgc::cost::communication;

#[test]
fn measured_costs_are_those_of_the_formulas() {
    let mut wrong = Vec::new();
    for seed in 0..8 {
        let mut rng = StdRng::seed_from_u64(40 + seed);
        let parties = 3 + (seed % 3) as u16;
        let program = Arc::new(random::program(&mut rng, 40, parties));
        let inputs = random::inputs(&mut rng, &program).into_iter().map(Some).collect::<Vec<_>>();
        let config = small(if seed % 2 == 0 { Reuse::Labels } else { Reuse::PartialGates });
        let scene = Scene { seed, ..Scene::new(&program, parties, config) };
        let costs = scene.costs.clone();
        scene.run(&inputs, None);
        let plan = Plan::new(program.clone(), parties, config, SavedValues::default()).unwrap();
        let hellos: Vec<Hello> = (0..parties).map(|party| Hello::new(NAME, party, parties, program.digest())).collect();
        let costs = costs.lock().unwrap();
        for (&party, measured) in costs.iter() {
            for phase in Phase::ALL {
                let expected = communication(&plan, Party(party), phase, &hellos);
                let got = measured.of(phase).communication;
                if got != expected {
                    wrong.push(format!(
                        "seed {seed}, {parties} parties, party {party}, {phase:?}: {got:?}, {expected:?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
