//! The open place of a read of a constant array, while it is not known whether the array becomes a table.

use garblet_synthesis::builder::Bit;

/// A part of an operation that reads an array: the operation's number, and the first bit.
pub(crate) type Part = (usize, usize);

/// The open place of a read.
pub(crate) struct Hole {
    /// The parts of operations that read.
    pub(crate) parts: Vec<Part>,
    pub(crate) line: u32,
    /// The bits of the index that are not known.
    pub(crate) index: Vec<Bit>,
    /// An entry for each value of the index.
    pub(crate) table: Vec<u128>,
    pub(crate) entry: Vec<Bit>,
}
