//! Netlists of other tools: AIGER, BLIF, JSON of Yosys, `.bench`, and the circuits of ABY.
//!
//! Each becomes a program of one circuit. Ports have the names of the file and the type `bits`; `a[0]`, `a[1]`, .. are one port `a`, wire 0
//! its bit 0. Input `k` belongs to party `k`. Gates may come in any order, and cost one AND gate where their function is neither an XOR nor
//! a negation. A netlist with latches or flip-flops is no circuit, and is refused.
//!
//! All readers take time and memory in proportion to the text, whatever its numbers are, and follow gates without recursion.

mod aby;
mod aiger;
mod bench;
mod blif;
mod graph;
mod named;
mod ports;
mod table;
mod text;
mod yosys;

use std::path::Path;

use garblet_circuit::{
    CircuitError, Component, Party, Program,
    diagnostic::{Diagnostic, Diagnostics},
};

use self::graph::At;
pub(crate) use self::{aby::Aby, aiger::Aiger, bench::Bench, blif::Blif, yosys::Yosys};
use crate::whole::BYTE_ORDER_MARK;

/// The hint for several modules.
const FLATTEN: &str = "make one module of all: yosys -p \'read_verilog FILE.v; synth -flatten -top NAME; abc -g AND,XOR; write_json FILE.json\'";

/// The hint for latches.
const UNROLL: &str = "unroll it, for instance for 8 steps from its first state: yosys-abc -c \'read FILE.blif; strash; frames -i -F 8; write_blif OUT.blif\'";

/// The parts of a netlist that keep values from step to step.
#[derive(Default)]
struct Memory {
    count: u64,
    first: Option<(&'static str, At)>,
}

impl Memory {
    fn add(&mut self, kind: &'static str, at: At) {
        self.count += 1;
        self.first = self.first.or(Some((kind, at)));
    }

    /// Refuses a netlist with memory.
    fn check(&self, error: impl FnOnce(At, String) -> Diagnostic) -> Result<(), Diagnostic> {
        match self.first {
            None => Ok(()),
            Some((kind, at)) => Err(error(at, has_memory(self.count, kind)).hint(UNROLL)),
        }
    }
}

/// The words for a netlist with memory.
fn has_memory(count: u64, kind: &str) -> String {
    let plural = if count == 1 {
        ""
    } else if kind.ends_with("ch") {
        "es"
    } else {
        "s"
    };
    format!("has {count} {kind}{plural}, but a circuit has no memory")
}

/// The first line of a text that is neither blank nor a comment.
fn first_line(beginning: &[u8]) -> String {
    let text = String::from_utf8_lossy(beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning));
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    line.unwrap_or_default().into()
}

/// Returns whether a file has this extension, in any case.
fn ends_in(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(extension))
}

/// The program of a component, whose input `k` belongs to `owners[k]`, or else to party `k`.
fn program(file: &str, component: Result<Component, CircuitError>, owners: &[Party]) -> Result<Program, Diagnostics> {
    let program = component.and_then(|component| Program::from_component(component, owners));
    program.map_err(|error| Diagnostic::new(file, error.to_string()).into())
}

#[cfg(test)]
mod tests;
