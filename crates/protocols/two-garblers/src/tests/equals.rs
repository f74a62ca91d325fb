//! All parties learn what the plain evaluator computes, and nothing else.

use garblet_circuit::{InputId, evaluate, random};
use garblet_runs::testing::is_full;
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;

fn assert_equals(program: &Program, inputs: &[Bits], build: Build, seed: u64) {
    let expected = evaluate(program, inputs);
    for (party, (outputs, _)) in run(&plan(program, build), inputs, seed).into_iter().enumerate() {
        for (at, output) in program.outputs().iter().enumerate() {
            let learns = output.recipients.contains(Party(party as u16));
            let name = program.name();
            assert!(outputs[at] == learns.then(|| expected[at].clone()), "output {at} of {name} at party {party}");
        }
    }
}

#[test]
fn library_functions() {
    let mut rng = StdRng::seed_from_u64(1);
    for name in ["lib:add(16)", "lib:hamming(30)", "lib:aes128", "lib:sort(4, 6)", "lib:millionaires(32)"] {
        let program = library::find(name).expect("in the library");
        let inputs = random::inputs(&mut rng, &program);
        for build in BUILDS {
            assert_equals(&program, &inputs, build, 1);
        }
    }
}

#[test]
fn random_programs() {
    for seed in 0..if is_full() { 400 } else { 40 } {
        let mut rng = StdRng::seed_from_u64(seed);
        let program = random::program(&mut rng, 300, 3);
        let inputs = random::inputs(&mut rng, &program);
        assert_equals(&program, &inputs, BUILDS[seed as usize % 2], seed);
    }
}

#[test]
fn every_owner_with_every_set_of_recipients() {
    let mut rng = StdRng::seed_from_u64(2);
    let mut program =
        library::find("lib:multiply(4)").or_else(|_| library::find("lib:mul(4)")).expect("in the library");
    for (one, other) in (0..3).flat_map(|one| (0..3).map(move |other| (one, other))) {
        program.set_owner(InputId(0), Party(one));
        program.set_owner(InputId(1), Party(other));
        for mask in 0..8 {
            program.set_recipients(0, members(mask));
            let inputs = random::inputs(&mut rng, &program);
            assert_equals(&program, &inputs, BUILDS[usize::from(mask + one) % 2], mask.into());
        }
    }
}

/// The garblers send three pieces in turn.
#[test]
fn tables_of_several_pieces() {
    let mut program = large();
    assert!(plan(&program, Build::Stream).pieces().count() == 3);
    let inputs = random::inputs(&mut StdRng::seed_from_u64(3), &program);
    for (build, mask) in BUILDS.into_iter().zip([7, 6]) {
        program.set_recipients(0, members(mask));
        assert_equals(&program, &inputs, build, 3);
    }
}

#[test]
fn programs_without_gates_inputs_or_outputs() {
    let wires = |wires: &[u32]| wires.iter().copied().map(Wire).collect::<Vec<Wire>>();
    let negated = [Gate::Not(Wire(0)), Gate::Not(Wire(1)), Gate::Not(Wire(2))].to_vec();
    let constants = [Gate::Constant(false), Gate::Constant(true)].to_vec();
    let sums = [Gate::Xor(Wire(0), Wire(1)), Gate::Xor(Wire(1), Wire(2)), Gate::Not(Wire(3))].to_vec();
    let ands = [Gate::And(Wire(0), Wire(0)), Gate::Not(Wire(1)), Gate::And(Wire(1), Wire(2))].to_vec();
    let cases = [
        circuit([1, 1, 1], Vec::new(), wires(&[0, 1, 2])),
        circuit([1, 1, 1], negated, wires(&[3, 4, 5, 0])),
        circuit([1, 1, 1], constants.clone(), wires(&[3, 4])),
        circuit([0, 0, 0], constants, wires(&[0, 1])),
        circuit([1, 1, 1], sums, wires(&[3, 4, 5])),
        circuit([0, 2, 0], ands.clone()[..1].to_vec(), wires(&[2])),
        circuit([2, 0, 0], ands, wires(&[2, 3, 4])),
        circuit([1, 1, 1], Vec::new(), Vec::new()),
    ];
    for (case, mut program) in cases.into_iter().enumerate() {
        for mask in 0..8 {
            program.set_recipients(0, members(mask));
            let inputs = random::inputs(&mut StdRng::seed_from_u64(case as u64), &program);
            assert_equals(&program, &inputs, BUILDS[usize::from(mask) % 2], 4);
        }
    }
}
