//! The secrets that the evaluator learns from labels that share masks.

use std::collections::HashMap;

use garblet_circuit::{Circuit, Component, Gate, OutputWire, Port, Schedule, Type, Wire, evaluate_circuit};
use garblet_garble::{ComponentGarbling, GarblingConfig, InstanceEvaluator};
use garblet_primitives::Block;

use crate::scmc::linear::{Form, System};
use crate::scmc::{Blocks, View};

/// The findings of the attack.
#[derive(Debug)]
pub struct Learned {
    /// Delta, as low and high half.
    pub delta: u128,
    /// Values of the first component's inputs, where they are determined.
    pub first_inputs: Vec<Option<bool>>,
    /// Values of the second component's first block, which went over the link.
    pub state: Vec<Option<bool>>,
    /// The garbler's second block of the first component's inputs, from its inputs and outputs.
    pub key: Option<Vec<bool>>,
}

/// Delta, if the active labels of some two blocks differ in two ways only: the published scheme's flaw.
///
/// *Shape*: blocks of active labels, wire by wire.
pub(crate) fn find_delta(blocks: &[&[Block]]) -> Option<Block> {
    let mut votes: HashMap<u128, usize> = HashMap::new();
    for (at, one) in blocks.iter().enumerate() {
        for other in &blocks[..at] {
            let mut sums: Vec<u128> = one.iter().zip(*other).map(|(a, b)| (*a ^ *b).to_u128()).collect();
            let wires = sums.len();
            sums.sort_unstable();
            sums.dedup();
            if let ([low, high], true) = (&sums[..], wires > 2) {
                *votes.entry(low ^ high).or_default() += 1;
            }
        }
    }
    votes.into_iter().max_by_key(|(_, votes)| *votes).map(|(delta, _)| Block::from_u128(delta))
}

/// Carries the attack out on two linked rounds whose first block of inputs is the state and whose second is a key that
/// is added at the end.
pub fn attack(blocks: &Blocks<'_>, view: &View) -> Option<Learned> {
    let component = blocks.component;
    let instances = ComponentGarbling::new(component, GarblingConfig::default());
    let evaluate = |k: u64, inputs: &[Block]| {
        let mut outputs = vec![Block::ZERO; instances.output_count()];
        let tables = &view.tables[k as usize][..];
        InstanceEvaluator::new(view.hash_seed).evaluate((&instances, 0), &[k], inputs, &[tables], &mut outputs);
        let offsets = &view.offsets[k as usize];
        outputs.iter().zip(offsets).map(|(label, offset)| *label ^ *offset).collect::<Vec<Block>>()
    };
    // An honest evaluation first.
    let first_outputs = evaluate(0, &view.first_inputs);
    let mut second_inputs: Vec<Block> = first_outputs.iter().map(|label| *label ^ view.link).collect();
    second_inputs.extend_from_slice(&view.second_inputs);
    let second_outputs = evaluate(1, &second_inputs);

    let inputs = [&view.first_inputs, &second_inputs];
    let outputs = [&first_outputs[..], &second_outputs[..]];
    let all: Vec<&[Block]> = inputs.iter().flat_map(|labels| labels.chunks(blocks.width)).chain(outputs).collect();
    let delta = find_delta(&all)?;

    let values = |k: u64, inputs: &[Block]| {
        let first_gate = instances.numbering().first_gate(k);
        learn(component, view.hash_seed, first_gate, &view.tables[k as usize], inputs, delta)
    };
    let first = values(0, &view.first_inputs);
    let second = values(1, &second_inputs);
    let state = second[..blocks.width].to_vec();
    Some(Learned { delta: delta.to_u128(), key: added_key(blocks, &first, &state), first_inputs: first, state })
}

