//! Privacy-free half gates: one block per AND gate, and the evaluator knows all values.

use garblet_primitives::{Block, Engine, GateHash, GateNumber};

use super::{EvaluatorKeys, GarblerKeys, Scheme, Table, TableMut};

/// Privacy-free half gates.
///
/// *Source*: Zahur, Rosulek and Evans 2015, section 5; Frederiksen, Nielsen and Orlandi 2015.
/// *Deviation*: hash values have bit 0 cleared, so that every zero label has select bit 0 and the evaluator reads its values
/// off its labels.
pub(crate) struct PrivacyFree;

/// Everything but the select bit.
const WITHOUT_SELECT: Block = Block::from_u128(!1);

impl Scheme for PrivacyFree {
    const TABLE_BYTES: usize = 16;
    const CALLS: u64 = 2;
    const SELECT_IS_VALUE: bool = true;

    #[inline(always)]
    fn garble<E: Engine, H: GateHash>(
        keys: &GarblerKeys<E, H>,
        gate: GateNumber,
        [a, b]: [E::Quad; 2],
        table: TableMut<'_>,
    ) -> E::Quad {
        let e = keys.e;
        let [[a0, a1]] = keys.hash(gate, [[a, e.xor(a, keys.delta)]]);
        let mask = e.splat(WITHOUT_SELECT);
        table.put_rows(e, [e.xor(e.and(e.xor(a0, a1), mask), b)]);
        e.and(a0, mask)
    }

    #[inline(always)]
    fn evaluate<E: Engine, H: GateHash>(
        keys: &EvaluatorKeys<E, H>,
        gate: GateNumber,
        [a, b]: [E::Quad; 2],
        table: Table<'_>,
    ) -> E::Quad {
        let e = keys.e;
        let [[ha]] = keys.hash(gate, [[a]]);
        let [row] = table.rows(e);
        e.xor_if(e.lsb(a), e.and(ha, e.splat(WITHOUT_SELECT)), e.xor(row, b))
    }
}
