//! Every deviation from `cut-and-choose` ends as the protocol promises, and those that may pass do so as often as its formulas
//! say.

use garblet_cheat::{
    Outcome, binomial_tail,
    cut_and_choose::{
        CheatingCommitter, CheatingEvaluator, CheatingGarbler, EvaluatorDeviation, GarblerDeviation, OtherSplit,
        RecordingGarbler, SupersetDeviation, run, run_honest,
    },
    outcome,
};
use garblet_cut_and_choose::checks;
use garblet_cut_and_choose::{Config, Form, cut_log2};
use garblet_protocol::{checks::Check, conduct::Honest};

use crate::job::{ALPHA, Job, job, trials, tries};

fn config(circuits: u16) -> Config {
    Config { circuits: Some(circuits), ..Config::default() }
}

/// The published form.
fn published(circuits: u16) -> Config {
    Config { form: Form::Lp07, supersets: Some(6), ..config(circuits) }
}

/// The evaluator's outcome against a garbler that cheats in `bad` of 9 circuits, 3 of which are evaluated.
fn against_garbler(job: &Job, deviation: GarblerDeviation, bad: usize, seed: u128) -> Outcome {
    let cheat = CheatingGarbler::new(deviation, bad, job.other.clone());
    let [_, evaluator] = run(&job.program, &job.inputs, config(9), cheat, Honest, seed);
    outcome(&evaluator, &job.right(1))
}

/// The number of times that a deviation has this outcome.
fn count_of(job: &Job, deviation: GarblerDeviation, bad: usize, wanted: impl Fn(Outcome) -> bool) -> u32 {
    let seeds = 0..u128::from(trials(60));
    seeds.filter(|&seed| wanted(against_garbler(job, deviation, bad, 1000 + seed))).count() as u32
}

fn assert_rate(what: &str, count: u32, probability: f64) {
    let tail = binomial_tail(count, trials(60), probability);
    assert!(tail > ALPHA, "{what}: {count} of {}, expected {probability:.4} of them (tail {tail:.1e})", trials(60));
}

#[test]
fn honest_parties_get_the_right_result() {
    let job = job();
    let [garbler, evaluator] = run_honest(&job.program, &job.inputs, config(9), 1);
    assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Right);
    assert_eq!(outcome(&evaluator, &job.right(1)), Outcome::Right);
}

/// The outcomes of at least six runs, and of more until the garbler is caught. A garbler that cheats in all circuits is caught at least half of the time.
fn until_caught(run: impl Fn(u128) -> Outcome) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for seed in 0..tries(0.5) {
        outcomes.push(run(seed));
        if outcomes.len() >= 6 && outcomes.iter().any(|outcome| matches!(outcome, Outcome::Caught(_))) {
            break;
        }
    }
    outcomes
}

/// All circuits are bad, so a bad one is checked and a bad one is evaluated.
#[test]
fn a_garbler_that_cheats_in_all_circuits_is_caught_by_the_intended_check() {
    let job = job();
    for (deviation, if_checked, if_evaluated) in GarblerDeviation::ALL {
        // A different input is allowed if it is the same in all circuits.
        let bad = if deviation == GarblerDeviation::OtherInput { 4 } else { 9 };
        let outcomes = until_caught(|seed| against_garbler(&job, deviation, bad, seed));
        let promised = |outcome: &Outcome| match outcome {
            Outcome::Caught(check) => [if_checked, if_evaluated].contains(&Some(*check)),
            Outcome::Right => may_pass(deviation),
            _ => false,
        };
        assert!(outcomes.iter().all(promised), "{deviation:?}: {outcomes:?}");
        assert!(outcomes.iter().any(|o| matches!(o, Outcome::Caught(_))), "{deviation:?}: {outcomes:?}");
    }
}

/// Deviations that go unnoticed for some of the evaluator's choices, without affecting its result then.
fn may_pass(deviation: GarblerDeviation) -> bool {
    matches!(deviation, GarblerDeviation::SpoiledLabel { .. } | GarblerDeviation::OtherInput)
}

#[test]
fn an_evaluator_that_cheats_is_caught() {
    let job = job();
    for (deviation, check) in EvaluatorDeviation::ALL {
        let config = if deviation == EvaluatorDeviation::FalseCoins { published(8) } else { config(9) };
        let [garbler, _] = run(&job.program, &job.inputs, config, Honest, CheatingEvaluator { deviation }, 5);
        assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Caught(check), "{deviation:?}");
    }
}

/// It gets the circuit whose seed it has, exactly as derived from the seed, and only the digest of the other one.
#[test]
fn an_evaluator_that_lies_about_its_split_gets_nothing_that_it_could_not_make() {
    let job = job();
    for seed in 0..6 {
        let garbler = RecordingGarbler::default();
        let [garbled, evaluated] = run(&job.program, &job.inputs, config(9), garbler.clone(), OtherSplit, seed);
        let lied = garbler.recorded();
        assert_eq!((lied.hashed.len(), lied.sent.len()), (9, 3));
        for (circuit, parts) in &lied.sent {
            assert!(lied.hashed[circuit] == *parts, "circuit {circuit} does not match its digest");
        }
        // The rest of this evaluator's code is honest and takes the circuit for another one.
        assert_eq!(outcome(&evaluated, &job.right(1)), Outcome::Caught(checks::COMMITTED_CIRCUIT));
        assert_eq!(outcome(&garbled, &job.right(0)), Outcome::Ended);
        let garbler = RecordingGarbler::default();
        let _ = run(&job.program, &job.inputs, config(9), garbler.clone(), Honest, seed);
        let honest = garbler.recorded();
        assert!(honest.hashed == lied.hashed, "circuits depend on the announced split");
        assert_eq!(honest.sent.keys().filter(|circuit| lied.sent.contains_key(circuit)).count(), 2);
    }
}

