//! Deviations from `authenticated`.

use std::sync::Arc;

use garblet_authenticated::{Build, Config, Evaluator, Garbler, NAME, Plan, ResultCheck, Run, Step, checks};
use garblet_circuit::{Bits, Program};
use garblet_net::{Channel, memory_pair};
use garblet_primitives::{Block, gf128};
use garblet_protocol::{
    ProtocolError, Role,
    checks::Check,
    conduct::{AnyConduct, Conduct, Honest},
};

use crate::{Outputs, run::run_two};

/// A configuration of each form: the kind of check, and the time of the build.
pub fn configs() -> [Config; 4] {
    let of = |check, build| Config { check, build, ..Config::default() };
    [
        of(ResultCheck::Tags, Build::Ahead),
        of(ResultCheck::Tags, Build::Stream),
        of(ResultCheck::Reveal, Build::Ahead),
        of(ResultCheck::Reveal, Build::Stream),
    ]
}

/// The forms of the protocol that a deviation applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forms {
    /// All forms.
    All,
    /// Runs in which only the evaluator checks.
    Tags,
    /// Runs in which the evaluator reveals masked values.
    Reveal,
}

impl Forms {
    /// Tells whether a configuration has one of these forms.
    pub fn include(self, config: Config) -> bool {
        match self {
            Forms::All => true,
            Forms::Tags => config.check == ResultCheck::Tags,
            Forms::Reveal => config.check == ResultCheck::Reveal,
        }
    }
}

/// A deviation available to both parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deviation {
    /// It sends a different first product bit than it committed to.
    ProductBit,
    /// It opens other coins for the equality check than it committed to.
    EqualityCoins,
    /// It commits to other coins for the equality check than it opens.
    EqualityCoinsCommitment,
    /// It opens other coins for the shifts of rows than it committed to.
    ShiftCoins,
    /// It opens a bit of a bucket to another value.
    BucketBit,
    /// The proof of the bits of buckets is wrong.
    BucketProof,
    /// It opens a bit that joins a triple to the function to another value, in the first message of such bits.
    MaskBit,
    /// It does so in the second such message, which is only about gates.
    LaterMaskBit,
    /// The proof of such bits is wrong.
    MaskProof,
    /// It opens a mask of the peer's output to another value.
    OutputMask,
}

impl Deviation {
    /// All of them, each with the check that catches it.
    pub const ALL: [(Self, Check); 10] = [
        (Self::ProductBit, checks::PRODUCT_BITS),
        (Self::EqualityCoins, checks::COIN_TOSS_OPENING),
        (Self::EqualityCoinsCommitment, checks::COIN_TOSS_OPENING),
        (Self::ShiftCoins, checks::COIN_TOSS_OPENING),
        (Self::BucketBit, checks::BUCKET_BITS),
        (Self::BucketProof, checks::BUCKET_BITS),
        (Self::MaskBit, checks::MASK_BITS),
        (Self::LaterMaskBit, checks::MASK_BITS),
        (Self::MaskProof, checks::MASK_BITS),
        (Self::OutputMask, checks::OUTPUT_MASKS),
    ];

    /// The step, the number of the message at this step, and whether the deviation changes the last byte of that message or the first.
    fn place(self) -> (Step, usize, bool) {
        match self {
            Self::ProductBit => (Step::ProductBits, 0, false),
            Self::EqualityCoins => (Step::Coins, 0, false),
            Self::EqualityCoinsCommitment => (Step::CoinCommitments, 0, false),
            Self::ShiftCoins => (Step::Coins, 1, false),
            Self::BucketBit => (Step::BucketBits, 0, false),
            Self::BucketProof => (Step::BucketBits, 0, true),
            Self::MaskBit => (Step::MaskBits, 0, false),
            Self::LaterMaskBit => (Step::MaskBits, 1, false),
            Self::MaskProof => (Step::MaskBits, 0, true),
            Self::OutputMask => (Step::OutputMasks, 0, false),
        }
    }
}

