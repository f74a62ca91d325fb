//! Schedules: circuits prepared for execution in batches and in little memory.
//!
//! A schedule computes the same function as its circuit. Negations and constants are folded into operand flags, and dead gates
//! are removed. Gates are ordered so that independent AND gates form batches. A wire's slot is reused as soon as its last reader
//! is done. The plain evaluator does not use schedules, so each checks the other.
//! **Both parties derive the same schedule from the same program.** The order of gates decides the meaning of every byte of the
//! tables, and it depends on tuned numbers ([`Windows`]). So the hello has, besides the program's digest, a digest of the order: the
//! operands of every AND gate, their order, their batches, and the numbers. A peer that differs is refused before anything else is
//! sent, and stored runs and components of another order are never used. `components`, which has no order before it has a library,
//! sends the numbers alone; servers of an agreement send one digest for all its programs.

mod layers;
mod stored;

use std::ops::Range;

pub use layers::{Carried, GatePlace, LayerWalk, Layers};
pub use stored::{StoredParts, StoredSchedule};

use crate::{
    circuit::Circuit,
    digest::{OrderEncoder, ScheduleDigest},
    gate::Gate,
    literal::Literal,
};

/// The tuning of schedules. It determines the order of gates, which parties must share: [`Schedule::digest`] covers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// The number of gates that are reordered together, to find independent ones.
    pub gates: usize,
    /// The same for circuits in which so wide a window keeps few wires alive.
    pub wide_gates: usize,
    /// The number of 16-byte slots that fit a processor's L1 cache: up to here, more batching is worth more memory.
    pub cached_slots: u32,
}

impl Windows {
    /// The tuning of [`Schedule::new`].
    pub const STANDARD: Windows = Windows { gates: 1 << 12, wide_gates: 1 << 16, cached_slots: 2048 };

    /// Returns whether the wide windows are taken without a look at the others, for this many slots in wide windows and gates.
    fn are_wide_enough(self, slots: u32, gates: usize) -> bool {
        slots <= self.cached_slots || gates <= self.gates
    }

    /// All numbers, for digests.
    pub fn numbers(self) -> [u64; 3] {
        [self.gates as u64, self.wide_gates as u64, self.cached_slots.into()]
    }
}

/// `slots[out] = slots[a] ^ slots[b]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XorOp {
    /// Slot of the first operand.
    pub a: u32,
    /// Slot of the second operand.
    pub b: u32,
    /// Slot of the result.
    pub out: u32,
}

/// `slots[out] = a & b` for two operands that may be inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AndOp {
    /// First operand.
    pub a: Operand,
    /// Second operand.
    pub b: Operand,
    /// Slot of the result.
    pub out: u32,
}

/// A slot, and whether its value is inverted when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand(u32);

impl Operand {
    fn new(slot: u32, inverted: bool) -> Self {
        Operand(slot << 1 | u32::from(inverted))
    }

    /// The slot.
    #[inline]
    pub fn slot(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Returns whether the value is inverted.
    #[inline]
    pub fn inverted(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The source of an output wire of the circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputWire {
    /// The value in a slot, perhaps inverted.
    Slot(Operand),
    /// A constant.
    Constant(bool),
}

/// The next `xors` XOR operations, in order, then the next `ands` AND operations. The ANDs are independent and may run in any
/// order: no result slot of the batch is an operand slot of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// XOR operations.
    pub xors: u32,
    /// AND operations.
    pub ands: u32,
}

/// A circuit ready to run. Inputs go into slots `0..input_count` before the first step.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    input_count: u32,
    slot_count: u32,
    steps: Vec<Step>,
    xors: Vec<XorOp>,
    ands: Vec<AndOp>,
    outputs: Vec<OutputWire>,
    digest: ScheduleDigest,
}

impl Schedule {
    /// Schedules a circuit. The result depends on the circuit alone, so both parties make the same one.
    pub fn new(circuit: &Circuit) -> Self {
        Schedule::within(circuit, Windows::STANDARD)
    }

    /// Schedules with another tuning, as another build may have.
    pub fn within(circuit: &Circuit, windows: Windows) -> Self {
        let folded = Folded::new(circuit);
        let within = |window| Placement::new(&folded, &windows.numbers()).run(&folded, &folded.order(window));
        let wide = within(windows.wide_gates);
        if windows.are_wide_enough(wide.slot_count, folded.nodes.len()) {
            return wide;
        }
        let narrow = within(windows.gates);
        if narrow.slot_count < wide.slot_count { narrow } else { wide }
    }

