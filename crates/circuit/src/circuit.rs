//! Boolean circuits in single-assignment form.

use crate::error::CircuitError;

/// A wire of one [`Circuit`]: the inputs come first, then one wire per gate, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wire(pub u32);

impl Wire {
    /// The wire's position, for indexing.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One gate. Gate `g` of a circuit with `n` inputs defines wire `n + g`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Exclusive or.
    Xor(Wire, Wire),
    /// And: the only gate that costs communication.
    And(Wire, Wire),
    /// Negation.
    Not(Wire),
    /// A constant.
    Constant(bool),
}

impl Gate {
    /// The wires that the gate reads.
    pub fn operands(self) -> impl Iterator<Item = Wire> {
        let (a, b) = match self {
            Gate::Xor(a, b) | Gate::And(a, b) => (Some(a), Some(b)),
            Gate::Not(a) => (Some(a), None),
            Gate::Constant(_) => (None, None),
        };
        a.into_iter().chain(b)
    }
}

/// A Boolean circuit: gates in an order in which every wire is set before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    input_count: u32,
    gates: Vec<Gate>,
    outputs: Vec<Wire>,
}

impl Circuit {
    /// The most wires of a circuit: a wire and an inversion flag fit 32 bits.
    pub const MAX_WIRES: u64 = 1 << 31;

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
        Ok(Circuit { input_count, gates, outputs })
    }

    /// The number of input wires.
    pub fn input_count(&self) -> u32 {
        self.input_count
    }

    /// The gates in order.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The output wires in order. A wire may appear more than once, and may be an input.
    pub fn outputs(&self) -> &[Wire] {
        &self.outputs
    }

    /// The number of wires: inputs and one per gate.
    pub fn wire_count(&self) -> usize {
        self.input_count as usize + self.gates.len()
    }

    /// Counts gates; leaves the depth at 0.
    pub(crate) fn counts(&self) -> GateCounts {
        let mut counts = GateCounts::default();
        for gate in &self.gates {
            match gate {
                Gate::And(..) => counts.and += 1,
                Gate::Xor(..) => counts.xor += 1,
                Gate::Not(_) => counts.not += 1,
                Gate::Constant(_) => (),
            }
        }
        counts
    }
}

/// Gate counts of a circuit or of a whole program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GateCounts {
    /// AND gates.
    pub and: u64,
    /// XOR gates.
    pub xor: u64,
    /// Negations.
    pub not: u64,
    /// The most AND gates on a path from an input to an output, without trivial ones, whose value is an operand or a constant:
    /// the number of layers of [`Schedule::by_depth`](crate::Schedule::by_depth).
    pub and_depth: u64,
}
