//! Garbled row reduction: three blocks per AND gate.

use garblet_primitives::{Engine, GateHash, GateNumber, combine_keys, each};

use super::{EvaluatorKeys, GarblerKeys, Scheme, Table, TableMut, four_row};

/// Three rows: the result's labels are chosen so that the first of the four rows is zero.
///
/// *Source*: Naor, Pinkas and Sumner 1999; with free XOR, Pinkas, Schneider, Smart and Williams 2009, section 3.
pub(crate) struct Grr3;

impl Scheme for Grr3 {
    const TABLE_BYTES: usize = 48;
    const CALLS: u64 = 4;

    #[inline(always)]
    fn garble<E: Engine, H: GateHash>(
        keys: &GarblerKeys<E, H>,
        gate: GateNumber,
        labels: [E::Quad; 2],
        table: TableMut<'_>,
    ) -> E::Quad {
        let e = keys.e;
        let [hashes, values] = four_row::rows(keys, gate, labels);
        let zero_label = e.xor(hashes[0], values[0]);
        let row = each(
            [1, 2, 3],
            #[inline(always)]
            |i| e.xor3(hashes[i], values[i], zero_label),
        );
        table.put_rows(e, row);
        zero_label
    }

    #[inline(always)]
    fn evaluate<E: Engine, H: GateHash>(
        keys: &EvaluatorKeys<E, H>,
        gate: GateNumber,
        [a, b]: [E::Quad; 2],
        table: Table<'_>,
    ) -> E::Quad {
        let e = keys.e;
        let [[hash]] = keys.hash(gate, [[combine_keys(e, a, b)]]);
        let (sa, sb) = (e.lsb(a), e.lsb(b));
        let [r01, r10, r11] = table.rows(e);
        let label = e.xor_if(sb, hash, r01);
        let label = e.xor_if(sa, label, r10);
        e.xor_if(e.mask_and(sa, sb), label, e.xor3(r01, r10, r11))
    }
}
