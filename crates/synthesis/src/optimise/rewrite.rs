//! Rewriting of small cuts: replaces a node with a sum of fewer products of the leaves of one of its cuts.

use garblet_circuit::Literal;

use super::{
    cuts::{Cut, Cuts},
    functions::{VARIABLES, depends_on},
    products::{Finder, Products},
};
use crate::xag::{Node, Xag};

/// An equivalent graph with no more AND nodes.
///
/// Nodes are visited in order, and each cut of a node is tried. The saving counts nodes that nothing would read without the
/// node's operands. The cost counts nodes that must return because the cut's leaves need them, and the function's products. The
/// best cut is taken if it is a gain. *Source*: Testa, Soeken, Amarù and De Micheli 2019, section 4, with exact counts of
/// readers, so that one gain never cancels another.
pub(super) fn run(old: &Xag, finder: &mut Finder) -> Xag {
    let mut cuts = Cuts::new(old);
    let mut plan = Plan { old, readers: old.readers(), formulas: vec![None; old.len()], open: Vec::new() };
    // Until its turn, a node keeps all its original readers.
    for at in old.leaves().len()..old.len() {
        if plan.readers[at] > 0 {
            plan.improve(at, cuts.add(old, at), finder);
        }
    }
    plan.build()
}

/// A node computed from products of other nodes.
#[derive(Clone)]
struct Formula {
    leaves: Vec<u32>,
    products: Products,
}

/// The plan of a graph: the number of readers of each node, and the nodes to compute differently than in the old graph.
struct Plan<'a> {
    old: &'a Xag,
    readers: Vec<u32>,
    formulas: Vec<Option<Box<Formula>>>,
    /// Nodes still to be visited; kept to save allocations.
    open: Vec<u32>,
}

impl Plan<'_> {
    fn improve(&mut self, at: usize, cuts: &[Cut], finder: &mut Finder) {
        let mut best: Option<(usize, &Cut)> = None;
        let alone = !self.old.node(at).operands().any(|edge| self.readers[edge.node()] == 1);
        for cut in cuts {
            // If all operands stay, only the node itself is saved, and only for an affine function.
            if alone && !cut.is_affine() {
                continue;
            }
            let gain = self.gain(at, cut, finder);
            if gain > best.map_or(0, |(gain, _)| gain) {
                best = Some((gain, cut));
            }
        }
        let Some((_, cut)) = best else { return };
        let Some(products) = finder.products(cut.table) else { return };
        let leaves: Vec<u32> = support(cut).collect();
        leaves.iter().for_each(|&leaf| _ = self.read(leaf));
        self.forget_operands(at);
        self.formulas[at] = Some(Box::new(Formula { leaves: cut.leaves().to_vec(), products }));
    }

    /// The number of AND nodes saved by computing a node from a cut.
    fn gain(&mut self, at: usize, cut: &Cut, finder: &mut Finder) -> usize {
        let back: usize = support(cut).map(|leaf| self.read(leaf)).sum();
        let saved = self.and_count(at) + self.forget_operands(at);
        let room = saved.saturating_sub(back);
        // A function that is not affine takes at least one product.
        let gain = match room {
            0 => 0,
            1 if !cut.is_affine() => 0,
            _ => finder.count(cut.table, room).map_or(0, |products| room - products),
        };
        self.read_operands(at);
        support(cut).for_each(|leaf| _ = self.forget(leaf));
        gain
    }

    /// The AND nodes of a node itself, without its operands.
    fn and_count(&self, at: usize) -> usize {
        match &self.formulas[at] {
            Some(formula) => formula.products.factors.len(),
            None => usize::from(matches!(self.old.node(at), Node::And(..))),
        }
    }

    /// The nodes from which a node is computed.
    fn operands(&self, at: usize) -> [Option<u32>; VARIABLES] {
        let mut operands = [None; VARIABLES];
        match &self.formulas[at] {
            Some(formula) => {
                let used = formula.products.used();
                for (i, &leaf) in formula.leaves.iter().enumerate().filter(|(i, _)| used >> i & 1 == 1) {
                    operands[i] = Some(leaf);
                }
            }
            None => {
                for (slot, edge) in operands.iter_mut().zip(self.old.node(at).operands()) {
                    *slot = Some(edge.node() as u32);
                }
            }
        }
        operands
    }

    /// Adds a reader to a node; returns the number of AND nodes that this makes necessary.
    fn read(&mut self, node: u32) -> usize {
        let mut ands = 0;
        self.open.push(node);
        while let Some(node) = self.open.pop() {
            let at = node as usize;
            self.readers[at] += 1;
            if self.readers[at] == 1 {
                ands += self.and_count(at);
                let operands = self.operands(at);
                self.open.extend(operands.into_iter().flatten());
            }
        }
        ands
    }

    /// Removes a reader from a node; returns the number of AND nodes that nothing reads any more.
    fn forget(&mut self, node: u32) -> usize {
        let mut ands = 0;
        self.open.push(node);
        while let Some(node) = self.open.pop() {
            let at = node as usize;
            self.readers[at] -= 1;
            if self.readers[at] == 0 {
                ands += self.and_count(at);
                let operands = self.operands(at);
                self.open.extend(operands.into_iter().flatten());
            }
        }
        ands
    }

    fn read_operands(&mut self, at: usize) {
        self.operands(at).into_iter().flatten().for_each(|node| _ = self.read(node));
    }

    fn forget_operands(&mut self, at: usize) -> usize {
        self.operands(at).into_iter().flatten().map(|node| self.forget(node)).sum()
    }

    /// Builds the graph of the nodes that are still read.
    fn build(self) -> Xag {
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

impl Formula {
    fn build(&self, graph: &mut Xag, moved: &[Literal]) -> Literal {
        let mut values = [Literal::FALSE; 16];
        for (value, &leaf) in values.iter_mut().zip(&self.leaves) {
            *value = moved[leaf as usize];
        }
        let sum = |graph: &mut Xag, values: &[Literal; 16], mask: u16| {
            let terms = values.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
            terms.fold(Literal::FALSE, |sum, (_, &value)| graph.xor(sum, value))
        };
        for (k, &(a, b)) in self.products.factors.iter().enumerate() {
            let (a, b) = (sum(graph, &values, a), sum(graph, &values, b));
            values[VARIABLES + k] = graph.and(a, b);
        }
        sum(graph, &values, self.products.sum).invert_if(self.products.invert)
    }
}

/// The leaves that a cut's function depends on.
fn support(cut: &Cut) -> impl Iterator<Item = u32> {
    let leaves = cut.leaves().iter().enumerate();
    leaves.filter(|(i, _)| depends_on(cut.table, *i)).map(|(_, &leaf)| leaf)
}
