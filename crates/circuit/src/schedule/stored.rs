//! The same schedules for circuits whose gates are not in memory, made window by window.

use std::{mem, sync::Arc};

use super::{AndOp, Folded, Node, OutputWire, Part, Placement, Schedule, ScheduleDigest, Step, Windows, XorOp};
use crate::{
    diagnostic::Diagnostic,
    digest::OrderEncoder,
    gate::{Gate, Wire},
    literal::Literal,
    stored::{Block, LAST, LIVE, StoredGates, Values},
};

/// The nodes from which on a part of a schedule is handed out.
const PART_NODES: usize = 1 << 16;

/// A [`Schedule`] whose operations are made whenever they are needed.
pub struct StoredSchedule {
    gates: Arc<StoredGates>,
    windows: Windows,
    window: usize,
    slot_count: u32,
    and_count: u64,
    outputs: Vec<OutputWire>,
    digest: ScheduleDigest,
}

impl StoredSchedule {
    /// Schedules a circuit: as [`Schedule::new`] with all gates in memory.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn new(gates: Arc<StoredGates>) -> Result<Self, Diagnostic> {
        StoredSchedule::within(gates, Windows::STANDARD)
    }

    /// Schedules with another tuning.
    ///
    /// *Errors*: as [`StoredSchedule::new`].
    pub fn within(gates: Arc<StoredGates>, windows: Windows) -> Result<Self, Diagnostic> {
        let within = |window| Run::new(&gates, windows, window).finish(gates.clone(), windows);
        let (wide, nodes) = within(windows.wide_gates)?;
        if windows.are_wide_enough(wide.slot_count, nodes) {
            return Ok(wide);
        }
        let (narrow, _) = within(windows.gates)?;
        Ok(if narrow.slot_count < wide.slot_count { narrow } else { wide })
    }

    /// The number of AND operations.
    pub fn and_count(&self) -> u64 {
        self.and_count
    }

    /// The digest of everything that parties must share.
    pub fn digest(&self) -> ScheduleDigest {
        self.digest
    }

    /// A schedule without operations, with the slots and the outputs of this one.
    pub fn frame(&self) -> Schedule {
        let input_count = self.gates.input_count();
        let (slot_count, digest) = (self.slot_count, self.digest);
        Schedule { input_count, slot_count, outputs: self.outputs.clone(), digest, ..Schedule::default() }
    }

    /// The operations from the first on.
    pub fn parts(&self) -> StoredParts {
        StoredParts { slot_count: self.slot_count, run: Run::new(&self.gates, self.windows, self.window) }
    }
}

/// The operations of a [`StoredSchedule`], in parts.
pub struct StoredParts {
    slot_count: u32,
    run: Run,
}

impl StoredParts {
    /// The next operations: those of all parts together are those of the schedule. `None` at the end.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn next_part(&mut self) -> Result<Option<Schedule>, Diagnostic> {
        let begin = self.run.nodes;
        let mut is_any = false;
        while (self.run.nodes - begin) < PART_NODES as u32 && self.run.window()? {
            is_any = true;
        }
        Ok(is_any.then(|| Schedule { slot_count: self.slot_count, ..self.run.take() }))
    }
}

/// A node of earlier windows that is read later.
struct Carried {
    node: u32,
    slot: u32,
    depth: (u32, u32),
    /// Wires that are this node or its negation and will be read by a live gate, or are outputs.
    wires: u32,
}

/// A run through all gates, up to the end of a window.
struct Run {
    gates: Arc<StoredGates>,
    window: usize,
    block: Block,
    next_block: usize,
    /// The next gate of the block.
    next_gate: usize,
    literals: Values<Literal>,
    /// Gates of the folded circuit, so far.
    nodes: u32,
    /// In ascending order; those that are read no more leave from time to time.
    carried: Vec<Carried>,
    unread: usize,
    base: u32,
    placement: Placement,
}

/// The gates of a window.
#[derive(Default)]
struct Window {
    nodes: Vec<Node>,
    live: Vec<bool>,
    /// As [`Carried::wires`].
    wires: Vec<u32>,
}

