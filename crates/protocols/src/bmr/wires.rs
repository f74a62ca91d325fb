//! Carrying values along the wires of a flat program: what all parts of the protocol do with a circuit.
//!
//! Labels, shares of permutation bits and rows of OT are all linear over XOR gates, so one walk serves them all; what
//! differs is the value that an AND gate's output gets.

use garblet_circuit::Schedule;
use garblet_primitives::{Backend, Block, Engine, Kernel, LANES};

/// Four blocks: what a vector holds.
pub(super) type Quad = [Block; LANES];

/// What is done at AND gates.
pub(super) trait AndGates {
    /// What is kept from gate to gate in an engine's own form: keys.
    type State<E: Engine>;

    /// The state before the first gate.
    fn begin<E: Engine>(&self, e: E) -> Self::State<E>;

    /// The next gate, in the order of the schedule; `out` is what its output wire is to carry.
    fn and<E: Engine>(&mut self, e: E, state: &mut Self::State<E>, gate: Gate<'_>, out: &mut [Quad]);
}

/// An AND gate of a circuit, and what its operand wires carry.
pub(super) struct Gate<'a> {
    /// Its place in the schedule.
    pub(super) index: usize,
    /// Which of its operands are inverted.
    pub(super) inverted: [bool; 2],
    pub(super) a: &'a [Quad],
    pub(super) b: &'a [Quad],
}

/// Walks a circuit in which every wire carries `width` vectors, those of the inputs given one after another. Returns what
/// all slots carry after the last gate.
pub(super) fn walk(
    backend: Backend,
    schedule: &Schedule,
    width: usize,
    inputs: Vec<Quad>,
    gates: &mut impl AndGates,
) -> Vec<Quad> {
    debug_assert_eq!(inputs.len(), width * schedule.input_count());
    let mut slots = inputs;
    slots.resize(width * schedule.slot_count().max(schedule.input_count()), [Block::ZERO; LANES]);
    backend.run(Walk { schedule, width, slots: &mut slots, gates });
    slots
}

struct Walk<'a, G> {
    schedule: &'a Schedule,
    width: usize,
    slots: &'a mut [Quad],
    gates: &'a mut G,
}

impl<G: AndGates> Kernel for Walk<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let Walk { schedule, width, slots, gates } = self;
        let mut state = gates.begin(e);
        let (mut xors, mut ands) = (schedule.xors(), schedule.ands().iter().enumerate());
        for step in schedule.steps() {
            let (now, later) = xors.split_at(step.xors as usize);
            xors = later;
            for op in now {
                let [a, b, out] = [op.a, op.b, op.out].map(
                    #[inline(always)]
                    |slot| slot as usize * width,
                );
                for q in 0..width {
                    slots[out + q] = e.store(e.xor(e.load(&slots[a + q]), e.load(&slots[b + q])));
                }
            }
            for (index, op) in ands.by_ref().take(step.ands as usize) {
                let range = |slot: usize| slot * width..(slot + 1) * width;
                let places = [range(op.a.slot()), range(op.b.slot()), range(op.out as usize)];
                // A schedule never writes a slot in the step that reads it, and folds gates on one wire twice.
                let Ok([a, b, out]) = slots.get_disjoint_mut(places) else {
                    unreachable!("operands and result differ")
                };
                let inverted = [op.a.inverted(), op.b.inverted()];
                gates.and(e, &mut state, Gate { index, inverted, a, b }, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{OutputWire, evaluate_circuit, random};
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    /// Wires that carry their own plain value, in every block.
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
        let mut rng = StdRng::seed_from_u64(3);
        for width in [1, 2, 5] {
            let program = random::program(&mut rng, 400, 3);
            let component = program.flatten().unwrap();
            let schedule = Schedule::new(component.circuit());
            let inputs: garblet_circuit::Bits =
                random::inputs(&mut rng, &program).iter().flat_map(|v| v.iter().collect::<Vec<_>>()).collect();
            let words: Vec<u64> = inputs.iter().map(u64::from).collect();
            let expected = evaluate_circuit(component.circuit(), &words);
            let carried = inputs.iter().flat_map(|bit| vec![[Block::mask(bit); LANES]; width]).collect();
            for backend in Backend::available() {
                let slots = walk(backend, &schedule, width, Vec::clone(&carried), &mut Plain);
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
