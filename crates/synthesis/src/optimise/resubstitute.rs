//! Resubstitution: replaces a node with a sum, or a sum and one or two products, of nodes that are there already.
//!
//! A window is a node, the nodes between it and at most `6 + log2(WORDS)` leaves, and further nodes of these leaves. Nodes of the
//! window that stay if the node goes are its divisors; their tables over the leaves span a space. The node is
//!
//! - a sum of divisors if its table is in the space;
//! - a sum with one product `A d` if, modulo the space, its table is in the span of all products of divisors with a divisor `d`;
//! - a sum with two products if it is in the sum of two such spans.
//!
//! The window may include nodes after the node, up to a number of levels. At the points of the leaves where a change of the node does
//! not change any node that is read outside the window, its value does not matter, so the tables are compared at the others.
//!
//! *Source*: Mishchenko and Brayton 2006 for windows, divisors and points that do not matter; Testa, Soeken, Riener, Amarù and
//! De Micheli 2020 for resubstitution that counts AND gates only. Spans in place of single divisors are ours.

use garblet_circuit::Literal;

use super::{
    functions::VARIABLE,
    plan::{Formula, Plan},
    space::{Residues, Space, Table},
};
use crate::xag::{Node, Xag};

/// The most nodes between a node and the leaves of its window.
const MOST_INNER: usize = 96;
/// The most nodes of a window.
const MOST_NODES: usize = 160;
/// The most divisors; a [`Formula`] has room for them and a factor.
const MOST_DIVISORS: usize = Formula::MOST_LEAVES - 2;
/// The most readers of a node to look at in search of further divisors.
const MOST_READERS: usize = 24;
/// The most readers of a node to follow, nodes after a node, and nodes to visit in search of a dependence.
const MOST_FOLLOWED: usize = 4;
const MOST_AFTER: usize = 12;
const MOST_VISITS: usize = 40;
/// The most factors to try in pairs.
const MOST_PAIRED: usize = 20;

/// An equivalent graph with no more AND nodes, from windows with this many levels after each node.
pub(super) fn run<const WORDS: usize>(old: &Xag, levels: usize, layers: Option<u32>) -> Xag {
    let mut is_output = vec![false; old.len()];
    old.outputs.iter().for_each(|output| is_output[output.node()] = true);
    let mut pass = Pass::<WORDS> {
        plan: Plan::new(old, layers),
        levels,
        inputs: old.leaves().len(),
        is_output,
        readers: Readers::of(old),
        place: vec![NOWHERE; old.len()],
        window: Vec::new(),
        tables: Vec::new(),
    };
    for at in pass.inputs..old.len() {
        if pass.plan.readers(at) > 0 {
            pass.improve(at);
        }
        pass.plan.settle(at);
    }
    pass.plan.build()
}

/// The nodes that read each node of a graph.
struct Readers {
    first: Vec<u32>,
    all: Vec<u32>,
}

impl Readers {
    fn of(graph: &Xag) -> Self {
        let mut first = vec![0u32; graph.len() + 1];
        graph.nodes().flat_map(Node::operands).for_each(|edge| first[edge.node() + 1] += 1);
        (1..first.len()).for_each(|at| first[at] += first[at - 1]);
        let mut next = first.clone();
        let mut all = vec![0; first[graph.len()] as usize];
        for (at, node) in graph.nodes().enumerate() {
            for edge in node.operands() {
                all[next[edge.node()] as usize] = at as u32;
                next[edge.node()] += 1;
            }
        }
        Readers { first, all }
    }

