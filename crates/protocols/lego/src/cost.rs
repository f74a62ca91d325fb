//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_homcommit::{Code, batch_opening_bytes, commit_bytes, opening_bytes};
use garblet_net::Hello;
use garblet_ot::StatisticalSecurity;

use super::{
    CONSTRUCTOR, EVALUATOR,
    generate::gates::TABLE_BYTES,
    order::{CHECK_BITS, Order},
    parameters::Parameters,
    plan::Plan,
    setup::delta_ot::{self, SEEDS},
};
use garblet_protocol::{
    kept::WORD_BYTES,
    party_io,
    phase::{Communication, Phase},
};

/// The numbers of components that the evaluator checked, which is random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Garbled gates.
    pub gates: u64,
    /// Wire authenticators.
    pub authenticators: u64,
}

impl Checks {
    /// The mean of these numbers.
    pub fn expected(order: &Order) -> Self {
        let Parameters { check_gates, check_authenticators, .. } = order.parameters();
        let share = |made: usize, probability: f64| (made as f64 * probability).round() as u64;
        Checks {
            gates: share(order.gates_made(), check_gates),
            authenticators: share(order.authenticators_made(), check_authenticators),
        }
    }
}

/// The cost for `party` of a phase of one run of `plan`, for which `order` is made, with these hellos and numbers of checked components.
///
/// With `Q` gates and `A` authenticators made, `q` AND buckets of `b` gates and `b - 1` authenticators, `n` inputs of `c`
/// authenticators, `k` input buckets of `d` gates, `m` outputs, `g` and `a` components checked, parity bits `p`, words of `w` bits, `r` input bits that are read
/// or output bits that the evaluator does not learn:
///
/// | phase | constructor to evaluator | evaluator to constructor |
/// |---|---|---|
/// | setup | hello, checked OT extension by `w` and by 168, 49, one commitment | hello, the other sides of both, 16 |
/// | prepare | 16, commitments to `3 Q + A + n + m + 96` in parts, `16 (n + 48)`, `48 Q + 32 A`, `(n + m + 48) / 8`, 48 openings, `768 + 8 w`, `16 (3 g + a)` and for each part `8 w`, `16 (3 (b - 1) q + 3 (d - 1) k + (b - 1) q + (c - 1) n)` and for each span `8 w` | `2,688 ([(n + 48) / 128] + 1)`, 2,704, 774, 80, for each part 32, for each span 16; `[x]` is `x` rounded up |
/// | build | `16 (2 and + n1 + r)`, `n1 + r` made even, for each lot `8 w` | for each lot 16 |
/// | online | `16 n1`, `n2 + m2` openings; 1 if outputs are kept | `n2 / 8`, `16 m1`; 1 if outputs are kept |
///
/// A part is some ten thousand components that are made at once, a span is as many whose buckets are joined at once, and a lot is
/// some ten thousand AND gates of the program.
pub fn communication(
    plan: &Plan,
    order: &Order,
    party: Party,
    phase: Phase,
    hello: &[Hello],
    checks: Checks,
) -> Communication {
    let one_way = |from, _| bytes(plan, order, from, phase, hello, checks);
    Communication::among(2, party, one_way, rounds(plan, order, party, phase))
}

fn bytes(plan: &Plan, order: &Order, from: Party, phase: Phase, hello: &[Hello], checks: Checks) -> u64 {
    match (phase, from == CONSTRUCTOR) {
        (Phase::Setup, constructor) => setup(plan, constructor, hello),
        (Phase::Prepare, true) => prepare(plan.config().code, order, checks),
        (Phase::Prepare, false) => {
            let claims = check_bits().div_ceil(8) + 16 * check_bits();
            // Challenges: two calls for commitments; told bits; all components; the difference; parts twice, and spans.
            let challenges = 5 + 2 * order.parts().count() + order.spans().count();
            delta_ot::extension_bytes(order.inputs() as u64 + check_bits()) + 16 * challenges as u64 + claims
        }
        (Phase::Build, true) => {
            plan.openings().into_iter().map(|count| batch_opening_bytes(plan.config().code, count as u64)).sum()
        }
        (Phase::Build, false) => 16 * plan.openings().len() as u64,
        (Phase::Online, true) => {
            let opened = input_bits(plan, EVALUATOR) + output_bits(plan, EVALUATOR);
            16 * input_bits(plan, CONSTRUCTOR) + opened * opening_bytes(plan.config().code) as u64 + words(plan)
        }
        (Phase::Online, false) => {
            input_bits(plan, EVALUATOR).div_ceil(8) + 16 * output_bits(plan, CONSTRUCTOR) + words(plan)
        }
    }
}

