//! Deviations from `lego`.

use garblet_lego::checks;
use std::{cell::RefCell, sync::Arc};

use garblet_circuit::{Bits, Program};
use garblet_lego::{Amounts, Config, Constructor, Evaluator, NAME, Order, Plan, Step};
use garblet_net::memory_pair;
use garblet_primitives::{Block, Prg};
use garblet_protocol::{
    ProtocolError,
    checks::Check,
    conduct::{AnyConduct, Conduct, Honest},
};
use garblet_store::Store;

use crate::{Outcome, Outputs, run::run_two};

/// A deviation of a constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstructorDeviation {
    /// It commits to another difference than it uses in the OTs.
    OtherDelta,
    /// It commits to the other block of every OT, so that the evaluator's inputs would be negated.
    OtherStrings,
    /// It commits to blocks that do not come from the OTs.
    SpoiledStrings,
    /// It does so only for the first input bit, to learn the evaluator's bit from whether the evaluator continues.
    SpoiledString,
    /// The tables of all gates are wrong.
    WrongTables,
    /// The shifts that move the gates' keys to the committed ones are wrong, for all gates.
    WrongShifts,
    /// All authenticators are wrong.
    WrongAuthenticators,
    /// It sends a wrong select bit of the first OT's block.
    FalseSelectBit,
    /// It sends a wrong select bit of the first output mask, so an output would be decoded wrongly.
    FalseMaskBit,
    /// It opens a combination for the select bits to another value.
    FalseCombination,
    /// It opens a checked key to another value.
    FalseCheckedKey,
    /// It opens a soldering within a bucket to another value.
    FalseSoldering,
    /// It opens two solderings within buckets to other values, with the same error, 128 squares of 128 apart: coefficients that
    /// repeat after 128 squares would let the errors cancel. This takes about a thousand gates.
    EqualErrorsApart,
    /// It opens a soldering of the function to another value.
    FalseLink,
    /// It opens the sum that gives the evaluator an input key to another value.
    FalseInputOpening,
    /// It opens the sum that decodes the last output to another value.
    FalseDecoding,
    /// It sends an invalid key for its own input.
    WrongInputKey,
}

impl ConstructorDeviation {
    /// All of them, each with the evaluator's outcome.
    pub const ALL: [(Self, Outcome); 17] = [
        (Self::OtherDelta, Outcome::Caught(checks::COMMITTED_DELTA)),
        (Self::OtherStrings, Outcome::Caught(checks::INPUT_KEY_BIT)),
        (Self::SpoiledStrings, Outcome::Caught(checks::INPUT_KEY)),
        (Self::SpoiledString, Outcome::Caught(checks::INPUT_KEY)),
        (Self::WrongTables, Outcome::Caught(checks::GATE)),
        (Self::WrongShifts, Outcome::Caught(checks::GATE)),
        (Self::WrongAuthenticators, Outcome::Caught(checks::AUTHENTICATOR)),
        (Self::FalseSelectBit, Outcome::Caught(checks::TOLD_BITS)),
        (Self::FalseMaskBit, Outcome::Caught(checks::TOLD_BITS)),
        (Self::FalseCombination, Outcome::FalseOpening),
        (Self::FalseCheckedKey, Outcome::FalseOpening),
        (Self::FalseSoldering, Outcome::FalseOpening),
        (Self::EqualErrorsApart, Outcome::FalseOpening),
        (Self::FalseLink, Outcome::FalseOpening),
        (Self::FalseInputOpening, Outcome::FalseOpening),
        (Self::FalseDecoding, Outcome::FalseOpening),
        (Self::WrongInputKey, Outcome::Caught(checks::INPUT_KEY)),
    ];
}

/// A constructor that cheats.
pub struct CheatingConstructor {
    deviation: ConstructorDeviation,
    /// The difference, once the constructor has committed to it.
    delta: Block,
}

impl CheatingConstructor {
    /// A constructor with one deviation.
    pub fn new(deviation: ConstructorDeviation) -> Self {
        CheatingConstructor { deviation, delta: Block::ZERO }
    }
}

