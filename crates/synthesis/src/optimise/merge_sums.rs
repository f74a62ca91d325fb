//! One pass over a graph: takes sums apart, merges products, and puts the sums together again.

use std::collections::HashMap;

use garblet_circuit::Literal;

use crate::xag::{Node, Xag};

/// The most terms of a sum to examine together. More would find little, and keep more wires alive at once.
const MAX_TERMS: u32 = 16;
/// The most product nodes to visit in search of a factor.
const MAX_FACTORS: u32 = 128;

/// An equivalent graph. With `shared`, a product that only sums read is expanded in each of them: its copies may merge with
/// others, but if they do not, there are more products than before.
pub(super) fn run(old: &Xag, shared: bool) -> Xag {
    let readers = old.readers();
    let only_summed = if shared { only_summed(old, &readers) } else { vec![false; old.len()] };
    let part_of_sum = parts_of_sums(old, &readers);
    let mut pass = Pass {
        new: old.of_same_inputs(),
        moved: old.leaves(),
        old,
        readers: &readers,
        part_of_sum: &part_of_sum,
        only_summed: &only_summed,
    };
    for at in pass.moved.len()..old.len() {
        let edge = match old.node(at) {
            _ if readers[at] == 0 || part_of_sum[at] => Literal::FALSE,
            Node::And(a, b) => pass.and(a, b),
            _ => pass.sum(&[Literal::of(at as u32)]),
        };
        pass.moved.push(edge);
    }
    let outputs = old.outputs.iter().map(|&edge| pass.at(edge)).collect();
    let mut new = pass.new;
    new.outputs = outputs;
    new
}

/// The nodes that only XOR nodes read.
fn only_summed(old: &Xag, readers: &[u32]) -> Vec<bool> {
    let mut summed = vec![true; old.len()];
    old.outputs.iter().for_each(|output| summed[output.node()] = false);
    for (_, node) in old.nodes().enumerate().filter(|(at, _)| readers[*at] > 0) {
        if let Node::And(a, b) = node {
            (summed[a.node()], summed[b.node()]) = (false, false);
        }
    }
    summed
}

/// The XOR nodes that exactly one XOR node reads, and that are small enough to count as a part of it.
fn parts_of_sums(old: &Xag, readers: &[u32]) -> Vec<bool> {
    let mut part = vec![false; old.len()];
    let mut terms = vec![1u32; old.len()];
    for (at, node) in old.nodes().enumerate() {
        let Node::Xor(a, b) = node else { continue };
        if readers[at] == 0 {
            continue;
        }
        let is_xor = |edge: Literal| matches!(old.node(edge.node()), Node::Xor(..)) && readers[edge.node()] == 1;
        let mut total = 2;
        for operand in [a, b].into_iter().filter(|&edge| is_xor(edge)) {
            let more = terms[operand.node()] - 1;
            if total + more <= MAX_TERMS {
                part[operand.node()] = true;
                total += more;
            }
        }
        terms[at] = total;
    }
    part
}

struct Pass<'a> {
    old: &'a Xag,
    new: Xag,
    /// The edge of the new graph that replaces each old node.
    moved: Vec<Literal>,
    readers: &'a [u32],
    part_of_sum: &'a [bool],
    only_summed: &'a [bool],
}

/// An AND of the new graph that only the current sum reads.
#[derive(Clone, Copy)]
struct Product {
    a: Literal,
    b: Literal,
}

