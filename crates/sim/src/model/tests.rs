use garblet_circuit::Party;
use garblet_primitives::{Block, Prg};
use garblet_protocol::checks::Unattributed;
use garblet_store::StoreError;

use super::*;
use crate::options::Options;

/// A deposit of party 1 to 100, once.
const DEPOSIT: Runs = Runs { function: Function::Deposit, amount: 1, first: Some(100), times: 1 };

fn rng() -> Prg {
    Prg::new(Block::ZERO)
}

fn job() -> Job {
    let options = Options { parties: 2, ..Options::drawn(&mut rng()) };
    Job::new(Task::Run(DEPOSIT), &options, None).expect("it can be run")
}

fn visit(end: End) -> Visit {
    let diary = Diary { store: Some("store".into()), ..Diary::default() };
    Visit { end, diary, writes: 9, lie: None }
}

/// Visits of a run that nobody can have ended. Party 0 begins it after `began` writes, and gives up at write 8 of 9; party 1 is gone before it begins.
fn cut_off(began: u64) -> [Visit; 2] {
    let mut both = [End::Refused(StoreError::Broken.into()), End::Gone].map(visit);
    both[0].diary.gave_up = Some(8);
    both[0].diary.runs.push(Page { began: Some(began), ..Page::default() });
    both[1].diary.runs.push(Page::default());
    both
}

#[test]
fn a_run_counts_once_anything_but_the_refusal_was_sent_whatever_ends_it() {
    for (began, least) in [(7, 1), (8, 0)] {
        let mut model = Model::new(2, 0);
        model.hear(&job(), &cut_off(began)).expect("they may fail");
        assert_eq!(model.check_count(0, 0).is_ok(), least == 0, "{began} writes before");
        assert_eq!((model.check_count(0, 1), model.check_count(0, 2).is_err()), (Ok(()), true));
        model.allow();
        assert_eq!((model.check_count(0, 0), model.check_count(0, 1).is_err()), (Ok(()), true));
    }
}

#[test]
fn nobody_draws_for_one_more_run_beyond_the_limit() {
    let mut model = Model::new(2, 0);
    model.hear(&job(), &cut_off(7)).expect("the first may fail");
    assert_eq!(model.hear(&job(), &cut_off(7)).expect_err("none may follow").check, "limit");
}

#[test]
fn a_store_of_before_may_come_back_with_its_balance_and_its_count() {
    let mut model = Model::new(2, 3);
    model.hear(&job(), &cut_off(7)).expect("they may fail");
    let values = model.values();
    model.begin_anew();
    assert_eq!((model.values(), model.check_count(0, 1).is_err()), (vec![None], true));
    model.put_back(false);
    assert!(model.check_count(0, 1).is_err());
    model.put_back(true);
    assert_eq!((model.values(), model.check_count(0, 1), model.check_count(0, 0)), (values, Ok(()), Ok(())));
}

/// The finding about a store after a meeting in which party 1 told a lie of this price, or none, and party 0 ended so.
fn found(lie: Option<Price>, end: End, is_given_up: bool) -> Option<Finding> {
    let (one, other) = (visit(end), Visit { lie, ..visit(End::Gone) });
    let mut model = Model::new(2, 0);
    let job = Job { task: Task::Fill, ..job() };
    model.hear(&job, &[one, other]).and_then(|()| model.check_store(0, Some("store"), is_given_up)).err()
}

#[test]
fn the_lie_and_not_the_error_says_whether_a_store_must_go() {
    let caught = || End::Refused(Unattributed::new(garblet_authenticated::many::checks::ECHO, "of nonces").into());
    for (lie, must_go) in [(Some(Price::Store), true), (Some(Price::Nothing), false)] {
        assert_eq!(found(lie, caught(), must_go), None, "{lie:?}");
        let finding = found(lie, caught(), !must_go).expect("it is the other way round");
        assert_eq!(finding.check, "given up", "{lie:?}: {}", finding.text);
    }
    // Nobody has to catch a lie at once.
    assert_eq!(found(Some(Price::Store), End::Gone, false), None);
    assert!(found(None, End::Gone, true).is_some());
}

#[test]
fn a_lie_that_was_only_planned_excuses_nothing() {
    let caught = || End::Refused(ProtocolError::cheats(Party(1), garblet_authenticated::checks::BUCKET_BITS, "here"));
    assert_eq!(found(None, caught(), true).expect("nobody lied").check, "blame");
    assert_eq!(found(Some(Price::Store), caught(), true), None);
}
