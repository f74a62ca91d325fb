//! Coalitions of recipients that pool their views, in programs where some outputs are sums of inputs.

use std::sync::Arc;

use garblet_circuit::{Bits, Party, Program, Recipients, Type, evaluate, random};
use garblet_synthesis::builder::{Bit, BitString, CircuitBuilder};
use rand::{SeedableRng, rngs::StdRng};

use super::{
    hull::Hull,
    mesh_run::{own_inputs, run_recorded, sent_online},
};
use crate::joint::JointParty;
use garblet_protocol::{MeshSession, ProtocolError};

/// The plan of a coalition's protocol.
pub type PlanOf<C> = <<C as Coalition>::Protocol as JointParty>::Plan;
/// A run prepared by a party of a coalition's protocol.
pub(crate) type PreparedOf<C> = <<C as Coalition>::Protocol as JointParty>::Prepared;

/// A coalition of the last parties of a protocol.
pub trait Coalition: Sized {
    /// A party of its protocol.
    type Protocol: JointParty;

    /// The number of runs: more than a view has bits, plus the margin of [`Hull`].
    const RUNS: usize;

    /// The plan of all runs.
    fn plan(&self) -> &Arc<PlanOf<Self>>;

    /// The first member of the coalition.
    fn first(&self) -> u16;

    /// Plants a bias in a run that party `own` has prepared, given the earlier ones.
    fn spoil(&self, own: u16, run: &mut PreparedOf<Self>, earlier: &[PreparedOf<Self>]);

    /// The runs of party `own` in the order of use.
    fn used(&self, _own: Party, runs: Vec<PreparedOf<Self>>) -> Vec<PreparedOf<Self>> {
        runs
    }

    /// The bits of a prepared run that a member knows.
    fn known(&self, run: &PreparedOf<Self>) -> Vec<bool>;

    /// The online bytes of a run from a party to a member, without the run's number.
    fn online_bytes(&self, from: Party, to: Party) -> usize;

    /// The informative bits of these bytes.
    fn seen(&self, _from: Party, _to: Party, message: &[u8]) -> Vec<bool> {
        bits(message).collect()
    }

    /// Tells whether the coalition sees the same with two inputs that give it the same outputs.
    fn hides(&self) -> bool {
        let program = Self::Protocol::program(self.plan());
        hides(program, self.first(), |inputs| views(self, inputs)).expect("two such inputs")
    }
}

/// The bits of bytes, the first in the lowest place.
pub fn bits(bytes: &[u8]) -> impl Iterator<Item = bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
}

/// Tells whether views of two inputs with the same outputs have the same hull; `None` if no such inputs are found.
pub fn hides(program: &Program, first: u16, views: impl Fn(&[Bits]) -> Vec<Vec<bool>>) -> Option<bool> {
    let [one, other] = twins(program, first)?.map(|inputs| Hull::of(&views(&inputs)));
    Some(one.is(&other))
}

/// The whole view of a coalition for every run: its members' knowledge, and the others' online messages to them.
fn views<C: Coalition>(case: &C, inputs: &[Bits]) -> Vec<Vec<bool>> {
    let (first, parties) = (case.first(), C::Protocol::parties(case.plan()));
    let part = async |session: &mut MeshSession| all_runs(case, session, inputs).await;
    let (known, transcripts) = run_recorded(parties, 11, part);
    let mut views = vec![Vec::new(); C::RUNS];
    for known in known.into_iter().skip(first.into()) {
        views.iter_mut().zip(known).for_each(|(view, known)| view.extend(known));
    }
    for from in 0..first {
        for to in first..parties {
            let bytes = case.online_bytes(Party(from), Party(to));
            let sent = sent_online(&transcripts, from, to, C::RUNS, bytes);
            let messages = sent.chunks(bytes).map(|message| case.seen(Party(from), Party(to), message));
            views.iter_mut().zip(messages).for_each(|(view, seen)| view.extend(seen));
        }
    }
    views
}

