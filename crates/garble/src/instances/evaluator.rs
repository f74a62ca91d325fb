//! Evaluating instances, in groups that run side by side.

use garblet_primitives::{Block, Cursor, Slots, WideSlots};

use super::Instances;
use crate::{
    evaluator::unpack,
    run::{EvaluateMany, EvaluatePiece},
};

/// Instances of one sequence that run together: number `first` and those that follow it.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// Of which component.
    pub of: &'a Instances,
    /// The number of the sequence's first gate.
    pub base: u64,
    /// The first instance's number within the sequence.
    pub first: u64,
    /// How many there are; [`Instances::group`] says how many there may be.
    pub count: usize,
    /// Their tables, see [`Instances::weave`].
    pub tables: &'a [u8],
}

/// Evaluates instances of any components under one hash seed.
///
/// *Secret*: the labels; they are wiped on drop.
pub struct InstanceEvaluator {
    hash_seed: Block,
    slots: Slots,
    wide: WideSlots,
    controls: Vec<u8>,
}

/// A group that awaits its input labels.
pub struct GroupEvaluation<'e, 'a> {
    evaluator: &'e mut InstanceEvaluator,
    group: Group<'a>,
}

impl InstanceEvaluator {
    /// An evaluator of what was garbled under that hash seed.
    pub fn new(hash_seed: Block) -> Self {
        InstanceEvaluator { hash_seed, slots: Slots::default(), wide: WideSlots::default(), controls: Vec::new() }
    }

    /// Begins a group.
    ///
    /// # Panics
    /// If there are more instances than a group has, or other tables.
    pub fn begin<'e, 'a>(&'e mut self, group: Group<'a>) -> GroupEvaluation<'e, 'a> {
        let Group { of, count, tables, .. } = group;
        assert!(of.is_wide() || count == 1, "{count} instances in a group");
        assert_eq!(tables.len(), of.woven_bytes(count), "bytes of the tables of {count} instances");
        match of.is_wide() {
            true => self.wide.begin(&of.component.gates, count),
            false => {
                self.slots.begin_one(&of.component.gates, of.input_count);
            }
        }
        GroupEvaluation { evaluator: self, group }
    }

    /// Evaluates any instances of the sequence that begins at gate `base`: `ks[i]` is the number of the `i`-th.
    ///
    /// *Shape*: `inputs` holds the active labels of the instances' inputs one after another, `outputs` likewise takes those
    /// of the outputs; `tables[i]` are the tables of the `i`-th.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn evaluate(
        &mut self,
        (of, base): (&Instances, u64),
        ks: &[u64],
        inputs: &[Block],
        tables: &[&[u8]],
        outputs: &mut [Block],
    ) {
        let (ins, outs, count) = (of.input_count(), of.output_count(), ks.len());
        assert_eq!([inputs.len(), outputs.len()], [count * ins, count * outs], "labels of {count} instances");
        assert_eq!(tables.len(), count, "tables of instances");
        let mut woven = Vec::new();
        let mut done = 0;
        while done < count {
            let group = of.group(&ks[done..]);
            woven.resize(of.woven_bytes(group), 0);
            for (i, table) in tables[done..][..group].iter().enumerate() {
                of.weave(i, group, table, &mut woven);
            }
            let mut begun = self.begin(Group { of, base, first: ks[done], count: group, tables: &woven });
            for i in 0..group {
                begun.put(i, 0, inputs[(done + i) * ins..][..ins].iter().copied());
            }
            begun.run(&mut outputs[done * outs..][..group * outs]);
            done += group;
        }
    }
}

impl GroupEvaluation<'_, '_> {
    /// Sets the active labels of an instance's inputs from wire `first` on.
    ///
    /// # Panics
    /// If there is no such instance or wire.
    #[inline]
    pub fn put(&mut self, instance: usize, first: usize, labels: impl Iterator<Item = Block>) {
        match self.group.of.is_wide() {
            true => self.evaluator.wide.put(instance, first, labels),
            false => {
                let inputs = &mut self.evaluator.slots.first_mut(self.group.of.input_count)[first..];
                inputs.iter_mut().zip(labels).for_each(|(input, label)| *input = label);
            }
        }
    }

    /// Evaluates, once all inputs have labels. `outputs` takes the labels of the instances' outputs one after another.
    ///
    /// # Panics
    /// If there are more or fewer outputs.
    pub fn run(self, outputs: &mut [Block]) {
        let Group { of, base, first, count, .. } = self.group;
        assert_eq!(outputs.len(), count * of.output_count(), "outputs of {count} instances");
        let first_gate = base + of.numbering.first_gate(first);
        match of.functions.many {
            Some(many) if of.is_wide() => self.run_many(many.evaluate, first_gate, outputs),
            _ => self.run_one(first_gate, outputs),
        }
    }

    fn run_one(self, first_gate: u64, outputs: &mut [Block]) {
        let InstanceEvaluator { hash_seed, slots, controls, .. } = self.evaluator;
        let of = self.group.of;
        let (tables, packed) = self.group.tables.split_at(of.whole_table_bytes());
        unpack(packed, of.control_bits(), of.component.gates.and_count(), controls);
        let mut cursor = Cursor::default();
        let piece = of.piece(&mut cursor, slots, *hash_seed, first_gate);
        (of.functions.evaluate)(of.backend, EvaluatePiece { piece, tables, controls });
        let [_, flip] = (of.functions.flips)(Block::ZERO);
        let labels = of.component.output_labels(flip, |slot| slots.get(0, slot));
        outputs.iter_mut().zip(labels).for_each(|(out, label)| *out = label);
    }

    fn run_many(
        self,
        evaluate: fn(garblet_primitives::Backend, EvaluateMany<'_>),
        first_gate: u64,
        outputs: &mut [Block],
    ) {
        let InstanceEvaluator { hash_seed, wide, controls, .. } = self.evaluator;
        let Group { of, count, tables, .. } = self.group;
        let ands = of.component.gates.and_count();
        let (tables, packed) = tables.split_at(tables.len() - count * of.packed_bytes());
        controls.clear();
        if of.control_bits() > 0 {
            let mut own = Vec::new();
            for packed in packed.chunks_exact(of.packed_bytes()) {
                unpack(packed, of.control_bits(), ands, &mut own);
                controls.append(&mut own);
            }
        }
        let many = of.many(wide, count, *hash_seed, first_gate);
        evaluate(of.backend, EvaluateMany { many, tables, controls });
        let [_, flip] = (of.functions.flips)(Block::ZERO);
        of.put_outputs(wide, flip, outputs);
    }
}
