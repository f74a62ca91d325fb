//! Every deviation from `covert` ends as the protocol promises, and is caught as often as its deterrence says; no failure
//! of the connection makes an honest peer look corrupted.

use garblet_covert::checks;
use std::time::Duration;

use garblet_cheat::{
    Outcome, binomial_tail,
    covert::{
        CheatingEvaluator, CheatingGarbler, EvaluatorDeviation, GarblerDeviation, form_of, run, run_honest, run_over,
    },
    outcome,
};
use garblet_covert::{Config, Form, Ot, Plan, is_shown};
use garblet_garble::published::Method;
use garblet_net::testing::{Direction, Fault, FaultKind, intercepted_pair};
use garblet_protocol::{ProtocolError, conduct::Honest};

use crate::job::{ALPHA, Job, job, trials, tries};

const FORMS: [Form; 2] = [Form::Seeds, Form::Al07];

fn config(form: Form, circuits: u16) -> Config {
    Config { form, circuits: Some(circuits), shares: Some(2), ..Config::default() }
}

impl Job {
    /// The evaluator's outcome against a garbler that cheats in `bad` circuits.
    fn against_garbler(&self, config: Config, deviation: GarblerDeviation, bad: usize, seed: u128) -> Outcome {
        let cheat = CheatingGarbler::new(deviation, bad, self.other.clone());
        let [_, evaluator] = run(&self.program, &self.inputs, config, cheat, Honest, seed);
        outcome(&evaluator, &self.right(1))
    }

    /// The number of times that the evaluator catches a garbler that cheats in `bad` circuits.
    fn count_corrupted(&self, config: Config, deviation: GarblerDeviation, bad: usize) -> u32 {
        let seeds = 0..u128::from(trials(40));
        let corrupted = |outcome| matches!(outcome, Outcome::Corrupted(_));
        seeds.filter(|&seed| corrupted(self.against_garbler(config, deviation, bad, 1000 + seed))).count() as u32
    }
}

fn assert_rate(what: &str, count: u32, probability: f64) {
    let tail = binomial_tail(count, trials(40), probability);
    assert!(tail > ALPHA, "{what}: {count} of {}, expected {probability:.4} of them (tail {tail:.1e})", trials(40));
}

#[test]
fn honest_parties_get_the_right_result() {
    let job = job();
    for form in FORMS {
        let [garbler, evaluator] = run_honest(&job.program, &job.inputs, config(form, 3), 1);
        assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Right, "{form:?}");
        assert_eq!(outcome(&evaluator, &job.right(1)), Outcome::Right, "{form:?}");
    }
}

/// All circuits are bad, so a bad one is checked and a bad one is evaluated.
#[test]
fn a_garbler_that_cheats_in_all_circuits_is_caught_by_the_intended_check() {
    let job = job();
    for (form, deviations) in [(Form::Seeds, &GarblerDeviation::SEEDS[..]), (Form::Al07, &GarblerDeviation::AL07[..])] {
        for &(deviation, promise) in deviations {
            // The first circuit has no earlier one to copy from.
            let outcomes: Vec<Outcome> =
                (0..3).map(|seed| job.against_garbler(config(form, 3), deviation, 3, seed)).collect();
            let promised = |outcome: &Outcome| match *outcome {
                Outcome::Corrupted(check) => promise.checked == Some(check),
                Outcome::Caught(check) => promise.evaluated == Some(check) && promise.checked.is_none(),
                Outcome::Right => matches!(deviation, GarblerDeviation::SpoiledLabels { .. }) && form == Form::Al07,
                _ => false,
            };
            assert!(outcomes.iter().all(promised), "{form:?}, {deviation:?}: {outcomes:?}");
        }
    }
}

/// Without free XOR each wire has its own label difference, and circuits are not streamed: the same checks catch the same deviations.
#[test]
fn a_garbler_that_cheats_in_a_scheme_of_2009_is_caught() {
    let job = job();
    for method in [Method::Base, Method::PrfSs, Method::CorGrr] {
        let config = Config { published: Some(method), ..config(Form::Al07, 3) };
        let [garbler, evaluator] = run_honest(&job.program, &job.inputs, config, 1);
        assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Right, "{method:?}");
        assert_eq!(outcome(&evaluator, &job.right(1)), Outcome::Right, "{method:?}");
        // Another program has tables of another length here, so everything after them is misplaced.
        let deviations = GarblerDeviation::AL07.iter().filter(|(d, _)| *d != GarblerDeviation::OtherProgram);
        for &(deviation, promise) in deviations {
            for seed in 0..2 {
                let found = match job.against_garbler(config, deviation, 3, seed) {
                    Outcome::Corrupted(check) => promise.checked == Some(check),
                    Outcome::Caught(check) => promise.evaluated == Some(check) && promise.checked.is_none(),
                    Outcome::Right => matches!(deviation, GarblerDeviation::SpoiledLabels { .. }),
                    _ => false,
                };
                assert!(found, "{method:?}, {deviation:?}");
            }
        }
        for deviation in [EvaluatorDeviation::FalseOutput, EvaluatorDeviation::FalseLabels] {
            let cheat = CheatingEvaluator { deviation };
            let [garbler, _] = run(&job.program, &job.inputs, config, Honest, cheat, 5);
            assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Caught(checks::OUTPUT_LABELS), "{method:?}");
        }
    }
}

