use std::sync::Mutex;

use garblet_circuit::{Circuit, Operand, OutputWire, Party, Port, Schedule, Type, evaluate, random};
use garblet_primitives::{Backend, Delta, Prg};
use rand_core::Rng;

use super::*;
use crate::{Seeds, SolderedGate, singles::tests::Garbled};

/// A program, its buckets, and the zero labels of its inputs and outputs.
struct Joined {
    program: Program,
    delta: Block,
    seed: Block,
    gates: Vec<SolderedGate>,
    ends: Vec<usize>,
    inputs: Vec<Box<[Block]>>,
    outputs: Vec<Box<[Block]>>,
}

impl Joined {
    /// Buckets of one to five gates, which are taken from the last number down.
    fn new(program: Program, seed: u64) -> Self {
        let mut rng = Prg::new(Block::from_halves(seed, 1));
        let schedules: Vec<Schedule> = program.components().iter().map(|c| Schedule::new(c.circuit())).collect();
        let sizes: Vec<usize> =
            (0..Schedules::new(&program).and_count()).map(|_| 1 + rng.next_u32() as usize % 5).collect();
        let count = sizes.iter().sum();
        let add = |end: &mut usize, size: &usize| {
            *end += size;
            Some(*end)
        };
        let ends = sizes.iter().scan(0, add).collect();
        let (delta, seeds) = (Delta::random(&mut rng), Seeds::new(rng.next_block(), rng.next_block()));
        let garbled = Garbled::new(&mut rng, &delta, &seeds, count);
        let mut port = |width: u32| (0..width).map(|_| rng.next_block()).collect::<Box<[Block]>>();
        let inputs: Vec<Box<[Block]>> = program.inputs().iter().map(|input| port(input.port.width())).collect();
        let mut walk = Walk::new(&program, inputs.clone(), [Block::ZERO, delta.block()]);
        let mut buckets =
            Buckets { delta: delta.block(), sizes: &sizes, left: count, garbled: &garbled, gates: Vec::new() };
        let mut slots = Vec::new();
        while let Some(instance) = walk.next_instance(&mut slots) {
            let outputs = buckets.join(&schedules[program.component_id(instance).0 as usize], &mut slots, &mut rng);
            walk.finish(instance, &outputs);
            slots.clear();
        }
        let (outputs, gates) = (walk.into_outputs(), buckets.gates);
        Joined { program, delta: delta.block(), seed: seeds.hash, gates, ends, inputs, outputs }
    }

    /// A joined program of one circuit.
    fn circuit(seed: u64) -> Self {
        let circuit = random::circuit(&mut Prg::new(Block::from_halves(seed, 2)), 20, 700, 9);
        Joined::new(program(&circuit), seed)
    }

    /// Evaluates for random bits and compares with the program.
    fn check(&self, backend: Backend, threads: usize, resolve: ResolveConflict<'_>) {
        let mut rng = Prg::new(Block::from_halves(3, 4));
        let values = random::inputs(&mut rng, &self.program);
        let active = |zeros: &[Block], bits: &garblet_circuit::Bits| -> Box<[Block]> {
            zeros.iter().zip(bits.iter()).map(|(&zero, bit)| negated(zero, bit, self.delta)).collect()
        };
        let inputs = self.inputs.iter().zip(&values).map(|(zeros, bits)| active(zeros, bits)).collect();
        let buckets = GateBuckets { gates: &self.gates, ends: &self.ends };
        let schedules = Schedules::new(&self.program);
        let gates = SolderedGates::with_backend(backend, self.seed);
        let mut evaluator = BucketEvaluator::new(gates, &self.program, &schedules, inputs).on(threads);
        // Paused between instances, in the middle of steps, and of four gates.
        let mut done = 0;
        loop {
            let ands = (rng.next_u32() as usize % 80).min(self.ends.len() - done);
            evaluator.run(ands, (done, buckets), resolve);
            done += ands;
            if done == self.ends.len() {
                break;
            }
        }
        let expected = evaluate(&self.program, &values);
        let outputs = evaluator.into_outputs();
        assert_eq!(outputs.len(), expected.len());
        for ((got, zeros), expected) in outputs.iter().zip(&self.outputs).zip(&expected) {
            assert!(*got == active(zeros, expected), "{backend}, {threads} threads");
        }
    }
}

/// Joins buckets of these sizes to one instance after another.
struct Buckets<'a> {
    delta: Block,
    sizes: &'a [usize],
    /// The sizes of the remaining buckets.
    left: usize,
    garbled: &'a Garbled,
    gates: Vec<SolderedGate>,
}

