//! What both parties agree on before a run: the program with its further inputs and outputs, and all sizes.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_garble::{CHUNK_ANDS, Schedules};
use garblet_primitives::Block;

use super::{
    NAME,
    authenticated::Authenticator,
    config::{Config, Form, InputEncoding},
    numbers,
};
use crate::{
    encoding::Encoding,
    error::ProtocolError,
    interface::{self, EVALUATOR, GARBLER},
    security::Security,
};

/// Chunks of tables that are garbled, sent and evaluated together.
const PIECE_CHUNKS: usize = 6;

/// A program made ready for `cut-and-choose`.
pub struct Plan {
    /// As it was given.
    original: Arc<Program>,
    /// With the garbler's further inputs and the message to it.
    program: Program,
    schedules: Schedules,
    authenticator: Option<Authenticator>,
    config: Config,
    /// Wires of the evaluator's encoded input.
    evaluator_wires: usize,
}

impl Plan {
    /// Checks that the protocol can run the program and makes its schedules.
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1; the scheme `privacy-free`, with which checked and
    /// evaluated circuits could not have one input.
    pub fn new(original: Arc<Program>, config: Config) -> Result<Self, ProtocolError> {
        interface::check_parties(NAME, &original, config.garbling)?;
        let refuse = |reason| ProtocolError::Unsupported { protocol: NAME, program: original.name().into(), reason };
        if config.garbling.scheme.is_privacy_free() {
            return Err(refuse("the privacy-free scheme shows the evaluator every wire".into()));
        }
        let authenticator = Authenticator::new(&original, config.field());
        let program = match &authenticator {
            None => (*original).clone(),
            Some(authenticator) => authenticator.extend(&original).map_err(|error| refuse(error.to_string()))?,
        };
        let schedules = Schedules::new(&program);
        let evaluator_wires = encoded_wires(&config, interface::input_bits(&program, EVALUATOR));
        Ok(Plan { original, program, schedules, authenticator, config, evaluator_wires })
    }

    /// The program as it was given.
    pub fn original(&self) -> &Program {
        &self.original
    }

