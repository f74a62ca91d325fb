//! The gates of a program by AND depth, instance by instance.
//!
//! The order is that of [`Schedule::by_depth`](crate::Schedule::by_depth) of the program as one circuit, gate for gate, and so is its digest. But the gates are
//! held once for each *class* of instances: those of one component whose inputs are alike (constants, equal or opposite wires, relative depths) and
//! of which the same outputs are needed. An instance of a class is its place among the layers.

mod class;
mod folds;
mod sources;
mod walk;

use std::collections::HashMap;

pub use walk::{Carried, GatePlace, LayerWalk};

use crate::{
    CircuitError, Program, ScheduleDigest,
    digest::OrderEncoder,
    literal::Literal,
    program::{InstanceId, Source},
};
use class::{Class, Numbers};
use folds::{Folded, Folds};
use sources::{Sources, for_each_linked};

/// Marks an instance of which no output is needed.
const UNUSED: u32 = u32::MAX;

/// A program's gates by AND depth.
#[derive(Debug)]
pub struct Layers {
    classes: Vec<Class>,
    /// From which depth of a class on a shift to the program's depths applies, and the shift, in ascending order.
    shifts: Vec<Box<[(u64, u64)]>>,
    places: Vec<Place>,
    sources: Sources,
    /// The wires of the program's outputs: constants, or negated or not.
    outputs: Vec<Literal<u64>>,
    input_bits: usize,
    /// The slots that a walk needs at most.
    slot_count: usize,
    counts: Vec<usize>,
    and_count: usize,
    digest: ScheduleDigest,
}

/// An instance's class, the number of its shifts, and the wires that other instances and the program's outputs read of it.
#[derive(Clone, Copy, Debug)]
struct Place {
    class: u32,
    shifts: u32,
    readers: u32,
}

impl Layers {
    /// Orders a program's gates.
    ///
    /// *Cost*: memory for the gates and wires of all classes and some bytes for each instance and link; time as for an evaluation. Where no two instances are
    /// alike, that is as much as for [`Schedule::by_depth`](crate::Schedule::by_depth).
    ///
    /// *Errors*: more wires than a circuit may have.
    ///
    /// # Panics
    /// If gates of a circuit are not in memory.
    pub fn new(program: &Program) -> Result<Self, CircuitError> {
        let input_bits = program.check_flat_wires()? as usize;
        let mut folds = Folds::of(program);
        let mut layers = Layers {
            classes: Vec::new(),
            shifts: std::mem::take(&mut folds.shifts),
            places: Vec::with_capacity(folds.instances.len()),
            sources: Sources::default(),
            outputs: folds.outputs.iter().map(|wire| wire.literal).collect(),
            input_bits,
            slot_count: 0,
            counts: Vec::new(),
            and_count: 0,
            digest: ScheduleDigest::default(),
        };
        let numbers = layers.place(program, &folds);
        let firsts = std::mem::take(&mut folds.firsts);
        drop(folds);
        layers.count(&numbers, &firsts);
        Ok(layers)
    }

    /// The bits of all outputs.
    pub fn output_bits(&self) -> usize {
        self.outputs.len()
    }

    /// AND gates of each layer.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// All AND gates.
    pub fn and_count(&self) -> usize {
        self.and_count
    }

    /// The digest of the order.
    pub fn digest(&self) -> ScheduleDigest {
        self.digest
    }

    /// The depth in the program of a depth in a class.
    fn far(&self, shifts: u32, depth: u32) -> u64 {
        crate::depth::shifted(&self.shifts[shifts as usize], depth.into())
    }

    /// Chooses the class of every instance, from the last to the first: what is needed of an instance follows from those after it. Then finds where what
    /// they read comes from. Returns the numbers of the gates of each class.
    fn place(&mut self, program: &Program, folds: &Folds) -> Vec<Numbers> {
        let mut needed = Needed::new(program);
        for link in program.outputs().iter().flat_map(|output| &output.links) {
            if let Source::Instance(id) = link.source {
                needed.mark(id, link.start..link.start + link.len);
            }
        }
        let mut known: HashMap<(u32, Vec<u64>), u32> = HashMap::new();
        let mut numbers = Vec::new();
        for (at, Folded { fold, shifts }) in folds.instances.iter().enumerate().rev() {
            let instance = InstanceId(at as u32);
            let Some([computed, passed]) = needed.of(program, folds, instance) else {
                self.places.push(Place { class: UNUSED, shifts: 0, readers: 0 });
                continue;
            };
            let class = *known.entry((*fold, bits(&computed))).or_insert_with_key(|(fold, outputs)| {
                let circuit = program.component_of(instance).circuit();
                let is_needed = |k: usize| outputs.get(k / 64).is_some_and(|word| word >> (k % 64) & 1 == 1);
                let (class, of_gates) = Class::new(circuit, folds, *fold, is_needed);
                self.classes.push(class);
                numbers.push(of_gates);
                self.classes.len() as u32 - 1
            });
            let reads = reads(&self.classes[class as usize], passed);
            for_each_linked(program.instance_links(instance), &reads, |_, source, wire| {
                if let Source::Instance(id) = source {
                    needed.mark(id, wire..wire + 1);
                }
            });
            self.places.push(Place { class, shifts: *shifts, readers: 0 });
        }
        self.places.reverse();
        let classes = &self.classes;
        self.sources = Sources::of(program, classes, &mut self.places, |instance, class| {
            let [_, passed] = needed.of(program, folds, InstanceId(instance)).unwrap_or_default();
            reads(&classes[class as usize], passed)
        });
        numbers
    }

