//! Words, which represent the scalars of a source while the program is lowered.

use std::hash::Hasher;

use crate::number::{Number, ONE, ZERO};

/// The place of a word's wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wires {
    /// Nowhere: the value does not matter, such as the fields of variants that an enum is not.
    Any,
    /// Nowhere: the value is known.
    Known,
    /// `len` wires from `start` on of a node of a region.
    Node { node: Node, start: u16, len: u16 },
}

/// A result of an operation: number `index` of region `region`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Node {
    pub(crate) region: u32,
    pub(crate) index: u32,
}

/// Hashes nodes. Their numbers count up and nobody chooses them freely, so a hash that resists attacks would only cost time.
#[derive(Default)]
pub(crate) struct NodeHasher(u64);

impl Hasher for NodeHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = self.0 << 32 ^ self.0 >> 32 ^ u64::from(number);
    }

    /// Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators": the mixing of SplitMix.
    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// A scalar: a constant, or wires with the range of their value.
///
/// The wires are as many as the range needs: for a range without negative numbers the binary digits of the greatest,
/// else two's complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Word {
    pub(crate) wires: Wires,
    pub(crate) lo: Number,
    pub(crate) hi: Number,
}

impl Word {
    pub(crate) const FALSE: Word = Word::constant(ZERO);
    pub(crate) const TRUE: Word = Word::constant(ONE);
    pub(crate) const ANY: Word = Word { wires: Wires::Any, lo: ZERO, hi: ZERO };

    pub(crate) const fn constant(value: Number) -> Self {
        Word { wires: Wires::Known, lo: value, hi: value }
    }

    /// 1 if it is true, else 0.
    pub(crate) const fn truth(value: bool) -> Self {
        if value { Word::TRUE } else { Word::FALSE }
    }

    /// The low wires of a node, read as a value of that range.
    ///
    /// *Shape*: the node has, from `start` on, at least as many wires as the range needs.
    pub(crate) fn of_node(node: Node, start: u16, (lo, hi): (Number, Number)) -> Self {
        match lo == hi {
            true => Word::constant(lo),
            false => Word { wires: Wires::Node { node, start, len: width_of(lo, hi) }, lo, hi },
        }
    }

    /// The value if it is known; 0 if it does not matter.
    pub(crate) fn known(self) -> Option<Number> {
        match self.wires {
            Wires::Any => Some(ZERO),
            Wires::Known => Some(self.lo),
            Wires::Node { .. } => None,
        }
    }

    /// Returns whether the wires are two's complement.
    pub(crate) fn signed(self) -> bool {
        self.lo.is_negative()
    }

    /// The number of wires that the range needs.
    pub(crate) fn width(self) -> u16 {
        width_of(self.lo, self.hi)
    }

    /// The same wires with a range that is no wider.
    pub(crate) fn narrowed(self, lo: Number, hi: Number) -> Self {
        match self.wires {
            Wires::Node { node, start, .. } => Word::of_node(node, start, (lo, hi)),
            _ => self,
        }
    }
}

/// The wires that values from `lo` to `hi` need.
pub(crate) fn width_of(lo: Number, hi: Number) -> u16 {
    match lo.is_negative() {
        true => 1 + lo.digits().max(if hi.is_negative() { 0 } else { hi.digits() }),
        false => hi.digits(),
    }
}
