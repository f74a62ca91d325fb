//! The agreement of all parties before a run: program, parameters, and the sizes that follow from them.

use std::sync::Arc;

use garblet_circuit::{Layers, Party, Program};
use garblet_ot::{LpnSet, PAD_BITS, Width};

use super::NAME;
use garblet_protocol::{Security, error::ProtocolError, parameters::OtKind, party_io};
use garblet_runs::ots::Source;

/// The most parties of a run.
pub const PARTIES_MAX: u16 = 255;

/// The computation of AND gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Multiplication triples: one message per layer.
    #[default]
    Triples,
    /// Random OTs, as Choi and others use them: two messages per layer, less preparation.
    Choi2012,
}

/// The AND gates from which on silent OT is used, if it is chosen.
pub const SILENT_FROM: usize = 200_000;

/// The parameters of a run; all parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The computation of AND gates.
    pub form: Form,
    /// Field width of the OT extension: larger is fewer bytes and more computation.
    pub ot_width: Width,
    /// The kind of OT that makes the random ones: silent for programs of at least [`SILENT_FROM`] AND gates.
    pub ot: OtKind,
}

impl Config {
    /// The source of OTs for so many AND gates.
    fn source(self, ands: usize) -> Source {
        match self.ot {
            OtKind::Silent if ands >= SILENT_FROM => Source::Silent(LpnSet::DEFAULT),
            OtKind::Silent | OtKind::Extension => Source::Extension(self.ot_width),
        }
    }
}

/// A program made ready for `gmw`: with its gates by AND depth.
pub struct Plan {
    program: Arc<Program>,
    layers: Arc<Layers>,
    config: Config,
    parties: u16,
    /// The source of OTs.
    pub(super) source: Source,
}

impl Plan {
    /// Checks that this number of parties can run the program, and orders its gates.
    ///
    /// *Errors*: fewer than two parties or more than [`PARTIES_MAX`]; an owner or recipient who is none of them; a program too
    /// large to be one circuit.
    pub fn new(program: Arc<Program>, parties: u16, config: Config) -> Result<Self, ProtocolError> {
        party_io::check_party_count(NAME, &program, parties, 2..=PARTIES_MAX)?;
        let layers = Layers::new(&program).map_err(|error| ProtocolError::Unsupported {
            protocol: NAME,
            program: program.name().into(),
            reason: error.to_string(),
        })?;
        let source = config.source(layers.and_count());
        Ok(Plan { program, layers: Arc::new(layers), config, parties, source })
    }

    /// The same program with other parameters, in the same order.
    pub fn otherwise(&self, config: Config) -> Self {
        let (program, layers) = (self.program.clone(), self.layers.clone());
        Plan { source: config.source(self.and_count()), program, layers, config, parties: self.parties }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program's gates by AND depth.
    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The parameters.
    pub fn config(&self) -> Config {
        self.config
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// AND gates that are computed.
    pub fn and_count(&self) -> usize {
        self.layers.and_count()
    }

    /// Output bits that a party learns.
    pub fn output_bits(&self, party: Party) -> usize {
        party_io::output_bits(&self.program, party)
    }

    /// The security of a run: that of the OTs' pads, any number of which a session or a store may make.
    pub fn security(&self) -> Security {
        Security { computational_bits: PAD_BITS, ..Security::default() }
    }
}
