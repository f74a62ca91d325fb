//! The garbler's side.

use garblet_primitives::{Block, Prg};
use garblet_synthesis::tables::{Signal, TableCircuit, TableGate};
use zeroize::Zeroizing;

use super::{
    InputLabels, Label, Method, PublishedConfig, WireLabels,
    kdf::Kdf,
    sharing::{Sharing, pick},
};
use crate::garbler::pack;

/// The most rows of a gate.
const MAX_ROWS: usize = 8;

/// A garbled circuit.
pub struct Garbled {
    /// The bytes to send, see [`PublishedConfig::table_bytes`].
    pub tables: Vec<u8>,
    /// The labels of zero and one of each output as blocks, whose lowest bits are the external values. *Secret*.
    pub outputs: Zeroizing<Vec<[Block; 2]>>,
}

impl Garbled {
    /// The external value of zero of each output, which decodes it. Not secret if the output is not.
    pub fn decoding(&self) -> impl Iterator<Item = bool> + '_ {
        self.outputs.iter().map(|[zero, _]| zero.lsb())
    }
}

/// Garbles a circuit.
///
/// *Shape*: one of `inputs` for each input of the circuit. *Unique*: `inputs`, for one garbling.
///
/// # Panics
/// If the shape is wrong, or a gate has three inputs and the method supports only two.
pub fn garble(circuit: &TableCircuit, config: PublishedConfig, inputs: &InputLabels) -> Garbled {
    assert_eq!(inputs.wires().len(), circuit.input_count() as usize, "labels of all inputs");
    let mut garbling = Garbling {
        method: config.method,
        kdf: Kdf::new(config.method, config.sides),
        sharing: (config.method == Method::PrfSs).then(Sharing::new),
        difference: Zeroizing::new(*inputs.difference),
        rng: Prg::new(*inputs.seed),
        blocks: Vec::new(),
        bits: Vec::new(),
    };
    let mut wires = Zeroizing::new(Vec::with_capacity(inputs.wires().len() + circuit.gates().len()));
    wires.extend_from_slice(inputs.wires());
    for (g, gate) in circuit.gates().iter().enumerate() {
        config.check(gate);
        let operands: Vec<WireLabels> = gate.operands().iter().map(|wire| wires[wire.index()]).collect();
        let labels = garbling.gate(g as u64, gate, &Zeroizing::new(operands));
        wires.push(labels);
    }
    let output = |output: &Signal| match output {
        // The evaluator uses the zero block for it.
        Signal::Constant(value) => {
            let other = inputs.difference.with_lsb(true);
            [false, true].map(|of| Block::select(of == *value, Block::ZERO, other))
        }
        Signal::Wire { wire, inverted } => {
            [false, true].map(|value| wires[wire.index()].of(value ^ inverted).to_block())
        }
    };
    let outputs = Zeroizing::new(circuit.outputs().iter().map(output).collect());
    Garbled { outputs, tables: garbling.tables() }
}

/// The state while gates are garbled.
struct Garbling {
    method: Method,
    kdf: Kdf,
    sharing: Option<Sharing>,
    difference: Zeroizing<Block>,
    rng: Prg,
    blocks: Vec<Block>,
    bits: Vec<u8>,
}

/// The rows of a gate: each row's pad and value.
struct Rows {
    pads: [Label; MAX_ROWS],
    values: [bool; MAX_ROWS],
    count: usize,
}

impl Rows {
    fn keys(&self) -> [Block; 4] {
        std::array::from_fn(|row| self.pads[row].key)
    }

    /// The row of an odd gate of two inputs whose value is unique. *Secret*.
    fn odd_row(&self) -> usize {
        let ones = self.values[..4].iter().filter(|value| **value).count();
        let odd_row = ones == 1;
        (0..4).fold(0, |found, row| found | (row * usize::from(self.values[row] == odd_row)))
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.pads);
    }
}

impl Garbling {
    /// Garbles a gate; returns the labels of its result.
    fn gate(&mut self, number: u64, gate: &TableGate, operands: &[WireLabels]) -> WireLabels {
        match (self.method, operands) {
            (Method::CorGrr | Method::RomGrr, &[a, b]) if gate.is_xor() => self.free_xor(a, b),
            (Method::Glnp, &[a, b]) if gate.is_xor() => self.one_ciphertext(number, a, b),
            (Method::Base, _) => self.all_rows(&self.rows(number, gate, operands)),
            (Method::CorGrr | Method::RomGrr, _) => self.three_rows(&self.rows(number, gate, operands)),
            (Method::PrfSs, _) => self.shared(gate, &self.rows(number, gate, operands)),
            (Method::Glnp, _) => self.two_ciphertexts(&self.rows(number, gate, operands)),
        }
    }

    /// The rows in the order of the operands' external values.
    fn rows(&self, number: u64, gate: &TableGate, operands: &[WireLabels]) -> Rows {
        let arity = operands.len();
        let mut rows = Rows { pads: [Label::default(); MAX_ROWS], values: [false; MAX_ROWS], count: 1 << arity };
        for row in 0..rows.count {
            let mut keys = Zeroizing::new([Block::ZERO; 3]);
            let mut point = 0;
            for (i, operand) in operands.iter().enumerate() {
                let external = row >> (arity - 1 - i) & 1 == 1;
                keys[i] = operand.of_external(external);
                point |= usize::from(external ^ operand.permutation) << i;
            }
            rows.pads[row] = self.kdf.pad(&keys[..arity], number, row);
            rows.values[row] = gate.value(point);
        }
        rows
    }

