//! Parties that lie, by the cheat kit, or panic at a message.

use std::{panic::resume_unwind, sync::Arc};

use garblet_authenticated::{GARBLER, Step, many};
use garblet_cheat::{
    authenticated::{CheatingEvaluator, CheatingGarbler, Deviation, EvaluatorDeviation, GarblerDeviation},
    authenticated_bmr::{Cheat, Lie},
};
use garblet_circuit::{Party, Program};
use garblet_protocol::conduct::Conduct;

/// The payload of a panic that a history has planned.
pub(crate) struct Planned;

/// The manner of a party: honest without lies and panics.
pub(crate) struct Manner<S> {
    lie: Option<Box<dyn Conduct<S>>>,
    panics_at: Option<u64>,
    seen: u64,
}

impl<S> Manner<S> {
    /// A party that tells this lie and panics at this message, if there is one.
    pub(crate) fn new(lie: Option<Box<dyn Conduct<S>>>, panics_at: Option<u64>) -> Self {
        Manner { lie, panics_at, seen: 0 }
    }
}

impl<S: 'static> Conduct<S> for Manner<S> {
    fn touch(&mut self, step: S, index: usize, bytes: &mut [u8]) {
        if self.panics_at == Some(self.seen) {
            resume_unwind(Box::new(Planned));
        }
        self.seen += 1;
        if let Some(lie) = &mut self.lie {
            lie.touch(step, index, bytes);
        }
    }
}

/// A lie of one of two parties, by number, with its name.
pub(crate) fn of_two(number: usize, party: Party, program: &Arc<Program>) -> (String, Box<dyn Conduct<Step>>) {
    let both = Deviation::ALL.into_iter().map(|(deviation, _)| deviation);
    if party == GARBLER {
        let alone = GarblerDeviation::ALONE.into_iter().map(|(deviation, ..)| deviation);
        let all: Vec<_> = both.map(GarblerDeviation::Any).chain(alone).collect();
        let deviation = all[number % all.len()];
        return (format!("{deviation:?}"), Box::new(CheatingGarbler::new(deviation, program)));
    }
    let alone = EvaluatorDeviation::ALONE.into_iter().map(|(deviation, ..)| deviation);
    let all: Vec<_> = both.map(EvaluatorDeviation::Any).chain(alone).collect();
    let deviation = all[number % all.len()];
    (format!("{deviation:?}"), Box::new(CheatingEvaluator::new(deviation)))
}

/// Steps at which one of several parties lies.
const STEPS: [many::Step; 24] = [
    many::Step::Difference,
    many::Step::DifferenceProofs,
    many::Step::CoinCommitments,
    many::Step::Coins,
    many::Step::Bits,
    many::Step::Answers,
    many::Step::BitsEcho,
    many::Step::LeakyBlocks,
    many::Step::ProductBits,
    many::Step::ZeroBlocks,
    many::Step::OwnProduct,
    many::Step::ProductCommitment,
    many::Step::Product,
    many::Step::BucketBits,
    many::Step::BucketProof,
    many::Step::GateBits,
    many::Step::GateProof,
    many::Step::TableParts,
    many::Step::Tables,
    many::Step::InputLabels,
    many::Step::HandedOver,
    many::Step::KeptMarks,
    many::Step::KeptEcho,
    many::Step::Kept,
];

/// A lie of one of several parties, by number, with its name: a wrong bit in a message of a step, to all or to one.
pub(crate) fn of_several(number: usize, party: u16, parties: u16) -> (String, Box<dyn Conduct<many::Step>>) {
    let (step, rest) = (STEPS[number % STEPS.len()], number / STEPS.len());
    let other = (party + 1) % parties;
    let (to, byte) = ([None, Some(other)][rest % 2], [0, -1][rest / 2 % 2]);
    (format!("{step:?}, to {to:?}, byte {byte}"), Box::new(Cheat::new(vec![Lie::new(step, to, byte)])))
}
