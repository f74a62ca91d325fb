//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;

use super::{
    commitments, decoding,
    meeting::{WORD_BYTES, nonce_bytes},
    outputs,
    plan::{Build, Plan},
};
use garblet_protocol::{
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};

/// The cost of a phase of one run of `plan` for `party`, given the hellos of all parties.
///
/// With `n1`, `n2`, `e` input bits and `m1`, `m2`, `m` output bits of `G1`, `G2` and `E`, all bits packed, and `T1 + T2` bytes of tables, 32 per AND gate:
///
/// | phase | `G1` to `E` | `G2` to `E` | `E` to garbler `i` | garbler to garbler |
/// |---|---|---|---|---|
/// | setup | hello, 64 | hello, 64 | hello, 64 | hello, 96 |
/// | build | 16 + 64 (n1 + n2 + 2 e) + 2 e/8 | 32 | | |
/// | build (ahead) | T1 + 32 | T2 + 32 | | |
/// | online | 8 + 16 (n1 + e); 48 + m/8, if `m` is not 0 | 8 + 16 (n2 + e); 48 + m/8, if `m` is not 0 | 8 + e/8; 32 + mi/8, if `mi` is not 0 | 8 |
/// | online (streamed) | T1 + 32 | T2 + 32 | | |
///
/// The garblers take turns: with fewer than 24,577 AND gates `T2` is zero, with very many both are half. Online the evaluator waits once, for any program, and
/// a garbler twice if it learns an output.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    let sent = |from: Party, to: Party| one_way(plan, from, to, phase, &hellos[usize::from(from.0)]);
    Communication::among(3, party, sent, rounds(plan, party, phase))
}

fn one_way(plan: &Plan, from: Party, to: Party, phase: Phase, hello: &Hello) -> u64 {
    let packed = |bits: usize| bits.div_ceil(8);
    let run_id = RUN_ID_BYTES as u64;
    match (phase, plan.seat(from), plan.seat(to)) {
        (Phase::Setup, ..) => hello.encoded_bytes() + (nonce_bytes(plan, from, to) + WORD_BYTES) as u64,
        (Phase::Prepare, ..) | (Phase::Build, None, _) | (Phase::Build, _, Some(_)) => 0,
        (Phase::Build, Some(seat), None) => {
            let commitments = if seat == 0 { commitments::message_bytes(plan) } else { WORD_BYTES };
            commitments as u64 + tables(plan, seat, Build::Ahead)
        }
        (Phase::Online, Some(_), Some(_)) => run_id,
        (Phase::Online, Some(seat), None) => {
            let labels = 16 * plan.held_bits(seat) + decoding::message_bytes(plan);
            run_id + labels as u64 + tables(plan, seat, Build::Stream)
        }
        (Phase::Online, None, _) => run_id + (packed(plan.share_bits()) + outputs::message_bytes(plan, to)) as u64,
    }
}

/// Bytes of the pieces that a garbler sends and its digest, if tables are sent at that time.
fn tables(plan: &Plan, seat: usize, when: Build) -> u64 {
    if plan.config().build == when { plan.table_bytes(seat) + WORD_BYTES as u64 } else { 0 }
}

/// The number of times that a party waits after sending.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    match phase {
        // For hellos, nonces and names.
        Phase::Setup => 3,
        // Garblers only send, and the evaluator only listens.
        Phase::Prepare | Phase::Build => 0,
        // For the numbers of the run; a garbler, for its outputs.
        Phase::Online => 1 + u64::from(plan.seat(party).is_some() && plan.output_bits(party) > 0),
    }
}