    /// Sends a row, hidden by its pad.
    fn send(&mut self, pad: Label, label: Label) {
        let row = pad ^ label;
        self.blocks.push(row.key);
        self.bits.push(row.external.into());
    }

    /// Sends the external values of all rows of a gate of two inputs, each hidden by a bit of its pad.
    fn send_externals(&mut self, rows: &Rows, permutation: bool) {
        self.bits.extend((0..4).map(|row| u8::from(rows.pads[row].external ^ rows.values[row] ^ permutation)));
    }

    /// The classic gate: random labels, and every row.
    fn all_rows(&mut self, rows: &Rows) -> WireLabels {
        let [zero, one, bit] = [0; 3].map(|_| self.rng.next_block());
        let labels = WireLabels { zero, one, permutation: bit.lsb() };
        for row in 0..rows.count {
            self.send(rows.pads[row], labels.of(rows.values[row]));
        }
        labels
    }

    fn free_xor(&self, a: WireLabels, b: WireLabels) -> WireLabels {
        let zero = a.zero ^ b.zero;
        WireLabels { zero, one: zero ^ *self.difference, permutation: a.permutation ^ b.permutation }
    }

    /// The labels are chosen so that the first row is zero and need not be sent.
    fn three_rows(&mut self, rows: &Rows) -> WireLabels {
        let first = rows.pads[0];
        let labels = WireLabels::with(rows.values[0], first, first.key ^ *self.difference);
        for row in 1..4 {
            self.send(rows.pads[row], labels.of(rows.values[row]));
        }
        labels
    }

    /// The paper's section 5.
    fn shared(&mut self, gate: &TableGate, rows: &Rows) -> WireLabels {
        let permutation = self.rng.next_block().lsb();
        let Some(sharing) = &self.sharing else { unreachable!("made for this method") };
        let keys = Zeroizing::new(rows.keys());
        let (sent, zero, one);
        if gate.is_even() {
            // Rows 0 and 3 have one value, rows 1 and 2 the other.
            let [outer, inner] = sharing.even(&keys);
            let value = rows.values[0];
            [zero, one] = [Block::select(value, inner[0], outer[0]), Block::select(value, outer[0], inner[0])];
            // The first block sent is for external value 0.
            let outer_first = !(value ^ permutation);
            sent = [Block::select(outer_first, outer[1], inner[1]), Block::select(outer_first, inner[1], outer[1])];
        } else {
            let odd_row = rows.odd_row();
            let [common, alone, fifth, sixth] = sharing.odd(&keys, odd_row);
            let value = odd_value(rows);
            [zero, one] = [Block::select(value, common, alone), Block::select(value, alone, common)];
            sent = [fifth, sixth];
        }
        self.blocks.extend(sent);
        self.send_externals(rows, permutation);
        WireLabels { zero, one, permutation }
    }

    /// Gueron et al., the AND gate: two sums of pads so that three rows give the same label.
    fn two_ciphertexts(&mut self, rows: &Rows) -> WireLabels {
        let permutation = self.rng.next_block().lsb();
        let keys = Zeroizing::new(rows.keys());
        let odd_row = rows.odd_row();
        let second = Block::select(odd_row < 2, keys[2] ^ keys[3], keys[0] ^ keys[1]);
        let first = Block::select(odd_row.is_multiple_of(2), keys[1] ^ keys[3], keys[0] ^ keys[2]);
        let labels = Zeroizing::new([keys[0], keys[1] ^ second, keys[2] ^ first, keys[3] ^ first ^ second]);
        let (alone, common) = (pick(&labels, odd_row), pick(&labels, odd_row ^ 1));
        let value = odd_value(rows);
        self.blocks.extend([first, second]);
        self.send_externals(rows, permutation);
        WireLabels { zero: Block::select(value, common, alone), one: Block::select(value, alone, common), permutation }
    }

    /// Gueron et al., the XOR gate: the second operand gets the difference of the first.
    fn one_ciphertext(&mut self, number: u64, a: WireLabels, b: WireLabels) -> WireLabels {
        let first = [a.zero, a.one].map(|key| self.kdf.alone(key, number, 0));
        let difference = first[0] ^ first[1];
        let kept = self.kdf.alone(b.of_external(false), number, 1);
        // The other label is the kept one plus the difference.
        self.blocks.push(self.kdf.alone(b.of_external(true), number, 1) ^ kept ^ difference);
        let second_zero = kept ^ (Block::mask(b.permutation) & difference);
        let zero = first[0] ^ second_zero;
        WireLabels { zero, one: zero ^ difference, permutation: a.permutation ^ b.permutation }
    }

    fn tables(self) -> Vec<u8> {
        let mut tables = bytemuck::cast_slice(&self.blocks).to_vec();
        let begin = tables.len();
        tables.resize(begin + self.bits.len().div_ceil(8), 0);
        pack(&self.bits, 1, &mut tables[begin..]);
        tables
    }
}

/// The value that an odd gate of two inputs has in only one row.
fn odd_value(rows: &Rows) -> bool {
    rows.values[..4].iter().filter(|value| **value).count() == 1
}
