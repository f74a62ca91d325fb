//! The gates of a circuit under construction: every gate once, no constant gates, negation for free.

use std::ops::Not;

use crate::{
    circuit::{Circuit, Gate, Wire},
    error::CircuitError,
};

/// A wire of a circuit under construction, its negation, or a constant. Negation (`!bit`) costs nothing.
///
/// A bit belongs to the builder that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bit(u32);

impl Bit {
    /// The constant false.
    pub const FALSE: Bit = Bit(0);
    /// The constant true.
    pub const TRUE: Bit = Bit(1);

    /// The value, if the bit is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    /// The bit, negated if `invert`.
    pub fn invert_if(self, invert: bool) -> Bit {
        Bit(self.0 ^ u32::from(invert))
    }

    fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn inverted(self) -> bool {
        self.0 & 1 == 1
    }

    fn positive(self) -> Bit {
        Bit(self.0 & !1)
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        self.invert_if(true)
    }
}

impl From<bool> for Bit {
    fn from(value: bool) -> Bit {
        Bit::FALSE.invert_if(value)
    }
}

/// A node: the order of its operands says what it is.
///
/// `a < b` is the AND of two literals, `a > b` the XOR of two positive ones, `a == b` an input (or, as node 0, the
/// constant). So one comparison of two words finds a gate that exists already.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    a: Bit,
    b: Bit,
}

impl Node {
    const LEAF: Node = Node { a: Bit(0), b: Bit(0) };

    fn is_and(self) -> bool {
        self.a < self.b
    }

    fn is_xor(self) -> bool {
        self.a > self.b
    }

    fn is_leaf(self) -> bool {
        self.a == self.b
    }

    /// The high bits of a product depend on all bits of its factors. Twice, as wires of a word are numbered in steps
    /// and one product keeps the steps.
    fn hash(self, bits: u32) -> usize {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let key = (u64::from(self.a.0) << 32 | u64::from(self.b.0)).wrapping_mul(ODD);
        ((key ^ key >> 32).wrapping_mul(ODD) >> (64 - bits)) as usize
    }
}

/// An AND-inverter graph with XOR, hash-consed.
pub(super) struct Graph {
    nodes: Vec<Node>,
    inputs: Vec<Bit>,
    /// Open addressing: numbers of gate nodes, 0 for a free place; at most half full.
    table: Vec<u32>,
    table_bits: u32,
    gates: usize,
    ands: u64,
}

impl Graph {
    pub(super) fn new() -> Self {
        let table_bits = 8;
        Graph {
            nodes: vec![Node::LEAF],
            inputs: Vec::new(),
            table: vec![0; 1 << table_bits],
            table_bits,
            gates: 0,
            ands: 0,
        }
    }

    pub(super) fn reserve(&mut self, gates: usize) {
        self.nodes.reserve(gates);
        let bits = (2 * (self.gates + gates)).next_power_of_two().trailing_zeros();
        if bits > self.table_bits {
            self.resize_table(bits);
        }
    }

    pub(super) fn and_count(&self) -> u64 {
        self.ands
    }

    pub(super) fn input(&mut self) -> Bit {
        let bit = self.push(Node::LEAF);
        self.inputs.push(bit);
        bit
    }

