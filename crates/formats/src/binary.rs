//! The binary form of a program: everything that parties must agree on, names, and the digest.
//!
//! ```text
//! 89 47 42 43 0d 0a 1a    every file begins so
//! 01                      the format
//! name                    the program's, a text
//! components              a list, each: name, inputs, outputs (lists of ports: name, type), gates (a list), output wires
//! inputs                  a list, each: name, type, owner, order, limit
//! instances               a list, each: component, links (a list)
//! outputs                 a list, each: name, type, recipients, links (a list)
//! panics                  the checks of a source
//! digest                  32 bytes: the program's
//! checksum                32 bytes: BLAKE3 of all bytes before
//! ```
//!
//! A number has at most 64 bits, in bytes of seven bits, the lowest first; all but the last byte have the highest bit set, and no number
//! has more bytes than it needs. A text is the number of its bytes, then these, in UTF-8. A list is the number of its items, then these.
//!
//! - A gate is `4 * d + kind`: XOR (0), AND (1), NOT (2) or a constant (3). A constant has the value `d`. The others read the wire `d` wires
//!   before their own; XOR and AND have a second number, the distance of their second operand.
//! - An output wire is its distance from the wire after the last output wire, at first from wire 0: `2 * d` forwards, `2 * d - 1` backwards.
//! - A link is `4 * wires + kind`: the constants 0 (0) and 1 (1), an input of the program (2), an instance (3). The last two have two more
//!   numbers: which input, or by how many an instance is before this one, an output of the program being after all instances; and the
//!   first wire.
//! - An order is 0 for none, or else 1 (each key once), 2 (ascending) or 3 (descending) and the bits of a key. A limit is 0 for none, or else
//!   the bits of the number, the least number that is too large, and the number's name.
//! - Recipients are 0 for all, or else one more than their number, and the parties in ascending order.
//! - Panics are 0 for none, 1 for checks that are off, 2 for checks none of which can fail, or else `3 + k` if output `k` tells of them, and
//!   the list of places, each a text. That output is `panic`, an unsigned integer of no more bits than the number of places.
//!
//! A program has one such file: the same program gives the same bytes. The checksum tells accidents; it does not tell who made the file.

mod blocks;
mod bytes;
mod reader;
mod writer;

use std::{io::BufRead, path::Path};

use garblet_circuit::{Program, diagnostic::Diagnostics, notes::Order};

use crate::front_end::{FrontEnd, Source};

pub(super) use writer::write;

/// The bytes with which every file begins. Like those of PNG, they show whether a file went through something that is for texts.
const MAGIC: [u8; 7] = *b"\x89GBC\r\n\x1a";

/// The part of [`MAGIC`] that makes a file one of this kind, perhaps a damaged one.
const MARK: usize = 4;

/// The newest format.
const FORMAT: u32 = 1;

/// The words that begin gates.
mod gate {
    pub(super) const XOR: u64 = 0;
    pub(super) const AND: u64 = 1;
    pub(super) const NOT: u64 = 2;
    pub(super) const CONSTANT: u64 = 3;
}

/// The words that begin links.
mod link {
    pub(super) const ZERO: u64 = 0;
    pub(super) const ONE: u64 = 1;
    pub(super) const INPUT: u64 = 2;
    pub(super) const INSTANCE: u64 = 3;
}

/// The words for checks at run time.
mod panics {
    pub(super) const NONE: u64 = 0;
    pub(super) const OFF: u64 = 1;
    pub(super) const SILENT: u64 = 2;
    pub(super) const TOLD: u64 = 3;
}

/// The orders of rows, each at its number less one.
const ORDERS: [Order; 3] = [Order::Strict, Order::Ascending, Order::Descending];

/// The front end for the binary form.
pub(crate) struct Binary;

impl FrontEnd for Binary {
    fn name(&self) -> &'static str {
        "binary program"
    }

    fn accepts(&self, file: &Path, beginning: &[u8]) -> bool {
        beginning.starts_with(&MAGIC[..MARK]) || file.extension().is_some_and(|e| e.eq_ignore_ascii_case("gbc"))
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        Ok(reader::read(&source.file, text, source.again.as_ref())?)
    }
}

#[cfg(test)]
mod tests;
