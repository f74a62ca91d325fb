//! XOR-AND graphs with shared gates, folded constants and trivial gates, and free negation.

use std::cmp::Ordering;

use garblet_circuit::{Circuit, CircuitError, Gate, Literal, Wire};

/// A gate or a leaf. Operands are in ascending order, those of XOR are not inverted, and none is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// The constant, or an input.
    Leaf,
    Xor(Literal, Literal),
    And(Literal, Literal),
}

impl Node {
    pub(crate) fn operands(self) -> impl DoubleEndedIterator<Item = Literal> {
        let (a, b) = match self {
            Node::Leaf => (None, None),
            Node::Xor(a, b) | Node::And(a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b)
    }
}

/// A [`Node`] in two words: `a < b` is an AND, `a > b` an XOR, `a == b` a leaf. One comparison of both finds a gate that exists already.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PackedNode {
    a: Literal,
    b: Literal,
}

impl PackedNode {
    const LEAF: PackedNode = PackedNode { a: Literal::FALSE, b: Literal::FALSE };

    fn unpack(self) -> Node {
        match self.a.cmp(&self.b) {
            Ordering::Less => Node::And(self.a, self.b),
            Ordering::Greater => Node::Xor(self.b, self.a),
            Ordering::Equal => Node::Leaf,
        }
    }

    /// The high bits of a product depend on all bits of its factors. Multiply twice: wires of a word are numbered in steps,
    /// and one product preserves the steps.
    fn hash(self, bits: u32) -> usize {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let word = |literal: Literal| u64::from(literal.number()) << 1 | u64::from(literal.inverted());
        let key = (word(self.a) << 32 | word(self.b)).wrapping_mul(ODD);
        ((key ^ key >> 32).wrapping_mul(ODD) >> (64 - bits)) as usize
    }
}

/// A hash-consed graph of XOR and AND nodes, each after its operands. Node 0 is the constant false.
#[derive(Clone)]
pub(crate) struct Xag {
    nodes: Vec<PackedNode>,
    inputs: Vec<Literal>,
    pub(crate) outputs: Vec<Literal>,
    /// Open addressing: numbers of gate nodes, 0 for a free place; at most half full.
    table: Vec<u32>,
    table_bits: u32,
    gates: usize,
    ands: u64,
    /// Set if products of sums are simplified as well.
    through_sums: bool,
}

impl Xag {
    /// An empty graph.
    pub(crate) fn new() -> Self {
        let table_bits = 8;
        Xag {
            nodes: vec![PackedNode::LEAF],
            inputs: Vec::new(),
            outputs: Vec::new(),
            table: vec![0; 1 << table_bits],
            table_bits,
            gates: 0,
            ands: 0,
            through_sums: false,
        }
    }

    /// A graph with this many inputs, as nodes from 1 on, that simplifies products of sums.
    pub(crate) fn with_inputs(count: u32) -> Self {
        let mut graph = Xag { through_sums: true, ..Xag::new() };
        (0..count).for_each(|_| _ = graph.input());
        graph
    }

    /// The graph of a circuit, [with its inputs](Xag::with_inputs).
    pub(crate) fn from_circuit(circuit: &Circuit) -> Self {
        let mut graph = Xag::with_inputs(circuit.input_count());
        let mut literals = graph.inputs.clone();
        literals.reserve_exact(circuit.gates().len());
        for gate in circuit.gates() {
            let at = |wire: Wire| literals[wire.index()];
            let literal = match *gate {
                Gate::Xor(a, b) => graph.xor(at(a), at(b)),
                Gate::And(a, b) => graph.and(at(a), at(b)),
                Gate::Not(a) => !at(a),
                Gate::Constant(value) => Literal::constant(value),
            };
            literals.push(literal);
        }
        graph.outputs = circuit.outputs().iter().map(|w| literals[w.index()]).collect();
        graph
    }

    /// Makes room for this many more gates.
    pub(crate) fn reserve(&mut self, gates: usize) {
        self.nodes.reserve(gates);
        let bits = (2 * (self.gates + gates)).next_power_of_two().trailing_zeros();
        if bits > self.table_bits {
            self.resize_table(bits);
        }
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The constant false and the inputs: the first nodes of a graph [with inputs](Xag::with_inputs).
    pub(crate) fn leaves(&self) -> Vec<Literal> {
        [Literal::FALSE].into_iter().chain(self.inputs.iter().copied()).collect()
    }

    /// A graph with the same inputs and no gates.
    pub(crate) fn of_same_inputs(&self) -> Self {
        Xag::with_inputs(self.inputs.len() as u32)
    }

    /// The node with this number.
    pub(crate) fn node(&self, at: usize) -> Node {
        self.nodes[at].unpack()
    }

    /// All nodes in order.
    pub(crate) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + '_ {
        self.nodes.iter().map(|node| node.unpack())
    }

