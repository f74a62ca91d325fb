//! No sum of the bits that a coalition sees tells inputs with the same outputs apart, outputs that are sums of inputs included.
//!
//! A view has all bits that members have of a run: their shares of triples and masks, and what honest parties open or tell. Of labels there is bit 0. Of hashes,
//! tags and tables there is what is left for whoever has active labels and all parts of the tables: every honest party's share of whether a gate is wrong.

use std::{collections::HashMap, ops::Range};

use garblet_garble::joint::{AndGates, Gate as Operands, Quad};
use garblet_net::testing::PairTranscript;
use garblet_ot::LpnSet;
use garblet_primitives::{Engine, QUAD_LANES};
use garblet_protocol::parameters::OtKind;
use garblet_runs::testing::{
    coalition::{self, FUNCTIONS, bits},
    is_full,
};

use super::{lies::Watched, *};
use crate::{
    coins::COMMITMENT_BYTES,
    config::Build,
    many::{
        bits::squares,
        ground::DIGEST_BYTES,
        online::{label_bytes, unlocked},
        ots::SQUARE,
        prepare,
        reveal::ANSWER_BYTES,
    },
};

/// More runs than a view has bits, and the margin of hulls.
const RUNS: usize = 220;
/// The same with corrections of silent OTs.
const SILENT_RUNS: usize = 320;

/// A party's part of a run.
struct Kept {
    /// Its shares of masks, and of triples.
    shares: Vec<bool>,
    sent: Vec<(Step, usize, Vec<u8>)>,
    outputs: Vec<bool>,
}

/// So many runs of a party, in one session. Silent OTs are small, and have no security.
async fn runs_of(
    session: &mut MeshSession,
    (plan, runs): (&Plan, usize),
    party: Party,
    inputs: &[Bits],
) -> Result<Vec<Kept>, ProtocolError> {
    let mut ground = Ground::set_up(session, plan, party, Watched::default()).await?;
    if is_silent(plan) {
        ground.begin_silent(session, plan.setting(), SET).await?;
    }
    let own = own_inputs(plan, party, inputs);
    let mut all = Vec::new();
    for _ in 0..runs {
        ground.conduct.sent.clear();
        let (built, shares) = build(&mut ground, session, plan).await?;
        let outputs = ground.compute(session, plan, built, &own).await?;
        let outputs = outputs.iter().flatten().flat_map(|bits| bits.iter().collect::<Vec<_>>()).collect();
        all.push(Kept { shares, sent: std::mem::take(&mut ground.conduct.sent), outputs });
    }
    Ok(all)
}

/// The parameters of silent OTs.
const SET: LpnSet = LpnSet::TOY;

fn is_silent(plan: &Plan) -> bool {
    plan.setting().config.ot == OtKind::Silent
}

/// The places, in what a party sends another in a run, of the bytes with corrections of its silent OTs to the bits that it wants, and the number of bits of shares
/// among these.
///
/// They are in the first message after a batch of silent OTs both ways, behind a commitment.
fn corrections(plan: &Plan) -> (Range<usize>, usize) {
    let Amounts { triples, masks } = plan.amounts();
    let (leaky, masks) = (2 * triples as usize, masks as usize);
    let blocks = squares(prepare::bits(leaky, masks));
    let batch: u64 = SET.batch_messages((SQUARE * blocks) as u64).iter().sum();
    let begin = batch as usize + COMMITMENT_BYTES;
    (begin..begin + 16 * blocks, 3 * leaky + masks)
}

/// The places of the informative bytes in a message, in up to two pieces; `number` is that of earlier messages of its step to the party in the run.
fn informative(plan: &Plan, (step, number): (Step, usize), to: Party) -> [Range<usize>; 2] {
    let gates = plan.and_count();
    let [inputs, outputs] = [plan.input_bits(to), plan.output_bits(to)].map(|bits| bits.div_ceil(8));
    let bytes = match step {
        Step::ProductBits => 0..(2 * gates).div_ceil(8),
        Step::BucketBits => 0..gates.div_ceil(8),
        // Masks of inputs are opened alone, and then the bits of each lot.
        Step::GateBits if plan.config().build == Build::Stream => 0..if number == 0 { inputs } else { usize::MAX },
        Step::GateBits => 0..(2 * gates).div_ceil(8) + inputs,
        Step::MaskedInputs => 0..usize::MAX,
        Step::InputLabels if !plan.has_tags() || plan.config().build == Build::Stream => 0..0,
        Step::OutputMasks => 0..outputs,
        Step::InputLabels => {
            let masks = if to == plan.evaluator() { label_bytes(plan) } else { 0 };
            masks..masks + outputs
        }
        Step::RevealedGates if plan.config().build == Build::Stream => 0..1,
        Step::RevealedGates => 0..gates.div_ceil(8),
        Step::RevealedSums => {
            let masks = if to == plan.evaluator() { ANSWER_BYTES } else { 0 };
            masks..masks + outputs
        }
        Step::HandedOver => return [0..outputs, outputs + DIGEST_BYTES..2 * outputs + DIGEST_BYTES],
        _ => 0..0,
    };
    [bytes, 0..0]
}

