//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;
use garblet_protocol::{
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};

use super::{
    circuits::partial_gates_bytes,
    config::SIGMA,
    meet::{MEETING_BYTES, TOLD_BYTES},
    oot::{self, Given},
    plan::Plan,
};
use crate::{GENERATOR, settle::WORD_BYTES};

/// The cost of a phase of one run with a new state for `party`, with the hellos of all parties.
///
/// With `s` circuits of `T` bytes of tables, heads and tails; `N` wires of all `K` givers, including the cloud, and `N_k` of one; `n` bits of the generator
/// with key and pad, `h` rows of the hash of its input, and as many for each client that has wires, `H` in all; `W` bits to read, each with 33 bytes for
/// partial gates and none for labels; messages of `m` bits:
///
/// | phase | generator to cloud | cloud to generator | client to generator | client to cloud |
/// |---|---|---|---|---|
/// | setup | hello, 73, base OTs, checked extension by `s` | hello, 73, base OTs, checked extension by `s`, s/8 | hello, base OTs | hello |
/// | prepare | checked extension, 16 (K - 1) | checked extension, 32 | checked extension, 32 | 16 |
/// | online | 8 + s (96 N + 16 (n + h + 2 K) + 33 W + T + H/8) + h/8 | 8 + 17 + bits/8 + m/8 | 8 + bits/8 | 8 + 16 N_k + s (N_k/8 + 64) |
///
/// A client receives its part of the OTs from the generator, 40 bytes from each server before a run, and `1 + m/8` from the cloud.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    let hello = |from: Party| match phase {
        Phase::Setup => hellos.get(usize::from(from.0)).map_or(0, Hello::encoded_bytes),
        _ => 0,
    };
    let bytes = |from: Party, to: Party| hello(from) + one_way(plan, from, to, phase);
    Communication::among(plan.parties(), party, bytes, rounds(plan, party, phase))
}

/// Bytes from one party to another in a phase, without hellos.
pub fn one_way(plan: &Plan, from: Party, to: Party, phase: Phase) -> u64 {
    match phase {
        Phase::Setup => setup_bytes(plan, from, to),
        Phase::Prepare => prepare_bytes(plan, from, to),
        Phase::Build => 0,
        Phase::Online if [from, to].iter().all(|party| (1..plan.cloud().0).contains(&party.0)) => 0,
        Phase::Online => RUN_ID_BYTES as u64 + online_bytes(plan, from, to) as u64,
    }
}

/// Bytes of the first messages between two parties.
fn setup_bytes(plan: &Plan, from: Party, to: Party) -> u64 {
    let width = plan.config().ot_width;
    let cloud = plan.cloud();
    let circuits = plan.circuits() as u64;
    let [of_generator, of_cloud] = width.malicious_extension_bytes(circuits, SIGMA);
    let receiver = width.receiver_setup_bytes() + width.malicious_setup_bytes();
    match (from, to) {
        (GENERATOR, to) if to == cloud => MEETING_BYTES as u64 + width.sender_setup_bytes() + of_generator,
        (GENERATOR, _) => width.sender_setup_bytes(),
        (from, GENERATOR) if from == cloud => MEETING_BYTES as u64 + receiver + of_cloud + circuits.div_ceil(8),
        (_, GENERATOR) => receiver,
        _ => 0,
    }
}

/// Bytes of OTs, seeds and announcements to clients.
fn prepare_bytes(plan: &Plan, from: Party, to: Party) -> u64 {
    let cloud = plan.cloud();
    let ots = |giver: Party| {
        let wires = plan.giver(giver).wire_count() as u64;
        plan.config().ot_width.malicious_extension_bytes(wires, SIGMA)
    };
    match (from, to) {
        (GENERATOR, giver) if giver == cloud => ots(giver)[0] + 16 * (plan.givers().len() as u64 - 1),
        (GENERATOR, giver) => ots(giver)[0] + TOLD_BYTES as u64,
        (giver, GENERATOR) => ots(giver)[1] + 32,
        (_, to) if to == cloud => 16,
        (from, _) if from == cloud => TOLD_BYTES as u64,
        _ => 0,
    }
}

/// Bytes online, without the run's number.
fn online_bytes(plan: &Plan, from: Party, to: Party) -> usize {
    let (cloud, circuits, blueprint) = (plan.cloud(), plan.circuits(), plan.blueprint());
    let answer = |to: Party| WORD_BYTES + plan.message_bits(to).div_ceil(8);
    let corrections = |from: Party| plan.giver(from).bit_count().div_ceil(8);
    match (from, to) {
        (GENERATOR, to) if to == cloud => {
            let of_givers: usize = plan.givers().iter().map(oot::blocks).sum();
            let branches = blueprint.garbler_wires() + 2 * plan.givers().len();
            let blocks = of_givers + branches + blueprint.circuit_blocks();
            let hashes = plan.client_hash_bits().div_ceil(8);
            circuits * (16 * blocks + partial_gates_bytes(plan) + hashes) + blueprint.hash_rows().div_ceil(8)
        }
        (from, GENERATOR) if from == cloud => corrections(from) + 16 + answer(GENERATOR),
        (from, to) if from == cloud => answer(to),
        (from, GENERATOR) => corrections(from),
        (from, to) if to == cloud => Given::bytes(plan.giver(from), circuits),
        _ => 0,
    }
}

/// The number of times that a party waits after sending.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let clients = plan.givers().len() as u64 - 1;
    let extension = |giver: Party| u64::from(plan.giver(giver).wire_count() > 0);
    let role = match party {
        GENERATOR => 0,
        party if party == plan.cloud() => 1,
        _ => 2,
    };
    match (phase, role) {
        // Waits for hello and the cloud's word; for answers to base OTs; for the choices of circuits.
        (Phase::Setup, 0) => 5 + 2 * clients,
        (Phase::Setup, 1) => 4,
        (Phase::Setup, _) => 2,
        // Waits for answers in each extension, and for the next party.
        (Phase::Prepare, 0) => plan.givers().iter().map(|giver| extension(giver.party)).sum::<u64>() + clients,
        // Waits for each client; for the generator's challenge, and for what it received from clients.
        (Phase::Prepare, 1) => clients + 1 + extension(party),
        // Waits for the challenge, and for both servers' announcements.
        (Phase::Prepare, _) => 2 + extension(party),
        (Phase::Build, _) => 0,
        // Waits for the others' numbers and givers' messages; for the challenge; for the result.
        (Phase::Online, 0) => 3,
        // The same; then waits for the hash.
        (Phase::Online, 1) => 2,
        // The first wait, and then the answer.
        (Phase::Online, _) => 1,
    }
}
