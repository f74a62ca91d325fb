//! Every deviation from `authenticated` ends as the protocol promises.

use std::sync::{Arc, atomic::Ordering};

use garblet_authenticated::{Build, Config, Step, checks};
use garblet_cheat::{
    Outcome,
    authenticated::{
        CheatingEvaluator, CheatingGarbler, Deviation, EvaluatorDeviation, Forms, GarblerDeviation, OtherInput,
        Recorder, configs, run, run_honest,
    },
    outcome,
};
use garblet_circuit::{Bits, Circuit, Component, Gate, Party, Port, Program, Type, Wire, evaluate};
use garblet_primitives::Block;
use garblet_protocol::{
    checks::Check,
    conduct::{Conduct, Honest},
};

use crate::job::{Job, job};

/// Only one message of masks, where all gates are joined to triples at once.
fn applies(deviation: Deviation, config: Config) -> bool {
    deviation != Deviation::LaterMaskBit || config.build == Build::Stream
}

/// The evaluator's outcome against a garbler that cheats.
fn against_garbler(job: &Job, config: Config, cheat: impl Conduct<Step>, seed: u128) -> Outcome {
    let [garbler, evaluator] = run(&job.program, &job.inputs, config, (cheat, Honest), seed);
    assert!(garbler.is_err(), "a cheater learns nothing");
    outcome(&evaluator, &job.right(1))
}

/// The garbler's outcome against an evaluator that cheats.
fn against_evaluator(job: &Job, config: Config, deviation: EvaluatorDeviation, seed: u128) -> Outcome {
    let cheat = CheatingEvaluator::new(deviation);
    let [garbler, _] = run(&job.program, &job.inputs, config, (Honest, cheat), seed);
    outcome(&garbler, &job.right(0))
}

#[test]
fn honest_parties_get_the_right_result() {
    let job = job();
    for config in configs() {
        let [garbler, evaluator] = run_honest(&job.program, &job.inputs, config, 1);
        assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Right, "{config:?}");
        assert_eq!(outcome(&evaluator, &job.right(1)), Outcome::Right, "{config:?}");
    }
}

#[test]
fn deviations_of_either_party_are_caught_by_the_intended_check() {
    let job = job();
    for config in configs() {
        for (deviation, check) in Deviation::ALL.into_iter().filter(|(deviation, _)| applies(*deviation, config)) {
            let cheat = CheatingGarbler::new(GarblerDeviation::Any(deviation), &job.program);
            let caught = Outcome::Caught(check);
            assert_eq!(against_garbler(&job, config, cheat, 2), caught, "the garbler: {deviation:?}, {config:?}");
            let got = against_evaluator(&job, config, EvaluatorDeviation::Any(deviation), 2);
            assert_eq!(got, caught, "the evaluator: {deviation:?}, {config:?}");
        }
    }
}

#[test]
fn a_cheating_garbler_is_caught_by_the_intended_check() {
    let job = job();
    for config in configs() {
        let applicable = GarblerDeviation::ALONE.into_iter().filter(|(_, forms, _)| forms.include(config));
        for (deviation, _, check) in applicable {
            let cheat = CheatingGarbler::new(deviation, &job.program);
            let got = against_garbler(&job, config, cheat, 3);
            assert_eq!(got, Outcome::Caught(check), "{deviation:?}, {config:?}");
        }
    }
}

#[test]
fn a_cheating_evaluator_is_caught_by_the_intended_check() {
    let job = job();
    for config in configs() {
        let applicable = EvaluatorDeviation::ALONE.into_iter().filter(|(_, forms, _)| forms.include(config));
        for (deviation, _, check) in applicable {
            let got = against_evaluator(&job, config, deviation, 5);
            assert_eq!(got, Outcome::Caught(check), "{deviation:?}, {config:?}");
        }
    }
}