    /// The number of AND nodes, including dead ones.
    pub(crate) fn and_count(&self) -> u64 {
        self.ands
    }

    /// The number of AND nodes that an output depends on.
    pub(crate) fn live_and_count(&self) -> usize {
        let readers = self.readers();
        self.nodes().zip(readers).filter(|(node, readers)| *readers > 0 && matches!(node, Node::And(..))).count()
    }

    /// The number of AND and XOR nodes that an output depends on.
    pub(crate) fn live_gate_count(&self) -> usize {
        let readers = self.readers();
        self.nodes().zip(readers).filter(|(node, readers)| *readers > 0 && *node != Node::Leaf).count()
    }

    /// Adds an input.
    pub(crate) fn input(&mut self) -> Literal {
        let literal = self.push(PackedNode::LEAF);
        self.inputs.push(literal);
        literal
    }

    /// The XOR of two literals; adds no node if it is known or trivial.
    pub(crate) fn xor(&mut self, a: Literal, b: Literal) -> Literal {
        if let Some(known) = a.xor(b) {
            return known;
        }
        let invert = a.inverted() ^ b.inverted();
        let (a, b) = (a.positive(), b.positive());
        let (low, high) = (a.min(b), a.max(b));
        // x ^ (x ^ y) = y; only the later operand can contain the earlier one.
        let sum = match self.node(high.node()) {
            Node::Xor(p, q) if p == low => q,
            Node::Xor(p, q) if q == low => p,
            _ => self.find_or_push(PackedNode { a: high, b: low }),
        };
        sum.invert_if(invert)
    }

    /// The AND of two literals; adds no node if it is known or trivial.
    pub(crate) fn and(&mut self, a: Literal, b: Literal) -> Literal {
        if let Some(known) = a.and(b) {
            return known;
        }
        let (low, high) = (a.min(b), a.max(b));
        if let Some(simpler) = self.absorb(low, high) {
            return simpler;
        }
        // !(x & y) & !(!x & !y) = x ^ y
        if self.through_sums
            && let (true, true, Node::And(p, q), Node::And(r, s)) =
                (low.inverted(), high.inverted(), self.node(low.node()), self.node(high.node()))
            && (!p, !q) == (r, s)
        {
            return self.xor(p, q);
        }
        self.find_or_push(PackedNode { a: low, b: high })
    }

    /// `x & outer` if `outer` is made from `x`.
    fn absorb(&mut self, x: Literal, outer: Literal) -> Option<Literal> {
        match self.node(outer.node()) {
            Node::And(p, q) if x.is_of(p) || x.is_of(q) => {
                let (same, rest) = if x.is_of(p) { (p, q) } else { (q, p) };
                Some(match (x == same, outer.inverted()) {
                    (true, false) => outer,             // x & (x & y) = x & y
                    (true, true) => self.and(x, !rest), // x & !(x & y) = x & !y
                    (false, false) => Literal::FALSE,   // x & (!x & y) = 0
                    (false, true) => x,                 // x & !(!x & y) = x
                })
            }
            // x & (x ^ y) = x & !y; with either operand inverted, the opposite.
            Node::Xor(p, q) if self.through_sums && (x.is_of(p) || x.is_of(q)) => {
                let rest = if x.is_of(p) { q } else { p };
                Some(self.and(x, rest.invert_if(outer.inverted() == x.inverted())))
            }
            _ => None,
        }
    }

    fn find_or_push(&mut self, node: PackedNode) -> Literal {
        let mask = self.table.len() - 1;
        let mut at = node.hash(self.table_bits);
        loop {
            match self.table[at] {
                0 => break,
                n if self.nodes[n as usize] == node => return Literal::of(n),
                _ => at = (at + 1) & mask,
            }
        }
        let literal = self.push(node);
        self.table[at] = literal.number();
        self.gates += 1;
        self.ands += u64::from(node.a < node.b);
        if 2 * self.gates > self.table.len() {
            self.resize_table(self.table_bits + 1);
        }
        literal
    }

    fn push(&mut self, node: PackedNode) -> Literal {
        assert!((self.nodes.len() as u64) < Circuit::MAX_WIRES, "a circuit has at most 2^31 - 1 wires");
        self.nodes.push(node);
        Literal::of(self.nodes.len() as u32 - 1)
    }

    fn resize_table(&mut self, bits: u32) {
        let mask = (1 << bits) - 1;
        let mut table = vec![0u32; 1 << bits];
        for (n, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.a != node.b) {
            let mut at = node.hash(bits);
            while table[at] != 0 {
                at = (at + 1) & mask;
            }
            table[at] = n as u32;
        }
        self.table = table;
        self.table_bits = bits;
    }

    /// The number of times that live nodes and outputs read each node; dead nodes do not count as readers.
    pub(crate) fn readers(&self) -> Vec<u32> {
        let mut readers = vec![0u32; self.nodes.len()];
        self.outputs.iter().for_each(|literal| readers[literal.node()] += 1);
        for (at, node) in self.nodes().enumerate().rev() {
            if readers[at] > 0 {
                node.operands().for_each(|literal| readers[literal.node()] += 1);
            }
        }
        readers
    }

