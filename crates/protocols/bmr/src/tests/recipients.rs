//! The joint view of recipients (decoding bits, public values, and everything they hold themselves) has the same distribution
//! for two inputs with the same outputs.
//!
//! All these bits are sums of uniform bits, so equal hulls mean equal distributions: see [`Hull`](garblet_runs::testing::hull::Hull).

use garblet_ot::BitVec;

use super::{super::zeros, *};
use garblet_runs::{
    Reader, StoredRun,
    testing::coalition::{self, Coalition, FUNCTIONS, Function},
};

/// A bias planted in the parties.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bias {
    None,
    /// They omit shares of zero.
    NoZeros,
    /// All runs use the same shares of zero.
    SameZeros,
    /// Only the recipient knows the zeros that hide a share.
    ZerosOfRecipient,
}

/// A coalition of recipients.
struct Case {
    plan: Arc<Plan>,
    first: u16,
    bias: Bias,
    /// Set if runs are stored as bytes and used in another order.
    stored: bool,
}

impl Case {
    fn new(function: Function, kind: (Garbling, Form), parties: u16, coalition: u16) -> Self {
        let first = parties - coalition;
        let program = coalition::program(function, parties, first);
        let plan = plan(&program, parties, config(kind, Hash::Rekeyed)).unwrap();
        Case { plan, first, bias: Bias::None, stored: false }
    }

    /// Bits of public values and of output shares that a party sends to a member.
    fn told_bits(&self, from: Party, to: Party) -> [usize; 2] {
        [self.plan.input_bits(from), self.plan.output_bits(to)]
    }
}

impl Coalition for Case {
    type Protocol = BmrParty;
    const RUNS: usize = 320;

    fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    fn first(&self) -> u16 {
        self.first
    }

    fn spoil(&self, own: u16, run: &mut Prepared, earlier: &[Prepared]) {
        match (self.bias, earlier.first()) {
            (Bias::NoZeros, _) => run.zeros.0.clear(),
            (Bias::SameZeros, Some(first)) => run.zeros = first.zeros.clone(),
            // Peers are in order, without the party itself, so the coalition comes last.
            (Bias::ZerosOfRecipient, _) if own < self.first => drop(run.zeros.0.drain(..usize::from(self.first) - 1)),
            _ => (),
        }
    }

    fn used(&self, own: Party, runs: Vec<Prepared>) -> Vec<Prepared> {
        match self.stored {
            true => runs.into_iter().rev().map(|run| again(&self.plan, own, run)).collect(),
            false => runs,
        }
    }

    /// Permutation bits, and the seeds that the member has in common with each other party.
    fn known(&self, run: &Prepared) -> Vec<bool> {
        let mut bits: Vec<bool> = run.secrets.permutation.public("a test").collect();
        for recipient in (self.first..self.plan.parties()).map(Party) {
            let outputs = self.plan.output_bits(recipient);
            run.zeros.0.iter().for_each(|seed| bits.extend(zeros::of_pair(*seed, recipient, outputs).public("a test")));
        }
        bits
    }

    fn online_bytes(&self, from: Party, to: Party) -> usize {
        let [public, share] = self.told_bits(from, to).map(|bits| bits.div_ceil(8));
        public + label_bytes(&self.plan, to) + share
    }

    fn seen(&self, from: Party, to: Party, message: &[u8]) -> Vec<bool> {
        let [inputs, outputs] = self.told_bits(from, to);
        let (public, share) = (&message[..inputs.div_ceil(8)], &message[message.len() - outputs.div_ceil(8)..]);
        let bits = |bytes: &[u8], count| BitVec::from_bytes(bytes.to_vec(), count).unwrap();
        bits(public, inputs).public("a test").chain(bits(share, outputs).public("a test")).collect()
    }
}

/// A run, written to bytes and read back.
fn again(plan: &Plan, own: Party, prepared: Prepared) -> Prepared {
    let (run, mut bytes) = (prepared.run, Vec::new());
    prepared.write(plan, &mut bytes);
    assert_eq!(bytes.len(), Prepared::byte_len(plan, own));
    Prepared::read(plan, own, run, Reader::new(&bytes)).expect("what was written")
}

/// The sizes of all coalitions of recipients that the protocol allows and that leave two other parties.
fn sizes(kind: (Garbling, Form), parties: u16) -> impl Iterator<Item = u16> {
    let program = garblet_synthesis::library::find("lib:add(1)").unwrap();
    let most = plan(&program, parties, config(kind, Hash::Rekeyed)).unwrap().threshold();
    1..=most.min(parties - 2)
}

#[test]
fn outputs_that_are_sums_reveal_nothing_else_to_a_coalition_of_recipients() {
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
    // The largest coalitions that the protocols tolerate.
    for (kind, parties) in [(KINDS[3], 5), (KINDS[5], 7)] {
        assert!(Case::new(FUNCTIONS[3].1, kind, parties, 2).hides(), "{kind:?} with {parties} parties");
    }
}

#[test]
fn stored_runs_hide_shares_of_outputs_in_any_order() {
    for (kind, coalition) in [(KINDS[0], 2), (KINDS[3], 1), (HALF_GATES, 1), (HALF_GATES, 2)] {
        let case = Case { stored: true, ..Case::new(FUNCTIONS[3].1, kind, 4, coalition) };
        assert!(case.hides(), "{kind:?}");
    }
}

#[test]
fn without_fresh_and_secret_shares_of_zero_outputs_that_are_sums_reveal_inputs() {
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
