use garblet_circuit::{
    self as circuit, Circuit, Gate, Operand, OutputWire, Party, Port, Schedule, Type, Wire, evaluate_circuit, random,
};
use garblet_primitives::{Delta, Prg};
use rand_core::Rng;

use super::*;
use crate::{GarblingConfig, Instances, Seeds};

/// Gates by their numbers: the zero labels of both inputs, the table, and the zero label of what it gives.
struct Garbled {
    zeros: Vec<Block>,
    tables: Vec<u8>,
    given: Vec<Block>,
}

impl Garbled {
    fn new(rng: &mut Prg, delta: &Delta, seeds: &Seeds, count: usize) -> Self {
        let bit = |name: &str| Port::new(name, Type::Bool);
        let and = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]).expect("a gate");
        let and = circuit::Component::new("and", vec![bit("a"), bit("b")], vec![bit("c")], and).expect("named");
        let zeros: Vec<Block> = (0..2 * count).map(|_| rng.next_block()).collect();
        let (mut tables, mut given) = (vec![0; 32 * count], vec![Block::ZERO; count]);
        let instances = Instances::new(&and, GarblingConfig::default());
        instances.garbler(delta, seeds, 0).garble(0, count, &zeros, &mut tables, &mut given);
        Garbled { zeros, tables, given }
    }

    /// A gate, joined to wires with these zero labels.
    fn gate(&self, number: usize, [left, right, output]: [Block; 3]) -> SingleGate {
        let table = bytemuck::pod_read_unaligned(&self.tables[32 * number..][..32]);
        let mut gate = SingleGate::new(number as u64, table);
        gate.left = left ^ self.zeros[2 * number];
        gate.right = right ^ self.zeros[2 * number + 1];
        gate.output = output ^ self.given[number];
        gate
    }
}

/// A circuit, its buckets, and the zero labels of its inputs and outputs.
struct Joined {
    circuit: Circuit,
    delta: Block,
    seed: Block,
    gates: Vec<SingleGate>,
    ends: Vec<usize>,
    inputs: Vec<Block>,
    outputs: Vec<Block>,
}

impl Joined {
    /// A random circuit with buckets of one to five gates, which are taken from the last number down.
    fn random(seed: u64) -> Self {
        let mut rng = Prg::new(Block::from_halves(seed, 1));
        let circuit = random::circuit(&mut rng, 20, 700, 9);
        let schedule = Schedule::new(&circuit);
        let sizes: Vec<usize> = schedule.ands().iter().map(|_| 1 + rng.next_u32() as usize % 5).collect();
        let count = sizes.iter().sum();
        let add = |end: &mut usize, size: &usize| {
            *end += size;
            Some(*end)
        };
        let ends = sizes.iter().scan(0, add).collect();
        let (delta, seeds) = (Delta::random(&mut rng), Seeds::new(rng.next_block(), rng.next_block()));
        let garbled = Garbled::new(&mut rng, &delta, &seeds, count);
        let inputs = (0..schedule.input_count()).map(|_| rng.next_block()).collect();
        let (gates, outputs) = (Vec::with_capacity(count), Vec::new());
        let mut joined = Joined { circuit, delta: delta.block(), seed: seeds.hash, gates, ends, inputs, outputs };
        joined.join(&schedule, &sizes, &garbled, &mut rng);
        joined
    }

    fn join(&mut self, schedule: &Schedule, sizes: &[usize], garbled: &Garbled, rng: &mut Prg) {
        let delta = self.delta;
        let read = |slots: &[Block], wire: Operand| flip(slots[wire.slot()], wire.inverted(), delta);
        let mut slots = self.inputs.clone();
        slots.resize(schedule.slot_count(), Block::ZERO);
        let mut numbers = (0..garbled.given.len()).rev();
        let (mut xors, mut ands) = (schedule.xors().iter(), schedule.ands().iter().zip(sizes));
        for step in schedule.steps() {
            for op in xors.by_ref().take(step.xors as usize) {
                slots[op.out as usize] = slots[op.a as usize] ^ slots[op.b as usize];
            }
            for (op, &size) in ands.by_ref().take(step.ands as usize) {
                let wires = [read(&slots, op.a), read(&slots, op.b), rng.next_block()];
                self.gates.extend(numbers.by_ref().take(size).map(|number| garbled.gate(number, wires)));
                slots[op.out as usize] = wires[2];
            }
        }
        let output = |output: &OutputWire| match *output {
            OutputWire::Slot(wire) => read(&slots, wire),
            OutputWire::Constant(value) => flip(Block::ZERO, value, delta),
        };
        self.outputs = schedule.outputs().iter().map(output).collect();
    }

