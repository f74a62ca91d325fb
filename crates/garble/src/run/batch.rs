//! Runs instances of a component side by side, one per lane, with the default hash; with other hashes, instances run one after
//! another.

use std::marker::PhantomData;

use garblet_primitives::{
    BatchGates, BatchLabels, Block, Engine, GateHash, GateList, GateNumber, Gather, Kernel, MAX_INTERLEAVED,
    QUAD_LANES, Rekeyed, RekeyedKeys, each,
};

use super::MAX_QUAD_BYTES;
use crate::scheme::{EvaluatorKeys, GarblerKeys, Scheme, Table, TableMut, negation_offsets};

/// Instances to garble.
pub(crate) struct GarbleBatch<'a> {
    pub(crate) gates: &'a GateList,
    /// The distance between the numbers of an instance's consecutive gates.
    pub(crate) stride: u64,
    /// Slots with room for the instances, and the labels of their inputs.
    pub(crate) slots: &'a mut BatchLabels,
    pub(crate) hash_seed: Block,
    pub(crate) first_gate: u64,
    pub(crate) delta: Block,
    /// Key of the garbler's secret randomness.
    pub(crate) secret: Block,
    /// Whole bytes of the instances' tables.
    pub(crate) tables: Vec<&'a mut [u8]>,
    /// A byte per gate for the further bits, instance after instance; empty if there are none.
    pub(crate) controls: &'a mut [u8],
}

/// Instances evaluated as one group.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    pub(crate) gates: &'a GateList,
    /// As for [`GarbleBatch`].
    pub(crate) stride: u64,
    pub(crate) first_gate: u64,
    /// The number of instances.
    pub(crate) count: usize,
    pub(crate) tables: &'a [u8],
    pub(crate) gathers: &'a [Gather],
}

/// Groups to evaluate in turn, at most [`MAX_INTERLEAVED`].
pub(crate) struct EvaluateBatch<'a> {
    pub(crate) groups: &'a [Lanes<'a>],
    /// Slots with room for the groups.
    pub(crate) slots: &'a mut BatchLabels,
    pub(crate) keys: &'a mut RekeyedKeys,
    /// The labels with which the groups' gathers begin, and those that they add.
    pub(crate) labels: &'a [Block],
    pub(crate) added: &'a [Block],
    /// As for [`GarbleBatch`], group after group.
    pub(crate) controls: &'a [u8],
}

/// The numbers of the gates of instances within one period: gate `g` of instance `i` has number `first + g * stride + i`.
struct Numbers {
    first: u64,
    stride: u64,
}

impl Numbers {
    #[inline(always)]
    fn of<S: Scheme>(&self, and: usize, instance: usize) -> GateNumber {
        number::<S>(self.first + and as u64 * self.stride + instance as u64)
    }
}

#[inline(always)]
fn number<S: Scheme>(gate: u64) -> GateNumber {
    Rekeyed::key_period(S::CALLS).split(gate)
}

pub(super) struct Garble<'a, S>(pub(super) GarbleBatch<'a>, pub(super) PhantomData<S>);

struct Garbling<'a, E: Engine, S> {
    keys: GarblerKeys<E, Rekeyed>,
    negation: E::Quad,
    numbers: Numbers,
    tables: Vec<&'a mut [u8]>,
    controls: &'a mut [u8],
    and_count: usize,
    scheme: PhantomData<S>,
}

impl<S: Scheme> Kernel for Garble<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let GarbleBatch { gates, stride, slots, hash_seed, first_gate, delta, secret, tables, controls } = self.0;
        let [negation, _] = negation_offsets::<S>(delta);
        let keys = GarblerKeys {
            e,
            hash: Rekeyed::key(e, hash_seed, number::<S>(first_gate).period),
            delta: e.splat(delta),
            secret: S::RANDOM.then(|| e.key(secret)),
        };
        let numbers = Numbers { first: first_gate, stride };
        let (negation, and_count) = (e.splat(negation), gates.and_count());
        let garbling: Garbling<'_, E, S> =
            Garbling { keys, negation, numbers, tables, controls, and_count, scheme: PhantomData };
        GateList::run_batch(e, slots, &mut [Some((gates, garbling))]);
    }
}