    /// The circuit of the gates that outputs depend on.
    pub(crate) fn into_circuit(mut self) -> Result<Circuit, CircuitError> {
        // As large as the nodes, and no longer needed.
        self.table = Vec::new();
        let readers = self.readers();
        let mut emitter = Emitter::new(&self);
        for (n, node) in self.nodes().enumerate().filter(|&(n, _)| readers[n] > 0) {
            let gate = match node {
                Node::Leaf => continue,
                Node::Xor(a, b) => Gate::Xor(emitter.wire(a), emitter.wire(b)),
                Node::And(a, b) => Gate::And(emitter.wire(a), emitter.wire(b)),
            };
            emitter.wires[n][0] = emitter.emit(gate);
        }
        let outputs = self.outputs.iter().map(|&literal| emitter.wire(literal)).collect();
        Circuit::new(self.inputs.len() as u32, emitter.gates, outputs)
    }
}

/// Numbers the wires; a negation or a constant becomes a gate when it is first read.
struct Emitter {
    input_count: u32,
    gates: Vec<Gate>,
    /// The wires of each node and of its negation.
    wires: Vec<[Wire; 2]>,
}

const UNSET: Wire = Wire(u32::MAX);

impl Emitter {
    fn new(graph: &Xag) -> Self {
        let mut wires = vec![[UNSET; 2]; graph.nodes.len()];
        for (k, literal) in graph.inputs.iter().enumerate() {
            wires[literal.node()][0] = Wire(k as u32);
        }
        let gates = Vec::with_capacity(graph.gates + graph.gates / 8);
        Emitter { input_count: graph.inputs.len() as u32, gates, wires }
    }

    fn emit(&mut self, gate: Gate) -> Wire {
        self.gates.push(gate);
        Wire(self.input_count + self.gates.len() as u32 - 1)
    }

    fn wire(&mut self, literal: Literal) -> Wire {
        let (node, side) = (literal.node(), usize::from(literal.inverted()));
        if self.wires[node][side] == UNSET {
            let gate = match literal.as_constant() {
                Some(value) => Gate::Constant(value),
                None => Gate::Not(self.wires[node][0]),
            };
            self.wires[node][side] = self.emit(gate);
        }
        self.wires[node][side]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_inputs() -> (Xag, Literal, Literal) {
        let mut g = Xag::new();
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
        assert_eq!(g.and(a, Literal::TRUE), a);
        assert_eq!(g.and(Literal::FALSE, a), Literal::FALSE);
        assert_eq!(g.and(a, !a), Literal::FALSE);
        assert_eq!(g.and(!a, !a), !a);
        assert_eq!(g.xor(a, Literal::TRUE), !a);
        assert_eq!(g.xor(a, !a), Literal::TRUE);
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
        assert_eq!(g.and(p, b), Literal::FALSE);
        assert_eq!(g.and(!p, !a), !a);
        assert_eq!(g.and(!p, a), g.and(a, b));
    }

    #[test]
    fn dead_gates_and_unread_negations_are_left_out() {
        let (mut g, a, b) = two_inputs();
        let unread = g.and(a, b);
        g.xor(unread, a);
        let read = g.xor(a, !b);
        g.outputs = vec![!read, Literal::TRUE, a];
        let circuit = g.into_circuit().unwrap();
        assert_eq!(circuit.gates(), [Gate::Xor(Wire(0), Wire(1)), Gate::Constant(true)]);
        assert_eq!(circuit.outputs(), [Wire(2), Wire(3), Wire(0)]);
    }

    #[test]
    fn the_table_keeps_every_gate_when_it_grows() {
        let mut g = Xag::new();
        let inputs: Vec<Literal> = (0..80).map(|_| g.input()).collect();
        let all = |g: &mut Xag| {
            let pairs = inputs.iter().flat_map(|&a| inputs.iter().map(move |&b| (a, b)));
            pairs.map(|(a, b)| (g.and(a, b), g.xor(a, b))).collect::<Vec<_>>()
        };
        let first = all(&mut g);
        let gates = g.gates;
        assert_eq!(gates, 80 * 79);
        assert_eq!(first, all(&mut g));
        assert_eq!(g.gates, gates);
    }
    #[test]
    fn products_of_sums_are_simplified_where_that_is_asked_for() {
        let mut g = Xag::with_inputs(2);
        let (a, b) = (g.inputs[0], g.inputs[1]);
        let sum = g.xor(a, b);
        assert_eq!(g.and(a, sum), g.and(a, !b));
        assert_eq!(g.and(!a, sum), g.and(!a, b));
        let [both, neither] = [g.and(a, b), g.and(!a, !b)];
        assert_eq!(g.and(!both, !neither), sum);
    }
}
