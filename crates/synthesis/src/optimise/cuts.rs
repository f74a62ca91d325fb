//! Cuts: small sets of nodes that determine a node.

use garblet_circuit::Literal;

use super::functions::{AFFINE, VARIABLE, VARIABLES, exchanged, polynomial};
use crate::xag::{Node, Xag};

/// Volumes above this count as equal: the double counts of a long shared path carry no information.
const MOST_VOLUME: u32 = 40;

/// A set of leaves, and a node as a function of them.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    leaves: [u32; VARIABLES],
    len: u8,
    /// A bit for each leaf's number modulo 64: if two cuts have too many bits together, they have too many leaves.
    signature: u64,
    /// AND nodes between leaves and node, counted once per path through them.
    volume: u32,
    /// The function.
    pub(super) table: u64,
}

impl Cut {
    fn of_itself(node: usize) -> Self {
        let mut leaves = [0; VARIABLES];
        leaves[0] = node as u32;
        Cut { leaves, len: 1, signature: 1 << (node % 64), volume: 0, table: VARIABLE[0] }
    }

    /// The leaves in ascending order; leaf i is variable i of the function.
    pub(super) fn leaves(&self) -> &[u32] {
        &self.leaves[..usize::from(self.len)]
    }

    /// Lower is better: few leaves and a large possible saving.
    fn rank(&self) -> i32 {
        i32::from(self.len) - self.volume.min(MOST_VOLUME) as i32
    }

    /// Returns whether the function is a sum of leaves, perhaps negated.
    pub(super) fn is_affine(&self) -> bool {
        polynomial(self.table) & !AFFINE == 0
    }

    /// Returns whether every leaf of this cut is a leaf of the other.
    fn is_within(&self, other: &Cut) -> bool {
        self.len <= other.len
            && self.signature & !other.signature == 0
            && self.leaves().iter().all(|leaf| other.leaves().contains(leaf))
    }

    /// The cut with the leaves of both, without a function yet.
    fn joined(&self, other: &Cut) -> Option<Cut> {
        let signature = self.signature | other.signature;
        if signature.count_ones() as usize > VARIABLES {
            return None;
        }
        let mut leaves = [0; VARIABLES];
        let (mut a, mut b) = (self.leaves(), other.leaves());
        let mut len = 0;
        while let Some(&next) = match (a.first(), b.first()) {
            (Some(x), Some(y)) => Some(x.min(y)),
            (x, y) => x.or(y),
        } {
            *leaves.get_mut(len)? = next;
            len += 1;
            a = &a[usize::from(a.first() == Some(&next))..];
            b = &b[usize::from(b.first() == Some(&next))..];
        }
        let volume = self.volume.saturating_add(other.volume);
        Some(Cut { leaves, len: len as u8, signature, volume, table: 0 })
    }

    /// The function in terms of another cut's leaves, which include all leaves of this one.
    fn table_within(&self, other: &Cut) -> u64 {
        let mut table = self.table;
        let mut place = usize::from(other.len);
        for (i, leaf) in self.leaves().iter().enumerate().rev() {
            while place > 0 && other.leaves[place - 1] != *leaf {
                place -= 1;
            }
            place = place.saturating_sub(1);
            if place != i {
                table = exchanged(table, i, place);
            }
        }
        table
    }
}

/// The cuts of nodes that later nodes still need.
pub(super) struct Cuts {
    /// The most cuts to keep per node.
    most: usize,
    of: Vec<Vec<Cut>>,
    last_reader: Vec<u32>,
    /// The cuts of the current node, with the cuts of its operands that they join; kept to save allocations.
    found: Vec<(Cut, usize, usize)>,
}

impl Cuts {
    /// At most this many cuts of each node of a graph, whose nodes are then [added](Cuts::add) in order.
    pub(super) fn new(graph: &Xag, most: usize) -> Self {
        let mut last_reader = vec![0; graph.len()];
        for (at, node) in graph.nodes().enumerate() {
            node.operands().for_each(|edge| last_reader[edge.node()] = at as u32);
        }
        let mut of = vec![Vec::new(); graph.len()];
        for (at, cuts) in of.iter_mut().enumerate().take(graph.leaves().len()) {
            cuts.push(Cut::of_itself(at));
        }
        Cuts { most, of, last_reader, found: Vec::with_capacity(most + 1) }
    }

