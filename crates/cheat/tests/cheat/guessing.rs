//! Guesses of a peer's secret bits in `lego`: each is caught with probability one half, and then the store is given up.

use garblet_lego::checks;
use std::sync::Arc;

use garblet_cheat::{
    Outcome, binomial_tail,
    lego::{Guess, Stores, new_stores, run_stored},
    outcome,
};
use garblet_circuit::{Bits, Program, evaluate};
use garblet_lego::Amounts;
use garblet_protocol::{ProtocolError, conduct::Honest};
use garblet_synthesis::library;

const AMOUNTS: Amounts = Amounts { gates: 512, inputs: 32, input_pairs: 16, outputs: 16 };

/// Trials of each guess.
const TRIALS: u32 = 40;

fn job() -> (Arc<Program>, Vec<Bits>) {
    let inputs = [0b1011_0010, 0b0110_1001].map(|number| Bits::from_u128(number, 8)).to_vec();
    (Arc::new(library::find("lib:add(8)").expect("in the library")), inputs)
}

/// The honest party's outcome against a guess in a meeting that fills new stores, and the stores afterwards.
fn guess(guess: Guess, seed: u64) -> (Outcome, Stores) {
    let (program, inputs) = job();
    let (stores, right) = (new_stores(seed), evaluate(&program, &inputs).into_iter().map(Some).collect());
    let (results, stores) = match guess {
        Guess::WatchedShare => run_stored(&program, &inputs, (guess, Honest), stores, Some(AMOUNTS), seed.into()),
        Guess::DeltaBit => run_stored(&program, &inputs, (Honest, guess), stores, Some(AMOUNTS), seed.into()),
    };
    let honest = usize::from(guess == Guess::WatchedShare);
    (outcome(&results[honest], &right), stores)
}

fn is_found_out_half_of_the_time(which: Guess, honest: usize, found_out: Outcome) {
    let (mut passed, mut given_up) = (0, 0);
    for seed in 0..TRIALS {
        let (outcome, stores) = guess(which, seed.into());
        let has_pieces =
            stores[honest].as_ref().expect("it has met").stock().iter().any(|kind| !kind.available.is_empty());
        assert_eq!(has_pieces, outcome == Outcome::Right, "trial {seed}");
        if outcome == Outcome::Right {
            passed += 1;
            continue;
        }
        assert_eq!(outcome, found_out, "trial {seed}");
        if given_up == 0 {
            is_given_up(stores, honest);
        }
        given_up += 1;
    }
    assert!(binomial_tail(passed, TRIALS, 0.5) > 1e-4, "{passed} of {TRIALS} passed");
    assert!(binomial_tail(given_up, TRIALS, 0.5) > 1e-4, "{given_up} of {TRIALS} were caught");
}

/// Checks that the honest party's store refuses this peer from now on.
fn is_given_up(stores: Stores, honest: usize) {
    let (program, inputs) = job();
    let (results, _) = run_stored(&program, &inputs, (Honest, Honest), stores, None, 1);
    let Err(error @ ProtocolError::Stored { .. }) = &results[honest] else { panic!("the store was used again") };
    assert!(error.to_string().contains("found to cheat"), "{error}");
}

#[test]
fn a_guess_of_a_watched_share_is_caught_half_of_the_time() {
    is_found_out_half_of_the_time(Guess::WatchedShare, 1, Outcome::FalseCommitment);
}

#[test]
fn a_guess_of_a_bit_of_the_difference_is_caught_half_of_the_time() {
    is_found_out_half_of_the_time(Guess::DeltaBit, 0, Outcome::Caught(checks::DELTA_CHOICES));
}