/// A deviation of a garbler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GarblerDeviation {
    /// A deviation that is also available to an evaluator.
    Any(Deviation),
    /// It commits to a wrong digest of its leaky triples, and opens that.
    OtherDigest,
    /// It opens another digest than it committed to.
    OtherDigestOpening,
    /// It commits to another digest than it opens.
    OtherDigestCommitment,
    /// The labels of the evaluator's inputs, and all others, encode the opposite masked values.
    OtherInputLabels,
    /// The labels of all inputs encode the right masked values, but are invalid.
    SpoiledLabels,
    /// A row of every gate has the garbler's difference added: if it is used, the gate gives the label of the opposite masked value.
    OtherRows,
    /// The same, in the last piece of gates sent.
    OtherRowsAtTheEnd,
    /// A row of every gate is invalid.
    SpoiledRows,
    /// All select bits are wrong.
    OtherSelectBits,
    /// The tags of all gates are wrong.
    SpoiledTags,
    /// It sends a different hash seed than it garbles with.
    OtherHashSeed,
    /// The sum of tags or shares is wrong.
    OtherSum,
    /// It has many wrong rows, at gates with one of its inputs as the left operand, whose weights cancel: the weights by a point of its
    /// own choice, fixed before its labels leave.
    OwnWeights,
}

impl GarblerDeviation {
    /// All deviations available only to a garbler, each with its forms and the check that catches it.
    pub const ALONE: [(Self, Forms, Check); 14] = [
        (Self::OtherDigest, Forms::All, checks::EQUALITY),
        (Self::OtherDigestOpening, Forms::All, checks::EQUALITY_OPENING),
        (Self::OtherDigestCommitment, Forms::All, checks::EQUALITY_OPENING),
        (Self::OtherInputLabels, Forms::All, checks::INPUT_LABEL),
        (Self::SpoiledLabels, Forms::Tags, checks::TAGS),
        (Self::OtherRows, Forms::Tags, checks::TAGS),
        (Self::OtherRows, Forms::Reveal, checks::REVEALED_GATES),
        (Self::SpoiledRows, Forms::Tags, checks::TAGS),
        (Self::OtherSelectBits, Forms::Tags, checks::TAGS),
        (Self::SpoiledTags, Forms::Tags, checks::TAGS),
        (Self::OtherHashSeed, Forms::Tags, checks::TAGS),
        (Self::OtherSum, Forms::Tags, checks::TAGS),
        (Self::OtherSum, Forms::Reveal, checks::REVEALED_GATES),
        (Self::OtherRowsAtTheEnd, Forms::Tags, checks::TAGS),
    ];
}

/// Bytes of a block.
const BLOCK: usize = 16;
/// Bytes of a gate's two rows.
const ROWS: usize = 32;

fn add(block: &mut [u8], other: Block) {
    block.iter_mut().zip(other.to_bytes()).for_each(|(byte, other)| *byte ^= other);
}

/// Flips the highest bit of a block, which encodes no value.
fn spoil(block: &mut [u8]) {
    block[BLOCK - 1] ^= 0x80;
}

/// A party with a deviation available to both parties.
#[derive(Clone, Copy)]
struct AnyCheat {
    deviation: Deviation,
    /// The number of messages of the step so far.
    seen: usize,
}

impl AnyCheat {
    fn touch(&mut self, step: Step, bytes: &mut [u8]) {
        let (place, message, last) = self.deviation.place();
        if step != place {
            return;
        }
        if self.seen == message {
            let at = if last { bytes.len() - 1 } else { 0 };
            bytes[at] ^= 1;
        }
        self.seen += 1;
    }
}

/// A garbler that cheats.
pub struct CheatingGarbler {
    deviation: GarblerDeviation,
    any: Option<AnyCheat>,
    /// The numbers of AND gates and of the garbler's input bits, which come first.
    ands: usize,
    own_bits: usize,
    delta: Block,
    /// The wrong rows for a point of its own choice.
    weights: Option<Weights>,
}

/// Gates whose weights cancel.
struct Weights {
    /// Set before the labels leave: for each gate, whether its left operand has the masked value one.
    wanted: Option<Vec<bool>>,
    /// Set by a garbler that has already sent its labels.
    labels_left: bool,
    cancelled: Arc<std::sync::atomic::AtomicUsize>,
}

