//! Levels of nodes: the AND nodes on the longest way to a node, itself included.

use super::plan::Formula;
use crate::xag::{Node, Xag};

/// The levels of a plan's nodes, and the levels that they may have.
pub(super) struct Levels {
    /// The levels of the nodes that were visited.
    of: Vec<u32>,
    /// The highest level of each node with which no output is beyond the last layer.
    most: Vec<u32>,
}

impl Levels {
    /// The levels of a graph that has no more layers than this.
    pub(super) fn new(graph: &Xag, layers: u32) -> Self {
        let mut most = vec![u32::MAX; graph.len()];
        graph.outputs.iter().for_each(|output| most[output.node()] = layers);
        for (at, node) in graph.nodes().enumerate().rev() {
            let own = most[at];
            let below = match node {
                // No output depends on it.
                _ if own == u32::MAX => continue,
                Node::And(..) => own.saturating_sub(1),
                _ => own,
            };
            node.operands().for_each(|edge| most[edge.node()] = most[edge.node()].min(below));
        }
        Levels { of: vec![0; graph.len()], most }
    }

    /// Sets the level of a node, whose operands or whose formula's leaves were visited.
    pub(super) fn settle(&mut self, graph: &Xag, at: usize, formula: Option<&Formula>) {
        self.of[at] = match formula {
            Some(formula) => self.of_formula(formula),
            None => of_node(&self.of, graph.node(at)),
        };
    }

    /// Returns whether a node may be computed by a formula of nodes that were visited.
    pub(super) fn allow(&self, at: usize, formula: &Formula) -> bool {
        self.of_formula(formula) <= self.most[at]
    }

    /// Returns whether a node that was visited has no higher level than another may have.
    pub(super) fn may_read(&self, at: usize, earlier: usize) -> bool {
        self.of[earlier] <= self.most[at]
    }

    fn of_formula(&self, formula: &Formula) -> u32 {
        let mut levels: Vec<u32> = formula.leaves.iter().map(|&leaf| self.of[leaf as usize]).collect();
        let highest = |levels: &[u32], mask: u64| {
            let terms = levels.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
            terms.map(|(_, &level)| level).max().unwrap_or(0)
        };
        for &(a, b) in &formula.factors {
            levels.push(highest(&levels, a).max(highest(&levels, b)) + 1);
        }
        highest(&levels, formula.sum)
    }
}

/// The number of layers of a graph's nodes that an output depends on.
pub(super) fn layers(graph: &Xag) -> u32 {
    let mut levels = vec![0; graph.len()];
    for (at, node) in graph.nodes().enumerate() {
        levels[at] = of_node(&levels, node);
    }
    graph.outputs.iter().map(|output| levels[output.node()]).max().unwrap_or(0)
}

fn of_node(levels: &[u32], node: Node) -> u32 {
    let below = node.operands().map(|edge| levels[edge.node()]).max().unwrap_or(0);
    below + u32::from(matches!(node, Node::And(..)))
}
