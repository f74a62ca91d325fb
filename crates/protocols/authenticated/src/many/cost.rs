//! Bytes and rounds of every phase, as formulas.

use std::ops::Range;

use garblet_circuit::Party;
use garblet_garble::joint::TABLE;
use garblet_net::Hello;
use garblet_ot::Width;
use garblet_protocol::{
    kept::WORD_BYTES,
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};

use super::{
    Config,
    bits::squares,
    build::written_bytes,
    ground::DIGEST_BYTES,
    leaky::HEAD_BYTES,
    online::{handed_over_bytes, label_bytes},
    open::told_bytes,
    ots::answer_bytes,
    plan::Plan,
    prepare, reveal, setup, zero,
};
use crate::{
    coins::{COMMITMENT_BYTES, OPENING_BYTES},
    config::{Build, LPN},
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
/// | setup, silent OTs | also 16, corrections of 149,292 OTs, 2,064 |
/// | prepare, silent OTs | in place of `c` and 4,640: 1/8, and for each batch 192, `176 (73 [N / 1,693,696] + [N / 2,048])` for its `N` OTs, 2,608 |
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
/// If the circuit is streamed, the build has the masks of inputs and 16, and all else of its rows comes online, lot by lot, with 16 for each opening. With
/// `check=reveal` the evaluator sends every garbler `l / 8 + 16` for a lot of `l` gates, and 32 after the last.
///
/// Bits that are read count as gates there, and nowhere as inputs. Where outputs are kept, a party sends every other party one more byte at the end.
///
/// Each of the `n - 1` garblers collects the tags of every `n - 1`st piece of 4,096 gates.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    let sent = |from: Party, to: Party| match phase {
        Phase::Setup => {
            let (width, silent) = (plan.config().width(), is_silent(plan));
            let seeds = width.sender_setup_bytes() + width.receiver_setup_bytes() + width.malicious_setup_bytes();
            let ots: u64 = width.malicious_extension_bytes(setup::PROOF_OTS as u64, OT_CHECK).iter().sum();
            let first = if silent { first_silent_bytes() } else { 0 };
            hellos[usize::from(from.0)].encoded_bytes() + seeds + ots + setup::sent_bytes(plan.parties()) + first
        }
        Phase::Prepare => {
            let of_batch = |(batch, masks)| batch_bytes(plan.config(), batch, masks, is_silent(plan));
            plan.batches().into_iter().map(of_batch).sum()
        }
        Phase::Build => build_bytes(plan, from, to) as u64,
        Phase::Online => online_bytes(plan, from, to) as u64,
    };
    Communication::among(plan.parties(), party, sent, rounds(plan, party, phase))
}

/// Tells whether a run without a store takes silent OTs.
fn is_silent(plan: &Plan) -> bool {
    plan.config().is_silent(prepare::ots(&plan.batches()))
}

/// Bytes to each other party for the first silent OTs, as sender and as receiver.
pub(super) fn first_silent_bytes() -> u64 {
    Width::Eight.malicious_extension_bytes(LPN.stock() as u64, OT_CHECK).iter().sum()
}

/// Bytes to each other party for a batch.
pub(super) fn batch_bytes(config: Config, batch: Option<Batch>, masks: u64, silent: bool) -> u64 {
    let leaky = batch.map_or(0, |batch| batch.leaky() as usize);
    let squares = squares(prepare::bits(leaky, masks as usize)) as u64;
    let corrections = match silent {
        true => LPN.batch_bytes(128 * squares, true).iter().sum::<u64>() + 16 * squares,
        false => config.width().given_extension_bytes(squares),
    };
    let bits = COMMITMENT_BYTES + OPENING_BYTES + answer_bytes(silent) + 2 * COMMITMENT_BYTES;
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
    let masks = told_bytes(plan.tag(), plan.input_bits(to));
    match plan.config().build {
        Build::Ahead => masks + gate_bytes(plan, from, to, &(0..plan.and_count())),
        // For no bits, a digest.
        Build::Stream => masks + opened_bytes(0),
    }
}

/// Bytes of the opening and the tables of some gates.
fn gate_bytes(plan: &Plan, from: Party, to: Party, lot: &Range<usize>) -> usize {
    let tables = 16 * TABLE * lot.len();
    let seed = if lot.start == 0 { 16 } else { 0 };
    opened_bytes(2 * lot.len())
        + match (plan.slot(from), plan.slot(to)) {
            (Some(_), Some(slot)) => tables + written_bytes(plan, slot, lot),
            (Some(slot), None) => seed + tables + written_bytes(plan, slot, lot),
            (None, _) => 0,
        }
}