impl CheatingGarbler {
    /// A garbler with one deviation.
    pub fn new(deviation: GarblerDeviation, program: &Arc<Program>) -> Self {
        let any = match deviation {
            GarblerDeviation::Any(deviation) => Some(AnyCheat { deviation, seen: 0 }),
            _ => None,
        };
        let plan = Plan::new(program.clone(), Config::default(), &[], false);
        let ands = plan.map_or(0, |plan| plan.and_count() as usize);
        let own_bits = program.inputs().first().map_or(0, |input| input.port.width() as usize);
        CheatingGarbler { deviation, any, ands, own_bits, delta: Block::ZERO, weights: None }
    }

    /// A garbler with its own weights; the number of used wrong rows is set once it has sent them.
    ///
    /// *Shape*: the program has one AND gate for each bit of its first input, which belongs to the garbler and gives the left operands in order.
    pub fn with_own_weights(program: &Arc<Program>) -> (Self, Arc<std::sync::atomic::AtomicUsize>) {
        let mut cheat = CheatingGarbler::new(GarblerDeviation::OwnWeights, program);
        let cancelled = Arc::default();
        cheat.weights = Some(Weights { wanted: None, labels_left: false, cancelled: Arc::clone(&cancelled) });
        (cheat, cancelled)
    }

    /// Handles each step for [`GarblerDeviation::OwnWeights`]: gates before labels, or labels before gates.
    fn cancel(&mut self, step: Step, bytes: &mut [u8]) {
        let Some(weights) = &mut self.weights else { return };
        match step {
            Step::Tables => {
                // Any point that depends only on the gates works.
                let point = bytes.chunks_exact(BLOCK).fold(Block::ONES, |sum, block| {
                    gf128::mul(sum, Block::from_u128(3)) ^ Block::from_bytes(std::array::from_fn(|at| block[at]))
                });
                let cancelling = cancelling(&gf128::powers(point, self.ands));
                let count = cancelling.iter().filter(|&&is_in| is_in).count();
                weights.cancelled.store(count, std::sync::atomic::Ordering::Relaxed);
                for (gate, is_in) in bytes.chunks_exact_mut(ROWS).take(self.ands).zip(&cancelling) {
                    if *is_in || !weights.labels_left {
                        add(&mut gate[..BLOCK], self.delta);
                    }
                }
                weights.wanted = Some(cancelling);
            }
            Step::InputLabels => {
                weights.labels_left = true;
                let all = vec![true; self.own_bits];
                let wanted = weights.wanted.as_ref().unwrap_or(&all);
                for (label, wanted) in bytes.chunks_exact_mut(BLOCK).zip(wanted) {
                    if (label[0] & 1 == 1) != *wanted {
                        add(label, self.delta);
                    }
                }
            }
            _ => {}
        }
    }
}

/// A set of blocks whose sum is zero. One exists, as there are more blocks than bits.
fn cancelling(blocks: &[Block]) -> Vec<bool> {
    let words = blocks.len().div_ceil(128);
    let mut pivots: Vec<Option<(u128, Vec<u128>)>> = vec![None; 128];
    let mut sets = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let (mut value, mut set) = (block.to_u128(), vec![0u128; words]);
        set[at / 128] |= 1 << (at % 128);
        while value != 0 {
            let top = 127 - value.leading_zeros() as usize;
            let Some((other, others)) = &pivots[top] else { break };
            value ^= other;
            set.iter_mut().zip(others).for_each(|(word, other)| *word ^= other);
        }
        match value {
            0 => sets.push(set),
            _ => pivots[127 - value.leading_zeros() as usize] = Some((value, set)),
        }
    }
    let largest = sets.into_iter().max_by_key(|set| set.iter().map(|word| word.count_ones()).sum::<u32>());
    let largest = largest.unwrap_or_else(|| vec![0; words]);
    let set: Vec<bool> = (0..blocks.len()).map(|at| largest[at / 128] >> (at % 128) & 1 == 1).collect();
    let sum = blocks.iter().zip(&set).filter(|(_, is_in)| **is_in).fold(Block::ZERO, |sum, (&block, _)| sum ^ block);
    assert!(sum == Block::ZERO, "they cancel");
    set
}

