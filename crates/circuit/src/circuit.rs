//! Boolean circuits in single-assignment form.

use std::sync::Arc;

use crate::{
    diagnostic::Diagnostic,
    error::CircuitError,
    gate::{Gate, GateCounts, Wire},
    stored::StoredGates,
};

/// A Boolean circuit: gates in an order in which every wire is set before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    input_count: u32,
    gates: Gates,
    outputs: Vec<Wire>,
}

/// The gates of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Gates {
    Here(Vec<Gate>),
    Stored(Arc<StoredGates>),
}

impl Circuit {
    /// The most wires of a circuit: the number of a wire, from 1 on, and an inversion flag fit 32 bits.
    pub const MAX_WIRES: u64 = (1 << 31) - 1;

    /// Checks and makes a circuit.
    ///
    /// *Errors*: a gate or an output that names a wire which is not set before it, or too many wires.
    pub fn new(input_count: u32, gates: Vec<Gate>, outputs: Vec<Wire>) -> Result<Self, CircuitError> {
        let wire_count = u64::from(input_count) + gates.len() as u64;
        if wire_count > Self::MAX_WIRES {
            return Err(CircuitError::TooManyWires { wires: wire_count, limit: Self::MAX_WIRES });
        }
        for (g, gate) in gates.iter().enumerate() {
            let set = input_count + g as u32;
            if let Some(wire) = gate.operands().find(|w| w.0 >= set) {
                return Err(CircuitError::GateReadsUnsetWire { gate: g, wire: wire.0, set });
            }
        }
        if let Some((output, wire)) = outputs.iter().enumerate().find(|(_, w)| u64::from(w.0) >= wire_count) {
            return Err(CircuitError::OutputReadsUnsetWire { output, wire: wire.0, set: wire_count as u32 });
        }
        Ok(Circuit { input_count, gates: Gates::Here(gates), outputs })
    }

    /// A circuit whose gates are read whenever they are needed. Few parts of Garblet can: see [`Program::whole`](crate::Program::whole).
    pub fn stored(gates: Arc<StoredGates>) -> Self {
        let (input_count, outputs) = (gates.input_count(), gates.outputs().to_vec());
        Circuit { input_count, gates: Gates::Stored(gates), outputs }
    }

    /// The gates, if they are not in memory.
    pub fn stored_gates(&self) -> Option<&Arc<StoredGates>> {
        match &self.gates {
            Gates::Here(_) => None,
            Gates::Stored(gates) => Some(gates),
        }
    }

    /// The circuit with all its gates in memory.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn whole(&self) -> Result<Circuit, Diagnostic> {
        let gates = match &self.gates {
            Gates::Here(gates) => gates.clone(),
            Gates::Stored(gates) => gates.all()?,
        };
        Ok(Circuit { gates: Gates::Here(gates), outputs: self.outputs.clone(), ..*self })
    }

    /// The number of input wires.
    pub fn input_count(&self) -> u32 {
        self.input_count
    }

    /// The gates in order.
    ///
    /// # Panics
    /// If they are not in memory. Only [`Circuit::stored`] makes such circuits.
    pub fn gates(&self) -> &[Gate] {
        match &self.gates {
            Gates::Here(gates) => gates,
            Gates::Stored(_) => panic!("the circuit's gates are not in memory"),
        }
    }

    /// Goes through the gates in order, wherever they are.
    ///
    /// *Errors*: gates that cannot be read again.
    pub fn for_each_gate(&self, mut each: impl FnMut(Gate)) -> Result<(), Diagnostic> {
        match &self.gates {
            Gates::Here(gates) => gates.iter().for_each(|gate| each(*gate)),
            Gates::Stored(gates) => gates.for_each(each)?,
        }
        Ok(())
    }

    /// The number of gates.
    pub fn gate_count(&self) -> usize {
        match &self.gates {
            Gates::Here(gates) => gates.len(),
            Gates::Stored(gates) => gates.gate_count(),
        }
    }

    /// The output wires in order. A wire may appear more than once, and may be an input.
    pub fn outputs(&self) -> &[Wire] {
        &self.outputs
    }

    /// The number of wires: inputs and one per gate.
    pub fn wire_count(&self) -> usize {
        self.input_count as usize + self.gate_count()
    }

    /// Counts gates; leaves the depth at 0.
    pub(crate) fn counts(&self) -> GateCounts {
        let mut counts = GateCounts::default();
        match &self.gates {
            Gates::Here(gates) => gates.iter().for_each(|gate| counts.add(*gate)),
            Gates::Stored(gates) => counts = GateCounts { and_depth: 0, ..gates.counts() },
        }
        counts
    }
}
