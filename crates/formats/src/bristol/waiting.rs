//! Gates that come in a file before those that set what they read.

use std::collections::HashMap;

use super::lines::Line;

/// Lines that wait until all wires that they read are set.
///
/// *Cost*: in proportion to the text of the lines, in any order.
#[derive(Default)]
pub(super) struct Waiting {
    /// The lines, each with the number of wires that it still waits for, counted once per read.
    lines: Vec<(Option<Line>, usize)>,
    /// The lines that wait for a wire.
    by_wire: HashMap<u32, Vec<usize>>,
    /// Lines that no longer wait, in the order of the file.
    ready: std::collections::BTreeSet<usize>,
}

impl Waiting {
    /// Lets a line wait for wires, of which there is at least one.
    pub(super) fn add(&mut self, line: Line, missing: &[u32]) {
        let place = self.lines.len();
        self.lines.push((Some(line), missing.len()));
        missing.iter().for_each(|wire| self.by_wire.entry(*wire).or_default().push(place));
    }

    /// Notes that wires are set, and takes their numbers.
    pub(super) fn wake(&mut self, set: &mut Vec<u32>) {
        if self.by_wire.is_empty() {
            return set.clear();
        }
        for wire in set.drain(..) {
            for place in self.by_wire.remove(&wire).unwrap_or_default() {
                let (_, missing) = &mut self.lines[place];
                *missing -= 1;
                if *missing == 0 {
                    self.ready.insert(place);
                }
            }
        }
    }

    /// The next line that no longer waits.
    pub(super) fn next(&mut self) -> Option<Line> {
        let place = self.ready.pop_first()?;
        self.lines[place].0.take()
    }

    /// The lines that still wait, in the order of the file.
    pub(super) fn rest(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter_map(|(line, _)| line.as_ref())
    }
}