/// The key is the output plus the output under the key zero.
fn added_key(blocks: &Blocks<'_>, first: &[Option<bool>], state: &[Option<bool>]) -> Option<Vec<bool>> {
    let known: Vec<bool> = first[..blocks.width].iter().copied().collect::<Option<_>>()?;
    let mut words: Vec<u64> = known.iter().map(|bit| u64::from(*bit)).collect();
    words.resize(blocks.component.input_width() as usize, 0);
    let without = evaluate_circuit(blocks.component.circuit(), &words);
    state.iter().zip(without).map(|(bit, without)| bit.map(|bit| bit ^ (without & 1 == 1))).collect()
}

/// The values of a component's inputs: every AND gate is evaluated on its four combinations, of which the odd one out is
/// where both operands are true.
fn learn(
    component: &Component,
    hash_seed: Block,
    first_gate: u64,
    tables: &[u8],
    inputs: &[Block],
    delta: Block,
) -> Vec<Option<bool>> {
    let schedule = Schedule::new(component.circuit());
    let gate = AndGate::new();
    let mut labels = vec![Block::ZERO; schedule.slot_count()];
    let mut forms = vec![Form::default(); schedule.slot_count()];
    labels[..inputs.len()].copy_from_slice(inputs);
    (0..inputs.len()).for_each(|i| forms[i] = Form::unknown(i));
    let mut system = System::default();
    let (mut xor, mut and) = (0, 0);
    for step in schedule.steps() {
        for op in &schedule.xors()[xor..][..step.xors as usize] {
            let (a, b, out) = (op.a as usize, op.b as usize, op.out as usize);
            labels[out] = labels[a] ^ labels[b];
            forms[out] = forms[a].plus(&forms[b]);
        }
        for (g, op) in (and..).zip(&schedule.ands()[and..][..step.ands as usize]) {
            let (a, b) = (labels[op.a.slot()], labels[op.b.slot()]);
            let run = |i: bool, j: bool| {
                let labels = [a ^ (Block::mask(i) & delta), b ^ (Block::mask(j) & delta)];
                gate.evaluate(hash_seed, first_gate + g as u64, labels, &tables[32 * g..][..32])
            };
            let combinations = [(false, false), (false, true), (true, false), (true, true)];
            let results = combinations.map(|(i, j)| run(i, j));
            let odd = (0..4).find(|at| results.iter().filter(|r| **r == results[*at]).count() == 1);
            // Flipping the operands by these makes both true.
            let values = odd.map(|at| [!combinations[at].0, !combinations[at].1]);
            for (operand, value) in [op.a, op.b].into_iter().zip(values.into_iter().flatten()) {
                let form = forms[operand.slot()].clone().plus_constant(operand.inverted());
                system.add(form.plus_constant(value));
            }
            labels[op.out as usize] = results[0];
            forms[op.out as usize] = Form::unknown(inputs.len() + g);
            if let Some([x, y]) = values {
                system.add(forms[op.out as usize].clone().plus_constant(x && y));
            }
        }
        xor += step.xors as usize;
        and += step.ands as usize;
    }
    debug_assert!(schedule.outputs().iter().all(|o| matches!(o, OutputWire::Slot(_))));
    system.solve(inputs.len())
}

/// One AND gate of a given number.
struct AndGate(Option<ComponentGarbling>);

impl AndGate {
    fn new() -> Self {
        let ports = |n| vec![Port::new("x", Type::Bits(n))];
        let circuit = Circuit::new(2, vec![Gate::And(Wire(0), Wire(1))], vec![Wire(2)]);
        let component = circuit.and_then(|circuit| Component::new("and", ports(2), ports(1), circuit));
        AndGate(component.ok().map(|component| ComponentGarbling::new(&component, GarblingConfig::default())))
    }

    fn evaluate(&self, hash_seed: Block, number: u64, labels: [Block; 2], table: &[u8]) -> Block {
        let mut output = [Block::ZERO];
        if let Some(instances) = &self.0 {
            InstanceEvaluator::new(hash_seed).evaluate((instances, number), &[0], &labels, &[table], &mut output);
        }
        output[0]
    }
}
