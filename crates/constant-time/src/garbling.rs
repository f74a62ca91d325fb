//! Every scheme with every hash: garbling, and evaluation.

use std::hint::black_box;

use garblet::{
    Bits, Party, Program,
    circuit::{Circuit, Component, Gate, Port, Type, Wire},
    library,
};
use garblet_garble::{Evaluator, Garbler, GarblingConfig, HashKind, Schedules, SchemeKind, Seeds};
use garblet_primitives::{Block, Delta, secrets};

use crate::marks::{self, SecretRng};

pub(crate) fn run() {
    // Both side-by-side instances and single gates.
    let program = library::find("lib:levenshtein(4,4,4)").expect("there is one");
    let configs = SchemeKind::ALL
        .iter()
        .flat_map(|&scheme| HashKind::ALL.iter().map(move |&hash| GarblingConfig { scheme, hash }));
    for config in configs.clone() {
        garble(&program, &Schedules::new(&program), config, &marks::inputs(&program));
    }
    let program = table();
    let plain = Schedules::new(&program);
    for config in configs.filter(|config| config.garbles_tables()) {
        let schedules = plain.with_tables(&program, config).expect("in memory");
        assert!(schedules.is_table(0), "{} {}", config.scheme, config.hash);
        garble(&program, &schedules, config, &marks::inputs(&program));
    }
}

/// A component of eight inputs that is garbled as a table.
fn table() -> Program {
    let mut gates = Vec::new();
    for wires in (8..).step_by(2).take(200) {
        gates.extend([
            Gate::And(Wire(wires - 1), Wire(7 * wires % (wires - 1))),
            Gate::Xor(Wire(wires), Wire(wires % 7)),
        ]);
    }
    let last = 8 + gates.len() as u32;
    let circuit = Circuit::new(8, gates, (last - 8..last).map(Wire).collect()).expect("a circuit");
    let port = |name| vec![Port::new(name, Type::Bits(8))];
    let component = Component::new("table", port("in"), port("out"), circuit).expect("a component");
    Program::from_component(component, &[Party(0)]).expect("a program")
}

fn garble(program: &Program, schedules: &Schedules, config: GarblingConfig, inputs: &[Bits]) {
    let mut rng = SecretRng::new();
    let delta = Delta::random(&mut rng);
    let hash_seed = Block::from_u128(11);
    let mut zero = |width: u32| -> Box<[Block]> {
        rng.blocks(width as usize).into_iter().map(|block| config.zero_label(block)).collect()
    };
    let zeros: Vec<Box<[Block]>> = program.inputs().iter().map(|input| zero(input.port.width())).collect();
    let active = zeros.iter().zip(inputs).map(|(zeros, bits)| {
        let label = |(&zero, bit): (&Block, bool)| zero ^ Block::select(bit, delta.block(), Block::ZERO);
        zeros.iter().zip(bits.iter()).map(label).collect()
    });
    let active = active.collect();
    let seeds = Seeds::new(hash_seed, rng.blocks(1)[0]);
    let mut garbler = Garbler::new(program, schedules, config, &delta, seeds, 0, zeros);
    let mut evaluator = Evaluator::new(program, schedules, config, hash_seed, 0, active);
    loop {
        let mut tables = Vec::new();
        let more = garbler.garble_chunk(&mut tables);
        secrets::leaves(&tables);
        evaluator.evaluate_chunk(&tables).expect("as many bytes");
        if !more {
            break;
        }
    }
    black_box((garbler.into_outputs(), evaluator.into_outputs()));
}
