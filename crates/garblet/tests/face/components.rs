//! Components prepared ahead and linked give the plain evaluator's answers, whichever links are used.

use std::sync::Arc;

use garblet::{
    Bits, Config, Party, Phase, Plan, Program, Protocol, SchemeKind,
    circuit::{evaluate, random},
    components::{Library, Material, communication},
    run_in_memory,
};
use rand::{SeedableRng, rngs::StdRng};

fn full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

fn check(program: &Program, inputs: &[Bits], config: Config) {
    let expected = evaluate(program, inputs);
    let reports = run_in_memory(program, inputs, config).unwrap();
    for report in reports {
        for (output, (got, expected)) in program.outputs().iter().zip(report.outputs.iter().zip(&expected)) {
            let learned = output.recipients.contains(report.party);
            assert_eq!(got.as_ref(), learned.then_some(expected), "{}", output.port.name);
        }
    }
}

#[test]
fn random_programs_equal_eval() {
    let mut rng = StdRng::seed_from_u64(11);
    let schemes: Vec<SchemeKind> = SchemeKind::ALL.iter().copied().filter(|scheme| !scheme.is_privacy_free()).collect();
    for case in 0..if full() { 400 } else { 60 } {
        let program = random::program(&mut rng, [3, 60, 600][case % 3], 2);
        let inputs = random::inputs(&mut rng, &program);
        let mut config = Config::of(Protocol::of::<garblet::components::Components>());
        config.get_mut::<garblet::components::Components>().unwrap().garbling.scheme =
            schemes[case / 3 % schemes.len()];
        check(&program, &inputs, config);
    }
}

#[test]
fn bytes_and_rounds_of_the_online_phase_are_the_formula() {
    let mut rng = StdRng::seed_from_u64(12);
    for case in 0..40 {
        let program = random::program(&mut rng, 40, [1, 2][case % 2]);
        let inputs = random::inputs(&mut rng, &program);
        let config = Config::of(Protocol::of::<garblet::components::Components>());
        let material = Material::new(
            Library::of_program(&program),
            config.get::<garblet::components::Components>().unwrap().garbling,
        );
        let program = Arc::new(program);
        for report in run_in_memory(&program, &inputs, &config).unwrap() {
            let stated = communication(
                &material,
                *config.get::<garblet::components::Components>().unwrap(),
                &program,
                report.party,
            )
            .unwrap();
            let measured = report.phases.online.communication;
            let bytes = |c: garblet::Communication| (c.bytes_sent, c.bytes_received);
            assert_eq!(bytes(measured), bytes(stated), "{}", report.role);
            assert!(report.party != Party(1) || measured.rounds == stated.rounds && stated.rounds <= 1);
        }
    }
}

#[test]
fn only_the_online_phase_is_predicted() {
    let program = garblet::library::find("lib:add(8)").unwrap();
    let predicted = Plan::new(program, 2, &Config::of(Protocol::of::<garblet::components::Components>()))
        .and_then(|plan| plan.predict())
        .unwrap();
    for party in [Party(0), Party(1)] {
        let known = Phase::ALL.map(|phase| predicted.cost(party, phase).is_some());
        assert_eq!(known, [false, false, false, true]);
    }
}
