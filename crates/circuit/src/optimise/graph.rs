//! Graphs of XOR and AND nodes with inverted edges.

use std::collections::HashMap;

use crate::circuit::{Circuit, Gate, Wire};

/// A node, perhaps inverted. Node 0 is the constant false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Edge(u32);

impl Edge {
    pub(super) const FALSE: Edge = Edge(0);
    pub(super) const TRUE: Edge = Edge(1);

    pub(super) fn new(node: usize) -> Self {
        // Circuits have at most 2^31 wires, and rewriting makes no more nodes than it reads gates.
        Edge((node as u32) << 1)
    }

    pub(super) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn inverted(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn invert_if(self, invert: bool) -> Self {
        Edge(self.0 ^ u32::from(invert))
    }

    pub(super) fn not(self) -> Self {
        Edge(self.0 ^ 1)
    }
}

/// Operands are in ascending order; those of XOR are not inverted, and no operand is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// The constant, or an input.
    Leaf,
    Xor(Edge, Edge),
    And(Edge, Edge),
}

impl Node {
    pub(super) fn operands(self) -> impl DoubleEndedIterator<Item = Edge> {
        let (a, b) = match self {
            Node::Leaf => (None, None),
            Node::Xor(a, b) | Node::And(a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b)
    }
}

/// Nodes in an order in which each comes after its operands: the constant, the inputs, then the rest.
pub(super) struct Graph {
    pub(super) input_count: u32,
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<Edge>,
    known: HashMap<Node, u32>,
}

impl Graph {
    pub(super) fn new(input_count: u32) -> Self {
        let nodes = vec![Node::Leaf; input_count as usize + 1];
        Graph { input_count, nodes, outputs: Vec::new(), known: HashMap::new() }
    }

    pub(super) fn from_circuit(circuit: &Circuit) -> Self {
        let mut graph = Graph::new(circuit.input_count());
        let mut edges: Vec<Edge> = (1..=circuit.input_count() as usize).map(Edge::new).collect();
        edges.reserve_exact(circuit.gates().len());
        for gate in circuit.gates() {
            let at = |wire: Wire| edges[wire.index()];
            let edge = match *gate {
                Gate::Xor(a, b) => graph.xor(at(a), at(b)),
                Gate::And(a, b) => graph.and(at(a), at(b)),
                Gate::Not(a) => at(a).not(),
                Gate::Constant(value) => Edge::FALSE.invert_if(value),
            };
            edges.push(edge);
        }
        graph.outputs = circuit.outputs().iter().map(|w| edges[w.index()]).collect();
        graph
    }

    fn node(&mut self, node: Node) -> Edge {
        let next = self.nodes.len() as u32;
        let at = *self.known.entry(node).or_insert(next);
        if at == next {
            self.nodes.push(node);
        }
        Edge::new(at as usize)
    }

    /// The XOR of two edges, without a new node if it is known or trivial.
    pub(super) fn xor(&mut self, a: Edge, b: Edge) -> Edge {
        let invert = a.inverted() ^ b.inverted();
        let (a, b) = (a.invert_if(a.inverted()), b.invert_if(b.inverted()));
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Edge::FALSE.invert_if(invert);
        }
        if a == Edge::FALSE {
            return b.invert_if(invert);
        }
        // x ^ (x ^ y) = y
        for (x, sum) in [(a, b), (b, a)] {
            if let Node::Xor(p, q) = self.nodes[sum.node()]
                && (x == p || x == q)
            {
                return if x == p { q } else { p }.invert_if(invert);
            }
        }
        self.node(Node::Xor(a, b)).invert_if(invert)
    }

    /// The AND of two edges, without a new node if it is known or trivial.
    pub(super) fn and(&mut self, a: Edge, b: Edge) -> Edge {
        let (a, b) = (a.min(b), a.max(b));
        if a == Edge::FALSE || a == b.not() {
            return Edge::FALSE;
        }
        if a == Edge::TRUE || a == b {
            return b;
        }
        for (x, other) in [(a, b), (b, a)] {
            if let Some(simpler) = self.absorb(x, other) {
                return simpler;
            }
        }
        // !(x & y) & !(!x & !y) = x ^ y
        if let (true, true, Node::And(p, q), Node::And(r, s)) =
            (a.inverted(), b.inverted(), self.nodes[a.node()], self.nodes[b.node()])
            && (p.not(), q.not()) == (r, s)
        {
            return self.xor(p, q);
        }
        self.node(Node::And(a, b))
    }

