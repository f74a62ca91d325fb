//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_net::Hello;
use garblet_primitives::Block;

use super::{
    bgw, bgw_published,
    config::{Form, Garbling, Optimisations},
    half_gates, linear,
    open::open_bytes,
    pairs::Count,
    plan::Plan,
    published,
};
use garblet_ot::Width;
use garblet_protocol::{
    choice::Operation,
    phase::{Communication, Phase},
    run_id::RUN_ID_BYTES,
};
use garblet_runs::ots::Source;

/// Bytes of the greeting sent to each other party: two seeds and a share of delta.
const GREETING_BYTES: u64 = 3 * size_of::<Block>() as u64;

/// The cost of a phase of one run of `plan` for `party`, given the hellos of all parties.
///
/// With `n` parties, `A` AND gates, `a_i` input bits of party `i`, `a` of all, `m_p` output bits that party `p` learns, and
/// `e(x)` bytes of an OT extension by `x` (`8 x` at the default width of all forms but half gates), party `i` sends to each of the others, besides
/// opening the circuit:
///
/// | | prepare | build | rounds of both |
/// |---|---|---|---|
/// | `bmr`, linear | `e(a_i + 2 A) + (a_i + A) / 8` | `2 A / 8` | 5 |
/// | `bmr`, half gates: garbler to garbler | `e(a_i + 2 A) + (a_i + A) / 8` | `2 A / 8 + 48 A` | 3 |
/// | garbler to evaluator | | `2 A / 8 + 16 + 48 A` | 3 |
/// | evaluator to garbler | `e(a_i + 2 A) + (a_i + A) / 8` | `A / 8` | 2 |
/// | `bmr`, published | `e(4 A)` | `5 A / 8 + 48 A` | 6 |
/// | `bmr-bgw3` | `a_i + A` | `A` | 4 |
/// | `bmr-bgw2` | `a_i + A` | | 3 |
/// | `bmr-bgw4` | | `16 (a + A + 4 n A) + 16 (A + 4 n A)` | 4 |
/// | `bmr-bgw3`, published | | `16 (a + A + 4 n A) + 16 A` | 3 |
/// | `bmr-bgw2`, published | | `16 (a + A + 4 n A)` | 2 |
///
/// Without its optimisations ([`Optimisations`]), published `bmr` has four strings, `e(5 A)` and `6 A / 8`, and each string takes 32 bytes.
/// With silent OT, party `i` sends `s(x) + 32` for `e(x)`, `s(x) = 96 + 176 (73 ceil(x / 1,693,696) + ceil(x / 2,048))` for the `x` OTs that the other receives and 32 for its own,
/// and in set-up also `ceil(M / 128) 240` for the first `M = 149,292` OTs. `prepare` then takes two rounds more, and one more for all but the last party that sends OTs.
///
/// With half gates nothing is opened, `e(x)` is `4 x` bytes at the default width, and with two parties `32 A + A / 8` take the place of
/// `48 A`; only the evaluator gets labels online.
///
/// Opening the circuit takes `128 A (n - 1)` bytes per party if `n` divides `A`, and `64 n A (n - 1)` as published. Online,
/// a party sends `8 + a_i / 8` and, to each `p` with `m_p > 0`, `16 a + m_p / 8`, in two rounds whatever the circuit.
pub fn communication(plan: &Plan, party: Party, phase: Phase, hellos: &[Hello]) -> Communication {
    let sent = |from: Party, to: Party| one_way(plan, from, to, phase, &hellos[usize::from(from.0)]);
    let mut cost = Communication::among(plan.parties(), party, sent, rounds(plan, party, phase));
    // A party receives as much as it sends, though not pair by pair if the number of parties does not divide the gates.
    let opening = if phase == Phase::Build { open_bytes(plan, party) } else { 0 };
    cost += Communication { bytes_sent: opening, bytes_received: opening, rounds: 0 };
    cost
}

