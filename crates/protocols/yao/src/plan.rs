//! The agreement of both parties before a run: program, parameters, and the sizes that follow from them.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program, diagnostic::Diagnostic};
use garblet_garble::{GarblingConfig, Piece, Schedules};
use garblet_ot::Width;
use garblet_primitives::Block;

use super::NAME;
use garblet_protocol::{Security, error::ProtocolError, party_io};

/// The time at which the garbled tables are made and sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// A build online, made while it is sent and consumed as it arrives: memory does not grow with the program.
    #[default]
    Stream,
    /// A build before the inputs are known; the evaluator keeps the tables in memory.
    Ahead,
}

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Garbling scheme and hash.
    pub garbling: GarblingConfig,
    /// The time at which tables are sent.
    pub build: Build,
    /// Field width of the OT extension: larger means fewer bytes and more computation.
    pub ot_width: Width,
}

/// A program made ready for `yao`: schedules and sizes.
pub struct Plan {
    program: Arc<Program>,
    schedules: Schedules,
    config: Config,
}

/// Gates outside memory that cannot be read.
pub(super) fn unread(error: Diagnostic) -> ProtocolError {
    ProtocolError::Library(error.into())
}

impl Plan {
    /// Checks that the protocol can run the program and makes its schedules.
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1; a garbler's input under `privacy-free`; gates outside memory
    /// that cannot be read.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, ProtocolError> {
        party_io::check_parties(NAME, &program, config.garbling)?;
        let schedules = Schedules::reading(&program).and_then(|all| all.with_tables(&program, config.garbling));
        Ok(Plan { program, schedules: schedules.map_err(unread)?, config })
    }

    /// The same program with other parameters; the order of gates stays.
    ///
    /// *Errors*: as [`Plan::new`].
    pub fn otherwise(&self, config: Config) -> Result<Self, ProtocolError> {
        party_io::check_parties(NAME, &self.program, config.garbling)?;
        let schedules = self.schedules.with_tables(&self.program, config.garbling).map_err(unread)?;
        Ok(Plan { program: self.program.clone(), schedules, config })
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

    /// The security of a run: the computational security of the garbling hash at this many gates.
    pub fn security(&self) -> Security {
        let computational_bits = self.config.garbling.security_bits(self.and_count());
        Security { computational_bits, ..Security::default() }
    }

    /// The number of AND gates to garble; a component garbled as a table counts as the gates whose bytes it takes.
    pub fn and_count(&self) -> u64 {
        self.schedules.and_count()
    }

    /// The number of bytes of all garbled tables.
    pub fn table_bytes(&self) -> u64 {
        self.config.garbling.table_bytes(self.and_count())
    }

    /// The pieces in which the tables are sent, in order.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece> + use<> {
        self.config.garbling.pieces(self.and_count())
    }

    /// The number of input bits of a party.
    pub fn input_bits(&self, party: Party) -> usize {
        party_io::input_bits(&self.program, party)
    }

    /// The number of output bits that a party learns.
    pub fn output_bits(&self, party: Party) -> usize {
        party_io::output_bits(&self.program, party)
    }

    /// Select bits of the output labels that `party` learns, in program order.
    pub(super) fn select_bits(&self, party: Party, labels: &[Box<[Block]>]) -> Bits {
        party_io::select_bits(&self.program, self.config.garbling, party, labels)
    }
}
