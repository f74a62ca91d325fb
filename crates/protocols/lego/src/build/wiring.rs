//! The walk that keys, solderings and commitments share: XOR and NOT are sums, and AND gates come one after another.

use std::ops::BitXor;

use garblet_circuit::{InstanceId, Operand, OutputWire, Schedule, Walk};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    EVALUATOR,
    generate::layout::GateWires,
    plan::{Owner, Plan},
};

/// A walk through a plan's program, some AND gates at a time. Both parties visit the AND gates in the same order, that of the
/// schedules.
struct Wiring<'p, W: Copy + Zeroize> {
    plan: &'p Plan,
    walk: Walk<'p, W>,
    one: W,
    running: Option<Running>,
    slots: Slots<W>,
    wires: Vec<W>,
}

/// The current instance, and the number of operations of its schedule that are done.
#[derive(Clone, Copy)]
struct Running {
    instance: InstanceId,
    step: usize,
    xors: usize,
    ands: usize,
    /// The remaining AND gates of the step, once its XOR gates are done.
    ands_left: Option<usize>,
}

impl<'p, W: Copy + Default + Zeroize + BitXor<Output = W>> Wiring<'p, W> {
    /// Begins.
    ///
    /// *Shape*: `inputs` as the program's. `one` is the constant true, which NOT adds.
    fn new(plan: &'p Plan, inputs: &[W], one: W) -> Self {
        let walk = Walk::new(plan.program(), plan.by_port(inputs), [W::default(), one]);
        Wiring { plan, walk, one, running: None, slots: Slots(Vec::new()), wires: Vec::new() }
    }

    /// Walks through `count` AND gates and everything that depends only on these. `and` makes the output of every AND gate from its inputs.
    fn run(&mut self, ands: usize, mut and: impl FnMut(W, W) -> W) {
        let mut left = ands;
        while let Some(mut running) = self.running.take().or_else(|| self.begin()) {
            let schedule = self.plan.schedule(running.instance);
            self.slots.run(schedule, &mut running, self.one, &mut left, &mut and);
            if running.step < schedule.steps().len() {
                self.running = Some(running);
                return;
            }
            self.slots.outputs(schedule, self.one, &mut self.wires);
            self.walk.finish(running.instance, &self.wires);
            self.wires.zeroize();
        }
    }

    fn begin(&mut self) -> Option<Running> {
        let instance = self.walk.next_instance(&mut self.wires)?;
        self.slots.begin(self.plan.schedule(instance), &self.wires);
        self.wires.zeroize();
        Some(Running { instance, step: 0, xors: 0, ands: 0, ands_left: None })
    }

    /// Walks through the AND gates of a lot, whose buckets have these heads. Appends the solderings of both inputs of every gate to its bucket.
    fn solder(&mut self, heads: &[GateWires<W>], solderings: &mut Vec<W>) {
        let mut next = heads.iter();
        self.run(heads.len(), |left, right| {
            let [head_left, head_right, output] = next.next().copied().unwrap_or_default();
            solderings.extend([left ^ head_left, right ^ head_right]);
            output
        });
    }

    /// The values of all output bits, after the last instance.
    pub(crate) fn into_outputs(self) -> Zeroizing<Vec<W>> {
        Zeroizing::new(Zeroizing::new(self.walk.into_outputs()).concat())
    }
}

/// The solderings of a plan's function, lot by lot.
pub(crate) struct FunctionSoldering<'p, W: Copy + Zeroize> {
    plan: &'p Plan,
    inputs: &'p [W],
    input_gates: &'p [[W; 2]],
    wiring: Option<Wiring<'p, W>>,
    lots_left: usize,
    outputs: Zeroizing<Vec<W>>,
}

impl<'p, W: Copy + Default + Zeroize + BitXor<Output = W>> FunctionSoldering<'p, W> {
    /// *Shape*: `inputs` as the program's; `input_gates` are both inputs of every input bucket.
    pub(crate) fn new(plan: &'p Plan, inputs: &'p [W], input_gates: &'p [[W; 2]], delta: W) -> Self {
        let (wiring, lots_left) = (Some(Wiring::new(plan, inputs, delta)), plan.lots().len());
        FunctionSoldering { plan, inputs, input_gates, wiring, lots_left, outputs: Zeroizing::default() }
    }