impl Buckets<'_> {
    /// The zero labels of an instance's outputs, from those of its inputs.
    fn join(&mut self, schedule: &Schedule, slots: &mut Vec<Block>, rng: &mut Prg) -> Vec<Block> {
        let delta = self.delta;
        let read = |slots: &[Block], wire: Operand| negated(slots[wire.slot()], wire.inverted(), delta);
        slots.resize(schedule.slot_count(), Block::ZERO);
        let (mut xors, mut ands) = (schedule.xors().iter(), schedule.ands().iter());
        for step in schedule.steps() {
            for op in xors.by_ref().take(step.xors as usize) {
                slots[op.out as usize] = slots[op.a as usize] ^ slots[op.b as usize];
            }
            for op in ands.by_ref().take(step.ands as usize) {
                let wires = [read(slots, op.a), read(slots, op.b), rng.next_block()];
                let (size, others) = self.sizes.split_first().expect("a size for each AND gate");
                self.sizes = others;
                self.gates.extend((self.left - size..self.left).rev().map(|number| self.garbled.gate(number, wires)));
                self.left -= size;
                slots[op.out as usize] = wires[2];
            }
        }
        let output = |output: &OutputWire| match *output {
            OutputWire::Slot(wire) => read(slots, wire),
            OutputWire::Constant(value) => negated(Block::ZERO, value, delta),
        };
        schedule.outputs().iter().map(output).collect()
    }
}

/// A program that is one circuit.
fn program(circuit: &Circuit) -> Program {
    let wires = |name: &str, count| Port::new(name, Type::Bits(count));
    let ports = [wires("in", circuit.input_count()), wires("out", circuit.outputs().len() as u32)];
    let [input, output] = ports.map(|port| vec![port]);
    let component = garblet_circuit::Component::new("all", input, output, circuit.clone()).expect("named");
    Program::from_component(component, &[Party(0)]).expect("an owner")
}

fn negated(label: Block, invert: bool, delta: Block) -> Block {
    label ^ (Block::mask(invert) & delta)
}

/// No bucket's gates differ.
fn unasked(bucket: usize, _: &[Block]) -> Block {
    panic!("gates of bucket {bucket} differ")
}

#[test]
fn circuits_of_buckets_compute_the_circuit() {
    for seed in 0..8 {
        let joined = Joined::circuit(seed);
        assert!(joined.ends.len() > 20, "gates of circuit {seed}");
        for backend in Backend::available() {
            joined.check(backend, 1, &unasked);
        }
    }
}

#[test]
fn instances_on_any_number_of_threads_compute_the_program() {
    let mut instances = 0;
    for seed in 0..40 {
        let program = random::program(&mut Prg::new(Block::from_halves(seed, 4)), 60, 2);
        instances += program.instance_count();
        let joined = Joined::new(program, seed);
        for threads in 1..4 {
            joined.check(Backend::detect(), threads, &unasked);
        }
    }
    assert!(instances > 100, "{instances} instances");
}

#[test]
fn copies_of_a_circuit_all_compute_it() {
    let component = random::component(&mut Prg::new(Block::from_halves(5, 4)), "one", 200);
    let mut program = Program::new("copies");
    let id = program.add_component(component);
    for copy in 0..30 {
        let inputs = program.components()[0].inputs().to_vec();
        let links: Vec<_> = inputs
            .into_iter()
            .map(|port| {
                let port = Port { name: format!("{}{copy}", port.name), ..port };
                let input = program.add_input(port, Party(0)).expect("named");
                program.input_link(input)
            })
            .collect();
        let instance = program.add_instance(id, &links).expect("links fit");
        let link = program.instance_link(instance);
        let port = Port::new(format!("out{copy}"), Type::Bits(link.len));
        program.add_output(port, garblet_circuit::Recipients::All, vec![link]).expect("named");
    }
    let joined = Joined::new(program, 5);
    assert!(joined.ends.len() > 300, "{} AND gates", joined.ends.len());
    for threads in 1..5 {
        joined.check(Backend::detect(), threads, &unasked);
    }
}

#[test]
fn buckets_whose_gates_differ_are_resolved_from_their_results() {
    let mut joined = Joined::circuit(9);
    let starts = std::iter::once(0).chain(joined.ends.iter().copied());
    let large = joined.ends.iter().copied().zip(starts).filter(|(end, start)| end - start > 2);
    let spoilt: Vec<usize> = large.map(|(end, _)| end - 1).step_by(3).collect();
    spoilt.iter().for_each(|&last| joined.gates[last].output ^= Block::from_u128(1 << 77));
    for backend in Backend::available() {
        let judged = Mutex::new(Vec::new());
        joined.check(backend, 1, &|bucket, given| {
            judged.lock().expect("no panic").push(joined.ends[bucket] - 1);
            let (last, others) = given.split_last().expect("gates of a bucket");
            assert!(others.iter().all(|&other| other == *last ^ Block::from_u128(1 << 77)));
            others[0]
        });
        assert_eq!(judged.into_inner().expect("no panic"), spoilt, "{backend}");
    }
}

#[test]
#[should_panic(expected = "a bucket for each AND gate")]
fn there_are_as_many_buckets_as_gates() {
    let joined = Joined::circuit(10);
    let buckets = GateBuckets { gates: &joined.gates, ends: &joined.ends };
    let schedules = Schedules::new(&joined.program);
    BucketEvaluator::new(SolderedGates::new(joined.seed), &joined.program, &schedules, joined.inputs.clone()).run(
        joined.ends.len(),
        (1, buckets),
        &unasked,
    );
}
