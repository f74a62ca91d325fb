//! Parties that leave.

use std::sync::{Arc, Mutex, PoisonError};

use garblet_circuit::{Bits, Program};
use garblet_cut_and_choose::Step;
use garblet_protocol::conduct::Conduct;

/// A garbler that leaves when it learns which circuits are checked.
pub struct LeavingGarbler<C> {
    /// The conduct before it leaves.
    before: C,
    has_committed: bool,
}

impl<C> LeavingGarbler<C> {
    /// A garbler with this conduct until it leaves.
    pub fn new(before: C) -> Self {
        LeavingGarbler { before, has_committed: false }
    }
}

impl<C: Conduct<Step>> Conduct<Step> for LeavingGarbler<C> {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        self.has_committed |= step == Step::CircuitDigest;
        // The first circuit after the digests is one that the evaluator asked for.
        if step == Step::CheckedSeeds || step == Step::Head && self.has_committed {
            // Prints no panic message.
            std::panic::resume_unwind(Box::new(()));
        }
        self.before.touch(step, index, bytes);
    }

    fn input(&mut self, index: usize, bits: &mut Bits) {
        self.before.input(index, bits);
    }

    fn program(&mut self, index: usize) -> Option<Arc<Program>> {
        self.before.program(index)
    }
}

/// An evaluator that follows the protocol, and records the circuits that it names as checked.
#[derive(Clone, Default)]
pub struct RecordingEvaluator {
    told: Arc<Mutex<Vec<u8>>>,
}

impl RecordingEvaluator {
    /// Tells whether the evaluator named a circuit as checked.
    pub fn checks(&self, circuit: usize) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.get(circuit / 8).is_some_and(|byte| byte >> (circuit % 8) & 1 == 1)
    }
}

impl Conduct<Step> for RecordingEvaluator {
    fn touch(&mut self, step: Step, _index: usize, bytes: &mut [u8]) {
        if step == Step::ToldSplit {
            *self.told.lock().unwrap_or_else(PoisonError::into_inner) = bytes.to_vec();
        }
    }
}
