//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;

use super::{
    EVALUATOR, GARBLER,
    plan::{Build, Plan},
};
use garblet_garble::SchemeKind;
use garblet_protocol::{
    choice::Operation,
    phase::{Communication, Phase},
};

/// The cost of a phase of one run of `plan` for `party`, given both hellos.
///
/// With `n0`, `n1` input bits and `m0`, `m1` output bits of the two parties, `T` bytes of tables
/// (32 per AND for half gates) and all bits packed:
///
/// | phase | garbler to evaluator | evaluator to garbler |
/// |---|---|---|
/// | setup | hello, base OT messages | hello, base OT messages |
/// | prepare | | correlated OT messages for `n1` bits |
/// | build (ahead) | 16 + T | |
/// | online | 16 (n0 + n1) + m1/8, and 16 + T if streamed | n1/8, then m0/8 |
///
/// Online, the evaluator waits once, and so does the garbler if it learns an output: one round trip for the evaluator,
/// for any program. If the evaluator has no input, there is no OT and it only listens.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hello: &[Hello]) -> Communication {
    Communication::among(2, party, |from, _| bytes(plan, from, phase, hello), rounds(plan, party, phase))
}

fn bytes(plan: &Plan, from: Party, phase: Phase, hello: &[Hello]) -> u64 {
    let choices = plan.input_bits(EVALUATOR);
    let ot = plan.config().ot_width;
    let tables = |when| if plan.config().build == when { 16 + plan.table_bytes() } else { 0 };
    let packed = |bits: usize| bits.div_ceil(8) as u64;
    match (phase, from == GARBLER) {
        (Phase::Setup, garbler) => {
            let set_up = match (choices, garbler) {
                (0, _) => 0,
                (_, true) => ot.sender_setup_bytes(),
                (_, false) => ot.receiver_setup_bytes(),
            };
            hello[usize::from(!garbler)].encoded_bytes() + set_up
        }
        (Phase::Prepare, true) => 0,
        (Phase::Prepare, false) => ot.extension_bytes(choices as u64),
        (Phase::Build, true) => tables(Build::Ahead),
        (Phase::Build, false) => 0,
        (Phase::Online, true) => {
            let labels = 16 * (plan.input_bits(GARBLER) + choices) as u64;
            labels + tables(Build::Stream) + packed(plan.output_bits(EVALUATOR))
        }
        (Phase::Online, false) => packed(choices) + packed(plan.output_bits(GARBLER)),
    }
}

/// The work of a party in a phase that depends on the scheme.
pub(super) fn work(plan: &Plan, party: Party, phase: Phase) -> Option<(Operation, u64)> {
    let when = if plan.config().build == Build::Ahead { Phase::Build } else { Phase::Online };
    // An evaluator that has all tables evaluates them online.
    let works = if party == GARBLER { when } else { Phase::Online };
    let operation = match (plan.config().garbling.scheme, party == GARBLER) {
        (SchemeKind::HalfGates, true) => Operation::GarbleHalfGates,
        (SchemeKind::HalfGates, false) => Operation::EvaluateHalfGates,
        (SchemeKind::ThreeHalves, true) => Operation::GarbleThreeHalves,
        (SchemeKind::ThreeHalves, false) => Operation::EvaluateThreeHalves,
        _ => return None,
    };
    (phase == works).then(|| (operation, plan.and_count()))
}

/// The number of times that a party waits after sending.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let ot = plan.input_bits(EVALUATOR) > 0;
    let ahead = plan.config().build == Build::Ahead;
    let waits = match (phase, party == GARBLER) {
        // Waits for the hello; while setting up OT, twice for the peer's answers.
        (Phase::Setup, true) => [true, ot, ot],
        (Phase::Setup, false) => [true, ot, false],
        (Phase::Prepare, _) | (Phase::Build, true) => [false; 3],
        // Waits for the tables, after the messages of OT extension.
        (Phase::Build, false) => [ahead && ot, false, false],
        // Waits for the evaluator's corrections, if tables have been sent; for its select bits.
        (Phase::Online, true) => [ahead && ot, plan.output_bits(GARBLER) > 0, false],
        // Waits for labels, after the corrections.
        (Phase::Online, false) => [ot, false, false],
    };
    waits.into_iter().map(u64::from).sum()
}
