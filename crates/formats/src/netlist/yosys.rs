//! Netlists of Yosys in JSON, as `write_json` writes them after `synth` and `abc -g AND,XOR`.
//!
//! ```json
//! {"creator": "Yosys", "modules": {"and2": {
//!   "attributes": {"top": "1"},
//!   "ports": {"a": {"direction": "input", "bits": [2]}, "b": {"direction": "input", "bits": [3]},
//!             "y": {"direction": "output", "bits": [4]}},
//!   "cells": {"g": {"type": "$_AND_", "connections": {"A": [2], "B": [3], "Y": [4]}}}
//! }}}
//! ```
//!
//! A bit is a number, or `"0"` or `"1"`. The first bit of a port is its least significant one. The program is the module that is marked as
//! the top, or the only one.
//!
//! *Source*: the help text of Yosys' command `write_json`, and its cells of single bits (`techlibs/common/simcells.v`).

mod cells;
mod document;

use std::{collections::HashMap, io::BufRead, ops::Range, path::Path};

use garblet_circuit::{
    Component, Literal, Port, Program, Type,
    diagnostic::{Diagnostic, Diagnostics, Place, clip},
};

use self::cells::INPUTS_MAX;
use self::document::{Bit, Document, Gate, Module};
use super::{
    graph::{At, Fault, Graph},
    ports::MAX_PORTS,
};
use crate::{
    foreign::NETLIST,
    front_end::{FrontEnd, Source},
    whole,
};

/// The front end for netlists of Yosys.
pub(crate) struct Yosys;

impl FrontEnd for Yosys {
    fn name(&self) -> &'static str {
        "netlist of Yosys (JSON)"
    }

    fn is_circuit_file(&self) -> bool {
        true
    }

    fn accepts(&self, _: &Path, beginning: &[u8]) -> bool {
        let text = String::from_utf8_lossy(beginning);
        let first = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{').unwrap_or_default().trim_start();
        ["\"modules\"", "\"creator\""].iter().any(|key| first.starts_with(key))
    }

    fn read(&self, source: &Source<'_>, text: &mut dyn BufRead) -> Result<Program, Diagnostics> {
        let text = whole::text(&source.file, text)?;
        let document: Document<'_> =
            serde_json::from_str(&text).map_err(|error| malformed(&source.file, &text, &error))?;
        let reader = Reader { file: &source.file, text: &text, bits: HashMap::new(), graph: Graph::default() };
        reader.program(document.top(&source.file)?, source.stem())
    }
}

/// The refusal of a text that is no such JSON.
fn malformed(file: &str, text: &str, error: &serde_json::Error) -> Diagnostic {
    let words = error.to_string();
    let words = words.rsplit_once(" at line ").map_or(&words[..], |(words, _)| words);
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let at = error.column().saturating_sub(1).min(line.len());
    let message = match error.is_data() {
        true => words.to_string(),
        false => format!("not JSON: {}", words.to_lowercase()),
    };
    Diagnostic::new(file, message).at(Place::in_line(error.line() as u64, line, at..at))
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    /// The signals of the bits.
    bits: HashMap<u32, Literal>,
    graph: Graph,
}