impl Run {
    fn new(gates: &Arc<StoredGates>, windows: Windows, window: usize) -> Self {
        let input_count = gates.input_count();
        let inputs = || (0..input_count).zip(gates.inputs());
        let literals = inputs().filter(|(_, used)| used.read).map(|(input, _)| (input, Literal::of(input + 1)));
        let live = inputs().filter(|(_, used)| used.live).map(|(input, _)| input);
        let free = inputs().rev().filter(|(_, used)| !used.live).map(|(input, _)| input);
        let carried = live.map(|input| Carried { node: input + 1, slot: input, depth: (0, 0), wires: 1 });
        let placement = Placement {
            slot: Vec::new(),
            readers: Vec::new(),
            free: free.collect(),
            schedule: Schedule { input_count, slot_count: input_count, ..Schedule::default() },
            order: OrderEncoder::new(&windows.numbers()),
        };
        Run {
            gates: gates.clone(),
            window,
            block: Block::default(),
            next_block: 0,
            next_gate: 0,
            literals: Values::new(literals.collect()),
            nodes: 0,
            carried: carried.collect(),
            unread: 0,
            base: 0,
            placement,
        }
    }

    /// The number of the first gate's node.
    fn first_node(&self) -> u32 {
        self.gates.input_count() + 1
    }

    /// Places the operations of the next window; returns whether there was one.
    fn window(&mut self) -> Result<bool, Diagnostic> {
        let window = self.fold()?;
        if window.nodes.is_empty() {
            return Ok(false);
        }
        let first_node = self.first_node() + self.nodes;
        let given = given(&window, first_node);
        let places: Vec<usize> = given.iter().map(|node| self.place_of(*node)).collect();
        let folded = part(&window, given, first_node, self.nodes);
        let mut depth = vec![(0, 0); folded.first_gate + folded.nodes.len()];
        let mut slot = vec![u32::MAX; depth.len()];
        let mut readers = folded.readers();
        for (own, place) in (1..).zip(&places) {
            let Carried { slot: at, depth: deep, wires, .. } = self.carried[*place];
            (depth[own], slot[own]) = (deep, at);
            readers[own] += u32::from(wires > 0);
        }
        for (own, wires) in (folded.first_gate..).zip(&window.wires) {
            readers[own] += u32::from(*wires > 0);
        }
        let mut order = Vec::with_capacity(folded.nodes.len());
        self.base = folded.order_window(0..folded.nodes.len(), self.base, &mut depth, &mut order);
        (self.placement.slot, self.placement.readers) = (slot, readers);
        self.placement.place(&folded, &order);
        self.drop_unread();
        let own = (folded.first_gate..).zip(&window.wires).zip(first_node..);
        let kept = own.filter(|((_, wires), _)| **wires > 0).map(|((at, wires), node)| {
            let (slot, depth) = (self.placement.slot[at], depth[at]);
            Carried { node, slot, depth, wires: *wires }
        });
        self.carried.extend(kept);
        self.nodes += window.nodes.len() as u32;
        Ok(true)
    }

    /// Folds gates up to the end of the window.
    fn fold(&mut self) -> Result<Window, Diagnostic> {
        let mut window = Window::default();
        while window.nodes.len() < self.window {
            let Some((gate, marks)) = self.block.gate(self.next_gate) else {
                if !self.next_block()? {
                    break;
                }
                continue;
            };
            self.next_gate += 1;
            self.fold_gate(gate, marks, &mut window);
        }
        Ok(window)
    }

    fn next_block(&mut self) -> Result<bool, Diagnostic> {
        if self.next_block > 0 {
            self.literals.end(&self.block);
        }
        let before = mem::take(&mut self.block);
        let Some(block) = self.gates.block(self.next_block, before)? else { return Ok(false) };
        self.literals.begin(block.first);
        (self.block, self.next_block, self.next_gate) = (block, self.next_block + 1, 0);
        Ok(true)
    }

    #[inline]
    fn fold_gate(&mut self, gate: Gate, marks: u8, window: &mut Window) {
        let first = (self.first_node() + self.nodes) as usize;
        let at = |wire: Wire| self.literals.get(wire);
        let (folded, operands) = match gate {
            Gate::Constant(value) => (Literal::constant(value), [None; 2]),
            Gate::Not(a) => (!at(a), [Some(at(a)), None]),
            Gate::Xor(a, b) => {
                let (a, b) = (at(a), at(b));
                (Folded::xor(&mut window.nodes, first, a, b), [Some(a), Some(b)])
            }
            Gate::And(a, b) => {
                let (a, b) = (at(a), at(b));
                (Folded::and(&mut window.nodes, first, a, b), [Some(a), Some(b)])
            }
        };
        self.literals.push(folded);
        if window.live.len() < window.nodes.len() {
            window.live.push(marks & LIVE != 0);
            window.wires.push(0);
        }
        if marks & LIVE != 0 {
            self.count(folded, 1, window);
            for (operand, last) in operands.into_iter().zip(LAST) {
                if let (Some(operand), true) = (operand, marks & last != 0) {
                    self.count(operand, -1, window);
                }
            }
        }
    }

