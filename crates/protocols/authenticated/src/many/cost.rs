//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_garble::joint::TABLE;
use garblet_net::Hello;
use garblet_protocol::{
    kept::WORD_BYTES,
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};

use super::{
    bits::{self, squares},
    build::written_bytes,
    leaky::HEAD_BYTES,
    online::{handed_over_bytes, label_bytes},
    open::told_bytes,
    plan::Plan,
    prepare, reveal, setup, zero,
};
use crate::{
    coins::{COMMITMENT_BYTES, OPENING_BYTES},
    opening::opened_bytes,
    parameters::Batch,
    secrets::OT_CHECK,
};

/// The cost of a phase of one run of `plan` for `party`, given the hellos of all parties.
///
/// With `n` parties, `A` AND gates in batches of `l` triples in buckets of `B`, `k` masks of a batch, `a_i` input bits of party `i` and `a` of all, `m_p` output
/// bits that party `p` learns, `t` bytes of a tag (6 by default), `c` bytes of a correlated OT (2 at the default width), and all bits packed, a party sends to
/// every other party
///
/// | phase | |
/// |---|---|
/// | setup | hello, OT set-ups and 256 checked OTs both ways, `160 + 16 n` |
/// | prepare, for each batch | `c` for each of `3 B l + k + 256`, rounded up to whole squares of 128; `16 B l`; `B l / 8`, `(B - 1) l / 8`; 4,640 |
/// | build: any party to party `p` | `2 A / 8`, 16; `a_p / 8`, `t a_p` |
/// | garbler to garbler | `48 A`; `3 t` for each gate whose tags the other collects |
/// | garbler to the evaluator | `16 + 48 A`; `3 t` for each gate whose tags it collects |
/// | online: party `i` to all | `8 + a_i / 8` |
/// | garbler to the evaluator | `16 a + 32 + 16 (n - 2)` |
/// | garbler to `p` with `m_p > 0` | `m_p / 8 + t m_p` |
/// | evaluator to `p` with `m_p > 0` | `2 m_p / 8 + 32 + t m_p` |
///
/// With `check=reveal` nothing of tags of gates is sent. The evaluator sends every garbler `A / 8 + 48`, and gets 16 from it.
///
/// Bits that are read count as gates there, and nowhere as inputs. Where outputs are kept, a party sends every other party one more byte at the end.
///
/// Each of the `n - 1` garblers collects the tags of every `n - 1`st piece of 4,096 gates.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    let sent = |from: Party, to: Party| match phase {
        Phase::Setup => {
            let width = plan.config().ot_width;
            let seeds = width.sender_setup_bytes() + width.receiver_setup_bytes() + width.malicious_setup_bytes();
            let ots: u64 = width.malicious_extension_bytes(setup::PROOF_OTS as u64, OT_CHECK).iter().sum();
            hellos[usize::from(from.0)].encoded_bytes() + seeds + ots + setup::sent_bytes(plan.parties())
        }
        Phase::Prepare => plan.batches().into_iter().map(|(batch, masks)| batch_bytes(plan, batch, masks)).sum(),
        Phase::Build => build_bytes(plan, from, to) as u64,
        Phase::Online => online_bytes(plan, from, to) as u64,
    };
    Communication::among(plan.parties(), party, sent, rounds(plan, party, phase))
}

/// Bytes to each other party for a batch.
fn batch_bytes(plan: &Plan, batch: Option<Batch>, masks: u64) -> u64 {
    let leaky = batch.map_or(0, |batch| batch.leaky() as usize);
    let ots = squares(prepare::bits(leaky, masks as usize)) as u64;
    let corrections = plan.config().ot_width.given_extension_bytes(ots);
    let bits = COMMITMENT_BYTES + OPENING_BYTES + bits::ANSWER_BYTES + 2 * COMMITMENT_BYTES;
    let of_triples = batch.map_or(0, |batch| {
        let opened = (batch.bucket as usize - 1) * batch.triples as usize;
        let blocks = HEAD_BYTES - COMMITMENT_BYTES + 16 * leaky;
        let product_bits = COMMITMENT_BYTES + leaky.div_ceil(8) + 32;
        let test = zero::FIRST_BYTES + COMMITMENT_BYTES + 16 + 32;
        blocks + product_bits + test + 2 * OPENING_BYTES + opened_bytes(opened)
    });
    corrections + (bits + of_triples) as u64
}

fn build_bytes(plan: &Plan, from: Party, to: Party) -> usize {
    let gates = plan.and_count();
    let opened = opened_bytes(2 * gates) + told_bytes(plan.tag(), plan.input_bits(to));
    let tables = 16 * TABLE * gates;
    opened
        + match (plan.slot(from), plan.slot(to)) {
            (Some(_), Some(slot)) => tables + written_bytes(plan, slot),
            (Some(slot), None) => 16 + tables + written_bytes(plan, slot),
            (None, _) => 0,
        }
}

fn online_bytes(plan: &Plan, from: Party, to: Party) -> usize {
    let masks = told_bytes(plan.tag(), plan.output_bits(to));
    RUN_ID_BYTES
        + if plan.keeps() { WORD_BYTES } else { 0 }
        + plan.input_bits(from).div_ceil(8)
        + match (plan.slot(from), plan.slot(to)) {
            (Some(_), Some(_)) => masks,
            (Some(_), None) => label_bytes(plan) + masks + if plan.has_tags() { 0 } else { reveal::ANSWER_BYTES },
            (None, _) => handed_over_bytes(plan, to) + if plan.has_tags() { 0 } else { reveal::message_bytes(plan) },
        }
}

/// The number of times that a party waits after sending.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let garbles = plan.slot(party).is_some();
    match phase {
        // For hellos, nonces, names and seeds; OTs, one after the other in both directions; the proof, six.
        Phase::Setup => 13,
        Phase::Prepare => {
            let of_batch = |(batch, masks): (Option<Batch>, u64)| match batch {
                Some(_) => 13,
                None => 4 * u64::from(masks > 0),
            };
            plan.batches().into_iter().map(of_batch).sum()
        }
        // For openings, if it has something to hear and to say, and proofs; garblers, for parts of tables.
        Phase::Build => {
            let gates = plan.and_count() > 0;
            let own = plan.input_bits(party);
            let opens = gates || own > 0 && own < plan.input_count();
            1 + u64::from(opens) + u64::from(garbles && gates)
        }
        // For masked inputs; a garbler, for what it learns. If values are revealed, the evaluator waits for sums, and a garbler for the values.
        // Where outputs are kept, all wait for all others' word.
        Phase::Online => {
            let learns = garbles && plan.output_bits(party) > 0;
            1 + u64::from(!plan.has_tags()) + u64::from(learns) + u64::from(plan.keeps())
        }
    }
}
