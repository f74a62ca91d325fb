//! Rates of what may pass: wrong tables with the same probability for all inputs, wrong leaky triples with that of the formula.

use garblet_protocol::{checks::Check, domain::Domain};
use garblet_runs::testing::is_full;

use super::{
    lies::{Change, Watched, found},
    *,
};
use crate::{
    coins::SHARE_BYTES,
    config::Build,
    many::{checks, leaky::HEAD_BYTES, place::Place, shares::Shares},
    prepare::rotate::Rows,
    tests::is_far,
};

/// The evaluator of three parties.
const EVALUATOR: Party = Party(2);

/// The inputs of two garblers, by the bits of a number.
fn inputs(value: u64) -> Vec<Bits> {
    (0..2).map(|at| Bits::from_u128((value >> at & 1).into(), 1)).collect()
}

/// A wrong message of a garbler.
#[derive(Clone)]
struct Wrong {
    what: &'static str,
    by: u16,
    change: Change,
    /// The sum of the wrong block and the right one is the garbler's own difference.
    by_difference: bool,
}

impl Wrong {
    /// One bit of a message is wrong.
    fn bit(what: &'static str, by: u16, step: Step, to: u16, at: usize) -> Self {
        Wrong { what, by, change: Change { step, to: Some(to.into()), at, error: vec![1] }, by_difference: false }
    }
}

/// The results of runs in one session, each with a batch and a build of its own, at one party. All other honest parties must have the right outputs.
fn results_at(
    plan: &Plan,
    (wrong, value): (&Wrong, u64),
    trials: usize,
    at: Party,
) -> Vec<Result<Vec<Option<Bits>>, ProtocolError>> {
    let mut results = all(plan.parties(), value, async |session, party| {
        let is_wrong = party.0 == wrong.by;
        let changes = if is_wrong { vec![wrong.change.clone()] } else { Vec::new() };
        let mut ground = Ground::set_up(session, plan, party, Watched { changes, ..Watched::default() }).await?;
        if is_wrong && wrong.by_difference {
            ground.conduct.changes[0].error = ground.delta.block().to_bytes().to_vec();
        }
        let own = own_inputs(plan, party, &inputs(value));
        let mut results = Vec::new();
        for _ in 0..trials {
            let (built, _) = build(&mut ground, session, plan).await?;
            let result = ground.compute(session, plan, built, &own).await;
            if party != at && !is_wrong {
                let expected = learned(plan, party, &inputs(value));
                assert_eq!(result.as_ref().ok(), Some(&expected), "{}: party {party}", wrong.what);
            }
            // Only to count: a party never goes on after a failed run.
            ground.over = false;
            results.push(result);
        }
        Ok(results)
    });
    results.swap_remove(at.0.into()).expect("all preparations succeed")
}

/// The number of runs that end in a check at a party. In all others it must have the right outputs.
fn ended(plan: &Plan, (wrong, value): (&Wrong, u64), trials: usize, (at, check): (Party, Check)) -> usize {
    let results = results_at(plan, (wrong, value), trials, at);
    let is_found = |result: &Result<Vec<Option<Bits>>, ProtocolError>| match result {
        Ok(outputs) => {
            assert_eq!(*outputs, learned(plan, at, &inputs(value)), "{}: a wrong output", wrong.what);
            false
        }
        Err(error) => {
            assert_eq!(found(error), Some(check), "{}: {error}", wrong.what);
            true
        }
    };
    results.iter().filter(|result| is_found(result)).count()
}