    /// Schedules every AND gate as early as possible: the steps with AND gates are as many as the circuit's AND depth. [`Layers`] is the same order of a whole
    /// program, without all its gates in memory.
    pub fn by_depth(circuit: &Circuit) -> Self {
        let folded = Folded::new(circuit);
        let order = folded.order(folded.nodes.len().max(1));
        Placement::new(&folded, &[]).run(&folded, &order)
    }

    /// Input wires.
    pub fn input_count(&self) -> usize {
        self.input_count as usize
    }

    /// The number of slots needed.
    pub fn slot_count(&self) -> usize {
        self.slot_count as usize
    }

    /// Batches in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// XOR operations in order.
    pub fn xors(&self) -> &[XorOp] {
        &self.xors
    }

    /// AND operations in order.
    pub fn ands(&self) -> &[AndOp] {
        &self.ands
    }

    /// The number of AND operations, which determines the cost of the circuit.
    pub fn and_count(&self) -> u64 {
        self.ands.len() as u64
    }

    /// The places of the outputs after the last step.
    pub fn outputs(&self) -> &[OutputWire] {
        &self.outputs
    }

    /// The digest of everything in their schedules that parties must share.
    pub fn digest(&self) -> ScheduleDigest {
        self.digest
    }
}

#[derive(Clone, Copy)]
enum Node {
    Xor(u32, u32),
    And(Literal, Literal),
}

/// The circuit without negations, constants, trivial and dead gates. Nodes are numbered: the constant, inputs, then gates.
struct Folded {
    first_gate: usize,
    nodes: Vec<Node>,
    outputs: Vec<Literal>,
    live: Vec<bool>,
    /// The numbers of nodes in the circuit, if this is a part of it.
    part: Option<Part>,
}

/// The numbers of nodes of a part of a circuit.
struct Part {
    /// The numbers of the nodes between the constant and the gates.
    given: Vec<u32>,
    /// The number of the first gate's node, and of the gates before it.
    first_node: u32,
    first_gate: u32,
}

impl Folded {
    fn new(circuit: &Circuit) -> Self {
        let inputs: Vec<Literal> = (1..=circuit.input_count()).map(Literal::of).collect();
        let first_gate = 1 + inputs.len();
        Folded::given(circuit, inputs, first_gate, |_| true)
    }

    /// Folds a circuit whose inputs are equal, opposite or constant as these literals say, of nodes before the first gate. Outputs that are not needed become
    /// constants.
    fn given(circuit: &Circuit, inputs: Vec<Literal>, first_gate: usize, is_needed: impl Fn(usize) -> bool) -> Self {
        let mut nodes = Vec::new();
        let mut literal = inputs;
        literal.reserve_exact(circuit.gates().len());
        for gate in circuit.gates() {
            let folded = match *gate {
                Gate::Constant(value) => Literal::constant(value),
                Gate::Not(a) => !literal[a.index()],
                Gate::Xor(a, b) => Self::xor(&mut nodes, first_gate, literal[a.index()], literal[b.index()]),
                Gate::And(a, b) => Self::and(&mut nodes, first_gate, literal[a.index()], literal[b.index()]),
            };
            literal.push(folded);
        }
        let output =
            |(k, wire): (usize, &crate::Wire)| if is_needed(k) { literal[wire.index()] } else { Literal::FALSE };
        let outputs: Vec<Literal> = circuit.outputs().iter().enumerate().map(output).collect();
        drop(literal);
        let live = Self::live(first_gate, &nodes, &outputs);
        Folded { first_gate, nodes, outputs, live, part: None }
    }

    fn xor(nodes: &mut Vec<Node>, first_gate: usize, a: Literal, b: Literal) -> Literal {
        a.xor(b).unwrap_or_else(|| {
            nodes.push(Node::Xor(a.node() as u32, b.node() as u32));
            Literal::of((first_gate + nodes.len() - 1) as u32).invert_if(a.inverted() ^ b.inverted())
        })
    }

    fn and(nodes: &mut Vec<Node>, first_gate: usize, a: Literal, b: Literal) -> Literal {
        a.and(b).unwrap_or_else(|| {
            nodes.push(Node::And(a, b));
            Literal::of((first_gate + nodes.len() - 1) as u32)
        })
    }

