//! Evaluates instances, in groups that run side by side and in turn.

use garblet_primitives::{
    Backend, BatchLabels, Block, Cursor, Gather, Labels, MAX_INTERLEAVED, QUAD_LANES, RekeyedKeys, Sources,
};
use zeroize::Zeroizing;

use super::ComponentGarbling;
use crate::{
    evaluator::unpack,
    run::{EvaluateBatch, EvaluatePiece, Lanes},
};

/// The most label vectors per wire for groups in turn together: more would not stay in the first-level cache.
const MAX_INTERLEAVED_QUADS: usize = 9;

/// Consecutive instances of one sequence that run together.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// Their component.
    pub of: &'a ComponentGarbling,
    /// The number of the first instance's first gate, see [`Numbering::first_gate`](super::Numbering::first_gate).
    pub first_gate: u64,
    /// The number of instances; [`ComponentGarbling::group`] says how many there may be.
    pub count: usize,
    /// Their tables, see [`ComponentGarbling::interleave_tables`].
    pub tables: &'a [u8],
    /// The labels for the input wires of all of them. The slots of inputs are the input wires.
    pub gathers: &'a [Gather],
    /// The destination for the labels of the outputs: output after output, each for all instances.
    pub outputs: usize,
}

impl Group<'_> {
    fn quads(&self) -> usize {
        self.count.div_ceil(QUAD_LANES)
    }

    /// The place of the outputs' labels.
    fn outputs<'l>(&self, labels: &'l mut [Block]) -> &'l mut [Block] {
        &mut labels[self.outputs..][..self.count * self.of.output_count()]
    }

    fn lanes(&self) -> Lanes<'_> {
        let Group { of, first_gate, count, tables, gathers, .. } = *self;
        Lanes { gates: of.gates(), stride: of.stride(), first_gate, count, tables, gathers }
    }

    /// Tells whether both can run in turn.
    fn fits(&self, other: &Group<'_>) -> bool {
        let [a, b] = [self.of, other.of];
        a.is_wide() && b.is_wide() && (a.config, a.backend) == (b.config, b.backend)
    }
}

/// Evaluates instances of any components under one hash seed.
///
/// *Secret*: the labels; they are wiped on drop.
pub struct InstanceEvaluator {
    hash_seed: Block,
    slots: Labels,
    wide: BatchLabels,
    /// The keys of the backend used last.
    keys: Option<(Backend, RekeyedKeys)>,
    controls: Vec<u8>,
}

impl InstanceEvaluator {
    /// An evaluator of instances garbled under this hash seed.
    pub fn new(hash_seed: Block) -> Self {
        InstanceEvaluator {
            hash_seed,
            slots: Labels::default(),
            wide: BatchLabels::default(),
            keys: None,
            controls: Vec::new(),
        }
    }

    /// Reserves room for groups of these instances.
    pub fn reserve(&mut self, of: &ComponentGarbling) {
        match of.is_wide() {
            true => self.wide.reserve(of.gates(), MAX_INTERLEAVED_QUADS),
            false => self.slots.begin_one(of.gates(), of.input_count),
        }
    }

