//! The components of a program, made ready for garbling and evaluating.

use garblet_circuit::{
    InstanceId, OutputWire, Program, Schedule, ScheduleDigest, StoredParts, StoredSchedule, diagnostic::Diagnostic,
};
use garblet_primitives::{Block, GateList, Labels, Op, QUAD_LANES};

use crate::config::CHUNK_ANDS;

/// The schedules of a program's components, made once and used by any number of garblings.
#[derive(Default)]
pub struct Schedules {
    components: Vec<ScheduledComponent>,
    and_count: u64,
    digest: ScheduleDigest,
}

/// One component: its gates on label slots, and the places of its outputs.
pub(crate) struct ScheduledComponent {
    pub(crate) gates: GateList,
    outputs: Vec<OutputWire>,
    /// If the component's gates are not in memory: its schedule. Then `gates` has none.
    stored: Option<StoredSchedule>,
}

impl Schedules {
    /// Schedules every component of a program.
    ///
    /// # Panics
    /// If gates are not in memory.
    pub fn new(program: &Program) -> Self {
        let schedules: Vec<Schedule> = program.components().iter().map(|c| Schedule::new(c.circuit())).collect();
        Schedules::ready(program, &schedules)
    }

    /// The same from the results of [`Schedule::new`] for each component.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn ready(program: &Program, schedules: &[Schedule]) -> Self {
        let components = schedules.iter().map(ScheduledComponent::new).collect();
        Schedules::of_components(program, components, schedules.iter().map(Schedule::digest))
    }

    /// Schedules every component of a program, whose gates may be read from outside now and while it is garbled or evaluated.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn reading(program: &Program) -> Result<Self, Diagnostic> {
        let (mut components, mut digests) = (Vec::new(), Vec::new());
        for circuit in program.components().iter().map(|component| component.circuit()) {
            let (component, digest) = match circuit.stored_gates() {
                None => {
                    let schedule = Schedule::new(circuit);
                    (ScheduledComponent::new(&schedule), schedule.digest())
                }
                Some(gates) => {
                    let stored = StoredSchedule::new(gates.clone())?;
                    let (frame, digest) = (stored.frame(), stored.digest());
                    (ScheduledComponent { stored: Some(stored), ..ScheduledComponent::new(&frame) }, digest)
                }
            };
            components.push(component);
            digests.push(digest);
        }
        Ok(Schedules::of_components(program, components, digests))
    }

    fn of_components(
        program: &Program,
        components: Vec<ScheduledComponent>,
        digests: impl IntoIterator<Item = ScheduleDigest>,
    ) -> Self {
        let ands_of = |i| components[program.component_id(InstanceId(i as u32)).0 as usize].and_count();
        let and_count = (0..program.instance_count()).map(ands_of).sum();
        // The grouping of instances and the chunks of tables are part of the order of tables.
        let digest = ScheduleDigest::of_digests(digests, &[QUAD_LANES as u64, CHUNK_ANDS as u64]);
        Schedules { components, and_count, digest }
    }

    /// The number of garbled AND gates of the whole program, at most that of its circuits: gates without effect on
    /// an output are omitted.
    pub fn and_count(&self) -> u64 {
        self.and_count
    }

    /// The digest of everything that determines the order of tables, on which garbler and evaluator must agree.
    pub fn digest(&self) -> ScheduleDigest {
        self.digest
    }

    pub(crate) fn of(&self, program: &Program, instance: InstanceId) -> &ScheduledComponent {
        &self.components[program.component_id(instance).0 as usize]
    }
}

impl ScheduledComponent {
    pub(crate) fn new(schedule: &Schedule) -> Self {
        let steps = schedule.steps().iter().map(|step| [step.xors, step.ands]).collect();
        let xor = |op: &garblet_circuit::XorOp| Op { a: op.a, b: op.b, out: op.out, inverted: [false; 2] };
        let and = |op: &garblet_circuit::AndOp| Op {
            a: op.a.slot() as u32,
            b: op.b.slot() as u32,
            out: op.out,
            inverted: [op.a.inverted(), op.b.inverted()],
        };
        let xors: Vec<Op> = schedule.xors().iter().map(xor).collect();
        let ands: Vec<Op> = schedule.ands().iter().map(and).collect();
        let gates = GateList::new(schedule.slot_count(), steps, &xors, &ands);
        ScheduledComponent { gates, outputs: schedule.outputs().to_vec(), stored: None }
    }

    fn and_count(&self) -> u64 {
        self.stored.as_ref().map_or(self.gates.and_count() as u64, StoredSchedule::and_count)
    }

    /// The gates in parts, if they are not in memory.
    pub(crate) fn parts(&self) -> Option<StoredParts> {
        self.stored.as_ref().map(StoredSchedule::parts)
    }

    /// The outputs of a copy after all gates ran, appended to `into`; `negation` turns a wire's label into the label of its negation.
    pub(crate) fn outputs(&self, slots: &Labels, copy: usize, negation: Block, into: &mut Vec<Block>) {
        into.extend(self.output_labels(negation, |slot| slots.get(copy, slot)));
    }

    /// The number of outputs.
    pub(crate) fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// The slot of an output, unless it is constant, and the block that turns the label there, or zero, into the output's.
    #[inline]
    pub(crate) fn output(&self, number: usize, negation: Block) -> (Option<usize>, Block) {
        match self.outputs[number] {
            OutputWire::Slot(operand) => (Some(operand.slot()), Block::mask(operand.inverted()) & negation),
            OutputWire::Constant(value) => (None, Block::mask(value) & negation),
        }
    }

    /// The outputs' labels, from those in the slots.
    pub(crate) fn output_labels(&self, negation: Block, label: impl Fn(usize) -> Block) -> impl Iterator<Item = Block> {
        (0..self.outputs.len()).map(move |number| {
            let (slot, negation) = self.output(number, negation);
            slot.map_or(Block::ZERO, &label) ^ negation
        })
    }
}
