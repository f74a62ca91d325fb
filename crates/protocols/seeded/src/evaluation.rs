//! Evaluation of a circuit that arrives part by part.

use garblet_circuit::Bits;
use garblet_garble::{self as garble, EvaluateError};
use garblet_primitives::Block;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    blueprint::Blueprint,
    circuit::{Shared, unpack},
};
use garblet_protocol::party_io;

/// The labels that the evaluator has for the inputs of a circuit.
#[derive(Clone, Copy)]
pub struct InputLabels<'e> {
    /// The garbler's.
    pub garbler: &'e [Block],
    /// The labels of the evaluator's encoded wires.
    pub own: &'e [Block],
}

/// A circuit whose parts are arriving.
pub struct Evaluation<'e> {
    blueprint: &'e Blueprint,
    shared: &'e Shared,
    circuit: usize,
    labels: InputLabels<'e>,
    part: usize,
    garbler_labels_fit: bool,
    tables: Tables<'e>,
}

/// The tables of a circuit.
enum Tables<'e> {
    /// None have arrived.
    Awaited,
    Streamed(Box<garble::Evaluator<'e>>),
    /// The labels of all outputs.
    Published(Zeroizing<Vec<Box<[Block]>>>),
}

/// The result of a circuit.
pub struct Evaluated {
    /// Set if the garbler committed to its labels, and they give the labels of the hash.
    pub garbler_labels_fit: bool,
    /// The evaluator's outputs. *Secret*: whether they are right.
    pub outputs: Bits,
    /// The labels of all outputs, in program order.
    pub labels: Zeroizing<Vec<Box<[Block]>>>,
}

impl<'e> Evaluation<'e> {
    /// Circuit number `circuit`, before any of its parts has arrived.
    pub fn new(blueprint: &'e Blueprint, shared: &'e Shared, circuit: usize, labels: InputLabels<'e>) -> Self {
        Evaluation { blueprint, shared, circuit, labels, part: 0, garbler_labels_fit: false, tables: Tables::Awaited }
    }

    /// The circuit's number.
    pub fn circuit(&self) -> usize {
        self.circuit
    }

    /// Takes the next part; returns whether it was the last.
    ///
    /// *Errors*: a part of a wrong length, which the caller rules out.
    pub fn take(&mut self, blocks: &[Block]) -> Result<bool, EvaluateError> {
        match self.part {
            0 => self.begin(blocks),
            part => {
                if let Some(bytes) = self.blueprint.table_bytes(part) {
                    self.tables(&bytemuck::cast_slice(blocks)[..bytes])?;
                }
            }
        }
        self.part += 1;
        Ok(self.part == self.blueprint.part_count())
    }

    /// Takes all parts at once.
    ///
    /// *Errors*: as [`Evaluation::take`].
    pub fn of_parts(mut self, parts: &[impl AsRef<[Block]>]) -> Result<Evaluated, EvaluateError> {
        for blocks in parts {
            self.take(blocks.as_ref())?;
        }
        Ok(self.finish(parts.last().map_or(&[], AsRef::as_ref)))
    }

    /// Takes the tables of one part.
    fn tables(&mut self, tables: &[u8]) -> Result<(), EvaluateError> {
        if let Some(published) = self.blueprint.as_published() {
            self.tables = Tables::Published(
                published.evaluate(tables, self.labels.garbler.iter().chain(self.labels.own).copied())?,
            );
        }
        if let Tables::Streamed(evaluator) = &mut self.tables {
            evaluator.evaluate_chunk(tables)?;
        }
        Ok(())
    }

    /// Takes the head: checks the garbler's labels and begins to evaluate.
    fn begin(&mut self, head: &[Block]) {
        let Evaluation { blueprint, shared, labels, .. } = *self;
        let (hash_seed, rest) = head.split_at(blueprint.hash_seed_blocks());
        let (commitments, digest) = rest.split_at(4 * blueprint.committed_wires());
        // Where something else binds the garbler's input, its labels were checked before.
        let bound = if blueprint.committed().garbler { labels.garbler } else { &[] };
        let pairs = bound.iter().zip(commitments.as_chunks::<4>().0).enumerate();
        let mut fit = pairs.fold(Choice::from(1), |fit, (wire, (&label, committed))| {
            let second = label.lsb();
            let expected = [0, 1].map(|half| Block::select(second, committed[2 + half], committed[half]));
            let got = shared.commitment(self.circuit, wire, label);
            fit & got[0].ct_eq(&expected[0]) & got[1].ct_eq(&expected[1])
        });
        if blueprint.hash_rows() > 0 {
            fit &= shared.hash_digest(self.circuit, &shared.hash.sums(labels.garbler))[..].ct_eq(digest);
        }
        self.garbler_labels_fit = fit.into();
        let Some(&hash_seed) = hash_seed.first() else { return };
        let own = shared.encoding.sums(labels.own);
        let garbler = &labels.garbler[..blueprint.garbler_inputs()];
        let inputs = party_io::labels_by_input(blueprint.program(), garbler, &own);
        let (program, schedules, garbling) = (blueprint.program(), blueprint.schedules(), blueprint.garbling());
        let evaluator = garble::Evaluator::new(program, schedules, garbling, hash_seed, 0, inputs);
        self.tables = Tables::Streamed(Box::new(evaluator.in_workspace(shared.workspaces.take())));
    }

    /// Takes the tail again: decodes the outputs.
    pub fn finish(self, tail: &[Block]) -> Evaluated {
        let labels = match self.tables {
            Tables::Awaited => Zeroizing::default(),
            Tables::Streamed(evaluator) => {
                let (outputs, workspace) = evaluator.into_outputs_and_workspace();
                self.shared.workspaces.give_back(workspace);
                Zeroizing::new(outputs)
            }
            Tables::Published(outputs) => outputs,
        };
        let decoding = unpack(tail, self.blueprint.evaluator_outputs());
        let outputs = added(&self.blueprint.select_bits(&labels), &decoding);
        Evaluated { garbler_labels_fit: self.garbler_labels_fit, outputs, labels }
    }
}

fn added(a: &Bits, b: &Bits) -> Bits {
    a.iter().zip(b.iter()).map(|(a, b)| a ^ b).collect()
}
