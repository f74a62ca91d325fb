//! Bytes and rounds of every phase, as formulas.

use garblet_circuit::Party;
use garblet_homcommit::{Code, batch_opening_bytes, commit_bytes, opening_bytes};
use garblet_net::Hello;
use garblet_ot::StatisticalSecurity;

use super::{
    CONSTRUCTOR, EVALUATOR,
    generate::gates::TABLE_BYTES,
    order::{Order, STATISTICAL},
    parameters::Parameters,
    plan::Plan,
    setup::delta_ot::{self, SEEDS},
};
use garblet_protocol::{
    party_io,
    phase::{Communication, Phase},
};

/// The numbers of components that the evaluator happened to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Garbled gates.
    pub gates: u64,
    /// Wire authenticators.
    pub authenticators: u64,
}

impl Checks {
    /// The numbers that are checked in the mean.
    pub fn expected(order: &Order) -> Self {
        let Parameters { check_gates, check_authenticators, .. } = order.parameters();
        let share = |made: usize, probability: f64| (made as f64 * probability).round() as u64;
        Checks {
            gates: share(order.gates_made(), check_gates),
            authenticators: share(order.authenticators_made(), check_authenticators),
        }
    }
}

/// The cost to `party` of a phase of one run of `plan`, for which `order` is made, both hellos given, if so many components were checked.
///
/// With `Q` gates and `A` authenticators made, `q` AND buckets of `b` gates and `b - 1` authenticators, `n` inputs of `c`
/// authenticators, `k` input buckets of `d` gates, `m` outputs, `g` and `a` components checked, parity bits `p`, words of `w` bits, `r` input bits that are read
/// or output bits that the evaluator does not learn:
///
/// | phase | constructor to evaluator | evaluator to constructor |
/// |---|---|---|
/// | setup | hello, checked OT extension by `w` and by 168, 49, one commitment | hello, the other sides of both, 16 |
/// | prepare | 16, commitments to `3 Q + A + n + m + 80` in parts, `16 (n + 40)`, `48 Q + 32 A`, `(n + m + 40) / 8`, 40 openings, `640 + 8 w`, `16 (3 g + a)` and for each part `8 w`, `16 (3 (b - 1) q + 3 (d - 1) k + (b - 1) q + (c - 1) n)` and for each span `8 w` | `21 n`, 738, for each part 32, for each span 16 |
/// | build | `16 (2 and + n1 + r)`, `n1 + r` made even, for each lot `8 w` | for each lot 16 |
/// | online | `16 n1`, `n2 + m2` openings | `n2 / 8`, `16 m1` |
///
/// A part are some ten thousand components that are made at once, a span are as many whose buckets are joined at once, a lot are
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
            let claims = statistical().div_ceil(8) + 16 * statistical();
            // Challenges: two calls for commitments; told bits; all components; the difference; parts twice, and spans.
            let challenges = 5 + 2 * order.parts().count() + order.spans().count();
            delta_ot::extension_bytes(order.inputs() as u64 + statistical()) + 16 * challenges as u64 + claims
        }
        (Phase::Build, true) => {
            plan.openings().into_iter().map(|count| batch_opening_bytes(plan.config().code, count as u64)).sum()
        }
        (Phase::Build, false) => 16 * plan.openings().len() as u64,
        (Phase::Online, true) => {
            let opened = input_bits(plan, EVALUATOR) + output_bits(plan, EVALUATOR);
            16 * input_bits(plan, CONSTRUCTOR) + opened * opening_bytes(plan.config().code) as u64
        }
        (Phase::Online, false) => input_bits(plan, EVALUATOR).div_ceil(8) + 16 * output_bits(plan, CONSTRUCTOR),
    }
}

fn setup(plan: &Plan, constructor: bool, hello: &[Hello]) -> u64 {
    let (width, code) = (plan.config().ot_width, plan.config().code);
    let of_words = width.malicious_extension_bytes(code.length() as u64, StatisticalSecurity::Forty);
    let of_delta = width.malicious_extension_bytes(SEEDS as u64, StatisticalSecurity::Forty);
    let both = width.sender_setup_bytes() + width.receiver_setup_bytes() + width.malicious_setup_bytes();
    match constructor {
        true => hello[0].encoded_bytes() + both + of_words[0] + of_delta[1] + 17 + 32 + commit_bytes(code, 1) + 16,
        false => hello[1].encoded_bytes() + both + of_words[1] + of_delta[0] + 16,
    }
}

fn prepare(code: Code, order: &Order, checks: Checks) -> u64 {
    let (gates, authenticators) = (order.gates_made() as u64, order.authenticators_made() as u64);
    let (inputs, outputs) = (order.inputs() as u64, order.outputs() as u64);
    let chosen = inputs + statistical();
    let of_parts: u64 = order.parts().map(|part| commit_bytes(code, part.wires() as u64)).sum();
    let committed = of_parts + commit_bytes(code, outputs + statistical()) + commit_bytes(code, chosen) + 16 * chosen;
    let components = gates * (TABLE_BYTES as u64 + 16) + authenticators * 32;
    let claimed = (inputs + outputs + statistical()).div_ceil(8) + statistical() * opening_bytes(code) as u64;
    let words = batch_opening_bytes(code, 1) - 16;
    let checked = 16 * (3 * checks.gates + checks.authenticators) + words * order.parts().count() as u64;
    let joined: u64 = order.spans().map(|span| 16 * (span.buckets * span.openings()) as u64 + words).sum();
    16 + committed + components + claimed + batch_opening_bytes(code, statistical()) + checked + joined
}

/// The number of times that the party waits after having sent.
fn rounds(plan: &Plan, order: &Order, party: Party, phase: Phase) -> u64 {
    let learns = output_bits(plan, CONSTRUCTOR) > 0;
    let gives = input_bits(plan, EVALUATOR) > 0;
    match (phase, party == CONSTRUCTOR) {
        (Phase::Setup, _) => 7,
        // OTs and their check; two calls for commitments; parts; told bits, challenge, the difference; parts; spans.
        (Phase::Prepare, _) => 7 + 2 * order.parts().count() as u64 + order.spans().count() as u64,
        // For each lot the constructor waits for the challenge, the evaluator for the answer to it.
        (Phase::Build, _) => plan.openings().len() as u64,
        (Phase::Online, true) => u64::from(gives) + u64::from(learns),
        (Phase::Online, false) => u64::from(gives),
    }
}

fn statistical() -> u64 {
    u64::from(STATISTICAL)
}

fn input_bits(plan: &Plan, party: Party) -> u64 {
    party_io::input_bits(plan.program(), party) as u64
}

fn output_bits(plan: &Plan, party: Party) -> u64 {
    party_io::output_bits(plan.program(), party) as u64
}
