//! The evaluator's side.

use garblet_primitives::Block;
use garblet_synthesis::tables::{Signal, TableCircuit, TableGate};
use zeroize::Zeroizing;

use super::{Label, Method, PublishedConfig, kdf::Kdf, sharing::Sharing};
use crate::evaluator::{EvaluateError, unpack};

/// Evaluates a garbled circuit: the labels of its outputs as blocks, whose lowest bits are external values, which
/// [`Garbled::decoding`](super::Garbled::decoding) turns into values.
///
/// *Shape*: `inputs` are as many labels as the circuit has inputs.
///
/// *Errors*: tables of another length than [`PublishedConfig::table_bytes`].
///
/// # Panics
/// If there are not as many labels as inputs, or a gate has three inputs and the method supports only two.
pub fn evaluate(
    circuit: &TableCircuit,
    config: PublishedConfig,
    tables: &[u8],
    inputs: &[Label],
) -> Result<Zeroizing<Vec<Block>>, EvaluateError> {
    assert_eq!(inputs.len(), circuit.input_count() as usize, "labels of all inputs");
    let expected = config.table_bytes(circuit);
    if tables.len() != expected {
        return Err(EvaluateError::ChunkLength { got: tables.len(), expected });
    }
    let (block_count, bit_count) = config.sizes(circuit);
    let mut bits = Vec::new();
    let (blocks, packed) = tables.split_at(16 * block_count);
    unpack(packed, 1, bit_count, &mut bits);
    let mut evaluation = Evaluation {
        method: config.method,
        kdf: Kdf::new(config.method, config.sides),
        sharing: (config.method == Method::PrfSs).then(Sharing::new),
        blocks: blocks.as_chunks().0,
        bits: &bits,
    };
    let mut wires = Zeroizing::new(Vec::with_capacity(inputs.len() + circuit.gates().len()));
    wires.extend_from_slice(inputs);
    for (g, gate) in circuit.gates().iter().enumerate() {
        let operands: Vec<Label> = gate.operands().iter().map(|wire| wires[wire.index()]).collect();
        let label = evaluation.gate(g as u64, gate, &Zeroizing::new(operands));
        wires.push(label);
    }
    let label = |output: &Signal| match output {
        Signal::Constant(_) => Block::ZERO,
        Signal::Wire { wire, .. } => wires[wire.index()].to_block(),
    };
    Ok(Zeroizing::new(circuit.outputs().iter().map(label).collect()))
}

/// The state while gates are evaluated, with the rest of the tables.
struct Evaluation<'a> {
    method: Method,
    kdf: Kdf,
    sharing: Option<Sharing>,
    blocks: &'a [[u8; 16]],
    bits: &'a [u8],
}

impl Evaluation<'_> {
    /// Evaluates a gate; returns the label of its result.
    fn gate(&mut self, number: u64, gate: &TableGate, operands: &[Label]) -> Label {
        let (blocks, bits) = self.method.sizes(gate);
        let (blocks, bits) = self.take(blocks, bits);
        if let (true, &[a, b]) = (gate.is_xor(), operands) {
            match self.method {
                Method::CorGrr | Method::RomGrr => return a ^ b,
                Method::Glnp => return self.one_ciphertext(number, a, b, blocks[0]),
                Method::Base | Method::PrfSs => {}
            }
        }
        let keys = Zeroizing::new(operands.iter().map(|label| label.key).collect::<Vec<_>>());
        let row = operands.iter().fold(0, |row, label| row << 1 | usize::from(label.external));
        let pad = self.kdf.pad(&keys, number, row);
        let sent = |row: usize| Label { key: blocks[row], external: bits[row] == 1 };
        match self.method {
            Method::Base => pad ^ sent(row),
            // The first row is zero and was not sent.
            Method::CorGrr | Method::RomGrr if row == 0 => pad,
            Method::CorGrr | Method::RomGrr => pad ^ sent(row - 1),
            Method::PrfSs => self.shared(gate, row, pad, &blocks, pad.external ^ (bits[row] == 1)),
            Method::Glnp => {
                let first = Block::mask(row & 2 != 0) & blocks[0];
                let second = Block::mask(row & 1 != 0) & blocks[1];
                Label { key: pad.key ^ first ^ second, external: pad.external ^ (bits[row] == 1) }
            }
        }
    }

    fn take(&mut self, blocks: usize, bits: usize) -> (Vec<Block>, Vec<u8>) {
        let (own_blocks, later_blocks) = self.blocks.split_at(blocks);
        let (own_bits, later_bits) = self.bits.split_at(bits);
        (self.blocks, self.bits) = (later_blocks, later_bits);
        (own_blocks.iter().map(|bytes| Block::from_bytes(*bytes)).collect(), own_bits.to_vec())
    }

    fn shared(&self, gate: &TableGate, row: usize, pad: Label, sent: &[Block], external: bool) -> Label {
        let Some(sharing) = &self.sharing else { unreachable!("made for this method") };
        let key = match gate.is_even() {
            true => sharing.of_even(row, pad.key, sent[usize::from(external)]),
            false => sharing.of_odd(row, pad.key, [sent[0], sent[1]]),
        };
        Label { key, external }
    }

    fn one_ciphertext(&self, number: u64, a: Label, b: Label, sent: Block) -> Label {
        let first = self.kdf.alone(a.key, number, 0);
        let second = self.kdf.alone(b.key, number, 1) ^ (Block::mask(b.external) & sent);
        Label { key: first ^ second, external: a.external ^ b.external }
    }
}
