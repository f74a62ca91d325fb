//! The agreement of both parties before a run: the program, the parameters, and all sizes.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program};
use garblet_garble::Schedules;
use garblet_ot::{PAD_BITS, StatisticalSecurity};
use garblet_primitives::Block;
use garblet_synthesis::tables::TableCircuit;

use super::{
    NAME,
    config::{Config, Form, Ot},
};
use garblet_protocol::{
    Security,
    error::ProtocolError,
    party_io::{self, EVALUATOR, GARBLER},
};
use garblet_seeded::{Blueprint, Committed, Published};

/// The security of the consistency checks of OT.
pub(super) const SIGMA: StatisticalSecurity = StatisticalSecurity::Eighty;

/// A program made ready for `covert`.
pub struct Plan {
    blueprint: Arc<Blueprint>,
    config: Config,
}

impl Plan {
    /// Checks that the protocol can run the program and makes its schedules.
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1; the scheme `privacy-free`; [`Ot::Pvw`] or a
    /// scheme of 2009 with another form than [`Form::Al07`]; such a scheme with another hash than its own, or with a program too large for one circuit.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, ProtocolError> {
        party_io::check_parties(NAME, &program, config.garbling)?;
        if config.garbling.scheme.is_privacy_free() {
            let reason = "the privacy-free scheme shows the evaluator every wire".into();
            return Err(ProtocolError::Unsupported { protocol: NAME, program: program.name().into(), reason });
        }
        let bits = party_io::input_bits(&program, EVALUATOR);
        let wires = config.encoded_wires(bits);
        let committed = Committed { garbler: true, evaluator: config.form == Form::Al07 };
        let name = program.name().to_string();
        let refuse = |reason| ProtocolError::Unsupported { protocol: NAME, program: name, reason };
        let alone = "needs form=al07: set that too, or leave it out";
        if config.form != Form::Al07 && config.ot == Ot::Pvw {
            return Err(refuse(format!("the OT pvw {alone}")));
        }
        let mut blueprint = Blueprint::new(program, config.garbling, committed, 0, wires);
        if let Some(method) = config.published {
            if config.form != Form::Al07 {
                return Err(refuse(format!("the scheme {} {alone}", method.name())));
            }
            // No seed is sampled yet, and none is needed.
            let encoding = config.encoding_of(bits, Block::ZERO);
            blueprint = blueprint.published(method, &encoding).map_err(refuse)?;
        }
        Ok(Plan { blueprint: Arc::new(blueprint), config })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        self.blueprint.program()
    }

    /// The program's schedules.
    pub fn schedules(&self) -> &Schedules {
        self.blueprint.schedules()
    }

    /// The circuit that a scheme of 2009 garbles, if one does.
    pub fn published(&self) -> Option<&TableCircuit> {
        self.blueprint.as_published().map(Published::circuit)
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// The number of AND gates of one circuit.
    pub fn and_count(&self) -> u64 {
        self.blueprint.and_count()
    }

    /// The number of garbled circuits.
    pub fn circuits(&self) -> usize {
        self.config.circuits()
    }

    /// The security of a run: the cheating probability is the garbler's; an evaluator has only the statistical one.
    pub fn security(&self) -> Security {
        let deterrence = self.config.deterrence();
        Security {
            computational_bits: match self.config.ot {
                Ot::Extension => self.blueprint.security_bits().min(PAD_BITS),
                Ot::Pvw => self.blueprint.security_bits(),
            },
            statistical_bits: Some(SIGMA.bits() as f64),
            cheating_log2: Some((1.0 - deterrence).log2()),
            deterrence: Some(deterrence),
            may_leave: self.config.form == Form::Al07,
            ..Security::default()
        }
    }

    /// The blueprint of every circuit.
    pub(super) fn blueprint(&self) -> &Arc<Blueprint> {
        &self.blueprint
    }

    /// The number of bits of the evaluator's input.
    pub(super) fn evaluator_bits(&self) -> usize {
        party_io::input_bits(self.program(), EVALUATOR)
    }

    /// The number of output bits that the garbler learns.
    pub(super) fn garbler_outputs(&self) -> usize {
        party_io::output_bits(self.program(), GARBLER)
    }

    /// Outputs of a party from their bits.
    pub(super) fn deal(&self, party: Party, bits: &Bits) -> Vec<Option<Bits>> {
        party_io::deal_outputs(self.program(), party, &mut bits.iter())
    }
}
