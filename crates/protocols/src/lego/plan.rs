//! What both parties must agree on before a run, and the sizes that follow from it.

use std::sync::Arc;

use garblet_circuit::{Bits, Input, Party, Program};
use garblet_commit::Code;
use garblet_garble::GarblingConfig;
use garblet_ot::Width;
use garblet_primitives::Block;

use super::{
    CONSTRUCTOR, EVALUATOR, NAME,
    parameters::{Demand, Parameters},
};
use crate::{error::ProtocolError, interface, security::Security};

/// The bits of statistical security, of each of theorem 2's bounds and of the checks by random combinations.
pub const STATISTICAL: u32 = 40;

/// The fewest gates and inputs that a pool is made for: smaller ones would need larger buckets.
const LEAST_GATES: u64 = 512;
const LEAST_INPUTS: u64 = 32;

/// The parameters of a run; both parties must choose the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The code of the commitments.
    pub code: Code,
    /// Field width of the OT extension.
    pub ot_width: Width,
}

/// A program made ready for `lego`.
pub struct Plan {
    program: Arc<Program>,
    config: Config,
    parameters: Parameters,
}

impl Plan {
    /// Checks that the protocol can run the program, and computes the bucket sizes with the fewest bytes.
    ///
    /// *Errors*: an input or a recipient that is neither party 0 nor party 1; more gates than the bounds can be kept for.
    pub fn new(program: Arc<Program>, config: Config) -> Result<Self, ProtocolError> {
        interface::check_parties(NAME, &program, GarblingConfig::default())?;
        let bits = |party| interface::input_bits(&program, party) as u64;
        let demand = Demand {
            gates: program.stats().and.max(LEAST_GATES),
            inputs: (bits(CONSTRUCTOR) + bits(EVALUATOR)).max(LEAST_INPUTS),
            input_buckets: bits(CONSTRUCTOR).div_ceil(2),
        };
        let parameters = Parameters::fewest_bytes(demand, STATISTICAL, config.code.parity_bits() as u64);
        let Some(parameters) = parameters else {
            let reason = format!("no bucket size keeps the bound of 2^-{STATISTICAL} for {} AND gates", demand.gates);
            return Err(ProtocolError::Unsupported { protocol: NAME, program: program.name().into(), reason });
        };
        Ok(Plan { program, config, parameters })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The parameters that were chosen.
    pub fn config(&self) -> Config {
        self.config
    }

    /// How much is made, checked and put into each bucket.
    pub fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// What a run promises.
    pub fn security(&self) -> Security {
        Security {
            computational_bits: 128,
            statistical_bits: Some(f64::from(STATISTICAL)),
            cheating_log2: Some(self.parameters.bounds().any()),
        }
    }

    /// Garbled gates that are made.
    pub(super) fn gates_made(&self) -> usize {
        self.parameters.gates_made(STATISTICAL) as usize
    }

    /// Wire authenticators that are made.
    pub(super) fn authenticators_made(&self) -> usize {
        self.parameters.authenticators_made(STATISTICAL) as usize
    }

    /// Input bits that a pool serves.
    pub(super) fn pool_inputs(&self) -> usize {
        self.parameters.demand.inputs as usize
    }

    /// Output bits of the program.
    pub(super) fn outputs(&self) -> usize {
        self.program.outputs().iter().map(|output| output.port.width() as usize).sum()
    }

    /// Whether each output bit goes to the party, in program order.
    pub(super) fn learned(&self, party: Party) -> Vec<bool> {
        let each = |output: &garblet_circuit::Output| {
            std::iter::repeat_n(output.recipients.contains(party), output.port.width() as usize)
        };
        self.program.outputs().iter().flat_map(each).collect()
    }

    /// The owner of each input bit, in program order.
    pub(super) fn owners(&self) -> Vec<Party> {
        let each = |input: &Input| std::iter::repeat_n(input.owner, input.port.width() as usize);
        self.program.inputs().iter().flat_map(each).collect()
    }

    /// One value per input bit, port by port.
    pub(super) fn by_port<W: Copy>(&self, bits: &[W]) -> Vec<Box<[W]>> {
        let mut rest = bits;
        let ports = self.program.inputs().iter().map(|input| {
            let (port, later) = rest.split_at(input.port.width() as usize);
            rest = later;
            port.into()
        });
        ports.collect()
    }

    /// The values of all outputs from their bits, none where the party is no recipient.
    pub(super) fn outputs_for(&self, party: Party, bits: impl Iterator<Item = bool>) -> Vec<Option<Bits>> {
        let mut bits = bits;
        let outputs = self.program.outputs().iter().map(|output| {
            let value: Bits = bits.by_ref().take(output.port.width() as usize).collect();
            output.recipients.contains(party).then_some(value)
        });
        outputs.collect()
    }
}

/// The select bit of a key.
pub(super) fn select_bit(key: Block) -> bool {
    key.to_u128() & 1 == 1
}
