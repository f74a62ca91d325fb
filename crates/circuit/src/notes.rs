//! Notes: a front end's knowledge of a program beyond its graph.

use std::fmt;

use crate::{Bits, GateCounts, Port, Type, diagnostic::Diagnostic};

/// A front end's knowledge of a program beyond its graph. [`Program::digest`](crate::Program::digest) covers only its requirements on
/// inputs: the order of lists, and limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// The program's checks at run time; none if its front end has no such checks.
    pub panics: Option<Panics>,
    /// The output that tells all parties whether a check failed, in programs of runs that keep outputs
    /// ([`Program::telling_panics`](crate::Program::telling_panics)).
    pub panicked: Option<usize>,
    /// Loops that are repeated instances, in order.
    pub regions: Vec<Region>,
    /// The source lines of each component, with the AND gates that each line became.
    ///
    /// *Units*: gates before the component's last optimisation, so their sum may slightly exceed its count.
    pub lines: Vec<Vec<(u32, u64)>>,
    /// Warnings: odd but valid things in the file, such as a function that is never called.
    pub warnings: Vec<Diagnostic>,
    /// A digest of the source text; none if the program has no source.
    pub source: Option<[u8; 32]>,
    /// The number of rows of a batch, whose ports hold the values of all rows; none if the program is not a batch.
    pub rows: Option<u32>,
    /// Lists that the program treats as empty if they are out of order.
    pub ordered: Vec<Ordered>,
    /// Numbers that the program replaces or ignores if they are too large.
    pub limits: Vec<Limit>,
    /// Constants that parties set in the source, as `NAME=VALUE`, in alphabetical order.
    pub constants: Vec<String>,
    /// The relation to the gates of a circuit file; none if the program is from elsewhere.
    pub file: Option<FileGates>,
}

/// The relation of a program to the gates of the circuit file that it was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileGates {
    /// These are the file's gates.
    AsItIs,
    /// The optimiser saved AND gates; the file has these.
    Optimised(GateCounts),
}

impl FileGates {
    /// The relation of a batch of rows to a file's gates, once for each row.
    pub(crate) fn of_rows(self, rows: u32) -> Self {
        let times = |gates: u64| gates.saturating_mul(rows.into());
        match self {
            FileGates::AsItIs => FileGates::AsItIs,
            FileGates::Optimised(GateCounts { and, xor, not, and_depth }) => {
                FileGates::Optimised(GateCounts { and: times(and), xor: times(xor), not: times(not), and_depth })
            }
        }
    }
}

impl Notes {
    /// Records the program's source and constants.
    #[must_use]
    pub fn of_source(self, text: &str, mut constants: Vec<String>) -> Self {
        constants.sort_unstable();
        Notes { source: Some(blake3::hash(text.as_bytes()).into()), constants, ..self }
    }

    /// The order that the program requires of an input, if any.
    pub fn ordered(&self, input: &str) -> Option<&Ordered> {
        self.ordered.iter().find(|ordered| ordered.input == input)
    }

    /// The limit on the numbers in an input, if any.
    pub fn limit(&self, input: &str) -> Option<&Limit> {
        self.limits.iter().find(|limit| limit.input == input)
    }

    /// The output that says where the computation panicked, if there is one.
    pub fn panic_output(&self) -> Option<usize> {
        match self.panics {
            Some(Panics::On { output, .. }) => output,
            _ => None,
        }
    }

    /// Returns whether an output reports a panic or its place. Such an output is not part of the result.
    pub fn tells_panics(&self, output: usize) -> bool {
        [self.panic_output(), self.panicked].contains(&Some(output))
    }
}

/// An input that counts as empty if its rows are out of order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The input's name.
    pub input: String,
    /// The number of bits of a row's key, which comes first in the row.
    pub key_bits: u32,
    /// The order of keys.
    pub order: Order,
}

/// A number in each element of an input (an array or a list) that the program replaces or ignores if it is too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The input's name.
    pub input: String,
    /// The number's name.
    pub field: String,
    /// The number's bits, which come first in an element.
    pub bits: u32,
    /// The least number that is too large.
    pub below: u64,
}

/// The order that the rows of a list must have, by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Ascending, each key once.
    Strict,
    /// Ascending.
    Ascending,
    /// Descending.
    Descending,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Order::Strict => "ascending order, each key once",
            Order::Ascending => "ascending order",
            Order::Descending => "descending order",
        })
    }
}

