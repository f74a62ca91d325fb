//! What the evaluator does with each circuit: the same for those that it checks and those that it evaluates.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_garble::{self as garble, EvaluateError};
use garblet_ot::Choices;
use garblet_primitives::Block;
use subtle::{Choice, ConstantTimeEq};
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::{
    circuit::{Secrets, Shared, Stream, select_bits, unpack},
    config::Form,
    fingerprint::{Fingerprint, FingerprintKey},
    plan::Plan,
};
use crate::interface;

/// What the evaluator can decrypt of a circuit's keys.
pub(crate) struct Keys {
    /// The labels of its own encoded wires.
    pub(crate) own: Zeroizing<Vec<Block>>,
    /// The garbler's labels; of a circuit to be checked, noise.
    pub(crate) garbler: Zeroizing<Vec<Block>>,
    /// The seed; of a circuit to be evaluated, noise.
    pub(crate) seed: Zeroizing<Block>,
}

/// A part of a circuit as it came.
pub(crate) struct Part {
    pub(crate) circuit: usize,
    pub(crate) blocks: Vec<Block>,
}

/// What came out of a circuit.
pub(crate) struct Examination {
    pub(crate) circuit: usize,
    /// Of all its parts.
    pub(crate) fingerprint: Fingerprint,
    /// Whether the garbler's labels are among those that it committed to.
    pub(crate) garbler_labels_fit: bool,
    /// The hash of the garbler's input.
    pub(crate) hash: Bits,
    /// The evaluator's outputs. *Secret*: whether they are right.
    pub(crate) outputs: Bits,
}

/// What a seed gives.
pub(crate) struct Remade {
    pub(crate) circuit: usize,
    /// Of all parts.
    pub(crate) fingerprint: Fingerprint,
    /// Whether the labels that came by OT are those of the evaluator's choices.
    pub(crate) own_labels_fit: bool,
}

/// Everything that examining circuits needs.
pub(crate) struct Examining {
    pub(crate) plan: Arc<Plan>,
    pub(crate) shared: Shared,
    pub(crate) fingerprints: FingerprintKey,
    pub(crate) keys: Vec<Keys>,
    pub(crate) choices: Choices,
}

impl Examining {
    /// Examines circuits part by part until there are no more.
    ///
    /// *Errors*: parts of a wrong length, which the caller makes impossible.
    pub(crate) fn examine(&self, mut parts: mpsc::Receiver<Part>) -> Result<Vec<Examination>, EvaluateError> {
        let mut lanes: Vec<Lane<'_>> = Vec::new();
        let mut done = Vec::new();
        while let Some(Part { circuit, blocks }) = parts.blocking_recv() {
            let at = lanes.iter().position(|lane| lane.circuit == circuit);
            let at = at.unwrap_or_else(|| {
                lanes.push(Lane::new(self, circuit));
                lanes.len() - 1
            });
            if lanes[at].take(&blocks)? {
                done.push(lanes.swap_remove(at).finish(&blocks));
            }
        }
        Ok(done)
    }

    /// The fingerprint of a circuit whose parts are all there.
    pub(crate) fn fingerprint(&self, parts: &[Vec<Block>]) -> Fingerprint {
        let mut fingerprint = Fingerprint::new();
        parts.iter().for_each(|blocks| fingerprint.add(&self.fingerprints, blocks));
        fingerprint
    }

    /// What comes out of a circuit whose parts are all there.
    ///
    /// *Errors*: as [`Examining::examine`].
    pub(crate) fn evaluate(&self, circuit: usize, parts: &[Vec<Block>]) -> Result<Bits, EvaluateError> {
        let mut lane = Lane::new(self, circuit);
        for blocks in parts {
            lane.take(blocks)?;
        }
        Ok(lane.finish(parts.last().map_or(&[], Vec::as_slice)).outputs)
    }

