//! Examination of circuits: each is evaluated as it arrives, or regenerated from its seed.

use std::sync::Arc;

use garblet_circuit::Bits;
use garblet_garble::EvaluateError;
use garblet_ot::BitVec;
use garblet_primitives::Block;
use subtle::{Choice, ConstantTimeEq};
use tokio::sync::mpsc;
use zeroize::Zeroizing;

use super::plan::Plan;
use garblet_protocol::domain::{Domain, PartsHasher};
use garblet_seeded::{
    Buffers, Evaluated, Evaluation, InputLabels, Part, Secrets, Shared, Stream, digests::DIGEST_BYTES,
};

/// The keys of a circuit that the evaluator can decrypt.
pub(crate) struct Keys {
    /// The labels of its encoded wires.
    pub(crate) own: Zeroizing<Vec<Block>>,
    /// The garbler's labels; noise for a circuit to check.
    pub(crate) garbler: Zeroizing<Vec<Block>>,
    /// The seed; noise for a circuit to evaluate.
    pub(crate) seed: Zeroizing<Block>,
}

/// The result of an evaluated circuit.
pub(crate) struct Examination {
    pub(crate) circuit: usize,
    /// The digest of all its parts.
    pub(crate) digest: [u8; DIGEST_BYTES],
    /// Set if the garbler's labels give the labels of its input's hash.
    pub(crate) garbler_labels_fit: bool,
    /// The evaluator's outputs. *Secret*: whether they are right.
    pub(crate) outputs: Bits,
}

/// A checked circuit, regenerated from its seed.
pub(crate) struct Remade {
    pub(crate) circuit: usize,
    /// The digest of all parts.
    pub(crate) digest: [u8; DIGEST_BYTES],
    /// Set if the labels received by OT are those of the evaluator's choices.
    pub(crate) own_labels_fit: bool,
}

/// The evaluator's knowledge about all circuits.
pub(crate) struct Examining {
    pub(crate) plan: Arc<Plan>,
    pub(crate) shared: Shared,
    /// The domain of circuits' digests.
    pub(crate) digests: Domain,
    pub(crate) keys: Vec<Keys>,
    pub(crate) choices: BitVec,
    pub(crate) buffers: Buffers,
}

impl Examining {
    /// Evaluates circuits part by part until there are no more.
    ///
    /// *Errors*: parts of a wrong length, which the caller rules out.
    pub(crate) fn examine(&self, mut parts: mpsc::Receiver<Part>) -> Result<Vec<Examination>, EvaluateError> {
        let mut lanes: Vec<Lane<'_>> = Vec::new();
        let mut done = Vec::new();
        while let Some(part) = parts.blocking_recv() {
            let at = lanes.iter().position(|lane| lane.evaluation.circuit() == part.circuit);
            let at = at.unwrap_or_else(|| {
                lanes.push(Lane::new(self, part.circuit));
                lanes.len() - 1
            });
            if lanes[at].take(part.blocks())? {
                done.push(lanes.swap_remove(at).finish(part.blocks()));
            }
            self.buffers.give_back(part.into_buffer());
        }
        Ok(done)
    }

    /// The outputs of a circuit, from all of its parts.
    ///
    /// *Errors*: as [`Examining::examine`].
    pub(crate) fn evaluate(&self, circuit: usize, parts: &[&[Block]]) -> Result<Bits, EvaluateError> {
        Ok(self.evaluation(circuit).of_parts(parts)?.outputs)
    }

    /// The digest of a circuit regenerated from its seed.
    pub(crate) fn remade(&self, circuit: usize) -> Remade {
        let mut hash = self.digests.at(circuit as u64).parts_hasher();
        let own_labels_fit = self.remake(circuit, |_, blocks| hash.add(bytemuck::cast_slice(blocks)));
        Remade { circuit, digest: hash.finish(), own_labels_fit }
    }

    /// Regenerates a circuit from its seed and passes on its parts one by one, each with its number. Returns whether the labels
    /// received by OT are those of the evaluator's choices.
    pub(crate) fn remake(&self, circuit: usize, mut see: impl FnMut(usize, &[Block])) -> bool {
        let keys = &self.keys[circuit];
        let secrets = Secrets::of_seed(self.plan.blueprint(), *keys.seed);
        let mut stream = Stream::new(self.plan.blueprint(), &self.shared, circuit, &secrets);
        let mut buffer = self.buffers.take();
        let mut part = 0;
        while let Some(blocks) = stream.next_part(&mut buffer) {
            see(part, blocks);
            part += 1;
        }
        self.buffers.give_back(buffer);
        let expected = secrets.chosen(&self.choices);
        let labels = keys.own.iter().zip(expected.iter());
        labels.fold(Choice::from(1), |fit, (own, expected)| fit & own.ct_eq(expected)).into()
    }

    /// Circuit number `circuit`, before any of its parts has arrived.
    fn evaluation(&self, circuit: usize) -> Evaluation<'_> {
        let keys = &self.keys[circuit];
        let labels = InputLabels { garbler: &keys.garbler, own: &keys.own };
        Evaluation::new(self.plan.blueprint(), &self.shared, circuit, labels)
    }
}

/// A circuit whose parts are arriving.
struct Lane<'e> {
    hash: PartsHasher,
    evaluation: Evaluation<'e>,
}

impl<'e> Lane<'e> {
    fn new(of: &'e Examining, circuit: usize) -> Self {
        Lane { hash: of.digests.at(circuit as u64).parts_hasher(), evaluation: of.evaluation(circuit) }
    }

    /// Takes the next part; returns whether it was the last.
    fn take(&mut self, blocks: &[Block]) -> Result<bool, EvaluateError> {
        self.hash.add(bytemuck::cast_slice(blocks));
        self.evaluation.take(blocks)
    }

    /// Takes the tail again: decodes the outputs.
    fn finish(self, tail: &[Block]) -> Examination {
        let circuit = self.evaluation.circuit();
        let Evaluated { garbler_labels_fit, outputs, labels: _ } = self.evaluation.finish(tail);
        Examination { circuit, digest: self.hash.finish(), garbler_labels_fit, outputs }
    }
}
