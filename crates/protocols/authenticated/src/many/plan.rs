//! The plan, on which all parties must agree before a run, and the sizes that follow from it.

use std::{
    ops::{Range, RangeInclusive},
    sync::Arc,
};

use garblet_circuit::{Bits, InputId, OutputWire, Party, Program, ScheduleDigest};
use garblet_garble::{
    GarblingConfig,
    joint::{Circuits, Quad, Walk},
};
use garblet_primitives::{Backend, Block, QUAD_LANES};
use garblet_protocol::{
    Security,
    domain::SessionId,
    error::ProtocolError,
    kept, party_io,
    stock::{SavedValues, has_panicked},
};

use super::{Config, NAME, place::Place};
use crate::{
    amounts::Amounts,
    config::{Build, ResultCheck},
    parameters::{self, Batch, batches},
    plan::{check_keeps, check_numbers, with_masks},
    shares::LOT,
    tags::Tag,
};

/// The numbers of parties.
pub(super) const PARTIES: RangeInclusive<u16> = 3..=16;

/// AND gates of a lot, if the circuit is streamed. Tests have few.
const LOT_GATES: usize = if cfg!(test) { 2 } else { 1 << 14 };

/// Everything that parties must agree on besides the program.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) parties: u16,
    pub(super) config: Config,
}

impl Setting {
    /// The number of parties with these parameters.
    ///
    /// *Errors*: an evaluator that is not a party.
    pub(super) fn new(parties: u16, config: Config) -> Result<Self, ProtocolError> {
        if config.evaluator >= parties {
            let (got, last) = (config.evaluator, parties.saturating_sub(1));
            let (what, expected) = ("the evaluator".into(), format!("party 0 to {last}"));
            return Err(ProtocolError::Input { what, expected, got: format!("party {got}") });
        }
        Ok(Setting { parties, config })
    }

    /// The party that evaluates.
    pub(super) fn evaluator(self) -> Party {
        Party(self.config.evaluator)
    }

    /// The top bytes of a block that show that a bit is authentic.
    pub(super) fn tag(self) -> Tag {
        Tag { bytes: self.config.statistical.tag_bytes() }
    }

    /// The digest of this and of what else is agreed: a program with its schedule, or an order.
    pub(super) fn digest(self, (subject, schedule): ([u8; 32], [u8; 32])) -> [u8; 32] {
        let Config { check, build, evaluator, statistical, ot, .. } = self.config;
        let mut parameters = [0; 32];
        parameters[0] = self.config.width().bits() as u8;
        parameters[1] = statistical.bits() as u8;
        parameters[2..4].copy_from_slice(&evaluator.to_le_bytes());
        parameters[4..6].copy_from_slice(&self.parties.to_le_bytes());
        parameters[6] = check as u8;
        parameters[7] = build as u8;
        parameters[8] = ot as u8;
        SessionId::new(NAME, subject, [schedule, parameters]).domain(Party(0), Place::Name as u8).digest(b"")
    }
}

/// A program made ready for `authenticated-bmr`.
///
/// The *base wires* are the input bits, in program order, and after them the outputs of AND gates in the order of the schedule: every other wire is a sum
/// of some of them, and carries what the sum carries.
///
/// A circuit that is made ahead is that of the flattened program. One that is streamed has the program's instances one after another.
pub struct Plan {
    program: Arc<Program>,
    circuits: Circuits,
    /// For every output bit, whether it is the negation of its wire.
    negated: Vec<bool>,
    setting: Setting,
    /// The owner of every input bit.
    owners: Vec<Party>,
    /// The inputs that are read, by their numbers in order.
    reads: Vec<usize>,
    /// The outputs that are kept, by their numbers.
    kept: Vec<usize>,
}

/// The owner, in the program of a plan, of inputs that are read.
const SAVED: Party = Party(u16::MAX);