/// Wrong tables at a gate whose result is the operand of another; every second number is the probability of an abort.
fn wrong_tables() -> Vec<(Wrong, f64)> {
    // A change of the last byte of a block leaves bit 0. Both gates have three blocks of tables, then three tags each.
    let (block, tag) = (|block: usize| 16 * block + 15, |tag: usize| 16 * 6 + 6 * tag);
    let (parts, tables) = (Step::TableParts, Step::Tables);
    let mut all = Vec::new();
    for (which, rate) in [(0, 0.5), (1, 0.5), (2, 1.0)] {
        let off = Change { step: tables, to: Some(2), at: 16 + 16 * which, error: Vec::new() };
        let off = Wrong { what: "its own, off by its difference", by: 0, change: off, by_difference: true };
        all.extend([
            (Wrong::bit("its own", 0, tables, 2, 16 + block(which)), rate),
            (Wrong::bit("the second garbler's own", 1, tables, 2, 16 + block(which)), rate),
            (off, rate),
            (Wrong::bit("a part for the second garbler", 0, parts, 1, block(which)), rate),
            (Wrong::bit("a part for the first garbler", 1, parts, 0, block(which)), rate),
            (Wrong::bit("tags", 0, tables, 2, 16 + tag(which)), rate),
            (Wrong::bit("a part of tags", 1, parts, 0, tag(which)), rate),
        ]);
    }
    all
}

#[test]
fn wrong_tables_abort_with_the_same_probability_for_all_inputs() {
    const TRIALS: usize = 64;
    let mut program =
        circuit(&[0, 1], 1, vec![Gate::And(Wire(0), Wire(1)), Gate::And(Wire(2), Wire(0))], vec![Wire(3)]);
    program.set_recipients(0, Recipients::Only(vec![EVALUATOR]));
    let program = Arc::new(program);
    // Of streamed circuits the garblers' own tables, and nothing of parts.
    for (build, every) in [(Build::Ahead, 1), (Build::Stream, 7)] {
        let config = Config { build, evaluator: EVALUATOR.0, ..Config::default() };
        let plan = Plan::new(program.clone(), 3, config).expect("it can be run");
        let cases = wrong_tables().into_iter().step_by(every);
        let cases = cases.flat_map(|case| [0, 1, 2, 3].map(|value| (case.clone(), value))).enumerate();
        // The short form has every wrong table, each with one of the inputs in turn.
        for (_, ((wrong, rate), value)) in cases.filter(|(at, _)| is_full() || at % 4 == at / 4 % 4) {
            let by = (EVALUATOR, checks::TAGS);
            let ended = ended(&plan, (&wrong, value), TRIALS, by);
            let what = format!("{} at {}, inputs {value:02b}: {ended} of {TRIALS}", wrong.what, wrong.change.at);
            // An abort that is certain has no deviation.
            assert!(!is_far(ended, TRIALS, rate), "{build:?}: {what}");
        }
    }
}

/// Both garblers garble a gate wrongly, each off by its own difference, so that all labels fit the wrong value: only the sum of shares shows it, with the same
/// probability for all inputs.
#[test]
fn a_gate_that_all_garblers_garble_wrongly_is_found_by_its_masked_values() {
    const TRIALS: usize = 64;
    let mut program = circuit(&[0, 1], 1, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]);
    program.set_recipients(0, Recipients::Only(vec![EVALUATOR]));
    let plan = plan(program, 3, ResultCheck::Reveal);
    for ((which, rate), value) in
        [(0, 0.5), (1, 0.5), (2, 1.0)].into_iter().flat_map(|case| [0, 1, 2, 3].map(|v| (case, v)))
    {
        let mut results = all(3, value, async |session, party| {
            let mut ground = Ground::set_up(session, &plan, party, Watched::default()).await?;
            if party != EVALUATOR {
                let error = ground.delta.block().to_bytes().to_vec();
                ground.conduct.changes = vec![Change { step: Step::Tables, to: Some(2), at: 16 + 16 * which, error }];
            }
            let own = own_inputs(&plan, party, &inputs(value));
            let mut results = Vec::new();
            for _ in 0..TRIALS {
                let (built, _) = build(&mut ground, session, &plan).await?;
                results.push(ground.compute(session, &plan, built, &own).await);
                // Only to count.
                ground.over = false;
            }
            Ok(results)
        });
        let results = results.swap_remove(EVALUATOR.0.into()).expect("all preparations succeed");
        let mut ended = 0;
        for result in results {
            match result {
                Ok(outputs) => assert_eq!(outputs, learned(&plan, EVALUATOR, &inputs(value)), "a wrong output"),
                Err(error) => {
                    assert_eq!(found(&error), Some(checks::REVEALED_GATES), "{error}");
                    ended += 1;
                }
            }
        }
        assert!(!is_far(ended, TRIALS, rate), "block {which}, inputs {value:02b}: {ended} of {TRIALS}");
    }
}

