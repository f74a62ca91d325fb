//! A garbler of `cut-and-choose` that leaves is named if the evaluator has the evidence, suspected if only the garbler had it, and never
//! accused if it is honest.

use garblet_cut_and_choose::checks;
use std::time::Duration;

use garblet_cheat::{
    Outcome,
    cut_and_choose::{CheatingGarbler, GarblerDeviation, LeavingGarbler, RecordingEvaluator, run, run_over},
    outcome,
};
use garblet_cut_and_choose::{Config, Form, Step};
use garblet_net::testing::{Direction, Fault, FaultKind, FrameKind, intercepted_pair};
use garblet_protocol::conduct::{Conduct, Honest};

use crate::job::{Job, job, tries};

fn config(form: Form) -> Config {
    match form {
        Form::Oblivious => Config { circuits: Some(9), ..Config::default() },
        Form::Lp07 => Config { form, circuits: Some(8), supersets: Some(6), ..Config::default() },
    }
}

impl Job {
    /// A garbler with this deviation in circuits `0..bad`.
    fn cheat(&self, deviation: GarblerDeviation, bad: usize) -> CheatingGarbler {
        CheatingGarbler::new(deviation, bad, self.other.clone())
    }

    /// The evaluator's outcome against a garbler that leaves when it learns the split, and a record of the circuits that the evaluator checks.
    fn against_leaving(&self, form: Form, before: impl Conduct<Step>, seed: u128) -> (Outcome, RecordingEvaluator) {
        let honest = RecordingEvaluator::default();
        let leaves = LeavingGarbler::new(before);
        let [_, evaluator] = run(&self.program, &self.inputs, config(form), leaves, honest.clone(), seed);
        (outcome(&evaluator, &self.right(1)), honest)
    }

    /// The evaluator's outcome with this fault of the connection.
    fn with_fault(&self, form: Form, garbler: impl Conduct<Step>, fault: Fault) -> Outcome {
        let connect = || {
            let (mut left, mut right, _) = intercepted_pair(Some(fault));
            for channel in [&mut left, &mut right] {
                let seconds = if fault.kind == FaultKind::Stall { 2 } else { 60 };
                channel.set_timeout(Duration::from_secs(seconds));
            }
            (left, right)
        };
        let parties = (garbler, Honest);
        let [_, evaluator] = run_over(connect, &self.program, &self.inputs, config(form), parties, 7);
        outcome(&evaluator, &self.right(1))
    }
}

/// The check that catches it in a checked circuit names it, even if it leaves.
#[test]
fn a_garbler_that_leaves_when_its_bad_circuit_is_checked_is_named_all_the_same() {
    let job = job();
    for (deviation, if_checked, _) in GarblerDeviation::ALL {
        let Some(check) = if_checked else { continue };
        let all_bad = [GarblerDeviation::WrongHashDigest, GarblerDeviation::ReplayedHead].contains(&deviation);
        let (mut caught, mut ended) = (0, 0);
        // Six of nine circuits are checked.
        for seed in 0..tries(1.0 / 3.0) {
            // A head replayed from another circuit.
            let bad = if all_bad { 9 } else { 1 };
            let (outcome, evaluator) = job.against_leaving(Form::Oblivious, job.cheat(deviation, bad), seed);
            let found = (0..bad).any(|circuit| evaluator.checks(circuit));
            match outcome {
                Outcome::Caught(by) if by == check && found => caught += 1,
                // A label that the evaluator did not choose.
                Outcome::Ended if !found || deviation == SPOILED => ended += 1,
                other => panic!("{deviation:?}, seed {seed}, checked: {found}: {other:?}"),
            }
            if seed >= 7 && caught > 0 && (ended > 0 || all_bad) {
                break;
            }
        }
        assert!(caught > 0, "{deviation:?} is never checked");
        assert!(ended > 0 || all_bad, "{deviation:?} is always checked");
    }
}

const SPOILED: GarblerDeviation = GarblerDeviation::SpoiledLabel { wire: 0, branch: false };

/// Nothing can be proved: it may be the network.
#[test]
fn an_honest_garbler_that_leaves_is_gone_or_suspected() {
    let job = job();
    for form in [Form::Oblivious, Form::Lp07] {
        for seed in 0..3 {
            assert_eq!(job.against_leaving(form, Honest, seed).0, NOTHING_TO_SHOW[form as usize], "{form:?}");
        }
    }
}

/// The evaluator needs the seeds of checked circuits: as long as the garbler keeps them, it is only suspected.
#[test]
fn a_garbler_of_the_published_form_that_leaves_after_the_coins_is_suspected() {
    let job = job();
    let cheat = job.cheat(GarblerDeviation::WrongTables, 8);
    assert_eq!(job.against_leaving(Form::Lp07, cheat, 1).0, Outcome::Suspected);
}

/// At whatever frame the connection ends.
#[test]
fn a_lost_connection_is_no_proof_of_cheating() {
    let job = job();
    for form in [Form::Oblivious, Form::Lp07] {
        let mut suspected = 0;
        for (direction, kind) in [
            (Direction::Forth, FaultKind::Cut),
            (Direction::Forth, FaultKind::Truncate),
            (Direction::Back, FaultKind::Cut),
        ] {
            for frame in 0.. {
                match job.with_fault(form, Honest, Fault { direction, frame, kind }) {
                    Outcome::Ended => {}
                    Outcome::Suspected => suspected += 1,
                    Outcome::Right => break,
                    other => panic!("{form:?}, {direction:?}, {kind:?}, {frame}: {other:?}"),
                }
            }
        }
        assert_eq!(suspected > 0, form == Form::Lp07, "{form:?}: {suspected} times suspected");
    }
}

/// The frame with the garbler's last messages: evaluated circuits, or the openings, which begin with the seeds.
fn last_words(job: &Job, form: Form) -> usize {
    let mut transcript = None;
    let connect = || {
        let (left, right, frames) = intercepted_pair(None);
        transcript = Some(frames);
        (left, right)
    };
    let [_, evaluator] = run_over(connect, &job.program, &job.inputs, config(form), (Honest, Honest), 7);
    assert_eq!(outcome(&evaluator, &job.right(1)), Outcome::Right);
    let frames = transcript.expect("the parties were connected").frames();
    let forth: Vec<_> = frames.iter().filter(|frame| frame.direction == Direction::Forth).collect();
    forth.iter().rposition(|frame| frame.kind == FrameKind::Bulk).expect("the garbler has sent something")
}

/// The evidence is complete from the digests on, or the seeds: interrupting the garbler's last messages makes no difference.
#[test]
fn a_garbler_that_stalls_or_is_cut_off_in_its_last_messages_is_named() {
    let job = job();
    for (form, kinds) in [
        (Form::Oblivious, &[FaultKind::Cut, FaultKind::Stall, FaultKind::Truncate][..]),
        (Form::Lp07, &[FaultKind::Truncate]),
    ] {
        let frame = last_words(&job, form);
        for &kind in kinds {
            let fault = Fault { direction: Direction::Forth, frame, kind };
            for (bad, expected) in [(9, Outcome::Caught(checks::CIRCUIT_OF_SEED)), (0, NOTHING_TO_SHOW[form as usize])]
            {
                let cheat = job.cheat(GarblerDeviation::WrongTables, bad);
                assert_eq!(job.with_fault(form, cheat, fault), expected, "{form:?}, {kind:?}, {bad} bad circuits");
            }
        }
    }
}

/// The evaluator's outcome where no circuit is bad, by form.
const NOTHING_TO_SHOW: [Outcome; 2] = [Outcome::Ended, Outcome::Suspected];