impl Plan {
    /// Checks that this many parties can run the program, and schedules it.
    ///
    /// *Errors*: too few parties or too many; an evaluator, an input owner or a recipient that is not a party; a program too large for one circuit.
    pub fn new(program: Arc<Program>, parties: u16, config: Config) -> Result<Self, ProtocolError> {
        Plan::saving(program, parties, config, (&[], false))
    }

    /// The same for a program that reads some inputs, given by their numbers, from kept wires, and perhaps keeps its outputs, except those that report panics.
    /// A program that keeps outputs must report panics ([`SavedValues::program`](garblet_protocol::stock::SavedValues::program)).
    ///
    /// *Errors*: also a number that no input has; more outputs to keep than a store holds.
    pub fn saving(
        mut program: Arc<Program>,
        parties: u16,
        config: Config,
        (read, keeps): (&[usize], bool),
    ) -> Result<Self, ProtocolError> {
        party_io::check_party_count(NAME, &program, parties, PARTIES)?;
        check_numbers("input that is read", read, program.inputs().len())?;
        let outputs = 0..program.outputs().len();
        let kept: Vec<usize> = outputs.filter(|&output| keeps && !program.notes().tells_panics(output)).collect();
        kept::check_room(NAME, &program, &kept, 2 * 16 * usize::from(parties))?;
        if !read.is_empty() {
            let mut changed = (*program).clone();
            read.iter().for_each(|&input| changed.set_owner(InputId(input as u32), SAVED));
            program = Arc::new(changed);
        }
        let setting = Setting::new(parties, config)?;
        let circuits = circuits(&program, config.build)?;
        parameters::check_amount(program.name(), circuits.and_count() as u64)?;
        let negated = negated(&program, &circuits);
        let owner = |input: &garblet_circuit::Input| vec![input.owner; input.port.width() as usize];
        let owners = program.inputs().iter().flat_map(owner).collect();
        let mut reads = read.to_vec();
        reads.sort_unstable();
        Ok(Plan { program, circuits, negated, setting, owners, reads, kept })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The digest of the order of gates.
    pub fn schedule(&self) -> ScheduleDigest {
        self.circuits.digest()
    }

    /// A walk along the wires of the program, which carry `negation.len()` lanes.
    ///
    /// *Shape*: `inputs` has the vectors of one input bit after another; `negation` is what a negation adds to each lane. Where the circuit is made ahead, only the
    /// operands of gates are negated, and outputs have the values of their wires.
    pub(super) fn walk(&self, inputs: Vec<Quad>, negation: &[Block]) -> Walk<'_> {
        let mut lanes = vec![[Block::ZERO; QUAD_LANES]; negation.len().div_ceil(QUAD_LANES)];
        if self.config().build == Build::Stream {
            lanes.as_flattened_mut()[..negation.len()].copy_from_slice(negation);
        }
        Walk::new(Backend::detect(), (&self.program, &self.circuits), inputs, lanes)
    }

    /// The AND gates that are opened, garbled and evaluated together: all, or lot by lot.
    pub(super) fn lots(&self) -> Vec<Range<usize>> {
        let gates = self.and_count();
        let most = if self.config().build == Build::Stream { LOT_GATES } else { gates.max(1) };
        let count = gates.div_ceil(most).max(1);
        let end = |lots: usize| (gates as u128 * lots as u128 / count as u128) as usize;
        (0..count).map(|lot| end(lot)..end(lot + 1)).collect()
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.setting.config
    }

    /// Everything that parties must agree on besides the program.
    pub(super) fn setting(&self) -> Setting {
        self.setting
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.setting.parties
    }

    /// The party that evaluates.
    pub fn evaluator(&self) -> Party {
        self.setting.evaluator()
    }

    /// The number of AND gates to garble.
    pub fn and_count(&self) -> usize {
        self.circuits.and_count()
    }

    /// The number of bits of all inputs.
    pub(super) fn input_count(&self) -> usize {
        self.owners.len()
    }

