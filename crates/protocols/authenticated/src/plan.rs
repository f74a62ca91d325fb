//! The plan, on which both parties must agree before a run, and the sizes that follow from it.

use std::{ops::Range, sync::Arc};

use garblet_circuit::{Bits, Input, InputId, Party, Program};
use garblet_garble::{GarblingConfig, Schedules};
use garblet_primitives::Block;
use garblet_protocol::{Security, error::ProtocolError, party_io, stock::has_panicked};
use zeroize::Zeroizing;

use crate::{
    EVALUATOR, GARBLER, NAME,
    amounts::Amounts,
    config::{Build, Config},
    parameters::{self, Batch, batches},
    shares::LOT,
    stock::{pieces::GROUP, saved},
};

/// AND gates that are opened, garbled and evaluated at once if memory must not grow with the program. Tests have few.
const LOT_ANDS: usize = if cfg!(test) { 1 << 6 } else { 1 << 16 };

/// AND gates whose tables are sent at once: they fit in a core's cache.
pub(crate) const PIECE_ANDS: usize = if cfg!(test) { 24 } else { 1 << 12 };

/// The owner, in the program of a plan, of inputs that are read.
const SAVED: Party = Party(2);
/// The owner of inputs that others deal to both parties.
const OTHERS: Party = Party(3);

/// The outputs of a program that others learn, and further dealt bits.
#[derive(Clone, Default)]
pub struct Dealt {
    /// Outputs by their numbers. An output that several others learn occurs once for each.
    pub outputs: Vec<usize>,
    /// The number of further bits.
    pub further: usize,
}

/// A program made ready for `authenticated`.
pub struct Plan {
    program: Arc<Program>,
    schedules: Arc<Schedules>,
    config: Config,
    /// The outputs that are kept, by their numbers.
    kept: Vec<usize>,
    dealt: Dealt,
}

impl Plan {
    /// Checks that the protocol can run a program that reads some inputs, given by their numbers, from saved wires, and perhaps keeps its outputs, except
    /// those that report panics. A program that keeps outputs must report panics ([`SavedValues::program`](garblet_protocol::stock::SavedValues::program)).
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1; a number that no input has; more outputs to keep than a store holds.
    pub fn new(program: Arc<Program>, config: Config, read: &[usize], keeps: bool) -> Result<Self, ProtocolError> {
        party_io::check_parties(NAME, &program, GarblingConfig::default())?;
        let outputs = 0..program.outputs().len();
        let kept = outputs.filter(|&output| keeps && !program.notes().tells_panics(output)).collect();
        Plan::make(program, config, read, kept, Dealt::default())
    }

    /// The same for a program with inputs or outputs of others, which keeps the outputs with these numbers. Inputs that belong to neither party and are not
    /// read are dealt, see [`crate::others`].
    ///
    /// *Errors*: a number that no input or output has; more outputs to keep than a store holds.
    pub fn for_others(
        program: Arc<Program>,
        config: Config,
        read: &[usize],
        kept: Vec<usize>,
        dealt: Dealt,
    ) -> Result<Self, ProtocolError> {
        check_numbers("output for others", &dealt.outputs, program.outputs().len())?;
        check_numbers("output that is kept", &kept, program.outputs().len())?;
        let mut changed = (*program).clone();
        for (number, input) in program.inputs().iter().enumerate() {
            if ![GARBLER, EVALUATOR].contains(&input.owner) {
                changed.set_owner(InputId(number as u32), OTHERS);
            }
        }
        Plan::make(Arc::new(changed), config, read, kept, dealt)
    }

    fn make(
        program: Arc<Program>,
        config: Config,
        read: &[usize],
        kept: Vec<usize>,
        dealt: Dealt,
    ) -> Result<Self, ProtocolError> {
        check_numbers("input that is read", read, program.inputs().len())?;
        let mut program = program;
        if !read.is_empty() {
            let mut changed = (*program).clone();
            read.iter().for_each(|&input| changed.set_owner(InputId(input as u32), SAVED));
            program = Arc::new(changed);
        }
        saved::check_room(&program, &kept)?;
        let schedules = Arc::new(Schedules::new(&program));
        parameters::check_amount(program.name(), schedules.and_count())?;
        Ok(Plan { program, schedules, config, kept, dealt })
    }

    /// The same program with other parameters, by the same schedules.
    pub fn otherwise(&self, config: Config) -> Self {
        let (program, schedules) = (self.program.clone(), self.schedules.clone());
        Plan { program, schedules, config, kept: self.kept.clone(), dealt: self.dealt.clone() }
    }

    /// The program. Inputs that are read belong to neither party.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The schedules of its components.
    pub fn schedules(&self) -> &Schedules {
        &self.schedules
    }

    /// The parameters of the run.
    pub fn config(&self) -> Config {
        self.config
    }

    /// AND gates that are garbled.
    pub fn and_count(&self) -> u64 {
        self.schedules.and_count()
    }

    /// The amounts that a run takes.
    pub fn amounts(&self) -> Amounts {
        let triples = self.and_count();
        Amounts { triples, masks: triples + self.input_masks() as u64 }
    }

