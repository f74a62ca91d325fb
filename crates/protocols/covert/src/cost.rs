//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;
use garblet_ot::pvw;

use super::{
    GARBLER, al07,
    config::{Form, Ot},
    output,
    plan::{Plan, SIGMA},
    seeds,
};
use garblet_protocol::{
    coin_toss,
    domain::NONCE_BYTES,
    phase::{Communication, Phase},
};

/// The cost of a phase of one run of `plan` for `party`, given both hellos.
///
/// With `l` circuits, `C` bytes per circuit (hash seed, 64 for each committed wire, tables, decoding bits), `n0` and `n1` input bits of
/// the two parties, `m` wires of the evaluator's encoded input, and `r` bytes of the garbler's output and its hash. Form `seeds`:
///
/// | phase | garbler to evaluator | evaluator to garbler |
/// |---|---|---|
/// | setup | hello, 32, base OT messages | hello, 32, base OT messages, tags of trees |
/// | prepare | checked OT extension by `l`; `l` times base OTs and an extension by `n1` | the same, l/8 |
/// | build | 32 l | |
/// | online | 32 l n1 + 16 n0 + C | l n1/8, 18, r |
///
/// Form `al07`, whose set-up has coins of 32 and 96 bytes in place of base OTs if each OT uses public keys:
///
/// | phase | garbler to evaluator | evaluator to garbler |
/// |---|---|---|
/// | prepare | checked OT extension by `m`, or 64 m | the same, 16 |
/// | online | l (32 m + C) + 16 (l - 1) + 16 n0 | n1/8, 2, r |
pub fn communication(plan: &Plan, party: Party, phase: Phase, hello: &[Hello]) -> Communication {
    Communication::among(2, party, |from, _| bytes(plan, from, phase, hello), rounds(plan, party, phase))
}

fn bytes(plan: &Plan, from: Party, phase: Phase, hello: &[Hello]) -> u64 {
    let (form, blueprint) = (plan.config().form, plan.blueprint());
    let [circuits, bits, wires] =
        [plan.circuits(), plan.evaluator_bits(), blueprint.evaluator_wires()].map(|n| n as u64);
    let packed = |bits: u64| bits.div_ceil(8);
    let is_garbler = from == GARBLER;
    let ot = |count| extension_bytes(plan, is_garbler, count);
    match (phase, is_garbler) {
        (Phase::Setup, _) => {
            hello[usize::from(!is_garbler)].encoded_bytes() + NONCE_BYTES + session_ot_bytes(plan, is_garbler)
        }
        (Phase::Prepare, _) => match form {
            Form::Seeds => {
                let of_circuit = if bits == 0 { 0 } else { ot_setup_bytes(plan, is_garbler) + ot(bits) };
                ot(circuits) + circuits * of_circuit + if is_garbler { 0 } else { packed(circuits) }
            }
            Form::Al07 if plan.config().ot == Ot::Pvw => pvw::BYTES_PER_OT * wires + if is_garbler { 0 } else { 16 },
            Form::Al07 => ot(wires) + if is_garbler { 0 } else { 16 },
        },
        (Phase::Build, true) if form == Form::Seeds => circuits * seeds::COMMITMENT_BYTES as u64,
        (Phase::Build, _) => 0,
        (Phase::Online, true) => {
            let (own, circuit) = (16 * blueprint.garbler_wires() as u64, 16 * blueprint.circuit_blocks() as u64);
            match form {
                Form::Seeds => 32 * circuits * bits + own + circuit,
                Form::Al07 => circuits * (32 * wires + circuit) + 16 * (circuits - 1) + own,
            }
        }
        (Phase::Online, false) => {
            let result = output::message_bytes(plan) as u64;
            match form {
                Form::Seeds => packed(circuits * bits) + seeds::CHOSEN_BYTES as u64 + result,
                Form::Al07 => packed(bits) + al07::CHOSEN_BYTES as u64 + result,
            }
        }
    }
}

/// Bytes to set up the session's OTs: for an extension, or for coins.
fn session_ot_bytes(plan: &Plan, is_garbler: bool) -> u64 {
    match (plan.config().ot, is_garbler) {
        (Ot::Extension, _) => ot_setup_bytes(plan, is_garbler),
        (Ot::Pvw, true) => coin_toss::SHARE_BYTES as u64,
        (Ot::Pvw, false) => (coin_toss::COMMITMENT_BYTES + coin_toss::OPENING_BYTES) as u64,
    }
}

fn ot_setup_bytes(plan: &Plan, is_garbler: bool) -> u64 {
    let width = plan.config().ot_width;
    match is_garbler {
        true => width.sender_setup_bytes(),
        false => width.receiver_setup_bytes() + width.malicious_setup_bytes(),
    }
}

fn extension_bytes(plan: &Plan, is_garbler: bool, count: u64) -> u64 {
    plan.config().ot_width.malicious_extension_bytes(count, SIGMA)[usize::from(!is_garbler)]
}

/// The number of times that a party waits after sending.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let (form, is_garbler) = (plan.config().form, party == GARBLER);
    let has_input = u64::from(plan.evaluator_bits() > 0);
    let has_output = u64::from(output::message_bytes(plan) > 0);
    match (phase, form, is_garbler) {
        // Waits for hello, session identifier, and, while setting up OT, for the peer's answers.
        (Phase::Setup, _, true) => 4 - u64::from(plan.config().ot == Ot::Pvw),
        (Phase::Setup, _, false) => 3,
        // The sender answers each extension with a challenge; the OTs of the circuits, which run side by side, also need a set-up.
        (Phase::Prepare, Form::Seeds, _) => 1 + 3 * has_input,
        (Phase::Prepare, Form::Al07, _) => u64::from(plan.blueprint().evaluator_wires() > 0),
        // Waits for the hashes, after the last messages of the OTs.
        (Phase::Build, Form::Seeds, false) => 1,
        (Phase::Build, ..) => 0,
        // Waits for corrections, after the hashes; for the choice of a circuit; for its output.
        (Phase::Online, Form::Seeds, true) => 1 + has_input + has_output,
        (Phase::Online, Form::Al07, true) => 1 + has_output,
        // Waits for the labels; for the circuit, or for the openings of the others.
        (Phase::Online, Form::Seeds, false) => 1 + has_input,
        (Phase::Online, Form::Al07, false) => 2,
    }
}
