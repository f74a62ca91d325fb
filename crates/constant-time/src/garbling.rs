//! Every scheme with every hash: garbling, and evaluation.

use std::hint::black_box;

use garblet::{Bits, Program, library};
use garblet_garble::{Evaluator, Garbler, GarblingConfig, HashKind, Schedules, SchemeKind, Seeds};
use garblet_primitives::{Block, Delta, secrets};

use crate::marks::{self, SecretRng};

pub(crate) fn run() {
    // Both side-by-side instances and single gates.
    let program = library::find("lib:levenshtein(4,4,4)").expect("there is one");
    for &scheme in SchemeKind::ALL {
        for &hash in HashKind::ALL {
            garble(&program, GarblingConfig { scheme, hash }, &marks::inputs(&program));
        }
    }
}

fn garble(program: &Program, config: GarblingConfig, inputs: &[Bits]) {
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
    let schedules = Schedules::new(program);
    let seeds = Seeds::new(hash_seed, rng.blocks(1)[0]);
    let mut garbler = Garbler::new(program, &schedules, config, &delta, seeds, 0, zeros);
    let mut evaluator = Evaluator::new(program, &schedules, config, hash_seed, 0, active);
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
