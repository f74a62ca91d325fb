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
//! OR (or LOR), NOR, NAND and XNOR, which other tools write, are read too: all but the last cost one AND gate. Names may be in lower case,
//! what follows `#` or `//` in a line is a comment, and gates may come in any order.
//!
//! The head is `GATES WIRES`, then in the Bristol format `N1 N2 N3`, the widths of two inputs (the second may be 0) and
//! of the output, and in Bristol Fashion two lines, `COUNT WIDTH ..` for the inputs and likewise for the outputs. The
//! first wires are the inputs, the last are the outputs. The line after the second distinguishes them: a gate, or
//! only numbers. Ports are named `in0`, `in1`, ..., `out0`, ..., have type `bits`, and input `k` belongs to party `k`.
//!
//! *Source*: the collections of Tillich and Smart (2012 on) and of Archer, Abril Abad, Bogdanov and Smart (2020).

mod head;
mod lines;
mod reader;
mod waiting;
mod writer;

use std::{io::BufRead, path::Path};

use garblet_circuit::{
    CircuitError, Program,
    diagnostic::{Diagnostic, Diagnostics},
    notes::Notes,
};

use self::lines::without_comment;
use crate::{
    front_end::{FrontEnd, Source},
    whole::BYTE_ORDER_MARK,
};

pub(super) use writer::{write_fashion, write_old};

/// The front end for both Bristol formats.
pub struct Bristol;

impl FrontEnd for Bristol {
    fn name(&self) -> &'static str {
        "Bristol or Bristol Fashion circuit"
    }

    fn is_circuit_file(&self) -> bool {
        true
    }

    fn accepts(&self, _: &Path, beginning: &[u8]) -> bool {
        let text = beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning);
        let mut lines = text.split(|&b| b == b'\n').map(|line| without_comment(line).trim_ascii());
        let head = lines.find(|line| !line.is_empty());
        head.is_some_and(|line| line.iter().all(|b| b.is_ascii_digit() || b.is_ascii_whitespace()))
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let (component, old) = reader::read(&source.file, source.stem(), text)?;
        let wide = component.inputs().iter().chain(component.outputs()).any(|port| port.width() > 1);
        let failed = |e: CircuitError| Diagnostic::new(&source.file, e.to_string());
        let mut program = Program::from_component(component, &[]).map_err(failed)?;
        if old && wide {
            program.set_notes(Notes { warnings: vec![unstated_order(&source.file)], ..Notes::default() });
        }
        Ok(program)
    }
}

/// The warning about files of the older format.
fn unstated_order(file: &str) -> Diagnostic {
    let message =
        "the older Bristol format does not say which bit of a port is first: wire 0 is taken as the least significant";
    Diagnostic::new(file, message).hint(
        "the older circuits of AES, DES, MD5 and SHA begin with the most significant: give --reverse for each port; \
         convert a file that begins with the least significant: garblet convert FILE OUT.txt",
    )
}

#[cfg(test)]
mod tests;