impl Conduct<Step> for CheatingGarbler {
    fn touch(&mut self, step: Step, index: usize, bytes: &mut [u8]) {
        if step == Step::Difference {
            self.delta = Block::from_bytes(std::array::from_fn(|at| bytes[at]));
        }
        if let Some(any) = &mut self.any {
            return any.touch(step, bytes);
        }
        let delta = self.delta;
        // The number of gates of this piece: no piece of these programs is full.
        let ands = self.ands - index.min(self.ands);
        match (self.deviation, step) {
            (GarblerDeviation::OwnWeights, _) => self.cancel(step, bytes),
            (GarblerDeviation::OtherDigest, Step::OwnDigest)
            | (GarblerDeviation::OtherDigestOpening, Step::DigestOpening)
            | (GarblerDeviation::OtherDigestCommitment, Step::DigestCommitment)
            | (GarblerDeviation::OtherHashSeed, Step::HashSeed)
            | (GarblerDeviation::OtherSum, Step::Sum) => bytes[0] ^= 1,
            (GarblerDeviation::OtherInputLabels, Step::InputLabels) => {
                bytes.chunks_exact_mut(BLOCK).for_each(|label| add(label, delta));
            }
            (GarblerDeviation::SpoiledLabels, Step::InputLabels) => bytes.chunks_exact_mut(BLOCK).for_each(spoil),
            (GarblerDeviation::OtherRows, Step::Tables) => {
                bytes.chunks_exact_mut(ROWS).take(ands).for_each(|gate| add(&mut gate[..BLOCK], delta));
            }
            (GarblerDeviation::OtherRowsAtTheEnd, Step::Tables) => {
                let gates = bytes.chunks_exact_mut(ROWS).take(ands);
                gates.skip(ands / 2).for_each(|gate| add(&mut gate[BLOCK..], delta));
            }
            (GarblerDeviation::SpoiledRows, Step::Tables) => {
                bytes.chunks_exact_mut(ROWS).take(ands).for_each(|gate| spoil(&mut gate[..BLOCK]));
            }
            (GarblerDeviation::OtherSelectBits, Step::Tables) => {
                let bits = bytes.len() - ands.div_ceil(8);
                (0..ands).for_each(|gate| bytes[bits + gate / 8] ^= 1 << (gate % 8));
            }
            (GarblerDeviation::SpoiledTags, Step::Tables) => {
                let tags = bytes.len() - ands.div_ceil(8);
                bytes[ROWS * ands..tags].iter_mut().for_each(|byte| *byte ^= 0xff);
            }
            _ => {}
        }
    }
}

/// A deviation of an evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvaluatorDeviation {
    /// A deviation that is also available to a garbler.
    Any(Deviation),
    /// All blocks of leaky triples are wrong.
    OtherLeakyBlocks,
    /// It has a wrong first product bit, and commits to it.
    OtherProductBit,
    /// It sends another digest.
    OtherDigest,
    /// Its difference has bit 0 set, as the garbler's has.
    OddDifference,
    /// It sends a wrong masked value of the first gate.
    OtherMaskedValue,
    /// It sends wrong masked values of all gates.
    OtherMaskedValues,
    /// It sends a wrong digest of its labels.
    OtherMaskedValuesDigest,
    /// It hands over the other value of an output.
    OtherMaskedOutput,
    /// It sends a wrong digest of the labels of outputs.
    OtherOutputDigest,
}

impl EvaluatorDeviation {
    /// All deviations available only to an evaluator, each with its forms and the check that catches it.
    pub const ALONE: [(Self, Forms, Check); 9] = [
        (Self::OtherLeakyBlocks, Forms::All, checks::EQUALITY),
        (Self::OtherProductBit, Forms::All, checks::EQUALITY),
        (Self::OtherDigest, Forms::All, checks::EQUALITY),
        (Self::OddDifference, Forms::All, checks::EQUALITY),
        (Self::OtherMaskedValue, Forms::Reveal, checks::REVEALED_LABELS),
        (Self::OtherMaskedValues, Forms::Reveal, checks::REVEALED_LABELS),
        (Self::OtherMaskedValuesDigest, Forms::Reveal, checks::REVEALED_LABELS),
        (Self::OtherMaskedOutput, Forms::All, checks::OUTPUT_LABELS),
        (Self::OtherOutputDigest, Forms::All, checks::OUTPUT_LABELS),
    ];
}