    /// The program that is garbled.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The schedules of the program that is garbled.
    pub fn schedules(&self) -> &Schedules {
        &self.schedules
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// What a run promises: the cheating probability is that of all ways to cheat together.
    pub fn security(&self) -> Security {
        let computational_bits = self.config.garbling.security_bits(self.and_count());
        let tag_blocks = self.authenticator.as_ref().map_or(0, Authenticator::blocks);
        Security {
            computational_bits,
            statistical_bits: Some(f64::from(self.config.statistical.bits())),
            cheating_log2: Some(numbers::cheating_log2(&self.config, tag_blocks)),
        }
    }

    /// AND gates of one circuit.
    pub fn and_count(&self) -> u64 {
        self.schedules.and_count()
    }

    /// Circuits that are garbled.
    pub fn circuits(&self) -> usize {
        self.config.circuits()
    }

    /// How the garbler's output is authenticated, if it has one.
    pub(crate) fn authenticator(&self) -> Option<&Authenticator> {
        self.authenticator.as_ref()
    }

    /// The encoding of the evaluator's input, for a seed of the evaluator.
    pub(crate) fn encoding(&self, seed: Block) -> Encoding {
        let (bits, distance) = (self.evaluator_bits(), self.config.distance());
        match self.config.input_encoding() {
            InputEncoding::Systematic => Encoding::systematic(bits, distance, seed),
            InputEncoding::RandomCombinations => Encoding::random_combinations(bits, distance, seed),
            InputEncoding::Independent => Encoding::independent(bits, distance),
        }
    }

    /// Wires of the evaluator's encoded input.
    pub(crate) fn evaluator_wires(&self) -> usize {
        self.evaluator_wires
    }

    /// Bits of the evaluator's input.
    pub(crate) fn evaluator_bits(&self) -> usize {
        interface::input_bits(&self.program, EVALUATOR)
    }

    /// Rows of the hash of the garbler's input.
    pub(crate) fn hash_rows(&self) -> usize {
        self.config.hash_rows()
    }

    /// Wires of the garbler that are inputs of the program.
    pub(crate) fn garbler_inputs(&self) -> usize {
        interface::input_bits(&self.program, GARBLER)
    }

    /// Wires of the garbler: inputs of the program, then those that hide the hash.
    pub(crate) fn garbler_wires(&self) -> usize {
        self.garbler_inputs() + self.hash_rows()
    }

    /// Output bits of the garbled program that the evaluator learns, the message to the garbler last.
    pub(crate) fn evaluator_outputs(&self) -> usize {
        interface::output_bits(&self.program, EVALUATOR)
    }

    /// Bits of the message to the garbler.
    pub(crate) fn message_bits(&self) -> usize {
        self.authenticator.as_ref().map_or(0, Authenticator::message_bits)
    }

    /// Select bits of the evaluator's output labels.
    pub(crate) fn select_bits(&self, labels: &[Box<[Block]>]) -> Bits {
        interface::select_bits(&self.program, self.config.garbling, EVALUATOR, labels)
    }

    /// The evaluator's outputs of the program as it was given, from the bits of the garbled one.
    pub(crate) fn evaluator_result(&self, bits: &Bits) -> Vec<Option<Bits>> {
        self.deal(EVALUATOR, bits)
    }

    /// The garbler's outputs.
    pub(crate) fn garbler_result(&self, bits: &Bits) -> Vec<Option<Bits>> {
        self.deal(GARBLER, bits)
    }

    fn deal(&self, party: Party, bits: &Bits) -> Vec<Option<Bits>> {
        interface::decode(&self.original, party, bits, &Bits::zeros(bits.len()))
    }

    /// The sizes of the pieces of a circuit's tables, in AND gates.
    pub(crate) fn pieces(&self) -> impl ExactSizeIterator<Item = usize> + use<> {
        let total = self.and_count() as usize;
        (0..total).step_by(PIECE_CHUNKS * CHUNK_ANDS).map(move |begin| (total - begin).min(PIECE_CHUNKS * CHUNK_ANDS))
    }

    /// Bytes of the tables of so many gates.
    pub(crate) fn piece_bytes(&self, ands: usize) -> usize {
        self.config.garbling.table_bytes(ands as u64) as usize
    }

    /// Parts of a circuit as it is sent: head, pieces, tail.
    pub(crate) fn part_count(&self) -> usize {
        self.pieces().len() + 2
    }

    /// Blocks of part `part` of a circuit as it is sent.
    pub(crate) fn part_blocks(&self, part: usize) -> usize {
        let blocks = |bits: usize| bits.div_ceil(128);
        match part {
            // The hash seed, the commitments to both labels of each wire, the decoding bits of the hash.
            0 => 1 + 4 * self.committed_wires() + blocks(self.hash_rows()),
            _ => match self.pieces().nth(part - 1) {
                Some(ands) => self.piece_bytes(ands).div_ceil(16),
                None => blocks(self.evaluator_outputs()),
            },
        }
    }

    /// Wires to whose labels every circuit has commitments: the garbler's; where supersets bind those, the evaluator's.
    pub(crate) fn committed_wires(&self) -> usize {
        match self.config.form {
            Form::Oblivious => self.garbler_wires(),
            Form::Lp07 => self.evaluator_wires(),
        }
    }

    /// OTs by which the evaluator chooses the circuits to check.
    pub(crate) fn cut_ots(&self) -> usize {
        match self.config.form {
            Form::Oblivious => self.circuits(),
            Form::Lp07 => 0,
        }
    }

    /// Blocks of the message that carries the keys of a circuit: both corrections for each wire of the evaluator, the garbler's
    /// labels for evaluation, the seed for checking; the corrections alone with [`Form::Lp07`].
    pub(crate) fn key_blocks(&self) -> usize {
        match self.config.form {
            Form::Oblivious => 2 * self.evaluator_wires() + self.garbler_wires() + 1,
            Form::Lp07 => 2 * self.evaluator_wires(),
        }
    }
}

/// Wires to which so many input bits of the evaluator are encoded.
fn encoded_wires(config: &Config, bits: usize) -> usize {
    let distance = config.distance();
    match config.input_encoding() {
        InputEncoding::Systematic => Encoding::systematic_wires(bits, distance),
        InputEncoding::RandomCombinations => (4 * bits).max(8 * distance),
        InputEncoding::Independent => bits * distance,
    }
}