/// The bytes of a block.
const BLOCK: usize = 16;

/// Flips the highest bit of a block, which no check of select bits sees.
fn spoil(block: &mut [u8]) {
    block[BLOCK - 1] ^= 0x80;
}

impl Conduct<Step> for CheatingConstructor {
    fn touch(&mut self, step: Step, _index: usize, bytes: &mut [u8]) {
        if step == Step::Delta {
            self.delta = Block::from_bytes(std::array::from_fn(|i| bytes[i]));
        }
        let delta = self.delta.to_bytes();
        let add_delta = |block: &mut [u8]| block.iter_mut().zip(delta).for_each(|(byte, other)| *byte ^= other);
        match (self.deviation, step) {
            (ConstructorDeviation::OtherDelta, Step::Delta)
            | (ConstructorDeviation::SpoiledString, Step::Strings)
            | (ConstructorDeviation::FalseCombination, Step::LeakCombinations)
            | (ConstructorDeviation::FalseCheckedKey, Step::Checked)
            | (ConstructorDeviation::FalseSoldering, Step::Solderings)
            | (ConstructorDeviation::FalseLink, Step::Links)
            | (ConstructorDeviation::FalseInputOpening, Step::Openings)
            | (ConstructorDeviation::WrongInputKey, Step::InputKeys) => spoil(&mut bytes[..BLOCK]),
            // A commitment begins with its message.
            (ConstructorDeviation::FalseDecoding, Step::Openings) => {
                let last = bytes.len() - garblet_lego::SENDER_SHARE_BYTES;
                bytes[last] ^= 1;
            }
            (ConstructorDeviation::EqualErrorsApart, Step::Solderings) => {
                let mut openings = bytes.chunks_exact_mut(garblet_lego::SENDER_SHARE_BYTES);
                // With fewer solderings it is honest.
                if let (Some(first), Some(second)) = (openings.next(), openings.nth(128 * 128 - 1)) {
                    [first, second].into_iter().for_each(|opening| spoil(&mut opening[..BLOCK]));
                }
            }
            (ConstructorDeviation::OtherStrings, Step::Strings) => bytes.chunks_exact_mut(BLOCK).for_each(add_delta),
            (ConstructorDeviation::SpoiledStrings, Step::Strings) => bytes.chunks_exact_mut(BLOCK).for_each(spoil),
            (ConstructorDeviation::WrongTables, Step::Tables)
            | (ConstructorDeviation::WrongShifts, Step::Shifts)
            | (ConstructorDeviation::WrongAuthenticators, Step::Authenticators) => {
                bytes.iter_mut().for_each(|byte| *byte ^= 1);
            }
            (ConstructorDeviation::FalseSelectBit, Step::ClaimedBits) => bytes[0] ^= 1,
            // After the bits of 32 inputs, the fewest ever made.
            (ConstructorDeviation::FalseMaskBit, Step::ClaimedBits) => bytes[4] ^= 1,
            _ => {}
        }
    }
}

/// A deviation of an evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvaluatorDeviation {
    /// Its combinations of OT choices are wrong, as if it had other choices for some bit of the difference.
    OtherChoices,
    /// It claims a block that it did not get.
    FalseClaim,
    /// It hands over a key that is not one of the output's two.
    WrongOutputKey,
}

impl EvaluatorDeviation {
    /// All of them, each with the check that it trips.
    pub const ALL: [(Self, Check); 3] = [
        (Self::OtherChoices, checks::DELTA_CHOICES),
        (Self::FalseClaim, checks::DELTA_CLAIM),
        (Self::WrongOutputKey, checks::OUTPUT_KEY),
    ];
}

/// An evaluator that cheats.
pub struct CheatingEvaluator {
    /// The deviation of the evaluator.
    pub deviation: EvaluatorDeviation,
}

impl Conduct<Step> for CheatingEvaluator {
    fn touch(&mut self, step: Step, _index: usize, bytes: &mut [u8]) {
        match (self.deviation, step) {
            (EvaluatorDeviation::OtherChoices, Step::Combinations)
            | (EvaluatorDeviation::FalseClaim, Step::Claims)
            | (EvaluatorDeviation::WrongOutputKey, Step::OutputKeys) => bytes[0] ^= 1,
            _ => {}
        }
    }
}

