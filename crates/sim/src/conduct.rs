//! Parties that lie, by the cheat kit, or panic at a message.

use std::{
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use garblet_authenticated::{GARBLER, Step, many};
use garblet_cheat::{
    authenticated::{CheatingEvaluator, CheatingGarbler, Deviation, EvaluatorDeviation, GarblerDeviation},
    authenticated_bmr::{Cheat, Lie as WrongByte},
};
use garblet_circuit::{Bits, Party, Program};
use garblet_protocol::conduct::Conduct;

/// The payload of a panic that a history has planned.
pub(crate) struct Planned;

/// The price of a lie for those who catch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Price {
    /// They have told whether a guess about their secrets was right: their store must be given up.
    Store,
    /// They have told nothing of their secrets: their store must stay.
    Nothing,
}

/// A lie.
pub(crate) struct Lie<S> {
    pub(crate) name: String,
    pub(crate) price: Price,
    pub(crate) conduct: Box<dyn Conduct<S>>,
}

/// The manner of a party: honest without lies and panics.
pub(crate) struct Manner<S> {
    lie: Option<Box<dyn Conduct<S>>>,
    panics_at: Option<u64>,
    seen: u64,
    has_lied: Arc<AtomicBool>,
}

impl<S> Manner<S> {
    /// A party that tells this lie and panics at this message, if there is one. `has_lied` is set once the lie has changed anything.
    pub(crate) fn new(lie: Option<Box<dyn Conduct<S>>>, panics_at: Option<u64>, has_lied: Arc<AtomicBool>) -> Self {
        Manner { lie, panics_at, seen: 0, has_lied }
    }

    fn note(&self, lies: bool) {
        self.has_lied.fetch_or(lies, Ordering::Relaxed);
    }
}

impl<S: 'static> Conduct<S> for Manner<S> {
    fn touch(&mut self, step: S, index: usize, bytes: &mut [u8]) {
        if self.panics_at == Some(self.seen) {
            resume_unwind(Box::new(Planned));
        }
        self.seen += 1;
        if let Some(lie) = &mut self.lie {
            let honest = bytes.to_vec();
            lie.touch(step, index, bytes);
            self.note(*bytes != honest);
        }
    }

    fn input(&mut self, index: usize, bits: &mut Bits) {
        if let Some(lie) = &mut self.lie {
            let honest = bits.clone();
            lie.input(index, bits);
            self.note(*bits != honest);
        }
    }

    fn program(&mut self, index: usize) -> Option<Arc<Program>> {
        let program = self.lie.as_mut()?.program(index);
        self.note(program.is_some());
        program
    }
}

/// A lie of one of two parties, by number. Each fails a check of the peer's secrets.
pub(crate) fn of_two(number: usize, party: Party, program: &Arc<Program>) -> Lie<Step> {
    let both = Deviation::ALL.into_iter().map(|(deviation, _)| deviation);
    let (name, conduct): (_, Box<dyn Conduct<Step>>) = if party == GARBLER {
        let alone = GarblerDeviation::ALONE.into_iter().map(|(deviation, ..)| deviation);
        let all: Vec<_> = both.map(GarblerDeviation::Any).chain(alone).collect();
        let deviation = all[number % all.len()];
        (format!("{deviation:?}"), Box::new(CheatingGarbler::new(deviation, program)))
    } else {
        let alone = EvaluatorDeviation::ALONE.into_iter().map(|(deviation, ..)| deviation);
        let all: Vec<_> = both.map(EvaluatorDeviation::Any).chain(alone).collect();
        let deviation = all[number % all.len()];
        (format!("{deviation:?}"), Box::new(CheatingEvaluator::new(deviation)))
    };
    Lie { name, price: Price::Store, conduct }
}

