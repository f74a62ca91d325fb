//! Notes: what a front end knows of a program beyond its graph.

use std::fmt;

use crate::{Bits, Type, diagnostic::Diagnostic};

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
    /// Lists that the program takes for empty if they are not in order.
    pub ordered: Vec<Ordered>,
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

/// An input that counts as empty if its rows are not in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The input's name.
    pub input: String,
    /// The bits of a row's key, with which it begins.
    pub key_bits: u32,
    /// The order of keys.
    pub order: Order,
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
    /// The first row of a list, from 1, that may not stand behind the one before it. A value that is none of the type has none.
    pub fn misplaced(&self, ty: &Type, list: &Bits) -> Option<usize> {
        let Type::List(element, most) = ty else { return None };
        let (start, width) = (Type::count_width(*most) as usize, element.width() as usize);
        let count = list.slice(0, start).to_u128()?.min(u128::from(*most)) as usize;
        // From the highest bit down, as numbers compare.
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
    fn the_first_row_that_is_out_of_order_is_found() {
        let pair = Type::Record(vec![("key".into(), Type::Unsigned(3)), ("value".into(), Type::Unsigned(2))]);
        let ty = Type::List(Box::new(pair), 4);
        let misplaced = |order: Order, keys: &[u128]| {
            let mut bits = Bits::from_u128(keys.len() as u128, Type::count_width(4) as usize);
            for row in 0..4 {
                let key = keys.get(row).copied().unwrap_or_default();
                // Values are in another order.
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