/// A block for another garbler that is wrong at a gate that feeds no other passes the tags: the evaluator has the right output, and that garbler refuses
/// its own half of the time, without naming anybody.
#[test]
fn a_wrong_block_for_another_garbler_makes_nobody_look_like_a_cheat() {
    const TRIALS: usize = 100;
    let plan = plan(product(), 3, ResultCheck::Tags);
    let wrong = Wrong::bit("a part for the second garbler", 0, Step::TableParts, 1, 15);
    for value in 0..4 {
        let by = (Party(1), checks::OUTPUT_LABELS);
        let refused = ended(&plan, (&wrong, value), TRIALS, by);
        assert!(!is_far(refused, TRIALS, 0.5), "inputs {value:02b}: {refused} of {TRIALS}");
    }
}

/// A wrong block `u`, or a wrong block of the test, shows only if a bit of the receiver is one.
#[test]
fn a_wrong_block_passes_half_the_time() {
    let trials = if is_full() { 120 } else { 40 };
    // The last byte of a block: bit 0 of sums would be found always.
    for (step, at) in [(Step::LeakyBlocks, HEAD_BYTES + 16 * 3 + 15), (Step::ZeroBlocks, 16 + 16 * 9 + 15)] {
        let batch = Batch { triples: 4, bucket: 2 };
        let change = Change { step, to: Some(1), at, error: vec![1] };
        let mut passed = 0;
        for seed in 0..trials {
            let changes = |party: Party| if party.0 == 0 { vec![change.clone()] } else { Vec::new() };
            let conduct = |party| Watched { changes: changes(party), ..Watched::default() };
            let results = make(3, 1_000 + seed, (Some(batch), 3), conduct);
            let is_fine = results.iter().all(Result::is_ok);
            passed += usize::from(is_fine);
            let evidence = results.iter().filter_map(|made| made.as_ref().err()).filter_map(found);
            assert!(evidence.into_iter().all(|found| found == checks::ZERO));
            assert!(is_fine || results.iter().skip(1).all(Result::is_err), "all honest parties agree");
        }
        assert!(!is_far(passed, trials as usize, 0.5), "{step:?}: {passed} of {trials} passed");
    }
}

/// A party's batch that passed the test: its triples, and its share of the coins of the shifts.
struct Passed {
    supply: Supply,
    share: Vec<u8>,
    domain: Domain,
}

/// Batches in one session with party 0's changes. Returns those that passed, of all parties.
fn batches(batch: Batch, changes: &[Change], trials: usize) -> Vec<Vec<Passed>> {
    let plan = plan(product(), 3, ResultCheck::Tags);
    let of_parties = all(3, batch.triples, async |session, party| {
        let changes = if party.0 == 0 { changes.to_vec() } else { Vec::new() };
        let mut ground = Ground::set_up(session, &plan, party, Watched { changes, ..Watched::default() }).await?;
        let triples = batch.triples as usize;
        let mut batches = Vec::new();
        for number in 0..trials as u64 {
            let mut supply = Supply::with_room(3, triples, 0);
            let made = ground.make(session, (Some(batch), triples, 0), &mut supply).await;
            if let Err(error) = &made {
                assert_eq!(found(error), Some(checks::ZERO), "{error}");
            }
            // Only to count: a party never goes on after a failed batch.
            ground.over = false;
            let sent = std::mem::take(&mut ground.conduct.sent);
            let share = sent.into_iter().rev().find(|(step, _, _)| *step == Step::Coins).expect("coins").2;
            let domain = ground.common(Place::ShiftCoins, number).branch(1);
            batches.push(made.is_ok().then_some(Passed { supply, share, domain }));
        }
        Ok(batches)
    });
    let mut of_parties: Vec<_> =
        of_parties.into_iter().map(|batches| batches.expect("the session goes on").into_iter()).collect();
    let of_trial = |_| of_parties.iter_mut().map(|batches| batches.next().flatten()).collect::<Vec<_>>();
    let of_trials = (0..trials).map(of_trial).filter_map(|of_trial| {
        let count = of_trial.iter().flatten().count();
        assert!([0, 3].contains(&count), "all parties agree");
        (count > 0).then(|| of_trial.into_iter().flatten().collect())
    });
    of_trials.collect()
}