/// All steps, with the price of a lie of one of several parties: only what a party says of its nonce, its marks and its word tells nothing of the others' secrets.
const STEPS: [(many::Step, Price); 36] = [
    (many::Step::Nonce, Price::Nothing),
    (many::Step::Name, Price::Nothing),
    (many::Step::Difference, Price::Store),
    (many::Step::DifferenceSums, Price::Store),
    (many::Step::OwnDifferenceProofs, Price::Store),
    (many::Step::DifferenceCommitment, Price::Store),
    (many::Step::DifferenceProofs, Price::Store),
    (many::Step::CoinCommitments, Price::Store),
    (many::Step::Coins, Price::Store),
    (many::Step::Bits, Price::Store),
    (many::Step::Answers, Price::Store),
    (many::Step::BitsEcho, Price::Store),
    (many::Step::LeakyBlocks, Price::Store),
    (many::Step::OwnProductBits, Price::Store),
    (many::Step::ProductBitsCommitment, Price::Store),
    (many::Step::ProductBits, Price::Store),
    (many::Step::ZeroBlocks, Price::Store),
    (many::Step::OwnProduct, Price::Store),
    (many::Step::ProductCommitment, Price::Store),
    (many::Step::Product, Price::Store),
    (many::Step::BucketBits, Price::Store),
    (many::Step::BucketProof, Price::Store),
    (many::Step::GateBits, Price::Store),
    (many::Step::GateProof, Price::Store),
    (many::Step::TableParts, Price::Store),
    (many::Step::Tables, Price::Store),
    (many::Step::MaskedInputs, Price::Store),
    (many::Step::InputLabels, Price::Store),
    (many::Step::RevealedGates, Price::Store),
    (many::Step::RevealedLabels, Price::Store),
    (many::Step::RevealedSums, Price::Store),
    (many::Step::OutputMasks, Price::Store),
    (many::Step::HandedOver, Price::Store),
    (many::Step::KeptMarks, Price::Nothing),
    (many::Step::KeptEcho, Price::Nothing),
    (many::Step::Kept, Price::Nothing),
];

/// The number of lies of several parties, more than two have.
pub(crate) const LIES: usize = 4 * STEPS.len();

/// A lie of one of several parties, by number: a wrong bit in a message of a step, to all or to one.
pub(crate) fn of_several(number: usize, party: u16, parties: u16) -> Lie<many::Step> {
    let ((step, price), rest) = (STEPS[number % STEPS.len()], number / STEPS.len());
    let other = (party + 1) % parties;
    let (to, byte) = ([None, Some(other)][rest % 2], [0, -1][rest / 2 % 2]);
    let conduct = Box::new(Cheat::new(vec![WrongByte::new(step, to, byte)]));
    Lie { name: format!("{step:?}, to {to:?}, byte {byte}"), price, conduct }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes byte 0 of messages of step 1 to 7, all inputs, and the program of circuit 1.
    struct Changes;

    impl Conduct<u8> for Changes {
        fn touch(&mut self, step: u8, _: usize, bytes: &mut [u8]) {
            if step == 1 {
                bytes[0] = 7;
            }
        }

        fn input(&mut self, _: usize, bits: &mut Bits) {
            *bits = bits.iter().map(|bit| !bit).collect();
        }

        fn program(&mut self, index: usize) -> Option<Arc<Program>> {
            let program = garblet::compile("none", "pub fn main(a: u8) -> u8 { a }", garblet::lang::Options::default());
            (index == 1).then(|| Arc::new(program.expect("it compiles")))
        }
    }

    fn liar() -> (Manner<u8>, impl Fn() -> bool) {
        let has_lied = Arc::new(AtomicBool::new(false));
        let manner = Manner::new(Some(Box::new(Changes)), None, has_lied.clone());
        (manner, move || has_lied.load(Ordering::Relaxed))
    }

    #[test]
    fn a_lie_is_told_once_it_has_changed_something() {
        let (mut manner, has_lied) = liar();
        manner.touch(0, 0, &mut [1]);
        manner.touch(1, 0, &mut [7]);
        assert!(!has_lied(), "nothing has changed");
        manner.touch(1, 0, &mut [1]);
        assert!(has_lied());
        manner.touch(0, 0, &mut [1]);
        assert!(has_lied(), "it stays a lie");
    }

    #[test]
    fn inputs_and_programs_are_lies_as_well() {
        let (mut manner, has_lied) = liar();
        let mut bits = Bits::from_u128(1, 2);
        manner.input(0, &mut bits);
        assert!(bits == Bits::from_u128(2, 2) && has_lied());
        let (mut manner, has_lied) = liar();
        assert!(manner.program(0).is_none() && !has_lied());
        assert!(manner.program(1).is_some() && has_lied());
    }
}
