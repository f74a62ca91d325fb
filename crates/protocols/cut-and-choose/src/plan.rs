//! The agreement of both parties before a run: the program with its additional inputs and outputs, and all sizes.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_garble::Schedules;
use garblet_ot::PAD_BITS;
use garblet_primitives::{Block, UniversalHash};
use garblet_synthesis::tables::TableCircuit;

use super::{
    NAME,
    authenticated::Authenticator,
    config::{Config, Form, InputEncoding},
    numbers,
};
use garblet_protocol::{
    Security,
    error::ProtocolError,
    party_io::{self, EVALUATOR, GARBLER},
};
use garblet_seeded::{Blueprint, Committed, MATRIX_SEED, Published, encoding::Encoding};

/// A program made ready for `cut-and-choose`.
pub struct Plan {
    /// The original program.
    original: Arc<Program>,
    /// The program with the garbler's additional inputs and the message to it.
    blueprint: Arc<Blueprint>,
    authenticator: Option<Authenticator>,
    config: Config,
    /// The result of [`Config::evaluated`], which takes a search.
    evaluated: usize,
}

impl Plan {
    /// Checks that the protocol can run the program and makes its schedules.
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1; the scheme `privacy-free`, whose checked and
    /// evaluated circuits could not use the same input; a scheme of 2009 with another form than [`Form::Lp07`], with another hash than its own, or
    /// with a program too large for one circuit.
    pub fn new(original: Arc<Program>, config: Config) -> Result<Self, ProtocolError> {
        party_io::check_parties(NAME, &original, config.garbling)?;
        let refuse = |reason| ProtocolError::Unsupported { protocol: NAME, program: original.name().into(), reason };
        if config.garbling.scheme.is_privacy_free() {
            return Err(refuse("the privacy-free scheme shows the evaluator every wire".into()));
        }
        let authenticator = Authenticator::new(&original, config.field());
        let program = match &authenticator {
            None => original.clone(),
            Some(authenticator) => {
                Arc::new(authenticator.extend(&original).map_err(|error| refuse(error.to_string()))?)
            }
        };
        let bits = party_io::input_bits(&program, EVALUATOR);
        let oblivious = config.form == Form::Oblivious;
        let committed = Committed { garbler: false, evaluator: !oblivious };
        let wires = encoded_wires(&config, bits);
        let mut blueprint = Blueprint::new(program, config.garbling, committed, config.hash_rows(), wires);
        if let Some(method) = config.published {
            if oblivious {
                return Err(refuse(format!(
                    "the scheme {} needs form=lp07: set that too, or leave it out",
                    method.name()
                )));
            }
            // No seed is sampled yet, and none is needed.
            let encoding = encoding(&config, bits, Block::ZERO);
            blueprint = blueprint.published(method, &encoding).map_err(refuse)?;
        }
        let evaluated = config.evaluated();
        Ok(Plan { original, blueprint: Arc::new(blueprint), authenticator, config, evaluated })
    }

    /// The original program.
    pub(crate) fn original(&self) -> &Program {
        &self.original
    }

    /// The garbled program.
    pub fn program(&self) -> &Program {
        self.blueprint.program()
    }

    /// The schedules of the garbled program.
    pub fn schedules(&self) -> &Schedules {
        self.blueprint.schedules()
    }

    /// The circuit that a scheme of 2009 garbles, if one does.
    pub fn published(&self) -> Option<&TableCircuit> {
        self.blueprint.as_published().map(Published::circuit)
    }