/// The garbler knows which circuits are evaluated when it sends them, but they are fixed: a circuit that does not match its digest is
/// caught whenever it is sent.
#[test]
fn a_circuit_that_does_not_match_its_digest_is_caught_whenever_it_is_evaluated() {
    let job = job();
    let caught = |outcome| outcome == Outcome::Caught(checks::COMMITTED_CIRCUIT);
    let count = count_of(&job, GarblerDeviation::OtherThanDigest, 1, caught);
    assert_rate("sent otherwise", count, 1.0 / 3.0);
    let right = count_of(&job, GarblerDeviation::OtherThanDigest, 1, |outcome| outcome == Outcome::Right);
    assert_eq!(count + right, trials(60));
}

/// Every check of the protocol has a deviation that trips it.
#[test]
fn no_check_is_without_a_deviation() {
    let here = GarblerDeviation::ALL.iter().flat_map(|(_, checked, evaluated)| [*checked, *evaluated]).flatten();
    let here = here.chain(EvaluatorDeviation::ALL.iter().map(|(_, check)| *check));
    let supersets = SupersetDeviation::ALL.iter().flat_map(|(_, checked, other)| [*checked, *other]).flatten();
    let covered: Vec<Check> = here.chain(supersets).collect();
    for check in checks::ALL {
        assert!(covered.contains(check), "no deviation trips {check:?}");
    }
}

/// All supersets but one are bad, so a bad one is checked and a bad one is not.
#[test]
fn a_garbler_of_the_published_form_that_cheats_in_supersets_is_caught() {
    let job = job();
    for (deviation, if_checked, if_not) in SupersetDeviation::ALL {
        let outcomes = until_caught(|seed| {
            let cheat = CheatingCommitter { deviation, bad: 5 };
            let [_, evaluator] = run(&job.program, &job.inputs, published(8), cheat, Honest, seed);
            outcome(&evaluator, &job.right(1))
        });
        let promised = |outcome: &Outcome| match outcome {
            Outcome::Caught(check) => [if_checked, if_not].contains(&Some(*check)),
            // If the only superset with the original input is checked, the others consistently have another input, which is allowed.
            Outcome::Wrong => deviation == SupersetDeviation::OtherInput,
            _ => false,
        };
        assert!(outcomes.iter().all(promised), "{deviation:?}: {outcomes:?}");
        assert!(outcomes.iter().any(|o| matches!(o, Outcome::Caught(_))), "{deviation:?}: {outcomes:?}");
    }
}

#[test]
fn deviations_in_circuits_are_caught_in_the_published_form_too() {
    let job = job();
    for deviation in [GarblerDeviation::WrongTables, GarblerDeviation::WrongDecodingBit, GarblerDeviation::OtherProgram]
    {
        let cheat = CheatingGarbler::new(deviation, 8, job.other.clone());
        let [_, evaluator] = run(&job.program, &job.inputs, published(8), cheat, Honest, 3);
        assert_eq!(outcome(&evaluator, &job.right(1)), Outcome::Caught(checks::CIRCUIT_OF_SEED), "{deviation:?}");
    }
}

/// Wrong tables in `x` of 9 circuits escape if all are among the 3 evaluated ones, and win if there are at least 2.
#[test]
fn wrong_tables_escape_as_often_as_the_formula_says() {
    let job = job();
    for bad in [1, 2] {
        let caught = |outcome| outcome == Outcome::Caught(checks::CIRCUIT_OF_SEED);
        let escaped = trials(60) - count_of(&job, GarblerDeviation::WrongTables, bad, caught);
        let probability = (0..bad).map(|i| (3 - i) as f64 / (9 - i) as f64).product();
        assert_rate(&format!("{bad} bad circuits"), escaped, probability);
        if bad == 2 {
            assert!((f64::log2(probability) - cut_log2(9, 3)).abs() < 1e-9);
        }
    }
}

/// One bad circuit among three evaluated ones is outvoted: the evaluator's result is right whenever the garbler is not caught.
#[test]
fn a_minority_of_bad_circuits_is_silently_outvoted() {
    let job = job();
    for deviation in [GarblerDeviation::WrongTables, GarblerDeviation::WrongDecodingBit, GarblerDeviation::OtherProgram]
    {
        for seed in 0..20 {
            let outcome = against_garbler(&job, deviation, 1, seed);
            let allowed = [Outcome::Right, Outcome::Caught(checks::CIRCUIT_OF_SEED)];
            assert!(allowed.contains(&outcome), "{deviation:?}: {outcome:?}");
        }
    }
}

/// Selective failure: spoiling the label of one value of a wire is noticed with probability 1/2 for either bit of the
/// evaluator: the wire carries a bit of the encoding.
#[test]
fn selective_failure_does_not_depend_on_the_bit() {
    for bit in [false, true] {
        for branch in [false, true] {
            let mut job = job();
            job.inputs[1].set(0, bit);
            let deviation = GarblerDeviation::SpoiledLabel { wire: 0, branch };
            let caught = count_of(&job, deviation, 9, |outcome| outcome == Outcome::Caught(checks::LABEL_OF_SEED));
            assert_rate(&format!("bit {bit}, branch {branch}"), caught, 0.5);
        }
    }
}
