//! The plan, on which all parties must agree before a run, and the sizes that follow from it.

use std::{ops::RangeInclusive, sync::Arc};

use garblet_circuit::{OutputWire, Party, Program, Schedule};
use garblet_garble::GarblingConfig;
use garblet_protocol::{Security, domain::SessionId, error::ProtocolError, party_io};

use super::{Config, NAME, place::Place};
use crate::{
    config::ResultCheck,
    parameters::{self, Batch, batches},
    plan::with_masks,
    shares::LOT,
    tags::Tag,
};

/// The numbers of parties.
pub(super) const PARTIES: RangeInclusive<u16> = 3..=16;

/// A program made ready for `authenticated-bmr`.
///
/// The *base wires* are the input bits, in program order, and after them the outputs of AND gates in the order of the schedule: every other wire is a sum
/// of some of them, and carries what the sum carries.
pub struct Plan {
    program: Arc<Program>,
    schedule: Schedule,
    parties: u16,
    config: Config,
    /// The owner of every input bit.
    owners: Vec<Party>,
}

impl Plan {
    /// Checks that this many parties can run the program, and schedules it.
    ///
    /// *Errors*: too few parties or too many; an evaluator, an input owner or a recipient that is not a party; a program too large for one circuit.
    pub fn new(program: Arc<Program>, parties: u16, config: Config) -> Result<Self, ProtocolError> {
        party_io::check_party_count(NAME, &program, parties, PARTIES)?;
        let refuse =
            |reason| Err(ProtocolError::Unsupported { protocol: NAME, program: program.name().into(), reason });
        if config.evaluator >= parties {
            let (got, last) = (config.evaluator, parties - 1);
            return refuse(format!("the evaluator is party {got}, expected 0 to {last}"));
        }
        let flat = match program.flatten() {
            Ok(flat) => flat,
            Err(error) => return refuse(error.to_string()),
        };
        let schedule = Schedule::new(flat.circuit());
        parameters::check_amount(program.name(), schedule.ands().len() as u64)?;
        let owner = |input: &garblet_circuit::Input| vec![input.owner; input.port.width() as usize];
        let owners = program.inputs().iter().flat_map(owner).collect();
        Ok(Plan { program, schedule, parties, config, owners })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The flattened program's schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// The party that evaluates.
    pub fn evaluator(&self) -> Party {
        Party(self.config.evaluator)
    }

    /// The number of AND gates to garble.
    pub fn and_count(&self) -> usize {
        self.schedule.ands().len()
    }

    /// The number of bits of all inputs.
    pub(super) fn input_count(&self) -> usize {
        self.owners.len()
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

    /// The output wires that a party learns, in program order.
    pub(super) fn outputs_of(&self, party: Party) -> impl Iterator<Item = OutputWire> {
        let wires = self.program.outputs().iter().flat_map(move |output| {
            std::iter::repeat_n(output.recipients.contains(party), output.port.width() as usize)
        });
        wires.zip(self.schedule.outputs()).filter(|(learns, _)| *learns).map(|(_, wire)| *wire)
    }

    /// The parties that garble, in order.
    pub(super) fn garblers(&self) -> impl Iterator<Item = Party> + use<> {
        let evaluator = self.evaluator();
        (0..self.parties).map(Party).filter(move |party| *party != evaluator)
    }

    /// The place of a garbler among the garblers; none of the evaluator.
    pub(super) fn slot(&self, party: Party) -> Option<usize> {
        let evaluator = self.evaluator();
        (party != evaluator).then(|| usize::from(party.0) - usize::from(party > evaluator))
    }

    /// The number of garblers.
    pub(super) fn garbler_count(&self) -> usize {
        usize::from(self.parties) - 1
    }

    /// Tells whether the evaluator checks gates by tags.
    pub(super) fn has_tags(&self) -> bool {
        self.config.check == ResultCheck::Tags
    }

    /// The parties to whose differences tables are made, by slot: the garblers, and the evaluator if there are tags.
    pub(super) fn slots(&self) -> Vec<Party> {
        self.garblers().chain(self.has_tags().then(|| self.evaluator())).collect()
    }

    /// The top bytes of a block that show that a bit is authentic.
    pub(super) fn tag(&self) -> Tag {
        Tag { bytes: self.config.statistical.tag_bytes() }
    }

    /// The numbers of triples and masks that a run takes.
    pub(super) fn amounts(&self) -> (usize, usize) {
        (self.and_count(), self.and_count() + self.input_count())
    }

    /// The batches of a run, each with its masks.
    pub(super) fn batches(&self) -> Vec<(Option<Batch>, u64)> {
        let (triples, masks) = self.amounts();
        with_masks(batches(triples as u64, self.config.statistical, self.parties), masks as u64)
    }

    /// The digest of everything that the parties have agreed on.
    pub(super) fn digest(&self) -> [u8; 32] {
        let Config { check, evaluator, ot_width, statistical } = self.config;
        let mut parameters = [0; 32];
        parameters[0] = ot_width.bits() as u8;
        parameters[1] = statistical.bits() as u8;
        parameters[2..4].copy_from_slice(&evaluator.to_le_bytes());
        parameters[4..6].copy_from_slice(&self.parties.to_le_bytes());
        parameters[6] = check as u8;
        let agreed = [*self.schedule.digest().as_bytes(), parameters];
        SessionId::new(NAME, self.program.digest(), agreed).domain(Party(0), Place::Name as u8).digest(b"")
    }

    /// The security of a run.
    pub fn stated_security(&self) -> Security {
        // One failure ends everything, so all batches together are no worse than the worst one.
        let insecure = self.batches().into_iter().filter_map(|(batch, _)| batch.map(|batch| batch.insecure()));
        let prepared = insecure.fold(0.0, f64::max);
        let (ands, peers) = (self.and_count(), f64::from(self.parties - 1));
        // One guess of the top bytes of every honest difference; points of sums, and of OT checks, are in fields of 128 bits.
        let tags = peers * (-8.0 * self.tag().bytes as f64).exp2();
        let sums = f64::from(self.parties).powi(2) * (32.0 * ands as f64 + 4096.0) * (-127f64).exp2();
        // Three blocks of each leaky triple are hashed under the key of a lot, for every other party.
        let leaky = 128 - (3 * LOT * self.garbler_count()).next_power_of_two().ilog2();
        let gates = ands.max(1) as u64 * u64::from(self.parties);
        Security {
            computational_bits: GarblingConfig::default().security_bits(gates).min(leaky),
            statistical_bits: Some(f64::from(self.config.statistical.bits())),
            cheating_log2: Some((prepared + tags + sums).log2()),
            ..Security::default()
        }
    }
}
