//! Literals: wires in which negations, constants and gates that need not be computed are folded away.

/// The number of a node (an input or a gate that computes something new), perhaps inverted, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Literal<N = u32>(N);

/// How nodes are numbered.
pub(crate) trait Number: Copy + Eq + Ord {
    /// The number of the constant false; the next is that of true.
    const FALSE: Self;

    fn invert_if(self, invert: bool) -> Self;

    fn inverted(self) -> bool;
}

impl Number for u32 {
    const FALSE: u32 = u32::MAX - 1;

    fn invert_if(self, invert: bool) -> u32 {
        self ^ u32::from(invert)
    }

    fn inverted(self) -> bool {
        self & 1 == 1
    }
}

impl Number for u64 {
    const FALSE: u64 = u64::MAX - 1;

    fn invert_if(self, invert: bool) -> u64 {
        self ^ u64::from(invert)
    }

    fn inverted(self) -> bool {
        self & 1 == 1
    }
}

impl<N: Number> Literal<N> {
    pub(crate) const FALSE: Self = Literal(N::FALSE);

    pub(crate) fn constant(value: bool) -> Self {
        Self::FALSE.invert_if(value)
    }

    pub(crate) fn inverted(self) -> bool {
        self.0.inverted()
    }

    pub(crate) fn is_constant(self) -> bool {
        self.0 >= N::FALSE
    }

    pub(crate) fn invert_if(self, invert: bool) -> Self {
        Literal(self.0.invert_if(invert))
    }

    /// Whether both are of one node.
    pub(crate) fn is_of(self, other: Self) -> bool {
        self == other || self == other.invert_if(true)
    }

    /// The sum of two, if it takes no gate.
    pub(crate) fn xor(self, other: Self) -> Option<Self> {
        if self.is_constant() {
            return Some(other.invert_if(self.inverted()));
        }
        if other.is_constant() {
            return Some(self.invert_if(other.inverted()));
        }
        self.is_of(other).then(|| Self::constant(self != other))
    }

    /// The product of two, if it takes no gate.
    pub(crate) fn and(self, other: Self) -> Option<Self> {
        let no = Self::FALSE;
        if self == Self::constant(true) || self == other {
            return Some(other);
        }
        if other == Self::constant(true) {
            return Some(self);
        }
        (self == no || other == no || self.is_of(other)).then_some(no)
    }
}

impl Literal {
    pub(crate) fn positive(node: u32) -> Self {
        Literal(node << 1)
    }

    pub(crate) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }
}

impl Literal<u64> {
    pub(crate) fn of(node: u64) -> Self {
        Literal(node << 1)
    }

    pub(crate) fn number(self) -> u64 {
        self.0 >> 1
    }
}
