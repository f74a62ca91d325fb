//! Running instances of a component side by side, a lane each, with the default hash: with others instances run one after
//! another.

use std::marker::PhantomData;

use garblet_primitives::{
    Block, Engine, GateHash, GateList, Kernel, LANES, MOST_IN_TURN, Rekeyed, RekeyedKeys, WideGates, WideSlots,
};

use super::MAX_QUAD_BYTES;
use crate::{
    instances::{Group, Instances},
    scheme::{EvaluatorKeys, GarblerKeys, GateNumber, Scheme, Table, TableMut, flips},
};

/// Instances to be garbled.
pub(crate) struct GarbleMany<'a> {
    pub(crate) of: &'a Instances,
    /// With room for the instances and the labels of their inputs.
    pub(crate) slots: &'a mut WideSlots,
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

/// Groups to be evaluated in turn, no more than [`MOST_IN_TURN`].
pub(crate) struct EvaluateMany<'a> {
    pub(crate) groups: &'a [Group<'a>],
    /// With room for the groups.
    pub(crate) slots: &'a mut WideSlots,
    pub(crate) keys: &'a mut RekeyedKeys,
    /// What the groups' feeds begin with, and what they add.
    pub(crate) labels: &'a [Block],
    pub(crate) added: &'a [Block],
    /// As for [`GarbleMany`], group after group.
    pub(crate) controls: &'a [u8],
}

/// The numbers of gates, for a period that holds all of them: gate `g` of instance `i` has number `first + g * stride + i`.
struct Numbers {
    first: u64,
    stride: u64,
    mask: u64,
}

impl Numbers {
    #[inline(always)]
    fn new<S: Scheme>(of: &Instances, first: u64) -> Self {
        Numbers { first, stride: of.stride(), mask: Rekeyed::gates_per_key(S::CALLS) - 1 }
    }

    #[inline(always)]
    fn of(&self, and: usize, instance: usize) -> GateNumber {
        let global = self.first + and as u64 * self.stride + instance as u64;
        GateNumber { global, local: global & self.mask }
    }
}

/// The period of the hash key of a gate.
#[inline(always)]
fn period<S: Scheme>(gate: u64) -> u64 {
    gate / Rekeyed::gates_per_key(S::CALLS)
}

pub(super) struct Garble<'a, S>(pub(super) GarbleMany<'a>, pub(super) PhantomData<S>);

struct Garbling<'a, E: Engine, S> {
    keys: GarblerKeys<E, Rekeyed>,
    flip: E::Quad,
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
        let GarbleMany { of, slots, hash_seed, first_gate, delta, secret, tables, controls } = self.0;
        let [flip, _] = flips::<S>(delta);
        let keys = GarblerKeys {
            e,
            hash: Rekeyed::key(e, hash_seed, period::<S>(first_gate)),
            delta: e.splat(delta),
            secret: S::RANDOM.then(|| e.key(secret)),
        };
        let numbers = Numbers::new::<S>(of, first_gate);
        let (flip, and_count) = (e.splat(flip), of.gates().and_count());
        let garbling: Garbling<'_, E, S> =
            Garbling { keys, flip, numbers, tables, controls, and_count, scheme: PhantomData };
        GateList::run_many(e, slots, &mut [Some((of.gates(), garbling))]);
    }
}

impl<E: Engine, S: Scheme> WideGates<E> for Garbling<'_, E, S> {
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
        let labels = [e.xor_if(invert_a, a, self.flip), e.xor_if(invert_b, b, self.flip)];
        let mut bytes = [0; MAX_QUAD_BYTES];
        let mut controls = [0; LANES];
        let table = TableMut { bytes: &mut bytes[..LANES * S::TABLE_BYTES], controls: &mut controls };
        let result = S::garble(keys, self.numbers.of(and, first), labels, table);
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

pub(super) struct Evaluate<'a, S>(pub(super) EvaluateMany<'a>, pub(super) PhantomData<S>);

struct Evaluating<'a, E: Engine, S> {
    e: E,
    keys: &'a E::Key,
    flip: E::Quad,
    numbers: Numbers,
    tables: &'a [u8],
    /// From the tables of one gate to those of the next.
    tables_stride: usize,
    controls: &'a [u8],
    and_count: usize,
    scheme: PhantomData<S>,
}

impl<S: Scheme> Kernel for Evaluate<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let EvaluateMany { groups, slots, keys, labels, added, controls } = self.0;
        for (number, group) in groups.iter().enumerate() {
            for feed in group.feeds {
                slots.feed(e, number, feed, labels, added);
            }
        }
        let [_, flip] = flips::<S>(Block::ZERO);
        let flip = e.splat(flip);
        // Written out: of a repeated constant every byte is written, and keys are long.
        let mut of_groups: [Option<E::Key>; MOST_IN_TURN] = [None, None, None, None];
        for (key, group) in of_groups.iter_mut().zip(groups) {
            *key = Some(keys.key(e, period::<S>(group.first_gate)));
        }
        let mut lists = [const { None }; MOST_IN_TURN];
        let mut controls = controls;
        for (list, (keys, group)) in lists.iter_mut().zip(of_groups.iter().flatten().zip(groups)) {
            let and_count = group.of.gates().and_count();
            let own = if S::CONTROL_BITS > 0 { and_count * group.count } else { 0 };
            let evaluating: Evaluating<'_, E, S> = Evaluating {
                e,
                keys,
                flip,
                numbers: Numbers::new::<S>(group.of, group.first_gate),
                tables: group.tables,
                tables_stride: group.count.next_multiple_of(LANES) * S::TABLE_BYTES,
                controls: &controls[..own],
                and_count,
                scheme: PhantomData,
            };
            controls = &controls[own..];
            *list = Some((group.of.gates(), evaluating));
        }
        GateList::run_many(e, slots, &mut lists[..groups.len()]);
    }
}

impl<E: Engine, S: Scheme> WideGates<E> for Evaluating<'_, E, S> {
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
            true => [0, 1].map(
                #[inline(always)]
                |i| keys.e.xor_if([invert_a, invert_b][i], labels[i], self.flip),
            ),
            false => labels,
        };
        let mut controls = [0; LANES];
        if S::CONTROL_BITS > 0 {
            for (lane, control) in controls[..count].iter_mut().enumerate() {
                *control = self.controls[(first + lane) * self.and_count + and];
            }
        }
        let bytes = &self.tables[and * self.tables_stride + first * S::TABLE_BYTES..][..LANES * S::TABLE_BYTES];
        S::evaluate(keys, self.numbers.of(and, first), labels, Table { bytes, controls })
    }
}