    /// The batches of a run without a store, each with its masks. At least one if there is anything to make.
    pub(crate) fn batches(&self) -> Vec<(Option<Batch>, u64)> {
        let Amounts { triples, masks } = self.amounts();
        with_masks(batches(triples, self.config.statistical, 2), masks)
    }

    /// The OTs in each direction of a run without a store.
    pub fn ots(&self) -> u64 {
        ots(&self.batches())
    }

    /// Input bits that a party provides.
    pub(crate) fn given_bits(&self) -> usize {
        [GARBLER, EVALUATOR, OTHERS].map(|giver| self.input_bits(giver)).iter().sum()
    }

    /// The number of masks besides those of gates: of input bits that a party provides, of pads, and of further bits.
    pub(crate) fn input_masks(&self) -> usize {
        self.given_bits() + self.pads() + self.dealt.further
    }

    /// The number of bits dealt to each party.
    pub(crate) fn dealt_bits(&self) -> usize {
        self.input_bits(OTHERS) + self.pads() + self.dealt.further
    }

    /// Output bits that others learn.
    pub(crate) fn pads(&self) -> usize {
        let width = |&output: &usize| self.program.outputs()[output].port.width() as usize;
        self.dealt.outputs.iter().map(width).sum()
    }

    /// The shares of the masks of pads, among those of all dealt bits.
    pub(crate) fn pads_of<'a>(&self, dealt: &'a [Block]) -> &'a [Block] {
        &dealt[self.input_bits(OTHERS)..][..self.pads()]
    }

    /// The values of the outputs that others learn, one after another.
    pub(crate) fn for_pads(&self, values: &[Box<[Block]>]) -> Zeroizing<Vec<Block>> {
        let mut all = Zeroizing::new(Vec::with_capacity(self.pads()));
        self.dealt.outputs.iter().for_each(|&output| all.extend_from_slice(&values[output]));
        all
    }

    /// Tells whether outputs are kept. Then the evaluator confirms that everything is right, and whether it has its part, before the garbler keeps its own.
    pub(crate) fn confirms(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Refuses a run that is to keep outputs by its plan and has no name for them, or the reverse.
    pub(crate) fn check_keeps(&self, keeps: bool) -> Result<(), ProtocolError> {
        check_keeps(self.confirms(), keeps)
    }

    /// Tells whether nothing is to be kept, by the outputs of a party.
    pub(crate) fn has_panicked(&self, outputs: &[Option<Bits>]) -> bool {
        has_panicked(&self.program, outputs)
    }

    /// The outputs that are kept, by their numbers.
    pub(crate) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Input bits that are read.
    pub(crate) fn read_bits(&self) -> usize {
        self.input_bits(SAVED)
    }

    /// Input bits of a party.
    pub(crate) fn input_bits(&self, party: Party) -> usize {
        party_io::input_bits(&self.program, party)
    }

    /// Output bits that a party learns.
    pub(crate) fn output_bits(&self, party: Party) -> usize {
        party_io::output_bits(&self.program, party)
    }

    /// The AND gates that are opened and garbled together: all, or lot by lot.
    pub(crate) fn lots(&self) -> Vec<Range<usize>> {
        let ands = self.and_count() as usize;
        let most = if self.config.build == Build::Stream { LOT_ANDS } else { ands.max(1) };
        let count = ands.div_ceil(most).max(1);
        let end = |lots: usize| (ands as u128 * lots as u128 / count as u128) as usize;
        (0..count).map(|lot| end(lot)..end(lot + 1)).collect()
    }

    /// The pieces in which the gates of a lot are sent.
    pub(crate) fn pieces(lot: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let ands = lot.len();
        (0..ands).step_by(PIECE_ANDS).map(move |start| start..ands.min(start + PIECE_ANDS))
    }

    /// Bytes of a piece of `ands` gates: tables, tags, and a bit each.
    pub(crate) fn piece_bytes(&self, ands: usize) -> usize {
        (32 + 2 * self.tag_bytes()) * ands + ands.div_ceil(8)
    }

    /// Bytes of a tag, if there are any.
    pub(crate) fn tag_bytes(&self) -> usize {
        match self.config.check {
            crate::config::ResultCheck::Tags => self.config.statistical.tag_bytes(),
            crate::config::ResultCheck::Reveal => 0,
        }
    }

    /// The owner of each bit of the inputs, in program order; `None` for those that are read.
    pub(crate) fn owners(&self) -> impl Iterator<Item = Option<Party>> + '_ {
        let owner = |input: &Input| (input.owner != SAVED).then_some(input.owner);
        self.program
            .inputs()
            .iter()
            .flat_map(move |input| std::iter::repeat_n(owner(input), input.port.width() as usize))
    }

    /// Distributes values of all input bits over the inputs: the next of `given`, or the saved ones of the input with that number.
    ///
    /// *Errors*: an input that is read and has no values, or values of another width.
    pub(crate) fn by_port<'a>(
        &self,
        given: &[Block],
        saved: impl Fn(usize) -> &'a [Block],
    ) -> Result<Vec<Box<[Block]>>, ProtocolError> {
        let mut given = given;
        let mut deal = |(number, input): (usize, &Input)| {
            let width = input.port.width() as usize;
            if input.owner != SAVED {
                let (own, rest) = given.split_at(width);
                given = rest;
                return Ok(own.into());
            }
            let saved = saved(number);
            if saved.len() != width {
                let what = format!("`{}`, which is read", input.port.name);
                let [expected, got] = [width, saved.len()].map(|bits| format!("{bits} bits"));
                return Err(ProtocolError::Input { what, expected, got });
            }
            Ok(saved.into())
        };
        self.program.inputs().iter().enumerate().map(&mut deal).collect()
    }

    /// The values of the outputs that a party learns, one after another.
    pub(crate) fn learned(&self, party: Party, values: &[Box<[Block]>]) -> Zeroizing<Vec<Block>> {
        let mut all = Zeroizing::new(Vec::with_capacity(self.output_bits(party)));
        let learned = self.program.outputs().iter().zip(values).filter(|(output, _)| output.recipients.contains(party));
        learned.for_each(|(_, values)| all.extend_from_slice(values));
        all
    }

    /// The outputs that a party learns from their bits.
    pub(crate) fn decoded(&self, party: Party, bits: impl Iterator<Item = bool>) -> Vec<Option<Bits>> {
        party_io::deal_outputs(&self.program, party, &mut { bits })
    }

    /// The security of a run without a store.
    pub fn stated_security(&self) -> Security {
        let insecure = self.batches().into_iter().filter_map(|(batch, _)| batch.map(|batch| batch.insecure()));
        self.security(insecure.fold(0.0, f64::max))
    }

    /// The security of a run, if a cheating peer passes all checks of the preparation with this probability.
    pub(crate) fn security(&self, prepared: f64) -> Security {
        let ands = self.and_count();
        // A wrong gate passes with one tag in `2^tag_bits`; points of sums, and of OT checks, are in fields of 128 bits.
        let tag_bits = 8.0 * self.config.statistical.tag_bytes() as f64;
        let tags = if ands > 0 { (-tag_bits).exp2() } else { 0.0 };
        let sums = (32.0 * ands as f64 + 1024.0) * (-127f64).exp2();
        // Three blocks of each leaky triple are hashed under the key of a lot.
        let leaky = 128 - (3 * LOT).next_power_of_two().ilog2();
        Security {
            computational_bits: GarblingConfig::default().security_bits(2 * ands.max(1)).min(leaky),
            statistical_bits: Some(f64::from(self.config.statistical.bits())),
            cheating_log2: Some((prepared + tags + sums).log2()),
            ..Security::default()
        }
    }
}