fn online_bytes(plan: &Plan, from: Party, to: Party) -> usize {
    let masks = told_bytes(plan.tag(), plan.output_bits(to));
    let lots = plan.lots();
    let streamed = plan.config().build == Build::Stream;
    let of_gates: usize = lots.iter().filter(|_| streamed).map(|lot| gate_bytes(plan, from, to, lot)).sum();
    let revealed: usize = lots.iter().map(|lot| reveal::message_bytes(plan, lot.start, lot.len())).sum();
    RUN_ID_BYTES
        + if plan.keeps() { WORD_BYTES } else { 0 }
        + plan.input_bits(from).div_ceil(8)
        + of_gates
        + match (plan.slot(from), plan.slot(to)) {
            (Some(_), Some(_)) => masks,
            (Some(_), None) => label_bytes(plan) + masks + if plan.has_tags() { 0 } else { reveal::ANSWER_BYTES },
            (None, _) if plan.has_tags() => handed_over_bytes(plan, to),
            (None, _) => handed_over_bytes(plan, to) + revealed + if streamed { DIGEST_BYTES } else { 0 },
        }
}

/// The number of times that a party waits after sending.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let garbles = plan.slot(party).is_some();
    match phase {
        // For hellos, nonces, names and seeds; OTs, one after the other in both directions; the proof, six.
        Phase::Setup => 13 + if is_silent(plan) { first_silent_rounds(party) } else { 0 },
        Phase::Prepare => {
            let of_batch = |(batch, masks)| batch_rounds((party, plan.parties()), batch, masks, is_silent(plan));
            plan.batches().into_iter().map(of_batch).sum()
        }
        // For openings, if it has something to hear and to say, and proofs; garblers, for parts of tables.
        Phase::Build => {
            let own = plan.input_bits(party);
            let opens = own > 0 && own < plan.input_count();
            match plan.config().build {
                Build::Ahead => of_gates(plan, party, plan.and_count()).max(1 + u64::from(opens)),
                Build::Stream => 1 + u64::from(opens),
            }
        }
        // For masked inputs; a garbler, for what it learns. If values are revealed, the evaluator waits for sums, and a garbler for the values of each lot.
        // Where outputs are kept, all wait for all others' word.
        Phase::Online => {
            let learns = garbles && plan.output_bits(party) > 0;
            let of_lots = match plan.config().build {
                Build::Ahead => 0,
                Build::Stream => of_streamed_gates(plan, party),
            };
            1 + of_lots + u64::from(!plan.has_tags()) + u64::from(learns) + u64::from(plan.keeps())
        }
    }
}

/// The times that a party waits while the first silent OTs are made.
fn first_silent_rounds(party: Party) -> u64 {
    // As receiver of OTs, which send first, the higher one of a pair waits once more.
    2 + u64::from(party.0 > 0)
}

/// The times that a party waits while a batch is made.
pub(super) fn batch_rounds((party, parties): (Party, u16), batch: Option<Batch>, masks: u64, silent: bool) -> u64 {
    // For coins and checks of silent OT in both directions; whoever begins in a pair waits once more.
    let of_silent = if silent { 4 + u64::from(party.0 + 1 < parties) } else { 0 };
    match batch {
        Some(_) => 13 + of_silent,
        None if masks > 0 => 4 + of_silent,
        None => 0,
    }
}

/// The times that a party waits while gates are streamed: for every lot, and for the flows of the last one. Where gates are revealed, the evaluator has something to send
/// when it waits for the last sums, unless it has them all at once.
fn of_streamed_gates(plan: &Plan, party: Party) -> u64 {
    let lots = plan.lots().len() as u64;
    match (plan.and_count(), plan.slot(party)) {
        (0, _) => 1,
        (_, Some(_)) => lots + 2,
        (_, None) if plan.has_tags() => lots + 1,
        (_, None) => lots + 1 + (lots - 1).min(2),
    }
}

/// The times that a party waits for openings and proofs of gates, and a garbler for parts of tables.
fn of_gates(plan: &Plan, party: Party, gates: usize) -> u64 {
    1 + u64::from(gates > 0) + u64::from(plan.slot(party).is_some() && gates > 0)
}