    /// The input bits that are read, as positions among all input bits.
    pub(super) fn read(&self) -> impl Iterator<Item = usize> + '_ {
        self.owners.iter().enumerate().filter(|(_, owner)| **owner == SAVED).map(|(at, _)| at)
    }

    /// The input bits that parties give, as positions among all input bits.
    pub(super) fn given(&self) -> impl Iterator<Item = usize> + '_ {
        self.owners.iter().enumerate().filter(|(_, owner)| **owner != SAVED).map(|(at, _)| at)
    }

    /// The number of input bits that parties give.
    pub(super) fn given_count(&self) -> usize {
        self.given().count()
    }

    /// Tells whether outputs are kept.
    pub(super) fn keeps(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The outputs that are kept: their names, and their numbers of bits.
    pub(super) fn kept(&self) -> impl Iterator<Item = (&str, usize)> {
        let ports = self.kept.iter().map(|&output| &self.program.outputs()[output].port);
        ports.map(|port| (&port.name[..], port.width() as usize))
    }

    /// The output bits that are kept, as positions among all output bits.
    pub(super) fn kept_bits(&self) -> impl Iterator<Item = usize> {
        self.output_bits_where(|output| self.kept.contains(&output))
    }

    /// The bits of the outputs with these numbers.
    fn output_bits_where(&self, is_meant: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
        let outputs = self.program.outputs().iter().enumerate();
        let all = outputs.flat_map(move |(at, output)| std::iter::repeat_n(is_meant(at), output.port.width() as usize));
        all.enumerate().filter(|(_, is_meant)| *is_meant).map(|(bit, _)| bit)
    }

    /// Tells whether an output bit has the value of the negation of the wire that a [walk](Plan::walk) gives for it.
    pub(super) fn is_negated(&self, bit: usize) -> bool {
        self.negated[bit]
    }

    /// Refuses values that a run is to keep or read, if the plan keeps or reads others.
    pub(super) fn check_saved(&self, saved: &SavedValues) -> Result<(), ProtocolError> {
        saved.check_names()?;
        check_keeps(self.keeps(), saved.keep.is_some())?;
        let mut reads = saved.inputs(&self.program)?;
        reads.sort_unstable();
        if reads == self.reads {
            return Ok(());
        }
        let [expected, got] = [&self.reads, &reads].map(|numbers| format!("inputs {numbers:?}"));
        Err(ProtocolError::Input { what: "values to read".into(), expected, got })
    }

    /// Tells whether nothing is to be kept, by the outputs of a party.
    pub(super) fn has_panicked(&self, outputs: &[Option<Bits>]) -> bool {
        has_panicked(&self.program, outputs)
    }

    /// The number of input bits of a party.
    pub fn input_bits(&self, party: Party) -> usize {
        party_io::input_bits(&self.program, party)
    }

    /// The number of output bits that a party learns.
    pub fn output_bits(&self, party: Party) -> usize {
        party_io::output_bits(&self.program, party)
    }

    /// The input bits of a party, as positions among all input bits.
    pub(super) fn inputs_of(&self, party: Party) -> impl ExactSizeIterator<Item = usize> + Clone + use<> {
        let at: Vec<usize> =
            self.owners.iter().enumerate().filter(|(_, owner)| **owner == party).map(|(at, _)| at).collect();
        at.into_iter()
    }

    /// The output bits that a party learns, as positions among all output bits.
    pub(super) fn outputs_of(&self, party: Party) -> impl Iterator<Item = usize> {
        self.output_bits_where(move |output| self.program.outputs()[output].recipients.contains(party))
    }

    /// The parties that garble, in order.
    pub(super) fn garblers(&self) -> impl Iterator<Item = Party> + use<> {
        let evaluator = self.evaluator();
        (0..self.parties()).map(Party).filter(move |party| *party != evaluator)
    }

    /// The place of a garbler among the garblers; none of the evaluator.
    pub(super) fn slot(&self, party: Party) -> Option<usize> {
        let evaluator = self.evaluator();
        (party != evaluator).then(|| usize::from(party.0) - usize::from(party > evaluator))
    }

    /// The number of garblers.
    pub(super) fn garbler_count(&self) -> usize {
        usize::from(self.parties()) - 1
    }

    /// Tells whether the evaluator checks gates by tags.
    pub(super) fn has_tags(&self) -> bool {
        self.config().check == ResultCheck::Tags
    }

    /// The parties to whose differences tables are made, by slot: the garblers, and the evaluator if there are tags.
    pub(super) fn slots(&self) -> Vec<Party> {
        self.garblers().chain(self.has_tags().then(|| self.evaluator())).collect()
    }

    /// The top bytes of a block that show that a bit is authentic.
    pub(super) fn tag(&self) -> Tag {
        self.setting.tag()
    }

    /// The numbers of triples and masks that a run takes.
    pub fn amounts(&self) -> Amounts {
        let [gates, inputs] = [self.and_count(), self.given_count()].map(|count| count as u64);
        Amounts { triples: gates, masks: gates + inputs }
    }

    /// The batches of a run, each with its masks.
    pub(super) fn batches(&self) -> Vec<(Option<Batch>, u64)> {
        let Amounts { triples, masks } = self.amounts();
        with_masks(batches(triples, self.config().statistical, self.parties()), masks)
    }

    /// The digest of everything that the parties have agreed on.
    pub(super) fn digest(&self) -> [u8; 32] {
        self.setting.digest((self.program.digest(), *self.schedule().as_bytes()))
    }

    /// The security of a run without a store.
    pub fn stated_security(&self) -> Security {
        // One failure ends everything, so all batches together are no worse than the worst one.
        let insecure = self.batches().into_iter().filter_map(|(batch, _)| batch.map(|batch| batch.insecure()));
        self.security(insecure.fold(0.0, f64::max))
    }

    /// The security of a run, if cheats pass all checks of the preparation with this probability.
    pub(super) fn security(&self, prepared: f64) -> Security {
        let (ands, peers) = (self.and_count(), f64::from(self.parties() - 1));
        // One guess of the top bytes of every honest difference; points of sums, and of OT checks, are in fields of 128 bits.
        let tags = peers * (-8.0 * self.tag().bytes as f64).exp2();
        let sums = f64::from(self.parties()).powi(2) * (32.0 * ands as f64 + 4096.0) * (-127f64).exp2();
        // Three blocks of each leaky triple are hashed under the key of a lot, for every other party.
        let leaky = 128 - (3 * LOT * self.garbler_count()).next_power_of_two().ilog2();
        let gates = ands.max(1) as u64 * u64::from(self.parties());
        Security {
            computational_bits: GarblingConfig::default().security_bits(gates).min(leaky),
            statistical_bits: Some(f64::from(self.config().statistical.bits())),
            cheating_log2: Some((prepared + tags + sums).log2()),
            ..Security::default()
        }
    }
}

/// The circuits of a program that is garbled at this time.
///
/// *Errors*: a program too large for one circuit.
fn circuits(program: &Program, build: Build) -> Result<Circuits, ProtocolError> {
    if build == Build::Stream {
        return Ok(Circuits::of_components(program));
    }
    match program.flatten() {
        Ok(flat) => Ok(Circuits::flat(flat.circuit())),
        Err(error) => {
            let (protocol, program) = (NAME, program.name().into());
            Err(ProtocolError::Unsupported { protocol, program, reason: error.to_string() })
        }
    }
}

/// For every output bit, whether it is the negation of its wire.
fn negated(program: &Program, circuits: &Circuits) -> Vec<bool> {
    match circuits {
        Circuits::Flat(schedule) => {
            let is_negated = |output: &OutputWire| match output {
                OutputWire::Constant(value) => *value,
                OutputWire::Slot(operand) => operand.inverted(),
            };
            schedule.outputs().iter().map(is_negated).collect()
        }
        // Negations are on the wires.
        Circuits::Components { .. } => {
            vec![false; program.outputs().iter().map(|output| output.port.width() as usize).sum()]
        }
    }
}
