//! Gates with shared masks, for AES-128 blocks one after another and for four chains side by side: the walk of masks, garbling
//! and evaluating, with and without tags, and half gates for comparison.

use criterion::{Bencher, Criterion, Throughput, criterion_group, criterion_main};
use garblet_circuit::Program;
use garblet_garble::{
    CHUNK_ANDS, Evaluator, Garbler, GarblingConfig, Schedules, Seeds,
    masked::{CheckMut, GateMasks, MaskWalk, MaskedEvaluator, MaskedGarbler, TagsMut},
};
use garblet_primitives::{Block, Delta, Prg};
use garblet_synthesis::library;

/// A program, and both parties' data, whose values do not affect the time.
struct Work {
    program: Program,
    schedules: Schedules,
    inputs: Vec<Box<[Block]>>,
    shares: [Vec<Block>; 3],
    /// The terms of the checks, for each operand.
    checks: [Vec<Block>; 2],
}

impl Work {
    fn new(name: &str) -> Self {
        let program = library::find(name).expect("the library has it");
        let schedules = Schedules::new(&program);
        let mut rng = Prg::new(Block::ZERO);
        let mut of_width = |width| (0..width).map(|_| rng.next_block().with_lsb(false)).collect();
        let inputs = program.inputs().iter().map(|input| of_width(input.port.width())).collect();
        let mut of_gates = || (0..CHUNK_ANDS).map(|_| rng.next_block()).collect();
        let (shares, checks) = ([(); 3].map(|()| of_gates()), [(); 2].map(|()| of_gates()));
        Work { program, schedules, inputs, shares, checks }
    }

    fn masks(&self, ands: usize) -> GateMasks<'_> {
        let [left, right, result] = self.shares.each_ref().map(|shares| &shares[..ands]);
        GateMasks { left, right, result }
    }

    fn garble_half_gates(&self, b: &mut Bencher<'_>) {
        let config = GarblingConfig::default();
        let (delta, mut tables) = (Delta::new(Block::ONES), vec![0; 32 * CHUNK_ANDS]);
        b.iter(|| {
            let (seeds, inputs) = (Seeds::new(Block::ZERO, Block::ZERO), self.inputs.clone());
            let mut garbler = Garbler::new(&self.program, &self.schedules, config, &delta, seeds, 0, inputs);
            while garbler.garble_chunk_into(&mut tables[..garbler.next_chunk_bytes()]) {}
            garbler.into_outputs()
        });
    }

    fn evaluate_half_gates(&self, b: &mut Bencher<'_>) {
        let (config, tables) = (GarblingConfig::default(), vec![77; 32 * CHUNK_ANDS]);
        b.iter(|| {
            let inputs = self.inputs.clone();
            let mut evaluator = Evaluator::new(&self.program, &self.schedules, config, Block::ZERO, 0, inputs);
            while evaluator.next_chunk_bytes() > 0 {
                evaluator.evaluate_chunk(&tables[..evaluator.next_chunk_bytes()]).expect("a chunk of the right length");
            }
            evaluator.into_outputs()
        });
    }

    fn walk(&self, b: &mut Bencher<'_>) {
        let [mut left, mut right] = [(); 2].map(|()| vec![Block::ZERO; CHUNK_ANDS]);
        b.iter(|| {
            let mut walk = MaskWalk::new(&self.program, &self.schedules, self.inputs.clone(), Block::ZERO);
            while let Some(ands) = chunk(walk.remaining()) {
                walk.advance(&self.shares[2][..ands], [&mut left[..ands], &mut right[..ands]]);
            }
            walk.into_outputs()
        });
    }

    fn garble(&self, b: &mut Bencher<'_>, with_tags: bool) {
        let delta = Delta::new(Block::ONES);
        let (mut tables, mut selects) = (vec![0; 32 * CHUNK_ANDS], vec![0; CHUNK_ANDS]);
        let mut tags = [(); 3].map(|()| vec![Block::ZERO; CHUNK_ANDS]);
        b.iter(|| {
            let inputs = self.inputs.clone();
            let mut garbler =
                MaskedGarbler::new(&self.program, &self.schedules, &delta, Block::ZERO, with_tags, inputs);
            while let Some(ands) = chunk(garbler.remaining()) {
                let [left, right, sum] = tags.each_mut().map(|tags| &mut tags[..ands]);
                let tags = with_tags.then_some(TagsMut { left, right, sum });
                garbler.garble(self.masks(ands), &mut tables[..32 * ands], &mut selects[..ands], None, tags);
            }
            garbler.into_outputs()
        });
    }

    fn evaluate(&self, b: &mut Bencher<'_>, with_tags: bool) {
        let (tables, selects) = (vec![77; 32 * CHUNK_ANDS], vec![1; CHUNK_ANDS]);
        let mut values = vec![Block::ZERO; CHUNK_ANDS];
        b.iter(|| {
            let inputs = self.inputs.clone();
            let mut evaluator =
                MaskedEvaluator::new(&self.program, &self.schedules, Block::ZERO, Block::ZERO, with_tags, inputs);
            while let Some(ands) = chunk(evaluator.remaining()) {
                let [left, right] = self.checks.each_ref().map(|blocks| &blocks[..ands]);
                let check = CheckMut { left, right, values: &mut values[..ands] };
                evaluator.evaluate(self.masks(ands), &tables[..32 * ands], &selects[..ands], None, check);
            }
            evaluator.into_outputs()
        });
    }
}

/// The gates of the next chunk, if there are any.
fn chunk(remaining: u64) -> Option<usize> {
    (remaining > 0).then(|| remaining.min(CHUNK_ANDS as u64) as usize)
}

fn masked(criterion: &mut Criterion) {
    for (name, circuit) in [("masked", "aes128-chain(10)"), ("masked-side-by-side", "aes128-chains(3, 4)")] {
        let work = Work::new(circuit);
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(work.schedules.and_count()));
        group.bench_function("half-gates-garble", |b| work.garble_half_gates(b));
        group.bench_function("half-gates-evaluate", |b| work.evaluate_half_gates(b));
        group.bench_function("walk", |b| work.walk(b));
        group.bench_function("garble", |b| work.garble(b, false));
        group.bench_function("garble-with-tags", |b| work.garble(b, true));
        group.bench_function("evaluate", |b| work.evaluate(b, false));
        group.bench_function("evaluate-with-tags", |b| work.evaluate(b, true));
    }
}

criterion_group!(benches, masked);
criterion_main!(benches);
