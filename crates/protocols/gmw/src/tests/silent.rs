use super::*;

fn layered(depth: usize, ands: usize, parties: u16, form: Form) -> Arc<Plan> {
    let program = library::find(&format!("layered({depth}, {ands})")).expect("known");
    plan(program, parties, Config { form, ot: OtKind::Silent, ..Config::default() })
}

#[test]
fn programs_of_many_gates_take_silent_ots_at_the_stated_cost() {
    for (parties, form) in [(2, Form::Choi2012), (3, Form::Triples)] {
        let plan = layered(2, SILENT_FROM + 1, parties, form);
        let inputs = random::inputs(&mut StdRng::seed_from_u64(8), plan.program());
        check(&plan, &inputs, 9);
    }
}

/// Several batches in a run, and parts of one, of up to five parties.
#[test]
fn a_run_takes_as_many_silent_ots_as_it_has_gates() {
    let most = LpnSet::TOY.round_ots();
    for (at, ands) in [1, most - 1, most, most + 1, 3 * most + 7].into_iter().enumerate() {
        let program = library::find(&format!("layered(1, {ands})")).expect("known");
        let inputs = random::inputs(&mut StdRng::seed_from_u64(8), &program);
        let expected: Vec<_> = garblet_circuit::evaluate(&program, &inputs).into_iter().map(Some).collect();
        let plan = silent_plan(program, 2 + at as u16 % 4, FORMS[at % 2]);
        for (party, (outputs, costs)) in (0..).map(Party).zip(run_all(&plan, &inputs, 9)) {
            assert_eq!(outputs, expected, "{ands} gates, {party}");
            for phase in Phase::ALL {
                let stated = communication(&plan, party, phase, &mesh_run::hellos(plan.parties()));
                assert_eq!(costs.of(phase).communication.bytes_sent, stated.bytes_sent, "{ands} gates, {phase:?}");
            }
        }
    }
}

#[test]
fn programs_of_fewer_gates_cost_the_same_as_with_the_extension() {
    let silent = layered(2, SILENT_FROM - 1, 2, Form::Triples);
    let program = silent.program().clone();
    let extension = plan(program, 2, Config::default());
    for phase in [Phase::Setup, Phase::Prepare] {
        let [silent, extension] = [&silent, &extension].map(|plan| communication(plan, Party(0), phase, &[]));
        assert_eq!(silent, extension);
    }
}

#[test]
fn a_million_gates_take_two_fifths_of_a_byte_each_before_inputs() {
    let plan = layered(10, 1_000_000, 3, Form::Triples);
    for party in [0, 1, 2] {
        let sent = communication(&plan, Party(party), Phase::Prepare, &[]).bytes_sent;
        assert!(sent <= 2 * 400_000, "{sent} bytes to two peers");
    }
}
