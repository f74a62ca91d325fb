//! The rate at which bad gates escape is at most that of theorem 2, with parameters so small that it happens.

use super::super::{
    generate::{
        challenge::Challenge,
        shuffle::{Shuffle, tests::Number},
    },
    parameters::{Buckets, Demand, Parameters},
};
use super::*;
use garblet_store::Scratch;

/// A few buckets of two gates and one authenticator.
const SMALL: Parameters = Parameters {
    demand: Demand { gates: 8, inputs: 2, input_buckets: 1 },
    buckets: Buckets { gates: 2, input_gates: 2, input_authenticators: 1 },
    check_gates: 0.25,
    check_authenticators: 0.25,
};

/// Gates made: somewhat more than are needed.
const MADE: u32 = 48;

/// The fate of two bad gates, numbers 0 and 1, that are wrong for two ones.
#[derive(PartialEq)]
enum Fate {
    Caught,
    /// One was thrown away, or they are in different buckets.
    Harmless,
    /// They are the majority of a bucket.
    Won,
}

fn fate(seed: u64) -> Option<Fate> {
    let mut rng = Prg::new(Block::from_halves(seed, 9));
    let mut challenge = Challenge::of(rng.next_block(), &SMALL);
    let bins = 1 + seed as usize % 3;
    let mut left = Shuffle::new(Code::Short, Scratch::in_memory(bins), bins, challenge.permutations[0]);
    for number in 0..MADE {
        match challenge.gates.toss() {
            Some(bits) if number < 2 && bits == [true; 2] => return Some(Fate::Caught),
            Some(_) => {}
            None => left.put(&Number(number)).expect("memory"),
        }
    }
    // Too few are left: the parties begin again.
    let enough = left.len() >= SMALL.bucketed_gates();
    let mut bucketed = Vec::new();
    left.take(2 * SMALL.demand.gates as usize, &mut bucketed).expect("memory");
    let won = bucketed.as_chunks::<2>().0.iter().any(|bucket| bucket.iter().all(|number| number.0 < 2));
    enough.then_some(if won { Fate::Won } else { Fate::Harmless })
}

/// The probability of a count at least this far from its expectation, by the normal approximation, which counts of thousands allow.
fn is_far(count: usize, trials: usize, probability: f64) -> bool {
    let expected = trials as f64 * probability;
    let deviation = (expected * (1.0 - probability)).sqrt();
    // Both tails beyond 3.9 deviations have 10^-4 together.
    (count as f64 - expected).abs() > 3.9 * deviation
}

#[test]
fn bad_gates_escape_as_often_as_the_formula_says_and_theorem_2_allows() {
    let fates: Vec<Fate> = (0..100_000).filter_map(fate).collect();
    let trials = fates.len();
    assert!(trials > 99_990, "{trials}: enough is left nearly always");
    let count = |fate: Fate| fates.iter().filter(|other| **other == fate).count();
    // Each is checked with probability p, and then for two ones with 1/4.
    let [p, caught] = [SMALL.check_gates, 1.0 - (1.0 - SMALL.check_gates / 4.0).powi(2)];
    assert!(!is_far(count(Fate::Caught), trials, caught), "{} of {trials}", count(Fate::Caught));
    // Neither is checked, and of the pairs of places that those left fall into, one for each bucket wins. How many are left
    // is binomial, given those two.
    let others = MADE as i32 - 2;
    let binomial = |k: i32| {
        let choose: f64 = (0..k).map(|i| f64::from(others - i) / f64::from(i + 1)).product();
        choose * (1.0 - p).powi(k) * p.powi(others - k)
    };
    let pairs = |left: f64| SMALL.demand.gates as f64 * 2.0 / (left * (left - 1.0));
    let won: f64 = (0..=others).map(|k| binomial(k) * pairs(f64::from(k + 2))).sum::<f64>() * (1.0 - p).powi(2);
    assert!(!is_far(count(Fate::Won), trials, won), "{} of {trials}, expected {won}", count(Fate::Won));
    assert!(won < SMALL.bounds().bucket.exp2(), "{won}: theorem 2 is an upper bound");
    assert!(!is_far(count(Fate::Won), trials, won) && is_far(count(Fate::Won), trials, 1.3 * won), "the test can fail");
}