/// One party's part in all runs. Returns its bits for each run, including its outputs.
async fn all_runs<C: Coalition>(
    case: &C,
    session: &mut MeshSession,
    inputs: &[Bits],
) -> Result<Vec<Vec<bool>>, ProtocolError> {
    let (plan, own) = (case.plan(), session.mesh().party());
    let values = own_inputs(C::Protocol::program(plan), own, inputs);
    let mut party = C::Protocol::setup(session, plan.clone()).await?;
    // All runs are prepared first, so the online messages come last.
    let mut ahead = Vec::new();
    for _ in 0..C::RUNS {
        let mut run = party.prepare(session).await?;
        case.spoil(own, &mut run, &ahead);
        ahead.push(run);
    }
    let mut known = Vec::new();
    for run in case.used(Party(own), ahead) {
        let mut bits = case.known(&run);
        let outputs = C::Protocol::online(run, plan, session, &values).await?;
        bits.extend(outputs.iter().flatten().flat_map(|output| output.iter().collect::<Vec<_>>()));
        known.push(bits);
    }
    Ok(known)
}

/// Bits of every party's input.
const WIDTH: u32 = 2;

/// A function of the inputs of all parties. Its first output is for all recipients, each other output for one of them.
pub type Function = fn(&mut CircuitBuilder, &[BitString]);

/// Functions whose outputs, or sums of them, are sums of inputs, by name.
pub const FUNCTIONS: [(&str, Function); 4] = [
    ("the sum of all", |c, inputs| {
        let all = sum(c, inputs);
        c.output("all", &all);
    }),
    ("a count of votes", |c, inputs| {
        let votes: Vec<Bit> = inputs.iter().map(|input| input.0[1]).collect();
        let count = c.count_ones(&votes);
        c.output("count", &count);
    }),
    ("two sums with one AND in both", |c, inputs| {
        let product = c.and(inputs[0].0[0], inputs[1].0[0]);
        let sums = BitString([0, 1].map(|party: usize| c.xor(product, inputs[party].0[1])).to_vec());
        c.output("sums", &sums);
    }),
    ("sums of some and of all, to each its own", |c, inputs| {
        let (all, some) = (sum(c, inputs), sum(c, &inputs[..2]));
        c.output("all", &all);
        c.output("some", &some);
        c.output("again", &all);
    }),
];

fn sum(c: &mut CircuitBuilder, words: &[BitString]) -> BitString {
    words[1..].iter().fold(words[0].clone(), |sum, word| c.xor_words(&sum, word))
}

/// The function for `parties` parties, where those from `first` on learn outputs.
pub fn program(function: Function, parties: u16, first: u16) -> Program {
    let mut c = CircuitBuilder::new("of-all");
    let inputs: Vec<BitString> = (0..parties).map(|k| c.input(format!("x{k}"), Type::Bits(WIDTH))).collect();
    function(&mut c, &inputs);
    let owners: Vec<Party> = (0..parties).map(Party).collect();
    let mut program = Program::from_component(c.finish().expect("well formed"), &owners).expect("well formed");
    for output in 0..program.outputs().len() as u16 {
        let one = first + output % (parties - first);
        let members = if output == 0 { first..parties } else { one..one + 1 };
        program.set_recipients(output.into(), Recipients::Only(members.map(Party).collect()));
    }
    program
}

/// Two inputs that differ in bit 1 of the first, and give the recipients the same inputs and outputs; `None` if they
/// are not found.
fn twins(program: &Program, first: u16) -> Option<[Vec<Bits>; 2]> {
    let mut rng = StdRng::seed_from_u64(3);
    let mut pairs = (0..10_000).map(|_| {
        let [one, mut other] = [(); 2].map(|()| random::inputs(&mut rng, program));
        other[first.into()..].clone_from_slice(&one[first.into()..]);
        [one, other]
    });
    pairs.find(|[one, other]| other[0].get(1) != one[0].get(1) && evaluate(program, other) == evaluate(program, one))
}