/// Runs both parties, each with its conduct, on one thread and with generators from `seed`, and returns both results.
pub fn run(
    program: &Arc<Program>,
    inputs: &[Bits],
    constructor: impl Conduct<Step>,
    evaluator: impl Conduct<Step>,
    seed: u128,
) -> [Result<Outputs, ProtocolError>; 2] {
    let config = Config::default();
    let [constructor, evaluator] = [AnyConduct::new(constructor), AnyConduct::new(evaluator)];
    let plan = |()| Plan::new(program.clone(), config).map(Arc::new);
    run_two(
        NAME,
        (program, inputs, seed),
        memory_pair,
        async |session, own| {
            let mut role = Constructor::setup_with(session, config, constructor).await?;
            let mut prepared = role.prepare(session, plan(())?).await?;
            role.build(session, &mut prepared).await?;
            role.online(session, prepared, own).await
        },
        async |session, own| {
            let mut role = Evaluator::setup_with(session, config, evaluator).await?;
            let mut prepared = role.prepare(session, plan(())?).await?;
            role.build(session, &mut prepared).await?;
            role.online(session, prepared, own).await
        },
    )
}

/// Runs two honest parties.
pub fn run_honest(program: &Arc<Program>, inputs: &[Bits], seed: u128) -> [Result<Outputs, ProtocolError>; 2] {
    run(program, inputs, Honest, Honest, seed)
}

/// A party that guesses one bit of the peer's secret: its change matters only if that bit is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// The constructor: which share of a bit of its commitments the evaluator watches.
    WatchedShare,
    /// The evaluator: a bit of the constructor's difference.
    DeltaBit,
}

impl Conduct<Step> for Guess {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        if let (Guess::WatchedShare, Step::Corrections, 0) | (Guess::DeltaBit, Step::Rows, 0) = (*self, step, index) {
            bytes[0] ^= 1;
        }
    }
}

/// The stores of both parties, before and after a meeting; `None` for a party that could not meet.
pub type Stores = [Option<Store>; 2];

/// New stores of both parties.
pub fn new_stores(seed: u64) -> Stores {
    [0, 1].map(|party| Some(Store::in_memory(&mut Prg::new(Block::from_halves(seed, party))).expect("it is in memory")))
}

/// Runs both parties with stores. They fill their stores if there are `amounts`.
pub fn run_stored(
    program: &Arc<Program>,
    inputs: &[Bits],
    (constructor, evaluator): (impl Conduct<Step>, impl Conduct<Step>),
    stores: Stores,
    amounts: Option<Amounts>,
    seed: u128,
) -> ([Result<Outputs, ProtocolError>; 2], Stores) {
    let config = Config::default();
    let [constructor, evaluator] = [AnyConduct::new(constructor), AnyConduct::new(evaluator)];
    let plan = || Plan::new(program.clone(), config).map(Arc::new);
    let [of_constructor, of_evaluator] = stores.map(RefCell::new);
    let missing = || panic!("a party has its store");
    /// One party's part; it puts its store back.
    macro_rules! live {
        ($role:ident, $conduct:expr, $store:expr) => {
            async |session, own| {
                let store = $store.take().unwrap_or_else(missing);
                let mut role = $role::meet_with(session, config, store, "peer", $conduct).await?;
                let result = async {
                    if let Some(amounts) = amounts {
                        role.fill(session, &Order::new(amounts, config)?).await?;
                    }
                    let mut prepared = role.prepare(session, plan()?).await?;
                    role.build(session, &mut prepared).await?;
                    role.online(session, prepared, own).await
                };
                let result = result.await;
                $store.replace(role.into_store());
                result
            }
        };
    }
    let results = run_two(
        NAME,
        (program, inputs, seed),
        memory_pair,
        live!(Constructor, constructor, of_constructor),
        live!(Evaluator, evaluator, of_evaluator),
    );
    (results, [of_constructor, of_evaluator].map(RefCell::into_inner))
}