/// One of two circuits is bad, over several seeds: if checked, it is caught with evidence; if evaluated, it may be caught, or have any effect. Each case has
/// probability 1/2.
#[test]
fn a_garbler_that_cheats_in_one_circuit_is_caught_if_it_is_checked() {
    let job = job();
    for (deviation, promise) in GarblerDeviation::SEEDS {
        let replays = matches!(deviation, GarblerDeviation::ReplayedHash | GarblerDeviation::ReplayedHead);
        let bad = if replays { 2 } else { 1 };
        let mut seen = [false; 2];
        for seed in 0..tries(0.5) {
            let outcome = job.against_garbler(config(Form::Seeds, 2), deviation, bad, seed);
            let as_checked = match promise.checked {
                Some(check) => outcome == Outcome::Corrupted(check),
                None => outcome == Outcome::Right,
            };
            let as_evaluated = match promise.evaluated {
                Some(check) => outcome == Outcome::Caught(check),
                // The run also ends if the garbler stops, because the output of a bad circuit does not match its labels.
                None => matches!(outcome, Outcome::Right | Outcome::Wrong | Outcome::Ended),
            };
            assert!(as_checked || as_evaluated, "{deviation:?}: {outcome:?}");
            seen[0] |= as_checked;
            seen[1] |= as_evaluated;
            if seen == [true; 2] {
                break;
            }
        }
        assert_eq!(seen, [true; 2], "{deviation:?}: one of the two cases never happens");
    }
}

#[test]
fn an_evaluator_that_cheats_is_caught() {
    let job = job();
    for (deviation, check) in EvaluatorDeviation::ALL {
        for form in FORMS.into_iter().filter(|form| form_of(deviation).is_none_or(|only| only == *form)) {
            let ot = if deviation == EvaluatorDeviation::FalseCoins { Ot::Pvw } else { Ot::Extension };
            let config = Config { ot, ..config(form, 3) };
            let [garbler, _] = run(&job.program, &job.inputs, config, Honest, CheatingEvaluator { deviation }, 5);
            assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Caught(check), "{form:?}, {deviation:?}");
        }
    }
}

/// Pads that it did not choose are useless to the evaluator: it cannot even check, and takes the garbler for a cheater.
#[test]
fn an_evaluator_that_takes_other_seeds_gets_nothing() {
    let job = job();
    let cheat = CheatingEvaluator { deviation: EvaluatorDeviation::OtherSeeds };
    let [garbler, evaluator] = run(&job.program, &job.inputs, config(Form::Seeds, 2), Honest, cheat, 5);
    assert_eq!(outcome(&garbler, &job.right(0)), Outcome::Ended);
    assert!(matches!(outcome(&evaluator, &job.right(1)), Outcome::Corrupted(_)));
}

/// Every check of the protocol has a deviation that trips it.
#[test]
fn no_check_is_without_a_deviation() {
    let garbler = GarblerDeviation::SEEDS.iter().chain(&GarblerDeviation::AL07);
    let garbler = garbler.flat_map(|(_, promise)| [promise.checked, promise.evaluated]).flatten();
    let covered: Vec<_> = garbler.chain(EvaluatorDeviation::ALL.iter().map(|(_, check)| *check)).collect();
    for check in checks::ALL {
        assert!(covered.contains(check), "no deviation trips {check:?}");
    }
    assert!(covered.iter().all(|check| checks::ALL.contains(check)));
}

/// One bad circuit of `l` is caught with probability `1 - 1/l`.
#[test]
fn a_bad_circuit_is_caught_as_often_as_deterrence_says() {
    let job = job();
    for (form, circuits) in [(Form::Seeds, 2), (Form::Seeds, 4), (Form::Al07, 3)] {
        let config = config(form, circuits);
        let found = job.count_corrupted(config, GarblerDeviation::WrongTables, 1);
        let probability = 1.0 - 1.0 / f64::from(circuits);
        assert_rate(&format!("{config:?}"), found, probability);
        assert!(config.deterrence() <= probability + 1e-9);
    }
}