    /// Evaluates for random bits and compares with the circuit.
    fn check(&self, backend: Backend, judge: &mut dyn FnMut(usize, &[Block]) -> Block) {
        let mut rng = Prg::new(Block::from_u128(3));
        let bits: Vec<u64> = self.inputs.iter().map(|_| rng.next_u64() & 1).collect();
        let inputs: Vec<Block> =
            self.inputs.iter().zip(&bits).map(|(&zero, &bit)| flip(zero, bit == 1, self.delta)).collect();
        let buckets = GateBuckets { gates: &self.gates, ends: &self.ends };
        let program = program(&self.circuit);
        let schedules = Schedules::new(&program);
        let gates = SingleGates::with_backend(backend, self.seed);
        let mut evaluator = BucketEvaluator::new(gates, &program, &schedules, vec![inputs.into()]);
        // Paused in the middle of steps, and of four gates.
        let mut done = 0;
        while done < self.ends.len() {
            let ands = (rng.next_u32() as usize % 40).min(self.ends.len() - done);
            evaluator.run(ands, (done, buckets), judge);
            done += ands;
        }
        let outputs = evaluator.into_outputs().concat();
        let expected = evaluate_circuit(&self.circuit, &bits);
        assert_eq!(outputs.len(), expected.len());
        for ((&got, &zero), expected) in outputs.iter().zip(&self.outputs).zip(expected) {
            assert!(got == flip(zero, expected & 1 == 1, self.delta), "{backend}");
        }
    }
}

/// A program that is one circuit.
fn program(circuit: &Circuit) -> Program {
    let wires = |name: &str, count| Port::new(name, Type::Bits(count));
    let ports = [wires("in", circuit.input_count()), wires("out", circuit.outputs().len() as u32)];
    let [input, output] = ports.map(|port| vec![port]);
    let component = circuit::Component::new("all", input, output, circuit.clone()).expect("named");
    Program::from_component(component, &[Party(0)]).expect("an owner")
}

fn flip(label: Block, invert: bool, delta: Block) -> Block {
    label ^ (Block::mask(invert) & delta)
}

#[test]
fn circuits_of_buckets_compute_what_the_circuit_does() {
    for seed in 0..8 {
        let joined = Joined::random(seed);
        assert!(joined.ends.len() > 20, "gates of circuit {seed}");
        for backend in Backend::available() {
            joined.check(backend, &mut |bucket, _| panic!("gates of bucket {bucket} differ"));
        }
    }
}

#[test]
fn buckets_whose_gates_differ_are_judged_by_what_each_gives() {
    let mut joined = Joined::random(9);
    let starts = std::iter::once(0).chain(joined.ends.iter().copied());
    let large = joined.ends.iter().copied().zip(starts).filter(|(end, start)| end - start > 2);
    let spoilt: Vec<usize> = large.map(|(end, _)| end - 1).step_by(3).collect();
    spoilt.iter().for_each(|&last| joined.gates[last].output ^= Block::from_u128(1 << 77));
    for backend in Backend::available() {
        let mut judged = Vec::new();
        joined.check(backend, &mut |bucket, given| {
            judged.push(joined.ends[bucket] - 1);
            let (last, others) = given.split_last().expect("gates of a bucket");
            assert!(others.iter().all(|&other| other == *last ^ Block::from_u128(1 << 77)));
            others[0]
        });
        assert_eq!(judged, spoilt, "{backend}");
    }
}

#[test]
fn a_bucket_by_itself_gives_what_each_of_its_gates_does() {
    let mut rng = Prg::new(Block::from_u128(4));
    let (delta, seeds) = (Delta::random(&mut rng), Seeds::new(rng.next_block(), rng.next_block()));
    let garbled = Garbled::new(&mut rng, &delta, &seeds, 3000);
    let wires: [Block; 3] = std::array::from_fn(|_| rng.next_block());
    let gates: Vec<SingleGate> = (0..3000).step_by(333).map(|number| garbled.gate(number, wires)).collect();
    for backend in Backend::available() {
        let evaluator = SingleGates::with_backend(backend, seeds.hash);
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let [left, right, output] = [a, b, a && b].map(|bit| Block::mask(bit) & delta.block());
            let given = evaluator.each(&gates, [wires[0] ^ left, wires[1] ^ right]);
            assert!(given.len() == gates.len() && given.iter().all(|&key| key == wires[2] ^ output), "{backend}");
        }
    }
}

#[test]
#[should_panic(expected = "a bucket for each AND gate")]
fn there_are_as_many_buckets_as_gates() {
    let joined = Joined::random(10);
    let buckets = GateBuckets { gates: &joined.gates, ends: &joined.ends };
    let (gates, program) = (SingleGates::new(joined.seed), program(&joined.circuit));
    let schedules = Schedules::new(&program);
    BucketEvaluator::new(gates, &program, &schedules, vec![joined.inputs.as_slice().into()]).run(
        joined.ends.len(),
        (1, buckets),
        &mut |_, _| Block::ZERO,
    );
}
