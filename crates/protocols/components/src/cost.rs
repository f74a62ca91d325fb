//! Bytes and rounds of the online phase, as a formula.

use std::sync::Arc;

use garblet_circuit::{Party, Program};
use garblet_garble::{GarblingConfig, SchemeKind};

use crate::config::Config;
use crate::linking::plan::{Draft, Plan};
use crate::pieces::stock::{Ids, Stock};
use crate::{EVALUATOR, GARBLER, Material};
use garblet_protocol::error::NotPrepared;
use garblet_protocol::{
    choice::Operation,
    party_io,
    phase::{Communication, Phase},
};

/// More AND gates than any store holds.
const ANDS_MAX: u64 = 1 << 56;

/// The cost to `party` of the online phase of a program, drawing on full stores. The garbler's first wait, for corrections, is
/// no round of this phase: whether it follows something sent depends on the preparation just before.
///
/// *Errors*: stores that lack what the program needs even when they are full.
pub fn communication(
    material: &Material,
    config: Config,
    program: &Arc<Program>,
    party: Party,
) -> Result<Communication, NotPrepared> {
    let mut stock = Stock::default();
    for kind in material.kinds() {
        stock.set(kind, Ids::new(std::iter::once(0..material.wanted(kind))));
    }
    let plan = Draft::new(program, material, config.linking, stock).map(Draft::plan).map_err(NotPrepared::from)?;
    Ok(online(&plan, party))
}

/// The tables that a party sends or receives ahead, with as many AND gates, if a store of such pieces is filled.
pub(crate) fn tables(garbling: GarblingConfig, ands: u64, party: Party) -> Communication {
    let bytes = garbling.table_bytes(ands.min(ANDS_MAX));
    match party == GARBLER {
        true => Communication { bytes_sent: bytes, ..Communication::default() },
        false => Communication { bytes_received: bytes, ..Communication::default() },
    }
}

/// The work of a party on these gates in a phase: they are garbled ahead and evaluated online.
pub(crate) fn work(garbling: GarblingConfig, ands: u64, party: Party, phase: Phase) -> Vec<(Operation, u64)> {
    let operation = match (phase, garbling.scheme, party == GARBLER) {
        (Phase::Prepare, SchemeKind::HalfGates, true) => Operation::GarbleHalfGates,
        (Phase::Online, SchemeKind::HalfGates, false) => Operation::EvaluateHalfGates,
        (Phase::Prepare, SchemeKind::ThreeHalves, true) => Operation::GarbleThreeHalves,
        (Phase::Online, SchemeKind::ThreeHalves, false) => Operation::EvaluateThreeHalves,
        _ => return Vec::new(),
    };
    vec![(operation, ands)]
}

/// The cost of the online phase of a plan to a party.
pub(crate) fn online(plan: &Plan, party: Party) -> Communication {
    let packed = |bits: usize| bits.div_ceil(8) as u64;
    let inputs = |party| party_io::input_bits(&plan.program, party);
    let outputs = |party| party_io::output_bits(&plan.program, party);
    let blocks = plan.link_blocks() + inputs(GARBLER);
    let from_garbler = 16 * blocks as u64 + packed(outputs(EVALUATOR));
    let from_evaluator = packed(inputs(EVALUATOR)) + packed(outputs(GARBLER));
    match party == GARBLER {
        true => Communication {
            bytes_sent: from_garbler,
            bytes_received: from_evaluator,
            // For select bits, after the message.
            rounds: u64::from(outputs(GARBLER) > 0 && from_garbler > 0),
        },
        false => Communication {
            bytes_sent: from_evaluator,
            bytes_received: from_garbler,
            // For the message, after the corrections.
            rounds: u64::from(from_garbler > 0 && inputs(EVALUATOR) > 0),
        },
    }
}
