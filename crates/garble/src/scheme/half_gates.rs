//! Half gates: two blocks per AND gate.

use garblet_primitives::{Engine, GateHash, GateNumber};

use super::{EvaluatorKeys, GarblerKeys, Scheme, Table, TableMut};

/// Half gates.
///
/// *Source*: Zahur, Rosulek and Evans 2015, figure 2. *Symbols*: `W_a^0, W_b^0` are the zero labels, `p` their select bits,
/// `T_G, T_E` the table, `j = 2 gate, j' = 2 gate + 1` the tweaks.
pub(crate) struct HalfGates;

impl Scheme for HalfGates {
    const TABLE_BYTES: usize = 32;
    const CALLS: u64 = 4;

    #[inline(always)]
    fn garble<E: Engine, H: GateHash>(
        keys: &GarblerKeys<E, H>,
        gate: GateNumber,
        [a, b]: [E::Quad; 2],
        table: TableMut<'_>,
    ) -> E::Quad {
        let (e, delta) = (keys.e, keys.delta);
        let [[a0, a01], [b0, b01]] = keys.hash_pairs(gate, [a, b]);
        let (pa, pb) = (e.lsb(a), e.lsb(b));
        let garbler_row = e.xor_if(pb, a01, delta);
        let evaluator_row = e.xor(b01, a);
        table.put_pair(e, garbler_row, evaluator_row);
        let halves = e.xor(a0, b0);
        let halves = e.xor_if(pa, halves, garbler_row);
        e.xor_if(pb, halves, b01)
    }

    #[inline(always)]
    fn evaluate<E: Engine, H: GateHash>(
        keys: &EvaluatorKeys<E, H>,
        gate: GateNumber,
        [a, b]: [E::Quad; 2],
        table: Table<'_>,
    ) -> E::Quad {
        let [[ha], [hb]] = keys.hash(gate, [[a], [b]]);
        Self::join(keys.e, [a, b], [ha, hb], table.pair(keys.e))
    }
}

impl HalfGates {
    /// The active labels of the results, from the operands' labels, their hashes, and both rows.
    #[inline(always)]
    pub(crate) fn join<E: Engine>(
        e: E,
        [a, b]: [E::Quad; 2],
        [ha, hb]: [E::Quad; 2],
        [garbler_row, evaluator_row]: [E::Quad; 2],
    ) -> E::Quad {
        let halves = e.xor(ha, hb);
        let halves = e.xor_if(e.lsb(a), halves, garbler_row);
        e.xor_if(e.lsb(b), halves, e.xor(evaluator_row, a))
    }
}
