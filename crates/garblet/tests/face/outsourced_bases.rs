//! `outsourced` over the bases whose servers run a changed program: any number of clients, inputs and outputs of servers too, and what is refused.
#![cfg(feature = "outsourced")]

use std::sync::Arc;

use garblet::{
    Adversary, Bits, Config, Error, OrderRequest, Plan, Program, ReadInput, SavedValues,
    circuit::{evaluate, random},
    library,
    outsourced::Outsourced,
    run_many_in_memory,
};
use rand::{SeedableRng, rngs::StdRng};

fn config(parameters: &[(&str, &str)]) -> Config {
    let mut config = Config::new::<Outsourced>(Default::default());
    parameters.iter().for_each(|(name, value)| config.set(name, value).expect("known"));
    config
}

/// Both bases, of which one has few circuits.
fn bases() -> [Config; 2] {
    [config(&[("base", "cut-and-choose"), ("circuits", "3")]), config(&[("base", "yao")])]
}

fn check(program: &Program, parties: u16, inputs: &[Bits], config: &Config) {
    let expected = evaluate(program, inputs);
    let reports = run_many_in_memory(program, parties, inputs, config).expect("all are honest");
    for report in reports {
        for ((output, expected), got) in program.outputs().iter().zip(&expected).zip(&report.outputs) {
            let learns = output.recipients.contains(report.party);
            assert!(got.as_ref() == learns.then_some(expected), "party {} of {parties}, {config:?}", report.party);
        }
    }
}

#[test]
fn random_programs_of_one_two_and_eight_clients_and_servers_with_inputs_and_outputs() {
    let cases = if std::env::var_os("GARBLET_TEST_FULL").is_some() { 100 } else { 20 };
    for case in 0..cases {
        for parties in [3, 4, 10] {
            let mut rng = StdRng::seed_from_u64(case);
            let program = random::program(&mut rng, 60, parties);
            let inputs = random::inputs(&mut rng, &program);
            bases().iter().for_each(|config| check(&program, parties, &inputs, config));
        }
    }
}

#[test]
fn the_standard_numbers_of_circuits_keep_the_bounds_that_are_asked_for() {
    let program = library::find("lib:add(8)").expect("known");
    let inputs = random::inputs(&mut StdRng::seed_from_u64(3), &program);
    for (statistical, bound, circuits) in [("40", -40.0, "128"), ("80", -80.0, "256")] {
        let config = config(&[("base", "cut-and-choose"), ("statistical", statistical)]);
        assert!(config.parameters().contains(&("circuits".into(), circuits.into())));
        assert_eq!(config.adversary(), Adversary::Malicious);
        let reports = run_many_in_memory(&program, 3, &inputs, &config).expect("all are honest");
        for report in reports {
            // The same for servers and clients, who see all that it follows from.
            let log2 = report.security.cheating_log2.expect("it is stated");
            assert!(log2 <= bound && log2 > bound - 5.0, "{log2}");
            assert_eq!(report.outputs, [Some(evaluate(&program, &inputs)[0].clone())]);
        }
    }
}

#[test]
fn over_yao_no_bound_is_stated_and_the_adversary_is_semi_honest() {
    let config = config(&[("base", "yao")]);
    assert_eq!(config.adversary(), Adversary::SemiHonest);
    let program = library::find("lib:add(8)").expect("known");
    let inputs = random::inputs(&mut StdRng::seed_from_u64(4), &program);
    for report in run_many_in_memory(&program, 3, &inputs, &config).expect("all are honest") {
        assert_eq!((report.security.cheating_log2, report.security.statistical_bits), (None, None));
        assert!(report.security.collusion.is_some());
    }
}

#[test]
fn what_the_bases_do_not_have_is_refused_by_name() {
    let program = Arc::new(library::find("lib:add(8)").expect("known"));
    let plan =
        |config: &Config, saved| Plan::saving(program.clone(), 3, config, saved).map(|_| ()).expect_err("refused");
    let read = vec![ReadInput { port: "a".into(), name: "total".into(), output: None }];
    let saved = [
        SavedValues { keep: Some("total".into()), ..SavedValues::default() },
        SavedValues { read, ..SavedValues::default() },
    ];
    for (config, name) in bases().iter().zip(["cut-and-choose", "yao"]) {
        assert_eq!(config.stock(), None);
        for saved in saved.clone() {
            let error = plan(config, saved).to_string();
            assert!(error.contains(&format!("with base={name} it keeps no values in stores")), "{error}");
        }
        let order = garblet::Order::new(&OrderRequest::default(), 3, config).map(|_| ()).expect_err("no stores");
        assert!(order.to_string().contains(&format!("outsourced with base={name}")), "{order}");
    }
    let cases: [(&[(&str, &str)], &str); 2] = [
        (&[("base", "cut-and-choose"), ("statistical", "64")], "base=cut-and-choose takes statistical=40 or 80"),
        (&[("form", "partialgc"), ("circuits", "17")], "form=partialgc takes circuits=16, 64 or 256"),
    ];
    for (parameters, expected) in cases {
        let error = plan(&config(parameters), SavedValues::default());
        assert!(matches!(&error, Error::Unsupported { reason, .. } if reason == expected), "{error}");
    }
}
