//! The job of a test's parties: programs and inputs.

use std::sync::Arc;

use garblet_cheat::Outputs;
use garblet_circuit::{Bits, Party, Program, evaluate};
use garblet_synthesis::library;

/// The significance at which a formula counts as refuted.
pub(crate) const ALPHA: f64 = 1e-4;

/// The number of runs to measure a rate: `short`, or a thousand in the full form.
pub(crate) fn trials(short: u32) -> u32 {
    if std::env::var_os("GARBLET_TEST_FULL").is_some() { 1000 } else { short }
}

/// The number of tries after which an outcome of this probability has occurred at least once, except with probability below 10^-10.
pub(crate) fn tries(probability: f64) -> u128 {
    (1e-10f64.ln() / (1.0 - probability).ln()).ceil() as u128
}

pub(crate) struct Job {
    pub(crate) program: Arc<Program>,
    /// A program with the same ports and another function.
    pub(crate) other: Arc<Program>,
    pub(crate) inputs: Vec<Bits>,
}

pub(crate) fn job() -> Job {
    let find = |name| Arc::new(library::find(name).unwrap());
    let inputs = vec![Bits::from_u128(0b1011_0010, 8), Bits::from_u128(0b0110_1001, 8)];
    Job { program: find("lib:add(8)"), other: find("lib:sub(8)"), inputs }
}

impl Job {
    /// A program of so many gates that silent OT pays, all in one batch.
    pub(crate) fn large() -> Self {
        let program = Arc::new(library::find("lib:layered(2, 17000)").unwrap());
        let bits = |width| (0..width).map(|at| at % 3 > 0).collect();
        let inputs = program.inputs().iter().map(|input| bits(input.port.width())).collect();
        Job { program: program.clone(), other: program, inputs }
    }

    /// The outputs that a party should learn.
    pub(crate) fn right(&self, party: u16) -> Outputs {
        let outputs = self.program.outputs().iter().zip(evaluate(&self.program, &self.inputs));
        outputs.map(|(output, value)| output.recipients.contains(Party(party)).then_some(value)).collect()
    }
}
