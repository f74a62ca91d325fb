//! Builds circuits of tables; constants, copies, negations and equal gates fold away.

use std::collections::HashMap;

use garblet_circuit::Wire;

use super::{MOST_OPERANDS, Signal, TableCircuit, TableGate};

/// A circuit under construction.
pub struct TableBuilder {
    input_count: u32,
    gates: Vec<TableGate>,
    known: HashMap<TableGate, Wire>,
}

impl TableBuilder {
    /// Begins a circuit with this many inputs, which are its first wires.
    pub fn new(input_count: u32) -> Self {
        TableBuilder { input_count, gates: Vec::new(), known: HashMap::new() }
    }

    /// The function of `operands` that is bit `x` of `table` where operand `i` is bit `i` of `x`. Becomes a gate unless it is
    /// trivial or known already.
    ///
    /// # Panics
    /// If there are more than three operands, or one is not a wire yet.
    pub fn gate(&mut self, operands: &[Signal], table: u8) -> Signal {
        assert!(operands.len() <= MOST_OPERANDS, "at most three operands, got {}", operands.len());
        let mut wires: Vec<Wire> = operands.iter().filter_map(wire_of).collect();
        wires.sort();
        wires.dedup();
        assert!(wires.iter().all(|wire| wire.index() < self.wire_count()), "operands are set before they are read");
        let at = |operand: &Signal, wires: &[Wire], point: usize| match operand {
            Signal::Constant(value) => *value,
            Signal::Wire { wire, inverted } => {
                let place = wires.iter().position(|w| w == wire);
                place.is_some_and(|place| point >> place & 1 == 1) ^ inverted
            }
        };
        let value = |wires: &[Wire], point: usize| {
            let place = operands.iter().enumerate().map(|(i, operand)| usize::from(at(operand, wires, point)) << i);
            table >> place.sum::<usize>() & 1 == 1
        };
        // Operands without influence may as well be false, which `at` assumes for unlisted ones.
        let points = 0..1usize << wires.len();
        let matters = |i: &usize| points.clone().any(|point| value(&wires, point) != value(&wires, point ^ 1 << i));
        let support: Vec<Wire> = (0..wires.len()).filter(matters).map(|i| wires[i]).collect();
        let inverted = value(&support, 0);
        let points = (0..1 << support.len()).filter(|&point| value(&support, point) != inverted);
        let table = points.fold(0, |table, point| table | 1 << point);
        self.simplified(&support, table).invert_if(inverted)
    }

    /// A gate with operands in the form that [`TableGate`] requires.
    fn simplified(&mut self, support: &[Wire], table: u8) -> Signal {
        match support {
            [] => return Signal::Constant(false),
            [wire] => return Signal::of(*wire),
            _ => {}
        }
        let mut operands = [support[0]; MOST_OPERANDS];
        operands[..support.len()].copy_from_slice(support);
        let gate = TableGate { operands, arity: support.len() as u8, table };
        let next = Wire(self.wire_count() as u32);
        let wire = *self.known.entry(gate).or_insert(next);
        if wire == next {
            self.gates.push(gate);
        }
        Signal::of(wire)
    }

    /// Appends the gates of a circuit that reads these signals; returns its outputs.
    ///
    /// # Panics
    /// If the number of inputs differs from the circuit's, or one is not a wire yet.
    pub fn append(&mut self, circuit: &TableCircuit, inputs: &[Signal]) -> Vec<Signal> {
        assert_eq!(inputs.len(), circuit.input_count as usize, "as many inputs as the circuit has");
        let mut signals = inputs.to_vec();
        for gate in &circuit.gates {
            let operands: Vec<Signal> = gate.operands().iter().map(|wire| signals[wire.index()]).collect();
            signals.push(self.gate(&operands, gate.table));
        }
        let output = |signal: &Signal| match *signal {
            Signal::Wire { wire, inverted } => signals[wire.index()].invert_if(inverted),
            constant => constant,
        };
        circuit.outputs.iter().map(output).collect()
    }

    fn wire_count(&self) -> usize {
        self.input_count as usize + self.gates.len()
    }

    /// The circuit with these outputs, without gates that no output depends on.
    ///
    /// # Panics
    /// If an output is not a wire yet.
    pub fn finish(self, outputs: Vec<Signal>) -> TableCircuit {
        let inputs = self.input_count as usize;
        let mut needed = vec![false; self.wire_count()];
        outputs.iter().filter_map(wire_of).for_each(|wire| needed[wire.index()] = true);
        for (g, gate) in self.gates.iter().enumerate().rev() {
            if needed[inputs + g] {
                gate.operands().iter().for_each(|wire| needed[wire.index()] = true);
            }
        }
        let mut moved: Vec<Wire> = (0..self.input_count).map(Wire).collect();
        let mut gates = Vec::new();
        for (g, gate) in self.gates.iter().enumerate() {
            moved.push(Wire(self.input_count + gates.len() as u32));
            if needed[inputs + g] {
                gates.push(TableGate { operands: gate.operands.map(|wire| moved[wire.index()]), ..*gate });
            }
        }
        let output = |signal: &Signal| match *signal {
            Signal::Wire { wire, inverted } => Signal::Wire { wire: moved[wire.index()], inverted },
            constant => constant,
        };
        TableCircuit { input_count: self.input_count, outputs: outputs.iter().map(output).collect(), gates }
    }
}

fn wire_of(signal: &Signal) -> Option<Wire> {
    match signal {
        Signal::Constant(_) => None,
        Signal::Wire { wire, .. } => Some(*wire),
    }
}
