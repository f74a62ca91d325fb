//! What the evaluator does with each circuit: the same for those that it checks and those that it evaluates.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_garble::EvaluateError;
use garblet_ot::Choices;
use garblet_primitives::Block;
use subtle::{Choice, ConstantTimeEq};
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::plan::Plan;
use crate::seeded::{
    Buffers, Evaluated, Evaluation, Fingerprint, FingerprintKey, InputLabels, Part, Secrets, Shared, Stream,
};

/// What the evaluator can decrypt of a circuit's keys.
pub(crate) struct Keys {
    /// The labels of its own encoded wires.
    pub(crate) own: Zeroizing<Vec<Block>>,
    /// The garbler's labels; of a circuit to be checked, noise.
    pub(crate) garbler: Zeroizing<Vec<Block>>,
    /// The seed; of a circuit to be evaluated, noise.
    pub(crate) seed: Zeroizing<Block>,
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
    pub(crate) buffers: Buffers,
}

impl Examining {
    /// Examines circuits part by part until there are no more.
    ///
    /// *Errors*: parts of a wrong length, which the caller makes impossible.
    pub(crate) fn examine(&self, mut parts: mpsc::Receiver<Part>) -> Result<Vec<Examination>, EvaluateError> {
        let mut lanes: Vec<Lane<'_>> = Vec::new();
        let mut done = Vec::new();
        while let Some(Part { circuit, blocks, .. }) = parts.blocking_recv() {
            let at = lanes.iter().position(|lane| lane.evaluation.circuit() == circuit);
            let at = at.unwrap_or_else(|| {
                lanes.push(Lane::new(self, circuit));
                lanes.len() - 1
            });
            if lanes[at].take(&blocks)? {
                done.push(lanes.swap_remove(at).finish(&blocks));
            }
            self.buffers.give_back(blocks);
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
        let secrets = Secrets::of_seed(self.plan.blueprint(), *keys.seed);
        let mut stream = Stream::new(self.plan.blueprint(), &self.shared, circuit, &secrets);
        let mut fingerprint = Fingerprint::new();
        let mut blocks = self.buffers.take();
        while stream.next_part(&mut blocks) {
            fingerprint.add(&self.fingerprints, &blocks);
        }
        self.buffers.give_back(blocks);
        let expected = secrets.chosen(&self.choices);
        let labels = keys.own.iter().zip(expected.iter());
        let fit = labels.fold(Choice::from(1), |fit, (own, expected)| fit & own.ct_eq(expected));
        Remade { circuit, fingerprint, own_labels_fit: fit.into() }
    }
}

/// A circuit whose parts are coming.
struct Lane<'e> {
    fingerprints: &'e FingerprintKey,
    fingerprint: Fingerprint,
    evaluation: Evaluation<'e>,
}

impl<'e> Lane<'e> {
    fn new(of: &'e Examining, circuit: usize) -> Self {
        let keys = &of.keys[circuit];
        let labels = InputLabels { garbler: &keys.garbler, own: &keys.own };
        let evaluation = Evaluation::new(of.plan.blueprint(), &of.shared, circuit, labels);
        Lane { fingerprints: &of.fingerprints, fingerprint: Fingerprint::new(), evaluation }
    }

    /// Takes the next part; says whether it was the last.
    fn take(&mut self, blocks: &[Block]) -> Result<bool, EvaluateError> {
        self.fingerprint.add(self.fingerprints, blocks);
        self.evaluation.take(blocks)
    }

    /// Takes the tail again: decodes the outputs.
    fn finish(self, tail: &[Block]) -> Examination {
        let circuit = self.evaluation.circuit();
        let Evaluated { garbler_labels_fit, hash, outputs, labels: _ } = self.evaluation.finish(tail);
        Examination { circuit, fingerprint: self.fingerprint, garbler_labels_fit, hash, outputs }
    }
}
