//! The agreement of all parties before a run, and the sizes that follow from it.

use std::sync::Arc;

use garblet_circuit::{OutputWire, Party, Program, Schedule};
use garblet_ot::{LpnSet, PAD_BITS};

use super::config::{Config, Form, Garbling, Hash, Optimisations, SILENT_FROM};
use garblet_protocol::{Security, error::ProtocolError, parameters::OtKind, party_io};
use garblet_runs::ots::Source;

/// A program made ready for joint garbling.
///
/// The *base wires* are the program's input bits, in order, and after them the outputs of its AND gates, in the order of the
/// schedule: every other wire is a sum of some of them, and carries what the sum carries.
pub struct Plan {
    program: Arc<Program>,
    schedule: Arc<Schedule>,
    parties: u16,
    config: Config,
    /// The owner of every input bit.
    owners: Vec<Party>,
}

impl Plan {
    /// Checks that this many parties can run the program with this protocol, and schedules it.
    ///
    /// *Errors*: too few parties for the protocol or more than [`MAX_PARTIES`](garblet_primitives::MAX_PARTIES); an input owner or a recipient that is not a
    /// party; a program too large for one circuit.
    pub fn new(program: Arc<Program>, parties: u16, config: Config) -> Result<Self, ProtocolError> {
        let protocol = config.garbling.name();
        let allowed = config.garbling.parties();
        party_io::check_party_count(protocol, &program, parties, allowed)?;
        let refuse = |reason| ProtocolError::Unsupported { protocol, program: program.name().into(), reason };
        if config.form == Form::HalfGates && config.garbling != Garbling::Ot {
            return Err(refuse("form half-gates is for bmr".into()));
        }
        if config.form == Form::HalfGates && config.hash != Hash::Rekeyed {
            return Err(refuse(
                "form half-gates takes hash rekeyed; the other hashes are for form linear or published".into(),
            ));
        }
        let flat = program.flatten().map_err(|error| refuse(error.to_string()))?;
        let schedule = Arc::new(Schedule::new(flat.circuit()));
        let owner = |input: &garblet_circuit::Input| vec![input.owner; input.port.width() as usize];
        let owners = program.inputs().iter().flat_map(owner).collect();
        Ok(Plan { program, schedule, parties, config, owners })
    }

    /// The same program with another kind of OT, by the same schedule.
    pub(super) fn otherwise(&self, config: Config) -> Self {
        let Plan { program, schedule, parties, owners, .. } = self;
        let (program, schedule, owners) = (program.clone(), schedule.clone(), owners.clone());
        Plan { program, schedule, parties: *parties, config, owners }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// The source of OTs.
    pub(super) fn source(&self) -> Source {
        match self.config.ot {
            OtKind::Silent if self.config.garbling == Garbling::Ot && self.and_count() >= SILENT_FROM => {
                Source::Silent(LpnSet::DEFAULT)
            }
            OtKind::Silent | OtKind::Extension => Source::Extension(self.config.width()),
        }
    }

    /// Tells whether OTs are silent.
    pub(super) fn is_silent(&self) -> bool {
        self.source().is_silent()
    }

    /// The steps in use: `bmr-bgw4` has only the published ones.
    pub fn form(&self) -> Form {
        match self.config.garbling {
            Garbling::Bgw4 => Form::Published(Optimisations::default()),
            _ => self.config.form,
        }
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// The number of AND gates to garble.
    pub fn and_count(&self) -> usize {
        self.schedule.ands().len()
    }

    /// The number of bits of all inputs.
    pub fn input_count(&self) -> usize {
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

    /// The security of a run: the work of a table attack on one key of the row hash, with labels of 127 bits, or on one key of the OT hash if there is one.
    pub fn security(&self) -> Security {
        let calls = match self.config.hash {
            Hash::Rekeyed => 12.0f64.max(2.0 + 2.0 * f64::from(self.parties).log2()),
            Hash::FixedKey => 2.0 + 2.0 * f64::from(self.parties).log2() + (self.and_count().max(1) as f64).log2(),
            Hash::Aes256 => 0.0,
        };
        let of_rows = 127 - calls.ceil() as u32;
        let computational_bits = if self.config.garbling == Garbling::Ot { of_rows.min(PAD_BITS) } else { of_rows };
        Security { computational_bits, ..Security::default() }
    }

    /// The flattened program's schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The number of base wires: input bits and AND gates.
    pub(super) fn base_count(&self) -> usize {
        self.input_count() + self.and_count()
    }

    /// The number of blocks of the joint garbled circuit.
    pub(super) fn row_blocks(&self) -> usize {
        self.gate_blocks() * self.and_count()
    }

    /// The number of blocks per gate: four rows with a slot for every party.
    pub(super) fn gate_blocks(&self) -> usize {
        4 * usize::from(self.parties)
    }

    /// The input bits of a party, as positions among all input bits.
    pub(super) fn inputs_of(&self, party: Party) -> impl Iterator<Item = usize> {
        self.owners.iter().enumerate().filter(move |(_, owner)| **owner == party).map(|(at, _)| at)
    }

    /// The output wires that a party learns, in program order.
    pub(super) fn outputs_of(&self, party: Party) -> impl Iterator<Item = OutputWire> {
        let wires = self.program.outputs().iter().flat_map(move |output| {
            std::iter::repeat_n(output.recipients.contains(party), output.port.width() as usize)
        });
        wires.zip(self.schedule.outputs()).filter(|(learns, _)| *learns).map(|(_, wire)| *wire)
    }

    /// The evaluator of half gates: the first party that learns anything.
    pub(super) fn evaluator(&self) -> Party {
        (0..self.parties).map(Party).find(|party| self.evaluates(*party)).unwrap_or(Party(0))
    }

    /// The place of a party's delta among all deltas; none if it garbles nothing.
    pub(super) fn slot(&self, party: Party) -> Option<usize> {
        match self.form() {
            Form::HalfGates if party == self.evaluator() => None,
            Form::HalfGates => Some(usize::from(party.0) - usize::from(party > self.evaluator())),
            Form::Linear | Form::Published(_) => Some(party.0.into()),
        }
    }

    /// The number of deltas.
    pub(super) fn slots(&self) -> usize {
        usize::from(self.parties) - usize::from(self.form() == Form::HalfGates)
    }

    /// Tells whether a party learns anything, and so evaluates or is told by the evaluator.
    pub(super) fn evaluates(&self, party: Party) -> bool {
        self.output_bits(party) > 0
    }

    /// The most corrupted parties that the garbling allows.
    pub(super) fn threshold(&self) -> u16 {
        match self.config.garbling {
            Garbling::Ot => self.parties - 1,
            Garbling::Bgw4 | Garbling::Bgw3 => self.parties.div_ceil(2) - 1,
            Garbling::Bgw2 => self.parties.div_ceil(3) - 1,
        }
    }
}