    fn of_node(&self, at: usize) -> &[u32] {
        &self.all[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

const NOWHERE: u32 = u32::MAX;

struct Pass<'a, const WORDS: usize> {
    plan: Plan<'a>,
    /// The levels of nodes after a node from which to learn where it matters.
    levels: usize,
    /// The number of inputs and constants, which come first and stay in any case.
    inputs: usize,
    is_output: Vec<bool>,
    readers: Readers,
    /// The place of each node in the window.
    place: Vec<u32>,
    /// Leaves, inner nodes and the node itself, then further nodes.
    window: Vec<u32>,
    tables: Vec<Table<WORDS>>,
}

impl<const WORDS: usize> Pass<'_, WORDS> {
    const MOST_LEAVES: usize = 6 + WORDS.trailing_zeros() as usize;

    fn improve(&mut self, at: usize) {
        let saved = self.plan.and_count(at) + self.plan.forget_operands(at);
        let formula = match saved {
            0 => None,
            _ => self.formula(at, saved),
        };
        self.plan.read_operands(at);
        if let Some(formula) = formula.filter(|formula| self.plan.allows(at, formula)) {
            self.plan.replace(at, formula);
        }
    }

    /// A formula with fewer products than the node and all that only it needs, which nothing reads at the moment.
    fn formula(&mut self, at: usize, saved: usize) -> Option<Formula> {
        let after = self.open_window(at);
        let care = self.care(&after);
        self.add_further_nodes(at);
        self.tables.iter_mut().for_each(|table| *table = table.and(&care));
        let target = self.tables[self.place[at] as usize];
        let (space, divisors) = self.divisors(at, &care);
        let found = self.search(&target, &care, saved, &space, &divisors);
        for node in self.window.drain(..) {
            self.place[node as usize] = NOWHERE;
        }
        self.tables.clear();
        found
    }

    /// The node and nodes after it, each with whether all its readers are among them. Their other operands do not depend on the
    /// node.
    fn after(&mut self, at: usize) -> Vec<(u32, bool)> {
        let mut after = vec![(at as u32, false)];
        self.place[at] = 0;
        let (mut first, mut last) = (0, 1);
        for _ in 0..self.levels {
            for k in first..last {
                let node = after[k].0 as usize;
                let readers: Vec<u32> =
                    self.readers.of_node(node).iter().copied().filter(|&r| self.plan.readers(r as usize) > 0).collect();
                if self.is_output[node] || readers.len() > MOST_FOLLOWED || after.len() + readers.len() > MOST_AFTER {
                    continue;
                }
                let independent = readers.iter().all(|&reader| {
                    self.plan
                        .old
                        .node(reader as usize)
                        .operands()
                        .all(|edge| self.place[edge.node()] != NOWHERE || !self.depends_on(edge.node(), at))
                });
                if !independent {
                    continue;
                }
                after[k].1 = true;
                for reader in readers {
                    if self.place[reader as usize] == NOWHERE {
                        self.place[reader as usize] = 0;
                        after.push((reader, false));
                    }
                }
            }
            (first, last) = (last, after.len());
        }
        after.sort_unstable();
        after
    }

    /// Returns whether a node depends on an earlier one, or may do so.
    fn depends_on(&self, node: usize, at: usize) -> bool {
        let mut open = vec![node];
        let mut visits = 0;
        while let Some(node) = open.pop() {
            visits += 1;
            if node == at || visits > MOST_VISITS {
                return true;
            }
            if node > at {
                open.extend(self.plan.old.node(node).operands().map(Literal::node));
            }
        }
        false
    }

    /// The points at which the node matters to what is read outside the window.
    fn care(&mut self, after: &[(u32, bool)]) -> Table<WORDS> {
        if !after[0].1 {
            return Table::FALSE.invert_if(true);
        }
        let usual: Vec<Table<WORDS>> =
            after.iter().map(|(node, _)| self.tables[self.place[*node as usize] as usize]).collect();
        let mut care = Table::FALSE;
        for (k, &(node, closed)) in after.iter().enumerate() {
            let table = if k == 0 { usual[0].invert_if(true) } else { self.table(node as usize) };
            self.tables[self.place[node as usize] as usize] = table;
            if !closed {
                care = care.or(&table.xor(&usual[k]));
            }
        }
        for ((node, _), table) in after.iter().zip(usual) {
            self.tables[self.place[*node as usize] as usize] = table;
        }
        care
    }

    /// Opens a window: the leaves that reconverge the most, and the nodes between them and the node and those after it. Returns the
    /// node and those after it.
    fn open_window(&mut self, at: usize) -> Vec<(u32, bool)> {
        let after = self.after(at);
        let mut inner: Vec<u32> = after.iter().map(|(node, _)| *node).collect();
        let mut leaves = Vec::with_capacity(Self::MOST_LEAVES + 1);
        let place = &mut self.place;
        for &node in &inner {
            self.plan.for_operands(node as usize, |node| {
                if place[node as usize] == NOWHERE {
                    place[node as usize] = 0;
                    leaves.push(node);
                }
            });
        }
        if leaves.len() > Self::MOST_LEAVES {
            // Too wide: look at the node alone.
            inner.drain(..).chain(leaves.drain(..)).for_each(|node| self.place[node as usize] = NOWHERE);
            let levels = std::mem::take(&mut self.levels);
            let alone = self.open_window(at);
            self.levels = levels;
            return alone;
        }
        while inner.len() < MOST_INNER {
            let costs = leaves.iter().enumerate().filter_map(|(k, &leaf)| Some((self.cost(leaf)?, k)));
            let Some((cost, k)) = costs.min_by_key(|&(cost, k)| (cost, std::cmp::Reverse(leaves[k]))) else { break };
            if leaves.len() + cost > Self::MOST_LEAVES + 1 {
                break;
            }
            let leaf = leaves.swap_remove(k);
            inner.push(leaf);
            let place = &mut self.place;
            self.plan.for_operands(leaf as usize, |node| {
                if place[node as usize] == NOWHERE {
                    place[node as usize] = 0;
                    leaves.push(node);
                }
            });
        }
        leaves.sort_unstable();
        inner.sort_unstable();
        for (i, leaf) in leaves.into_iter().enumerate() {
            self.push(leaf, Table::variable(i));
        }
        for node in inner {
            let table = self.table(node as usize);
            self.push(node, table);
        }
        after
    }

    /// The number of new leaves if a leaf becomes an inner node; none for inputs.
    fn cost(&self, leaf: u32) -> Option<usize> {
        let (mut new, mut any) = (0, false);
        self.plan.for_operands(leaf as usize, |node| {
            any = true;
            new += usize::from(self.place[node as usize] == NOWHERE);
        });
        any.then_some(new)
    }

    fn push(&mut self, node: u32, table: Table<WORDS>) {
        self.place[node as usize] = self.window.len() as u32;
        self.window.push(node);
        self.tables.push(table);
    }

    /// The table of a node whose operands are in the window.
    fn table(&self, at: usize) -> Table<WORDS> {
        let of = |node: u32| self.tables[self.place[node as usize] as usize];
        let Some(formula) = self.plan.formula(at) else {
            let of = |edge: Literal| of(edge.node() as u32).invert_if(edge.inverted());
            return match self.plan.old.node(at) {
                Node::And(a, b) => of(a).and(&of(b)),
                Node::Xor(a, b) => of(a).xor(&of(b)),
                Node::Leaf => Table::FALSE,
            };
        };
        let mut values: Vec<Table<WORDS>> = formula.leaves.iter().map(|&leaf| of(leaf)).collect();
        for &(a, b) in &formula.factors {
            let product = Table::sum(&values, a).and(&Table::sum(&values, b));
            values.push(product);
        }
        Table::sum(&values, formula.sum).invert_if(formula.invert)
    }

    /// Adds nodes before the node that are functions of the window's nodes, as long as there is room.
    fn add_further_nodes(&mut self, at: usize) {
        let mut next = 0;
        while next < self.window.len() && self.window.len() < MOST_NODES {
            let node = self.window[next] as usize;
            next += 1;
            for k in 0..self.readers.of_node(node).len().min(MOST_READERS) {
                let reader = self.readers.of_node(node)[k] as usize;
                if reader >= at || self.place[reader] != NOWHERE || self.plan.readers(reader) == 0 {
                    continue;
                }
                let mut inside = true;
                self.plan.for_operands(reader, |node| inside &= self.place[node as usize] != NOWHERE);
                if inside {
                    let table = self.table(reader);
                    self.push(reader as u32, table);
                }
            }
        }
    }

    /// The space that the divisors span, and the places of all divisors.
    fn divisors(&self, at: usize, care: &Table<WORDS>) -> (Space<WORDS>, Vec<usize>) {
        let mut space = Space::new(care);
        let mut divisors = Vec::new();
        for (place, &node) in self.window.iter().enumerate() {
            let is_input = (node as usize) < self.inputs;
            let is_read = is_input || self.plan.readers(node as usize) > 0;
            if node as usize >= at || !is_read || !self.plan.may_read(at, node as usize) {
                continue;
            }
            if space.len() < MOST_DIVISORS {
                space.add(place, &self.tables[place]);
            }
            divisors.push(place);
        }
        (space, divisors)
    }

    /// A formula for a table at the points that matter, of fewer than `saved` products.
    fn search(
        &self,
        target: &Table<WORDS>,
        care: &Table<WORDS>,
        saved: usize,
        space: &Space<WORDS>,
        divisors: &[usize],
    ) -> Option<Formula> {
        if let Some(formula) = self.checked(target, space, &[]) {
            return Some(formula);
        }
        if saved < 2 {
            return None;
        }
        let residues = Residues::new(space, &self.tables, care);
        let goal = residues.of(target);
        let spans: Vec<_> = divisors.iter().map(|&d| residues.products_with(&self.tables[d])).collect();
        let one = spans.iter().zip(divisors).find_map(|(span, &d)| {
            let a = span.combination(goal)?;
            self.checked(target, space, &[(a, d)])
        });
        if one.is_some() || saved < 3 {
            return one;
        }
        let pairs = (0..spans.len().min(MOST_PAIRED)).flat_map(|j| (0..j).map(move |k| (j, k)));
        pairs.into_iter().find_map(|(j, k)| {
            let (a, b) = spans[j].combination_with(&spans[k], goal)?;
            self.checked(target, space, &[(a, divisors[j]), (b, divisors[k])])
        })
    }

    /// The formula with these products, if it is right: residues are looked at in some points only.
    fn checked(&self, target: &Table<WORDS>, space: &Space<WORDS>, products: &[(u64, usize)]) -> Option<Formula> {
        let rest = products.iter().fold(*target, |rest, &(a, d)| {
            let product = space.sum(a, &self.tables).and(&self.tables[d]);
            rest.xor(&product)
        });
        Some(self.build(space, products, space.combination(&rest)?))
    }

    /// The formula of products `A d`, and a sum, where A and the sum are combinations of the space's vectors.
    fn build(&self, space: &Space<WORDS>, products: &[(u64, usize)], (sum, invert): (u64, bool)) -> Formula {
        let used = products.iter().fold(sum, |used, (a, _)| used | a);
        let mut places: Vec<usize> = (0..space.len()).filter(|i| used >> i & 1 == 1).map(|i| space.place(i)).collect();
        for (_, d) in products {
            if !places.contains(d) {
                places.push(*d);
            }
        }
        let mask = |combination: u64| {
            places.iter().enumerate().fold(0u64, |mask, (k, &place)| match space.index(place) {
                Some(i) if combination >> i & 1 == 1 => mask | 1 << k,
                _ => mask,
            })
        };
        let factor =
            |d: usize| places.iter().enumerate().fold(0u64, |mask, (k, &place)| mask | u64::from(place == d) << k);
        let all = ((1u64 << products.len()) - 1) << places.len();
        Formula {
            factors: products.iter().map(|&(a, d)| (mask(a), factor(d))).collect(),
            sum: mask(sum) | all,
            invert,
            leaves: places.iter().map(|&place| self.window[place]).collect(),
        }
    }
}

impl<const WORDS: usize> Table<WORDS> {
    fn variable(i: usize) -> Self {
        Table(std::array::from_fn(|word| match i {
            0..6 => VARIABLE[i],
            _ if word >> (i - 6) & 1 == 1 => u64::MAX,
            _ => 0,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AND nodes before and after resubstitution of a graph that a function adds outputs to.
    fn counts(levels: usize, make: impl Fn(&mut Xag, [Literal; 5])) -> (usize, usize) {
        let mut graph = Xag::with_inputs(5);
        let inputs = graph.leaves();
        make(&mut graph, [inputs[1], inputs[2], inputs[3], inputs[4], inputs[5]]);
        let [narrow, wide] =
            [run::<4>(&graph, levels, None), run::<16>(&graph, levels, None)].map(|new| new.live_and_count());
        assert_eq!(narrow, wide);
        (graph.live_and_count(), narrow)
    }

    #[test]
    fn a_sum_of_nodes_that_are_there_costs_nothing() {
        // a | b = a ^ b ^ ab
        let both = |g: &mut Xag, [a, b, ..]: [Literal; 5]| {
            let (and, or) = (g.and(a, b), g.and(!a, !b));
            g.outputs = vec![and, !or];
        };
        assert_eq!(counts(0, both), (2, 1));
    }

    #[test]
    fn a_product_of_nodes_that_are_there_costs_one_and() {
        // (ac)b is (ab)c.
        let three = |g: &mut Xag, [a, b, c, ..]: [Literal; 5]| {
            let (ab, ac) = (g.and(a, b), g.and(a, c));
            let abc = g.and(ac, b);
            g.outputs = vec![ab, abc];
        };
        assert_eq!(counts(0, three), (3, 2));
    }

    #[test]
    fn two_products_replace_three() {
        // sa ^ tb, as a sum of three cases.
        let cases = |g: &mut Xag, [s, t, a, b, _]: [Literal; 5]| {
            let [only_s, only_t, both] = [(s, !t), (!s, t), (s, t)].map(|(s, t)| g.and(s, t));
            let either = g.xor(a, b);
            let [x, y, z] = [(only_s, a), (only_t, b), (both, either)].map(|(case, value)| g.and(case, value));
            let neither = g.and(!x, !y);
            let none = g.and(neither, !z);
            g.outputs = vec![!none];
        };
        assert_eq!(counts(0, cases), (8, 2));
    }

    #[test]
    fn values_that_do_not_matter_save_gates() {
        // x = (a | b)c is read with a alone, so that c will do.
        let masked = |g: &mut Xag, [a, b, c, d, e]: [Literal; 5]| {
            let neither = g.and(!a, !b);
            let x = g.and(!neither, c);
            let (ad, ae) = (g.and(a, d), g.and(a, e));
            g.outputs = vec![g.and(ad, x), g.and(ae, x)];
        };
        assert_eq!(counts(0, masked), (6, 6));
        assert_eq!(counts(2, masked), (6, 4));
    }

    #[test]
    fn an_output_matters_everywhere() {
        let masked = |g: &mut Xag, [a, b, c, d, e]: [Literal; 5]| {
            let neither = g.and(!a, !b);
            let x = g.and(!neither, c);
            let (ad, ae) = (g.and(a, d), g.and(a, e));
            g.outputs = vec![g.and(ad, x), g.and(ae, x), x];
        };
        assert_eq!(counts(2, masked), (6, 6));
    }
}
