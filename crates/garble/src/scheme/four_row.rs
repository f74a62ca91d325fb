//! Four rows: the plain garbled gate.

use garblet_primitives::{Engine, GateHash, GateNumber, combine_keys, each};

use super::{EvaluatorKeys, GarblerKeys, Scheme, Table, TableMut};

/// Four encrypted rows in the order of the operands' select bits, with free XOR.
///
/// *Source*: Yao 1986; Beaver, Micali and Rogaway 1990 (point and permute); Kolesnikov and Schneider 2008 (free XOR).
pub(crate) struct FourRow;

/// For each row `(i, j)`, operands' select bits, in order: its hash value and `v * delta`, where `v` is the gate's value
/// there.
#[inline(always)]
pub(super) fn rows<E: Engine, H: GateHash>(
    keys: &GarblerKeys<E, H>,
    gate: GateNumber,
    [a, b]: [E::Quad; 2],
) -> [[E::Quad; 4]; 2] {
    let (e, delta) = (keys.e, keys.delta);
    let (pa, pb) = (e.lsb(a), e.lsb(b));
    let zero = e.xor(delta, delta);
    // The labels with select bit 0 stand for the values pa and pb.
    let key = combine_keys(e, e.xor_if(pa, a, delta), e.xor_if(pb, b, delta));
    let delta_b = combine_keys(e, zero, delta);
    let inputs = [key, e.xor(key, delta_b), e.xor(key, delta), e.xor3(key, delta, delta_b)];
    let [hashes] = keys.hash(gate, [inputs]);
    let only_a = e.xor_if(pa, zero, delta);
    let only_b = e.xor_if(pb, zero, delta);
    let both = e.xor_if(e.mask_and(pa, pb), zero, delta);
    // (pa ^ i) & (pb ^ j), multiplied out.
    let not_b = e.xor(only_a, both);
    [hashes, [both, not_b, e.xor(only_b, both), e.xor3(not_b, only_b, delta)]]
}

impl Scheme for FourRow {
    const TABLE_BYTES: usize = 64;
    const CALLS: u64 = 4;
    const RANDOM: bool = true;

    #[inline(always)]
    fn garble<E: Engine, H: GateHash>(
        keys: &GarblerKeys<E, H>,
        gate: GateNumber,
        labels: [E::Quad; 2],
        table: TableMut<'_>,
    ) -> E::Quad {
        let e = keys.e;
        let zero_label = keys.random::<Self>(gate);
        let [hashes, values] = rows(keys, gate, labels);
        let row = each(
            [0, 1, 2, 3],
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
        let [r00, r01, r10, r11] = table.rows(e);
        let row = e.xor_if(sb, r00, e.xor(r00, r01));
        let row = e.xor_if(sa, row, e.xor(r00, r10));
        let row = e.xor_if(e.mask_and(sa, sb), row, e.xor(e.xor3(r00, r01, r10), r11));
        e.xor(hash, row)
    }
}