    /// The blueprint of every circuit.
    pub(crate) fn blueprint(&self) -> &Arc<Blueprint> {
        &self.blueprint
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// The security of a run: the cheating probability covers all ways to cheat together.
    pub fn security(&self) -> Security {
        let computational_bits = self.blueprint.security_bits().min(PAD_BITS);
        let tag_blocks = self.authenticator.as_ref().map_or(0, Authenticator::blocks);
        Security {
            computational_bits,
            statistical_bits: Some(f64::from(self.config.statistical.bits())),
            cheating_log2: Some(numbers::cheating_log2(&self.config, tag_blocks)),
            may_leave: self.config.form == Form::Lp07,
            ..Security::default()
        }
    }

    /// The number of AND gates of one circuit.
    pub fn and_count(&self) -> u64 {
        self.blueprint.and_count()
    }

    /// The number of garbled circuits.
    pub fn circuits(&self) -> usize {
        self.config.circuits()
    }

    /// The number of evaluated circuits.
    pub(crate) fn evaluated(&self) -> usize {
        self.evaluated
    }

    /// The number of garblings by the garbler; circuits garbled for their digests and again for sending count twice.
    pub(crate) fn garblings(&self) -> usize {
        match self.config.form {
            Form::Oblivious => self.circuits() + self.evaluated,
            Form::Lp07 => self.circuits(),
        }
    }

    /// The number of circuits sent.
    pub(crate) fn sent_circuits(&self) -> usize {
        match self.config.form {
            Form::Oblivious => self.evaluated,
            Form::Lp07 => self.circuits(),
        }
    }

    /// The authenticator of the garbler's output, if it has one.
    pub(crate) fn authenticator(&self) -> Option<&Authenticator> {
        self.authenticator.as_ref()
    }

    /// The encoding of the evaluator's input, for a seed of the evaluator, which the published schemes ignore.
    pub(crate) fn encoding(&self, seed: Block) -> Encoding {
        encoding(&self.config, self.evaluator_bits(), seed)
    }

    /// The hash of the garbler's input for a challenge.
    ///
    /// *Unique*: the evaluator samples the challenge after the garbler's labels are fixed.
    pub(crate) fn universal_hash(&self, challenge: Block) -> UniversalHash {
        UniversalHash::new(self.blueprint.hash_rows(), self.blueprint.garbler_inputs(), challenge)
    }

    /// The number of bits of the evaluator's input.
    pub(crate) fn evaluator_bits(&self) -> usize {
        party_io::input_bits(&self.original, EVALUATOR)
    }

    /// The number of bits of the message to the garbler.
    pub(crate) fn message_bits(&self) -> usize {
        self.authenticator.as_ref().map_or(0, Authenticator::message_bits)
    }

    /// The evaluator's outputs of the original program, from the output bits of the garbled one.
    pub(crate) fn evaluator_result(&self, bits: &Bits) -> Vec<Option<Bits>> {
        self.deal(EVALUATOR, bits)
    }

    /// The garbler's outputs.
    pub(crate) fn garbler_result(&self, bits: &Bits) -> Vec<Option<Bits>> {
        self.deal(GARBLER, bits)
    }

    fn deal(&self, party: Party, bits: &Bits) -> Vec<Option<Bits>> {
        party_io::decode(&self.original, party, bits, &Bits::zeros(bits.len()))
    }

    /// The number of OTs with which the evaluator chooses the circuits to check.
    pub(crate) fn cut_ots(&self) -> usize {
        match self.config.form {
            Form::Oblivious => self.circuits(),
            Form::Lp07 => 0,
        }
    }

    /// The number of blocks in the message with the keys of a circuit: both corrections for each wire of the evaluator, the garbler's
    /// labels for evaluation, the seed for checking; only the corrections with [`Form::Lp07`].
    pub(crate) fn key_blocks(&self) -> usize {
        match self.config.form {
            Form::Oblivious => 2 * self.blueprint.evaluator_wires() + self.blueprint.garbler_wires() + 1,
            Form::Lp07 => 2 * self.blueprint.evaluator_wires(),
        }
    }
}

/// The encoding of `bits` input bits of the evaluator, for a seed, which the published schemes ignore.
fn encoding(config: &Config, bits: usize, seed: Block) -> Encoding {
    let seed = if config.published.is_some() { MATRIX_SEED } else { seed };
    let distance = config.distance();
    match config.input_encoding() {
        InputEncoding::Systematic => Encoding::systematic(bits, distance, seed),
        InputEncoding::RandomCombinations => Encoding::random_combinations(bits, distance, seed),
        InputEncoding::Independent => Encoding::independent(bits, distance),
    }
}

/// The number of wires that encode `bits` input bits of the evaluator.
fn encoded_wires(config: &Config, bits: usize) -> usize {
    let distance = config.distance();
    match config.input_encoding() {
        InputEncoding::Systematic => Encoding::systematic_wires(bits, distance),
        InputEncoding::RandomCombinations => Encoding::random_combinations_wires(bits, distance),
        InputEncoding::Independent => bits * distance,
    }
}