    /// What `x & other` is if `other` is made of `x`.
    fn absorb(&mut self, x: Edge, other: Edge) -> Option<Edge> {
        match self.nodes[other.node()] {
            Node::And(p, q) => {
                let (same, rest) = if x.node() == p.node() { (p, q) } else { (q, p) };
                match (x.node() == same.node(), x == same, other.inverted()) {
                    (false, ..) => None,
                    (_, true, false) => Some(other),        // x & (x & y) = x & y
                    (_, false, false) => Some(Edge::FALSE), // x & (!x & y) = 0
                    (_, true, true) => Some(self.and(x, rest.not())), // x & !(x & y) = x & !y
                    (_, false, true) => Some(x),            // x & !(!x & y) = x
                }
            }
            // x & (x ^ y) = x & !y, and with either inverted the other way round.
            Node::Xor(p, q) if x.node() == p.node() || x.node() == q.node() => {
                let rest = if x.node() == p.node() { q } else { p };
                Some(self.and(x, rest.invert_if(other.inverted() == x.inverted())))
            }
            _ => None,
        }
    }

    /// How often live nodes and outputs read each node; dead nodes are read by nobody.
    pub(super) fn readers(&self) -> Vec<u32> {
        let mut readers = vec![0u32; self.nodes.len()];
        self.outputs.iter().for_each(|edge| readers[edge.node()] += 1);
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if readers[at] > 0 {
                node.operands().for_each(|edge| readers[edge.node()] += 1);
            }
        }
        readers
    }

    /// Live AND nodes.
    pub(super) fn and_count(&self) -> usize {
        let live = self.readers();
        self.nodes.iter().zip(live).filter(|(node, readers)| *readers > 0 && matches!(node, Node::And(..))).count()
    }

    /// The live nodes as gates, with negations where an AND or an output reads an inverted edge.
    pub(super) fn to_circuit(&self) -> Circuit {
        let readers = self.readers();
        let mut gates =
            Gates { input_count: self.input_count, list: Vec::new(), wire: vec![[UNSET; 2]; self.nodes.len()] };
        (0..self.input_count).for_each(|i| gates.wire[i as usize + 1][0] = i);
        for (at, node) in self.nodes.iter().enumerate().filter(|(at, _)| readers[*at] > 0) {
            let gate = match *node {
                Node::Leaf => continue,
                Node::Xor(a, b) => Gate::Xor(gates.wire(a), gates.wire(b)),
                Node::And(a, b) => Gate::And(gates.wire(a), gates.wire(b)),
            };
            gates.wire[at][0] = gates.push(gate);
        }
        let outputs = self.outputs.iter().map(|&edge| gates.wire(edge)).collect();
        Circuit::new(self.input_count, gates.list, outputs).expect("nodes come after their operands")
    }
}

const UNSET: u32 = u32::MAX;

/// Gates so far, and the wires of each node and of its negation.
struct Gates {
    input_count: u32,
    list: Vec<Gate>,
    wire: Vec<[u32; 2]>,
}

impl Gates {
    fn push(&mut self, gate: Gate) -> u32 {
        self.list.push(gate);
        self.input_count + self.list.len() as u32 - 1
    }

    fn wire(&mut self, edge: Edge) -> Wire {
        let side = usize::from(edge.inverted());
        if self.wire[edge.node()][side] == UNSET {
            // All nodes but the constant have their wire already.
            let gate = match edge.node() {
                0 => Gate::Constant(edge.inverted()),
                node => Gate::Not(Wire(self.wire[node][0])),
            };
            self.wire[edge.node()][side] = self.push(gate);
        }
        Wire(self.wire[edge.node()][side])
    }
}