/// Refuses a run that is to keep outputs by its plan and has no name for them, or the reverse.
pub(crate) fn check_keeps(by_plan: bool, by_name: bool) -> Result<(), ProtocolError> {
    let (expected, got) = match (by_plan, by_name) {
        (true, false) => ("one, as the plan keeps outputs", "none"),
        (false, true) => ("none, as the plan keeps no outputs", "one"),
        _ => return Ok(()),
    };
    let what = "name to keep outputs under".into();
    Err(ProtocolError::Input { what, expected: expected.into(), got: got.into() })
}

/// Refuses a port number that does not exist.
pub(crate) fn check_numbers(what: &str, numbers: &[usize], ports: usize) -> Result<(), ProtocolError> {
    match numbers.iter().find(|&&number| number >= ports) {
        Some(odd) => {
            let (expected, got) = (format!("a number below {ports}"), format!("number {odd}"));
            Err(ProtocolError::Input { what: what.into(), expected, got })
        }
        None => Ok(()),
    }
}

/// The batches that fill stores up to these amounts, in whole pieces.
pub(crate) fn ordered_batches(config: Config, amounts: Amounts) -> Vec<(Option<Batch>, u64)> {
    let [triples, masks] = [amounts.triples, amounts.masks].map(|amount| amount.next_multiple_of(GROUP as u64));
    let whole = |(batch, masks): (_, u64)| (batch, masks.next_multiple_of(GROUP as u64));
    with_masks(batches(triples, config.statistical, 2), masks).into_iter().map(whole).collect()
}

/// The OTs of these batches in each direction.
pub(crate) fn ots(batches: &[(Option<Batch>, u64)]) -> u64 {
    batches.iter().map(|(batch, masks)| 3 * batch.map_or(0, |batch| batch.leaky()) + masks).sum()
}

/// The most masks of a batch, which stay in memory together.
const MASKS_MAX: u64 = 1 << 20;

/// Distributes masks over batches. Further batches have no triples, if there are more masks than fit these.
pub(crate) fn with_masks(batches: Vec<Batch>, masks: u64) -> Vec<(Option<Batch>, u64)> {
    let count = (batches.len() as u64).max(masks.div_ceil(MASKS_MAX));
    let end = |batch: u64| (u128::from(masks) * u128::from(batch) / u128::from(count)) as u64;
    let mut batches = batches.into_iter();
    (0..count).map(|at| (batches.next(), end(at + 1) - end(at))).collect()
}
