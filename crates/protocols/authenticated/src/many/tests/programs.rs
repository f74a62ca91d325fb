//! Programs give the values of the plain evaluation, for any number of parties, and cost what the formulas say.

use garblet_circuit::random;
use garblet_protocol::{conduct::Honest, phase::Phase};
use garblet_runs::testing::{is_full, mesh_run::hellos};
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::{config::Build, many::communication};

/// Every check of gates, with circuits that are made ahead and such that are streamed.
const CHECKS_AND_BUILDS: [(ResultCheck, Build); 4] = [
    (ResultCheck::Tags, Build::Ahead),
    (ResultCheck::Tags, Build::Stream),
    (ResultCheck::Reveal, Build::Ahead),
    (ResultCheck::Reveal, Build::Stream),
];

/// Runs a program, and compares results and costs.
fn check(program: Program, parties: u16, config: Config, inputs: &[Bits], seed: u64) {
    let program = Arc::new(program);
    let plan = Arc::new(Plan::new(program.clone(), parties, config).expect("it can be run"));
    let hellos = hellos(parties);
    for (party, result) in run(&plan, seed, inputs, |_| Honest).into_iter().enumerate() {
        let party = Party(party as u16);
        let what = format!("{}, {parties} parties, party {party}", program.name());
        let (outputs, costs) = result.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(outputs, learned(&plan, party, inputs), "{what}");
        for phase in Phase::ALL {
            let expected = communication(&plan, party, phase, &hellos);
            assert_eq!(costs.of(phase).communication, expected, "{what}, {phase:?}");
        }
    }
}

#[test]
fn random_programs_of_all_parties() {
    let mut rng = StdRng::seed_from_u64(5);
    for (number, parties) in [3, 4, 5, 3, 7, 3, 4, 3].into_iter().enumerate() {
        let gates = [0, 1, 30, 200, 40, 600, 90, 10][number];
        let program = random::program(&mut rng, gates, parties);
        let inputs = random::inputs(&mut rng, &program);
        for (check_of_gates, build) in CHECKS_AND_BUILDS {
            let evaluator = number as u16 % parties;
            let config = Config { check: check_of_gates, build, evaluator, ..Config::default() };
            check(program.clone(), parties, config, &inputs, number as u64);
        }
    }
}

#[test]
fn outputs_that_are_inputs_constants_and_negations() {
    for (check_of_gates, build) in CHECKS_AND_BUILDS {
        for values in 0..4u128 {
            let inputs = [values & 1, values >> 1].map(|value| Bits::from_u128(value, 1));
            let config = Config { check: check_of_gates, build, ..Config::default() };
            check(Program::clone(&odd_outputs()), 3, config, &inputs, values as u64);
        }
    }
}

#[test]
fn a_program_of_the_library_with_more_than_one_piece_of_tags() {
    let program = library::find("aes128").expect("it is in the library");
    let mut rng = StdRng::seed_from_u64(6);
    let inputs = random::inputs(&mut rng, &program);
    check(program, 3, Config::default(), &inputs, 1);
}

#[test]
fn thirteen_parties() {
    let mut rng = StdRng::seed_from_u64(13);
    let cases = [(ResultCheck::Tags, 12, 40), (ResultCheck::Reveal, 0, 300), (ResultCheck::Tags, 6, 5_000)];
    for (check_of_gates, evaluator, gates) in cases.into_iter().take(if is_full() { 3 } else { 1 }) {
        let program = random::program(&mut rng, gates, 13);
        let inputs = random::inputs(&mut rng, &program);
        let config = Config { check: check_of_gates, evaluator, ..Config::default() };
        check(program, 13, config, &inputs, gates as u64);
    }
}
