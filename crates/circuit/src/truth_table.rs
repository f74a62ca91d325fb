//! Truth tables of small circuits, for protocols that garble a whole table at once.

use crate::{circuit::Circuit, evaluate::evaluate_circuit};

/// The values of a circuit's outputs for all values of its inputs.
///
/// *Shape*: bit `x` of a column is an output's value where input wire `k` has bit `k` of `x`. A column has `2^inputs` bits, in whole words,
/// lowest first; bits beyond are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthTable {
    inputs: u32,
    columns: Vec<Box<[u64]>>,
}

impl TruthTable {
    /// The columns of the first six inputs themselves, in 64 rows.
    pub const INPUTS: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    /// The most inputs of a table.
    pub const MAX_INPUTS: u32 = 16;
    /// The most outputs of a table that is garbled.
    pub const MAX_OUTPUTS: usize = 128;
    /// The most gates of a circuit whose table is garbled: they are all in memory.
    pub const MAX_GATES: usize = 1 << 20;
    /// The most gates of a circuit whose table is garbled, times its rows: some milliseconds for each component.
    const MAX_WORK: u64 = 1 << 28;

    /// Bytes of the shortest AND gate beside tables, that of three halves. The scheme may be chosen after the tables.
    const GATE_BYTES: u64 = 24;

    /// The table of a circuit.
    ///
    /// *Cost*: the circuit runs once for 64 rows.
    ///
    /// # Panics
    /// If the circuit has no input or more than [`TruthTable::MAX_INPUTS`], or its gates are not in memory.
    pub fn of(circuit: &Circuit) -> Self {
        let inputs = circuit.input_count();
        assert!((1..=Self::MAX_INPUTS).contains(&inputs), "{inputs} inputs");
        let words = (1usize << inputs).div_ceil(64);
        let rows = if inputs < 6 { (1 << (1 << inputs)) - 1 } else { u64::MAX };
        let mut columns = vec![vec![0; words].into_boxed_slice(); circuit.outputs().len()];
        for word in 0..words {
            let high = |k: usize| if word >> (k - 6) & 1 == 1 { u64::MAX } else { 0 };
            let values: Vec<u64> =
                (0..inputs as usize).map(|k| Self::INPUTS.get(k).copied().unwrap_or_else(|| high(k))).collect();
            let outputs = evaluate_circuit(circuit, &values);
            columns.iter_mut().zip(outputs).for_each(|(column, value)| column[word] = value & rows);
        }
        TruthTable { inputs, columns }
    }

    /// The number of inputs.
    pub fn inputs(&self) -> u32 {
        self.inputs
    }

    /// The values of each output, by row.
    pub fn columns(&self) -> &[Box<[u64]>] {
        &self.columns
    }

    /// Bytes of a garbled table with so many inputs and outputs; `None` for a shape that is not garbled as a table.
    ///
    /// With n inputs and m outputs: 16 (n - 2) for positions, 16 n m for labels, and for every input `k` from 0 on `2^k m` bits, in whole
    /// bytes.
    pub fn garbled_bytes(inputs: u32, outputs: usize) -> Option<u64> {
        let shape = (2..=Self::MAX_INPUTS).contains(&inputs) && (1..=Self::MAX_OUTPUTS).contains(&outputs);
        let (n, m) = (u64::from(inputs), outputs as u64);
        let rows = |k: u64| (m << k).div_ceil(8);
        shape.then(|| 16 * (n - 2) + 16 * n * m + (0..n).map(rows).sum::<u64>())
    }

    /// Tells whether a circuit is garbled as a table if `and_gates` of its gates are AND gates with an effect: the table is shorter, and does not
    /// take too long to find.
    pub fn replaces(circuit: &Circuit, and_gates: u64) -> bool {
        let (inputs, gates) = (circuit.input_count(), circuit.gate_count());
        let is_small = gates <= Self::MAX_GATES && (gates as u64) << inputs.min(Self::MAX_INPUTS) <= Self::MAX_WORK;
        is_small && Self::is_shorter(inputs, circuit.outputs().len(), and_gates)
    }

    /// Tells whether a circuit of so many inputs, outputs and AND gates is shorter as a table, with every scheme.
    pub fn is_shorter(inputs: u32, outputs: usize, and_gates: u64) -> bool {
        Self::garbled_bytes(inputs, outputs).is_some_and(|bytes| bytes.div_ceil(Self::GATE_BYTES) < and_gates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use rand::{SeedableRng, rngs::StdRng};

    #[test]
    fn a_bit_of_a_column_is_the_value_of_its_row() {
        let mut rng = StdRng::seed_from_u64(1);
        for inputs in 1..=9 {
            let circuit = random::circuit(&mut rng, inputs, 40, 5);
            let table = TruthTable::of(&circuit);
            assert_eq!((table.inputs(), table.columns().len()), (inputs, circuit.outputs().len()));
            for row in 0..1u64 << inputs {
                let values: Vec<u64> = (0..inputs).map(|k| row >> k & 1).collect();
                for (column, value) in table.columns().iter().zip(evaluate_circuit(&circuit, &values)) {
                    assert_eq!(column[row as usize / 64] >> (row % 64) & 1, value & 1, "row {row}");
                }
            }
            let rows: u32 = table.columns().iter().flat_map(|column| column.iter()).map(|word| word.count_ones()).sum();
            assert!(rows <= (1 << inputs) * table.columns().len() as u32);
        }
    }

    #[test]
    fn bytes_of_garbled_tables_are_stated() {
        assert_eq!(TruthTable::garbled_bytes(8, 8), Some(6 * 16 + 64 * 16 + 255));
        assert_eq!(TruthTable::garbled_bytes(2, 3), Some(6 * 16 + 1 + 1));
        assert!(
            TruthTable::is_shorter(8, 8, 59) && !TruthTable::is_shorter(8, 8, 58) && !TruthTable::is_shorter(1, 1, 99)
        );
        assert_eq!([(1, 1), (17, 1), (2, 0), (2, 129)].map(|(n, m)| TruthTable::garbled_bytes(n, m)), [None; 4]);
    }
}