    pub(super) fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let flip = a.inverted() ^ b.inverted();
        let (a, b) = (a.positive(), b.positive());
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        if low == Bit::FALSE {
            return high.invert_if(flip);
        }
        if low == high {
            return Bit::from(flip);
        }
        // x ^ (x ^ y) = y; only the later operand can contain the earlier one.
        let inner = self.nodes[high.node()];
        if inner.is_xor() && inner.a == low {
            return inner.b.invert_if(flip);
        }
        if inner.is_xor() && inner.b == low {
            return inner.a.invert_if(flip);
        }
        self.find_or_push(Node { a: high, b: low }).invert_if(flip)
    }

    pub(super) fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        if low == Bit::FALSE || low == !high {
            return Bit::FALSE;
        }
        if low == Bit::TRUE || low == high {
            return high;
        }
        let inner = self.nodes[high.node()];
        if inner.is_and()
            && let Some(simpler) = self.absorb(low, high, inner)
        {
            return simpler;
        }
        self.find_or_push(Node { a: low, b: high })
    }

    /// `x & (x & y)`, `x & !(x & y)`, `!x & (x & y)` and `!x & !(x & y)` need at most the gate of `x & !y`.
    fn absorb(&mut self, x: Bit, outer: Bit, inner: Node) -> Option<Bit> {
        let (same, other) = match x.positive() {
            p if p == inner.a.positive() => (x == inner.a, inner.b),
            p if p == inner.b.positive() => (x == inner.b, inner.a),
            _ => return None,
        };
        Some(match (same, outer.inverted()) {
            (true, false) => outer,
            (true, true) => self.and(x, !other),
            (false, false) => Bit::FALSE,
            (false, true) => x,
        })
    }

    fn find_or_push(&mut self, node: Node) -> Bit {
        let mask = self.table.len() - 1;
        let mut at = node.hash(self.table_bits);
        loop {
            match self.table[at] {
                0 => break,
                n if self.nodes[n as usize] == node => return Bit(n << 1),
                _ => at = (at + 1) & mask,
            }
        }
        let bit = self.push(node);
        self.table[at] = bit.0 >> 1;
        self.gates += 1;
        self.ands += u64::from(node.is_and());
        if 2 * self.gates > self.table.len() {
            self.resize_table(self.table_bits + 1);
        }
        bit
    }

    fn push(&mut self, node: Node) -> Bit {
        assert!((self.nodes.len() as u64) < Circuit::MAX_WIRES, "a circuit has at most 2^31 wires");
        self.nodes.push(node);
        Bit((self.nodes.len() as u32 - 1) << 1)
    }

    fn resize_table(&mut self, bits: u32) {
        let mask = (1 << bits) - 1;
        let mut table = vec![0u32; 1 << bits];
        for (n, node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.is_leaf()) {
            let mut at = node.hash(bits);
            while table[at] != 0 {
                at = (at + 1) & mask;
            }
            table[at] = n as u32;
        }
        self.table = table;
        self.table_bits = bits;
    }

    /// The circuit of the gates that `outputs` depend on.
    pub(super) fn into_circuit(mut self, outputs: &[Bit]) -> Result<Circuit, CircuitError> {
        // As large as the nodes, and of no use any more.
        self.table = Vec::new();
        let live = self.live(outputs);
        let mut emitter = Emitter::new(&self);
        for (n, node) in self.nodes.iter().enumerate().filter(|&(n, node)| live[n] && !node.is_leaf()) {
            let (a, b) = (emitter.wire(node.a), emitter.wire(node.b));
            emitter.positive[n] = emitter.emit(if node.is_and() { Gate::And(a, b) } else { Gate::Xor(b, a) });
        }
        let outputs = outputs.iter().map(|&bit| emitter.wire(bit)).collect();
        Circuit::new(self.inputs.len() as u32, emitter.gates, outputs)
    }

    fn live(&self, outputs: &[Bit]) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        for bit in outputs {
            live[bit.node()] = true;
        }
        for (n, node) in self.nodes.iter().enumerate().rev() {
            if live[n] && !node.is_leaf() {
                live[node.a.node()] = true;
                live[node.b.node()] = true;
            }
        }
        live
    }
}

/// Numbers the wires; a negation or a constant becomes a gate when it is first read.
struct Emitter {
    input_count: u32,
    gates: Vec<Gate>,
    positive: Vec<Wire>,
    negated: Vec<Wire>,
}

const UNSET: Wire = Wire(u32::MAX);

impl Emitter {
    fn new(graph: &Graph) -> Self {
        let mut positive = vec![UNSET; graph.nodes.len()];
        for (k, bit) in graph.inputs.iter().enumerate() {
            positive[bit.node()] = Wire(k as u32);
        }
        let gates = Vec::with_capacity(graph.gates + graph.gates / 8);
        Emitter { input_count: graph.inputs.len() as u32, gates, negated: vec![UNSET; graph.nodes.len()], positive }
    }