    /// Counts a wire of a node.
    fn count(&mut self, literal: Literal, change: i32, window: &mut Window) {
        if literal.is_constant() {
            return;
        }
        let first = (self.first_node() + self.nodes) as usize;
        let wires = match literal.node().checked_sub(first) {
            Some(own) => &mut window.wires[own],
            None => {
                let place = self.place_of(literal.node() as u32);
                &mut self.carried[place].wires
            }
        };
        *wires = wires.wrapping_add_signed(change);
        if *wires == 0 && literal.node() < first {
            self.unread += 1;
        }
    }

    /// The place of a node of an earlier window.
    fn place_of(&self, node: u32) -> usize {
        self.carried.partition_point(|carried| carried.node < node)
    }

    /// Drops nodes that are read no more, if they are the half of all.
    fn drop_unread(&mut self) {
        if 2 * self.unread > self.carried.len() {
            self.carried.retain(|carried| carried.wires > 0);
            self.unread = 0;
        }
    }

    /// The operations since the last call.
    fn take(&mut self) -> Schedule {
        let own = &mut self.placement.schedule;
        let (steps, xors, ands): (Vec<Step>, Vec<XorOp>, Vec<AndOp>) =
            (mem::take(&mut own.steps), mem::take(&mut own.xors), mem::take(&mut own.ands));
        Schedule { input_count: own.input_count, steps, xors, ands, ..Schedule::default() }
    }

    /// Runs through all gates and returns the schedule without operations, and the number of gates of the folded circuit.
    fn finish(mut self, gates: Arc<StoredGates>, windows: Windows) -> Result<(StoredSchedule, usize), Diagnostic> {
        let mut and_count = 0;
        while self.window()? {
            and_count += self.take().and_count();
        }
        let literals: Vec<Literal> = gates.outputs().iter().map(|wire| self.literals.get(*wire)).collect();
        let output = |literal: &Literal| match literal.as_constant() {
            Some(value) => OutputWire::Constant(value),
            None => {
                let carried = &self.carried[self.place_of(literal.node() as u32)];
                OutputWire::Slot(super::Operand::new(carried.slot, literal.inverted()))
            }
        };
        let outputs = literals.iter().map(output).collect();
        let (window, slot_count, nodes) = (self.window, self.placement.schedule.slot_count, self.nodes as usize);
        let digest = self.placement.order.finish(&literals);
        Ok((StoredSchedule { gates, windows, window, slot_count, and_count, outputs, digest }, nodes))
    }
}

/// The nodes of earlier windows that live gates of a window read, in ascending order.
fn given(window: &Window, first_node: u32) -> Vec<u32> {
    let live = window.nodes.iter().zip(&window.live).filter(|(_, live)| **live);
    let operands = live.flat_map(|(node, _)| node.operands()).map(|node| node as u32);
    let mut given: Vec<u32> = operands.filter(|node| *node < first_node).collect();
    given.sort_unstable();
    given.dedup();
    given
}

/// A window as a circuit of its own.
fn part(window: &Window, given: Vec<u32>, first_node: u32, first_gate: u32) -> Folded {
    let first = 1 + given.len();
    let own = |node: usize| match (node as u32).checked_sub(first_node) {
        Some(gate) => first as u32 + gate,
        None => 1 + given.partition_point(|given| (*given as usize) < node) as u32,
    };
    let literal = |literal: Literal| Literal::of(own(literal.node())).invert_if(literal.inverted());
    let node = |(node, live): (&Node, &bool)| match *node {
        // Nobody reads it, and what it reads may be gone.
        _ if !live => Node::Xor(0, 0),
        Node::Xor(a, b) => Node::Xor(own(a as usize), own(b as usize)),
        Node::And(a, b) => Node::And(literal(a), literal(b)),
    };
    let nodes = window.nodes.iter().zip(&window.live).map(node).collect();
    let live = std::iter::repeat_n(true, first).chain(window.live.iter().copied()).collect();
    Folded { first_gate: first, nodes, outputs: Vec::new(), live, part: Some(Part { given, first_node, first_gate }) }
}

#[cfg(test)]
mod tests;
