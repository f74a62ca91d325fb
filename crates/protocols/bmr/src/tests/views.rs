//! The largest allowed coalition's view of an honest party is uniform over many runs with the same inputs.
//!
//! The tests check three views: the bytes that the honest party sends to the coalition; the sums of private bytes that two of
//! the coalition got from it, which would show anything hidden twice under the same mask; and the public values of
//! the gates without the permutation bits of the coalition. Base OTs and other set-up are left out.

use garblet_circuit::{Recipients, Type};
use garblet_net::{PerPeer, testing::PairTranscript};
use garblet_ot::BitVec;
use garblet_primitives::Backend;
use garblet_synthesis::builder::{BitString, CircuitBuilder};

use super::{
    super::{
        evaluate::{evaluate as evaluate_circuit, public_values},
        half_gates,
        open::open_bytes,
        pairs::PairOts,
        party::{Garbler, Rows},
        rows::Numbered,
        secrets::Secrets,
        source::RowSource,
    },
    *,
};
use garblet_protocol::{Phase, run_id::RUN_ID_BYTES};
use garblet_runs::{
    joint::JointParty,
    testing::{
        mesh_run::{hellos, run_recorded, sent},
        uniformity::View,
    },
};

/// A little over five bytes for each value of a byte.
const RUNS: usize = 1300;

/// The honest party; the coalition consists of those after it.
const HONEST: u16 = 0;

const WIDTH: u32 = 8;

/// The number of gates of [`program`].
const GATES: usize = 2 * WIDTH as usize;

/// The gate, or the OT whose choice comes later, that a planted bias concerns.
const SPOILT: usize = 11;

/// A bias planted in the honest party.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bias {
    None,
    /// Its permutation bit of a gate is always 0.
    PermutationBit,
    /// Its random choice in an OT is always 0.
    Choice,
    /// Its generator restarts in every run.
    Generator,
}

/// Two layers of AND gates: an output bit for every gate. The parties from `first` on learn all.
fn program(first: u16) -> Program {
    let mut c = CircuitBuilder::new("two-layers");
    let [a, b]: [BitString; 2] = ["a", "b"].map(|name| c.input(name, Type::Bits(WIDTH)));
    let one = c.and_words(&a, &b);
    let turned = BitString(b.0.iter().cycle().skip(1).take(b.0.len()).copied().collect());
    let second = c.and_words(&one, &turned);
    c.output("first", &one);
    c.output("second", &second);
    let mut program = Program::from_component(c.finish().unwrap(), &[Party(0), Party(1)]).unwrap();
    if first > 0 {
        (0..2).for_each(|output| program.set_recipients(output, Recipients::Only(vec![Party(1), Party(2)])));
    }
    program
}

/// A party's part of a run.
struct Kept {
    secrets: Secrets,
    numbered: Numbered,
    circuit: Vec<Block>,
}

/// All runs.
struct Seen {
    plan: Arc<Plan>,
    inputs: [Bits; 2],
    /// The parts of runs, by party and run.
    kept: Vec<Vec<Kept>>,
    transcripts: Vec<PairTranscript>,
    /// Bytes of a run from the honest party to each other.
    run_bytes: Vec<usize>,
    online: bool,
}

impl Seen {
    /// Runs with the same inputs, a bias planted. `online` is whether the circuits are also evaluated.
    fn of(kind: (Garbling, Form), bias: Bias, online: bool) -> Self {
        Seen::of_program(&program(0), kind, bias, online)
    }

    fn of_program(program: &Program, (garbling, form): (Garbling, Form), bias: Bias, online: bool) -> Self {
        // The fewest parties that tolerate two corrupted ones.
        let parties = match garbling {
            Garbling::Ot => 3,
            Garbling::Bgw4 | Garbling::Bgw3 => 5,
            Garbling::Bgw2 => 7,
        };
        let plan = plan(program, parties, config((garbling, form), Hash::Rekeyed)).unwrap();
        assert_eq!((plan.and_count(), plan.threshold()), (GATES, 2));
        let inputs = [0x5a, 0x0f].map(|value| Bits::from_u128(value, WIDTH as usize));
        let part = async |session: &mut MeshSession| {
            let bias = if session.mesh().party() == HONEST { bias } else { Bias::None };
            all_runs(session, plan.clone(), &inputs, bias, online).await
        };
        let (done, transcripts) = run_recorded(parties, 9, part);
        let (kept, mut bytes): (_, Vec<Vec<usize>>) = done.into_iter().unzip();
        Seen { plan, inputs, kept, transcripts, run_bytes: bytes.swap_remove(HONEST.into()), online }
    }

