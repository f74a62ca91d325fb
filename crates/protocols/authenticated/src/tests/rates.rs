//! The rates at which cheats pass agree with the formulas, with batches so small that it happens.

use std::sync::{Mutex, OnceLock};

use garblet_runs::testing::is_full;

use super::*;
use crate::{checks, coins::SHARE_BYTES};

/// Changes the blocks of leaky triples of some numbers, which shows if the peer's share of the first factor is one; and listens to coins.
#[derive(Clone)]
struct Guess {
    bad: Vec<usize>,
    /// This party's messages that open coins.
    coins: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Guess {
    fn at(bad: &[usize]) -> Self {
        Guess { bad: bad.to_vec(), coins: Arc::default() }
    }
}

impl Conduct<Step> for Guess {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        match step {
            Step::LeakyBlocks => self.bad.iter().for_each(|at| bytes[16 * at + 15] ^= 0x80),
            Step::Coins => self.coins.lock().expect("nobody panics with it").push(bytes.to_vec()),
            _ => {}
        }
    }
}

/// The shifts of a batch, from both parties' messages.
fn shifts(domain: &garblet_protocol::domain::Domain, guesses: [&Guess; 2], batch: Batch) -> Vec<usize> {
    let [first, second] = guesses.map(|guess| guess.coins.lock().expect("nobody panics with it")[1].clone());
    let sum: Vec<u8> = first.iter().zip(&second).take(SHARE_BYTES).map(|(first, second)| first ^ second).collect();
    let mut coins = Prg::new(Block::from_digest(&domain.branch(1).digest(&sum)));
    let mut shift = || (rand_core::Rng::next_u64(&mut coins) % batch.triples) as usize;
    (1..batch.bucket).map(|_| shift()).collect()
}

/// Both parties' triples and differences, and the shifts.
type Guessed = ([(Made, Block); 2], Vec<usize>);

/// The outcome of a batch in which a party guesses: both parties' triples with the shifts, or the error of the other party.
fn guess(party: Party, batch: Batch, bad: &[usize], seed: u64) -> Result<Guessed, ProtocolError> {
    let bad_of = |other: Party| if other == party { bad } else { &[] };
    let guesses = [GARBLER, EVALUATOR].map(|party| Guess::at(bad_of(party)));
    let [of_garbler, of_evaluator] = guesses.clone();
    let made = async |session: &mut Session, party, guess| {
        let mut ground = ground(session, party, guess).await;
        let domain = ground.domain(GARBLER, Place::ShiftCoins, 0);
        let made = ground.make(session, Some(batch), 1).await?;
        session.channel().flush().await?;
        Ok(((made, ground.delta.block()), domain))
    };
    let (garbler, evaluator) = both(
        seed,
        async |session| made(session, GARBLER, of_garbler).await,
        async |session| made(session, EVALUATOR, of_evaluator).await,
    );
    match (garbler, evaluator) {
        (Ok((garbler, domain)), Ok((evaluator, _))) => {
            let shifts = shifts(&domain, [&guesses[0], &guesses[1]], batch);
            Ok(([garbler, evaluator], shifts))
        }
        (garbler, evaluator) => {
            // It is the garbler that finds it; one that guesses is found by itself, and can only leave.
            let error = garbler.err().expect("it compares first");
            assert!(
                matches!(&error, ProtocolError::Cheating(cheating) if cheating.check == checks::EQUALITY),
                "{error}"
            );
            assert!(evaluator.is_err());
            Err(error)
        }
    }
}

/// A false block of one leaky triple is found with probability one half; if it is not, the triple is right.
#[test]
fn a_guess_at_a_leaky_triple_passes_half_of_the_time_and_changes_nothing() {
    const TRIALS: usize = 600;
    for party in [GARBLER, EVALUATOR] {
        let passed = (0..TRIALS as u64).filter(|&seed| {
            let place = seed as usize % 8;
            let guessed = guess(party, Batch { triples: 4, bucket: 2 }, &[place], seed);
            guessed.is_ok_and(|(made, _)| {
                triples::check(&made);
                true
            })
        });
        let passed = passed.count();
        assert!(!is_far(passed, TRIALS, 0.5), "party {party}: {passed}");
    }
}

/// The best cheat has one false leaky triple in each row: it passes if it guesses all, and wins if they meet.
#[test]
fn false_leaky_triples_pass_and_meet_as_often_as_the_formula_says() {
    for (triples, bucket, trials) in [(4, 2, 2400), (2, 3, 2400), (3, 2, 1200)] {
        let batch = Batch { triples, bucket };
        let length = triples as usize;
        let (mut passed, mut won) = (0, 0);
        for seed in 0..trials as u64 {
            let party = if seed % 2 == 0 { GARBLER } else { EVALUATOR };
            let places: Vec<usize> = (0..bucket as usize).map(|row| (seed as usize / 2 + row * row) % length).collect();
            let bad: Vec<usize> = places.iter().enumerate().map(|(row, place)| row * length + place).collect();
            let Ok((made, shifts)) = guess(party, batch, &bad, seed) else { continue };
            passed += 1;
            triples::check(&made);
            let meets = |(row, shift): (usize, &usize)| (places[0] + shift) % length == places[row];
            if (1..).zip(&shifts).all(meets) {
                won += 1;
                let honest = &made[usize::from(party == GARBLER)].0;
                assert!(!honest.shares.own[places[0]].lsb(), "its share of the first factor is the guessed one");
            }
        }
        let pass = (-f64::from(bucket)).exp2();
        let win = pass * (triples as f64).powi(1 - bucket as i32);
        assert!(!is_far(passed, trials, pass), "{batch:?}: {passed} of {trials} pass, expected {pass}");
        assert!(!is_far(won, trials, win), "{batch:?}: {won} of {trials} win, expected {win}");
        assert!(is_far(won, trials, 2.0 * win), "the test can fail");
        // Over a store's life, in which each try must pass again, the sum of all tries is the bound of a batch.
        let life = (0..60).map(|tries| pass.powi(tries) * win).sum::<f64>();
        assert!((life / batch.insecure() - 1.0).abs() < 1e-9);
    }
}

