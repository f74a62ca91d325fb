//! Values on the wires that will still be read.

use super::Block;
use crate::gate::Wire;

/// A value for each wire of the present block, and for each earlier wire that it or a later one reads, and for outputs.
pub(crate) struct Values<W> {
    /// In ascending order.
    earlier: Vec<(u32, W)>,
    first: u32,
    own: Vec<W>,
}

impl<W: Copy> Values<W> {
    /// The values on inputs that are read, in order.
    pub(crate) fn new(inputs: Vec<(u32, W)>) -> Self {
        Values { earlier: inputs, first: u32::MAX, own: Vec::new() }
    }

    /// Begins a block at this wire.
    pub(crate) fn begin(&mut self, first: u32) {
        self.first = first;
        self.own.clear();
    }

    /// The value on a wire that is set and not dropped.
    #[inline]
    pub(crate) fn get(&self, wire: Wire) -> W {
        match wire.0.checked_sub(self.first) {
            Some(own) => self.own[own as usize],
            None => self.earlier(wire),
        }
    }

    fn earlier(&self, wire: Wire) -> W {
        let place = self.earlier.partition_point(|(earlier, _)| *earlier < wire.0);
        self.earlier[place].1
    }

    /// Sets the next wire.
    #[inline]
    pub(crate) fn push(&mut self, value: W) {
        self.own.push(value);
    }

    /// Ends the block, and drops the values that no later one reads.
    pub(crate) fn end(&mut self, block: &Block) {
        let mut ended = block.ended.iter().peekable();
        self.earlier.retain(|(wire, _)| ended.next_if_eq(&wire).is_none());
        self.earlier.extend(block.kept.iter().map(|wire| (*wire, self.own[(wire - self.first) as usize])));
        self.first += self.own.len() as u32;
        self.own.clear();
    }
}
