//! The signals of a netlist, in any order, and the circuit that they make.

use std::{collections::HashMap, ops::Range};

use garblet_circuit::{Circuit, CircuitError, Gate, Literal, Wire};

/// The place in a file that sets or names a signal, in bytes. Files have less than 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At {
    start: u32,
    end: u32,
}

impl From<Range<usize>> for At {
    fn from(range: Range<usize>) -> Self {
        At { start: range.start as u32, end: range.end as u32 }
    }
}

impl From<At> for Range<usize> {
    fn from(at: At) -> Self {
        at.start as usize..at.end as usize
    }
}

/// The value of a signal.
#[derive(Clone, Copy)]
enum Node {
    /// Nothing sets it yet.
    Unset,
    Input(u32),
    Copy(Literal),
    Xor(Literal, Literal),
    And(Literal, Literal),
}

/// A fault of the signals together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A signal is set a second time.
    Twice(Literal, At),
    /// A signal is read, but nothing sets it.
    Unset(Literal, At),
    /// A signal depends on itself.
    Cycle(Literal, At),
    /// The circuit has too many wires.
    Large,
}

impl Fault {
    /// The fault in words, with its place; `name` names a signal.
    pub(super) fn words(self, name: impl FnOnce(Literal, At) -> String) -> (Option<At>, String) {
        match self {
            Fault::Twice(signal, at) => (Some(at), format!("{} is set twice", name(signal, at))),
            Fault::Unset(signal, at) => (Some(at), format!("{} is read, but nothing sets it", name(signal, at))),
            Fault::Cycle(signal, at) => {
                (Some(at), format!("{} depends on itself: gates feed one another in a cycle", name(signal, at)))
            }
            Fault::Large => {
                let error = CircuitError::TooManyWires { wires: Circuit::MAX_WIRES + 1, limit: LIMIT as u64 };
                (None, error.to_string())
            }
        }
    }
}

/// The most signals and the most wires: number 0 is the constant.
const LIMIT: usize = Circuit::MAX_WIRES as usize;

/// Signals that are set by gates. A literal is a signal or its negation.
pub(super) struct Graph {
    /// Node 0 is the constant false.
    nodes: Vec<(Node, At)>,
    inputs: u32,
}

impl Default for Graph {
    fn default() -> Self {
        Graph { nodes: vec![(Node::Copy(Literal::FALSE), At::default())], inputs: 0 }
    }
}

impl Graph {
    /// A signal that something must set. Its name is at this place.
    pub(super) fn signal(&mut self, at: At) -> Literal {
        self.push(Node::Unset, at)
    }

    /// Makes a signal the next input.
    pub(super) fn set_input(&mut self, signal: Literal, at: At) -> Result<(), Fault> {
        self.set_node(signal, Node::Input(self.inputs), at)?;
        self.inputs += 1;
        Ok(())
    }

    /// Sets a signal to the value of another.
    pub(super) fn set(&mut self, signal: Literal, value: Literal, at: At) -> Result<(), Fault> {
        self.set_node(signal, Node::Copy(value), at)
    }

    fn set_node(&mut self, signal: Literal, node: Node, at: At) -> Result<(), Fault> {
        match &mut self.nodes[signal.node()] {
            unset @ (Node::Unset, _) => {
                *unset = (node, at);
                Ok(())
            }
            _ => Err(Fault::Twice(signal, at)),
        }
    }

    fn push(&mut self, node: Node, at: At) -> Literal {
        self.nodes.push((node, at));
        // Too many are refused when the circuit is made, before any number could repeat.
        Literal::of((self.nodes.len() - 1).min(LIMIT) as u32)
    }

    pub(super) fn xor(&mut self, a: Literal, b: Literal, at: At) -> Literal {
        self.push(Node::Xor(a, b), at)
    }

    pub(super) fn and(&mut self, a: Literal, b: Literal, at: At) -> Literal {
        self.push(Node::And(a, b), at)
    }

    pub(super) fn or(&mut self, a: Literal, b: Literal, at: At) -> Literal {
        !self.and(!a, !b, at)
    }

    /// `yes` if `choice`, else `no`, with one AND gate.
    pub(super) fn mux(&mut self, choice: Literal, [no, yes]: [Literal; 2], at: At) -> Literal {
        let differ = self.xor(no, yes, at);
        let change = self.and(choice, differ, at);
        self.xor(no, change, at)
    }

