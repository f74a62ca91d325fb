//! Wires and gates.

/// A wire of one [`Circuit`](crate::Circuit): the inputs come first, then one wire per gate, in order.
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
    #[inline]
    pub fn operands(self) -> impl Iterator<Item = Wire> {
        let (a, b) = match self {
            Gate::Xor(a, b) | Gate::And(a, b) => (Some(a), Some(b)),
            Gate::Not(a) => (Some(a), None),
            Gate::Constant(_) => (None, None),
        };
        a.into_iter().chain(b)
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

impl GateCounts {
    /// Counts a gate.
    pub(crate) fn add(&mut self, gate: Gate) {
        match gate {
            Gate::And(..) => self.and += 1,
            Gate::Xor(..) => self.xor += 1,
            Gate::Not(_) => self.not += 1,
            Gate::Constant(_) => (),
        }
    }
}
