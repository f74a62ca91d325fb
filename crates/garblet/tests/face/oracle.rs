//! The plain evaluator, against which every protocol is held.

use std::borrow::Borrow;

use garblet::{Bits, Config, Party, Phase, Plan, Program, Report, circuit::evaluate, run_in_memory};

/// Tells whether the slow form of the tests is asked for.
pub(crate) fn full() -> bool {
    std::env::var_os("GARBLET_TEST_FULL").is_some()
}

/// Runs both parties and holds what each learns against what the plain evaluator gives.
pub(crate) fn run_as_eval(program: &Program, inputs: &[Bits], config: impl Borrow<Config>) -> Vec<Report> {
    let expected = evaluate(program, inputs);
    let config = config.borrow();
    let reports = run_in_memory(program, inputs, config).expect("both parties are honest");
    for (party, report) in reports.iter().enumerate() {
        for (k, (output, expected)) in program.outputs().iter().zip(&expected).enumerate() {
            let learns = output.recipients.contains(Party(party as u16));
            assert!(
                report.outputs[k].as_ref() == learns.then_some(expected),
                "output {k} of party {party}, {config:?}"
            );
        }
    }
    reports
}

/// Holds a run against the plain evaluator, and the cost of each phase against the prediction.
pub(crate) fn assert_as_stated(program: &Program, inputs: &[Bits], config: Config) {
    let predicted = Plan::new(program.clone(), 2, &config)
        .and_then(|plan| plan.predict())
        .expect("the protocol can run the program");
    for report in run_as_eval(program, inputs, &config) {
        for phase in Phase::ALL {
            let measured = report.phases.of(phase).communication;
            let stated = predicted.cost(report.party, phase);
            assert_eq!(Some(measured), stated, "{} in {phase:?}, {config:?}", report.role);
        }
    }
}