    /// Makes a circuit again from its seed.
    pub(crate) fn remake(&self, circuit: usize) -> Remade {
        let keys = &self.keys[circuit];
        let secrets = Secrets::of_seed(&self.plan, *keys.seed);
        let mut stream = Stream::new(&self.plan, &self.shared, circuit, &secrets);
        let mut fingerprint = Fingerprint::new();
        while let Some(blocks) = stream.next_part() {
            fingerprint.add(&self.fingerprints, &blocks);
        }
        let delta = secrets.delta.block();
        let expected = secrets.evaluator.iter().zip(self.choices.iter());
        let expected = expected.map(|(&zero, choice)| zero ^ (Block::mask(choice) & delta));
        let fit =
            keys.own.iter().zip(expected).fold(Choice::from(1), |fit, (own, expected)| fit & own.ct_eq(&expected));
        Remade { circuit, fingerprint, own_labels_fit: fit.into() }
    }
}

/// A circuit whose parts are coming.
struct Lane<'e> {
    of: &'e Examining,
    circuit: usize,
    part: usize,
    fingerprint: Fingerprint,
    garbler_labels_fit: bool,
    hash: Bits,
    evaluation: Option<garble::Evaluator<'e>>,
}

impl<'e> Lane<'e> {
    fn new(of: &'e Examining, circuit: usize) -> Self {
        Lane {
            of,
            circuit,
            part: 0,
            fingerprint: Fingerprint::new(),
            garbler_labels_fit: false,
            hash: Bits::default(),
            evaluation: None,
        }
    }

    /// Takes the next part; says whether it was the last.
    fn take(&mut self, blocks: &[Block]) -> Result<bool, EvaluateError> {
        self.fingerprint.add(&self.of.fingerprints, blocks);
        let plan = &self.of.plan;
        match self.part {
            0 => self.begin(blocks),
            part => {
                if let (Some(evaluation), Some(ands)) = (&mut self.evaluation, plan.pieces().nth(part - 1)) {
                    let mut tables = &bytemuck::cast_slice(blocks)[..plan.piece_bytes(ands)];
                    while !tables.is_empty() {
                        let (chunk, later) = tables.split_at(evaluation.next_chunk_bytes());
                        evaluation.evaluate_chunk(chunk)?;
                        tables = later;
                    }
                }
            }
        }
        self.part += 1;
        Ok(self.part == plan.part_count())
    }

    /// Takes the head: checks the garbler's labels, hashes its input and begins to evaluate.
    fn begin(&mut self, head: &[Block]) {
        let Examining { plan, shared, keys, .. } = self.of;
        let keys = &keys[self.circuit];
        let (hash_seed, rest) = head.split_first().map_or((Block::ZERO, head), |(seed, rest)| (*seed, rest));
        let (commitments, decoding) = rest.split_at(4 * plan.committed_wires());
        // Where supersets bind the garbler's input, its labels were looked at before.
        let bound = if plan.config().form == Form::Oblivious { &keys.garbler[..] } else { &[] };
        let pairs = bound.iter().zip(commitments.as_chunks::<4>().0).enumerate();
        let fit = pairs.fold(Choice::from(1), |fit, (wire, (&label, committed))| {
            let second = label.lsb();
            let expected = [0, 1].map(|half| Block::select(second, committed[2 + half], committed[half]));
            let got = shared.commitment(self.circuit, wire, label);
            fit & got[0].ct_eq(&expected[0]) & got[1].ct_eq(&expected[1])
        });
        self.garbler_labels_fit = fit.into();
        let select = select_bits(&shared.hash.sums(&keys.garbler));
        self.hash = added(&select, &unpack(decoding, plan.hash_rows()));
        let own = Zeroizing::new(shared.encoding.sums(&keys.own));
        let inputs = interface::labels_by_input(plan.program(), &keys.garbler[..plan.garbler_inputs()], &own);
        let config = plan.config().garbling;
        self.evaluation = Some(garble::Evaluator::new(plan.program(), plan.schedules(), config, hash_seed, 0, inputs));
    }

    /// Takes the tail again: decodes the outputs.
    fn finish(self, tail: &[Block]) -> Examination {
        let plan = &self.of.plan;
        let labels = self.evaluation.map(garble::Evaluator::into_outputs).unwrap_or_default();
        let outputs = added(&plan.select_bits(&labels), &unpack(tail, plan.evaluator_outputs()));
        Examination {
            circuit: self.circuit,
            fingerprint: self.fingerprint,
            garbler_labels_fit: self.garbler_labels_fit,
            hash: self.hash,
            outputs,
        }
    }
}

fn added(a: &Bits, b: &Bits) -> Bits {
    a.iter().zip(b.iter()).map(|(a, b)| a ^ b).collect()
}
