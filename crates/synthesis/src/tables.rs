//! Circuits whose gates are truth tables of two or three inputs.
//!
//! Schemes without free XOR garble every gate at the same price, so a circuit should have few gates of any kind. With free XOR, it
//! should have few gates other than XOR. [`three_inputs`] and [`two_inputs`] convert a [`Circuit`] to these forms.
//!
//! *Source*: Pinkas, Schneider, Smart and Williams, *Secure Two-Party Computation is Practical* (ASIACRYPT 2009), section 3: replace
//! sets of gates by one gate of three inputs, and that gate again by gates of two inputs, as few of them as possible other than
//! XOR. The paper leaves its rules to another version, which we do not have; a search of our own found [`rules`](self).

mod builder;
mod cover;
mod rules;

use garblet_circuit::{Circuit, Gate, Wire};

pub use builder::TableBuilder;

/// Gates are replaced again while that saves some, but at most this often.
const MAX_PASSES: u32 = 8;

/// The most inputs of a gate.
pub(crate) const MOST_OPERANDS: usize = 3;

/// The constant or the wire that a gate or an output reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// A constant.
    Constant(bool),
    /// A wire or its negation.
    Wire {
        /// The wire.
        wire: Wire,
        /// Set for the negation.
        inverted: bool,
    },
}

impl Signal {
    /// The wire itself.
    pub fn of(wire: Wire) -> Self {
        Signal::Wire { wire, inverted: false }
    }

    /// The negation, if `invert`.
    pub fn invert_if(self, invert: bool) -> Self {
        match self {
            Signal::Constant(value) => Signal::Constant(value ^ invert),
            Signal::Wire { wire, inverted } => Signal::Wire { wire, inverted: inverted ^ invert },
        }
    }

    /// Its value in 64 evaluations at once.
    fn lanes(self, wires: &[u64]) -> u64 {
        let all = |bit: bool| u64::from(bit).wrapping_neg();
        match self {
            Signal::Constant(value) => all(value),
            Signal::Wire { wire, inverted } => wires[wire.index()] ^ all(inverted),
        }
    }
}

/// A gate of two or three distinct inputs in ascending order. It depends on each of them, and is false where all are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TableGate {
    operands: [Wire; MOST_OPERANDS],
    arity: u8,
    table: u8,
}

impl TableGate {
    /// The wires that it reads.
    pub fn operands(&self) -> &[Wire] {
        &self.operands[..usize::from(self.arity)]
    }

    /// The value where operand `i` is bit `i` of `point`.
    pub fn value(&self, point: usize) -> bool {
        self.table >> point & 1 == 1
    }

    /// Returns whether it is the sum (XOR) of its operands.
    pub fn is_xor(&self) -> bool {
        let sum = |point: usize| point.count_ones() % 2 == 1;
        (0..1 << self.arity).all(|point| self.value(point) == sum(point))
    }

    /// Returns whether it is true for an even number of inputs.
    pub fn is_even(&self) -> bool {
        (0..1 << self.arity).filter(|&point| self.value(point)).count() % 2 == 0
    }

    fn lanes(&self, wires: &[u64]) -> u64 {
        let operand = |i: usize, point: usize| {
            let value = wires[self.operands[i].index()];
            if point >> i & 1 == 1 { value } else { !value }
        };
        let points = (0..1 << self.arity).filter(|&point| self.value(point));
        points.fold(0, |sum, point| sum | (0..usize::from(self.arity)).fold(u64::MAX, |all, i| all & operand(i, point)))
    }
}

/// A circuit of gates given by truth tables. [`TableBuilder`] makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCircuit {
    input_count: u32,
    gates: Vec<TableGate>,
    outputs: Vec<Signal>,
}

/// Gates by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// All gates.
    pub gates: u64,
    /// Gates that are sums of their operands.
    pub xor: u64,
    /// Gates of three inputs.
    pub three_inputs: u64,
    /// Rows of all truth tables.
    pub rows: u64,
}

