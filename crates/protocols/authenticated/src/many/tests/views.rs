//! No sum of the bits that a coalition sees tells inputs with the same outputs apart, outputs that are sums of inputs included.
//!
//! A view has all bits that members have of a run: their shares of triples and masks, and what honest parties open or tell. Of labels there is bit 0. Of hashes,
//! tags and tables there is what is left for whoever has active labels and all parts of the tables: every honest party's share of whether a gate is wrong.

use std::{collections::HashMap, ops::Range};

use garblet_garble::joint::{AndGates, Gate as Operands, Quad};
use garblet_primitives::{Engine, QUAD_LANES};
use garblet_runs::testing::{
    coalition::{self, FUNCTIONS, bits},
    is_full,
};

use super::{lies::Watched, *};
use crate::{
    config::Build,
    many::{
        ground::DIGEST_BYTES,
        online::{label_bytes, unlocked},
        reveal::ANSWER_BYTES,
    },
};

/// More runs than a view has bits, and the margin of hulls.
const RUNS: usize = 220;

/// A party's part of a run.
struct Kept {
    /// Its shares of masks, and of triples.
    shares: Vec<bool>,
    sent: Vec<(Step, usize, Vec<u8>)>,
    outputs: Vec<bool>,
}

/// All runs of a party, in one session.
async fn runs_of(
    session: &mut MeshSession,
    plan: &Plan,
    party: Party,
    inputs: &[Bits],
) -> Result<Vec<Kept>, ProtocolError> {
    let mut ground = Ground::set_up(session, plan, party, Watched::default()).await?;
    let own = own_inputs(plan, party, inputs);
    let mut all = Vec::new();
    for _ in 0..RUNS {
        ground.conduct.sent.clear();
        let (built, shares) = build(&mut ground, session, plan).await?;
        let outputs = ground.compute(session, plan, built, &own).await?;
        let outputs = outputs.iter().flatten().flat_map(|bits| bits.iter().collect::<Vec<_>>()).collect();
        all.push(Kept { shares, sent: std::mem::take(&mut ground.conduct.sent), outputs });
    }
    Ok(all)
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
    /// The masks of party 0's inputs are opened to all.
    is_planted: bool,
}

impl Case<'_> {
    /// The coalition's view of every run.
    fn views(&self, inputs: &[Bits]) -> Vec<Vec<bool>> {
        let plan = self.plan;
        let kept = all(plan.parties(), 12, async |session, party| runs_of(session, plan, party, inputs).await);
        let kept: Vec<Vec<Kept>> = kept.into_iter().map(|kept| kept.expect("all are honest")).collect();
        (0..RUNS).map(|run| self.view(inputs, &kept.iter().map(|kept| &kept[run]).collect::<Vec<_>>())).collect()
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
        if self.is_planted {
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
    (check, build): (ResultCheck, Build),
) -> Plan {
    let program = coalition::program(function, parties, first);
    Plan::new(program.into(), parties, Config { check, build, evaluator, ..Config::default() }).expect("it can be run")
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
            let plan = plan_of(function, coalition, of_gates);
            let hides = (Case { plan: &plan, first: coalition.1, is_planted: false }).hides();
            assert_eq!(hides, Some(true), "{name}, {of_gates:?}: parties, first member, evaluator: {coalition:?}");
        }
    }
}

#[test]
fn masks_of_inputs_that_are_opened_to_all_tell_inputs() {
    for coalition in [COALITIONS[0], COALITIONS[1], COALITIONS[4]] {
        let plan = plan_of(FUNCTIONS[0].1, coalition, (ResultCheck::Tags, Build::Ahead));
        assert_eq!(Case { plan: &plan, first: coalition.1, is_planted: true }.hides(), Some(false), "{coalition:?}");
    }
}
