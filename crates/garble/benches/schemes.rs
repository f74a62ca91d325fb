//! Garbling and evaluating ten iterated AES-128 blocks, for every scheme with the default hash, to see the effect of a
//! change. `garblet bench garbling` compares with the best that the processor could do.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use garblet_circuit::Program;
use garblet_garble::{Evaluator, Garbler, GarblingConfig, HashKind, Schedules, SchemeKind, Seeds};
use garblet_primitives::{Block, Delta, Prg};
use garblet_synthesis::library;

fn labels(program: &Program, config: GarblingConfig, rng: &mut Prg) -> Vec<Box<[Block]>> {
    let mut of_width = |width| (0..width).map(|_| config.zero_label(rng.next_block())).collect();
    program.inputs().iter().map(|input| of_width(input.port.width())).collect()
}

/// The seeds do not affect the time.
fn seeds() -> Seeds {
    Seeds::random(&mut Prg::new(Block::ONES))
}

fn schemes(criterion: &mut Criterion) {
    let program = library::find("aes128-chain(10)").expect("the library has it");
    let schedules = Schedules::new(&program);
    for &scheme in SchemeKind::ALL {
        let config = GarblingConfig { scheme, hash: HashKind::default() };
        let mut rng = Prg::new(Block::ZERO);
        let delta = Delta::random(&mut rng);
        let inputs = labels(&program, config, &mut rng);
        let mut group = criterion.benchmark_group(scheme.name());
        group.throughput(Throughput::Elements(schedules.and_count()));
        let garble = |tables: &mut Vec<u8>| {
            let mut garbler = Garbler::new(&program, &schedules, config, &delta, seeds(), 0, inputs.clone());
            while garbler.garble_chunk(tables) {}
        };
        group.bench_function("garble", |b| {
            b.iter_with_large_drop(|| {
                let mut tables = Vec::new();
                garble(&mut tables);
                tables
            })
        });
        let mut tables = Vec::new();
        garble(&mut tables);
        group.bench_function("evaluate", |b| {
            b.iter(|| {
                let mut evaluator = Evaluator::new(&program, &schedules, config, seeds().hash, 0, inputs.clone());
                let mut rest = &tables[..];
                while evaluator.next_chunk_bytes() > 0 {
                    let (chunk, after) = rest.split_at(evaluator.next_chunk_bytes());
                    evaluator.evaluate_chunk(chunk).expect("a chunk of the right length");
                    rest = after;
                }
                evaluator.into_outputs()
            })
        });
    }
}

criterion_group!(benches, schemes);
criterion_main!(benches);
