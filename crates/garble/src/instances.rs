//! Instances of one component, garbled by themselves, for components that are prepared before their program is known.

mod evaluator;

use garblet_circuit::{self as circuit, Schedule, ScheduleDigest, Windows};
use garblet_primitives::{
    Backend, BatchLabels, Block, Cursor, Delta, GateList, KeyPeriod, Labels, MAX_BATCH, QUAD_LANES,
};

use crate::{
    config::GarblingConfig,
    garbler::{Seeds, pack},
    run::{GarbleBatch, GarblePiece, Piece, SchemeKernels},
    schedules::ScheduledComponent,
};

pub use evaluator::{Group, InstanceEvaluator};

/// The number of gates numbered together, under one hash key; fewer if a key serves fewer.
const PAGE_GATES: u64 = 1024;

/// The most AND gates of components that run side by side, several to a page; larger ones fill vectors by themselves.
const MAX_BATCHED_ANDS: u64 = 256;

/// The numbers that determine the order and the numbering of gates; parties that garble components ahead compare them before they have any.
pub fn order_of_gates() -> ScheduleDigest {
    let [gates, wide_gates, cached_slots] = Windows::STANDARD.numbers();
    let numbers = [gates, wide_gates, cached_slots, QUAD_LANES as u64, PAGE_GATES, MAX_BATCHED_ANDS];
    ScheduleDigest::of_all([], &numbers)
}

/// The numbering of the AND gates of a sequence of instances: no number repeats, and consecutive instances can
/// run side by side under one hash key.
///
/// A page holds as many whole instances as fit. Small components are numbered across: gate `g` of the `i`-th of `p`
/// instances of a page is gate `g p + i` of the page. Larger ones are numbered one after another, and those that are larger
/// than a page take several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// Instances that share a page.
    per_page: u64,
    /// Gates from one group of `per_page` instances to the next.
    span: u64,
    /// The distance from one gate of an instance to its next.
    stride: u64,
    /// The distance from one instance of a page to the next.
    step: u64,
}

impl Numbering {
    fn new(and_count: u64, key_period: KeyPeriod, side_by_side: bool) -> Self {
        let page = PAGE_GATES.min(key_period.gates());
        if and_count == 0 {
            return Numbering { per_page: u64::MAX, span: 0, stride: 1, step: 0 };
        }
        let per_page = (page / and_count).max(1);
        match side_by_side && and_count <= MAX_BATCHED_ANDS && per_page > 1 {
            true => Numbering { per_page, span: page, stride: per_page, step: 1 },
            false => Numbering { per_page, span: and_count.div_ceil(page) * page, stride: 1, step: and_count },
        }
    }

    fn numbers(self) -> [u64; 4] {
        let Numbering { per_page, span, stride, step } = self;
        [per_page, span, stride, step]
    }

    /// The number of the first AND gate of instance `k` of a sequence.
    pub fn first_gate(&self, k: u64) -> u64 {
        k / self.per_page * self.span + k % self.per_page * self.step
    }

    /// The gate numbers that the first `count` instances take, including unused ones: the numbers of another sequence may
    /// begin there.
    pub fn gates(&self, count: u64) -> u64 {
        count.div_ceil(self.per_page) * self.span
    }

    /// The number of instances at the start of `ks` that can run side by side: they follow one another within a page.
    fn group(&self, ks: &[u64]) -> usize {
        let next_ones = ks.iter().zip(ks[0]..).take(MAX_BATCH);
        let run = next_ones.take_while(|(k, next)| *k == next).count();
        let page_rest = self.per_page - ks[0] % self.per_page;
        run.min(usize::try_from(page_rest).unwrap_or(usize::MAX))
    }
}

/// One component, made ready for garbling and evaluating instance by instance.
///
/// Instances are numbered within a sequence chosen by the caller, see [`Numbering`]; `base` is the number of the first
/// gate of the sequence.
/// *Unique*: under one delta and hash seed, an instance of a sequence is garbled once, and sequences do not overlap.
pub struct ComponentGarbling {
    component: ScheduledComponent,
    input_count: usize,
    config: GarblingConfig,
    kernels: SchemeKernels,
    backend: Backend,
    numbering: Numbering,
    digest: ScheduleDigest,
}

impl ComponentGarbling {
    /// Schedules a component.
    pub fn new(component: &circuit::Component, config: GarblingConfig) -> Self {
        let schedule = Schedule::new(component.circuit());
        let kernels = SchemeKernels::of(config);
        let numbering = Numbering::new(schedule.and_count(), kernels.key_period, kernels.batch.is_some());
        ComponentGarbling {
            component: ScheduledComponent::new(&schedule),
            input_count: schedule.input_count(),
            config,
            kernels,
            backend: Backend::detect(),
            numbering,
            digest: ScheduleDigest::of_all([&schedule], &numbering.numbers()),
        }
    }

