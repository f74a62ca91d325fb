//! Literals: wires with negations, constants and trivial gates folded away.

use std::ops::{BitAnd, BitXor, Not, Shl, Shr};

/// A node (an input or a gate that computes something new) or its negation. Node 0 is the constant false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal<N = u32>(N);

/// An unsigned integer to number nodes with, with a bit to spare.
pub trait NodeNumber:
    Copy
    + Ord
    + From<bool>
    + BitAnd<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
}

impl NodeNumber for u32 {}
impl NodeNumber for u64 {}

impl<N: NodeNumber> Literal<N> {
    /// The node with this number.
    #[inline]
    pub fn of(node: N) -> Self {
        Literal(node << 1)
    }

    /// A constant.
    #[inline]
    pub fn constant(value: bool) -> Self {
        Literal(N::from(value))
    }

    /// The value, if the literal is a constant.
    pub fn as_constant(self) -> Option<bool> {
        self.is_constant().then_some(self.inverted())
    }

    /// Returns whether the literal is a constant.
    #[inline]
    pub fn is_constant(self) -> bool {
        self.0 <= N::from(true)
    }

    /// Returns whether the literal is a node's negation.
    #[inline]
    pub fn inverted(self) -> bool {
        self.0 & N::from(true) == N::from(true)
    }

    /// The literal, negated if `invert`.
    #[inline]
    pub fn invert_if(self, invert: bool) -> Self {
        Literal(self.0 ^ N::from(invert))
    }

    /// The literal's node without negation.
    #[inline]
    pub fn positive(self) -> Self {
        self.invert_if(self.inverted())
    }

    /// The node's number.
    #[inline]
    pub fn number(self) -> N {
        self.0 >> 1
    }

    /// Returns whether both have the same node.
    #[inline]
    pub fn is_of(self, other: Self) -> bool {
        self.number() == other.number()
    }

    /// The exclusive or of two literals, if it takes no gate.
    #[inline]
    pub fn xor(self, other: Self) -> Option<Self> {
        if self.is_constant() {
            return Some(other.invert_if(self.inverted()));
        }
        if other.is_constant() {
            return Some(self.invert_if(other.inverted()));
        }
        self.is_of(other).then(|| Self::constant(self != other))
    }

    /// The AND of two literals, if it takes no gate.
    #[inline]
    pub fn and(self, other: Self) -> Option<Self> {
        let no = Self::constant(false);
        if self == !no || self == other {
            return Some(other);
        }
        if other == !no {
            return Some(self);
        }
        (self == no || other == no || self.is_of(other)).then_some(no)
    }
}

impl Literal {
    /// The constant false.
    pub const FALSE: Literal = Literal(0);
    /// The constant true.
    pub const TRUE: Literal = Literal(1);

    /// The node's number, for indexing.
    #[inline]
    pub fn node(self) -> usize {
        self.number() as usize
    }
}

impl<N: NodeNumber> Not for Literal<N> {
    type Output = Self;

    fn not(self) -> Self {
        self.invert_if(true)
    }
}

impl<N: NodeNumber> From<bool> for Literal<N> {
    fn from(value: bool) -> Self {
        Literal::constant(value)
    }
}