fn setup(plan: &Plan, constructor: bool, hello: &[Hello]) -> u64 {
    let (width, code) = (plan.config().ot_width, plan.config().code);
    let of_words = width.malicious_extension_bytes(code.length() as u64, StatisticalSecurity::Eighty);
    let of_delta = width.malicious_extension_bytes(SEEDS as u64, StatisticalSecurity::Eighty);
    let both = width.sender_setup_bytes() + width.receiver_setup_bytes() + width.malicious_setup_bytes();
    match constructor {
        true => hello[0].encoded_bytes() + both + of_words[0] + of_delta[1] + 17 + 32 + commit_bytes(code, 1) + 16,
        false => hello[1].encoded_bytes() + both + of_words[1] + of_delta[0] + 16,
    }
}

fn prepare(code: Code, order: &Order, checks: Checks) -> u64 {
    let (gates, authenticators) = (order.gates_made() as u64, order.authenticators_made() as u64);
    let (inputs, outputs) = (order.inputs() as u64, order.outputs() as u64);
    let chosen = inputs + check_bits();
    let of_parts: u64 = order.parts().map(|part| commit_bytes(code, part.wires() as u64)).sum();
    let committed = of_parts + commit_bytes(code, outputs + check_bits()) + commit_bytes(code, chosen) + 16 * chosen;
    let components = gates * (TABLE_BYTES as u64 + 16) + authenticators * 32;
    let claimed = (inputs + outputs + check_bits()).div_ceil(8) + check_bits() * opening_bytes(code) as u64;
    let words = batch_opening_bytes(code, 1) - 16;
    let checked = 16 * (3 * checks.gates + checks.authenticators) + words * order.parts().count() as u64;
    let joined: u64 = order.spans().map(|span| 16 * (span.buckets * span.openings()) as u64 + words).sum();
    16 + committed + components + claimed + batch_opening_bytes(code, check_bits()) + checked + joined
}

/// The number of times that the party waits after it has sent something.
fn rounds(plan: &Plan, order: &Order, party: Party, phase: Phase) -> u64 {
    let learns = output_bits(plan, CONSTRUCTOR) > 0;
    let gives = input_bits(plan, EVALUATOR) > 0;
    match (phase, party == CONSTRUCTOR) {
        (Phase::Setup, _) => 7,
        // OTs and their check; two calls for commitments; parts; told bits, challenge, the difference; parts; spans.
        (Phase::Prepare, _) => 7 + 2 * order.parts().count() as u64 + order.spans().count() as u64,
        // For each lot the constructor waits for the challenge, the evaluator for the answer to it.
        (Phase::Build, _) => plan.openings().len() as u64,
        (Phase::Online, true) => u64::from(gives) + u64::from(learns || plan.keeps()),
        (Phase::Online, false) => u64::from(gives) + u64::from(plan.keeps()),
    }
}

/// Bytes of a party's message that it has kept outputs.
fn words(plan: &Plan) -> u64 {
    if plan.keeps() { WORD_BYTES as u64 } else { 0 }
}

fn check_bits() -> u64 {
    u64::from(CHECK_BITS)
}

fn input_bits(plan: &Plan, party: Party) -> u64 {
    party_io::input_bits(plan.program(), party) as u64
}

fn output_bits(plan: &Plan, party: Party) -> u64 {
    party_io::output_bits(plan.program(), party) as u64
}