impl<E: Engine, S: Scheme> BatchGates<E> for Garbling<'_, E, S> {
    type Keys = GarblerKeys<E, Rekeyed>;

    #[inline(always)]
    fn keys(&self) -> Self::Keys {
        let GarblerKeys { e, hash, delta, secret } = &self.keys;
        GarblerKeys { e: *e, hash: hash.clone(), delta: *delta, secret: secret.clone() }
    }

    #[inline(always)]
    fn quad(
        &mut self,
        keys: &Self::Keys,
        and: usize,
        first: usize,
        count: usize,
        [a, b]: [E::Quad; 2],
        [invert_a, invert_b]: [E::Mask; 2],
    ) -> E::Quad {
        let e = keys.e;
        let labels = [e.xor_if(invert_a, a, self.negation), e.xor_if(invert_b, b, self.negation)];
        let mut bytes = [0; MAX_QUAD_BYTES];
        let mut controls = [0; QUAD_LANES];
        let table = TableMut { bytes: &mut bytes[..QUAD_LANES * S::TABLE_BYTES], controls: &mut controls };
        let result = S::garble(keys, self.numbers.of::<S>(and, first), labels, table);
        for lane in 0..count {
            let gate = &bytes[lane * S::TABLE_BYTES..][..S::TABLE_BYTES];
            self.tables[first + lane][and * S::TABLE_BYTES..][..S::TABLE_BYTES].copy_from_slice(gate);
            if S::CONTROL_BITS > 0 {
                self.controls[(first + lane) * self.and_count + and] = controls[lane];
            }
        }
        result
    }
}

pub(super) struct Evaluate<'a, S>(pub(super) EvaluateBatch<'a>, pub(super) PhantomData<S>);

struct Evaluating<'a, E: Engine, S> {
    e: E,
    keys: &'a E::Key,
    negation: E::Quad,
    numbers: Numbers,
    tables: &'a [u8],
    /// The distance from the tables of one gate to those of the next.
    tables_stride: usize,
    controls: &'a [u8],
    and_count: usize,
    scheme: PhantomData<S>,
}

impl<S: Scheme> Kernel for Evaluate<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let EvaluateBatch { groups, slots, keys, labels, added, controls } = self.0;
        for (number, group) in groups.iter().enumerate() {
            for gather in group.gathers {
                slots.gather(e, number, gather, labels, added);
            }
        }
        let [_, negation] = negation_offsets::<S>(Block::ZERO);
        let negation = e.splat(negation);
        // Written out: for a repeated constant every byte would be written, and keys are long.
        let mut of_groups: [Option<E::Key>; MAX_INTERLEAVED] = [None, None, None, None];
        for (key, group) in of_groups.iter_mut().zip(groups) {
            *key = Some(keys.key(e, number::<S>(group.first_gate).period));
        }
        let mut lists = [const { None }; MAX_INTERLEAVED];
        let mut controls = controls;
        for (list, (keys, group)) in lists.iter_mut().zip(of_groups.iter().flatten().zip(groups)) {
            let and_count = group.gates.and_count();
            let own = if S::CONTROL_BITS > 0 { and_count * group.count } else { 0 };
            let evaluating: Evaluating<'_, E, S> = Evaluating {
                e,
                keys,
                negation,
                numbers: Numbers { first: group.first_gate, stride: group.stride },
                tables: group.tables,
                tables_stride: group.count.next_multiple_of(QUAD_LANES) * S::TABLE_BYTES,
                controls: &controls[..own],
                and_count,
                scheme: PhantomData,
            };
            controls = &controls[own..];
            *list = Some((group.gates, evaluating));
        }
        GateList::run_batch(e, slots, &mut lists[..groups.len()]);
    }
}

impl<E: Engine, S: Scheme> BatchGates<E> for Evaluating<'_, E, S> {
    type Keys = EvaluatorKeys<E, Rekeyed>;

    #[inline(always)]
    fn keys(&self) -> Self::Keys {
        EvaluatorKeys { e: self.e, hash: self.keys.clone() }
    }

    #[inline(always)]
    fn quad(
        &mut self,
        keys: &Self::Keys,
        and: usize,
        first: usize,
        count: usize,
        labels: [E::Quad; 2],
        [invert_a, invert_b]: [E::Mask; 2],
    ) -> E::Quad {
        let labels = match S::SELECT_IS_VALUE {
            true => each(
                [0, 1],
                #[inline(always)]
                |i| keys.e.xor_if([invert_a, invert_b][i], labels[i], self.negation),
            ),
            false => labels,
        };
        let mut controls = [0; QUAD_LANES];
        if S::CONTROL_BITS > 0 {
            for (lane, control) in controls[..count].iter_mut().enumerate() {
                *control = self.controls[(first + lane) * self.and_count + and];
            }
        }
        let bytes = &self.tables[and * self.tables_stride + first * S::TABLE_BYTES..][..QUAD_LANES * S::TABLE_BYTES];
        S::evaluate(keys, self.numbers.of::<S>(and, first), labels, Table { bytes, controls })
    }
}
