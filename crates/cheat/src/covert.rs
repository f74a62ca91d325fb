//! Deviations from `covert`.

use garblet_covert::checks;
use std::sync::Arc;

use garblet_circuit::{Bits, Program};
use garblet_covert::{Config, Evaluator, Form, Garbler, NAME, Plan, Step};
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
    /// Flips bits of every table.
    WrongTables,
    /// Flips bits of every table only when the circuit is sent, not when it commits to it.
    OtherTables,
    /// Uses coins for the OTs of the circuit that do not come from its seed.
    OtherOtCoins,
    /// Uses coins for the circuit that do not come from its seed.
    OtherCircuitCoins,
    /// Spoils the labels for value `branch` of the evaluator's wires.
    SpoiledLabels {
        /// The wires of the encoded input.
        wires: &'static [usize],
        /// The value whose labels are spoiled.
        branch: bool,
    },
    /// Swaps the labels for both values of the evaluator's first wire.
    SwappedLabels,
    /// Spoils both commitments to its first label.
    WrongCommitment,
    /// Flips the decoding bit of the first output.
    WrongDecodingBit,
    /// Sends another hash of the circuit.
    WrongHash,
    /// Gives an invalid label for its own input.
    UncommittedLabel,
    /// Garbles another program of the same shape.
    OtherProgram,
    /// Sends the hash of another circuit in place of its own, in all of its circuits but one.
    ReplayedHash,
    /// Sends the head of another circuit in place of its own, in all of its circuits but one, until it has sent hashes.
    ReplayedHead,
    /// Opens seeds other than those it garbled from.
    WrongSeeds,
    /// Leaves when it learns which circuit is evaluated.
    Leaves,
}

/// The evaluator's outcome if it checks a circuit with a deviation, and if it evaluates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// This check catches it, with evidence, if the circuit is checked.
    pub checked: Option<Check>,
    /// This check catches it if the circuit is evaluated.
    pub evaluated: Option<Check>,
}

impl GarblerDeviation {
    /// One of every kind in the form `seeds`, except [`GarblerDeviation::Leaves`].
    pub const SEEDS: [(GarblerDeviation, Promise); 13] = {
        use GarblerDeviation as D;
        use checks::{CIRCUIT_OF_SEED, COMMITTED_CIRCUIT, GARBLER_LABEL, LABEL_OF_SEED, OT_OF_SEED};
        [
            (D::WrongTables, promise(Some(CIRCUIT_OF_SEED), None)),
            (D::OtherTables, promise(None, Some(COMMITTED_CIRCUIT))),
            (D::OtherOtCoins, promise(Some(OT_OF_SEED), None)),
            (D::OtherCircuitCoins, promise(Some(CIRCUIT_OF_SEED), None)),
            (D::SpoiledLabels { wires: &[0], branch: false }, promise(Some(LABEL_OF_SEED), None)),
            (D::SwappedLabels, promise(Some(LABEL_OF_SEED), None)),
            (D::WrongCommitment, promise(Some(CIRCUIT_OF_SEED), Some(GARBLER_LABEL))),
            (D::WrongDecodingBit, promise(Some(CIRCUIT_OF_SEED), None)),
            (D::WrongHash, promise(Some(CIRCUIT_OF_SEED), Some(COMMITTED_CIRCUIT))),
            (D::UncommittedLabel, promise(None, Some(GARBLER_LABEL))),
            (D::OtherProgram, promise(Some(CIRCUIT_OF_SEED), None)),
            (D::ReplayedHash, promise(Some(CIRCUIT_OF_SEED), Some(COMMITTED_CIRCUIT))),
            (D::ReplayedHead, promise(Some(CIRCUIT_OF_SEED), Some(COMMITTED_CIRCUIT))),
        ]
    };

    /// One of every kind in the form `al07`, except [`GarblerDeviation::Leaves`].
    pub const AL07: [(GarblerDeviation, Promise); 9] = {
        use GarblerDeviation as D;
        use checks::{CIRCUIT_OF_SEED, GARBLER_LABEL, LABEL_OF_SEED};
        [
            (D::WrongTables, promise(Some(CIRCUIT_OF_SEED), None)),
            (D::SpoiledLabels { wires: &[0], branch: false }, promise(Some(LABEL_OF_SEED), None)),
            (D::SwappedLabels, promise(Some(LABEL_OF_SEED), None)),
            (D::WrongCommitment, promise(Some(CIRCUIT_OF_SEED), Some(GARBLER_LABEL))),
            (D::WrongDecodingBit, promise(Some(CIRCUIT_OF_SEED), None)),
            (D::UncommittedLabel, promise(None, Some(GARBLER_LABEL))),
            (D::OtherProgram, promise(Some(CIRCUIT_OF_SEED), None)),
            (D::ReplayedHead, promise(Some(CIRCUIT_OF_SEED), Some(GARBLER_LABEL))),
            (D::WrongSeeds, promise(Some(CIRCUIT_OF_SEED), Some(CIRCUIT_OF_SEED))),
        ]
    };
}

const fn promise(checked: Option<Check>, evaluated: Option<Check>) -> Promise {
    Promise { checked, evaluated }
}