    /// The nodes that an output depends on.
    fn live(first_gate: usize, nodes: &[Node], outputs: &[Literal]) -> Vec<bool> {
        let mut live = vec![false; first_gate + nodes.len()];
        for literal in outputs.iter().filter(|l| !l.is_constant()) {
            live[literal.node()] = true;
        }
        for (g, node) in nodes.iter().enumerate().rev() {
            if live[first_gate + g] {
                for operand in node.operands() {
                    live[operand] = true;
                }
            }
        }
        live
    }

    /// The number of live gates that read each node.
    fn readers(&self) -> Vec<u32> {
        let mut readers = vec![0; self.live.len()];
        for (node, _) in self.nodes.iter().zip(&self.live[self.first_gate..]).filter(|(_, live)| **live) {
            node.operands().into_iter().for_each(|operand| readers[operand] += 1);
        }
        readers
    }

    /// The number of a gate in the circuit, and its operands there.
    fn in_circuit(&self, gate: u32, operands: [Literal; 2]) -> (u32, [Literal; 2]) {
        let Some(part) = &self.part else { return (gate, operands) };
        let node = |literal: Literal| {
            let node = match literal.node().checked_sub(self.first_gate) {
                Some(gate) => part.first_node + gate as u32,
                None => part.given[literal.node() - 1],
            };
            Literal::of(node).invert_if(literal.inverted())
        };
        (part.first_gate + gate, operands.map(node))
    }

    /// The live gates with their AND level, in execution order. Windows of the circuit's own order are sorted by level. The XOR gates
    /// of a level are sorted by the longest chain of XOR gates that leads to them, so that neighbours do not wait for one another.
    ///
    /// The circuit's order keeps few wires alive, and a window is long enough to find independent gates, so memory and batches are
    /// both good without a search.
    fn order(&self, window: usize) -> Vec<(u32, u32)> {
        let mut depth = vec![(0u32, 0u32); self.first_gate + self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut base = 0;
        for begin in (0..self.nodes.len()).step_by(window) {
            let end = (begin + window).min(self.nodes.len());
            base = self.order_window(begin..end, base, &mut depth, &mut order);
        }
        order
    }

    /// Appends a window, and returns its deepest level; `base` is that of the windows before. The depth of a wire is the AND gates on the
    /// way to it, and the XOR gates after the last of them.
    fn order_window(
        &self,
        window: Range<usize>,
        base: u32,
        depth: &mut [(u32, u32)],
        order: &mut Vec<(u32, u32)>,
    ) -> u32 {
        let mut deepest = base;
        let mut gates = Vec::with_capacity(window.len());
        for g in window {
            let at = self.first_gate + g;
            if !self.live[at] {
                continue;
            }
            let before = self.nodes[g].operands().into_iter().fold((base, 0), |deepest, o| deepest.max(depth[o]));
            let is_and = matches!(self.nodes[g], Node::And(..));
            depth[at] = if is_and { (before.0 + 1, 0) } else { (before.0, before.1 + 1) };
            deepest = deepest.max(depth[at].0);
            // Even keys: XOR gates of a level; odd keys: the AND gates that lead to the next.
            let key = 2 * before.0 + u32::from(is_and);
            let chain = if is_and { 0 } else { before.1 };
            gates.push([key, chain, g as u32]);
        }
        let gates = sorted_by(sorted_by(gates, |[_, chain, _]| chain), |[key, ..]| key);
        order.extend(gates.into_iter().map(|[key, _, g]| (g, key)));
        deepest
    }
}

/// Sorts gates stably by a key of each gate, in time linear in their number where the range of the keys is about that, as in a window of a circuit.
fn sorted_by(gates: Vec<[u32; 3]>, number: impl Fn([u32; 3]) -> u32) -> Vec<[u32; 3]> {
    let numbers = || gates.iter().map(|&gate| number(gate));
    let (Some(least), Some(most)) = (numbers().min(), numbers().max()) else { return gates };
    if (most - least) as usize / 4 > gates.len() {
        let mut sorted = gates;
        sorted.sort_by_key(|gate| number(*gate));
        return sorted;
    }
    let mut places = vec![0; (most - least) as usize + 2];
    numbers().for_each(|number| places[(number - least) as usize + 1] += 1);
    let mut sum = 0;
    places.iter_mut().for_each(|place| {
        sum += *place;
        *place = sum;
    });
    let mut sorted = vec![[0; 3]; gates.len()];
    for &gate in &gates {
        let place = &mut places[(number(gate) - least) as usize];
        sorted[*place] = gate;
        *place += 1;
    }
    sorted
}

impl Node {
    fn operands(self) -> [usize; 2] {
        match self {
            Node::Xor(a, b) => [a as usize, b as usize],
            Node::And(a, b) => [a.node(), b.node()],
        }
    }
}

/// Assigns slots along the execution order.
struct Placement {
    slot: Vec<u32>,
    readers: Vec<u32>,
    free: Vec<u32>,
    schedule: Schedule,
    order: OrderEncoder,
}

impl Placement {
    /// All inputs have the first slots, in order.
    fn new(folded: &Folded, tuning: &[u64]) -> Self {
        Placement::of_inputs(folded, tuning, 1..folded.first_gate)
    }

