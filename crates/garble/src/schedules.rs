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
    tables: Vec<Option<TabledComponent>>,
    /// The garbling that they were made for.
    config: GarblingConfig,
    and_count: u64,
    digest: ScheduleDigest,
}

/// A component that is garbled as a table.
pub(crate) struct TabledComponent {
    pub(crate) lookup: Arc<Lookup>,
    /// The gates whose place it takes in chunks: the fewest with as many bytes.
    pub(crate) gates: u64,
    /// Bytes of one of them.
    pub(crate) gate_bytes: usize,
}

impl TabledComponent {
    fn new(lookup: Arc<Lookup>, config: GarblingConfig) -> Self {
        let (gate_bytes, _) = config.scheme.sizes();
        TabledComponent { gates: lookup.bytes().div_ceil(gate_bytes) as u64, lookup, gate_bytes }
    }

    /// Bytes of the gates whose place it takes: of the garbled table, and zeros.
    pub(crate) fn bytes(&self) -> usize {
        self.gates as usize * self.gate_bytes
    }
}

/// The table of a component, if the component is to be garbled as one.
///
/// *Errors*: gates that cannot be read again.
fn lookup_of(component: &Component, scheduled: &ScheduledComponent) -> Result<Option<Arc<Lookup>>, Diagnostic> {
    let circuit = component.circuit();
    if !TruthTable::replaces(circuit, scheduled.and_count()) {
        return Ok(None);
    }
    let table = match circuit.stored_gates() {
        None => TruthTable::of(circuit),
        Some(_) => TruthTable::of(&circuit.whole()?),
    };
    Ok(Some(Arc::new(Lookup::new(table))))
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
        let digests = digests.into_iter().collect();
        Schedules::of_parts(program, components.into(), digests, (Vec::new(), GarblingConfig::default()))
    }

    fn of_parts(
        program: &Program,
        components: Arc<[ScheduledComponent]>,
        digests: Arc<[ScheduleDigest]>,
        (tables, config): (Vec<Option<TabledComponent>>, GarblingConfig),
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
        Schedules { components, digests, tables, config, and_count, digest }
    }

    /// The same, with each component garbled as a table that is [shorter](TruthTable::is_shorter) so.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn with_tables(&self, program: &Program, config: GarblingConfig) -> Result<Self, Diagnostic> {
        // They do not depend on the scheme, so those that are known are right.
        let lookups: Vec<Option<Arc<Lookup>>> = match (config.garbles_tables(), self.tables.is_empty()) {
            (false, _) => Vec::new(),
            (true, false) => self.tables.iter().map(|table| table.as_ref().map(|table| table.lookup.clone())).collect(),
            (true, true) => {
                let each = program.components().iter().zip(self.components.iter());
                each.map(|(component, scheduled)| lookup_of(component, scheduled)).collect::<Result<_, Diagnostic>>()?
            }
        };
        let tabled = |lookup| TabledComponent::new(lookup, config);
        let tables = lookups.into_iter().map(|lookup| lookup.map(tabled)).collect();
        Ok(Schedules::of_parts(program, self.components.clone(), self.digests.clone(), (tables, config)))
    }

    /// Checks that a garbling may use these schedules.
    ///
    /// # Panics
    /// If a component is a table for another scheme or hash.
    pub(crate) fn check(&self, config: GarblingConfig) {
        assert!(config == self.config || !self.tables.iter().any(Option::is_some), "tables of another garbling");
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
    pub(crate) fn table_of(&self, program: &Program, instance: InstanceId) -> Option<&TabledComponent> {
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
        into.extend(self.output_labels(negation, slots.of_copy(copy)));
    }

    /// The number of outputs.
    pub(crate) fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// The slot of an output, unless it is constant, and the block that turns the label there, or zero, into the output's.
    #[inline]
    pub(crate) fn output(&self, number: usize, negation: Block) -> (Option<usize>, Block) {
        place(self.outputs[number], negation)
    }

    /// The outputs' labels, from those in the slots.
    #[inline]
    pub(crate) fn output_labels(&self, negation: Block, label: impl Fn(usize) -> Block) -> impl Iterator<Item = Block> {
        self.outputs.iter().map(move |&output| {
            let (slot, negation) = place(output, negation);
            slot.map_or(Block::ZERO, &label) ^ negation
        })
    }
}

/// See [`ScheduledComponent::output`].
#[inline(always)]
fn place(output: OutputWire, negation: Block) -> (Option<usize>, Block) {
    match output {
        OutputWire::Slot(operand) => (Some(operand.slot()), Block::mask(operand.inverted()) & negation),
        OutputWire::Constant(value) => (None, Block::mask(value) & negation),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use garblet_circuit::{Party, Type};
    use garblet_synthesis::builder::{CircuitBuilder, Unsigned};

    use super::*;
    use crate::config::{HashKind, SchemeKind};

    pub(crate) fn with_a_table() -> (Program, Schedules) {
        let mut builder = CircuitBuilder::new("table");
        let index: Unsigned = builder.input("in", Type::Unsigned(8));
        let rows: Vec<u128> = (0..256).map(|row: u128| row * row * row % 251).collect();
        let entry = builder.lookup(&rows, 8, &index);
        builder.output("out", &entry);
        let program = Program::from_component(builder.finish().unwrap(), &[Party(0)]).unwrap();
        let schedules = Schedules::new(&program).with_tables(&program, GarblingConfig::default()).unwrap();
        assert!(schedules.is_table(0));
        (program, schedules)
    }

    #[test]
    fn schedules_for_another_scheme_have_the_same_tables_in_other_places() {
        let (program, schedules) = with_a_table();
        let three_halves = GarblingConfig { scheme: SchemeKind::ThreeHalves, ..GarblingConfig::default() };
        let others = schedules.with_tables(&program, three_halves).unwrap();
        assert_eq!(others.digest(), schedules.digest());
        assert_eq!([&schedules, &others].map(Schedules::and_count), [43, 58]);
        let gates = GarblingConfig { hash: HashKind::FixedKey, ..GarblingConfig::default() };
        let without = schedules.with_tables(&program, gates).unwrap();
        assert_eq!(without.digest(), Schedules::new(&program).digest());
        let again = without.with_tables(&program, GarblingConfig::default()).unwrap();
        assert_eq!(again.digest(), schedules.digest());
    }

    #[test]
    #[should_panic(expected = "tables of another garbling")]
    fn tables_for_another_hash_are_refused() {
        with_a_table().1.check(GarblingConfig { hash: HashKind::FixedKey, ..GarblingConfig::default() });
    }
}