/// A deviation of an evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluatorDeviation {
    /// Hands over another output for the garbler.
    FalseOutput,
    /// Hands over a false hash of labels.
    FalseLabels,
    /// Sends a false witness.
    FalseWitness,
    /// Claims to evaluate another circuit than the one whose witness it has.
    OtherCircuit,
    /// Opens other coins than it committed to; for OTs with a reference string.
    FalseCoins,
    /// Takes other pads than it claims, so it has neither the right seeds nor the witness.
    OtherSeeds,
}

impl EvaluatorDeviation {
    /// The deviations that the garbler catches, each with its check.
    pub const ALL: [(EvaluatorDeviation, Check); 5] = [
        (EvaluatorDeviation::FalseOutput, checks::OUTPUT_LABELS),
        (EvaluatorDeviation::FalseLabels, checks::OUTPUT_LABELS),
        (EvaluatorDeviation::FalseWitness, checks::WITNESS),
        (EvaluatorDeviation::OtherCircuit, checks::WITNESS),
        (EvaluatorDeviation::FalseCoins, checks::COIN_TOSS_OPENING),
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
    /// Set if hashes have been sent, so that the next circuit is for the evaluator.
    committed: bool,
    replay: Replay,
}

impl CheatingGarbler {
    /// A garbler with this deviation in circuits `0..bad`.
    pub fn new(deviation: GarblerDeviation, bad: usize, other: Arc<Program>) -> Self {
        CheatingGarbler { deviation, bad, other, committed: false, replay: Replay::default() }
    }
}

impl Conduct<Step> for CheatingGarbler {
    fn touch(&mut self, step: Step, circuit: usize, bytes: &mut [u8]) {
        use GarblerDeviation as D;
        self.committed |= step == Step::Commitment;
        match (self.deviation, step) {
            // The index is the evaluated circuit's.
            (D::WrongSeeds, Step::CheckedSeeds) => bytes[0] ^= 1,
            // Prints no panic message.
            (D::Leaves, Step::CheckedSeeds | Step::GarblerLabels) => std::panic::resume_unwind(Box::new(())),
            _ => {}
        }
        if circuit >= self.bad {
            return;
        }
        match (self.deviation, step) {
            (D::ReplayedHash, Step::Commitment) => self.replay.touch(circuit, bytes),
            (D::ReplayedHead, Step::Head) if !self.committed => self.replay.touch(circuit, bytes),
            (D::WrongTables, Step::Tables) => bytes.iter_mut().step_by(32).for_each(|byte| *byte ^= 1),
            (D::OtherTables, Step::Tables) if self.committed => bytes[0] ^= 1,
            (D::OtherOtCoins, Step::OtCoins) | (D::OtherCircuitCoins, Step::CircuitCoins) => bytes[3] ^= 1,
            (D::SpoiledLabels { wires, branch }, Step::EvaluatorLabels) => {
                wires.iter().for_each(|wire| bytes[32 * wire + 16 * usize::from(branch)] ^= 1);
            }
            (D::SwappedLabels, Step::EvaluatorLabels) => {
                let (zero, one) = bytes[..32].split_at_mut(16);
                zero.swap_with_slice(one);
            }
            // After the hash seed.
            (D::WrongCommitment, Step::Head) => [16, 48].into_iter().for_each(|at| bytes[at] ^= 1),
            (D::WrongDecodingBit, Step::Tail) => bytes[0] ^= 1,
            (D::WrongHash, Step::Commitment) => bytes[31] ^= 1,
            (D::UncommittedLabel, Step::GarblerLabels) => bytes[7] ^= 1,
            _ => {}
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
        use EvaluatorDeviation as D;
        match (self.deviation, step) {
            (D::FalseOutput, Step::Result) | (D::FalseCoins, Step::TossOpening) => bytes[0] ^= 1,
            (D::FalseLabels, Step::Result) => bytes[bytes.len() - 1] ^= 1,
            (D::FalseWitness, Step::Chosen) => bytes[2] ^= 1,
            (D::OtherCircuit, Step::Chosen) => bytes[0] ^= 1,
            (D::OtherSeeds, Step::SeedChoices) => bytes[0] ^= 3,
            _ => {}
        }
    }
}

/// The only form with this step of an evaluator; `None` if both have it.
pub fn form_of(deviation: EvaluatorDeviation) -> Option<Form> {
    use EvaluatorDeviation as D;
    match deviation {
        D::FalseWitness | D::OtherCircuit | D::OtherSeeds => Some(Form::Seeds),
        D::FalseCoins => Some(Form::Al07),
        D::FalseOutput | D::FalseLabels => None,
    }
}

/// Runs both parties, each with its conduct, on one thread and with generators from `seed`, and returns both results.
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
            let mut role = Garbler::setup_with(session, plan(())?, garbler).await?;
            let prepared = role.prepare(session).await?;
            role.online(session, prepared, own).await
        },
        async |session, own| {
            let mut role = Evaluator::setup_with(session, plan(())?, evaluator).await?;
            let result = match role.prepare(session).await {
                Ok(prepared) => role.online(session, prepared, own).await,
                Err(error) => Err(error),
            };
            // A party that was caught stays caught, whatever it tries next.
            if let Err(ProtocolError::Corrupted(corrupted)) = &result {
                let again = role.prepare(session).await.err();
                let latched =
                    matches!(&again, Some(ProtocolError::Corrupted(again)) if again.evidence == corrupted.evidence);
                assert!(latched, "a corrupted peer is not served again");
            }
            result
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
