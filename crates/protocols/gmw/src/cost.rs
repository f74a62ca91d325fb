//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;

use super::plan::{Form, Plan};
use garblet_ot::Width;
use garblet_protocol::{
    choice::Operation,
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};
use garblet_runs::ots::Source;

/// The cost of a phase of one run of `plan` for `party`, all hellos given by party.
///
/// With `N` AND gates in layers of `m` gates each, `k` the width of the OT extension and `o_j` the output bits that party `j`
/// learns, a party sends each peer `j`:
///
/// | phase | bytes | rounds |
/// |---|---|---|
/// | setup | hello, a seed of 16, set-up of OT as sender and as receiver | 5 |
/// | setup, silent | also `ceil(M / 128) 240`, for the first `M = 149,292` OTs | 5, for all but party 0 6 |
/// | prepare | `ceil(N / 128) 16 (128 / k - 1)`; for triples also corrections, `N / 4` rounded | 1, with triples 2 |
/// | prepare, silent | `128 + 176 (73 ceil(N / 1,693,696) + ceil(N / 2,048))` and the same corrections | 2, for all but the last party 3, with triples two more |
/// | online | the run's number of 8; per layer `2 ceil(m / 8)`, in the form of 2012 `3 ceil(m / 8)`; then `ceil(o_j / 8)` | layers (twice), and 1 |
///
/// The last round is only counted if the party both learns an output and sends others one, or if it is the first.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    let one_way = |from, to| bytes(plan, from, to, phase, hellos);
    Communication::among(plan.parties(), party, one_way, rounds(plan, party, phase))
}

fn bytes(plan: &Plan, from: Party, to: Party, phase: Phase, hellos: &[Hello]) -> u64 {
    let (source, ands) = (plan.source, plan.and_count() as u64);
    let packed = |bits: usize| bits.div_ceil(8) as u64;
    let triples = plan.config().form == Form::Triples;
    match phase {
        Phase::Setup => {
            let hello = hellos.get(usize::from(from.0)).map_or(0, Hello::encoded_bytes);
            hello + 16 + source.setup_bytes().iter().sum::<u64>()
        }
        Phase::Prepare => {
            let corrections = if triples { 2 * packed(plan.and_count()) } else { 0 };
            source.run_bytes(ands).iter().sum::<u64>() + corrections
        }
        Phase::Build => 0,
        Phase::Online => {
            let per_gate = if triples { 2 } else { 3 };
            let gates: u64 = plan.layers().counts().iter().map(|&ands| per_gate * packed(ands)).sum();
            RUN_ID_BYTES as u64 + gates + packed(plan.output_bits(to))
        }
    }
}

/// The work of a party in a phase that depends on the kind of OT: with each peer it is sender and receiver of as many OTs as there are gates.
pub(super) fn work(plan: &Plan, phase: Phase) -> Vec<(Operation, u64)> {
    let peers = u64::from(plan.parties()) - 1;
    let (operation, in_setup) = match plan.source {
        Source::Extension(Width::Two) => (Operation::Ot2, None),
        Source::Extension(Width::Four) => (Operation::Ot4, None),
        Source::Extension(Width::Eight) => (Operation::Ot8, None),
        // The first ones come from the extension.
        Source::Silent(set) => (Operation::SilentOt, Some((Operation::Ot8, 2 * peers * set.stock() as u64))),
    };
    match phase {
        Phase::Setup => in_setup.into_iter().collect(),
        Phase::Prepare => vec![(operation, 2 * peers * plan.and_count() as u64)],
        Phase::Build | Phase::Online => Vec::new(),
    }
}

fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let triples = plan.config().form == Form::Triples;
    let layers = plan.layers().counts().len() as u64;
    let is_silent = plan.source.is_silent();
    match phase {
        // For hello and seed; as sender of OTs twice, as receiver once. With a party before it, it waits at the end for the first silent OTs.
        Phase::Setup => 5 + u64::from(is_silent && party.0 > 0),
        Phase::Prepare if layers == 0 => 0,
        // Two tosses of coins, in which the party before another one waits once more; with triples the corrections of choices.
        Phase::Prepare if is_silent => 2 + u64::from(party.0 + 1 < plan.parties()) + 2 * u64::from(triples),
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