    /// Finds the cuts of a node, and returns those other than the node itself.
    pub(super) fn add(&mut self, graph: &Xag, at: usize) -> &[Cut] {
        let node = graph.node(at);
        let (Node::Xor(a, b) | Node::And(a, b)) = node else { return &[] };
        self.found.clear();
        for (i, x) in self.of[a.node()].iter().enumerate() {
            for (j, y) in self.of[b.node()].iter().enumerate() {
                if let Some(cut) = x.joined(y) {
                    keep(&mut self.found, (cut, i, j), self.most);
                }
            }
        }
        let mut cuts = Vec::with_capacity(self.found.len() + 1);
        cuts.extend(self.found.iter().map(|&(cut, i, j)| self.with_table(node, cut, (a, i), (b, j))));
        cuts.push(Cut::of_itself(at));
        self.of[at] = cuts;
        for edge in [a, b] {
            if self.last_reader[edge.node()] == at as u32 {
                self.of[edge.node()] = Vec::new();
            }
        }
        self.of[at].split_last().map_or(&[], |(_, cuts)| cuts)
    }

    fn with_table(&self, node: Node, cut: Cut, (a, i): (Literal, usize), (b, j): (Literal, usize)) -> Cut {
        let table = |edge: Literal, i: usize| {
            self.of[edge.node()][i].table_within(&cut) ^ if edge.inverted() { u64::MAX } else { 0 }
        };
        let (a, b) = (table(a, i), table(b, j));
        match node {
            Node::And(..) => Cut { table: a & b, volume: cut.volume.saturating_add(1), ..cut },
            _ => Cut { table: a ^ b, ..cut },
        }
    }
}

/// Keeps a cut, unless there are enough better ones or it contains another; drops cuts that contain it.
fn keep(found: &mut Vec<(Cut, usize, usize)>, new: (Cut, usize, usize), most: usize) {
    if found.iter().any(|(cut, ..)| cut.is_within(&new.0)) {
        return;
    }
    found.retain(|(cut, ..)| !new.0.is_within(cut));
    let place = found.partition_point(|(cut, ..)| cut.rank() <= new.0.rank());
    if place < most {
        found.insert(place, new);
        found.truncate(most);
    }
}

#[cfg(test)]
mod tests {
    use garblet_circuit::{Circuit, Gate, Wire};

    use super::*;

    #[test]
    fn a_full_adder_is_a_function_of_its_inputs() {
        let gates = [(0, 1), (1, 2)].map(|(a, b)| Gate::Xor(Wire(a), Wire(b)));
        let mut gates = gates.to_vec();
        gates.extend([Gate::Not(Wire(3)), Gate::And(Wire(5), Wire(4)), Gate::Xor(Wire(6), Wire(1))]);
        let graph = Xag::from_circuit(&Circuit::new(3, gates, vec![Wire(7)]).unwrap());
        let mut cuts = Cuts::new(&graph, 6);
        let last = (4..graph.len()).map(|at| cuts.add(&graph, at).to_vec()).last().unwrap();
        let [a, b, c, ..] = VARIABLE;
        let cut = last.iter().find(|cut| cut.leaves() == [1, 2, 3]).unwrap();
        assert_eq!(cut.table, !(a ^ b) & (b ^ c) ^ b);
        assert!(last.iter().all(|cut| cut.leaves().is_sorted()));
    }

    #[test]
    fn tables_follow_their_leaves() {
        let cut = |leaves: &[u32], table| {
            let mut all = [0; VARIABLES];
            all[..leaves.len()].copy_from_slice(leaves);
            Cut { leaves: all, len: leaves.len() as u8, signature: 0, volume: 0, table }
        };
        let [a, b, c, d, e, _] = VARIABLE;
        let small = cut(&[3, 5, 9], a & (b ^ c));
        assert_eq!(small.table_within(&cut(&[1, 3, 5, 7, 9], 0)), b & (c ^ e));
        assert_eq!(small.table_within(&cut(&[3, 4, 5, 9], 0)), a & (c ^ d));
        assert_eq!(small.joined(&cut(&[4, 5, 10], 0)).unwrap().leaves(), [3, 4, 5, 9, 10]);
        assert!(small.joined(&cut(&[1, 2, 4, 6], 0)).is_none());
        assert!(small.is_within(&cut(&[3, 4, 5, 9], 0)) && !small.is_within(&cut(&[3, 4, 5], 0)));
    }
}