    /// Runs on this backend instead of the fastest; tables and labels are the same.
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// Input wires of an instance.
    pub fn input_count(&self) -> usize {
        self.input_count
    }

    /// Output wires of an instance.
    pub fn output_count(&self) -> usize {
        self.component.output_count()
    }

    /// AND gates of an instance.
    pub fn and_count(&self) -> u64 {
        self.component.gates.and_count() as u64
    }

    /// Bytes of an instance's tables.
    pub fn table_bytes(&self) -> usize {
        self.config.chunk_bytes(self.component.gates.and_count())
    }

    /// The digest of the order and the numbering of its gates, on which both parties must agree.
    pub fn digest(&self) -> ScheduleDigest {
        self.digest
    }

    /// The numbering of the gates.
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// Begins to garble instances of the sequence that begins at gate `base`.
    pub fn garbler<'a>(&'a self, delta: &'a Delta, seeds: &'a Seeds, base: u64) -> InstanceGarbler<'a> {
        InstanceGarbler { of: self, delta, seeds, base, slots: Labels::default(), wide: BatchLabels::default() }
    }

    /// The number of instances at the start of `ks` that are evaluated as one [`Group`]: they follow one
    /// another, and share a hash key.
    pub fn group(&self, ks: &[u64]) -> usize {
        if self.is_wide() { self.numbering.group(ks) } else { 1 }
    }

    /// Bytes of the tables of a group as [`ComponentGarbling::interleave_tables`] lays them out.
    pub fn interleaved_bytes(&self, count: usize) -> usize {
        match self.is_wide() {
            true => count.next_multiple_of(QUAD_LANES) * self.whole_table_bytes() + count * self.packed_bytes(),
            false => count * self.table_bytes(),
        }
    }

    /// Writes the tables of an instance to their places in its group, where the tables of all instances alternate gate by gate.
    ///
    /// *Shape*: `interleaved` has [`ComponentGarbling::interleaved_bytes`] for `count` instances, of which this is number
    /// `instance`.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn interleave_tables(&self, instance: usize, count: usize, tables: &[u8], interleaved: &mut [u8]) {
        assert!(
            instance < count && interleaved.len() == self.interleaved_bytes(count),
            "room for the tables of {count} instances"
        );
        assert_eq!(tables.len(), self.table_bytes(), "bytes of an instance's tables");
        if !self.is_wide() {
            return interleaved[instance * tables.len()..][..tables.len()].copy_from_slice(tables);
        }
        let gate_bytes = self.config.scheme.sizes().0;
        let lanes = count.next_multiple_of(QUAD_LANES) * gate_bytes;
        let (gates, packed) = tables.split_at(self.whole_table_bytes());
        let (interleaved, interleaved_packed) = interleaved.split_at_mut(self.component.gates.and_count() * lanes);
        for (from, to) in gates.chunks_exact(gate_bytes).zip(interleaved.chunks_exact_mut(lanes)) {
            to[instance * gate_bytes..][..gate_bytes].copy_from_slice(from);
        }
        interleaved_packed[instance * packed.len()..][..packed.len()].copy_from_slice(packed);
    }

    fn whole_table_bytes(&self) -> usize {
        self.component.gates.and_count() * self.config.scheme.sizes().0
    }

    fn control_bits(&self) -> usize {
        self.config.scheme.sizes().1
    }

    fn is_wide(&self) -> bool {
        self.kernels.batch.is_some() && self.numbering.stride > 1
    }

    /// Bytes of the further bits of an instance's tables.
    fn packed_bytes(&self) -> usize {
        self.table_bytes() - self.whole_table_bytes()
    }

    fn piece<'a>(
        &'a self,
        cursor: &'a mut Cursor,
        slots: &'a mut Labels,
        hash_seed: Block,
        first_gate: u64,
    ) -> Piece<'a> {
        let gates = &self.component.gates;
        Piece { gates, cursor, slots, limit: gates.and_count(), hash_seed, first_gate }
    }

    /// The gates of an instance.
    pub(crate) fn gates(&self) -> &GateList {
        &self.component.gates
    }

    /// The distance between the numbers of an instance's consecutive gates.
    pub(crate) fn stride(&self) -> u64 {
        self.numbering.stride
    }

    /// The outputs of a list of instances that ran side by side, instance after instance.
    fn put_outputs(&self, (labels, per_slot): (&[Block], usize), negation: Block, outputs: &mut [Block]) {
        let count = self.output_count();
        for number in 0..count {
            let (slot, negation) = self.component.output(number, negation);
            let labels = slot.map(|slot| &labels[slot * per_slot..]);
            let mut at = number;
            for instance in 0..outputs.len() / count {
                outputs[at] = labels.map_or(Block::ZERO, |labels| labels[instance]) ^ negation;
                at += count;
            }
        }
    }
}

