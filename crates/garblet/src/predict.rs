//! What a run will cost in bytes and rounds, by formula.

use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_protocols::{Communication, Phase, yao};

use crate::{
    config::{Config, Protocol},
    peer::{Error, hello},
};

/// Bytes and rounds of each phase of one run, for each party: `predict(..)?[party][phase as usize]`.
///
/// *Errors*: a program that the protocol cannot run; a protocol whose costs depend on what stores have, see
/// [`components::communication`](crate::components::communication).
pub fn predict(program: &Program, config: Config) -> Result<[[Communication; 4]; 2], Error> {
    if config.protocol != Protocol::Yao {
        let reason = "what it costs depends on what the stores have".into();
        return Err(Error::Unsupported { protocol: config.protocol.name(), program: program.name().into(), reason });
    }
    let plan = yao::Plan::new(Arc::new(program.clone()), config.yao)?;
    let parties = [yao::GARBLER, yao::EVALUATOR];
    let hello = parties.map(|party| hello(plan.program(), party, &config));
    let of = |party: Party| Phase::ALL.map(|phase| yao::communication(&plan, party, phase, &hello));
    Ok(parties.map(of))
}