impl TableCounts {
    /// Gates that are not sums.
    pub fn non_xor(&self) -> u64 {
        self.gates - self.xor
    }

    /// The number of gates in a hundred that are sums.
    pub fn xor_percent(&self) -> f64 {
        100.0 * self.xor as f64 / self.gates.max(1) as f64
    }
}

impl TableCircuit {
    /// The number of inputs. Gate `g` defines wire `input_count + g`.
    pub fn input_count(&self) -> u32 {
        self.input_count
    }

    /// The gates, each after those that it reads.
    pub fn gates(&self) -> &[TableGate] {
        &self.gates
    }

    /// The outputs in order.
    pub fn outputs(&self) -> &[Signal] {
        &self.outputs
    }

    /// Counts the gates.
    pub fn counts(&self) -> TableCounts {
        self.gates.iter().fold(TableCounts::default(), |counts, gate| TableCounts {
            gates: counts.gates + 1,
            xor: counts.xor + u64::from(gate.is_xor()),
            three_inputs: counts.three_inputs + u64::from(gate.arity == 3),
            rows: counts.rows + (1 << gate.arity),
        })
    }

    /// The outputs of 64 evaluations: bit `k` of each input and output belongs to evaluation `k`.
    ///
    /// # Panics
    /// If the number of inputs differs from the circuit's.
    pub fn evaluate(&self, inputs: &[u64]) -> Vec<u64> {
        assert_eq!(inputs.len(), self.input_count as usize, "as many inputs as the circuit has");
        let mut wires = inputs.to_vec();
        wires.reserve_exact(self.gates.len());
        for gate in &self.gates {
            wires.push(gate.lanes(&wires));
        }
        self.outputs.iter().map(|output| output.lanes(&wires)).collect()
    }
}

/// Converts the circuit gate by gate, and removes constants, negations, copies and equal gates.
pub fn as_written(circuit: &Circuit) -> TableCircuit {
    let mut builder = TableBuilder::new(circuit.input_count());
    let mut signals: Vec<Signal> = (0..circuit.input_count()).map(|i| Signal::of(Wire(i))).collect();
    for gate in circuit.gates() {
        let at = |wire: &Wire| signals[wire.index()];
        let signal = match gate {
            Gate::Xor(a, b) => builder.gate(&[at(a), at(b)], 0b0110),
            Gate::And(a, b) => builder.gate(&[at(a), at(b)], 0b1000),
            Gate::Not(a) => at(a).invert_if(true),
            Gate::Constant(value) => Signal::Constant(*value),
        };
        signals.push(signal);
    }
    let outputs = circuit.outputs().iter().map(|wire| signals[wire.index()]).collect();
    builder.finish(outputs)
}

/// The circuit with gates of two inputs, few of them other than XOR.
///
/// *Cost*: time and memory in proportion to the gates.
pub fn two_inputs(circuit: &Circuit) -> TableCircuit {
    let order = |circuit: &TableCircuit| (circuit.counts().non_xor(), circuit.counts().gates);
    let mut best = as_written(circuit);
    for _ in 0..MAX_PASSES {
        let next = rules::expand(&cover::cover(&best, rules::cost));
        if order(&next) >= order(&best) {
            break;
        }
        best = next;
    }
    best
}

/// The circuit with few gates, of two or three inputs.
///
/// *Cost*: as [`two_inputs`].
pub fn three_inputs(circuit: &Circuit) -> TableCircuit {
    // Among forms with equally many gates, take the one with fewer rows.
    let cost = |gate: &TableGate| 64 + (1 << gate.arity);
    let order = |circuit: &TableCircuit| (circuit.counts().gates, circuit.counts().rows);
    let mut best = cover::cover(&as_written(circuit), cost);
    for start in [&two_inputs(circuit), &best.clone()] {
        let next = cover::cover(start, cost);
        if order(&next) < order(&best) {
            best = next;
        }
    }
    best
}

#[cfg(test)]
mod tests;