    /// Evaluates groups that do not read one another's outputs.
    ///
    /// *Shape*: gathers begin with labels among `labels` and add those among `added`; `labels` receives the output labels.
    ///
    /// # Panics
    /// If there are more instances than a group may have, tables of another length, or fewer labels than are read or written.
    pub fn run(&mut self, groups: &[Group<'_>], labels: &mut [Block], added: &[Block]) {
        let mut rest = groups;
        while let [first, ..] = rest {
            let mut quads = 0;
            let fitting = rest.iter().take_while(|group| {
                quads += group.quads();
                first.fits(group) && quads <= MAX_INTERLEAVED_QUADS
            });
            let together = fitting.take(MAX_INTERLEAVED).count().max(1);
            let (now, later) = rest.split_at(together);
            for Group { of, count, tables, .. } in now {
                assert!(of.is_wide() || *count == 1, "{count} instances in a group");
                assert_eq!(tables.len(), of.interleaved_bytes(*count), "bytes of the tables of {count} instances");
            }
            match first.of.kernels.batch {
                Some(batch) if first.of.is_wide() => self.run_batch(batch.evaluate, now, labels, added),
                _ => self.run_one(first, labels, added),
            }
            rest = later;
        }
    }

    /// Evaluates any instances of the sequence that begins at gate `base`: `ks[i]` is the number of the `i`-th.
    ///
    /// *Shape*: `inputs` holds the active labels of the instances' inputs one after another, `outputs` likewise receives those
    /// of the outputs; `tables[i]` are the tables of the `i`-th.
    ///
    /// # Panics
    /// If the shape is wrong.
    pub fn evaluate(
        &mut self,
        (of, base): (&ComponentGarbling, u64),
        ks: &[u64],
        inputs: &[Block],
        tables: &[&[u8]],
        outputs: &mut [Block],
    ) {
        let (ins, outs, count) = (of.input_count(), of.output_count(), ks.len());
        assert_eq!([inputs.len(), outputs.len()], [count * ins, count * outs], "labels of {count} instances");
        assert_eq!(tables.len(), count, "tables of instances");
        let mut labels = Zeroizing::new([inputs, &outputs[..]].concat());
        let mut interleaved = Vec::new();
        let mut gathers = Vec::new();
        let mut done = 0;
        while done < count {
            let group = of.group(&ks[done..]);
            interleaved.resize(of.interleaved_bytes(group), 0);
            for (i, table) in tables[done..][..group].iter().enumerate() {
                of.interleave_tables(i, group, table, &mut interleaved);
            }
            gathers.clear();
            gathers.extend((0..group.div_ceil(QUAD_LANES)).map(|quad| {
                let instance = |lane: usize| (done + (quad * QUAD_LANES + lane).min(group - 1)) * ins;
                let from = Sources::Strided(std::array::from_fn(|lane| instance(lane) as u32), [1; QUAD_LANES]);
                Gather { quad: quad as u32, slot: 0, len: ins as u32, from, add: None }
            }));
            let (first, first_gate) = (inputs.len() + done * outs, base + of.numbering.first_gate(ks[done]));
            let own = &mut outputs[done * outs..][..group * outs];
            let group = Group { of, first_gate, count: group, tables: &interleaved, gathers: &gathers, outputs: first };
            done += group.count;
            self.run(&[group], &mut labels, &[]);
            for (at, output) in own.iter_mut().enumerate() {
                *output = labels[first + at % outs * group.count + at / outs];
            }
        }
    }

    fn run_one(&mut self, group: &Group<'_>, labels: &mut [Block], added: &[Block]) {
        let InstanceEvaluator { hash_seed, slots, controls, .. } = self;
        let of = group.of;
        slots.begin_one(of.gates(), of.input_count);
        let inputs = slots.first_mut(of.input_count);
        for Gather { slot, len, from, add, .. } in group.gathers {
            let inputs = &mut inputs[*slot as usize..][..*len as usize];
            match from.of_first() {
                (first, 1) => inputs.copy_from_slice(&labels[first..][..inputs.len()]),
                (first, stride) => (0..).zip(&mut *inputs).for_each(|(i, input)| *input = labels[first + i * stride]),
            }
            if let Some([add, ..]) = add {
                let added = &added[*add as usize..][..*len as usize];
                inputs.iter_mut().zip(added).for_each(|(input, added)| *input ^= *added);
            }
        }
        let (tables, packed) = group.tables.split_at(of.whole_table_bytes());
        unpack(packed, of.control_bits(), of.gates().and_count(), controls);
        let mut cursor = Cursor::default();
        let piece = of.piece(&mut cursor, slots, *hash_seed, group.first_gate);
        (of.kernels.evaluate)(of.backend, EvaluatePiece { piece, tables, controls });
        let [_, negation] = (of.kernels.negation_offsets)(Block::ZERO);
        let slots = slots.of_one();
        let outputs = of.component.output_labels(negation, |slot| slots[slot]);
        group.outputs(labels).iter_mut().zip(outputs).for_each(|(out, label)| *out = label);
    }

    fn run_batch(
        &mut self,
        evaluate: fn(Backend, EvaluateBatch<'_>),
        groups: &[Group<'_>],
        labels: &mut [Block],
        added: &[Block],
    ) {
        let InstanceEvaluator { hash_seed, wide, keys, controls, .. } = self;
        controls.clear();
        for Group { of, count, tables, .. } in groups.iter().filter(|group| group.of.control_bits() > 0) {
            let mut own = Vec::new();
            for packed in tables[tables.len() - count * of.packed_bytes()..].chunks_exact(of.packed_bytes()) {
                unpack(packed, of.control_bits(), of.gates().and_count(), &mut own);
                controls.append(&mut own);
            }
        }
        wide.begin(groups.iter().map(|group| (group.of.gates(), group.count)));
        let Group { of, .. } = groups[0];
        let keys = match keys {
            Some((backend, keys)) if *backend == of.backend => keys,
            keys => &mut keys.insert((of.backend, RekeyedKeys::new(*hash_seed))).1,
        };
        let lanes: [Lanes<'_>; MAX_INTERLEAVED] = std::array::from_fn(|at| groups[at.min(groups.len() - 1)].lanes());
        let lanes = &lanes[..groups.len()];
        evaluate(of.backend, EvaluateBatch { groups: lanes, slots: wide, keys, labels, added, controls });
        let [_, negation] = (of.kernels.negation_offsets)(Block::ZERO);
        let is_flipped = negation != Block::ZERO;
        for (number, group) in groups.iter().enumerate() {
            let (lines, per_slot) = wide.labels(number);
            for (number, outputs) in group.outputs(labels).chunks_exact_mut(group.count).enumerate() {
                let (slot, negation) = group.of.component.output(number, negation);
                match slot {
                    Some(slot) => copy(&lines[slot * per_slot..], outputs),
                    None => outputs.fill(Block::ZERO),
                }
                if is_flipped {
                    outputs.iter_mut().for_each(|output| *output ^= negation);
                }
            }
        }
    }
}

/// Copies the first labels.
///
/// Four at a time, because they are read soon: half-blocks written one by one would have to reach the cache first.
fn copy(from: &[Block], to: &mut [Block]) {
    let (quads, rest) = to.as_chunks_mut::<QUAD_LANES>();
    let (from_quads, _) = from.as_chunks::<QUAD_LANES>();
    let last = &from[quads.len() * QUAD_LANES..];
    quads.iter_mut().zip(from_quads).for_each(|(to, from)| *to = *from);
    rest.iter_mut().zip(last).for_each(|(to, from)| *to = *from);
}