/// An evaluator that cheats.
pub struct CheatingEvaluator {
    deviation: EvaluatorDeviation,
    any: Option<AnyCheat>,
}

impl CheatingEvaluator {
    /// An evaluator with one deviation.
    pub fn new(deviation: EvaluatorDeviation) -> Self {
        let any = match deviation {
            EvaluatorDeviation::Any(deviation) => Some(AnyCheat { deviation, seen: 0 }),
            _ => None,
        };
        CheatingEvaluator { deviation, any }
    }
}

impl Conduct<Step> for CheatingEvaluator {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        if let Some(any) = &mut self.any {
            return any.touch(step, bytes);
        }
        match (self.deviation, step) {
            (EvaluatorDeviation::OtherLeakyBlocks, Step::LeakyBlocks) => {
                bytes.chunks_exact_mut(BLOCK).for_each(spoil);
            }
            (EvaluatorDeviation::OtherProductBit, Step::OwnProductBits)
            | (EvaluatorDeviation::OtherDigest, Step::Digest)
            | (EvaluatorDeviation::OddDifference, Step::Difference)
            | (EvaluatorDeviation::OtherMaskedValue, Step::MaskedValues)
            | (EvaluatorDeviation::OtherMaskedValuesDigest, Step::MaskedValuesDigest)
            | (EvaluatorDeviation::OtherMaskedOutput, Step::MaskedOutputs)
            | (EvaluatorDeviation::OtherOutputDigest, Step::OutputDigest) => bytes[0] ^= 1,
            (EvaluatorDeviation::OtherMaskedValues, Step::MaskedValues) => {
                // Only one bit of the last byte, as its other bits may be unused.
                let (values, _) = bytes.split_at_mut(bytes.len() - BLOCK);
                let [values @ .., last] = values else { return };
                values.iter_mut().for_each(|byte| *byte ^= 0xff);
                *last ^= 1;
            }
            _ => {}
        }
    }
}

/// A party that negates all bits of its user's input.
pub struct OtherInput;

impl Conduct<Step> for OtherInput {
    fn input(&mut self, _: usize, bits: &mut Bits) {
        *bits = bits.iter().map(|bit| !bit).collect();
    }
}

/// A party that follows the protocol, and records the steps at which it sends, with the bytes of each.
#[derive(Clone, Default)]
pub struct Recorder(pub Arc<std::sync::Mutex<Vec<(Step, usize)>>>);

impl Conduct<Step> for Recorder {
    fn touch(&mut self, step: Step, _: usize, bytes: &mut [u8]) {
        self.0.lock().expect("nobody panics with it").push((step, bytes.len()));
    }
}

/// Runs both parties, each with its conduct, on one thread and with generators from `seed`, and returns both results.
pub fn run(
    program: &Arc<Program>,
    inputs: &[Bits],
    config: Config,
    conducts: (impl Conduct<Step>, impl Conduct<Step>),
    seed: u128,
) -> [Result<Outputs, ProtocolError>; 2] {
    run_over(memory_pair, program, inputs, config, conducts, seed)
}

/// Runs both parties over channels that `connect` makes.
pub fn run_over(
    connect: impl FnOnce() -> (Channel, Channel),
    program: &Arc<Program>,
    inputs: &[Bits],
    config: Config,
    (garbler, evaluator): (impl Conduct<Step>, impl Conduct<Step>),
    seed: u128,
) -> [Result<Outputs, ProtocolError>; 2] {
    let [garbler, evaluator] = [AnyConduct::new(garbler), AnyConduct::new(evaluator)];
    let plan = || Plan::new(program.clone(), config, &[], false).map(Arc::new);
    run_two(
        NAME,
        (program, inputs, seed),
        connect,
        async |session, own| {
            let participant = Garbler::setup(session, config, garbler).await?;
            Run::new(participant, plan()?, false).run(session, own).await
        },
        async |session, own| {
            let participant = Evaluator::setup(session, config, evaluator).await?;
            Run::new(participant, plan()?, false).run(session, own).await
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
    run(program, inputs, config, (Honest, Honest), seed)
}