    /// The messages of the honest party to a member of the coalition, without the numbers of runs.
    fn sent(&self, to: u16) -> View {
        let mut all = sent(&self.transcripts, HONEST, to);
        let bytes = self.run_bytes[usize::from(to) - 1];
        all.drain(..all.len() - RUNS * bytes);
        if !self.online {
            return View { all, places: bytes };
        }
        let after = self.online_bytes(to);
        let before = bytes - after - RUN_ID_BYTES;
        let runs = all.chunks(bytes).flat_map(|run| run[..before].iter().chain(&run[bytes - after..]));
        View { all: runs.copied().collect(), places: before + after }
    }

    /// Bytes of the honest party's messages to a member with inputs, without the number of the run.
    fn online_bytes(&self, to: u16) -> usize {
        let packed = |bits: usize| bits.div_ceil(8);
        let garbles = self.plan.slot(Party(HONEST)).is_some();
        let labels = if garbles { label_bytes(&self.plan, Party(to)) } else { 0 };
        packed(self.plan.input_bits(Party(HONEST))) + labels + packed(self.plan.output_bits(Party(to)))
    }

    /// The sums of two members' messages that should be independent: all those before the circuit is opened.
    fn summed(&self) -> View {
        let hellos = hellos(self.plan.parties());
        let bytes = |phase| communication(&self.plan, Party(HONEST), phase, &hellos).bytes_sent;
        let before = bytes(Phase::Prepare) + bytes(Phase::Build) - open_bytes(&self.plan, Party(HONEST));
        let [one, two] = [1, 2].map(|to| self.sent(to));
        let places = match self.plan.form() {
            // Other messages for the evaluator.
            Form::HalfGates => {
                let before = |to: u16| self.run_bytes[usize::from(to) - 1] - self.online_bytes(to) - RUN_ID_BYTES;
                before(1).min(before(2))
            }
            _ => before as usize / (usize::from(self.plan.parties()) - 1),
        };
        let runs = one.all.chunks(one.places).zip(two.all.chunks(two.places));
        let sums = runs.flat_map(|(one, two)| one.iter().zip(two).take(places).map(|(one, two)| one ^ two));
        View { all: sums.collect(), places }
    }

    /// The public values of the gates, without the permutation bits of the coalition.
    fn public(&self) -> View {
        let all = (0..RUNS).flat_map(|run| {
            let bits: BitVec = self.public_bits(run).into_iter().collect();
            bits.as_bytes().to_vec()
        });
        View { all: all.collect(), places: GATES / 8 }
    }

    fn public_bits(&self, run: usize) -> Vec<bool> {
        let plan = &self.plan;
        let all: Vec<&Kept> = self.kept.iter().map(|kept| &kept[run]).collect();
        let sum = |parties: &[&Kept], at| {
            parties.iter().fold(false, |sum, kept| sum ^ kept.secrets.permutation.get(at).public("a test"))
        };
        let values: Vec<bool> = self.inputs.iter().flat_map(|bits| bits.iter().collect::<Vec<_>>()).collect();
        let labels = |at: usize| {
            let public = values[at] ^ sum(&all, at);
            let garblers = all.iter().filter(|kept| plan.slot(kept.secrets.party).is_some());
            garblers.map(move |kept| kept.secrets.label(at, public)).collect::<Vec<_>>()
        };
        let labels: Vec<Block> = (0..plan.input_count()).flat_map(labels).collect();
        let member = all[1];
        let slots = match plan.form() {
            Form::HalfGates => {
                let circuit = &all[usize::from(plan.evaluator().0)].circuit;
                half_gates::evaluate(plan, &labels, circuit, Backend::detect()).to_vec()
            }
            _ => evaluate_circuit(plan, member.numbered, &labels, &member.circuit, Backend::detect()),
        };
        let public = public_values(plan, &slots, plan.outputs_of(Party(1))).unwrap_or_else(|_| panic!("run {run}"));
        // The layers are in the order of the outputs.
        let gates = public.0.iter().enumerate();
        gates.map(|(gate, public)| public ^ sum(&all[1..], plan.input_count() + gate)).collect()
    }
}

