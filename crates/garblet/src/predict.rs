//! What a run will cost in bytes and rounds, by formula.

use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_protocols::{Communication, Phase, covert, cut_and_choose, yao};

use crate::{
    config::{Config, Protocol},
    peer::{Error, hello},
};

/// Bytes and rounds of each phase of one run, for each party: `predict(..)?[party][phase as usize]`.
///
/// *Errors*: a program that the protocol cannot run; a protocol whose costs depend on what stores have, see
/// [`components::communication`](crate::components::communication).
pub fn predict(program: &Program, config: Config) -> Result<[[Communication; 4]; 2], Error> {
    let shared = Arc::new(program.clone());
    let parties = [Party(0), Party(1)];
    let hello = parties.map(|party| hello(program, party, 2, &config));
    let all =
        |cost: &dyn Fn(Party, Phase) -> Communication| parties.map(|party| Phase::ALL.map(|phase| cost(party, phase)));
    match config.protocol {
        Protocol::Yao => {
            let plan = yao::Plan::new(shared, config.yao)?;
            Ok(all(&|party, phase| yao::communication(&plan, party, phase, &hello)))
        }
        Protocol::Covert => {
            let plan = covert::Plan::new(shared, config.covert)?;
            Ok(all(&|party, phase| covert::communication(&plan, party, phase, &hello)))
        }
        Protocol::CutAndChoose => {
            let plan = cut_and_choose::Plan::new(shared, config.cut_and_choose)?;
            Ok(all(&|party, phase| cut_and_choose::communication(&plan, party, phase, &hello)))
        }
        Protocol::Components | Protocol::Gmw | Protocol::Bmr(_) | Protocol::Lego => {
            let reason = match config.protocol {
                Protocol::Lego => "what it costs depends on how many components are checked",
                _ if config.protocol.is_mesh() => {
                    "this is for two parties; each protocol of several states its own formulas"
                }
                _ => "what it costs depends on what the stores have",
            };
            let reason = reason.into();
            Err(Error::Unsupported { protocol: config.protocol.name(), program: program.name().into(), reason })
        }
    }
}
