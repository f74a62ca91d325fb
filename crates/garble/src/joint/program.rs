//! Walks through the circuits of a program, which may stop after any AND gate.

use garblet_circuit::{Circuit, InstanceId, Program, Schedule, ScheduleDigest, Walk as Between};
use garblet_primitives::{Backend, Block, Engine, QUAD_LANES};
use zeroize::{Zeroize, Zeroizing};

use super::wires::{AndGates, CircuitWalk, Gate, Quad};

/// The circuits of a program, in the order in which their gates are garbled.
pub enum Circuits {
    /// The circuit of the flattened program.
    Flat(Box<Schedule>),
    /// Those of its components, by their numbers. One instance follows another, and memory grows with the wires between them that will still be read.
    Components {
        /// The schedules.
        schedules: Vec<Schedule>,
        /// The number of AND gates of all instances.
        and_count: usize,
    },
}

impl Circuits {
    /// The circuit of a flattened program.
    pub fn flat(circuit: &Circuit) -> Self {
        Circuits::Flat(Box::new(Schedule::new(circuit)))
    }

    /// The circuits of a program's components.
    pub fn of_components(program: &Program) -> Self {
        let schedules: Vec<Schedule> = program.components().iter().map(|c| Schedule::new(c.circuit())).collect();
        let instances = (0..program.instance_count()).map(|at| InstanceId(at as u32));
        let and_count = instances.map(|instance| of(&schedules, program, instance).ands().len()).sum();
        Circuits::Components { schedules, and_count }
    }

    /// The number of AND gates that are garbled.
    pub fn and_count(&self) -> usize {
        match self {
            Circuits::Flat(schedule) => schedule.ands().len(),
            Circuits::Components { and_count, .. } => *and_count,
        }
    }

    /// The digest of everything in the schedules that parties must share.
    pub fn digest(&self) -> ScheduleDigest {
        match self {
            Circuits::Flat(schedule) => schedule.digest(),
            Circuits::Components { schedules, .. } => ScheduleDigest::of_all(schedules, &[]),
        }
    }
}

fn of<'s>(schedules: &'s [Schedule], program: &Program, instance: InstanceId) -> &'s Schedule {
    &schedules[program.component_id(instance).0 as usize]
}

/// A walk along the wires of a program that may stop after any AND gate.
///
/// *Secret*: the values of wires; they are wiped when their last reader is done.
pub struct Walk<'p> {
    backend: Backend,
    negation: Zeroizing<Vec<Quad>>,
    course: Course<'p>,
    done: usize,
}

enum Course<'p> {
    Flat(CircuitWalk<'p>),
    Instances(Instances<'p>),
}

struct Instances<'p> {
    program: &'p Program,
    schedules: &'p [Schedule],
    /// The wires between instances, a walk for each vector of a wire.
    between: Vec<Between<'p, Quad>>,
    running: Option<(InstanceId, CircuitWalk<'p>)>,
    /// The next instance.
    next: u32,
}

impl<'p> Walk<'p> {
    /// Begins before the first gate of a program and its circuits. Where an output of a circuit is the negation of a wire, it has the wire's value with `negation`
    /// added; the constant true has that value, and false is zero. Negations of the operands of AND gates are left to whoever computes these.
    ///
    /// *Shape*: `negation` has the vectors of a wire, `inputs` those of one input wire after another.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn new(
        backend: Backend,
        (program, circuits): (&'p Program, &'p Circuits),
        inputs: Vec<Quad>,
        negation: Vec<Quad>,
    ) -> Self {
        let width = negation.len();
        let course = match circuits {
            Circuits::Flat(schedule) => Course::Flat(CircuitWalk::new(backend, schedule, width, inputs, 0)),
            Circuits::Components { schedules, .. } => {
                let inputs = Zeroizing::new(inputs);
                let wires: usize = program.inputs().iter().map(|input| input.port.width() as usize).sum();
                assert_eq!(inputs.len(), width * wires, "vectors of inputs");
                let of_vector = |q: usize| {
                    let mut wires = inputs.iter().skip(q).step_by(width.max(1)).copied();
                    let ports = program.inputs().iter();
                    let ports = ports.map(|input| wires.by_ref().take(input.port.width() as usize).collect()).collect();
                    Between::new(program, ports, [[Block::ZERO; QUAD_LANES], negation[q]])
                };
                let between = (0..width).map(of_vector).collect();
                Course::Instances(Instances { program, schedules, between, running: None, next: 0 })
            }
        };
        Walk { backend, negation: Zeroizing::new(negation), course, done: 0 }
    }

    /// The number of AND gates that are done.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Does the next AND gates, with everything that does not need another.
    ///
    /// # Panics
    /// If fewer are left.
    pub fn advance(&mut self, ands: usize, gates: &mut impl AndGates) {
        let end = self.done + ands;
        match &mut self.course {
            Course::Flat(walk) => {
                walk.advance(ands, gates);
                self.done = end;
            }
            Course::Instances(instances) => {
                while let Some((instance, mut walk)) = instances.next(self.backend, self.done) {
                    let now = walk.left().min(end - self.done);
                    walk.advance(now, gates);
                    self.done += now;
                    if !walk.is_done() {
                        instances.running = Some((instance, walk));
                        break;
                    }
                    instances.finish(instance, walk, &self.negation);
                }
                assert_eq!(self.done, end, "AND gates that are left");
            }
        }
    }

    /// The vectors of the outputs of the program, one wire after another.
    ///
    /// # Panics
    /// If AND gates are missing.
    pub fn into_outputs(mut self) -> Zeroizing<Vec<Quad>> {
        // A program without AND gates has wires.
        self.advance(0, &mut NoGates);
        match self.course {
            Course::Flat(walk) => {
                let mut outputs = Zeroizing::new(Vec::with_capacity(self.negation.len() * walk.output_count()));
                walk.outputs(&self.negation, &mut outputs);
                outputs
            }
            Course::Instances(instances) => instances.outputs(),
        }
    }
}

