//! The plan of a better graph: which nodes stay, and which are computed from others.

use garblet_circuit::Literal;

use super::levels::Levels;
use crate::xag::{Node, Xag};

/// A node as a sum of products of sums of other nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Formula {
    /// The nodes in use, at most [`MOST_LEAVES`](Formula::MOST_LEAVES), each before the node itself.
    pub(super) leaves: Vec<u32>,
    /// The two factors of each product, sums: bit i is leaf i, and bit `leaves.len() + k` is product k, an earlier one.
    pub(super) factors: Vec<(u64, u64)>,
    /// The sum that equals the node.
    pub(super) sum: u64,
    /// Set if the sum is negated.
    pub(super) invert: bool,
}

impl Formula {
    /// The most leaves: masks have a bit for each, and for each of a few products.
    pub(super) const MOST_LEAVES: usize = 56;

    fn build(&self, graph: &mut Xag, moved: &[Literal]) -> Literal {
        let mut values: Vec<Literal> = self.leaves.iter().map(|&leaf| moved[leaf as usize]).collect();
        let sum = |graph: &mut Xag, values: &[Literal], mask: u64| {
            let terms = values.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
            terms.fold(Literal::FALSE, |sum, (_, &value)| graph.xor(sum, value))
        };
        for &(a, b) in &self.factors {
            let (a, b) = (sum(graph, &values, a), sum(graph, &values, b));
            let product = graph.and(a, b);
            values.push(product);
        }
        sum(graph, &values, self.sum).invert_if(self.invert)
    }
}

/// The plan of a graph: the number of readers of each node, and the nodes to compute differently than in the old graph.
pub(super) struct Plan<'a> {
    pub(super) old: &'a Xag,
    readers: Vec<u32>,
    formulas: Vec<Option<Box<Formula>>>,
    /// Nodes still to be visited; kept to save allocations.
    open: Vec<u32>,
    levels: Option<Levels>,
}

impl<'a> Plan<'a> {
    /// The plan in which every node stays. If a number of layers is given, the graph has no more, and no plan will have more.
    pub(super) fn new(old: &'a Xag, layers: Option<u32>) -> Self {
        let levels = layers.map(|layers| Levels::new(old, layers));
        Plan { old, readers: old.readers(), formulas: vec![None; old.len()], open: Vec::new(), levels }
    }

    /// Ends the turn of a node: whether it was [replaced](Plan::replace) or not, it keeps its level. Every node has its turn, in order.
    pub(super) fn settle(&mut self, at: usize) {
        if let Some(levels) = &mut self.levels {
            levels.settle(self.old, at, self.formulas[at].as_deref());
        }
    }

    /// Returns whether a formula of a node, whose leaves were visited, leaves the number of layers as it may be.
    pub(super) fn allows(&self, at: usize, formula: &Formula) -> bool {
        self.levels.as_ref().is_none_or(|levels| levels.allow(at, formula))
    }

    /// Returns whether the formula of a node may read an earlier one.
    pub(super) fn may_read(&self, at: usize, earlier: usize) -> bool {
        self.levels.as_ref().is_none_or(|levels| levels.may_read(at, earlier))
    }

    /// The number of readers of a node.
    pub(super) fn readers(&self, at: usize) -> u32 {
        self.readers[at]
    }

    /// The formula of a node that is to be computed differently.
    pub(super) fn formula(&self, at: usize) -> Option<&Formula> {
        self.formulas[at].as_deref()
    }

    /// Computes a node, which still reads its operands, from a formula.
    pub(super) fn replace(&mut self, at: usize, formula: Formula) {
        formula.leaves.iter().for_each(|&leaf| _ = self.read(leaf));
        self.forget_operands(at);
        self.formulas[at] = Some(Box::new(formula));
    }

    /// The AND nodes of a node itself, without its operands.
    pub(super) fn and_count(&self, at: usize) -> usize {
        match &self.formulas[at] {
            Some(formula) => formula.factors.len(),
            None => usize::from(matches!(self.old.node(at), Node::And(..))),
        }
    }

    /// Calls a function with each node from which a node is computed.
    pub(super) fn for_operands(&self, at: usize, mut each: impl FnMut(u32)) {
        match &self.formulas[at] {
            Some(formula) => formula.leaves.iter().for_each(|&leaf| each(leaf)),
            None => self.old.node(at).operands().for_each(|edge| each(edge.node() as u32)),
        }
    }

    /// Adds a reader to a node; returns the number of AND nodes that this makes necessary.
    pub(super) fn read(&mut self, node: u32) -> usize {
        self.open.push(node);
        self.read_open()
    }

    /// Removes a reader from a node; returns the number of AND nodes that nothing reads any more.
    pub(super) fn forget(&mut self, node: u32) -> usize {
        self.open.push(node);
        self.forget_open()
    }

    /// Adds a reader to each node from which a node is computed.
    pub(super) fn read_operands(&mut self, at: usize) {
        self.open_operands(at);
        self.read_open();
    }

    /// Removes a reader from each node from which a node is computed; returns the number of AND nodes that nothing reads
    /// any more.
    pub(super) fn forget_operands(&mut self, at: usize) -> usize {
        self.open_operands(at);
        self.forget_open()
    }

    fn open_operands(&mut self, at: usize) {
        let mut open = std::mem::take(&mut self.open);
        self.for_operands(at, |node| open.push(node));
        self.open = open;
    }

    fn read_open(&mut self) -> usize {
        let mut ands = 0;
        while let Some(node) = self.open.pop() {
            let at = node as usize;
            self.readers[at] += 1;
            if self.readers[at] == 1 {
                ands += self.and_count(at);
                self.open_operands(at);
            }
        }
        ands
    }

    fn forget_open(&mut self) -> usize {
        let mut ands = 0;
        while let Some(node) = self.open.pop() {
            let at = node as usize;
            self.readers[at] -= 1;
            if self.readers[at] == 0 {
                ands += self.and_count(at);
                self.open_operands(at);
            }
        }
        ands
    }

    /// Builds the graph of the nodes that are still read.
    pub(super) fn build(self) -> Xag {
        let mut new = self.old.of_same_inputs();
        let mut moved = self.old.leaves();
        for at in moved.len()..self.old.len() {
            let to = |edge: Literal| moved[edge.node()].invert_if(edge.inverted());
            let edge = match (&self.formulas[at], self.old.node(at)) {
                _ if self.readers[at] == 0 => Literal::FALSE,
                (Some(formula), _) => formula.build(&mut new, &moved),
                (None, Node::And(a, b)) => new.and(to(a), to(b)),
                (None, Node::Xor(a, b)) => new.xor(to(a), to(b)),
                (None, Node::Leaf) => Literal::FALSE,
            };
            moved.push(edge);
        }
        new.outputs = self.old.outputs.iter().map(|edge| moved[edge.node()].invert_if(edge.inverted())).collect();
        new
    }
}
