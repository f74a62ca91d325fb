//! Signals from truth tables.

use garblet_circuit::Literal;

use super::graph::{At, Graph};

/// The most inputs of a table that fits 64 bits.
pub(super) const MAX_INPUTS: usize = 6;

/// The signal whose value for inputs with the number `k`, the first the least significant bit, is bit `k` of the table.
///
/// *Cost*: at most `2^n - n - 1` AND gates for `n` inputs, and one at most for two.
pub(super) fn signal(graph: &mut Graph, inputs: &[Literal], table: u64, at: At) -> Literal {
    let Some((last, others)) = inputs.split_last() else { return Literal::constant(table & 1 == 1) };
    let half = 1 << others.len();
    let mask = u64::MAX >> (64 - half);
    let (low, high) = (table & mask, table >> half & mask);
    // f = low ^ last (low ^ high)
    let change = match low ^ high {
        0 => return signal(graph, others, low, at),
        all if all == mask => *last,
        some => {
            let some = signal(graph, others, some, at);
            graph.and(*last, some, at)
        }
    };
    let low = signal(graph, others, low, at);
    graph.xor(low, change, at)
}