/// Bytes to one peer, except those that open the circuit.
fn one_way(plan: &Plan, from: Party, to: Party, phase: Phase, hello: &Hello) -> u64 {
    let gates = plan.and_count() as u64;
    let packed = |bits: u64| bits.div_ceil(8);
    let source = plan.source();
    let has_delta = |party| u64::from(plan.slot(party).is_some());
    match (phase, plan.config().garbling, plan.form()) {
        (Phase::Setup, Garbling::Ot, _) => {
            let [as_sender, as_receiver] = source.setup_bytes();
            let ots = has_delta(from) * as_sender + has_delta(to) * as_receiver;
            hello.encoded_bytes() + ots + GREETING_BYTES
        }
        (Phase::Setup, _, _) => hello.encoded_bytes() + GREETING_BYTES,
        (Phase::Prepare, Garbling::Ot, _) => {
            let ots = |receiver| source.run_bytes(count(plan, receiver).all() as u64);
            let [[as_sender, _], [_, as_receiver]] = [ots(to), ots(from)];
            has_delta(from) * as_sender + has_delta(to) * (as_receiver + packed(count(plan, from).chosen as u64))
        }
        (Phase::Prepare, _, Form::Linear | Form::HalfGates) => bgw::share_bits_bytes(plan, from),
        (Phase::Prepare, _, Form::Published(_)) => 0,
        (Phase::Build, Garbling::Ot, Form::Linear) => 2 * packed(gates),
        (Phase::Build, Garbling::Ot, Form::HalfGates) => half_gates::bytes(plan, from, to),
        (Phase::Build, Garbling::Ot, Form::Published(optimisations)) => {
            let choices = packed(optimisations.strings() as u64 * gates);
            2 * packed(gates) + choices + published::payload_bytes(plan, optimisations) as u64
        }
        (Phase::Build, Garbling::Bgw2, Form::Linear | Form::HalfGates) => 0,
        (Phase::Build, _, Form::Linear | Form::HalfGates) => gates,
        (Phase::Build, _, Form::Published(_)) => bgw_published::rows_bytes(plan),
        (Phase::Online, _, _) => {
            let takes_labels = plan.evaluates(to) && (plan.form() != Form::HalfGates || plan.slot(to).is_none());
            let labels = if takes_labels { 16 * plan.input_count() as u64 } else { 0 };
            let told = packed(plan.input_bits(from) as u64) + packed(plan.output_bits(to) as u64);
            RUN_ID_BYTES as u64 + labels + told
        }
    }
}

/// The OTs that a party receives from each other party that has a delta.
fn count(plan: &Plan, receiver: Party) -> Count {
    match plan.form() {
        Form::Linear | Form::HalfGates => linear::count(plan, receiver.0),
        Form::Published(optimisations) => published::count(plan, optimisations),
    }
}

/// The work of a party in a phase that depends on the kind of OT: it is a receiver with each peer that has a delta, and a sender if it has one.
pub(super) fn work(plan: &Plan, party: Party, phase: Phase) -> Vec<(Operation, u64)> {
    if plan.config().garbling != Garbling::Ot {
        return Vec::new();
    }
    let source = plan.source();
    let of_width = match source.width() {
        Width::Two => Operation::Ot2,
        Width::Four => Operation::Ot4,
        Width::Eight => Operation::Ot8,
    };
    let has_delta = |party: Party| u64::from(plan.slot(party).is_some());
    let peers = (0..plan.parties()).map(Party).filter(|peer| *peer != party);
    let roles = |of: &dyn Fn(Party) -> u64| -> u64 {
        peers.clone().map(|peer| has_delta(peer) * of(party) + has_delta(party) * of(peer)).sum()
    };
    match (phase, source) {
        // The first ones come from the extension.
        (Phase::Setup, Source::Silent(set)) => vec![(of_width, roles(&|_| set.stock() as u64))],
        (Phase::Prepare, _) => {
            let operation = if source.is_silent() { Operation::SilentOt } else { of_width };
            vec![(operation, roles(&|receiver| count(plan, receiver).all() as u64))]
        }
        _ => Vec::new(),
    }
}

/// The number of times that a party waits after sending, if there are at least as many gates as parties.
fn rounds(plan: &Plan, party: Party, phase: Phase) -> u64 {
    let (garbling, form) = (plan.config().garbling, plan.form());
    if form == Form::HalfGates {
        return half_gates::rounds(plan, party, phase);
    }
    match phase {
        // For hellos; base OTs, two rounds for one role and one for the other; greetings.
        Phase::Setup => 1 + if garbling == Garbling::Ot { 3 } else { 0 } + 1,
        // A coin each way, for which the party before another one waits once more; linear, the corrections of choices.
        Phase::Prepare if plan.is_silent() => {
            2 + u64::from(party.0 + 1 < plan.parties()) + u64::from(form == Form::Linear)
        }
        Phase::Prepare => match (garbling, form) {
            // The last party hears all others before it says anything.
            (Garbling::Ot, Form::Published(optimisations)) if optimisations != Optimisations::BothWays => {
                u64::from(party.0 + 1 < plan.parties())
            }
            _ => u64::from(garbling == Garbling::Ot || form == Form::Linear),
        },
        Phase::Build => {
            let rows = match (garbling, form) {
                (Garbling::Ot, Form::Linear) => 2,
                (Garbling::Ot, Form::Published(_)) => 4,
                (Garbling::Bgw2, Form::Linear | Form::HalfGates) => 0,
                (_, Form::Linear | Form::HalfGates) | (Garbling::Bgw2, Form::Published(_)) => 1,
                (Garbling::Bgw3, Form::Published(_)) => 2,
                (Garbling::Bgw4, Form::Published(_)) => 3,
            };
            rows + if form == Form::Linear { 2 } else { 1 }
        }
        Phase::Online => online_rounds(plan, party),
    }
}

/// The number of rounds: one for the others' public values and numbers of the run, and, where the party evaluates, one for their labels.
fn online_rounds(plan: &Plan, party: Party) -> u64 {
    let sends_labels = (0..plan.parties()).map(Party).any(|peer| peer != party && plan.evaluates(peer));
    1 + u64::from(plan.evaluates(party) && sends_labels)
}
