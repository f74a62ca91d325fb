//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;

use super::{EVALUATOR, GARBLER, config::Form, plan::Plan};
use garblet_protocol::{
    coin_toss,
    domain::NONCE_BYTES,
    phase::{Communication, Phase},
};
use garblet_seeded::digests::DIGEST_BYTES;

/// The cost of a phase of one run of `plan` for `party`, given both hellos.
///
/// With `s` circuits, of which `e` are evaluated, `T` bytes of tables each, `m` wires of the evaluator's encoded input, `n` wires of the garbler including
/// those that hide the hash of `h` bits, `n1` input bits and `m1` output bits of the evaluator, including the message of `t` bits to the
/// garbler, and `[x]` for bits padded to blocks of 16 bytes:
///
/// | phase | garbler to evaluator | evaluator to garbler |
/// |---|---|---|
/// | setup | hello, 32, base OT messages | hello, 32, base OT messages, tags of trees |
/// | prepare | 16 | checked OT extension by `m + s`, 16, s/8 |
/// | online | s (16 (2 m + n + 1) + 32) + h/8 + e (48 + T + \[m1\]) | n1/8, 16, s/8, t/8 |
pub fn communication(plan: &Plan, party: Party, phase: Phase, hello: &[Hello]) -> Communication {
    Communication::among(2, party, |from, _| bytes(plan, from, phase, hello), rounds(plan, party, phase))
}

fn bytes(plan: &Plan, from: Party, phase: Phase, hello: &[Hello]) -> u64 {
    let (width, sigma) = (plan.config().ot_width, plan.config().sigma());
    let ots = (plan.blueprint().evaluator_wires() + plan.cut_ots()) as u64;
    let packed = |bits: usize| bits.div_ceil(8) as u64;
    match (phase, from == GARBLER) {
        (Phase::Setup, true) => hello[0].encoded_bytes() + NONCE_BYTES + width.sender_setup_bytes(),
        (Phase::Setup, false) => {
            hello[1].encoded_bytes() + NONCE_BYTES + width.receiver_setup_bytes() + width.malicious_setup_bytes()
        }
        (Phase::Prepare, true) => width.malicious_extension_bytes(ots, sigma)[0],
        (Phase::Prepare, false) => width.malicious_extension_bytes(ots, sigma)[1] + 16 + packed(plan.cut_ots()),
        (Phase::Build, _) => 0,
        (Phase::Online, true) => {
            let blocks = plan.circuits() * plan.key_blocks() + plan.sent_circuits() * plan.blueprint().circuit_blocks();
            let form = match plan.config().form {
                Form::Oblivious => packed(plan.blueprint().hash_rows()) + (plan.circuits() * DIGEST_BYTES) as u64,
                Form::Lp07 => lp07_bytes(plan, GARBLER),
            };
            16 * blocks as u64 + form
        }
        (Phase::Online, false) => {
            let form = match plan.config().form {
                Form::Oblivious => 16 + packed(plan.circuits()),
                Form::Lp07 => lp07_bytes(plan, EVALUATOR),
            };
            packed(plan.evaluator_bits()) + form + packed(plan.message_bits())
        }
    }
}

/// Bytes of coins, supersets and openings: with `S` supersets, where `c` of the `s` circuits and half of the supersets are checked, the
/// garbler sends `32 + 64 n S (s + 1) + 16 c + n S / 2 (66 + 96 c) + n S / 2 (1 + 48 (s - c))`.
fn lp07_bytes(plan: &Plan, from: Party) -> u64 {
    if from == EVALUATOR {
        return (coin_toss::COMMITMENT_BYTES + coin_toss::OPENING_BYTES) as u64;
    }
    let config = plan.config();
    let [supersets, circuits, checked, wires] =
        [config.supersets(), config.circuits(), config.checked(), plan.blueprint().garbler_wires()].map(|n| n as u64);
    let (evaluated, checked_supersets) = (circuits - checked, supersets - supersets / 2);
    let openings = checked_supersets * (66 + 96 * checked) + (supersets - checked_supersets) * (1 + 48 * evaluated);
    coin_toss::SHARE_BYTES as u64 + 64 * wires * supersets * (circuits + 1) + 16 * checked + wires * openings
}

/// The number of times that a party waits after sending.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    match (phase, party == GARBLER) {
        // Waits for hello, session identifier, and, while setting up OT, for the peer's answers.
        (Phase::Setup, true) => 4,
        (Phase::Setup, false) => 3,
        // The sender answers the extension with a challenge; the receiver's first wait is for it.
        (Phase::Prepare, _) => u64::from(plan.blueprint().evaluator_wires() + plan.cut_ots() > 0),
        (Phase::Build, _) => 0,
        // Waits for the challenge and for the split, or for both messages of the coins; for its output.
        (Phase::Online, true) => 3 - u64::from(plan.message_bits() == 0),
        // Waits for the keys, for the hash and for the circuits; or for the circuits, for the garbler's share of the coins and for its openings.
        (Phase::Online, false) => 3,
    }
}
