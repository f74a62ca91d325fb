//! Notes: what a front end knows of a program beyond its graph.

use crate::diagnostic::Diagnostic;

/// The knowledge that a front end has of a program beyond its graph. The digest does not cover it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// The checks at run time that the program has; none if its kind knows no such thing.
    pub panics: Option<Panics>,
    /// Loops that are repeated instances, in order.
    pub regions: Vec<Region>,
    /// The source lines of each component, with the AND gates that they became.
    ///
    /// *Units*: gates before the last optimisation of the component, so that their sum may be a little above its count.
    pub lines: Vec<Vec<(u32, u64)>>,
    /// Warnings: all that is odd about the file but not wrong, such as a function that is never called.
    pub warnings: Vec<Diagnostic>,
    /// A digest of the source's text; none if it was not made from one.
    pub source: Option<[u8; 32]>,
    /// The rows of a batch, of which each port has all values; none if the program is no batch.
    pub rows: Option<u32>,
    /// Constants that parties gave to the source, as `NAME=VALUE`, in alphabetical order.
    pub constants: Vec<String>,
}

impl Notes {
    /// Notes from which source the program was made, and with which constants.
    #[must_use]
    pub fn of_source(self, text: &str, mut constants: Vec<String>) -> Self {
        constants.sort_unstable();
        Notes { source: Some(blake3::hash(text.as_bytes()).into()), constants, ..self }
    }
}

/// Checks at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Panics {
    /// Arithmetic wraps around, and what is out of bounds has no meaning.
    Off,
    /// Checks are made.
    On {
        /// The output that is 0 if none failed, else `k` if the first that failed is at place `k - 1`; none if nothing
        /// can fail.
        output: Option<usize>,
        /// Place and reason of each check, as `file:line:column: reason`.
        places: Vec<String>,
    },
}

impl Panics {
    /// The place and reason for a value of the output.
    pub fn reason(&self, code: u128) -> Option<&str> {
        let Panics::On { places, .. } = self else { return None };
        let at = usize::try_from(code.checked_sub(1)?).ok()?;
        places.get(at).map(String::as_str)
    }
}

/// A loop of the source that became consecutive instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The loop's line.
    pub line: u32,
    /// The first instance.
    pub first: u32,
    /// The number of instances.
    pub count: u32,
    /// The shape of what is repeated in it.
    pub shape: Shape,
}

/// The number of times that a loop's body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A loop: so many iterations.
    Chain(u64),
    /// A loop with one loop in it, whose number of iterations is always the same: outer and inner iterations.
    Grid(u64, u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_names_its_place() {
        let places = vec!["a:1:2: x".to_string(), "a:3:4: y".to_string()];
        let panics = Panics::On { output: Some(1), places };
        assert_eq!(panics.reason(2), Some("a:3:4: y"));
        assert_eq!(panics.reason(0), None);
        assert_eq!(panics.reason(3), None);
        assert_eq!(panics.reason(u128::MAX), None);
        assert_eq!(Panics::Off.reason(1), None);
    }
}
