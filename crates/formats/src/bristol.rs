//! Circuit files in the Bristol format and in Bristol Fashion.
//!
//! Both are text: a head, then one line per gate,
//!
//! ```text
//! 2 1 0 1 4 AND        two operands, one result: wires 0 and 1 give wire 4
//! 2 1 4 2 5 XOR
//! 1 1 5 6 INV          wire 6 is the negation of wire 5
//! 1 1 1 7 EQ           wire 7 is the constant 1
//! 1 1 5 8 EQW          wire 8 is a copy of wire 5
//! 4 2 0 1 2 3 9 10 MAND   wire 9 = 0 AND 2, wire 10 = 1 AND 3
//! ```
//!
//! The head is `GATES WIRES`, then in the Bristol format `N1 N2 N3`, the widths of two inputs (the second may be 0) and
//! of the output, and in Bristol Fashion two lines, `COUNT WIDTH ..` for the inputs and likewise for the outputs. The
//! first wires are the inputs, the last are the outputs. The two are told apart by the line after the second: a gate, or
//! only numbers. Ports are named `in0`, `in1`, ..., `out0`, ..., have type `bits`, and input `k` belongs to party `k`.
//!
//! *Source*: the collections of Tillich and Smart (2012 on) and of Archer, Abril Abad, Bogdanov and Smart (2020).

mod head;
mod lines;
mod reader;
mod wires;
mod writer;

use std::{io::BufRead, path::Path};

use garblet_circuit::{Program, diagnostic::Diagnostics};

use crate::front_end::{FrontEnd, Source};

pub(super) use writer::{write_fashion, write_old};

/// The front end for both Bristol formats.
pub struct Bristol;

impl FrontEnd for Bristol {
    fn name(&self) -> &'static str {
        "Bristol or Bristol Fashion circuit"
    }

    fn accepts(&self, _: &Path, beginning: &[u8]) -> bool {
        let mut text = beginning.trim_ascii_start().iter();
        let mut line = text.by_ref().take_while(|&&b| b != b'\n');
        let first = line.next();
        first.is_some_and(u8::is_ascii_digit) && line.all(|b| b.is_ascii_digit() || b.is_ascii_whitespace())
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let component = reader::read(&source.file, source.stem(), text)?;
        Program::from_component(component, &[])
            .map_err(|e| garblet_circuit::diagnostic::Diagnostic::new(&source.file, e.to_string()).into())
    }
}

#[cfg(test)]
mod tests;
