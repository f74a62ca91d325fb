//! A walk along the wires of a flat program, which carries values of any kind.
//!
//! Labels, shares of permutation bits and OT rows are all linear over XOR gates, so one walk serves them all; only the
//! value of an AND gate's output differs.

use garblet_circuit::{AndOp, OutputWire, Schedule, XorOp};
use garblet_primitives::{Backend, Block, Engine, Kernel, QUAD_LANES, numbered};
use zeroize::Zeroizing;

/// The four blocks of a vector.
pub type Quad = [Block; QUAD_LANES];

/// The work at AND gates.
pub trait AndGates {
    /// Keys in an engine's own form, carried from gate to gate.
    type State<E: Engine>;

    /// The state before the first gate.
    fn begin<E: Engine>(&self, e: E) -> Self::State<E>;

    /// The next gate, in the order of the walk; `out` is for its output wire.
    fn and<E: Engine>(&mut self, e: E, state: &mut Self::State<E>, gate: Gate<'_>, out: &mut [Quad]);

    /// The next gates, which do not depend on one another and may be interleaved.
    #[inline(always)]
    fn layer<E: Engine>(&mut self, e: E, state: &mut Self::State<E>, layer: Layer<'_>, wires: &mut Wires<'_>) {
        for (k, op) in layer.ops.iter().enumerate() {
            let (gate, out) = wires.gate(layer.first + k, op);
            self.and(e, state, gate, out);
        }
    }
}

/// AND gates that do not depend on one another.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    /// The position of the first one among the gates of the walk.
    pub first: usize,
    /// The gates.
    pub ops: &'a [AndOp],
}

/// An AND gate of a circuit, and the values of its operands.
pub struct Gate<'a> {
    /// Its position among the gates of the walk.
    pub index: usize,
    /// The inversion of its operands.
    pub inverted: [bool; 2],
    /// The left operand's vectors.
    pub a: &'a [Quad],
    /// The right operand's vectors.
    pub b: &'a [Quad],
}

/// The values of all slots.
pub struct Wires<'a> {
    /// The number of vectors per slot.
    pub width: usize,
    /// The vectors of one slot after another.
    pub slots: &'a mut [Quad],
}

