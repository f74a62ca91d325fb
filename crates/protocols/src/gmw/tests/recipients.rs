//! What recipients see when they put together shares of outputs, all other online messages, and all that they have
//! themselves: two inputs with the same outputs are not told apart by any sum of it.

use super::*;
use crate::{
    curious::{self, FUNCTIONS, Function},
    hull::Hull,
};

/// More than there are bits in a view, and the margin.
const RUNS: usize = 400;

/// Parties of which those from `first` on are a coalition of recipients.
struct Case {
    plan: Arc<Plan>,
    first: u16,
    /// Whether shares of inputs follow from a seed that is known.
    known_seeds: bool,
}

impl Case {
    fn new(function: Function, form: Form, parties: u16, coalition: u16) -> Self {
        let first = parties - coalition;
        let plan = plan(curious::program(function, parties, first), parties, Config { form, ot_width: Width::Four });
        Case { plan, first, known_seeds: false }
    }

    fn hides(&self) -> bool {
        let [one, other] = curious::twins(self.plan.program(), self.first)
            .expect("there are")
            .map(|inputs| Hull::of(&self.views(&inputs)));
        one.is(&other)
    }

    /// What the coalition sees of every run.
    fn views(&self, inputs: &[Bits]) -> Vec<Vec<bool>> {
        let (parties, plan) = (self.plan.parties(), &self.plan);
        let (done, transcripts) = block_on(async {
            let (meshes, transcripts) = intercepted_mesh(parties, None);
            let part = async |session: &mut MeshSession| self.all_runs(session, inputs).await;
            (run(meshes, 11, TIMEOUT, part).await, transcripts)
        });
        let mut known = done.into_iter().map(|known| known.expect("honest parties")).skip(self.first.into());
        let mut views: Vec<Vec<bool>> = known.next().expect("a coalition");
        known.for_each(|known| views.iter_mut().zip(known).for_each(|(view, known)| view.extend(known)));
        let vectors = if plan.config().form == Form::Triples { 2 } else { 3 };
        let gates: usize = plan.layers().map(|ands| vectors * Packed::byte_len(ands)).sum();
        for from in 0..self.first {
            for to in self.first..parties {
                let bytes = gates + Packed::byte_len(plan.output_bits(Party(to)));
                let sent = sent_online(&transcripts, from, to, RUNS, bytes);
                views.iter_mut().zip(sent.chunks(bytes)).for_each(|(view, sent)| view.extend(bits(sent)));
            }
        }
        views
    }

    /// One party's part in all runs. Returns what it has of each besides what is sent to it online.
    async fn all_runs(&self, session: &mut MeshSession, inputs: &[Bits]) -> Result<Vec<Vec<bool>>, ProtocolError> {
        let (plan, own) = (&self.plan, session.mesh().party());
        let values = own_inputs(plan.program(), own, inputs);
        let mut player = Player::setup(session, plan.clone()).await?;
        // All is prepared first, so that the online messages are the last.
        let mut ahead: Vec<Prepared> = Vec::new();
        for _ in 0..RUNS {
            let mut prepared = player.prepare(session).await?;
            for (peer, seeds) in prepared.inputs.iter_mut() {
                if self.known_seeds && own.max(peer) < self.first {
                    (seeds.ours, seeds.theirs) = (Default::default(), Default::default());
                }
            }
            ahead.push(prepared);
        }
        let mut known = Vec::new();
        for prepared in ahead {
            let mut view = self.known(&prepared);
            let outputs = player.online(session, prepared, &values).await?;
            view.extend(outputs.iter().flatten().flat_map(|output| output.iter().collect::<Vec<_>>()));
            known.push(view);
        }
        Ok(known)
    }

    fn known(&self, prepared: &Prepared) -> Vec<bool> {
        let mut view = Vec::new();
        let mut put = |packed: &Packed| view.extend(bits(packed.as_bytes()));
        match &prepared.material {
            Material::Triples(triples) => [&triples.a, &triples.b, &triples.c].into_iter().for_each(put),
            Material::BitOts(ots) => ots.iter().for_each(|(_, ots)| {
                [&ots.sent.zero, &ots.sent.one, &ots.received.choices, &ots.received.chosen]
                    .into_iter()
                    .for_each(&mut put);
            }),
        }
        for (peer, seeds) in prepared.inputs.iter() {
            // Inputs of all parties have as many bits.
            let bits = crate::interface::input_bits(self.plan.program(), Party(peer));
            view.extend(seeds.share_of_ours(bits).iter().chain(seeds.share_of_theirs(bits).iter()));
        }
        view
    }
}

fn bits(bytes: &[u8]) -> impl Iterator<Item = bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
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
fn with_shares_of_inputs_that_follow_from_known_seeds_outputs_tell_inputs() {
    for (name, function) in FUNCTIONS {
        let case = Case { known_seeds: true, ..Case::new(function, Form::Triples, 4, 2) };
        assert!(!case.hides(), "{name}");
    }
}
