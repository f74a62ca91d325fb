//! A run of two parties gives what the plain evaluator gives, whatever the program and the parameters.

use garblet::{
    Bits, Build, Config, Error, HashKind, Party, Program, SchemeKind, Width,
    circuit::{Circuit, Component, Gate, Port, Recipients, Type, Wire, evaluate, random},
    run_in_memory,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};

fn config(scheme: SchemeKind, hash: HashKind, build: Build, ot_width: Width) -> Config {
    let mut config = Config::default();
    config.get_mut::<garblet::yao::Yao>().unwrap().garbling.scheme = scheme;
    config.get_mut::<garblet::yao::Yao>().unwrap().garbling.hash = hash;
    config.get_mut::<garblet::yao::Yao>().unwrap().build = build;
    config.get_mut::<garblet::yao::Yao>().unwrap().ot_width = ot_width;
    config
}

/// Schemes under which the evaluator does not see every value.
fn hiding_schemes() -> impl Strategy<Value = SchemeKind> {
    let hiding = SchemeKind::ALL.iter().copied().filter(|scheme| !scheme.is_privacy_free());
    proptest::sample::select(hiding.collect::<Vec<_>>())
}

/// Makes all inputs the evaluator's own, as they have to be where it sees every value.
fn give_inputs_to_evaluator(program: &mut Program) {
    for k in 0..program.inputs().len() {
        program.set_owner(garblet::circuit::InputId(k as u32), Party(1));
    }
}

fn assert_equals_eval(program: &Program, inputs: &[Bits], config: Config) {
    let expected = evaluate(program, inputs);
    let reports = run_in_memory(program, inputs, &config).expect("both parties are honest");
    for (party, report) in reports.iter().enumerate() {
        for (k, (output, expected)) in program.outputs().iter().zip(&expected).enumerate() {
            let learns = output.recipients.contains(Party(party as u16));
            let got = report.outputs[k].as_ref();
            assert!(got == learns.then_some(expected), "output {k} of party {party} under {config:?}");
        }
    }
}

#[test]
fn every_scheme_and_hash_on_random_programs() {
    let mut rng = StdRng::seed_from_u64(1);
    for &scheme in SchemeKind::ALL {
        for &hash in HashKind::ALL {
            for build in [Build::Stream, Build::Ahead] {
                let most_gates = rng.random_range(1..=5_000);
                let mut program = random::program(&mut rng, most_gates, 2);
                if scheme == SchemeKind::PrivacyFree {
                    give_inputs_to_evaluator(&mut program);
                }
                let inputs = random::inputs(&mut rng, &program);
                assert_equals_eval(&program, &inputs, config(scheme, hash, build, Width::Four));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_programs(seed: u64, scheme in hiding_schemes(), ahead: bool, width in 0..3usize) {
        let mut rng = StdRng::seed_from_u64(seed);
        let program = random::program(&mut rng, 800, 2);
        let inputs = random::inputs(&mut rng, &program);
        let build = if ahead { Build::Ahead } else { Build::Stream };
        assert_equals_eval(&program, &inputs, config(scheme, HashKind::Rekeyed, build, Width::ALL[width]));
    }
}

/// A program whose one output is, for each bit of `kinds`, an input or a constant.
fn wiring_only(owner: Party) -> Program {
    let circuit = Circuit::new(2, vec![Gate::Constant(true)], vec![Wire(1), Wire(2), Wire(0), Wire(1)]).unwrap();
    let ports = vec![Port::new("x", Type::Bits(2))];
    let component = Component::new("wiring", ports, vec![Port::new("y", Type::Bits(4))], circuit).unwrap();
    Program::from_component(component, &[owner]).unwrap()
}

#[test]
fn a_program_without_gates_or_without_inputs_of_a_party() {
    for owner in [Party(0), Party(1)] {
        for build in [Build::Stream, Build::Ahead] {
            let inputs = [Bits::from_u128(2, 2)];
            assert_equals_eval(
                &wiring_only(owner),
                &inputs,
                config(SchemeKind::default(), HashKind::default(), build, Width::Two),
            );
        }
    }
}

#[test]
fn outputs_reach_their_recipients_only() {
    for recipient in [Party(0), Party(1)] {
        let mut program = wiring_only(Party(0));
        program.set_recipients(0, Recipients::Only(vec![recipient]));
        assert_equals_eval(&program, &[Bits::from_u128(1, 2)], Config::default());
    }
}

#[test]
fn privacy_free_garbling_is_refused_where_the_garbler_has_an_input() {
    let program = wiring_only(Party(0));
    let config = config(SchemeKind::PrivacyFree, HashKind::Rekeyed, Build::Stream, Width::Eight);
    let error = run_in_memory(&program, &[Bits::from_u128(1, 2)], config).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("the garbler's input `x`"), "{error}");
}

#[test]
fn a_third_party_is_refused() {
    let error = run_in_memory(&wiring_only(Party(2)), &[Bits::from_u128(1, 2)], Config::default()).unwrap_err();
    assert!(error.to_string().contains("input `x` belongs to party 2"), "{error}");
    let mut program = wiring_only(Party(0));
    program.set_recipients(0, Recipients::Only(vec![Party(7)]));
    let error = run_in_memory(&program, &[Bits::from_u128(1, 2)], Config::default()).unwrap_err();
    assert!(error.to_string().contains("output `y` is for party 7"), "{error}");
}

#[test]
fn an_input_of_another_width_is_refused() {
    let error = run_in_memory(&wiring_only(Party(0)), &[Bits::from_u128(1, 3)], Config::default()).unwrap_err();
    assert!(error.to_string().contains("input `x`: expected 2 bits, got 3 bits"), "{error}");
}