    /// The circuit with these outputs. Gates keep the order of their signals where that is possible.
    ///
    /// *Cost*: time and memory in proportion to the signals, however deep they are.
    pub(super) fn circuit(self, outputs: &[Literal]) -> Result<Circuit, Fault> {
        if self.nodes.len() > LIMIT {
            return Err(Fault::Large);
        }
        let mut states = vec![State::New; self.nodes.len()];
        states[0] = State::Done(Literal::FALSE);
        let mut wiring = Wiring::new(self.inputs);
        let mut stack = Vec::new();
        for node in 1..self.nodes.len() as u32 {
            stack.push(node);
            while let Some(&node) = stack.last() {
                match self.step(node, &mut states, &mut wiring)? {
                    Some(missing) => stack.push(missing),
                    None => drop(stack.pop()),
                }
            }
        }
        let done = |literal: &Literal| match states[literal.node()] {
            State::Done(wire) => wire.invert_if(literal.inverted()),
            State::New | State::Open => Literal::FALSE,
        };
        let outputs: Vec<Literal> = outputs.iter().map(done).collect();
        wiring.finish(&outputs).map_err(|_| Fault::Large)
    }

    /// Adds the gate of a node, or returns a node that it needs first.
    fn step(&self, node: u32, states: &mut [State], wiring: &mut Wiring) -> Result<Option<u32>, Fault> {
        if let State::Done(_) = states[node as usize] {
            return Ok(None);
        }
        let (value, at) = self.nodes[node as usize];
        let operands = match value {
            Node::Unset => return Err(Fault::Unset(Literal::of(node), at)),
            Node::Input(_) => [Literal::FALSE; 2],
            Node::Copy(a) => [a, Literal::FALSE],
            Node::Xor(a, b) | Node::And(a, b) => [a, b],
        };
        states[node as usize] = State::Open;
        let mut made = operands;
        for operand in &mut made {
            match states[operand.node()] {
                State::Done(wire) => *operand = wire.invert_if(operand.inverted()),
                State::Open => return Err(Fault::Cycle(*operand, self.nodes[operand.node()].1)),
                State::New => return Ok(Some(operand.number())),
            }
        }
        let [a, b] = made;
        states[node as usize] = State::Done(match value {
            Node::Input(input) => Wiring::input(input),
            Node::Xor(..) => wiring.xor(a, b),
            Node::And(..) => wiring.and(a, b),
            Node::Copy(_) | Node::Unset => a,
        });
        Ok(None)
    }
}

/// The progress of a signal.
#[derive(Clone, Copy)]
enum State {
    New,
    /// Its operands are being made.
    Open,
    /// It is this wire.
    Done(Literal),
}

/// Gates in order. A literal with number `k + 1` is wire `k` or its negation; number 0 is the constant. Negations cost a gate only where
/// an AND gate or an output reads them, and there once.
pub(super) struct Wiring {
    inputs: u32,
    gates: Vec<Gate>,
    negations: HashMap<u32, Wire>,
    constants: [Option<Wire>; 2],
}

impl Wiring {
    /// Wires for this number of inputs, which take no memory.
    pub(super) fn new(inputs: u32) -> Self {
        Wiring { inputs, gates: Vec::new(), negations: HashMap::new(), constants: [None; 2] }
    }

    /// An input.
    pub(super) fn input(number: u32) -> Literal {
        Literal::of(number + 1)
    }

    pub(super) fn xor(&mut self, a: Literal, b: Literal) -> Literal {
        if let Some(known) = a.xor(b) {
            return known;
        }
        let [left, right] = [a, b].map(|literal| Wire(literal.number() - 1));
        let wire = self.push(Gate::Xor(left, right));
        Literal::of(wire.0 + 1).invert_if(a.inverted() != b.inverted())
    }

    pub(super) fn and(&mut self, a: Literal, b: Literal) -> Literal {
        let [a, b] = [a, b].map(|literal| self.wire(literal));
        Literal::of(self.push(Gate::And(a, b)).0 + 1)
    }

    /// The wire with the value of a literal.
    fn wire(&mut self, literal: Literal) -> Wire {
        if let Some(value) = literal.as_constant() {
            let wire = self.constants[usize::from(value)].unwrap_or_else(|| self.push(Gate::Constant(value)));
            self.constants[usize::from(value)] = Some(wire);
            return wire;
        }
        let wire = Wire(literal.number() - 1);
        if !literal.inverted() {
            return wire;
        }
        if let Some(negation) = self.negations.get(&wire.0) {
            return *negation;
        }
        let negation = self.push(Gate::Not(wire));
        self.negations.insert(wire.0, negation);
        negation
    }

    fn push(&mut self, gate: Gate) -> Wire {
        self.gates.push(gate);
        // Too many are refused by `finish`.
        Wire((self.inputs as usize + self.gates.len() - 1).min(LIMIT - 1) as u32)
    }

    /// The circuit with these outputs.
    ///
    /// *Errors*: too many wires.
    pub(super) fn finish(mut self, outputs: &[Literal]) -> Result<Circuit, CircuitError> {
        let outputs = outputs.iter().map(|output| self.wire(*output)).collect();
        let wires = u64::from(self.inputs) + self.gates.len() as u64;
        match wires < LIMIT as u64 {
            true => Circuit::new(self.inputs, self.gates, outputs),
            false => Err(CircuitError::TooManyWires { wires, limit: LIMIT as u64 }),
        }
    }
}
