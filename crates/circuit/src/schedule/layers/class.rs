//! The gates of instances that are alike, by AND depth.

use std::collections::HashMap;

use super::{
    super::{AndOp, Folded, Placement, Schedule, XorOp},
    folds::Folds,
};
use crate::{Circuit, literal::Literal};

/// Instances of one fold of which the same outputs are needed.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) events: Vec<Event>,
    /// Inputs that gates read, in ascending order within an event. The first has slot 0, and so on.
    pub(super) inputs: Vec<u32>,
    pub(super) xors: Vec<XorOp>,
    pub(super) ands: Vec<AndOp>,
    pub(super) outputs: Vec<Output>,
    pub(super) slot_count: u32,
    /// The slots of outputs, which alone are kept after the last event.
    pub(super) kept: Vec<u32>,
}

/// An output of a class.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    /// A constant, or not needed.
    None,
    /// An input.
    Passed(u32),
    /// The kept slot with this number.
    Kept(u32),
}

/// A depth at which a class has something to do: take the inputs that gates read for the first time, then compute XOR gates, then AND gates, whose results are
/// one deeper.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Event {
    pub(super) depth: u32,
    /// The ends of what the event takes of the class's lists.
    pub(super) inputs_end: u32,
    pub(super) xors_end: u32,
    pub(super) ands_end: u32,
}

/// The numbers of the nodes of a class's gates, as they are computed. The inputs that gates may read are the first nodes, from 1 on.
#[derive(Default)]
pub(super) struct Numbers {
    pub(super) xors: Vec<u32>,
    pub(super) ands: Vec<u32>,
}

impl Class {
    /// The class of a fold of which a computed output is needed if `is_needed`.
    pub(super) fn new(
        circuit: &Circuit,
        folds: &Folds,
        number: u32,
        is_needed: impl Fn(usize) -> bool,
    ) -> (Self, Numbers) {
        let fold = &folds.folds[number as usize];
        let used = &folds.body(fold.component).used;
        // No gate reads the others.
        let mut given = vec![Literal::FALSE; circuit.input_count() as usize];
        for (input, wire) in used.iter().zip(&fold.near) {
            given[*input as usize] = match wire.literal.as_constant() {
                Some(value) => Literal::constant(value),
                None => Literal::of(wire.literal.number() as u32).invert_if(wire.literal.inverted()),
            };
        }
        let first_gate = 1 + used.len();
        let is_computed = |output| is_needed(output) && folds.passed(number, output).is_none();
        let folded = Folded::given(circuit, given, first_gate, is_computed);
        let mut depths = vec![(0, 0); first_gate + folded.nodes.len()];
        depths[1..first_gate].iter_mut().zip(&fold.near).for_each(|(depth, wire)| depth.0 = wire.depth as u32);
        let mut order = Vec::with_capacity(folded.nodes.len());
        folded.order_window(0..folded.nodes.len(), 0, &mut depths, &mut order);
        let mut inputs = first_reads(&folded, &order);
        inputs.sort_unstable();
        let slots = inputs.iter().map(|(_, input)| 1 + *input as usize);
        let (mut placement, mut numbers) = (Placement::of_inputs(&folded, &[], slots), Numbers::default());
        let (mut events, mut inputs_end, mut left) = (Vec::new(), 0, &order[..]);
        // The XOR gates of a depth have its double as their key, the AND gates one more.
        while let Some(depth) = left.first().map(|(_, key)| key / 2) {
            inputs_end += inputs[inputs_end..].iter().take_while(|(first, _)| *first == depth).count();
            let mut next = |key| {
                let (now, later) = left.split_at(left.iter().take_while(|gate| gate.1 == key).count());
                left = later;
                now
            };
            let (xors, ands) = (next(2 * depth), next(2 * depth + 1));
            xors.iter().for_each(|&(gate, _)| placement.place_xor(&folded, gate));
            placement.place_ands(&folded, ands);
            let node = |&(gate, _): &(u32, u32)| first_gate as u32 + gate;
            numbers.xors.extend(xors.iter().map(node));
            numbers.ands.extend(ands.iter().map(node));
            let [xors_end, ands_end] = [numbers.xors.len() as u32, numbers.ands.len() as u32];
            events.push(Event { depth, inputs_end: inputs_end as u32, xors_end, ands_end });
        }
        let mut kept = Kept::default();
        let output = |(k, literal): (usize, &Literal)| match folds.passed(number, k) {
            Some(input) => Output::Passed(input),
            None if literal.is_constant() => Output::None,
            None => Output::Kept(kept.place(placement.slot[literal.node()])),
        };
        let outputs = folded.outputs.iter().enumerate().map(output).collect();
        let inputs = inputs.into_iter().map(|(_, input)| used[input as usize]).collect();
        let Schedule { slot_count, xors, ands, .. } = placement.schedule;
        (Class { events, inputs, xors, ands, outputs, slot_count, kept: kept.slots }, numbers)
    }

    /// The event with this number, and the one before.
    pub(super) fn event(&self, number: u32) -> (Event, Event) {
        let before = number.checked_sub(1).map_or(Event::default(), |before| self.events[before as usize]);
        (self.events[number as usize], before)
    }
}

/// The depth at which a gate reads each used input for the first time; those that no gate reads are left out.
fn first_reads(folded: &Folded, order: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut first = vec![u32::MAX; folded.first_gate];
    for &(gate, key) in order {
        for node in folded.nodes[gate as usize].operands() {
            if let Some(first) = first.get_mut(node) {
                *first = (*first).min(key / 2);
            }
        }
    }
    let inputs = (0..).zip(&first[1..]).filter(|(_, depth)| **depth < u32::MAX);
    inputs.map(|(input, depth)| (*depth, input)).collect()
}

/// Slots, each once.
#[derive(Default)]
struct Kept {
    slots: Vec<u32>,
    places: HashMap<u32, u32>,
}

impl Kept {
    fn place(&mut self, slot: u32) -> u32 {
        *self.places.entry(slot).or_insert_with(|| {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        })
    }
}
