//! Cuts a region's circuit into parts where it reads tables.
//!
//! The circuit has the entries that it reads as inputs, and their indices as outputs. A part is one read, or the gates between
//! reads. Each gate is in the first part in which its operands are known.

use std::collections::HashMap;

use garblet_circuit::{Circuit, CircuitError, Component, Gate, Port, Type, Wire};

/// A wire that a part of a region reads, or that the region gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tap {
    /// A wire that the region reads.
    Input(u32),
    Constant(bool),
    /// Output wire `at` of a part.
    Part {
        part: u32,
        at: u32,
    },
}

/// A part of a region: this becomes an instance.
pub(crate) struct Part {
    pub(crate) body: PartBody,
    pub(crate) inputs: Vec<Tap>,
}

pub(crate) enum PartBody {
    Gates(Component),
    /// The number of a table, and the lines that read it, with the number of bits that each reads.
    Table(u32, Vec<(u32, u64)>),
}

impl Part {
    /// The component, if it is gates.
    pub(crate) fn gates_mut(&mut self) -> Option<&mut Component> {
        match &mut self.body {
            PartBody::Gates(component) => Some(component),
            PartBody::Table(..) => None,
        }
    }

    /// The table, and the lines that read it, with the number of bits.
    pub(crate) fn table(&self) -> Option<(u32, &[(u32, u64)])> {
        match &self.body {
            PartBody::Gates(_) => None,
            PartBody::Table(table, lines) => Some((*table, lines)),
        }
    }
}

/// A read of a table in a circuit.
pub(crate) struct Read {
    /// The outputs that are the index.
    pub(crate) index: Vec<Wire>,
    /// The inputs that are the entry.
    pub(crate) entry: Vec<Wire>,
}

/// A read that becomes a part: of its entry, only what is needed.
pub(crate) struct TableRead {
    pub(crate) read: Read,
    pub(crate) body: PartBody,
}

/// A circuit with the layer of each wire that is needed: the most reads on a path that ends there.
pub(crate) struct Cut<'a> {
    circuit: &'a Circuit,
    wanted: &'a [Wire],
    /// The region's inputs are the first wires.
    inputs: u32,
    layers: Vec<u32>,
}

/// The layer of a wire that is not needed.
const NEVER: u32 = u32::MAX;

impl<'a> Cut<'a> {
    /// Finds the layers of all that `wanted` depends on, in a circuit that has so many inputs beside the entries.
    pub(crate) fn new(circuit: &'a Circuit, inputs: u32, wanted: &'a [Wire], reads: &[Read]) -> Self {
        let mut indices: Vec<&[Wire]> = vec![&[]; circuit.input_count() as usize];
        for read in reads {
            read.entry.iter().for_each(|wire| indices[wire.index()] = &read.index);
        }
        let mut layers = vec![NEVER; circuit.wire_count()];
        let mut open = wanted.to_vec();
        while let Some(&wire) = open.last() {
            if layers[wire.index()] != NEVER {
                open.pop();
                continue;
            }
            let before = open.len();
            let mut layer = 0;
            let mut visit = |operand: Wire, more: u32| match layers[operand.index()] {
                NEVER => open.push(operand),
                own => layer = layer.max(own + more),
            };
            match wire.index().checked_sub(circuit.input_count() as usize) {
                Some(gate) => circuit.gates()[gate].operands().for_each(|operand| visit(operand, 0)),
                None => indices[wire.index()].iter().for_each(|&operand| visit(operand, 1)),
            }
            if open.len() == before {
                layers[wire.index()] = layer;
                open.pop();
            }
        }
        Cut { circuit, wanted, inputs, layers }
    }

    /// Returns whether anything needs a wire.
    pub(crate) fn needs(&self, wire: Wire) -> bool {
        self.layers[wire.index()] != NEVER
    }

