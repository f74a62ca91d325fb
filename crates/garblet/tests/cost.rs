//! Measured bytes and rounds are exactly what the formulas say.

use garblet::{
    Bits, Build, Communication, Config, Party, Phase, SchemeKind, Width, circuit::random, library, predict,
    run_in_memory,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

fn assert_cost(program: &garblet::Program, inputs: &[Bits], config: Config) {
    let predicted = predict(program, config).unwrap();
    let reports = run_in_memory(program, inputs, config).unwrap();
    for (report, predicted) in reports.iter().zip(predicted) {
        for phase in Phase::ALL {
            let measured = report.phases.of(phase).communication;
            assert_eq!(measured, predicted[phase as usize], "{} in {phase:?}, {config:?}", report.role);
        }
    }
}

#[test]
fn formulas_hold_for_random_programs() {
    let mut rng = StdRng::seed_from_u64(7);
    for scheme in [SchemeKind::HalfGates, SchemeKind::ThreeHalves, SchemeKind::Grr3, SchemeKind::FourRow] {
        for build in [Build::Stream, Build::Ahead] {
            for ot_width in Width::ALL {
                let most_gates = rng.random_range(1..20_000);
                let program = random::program(&mut rng, most_gates, 2);
                let inputs = random::inputs(&mut rng, &program);
                let mut config = Config::default();
                config.yao.garbling.scheme = scheme;
                config.yao.build = build;
                config.yao.ot_width = ot_width;
                assert_cost(&program, &inputs, config);
            }
        }
    }
}

#[test]
fn formulas_hold_where_a_party_has_no_input_or_no_output() {
    let mut rng = StdRng::seed_from_u64(8);
    for parties in [1, 2] {
        for case in 0..60 {
            let program = random::program(&mut rng, 50, parties);
            let inputs = random::inputs(&mut rng, &program);
            let mut config = Config::default();
            config.yao.build = if case % 2 == 0 { Build::Stream } else { Build::Ahead };
            assert_cost(&program, &inputs, config);
        }
    }
}

/// Half gates take 32 bytes per AND, and a prepared AES-128 block at most 4.4 KB in one round trip.
#[test]
fn aes_costs_what_the_literature_says() {
    let mut program = library::find("lib:aes128").unwrap();
    program.set_recipients(0, garblet::circuit::Recipients::Only(vec![Party(1)]));
    let mut config = Config::default();
    config.yao.build = Build::Ahead;
    let inputs = [Bits::zeros(128), Bits::zeros(128)];
    assert_cost(&program, &inputs, config);
    let reports = run_in_memory(&program, &inputs, config).unwrap();
    let build = reports[0].phases.build.communication;
    assert_eq!(build.bytes_sent, 16 + 32 * 6_400);
    let Communication { bytes_sent, bytes_received, rounds } = reports[1].phases.online.communication;
    assert_eq!((bytes_sent, bytes_received, rounds), (16, 16 * 256 + 16, 1));
    assert!(bytes_sent + bytes_received <= 4_400);
}
