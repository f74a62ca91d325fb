//! What both parties must agree on before a run: program, parameters, and the sizes that follow from them.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program, Recipients};
use garblet_garble::{CHUNK_ANDS, GarblingConfig, Schedules};
use garblet_ot::Width;
use garblet_primitives::Block;

use super::{EVALUATOR, GARBLER, NAME};
use crate::{error::ProtocolError, security::Security};

/// When the garbled tables are made and sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// Online, made while they are sent and consumed as they come: memory does not grow with the program.
    #[default]
    Stream,
    /// Before the inputs are known; the evaluator keeps the tables in memory.
    Ahead,
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Garbling scheme and hash.
    pub garbling: GarblingConfig,
    /// When tables are sent.
    pub build: Build,
    /// Field width of the OT extension: larger is fewer bytes and more computation.
    pub ot_width: Width,
}

/// Chunks of tables that are sent, and received, together: to wake a peer that waits costs more than to move a chunk. Six
/// chunks of half gates are 768 KiB, which stay in a second cache.
const PIECE_CHUNKS: usize = 6;

/// A piece of the tables.
pub(super) struct Piece {
    /// AND gates up to its end.
    pub(super) end: u64,
    /// Its bytes.
    pub(super) bytes: usize,
}

/// A program made ready for `yao`: schedules and sizes.
pub struct Plan {
    program: Arc<Program>,
    schedules: Schedules,
    config: Config,
}

impl Plan {
    /// Checks that the protocol can run the program and makes its schedules.
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1; a garbler's input under `privacy-free`.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, ProtocolError> {
        let refuse = |reason| ProtocolError::Unsupported { protocol: NAME, program: program.name().into(), reason };
        let two = |party: &Party| *party == GARBLER || *party == EVALUATOR;
        if let Some(input) = program.inputs().iter().find(|i| !two(&i.owner)) {
            let reason = format!("input `{}` belongs to party {}, expected 0 or 1", input.port.name, input.owner);
            return Err(refuse(reason));
        }
        for output in program.outputs() {
            let Recipients::Only(parties) = &output.recipients else { continue };
            if let Some(party) = parties.iter().find(|p| !two(p)) {
                let reason = format!("output `{}` is for party {party}, expected 0 or 1", output.port.name);
                return Err(refuse(reason));
            }
        }
        let shown = program.inputs().iter().find(|i| i.owner == GARBLER && config.garbling.scheme.is_privacy_free());
        if let Some(input) = shown {
            return Err(refuse(format!(
                "the privacy-free scheme would show the garbler's input `{}`",
                input.port.name
            )));
        }
        let schedules = Schedules::new(&program);
        Ok(Plan { program, schedules, config })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program's schedules.
    pub fn schedules(&self) -> &Schedules {
        &self.schedules
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// What a run promises: the computational security of the garbling hash at this many gates.
    pub fn security(&self) -> Security {
        let computational_bits = self.config.garbling.security_bits(self.and_count());
        Security { computational_bits, statistical_bits: None, cheating_log2: None }
    }

    /// AND gates that will be garbled.
    pub fn and_count(&self) -> u64 {
        self.schedules.and_count()
    }

    /// Bytes of all garbled tables.
    pub fn table_bytes(&self) -> u64 {
        self.config.garbling.table_bytes(self.and_count())
    }

    /// The pieces in which the tables are sent, in order.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        let (garbling, total) = (self.config.garbling, self.and_count());
        (0..total).step_by(PIECE_CHUNKS * CHUNK_ANDS).map(move |begin| {
            let ands = (total - begin).min((PIECE_CHUNKS * CHUNK_ANDS) as u64);
            Piece { end: begin + ands, bytes: garbling.table_bytes(ands) as usize }
        })
    }

    /// Input bits of a party.
    pub fn input_bits(&self, party: Party) -> usize {
        self.inputs_of(party).map(|width| width as usize).sum()
    }

    /// Output bits that a party learns.
    pub fn output_bits(&self, party: Party) -> usize {
        let learned = self.program.outputs().iter().filter(|o| o.recipients.contains(party));
        learned.map(|o| o.port.width() as usize).sum()
    }

    /// Checks a party's input values and joins them, in program order, to one bit string.
    pub(super) fn own_input(&self, party: Party, values: &[Bits]) -> Result<Bits, ProtocolError> {
        let expected = self.inputs_of(party).count();
        if values.len() != expected {
            let what = format!("values of party {party}");
            return Err(ProtocolError::Input { what, expected: expected.to_string(), got: values.len().to_string() });
        }
        let ports = self.program.inputs().iter().filter(|i| i.owner == party);
        for (input, value) in ports.zip(values) {
            let (width, got) = (input.port.width() as usize, value.len());
            if got != width {
                let what = format!("`{}`", input.port.name);
                let [expected, got] = [width, got].map(|n| format!("{n} bits"));
                return Err(ProtocolError::Input { what, expected, got });
            }
        }
        let mut joined = Bits::default();
        values.iter().for_each(|value| joined.append(value));
        Ok(joined)
    }

    /// Deals labels of the two parties' input bits out to the program's inputs.
    pub(super) fn labels_by_input(&self, garbler: &[Block], evaluator: &[Block]) -> Vec<Box<[Block]>> {
        let (mut garbler, mut evaluator) = (garbler, evaluator);
        let deal = |input: &garblet_circuit::Input| {
            let from = if input.owner == GARBLER { &mut garbler } else { &mut evaluator };
            let (own, rest) = from.split_at(input.port.width() as usize);
            *from = rest;
            own.into()
        };
        self.program.inputs().iter().map(deal).collect()
    }

    /// Select bits of the output labels that `party` learns, in program order.
    pub(super) fn select_bits(&self, party: Party, labels: &[Box<[Block]>]) -> Bits {
        let learned = self.program.outputs().iter().zip(labels).filter(|(o, _)| o.recipients.contains(party));
        learned.flat_map(|(_, labels)| labels.iter().map(|l| self.config.garbling.select_bit(*l))).collect()
    }

    /// Decodes the outputs that `party` learns: an output's bit is the select bits of its zero and active label added.
    ///
    /// *Shape*: both as [`Plan::select_bits`] gives them. Returns one entry per program output, none where `party` is no
    /// recipient.
    pub(super) fn decode(&self, party: Party, zero: &Bits, active: &Bits) -> Vec<Option<Bits>> {
        let mut bits = zero.iter().zip(active.iter()).map(|(z, a)| z ^ a);
        let decode = |output: &garblet_circuit::Output| {
            let width = output.port.width() as usize;
            output.recipients.contains(party).then(|| bits.by_ref().take(width).collect())
        };
        self.program.outputs().iter().map(decode).collect()
    }

    fn inputs_of(&self, party: Party) -> impl Iterator<Item = u32> {
        self.program.inputs().iter().filter(move |i| i.owner == party).map(|i| i.port.width())
    }
}