impl Wires<'_> {
    /// A gate and the slot of its result.
    #[inline(always)]
    pub fn gate(&mut self, index: usize, op: &AndOp) -> (Gate<'_>, &mut [Quad]) {
        let range = |slot: usize| slot * self.width..(slot + 1) * self.width;
        let places = [range(op.a.slot()), range(op.b.slot()), range(op.out as usize)];
        // A schedule never writes a slot in the step that reads it, and folds gates on one wire twice.
        let Ok([a, b, out]) = self.slots.get_disjoint_mut(places) else { unreachable!("operands and result differ") };
        (Gate { index, inverted: [op.a.inverted(), op.b.inverted()], a, b }, out)
    }

    /// Computes XOR gates, compiled for slots of few vectors.
    #[inline(always)]
    fn xor<E: Engine>(&mut self, e: E, ops: &[XorOp]) {
        match self.width {
            1 => self.xor_of::<E, 1>(e, ops),
            2 => self.xor_of::<E, 2>(e, ops),
            3 => self.xor_of::<E, 3>(e, ops),
            4 => self.xor_of::<E, 4>(e, ops),
            width => {
                for op in ops {
                    let [a, b, out] = [op.a, op.b, op.out].map(|slot| slot as usize * width);
                    for q in 0..width {
                        self.slots[out + q] = e.store(e.xor(e.load(&self.slots[a + q]), e.load(&self.slots[b + q])));
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn xor_of<E: Engine, const WIDTH: usize>(&mut self, e: E, ops: &[XorOp]) {
        let slots = self.slots.as_chunks_mut::<WIDTH>().0;
        for op in ops {
            let (a, b) = (&slots[op.a as usize], &slots[op.b as usize]);
            let sum = numbered(
                #[inline(always)]
                |q| e.store(e.xor(e.load(&a[q]), e.load(&b[q]))),
            );
            slots[op.out as usize] = sum;
        }
    }
}

/// Walks a circuit in which every wire carries `width` vectors, given the inputs' vectors one after another. Returns the
/// values of all slots after the last gate.
///
/// # Panics
/// If there are not as many vectors of inputs as the schedule has inputs.
pub fn walk(
    backend: Backend,
    schedule: &Schedule,
    width: usize,
    inputs: Vec<Quad>,
    gates: &mut impl AndGates,
) -> Zeroizing<Vec<Quad>> {
    let mut walk = CircuitWalk::new(backend, schedule, width, inputs, 0);
    walk.advance(schedule.ands().len(), gates);
    walk.finish()
}

/// A walk through one circuit that may stop after any AND gate.
///
/// *Secret*: the values of wires; they are wiped on drop.
pub(super) struct CircuitWalk<'s> {
    backend: Backend,
    schedule: &'s Schedule,
    width: usize,
    slots: Zeroizing<Vec<Quad>>,
    /// The number of AND gates before this circuit.
    first: usize,
    at: Place,
}

/// The place of a walk in a schedule.
#[derive(Clone, Copy, Default)]
struct Place {
    step: usize,
    xors: usize,
    ands: usize,
    /// AND gates left of the step; none if its XOR gates are outstanding.
    left: Option<usize>,
}

impl<'s> CircuitWalk<'s> {
    /// Begins before the first gate, as [`walk`]; the gates are numbered from `first` on.
    ///
    /// # Panics
    /// If there are not as many vectors of inputs as the schedule has inputs.
    pub(super) fn new(backend: Backend, schedule: &'s Schedule, width: usize, inputs: Vec<Quad>, first: usize) -> Self {
        let inputs = Zeroizing::new(inputs);
        assert_eq!(inputs.len(), width * schedule.input_count(), "vectors of inputs");
        let count = width * schedule.slot_count().max(schedule.input_count());
        let mut slots = Zeroizing::new(Vec::with_capacity(count));
        slots.extend_from_slice(&inputs);
        slots.resize(count, [Block::ZERO; QUAD_LANES]);
        CircuitWalk { backend, schedule, width, slots, first, at: Place::default() }
    }

    /// The number of AND gates that are left.
    pub(super) fn left(&self) -> usize {
        self.schedule.ands().len() - self.at.ands
    }

    /// Tells whether all gates are done.
    pub(super) fn is_done(&self) -> bool {
        self.at.step == self.schedule.steps().len()
    }

    /// Does the next AND gates, with the XOR gates up to the AND gate that follows.
    ///
    /// # Panics
    /// If fewer are left.
    pub(super) fn advance(&mut self, ands: usize, gates: &mut impl AndGates) {
        assert!(ands <= self.left(), "{ands} AND gates of {}", self.left());
        let CircuitWalk { backend, schedule, width, slots, first, at } = self;
        let end = at.ands + ands;
        backend.run(Advance { schedule, width: *width, slots, first: *first, at, end, gates });
    }

    /// The values of all slots.
    ///
    /// # Panics
    /// If gates are missing.
    pub(super) fn finish(self) -> Zeroizing<Vec<Quad>> {
        assert!(self.is_done(), "steps of the schedule");
        self.slots
    }

    /// The number of outputs.
    pub(super) fn output_count(&self) -> usize {
        self.schedule.outputs().len()
    }

    /// Appends the vectors of all outputs. A wire's negation adds `negation`, which is also the value of the constant true; false is zero.
    ///
    /// # Panics
    /// As [`CircuitWalk::finish`].
    pub(super) fn outputs(self, negation: &[Quad], into: &mut Vec<Quad>) {
        let (width, outputs) = (self.width, self.schedule.outputs());
        let slots = self.finish();
        for output in outputs {
            let (wire, negated) = match output {
                OutputWire::Slot(wire) => (Some(wire.slot()), wire.inverted()),
                OutputWire::Constant(value) => (None, *value),
            };
            for q in 0..width {
                let mut quad = wire.map_or([Block::ZERO; QUAD_LANES], |wire| slots[wire * width + q]);
                quad.iter_mut().zip(&negation[q]).for_each(|(block, change)| *block ^= *change & Block::mask(negated));
                into.push(quad);
            }
        }
    }
}

struct Advance<'a, G> {
    schedule: &'a Schedule,
    width: usize,
    slots: &'a mut [Quad],
    first: usize,
    at: &'a mut Place,
    end: usize,
    gates: &'a mut G,
}

impl<G: AndGates> Kernel for Advance<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let Advance { schedule, width, slots, first, at, end, gates } = self;
        let mut state = gates.begin(e);
        let mut wires = Wires { width, slots };
        while let Some(step) = schedule.steps().get(at.step) {
            let left = at.left.unwrap_or_else(|| {
                let xors = at.xors..at.xors + step.xors as usize;
                at.xors = xors.end;
                wires.xor(e, &schedule.xors()[xors]);
                step.ands as usize
            });
            let now = left.min(end - at.ands);
            let ops = &schedule.ands()[at.ands..at.ands + now];
            gates.layer(e, &mut state, Layer { first: first + at.ands, ops }, &mut wires);
            at.ands += now;
            if now < left {
                at.left = Some(left - now);
                return;
            }
            at.left = None;
            at.step += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{evaluate_circuit, random};
    use garblet_primitives::Prg;

    use super::*;

    /// Wires that carry their plain value in every block.
    struct Plain;

    impl AndGates for Plain {
        type State<E: Engine> = ();

        fn begin<E: Engine>(&self, _e: E) {}

        #[inline(always)]
        fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Gate<'_>, out: &mut [Quad]) {
            let [invert_a, invert_b] = gate.inverted.map(Block::mask);
            let operands = gate.a.as_flattened().iter().zip(gate.b.as_flattened());
            for (out, (a, b)) in out.as_flattened_mut().iter_mut().zip(operands) {
                *out = (*a ^ invert_a) & (*b ^ invert_b);
            }
        }
    }

    #[test]
    fn values_are_carried_to_the_outputs() {
        let mut rng = Prg::new(Block::from_u128(3));
        for width in [1, 2, 5] {
            let program = random::program(&mut rng, 400, 3);
            let component = program.flatten().unwrap();
            let schedule = Schedule::new(component.circuit());
            let inputs: garblet_circuit::Bits =
                random::inputs(&mut rng, &program).iter().flat_map(|v| v.iter().collect::<Vec<_>>()).collect();
            let words: Vec<u64> = inputs.iter().map(u64::from).collect();
            let expected = evaluate_circuit(component.circuit(), &words);
            let carried = inputs.iter().flat_map(|bit| vec![[Block::mask(bit); QUAD_LANES]; width]).collect();
            for (backend, most) in
                Backend::available().into_iter().flat_map(|backend| [1, 7, 64, usize::MAX].map(|most| (backend, most)))
            {
                let mut walk = CircuitWalk::new(backend, &schedule, width, Vec::clone(&carried), 0);
                while !walk.is_done() {
                    let left = walk.left();
                    walk.advance(left.min(most), &mut Plain);
                    assert_eq!(walk.left(), left - left.min(most));
                }
                let slots = walk.finish();
                for (output, expected) in schedule.outputs().iter().zip(expected.iter()) {
                    let got = match output {
                        OutputWire::Constant(value) => Block::mask(*value),
                        OutputWire::Slot(wire) => {
                            let blocks = slots[wire.slot() * width..][..width].as_flattened();
                            assert!(blocks.iter().all(|block| *block == blocks[0]));
                            blocks[0] ^ Block::mask(wire.inverted())
                        }
                    };
                    assert!(got == Block::mask(expected & 1 == 1));
                }
            }
        }
    }
}
