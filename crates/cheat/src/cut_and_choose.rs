//! Deviations from `cut-and-choose`.

mod leaving;

pub use leaving::{LeavingGarbler, RecordingEvaluator};

use garblet_cut_and_choose::checks;
use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use garblet_circuit::{Bits, Program};
use garblet_cut_and_choose::{Config, Evaluator, Garbler, NAME, Plan, Step};
use garblet_net::{Channel, memory_pair};
use garblet_protocol::{
    ProtocolError, Role,
    checks::Check,
    conduct::{AnyConduct, Conduct, Honest},
};

use crate::{Outputs, Replay, run::run_two};

/// A deviation of a garbler in circuits `0..bad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GarblerDeviation {
    /// Flips a bit of every table.
    WrongTables,
    /// Gives another input: the first bit is flipped.
    OtherInput,
    /// Spoils the label for value `branch` of the evaluator's wire `wire`.
    SpoiledLabel {
        /// The wire of the encoded input.
        wire: usize,
        /// The value whose label is spoiled.
        branch: bool,
    },
    /// Swaps the labels for both values of the evaluator's wire.
    SwappedLabels {
        /// The wire of the encoded input.
        wire: usize,
    },
    /// Gives an invalid label for its own input.
    NoLabel,
    /// Spoils the digest of the labels of the hash of its input.
    WrongHashDigest,
    /// Sends another hash of its input, and garbles all circuits for that hash.
    WrongHash,
    /// Flips the decoding bit of the first output.
    WrongDecodingBit,
    /// Sends a seed other than the circuit's.
    WrongSeed,
    /// Garbles another program of the same shape.
    OtherProgram,
    /// Sends the head of another circuit in place of its own, in all of its circuits but one.
    ReplayedHead,
    /// Sends a wrong digest of the circuit.
    WrongDigest,
    /// Flips a bit of every table that it sends, but computes the digest from the right tables.
    OtherThanDigest,
}

impl GarblerDeviation {
    /// One of every kind, with the check that catches it if the circuit is checked, and the check that catches it if the circuit is evaluated.
    pub const ALL: [(GarblerDeviation, Option<Check>, Option<Check>); 13] = [
        (GarblerDeviation::WrongTables, Some(checks::CIRCUIT_OF_SEED), None),
        (GarblerDeviation::OtherInput, None, Some(checks::GARBLER_INPUT)),
        (GarblerDeviation::SpoiledLabel { wire: 0, branch: false }, Some(checks::LABEL_OF_SEED), None),
        (GarblerDeviation::SwappedLabels { wire: 1 }, Some(checks::LABEL_OF_SEED), None),
        (GarblerDeviation::NoLabel, None, Some(checks::GARBLER_INPUT)),
        (GarblerDeviation::WrongHashDigest, Some(checks::CIRCUIT_OF_SEED), Some(checks::GARBLER_INPUT)),
        (GarblerDeviation::WrongHash, None, Some(checks::GARBLER_INPUT)),
        (GarblerDeviation::WrongDecodingBit, Some(checks::CIRCUIT_OF_SEED), None),
        (GarblerDeviation::WrongSeed, Some(checks::CIRCUIT_OF_SEED), None),
        (GarblerDeviation::OtherProgram, Some(checks::CIRCUIT_OF_SEED), None),
        (GarblerDeviation::ReplayedHead, Some(checks::CIRCUIT_OF_SEED), Some(checks::GARBLER_INPUT)),
        (GarblerDeviation::WrongDigest, Some(checks::CIRCUIT_OF_SEED), Some(checks::COMMITTED_CIRCUIT)),
        (GarblerDeviation::OtherThanDigest, None, Some(checks::COMMITTED_CIRCUIT)),
    ];
}

/// A deviation of a garbler of the published form in supersets `0..bad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SupersetDeviation {
    /// Both sets of the first wire are for the value 0.
    EqualIndicators,
    /// The sets of the first wire have their labels swapped.
    OtherLabels,
    /// Gives another input: the first bit is flipped.
    OtherInput,
    /// Spoils every commitment.
    WrongCommitment,
    /// Spoils the first randomness that it opens.
    WrongOpening,
}

impl SupersetDeviation {
    /// All of them, each with the check that catches it if the superset is checked, and the check that catches it otherwise.
    pub const ALL: [(SupersetDeviation, Option<Check>, Option<Check>); 5] = [
        (SupersetDeviation::EqualIndicators, Some(checks::SUPERSET_INDICATORS), Some(checks::SUPERSET_INPUT)),
        (SupersetDeviation::OtherLabels, Some(checks::SUPERSET_LABEL), Some(checks::SUPERSET_INPUT)),
        (SupersetDeviation::OtherInput, None, Some(checks::SUPERSET_INPUT)),
        (SupersetDeviation::WrongCommitment, Some(checks::SUPERSET_OPENING), Some(checks::SUPERSET_OPENING)),
        (SupersetDeviation::WrongOpening, Some(checks::SUPERSET_OPENING), Some(checks::SUPERSET_OPENING)),
    ];
}