/// Adds the garbler's difference, once it is told, to a row of the first gate.
struct WrongRow {
    row: usize,
    delta: Arc<OnceLock<Block>>,
}

impl Conduct<Step> for WrongRow {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        if step == Step::Tables && index == 0 {
            let row = &mut bytes[16 * self.row..16 * (self.row + 1)];
            row.iter_mut()
                .zip(self.delta.get().expect("it was told").to_bytes())
                .for_each(|(byte, other)| *byte ^= other);
        }
    }
}

/// The evaluator's result where a row of an AND gate of both parties' inputs is wrong.
fn with_wrong_row(plan: &Plan, row: usize, inputs: &[Bits], seed: u64) -> Result<Ran, ProtocolError> {
    let batch = Some(Batch { triples: plan.and_count(), bucket: 2 });
    let (_, evaluator) = both(
        seed,
        async |session| {
            let delta = Arc::new(OnceLock::new());
            let ground = ground(session, GARBLER, WrongRow { row, delta: delta.clone() }).await;
            delta.set(ground.delta.block()).ok().expect("it was not told before");
            live::<GarblerSide>(session, plan, batch, inputs, ground).await
        },
        async |session| {
            let ground = ground(session, EVALUATOR, Honest).await;
            live::<EvaluatorSide>(session, plan, batch, inputs, ground).await
        },
    );
    evaluator
}

/// A wrong row is found with the same probability for all inputs, so that nothing is learned from whether it is.
#[test]
fn a_wrong_row_is_caught_half_of_the_time_for_all_inputs() {
    let trials = if is_full() { 300 } else { 100 };
    for (config, row) in [(configs()[0], 0), (configs()[0], 1), (configs()[2], 0), (configs()[3], 1)] {
        let plan = plan(product(), config);
        let check = if config.check == ResultCheck::Tags { checks::TAGS } else { checks::REVEALED_GATES };
        for value in 0..4u128 {
            let inputs = [Bits::from_u128(value & 1, 1), Bits::from_u128(value >> 1, 1)];
            let mut found = 0;
            for seed in 0..trials {
                match with_wrong_row(&plan, row, &inputs, seed) {
                    Ok((outputs, _)) => assert!(outputs == learned(&plan, EVALUATOR, &inputs), "a right result"),
                    Err(ProtocolError::Cheating(cheating)) if cheating.check == check => found += 1,
                    Err(error) => panic!("{config:?}: {error}"),
                }
            }
            assert!(!is_far(found, trials as usize, 0.5), "row {row}, inputs {value:02b}, {config:?}: {found}");
        }
    }
}

/// Changes a row of the first gate in a bit that stands for no value.
struct SpoiledRow(usize);

impl Conduct<Step> for SpoiledRow {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        if step == Step::Tables && index == 0 {
            bytes[16 * self.0 + 15] ^= 0x80;
        }
    }
}

/// With tags a garbler reads, by the digest of its output's label, whether a row was used, and nobody notices. It learns a masked value, which is uniform
/// whatever the inputs are.
#[test]
fn a_garblers_view_of_its_own_output_is_uniform() {
    const TRIALS: usize = 240;
    let plan = plan(product(), Config::default());
    for row in [0, 1] {
        for value in 0..4u128 {
            let inputs = [Bits::from_u128(value & 1, 1), Bits::from_u128(value >> 1, 1)];
            let was_used = |seed: u64| {
                let batch = Some(Batch { triples: plan.and_count(), bucket: 2 });
                let [garbler, evaluator] = run(&plan, batch, &inputs, (SpoiledRow(row), Honest), seed);
                let (outputs, _) = evaluator.expect("it notices nothing");
                assert!(outputs == learned(&plan, EVALUATOR, &inputs), "and its result is right");
                match garbler {
                    Ok(_) => false,
                    Err(ProtocolError::Cheating(cheating)) if cheating.check == checks::OUTPUT_LABELS => true,
                    Err(other) => panic!("{other}"),
                }
            };
            let used = (0..TRIALS as u64).filter(|&seed| was_used(1000 * row as u64 + seed)).count();
            assert!(!is_far(used, TRIALS, 0.5), "row {row}, inputs {value:02b}: {used} of {TRIALS}");
        }
    }
}
