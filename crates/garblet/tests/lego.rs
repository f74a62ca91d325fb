//! `lego` gives what the plain evaluator gives, with the security that it says.

mod oracle;

use garblet::{Bits, Config, Program, Protocol, circuit::random, lego::Code, library};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::oracle::{full, run_as_eval};

fn assert_equals_eval(program: &Program, inputs: &[Bits], config: Config) {
    for report in run_as_eval(program, inputs, config) {
        let bound = report.security.cheating_log2.expect("a bound against cheating");
        assert!((-60.0..-40.0).contains(&bound), "three bounds below 2^-40 together, not 2^{bound}");
        assert!(!report.security.peer_exposed);
    }
}

/// Fifty random programs in the full form.
#[test]
fn random_programs_with_both_codes() {
    let mut rng = StdRng::seed_from_u64(12);
    let programs = if full() { 50 } else { 4 };
    for i in 0..programs {
        let most_gates = rng.random_range(1..=3_000);
        let program = random::program(&mut rng, most_gates, 2);
        let inputs = random::inputs(&mut rng, &program);
        let mut config = Config::of(Protocol::of::<garblet::lego::Lego>());
        config.get_mut::<garblet::lego::Lego>().unwrap().code = Code::ALL[i % 2];
        assert_equals_eval(&program, &inputs, config);
    }
}

#[test]
fn comparison_and_levenshtein_distance() {
    for name in ["lib:millionaires(16)", "lib:levenshtein(4, 3, 2)"] {
        let program = library::find(name).expect("in the library");
        let inputs = random::inputs(&mut StdRng::seed_from_u64(13), &program);
        assert_equals_eval(&program, &inputs, Config::of(Protocol::of::<garblet::lego::Lego>()));
    }
}