/// The case of a coalition: the parties from `first` on.
struct Case<'a> {
    plan: &'a Plan,
    first: u16,
    /// The masks of party 0's inputs are opened to all; of silent OTs, all choices are zero.
    is_planted: bool,
}

impl Case<'_> {
    /// The coalition's view of every run.
    fn views(&self, inputs: &[Bits]) -> Vec<Vec<bool>> {
        let plan = self.plan;
        let runs = if is_silent(plan) { SILENT_RUNS } else { RUNS };
        let live = |runs| {
            let part = async |session: &mut MeshSession| {
                let party = Party(session.mesh().party());
                runs_of(session, (plan, runs), party, inputs).await
            };
            mesh_run::run_recorded(plan.parties(), 12, part)
        };
        let (kept, sent) = live(runs);
        let mut views: Vec<Vec<bool>> =
            (0..runs).map(|run| self.view(inputs, &kept.iter().map(|kept| &kept[run]).collect::<Vec<_>>())).collect();
        if is_silent(plan) && !self.is_planted {
            self.add_corrections(&mut views, &live(0).1, &sent);
        }
        views
    }

    /// Adds to views the corrections of silent OTs that honest parties send members. `before` is what all send before their first run.
    fn add_corrections(&self, views: &mut [Vec<bool>], before: &[PairTranscript], sent: &[PairTranscript]) {
        let (places, count) = corrections(self.plan);
        for (from, to) in (0..self.first).flat_map(|from| (self.first..self.plan.parties()).map(move |to| (from, to))) {
            let (begin, all) = (mesh_run::sent(before, from, to).len(), mesh_run::sent(sent, from, to));
            let of_run = (all.len() - begin) / views.len();
            for (view, run) in views.iter_mut().zip(all[begin..].chunks_exact(of_run)) {
                view.extend(bits(&run[places.clone()]).take(count));
            }
        }
    }

    fn view(&self, inputs: &[Bits], kept: &[&Kept]) -> Vec<bool> {
        let (plan, first) = (self.plan, usize::from(self.first));
        let (honest, members) = kept.split_at(first);
        let mut view: Vec<bool> =
            members.iter().flat_map(|kept| kept.shares.iter().chain(&kept.outputs)).copied().collect();
        for kept in honest {
            let mut numbers = HashMap::new();
            let seen = kept.sent.iter().filter(|(_, to, _)| *to >= first);
            for (step, to, message) in seen {
                let number = numbers.entry((*step as u8, *to)).or_insert(0);
                *number += 1;
                for places in informative(plan, (*step, *number - 1), Party(*to as u16)) {
                    view.extend(bits(&message[places.start..places.end.min(message.len())]));
                }
            }
        }
        if usize::from(plan.evaluator().0) >= first {
            let gates = public_values(plan, inputs, kept);
            view.extend(shares_of_wrong(plan, kept, &gates)[..first].concat());
            view.extend(gates.into_iter().map(|[_, _, result]| result));
            view.extend(labels(plan, kept));
        }
        if self.is_planted && is_silent(plan) {
            let wanted =
                honest.iter().flat_map(|kept| &kept.sent).filter(|(step, to, _)| *step == Step::Bits && *to >= first);
            wanted.for_each(|(_, _, blocks)| view.extend(bits(blocks).take(corrections(plan).1)));
        } else if self.is_planted {
            honest.iter().for_each(|kept| view.extend(plan.inputs_of(Party(0)).map(|at| kept.shares[at])));
        }
        view
    }

    /// Tells whether the coalition sees the same with two inputs that give it the same outputs; `None` if there are no such inputs.
    fn hides(&self) -> Option<bool> {
        coalition::hides(self.plan.program(), self.first, |inputs| self.views(inputs))
    }
}

