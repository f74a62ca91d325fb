//! The components of a program, made ready for garbling and evaluating.

use std::sync::Arc;

use garblet_circuit::{
    Component, InstanceId, OutputWire, Program, Schedule, ScheduleDigest, StoredParts, StoredSchedule, TruthTable,
    diagnostic::Diagnostic,
};
use garblet_primitives::{Block, GateList, Labels, Op, QUAD_LANES};

use crate::{
    config::{CHUNK_ANDS, GarblingConfig},
    lookup::Lookup,
};

/// The schedules of a program's components, made once and used by any number of garblings.
#[derive(Default)]
pub struct Schedules {
    components: Arc<[ScheduledComponent]>,
    digests: Arc<[ScheduleDigest]>,
    /// The components that are garbled as tables: one entry for each component, or none.
    tables: Vec<Option<Table>>,
    and_count: u64,
    digest: ScheduleDigest,
}

/// A component that is garbled as a table.
pub(crate) struct Table {
    pub(crate) lookup: Lookup,
    /// The gates whose place it takes in chunks: the fewest with as many bytes.
    pub(crate) gates: u64,
    /// Bytes of one of them.
    pub(crate) gate_bytes: usize,
}

impl Table {
    /// Bytes of the gates whose place it takes: of the garbled table, and zeros.
    pub(crate) fn bytes(&self) -> usize {
        self.gates as usize * self.gate_bytes
    }

    /// The component as a table, if that takes fewer bytes than its gates.
    ///
    /// *Errors*: gates that cannot be read again.
    fn of(
        component: &Component,
        scheduled: &ScheduledComponent,
        config: GarblingConfig,
    ) -> Result<Option<Self>, Diagnostic> {
        let circuit = component.circuit();
        let Some(bytes) = TruthTable::garbled_bytes(circuit.input_count(), circuit.outputs().len()) else {
            return Ok(None);
        };
        if !TruthTable::replaces(circuit, scheduled.and_count()) {
            return Ok(None);
        }
        let (gate_bytes, _) = config.scheme.sizes();
        let gates = bytes.div_ceil(gate_bytes as u64);
        let table = match circuit.stored_gates() {
            None => TruthTable::of(circuit),
            Some(_) => TruthTable::of(&circuit.whole()?),
        };
        Ok(Some(Table { lookup: Lookup::new(table, bytes), gates, gate_bytes }))
    }
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
        Schedules::of_parts(program, components.into(), digests.into_iter().collect(), Vec::new())
    }

    fn of_parts(
        program: &Program,
        components: Arc<[ScheduledComponent]>,
        digests: Arc<[ScheduleDigest]>,
        tables: Vec<Option<Table>>,
    ) -> Self {
        let table = |component: usize| tables.get(component)?.as_ref();
        let ands_of = |i| {
            let component = program.component_id(InstanceId(i as u32)).0 as usize;
            table(component).map_or_else(|| components[component].and_count(), |table| table.gates)
        };
        let and_count = (0..program.instance_count()).map(ands_of).sum();
        // The grouping of instances, the chunks of tables and the components that are tables are part of the order.
        let tabled = (0..components.len()).filter(|&component| table(component).is_some()).map(|number| number as u64);
        let numbers: Vec<u64> = [QUAD_LANES as u64, CHUNK_ANDS as u64].into_iter().chain(tabled).collect();
        let digest = ScheduleDigest::of_digests(digests.iter().copied(), &numbers);
        Schedules { components, digests, tables, and_count, digest }
    }

    /// The same, with each component garbled as a table that is [shorter](TruthTable::is_shorter) so.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn with_tables(&self, program: &Program, config: GarblingConfig) -> Result<Self, Diagnostic> {
        let each = program.components().iter().zip(self.components.iter());
        let tables = match config.garbles_tables() {
            true => each.map(|(component, scheduled)| Table::of(component, scheduled, config)).collect(),
            false => Ok(Vec::new()),
        };
        Ok(Schedules::of_parts(program, self.components.clone(), self.digests.clone(), tables?))
    }

    /// The number of garbled AND gates of the whole program, at most that of its circuits: gates without effect on
    /// an output are omitted, and a component that is garbled as a table counts as the gates whose bytes it takes.
    pub fn and_count(&self) -> u64 {
        self.and_count
    }

    /// The digest of everything that determines the order of tables, on which garbler and evaluator must agree.
    pub fn digest(&self) -> ScheduleDigest {
        self.digest
    }

    /// Tells whether a component is garbled as a table.
    pub fn is_table(&self, component: usize) -> bool {
        self.tables.get(component).is_some_and(Option::is_some)
    }

    pub(crate) fn of(&self, program: &Program, instance: InstanceId) -> &ScheduledComponent {
        &self.components[program.component_id(instance).0 as usize]
    }

    /// The table of an instance that is garbled as one.
    pub(crate) fn table_of(&self, program: &Program, instance: InstanceId) -> Option<&Table> {
        self.tables.get(program.component_id(instance).0 as usize)?.as_ref()
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
