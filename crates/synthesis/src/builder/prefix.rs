//! Sums and running products in few layers of AND gates, for [`Aim::Depth`](super::Aim::Depth).
//!
//! A position with bits a and b generates a carry if `g = ab`, and passes one on if `p = a ^ b`. A row of positions does so if
//! `G = G1 ^ P1 G0` and `P = P1 P0`, with its upper part 1 and its lower part 0. G1 and P1 exclude each other, so XOR takes the place
//! of OR, and G1 may be as late as the product. So n positions have a carry in ceil(log2(n + 1)) layers, the least for a
//! polynomial of degree n + 1.
//!
//! *Source*: Sklansky 1960, with rows split where their lower part is in time, for bits that come in different layers. A single
//! position above a row with carry c has the carry `c ^ (a ^ c)(b ^ c)`.

use super::{Bit, CircuitBuilder};
use crate::xag::Node;

/// The bits of one position, and the layer in which both are there.
#[derive(Clone, Copy)]
struct Position {
    a: Bit,
    b: Bit,
    layer: u32,
}

/// A row: it may generate a carry, and it may pass one on.
#[derive(Clone, Copy)]
struct Row {
    generates: Bit,
    passes: Bit,
}

/// A whole product, in parts of which the least is for all bits that are at least 40 layers early.
const WHOLE: u64 = 1 << 40;

/// The part of a product due in layer `due` that a bit of this layer takes: of 2^k bits that are k layers early, each takes one in 2^k.
fn part(layer: u32, due: u32) -> u64 {
    match due.checked_sub(layer) {
        Some(early) => (WHOLE >> early.min(40)).max(1),
        None => 2 * WHOLE,
    }
}

/// The number of positions from the first on that make a product that is there when it is due: at least one, and not all.
fn in_time(positions: &[Position], before: u64, due: u32) -> usize {
    let mut taken = before;
    let fits = |position: &&Position| {
        taken = taken.saturating_add(part(position.layer, due));
        taken <= WHOLE
    };
    positions.iter().take_while(fits).count().clamp(1, positions.len() - 1)
}

impl CircuitBuilder {
    /// The number of AND gates on the longest way to a bit.
    pub(super) fn layer(&mut self, bit: Bit) -> u32 {
        for n in self.layers.len()..=bit.node() {
            let node = self.graph.node(n);
            let deepest = node.operands().map(|operand| self.layers[operand.node()]).max().unwrap_or(0);
            self.layers.push(deepest + u32::from(matches!(node, Node::And(..))));
        }
        self.layers[bit.node()]
    }

    /// The carry out of each position of a sum, the least first.
    pub(super) fn carries(&mut self, bits: &[(Bit, Bit)], carry: Bit) -> Vec<Bit> {
        let mut carries = Vec::with_capacity(bits.len());
        let positions = self.positions(bits);
        let Some(first) = positions.first() else { return carries };
        // Without a carry in, the first position has a product of two bits.
        let in_layer = if carry.is_constant() { first.layer } else { self.layer(carry) };
        let taken = |due| positions.iter().fold(part(in_layer, due), |sum, p| sum.saturating_add(part(p.layer, due)));
        let latest = positions.iter().map(|position| position.layer).fold(in_layer, u32::max);
        let due = (latest..).find(|&due| taken(due) <= WHOLE).expect("late enough for all");
        self.carries_by(&positions, carry, in_layer, due, &mut carries);
        carries
    }

    /// Appends the carries out of positions, which are due in layer `due`.
    fn carries_by(&mut self, positions: &[Position], carry: Bit, in_layer: u32, due: u32, carries: &mut Vec<Bit>) {
        if let [only] = positions {
            carries.push(self.full_adder(only.a, only.b, carry).1);
            return;
        }
        let sooner = due.saturating_sub(1);
        let (lower, upper) = positions.split_at(in_time(positions, part(in_layer, sooner), sooner));
        self.carries_by(lower, carry, in_layer, sooner, carries);
        let carry = *carries.last().expect("one for each position");
        if let [only] = upper {
            carries.push(self.full_adder(only.a, only.b, carry).1);
            return;
        }
        for row in self.rows(upper, sooner) {
            let passed = self.and(row.passes, carry);
            carries.push(self.xor(row.generates, passed));
        }
    }

    /// The rows from the first position to each one; whether they pass a carry on is due in layer `due`.
    fn rows(&mut self, positions: &[Position], due: u32) -> Vec<Row> {
        if let &[Position { a, b, .. }] = positions {
            return vec![Row { generates: self.and(a, b), passes: self.xor(a, b) }];
        }
        let sooner = due.saturating_sub(1);
        let (lower, upper) = positions.split_at(in_time(positions, 0, sooner));
        let mut rows = self.rows(lower, sooner);
        let below = *rows.last().expect("one for each position");
        if let &[Position { a, b, .. }] = upper {
            let (_, generates) = self.full_adder(a, b, below.generates);
            let passes = self.xor(a, b);
            rows.push(Row { generates, passes: self.and(passes, below.passes) });
            return rows;
        }
        for row in self.rows(upper, sooner) {
            let passed = self.and(row.passes, below.generates);
            let generates = self.xor(row.generates, passed);
            rows.push(Row { generates, passes: self.and(row.passes, below.passes) });
        }
        rows
    }

    /// The product of all bits up to each one.
    pub(super) fn running_products(&mut self, bits: &[Bit]) -> Vec<Bit> {
        let Some(latest) = bits.iter().map(|&bit| self.layer(bit)).max() else { return Vec::new() };
        let positions = self.positions(&bits.iter().map(|&bit| (bit, Bit::FALSE)).collect::<Vec<_>>());
        let due = latest + usize::BITS - (bits.len() - 1).leading_zeros();
        self.rows(&positions, due).into_iter().map(|row| row.passes).collect()
    }

    fn positions(&mut self, bits: &[(Bit, Bit)]) -> Vec<Position> {
        bits.iter().map(|&(a, b)| Position { a, b, layer: self.layer(a).max(self.layer(b)) }).collect()
    }
}

#[cfg(test)]
mod tests;
