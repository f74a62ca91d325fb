//! Wires of a circuit, by the numbers of a file.

use std::collections::HashMap;

use garblet_circuit::{Circuit, CircuitError, Gate, Wire};

/// A map from numbers in any order whose memory grows with the entries, not with the numbers.
///
/// Numbers mostly come in order, with the outputs' far ahead of the rest: those wait in a hash map.
pub(crate) struct WireMap {
    inputs: u32,
    near: Vec<u32>,
    far: HashMap<u32, u32>,
    count: usize,
}

const UNSET: u32 = u32::MAX;

/// The distance that the vector may reach ahead of the entries so far.
const SLACK: usize = 4096;

impl WireMap {
    /// The first `inputs` numbers map to themselves.
    pub(crate) fn new(inputs: u32) -> Self {
        WireMap { inputs, near: Vec::new(), far: HashMap::new(), count: 0 }
    }

    /// The wire for a number.
    pub(crate) fn get(&self, number: u32) -> Option<u32> {
        let Some(k) = number.checked_sub(self.inputs) else { return Some(number) };
        match self.near.get(k as usize) {
            Some(&wire) if wire != UNSET => Some(wire),
            _ if self.far.is_empty() => None,
            _ => self.far.get(&number).copied(),
        }
    }

    /// Adds an entry; returns false if there is one already.
    pub(crate) fn set(&mut self, number: u32, wire: u32) -> bool {
        if self.get(number).is_some() {
            return false;
        }
        let k = (number - self.inputs) as usize;
        self.count += 1;
        if k < 2 * self.count + SLACK {
            if k >= self.near.len() {
                self.near.resize(k + 1, UNSET);
            }
            self.near[k] = wire;
        } else {
            self.far.insert(number, wire);
        }
        true
    }
}

/// The same circuit with its inputs and outputs in another order: input `k` is the circuit's input `inputs[k]`, likewise the outputs. None
/// is the order that they have.
///
/// *Errors*: as [`Circuit::new`].
pub(crate) fn reordered(
    circuit: Circuit,
    inputs: Option<&[u32]>,
    outputs: Option<&[u32]>,
) -> Result<Circuit, CircuitError> {
    let mut places: Vec<u32> = vec![0; inputs.map_or(0, <[u32]>::len)];
    inputs.into_iter().flatten().zip(0..).for_each(|(input, place)| places[*input as usize] = place);
    let moved = |wire: Wire| Wire(places.get(wire.index()).copied().unwrap_or(wire.0));
    let gates = circuit.gates().iter().map(|gate| match *gate {
        Gate::Xor(a, b) => Gate::Xor(moved(a), moved(b)),
        Gate::And(a, b) => Gate::And(moved(a), moved(b)),
        Gate::Not(a) => Gate::Not(moved(a)),
        constant @ Gate::Constant(_) => constant,
    });
    let wires = circuit.outputs();
    let outputs = match outputs {
        None => wires.iter().map(|wire| moved(*wire)).collect(),
        Some(order) => order.iter().map(|output| moved(wires[*output as usize])).collect(),
    };
    Circuit::new(circuit.input_count(), gates.collect(), outputs)
}