/// One party's part in all runs. Also returns the bytes that each run sends to each other party.
async fn all_runs(
    session: &mut MeshSession,
    plan: Arc<Plan>,
    inputs: &[Bits],
    bias: Bias,
    online: bool,
) -> Result<(Vec<Kept>, Vec<usize>), ProtocolError> {
    let own = own_inputs(plan.program(), session.mesh().party(), inputs);
    let mut party = BmrParty::setup(session, plan.clone()).await?;
    let before = session.mesh().traffic_by_peer();
    let mut kept = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let BmrParty { garbler, rows } = &mut party;
        let spoil = |ots: &mut PerPeer<PairOts>| {
            ots.iter_mut()
                .filter(|_| bias == Bias::Choice)
                .for_each(|(_, ots)| ots.later = with_zero(&ots.later, SPOILT));
        };
        let prepared = match rows {
            Rows::Linear(source) => spoilt(session, garbler, source, &plan, bias, spoil).await?,
            Rows::Published(source) => spoilt(session, garbler, source, &plan, bias, spoil).await?,
            Rows::HalfGates(source) => spoilt(session, garbler, source, &plan, bias, spoil).await?,
            Rows::Bgw(source) => spoilt(session, garbler, source, &plan, bias, |_| ()).await?,
            Rows::BgwPublished(source) => spoilt(session, garbler, source, &plan, bias, |()| ()).await?,
        };
        let (secrets, numbered, circuit) = (prepared.secrets.clone(), prepared.numbered, prepared.circuit.clone());
        kept.push(Kept { secrets, numbered, circuit });
        if online {
            BmrParty::online(prepared, &plan, session, &own).await?;
        }
    }
    let sent =
        session.mesh().traffic_by_peer().zip(before).map(|_, (after, before)| after.bytes_sent - before.bytes_sent);
    Ok((kept, sent.into_iter().map(|(_, bytes)| bytes as usize / RUNS).collect()))
}

/// A circuit garbled by a party with a planted bias.
async fn spoilt<S: RowSource>(
    session: &mut MeshSession,
    garbler: &mut Garbler,
    source: &mut S,
    plan: &Plan,
    bias: Bias,
    spoil: impl Fn(&mut S::Material),
) -> Result<Prepared, ProtocolError> {
    if bias == Bias::Generator {
        *session.rng() = Prg::new(Block::ONES);
    }
    let mut secrets = garbler.secrets(session);
    if bias == Bias::PermutationBit {
        secrets.permutation = with_zero(&secrets.permutation, plan.input_count() + SPOILT);
    }
    let mut material = source.prepare(session, plan, &secrets).await?;
    spoil(&mut material);
    garbler.garble(session, source, secrets, material).await
}

/// The bits, with one set to 0.
fn with_zero(bits: &BitVec, at: usize) -> BitVec {
    bits.iter().enumerate().map(|(k, bit)| bit & (k != at)).collect()
}

#[test]
fn a_coalitions_view_is_uniform() {
    for kind in KINDS {
        let seen = Seen::of(kind, Bias::None, true);
        for to in 1..=seen.plan.threshold() {
            assert_eq!(seen.sent(to).biased(), Vec::<usize>::new(), "{kind:?} to {to}");
        }
        assert_eq!((seen.summed().biased(), seen.public().biased()), (vec![], vec![]), "{kind:?}");
    }
}

#[test]
fn what_an_evaluator_of_half_gates_sees_with_a_garbler_is_uniform() {
    let seen = Seen::of_program(&program(1), HALF_GATES, Bias::None, true);
    assert_eq!(seen.plan.evaluator(), Party(1));
    for to in 1..=2 {
        assert_eq!(seen.sent(to).biased(), Vec::<usize>::new(), "to {to}");
    }
    assert_eq!((seen.summed().biased(), seen.public().biased()), (vec![], vec![]));
    let biased = Seen::of_program(&program(1), HALF_GATES, Bias::PermutationBit, true);
    assert_eq!(biased.public().biased(), [SPOILT / 8]);
}

#[test]
fn a_known_permutation_bit_shows_in_the_public_values() {
    for kind in [KINDS[0], KINDS[1]] {
        let seen = Seen::of(kind, Bias::PermutationBit, true);
        assert_eq!(seen.public().biased(), [SPOILT / 8], "{kind:?}");
        // The gate is an output too, but a share of zero hides its bit.
        assert_eq!(seen.sent(1).biased(), Vec::<usize>::new(), "{kind:?}");
        assert_eq!(seen.summed().biased(), Vec::<usize>::new(), "{kind:?}");
    }
}

#[test]
fn a_known_choice_shows_to_two_parties_together() {
    for (kind, after) in [(KINDS[0], GATES / 8), (KINDS[1], 0)] {
        let seen = Seen::of(kind, Bias::Choice, false);
        let prepared = seen.summed().places - build_bytes(&seen.plan);
        assert_eq!(seen.summed().biased(), [prepared + after + SPOILT / 8], "{kind:?}");
    }
}

/// The bytes that a build sends to another party before the circuit is opened.
fn build_bytes(plan: &Plan) -> usize {
    let gates = plan.and_count();
    match plan.form() {
        Form::Linear => 2 * gates / 8,
        Form::Published(_) => 5 * gates / 8 + 48 * gates,
        Form::HalfGates => unreachable!("not looked at"),
    }
}

#[test]
fn a_repeating_generator_shows_at_once() {
    for kind in [KINDS[0], KINDS[2], KINDS[3]] {
        let biased = Seen::of(kind, Bias::Generator, true).sent(1).biased();
        // At least the labels of all inputs.
        assert!(biased.len() >= 16 * 2 * WIDTH as usize, "{kind:?}: {}", biased.len());
    }
}