    fn emit(&mut self, gate: Gate) -> Wire {
        self.gates.push(gate);
        Wire(self.input_count + self.gates.len() as u32 - 1)
    }

    fn wire(&mut self, bit: Bit) -> Wire {
        let known = if bit.inverted() { self.negated[bit.node()] } else { self.positive[bit.node()] };
        if known != UNSET {
            return known;
        }
        let wire = match bit.as_constant() {
            Some(value) => self.emit(Gate::Constant(value)),
            None => self.emit(Gate::Not(self.positive[bit.node()])),
        };
        if bit.inverted() {
            self.negated[bit.node()] = wire;
        } else {
            self.positive[bit.node()] = wire;
        }
        wire
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_inputs() -> (Graph, Bit, Bit) {
        let mut g = Graph::new();
        let (a, b) = (g.input(), g.input());
        (g, a, b)
    }

    #[test]
    fn equal_gates_are_one_gate() {
        let (mut g, a, b) = two_inputs();
        assert_eq!(g.and(a, b), g.and(b, a));
        assert_eq!(g.xor(a, b), g.xor(b, a));
        assert_eq!(g.xor(!a, b), !g.xor(a, b));
        assert_eq!(g.xor(!a, !b), g.xor(a, b));
        assert_ne!(g.and(a, !b), g.and(a, b));
        assert_eq!(g.gates, 3);
    }

    #[test]
    fn constants_fold() {
        let (mut g, a, b) = two_inputs();
        assert_eq!(g.and(a, Bit::TRUE), a);
        assert_eq!(g.and(Bit::FALSE, a), Bit::FALSE);
        assert_eq!(g.and(a, !a), Bit::FALSE);
        assert_eq!(g.and(!a, !a), !a);
        assert_eq!(g.xor(a, Bit::TRUE), !a);
        assert_eq!(g.xor(a, !a), Bit::TRUE);
        let sum = g.xor(a, b);
        let before = g.gates;
        assert_eq!(g.xor(!sum, b), !a);
        assert_eq!(g.xor(a, sum), b);
        assert_eq!(g.gates, before);
    }

    #[test]
    fn products_absorb_their_factors() {
        let (mut g, a, b) = two_inputs();
        let p = g.and(a, !b);
        assert_eq!(g.and(p, a), p);
        assert_eq!(g.and(p, !b), p);
        assert_eq!(g.and(p, b), Bit::FALSE);
        assert_eq!(g.and(!p, !a), !a);
        assert_eq!(g.and(!p, a), g.and(a, b));
    }

    #[test]
    fn dead_gates_and_unread_negations_are_left_out() {
        let (mut g, a, b) = two_inputs();
        let unread = g.and(a, b);
        g.xor(unread, a);
        let read = g.xor(a, !b);
        let circuit = g.into_circuit(&[!read, Bit::TRUE, a]).unwrap();
        assert_eq!(circuit.gates(), [Gate::Xor(Wire(0), Wire(1)), Gate::Constant(true)]);
        assert_eq!(circuit.outputs(), [Wire(2), Wire(3), Wire(0)]);
    }

    #[test]
    fn the_table_keeps_every_gate_when_it_grows() {
        let mut g = Graph::new();
        let inputs: Vec<Bit> = (0..80).map(|_| g.input()).collect();
        let all = |g: &mut Graph| {
            let pairs = inputs.iter().flat_map(|&a| inputs.iter().map(move |&b| (a, b)));
            pairs.map(|(a, b)| (g.and(a, b), g.xor(a, b))).collect::<Vec<_>>()
        };
        let first = all(&mut g);
        let gates = g.gates;
        assert_eq!(gates, 80 * 79);
        assert_eq!(first, all(&mut g));
        assert_eq!(g.gates, gates);
    }
}