    /// The parts in order, and the wires that are wanted.
    ///
    /// *Errors*: more wires than a circuit may have.
    pub(crate) fn parts(&self, name: &str, reads: Vec<TableRead>) -> Result<(Vec<Part>, Vec<Tap>), CircuitError> {
        let places = self.places(&reads);
        let mut taps: Vec<Tap> = (0..self.layers.len() as u32).map(|wire| self.known_tap(Wire(wire))).collect();
        let last = self.layers.iter().filter(|&&layer| layer != NEVER).max().map_or(0, |&layer| layer as usize);
        let mut gates = vec![Vec::new(); last + 1];
        for wire in (self.circuit.input_count()..self.layers.len() as u32).map(Wire).filter(|&wire| self.needs(wire)) {
            if self.constant(wire).is_none() {
                gates[self.layers[wire.index()] as usize].push(wire);
            }
        }
        let mut tables: Vec<Vec<TableRead>> = (0..=last).map(|_| Vec::new()).collect();
        for read in reads {
            tables[self.layers[read.read.entry[0].index()] as usize].push(read);
        }
        let mut parts = Vec::new();
        for (own, tables) in gates.iter().zip(tables) {
            for TableRead { read, body } in tables {
                let part = parts.len() as u32;
                let inputs = read.index.iter().map(|wire| taps[wire.index()]).collect();
                let entry = read.entry.iter().zip(0..);
                entry.for_each(|(wire, at)| taps[wire.index()] = Tap::Part { part, at });
                parts.push(Part { body, inputs });
            }
            if !own.is_empty() {
                let part = self.gates(name, own, &places, (parts.len() as u32, &mut taps))?;
                parts.push(part);
            }
        }
        Ok((parts, self.wanted.iter().map(|wire| taps[wire.index()]).collect()))
    }

    /// The value of a wire that is constant.
    fn constant(&self, wire: Wire) -> Option<bool> {
        let gate = wire.0.checked_sub(self.circuit.input_count())?;
        match self.circuit.gates()[gate as usize] {
            Gate::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The tap of a constant or of a wire that the region reads; for others, one that is replaced.
    fn known_tap(&self, wire: Wire) -> Tap {
        match self.constant(wire) {
            Some(value) => Tap::Constant(value),
            None if wire.0 < self.inputs => Tap::Input(wire.0),
            None => Tap::Constant(false),
        }
    }

    /// Set for the wires that are read outside of their part.
    fn places(&self, reads: &[TableRead]) -> Vec<bool> {
        let mut places = vec![false; self.layers.len()];
        let indices = reads.iter().flat_map(|read| &read.read.index);
        self.wanted.iter().chain(indices).for_each(|wire| places[wire.index()] = true);
        for (gate, &layer) in self.circuit.gates().iter().zip(&self.layers[self.circuit.input_count() as usize..]) {
            let operands = gate.operands().filter(|operand| layer != NEVER && self.layers[operand.index()] != layer);
            operands.for_each(|operand| places[operand.index()] = true);
        }
        places
    }

    /// The part of these gates; sets the taps of those that are read elsewhere.
    fn gates(
        &self,
        name: &str,
        own: &[Wire],
        places: &[bool],
        (part, taps): (u32, &mut [Tap]),
    ) -> Result<Part, CircuitError> {
        let first = self.circuit.input_count();
        let gate = |wire: Wire| self.circuit.gates()[(wire.0 - first) as usize];
        let layer = self.layers[own[0].index()];
        let is_own = |wire: Wire| wire.0 >= first && self.layers[wire.index()] == layer;
        let mut inputs: Vec<Wire> = own.iter().flat_map(|&wire| gate(wire).operands()).collect();
        inputs.retain(|&wire| !is_own(wire) && self.constant(wire).is_none());
        inputs.sort_unstable();
        inputs.dedup();
        let count = inputs.len() as u32;
        let mut local: HashMap<Wire, Wire> = inputs.iter().copied().zip((0..count).map(Wire)).collect();
        let mut gates = Vec::with_capacity(own.len());
        let mut outputs = Vec::new();
        for &wire in own {
            let mut at = |operand: Wire| {
                *local.entry(operand).or_insert_with(|| {
                    // Everything else that is read was set before.
                    gates.push(Gate::Constant(self.constant(operand) == Some(true)));
                    Wire(count + gates.len() as u32 - 1)
                })
            };
            let copied = match gate(wire) {
                Gate::Xor(a, b) => Gate::Xor(at(a), at(b)),
                Gate::And(a, b) => Gate::And(at(a), at(b)),
                Gate::Not(a) => Gate::Not(at(a)),
                constant => constant,
            };
            gates.push(copied);
            let set = Wire(count + gates.len() as u32 - 1);
            local.insert(wire, set);
            if places[wire.index()] {
                taps[wire.index()] = Tap::Part { part, at: outputs.len() as u32 };
                outputs.push(set);
            }
        }
        let port = |name: &str, wires: usize| vec![Port::new(name, Type::Bits(wires as u32))];
        let ports = (port("in", inputs.len()), port("out", outputs.len()));
        let component = Component::new(name, ports.0, ports.1, Circuit::new(count, gates, outputs)?)?;
        let inputs = inputs.iter().map(|wire| taps[wire.index()]).collect();
        Ok(Part { body: PartBody::Gates(component), inputs })
    }
}