impl<'a> Reader<'a> {
    fn error(&self, at: At, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.file, message).at(Place::in_text(self.text, at.into()))
    }

    /// The place of a name in the text; the beginning of the text for a name with escapes, which is not part of it.
    fn place(&self, name: &str) -> At {
        let start = (name.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        let range = start.map(|start| start..start + name.len()).filter(|range| range.end <= self.text.len());
        range.map_or_else(At::default, At::from)
    }

    fn program(mut self, module: Module<'a>, name: &str) -> Result<Program, Diagnostics> {
        self.check_only_gates(&module)?;
        let (mut inputs, mut outputs, mut wires) = (Vec::new(), Vec::new(), Vec::new());
        for (name, port) in &module.ports.0 {
            let at = self.place(name);
            let ty = Type::Bits(port.bits.len() as u32);
            match &*port.direction {
                "input" => {
                    for bit in &port.bits {
                        self.input(name, *bit, at)?;
                    }
                    inputs.push(Port::new(&**name, ty));
                }
                "output" => {
                    for bit in &port.bits {
                        wires.push(self.literal(*bit, at)?);
                    }
                    outputs.push(Port::new(&**name, ty));
                }
                other => {
                    let message = format!("port `{}` is {}, expected input or output", clip(name), clip(other));
                    return Err(self.error(at, message).into());
                }
            }
        }
        if inputs.len() > MAX_PORTS {
            return Err(Diagnostic::new(self.file, format!("{} inputs, the limit is {MAX_PORTS}", inputs.len())).into());
        }
        for gate in &module.cells.gates {
            self.gate(gate)?;
        }
        let circuit = std::mem::take(&mut self.graph).circuit(&wires).map_err(|fault| self.fault(fault))?;
        super::program(self.file, Component::new(name, inputs, outputs, circuit), &[])
    }

    /// Refuses a module with cells that are not gates.
    fn check_only_gates(&self, module: &Module<'a>) -> Result<(), Diagnostic> {
        if let Some((kind, cell)) = &module.cells.first_memory {
            let message = super::has_memory(module.cells.memory, kind);
            return Err(self.error(self.place(cell), message).hint(super::UNROLL));
        }
        let Some([name, kind]) = &module.cells.other else { return Ok(()) };
        let (message, hint) = match kind.starts_with('$') {
            true => (format!("cell `{}` is `{}`, which is not a gate", clip(name), clip(kind)), NETLIST),
            false => (format!("cell `{}` is the module `{}`, expected a gate", clip(name), clip(kind)), super::FLATTEN),
        };
        Err(self.error(self.place(name), message).hint(hint))
    }

    fn input(&mut self, port: &str, bit: Bit, at: At) -> Result<(), Diagnostic> {
        let Bit::Wire(_) = bit else {
            return Err(
                self.error(at, format!("input `{}` has the constant {bit}, expected the number of a bit", clip(port)))
            );
        };
        let signal = self.literal(bit, at)?;
        self.graph.set_input(signal, at).map_err(|fault| self.fault(fault))
    }

    fn literal(&mut self, bit: Bit, at: At) -> Result<Literal, Diagnostic> {
        match bit {
            Bit::Constant(value) => Ok(Literal::constant(value)),
            Bit::Undefined(letter) => {
                let message = format!("a bit is {letter}, which is undefined, expected a number, 0 or 1");
                Err(self.error(at, message).hint("let Yosys choose a value: `setundef -zero`, before `abc`"))
            }
            Bit::Wire(number) => Ok(*self.bits.entry(number).or_insert_with(|| self.graph.signal(at))),
        }
    }

    fn gate(&mut self, gate: &Gate<'a>) -> Result<(), Diagnostic> {
        let at = self.place(&gate.name);
        let mut inputs = [Literal::FALSE; INPUTS_MAX];
        for (input, bit) in inputs.iter_mut().zip(gate.inputs) {
            *input = self.literal(bit, at)?;
        }
        let Bit::Wire(_) = gate.output else {
            return Err(self.error(at, format!("cell `{}` sets the constant {}", clip(&gate.name), gate.output)));
        };
        let output = self.literal(gate.output, at)?;
        let value = gate.kind.value(&mut self.graph, inputs, at);
        self.graph.set(output, value, at).map_err(|fault| self.fault(fault))
    }

    /// A fault of the signals, with the number of the bit, or else the name of the cell.
    fn fault(&self, fault: Fault) -> Diagnostic {
        let name = |signal: Literal, at: At| {
            let bit = self.bits.iter().find(|(_, known)| known.is_of(signal));
            let cell = || self.text.get(Range::from(at)).unwrap_or_default();
            bit.map_or_else(|| format!("cell `{}`", clip(cell())), |(number, _)| format!("bit {number}"))
        };
        match fault.words(name) {
            (Some(at), message) => self.error(at, message),
            (None, message) => Diagnostic::new(self.file, message),
        }
    }
}