    /// These input nodes have the first slots, in this order; gates read no others.
    fn of_inputs(folded: &Folded, tuning: &[u64], inputs: impl Iterator<Item = usize>) -> Self {
        let mut readers = folded.readers();
        for literal in folded.outputs.iter().filter(|l| !l.is_constant()) {
            // A reader that never finishes keeps outputs until the end.
            readers[literal.node()] += 1;
        }
        let mut slot = vec![u32::MAX; folded.live.len()];
        let mut free = Vec::new();
        let mut input_count = 0;
        for node in inputs {
            slot[node] = input_count;
            if readers[node] == 0 {
                free.push(input_count);
            }
            input_count += 1;
        }
        free.reverse();
        let schedule = Schedule { input_count, slot_count: input_count, ..Schedule::default() };
        Placement { slot, readers, free, schedule, order: OrderEncoder::new(tuning) }
    }

    fn run(mut self, folded: &Folded, order: &[(u32, u32)]) -> Schedule {
        self.place(folded, order);
        self.schedule.outputs = folded.outputs.iter().map(|output| self.output(*output)).collect();
        self.schedule.digest = self.order.finish(&folded.outputs);
        self.schedule
    }

    fn place(&mut self, folded: &Folded, order: &[(u32, u32)]) {
        let mut at = 0;
        while at < order.len() {
            let is_xor = |&(g, _): &(u32, u32)| matches!(folded.nodes[g as usize], Node::Xor(..));
            let xors = order[at..].iter().take_while(|o| is_xor(o)).count();
            for &(g, _) in &order[at..at + xors] {
                self.place_xor(folded, g);
            }
            at += xors;
            let ands = order.get(at).map_or(0, |&(_, key)| order[at..].iter().take_while(|o| o.1 == key).count());
            self.place_ands(folded, &order[at..at + ands]);
            at += ands;
            self.schedule.steps.push(Step { xors: xors as u32, ands: ands as u32 });
        }
    }

    fn place_xor(&mut self, folded: &Folded, g: u32) {
        let operands = folded.nodes[g as usize].operands();
        let [a, b] = operands.map(|o| self.slot[o]);
        operands.into_iter().for_each(|o| self.read(o));
        let out = self.take_slot();
        self.slot[folded.first_gate + g as usize] = out;
        self.schedule.xors.push(XorOp { a, b, out });
    }

    fn place_ands(&mut self, folded: &Folded, batch: &[(u32, u32)]) {
        self.order.batch(batch.len());
        for &(g, _) in batch {
            let Node::And(a, b) = folded.nodes[g as usize] else { unreachable!("a batch of AND gates") };
            let (number, operands) = folded.in_circuit(g, [a, b]);
            self.order.and(number, operands);
            let out = self.take_slot();
            self.slot[folded.first_gate + g as usize] = out;
            let op = AndOp { a: self.operand(a), b: self.operand(b), out };
            self.schedule.ands.push(op);
        }
        // Release operands only now, so that no result of the batch overwrites one of them.
        for &(g, _) in batch {
            folded.nodes[g as usize].operands().into_iter().for_each(|o| self.read(o));
        }
    }

    fn output(&self, literal: Literal) -> OutputWire {
        match literal.as_constant() {
            Some(value) => OutputWire::Constant(value),
            None => OutputWire::Slot(self.operand(literal)),
        }
    }

    fn operand(&self, literal: Literal) -> Operand {
        Operand::new(self.slot[literal.node()], literal.inverted())
    }

    fn read(&mut self, node: usize) {
        self.readers[node] -= 1;
        if self.readers[node] == 0 {
            self.free.push(self.slot[node]);
        }
    }

    fn take_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.schedule.slot_count += 1;
            self.schedule.slot_count - 1
        })
    }
}

#[cfg(test)]
mod tests;