/// A garbler of the published form that cheats in its first supersets.
pub struct CheatingCommitter {
    /// The deviation of the garbler.
    pub deviation: SupersetDeviation,
    /// The number of supersets with the deviation.
    pub bad: usize,
}

impl Conduct<Step> for CheatingCommitter {
    fn touch(&mut self, step: Step, superset: usize, bytes: &mut [u8]) {
        use SupersetDeviation as D;
        if superset >= self.bad {
            return;
        }
        match (self.deviation, step) {
            // The labels match the indicators, so only the indicators are wrong.
            (D::EqualIndicators, Step::Sets) => bytes[..4].fill(0),
            (D::OtherLabels, Step::Sets) => bytes[2..4].swap(0, 1),
            (D::WrongCommitment, Step::Superset) => bytes.iter_mut().step_by(32).for_each(|byte| *byte ^= 1),
            (D::WrongOpening, Step::SupersetOpening) => bytes[20] ^= 1,
            _ => {}
        }
    }

    fn input(&mut self, superset: usize, bits: &mut Bits) {
        if self.deviation == SupersetDeviation::OtherInput && superset < self.bad && !bits.is_empty() {
            bits.set(0, !bits.get(0));
        }
    }
}

/// A deviation of an evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluatorDeviation {
    /// Hands over another output for the garbler.
    FalseOutput,
    /// Hands over a false tag.
    FalseTag,
    /// Opens other coins than it committed to; in the published form.
    FalseCoins,
    /// Names one circuit more than agreed as evaluated: the first that it checks.
    OneMore,
    /// Names one circuit less than agreed as evaluated: without the first that it evaluates.
    OneLess,
}

impl EvaluatorDeviation {
    /// All of them, each with the check that catches it.
    pub const ALL: [(EvaluatorDeviation, Check); 5] = [
        (EvaluatorDeviation::FalseOutput, checks::OUTPUT_TAG),
        (EvaluatorDeviation::FalseTag, checks::OUTPUT_TAG),
        (EvaluatorDeviation::FalseCoins, checks::COIN_TOSS_OPENING),
        (EvaluatorDeviation::OneMore, checks::TOLD_SPLIT),
        (EvaluatorDeviation::OneLess, checks::TOLD_SPLIT),
    ];
}

/// A garbler that cheats in its first circuits.
pub struct CheatingGarbler {
    /// The deviation of the garbler.
    pub deviation: GarblerDeviation,
    /// The number of circuits with the deviation.
    pub bad: usize,
    /// The program that [`GarblerDeviation::OtherProgram`] garbles.
    pub other: Arc<Program>,
    replay: Replay,
    /// Set once digests are sent: the circuits that it makes now are sent.
    is_sending: bool,
}

impl CheatingGarbler {
    /// A garbler with this deviation in circuits `0..bad`.
    pub fn new(deviation: GarblerDeviation, bad: usize, other: Arc<Program>) -> Self {
        CheatingGarbler { deviation, bad, other, replay: Replay::default(), is_sending: false }
    }
}

impl Conduct<Step> for CheatingGarbler {
    fn touch(&mut self, step: Step, circuit: usize, bytes: &mut [u8]) {
        use GarblerDeviation as D;
        self.is_sending |= step == Step::CircuitDigest;
        if circuit < self.bad {
            match (self.deviation, step) {
                (D::WrongTables, Step::Tables) => bytes.iter_mut().step_by(32).for_each(|byte| *byte ^= 1),
                (D::SpoiledLabel { wire, branch }, Step::EvaluatorLabels) => {
                    bytes[32 * wire + 16 * usize::from(branch)] ^= 1;
                }
                (D::SwappedLabels { wire }, Step::EvaluatorLabels) => {
                    let (zero, one) = bytes[32 * wire..][..32].split_at_mut(16);
                    zero.swap_with_slice(one);
                }
                (D::NoLabel, Step::GarblerLabels) => bytes[7] ^= 1,
                // After the hash seed.
                (D::WrongHashDigest, Step::Head) => bytes[16] ^= 1,
                (D::WrongHash, Step::InputHash) => bytes[0] ^= 1,
                (D::WrongDecodingBit, Step::Tail) => bytes[0] ^= 1,
                (D::WrongSeed, Step::Seed) => bytes[0] ^= 1,
                (D::ReplayedHead, Step::Head) => self.replay.touch(circuit, bytes),
                (D::WrongDigest, Step::CircuitDigest) => bytes[0] ^= 1,
                (D::OtherThanDigest, Step::Tables) if self.is_sending => bytes[0] ^= 1,
                _ => {}
            }
        }
    }

    fn input(&mut self, circuit: usize, bits: &mut Bits) {
        if self.deviation == GarblerDeviation::OtherInput && circuit < self.bad && !bits.is_empty() {
            bits.set(0, !bits.get(0));
        }
    }

    fn program(&mut self, circuit: usize) -> Option<Arc<Program>> {
        let other = self.deviation == GarblerDeviation::OtherProgram && circuit < self.bad;
        other.then(|| self.other.clone())
    }
}

