//! `lego` gives what the plain evaluator gives, with the security that it says.

use garblet::{
    Bits, Config, Party, Peer, Plan, Program, Protocol, ReadInput, SavedValues, circuit::random, lego::Code, library,
    net::memory_pair,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::oracle::{full, run_as_eval};

fn assert_equals_eval(program: &Program, inputs: &[Bits], config: Config) {
    for report in run_as_eval(program, inputs, config) {
        let bound = report.security.cheating_log2.expect("a bound against cheating");
        // The order's bound, the binding of commitments and gates that escape the checks: each at most 2^-40.
        assert!((-40.0..-38.4).contains(&bound), "three bounds of 2^-40, not 2^{bound}");
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

/// Before anything is prepared: values can be neither read nor kept where there is nothing to keep them in.
#[tokio::test]
async fn values_that_are_to_be_kept_or_read_need_a_store() {
    let (name, output) = ("sum".to_string(), None);
    let read = vec![ReadInput { port: "a".into(), name: name.clone(), output }];
    let [kept, read] = [(Some(name), Vec::new()), (None, read)].map(|(keep, read)| SavedValues { keep, read });
    for saved in [kept, read] {
        let config = Config::of(Protocol::of::<garblet::lego::Lego>());
        let program = library::find("lib:add(8)").expect("in the library");
        let plan = Plan::saving(program, 2, &config, saved).expect("lego keeps values");
        let (ours, theirs) = memory_pair();
        let open = |party, channel| Peer::open(&plan, Party(party), channel, rand::rng(), Box::new(()));
        let (constructor, evaluator) = tokio::join!(open(0, ours), open(1, theirs));
        for opened in [constructor, evaluator] {
            let error = opened.err().expect("there is no store").to_string();
            assert!(error.contains("values to keep: expected a store for them, got none"), "{error}");
        }
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
