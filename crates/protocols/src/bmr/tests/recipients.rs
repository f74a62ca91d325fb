//! What recipients see when they put together what decodes their outputs, public values, and all that they have themselves:
//! for two inputs with the same outputs it is of one distribution.
//!
//! All these bits are sums of uniform bits, so that equal hulls are equal distributions: see [`Hull`].

use garblet_net::testing::{Direction, PairTranscript, intercepted_mesh};
use garblet_ot::Choices;

use super::{
    super::{secrets::Secrets, zeros},
    *,
};
use crate::{
    curious::{self, FUNCTIONS, Function},
    hull::Hull,
    run_id::RUN_ID_BYTES,
    runs::{Reader, StoredRun},
};

/// More than there are bits in a view, and the margin.
const RUNS: usize = 320;

/// What is wrong with the parties.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bias {
    None,
    /// They do without shares of zero.
    NoZeros,
    /// All runs have the same.
    SameZeros,
    /// Only the recipient knows what hides a share.
    ZerosOfRecipient,
}

/// Parties of which the last are a coalition of recipients.
struct Case {
    plan: Arc<Plan>,
    first: u16,
    bias: Bias,
    /// Whether runs are kept as bytes, and served in another order.
    stored: bool,
}

impl Case {
    fn new(function: Function, kind: (Garbling, Form), parties: u16, coalition: u16) -> Self {
        let first = parties - coalition;
        let program = curious::program(function, parties, first);
        let plan = plan(&program, parties, config(kind, Hash::Rekeyed)).unwrap();
        Case { plan, first, bias: Bias::None, stored: false }
    }

    /// Whether the coalition sees the same with two such inputs.
    fn hides(&self) -> bool {
        let [one, other] = curious::twins(self.plan.program(), self.first)
            .expect("there are")
            .map(|inputs| Hull::of(&self.views(&inputs)));
        one.is(&other)
    }

    /// What the coalition sees of every run.
    fn views(&self, inputs: &[Bits]) -> Vec<Vec<bool>> {
        let parties = self.plan.parties();
        let (done, transcripts) = block_on(async {
            let (meshes, transcripts) = intercepted_mesh(parties, None);
            (
                run(meshes, 11, TIMEOUT, async |session: &mut MeshSession| self.all_runs(session, inputs).await).await,
                transcripts,
            )
        });
        let mut known = done.into_iter().map(|known| known.expect("honest parties")).skip(self.first.into());
        let mut views: Vec<Vec<bool>> = known.next().expect("a coalition");
        known.for_each(|known| views.iter_mut().zip(known).for_each(|(view, known)| view.extend(known)));
        for from in 0..self.first {
            for to in self.first..parties {
                self.see(&mut views, from, to, &transcripts);
            }
        }
        views
    }

    /// Adds what a party outside of the coalition sends online to a member: public values, and shares of outputs.
    fn see(&self, views: &mut [Vec<bool>], from: u16, to: u16, transcripts: &[PairTranscript]) {
        let plan = &self.plan;
        let transcript = transcripts.iter().find(|(pair, _)| *pair == (from, to)).expect("every pair has one");
        let frames = transcript.1.frames().into_iter().filter(|frame| frame.direction == Direction::Forth);
        let all: Vec<u8> = frames.flat_map(|frame| frame.payload).collect();
        let (inputs, outputs) = (plan.input_bits(Party(from)), plan.output_bits(Party(to)));
        let [public, share] = [inputs, outputs].map(|bits| bits.div_ceil(8));
        let bytes = RUN_ID_BYTES + public + 16 * plan.input_count() + share;
        for (view, sent) in views.iter_mut().zip(all[all.len() - RUNS * bytes..].chunks(bytes)) {
            let sent = &sent[RUN_ID_BYTES..];
            view.extend(Choices::from_bytes(sent[..public].to_vec(), inputs).unwrap().iter());
            view.extend(Choices::from_bytes(sent[sent.len() - share..].to_vec(), outputs).unwrap().iter());
        }
    }

