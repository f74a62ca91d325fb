//! Bytes and rounds agree with the formulas.

use garblet_circuit::random;
use garblet_protocol::Phase;
use rand::{SeedableRng, rngs::StdRng};

use super::{deviations::adder, *};
use crate::{
    PARTIES_MAX,
    partialgc::{cost::communication, kept::RUNS_MAX},
};

#[test]
fn the_stated_bound_covers_all_runs_of_a_state_with_the_most_parties() {
    let mut program = (*adder(1)).clone();
    program.set_recipients(0, garblet_circuit::Recipients::All);
    let program = Arc::new(program);
    for (circuits, most) in Circuits::ALL.into_iter().zip([-5.8, -21.2, -82.5]) {
        let config = Config { circuits, ..Config::default() };
        let stated = |parties: u16| {
            let plan = Plan::new(program.clone(), parties, config, SavedValues::default()).unwrap();
            plan.security().cheating_log2.unwrap()
        };
        // One hash of the generator's, 3 ways for the cloud, 5 for each of 8 clients, 9 false tags.
        let others = RUNS_MAX as f64 * f64::from(1 + 3 + 5 * 8 + 9) * (-100f64).exp2();
        let expected = (circuits.cut_log2().exp2() + others).log2();
        assert!((stated(PARTIES_MAX) - expected).abs() < 1e-9, "{}, {expected}", stated(PARTIES_MAX));
        assert!(stated(3) <= stated(PARTIES_MAX) && stated(PARTIES_MAX) < most, "{}", stated(PARTIES_MAX));
    }
}

#[test]
fn measured_costs_agree_with_the_formulas() {
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