impl Ordered {
    /// The first row of a list, from 1, that is out of order. A value that does not fit the type has none.
    pub fn misplaced(&self, ty: &Type, list: &Bits) -> Option<usize> {
        let Type::List(element, most) = ty else { return None };
        let (start, width) = (Type::count_width(*most) as usize, element.width() as usize);
        let count = list.slice(0, start).to_u128()?.min(u128::from(*most)) as usize;
        // From the highest bit down, in numeric order.
        let key = |row: usize| {
            let key = list.slice(start + row * width, self.key_bits as usize);
            key.iter().rev().collect::<Vec<bool>>()
        };
        let follows = |row: &usize| match self.order {
            Order::Strict => key(row - 1) < key(*row),
            Order::Ascending => key(row - 1) <= key(*row),
            Order::Descending => key(row - 1) >= key(*row),
        };
        (1..count).find(|row| !follows(row)).map(|row| row + 1)
    }
}

/// Checks at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Panics {
    /// Arithmetic wraps around, and out-of-bounds accesses have no defined result.
    Off,
    /// Failures are detected.
    On {
        /// The output that is 0 if no check failed, and `k` if the check at place `k - 1` failed first; none if nothing
        /// can fail.
        output: Option<usize>,
        /// Place and reason of each check, as `file:line:column: reason`.
        places: Vec<String>,
    },
}

impl Panics {
    /// The name of the output that tells which check failed.
    pub const OUTPUT: &str = "panic";

    /// Returns whether a port can tell which of the checks at so many places failed, and no more.
    pub fn are_told_by(port: &Port, places: usize) -> bool {
        let most = usize::BITS - places.leading_zeros();
        port.name == Self::OUTPUT && matches!(port.ty, Type::Unsigned(bits) if (1..=most).contains(&bits))
    }

    /// The place and reason for a value of the output.
    pub fn reason(&self, code: u128) -> Option<&str> {
        let Panics::On { places, .. } = self else { return None };
        let at = usize::try_from(code.checked_sub(1)?).ok()?;
        places.get(at).map(String::as_str)
    }
}

/// A source loop that became consecutive instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The loop's line.
    pub line: u32,
    /// The first instance.
    pub first: u32,
    /// The number of instances.
    pub count: u32,
    /// The shape of the repeated body.
    pub shape: Shape,
}

/// The number of times that a loop's body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A loop with this many iterations.
    Chain(u64),
    /// A nested loop whose inner iteration count is constant: outer and inner iterations.
    Grid(u64, u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_is_out_of_order_is_found() {
        let pair = Type::Record(vec![("key".into(), Type::Unsigned(3)), ("value".into(), Type::Unsigned(2))]);
        let ty = Type::List(Box::new(pair), 4);
        let misplaced = |order: Order, keys: &[u128]| {
            let mut bits = Bits::from_u128(keys.len() as u128, Type::count_width(4) as usize);
            for row in 0..4 {
                let key = keys.get(row).copied().unwrap_or_default();
                // The program has its values in another order.
                bits.append(&Bits::from_u128(key | (((7 - key) & 3) << 3), 5));
            }
            Ordered { input: "a".into(), key_bits: 3, order }.misplaced(&ty, &bits)
        };
        for (order, keys, expected) in [
            (Order::Strict, &[1, 2, 5][..], None),
            (Order::Strict, &[1, 2, 2], Some(3)),
            (Order::Ascending, &[1, 2, 2, 7], None),
            (Order::Ascending, &[4, 3], Some(2)),
            (Order::Descending, &[4, 4, 3], None),
            (Order::Descending, &[4, 3, 5, 1], Some(3)),
            (Order::Descending, &[], None),
        ] {
            assert_eq!(misplaced(order, keys), expected, "{order:?} {keys:?}");
        }
    }

    #[test]
    fn the_output_of_checks_has_their_name_and_no_bit_too_many() {
        let told = |name: &str, ty, places| Panics::are_told_by(&Port::new(name, ty), places);
        for (bits, places, fits) in
            [(1, 1, true), (2, 1, false), (2, 3, true), (2, 4, true), (3, 3, false), (0, 0, false), (0, 1, false)]
        {
            assert_eq!(told("panic", Type::Unsigned(bits), places), fits, "{bits} {places}");
        }
        assert!(!told("y", Type::Unsigned(1), 1) && !told("panic", Type::Bool, 1));
    }

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