/// Bit 0 of all labels of inputs that the evaluator unlocks.
fn labels(plan: &Plan, kept: &[&Kept]) -> Vec<bool> {
    let to_evaluator = |kept: &&&Kept| {
        let meant = |(step, to, _): &&(Step, usize, Vec<u8>)| {
            *step == Step::InputLabels && *to == usize::from(plan.evaluator().0)
        };
        kept.sent.iter().find(meant).map(|(_, _, message)| message.clone())
    };
    let messages: Vec<Vec<u8>> = kept.iter().filter_map(|kept| to_evaluator(&kept)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    let of_slot = |slot: usize| unlocked(&messages, slot, plan.input_count()).iter().map(|label| label.lsb()).collect();
    (0..messages.len()).flat_map(|slot| -> Vec<bool> { of_slot(slot) }).collect()
}

/// The public values of all gates' operands and results.
fn public_values(plan: &Plan, inputs: &[Bits], kept: &[&Kept]) -> Vec<[bool; 3]> {
    let values = inputs.iter().flat_map(|bits| bits.iter().collect::<Vec<_>>()).collect();
    let values = carried(plan, values, None);
    let masks =
        (0..plan.input_count() + plan.and_count()).map(|at| kept.iter().fold(false, |sum, kept| sum ^ kept.shares[at]));
    let masks: Vec<bool> = masks.collect();
    let of_wires = carried(plan, masks[..plan.input_count()].to_vec(), Some(&masks[plan.input_count()..]));
    let both = values.iter().zip(of_wires);
    both.map(|(value, mask)| [0, 1, 2].map(|wire| value[wire] ^ mask[wire])).collect()
}

/// Every party's shares of whether gates are wrong: they add up to zero. The evaluator has a MAC of each if it has all parts of the tables, or if values are
/// revealed.
fn shares_of_wrong(plan: &Plan, kept: &[&Kept], gates: &[[bool; 3]]) -> Vec<Vec<bool>> {
    let (count, inputs) = (plan.and_count(), plan.input_count());
    let masks =
        |kept: &&Kept| carried(plan, kept.shares[..inputs].to_vec(), Some(&kept.shares[inputs..inputs + count]));
    let masks: Vec<Vec<[bool; 3]>> = kept.iter().map(masks).collect();
    let of_triple =
        |kept: &Kept, gate: usize| [0, 1, 2].map(|factor| kept.shares[inputs + count + factor * count + gate]);
    let opened = |gate: usize, wire: usize| {
        let shares = kept.iter().zip(&masks).map(|(kept, masks)| masks[gate][wire] ^ of_triple(kept, gate)[wire]);
        shares.fold(false, |sum, share| sum ^ share)
    };
    let share = |party: usize, gate: usize| {
        let ([x, y, z], [a, b, c]) = (of_triple(kept[party], gate), masks[party][gate]);
        let ([d, e], [shown_a, shown_b, _]) = ([0, 1].map(|wire| opened(gate, wire)), gates[gate]);
        let product = z ^ d & y ^ e & x ^ (party == 0 && d && e);
        shown_a & b ^ shown_b & a ^ product ^ c
    };
    let all: Vec<Vec<bool>> =
        (0..kept.len()).map(|party| (0..count).map(|gate| share(party, gate)).collect()).collect();
    for (gate, [a, b, c]) in gates.iter().enumerate() {
        assert_eq!(all.iter().fold(false, |sum, shares| sum ^ shares[gate]), a & b ^ c, "gate {gate}");
    }
    all
}

/// The bits that the operands and the result of every gate carry, if inputs carry these: values, or masks if those of results are given.
fn carried(plan: &Plan, inputs: Vec<bool>, masks: Option<&[bool]>) -> Vec<[bool; 3]> {
    let inputs = inputs.into_iter().map(|bit| [wire(bit); QUAD_LANES]).collect();
    let mut carried = Carried { masks, gates: Vec::new() };
    plan.walk(inputs, &[wire(masks.is_none())]).advance(plan.and_count(), &mut carried);
    carried.gates
}

/// Wires that carry a bit in bit 0, and the bits of all gates.
struct Carried<'a> {
    masks: Option<&'a [bool]>,
    gates: Vec<[bool; 3]>,
}