    /// Walks once with the numbers of nodes in place of values: for the digest, the layers and the slots.
    fn count(&mut self, numbers: &[Numbers], firsts: &[u32]) {
        let mut order = OrderEncoder::new(&[]);
        let first_gate = 1 + self.input_bits as u32;
        let mut walk = LayerWalk::new(self, (1..first_gate).collect());
        let number = |of: &dyn Fn(&Numbers) -> &[u32], place: GatePlace| {
            firsts[place.instance as usize].wrapping_add(of(&numbers[place.class as usize])[place.gate as usize])
        };
        let (mut counts, mut and_count, mut gates) = (Vec::new(), 0, Vec::new());
        while walk.next_layer(
            |_, _, place| number(&|numbers| &numbers.xors, place),
            |a, b, place| gates.push((number(&|numbers| &numbers.ands, place), [a, b])),
        ) {
            order.batch(gates.len());
            for (node, operands) in &gates {
                let literal = |(node, inverted): (u32, bool)| Literal::of(node).invert_if(inverted);
                order.and(node - first_gate, operands.map(literal));
            }
            let mut nodes = gates.iter().map(|(node, _)| *node);
            walk.finish_layer(|| nodes.next().unwrap_or_default());
            counts.push(gates.len());
            and_count += gates.len();
            gates.clear();
        }
        let literal = |output| match output {
            Carried::Wire(node, inverted) => Literal::of(node).invert_if(inverted),
            Carried::Constant(value) => Literal::constant(value),
        };
        let outputs: Vec<Literal> = walk.outputs().map(literal).collect();
        let slot_count = walk.slot_count();
        (self.counts, self.and_count, self.slot_count) = (counts, and_count, slot_count);
        self.digest = order.finish(&outputs);
    }
}

/// The output wires of instances that something reads.
struct Needed {
    /// The first wire of every instance.
    starts: Vec<u64>,
    bits: Vec<u64>,
}

impl Needed {
    fn new(program: &Program) -> Self {
        let (mut starts, mut end) = (Vec::with_capacity(program.instance_count()), 0);
        for id in (0..program.instance_count() as u32).map(InstanceId) {
            starts.push(end);
            end += u64::from(program.component_of(id).output_width());
        }
        Needed { starts, bits: vec![0; end.div_ceil(64) as usize] }
    }

    fn mark(&mut self, id: InstanceId, wires: std::ops::Range<u32>) {
        let start = self.starts[id.0 as usize];
        for wire in wires {
            let at = start + u64::from(wire);
            self.bits[(at / 64) as usize] |= 1 << (at % 64);
        }
    }

    /// The outputs of an instance that are needed and computed, and the inputs that are needed and passed on; `None` if nothing is needed.
    fn of(&self, program: &Program, folds: &Folds, id: InstanceId) -> Option<[Vec<u32>; 2]> {
        let (start, width) = (self.starts[id.0 as usize], program.component_of(id).output_width());
        let is_needed = |output: &u32| {
            let at = start + u64::from(*output);
            self.bits[(at / 64) as usize] >> (at % 64) & 1 == 1
        };
        let [mut computed, mut passed] = [Vec::new(), Vec::new()];
        for output in (0..width).filter(is_needed) {
            match folds.passed(folds.instances[id.0 as usize].fold, output as usize) {
                Some(input) => passed.push(input),
                None => computed.push(output),
            }
        }
        (computed.len() + passed.len() > 0).then_some([computed, passed])
    }
}

/// Numbers in ascending order as bits of words, as few as there can be.
fn bits(numbers: &[u32]) -> Vec<u64> {
    let mut words = vec![0; numbers.last().map_or(0, |last| *last as usize / 64 + 1)];
    numbers.iter().for_each(|number| words[*number as usize / 64] |= 1 << (number % 64));
    words
}

/// The inputs of an instance that gates read or that are passed on, in ascending order.
fn reads(class: &Class, passed: Vec<u32>) -> Vec<u32> {
    let mut reads = passed;
    reads.extend(&class.inputs);
    reads.sort_unstable();
    reads.dedup();
    reads
}

#[cfg(test)]
mod tests;
