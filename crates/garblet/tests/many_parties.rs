//! Runs of several parties give what the plain evaluator gives, whatever the program, for every protocol that has several.
//!
//! `GARBLET_TEST_FULL=1` runs more programs and more parties.

use garblet::{
    Bits, Config, Error, Party, Program, Protocol,
    circuit::{Recipients, evaluate, library, random},
    run_many_in_memory,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

fn full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

/// Every protocol of several parties, with each of its forms.
fn configs() -> Vec<Config> {
    let mut configs = Vec::new();
    for protocol in Protocol::ALL.into_iter().filter(|protocol| protocol.is_mesh()) {
        let standard = Config::of(protocol);
        configs.push(standard);
        for form in ["linear", "triples", "published", "2012"] {
            let mut config = standard;
            // Not every protocol has every form.
            if config.set("form", form).is_ok() && config != standard {
                configs.push(config);
            }
        }
    }
    configs
}

/// Parties that the protocol may have, among those from 2 to 9.
fn party_counts(config: Config) -> Vec<u16> {
    let counts = if full() { 2..=9 } else { 2..=5 };
    let mut counts: Vec<u16> = counts.filter(|n| config.protocol.parties().contains(n)).collect();
    if !full() {
        counts.push(9);
    }
    counts
}

fn assert_equals_eval(program: &Program, parties: u16, inputs: &[Bits], config: Config) {
    let expected = evaluate(program, inputs);
    let reports = run_many_in_memory(program, parties, inputs, config).expect("all parties are honest");
    assert_eq!(reports.len(), usize::from(parties));
    for (party, report) in reports.iter().enumerate() {
        assert_eq!(report.party, Party(party as u16));
        for (k, (output, expected)) in program.outputs().iter().zip(&expected).enumerate() {
            let learns = output.recipients.contains(report.party);
            let got = report.outputs[k].as_ref();
            assert!(got == learns.then_some(expected), "output {k} of party {party} of {parties} under {config:?}");
        }
    }
}

#[test]
fn library_circuits_by_any_number_of_parties() {
    let mut rng = StdRng::seed_from_u64(1);
    let short = ["lib:add(16)", "lib:hamming(30)", "lib:aes-round"];
    let long = ["lib:aes128", "lib:levenshtein(6, 6, 2)", "lib:sort(8, 6)", "lib:dot-product(3, 6)", "lib:compare(9)"];
    let names = short.iter().chain(if full() { &long[..] } else { &[] });
    for name in names {
        let program = library::find(name).expect("known");
        let inputs = random::inputs(&mut rng, &program);
        for config in configs() {
            for parties in party_counts(config) {
                assert_equals_eval(&program, parties, &inputs, config);
            }
        }
    }
}

#[test]
fn random_programs_with_inputs_of_all_parties() {
    for case in 0..if full() { 100 } else { 8 } {
        let mut rng = StdRng::seed_from_u64(case);
        for config in configs() {
            let counts = party_counts(config);
            let parties = counts[rng.random_range(0..counts.len())];
            let program = random::program(&mut rng, 200, parties);
            let inputs = random::inputs(&mut rng, &program);
            assert_equals_eval(&program, parties, &inputs, config);
        }
    }
}

#[test]
fn numbers_of_parties_and_owners_that_cannot_be_are_refused() {
    let program = library::find("lib:add(4)").expect("known");
    let inputs = [Bits::zeros(4), Bits::zeros(4)];
    for config in configs().into_iter().chain([Config::default()]) {
        let most = *config.protocol.parties().end();
        for parties in [0, 1, most + 1] {
            let error = run_many_in_memory(&program, parties, &inputs, config).expect_err("refused");
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        }
    }
    for config in configs() {
        let parties = *party_counts(config).first().expect("some");
        let mut foreign = program.clone();
        foreign.set_recipients(0, Recipients::Only(vec![Party(parties)]));
        let error = run_many_in_memory(&foreign, parties, &inputs, config).expect_err("refused").to_string();
        assert!(error.contains(&format!("output `sum` is for party {parties}, expected 0 to")), "{error}");
    }
}

#[test]
fn a_mesh_and_a_channel_are_not_taken_for_one_another() {
    let program = library::find("lib:add(4)").expect("known");
    let inputs = [Bits::zeros(4), Bits::zeros(4)];
    let error = run_many_in_memory(&program, 3, &inputs, Config::of(Protocol::Yao)).expect_err("two parties");
    assert!(error.to_string().contains("there are 3 parties"), "{error}");
}
