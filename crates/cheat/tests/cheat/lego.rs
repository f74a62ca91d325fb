//! Every deviation from `lego` ends as the protocol promises.

use garblet_lego::checks;
use std::sync::Arc;

use garblet_cheat::{
    Outcome, Outputs,
    lego::{CheatingConstructor, CheatingEvaluator, ConstructorDeviation, EvaluatorDeviation, run, run_honest},
    outcome,
};
use garblet_circuit::{Bits, Party, Program, evaluate};
use garblet_protocol::{checks::Check, conduct::Honest};
use garblet_synthesis::library;

struct Job {
    program: Arc<Program>,
    inputs: Vec<Bits>,
}

fn job() -> Job {
    of("lib:add(8)", 8)
}

/// The product or the sum of two numbers.
fn of(program: &str, bits: usize) -> Job {
    let inputs = vec![Bits::from_u128(0b1011_0010, bits), Bits::from_u128(0b0110_1001, bits)];
    Job { program: Arc::new(library::find(program).unwrap()), inputs }
}

impl Job {
    fn right(&self, party: u16) -> Outputs {
        let outputs = self.program.outputs().iter().zip(evaluate(&self.program, &self.inputs));
        outputs.map(|(output, value)| output.recipients.contains(Party(party)).then_some(value)).collect()
    }

    /// The evaluator's outcome against a constructor that cheats.
    fn against_constructor(&self, deviation: ConstructorDeviation, seed: u128) -> Outcome {
        let [constructor, evaluator] =
            run(&self.program, &self.inputs, CheatingConstructor::new(deviation), Honest, seed);
        assert!(constructor.is_err(), "{deviation:?}: a cheater learns nothing");
        outcome(&evaluator, &self.right(1))
    }
}

#[test]
fn honest_parties_get_the_right_result() {
    let job = job();
    let [constructor, evaluator] = run_honest(&job.program, &job.inputs, 1);
    assert_eq!(outcome(&constructor, &job.right(0)), Outcome::Right);
    assert_eq!(outcome(&evaluator, &job.right(1)), Outcome::Right);
}

#[test]
fn a_cheating_constructor_is_caught_by_the_intended_check() {
    for (deviation, promised) in ConstructorDeviation::ALL {
        let job = if deviation == ConstructorDeviation::EqualErrorsApart { of("lib:mul(33)", 33) } else { job() };
        assert_eq!(job.against_constructor(deviation, 3), promised, "{deviation:?}");
    }
}

#[test]
fn an_evaluator_that_cheats_is_caught() {
    let job = job();
    for (deviation, check) in EvaluatorDeviation::ALL {
        let [constructor, _] = run(&job.program, &job.inputs, Honest, CheatingEvaluator { deviation }, 5);
        assert_eq!(outcome(&constructor, &job.right(0)), Outcome::Caught(check), "{deviation:?}");
    }
}

#[test]
fn no_check_is_without_a_deviation() {
    let constructors = ConstructorDeviation::ALL.iter().map(|(_, outcome)| *outcome);
    let evaluators = EvaluatorDeviation::ALL.iter().map(|(_, check)| Outcome::Caught(*check));
    let promised: Vec<Outcome> = constructors.chain(evaluators).collect();
    let missing: Vec<&Check> =
        checks::ALL.iter().filter(|check| !promised.contains(&Outcome::Caught(**check))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Selective failure: a spoiled block of one OT ends the run for either bit of the evaluator.
#[test]
fn selective_failure_does_not_depend_on_the_bit() {
    for seed in 0..3 {
        for bit in [false, true] {
            let mut job = job();
            job.inputs[1].set(0, bit);
            let got = job.against_constructor(ConstructorDeviation::SpoiledString, 100 + seed);
            assert_eq!(got, Outcome::Caught(checks::INPUT_KEY), "bit {bit}, seed {seed}");
        }
    }
}
