//! The circuit's wires, by the wire numbers of a file.

use std::collections::HashMap;

/// A map from numbers in any order whose memory grows with the entries, not with the numbers.
///
/// Numbers mostly come in order, with the outputs' far ahead of the rest: those wait in a hash map.
pub(super) struct WireMap {
    inputs: u32,
    near: Vec<u32>,
    far: HashMap<u32, u32>,
    count: usize,
}

const UNSET: u32 = u32::MAX;

/// The distance that the vector may reach ahead of the entries so far.
const SLACK: usize = 4096;

impl WireMap {
    /// The first `inputs` numbers map to themselves.
    pub(super) fn new(inputs: u32) -> Self {
        WireMap { inputs, near: Vec::new(), far: HashMap::new(), count: 0 }
    }

    /// The wire for a number.
    pub(super) fn get(&self, number: u32) -> Option<u32> {
        let Some(k) = number.checked_sub(self.inputs) else { return Some(number) };
        match self.near.get(k as usize) {
            Some(&wire) if wire != UNSET => Some(wire),
            _ if self.far.is_empty() => None,
            _ => self.far.get(&number).copied(),
        }
    }

    /// Adds an entry; returns false if there is one already.
    pub(super) fn set(&mut self, number: u32, wire: u32) -> bool {
        if self.get(number).is_some() {
            return false;
        }
        let k = (number - self.inputs) as usize;
        self.count += 1;
        if k < 2 * self.count + SLACK {
            if k >= self.near.len() {
                self.near.resize(k + 1, UNSET);
            }
            self.near[k] = wire;
        } else {
            self.far.insert(number, wire);
        }
        true
    }
}
