//! What keys, solderings and commitments have in common: XOR and NOT are sums, and AND gates come one after another.

use std::ops::BitXor;

use garblet_circuit::{OutputWire, Schedule, Walk};
use zeroize::Zeroize;

use super::{
    EVALUATOR,
    layout::Soldering,
    plan::{Lot, Plan},
};

/// A way through a plan's program, some instances at a time. Both parties come to the AND gates in the same order, that of
/// the schedules.
pub(super) struct Wiring<'p, W: Copy + Zeroize> {
    plan: &'p Plan,
    walk: Walk<'p, W>,
    one: W,
    slots: Slots<W>,
    wires: Vec<W>,
    outputs: Vec<W>,
}

impl<'p, W: Copy + Default + Zeroize + BitXor<Output = W>> Wiring<'p, W> {
    /// Begins.
    ///
    /// *Shape*: `inputs` as the program's; `one` stands for the constant true, and is what NOT adds.
    pub(super) fn new(plan: &'p Plan, inputs: &[W], one: W) -> Self {
        let walk = Walk::new(plan.program(), plan.by_port(inputs), [W::default(), one]);
        Wiring { plan, walk, one, slots: Slots(Vec::new()), wires: Vec::new(), outputs: Vec::new() }
    }

    /// Goes through so many instances: `and` makes the output of every AND gate from its inputs.
    pub(super) fn run(&mut self, instances: usize, mut and: impl FnMut(W, W) -> W) {
        for _ in 0..instances {
            let Some(instance) = self.walk.next_instance(&mut self.wires) else { return };
            let schedule = self.plan.schedule(instance);
            self.slots.run(schedule, &self.wires, self.one, &mut and, &mut self.outputs);
            self.walk.finish(instance, &self.outputs);
            self.wires.zeroize();
            self.outputs.zeroize();
        }
    }

    /// Goes through a lot whose AND gates are buckets with these heads: what joins both inputs of every gate to its bucket.
    pub(super) fn solderings(&mut self, lot: Lot, heads: &[Soldering<W>]) -> Vec<W> {
        let (mut next, mut solderings) = (heads.iter(), Vec::with_capacity(2 * lot.ands));
        self.run(lot.instances, |left, right| {
            let [head_left, head_right, output] = next.next().copied().unwrap_or_default();
            solderings.extend([left ^ head_left, right ^ head_right]);
            output
        });
        solderings
    }

    /// The values of all output bits, when no instance is left.
    pub(super) fn into_outputs(self) -> Vec<W> {
        self.walk.into_outputs().iter().flatten().copied().collect()
    }
}

/// The values of a component's live wires.
struct Slots<W: Zeroize>(Vec<W>);

impl<W: Zeroize> Drop for Slots<W> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<W: Copy + Default + Zeroize + BitXor<Output = W>> Slots<W> {
    fn run(
        &mut self,
        schedule: &Schedule,
        inputs: &[W],
        one: W,
        and: &mut impl FnMut(W, W) -> W,
        outputs: &mut Vec<W>,
    ) {
        if self.0.len() < schedule.slot_count() {
            // Not resized, which could leave a copy behind.
            self.0.zeroize();
            self.0 = vec![W::default(); schedule.slot_count()];
        }
        let slots = &mut self.0[..];
        slots[..inputs.len()].copy_from_slice(inputs);
        let flip = |value: W, invert: bool| if invert { value ^ one } else { value };
        let (mut xors, mut ands) = (schedule.xors().iter(), schedule.ands().iter());
        for step in schedule.steps() {
            for op in xors.by_ref().take(step.xors as usize) {
                slots[op.out as usize] = slots[op.a as usize] ^ slots[op.b as usize];
            }
            for op in ands.by_ref().take(step.ands as usize) {
                let [a, b] = [op.a, op.b].map(|operand| flip(slots[operand.slot()], operand.inverted()));
                slots[op.out as usize] = and(a, b);
            }
        }
        outputs.extend(schedule.outputs().iter().map(|output| match *output {
            OutputWire::Slot(operand) => flip(slots[operand.slot()], operand.inverted()),
            OutputWire::Constant(value) => flip(W::default(), value),
        }));
    }
}

/// What joins the constructor's inputs, and those that are read, two by two to the input buckets.
pub(super) fn input_solderings<W>(plan: &Plan, inputs: &[W], buckets: &[[W; 2]]) -> Vec<W>
where
    W: Copy + BitXor<Output = W>,
{
    let owners = plan.owners();
    let own: Vec<W> = inputs.iter().zip(&owners).filter(|(_, owner)| **owner != EVALUATOR).map(|(&w, _)| w).collect();
    let join = |(pair, bucket): (&[W], &[W; 2])| {
        let ends = pair.iter().zip(bucket).map(|(&input, &end)| input ^ end);
        ends.collect::<Vec<W>>()
    };
    own.chunks(2).zip(buckets).flat_map(join).collect()
}