impl Pass<'_> {
    fn at(&self, edge: Literal) -> Literal {
        self.moved[edge.node()].invert_if(edge.inverted())
    }

    fn and(&mut self, a: Literal, b: Literal) -> Literal {
        if a.inverted() && b.inverted() && self.never_both(a.node(), b.node()) {
            return !self.sum(&[!a, !b]);
        }
        if a.inverted()
            && b.inverted()
            && let Some(carry) = self.carry(a.node(), b.node()).or_else(|| self.carry(b.node(), a.node()))
        {
            return !carry;
        }
        let (a, b) = (self.at(a), self.at(b));
        for (x, product) in [(a, b), (b, a)] {
            if product.inverted() && self.is_factor(x, product) {
                // x & !(x & y & z) = x ^ (x & y & z)
                return self.new.xor(x, !product);
            }
        }
        self.new.and(a, b)
    }

    /// Returns whether an edge is a factor of the product at a node of the new graph.
    fn is_factor(&self, x: Literal, product: Literal) -> bool {
        let mut open = vec![product.node()];
        let mut visits = 0;
        while let Some(node) = open.pop() {
            let Some([a, b]) = self.factors(node) else { continue };
            visits += 1;
            if a == x || b == x {
                return true;
            }
            if visits == MAX_FACTORS {
                return false;
            }
            open.extend([a, b].into_iter().filter(|edge| !edge.inverted()).map(Literal::node));
        }
        false
    }

    /// The factors of a node of the new graph that is a product, including x ^ xy = x(!y).
    fn factors(&self, node: usize) -> Option<[Literal; 2]> {
        match self.new.node(node) {
            Node::And(a, b) => Some([a, b]),
            Node::Xor(p, q) => {
                [(p, q), (q, p)].into_iter().find_map(|(x, product)| match self.new.node(product.node()) {
                    Node::And(a, b) if a == x => Some([x, !b]),
                    Node::And(a, b) if b == x => Some([x, !a]),
                    _ => None,
                })
            }
            Node::Leaf => None,
        }
    }

    /// The OR of old nodes `xy` and `z(x | y)`, where only this OR reads the second: `xy ^ z(x ^ y)`, or one AND if
    /// nothing else reads the first either.
    fn carry(&mut self, both: usize, rest: usize) -> Option<Literal> {
        let (Node::And(x, y), Node::And(p, q)) = (self.old.node(both), self.old.node(rest)) else { return None };
        let is_or = |edge: Literal| edge.inverted() && self.old.node(edge.node()) == Node::And(!x, !y);
        let z = if is_or(q) { p } else { q };
        if self.readers[rest] != 1 || !(is_or(p) || is_or(q)) {
            return None;
        }
        let (x, y, z) = (self.at(x), self.at(y), self.at(z));
        let differ = self.new.xor(x, y);
        if self.readers[both] == 1 {
            let other = self.new.xor(z, y);
            let product = self.new.and(other, differ);
            return Some(self.new.xor(product, y));
        }
        let (product, both) = (self.new.and(z, differ), self.moved[both]);
        Some(self.new.xor(product, both))
    }

    /// Returns whether two old nodes are ANDs that nothing else reads and that are never both true: `xy` and `!xz`, or `xy` and
    /// `(x ^ y)z`.
    fn never_both(&self, a: usize, b: usize) -> bool {
        let (Node::And(p, q), Node::And(r, s)) = (self.old.node(a), self.old.node(b)) else { return false };
        if self.readers[a] != 1 || self.readers[b] != 1 {
            return false;
        }
        let opposite = [r, s].iter().any(|&edge| edge == !p || edge == !q);
        let differs = |sum: Literal, x: Literal, y: Literal| match self.old.node(sum.node()) {
            Node::Xor(u, v) => {
                let nodes = [x.node().min(y.node()), x.node().max(y.node())];
                nodes == [u.node(), v.node()] && sum.inverted() == (x.inverted() ^ y.inverted())
            }
            _ => false,
        };
        opposite || [r, s].iter().any(|&edge| differs(edge, p, q)) || [p, q].iter().any(|&edge| differs(edge, r, s))
    }

    /// The sum of old edges; the first may be the XOR node that is being moved.
    fn sum(&mut self, edges: &[Literal]) -> Literal {
        let mut invert = false;
        let mut products = Vec::new();
        let mut terms = Vec::new();
        let mut open = edges.to_vec();
        let mut top = true;
        while let Some(edge) = open.pop() {
            invert ^= edge.inverted();
            let node = edge.node();
            match self.old.node(node) {
                Node::Xor(a, b) if self.part_of_sum[node] || (top && edges.len() == 1) => open.extend([a, b]),
                _ => {
                    let moved = self.moved[node];
                    invert ^= moved.inverted();
                    let plain = moved.invert_if(moved.inverted());
                    match self.new.node(plain.node()) {
                        Node::And(a, b) if self.readers[node] == 1 || self.only_summed[node] => {
                            products.push((plain, Product { a, b }))
                        }
                        _ => terms.push(plain),
                    }
                }
            }
            top = false;
        }
        cancel(&mut products, &mut terms);
        let products = self.merge(products.into_iter().map(|(_, product)| product).collect(), &mut terms);
        for Product { a, b } in products {
            let product = self.new.and(a, b);
            terms.push(product);
        }
        terms.sort();
        terms.into_iter().fold(Literal::FALSE.invert_if(invert), |sum, term| self.new.xor(sum, term))
    }

    /// Merges pairs of products as long as possible; remaining single terms go to `terms`.
    fn merge(&mut self, mut products: Vec<Product>, terms: &mut Vec<Literal>) -> Vec<Product> {
        let mut done: Vec<Product> = Vec::new();
        while let Some(product) = products.pop() {
            let partner = (0..done.len()).find_map(|k| Some((k, self.merged(product, done[k], terms)?)));
            match partner {
                // The merged product may match another one.
                Some((k, merged)) => {
                    done.swap_remove(k);
                    products.push(merged);
                }
                None => done.push(product),
            }
        }
        done
    }

    /// Merges two products to one and further terms with the same sum.
    fn merged(&mut self, x: Product, y: Product, terms: &mut Vec<Literal>) -> Option<Product> {
        for (a, b) in [(x.a, x.b), (x.b, x.a)] {
            for (other, c) in [(y.a, y.b), (y.b, y.a)] {
                if a.node() == other.node() {
                    // ab ^ ac = a(b ^ c), and ab ^ !ac = a(b ^ c) ^ c
                    if a != other {
                        terms.push(c);
                    }
                    let b = self.new.xor(b, c);
                    return Some(Product { a, b });
                }
            }
        }
        for (x, y) in [(x, y), (y, x)] {
            for (a, sum) in [(x.a, x.b), (x.b, x.a)] {
                let Node::Xor(u, v) = self.new.node(sum.node()) else { continue };
                let (b, c) = (y.a.min(y.b), y.a.max(y.b));
                if (u.node(), v.node()) != (b.node(), c.node()) {
                    continue;
                }
                // a(b ^ c) ^ bc = (a ^ c)(b ^ c) ^ c; if the sum is inverted, one more a.
                if sum.inverted() != (b.inverted() ^ c.inverted()) {
                    terms.push(a);
                }
                terms.push(c);
                return Some(Product { a: self.new.xor(a, c), b: self.new.xor(b, c) });
            }
        }
        None
    }
}

/// Cancels terms that occur twice in a sum.
fn cancel(products: &mut Vec<(Literal, Product)>, terms: &mut Vec<Literal>) {
    let mut odd: HashMap<Literal, bool> = HashMap::new();
    for edge in products.iter().map(|(edge, _)| *edge).chain(terms.iter().copied()) {
        *odd.entry(edge).or_default() ^= true;
    }
    // Keep the first of an odd number of equal terms.
    let mut keep = |edge: &Literal| odd.insert(*edge, false).unwrap_or(false);
    products.retain(|(edge, _)| keep(edge));
    terms.retain(keep);
}
