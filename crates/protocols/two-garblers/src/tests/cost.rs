//! Measured bytes and rounds agree with the formulas.

use garblet_circuit::random;
use garblet_protocol::Phase;
use garblet_runs::testing::mesh_run::hellos;
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;

/// Runs a program and compares every phase of every party with the formula.
fn assert_costs(program: &Program, inputs: &[Bits], build: Build) {
    let plan = plan(program, build);
    for (party, (_, costs)) in (0..).map(Party).zip(run(&plan, inputs, 1)) {
        for phase in Phase::ALL {
            let stated = communication(&plan, party, phase, &hellos(3));
            assert_eq!(costs.of(phase).communication, stated, "party {party}, {phase:?} of {}", program.name());
        }
    }
}

#[test]
fn formulas_agree_with_measured_costs() {
    let mut rng = StdRng::seed_from_u64(21);
    for case in 0..20 {
        let program = random::program(&mut rng, 400, 3);
        let inputs = random::inputs(&mut rng, &program);
        assert_costs(&program, &inputs, BUILDS[case % 2]);
    }
    let mut program = large();
    let inputs = random::inputs(&mut rng, &program);
    for (build, mask) in BUILDS.into_iter().zip([7, 4]) {
        program.set_recipients(0, members(mask));
        assert_costs(&program, &inputs, build);
    }
}

#[test]
fn rounds_do_not_depend_on_the_circuit() {
    let mut rng = StdRng::seed_from_u64(22);
    for name in ["lib:layered(1, 64)", "lib:aes128"] {
        let program = library::find(name).expect("in the library");
        let inputs = random::inputs(&mut rng, &program);
        for (party, (_, costs)) in run(&plan(&program, Build::Stream), &inputs, 1).iter().enumerate() {
            let rounds = costs.of(Phase::Online).communication.rounds;
            assert_eq!(rounds, if party == 0 { 1 } else { 2 }, "party {party} of {name}");
        }
    }
}

/// Bytes that all parties together send before and after the inputs are known.
fn sent(program: &Program, build: Build) -> u64 {
    let plan = plan(program, build);
    let costs =
        |party| [Phase::Build, Phase::Online].map(|phase| communication(&plan, Party(party), phase, &hellos(3)));
    (0..3).flat_map(costs).map(|cost| cost.bytes_sent).sum()
}

/// All links together carry 32 bytes per AND gate, and the garblers send half of them each.
#[test]
fn gates_and_inputs_cost_what_the_book_says() {
    let chain = |ands: u32| {
        circuit([1, 1, 1], (0..ands).map(|at| Gate::And(Wire(at), Wire(at + 2))).collect(), vec![Wire(ands + 2)])
    };
    for build in BUILDS {
        assert_eq!(sent(&chain(300_000), build) - sent(&chain(100_000), build), 32 * 200_000);
    }
    let plan = plan(&chain(1_000_000), Build::Stream);
    let [first, second] = [0, 1].map(|seat| plan.table_bytes(seat));
    assert_eq!(first + second, 32_000_000);
    assert!((first as f64 / second as f64 - 1.0).abs() < 0.05, "{first} {second}");
    // A thousand bits more of the evaluator's, and of each garbler's input.
    let with =
        |widths| sent(&circuit(widths, vec![Gate::Constant(true)], vec![Wire(widths.iter().sum())]), Build::Ahead);
    let none = with([0, 0, 0]);
    assert_eq!(with([1000, 0, 0]) - none, 1000 * (2 * 64 + 2 * 16) + 2000 / 8 + 2 * 1000 / 8);
    assert_eq!([with([0, 1000, 0]), with([0, 0, 1000])], [none + 1000 * (64 + 16); 2]);
}