#[test]
fn no_check_is_without_a_deviation() {
    let any = Deviation::ALL.iter().map(|(_, check)| *check);
    let garblers = GarblerDeviation::ALONE.iter().map(|(_, _, check)| *check);
    let evaluators = EvaluatorDeviation::ALONE.iter().map(|(_, _, check)| *check);
    let tripped: Vec<Check> = any.chain(garblers).chain(evaluators).collect();
    let missing: Vec<&Check> = checks::ALL.iter().filter(|check| !tripped.contains(check)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A garbler whose gates give invalid labels: where the evaluator reveals masked values, it notices by its own check, and can only leave.
#[test]
fn gates_with_invalid_labels_give_no_result_where_masked_values_are_revealed() {
    let job = job();
    for config in configs().into_iter().filter(|config| Forms::Reveal.include(*config)) {
        for deviation in [
            GarblerDeviation::SpoiledLabels,
            GarblerDeviation::SpoiledRows,
            GarblerDeviation::OtherSelectBits,
            GarblerDeviation::OtherHashSeed,
        ] {
            let cheat = CheatingGarbler::new(deviation, &job.program);
            assert_eq!(against_garbler(&job, config, cheat, 4), Outcome::Ended, "{deviation:?}, {config:?}");
        }
    }
}

/// A different input is not cheating: a party may choose its input.
#[test]
fn an_evaluator_may_give_another_input_of_its_own() {
    let mut job = job();
    for config in configs() {
        let results = run(&job.program, &job.inputs, config, (Honest, OtherInput), 6);
        let given = job.inputs[1].clone();
        job.inputs[1] = given.iter().map(|bit| !bit).collect();
        for (party, result) in (0..).zip(&results) {
            assert_eq!(outcome(result, &job.right(party)), Outcome::Right, "party {party}, {config:?}");
        }
        job.inputs[1] = given;
    }
}

/// A false bit that matches its commitment: the sum of both parties' leaky triples would reveal the peer's difference. Only a digest
/// is sent.
#[test]
fn after_a_false_product_bit_only_a_digest_of_the_leaky_triples_is_sent() {
    /// A garbler with a false product bit that commits to it.
    struct False;
    impl Conduct<Step> for False {
        fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
            if step == Step::OwnProductBits {
                bytes[0] ^= 1;
            }
        }
    }
    let after = |recorder: &Recorder| {
        let steps = recorder.0.lock().unwrap();
        let told = steps.iter().position(|(step, _)| *step == Step::ProductBits).unwrap();
        steps[told + 1..].to_vec()
    };
    let job = job();
    let config = Config::default();
    let recorder = Recorder::default();
    let [garbler, evaluator] = run(&job.program, &job.inputs, config, (False, recorder.clone()), 7);
    assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Caught(checks::EQUALITY), "the garbler learns of it");
    assert_eq!(outcome(&evaluator, &job.right(1)), Outcome::Ended);
    assert_eq!(after(&recorder), [(Step::Coins, 64), (Step::Digest, 32)]);

    let recorder = Recorder::default();
    let [garbler, _] = run(&job.program, &job.inputs, config, (recorder.clone(), False), 7);
    assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Caught(checks::EQUALITY));
    assert_eq!(after(&recorder), [(Step::Coins, 64), (Step::OwnDigest, 32), (Step::DigestCommitment, 32)], "unopened");
}

/// The bitwise product of an input of the garbler and one of the evaluator.
fn products(bits: u32) -> Job {
    let gates = (0..bits).map(|at| Gate::And(Wire(at), Wire(bits + at))).collect();
    let outputs = (0..bits).map(|at| Wire(2 * bits + at)).collect();
    let circuit = Circuit::new(2 * bits, gates, outputs).unwrap();
    let port = |name: &str| Port::new(name, Type::Bits(bits));
    let component = Component::new("products", vec![port("x"), port("y")], vec![port("xy")], circuit).unwrap();
    let program = Arc::new(Program::from_component(component, &[Party(0), Party(1)]).unwrap());
    let ones: Bits = (0..bits).map(|at| at % 3 > 0).collect();
    Job { program: program.clone(), other: program, inputs: vec![ones.clone(), ones] }
}

/// With weights known to a garbler before it chose its labels, any number of wrong gates would pass.
#[test]
fn gates_whose_weights_cancel_at_the_garblers_own_point_are_caught() {
    let job = products(200);
    for config in configs().into_iter().filter(|config| Forms::Tags.include(*config)) {
        let (cheat, cancelled) = CheatingGarbler::with_own_weights(&job.program);
        assert_eq!(against_garbler(&job, config, cheat, 8), Outcome::Caught(checks::TAGS), "{config:?}");
        assert!(cancelled.load(Ordering::Relaxed) > 40, "{config:?}");
    }
}

/// Gates are in the order of the inputs, on which the previous test relies; and an unused wrong row is no error.
#[test]
fn unused_wrong_rows_change_nothing() {
    /// All gates but one have a wrong row; the garbler's inputs are such that no wrong row is used.
    struct Unused(Block, usize);
    impl Conduct<Step> for Unused {
        fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
            let delta = self.0.to_bytes();
            let add = |block: &mut [u8]| block.iter_mut().zip(delta).for_each(|(byte, other)| *byte ^= other);
            match step {
                Step::Difference => self.0 = Block::from_bytes(bytes.try_into().unwrap()),
                Step::Tables => {
                    let gates = bytes.chunks_exact_mut(32).take(200).enumerate();
                    gates.filter(|(gate, _)| *gate != self.1).for_each(|(_, gate)| add(&mut gate[..16]));
                }
                Step::InputLabels => {
                    for (at, label) in bytes.chunks_exact_mut(16).take(200).enumerate() {
                        if (label[0] & 1 == 1) != (at == self.1) {
                            add(label);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let job = products(200);
    for right in [0, 77, 199] {
        let cheat = Unused(Block::ZERO, right);
        let [_, evaluator] = run(&job.program, &job.inputs, Config::default(), (cheat, Honest), 9);
        let outputs = evaluator.unwrap_or_else(|error| panic!("gate {right}: {error}"));
        let product = outputs[0].as_ref().unwrap();
        // The output is a product for any input of the garbler.
        let of_evaluator = &evaluate(&job.program, &[(0..200).map(|_| true).collect(), job.inputs[1].clone()])[0];
        assert!(product.iter().zip(of_evaluator.iter()).all(|(product, factor)| factor || !product));
    }
}