/// The evaluator catches spoiled labels in the form `seeds` for every input.
#[test]
fn spoiled_labels_are_caught_for_every_input() {
    for bit in [false, true] {
        let mut job = job();
        job.inputs[1].set(0, bit);
        for branch in [false, true] {
            let deviation = GarblerDeviation::SpoiledLabels { wires: &[0], branch };
            for seed in 0..3 {
                let outcome = job.against_garbler(config(Form::Seeds, 2), deviation, 2, seed);
                assert!(matches!(outcome, Outcome::Corrupted(_)), "bit {bit}, branch {branch}: {outcome:?}");
            }
        }
    }
}

/// In the form `al07`, a spoiled label is caught with probability 1/2 for every input; spoiled at all `m` shares of a bit, it escapes
/// with probability at most `2^(1 - m)`, which the deterrence accounts for.
#[test]
fn spoiled_labels_of_shares_are_caught_as_often_as_deterrence_says() {
    // Both shares of bit 0 of 8.
    let both: &[usize] = &[0, 8];
    for bit in [false, true] {
        let mut job = job();
        job.inputs[1].set(0, bit);
        let one = GarblerDeviation::SpoiledLabels { wires: &both[..1], branch: false };
        let found = job.count_corrupted(config(Form::Al07, 2), one, 2);
        assert_rate(&format!("one share, bit {bit}"), found, 0.5);
        let all = GarblerDeviation::SpoiledLabels { wires: both, branch: false };
        let found = job.count_corrupted(config(Form::Al07, 2), all, 2);
        // Shares that are both one escape.
        assert_rate(&format!("both shares, bit {bit}"), found, if bit { 1.0 } else { 0.5 });
    }
}

/// The evaluator's error about a spoiled label reveals nothing about its choices; with its disclosure, others can verify it too.
#[test]
fn evidence_of_a_spoiled_label_can_be_shown_to_others() {
    let job = job();
    let config = config(Form::Al07, 3);
    let cheat = CheatingGarbler::new(GarblerDeviation::SwappedLabels, 3, job.other.clone());
    let [_, evaluator] = run(&job.program, &job.inputs, config, cheat, Honest, 1);
    let Err(ProtocolError::Corrupted(corrupted)) = evaluator else { panic!("the garbler is caught") };
    assert_eq!(corrupted.check, checks::LABEL_OF_SEED);
    let plan = Plan::new(job.program.clone(), config).expect("it ran");
    assert!(is_shown(&plan, &corrupted));
}

/// A garbler that leaves when it learns what is checked is suspected in the form `al07`, where it may have been about to be caught; in the
/// form `seeds` it was checked before.
#[test]
fn a_garbler_that_leaves_is_suspected_only_where_it_could_escape() {
    let job = job();
    for (form, expected) in [(Form::Al07, Outcome::Suspected), (Form::Seeds, Outcome::Ended)] {
        assert_eq!(job.against_garbler(config(form, 3), GarblerDeviation::Leaves, 3, 1), expected, "{form:?}");
    }
}

/// At whatever frame the connection ends or stalls, an honest garbler is never called corrupted.
#[test]
fn a_lost_connection_is_no_proof_of_cheating() {
    let job = job();
    for form in FORMS {
        let mut suspected = 0;
        for (direction, kind) in [
            (Direction::Forth, FaultKind::Cut),
            (Direction::Forth, FaultKind::Truncate),
            (Direction::Forth, FaultKind::Stall),
            (Direction::Back, FaultKind::Cut),
        ] {
            for frame in 0.. {
                let fault = Fault { direction, frame, kind };
                let connect = || {
                    let (mut left, mut right, _) = intercepted_pair(Some(fault));
                    left.set_timeout(Duration::from_millis(150));
                    right.set_timeout(Duration::from_millis(150));
                    (left, right)
                };
                let honest = (Honest, Honest);
                let [_, evaluator] = run_over(connect, &job.program, &job.inputs, config(form, 2), honest, 7);
                match outcome(&evaluator, &job.right(1)) {
                    Outcome::Ended => {}
                    Outcome::Suspected => suspected += 1,
                    Outcome::Right => break,
                    other => panic!("{form:?}, {fault:?}: {other:?}"),
                }
            }
        }
        assert_eq!(suspected > 0, form == Form::Al07, "{form:?}: {suspected} times suspected");
    }
}
