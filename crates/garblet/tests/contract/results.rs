//! Every run gives what the plain evaluator gives, and costs what the formulas say.

use garblet::{
    Bits, Communication, Config, Error, Party, Phase, Plan, Program,
    circuit::{Recipients, evaluate, random},
    library, run_many_in_memory,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{full, name, party_count, samples};

/// Numbers of parties that the protocol may have, among those from 2 to 9.
fn party_counts(config: &Config) -> Vec<u16> {
    let counts = if full() { 2..=9 } else { 2..=5 };
    counts.chain([9]).filter(|count| config.protocol().parties().contains(count)).collect()
}

/// The rounds that a run may take.
#[derive(Clone, Copy)]
enum Waits {
    Stated,
    /// The stated ones at most: where there are hardly any gates, some of several parties have nothing to open, and do not wait.
    AtMost,
}

/// Runs all parties, and holds what each learns and what it cost against evaluator and formulas.
fn check(program: &Program, parties: u16, inputs: &[Bits], config: &Config, waits: Waits) {
    let place = name(config);
    let expected = evaluate(program, inputs);
    let plan = Plan::new(program.clone(), parties, config).expect("the protocol runs it");
    let predicted = plan.predict().expect("stores can hold enough");
    assert_eq!(predicted.parties.len(), usize::from(parties));
    let reports = run_many_in_memory(program, parties, inputs, config).expect("all parties are honest");
    assert_eq!(reports.len(), usize::from(parties));
    for (party, report) in reports.iter().enumerate() {
        assert_eq!(report.party, Party(party as u16));
        for (k, (output, expected)) in program.outputs().iter().zip(&expected).enumerate() {
            let learns = output.recipients.contains(report.party);
            let got = report.outputs[k].as_ref();
            assert!(got == learns.then_some(expected), "output {k} of party {party} of {parties}, {place}");
        }
        for phase in Phase::ALL {
            let Some(stated) = predicted.cost(report.party, phase) else { continue };
            let measured = report.phases.of(phase).communication;
            let place = format!("{} in {phase:?}, {place}", report.role);
            if predicted.exact {
                let rounds = match waits {
                    Waits::Stated => stated.rounds,
                    Waits::AtMost => measured.rounds.min(stated.rounds),
                };
                assert_eq!(measured, Communication { rounds, ..stated }, "{place}");
            } else {
                // Of small numbers the coins make a large part.
                let [stated, measured] = [stated, measured].map(|cost| cost.bytes_sent as f64);
                let near = if phase == Phase::Prepare { 0.05 * stated + 4096.0 } else { 0.0 };
                assert!((stated - measured).abs() <= near, "{stated} {measured} {place}");
            }
        }
    }
}

#[test]
fn library_circuits_by_any_number_of_parties() {
    let mut rng = StdRng::seed_from_u64(1);
    let short = ["lib:add(16)", "lib:hamming(30)", "lib:aes-round"];
    let long = ["lib:aes128", "lib:levenshtein(6, 6, 2)", "lib:sort(8, 6)", "lib:dot-product(3, 6)", "lib:compare(9)"];
    for name in short.iter().chain(if full() { &long[..] } else { &[] }) {
        let program = library::find(name).expect("known");
        let inputs = random::inputs(&mut rng, &program);
        for config in samples() {
            // The largest one has the fewest parties, but in the slow form.
            let counts = party_counts(&config);
            let few = if !full() && *name == "lib:aes-round" { 1 } else { counts.len() };
            for parties in counts.into_iter().take(few) {
                check(&program, parties, &inputs, &config, Waits::Stated);
            }
        }
    }
}

#[test]
fn random_programs_with_inputs_of_all_parties() {
    for case in 0..if full() { 100 } else { 8 } {
        let mut rng = StdRng::seed_from_u64(case);
        for config in samples() {
            let counts = party_counts(&config);
            let parties = counts[rng.random_range(0..counts.len())];
            let program = random::program(&mut rng, 200, parties);
            let inputs = random::inputs(&mut rng, &program);
            let waits = if config.protocol().is_mesh() { Waits::AtMost } else { Waits::Stated };
            check(&program, parties, &inputs, &config, waits);
        }
    }
}

#[test]
fn a_batch_is_what_every_row_gives_in_the_rounds_of_one() {
    let mut rng = StdRng::seed_from_u64(22);
    for config in samples() {
        let parties = party_count(&config);
        let one = random::program(&mut rng, if full() { 100 } else { 30 }, parties);
        let rows: Vec<Vec<Bits>> = (0..3).map(|_| random::inputs(&mut rng, &one)).collect();
        let columns = |rows: &[Vec<Bits>], count: usize| -> Vec<Bits> {
            (0..count).map(|k| rows.iter().flat_map(|row| row[k].iter()).collect()).collect()
        };
        let batch = one.batch(3).expect("three of it");
        let inputs = columns(&rows, one.inputs().len());
        let each: Vec<Vec<Bits>> = rows.iter().map(|row| evaluate(&one, row)).collect();
        assert!(evaluate(&batch, &inputs) == columns(&each, one.outputs().len()));
        let waits = if config.protocol().is_mesh() { Waits::AtMost } else { Waits::Stated };
        check(&batch, parties, &inputs, &config, waits);
        let online = |program: &Program| -> Vec<Option<u64>> {
            let plan = Plan::new(program.clone(), parties, &config).expect("the protocol runs it");
            let predicted = plan.predict().expect("stores can hold enough");
            (0..parties).map(|party| Some(predicted.cost(Party(party), Phase::Online)?.rounds)).collect()
        };
        assert_eq!(online(&batch), online(&one), "{}", name(&config));
    }
}

#[test]
fn numbers_of_parties_and_owners_that_cannot_be_are_refused() {
    let program = library::find("lib:add(4)").expect("known");
    let inputs = [Bits::zeros(4), Bits::zeros(4)];
    for config in samples() {
        let most = *config.protocol().parties().end();
        for parties in [0, 1, most + 1] {
            let error = run_many_in_memory(&program, parties, &inputs, &config).expect_err("refused");
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        }
        let parties = party_count(&config);
        let mut foreign = program.clone();
        foreign.set_recipients(0, Recipients::Only(vec![Party(parties)]));
        let error = run_many_in_memory(&foreign, parties, &inputs, &config).expect_err("refused").to_string();
        assert!(error.contains(&format!("output `sum` is for party {parties}")), "{error}");
    }
}
