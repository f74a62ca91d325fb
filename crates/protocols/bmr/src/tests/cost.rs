//! Measured bytes and rounds agree with the formulas.

use garblet_circuit::random;
use garblet_synthesis::library;
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use garblet_protocol::Phase;
use garblet_runs::testing::mesh_run::hellos;

/// Runs a program and compares every phase of every party with the formula.
fn assert_costs(program: &Program, inputs: &[Bits], parties: u16, config: Config) -> Vec<Learned> {
    let plan = plan(program, parties, config).expect("a program for these parties");
    let learned = evaluate(&plan, garble(&plan, 1), inputs);
    mesh_run::assert_costs::<BmrParty>(&plan, learned.iter().map(|(_, costs)| costs));
    learned
}

#[test]
fn formulas_agree_with_measured_costs() {
    let mut rng = StdRng::seed_from_u64(21);
    for parties in 2..=5 {
        for kind in KINDS {
            if !kind.0.parties().contains(&parties) {
                continue;
            }
            let program = loop {
                let program = random::program(&mut rng, 600, parties);
                if plan(&program, parties, Config::default()).is_ok_and(|plan| plan.and_count() >= parties.into()) {
                    break program;
                }
            };
            let inputs = random::inputs(&mut rng, &program);
            assert_costs(&program, &inputs, parties, config(kind, Hash::Rekeyed));
        }
    }
}

#[test]
fn every_width_of_the_extension() {
    let program = library::find("lib:millionaires(32)").unwrap();
    let inputs = [Bits::from_u128(5, 32), Bits::from_u128(3, 32)];
    for ot_width in garblet_ot::Width::ALL {
        for form in [Form::Linear, PUBLISHED, Form::HalfGates] {
            assert_costs(&program, &inputs, 3, Config { form, ot_width: Some(ot_width), ..Config::default() });
        }
    }
}

/// Bytes that a party sends per gate before inputs are known, without base OTs.
fn bytes_per_gate(program: &Program, parties: u16, config: Config) -> f64 {
    let plan = plan(program, parties, config).expect("a program for these parties");
    let sent = |phase| communication(&plan, Party(0), phase, &hellos(parties)).bytes_sent;
    (sent(Phase::Prepare) + sent(Phase::Build)) as f64 / plan.and_count() as f64
}

#[test]
fn a_gate_costs_less_than_its_bound_and_a_multiple_of_it_as_published() {
    let program = library::find("lib:aes128").unwrap();
    for (parties, most) in [(3, 320.0), (5, 641.0), (7, 962.0), (13, 1923.0)] {
        let linear = bytes_per_gate(&program, parties, Config { form: Form::Linear, ..Config::default() });
        assert!(linear <= most, "{parties} parties: {linear} bytes per gate");
        let published = bytes_per_gate(&program, parties, Config { form: PUBLISHED, ..Config::default() });
        let others = f64::from(parties) - 1.0;
        // Three payloads and the broadcast; the extension is ours.
        assert!(published > others * (48.0 + 64.0 * f64::from(parties)), "{parties} parties: {published}");
    }
}

#[test]
fn half_gates_cost_what_the_book_says() {
    let program = library::find("lib:aes128").unwrap();
    for parties in [2u16, 3, 5, 7, 13] {
        let others = f64::from(parties) - 1.0;
        let config = |form| Config { form, ..Config::default() };
        let plan = plan(&program, parties, config(Form::HalfGates)).unwrap();
        let sent = |party| {
            let cost = |phase| communication(&plan, Party(party), phase, &hellos(parties)).bytes_sent;
            (cost(Phase::Prepare) + cost(Phase::Build)) as f64 / plan.and_count() as f64
        };
        let garbler = match parties {
            // Two blocks and a bit.
            2 => 32.0 + 0.125 + 0.25,
            _ => 48.0 * others + 8.125 * (others - 1.0) + 0.25,
        };
        assert_eq!(plan.evaluator(), Party(0));
        assert!((sent(1) / garbler - 1.0).abs() < 0.01, "{parties} parties: {} bytes per gate", sent(1));
        assert!((sent(0) / (8.0 * others) - 1.0).abs() < 0.02, "{parties} parties: {} bytes per gate", sent(0));
        let linear = bytes_per_gate(&program, parties, config(Form::Linear));
        let most = if parties <= 3 { 0.37 } else { 0.39 };
        assert!(sent(1) <= most * linear, "{parties} parties: {} of {linear}", sent(1));
    }
}

#[test]
fn rounds_do_not_depend_on_the_circuit() {
    let mut rng = StdRng::seed_from_u64(22);
    let shallow = library::find("lib:layered(1, 64)").unwrap();
    let deep = library::find("lib:aes128").unwrap();
    for program in [shallow, deep] {
        let inputs = random::inputs(&mut rng, &program);
        for (form, most) in [(Form::HalfGates, 3), (Form::Linear, 5)] {
            let costs = assert_costs(&program, &inputs, 3, Config { form, ..Config::default() });
            let rounds = |phase| costs.iter().map(move |(_, costs)| costs.of(phase).communication.rounds);
            let before = rounds(Phase::Prepare).zip(rounds(Phase::Build)).map(|(prepare, build)| prepare + build);
            assert_eq!((before.max(), rounds(Phase::Online).max()), (Some(most), Some(2)), "{form:?}");
        }
    }
}
