//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;

use super::{EVALUATOR, GARBLER, plan::Plan};
use crate::{
    binding::NONCE_BYTES,
    phase::{Communication, Phase},
};

/// What a phase of one run of `plan` costs `party`, both hellos given.
///
/// With `s` circuits, `T` bytes of tables each, `m` wires of the evaluator's encoded input, `n` wires of the garbler with those
/// that hide the hash of `h` bits, `n1` input bits and `m1` output bits of the evaluator, the message of `t` bits to the garbler
/// included, `[x]` bits filled up to blocks of 16 bytes:
///
/// | phase | garbler to evaluator | evaluator to garbler |
/// |---|---|---|
/// | setup | hello, 32, base OT messages | hello, 32, base OT messages, tags of trees |
/// | prepare | 16 | checked OT extension by `m + s`, 16, s/8 |
/// | online | s (16 (2 m + n + 1) + 16 + 64 n + \[h\] + T + \[m1\]) | n1/8, 16, t/8 |
pub fn communication(plan: &Plan, party: Party, phase: Phase, hello: &[Hello; 2]) -> Communication {
    let peer = if party == GARBLER { EVALUATOR } else { GARBLER };
    Communication {
        bytes_sent: bytes(plan, party, phase, hello),
        bytes_received: bytes(plan, peer, phase, hello),
        rounds: rounds(plan, party, phase),
    }
}

fn bytes(plan: &Plan, from: Party, phase: Phase, hello: &[Hello; 2]) -> u64 {
    let (width, sigma) = (plan.config().ot_width, plan.config().sigma());
    let circuits = plan.circuits() as u64;
    let ots = plan.evaluator_wires() as u64 + circuits;
    let packed = |bits: usize| bits.div_ceil(8) as u64;
    match (phase, from == GARBLER) {
        (Phase::Setup, true) => hello[0].encoded_bytes() + NONCE_BYTES + width.sender_setup_bytes(),
        (Phase::Setup, false) => {
            hello[1].encoded_bytes() + NONCE_BYTES + width.receiver_setup_bytes() + width.checked_setup_bytes()
        }
        (Phase::Prepare, true) => width.checked_extension_bytes(ots, sigma)[0],
        (Phase::Prepare, false) => width.checked_extension_bytes(ots, sigma)[1] + 16 + packed(plan.circuits()),
        (Phase::Build, _) => 0,
        (Phase::Online, true) => {
            let parts: usize = (0..plan.part_count()).map(|part| plan.part_blocks(part)).sum();
            circuits * 16 * (plan.key_blocks() + parts) as u64
        }
        (Phase::Online, false) => packed(plan.evaluator_bits()) + 16 + packed(plan.message_bits()),
    }
}

/// How often the party waits after having sent.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    match (phase, party == GARBLER) {
        // For hello, session identifier, and in set-up of OT for the peer's answers.
        (Phase::Setup, true) => 4,
        (Phase::Setup, false) => 3,
        // The sender answers the extension with a challenge; the receiver's first wait is for it.
        (Phase::Prepare, _) => 1,
        (Phase::Build, _) => 0,
        // For the challenge; for its output.
        (Phase::Online, true) => 1 + u64::from(plan.message_bits() > 0),
        // For the keys, and for the circuits.
        (Phase::Online, false) => 2,
    }
}