impl<'p> Instances<'p> {
    /// The instance that is running, or the next one, whose gates are numbered from `first` on.
    fn next(&mut self, backend: Backend, first: usize) -> Option<(InstanceId, CircuitWalk<'p>)> {
        if let Some(running) = self.running.take() {
            return Some(running);
        }
        let instance = InstanceId(self.next);
        if instance.0 as usize == self.program.instance_count() {
            return None;
        }
        self.next += 1;
        let (width, wires) = (self.between.len(), self.program.component_of(instance).input_width() as usize);
        let mut inputs = vec![[Block::ZERO; QUAD_LANES]; width * wires];
        for (q, between) in self.between.iter_mut().enumerate() {
            let mut values = Zeroizing::new(Vec::with_capacity(wires));
            between.next_instance(&mut values);
            inputs.iter_mut().skip(q).step_by(width).zip(values.iter()).for_each(|(to, value)| *to = *value);
        }
        let schedule = of(self.schedules, self.program, instance);
        Some((instance, CircuitWalk::new(backend, schedule, width, inputs, first)))
    }

    fn finish(&mut self, instance: InstanceId, walk: CircuitWalk<'p>, negation: &[Quad]) {
        let width = self.between.len();
        let mut outputs = Zeroizing::new(Vec::with_capacity(width * walk.output_count()));
        walk.outputs(negation, &mut outputs);
        for (q, between) in self.between.iter_mut().enumerate() {
            let wires: Zeroizing<Vec<Quad>> = Zeroizing::new(outputs.iter().skip(q).step_by(width).copied().collect());
            between.finish(instance, &wires);
        }
    }

    fn outputs(self) -> Zeroizing<Vec<Quad>> {
        assert!(self.running.is_none(), "AND gates are missing");
        let width = self.between.len();
        let wires: usize = self.program.outputs().iter().map(|output| output.port.width() as usize).sum();
        let mut all = Zeroizing::new(vec![[Block::ZERO; QUAD_LANES]; width * wires]);
        for (q, between) in self.between.into_iter().enumerate() {
            let mut ports = between.into_outputs();
            all.iter_mut()
                .skip(q)
                .step_by(width)
                .zip(ports.iter().flat_map(|port| port.iter()))
                .for_each(|(to, wire)| *to = *wire);
            ports.iter_mut().for_each(Zeroize::zeroize);
        }
        all
    }
}

/// Nothing is left but wires.
struct NoGates;

impl AndGates for NoGates {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, _out: &mut [Quad]) {
        panic!("AND gate {} is missing", gate.index)
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Bits, evaluate, random};
    use garblet_primitives::Prg;

    use super::*;

    /// Wires that carry their plain value in every block.
    struct Plain {
        /// The number of the next gate.
        next: usize,
    }

    impl AndGates for Plain {
        type State<E: Engine> = ();

        fn begin<E: Engine>(&self, _e: E) {}

        fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
            assert_eq!(gate.index, self.next);
            self.next += 1;
            let [invert_a, invert_b] = gate.inverted.map(Block::mask);
            let operands = gate.a.as_flattened().iter().zip(gate.b.as_flattened());
            for (out, (a, b)) in out.as_flattened_mut().iter_mut().zip(operands) {
                *out = (*a ^ invert_a) & (*b ^ invert_b);
            }
        }
    }

    /// Every program, flat and by components, gives the values of the plain evaluation, in lots of any size.
    #[test]
    fn values_are_carried_to_the_outputs_of_a_program() {
        let mut rng = Prg::new(Block::from_u128(4));
        for (gates, width) in [(0, 1), (1, 1), (40, 2), (400, 1), (700, 3)] {
            let program = random::program(&mut rng, gates, 3);
            let flat = program.flatten().expect("small enough");
            let values = random::inputs(&mut rng, &program);
            let expected: Vec<bool> =
                evaluate(&program, &values).iter().flat_map(|bits: &Bits| bits.iter().collect::<Vec<_>>()).collect();
            let inputs: Vec<Quad> = values
                .iter()
                .flat_map(|bits| bits.iter().collect::<Vec<_>>())
                .flat_map(|bit| vec![[Block::mask(bit); QUAD_LANES]; width])
                .collect();
            for circuits in [Circuits::flat(flat.circuit()), Circuits::of_components(&program)] {
                for most in [1, 7, 64, usize::MAX] {
                    let negation = vec![[Block::ONES; QUAD_LANES]; width];
                    let mut walk = Walk::new(Backend::detect(), (&program, &circuits), inputs.clone(), negation);
                    let mut plain = Plain { next: 0 };
                    while walk.done() < circuits.and_count() {
                        walk.advance((circuits.and_count() - walk.done()).min(most), &mut plain);
                    }
                    assert_eq!(plain.next, circuits.and_count());
                    let outputs = walk.into_outputs();
                    assert_eq!(outputs.len(), width * expected.len());
                    for (wire, bit) in outputs.chunks_exact(width).zip(&expected) {
                        assert!(wire.as_flattened().iter().all(|block| *block == Block::mask(*bit)));
                    }
                }
            }
        }
    }
}
