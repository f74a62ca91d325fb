//! All forms agree with the plain evaluator, in lots and pieces so small that every program has several.

use super::*;

fn check(plan: &Plan, batch: Option<Batch>, inputs: &[Bits], seed: u64) {
    let [garbler, evaluator] = run(plan, batch, inputs, (Honest, Honest), seed);
    for (party, ran) in [(GARBLER, garbler), (EVALUATOR, evaluator)] {
        let place = format!("party {party}, {:?}, case {seed}", plan.config());
        let (outputs, costs) = ran.unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(outputs == learned(plan, party, inputs), "{place}");
        // Toy batches have the costs of their size; runs without one use the normal size.
        for phase in [Phase::Prepare, Phase::Build, Phase::Online].into_iter().skip(batch.map_or(0, |_| 1)) {
            let hellos = [GARBLER, EVALUATOR].map(|party| Hello::new(NAME, party.0, 2, [0; 32]));
            let stated = communication(plan, party, phase, &hellos);
            let measured = costs.of(phase).communication;
            assert_eq!(
                [measured.bytes_sent, measured.bytes_received],
                [stated.bytes_sent, stated.bytes_received],
                "{place}, {phase:?}"
            );
        }
    }
}

#[test]
fn random_programs_agree_with_the_plain_evaluator() {
    let mut lots = 0;
    for case in 0..40 {
        let mut rng = StdRng::seed_from_u64(case);
        let program = match case % 3 {
            0 => random::single(&mut rng, 8000, 2),
            _ => random::program(&mut rng, 200, 2),
        };
        let inputs = random::inputs(&mut rng, &program);
        for config in configs() {
            let plan = plan(program.clone(), config);
            lots = lots.max(plan.lots().len());
            // One case in ten with batches that users have.
            let toy = Batch { triples: plan.and_count().max(1), bucket: 2 };
            check(&plan, (case % 10 != 7).then_some(toy), &inputs, case);
        }
    }
    assert!(lots >= 4, "{lots}");
}

/// Inputs and constants as outputs, negations of both, and gates with either as an operand.
#[test]
fn outputs_that_are_inputs_constants_and_negations() {
    let gates = vec![
        Gate::Constant(true),
        Gate::Constant(false),
        Gate::Not(Wire(0)),
        Gate::Not(Wire(3)),
        Gate::Xor(Wire(1), Wire(3)),
        Gate::And(Wire(4), Wire(2)),
        Gate::And(Wire(6), Wire(7)),
        Gate::And(Wire(1), Wire(1)),
        Gate::Not(Wire(10)),
        Gate::And(Wire(5), Wire(0)),
    ];
    let linear: Vec<Wire> = (0..9).map(Wire).collect();
    let all: Vec<Wire> = (0..14).map(Wire).collect();
    let programs = [circuit([2, 2], gates[..5].to_vec(), linear), circuit([2, 2], gates, all)];
    for program in programs {
        for recipients in [[0, 1].to_vec(), vec![0], vec![1], vec![]] {
            let mut program = program.clone();
            program.set_recipients(0, garblet_circuit::Recipients::Only(recipients.into_iter().map(Party).collect()));
            for config in configs() {
                let plan = plan(program.clone(), config);
                for value in 0..16u128 {
                    let inputs = [Bits::from_u128(value & 3, 2), Bits::from_u128(value >> 2, 2)];
                    let batch = (plan.and_count() > 0).then(|| Batch { triples: plan.and_count(), bucket: 2 });
                    check(&plan, batch, &inputs, value as u64);
                }
            }
        }
    }
}