/// An evaluator that cheats.
pub struct CheatingEvaluator {
    /// The deviation of the evaluator.
    pub deviation: EvaluatorDeviation,
}

impl Conduct<Step> for CheatingEvaluator {
    fn touch(&mut self, step: Step, _index: usize, bytes: &mut [u8]) {
        match (self.deviation, step) {
            (EvaluatorDeviation::FalseOutput, Step::Result) => bytes[0] ^= 1,
            (EvaluatorDeviation::FalseCoins, Step::TossOpening) => bytes[0] ^= 1,
            (EvaluatorDeviation::OneMore, Step::ToldSplit) => flip_first(bytes, true),
            (EvaluatorDeviation::OneLess, Step::ToldSplit) => flip_first(bytes, false),
            // The tag follows the output, and is as long as an element of its field.
            (EvaluatorDeviation::FalseTag, Step::Result) => {
                let last = bytes.len() - 2;
                bytes[last] ^= 1;
            }
            _ => {}
        }
    }
}

/// An evaluator that claims to evaluate the first circuit that it checks, and to check the first that it evaluates.
pub struct OtherSplit;

impl Conduct<Step> for OtherSplit {
    fn touch(&mut self, step: Step, _index: usize, bytes: &mut [u8]) {
        if step == Step::ToldSplit {
            let (checked, evaluated) = (first(bytes, true), first(bytes, false));
            for at in [checked, evaluated] {
                bytes[at / 8] ^= 1 << (at % 8);
            }
        }
    }
}

/// The place of the first bit that is `value`.
fn first(bytes: &[u8], value: bool) -> usize {
    (0..8 * bytes.len()).find(|at| (bytes[at / 8] >> (at % 8) & 1 == 1) == value).expect("a split has both")
}

/// Flips the first bit that is `value`.
fn flip_first(bytes: &mut [u8], value: bool) {
    let at = first(bytes, value);
    bytes[at / 8] ^= 1 << (at % 8);
}

/// A garbler that follows the protocol, and records the parts of its circuits.
#[derive(Clone, Default)]
pub struct RecordingGarbler {
    parts: Arc<Mutex<Recorded>>,
}

/// The parts of circuits that a garbler made.
#[derive(Clone, Default)]
pub struct Recorded {
    /// The parts that digests cover, by circuit, in order.
    pub hashed: BTreeMap<usize, Vec<Vec<u8>>>,
    /// The parts that it sent.
    pub sent: BTreeMap<usize, Vec<Vec<u8>>>,
    is_sending: bool,
}

impl RecordingGarbler {
    /// The parts kept so far.
    pub fn recorded(&self) -> Recorded {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Conduct<Step> for RecordingGarbler {
    fn touch(&mut self, step: Step, circuit: usize, bytes: &mut [u8]) {
        let mut recorded = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.is_sending |= step == Step::CircuitDigest;
        let parts = if recorded.is_sending { &mut recorded.sent } else { &mut recorded.hashed };
        if [Step::Head, Step::Tables, Step::Tail].contains(&step) {
            parts.entry(circuit).or_default().push(bytes.to_vec());
        }
    }
}

/// Runs both parties, each with its conduct, on one thread, with one worker each and with generators from `seed`, and returns both results.
pub fn run(
    program: &Arc<Program>,
    inputs: &[Bits],
    config: Config,
    garbler: impl Conduct<Step>,
    evaluator: impl Conduct<Step>,
    seed: u128,
) -> [Result<Outputs, ProtocolError>; 2] {
    run_over(memory_pair, program, inputs, config, (garbler, evaluator), seed)
}

/// The same over channels that `connect` makes.
pub fn run_over(
    connect: impl FnOnce() -> (Channel, Channel),
    program: &Arc<Program>,
    inputs: &[Bits],
    config: Config,
    (garbler, evaluator): (impl Conduct<Step>, impl Conduct<Step>),
    seed: u128,
) -> [Result<Outputs, ProtocolError>; 2] {
    let [garbler, evaluator] = [AnyConduct::new(garbler), AnyConduct::new(evaluator)];
    let plan = |()| Plan::new(program.clone(), config).map(Arc::new);
    run_two(
        NAME,
        (program, inputs, seed),
        connect,
        async |session, own| {
            session.set_workers(NonZeroUsize::MIN);
            let mut role = Garbler::setup_with(session, plan(())?, garbler).await?;
            let prepared = role.prepare(session).await?;
            role.online(session, prepared, own).await
        },
        async |session, own| {
            session.set_workers(NonZeroUsize::MIN);
            let mut role = Evaluator::setup_with(session, plan(())?, evaluator).await?;
            let prepared = role.prepare(session).await?;
            role.online(session, prepared, own).await
        },
    )
}

/// Runs two honest parties.
pub fn run_honest(
    program: &Arc<Program>,
    inputs: &[Bits],
    config: Config,
    seed: u128,
) -> [Result<Outputs, ProtocolError>; 2] {
    run(program, inputs, config, Honest, Honest, seed)
}