fn wire(value: bool) -> Block {
    Block::from_u128(value.into())
}

impl AndGates for Carried<'_> {
    type State<E: Engine> = ();

    fn begin<E: Engine>(&self, _e: E) {}

    fn and<E: Engine>(&mut self, _e: E, _state: &mut (), gate: Operands<'_>, out: &mut [Quad]) {
        // An inversion changes a value, and no mask.
        let operands = [(gate.a, 0), (gate.b, 1)];
        let [a, b] = operands.map(|(operand, at)| operand[0][0].lsb() ^ (self.masks.is_none() && gate.inverted[at]));
        let result = self.masks.map_or(a & b, |masks| masks[gate.index]);
        self.gates.push([a, b, result]);
        out[0] = [wire(result); QUAD_LANES];
    }
}

/// The number of parties, the first member, and the evaluator of coalitions: a garbler, the evaluator, the evaluator and a garbler, two garblers. A single honest
/// party has outputs that tell its input.
const COALITIONS: [(u16, u16, u16); 5] = [(3, 2, 0), (3, 2, 2), (4, 2, 3), (4, 2, 2), (4, 2, 0)];

fn plan_of(
    function: coalition::Function,
    (parties, first, evaluator): (u16, u16, u16),
    (check, build, ot): (ResultCheck, Build, OtKind),
) -> Plan {
    let program = coalition::program(function, parties, first);
    let config = Config { check, build, evaluator, ot, ..Config::default() };
    Plan::new(program.into(), parties, config).expect("it can be run")
}

#[test]
fn no_sum_of_what_a_coalition_sees_tells_inputs() {
    let ways = [
        (ResultCheck::Tags, Build::Ahead),
        (ResultCheck::Reveal, Build::Stream),
        (ResultCheck::Tags, Build::Stream),
        (ResultCheck::Reveal, Build::Ahead),
    ];
    let cases = COALITIONS.into_iter().flat_map(|coalition| ways.map(|way| (coalition, way))).enumerate();
    // The short form has every coalition, each with one of the ways and every second function, in turn.
    for (at, (coalition, of_gates)) in cases.filter(|(at, _)| is_full() || at % 4 == at / 4 % 4) {
        let functions = FUNCTIONS.into_iter().enumerate().filter(|(f, _)| is_full() || (f + at / 4) % 2 == 0);
        for (_, (name, function)) in functions {
            let plan = plan_of(function, coalition, (of_gates.0, of_gates.1, OtKind::Extension));
            let hides = (Case { plan: &plan, first: coalition.1, is_planted: false }).hides();
            assert_eq!(hides, Some(true), "{name}, {of_gates:?}: parties, first member, evaluator: {coalition:?}");
        }
    }
}

#[test]
fn masks_of_inputs_that_are_opened_to_all_tell_inputs() {
    for coalition in [COALITIONS[0], COALITIONS[1], COALITIONS[4]] {
        let plan = plan_of(FUNCTIONS[0].1, coalition, (ResultCheck::Tags, Build::Ahead, OtKind::Extension));
        assert_eq!(Case { plan: &plan, first: coalition.1, is_planted: true }.hides(), Some(false), "{coalition:?}");
    }
}

/// Silent OTs have random choices, and what a party sends besides are corrections to the bits that it wants.
#[test]
fn no_sum_of_what_a_coalition_sees_of_silent_ots_tells_inputs() {
    let kind = (ResultCheck::Tags, Build::Ahead, OtKind::Silent);
    // The short form has every second case, in turn.
    let cases = COALITIONS.into_iter().zip(FUNCTIONS.into_iter().cycle()).enumerate();
    for (_, (coalition, (name, function))) in cases.filter(|(at, _)| is_full() || at % 2 == 0) {
        let plan = plan_of(function, coalition, kind);
        let hides = (Case { plan: &plan, first: coalition.1, is_planted: false }).hides();
        assert_eq!(hides, Some(true), "{name}: parties, first member, evaluator: {coalition:?}");
    }
}

#[test]
fn silent_ots_whose_choices_are_known_tell_inputs() {
    let plan = plan_of(FUNCTIONS[0].1, COALITIONS[0], (ResultCheck::Tags, Build::Ahead, OtKind::Silent));
    assert_eq!(Case { plan: &plan, first: COALITIONS[0].1, is_planted: true }.hides(), Some(false));
}