/// Tells whether all products are right.
fn are_products(passed: &[Passed]) -> bool {
    let bits = |shares: fn(&Triples) -> &Shares, at: usize| {
        passed.iter().fold(false, |sum, passed| sum ^ shares(&passed.supply.triples).bit(at))
    };
    (0..passed[0].supply.triples.a.len())
        .all(|at| bits(|triples| &triples.c, at) == bits(|triples| &triples.a, at) & bits(|triples| &triples.b, at))
}

/// The shift of the second row.
fn shift(passed: &[Passed], batch: Batch) -> usize {
    let shares: Vec<u8> = passed.iter().flat_map(|passed| passed.share[..SHARE_BYTES].to_vec()).collect();
    let coin = Block::from_digest(&passed[0].domain.digest(&shares));
    Rows::of(batch).shifts(&mut Prg::new(coin))[0]
}

/// Party 0 makes blocks `u` of the first leaky triple of each row wrong, and passes if it guesses what honest first factors add up to. It knows the triple if
/// the guessed ones meet.
#[test]
fn guesses_of_first_factors_pass_and_meet_in_a_bucket_at_the_rates_of_the_formula() {
    const TRIALS: usize = 600;
    for triples in if is_full() { 2..=3 } else { 2..=2 } {
        let batch = Batch { triples, bucket: 2 };
        let at = |row: u64| HEAD_BYTES + 16 * (row * triples) as usize + 15;
        let change = |to, row, bit: u8| Change { step: Step::LeakyBlocks, to, at: at(row), error: vec![bit] };
        let of_rows = |errors: &[(Option<usize>, u8)]| -> Vec<Change> {
            (0..2).flat_map(|row| errors.iter().map(move |&(to, bit)| change(to, row, bit))).collect()
        };
        // The same error to both honest parties needs a guess of their sum; to one, of its factor; two errors, of both.
        let cases: [(Vec<Change>, f64, &[usize]); 3] = [
            (of_rows(&[(None, 1)]), 0.25, &[1, 2]),
            (of_rows(&[(Some(1), 1)]), 0.25, &[1]),
            (of_rows(&[(Some(1), 1), (Some(2), 2)]), 0.0625, &[1, 2]),
        ];
        for (changes, pass, guessed) in cases {
            let all = batches(batch, &changes, TRIALS);
            assert!(all.iter().all(|passed| are_products(passed)), "products are right whenever the test passes");
            assert!(!is_far(all.len(), TRIALS, pass), "{batch:?}: {} of {TRIALS} pass, expected {pass}", all.len());
            let met: Vec<_> = all.iter().filter(|passed| shift(passed, batch) == 0).collect();
            let sum = |passed: &Vec<Passed>| {
                guessed.iter().fold(false, |sum, &party| sum ^ passed[party].supply.triples.a.bit(0))
            };
            assert!(met.iter().all(|passed| !sum(passed)), "it knows the sum that it guessed");
            assert!(all.iter().any(sum), "and does not know it where they do not meet");
            if pass == 0.25 {
                // In one try; `insecure` is of a store's life.
                let meet = batch.insecure() * (1.0 - 0.25);
                assert!(!is_far(met.len(), TRIALS, meet), "{batch:?}: {} of {TRIALS} meet, not {meet}", met.len());
                assert!(is_far(met.len(), TRIALS, 2.0 * meet), "the test can fail");
            }
        }
    }
}
