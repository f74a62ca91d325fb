//! What keys, solderings and commitments have in common: XOR and NOT are sums, and AND gates come one after another.

use std::ops::BitXor;

use garblet_circuit::{OutputWire, Schedule, Walk};
use zeroize::Zeroize;

use super::{EVALUATOR, plan::Plan};

/// Goes through a plan's program: `and` makes the output of every AND gate from its inputs. Both parties come to the gates
/// in the same order, that of the schedules.
///
/// *Shape*: `inputs` as the program's; `one` stands for the constant true, and is what NOT adds. One value per wire of each
/// output comes back.
pub(super) fn walk<W>(plan: &Plan, inputs: Vec<Box<[W]>>, one: W, mut and: impl FnMut(W, W) -> W) -> Vec<Box<[W]>>
where
    W: Copy + Default + Zeroize + BitXor<Output = W>,
{
    let mut walk = Walk::new(plan.program(), inputs, [W::default(), one]);
    let (mut wires, mut slots, mut outputs) = (Vec::new(), Slots(Vec::new()), Vec::new());
    while let Some(instance) = walk.next_instance(&mut wires) {
        slots.run(plan.schedule(instance), &wires, one, &mut and, &mut outputs);
        walk.finish(instance, &outputs);
        wires.zeroize();
        outputs.zeroize();
    }
    walk.into_outputs()
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
