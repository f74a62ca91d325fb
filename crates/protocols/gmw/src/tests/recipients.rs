//! The common view of recipients, of shares of outputs, all other online messages, and all that they have themselves: no sum of
//! it tells two inputs with the same outputs apart.

use super::*;
use garblet_protocol::party_io;
use garblet_runs::testing::coalition::{self, Coalition, FUNCTIONS, Function, bits};

/// A coalition of recipients.
struct Case {
    plan: Arc<Plan>,
    first: u16,
    /// Set if shares of inputs follow from a seed that is known.
    known_seeds: bool,
}

impl Case {
    fn new(function: Function, form: Form, parties: u16, coalition: u16) -> Self {
        let plan = |program| plan(program, parties, Config { form, ot_width: Width::Four, ..Config::default() });
        Case::of(plan, (function, parties, coalition))
    }

    /// The same with silent OTs.
    fn silent(function: Function, form: Form, parties: u16, coalition: u16) -> Self {
        Case::of(|program| silent_plan(program, parties, form), (function, parties, coalition))
    }

    fn of(plan: impl Fn(Program) -> Arc<Plan>, (function, parties, coalition): (Function, u16, u16)) -> Self {
        let first = parties - coalition;
        Case { plan: plan(coalition::program(function, parties, first)), first, known_seeds: false }
    }
}

impl Coalition for Case {
    type Protocol = GmwParty;
    const RUNS: usize = 400;

    fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    fn first(&self) -> u16 {
        self.first
    }

    fn spoil(&self, own: u16, run: &mut Prepared, _earlier: &[Prepared]) {
        for (peer, seeds) in run.inputs.iter_mut() {
            if self.known_seeds && own.max(peer) < self.first {
                (seeds.ours, seeds.theirs) = (Default::default(), Default::default());
            }
        }
    }

    fn known(&self, run: &Prepared) -> Vec<bool> {
        let mut view = Vec::new();
        run.material.vectors().into_iter().for_each(|packed| view.extend(bits(packed.as_bytes())));
        for (peer, seeds) in run.inputs.iter() {
            // Inputs of all parties have as many bits.
            let bits = party_io::input_bits(self.plan.program(), Party(peer));
            view.extend(seeds.share_of_ours(bits).iter().chain(seeds.share_of_theirs(bits).iter()));
        }
        view
    }

    fn online_bytes(&self, _from: Party, to: Party) -> usize {
        let vectors = if self.plan.config().form == Form::Triples { 2 } else { 3 };
        let gates: usize = self.plan.layers().counts().iter().map(|ands| vectors * Packed::byte_len(*ands)).sum();
        gates + Packed::byte_len(self.plan.output_bits(to))
    }
}

#[test]
fn outputs_that_are_sums_tell_a_coalition_of_recipients_no_more_than_they_are() {
    for form in FORMS {
        for parties in 3..=5 {
            for coalition in 1..=parties - 2 {
                for (name, function) in FUNCTIONS {
                    // Five parties, and many gates, for one function and one shape.
                    if (parties < 5 || name == FUNCTIONS[3].0) && (name != FUNCTIONS[1].0 || coalition == 2) {
                        let case = Case::new(function, form, parties, coalition);
                        assert!(case.hides(), "{name}, {form:?}: {coalition} of {parties} parties learn more");
                    }
                }
            }
        }
    }
}

#[test]
fn with_silent_ots_they_tell_no_more_either() {
    for (at, (name, function)) in FUNCTIONS.into_iter().enumerate() {
        let (parties, coalition) = if at % 2 == 0 { (4, 2) } else { (3, 1) };
        let case = Case::silent(function, FORMS[at / 2], parties, coalition);
        assert!(case.hides(), "{name}: {coalition} of {parties} parties learn more");
    }
}

#[test]
fn with_shares_of_inputs_that_follow_from_known_seeds_outputs_tell_inputs() {
    for (name, function) in FUNCTIONS {
        let case = Case { known_seeds: true, ..Case::new(function, Form::Triples, 4, 2) };
        assert!(!case.hides(), "{name}");
    }
}
