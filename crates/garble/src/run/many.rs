//! Running instances of a component side by side, a lane each.

use std::marker::PhantomData;

use garblet_primitives::{Block, Engine, GateHash, GateList, Kernel, LANES, WideGates, WideSlots};

use super::MAX_QUAD_BYTES;
use crate::scheme::{EvaluatorKeys, GarblerKeys, GateNumber, Scheme, Table, TableMut, flips};

/// Instances to be run side by side, under one hash key.
pub(crate) struct Many<'a> {
    pub(crate) gates: &'a GateList,
    pub(crate) slots: &'a mut WideSlots,
    pub(crate) instances: usize,
    pub(crate) hash_seed: Block,
    /// Gate `g` of instance `i` has number `first_gate + g * stride + i`.
    pub(crate) first_gate: u64,
    pub(crate) stride: u64,
}

/// Instances to be garbled.
pub(crate) struct GarbleMany<'a> {
    pub(crate) many: Many<'a>,
    pub(crate) delta: Block,
    /// Key of the garbler's secret randomness.
    pub(crate) secret: Block,
    /// Whole bytes of the instances' tables.
    pub(crate) tables: Vec<&'a mut [u8]>,
    /// A byte per gate for the further bits, instance after instance; empty if there are none.
    pub(crate) controls: &'a mut [u8],
}

/// Instances to be evaluated.
pub(crate) struct EvaluateMany<'a> {
    pub(crate) many: Many<'a>,
    /// Gate after gate those of all instances, which are filled up to a multiple of four.
    pub(crate) tables: &'a [u8],
    /// As for [`GarbleMany`].
    pub(crate) controls: &'a [u8],
}

/// The numbers of gates, for a period that holds all of them.
struct Numbers {
    first: u64,
    stride: u64,
    mask: u64,
}

impl Numbers {
    #[inline(always)]
    fn new<S: Scheme, H: GateHash>(many: &Many<'_>) -> (Self, u64) {
        let per_key = H::gates_per_key(S::CALLS);
        let numbers = Numbers { first: many.first_gate, stride: many.stride, mask: per_key - 1 };
        (numbers, many.first_gate / per_key)
    }

    #[inline(always)]
    fn of(&self, and: usize, instance: usize) -> GateNumber {
        let global = self.first + and as u64 * self.stride + instance as u64;
        GateNumber { global, local: global & self.mask }
    }
}

pub(super) struct Garble<'a, S, H>(pub(super) GarbleMany<'a>, pub(super) PhantomData<(S, H)>);

struct Garbling<'a, E: Engine, S, H: GateHash> {
    keys: GarblerKeys<E, H>,
    flip: E::Quad,
    numbers: Numbers,
    tables: Vec<&'a mut [u8]>,
    controls: &'a mut [u8],
    and_count: usize,
    scheme: PhantomData<S>,
}

impl<S: Scheme, H: GateHash> Kernel for Garble<'_, S, H> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let GarbleMany { many, delta, secret, tables, controls } = self.0;
        let (numbers, period) = Numbers::new::<S, H>(&many);
        let [flip, _] = flips::<S>(delta);
        let keys = GarblerKeys {
            e,
            hash: H::key(e, many.hash_seed, period),
            delta: e.splat(delta),
            secret: S::RANDOM.then(|| e.key(secret)),
        };
        let (flip, and_count) = (e.splat(flip), many.gates.and_count());
        let mut garbling: Garbling<'_, E, S, H> =
            Garbling { keys, flip, numbers, tables, controls, and_count, scheme: PhantomData };
        many.gates.run_many(e, many.slots, many.instances, &mut garbling);
    }
}

impl<E: Engine, S: Scheme, H: GateHash> WideGates<E> for Garbling<'_, E, S, H> {
    #[inline(always)]
    fn quad(
        &mut self,
        e: E,
        and: usize,
        first: usize,
        count: usize,
        [a, b]: [E::Quad; 2],
        [invert_a, invert_b]: [E::Mask; 2],
    ) -> E::Quad {
        let labels = [e.xor_if(invert_a, a, self.flip), e.xor_if(invert_b, b, self.flip)];
        let mut bytes = [0; MAX_QUAD_BYTES];
        let mut controls = [0; LANES];
        let table = TableMut { bytes: &mut bytes[..LANES * S::TABLE_BYTES], controls: &mut controls };
        let result = S::garble(&self.keys, self.numbers.of(and, first), labels, table);
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

pub(super) struct Evaluate<'a, S, H>(pub(super) EvaluateMany<'a>, pub(super) PhantomData<(S, H)>);

struct Evaluating<'a, E: Engine, S, H: GateHash> {
    keys: EvaluatorKeys<E, H>,
    flip: E::Quad,
    numbers: Numbers,
    tables: &'a [u8],
    /// From the tables of one gate to those of the next.
    tables_stride: usize,
    controls: &'a [u8],
    and_count: usize,
    scheme: PhantomData<S>,
}

impl<S: Scheme, H: GateHash> Kernel for Evaluate<'_, S, H> {
    type Output = ();

    #[inline(always)]
    fn run<E: Engine>(self, e: E) {
        let EvaluateMany { many, tables, controls } = self.0;
        let (numbers, period) = Numbers::new::<S, H>(&many);
        let [_, flip] = flips::<S>(Block::ZERO);
        let keys = EvaluatorKeys { e, hash: H::key(e, many.hash_seed, period) };
        let (flip, and_count) = (e.splat(flip), many.gates.and_count());
        let tables_stride = many.instances.next_multiple_of(LANES) * S::TABLE_BYTES;
        let mut evaluating: Evaluating<'_, E, S, H> =
            Evaluating { keys, flip, numbers, tables, tables_stride, controls, and_count, scheme: PhantomData };
        many.gates.run_many(e, many.slots, many.instances, &mut evaluating);
    }
}

impl<E: Engine, S: Scheme, H: GateHash> WideGates<E> for Evaluating<'_, E, S, H> {
    #[inline(always)]
    fn quad(
        &mut self,
        e: E,
        and: usize,
        first: usize,
        count: usize,
        labels: [E::Quad; 2],
        [invert_a, invert_b]: [E::Mask; 2],
    ) -> E::Quad {
        let labels = match S::SELECT_IS_VALUE {
            true => [e.xor_if(invert_a, labels[0], self.flip), e.xor_if(invert_b, labels[1], self.flip)],
            false => labels,
        };
        let mut controls = [0; LANES];
        if S::CONTROL_BITS > 0 {
            for (lane, control) in controls[..count].iter_mut().enumerate() {
                *control = self.controls[(first + lane) * self.and_count + and];
            }
        }
        let bytes = &self.tables[and * self.tables_stride + first * S::TABLE_BYTES..][..LANES * S::TABLE_BYTES];
        S::evaluate(&self.keys, self.numbers.of(and, first), labels, Table { bytes, controls })
    }
}
