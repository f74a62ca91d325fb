//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;

use super::plan::{Form, Plan};
use garblet_protocol::{
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};

/// The cost of a phase of one run of `plan` for `party`, all hellos given by party.
///
/// With `N` AND gates in layers of `m` gates each, `k` the width of the OT extension and `o_j` the output bits that party `j`
/// learns, a party sends each peer `j`:
///
/// | phase | bytes | rounds |
/// |---|---|---|
/// | setup | hello, a seed of 16, set-up of OT as sender and as receiver | 5 |
/// | prepare | `ceil(N / 128) 16 (128 / k - 1)`; for triples also corrections, `N / 4` rounded | 1, with triples 2 |
/// | online | the run's number of 8; per layer `2 ceil(m / 8)`, in the form of 2012 `3 ceil(m / 8)`; then `ceil(o_j / 8)` | layers (twice), and 1 |
///
/// The last round is only counted if the party both learns an output and sends others one, or if it is the first.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    let one_way = |from, to| bytes(plan, from, to, phase, hellos);
    Communication::among(plan.parties(), party, one_way, rounds(plan, party, phase))
}

fn bytes(plan: &Plan, from: Party, to: Party, phase: Phase, hellos: &[Hello]) -> u64 {
    let (width, ands) = (plan.config().ot_width, plan.and_count() as u64);
    let packed = |bits: usize| bits.div_ceil(8) as u64;
    let triples = plan.config().form == Form::Triples;
    match phase {
        Phase::Setup => {
            let hello = hellos.get(usize::from(from.0)).map_or(0, Hello::encoded_bytes);
            hello + 16 + width.sender_setup_bytes() + width.receiver_setup_bytes()
        }
        Phase::Prepare => {
            let corrections = if triples { 2 * packed(plan.and_count()) } else { 0 };
            width.extension_bytes(ands) + corrections
        }
        Phase::Build => 0,
        Phase::Online => {
            let per_gate = if triples { 2 } else { 3 };
            let gates: u64 = plan.layers().map(|ands| per_gate * packed(ands)).sum();
            RUN_ID_BYTES as u64 + gates + packed(plan.output_bits(to))
        }
    }
}

fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let triples = plan.config().form == Form::Triples;
    let layers = plan.layers().count() as u64;
    match phase {
        // For hello and seed; as sender of OTs twice, as receiver once.
        Phase::Setup => 5,
        Phase::Prepare if layers == 0 => 0,
        Phase::Prepare => 1 + u64::from(triples),
        Phase::Build => 0,
        Phase::Online => {
            let learns = plan.output_bits(party) > 0;
            let tells = (0..plan.parties()).any(|peer| peer != party.0 && plan.output_bits(Party(peer)) > 0);
            let outputs = u64::from(learns && tells || layers == 0);
            layers * if triples { 1 } else { 2 } + outputs
        }
    }
}