    /// One party's part in all runs. Returns what it has of each besides what is sent to it: its bits, what it has in common
    /// with each other party, and its outputs.
    async fn all_runs(&self, session: &mut MeshSession, inputs: &[Bits]) -> Result<Vec<Vec<bool>>, ProtocolError> {
        let (plan, own) = (&self.plan, Party(session.mesh().party()));
        let values = own_inputs(plan.program(), own.0, inputs);
        let mut party = JointParty::setup(session, plan.clone()).await?;
        // All is prepared first, so that the online messages are the last.
        let mut ahead: Vec<Prepared> = Vec::new();
        for _ in 0..RUNS {
            let mut prepared = party.prepare(session).await?;
            self.spoil(own, &mut prepared, ahead.first());
            ahead.push(prepared);
        }
        if self.stored {
            ahead = ahead.into_iter().rev().map(|prepared| again(plan, own, prepared)).collect();
        }
        let mut known = Vec::new();
        for prepared in ahead {
            let mut bits = self.known(&prepared.secrets, &prepared.zeros.0);
            let outputs = prepared.online(plan, session, &values).await?;
            bits.extend(outputs.iter().flatten().flat_map(|output| output.iter().collect::<Vec<_>>()));
            known.push(bits);
        }
        Ok(known)
    }

    fn known(&self, secrets: &Secrets, seeds: &[Block]) -> Vec<bool> {
        let mut bits: Vec<bool> = secrets.permutation.iter().collect();
        for recipient in (self.first..self.plan.parties()).map(Party) {
            let outputs = self.plan.output_bits(recipient);
            seeds.iter().for_each(|seed| bits.extend(zeros::of_pair(*seed, recipient, outputs).iter()));
        }
        bits
    }

    fn spoil(&self, own: Party, prepared: &mut Prepared, first: Option<&Prepared>) {
        match (self.bias, first) {
            (Bias::NoZeros, _) => prepared.zeros.0.clear(),
            (Bias::SameZeros, Some(first)) => prepared.zeros = first.zeros.clone(),
            // Of peers, which are in order without the party itself, those of the coalition come last.
            (Bias::ZerosOfRecipient, _) if own.0 < self.first => {
                drop(prepared.zeros.0.drain(..usize::from(self.first) - 1))
            }
            _ => (),
        }
    }
}

/// A run that was kept as bytes.
fn again(plan: &Plan, own: Party, prepared: Prepared) -> Prepared {
    let (run, mut bytes) = (prepared.run, Vec::new());
    prepared.write(plan, &mut bytes);
    assert_eq!(bytes.len(), Prepared::byte_len(plan, own));
    Prepared::read(plan, own, run, Reader::new(&bytes)).expect("what was written")
}

/// So many parties, and every coalition of recipients that the protocol allows and that leaves two.
fn sizes(kind: (Garbling, Form), parties: u16) -> impl Iterator<Item = u16> {
    let program = garblet_circuit::library::find("lib:add(1)").unwrap();
    let most = plan(&program, parties, config(kind, Hash::Rekeyed)).unwrap().threshold();
    1..=most.min(parties - 2)
}

#[test]
fn outputs_that_are_sums_tell_a_coalition_of_recipients_no_more_than_they_are() {
    for parties in 3..=5 {
        for coalition in sizes(KINDS[0], parties) {
            // Five parties for one function.
            for (name, function) in FUNCTIONS.into_iter().skip(if parties == 5 { 3 } else { 0 }) {
                let case = Case::new(function, KINDS[0], parties, coalition);
                assert!(case.hides(), "{name}: {coalition} of {parties} parties learn more");
            }
        }
    }
}

#[test]
fn every_form_hides_shares_of_outputs() {
    for kind in KINDS {
        let parties = if kind.0 == Garbling::Bgw2 { 4 } else { 3 };
        for (name, function) in [FUNCTIONS[0], FUNCTIONS[2]] {
            assert!(Case::new(function, kind, parties, 1).hides(), "{kind:?}, {name}");
        }
    }
    // As many as may be corrupted.
    for (kind, parties) in [(KINDS[3], 5), (KINDS[5], 7)] {
        assert!(Case::new(FUNCTIONS[3].1, kind, parties, 2).hides(), "{kind:?} with {parties} parties");
    }
}

#[test]
fn runs_from_a_store_hide_shares_of_outputs_in_any_order() {
    for (kind, coalition) in [(KINDS[0], 2), (KINDS[3], 1)] {
        let case = Case { stored: true, ..Case::new(FUNCTIONS[3].1, kind, 4, coalition) };
        assert!(case.hides(), "{kind:?}");
    }
}

#[test]
fn without_fresh_shares_of_zero_that_recipients_do_not_know_outputs_that_are_sums_tell_inputs() {
    for (name, function) in FUNCTIONS {
        for bias in [Bias::NoZeros, Bias::SameZeros, Bias::ZerosOfRecipient] {
            for stored in [false, true] {
                let case = Case { bias, stored, ..Case::new(function, KINDS[0], 4, 2) };
                // Fewer seeds than peers cannot be stored.
                if !stored || bias == Bias::SameZeros {
                    assert!(!case.hides(), "{name}");
                }
            }
        }
    }
}