    /// The solderings of the next lot, whose buckets have these heads. The last lot has those to the input buckets as well.
    pub(crate) fn next_lot(&mut self, heads: &[GateWires<W>]) -> Vec<W> {
        self.lots_left = self.lots_left.saturating_sub(1);
        let is_last = self.lots_left == 0;
        let to_inputs = if is_last { self.plan.sought().next_multiple_of(2) } else { 0 };
        // Capacity for all, since growing would leave copies behind.
        let mut solderings = Vec::with_capacity(2 * heads.len() + to_inputs);
        self.wiring.iter_mut().for_each(|wiring| wiring.solder(heads, &mut solderings));
        if let Some(wiring) = self.wiring.take_if(|_| is_last) {
            self.outputs = wiring.into_outputs();
            let sought = sought(self.plan, self.inputs, &self.outputs);
            solderings.extend(sought_solderings(&sought, self.input_gates));
        }
        solderings
    }

    /// The wires of all outputs, after the last lot.
    pub(crate) fn into_outputs(self) -> Zeroizing<Vec<W>> {
        self.outputs
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
    fn begin(&mut self, schedule: &Schedule, inputs: &[W]) {
        if self.0.len() < schedule.slot_count() {
            // Not resized, which could leave a copy behind.
            self.0.zeroize();
            self.0 = vec![W::default(); schedule.slot_count()];
        }
        self.0[..inputs.len()].copy_from_slice(inputs);
    }

    /// Continues to the end, or until no AND gate is `left`.
    fn run(
        &mut self,
        schedule: &Schedule,
        running: &mut Running,
        one: W,
        left: &mut usize,
        and: &mut impl FnMut(W, W) -> W,
    ) {
        let slots = &mut self.0[..];
        while let Some(step) = schedule.steps().get(running.step) {
            let todo = running.ands_left.unwrap_or_else(|| {
                for op in &schedule.xors()[running.xors..][..step.xors as usize] {
                    slots[op.out as usize] = slots[op.a as usize] ^ slots[op.b as usize];
                }
                running.xors += step.xors as usize;
                step.ands as usize
            });
            let now = todo.min(*left);
            for op in &schedule.ands()[running.ands..][..now] {
                slots[op.out as usize] = and(value(slots, op.a, one), value(slots, op.b, one));
            }
            running.ands += now;
            *left -= now;
            if now < todo {
                running.ands_left = Some(todo - now);
                return;
            }
            running.ands_left = None;
            running.step += 1;
        }
    }

    /// Appends the outputs of a completed component.
    fn outputs(&self, schedule: &Schedule, one: W, outputs: &mut Vec<W>) {
        outputs.extend(schedule.outputs().iter().map(|output| match *output {
            OutputWire::Slot(operand) => value(&self.0, operand, one),
            OutputWire::Constant(value) => flip(W::default(), value, one),
        }));
    }
}

/// The value of an operand. Inlined, since each of these large values would be passed through memory otherwise.
#[inline(always)]
fn value<W: Copy + BitXor<Output = W>>(slots: &[W], operand: Operand, one: W) -> W {
    flip(slots[operand.slot()], operand.inverted(), one)
}

/// A value, or its negation.
#[inline(always)]
fn flip<W: BitXor<Output = W>>(value: W, invert: bool, one: W) -> W {
    if invert { value ^ one } else { value }
}

/// The values of all inputs and outputs whose bits the evaluator does not learn, [`Plan::sought`] of them.
pub(crate) fn sought<W: Copy + Zeroize>(plan: &Plan, inputs: &[W], outputs: &[W]) -> Zeroizing<Vec<W>> {
    let mut sought = Zeroizing::new(Vec::with_capacity(plan.sought()));
    let (owners, learned) = (plan.owners(), plan.learned(EVALUATOR));
    sought.extend(inputs.iter().zip(owners).filter(|(_, owner)| *owner != Owner::Evaluator).map(|(&wire, _)| wire));
    sought.extend(outputs.iter().zip(learned).filter(|(_, learned)| !learned).map(|(&wire, _)| wire));
    sought
}

/// The solderings that join wires in pairs to the input buckets. A last wire without a partner goes to both ends, since a bucket reveals no value if the key
/// of one end is unknown.
fn sought_solderings<W>(sought: &[W], buckets: &[[W; 2]]) -> Vec<W>
where
    W: Copy + BitXor<Output = W>,
{
    let join = |(pair, ends): (&[W], &[W; 2])| {
        let wires = pair.iter().chain(pair);
        wires.zip(ends).map(|(&wire, &end)| wire ^ end).collect::<Vec<W>>()
    };
    sought.chunks(2).zip(buckets).flat_map(join).collect()
}