/// Garbles instances of one sequence.
pub struct InstanceGarbler<'a> {
    of: &'a ComponentGarbling,
    delta: &'a Delta,
    seeds: &'a Seeds,
    base: u64,
    slots: Labels,
    wide: BatchLabels,
}

impl InstanceGarbler<'_> {
    /// Garbles `count` instances from number `first` on.
    ///
    /// *Shape*: `inputs` holds the zero labels of the instances' inputs one after another, `outputs` likewise receives those
    /// of the outputs, and `tables` the tables.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn garble(&mut self, first: u64, count: usize, inputs: &[Block], tables: &mut [u8], outputs: &mut [Block]) {
        let of = self.of;
        let (ins, outs, bytes) = (of.input_count, of.output_count(), of.table_bytes());
        assert_eq!(
            [inputs.len(), outputs.len(), tables.len()],
            [count * ins, count * outs, count * bytes],
            "labels and tables of {count} instances"
        );
        let ks: Vec<u64> = (first..first + count as u64).collect();
        let mut done = 0;
        while done < count {
            let group = of.group(&ks[done..]);
            let first_gate = self.base + of.numbering.first_gate(ks[done]);
            let inputs = &inputs[done * ins..][..group * ins];
            let tables = &mut tables[done * bytes..][..group * bytes];
            let outputs = &mut outputs[done * outs..][..group * outs];
            match of.kernels.batch {
                Some(batch) if of.is_wide() => self.group(batch.garble, first_gate, inputs, tables, outputs),
                _ => self.one(first_gate, inputs, tables, outputs),
            }
            done += group;
        }
    }

    fn one(&mut self, first_gate: u64, inputs: &[Block], tables: &mut [u8], outputs: &mut [Block]) {
        let of = self.of;
        let [negation, _] = (of.kernels.negation_offsets)(self.delta.block());
        let (tables, packed) = tables.split_at_mut(of.whole_table_bytes());
        let mut controls = vec![0; if of.control_bits() > 0 { of.component.gates.and_count() } else { 0 }];
        let mut cursor = Cursor::default();
        self.slots.begin(&of.component.gates, 1, inputs);
        let piece = GarblePiece {
            piece: of.piece(&mut cursor, &mut self.slots, self.seeds.hash, first_gate),
            delta: self.delta.block(),
            secret: *self.seeds.secret,
            tables,
            controls: &mut controls,
        };
        (of.kernels.garble)(of.backend, piece);
        pack(&controls, of.control_bits(), packed);
        let slots = self.slots.of_one();
        let labels = of.component.output_labels(negation, |slot| slots[slot]);
        outputs.iter_mut().zip(labels).for_each(|(out, label)| *out = label);
    }

    fn group(
        &mut self,
        garble: fn(Backend, GarbleBatch<'_>),
        first_gate: u64,
        inputs: &[Block],
        tables: &mut [u8],
        outputs: &mut [Block],
    ) {
        let of = self.of;
        let ands = of.component.gates.and_count();
        let (whole, instances) = (of.whole_table_bytes(), tables.len() / of.table_bytes());
        let mut controls = vec![0; if of.control_bits() > 0 { ands * instances } else { 0 }];
        let (gates, packed): (Vec<_>, Vec<_>) =
            tables.chunks_exact_mut(of.table_bytes()).map(|table| table.split_at_mut(whole)).unzip();
        self.wide.begin(std::iter::once((of.gates(), instances)));
        for (i, inputs) in inputs.chunks_exact(of.input_count.max(1)).enumerate() {
            self.wide.put(0, i, 0, inputs.iter().copied());
        }
        let batch = GarbleBatch {
            gates: of.gates(),
            stride: of.stride(),
            slots: &mut self.wide,
            hash_seed: self.seeds.hash,
            first_gate,
            delta: self.delta.block(),
            secret: *self.seeds.secret,
            tables: gates,
            controls: &mut controls,
        };
        garble(of.backend, batch);
        for (i, packed) in packed.into_iter().enumerate() {
            pack(controls.get(i * ands..(i + 1) * ands).unwrap_or_default(), of.control_bits(), packed);
        }
        let [negation, _] = (of.kernels.negation_offsets)(self.delta.block());
        of.put_outputs(self.wide.labels(0), negation, outputs);
    }
}
