//! Wires with the AND gates on the way to them.

use zeroize::Zeroize;

use crate::{
    gate::{Gate, Wire},
    literal::Literal,
};

/// A wire and the AND gates on the way to it, none for constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Deep {
    pub(crate) literal: Literal<u64>,
    pub(crate) depth: u64,
}

impl Zeroize for Deep {
    fn zeroize(&mut self) {
        *self = Deep::constant(false);
    }
}

impl Deep {
    pub(crate) fn constant(value: bool) -> Self {
        Deep { literal: Literal::constant(value), depth: 0 }
    }

    /// The result, if it takes no gate: a constant, or one of the operands.
    fn known(literal: Option<Literal<u64>>, a: Deep, b: Deep) -> Option<Self> {
        let literal = literal?;
        let depth = match literal {
            constant if constant.is_constant() => 0,
            operand if operand.is_of(a.literal) => a.depth,
            _ => b.depth,
        };
        Some(Deep { literal, depth })
    }

    /// A node of depth 0.
    pub(crate) fn fresh(node: u64) -> Self {
        Deep { literal: Literal::of(node), depth: 0 }
    }

    /// The wire of a gate; a new node has the number `node`, which is then counted.
    #[inline]
    pub(crate) fn of_gate(gate: Gate, at: impl Fn(Wire) -> Deep, node: &mut u64) -> Self {
        let mut new = |depth| {
            *node += 1;
            Deep { literal: Literal::of(*node - 1), depth }
        };
        match gate {
            Gate::Constant(value) => Deep::constant(value),
            Gate::Not(a) => Deep { literal: at(a).literal.invert_if(true), ..at(a) },
            Gate::Xor(a, b) => {
                let (a, b) = (at(a), at(b));
                let flip = a.literal.inverted() ^ b.literal.inverted();
                Deep::known(a.literal.xor(b.literal), a, b).unwrap_or_else(|| {
                    let sum = new(a.depth.max(b.depth));
                    Deep { literal: sum.literal.invert_if(flip), ..sum }
                })
            }
            Gate::And(a, b) => {
                let (a, b) = (at(a), at(b));
                Deep::known(a.literal.and(b.literal), a, b).unwrap_or_else(|| new(a.depth.max(b.depth) + 1))
            }
        }
    }
}
